/* Clocks of kernels whose threads are ordered by more than full barriers: fences, release and acquire, partial barriers, mbarriers. */
#include "check/race_clock.h"

static bool wide(u32 scope) { return scope >= SCOPE_GPU; }
static bool saw_flag(const struct race_cta *c, const struct lane_clock *k, u32 cta, u32 time);

/* ---- asking ---- */

/* The CTA that had the slot at that time; NULL: none did. */
static const struct was *was_at(const struct race *r, u32 slot, u32 time)
{
    const struct race_cta *c = r->slot[slot];
    u32 from = 0, to = c->nwas;                 /* its number, if there is one, is at least from, and below to */
    while (to - from > 1) {
        u32 k = from + (to - from) / 2;
        if (c->was[k].start > time) to = k;
        else from = k;
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

static bool knows(const struct race *r, const struct known *a, const struct known *b, u32 thread, u32 time)
{
    if (!a && !b) return false;
    u32 cta = cta_at(r, thread >> 10, time), warp = thread >> 5 & 31, lane = thread & 31;
    return known_thread(a, cta, warp, lane, time) || known_thread(b, cta, warp, lane, time);
}

bool clock_knows(struct race_warp *w, u32 lane, u32 thread, u32 time, u32 id, u32 write)
{
    struct race_cta *c = w->c;
    const struct known *own = w->lane ? w->lane[lane].sure.seen : NULL;
    lock(&c->race->lock);
    bool yes = knows(c->race, c->seen, own, thread, time) || (id && (known_write(c->seen, id, write) || known_write(own, id, write)));
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
    bool together = known_lanes(c->seen, cta, warp & 31, his, time);
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
    u32 together = known_warp(c->seen, c->number, warp), least = ~0u;
    const struct known *last = NULL;
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
    const struct known *seen = w->lane[__builtin_ctz(w->all)].sure.seen;
    bool same = w->knows[n].warp == warp && w->knows[n].start == c->start;
    if (same && (time < w->knows[n].below || (w->knows[n].seen == seen && w->knows[n].cta == c->seen))) return time < w->knows[n].below;
    lock(&c->race->lock);
    u32 below = known_below(w, warp);
    unlock(&c->race->lock);
    w->knows[n].warp = warp; w->knows[n].start = c->start; w->knows[n].below = below; w->knows[n].seen = seen; w->knows[n].cta = c->seen;
    return time < below;
}

bool clock_knows_weakly(struct race_warp *w, u32 lane, u32 thread, u32 time, u32 id, u32 write)
{
    struct race_cta *c = w->c;
    if (!c->exact) return false;
    if (thread >> 5 == (u32)w->key >> 14 && time >= c->start && time < w->weak_base) return true;
    const struct known *own = w->lane[lane].weak.seen;
    lock(&c->race->lock);
    bool yes = knows(c->race, c->weak, w->weak, thread, time) || knows(c->race, own, NULL, thread, time);
    yes = yes || (id && (known_write(c->weak, id, write) || known_write(w->weak, id, write) || known_write(own, id, write)));
    unlock(&c->race->lock);
    return yes;
}

bool clock_cta_knows(struct race_cta *c, u64 a)
{
    u32 slot = word_slot(a), time = word_time(a), n = slot % KNOWN;
    if (c->known[n].slot == slot && time >= c->known[n].from && (time < c->known[n].below || c->known[n].seen == c->seen)) return time < c->known[n].below;
    lock(&c->race->lock);
    const struct was *was = was_at(c->race, slot, time);
    u32 below = was && c->seen ? known_cta(c->seen, was->number) : 0;
    if (was) { c->known[n].slot = slot; c->known[n].from = was->start; c->known[n].below = below; c->known[n].seen = c->seen; }
    unlock(&c->race->lock);
    return time < below;
}

void clock_cta_least(struct race_cta *c)
{
    u32 all = (u32)c->launch->total;
    lock(&c->race->lock);
    if (c->race->ctas == c->launch->total) c->least = MAX_OF(c->least, known_least(c->seen, all));     /* one that has not begun may still have any time */
    unlock(&c->race->lock);
    c->least_seen = c->seen; c->walked = 0;
}

/* What is missing to order the two: a fence behind what was read, a wider scope, a release before a flag that was seen; or all of it. */
enum missing clock_missing(struct race_warp *w, u32 lane, u32 thread, u32 time)
{
    struct race_cta *c = w->c;
    enum missing what = MISSING_ALL;
    if (!c->exact || !w->lane) return what;
    const struct lane_clock *k = &w->lane[lane];
    lock(&c->race->lock);
    if (knows(c->race, c->pend, k->sure.pend, thread, time)) what = MISSING_ACQUIRE;
    else if (knows(c->race, c->unscoped, k->unscoped, thread, time)) what = MISSING_SCOPE;
    else if (saw_flag(c, k, cta_at(c->race, thread >> 10, time), time)) what = MISSING_RELEASE;
    unlock(&c->race->lock);
    return what;
}

/* ---- the synchronisations of a CTA ---- */

void clock_lanes(struct race_warp *w)
{
    if (w->lane) return;
    w->lane = base_need(sizeof *w->lane * LANES);
}

static void view_drop(struct joins *j, struct view *v) { known_drop(j, v->seen); known_drop(j, v->pend); known_drop(j, v->pend_cta); known_drop(j, v->fenced); }

static void lane_reset(struct joins *j, struct lane_clock *k)
{
    view_drop(j, &k->sure); view_drop(j, &k->weak);
    known_drop(j, k->rmw); known_drop(j, k->unscoped);
    released_clear(j, &k->news);
    *k = (struct lane_clock){ 0 };
}

static void bar_reset(struct joins *j, struct bar_state *b)
{
    known_drop(j, b->known); known_drop(j, b->weak);
    released_clear(j, &b->news);
    *b = (struct bar_state){ 0 };
}

/* All that its lanes have been told is theirs no more, or everybody's. */
static void weak_reset(struct race_warp *w)
{
    known_drop(&w->c->race->joins, w->weak);
    w->weak = NULL;
    w->weak_base = w->fresh = w->told = 0;
}

void clock_reset(struct race_cta *c)
{
    lock(&c->race->lock);
    known_drop(&c->race->joins, c->seen); known_drop(&c->race->joins, c->weak); known_drop(&c->race->joins, c->pend); known_drop(&c->race->joins, c->unscoped);
    released_clear(&c->race->joins, &c->news);
    c->seen = c->weak = c->pend = c->unscoped = NULL;
    c->abreast = false;
    for (u32 n = 0; n < MAX_BARS; n++) bar_reset(&c->race->joins, &c->bar[n]);
    for (u32 n = 0; n < MAX_WARPS; n++)
        for (u32 l = 0; c->warp[n].lane && l < LANES; l++) lane_reset(&c->race->joins, &c->warp[n].lane[l]);
    for (u32 n = 0; n < MAX_WARPS; n++) weak_reset(&c->warp[n]);
    unlock(&c->race->lock);
}

/* What lanes did until now, and what they know of their warp. */
static void add_own(struct known **k, const struct race_warp *w, u32 lanes)
{
    if (!w->id && lanes == 1 && w->wbase <= w->c->base) known_add_leader(&w->c->race->joins, k, w->c->number, w->now);
    else known_add_warp(&w->c->race->joins, k, w->c->number, w->id, w->wbase, lanes, w->now);
}

/* All that a lane knows and did until now; a reference. */
static struct known *all_of(const struct race_warp *w, u32 lane)
{
    struct known *k = known_hold(w->c->seen);
    known_join(&w->c->race->joins, &k, w->lane[lane].sure.seen);
    add_own(&k, w, 1u << lane);
    return k;
}

/* All that it would know beside that; a reference. */
static struct known *all_weak(const struct race_warp *w, u32 lane)
{
    struct known *k = known_hold(w->c->weak);
    known_join(&w->c->race->joins, &k, w->weak);
    known_join(&w->c->race->joins, &k, w->lane[lane].weak.seen);
    if (w->weak_base > w->wbase) known_add_warp(&w->c->race->joins, &k, w->c->number, w->id, w->weak_base, 0, 0);
    return k;
}

static void learned(struct race_warp *w, u32 lanes) { w->told |= lanes; w->fresh |= lanes; }

/* A fence: what was read before is known behind it. */
static void view_fence(struct joins *j, struct view *v, u32 scope)
{
    known_join(j, &v->seen, wide(scope) ? v->pend : v->pend_cta);
    known_drop(j, v->pend); known_drop(j, v->pend_cta); known_drop(j, v->fenced);
    v->pend = v->pend_cta = v->fenced = NULL;
}

static void lane_fence(struct race_warp *w, u32 lane, u32 scope, bool sc)
{
    struct race_cta *c = w->c;
    struct lane_clock *k = &w->lane[lane];
    learned(w, 1u << lane);
    if (!wide(scope)) known_join(&w->c->race->joins, &k->unscoped, k->sure.pend);
    view_fence(&w->c->race->joins, &k->sure, scope);
    view_fence(&w->c->race->joins, &k->weak, scope);
    k->read.id = 0;
    if (sc) {
        released_learn(&w->c->race->joins, &k->news, c->number, wide(scope), &k->sure.seen);
        if (!c->abreast) released_learn(&w->c->race->joins, &c->news, c->number, wide(scope), &k->sure.seen);
    }
    k->sure.fenced = all_of(w, lane);
    k->weak.fenced = all_weak(w, lane);
    k->fences = true; k->fscope = (u8)scope;
    if (sc && wide(scope) && !w->c->race->joins.scoped) {      /* it has learned all the news there were */
        known_drop(&w->c->race->joins, k->news.wide);
        k->news.wide = known_hold(k->sure.fenced);
        k->abreast = true;
    } else if (sc) released_add(&w->c->race->joins, &k->news, c->number, wide(scope), k->sure.fenced);
}

void clock_fence(struct race_warp *w, u32 mask, u32 scope, bool sc)
{
    struct race_cta *c = w->c;
    lock(&c->race->lock);
    w->now++;
    for (u32 m = mask; m; m &= m - 1) lane_fence(w, (u32)__builtin_ctz(m), scope, sc);
    unlock(&c->race->lock);
}

/* What some lanes of a warp, or of several, know together. */
struct common { struct known *known, *weak; struct released news; };

/* What the lanes know together and have news of is added; most have been told nothing since the last barrier. */
static void gather(const struct race_warp *w, u32 lanes, struct common *all)
{
    const struct lane_clock none = { 0 }, *last = &none;        /* lanes that were told the same share one value */
    for (u32 m = lanes & w->told; m; m &= m - 1) {
        const struct lane_clock *k = &w->lane[__builtin_ctz(m)];
        if (k->sure.seen != last->sure.seen) known_join(&w->c->race->joins, &all->known, k->sure.seen);
        if (k->weak.seen != last->weak.seen) known_join(&w->c->race->joins, &all->weak, k->weak.seen);
        if (k->news.wide != last->news.wide || k->news.own != last->news.own || k->news.narrow != last->news.narrow) released_join(&w->c->race->joins, &all->news, &k->news);
        last = k;
    }
}

/* *k grows by more; *was and *is: the same was done before. Lanes that were told the same share one value. */
static void join_alike(struct joins *j, struct known **k, const struct known *more, struct known **was, struct known **is)
{
    if (*k && *k == *was) { known_drop(j, *k); *k = known_hold(*is); return; }
    known_drop(j, *was); known_drop(j, *is);
    *was = known_hold(*k);
    known_join(j, k, more);
    *is = known_hold(*k);
}

static void give(struct race_warp *w, u32 lanes, const struct common *all)
{
    struct known *was[2] = { NULL, NULL }, *is[2] = { NULL, NULL };
    learned(w, lanes);
    for (u32 m = lanes; m; m &= m - 1) {
        struct lane_clock *k = &w->lane[__builtin_ctz(m)];
        join_alike(&w->c->race->joins, &k->sure.seen, all->known, &was[0], &is[0]);
        join_alike(&w->c->race->joins, &k->weak.seen, all->weak, &was[1], &is[1]);
        released_join(&w->c->race->joins, &k->news, &all->news);
    }
    for (u32 n = 0; n < 2; n++) { known_drop(&w->c->race->joins, was[n]); known_drop(&w->c->race->joins, is[n]); }
}

static void common_drop(struct joins *j, struct common *all)
{
    known_drop(j, all->known); known_drop(j, all->weak);
    released_clear(j, &all->news);
}

void clock_warp(struct race_warp *w, u32 mask)
{
    struct race_cta *c = w->c;
    struct common all = { 0 };
    bool whole = mask == w->all;
    lock(&c->race->lock);
    w->now++;
    gather(w, mask, &all);
    if (whole) w->wbase = w->now;
    else add_own(&all.known, w, mask);
    if (all.known || all.weak || all.news.wide || all.news.own) give(w, mask, &all);
    common_drop(&c->race->joins, &all);
    unlock(&c->race->lock);
}

/* Some lanes would know all that each of them knows, or would know. */
static void converge_part(struct race_warp *w, u32 mask)
{
    struct common all = { 0 }, none = { 0 };
    gather(w, mask & w->fresh, &all);
    known_join(&w->c->race->joins, &all.weak, all.known);
    add_own(&all.weak, w, mask);
    none.weak = all.weak;
    give(w, mask, &none);
    common_drop(&w->c->race->joins, &all);
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
        known_join(&w->c->race->joins, &w->weak, all.known);
        known_join(&w->c->race->joins, &w->weak, all.weak);
        common_drop(&c->race->joins, &all);
        w->fresh = 0;
    } else converge_part(w, mask);
    unlock(&c->race->lock);
}

/* Lanes come to a barrier with what they know, would know, and have read (R5a). */
static void arrived(struct race_warp *w, u32 lanes, struct bar_state *b)
{
    struct common all = { b->known, b->weak, b->news };
    gather(w, lanes, &all);
    known_join(&w->c->race->joins, &all.weak, w->weak);
    for (u32 m = lanes & w->told; m; m &= m - 1) known_join(&w->c->race->joins, &all.weak, w->lane[__builtin_ctz(m)].rmw);
    add_own(&all.known, w, lanes);
    if (w->weak_base > w->wbase) known_add_warp(&w->c->race->joins, &all.weak, w->c->number, w->id, w->weak_base, 0, 0);
    b->known = all.known; b->weak = all.weak; b->news = all.news;
}

/* Who waits does nothing until the barrier is complete: what he knows is looked at then. */
void clock_arrive(struct race_warp *w, u32 mask, u32 bar, bool waits)
{
    struct race_cta *c = w->c;
    struct bar_state *b = &c->bar[bar];
    if (waits) { b->waits[w->id] |= mask; return; }
    lock(&c->race->lock);
    w->now++;
    arrived(w, mask, b);
    unlock(&c->race->lock);
}

static bool all_wait(const struct race_cta *c, const struct bar_state *b)
{
    for (u32 n = 0; n < c->launch->nwarps; n++) if (b->waits[n] != c->warp[n].all) return false;
    return true;
}

/* How many lanes have news. */
static u32 with_news(const struct race_cta *c)
{
    u32 n = 0;
    for (u32 k = 0; k < c->launch->nwarps; k++)
        for (u32 m = c->warp[k].told; m; m &= m - 1) n += c->warp[k].lane[__builtin_ctz(m)].news.wide || c->warp[k].lane[__builtin_ctz(m)].news.own;
    return n;
}

/* What a lane knows becomes what all know; alone: no other has news. R5a: so does, weakly, what it has read from a released value. */
static void share(struct race_cta *c, struct lane_clock *k, bool alone)
{
    known_join(&c->race->joins, &c->weak, k->weak.seen);
    known_join(&c->race->joins, &c->weak, k->rmw);
    known_join(&c->race->joins, &c->pend, k->sure.pend);
    known_join(&c->race->joins, &c->unscoped, k->unscoped);
    known_join(&c->race->joins, &c->seen, k->sure.seen);
    if (alone && k->abreast) {                  /* there are no others, and it knows them all */
        known_drop(&c->race->joins, c->news.wide);
        c->news.wide = known_hold(k->news.wide);
        c->abreast = true;
    } else if (k->news.wide || k->news.own) {
        released_join(&c->race->joins, &c->news, &k->news);
        c->abreast = false;
    }
    known_drop(&c->race->joins, k->sure.seen); known_drop(&c->race->joins, k->weak.seen);
    released_clear(&c->race->joins, &k->news);
    k->sure.seen = k->weak.seen = NULL;
    k->abreast = false;
}

static void barrier_full(struct race_cta *c)
{
    bool alone = with_news(c) == 1;
    race_tick(c, c->launch->nwarps);
    c->base = c->now;
    c->lo[SPACE_SHARED] = (u64)c->base << 32;
    for (u32 n = 0; n < c->launch->nwarps; n++) {
        struct race_warp *w = &c->warp[n];
        w->wbase = c->now;
        for (u32 m = w->told; m; m &= m - 1) share(c, &w->lane[__builtin_ctz(m)], alone);
        known_join(&c->race->joins, &c->weak, w->weak);
        weak_reset(w);
    }
    known_add_cta(&c->race->joins, &c->seen, c->number, c->base);
}

static void barrier_part(struct race_cta *c, struct bar_state *b)
{
    for (u32 n = 0; n < c->launch->nwarps; n++) if (b->waits[n]) { c->warp[n].now++; arrived(&c->warp[n], b->waits[n], b); }
    struct common all = { b->known, b->weak, b->news };
    for (u32 n = 0; n < c->launch->nwarps; n++) {
        for (u32 m = b->waits[n] & c->warp[n].told; m; m &= m - 1) {
            known_join(&c->race->joins, &c->pend, c->warp[n].lane[__builtin_ctz(m)].sure.pend);
            known_join(&c->race->joins, &c->unscoped, c->warp[n].lane[__builtin_ctz(m)].unscoped);
        }
        if (b->waits[n]) give(&c->warp[n], b->waits[n], &all);
    }
}

bool clock_barrier(struct race_cta *c, u32 bar)
{
    struct bar_state *b = &c->bar[bar];
    lock(&c->race->lock);
    bool full = all_wait(c, b);
    if (full) barrier_full(c);
    else barrier_part(c, b);
    bar_reset(&c->race->joins, b);
    unlock(&c->race->lock);
    if (full) notes_empty(&c->notes);
    return full;
}

/* ---- locations ---- */

struct location {
    u64 at;
    u32 id;                     /* never given to another one in a launch */
    u32 writes;                 /* strong ones so far */
    u32 version;                /* grows with whatever can be learned */
    u32 cta;                    /* of the last of them, and its scope */
    u8 scope;
    u8 size;                    /* 0: overwritten; nothing can be learned */
    bool mbarrier;
    struct lore {
        struct released released;       /* by what led to the value; an mbarrier, wide: in the phases before */
        struct known *arrived;  /* an mbarrier: in this phase */
    } sure, weak;               /* of what those who released know, would know by R5b */
    struct released news;       /* of fence.sc, of those who wrote */
    u32 time;                   /* of the last write */
    u32 until;                  /* the greatest time of a write, if all are by that CTA; ~0: they are not */
    struct known *narrow;       /* what was released with a scope that may be too narrow */
    u64 phase;
};
struct locations {
    struct location *l; u32 n, room;
    u32 *index, cap;            /* hash of them: number + 1 */
    u32 narrow, broad;          /* sizes there are */
    u32 ids;                    /* given */
};

static u32 location_hash(u64 at) { return (u32)(at * 0x9e3779b97f4a7c15u >> 32); }

/* Where the number of the one at that place is, or would be. */
static u32 *location_slot(const struct locations *t, u64 at)
{
    u32 k = location_hash(at) & (t->cap - 1);
    while (t->index[k] && t->l[t->index[k] - 1].at != at) k = (k + 1) & (t->cap - 1);
    return &t->index[k];
}

static void locations_grow(struct locations *t)
{
    t->room = t->room ? 2 * t->room : 64;
    t->l = base_need_more(t->l, sizeof *t->l * t->room);
    base_free(t->index);
    t->cap = 4 * t->room;
    t->index = base_need(sizeof *t->index * t->cap);
    for (u32 k = 0; k < t->n; k++) *location_slot(t, t->l[k].at) = k + 1;
}

/* Good until another one is created. */
static struct location *location_at(struct race *r, u64 at, bool create)
{
    struct locations *t = r->locations;
    if (!t && !create) return NULL;
    if (!t) { t = base_need(sizeof *t); __atomic_store_n(&r->locations, t, __ATOMIC_RELAXED); }
    if (create && t->n == t->room) locations_grow(t);
    if (!t->cap) return NULL;
    u32 *slot = location_slot(t, at);
    if (*slot) return &t->l[*slot - 1];
    if (!create) return NULL;
    t->l[t->n] = (struct location){ .at = at };
    *slot = ++t->n;
    return &t->l[t->n - 1];
}

void clock_soon(const struct race *r, u64 at, u32 stage)
{
    const struct locations *t = r->locations;
    if (!t || !t->cap) return;
    const u32 *slot = &t->index[location_hash(at) & (t->cap - 1)];
    if (!stage) { __builtin_prefetch(slot); return; }
    if (!*slot) return;
    const char *l = (const char *)&t->l[*slot - 1];             /* or another one that is in the way */
    for (u32 k = 0; k < sizeof *t->l; k += 64) __builtin_prefetch(l + k);
}

static void lore_clear(struct joins *j, struct lore *o)
{
    released_clear(j, &o->released);
    known_drop(j, o->arrived);
    o->arrived = NULL;
}

static void location_clear(struct joins *j, struct location *l)
{
    lore_clear(j, &l->sure); lore_clear(j, &l->weak);
    released_clear(j, &l->news);
    known_drop(j, l->narrow);
    *l = (struct location){ .at = l->at };
}

/* Other locations with bytes among these are over. */
static void overwrite(struct race *r, u64 at, u32 bytes, u32 same)
{
    const struct locations *t = r->locations;
    if (!t || !t->narrow) return;
    for (u64 k = at & ~(u64)(t->broad - 1); k < at + bytes; k += t->narrow) {
        struct location *l = location_at(r, k, false);
        if (l && l->size && k + l->size > at && !(k == at && l->size == same)) location_clear(&r->joins, l);
    }
}

static struct location *location_made(struct race *r, u64 at, u32 size)
{
    struct location *l = location_at(r, at, true);
    struct locations *t = r->locations;
    if (l->size == size) return l;
    location_clear(&r->joins, l);
    l->size = (u8)size;
    l->id = ++t->ids;
    if (!t->narrow || size < t->narrow) t->narrow = size;
    if (size > t->broad) t->broad = size;
    return l;
}

static bool observes(const struct race_cta *c, const struct location *l, u32 scope) { return l->cta == c->number || (wide(l->scope) && wide(scope)); }

/* A lane of that CTA has read a value with what it released: known at once if it acquires, otherwise behind a fence. */
static void view_learn(struct joins *j, struct view *v, const struct released *r, u32 cta, const struct strong *s)
{
    if (s->sem == SEM_ACQUIRE || s->sem == SEM_ACQ_REL) { released_learn(j, r, cta, wide(s->scope), &v->seen); return; }
    released_learn(j, r, cta, wide(s->scope), &v->pend);
    released_learn(j, r, cta, false, &v->pend_cta);
}

void clock_learn(struct race_warp *w, u32 lane, const struct strong *s)
{
    struct race *r = w->c->race;
    struct lane_clock *k = &w->lane[lane];
    u32 me = w->c->number;
    bool acquires = s->sem == SEM_ACQUIRE || s->sem == SEM_ACQ_REL;
    lock(&r->lock);
    const struct location *l = location_at(r, s->at, false);
    bool again = l && l->id == k->read.id && l->version == k->read.version && s->sem == k->read.sem && s->scope == k->read.scope && !s->rmw;
    if (l && l->size == s->size && !l->mbarrier && !again) {
        k->read.id = l->id; k->read.version = l->version; k->read.sem = s->sem; k->read.scope = s->scope;
        learned(w, 1u << lane);
        released_join(&w->c->race->joins, &k->news, &l->news);
        if (observes(w->c, l, s->scope) && l->until >= known_cta(w->c->seen, l->cta)) known_add_writes(&w->c->race->joins, &k->sure.seen, l->id, l->writes);     /* otherwise its CTA knows them all */
        view_learn(&w->c->race->joins, &k->sure, &l->sure.released, me, s);
        view_learn(&w->c->race->joins, &k->weak, &l->weak.released, me, s);
        if (!acquires && s->rmw && wide(s->scope)) { released_learn(&w->c->race->joins, &l->sure.released, me, true, &k->rmw); released_learn(&w->c->race->joins, &l->weak.released, me, true, &k->rmw); }
        if (!wide(s->scope)) known_join(&w->c->race->joins, &k->unscoped, l->sure.released.wide);
        known_join(&w->c->race->joins, &k->unscoped, l->narrow);
    }
    unlock(&r->lock);
}

struct write clock_write(struct race_warp *w, const struct strong *s, u32 lane)
{
    struct race_cta *c = w->c;
    lock(&c->race->lock);
    overwrite(c->race, s->at, s->size, s->size);
    struct location *l = location_made(c->race, s->at, s->size);
    if (!s->rmw) {
        lore_clear(&c->race->joins, &l->sure); lore_clear(&c->race->joins, &l->weak);
        released_clear(&c->race->joins, &l->news);
        known_drop(&c->race->joins, l->narrow);
        l->narrow = NULL;
    }                                           /* who reads it still knows the writes before it */
    if (!w->lane[lane].abreast) released_join(&w->c->race->joins, &l->news, &c->news);
    released_join(&w->c->race->joins, &l->news, &w->lane[lane].news);
    l->until = l->writes && (l->cta != c->number || l->until == ~0u) ? ~0u : MAX_OF(l->until, w->now);
    l->cta = c->number; l->scope = s->scope; l->time = w->now;
    struct write x = { l->id, l->writes++ };
    l->version++;
    unlock(&c->race->lock);
    return x;
}

void clock_teach(struct race_warp *w, u32 lane, const struct strong *s)
{
    struct race_cta *c = w->c;
    const struct lane_clock *k = &w->lane[lane];
    bool release = s->sem == SEM_RELEASE || s->sem == SEM_ACQ_REL;
    if (!release && !k->fences) return;
    lock(&c->race->lock);
    struct location *l = location_made(c->race, s->at, s->size);
    l->version++;
    bool far = wide(s->scope) && (release || wide(k->fscope));
    if (release) w->now++;
    struct known *what = release ? all_of(w, lane) : known_hold(k->sure.fenced), *weak = release ? all_weak(w, lane) : known_hold(k->weak.fenced);
    released_add(&w->c->race->joins, &l->sure.released, c->number, far, what);
    released_add(&w->c->race->joins, &l->weak.released, c->number, far, weak);
    if (!far) known_join(&w->c->race->joins, &l->narrow, what);
    known_drop(&c->race->joins, what); known_drop(&c->race->joins, weak);
    unlock(&c->race->lock);
}

void clock_learn_weakly(struct race_warp *w, u32 lane, const struct strong *s)
{
    struct race *r = w->c->race;
    struct view *weak = &w->lane[lane].weak;
    lock(&r->lock);
    const struct location *l = location_at(r, s->at, false);
    if (l && l->size == s->size && !l->mbarrier) {
        learned(w, 1u << lane);
        view_learn(&r->joins, weak, &l->sure.released, w->c->number, s);
        view_learn(&r->joins, weak, &l->weak.released, w->c->number, s);
    }
    unlock(&r->lock);
}

void clock_teach_weakly(struct race_warp *w, u32 lane, const struct strong *s)
{
    struct race *r = w->c->race;
    const struct lane_clock *k = &w->lane[lane];
    if (!k->fences) return;
    lock(&r->lock);
    struct location *l = location_made(r, s->at, s->size);
    l->version++;
    released_add(&r->joins, &l->weak.released, w->c->number, wide(k->fscope), k->sure.fenced);
    released_add(&r->joins, &l->weak.released, w->c->number, wide(k->fscope), k->weak.fenced);
    unlock(&r->lock);
}

void clock_forget(struct race_warp *w, u64 at, u32 bytes)
{
    struct race *r = w->c->race;
    if (!__atomic_load_n(&r->locations, __ATOMIC_RELAXED)) return;
    lock(&r->lock);
    overwrite(r, at, bytes, 0);
    unlock(&r->lock);
}

static struct location *mbarrier_at(struct race *r, u64 at)
{
    struct location *l = location_made(r, at, 8);
    l->mbarrier = true;
    return l;
}

void clock_mbarrier_arrive(struct race_warp *w, u32 lane, u64 at)
{
    struct race_cta *c = w->c;
    lock(&c->race->lock);
    struct location *l = mbarrier_at(c->race, at);
    w->now++;
    struct known *all = all_of(w, lane), *weak = all_weak(w, lane);
    known_join(&w->c->race->joins, &l->sure.arrived, all);
    known_join(&w->c->race->joins, &l->weak.arrived, weak);
    known_drop(&c->race->joins, all); known_drop(&c->race->joins, weak);
    released_join(&w->c->race->joins, &l->news, &w->lane[lane].news);
    unlock(&c->race->lock);
}

static void phase_over(struct joins *j, struct lore *o)
{
    known_join(j, &o->released.wide, o->arrived);
    known_drop(j, o->arrived);
    o->arrived = NULL;
}

void clock_mbarrier_settle(struct race_warp *w, u64 at, u64 word)
{
    lock(&w->c->race->lock);
    struct location *l = mbarrier_at(w->c->race, at);
    if (word >> 40 != l->phase) {
        l->phase = word >> 40;
        phase_over(&w->c->race->joins, &l->sure); phase_over(&w->c->race->joins, &l->weak);
    }
    unlock(&w->c->race->lock);
}

void clock_mbarrier_passed(struct race_warp *w, u32 lane, u64 at)
{
    lock(&w->c->race->lock);
    struct location *l = mbarrier_at(w->c->race, at);
    struct common all = { l->sure.released.wide, l->weak.released.wide, l->news };
    give(w, 1u << lane, &all);
    unlock(&w->c->race->lock);
}

/* Has the lane seen a strong write that the CTA made somewhere after that time? */
static bool saw_flag(const struct race_cta *c, const struct lane_clock *k, u32 cta, u32 time)
{
    const struct locations *t = c->race->locations;
    for (u32 n = 0; t && n < t->n; n++) {
        const struct location *l = &t->l[n];
        if (!l->size || l->mbarrier || l->cta != cta || l->time < time || !l->writes) continue;
        if (known_write(c->seen, l->id, l->writes - 1) || known_write(k->sure.seen, l->id, l->writes - 1)) return true;
    }
    return false;
}

void clock_launch(struct race *r)
{
    struct locations *t = r->locations;
    joins_forget(&r->joins);
    if (!t) return;
    for (u32 k = 0; k < t->n; k++) location_clear(&r->joins, &t->l[k]);
    if (t->n) memset(t->index, 0, sizeof *t->index * t->cap);
    t->n = t->narrow = t->broad = t->ids = 0;
}

void clock_delete(struct race *r)
{
    clock_launch(r);
    if (r->locations) { base_free(r->locations->l); base_free(r->locations->index); }
    joins_free(&r->joins);
    base_free(r->locations);
}
