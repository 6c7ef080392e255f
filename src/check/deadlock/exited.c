/* Threads that left the kernel: where they left, and who is missing at a barrier because of it.
 *
 * The records (sim/exits.h) are read only when a report explains why a barrier was reached by some threads and not by
 * others. */
#include "deadlock/exited.h"
#include "flow/flow.h"
#include "sim/finding_place.h"
#include "schedule/worker.h"
#include <inttypes.h>

enum { SHOWN_ABSENT = 4, SHOWN_CTA_BITS = 1 << 16 };

/* A common exit block says little: when only one branch before the barrier leads there, the answer is that branch. */
u32 exit_op(const struct exit_record *v, u32 barrier_op)
{
    const struct lowered *l = v->low;
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

struct absent { /* threads that are not at the barrier, and why */
    struct cta_threads who;
    const char *what;
};
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

static bool is_here(const struct split *s, u32 bar) { return s->state == SPLIT_AT(barrier) && s->bar == bar; }

static const char *exit_text(struct stopped *st, const struct exit_record *v, u32 barrier_op)
{
    return arena_printf(&st->mem, "left the kernel at %s", describe_place(st, v->low, exit_op(v, barrier_op)));
}

const char *describe_absent(struct stopped *st, const struct cta *c, u32 bar, u32 barrier_op, struct cta_threads *gone)
{
    struct absents a = { 0 };
    for (u32 k = 0; k < c->nwarps; k++) {
        struct warp *w = c->warp[k];
        for (u32 j = 0; j < w->exits.n; j++) {
            add_absent(&a, k, w->exits.at[j].mask, exit_text(st, &w->exits.at[j], barrier_op));
            gone->mask[k] |= w->exits.at[j].mask;
        }
        for (u32 j = 0; j < w->nsplit; j++)
            if (!is_here(&w->split[j], bar))
                add_absent(&a, k, w->split[j].mask,
                           arena_printf(&st->mem, "%s %s", w->split[j].mask & (w->split[j].mask - 1) ? "are" : "is",
                                        describe_split(st, c, w, &w->split[j])));
    }
    if (!a.n) return NULL;
    struct text t = { 0 };
    for (u32 k = 0; k < a.n; k++)
        text_add(&t, "%s%s %s",
                 !k                        ? ""
                 : k + 1 == a.n && !a.more ? ", and "
                                           : ", ",
                 describe_threads(st, &a.v[k].who), a.v[k].what);
    if (a.more) text_add(&t, ", and %u more are elsewhere", a.more);
    const char *z = t.p ? arena_str(&st->mem, str_of(t.p)) : NULL;
    text_free(&t);
    return z;
}

const char *describe_divergence(struct stopped *st, const struct lowered *l, u32 op)
{
    const struct loop *in = loop_of_op(l, op);
    u32 at = deciding_branch(l, op);
    if (in)
        return arena_printf(&st->mem, "; it is in the loop of %s, which does not run equally often for all of them",
                            describe_loop(st, l, in));
    return at == NONE ? "" : arena_printf(&st->mem, "; their ways part at %s", describe_place(st, l, at));
}

/* ---- CTAs ---- */

const char *describe_exited_ctas(struct stopped *st, u32 barrier_op)
{
    const struct launch *l = st->l;
    u64 started = launch_started(l), n = started - st->ncta;
    if (started <= st->ncta || l->total > SHOWN_CTA_BITS || started < l->total) return NULL;
    u32 *bits = NEW_ARRAY(&st->mem, u32, l->total / 32 + 1);
    for (u64 k = 0; k < l->total; k++) bits[k / 32] |= 1u << k % 32;
    for (u32 k = 0; k < st->ncta; k++) bits[st->cta[k]->linear / 32] &= ~(1u << st->cta[k]->linear % 32);
    struct exit_records all = { .n = 0 };
    for (u32 k = 0; k < l->nworkers; k++)
        for (u32 j = 0; j < l->worker[k].exits.n; j++) exit_record_add(&all, l->worker[k].exits.at[j]);
    struct text t = { 0 };
    text_add(&t, "%s %s left the kernel", describe_ctas(st, bits, (u32)l->total), n == 1 ? "has" : "have");
    const char *last = NULL;
    for (u32 k = 0; k < all.n; k++) {
        const char *at = describe_place(st, all.at[k].low, exit_op(&all.at[k], barrier_op));
        if (!last || strcmp(at, last)) text_add(&t, "%s%s", !last ? " at " : " and ", at);
        last = at;
    }
    const char *z = t.p ? arena_str(&st->mem, str_of(t.p)) : NULL;
    text_free(&t);
    return z;
}
