/* Lists of operations by register, and the numbers that wait to be looked at (worklist.h). */
#include "flow/worklist.h"

static u32 regs_of(const struct lowered *l, u32 op, bool uses, const u32 *at, u32 *to, u32 *count)
{
    u32 n = 0;
    if (uses)
        EACH_USE (r, &l->op[op]) {
            if (to) to[at[r] + count[r]] = op;
            count[r]++;
            n++;
        }
    else
        EACH_DEF (r, &l->op[op]) {
            if (to) to[at[r] + count[r]] = op;
            count[r]++;
            n++;
        }
    return n;
}

static struct op_lists lists_of(const struct lowered *l, bool uses, struct arena *a)
{
    struct op_lists s = { .first = NEW_ARRAY(a, u32, l->nreg + 2) };
    u32 *count = NEW_ARRAY(a, u32, l->nreg + 1), total = 0;
    for (u32 k = 0; k < l->nop; k++) total += regs_of(l, k, uses, NULL, NULL, count);
    for (u32 r = 0; r < l->nreg; r++) s.first[r + 1] = s.first[r] + count[r];
    memset(count, 0, sizeof *count * (l->nreg + 1));
    s.op = NEW_ARRAY(a, u32, total + 1);
    for (u32 k = 0; k < l->nop; k++) regs_of(l, k, uses, s.first, s.op, count);
    return s;
}

struct op_lists op_users(const struct lowered *l, struct arena *a) { return lists_of(l, true, a); }
struct op_lists op_definers(const struct lowered *l, struct arena *a) { return lists_of(l, false, a); }

struct worklist worklist_new(u32 limit, struct arena *a)
{
    return (struct worklist){ .item = NEW_ARRAY(a, u32, limit + 1),
                              .waiting = NEW_ARRAY(a, u8, limit + 1),
                              .limit = limit };
}

void worklist_add(struct worklist *w, u32 number)
{
    if (w->waiting[number]) return;
    w->waiting[number] = 1;
    u32 k = w->at + w->n++;
    w->item[k < w->limit ? k : k - w->limit] = number;
}

bool worklist_take(struct worklist *w, u32 *number)
{
    if (!w->n || stop_asked()) return false;
    *number = w->item[w->at];
    w->at = w->at + 1 < w->limit ? w->at + 1 : 0;
    w->n--;
    w->waiting[*number] = 0;
    return true;
}
