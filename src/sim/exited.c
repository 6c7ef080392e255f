/* Who left the kernel, and where; and with it who a barrier waits for.
 *
 * A warp keeps the places where its lanes left, a worker those of the CTAs that are over: a few each, written once a
 * warp. They are looked at only when a report says why a barrier was reached by some threads and not by others. */
#include "sim/exited.h"
#include "code/lower.h"
#include "sim/deadlock.h"
#include "sim/finding_place.h"
#include "sim/worker_pool.h"
#include <inttypes.h>

enum { SHOWN_ABSENT = 4, SHOWN_CTA_BITS = 1 << 16 };

void leave_note(struct leave *v, u32 *n, struct leave x)
{
    for (u32 k = 0; k < *n; k++)
        if (v[k].op == x.op && v[k].in == x.in) {
            v[k].mask |= x.mask;
            return;
        }
    if (*n < LEAVES)
        v[(*n)++] = x;
    else
        v[LEAVES - 1].mask |= x.mask;
}

void leave_cta(struct worker *k, const struct cta *c)
{
    for (u32 n = 0; n < c->nwarps; n++)
        for (u32 j = 0; j < c->warp[n]->nleft; j++) leave_note(k->ended, &k->nended, c->warp[n]->left[j]);
}

/* A common exit block says little: when only one branch before the barrier leads there, it is that branch. */
u32 leave_at(const struct leave *v, u32 barrier_op)
{
    const struct lowered *l = v->in;
    u32 only = NONE;
    for (u32 b = 0; b < l->nblock; b++) {
        const struct block *e = &l->block[b];
        if (!e->is_exit || e->first != v->op) continue;
        for (u32 k = 0; k < e->npred; k++) {
            const struct block *p = &l->block[e->pred[k]];
            if (p->end == p->first || p->end - 1 > barrier_op) continue;
            if (only != NONE) return v->op;
            only = p->end - 1;
        }
    }
    return only == NONE ? v->op : only;
}

/* ---- threads of a CTA ---- */

struct absent {
    struct crew who;
    const char *what;
}; /* threads that are not at the barrier, and why */
struct absents {
    struct absent v[SHOWN_ABSENT];
    u32 n, more;
};

static void add_absent(struct absents *a, u32 warp, u32 mask, const char *what)
{
    u32 k = 0;
    while (k < a->n && strcmp(a->v[k].what, what)) k++;
    if (k == SHOWN_ABSENT) {
        a->more += (u32)__builtin_popcount(mask);
        return;
    }
    if (k == a->n) a->v[a->n++] = (struct absent){ .what = what };
    a->v[k].who.mask[warp] |= mask;
}

static bool is_here(const struct split *s, u32 bar) { return s->state == SP_BAR && s->bar == bar; }

static const char *left_text(struct stop *st, const struct leave *v, u32 barrier_op)
{
    return arena_printf(&st->mem, "left the kernel at %s", stand_place(st, v->in, leave_at(v, barrier_op)));
}

const char *stand_absent(struct stop *st, const struct cta *c, u32 bar, u32 barrier_op, struct crew *gone)
{
    struct absents a = { 0 };
    for (u32 k = 0; k < c->nwarps; k++) {
        struct warp *w = c->warp[k];
        for (u32 j = 0; j < w->nleft; j++) {
            add_absent(&a, k, w->left[j].mask, left_text(st, &w->left[j], barrier_op));
            gone->mask[k] |= w->left[j].mask;
        }
        for (u32 j = 0; j < w->nsplit; j++)
            if (!is_here(&w->split[j], bar))
                add_absent(&a, k, w->split[j].mask,
                           arena_printf(&st->mem, "%s %s", w->split[j].mask & (w->split[j].mask - 1) ? "are" : "is",
                                        stand_what(st, c, w, &w->split[j])));
    }
    if (!a.n) return NULL;
    struct text t = { 0 };
    for (u32 k = 0; k < a.n; k++)
        text_add(&t, "%s%s %s",
                 !k                        ? ""
                 : k + 1 == a.n && !a.more ? ", and "
                                           : ", ",
                 stand_threads(st, &a.v[k].who), a.v[k].what);
    if (a.more) text_add(&t, ", and %u more are elsewhere", a.more);
    const char *z = t.p ? arena_str(&st->mem, str_of(t.p)) : NULL;
    text_free(&t);
    return z;
}

static u32 block_of(const struct lowered *l, u32 op)
{
    u32 b = 0;
    while (b < l->nblock && !(op >= l->block[b].first && op < l->block[b].end)) b++;
    return b < l->nblock ? b : NONE;
}

const struct loop *stand_loop_of(const struct lowered *l, u32 op)
{
    u32 b = block_of(l, op);
    return b != NONE && l->block[b].loop ? &l->loop[l->block[b].loop - 1] : NULL;
}

/* Does everything that comes by block `from` come by block `to`? */
static bool always_reaches(const struct lowered *l, u32 from, u32 to)
{
    for (u32 n = 0; from != NONE && from != to && n < l->nblock; n++) from = l->block[from].ipdom;
    return from == to;
}

/* The last branch before the operation from which it need not be reached. */
u32 stand_decides(const struct lowered *l, u32 op)
{
    u32 b = block_of(l, op);
    if (b == NONE) return NONE;
    for (u32 up = l->block[b].idom, n = 0; up != NONE && n < l->nblock; up = l->block[up].idom, n++)
        if (l->block[up].nsucc > 1 && !always_reaches(l, up, b)) return l->block[up].end - 1;
    return NONE;
}

const char *stand_parting(struct stop *st, const struct lowered *l, u32 op)
{
    const struct loop *in = stand_loop_of(l, op);
    u32 at = stand_decides(l, op);
    if (in)
        return arena_printf(&st->mem, "; it is in the loop of %s, which does not run equally often for all of them",
                            stand_loop(st, l, in));
    return at == NONE ? "" : arena_printf(&st->mem, "; their ways part at %s", stand_place(st, l, at));
}

/* ---- CTAs ---- */

const char *stand_ended(struct stop *st, u32 barrier_op)
{
    const struct launch *l = st->l;
    u64 started = launch_started(l), n = started - st->ncta;
    if (started <= st->ncta || l->total > SHOWN_CTA_BITS || started < l->total) return NULL;
    u32 *bits = NEW_ARRAY(&st->mem, u32, l->total / 32 + 1);
    for (u64 k = 0; k < l->total; k++) bits[k / 32] |= 1u << k % 32;
    for (u32 k = 0; k < st->ncta; k++) bits[st->cta[k]->linear / 32] &= ~(1u << st->cta[k]->linear % 32);
    struct leave all[LEAVES];
    u32 nall = 0;
    for (u32 k = 0; k < l->nworkers; k++)
        for (u32 j = 0; j < l->worker[k].nended; j++) leave_note(all, &nall, l->worker[k].ended[j]);
    struct text t = { 0 };
    text_add(&t, "%s %s left the kernel", stand_ctas(st, bits, (u32)l->total), n == 1 ? "has" : "have");
    const char *last = NULL;
    for (u32 k = 0; k < nall; k++) {
        const char *at = stand_place(st, all[k].in, leave_at(&all[k], barrier_op));
        if (!last || strcmp(at, last)) text_add(&t, "%s%s", !last ? " at " : " and ", at);
        last = at;
    }
    const char *z = t.p ? arena_str(&st->mem, str_of(t.p)) : NULL;
    text_free(&t);
    return z;
}

/* ---- a trap ---- */

static bool reads_envreg(const struct lop *o)
{
    const struct opnd *v[] = { &o->a, &o->b, &o->c, &o->e };
    for (u32 k = 0; k < COUNT_OF(v); k++)
        if (v[k]->kind == O_SREG && v[k]->reg == SR_ENVREG) return true;
    return false;
}

/* Whether the guard of a branch was computed from %envreg, where the driver leaves the grid's workspace. */
static bool from_envreg(const struct lowered *l, u32 branch)
{
    u64 *want = base_alloc(8 * (l->words + 1));
    u32 r[16], n;
    bool found = false;
    if (!want) return false;
    n = lop_uses(&l->op[branch], l, r);
    for (u32 j = 0; j < n; j++) want[r[j] >> 6] |= 1ull << (r[j] & 63);
    for (bool again = true; again && !found;) {
        again = false;
        for (u32 k = 0; k < l->nop && !found; k++) {
            bool hit = false;
            n = lop_defs(&l->op[k], l, r);
            for (u32 j = 0; j < n; j++) hit |= want[r[j] >> 6] >> (r[j] & 63) & 1;
            if (!hit) continue;
            found = reads_envreg(&l->op[k]);
            n = lop_uses(&l->op[k], l, r);
            for (u32 j = 0; j < n; j++) {
                u64 bit = 1ull << (r[j] & 63);
                again |= !(want[r[j] >> 6] & bit);
                want[r[j] >> 6] |= bit;
            }
        }
    }
    base_free(want);
    return found;
}

static bool in_grid_sync(const struct lowered *l, u32 op)
{
    struct arena mem = { 0 };
    bool found = false;
    for (const struct place *p = found_place(&mem, l, op); p && !found; p = p->inlined_at)
        found = (p->function && strstr(p->function, "grid_group")) ||
                (p->file && strstr(p->file, "cooperative_groups.h"));
    arena_free(&mem);
    return found;
}

/* Unoptimised code calls a function that traps, and keeps what it tests in local memory: there the name of the
 * function around it tells. */
bool trap_needs_grid(const struct frame *f, u32 op)
{
    for (; f; f = f->up) {
        u32 at = stand_decides(f->code->low, op);
        if (at != NONE) return from_envreg(f->code->low, at) || in_grid_sync(f->code->low, op);
        op = f->up ? found_call(f) : NONE;
        if (op == NONE) return false;
    }
    return false;
}
