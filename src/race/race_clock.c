/* Clocks of kernels whose threads are ordered by more than full barriers: fences, release and acquire, partial
 * barriers, mbarriers. */
#include "race/race_clock.h"

/* ---- asking ---- */

/* The CTA that had the slot at that time; NULL: none did. */
static const struct was *was_at(const struct race *r, u32 slot, u32 time)
{
    const struct race_cta *c = r->slot[slot];
    u32 from = 0, to = c->nwas; /* its number, if there is one, is at least from, and below to */
    while (to - from > 1) {
        u32 k = from + (to - from) / 2;
        if (c->was[k].start > time)
            to = k;
        else
            from = k;
    }
    return to ? &c->was[from] : NULL;
}
static u32 cta_at(const struct race *r, u32 slot, u32 time)
{
    const struct was *w = was_at(r, slot, time);
    return w ? w->number : NONE;
}

u32 clock_cta_start(const struct race *r, u64 a)
{
    const struct was *w = was_at(r, word_slot(a), word_time(a));
    return w ? w->start : 0;
}

/* By what all threads of a CTA, all lanes of a warp, and one of these know, or would. */
static bool knows(const struct race *r, const struct known *all, const struct known *some, const struct known *own,
                  u32 thread, u32 time)
{
    if (!all && !some && !own) return false;
    u32 cta = cta_at(r, thread >> 10, time), warp = thread >> 5 & 31, lane = thread & 31;
    return known_thread(all, cta, warp, lane, time) || known_thread(some, cta, warp, lane, time) ||
           known_thread(own, cta, warp, lane, time);
}

bool clock_knows(struct race_warp *w, u32 lane, u32 thread, u32 time, u32 id, u32 write)
{
    struct race_cta *c = w->c;
    const struct known *own = w->lane ? w->lane[lane].sure.seen : NULL;
    lock(&c->race->lock);
    bool yes = knows(c->race, c->seen, w->seen, own, thread, time) ||
               (id &&
                (known_write(c->seen, id, write) || known_write(w->seen, id, write) || known_write(own, id, write)));
    unlock(&c->race->lock);
    return yes;
}

bool clock_knows_all(struct race_warp *w, u32 lanes, u32 warp, u32 his, u32 time)
{
    struct race_cta *c = w->c;
    const struct known *last = NULL;
    bool yes = true;
    lock(&c->race->lock);
    u32 cta = cta_at(c->race, warp >> 5, time);
    bool together = known_lanes(c->seen, cta, warp & 31, his, time) || known_lanes(w->seen, cta, warp & 31, his, time);
    for (u32 m = lanes; m && yes && !together; m &= m - 1) {
        const struct known *own = w->lane[__builtin_ctz(m)].sure.seen;
        yes = own && (own == last || known_lanes(own, cta, warp & 31, his, time));
        last = own;
    }
    unlock(&c->race->lock);
    return yes;
}

/* Below which time every lane knows all that a warp of its CTA did. */
static u32 known_below(const struct race_warp *w, u32 warp)
{
    const struct race_cta *c = w->c;
    u32 here = known_warp(c->seen, c->number, warp), together = known_warp(w->seen, c->number, warp),
        least = w->told == w->all ? ~0u : 0;
    const struct known *last = NULL;
    together = MAX_OF(here, together);
    for (u32 m = w->all; m && least > together; m &= m - 1) {
        const struct known *own = w->lane[__builtin_ctz(m)].sure.seen;
        if (!own || own != last) least = MIN_OF(least, own ? known_warp(own, c->number, warp) : 0);
        last = own;
    }
    return MAX_OF(together, least);
}

bool clock_warp_knows(struct race_warp *w, u64 a)
{
    struct race_cta *c = w->c;
    u32 warp = word_warp(a) & 31, n = warp % KNOWS, time = word_time(a);
    if (word_slot(a) != c->slot || time < c->start || warp == w->id) return false;
    bool same = w->knows[n].warp == warp && w->knows[n].start == c->start;
    if (same && (time < w->knows[n].below || w->knows[n].lessons == w->lessons)) return time < w->knows[n].below;
    lock(&c->race->lock);
    u32 below = known_below(w, warp);
    unlock(&c->race->lock);
    w->knows[n].warp = warp;
    w->knows[n].start = c->start;
    w->knows[n].below = below;
    w->knows[n].lessons = w->lessons;
    return time < below;
}

bool clock_knows_weakly(struct race_warp *w, u32 lane, u32 thread, u32 time, u32 id, u32 write)
{
    struct race_cta *c = w->c;
    if (!c->exact) return false;
    if (thread >> 5 == (u32)w->key >> 14 && time >= c->start && time < w->weak_base) return true;
    const struct known *own = w->lane[lane].weak.seen;
    lock(&c->race->lock);
    bool yes = knows(c->race, c->weak, w->weak, own, thread, time) ||
               (id &&
                (known_write(c->weak, id, write) || known_write(w->weak, id, write) || known_write(own, id, write)));
    unlock(&c->race->lock);
    return yes;
}

bool clock_cta_knows(struct race_cta *c, u64 a)
{
    u32 slot = word_slot(a), time = word_time(a), n = slot % KNOWN;
    if (c->known[n].slot == slot && time >= c->known[n].from &&
        (time < c->known[n].below || c->known[n].base == c->base))
        return time < c->known[n].below;
    lock(&c->race->lock);
    const struct was *was = was_at(c->race, slot, time);
    u32 below = was && c->seen ? known_cta(c->seen, was->number) : 0;
    if (was) {
        c->known[n].slot = slot;
        c->known[n].from = was->start;
        c->known[n].below = below;
        c->known[n].base = c->base;
    }
    unlock(&c->race->lock);
    return time < below;
}

void clock_cta_least(struct race_cta *c)
{
    u32 all = (u32)c->launch->total;
    lock(&c->race->lock);
    /* one that has not begun may still have any time */
    if (c->race->ctas == c->launch->total) c->least = MAX_OF(c->least, known_least(c->seen, all));
    unlock(&c->race->lock);
    c->least_base = c->base;
    c->walked = 0;
}

/* What is missing to order the two: a fence behind what was read, a wider scope, a release before a flag that was
 * seen; or all of it. */
enum missing clock_missing(struct race_warp *w, u32 lane, u32 thread, u32 time)
{
    struct race_cta *c = w->c;
    enum missing what = MISSING_ALL;
    if (!c->exact || !w->lane) return what;
    const struct lane_clock *k = &w->lane[lane];
    lock(&c->race->lock);
    if (knows(c->race, c->pend, NULL, k->sure.pend, thread, time))
        what = MISSING_ACQUIRE;
    else if (knows(c->race, c->unscoped, NULL, k->unscoped, thread, time))
        what = MISSING_SCOPE;
    else if (clock_saw_flag(w, lane, cta_at(c->race, thread >> 10, time), time))
        what = MISSING_RELEASE;
    unlock(&c->race->lock);
    return what;
}

/* ---- the synchronisations of a CTA ---- */

void clock_lanes(struct race_warp *w)
{
    if (w->lane) return;
    w->lane = base_need(sizeof *w->lane * LANES);
}

void clock_view_drop(struct joins *j, struct view *v)
{
    known_drop(j, v->seen);
    known_drop(j, v->pend);
    known_drop(j, v->pend_cta);
    known_drop(j, v->fenced);
}

static void lane_reset(struct joins *j, struct lane_clock *k)
{
    clock_view_drop(j, &k->sure);
    clock_view_drop(j, &k->weak);
    known_drop(j, k->rmw);
    known_drop(j, k->unscoped);
    known_drop(j, k->far);
    known_drop(j, k->far_weak);
    released_clear(j, &k->news);
    *k = (struct lane_clock){ 0 };
}

static void bar_reset(struct joins *j, struct bar_state *b)
{
    known_drop(j, b->known);
    known_drop(j, b->weak);
    released_clear(j, &b->news);
    *b = (struct bar_state){ 0 };
}

/* All that the warp has been told is nobody's any more, or everybody's. */
static void warp_reset(struct race_warp *w)
{
    struct joins *j = joins_of(w);
    known_drop(j, w->weak);
    known_drop(j, w->seen);
    released_clear(j, &w->news);
    w->weak = w->seen = NULL;
    w->weak_base = w->fresh = w->told = 0;
}

void clock_reset(struct race_cta *c)
{
    struct joins *j = &c->race->joins;
    lock(&c->race->lock);
    known_drop(j, c->seen);
    known_drop(j, c->weak);
    known_drop(j, c->pend);
    known_drop(j, c->unscoped);
    released_clear(j, &c->news);
    c->seen = c->weak = c->pend = c->unscoped = NULL;
    c->abreast = false;
    for (u32 n = 0; n < MAX_BARS; n++) bar_reset(j, &c->bar[n]);
    for (u32 n = 0; n < MAX_WARPS; n++) {
        for (u32 m = c->warp[n].used; m; m &= m - 1) lane_reset(j, &c->warp[n].lane[__builtin_ctz(m)]);
        c->warp[n].used = 0;
        warp_reset(&c->warp[n]);
    }
    unlock(&c->race->lock);
}

/* ---- what a lane has done, and knows ---- */

static struct moment moment_of(const struct race_warp *w)
{
    return (struct moment){ w->now, w->wbase, w->weak_base > w->wbase ? w->weak_base : 0,
                            !w->id && w->wbase <= w->c->base };
}

/* What lanes had done at that moment, and what they knew of their warp. */
static void add_done(struct known **k, const struct race_warp *w, u32 lanes, const struct moment *m)
{
    if (m->leads && lanes == 1)
        known_add_leader(joins_of(w), k, w->c->number, m->now);
    else if (lanes == w->all)
        known_add_whole(joins_of(w), k, w->c->number, w->id, m->now);
    else
        known_add_warp(joins_of(w), k, w->c->number, w->id, m->wbase, lanes, m->now);
}
static void add_own(struct known **k, const struct race_warp *w, u32 lanes)
{
    struct moment now = moment_of(w);
    add_done(k, w, lanes, &now);
}
static void add_weak(struct known **k, const struct race_warp *w, u32 weak_base)
{
    if (weak_base) known_add_whole(joins_of(w), k, w->c->number, w->id, weak_base);
}

/* What a lane knows of others, would know; references. */
static struct known *all_sure(const struct race_warp *w, u32 lane)
{
    struct known *k = known_hold(w->c->seen);
    known_join(joins_of(w), &k, w->seen);
    known_join(joins_of(w), &k, w->lane[lane].sure.seen);
    return k;
}
static struct known *all_weak(const struct race_warp *w, u32 lane)
{
    struct known *k = known_hold(w->c->weak);
    known_join(joins_of(w), &k, w->weak);
    known_join(joins_of(w), &k, w->lane[lane].weak.seen);
    return k;
}

struct known *clock_all(const struct race_warp *w, u32 lane)
{
    struct known *k = all_sure(w, lane);
    add_own(&k, w, 1u << lane);
    return k;
}

struct known *clock_all_weak(const struct race_warp *w, u32 lane)
{
    struct known *k = all_weak(w, lane);
    add_weak(&k, w, moment_of(w).weak_base);
    return k;
}

const struct lane_clock *clock_fenced(struct race_warp *w, u32 lane)
{
    struct lane_clock *k = &w->lane[lane];
    if (k->settled) return k;
    add_done(&k->sure.fenced, w, 1u << lane, &k->fence);
    add_weak(&k->weak.fenced, w, k->fence.weak_base);
    k->settled = true;
    return k;
}

/* ---- fences ---- */

/* Its last fence is not the last one any more: its news stay. */
static void settle_news(struct race_warp *w, u32 lane)
{
    struct lane_clock *k = &w->lane[lane];
    if (k->spreads) known_join(joins_of(w), &k->news.wide, clock_fenced(w, lane)->sure.fenced);
    k->spreads = false;
}

static bool has_news(const struct released *r) { return r->wide || r->own || r->narrow; }
bool clock_has_news(const struct race_warp *w, u32 lane)
{
    return w->lane[lane].spreads || has_news(&w->lane[lane].news) || has_news(&w->news) || has_news(&w->c->news);
}

void clock_spread(struct race_warp *w, u32 lane, struct released *to)
{
    const struct lane_clock *k = &w->lane[lane];
    if (!k->abreast) {
        released_join(joins_of(w), to, &w->c->news);
        released_join(joins_of(w), to, &w->news);
    }
    released_join(joins_of(w), to, &k->news);
    if (k->spreads) known_join(joins_of(w), &to->wide, clock_fenced(w, lane)->sure.fenced);
}

/* A fence: what was read before is known behind it; or, where it is narrow, what of that it reaches, and the rest
 * behind the next wide one. */
static void view_fence(struct joins *j, struct view *v, u32 scope)
{
    known_join(j, &v->seen, wide(scope) ? v->pend : v->pend_cta);
    if (wide(scope)) {
        known_drop(j, v->pend);
        v->pend = NULL;
    }
    known_drop(j, v->pend_cta);
    known_drop(j, v->fenced);
    v->pend_cta = v->fenced = NULL;
}

/* Its last fence, if that was wide, is not the last one any more, but still the last wide one; or it is neither. */
static void keep_far(struct race_warp *w, u32 lane, u32 scope)
{
    struct joins *j = joins_of(w);
    struct lane_clock *k = &w->lane[lane];
    if (!wide(scope) && !(k->fences && wide(k->fscope))) return;
    known_drop(j, k->far);
    known_drop(j, k->far_weak);
    k->far = k->far_weak = NULL;
    if (wide(scope)) return;
    clock_fenced(w, lane);
    k->far = known_hold(k->sure.fenced);
    k->far_weak = known_hold(k->weak.fenced);
}

/* like: what another lane knew behind the same fence. */
static void lane_fence(struct race_warp *w, u32 lane, u32 scope, bool sc, const struct moment *now,
                       const struct known *like)
{
    struct race_cta *c = w->c;
    struct joins *j = joins_of(w);
    struct lane_clock *k = &w->lane[lane];
    /* it learns all the news there are, and has done so at every such fence before */
    bool all = sc && wide(scope) && !j->scoped;
    if (!all) settle_news(w, lane);
    keep_far(w, lane, scope);
    if (!wide(scope)) known_join(j, &k->unscoped, k->sure.pend);
    view_fence(j, &k->sure, scope);
    view_fence(j, &k->weak, scope);
    if (wide(scope)) {
        known_drop(j, k->rmw);
        k->rmw = NULL;
    } /* it is all known now */
    k->read.id = 0;
    if (sc) {
        released_learn(j, &k->news, c->number, wide(scope), &k->sure.seen);
        released_learn(j, &w->news, c->number, wide(scope), &k->sure.seen);
        if (!c->abreast) released_learn(j, &c->news, c->number, wide(scope), &k->sure.seen);
    }
    known_unite(j, &k->sure.seen, like);
    k->sure.fenced = all_sure(w, lane);
    k->weak.fenced = all_weak(w, lane);
    k->fence = *now;
    k->fences = true;
    k->settled = false;
    k->fscope = (u8)scope;
    if (all) {
        released_clear(j, &k->news);
        k->spreads = k->abreast = true;
    } else if (sc)
        released_add(j, &k->news, c->number, wide(scope), clock_fenced(w, lane)->sure.fenced);
}

void clock_fence(struct race_warp *w, u32 mask, u32 scope, bool sc)
{
    struct race_cta *c = w->c;
    lock(&c->race->lock);
    w->now++;
    clock_learned(w, mask);
    struct moment now = moment_of(w);
    const struct known *last = NULL;
    for (u32 m = mask; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m);
        lane_fence(w, lane, scope, sc, &now, last);
        last = w->lane[lane].sure.seen;
    }
    unlock(&c->race->lock);
}

/* ---- lanes that come together ---- */

/* Lanes whose last fences are one, with one thing known behind it, and the first of them. */
struct fenced_alike {
    u32 lanes;
    const struct lane_clock *first;
};

static void spread_alike(const struct race_warp *w, struct fenced_alike *f, struct released *to)
{
    if (!f->lanes) return;
    struct known *what = known_hold(f->first->sure.fenced);
    if (!f->first->settled) add_done(&what, w, f->lanes, &f->first->fence);
    known_join(joins_of(w), &to->wide, what);
    known_drop(joins_of(w), what);
    f->lanes = 0;
}

static bool same_fence(const struct lane_clock *a, const struct lane_clock *b)
{
    return a->sure.fenced == b->sure.fenced && a->settled == b->settled && a->fence.now == b->fence.now &&
           a->fence.wbase == b->fence.wbase && a->fence.leads == b->fence.leads;
}

/* What the lanes know together is added, beyond what their warp does; most have been told nothing since the last
 * barrier. */
static void gather(const struct race_warp *w, u32 lanes, struct common *all)
{
    struct joins *j = joins_of(w);
    const struct lane_clock none = { 0 }, *last = &none; /* lanes that were told the same share one value */
    for (u32 m = lanes & w->told; m; m &= m - 1) {
        const struct lane_clock *k = &w->lane[__builtin_ctz(m)];
        if (k->sure.seen != last->sure.seen) known_gather(j, &all->known, k->sure.seen);
        if (k->weak.seen != last->weak.seen) known_gather(j, &all->weak, k->weak.seen);
        last = k;
    }
}

/* The same with their news. */
static void gather_all(const struct race_warp *w, u32 lanes, struct common *all)
{
    struct joins *j = joins_of(w);
    const struct lane_clock none = { 0 }, *last = &none;
    struct fenced_alike fenced = { 0 };
    gather(w, lanes, all);
    for (u32 m = lanes & w->told; m; m &= m - 1) {
        const struct lane_clock *k = &w->lane[__builtin_ctz(m)];
        if (k->news.wide != last->news.wide || k->news.own != last->news.own || k->news.narrow != last->news.narrow)
            released_join(j, &all->news, &k->news);
        if (k->spreads) {
            if (fenced.lanes && !same_fence(fenced.first, k)) spread_alike(w, &fenced, &all->news);
            if (!fenced.lanes) fenced.first = k;
            fenced.lanes |= m & -m;
        }
        last = k;
    }
    spread_alike(w, &fenced, &all->news);
}

void clock_give(struct race_warp *w, u32 lanes, const struct common *all)
{
    clock_learned(w, lanes);
    for (u32 m = lanes; m; m &= m - 1) {
        struct lane_clock *k = &w->lane[__builtin_ctz(m)];
        known_join(joins_of(w), &k->sure.seen, all->known);
        known_join(joins_of(w), &k->weak.seen, all->weak);
        released_join(joins_of(w), &k->news, &all->news);
    }
}

/* What a lane knew and had news of is its warp's, or CTA's, now; true: there is nothing else that they do not have. */
static bool lane_told(struct joins *j, struct lane_clock *k)
{
    known_drop(j, k->sure.seen);
    known_drop(j, k->weak.seen);
    released_clear(j, &k->news);
    k->sure.seen = k->weak.seen = NULL;
    k->spreads = k->abreast = false;
    return !k->sure.pend && !k->weak.pend && !k->sure.pend_cta && !k->weak.pend_cta && !k->rmw && !k->unscoped;
}

/* All lanes get what was gathered from all of them, and maybe others. */
static void give_whole(struct race_warp *w, const struct common *all)
{
    struct joins *j = joins_of(w);
    known_join(j, &w->seen, all->known);
    known_join(j, &w->weak, all->weak);
    released_join(j, &w->news, &all->news);
    w->lessons++;
    for (u32 m = w->told; m; m &= m - 1)
        if (lane_told(j, &w->lane[__builtin_ctz(m)])) w->told &= ~(m & -m);
    w->fresh = 0;
}

static void common_drop(struct joins *j, struct common *all)
{
    known_drop(j, all->known);
    known_drop(j, all->weak);
    released_clear(j, &all->news);
}

void clock_warp(struct race_warp *w, u32 mask)
{
    struct race_cta *c = w->c;
    struct common all = { 0 };
    bool whole = mask == w->all;
    lock(&c->race->lock);
    w->now++;
    if (!whole || w->told) gather_all(w, mask, &all);
    if (whole) {
        w->wbase = w->now;
        if (w->told) give_whole(w, &all);
    } else {
        add_own(&all.known, w, mask);
        clock_give(w, mask, &all);
    }
    common_drop(&c->race->joins, &all);
    unlock(&c->race->lock);
}

/* Some lanes would know all that each of them knows, or would know. */
static void converge_part(struct race_warp *w, u32 mask)
{
    struct common all = { 0 }, none = { 0 };
    gather(w, mask & w->fresh, &all);
    known_join(joins_of(w), &all.weak, all.known);
    add_own(&all.weak, w, mask);
    none.weak = all.weak;
    clock_give(w, mask, &none);
    common_drop(joins_of(w), &all);
}

void clock_converge(struct race_warp *w, u32 mask)
{
    struct race_cta *c = w->c;
    bool whole = mask == w->all;
    w->now++;
    if (whole) w->weak_base = w->now;
    if (whole && !w->fresh) return;
    lock(&c->race->lock);
    if (whole) {
        struct common all = { 0 };
        gather(w, w->fresh, &all);
        known_join(joins_of(w), &w->weak, all.known);
        known_join(joins_of(w), &w->weak, all.weak);
        common_drop(&c->race->joins, &all);
        w->fresh = 0;
    } else
        converge_part(w, mask);
    unlock(&c->race->lock);
}

/* ---- barriers ---- */

/* What lanes have read by read-modify-writes (R5a). */
static void gather_rmw(const struct race_warp *w, u32 lanes, struct known **all)
{
    const struct known *last = NULL;
    for (u32 m = lanes & w->told; m; m &= m - 1) {
        const struct known *rmw = w->lane[__builtin_ctz(m)].rmw;
        if (rmw != last) known_gather(joins_of(w), all, rmw);
        last = rmw;
    }
}

/* Lanes come to a barrier with what they know, would know, and have read (R5a). */
static void arrived(struct race_warp *w, u32 lanes, struct bar_state *b)
{
    struct joins *j = joins_of(w);
    struct common all = { b->known, b->weak, b->news };
    known_join(j, &all.known, w->seen);
    known_join(j, &all.weak, w->weak);
    released_join(j, &all.news, &w->news);
    gather_all(w, lanes, &all);
    gather_rmw(w, lanes, &all.weak);
    add_own(&all.known, w, lanes);
    add_weak(&all.weak, w, moment_of(w).weak_base);
    b->known = all.known;
    b->weak = all.weak;
    b->news = all.news;
}

/* Who waits does nothing until the barrier is complete: what he knows is looked at then. */
void clock_arrive(struct race_warp *w, u32 mask, u32 bar, bool waits)
{
    struct race_cta *c = w->c;
    struct bar_state *b = &c->bar[bar];
    if (waits) {
        b->waits[w->id] |= mask;
        return;
    }
    lock(&c->race->lock);
    w->now++;
    b->latest = MAX_OF(b->latest, w->now);
    arrived(w, mask, b);
    unlock(&c->race->lock);
}

static bool all_wait(const struct race_cta *c, const struct bar_state *b)
{
    for (u32 n = 0; n < c->launch->nwarps; n++)
        if (b->waits[n] != c->warp[n].all) return false;
    return true;
}

/* One lane alone has news: those of its last fence, at which it knew all that there were before. */
static bool sole_news(const struct race_cta *c)
{
    bool sole = false;
    for (u32 n = 0; n < c->launch->nwarps; n++) {
        const struct race_warp *w = &c->warp[n];
        if (has_news(&w->news)) return false;
        for (u32 m = w->told; m; m &= m - 1) {
            const struct lane_clock *k = &w->lane[__builtin_ctz(m)];
            if (!k->spreads && !has_news(&k->news)) continue;
            if (sole || !k->spreads || !k->abreast || has_news(&k->news)) return false;
            sole = true;
        }
    }
    return sole;
}

/* What lanes have read and not acquired, before a barrier. */
static void note_pending(struct race_cta *c, const struct race_warp *w, u32 lanes)
{
    const struct lane_clock none = { 0 }, *last = &none;
    for (u32 m = lanes & w->told; m; m &= m - 1) {
        const struct lane_clock *k = &w->lane[__builtin_ctz(m)];
        if (k->sure.pend != last->sure.pend) known_join(&c->race->joins, &c->pend, k->sure.pend);
        if (k->unscoped != last->unscoped) known_join(&c->race->joins, &c->unscoped, k->unscoped);
        last = k;
    }
}

/* What its lanes know becomes what all threads of the CTA know. What they have read from a released value is added to
 * *rmw. */
static void share(struct race_cta *c, struct race_warp *w, struct known **rmw)
{
    struct joins *j = &c->race->joins;
    struct common all = { c->seen, c->weak, c->news };
    known_join(j, &all.known, w->seen);
    known_join(j, &all.weak, w->weak);
    released_join(j, &all.news, &w->news);
    gather_all(w, w->all, &all);
    gather_rmw(w, w->all, rmw);
    note_pending(c, w, w->all);
    for (u32 m = w->told; m; m &= m - 1) lane_told(j, &w->lane[__builtin_ctz(m)]);
    c->seen = all.known;
    c->weak = all.weak;
    c->news = all.news;
    warp_reset(w);
}

static void barrier_full(struct race_cta *c)
{
    bool alone = sole_news(c);
    struct known *before = known_hold(c->news.wide), *rmw = NULL;
    race_tick(c, c->launch->nwarps);
    c->base = c->now;
    c->lo[SPACE_SHARED] = (u64)c->base << 32;
    if (alone) {
        known_drop(&c->race->joins, c->news.wide);
        c->news.wide = NULL;
    } /* it knew them all */
    for (u32 n = 0; n < c->launch->nwarps; n++) {
        c->warp[n].wbase = c->warp[n].behind = c->now;
        c->warp[n].lessons++;
        share(c, &c->warp[n], &rmw);
    }
    c->abreast = alone || (c->abreast && c->news.wide == before);
    known_drop(&c->race->joins, before);
    known_add_cta(&c->race->joins, &c->seen, c->number, c->base);
    if (!known_has(c->seen, rmw)) known_join(&c->race->joins, &c->weak, rmw); /* R5a */
    known_drop(&c->race->joins, rmw);
}

/* Those who waited have one time now, after that of all who came: what they know of each other is then told by few
 * times, or by one (behind). */
static void barrier_part(struct race_cta *c, struct bar_state *b)
{
    u32 warps = c->launch->nwarps, now = b->latest;
    for (u32 n = 0; n < warps; n++)
        if (b->waits[n]) now = MAX_OF(now, c->warp[n].now);
    for (u32 n = 0; n < warps; n++)
        if (b->waits[n]) {
            c->warp[n].now = now + 1;
            arrived(&c->warp[n], b->waits[n], b);
        }
    struct common all = { b->known, b->weak, b->news };
    for (u32 n = 0; n < warps; n++) {
        struct race_warp *w = &c->warp[n];
        if (!b->waits[n]) continue;
        note_pending(c, w, b->waits[n]);
        if (b->waits[n] != w->all) {
            clock_give(w, b->waits[n], &all);
            continue;
        }
        give_whole(w, &all);
        w->behind = MAX_OF(w->behind, known_warps(w->seen, c->number, warps));
    }
}

bool clock_barrier(struct race_cta *c, u32 bar)
{
    struct bar_state *b = &c->bar[bar];
    lock(&c->race->lock);
    bool full = all_wait(c, b);
    if (full)
        barrier_full(c);
    else
        barrier_part(c, b);
    bar_reset(&c->race->joins, b);
    unlock(&c->race->lock);
    if (full) notes_empty(&c->notes);
    return full;
}
