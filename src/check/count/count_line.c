/* Instructions become lines. */
#include "count/count_line.h"
#include <stdlib.h>

enum { PASS = 4 }; /* slots of a pass of shared memory, which takes a cycle */

struct placed {
    const struct place *shown;
    const struct count_insn *insn;
    u32 order; /* in the PTX */
};

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    const char *f = x->shown->file, *g = y->shown->file;
    bool in = f && x->shown->line, has = g && y->shown->line;
    if (in != has) return in ? -1 : 1;
    int by_file = in ? strcmp(f, g) : 0;
    if (by_file) return by_file;
    if (in && x->shown->line != y->shown->line) return x->shown->line < y->shown->line ? -1 : 1;
    if (x->insn->place->ptx_line != y->insn->place->ptx_line)
        return x->insn->place->ptx_line < y->insn->place->ptx_line ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static bool same_line(const struct place *a, const struct place *b)
{
    bool in = a->file && a->line, has = b->file && b->line;
    return in == has && (!in || (a->line == b->line && !strcmp(a->file, b->file)));
}

static void branch_add(struct branch_counts *to, const struct branch_counts *from)
{
    to->divergent += from->divergent;
    to->jumped += from->jumped;
    to->followed += from->followed;
    to->loops |= from->loops;
    for (u32 s = 0; s < 2; s++) {
        to->side[s] += from->side[s];
        to->side_lanes[s] += from->side_lanes[s];
    }
}

static void insn_add(struct count_line *l, const struct count_insn *i)
{
    l->insn[l->insns++] = i;
    l->times += i->times;
    l->lanes += i->lanes;
    l->off += i->off;
    l->operations[i->type] += i->operations;
    if (i->access) access_counts_add(&l->access[i->kind], i->access);
    if (i->is_branch) l->branches += i->times;
    if (i->branch) branch_add(&l->branch, i->branch);
    if (i->barrier) barrier_counts_add(&l->barrier, i->barrier);
}

struct space_counts count_line_space(const struct count_line *l, enum count_space s)
{
    struct space_counts sum = { 0 };
    for (u32 k = 0; k < COUNT_ACCESSES; k++) space_counts_add(&sum, &l->access[k].in[s]);
    return sum;
}

struct access_counts count_line_access(const struct count_line *l)
{
    struct access_counts sum = { 0 };
    for (u32 k = 0; k < COUNT_ACCESSES; k++) access_counts_add(&sum, &l->access[k]);
    return sum;
}

struct count_serial count_line_serial(const struct count_line *l)
{
    struct count_serial sum = { 0 };
    for (u32 k = COUNT_ATOMIC; k <= COUNT_REDUCTION; k++) {
        sum.lanes += l->access[k].serial;
        for (u32 s = 0; s < COUNT_SPACES; s++) sum.requests += l->access[k].in[s].requests;
    }
    return sum;
}

/* Slots that so many operations take of one multiprocessor at its peak; a type without one takes none. */
static u64 slots_of(const struct card *card, u64 operations, u32 peak)
{
    u64 per_slot = peak ? (u64)peak * 1000 / ((u64)card->sms * card->clock_mhz) / 4 : 0; /* 10^9/s, SMs, 10^6/s */
    return per_slot ? operations / per_slot : 0;
}

u64 count_cost(const struct card *card, const struct count_line *l)
{
    u64 sectors = count_line_space(l, COUNT_GLOBAL).units + count_line_space(l, COUNT_LOCAL).units +
                  count_line_space(l, COUNT_TEXTURE).units,
        passes = count_line_space(l, COUNT_SHARED).units + count_line_space(l, COUNT_CONST).units;
    struct access_counts sum = count_line_access(l);
    u64 bulk = sum.bulk.global_read + sum.bulk.global_written;
    u64 tensor = slots_of(card, l->operations[OPS_T_F16], card->peak.t_f16) +
                 slots_of(card, l->operations[OPS_T_TF32], card->peak.t_tf32) +
                 slots_of(card, l->operations[OPS_T_F8], card->peak.t_f8) +
                 slots_of(card, l->operations[OPS_T_F4], card->peak.t_f4) +
                 slots_of(card, l->operations[OPS_T_I8], card->peak.t_i8) +
                 slots_of(card, l->operations[OPS_T_F64], card->peak.t_f64);
    u64 f64 = slots_of(card, l->operations[OPS_F64], card->peak.f64);
    return l->times + sectors + bulk / 32 + PASS * passes + PASS * sum.serial + tensor + f64;
}

void count_lines(const struct counts *all, const struct count_kernel *k, struct count_lines *out)
{
    *out = (struct count_lines){ 0 };
    u32 n = 0, order = 0;
    for (const struct count_func *f = k->func; f; f = f->next) n += f->insns;
    struct placed *p = NEW_ARRAY(&out->mem, struct placed, n + 1);
    const struct count_insn **insn = NEW_ARRAY(&out->mem, const struct count_insn *, n + 1);
    n = 0;
    for (const struct count_func *f = k->func; f; f = f->next)
        for (u32 i = 0; i < f->insns; i++, order++)
            if (f->insn[i].times) p[n++] = (struct placed){ place_shown(f->insn[i].place), &f->insn[i], order };
    qsort(p, n, sizeof *p, by_place);
    out->line = NEW_ARRAY(&out->mem, struct count_line, n + 1);
    for (u32 i = 0; i < n; i++) {
        if (!out->n || !same_line(out->line[out->n - 1].place, p[i].shown))
            out->line[out->n++] = (struct count_line){ .place = p[i].shown, .insn = insn + i };
        insn_add(&out->line[out->n - 1], p[i].insn);
    }
    for (u32 i = 0; i < out->n; i++) out->cost += out->line[i].cost = count_cost(all->card, &out->line[i]);
}

static int by_work(const void *a, const void *b)
{
    const struct count_kernel *x = *(struct count_kernel *const *)a, *y = *(struct count_kernel *const *)b;
    if (x->sums.warp_insns != y->sums.warp_insns) return x->sums.warp_insns > y->sums.warp_insns ? -1 : 1;
    return strcmp(x->name, y->name);
}

const struct count_kernel **count_kernels(const struct counts *c, struct arena *mem, u32 *n)
{
    u32 k = 0;
    *n = 0;
    for (const struct count_kernel *x = c->kernel; x; x = x->next) ++*n;
    const struct count_kernel **list = NEW_ARRAY(mem, const struct count_kernel *, *n + 1);
    for (const struct count_kernel *x = c->kernel; x; x = x->next) list[k++] = x;
    qsort(list, k, sizeof *list, by_work);
    return list;
}

u32 count_lines_top(const struct count_lines *l, u32 *top, u32 n)
{
    u32 found = 0;
    for (u32 i = 0; i < l->n; i++) {
        u32 at = found;
        if (!l->line[i].cost) continue;
        while (at && l->line[top[at - 1]].cost < l->line[i].cost) at--;
        if (at == n) continue;
        u32 keep = MIN_OF(found, n - 1);
        memmove(top + at + 1, top + at, (keep - at) * sizeof *top);
        top[at] = i;
        found = MIN_OF(found + 1, n);
    }
    return found;
}
