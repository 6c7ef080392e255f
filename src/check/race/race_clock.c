/* The clocks of lanes, warps and CTAs at fences, .sync operations and barriers: race_clock.h has the idea.
 *
 * Where lanes come together, their clocks are joined, and each gets the join. If all lanes of a warp take part, the
 * join is kept once, as the clock of the warp, and the lanes have nothing of their own any more; if all threads of the
 * CTA do, it is the clock of the CTA. */
#include "race/race_clock.h"
#include "race/race_launch.h"

/* ---- new clocks ---- */

void clock_make_lanes(struct race_warp *w)
{
    if (w->lane) return;
    w->lane = base_need(sizeof *w->lane * LANES);
}

void clock_view_drop(struct vclock_store *vs, struct view *v)
{
    vclock_drop(vs, v->clock);
    vclock_drop(vs, v->pending);
    vclock_drop(vs, v->pending_cta);
    vclock_drop(vs, v->fence);
}

static void lane_reset(struct vclock_store *vs, struct lane_clock *k)
{
    clock_view_drop(vs, &k->strict);
    clock_view_drop(vs, &k->weak);
    vclock_drop(vs, k->rmw);
    vclock_drop(vs, k->unscoped);
    vclock_drop(vs, k->fence_gpu);
    vclock_drop(vs, k->fence_gpu_weak);
    scoped_clock_clear(vs, &k->sc_clock);
    *k = (struct lane_clock){ 0 };
}

static void bar_reset(struct vclock_store *vs, struct bar_state *b)
{
    vclock_drop(vs, b->clock);
    vclock_drop(vs, b->weak);
    scoped_clock_clear(vs, &b->sc_clock);
    *b = (struct bar_state){ 0 };
}

/* The warp has no clock of its own: it has acquired nothing, or nothing beyond the clock of its CTA. */
static void warp_reset(struct race_warp *w)
{
    struct vclock_store *vs = clock_store(w);
    vclock_drop(vs, w->weak);
    vclock_drop(vs, w->clock);
    scoped_clock_clear(vs, &w->sc_clock);
    w->weak = w->clock = NULL;
    w->weak_base = w->ahead_weak = w->ahead = 0;
}

void clock_reset(struct race_cta *c)
{
    struct vclock_store *vs = &c->era->vclocks;
    lock(&c->era->lock);
    vclock_drop(vs, c->clock);
    vclock_drop(vs, c->weak);
    vclock_drop(vs, c->pending);
    vclock_drop(vs, c->unscoped);
    scoped_clock_clear(vs, &c->sc_clock);
    c->clock = c->weak = c->pending = c->unscoped = NULL;
    c->sc_acquired = false;
    for (u32 n = 0; n < MAX_BARS; n++) bar_reset(vs, &c->bar[n]);
    for (u32 n = 0; n < c->nissuers; n++) {
        vclock_drop(vs, c->issuers[n].strict);
        vclock_drop(vs, c->issuers[n].weak);
    }
    c->nissuers = 0;
    for (u32 n = 0; n < MAX_WARPS; n++) {
        EACH_SET (l, c->warp[n].used) lane_reset(vs, &c->warp[n].lane[l]);
        c->warp[n].used = 0;
        warp_reset(&c->warp[n]);
    }
    unlock(&c->era->lock);
}

void clock_begin(struct race_cta *c, struct vclock *k)
{
    lock(&c->era->lock);
    vclock_join(&c->era->vclocks, &c->clock, k);
    unlock(&c->era->lock);
}

/* ---- the whole clock of a lane ---- */

/* Of the lanes of the warp, now. */
static struct own_epoch own_epoch(const struct race_warp *w)
{
    return (struct own_epoch){ w->now, w->warp_base, w->weak_base > w->warp_base ? w->weak_base : 0,
                               !w->id && w->warp_base <= w->c->base };
}

/* Adds what these lanes had done at that moment, and what their warp had done before its barrier. */
static void add_epoch(struct vclock **k, const struct race_warp *w, u32 lanes, const struct own_epoch *m)
{
    if (m->is_leader && lanes == 1)
        vclock_add_leader(clock_store(w), k, w->c->number, m->now);
    else if (lanes == w->all)
        vclock_add_warp(clock_store(w), k, w->c->number, w->id, m->now);
    else
        vclock_add_lanes(clock_store(w), k, w->c->number, w->id, m->warp_base, lanes, m->now);
}
static void add_own_epoch(struct vclock **k, const struct race_warp *w, u32 lanes)
{
    struct own_epoch now = own_epoch(w);
    add_epoch(k, w, lanes, &now);
}
static void add_weak_epoch(struct vclock **k, const struct race_warp *w, u32 weak_base)
{
    if (weak_base) vclock_add_warp(clock_store(w), k, w->c->number, w->id, weak_base);
}

/* The join of the three clocks of a lane, without its own epoch; in the weak view. References. */
static struct vclock *lane_join(const struct race_warp *w, u32 lane)
{
    struct vclock *k = vclock_hold(w->c->clock);
    vclock_join(clock_store(w), &k, w->clock);
    vclock_join(clock_store(w), &k, w->lane[lane].strict.clock);
    return k;
}
static struct vclock *lane_join_weak(const struct race_warp *w, u32 lane)
{
    struct vclock *k = vclock_hold(w->c->weak);
    vclock_join(clock_store(w), &k, w->weak);
    vclock_join(clock_store(w), &k, w->lane[lane].weak.clock);
    return k;
}

struct vclock *clock_of_lane(const struct race_warp *w, u32 lane)
{
    struct vclock *k = lane_join(w, lane);
    add_own_epoch(&k, w, 1u << lane);
    return k;
}

struct vclock *clock_of_lane_weak(const struct race_warp *w, u32 lane)
{
    struct vclock *k = lane_join_weak(w, lane);
    add_weak_epoch(&k, w, own_epoch(w).weak_base);
    return k;
}

const struct lane_clock *clock_fence_clocks(struct race_warp *w, u32 lane)
{
    struct lane_clock *k = &w->lane[lane];
    if (k->fence_has_own) return k;
    add_epoch(&k->strict.fence, w, 1u << lane, &k->fence_at);
    add_weak_epoch(&k->weak.fence, w, k->fence_at.weak_base);
    k->fence_has_own = true;
    return k;
}

/* ---- fences ---- */

/* Before another fence of the lane: the clock of its last fence.sc, if deferred, is joined into sc_clock. */
static void sc_undefer(struct race_warp *w, u32 lane)
{
    struct lane_clock *k = &w->lane[lane];
    if (k->sc_deferred) vclock_join(clock_store(w), &k->sc_clock.gpu, clock_fence_clocks(w, lane)->strict.fence);
    k->sc_deferred = false;
}

bool clock_has_sc(const struct race_warp *w, u32 lane)
{
    return w->lane[lane].sc_deferred || scoped_clock_any(&w->lane[lane].sc_clock) || scoped_clock_any(&w->sc_clock) ||
           scoped_clock_any(&w->c->sc_clock);
}

void clock_publish_sc(struct race_warp *w, u32 lane, struct scoped_clock *to)
{
    const struct lane_clock *k = &w->lane[lane];
    if (!k->sc_covers_cta) {
        scoped_clock_join(clock_store(w), to, &w->c->sc_clock);
        scoped_clock_join(clock_store(w), to, &w->sc_clock);
    }
    scoped_clock_join(clock_store(w), to, &k->sc_clock);
    if (k->sc_deferred) vclock_join(clock_store(w), &to->gpu, clock_fence_clocks(w, lane)->strict.fence);
}

/* A fence acquires what is pending. One of CTA scope acquires the part of its scope; the rest stays pending until the
 * next wide one. */
static void view_fence(struct vclock_store *vs, struct view *v, u32 scope)
{
    vclock_join(vs, &v->clock, scope_is_wide(scope) ? v->pending : v->pending_cta);
    if (scope_is_wide(scope)) {
        vclock_drop(vs, v->pending);
        v->pending = NULL;
    }
    vclock_drop(vs, v->pending_cta);
    vclock_drop(vs, v->fence);
    v->pending_cta = v->fence = NULL;
}

/* Before another fence: if the last one was wide and the new one is not, the clocks of the last one are kept as those
 * of the last wide fence. A new wide fence makes them of no use. */
static void keep_fence_gpu(struct race_warp *w, u32 lane, u32 scope)
{
    struct vclock_store *vs = clock_store(w);
    struct lane_clock *k = &w->lane[lane];
    if (!scope_is_wide(scope) && !(k->has_fenced && scope_is_wide(k->fence_scope))) return;
    vclock_drop(vs, k->fence_gpu);
    vclock_drop(vs, k->fence_gpu_weak);
    k->fence_gpu = k->fence_gpu_weak = NULL;
    if (scope_is_wide(scope)) return;
    clock_fence_clocks(w, lane);
    k->fence_gpu = vclock_hold(k->strict.fence);
    k->fence_gpu_weak = vclock_hold(k->weak.fence);
}

/* like: the clock of another lane after the same fence, which most often is equal. */
static void lane_fence(struct race_warp *w, u32 lane, u32 scope, bool sc, const struct own_epoch *now,
                       const struct vclock *like)
{
    struct race_cta *c = w->c;
    struct vclock_store *vs = clock_store(w);
    struct lane_clock *k = &w->lane[lane];
    /* the fence acquires all of sc_clock, as every such fence before it did: its own clock covers that */
    bool all = sc && scope_is_wide(scope) && !vs->scoped;
    if (!all) sc_undefer(w, lane);
    keep_fence_gpu(w, lane, scope);
    if (!scope_is_wide(scope)) vclock_join(vs, &k->unscoped, k->strict.pending);
    view_fence(vs, &k->strict, scope);
    view_fence(vs, &k->weak, scope);
    if (scope_is_wide(scope)) {
        vclock_drop(vs, k->rmw);
        k->rmw = NULL;
    } /* pending, which was acquired, has all of it */
    k->read.id = 0;
    if (sc) {
        scoped_clock_acquire(vs, &k->sc_clock, c->number, scope_is_wide(scope), &k->strict.clock);
        scoped_clock_acquire(vs, &w->sc_clock, c->number, scope_is_wide(scope), &k->strict.clock);
        if (!c->sc_acquired) scoped_clock_acquire(vs, &c->sc_clock, c->number, scope_is_wide(scope), &k->strict.clock);
    }
    vclock_share(vs, &k->strict.clock, like);
    k->strict.fence = lane_join(w, lane);
    k->weak.fence = lane_join_weak(w, lane);
    k->fence_at = *now;
    k->has_fenced = true;
    k->fence_has_own = false;
    k->fence_scope = (u8)scope;
    if (all) {
        scoped_clock_clear(vs, &k->sc_clock);
        k->sc_deferred = k->sc_covers_cta = true;
    } else if (sc)
        scoped_clock_release(vs, &k->sc_clock, c->number, scope_is_wide(scope),
                             clock_fence_clocks(w, lane)->strict.fence);
}

void clock_fence(struct race_warp *w, u32 mask, u32 scope, bool sc)
{
    struct race_cta *c = w->c;
    lock(&c->era->lock);
    w->now++;
    clock_grew(w, mask);
    struct own_epoch now = own_epoch(w);
    const struct vclock *last = NULL;
    EACH_SET (lane, mask) {
        lane_fence(w, lane, scope, sc, &now, last);
        last = w->lane[lane].strict.clock;
    }
    unlock(&c->era->lock);
}

/* ---- lanes of a warp that synchronise ---- */

/* Lanes with the same last fence.sc, and equal clocks there; the first of them. */
struct fence_group {
    u32 lanes;
    const struct lane_clock *first;
};

/* The deferred clock of the group goes into *to, with the epochs of its lanes added at once. The group is empty then.
 */
static void publish_group(const struct race_warp *w, struct fence_group *f, struct scoped_clock *to)
{
    if (!f->lanes) return;
    struct vclock *what = vclock_hold(f->first->strict.fence);
    if (!f->first->fence_has_own) add_epoch(&what, w, f->lanes, &f->first->fence_at);
    vclock_join(clock_store(w), &to->gpu, what);
    vclock_drop(clock_store(w), what);
    f->lanes = 0;
}

static bool same_fence(const struct lane_clock *a, const struct lane_clock *b)
{
    return a->strict.fence == b->strict.fence && a->fence_has_own == b->fence_has_own &&
           a->fence_at.now == b->fence_at.now && a->fence_at.warp_base == b->fence_at.warp_base &&
           a->fence_at.is_leader == b->fence_at.is_leader;
}

/* Joins the clocks of the lanes, beyond the clock of their warp, into *all. Most lanes have none since the last
 * barrier.
 */
static void joint_add(const struct race_warp *w, u32 lanes, struct joint_clock *all)
{
    struct vclock_store *vs = clock_store(w);
    const struct lane_clock none = { 0 }, *last = &none; /* lanes with equal clocks share one tree */
    EACH_SET (l, lanes & w->ahead) {
        const struct lane_clock *k = &w->lane[l];
        if (k->strict.clock != last->strict.clock) vclock_accumulate(vs, &all->clock, k->strict.clock);
        if (k->weak.clock != last->weak.clock) vclock_accumulate(vs, &all->weak, k->weak.clock);
        last = k;
    }
}

/* The same with their sc_clock. */
static void joint_add_all(const struct race_warp *w, u32 lanes, struct joint_clock *all)
{
    struct vclock_store *vs = clock_store(w);
    const struct lane_clock none = { 0 }, *last = &none;
    struct fence_group fenced = { 0 };
    joint_add(w, lanes, all);
    for (u32 m = lanes & w->ahead; m; m &= m - 1) {
        const struct lane_clock *k = &w->lane[__builtin_ctz(m)];
        if (k->sc_clock.gpu != last->sc_clock.gpu || k->sc_clock.by_cta != last->sc_clock.by_cta ||
            k->sc_clock.by_cta_narrow != last->sc_clock.by_cta_narrow)
            scoped_clock_join(vs, &all->sc_clock, &k->sc_clock);
        if (k->sc_deferred) {
            if (fenced.lanes && !same_fence(fenced.first, k)) publish_group(w, &fenced, &all->sc_clock);
            if (!fenced.lanes) fenced.first = k;
            fenced.lanes |= m & -m;
        }
        last = k;
    }
    publish_group(w, &fenced, &all->sc_clock);
}

void clock_join_lanes(struct race_warp *w, u32 lanes, const struct joint_clock *all)
{
    clock_grew(w, lanes);
    EACH_SET (l, lanes) {
        struct lane_clock *k = &w->lane[l];
        vclock_join(clock_store(w), &k->strict.clock, all->clock);
        vclock_join(clock_store(w), &k->weak.clock, all->weak);
        scoped_clock_join(clock_store(w), &k->sc_clock, &all->sc_clock);
    }
}

/* The warp, or the CTA, has the clock and the sc_clock of the lane now. true: the lane has nothing else, like what is
 * pending, that they do not have. */
static bool lane_clear(struct vclock_store *vs, struct lane_clock *k)
{
    vclock_drop(vs, k->strict.clock);
    vclock_drop(vs, k->weak.clock);
    scoped_clock_clear(vs, &k->sc_clock);
    k->strict.clock = k->weak.clock = NULL;
    k->sc_deferred = k->sc_covers_cta = false;
    return !k->strict.pending && !k->weak.pending && !k->strict.pending_cta && !k->weak.pending_cta && !k->rmw &&
           !k->unscoped;
}

/* All lanes of the warp get the joined clocks, which have those of each of them. */
static void join_warp(struct race_warp *w, const struct joint_clock *all)
{
    struct vclock_store *vs = clock_store(w);
    vclock_join(vs, &w->clock, all->clock);
    vclock_join(vs, &w->weak, all->weak);
    scoped_clock_join(vs, &w->sc_clock, &all->sc_clock);
    w->version++;
    for (u32 m = w->ahead; m; m &= m - 1)
        if (lane_clear(vs, &w->lane[__builtin_ctz(m)])) w->ahead &= ~(m & -m);
    w->ahead_weak = 0;
}

static void joint_clock_drop(struct vclock_store *vs, struct joint_clock *all)
{
    vclock_drop(vs, all->clock);
    vclock_drop(vs, all->weak);
    scoped_clock_clear(vs, &all->sc_clock);
}

void clock_warp_barrier(struct race_warp *w, u32 mask)
{
    struct race_cta *c = w->c;
    struct joint_clock all = { 0 };
    bool whole = mask == w->all;
    lock(&c->era->lock);
    w->now++;
    if (!whole || w->ahead) joint_add_all(w, mask, &all);
    if (whole) {
        w->warp_base = w->now;
        if (w->ahead) join_warp(w, &all);
    } else {
        add_own_epoch(&all.clock, w, mask);
        clock_join_lanes(w, mask, &all);
    }
    joint_clock_drop(&c->era->vclocks, &all);
    unlock(&c->era->lock);
}

/* Some lanes of the warp converge: each gets the clocks, strict and weak, of all of them in its weak view. */
static void converge_part(struct race_warp *w, u32 mask)
{
    struct joint_clock all = { 0 }, none = { 0 };
    joint_add(w, mask & w->ahead_weak, &all);
    vclock_join(clock_store(w), &all.weak, all.clock);
    add_own_epoch(&all.weak, w, mask);
    none.weak = all.weak;
    clock_join_lanes(w, mask, &none);
    joint_clock_drop(clock_store(w), &all);
}

void clock_converge(struct race_warp *w, u32 mask)
{
    struct race_cta *c = w->c;
    bool whole = mask == w->all;
    w->now++;
    if (whole) w->weak_base = w->now;
    if (whole && !w->ahead_weak) return;
    lock(&c->era->lock);
    if (whole) {
        struct joint_clock all = { 0 };
        joint_add(w, w->ahead_weak, &all);
        vclock_join(clock_store(w), &w->weak, all.clock);
        vclock_join(clock_store(w), &w->weak, all.weak);
        joint_clock_drop(&c->era->vclocks, &all);
        w->ahead_weak = 0;
    } else
        converge_part(w, mask);
    unlock(&c->era->lock);
}

/* ---- barriers ---- */

/* Joins what lanes have read by read-modify-writes into *all (R5a). */
static void joint_add_rmw(const struct race_warp *w, u32 lanes, struct vclock **all)
{
    const struct vclock *last = NULL;
    EACH_SET (l, lanes & w->ahead) {
        const struct vclock *rmw = w->lane[l].rmw;
        if (rmw != last) vclock_accumulate(clock_store(w), all, rmw);
        last = rmw;
    }
}

/* Lanes arrive at a barrier: joins their clocks into those of the barrier. */
static void bar_join(struct race_warp *w, u32 lanes, struct bar_state *b)
{
    struct vclock_store *vs = clock_store(w);
    struct joint_clock all = { b->clock, b->weak, b->sc_clock };
    vclock_join(vs, &all.clock, w->clock);
    vclock_join(vs, &all.weak, w->weak);
    scoped_clock_join(vs, &all.sc_clock, &w->sc_clock);
    joint_add_all(w, lanes, &all);
    joint_add_rmw(w, lanes, &all.weak);
    add_own_epoch(&all.clock, w, lanes);
    add_weak_epoch(&all.weak, w, own_epoch(w).weak_base);
    b->clock = all.clock;
    b->weak = all.weak;
    b->sc_clock = all.sc_clock;
}

/* The clocks of a lane that waits do not change until the barrier is complete: they are joined then. */
void clock_barrier_arrive(struct race_warp *w, u32 mask, u32 bar, bool waits)
{
    struct race_cta *c = w->c;
    struct bar_state *b = &c->bar[bar];
    if (waits) {
        b->waiting[w->id] |= mask;
        return;
    }
    lock(&c->era->lock);
    w->now++;
    b->latest = MAX_OF(b->latest, w->now);
    bar_join(w, mask, b);
    unlock(&c->era->lock);
}

static bool all_threads_wait(const struct race_cta *c, const struct bar_state *b)
{
    for (u32 n = 0; n < c->nwarps; n++)
        if (b->waiting[n] != c->warp[n].all) return false;
    return true;
}

/* All of sc_clock in the CTA is that of one lane, whose last fence.sc had acquired all that there was before. */
static bool sole_sc_fence(const struct race_cta *c)
{
    bool sole = false;
    for (u32 n = 0; n < c->nwarps; n++) {
        const struct race_warp *w = &c->warp[n];
        if (scoped_clock_any(&w->sc_clock)) return false;
        EACH_SET (l, w->ahead) {
            const struct lane_clock *k = &w->lane[l];
            if (!k->sc_deferred && !scoped_clock_any(&k->sc_clock)) continue;
            if (sole || !k->sc_deferred || !k->sc_covers_cta || scoped_clock_any(&k->sc_clock)) return false;
            sole = true;
        }
    }
    return sole;
}

/* What lanes have read and not acquired before a barrier is kept for advice. */
static void keep_pending(struct race_cta *c, const struct race_warp *w, u32 lanes)
{
    const struct lane_clock none = { 0 }, *last = &none;
    EACH_SET (l, lanes & w->ahead) {
        const struct lane_clock *k = &w->lane[l];
        if (k->strict.pending != last->strict.pending) vclock_join(&c->era->vclocks, &c->pending, k->strict.pending);
        if (k->unscoped != last->unscoped) vclock_join(&c->era->vclocks, &c->unscoped, k->unscoped);
        last = k;
    }
}

/* The clocks of the warp and its lanes become part of those of the CTA. What they have read by read-modify-writes is
 * joined into *rmw. */
static void merge_into_cta(struct race_cta *c, struct race_warp *w, struct vclock **rmw)
{
    struct vclock_store *vs = &c->era->vclocks;
    struct joint_clock all = { c->clock, c->weak, c->sc_clock };
    vclock_join(vs, &all.clock, w->clock);
    vclock_join(vs, &all.weak, w->weak);
    scoped_clock_join(vs, &all.sc_clock, &w->sc_clock);
    joint_add_all(w, w->all, &all);
    joint_add_rmw(w, w->all, rmw);
    keep_pending(c, w, w->all);
    EACH_SET (l, w->ahead) lane_clear(vs, &w->lane[l]);
    c->clock = all.clock;
    c->weak = all.weak;
    c->sc_clock = all.sc_clock;
    warp_reset(w);
}

/* A barrier of all threads of the CTA. */
static void barrier_whole(struct race_cta *c)
{
    bool alone = sole_sc_fence(c);
    struct vclock *before = vclock_hold(c->sc_clock.gpu), *rmw = NULL;
    race_cta_synced(c);
    if (alone) {
        vclock_drop(&c->era->vclocks, c->sc_clock.gpu);
        c->sc_clock.gpu = NULL;
    } /* the clock of that fence has all of it */
    for (u32 n = 0; n < c->nwarps; n++) {
        c->warp[n].version++;
        merge_into_cta(c, &c->warp[n], &rmw);
    }
    c->sc_acquired = alone || (c->sc_acquired && c->sc_clock.gpu == before);
    vclock_drop(&c->era->vclocks, before);
    vclock_add_cta(&c->era->vclocks, &c->clock, c->number, c->base);
    if (!vclock_covers_maybe(c->clock, rmw)) vclock_join(&c->era->vclocks, &c->weak, rmw); /* R5a */
    vclock_drop(&c->era->vclocks, rmw);
}

/* A barrier of some threads. Those who waited get one time, after that of all who arrived: what they have of each other
 * is then few different times, or one (cta_base). */
static void barrier_part(struct race_cta *c, struct bar_state *b)
{
    u32 warps = c->nwarps, now = b->latest;
    for (u32 n = 0; n < warps; n++)
        if (b->waiting[n]) now = MAX_OF(now, c->warp[n].now);
    for (u32 n = 0; n < warps; n++)
        if (b->waiting[n]) {
            c->warp[n].now = now + 1;
            bar_join(&c->warp[n], b->waiting[n], b);
        }
    struct joint_clock all = { b->clock, b->weak, b->sc_clock };
    for (u32 n = 0; n < warps; n++) {
        struct race_warp *w = &c->warp[n];
        if (!b->waiting[n]) continue;
        keep_pending(c, w, b->waiting[n]);
        if (b->waiting[n] != w->all) {
            clock_join_lanes(w, b->waiting[n], &all);
            continue;
        }
        join_warp(w, &all);
        /* it holds for engines, too: not while there are products that may be in flight */
        if (!c->multiplies) w->cta_base = MAX_OF(w->cta_base, vclock_warps_time(w->clock, c->number, warps));
    }
}

bool clock_barrier(struct race_cta *c, u32 bar)
{
    struct bar_state *b = &c->bar[bar];
    lock(&c->era->lock);
    bool full = all_threads_wait(c, b);
    if (full)
        barrier_whole(c);
    else
        barrier_part(c, b);
    bar_reset(&c->era->vclocks, b);
    unlock(&c->era->lock);
    if (full) notes_empty(&c->notes);
    return full;
}
