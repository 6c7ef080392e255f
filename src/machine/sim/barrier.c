/* CTA barriers 0..15 with counts, arrive and reductions.
 *
 * A warp arrives at a barrier as a whole, when all of its live lanes have arrived; the aligned forms want them at one
 * instruction. The count is in threads, a multiple of 32; without one, all live warps of the CTA take part, and a
 * thread that exits no longer does (rules.md S1). All splits that wait go on when the phase completes. */
#include "sim/cta.h"
#include "sim/finding_place.h"
#include "sim/asked.h"
#include "sim/lanes.h"
#include "sim/observe.h"
#include "sim/wait.h"

u32 barrier_lanes(const struct warp *w, u32 bar)
{
    u32 m = 0;
    if (w->nsplit == 1) return w->split[0].state == SPLIT_AT(barrier) && w->split[0].bar == bar ? w->split[0].mask : 0;
    for (u32 k = 0; k < w->nsplit; k++)
        if (w->split[k].state == SPLIT_AT(barrier) && w->split[k].bar == bar) m |= w->split[k].mask;
    return m;
}

static void reduce_in(struct bar *b, const struct warp *w, const struct split *s, const struct code *c)
{
    const struct lop *o = &c->low->op[s->op];
    u32 kind = o->aux & 15;
    if (kind < BAR_AND) return;
    const struct opnd *in = lop_src(o, 2);
    u32 p = in->kind == O_REG ? *(const u32 *)(const void *)SLOT(s->fr->R, c->reg[in->reg].slot)
            : in->value       ? ALL_LANES
                              : 0;
    (void)w;
    b->red_count += (u32)__builtin_popcount(p & s->mask);
    if (p & s->mask) b->red_or = 1;
    if (s->mask & ~p) b->red_and = 0;
}

/* The phase is complete: results go out, waiting splits run. */
static void release(struct cta *c, u32 n)
{
    struct bar *b = &c->bar[n];
    if (c->launch->in->checks & CHECK_BARRIER && (b->partial || (!b->expected && c->exited && !c->divergent)))
        asked->judge_barrier(c, n);
    for (u32 k = 0; k < c->nwarps; k++) {
        struct warp *w = c->warp[k];
        for (u32 j = 0; j < w->nsplit; j++) {
            struct split *s = &w->split[j];
            if (s->state != SPLIT_AT(barrier) || s->bar != n) continue;
            struct code *code = s->fr->code;
            const struct lop *o = b->results ? &code->low->op[s->op] : NULL;
            if (o && lop_dst(o, 0)->kind == O_REG) {
                const struct where *d = &code->reg[lop_dst(o, 0)->reg];
                u32 kind = o->aux & 15, v = kind == BAR_AND ? b->red_and : kind == BAR_OR ? b->red_or : b->red_count;
                char *p = SLOT(s->fr->R, d->slot);
                if (d->width == 1) {
                    u32 *x = (u32 *)(void *)p;
                    *x = (*x & ~s->mask) | (v ? s->mask : 0);
                    if (d->cls == CLS_S) *x = v ? ALL_LANES : 0;
                } else if (d->cls == CLS_S) {
                    u64 x = v;
                    memcpy(p, &x, 8);
                } else if (d->cls == CLS_A)
                    lanes_put_groups(s->fr->code, s->fr->R, d->slot, s->mask, v);
                else
                    for (u32 l = 0; l < LANES; l++)
                        if (s->mask >> l & 1) memcpy(p + 4 * l, &v, 4);
            }
            s->state = SPLIT_RUN;
        }
    }
    if (observed(c->launch))
        observe_sync(c->launch, &(struct sync_event){ .kind = SYNC_BARRIER, .cta = c, .id = n, .op = NONE });
    c->bars_used &= ~(1u << n);
    for (u32 k = 0; b->arrived_threads && k < c->nwarps; k++)
        if (c->warp[k]->arrived_bar == n) c->warp[k]->arrived = 0;
    *b = (struct bar){ 0 };
    c->phases++;
}

/* Whether all live lanes of w have arrived at barrier n without waiting, some of them after others. */
static bool all_lanes_arrived(const struct warp *w, u32 n)
{
    return w->arrived && w->arrived_bar == n && !(w->live & ~w->arrived);
}

/* Threads that have arrived, of whole warps only: b->arrived_threads has those that do not wait. waiting: whether some
 * thread waits. */
static u32 count_arrived(const struct cta *c, u32 n, u32 *waiting)
{
    u32 t = c->bar[n].arrived_threads;
    *waiting = 0;
    for (u32 k = 0; k < c->nwarps; k++) {
        const struct warp *w = c->warp[k];
        u32 at = barrier_lanes(w, n);
        if (all_lanes_arrived(w, n)) t += LANES;
        if (!at) continue;
        *waiting = 1;
        if (at == w->live) t += LANES;
    }
    return t;
}

static bool complete(struct cta *c, u32 n)
{
    struct bar *b = &c->bar[n];
    u32 waiting, t = count_arrived(c, n, &waiting);
    if (!waiting && !t) return false;
    if (b->expected) return t >= b->expected;
    if (!waiting) return false;
    for (u32 k = 0; k < c->nwarps; k++) {
        const struct warp *w = c->warp[k];
        if (w->live && barrier_lanes(w, n) != w->live && !(b->arrived_warps >> k & 1)) return false;
    }
    return true;
}

void barriers_recheck(struct cta *c)
{
    EACH_SET (l, c->bars_used)
        if (complete(c, l)) release(c, l);
}

static void mismatch(struct warp *w, const struct insn *i, const char *cause)
{
    struct finding f = { .kind = F_barrier_mismatch, .cause = cause };
    if (w->cta->launch->in->checks & CHECK_BARRIER) finding_add(w, i->op, &f, w->mask);
}

/* The common case: bar.sync of a constant number without a count, by a whole warp. false: it is another case. */
static bool arrive_whole(struct warp *w, struct split *s, const struct insn *i, bool *go_on)
{
    struct cta *c = w->cta;
    u32 n = i->site;
    struct bar *b = &c->bar[n];
    if (s->mask != w->live || b->expected || b->partial || b->arrived_warps) return false;
    if (unlikely(observed(c->launch)))
        observe_sync(c->launch,
                     &(struct sync_event){
                         .kind = SYNC_BARRIER_ARRIVE, .cta = c, .warp = w, .mask = s->mask, .id = n, .op = i->op });
    b->in_use = 1;
    c->bars_used |= 1u << n;
    split_waits(s, i, WAIT_barrier);
    s->bar = (u8)n;
    *go_on = ++b->waiting_warps == c->running;
    if (*go_on) release(c, n);
    return true;
}

/* bar.arrive: the split arrives and goes on; its warp has arrived once all its lanes have. */
static void arrive_only(struct warp *w, const struct split *s, u32 n)
{
    struct cta *c = w->cta;
    struct bar *b = &c->bar[n];
    if (s->mask != w->live) {
        w->arrived = (w->arrived_bar == n ? w->arrived : 0) | s->mask;
        w->arrived_bar = (u8)n;
        if (!all_lanes_arrived(w, n)) return;
    }
    w->arrived = 0;
    b->arrived_threads += LANES;
    b->arrived_warps |= 1ull << w->id;
    if (complete(c, n)) release(c, n);
}

bool wait_barrier(struct warp *w, struct split *s, const struct insn *i)
{
    struct cta *c = w->cta;
    bool go_on;
    w->syncs++;
    if (i->flags & IF_PLAIN_BAR && arrive_whole(w, s, i, &go_on)) return go_on;
    const struct lop *o = &w->code->low->op[i->op];
    u32 first = (u32)__builtin_ctz(s->mask), n = (u32)lane_value(w, w->code, w->R, i->a, CLS_AT(i, 1), 4, first);
    u32 count = lop_src(o, 1)->kind == O_NONE ? 0 : (u32)lane_value(w, w->code, w->R, i->b, CLS_AT(i, 2), 4, first);
    char cause[160];
    if (n >= MAX_BARS) {
        snprintf(cause, sizeof cause, "barrier %u does not exist: a block has 16", n);
        mismatch(w, i, cause);
        return true;
    }
    struct bar *b = &c->bar[n];
    if (count % LANES) {
        snprintf(cause, sizeof cause, "the thread count %u is not a multiple of 32", count);
        mismatch(w, i, cause);
        count = (count + LANES - 1) / LANES * LANES;
    }
    if (count && b->expected && b->expected != count) {
        snprintf(cause, sizeof cause, "barrier %u is waited for with %u threads here and with %u elsewhere", n, count,
                 b->expected);
        mismatch(w, i, cause);
    } else if (count)
        b->expected = count;
    if (!b->in_use) b->red_and = 1;
    b->in_use = 1;
    c->bars_used |= 1u << n;
    if (observed(c->launch))
        observe_sync(c->launch,
                     &(struct sync_event){
                         .kind = SYNC_BARRIER_ARRIVE, .cta = c, .warp = w, .mask = s->mask, .id = n, .op = i->op });
    if ((o->aux & 15) == BAR_ARRIVE) {
        arrive_only(w, s, n);
        return true;
    }
    if (lop_dst(o, 0)->kind == O_REG) b->results = true;
    split_waits(s, i, WAIT_barrier);
    s->bar = (u8)n;
    s->missing = o->aux & BAR_ALIGNED ? w->live & ~s->mask : 0;
    if (s->mask != w->live) b->partial = true;
    reduce_in(b, w, s, w->code);
    /* Most arrivals are not the last: waiting warps are counted, and all warps are looked at only when the count allows
     * that the phase is complete. A warp that becomes whole later, because its other lanes leave, is not counted;
     * b->partial then lets every arrival look at all warps. */
    if (s->mask == w->live || barrier_lanes(w, n) == w->live) b->waiting_warps++;
    if (!b->expected && !b->partial && b->waiting_warps + (u32)__builtin_popcountll(b->arrived_warps) < c->running)
        return false;
    if ((!b->expected && !b->partial && !b->arrived_warps && b->waiting_warps == c->running) || complete(c, n))
        release(c, n);
    return s->state == SPLIT_RUN;
}
