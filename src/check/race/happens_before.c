/* Happens-before by vector clocks, and for accesses of many threads: happens_before.h has the questions.
 *
 * What a lane is ordered after is the join of three clocks: that of its CTA, that of its warp, and its own
 * (race_clock.h says why there are three). So a question looks into all of them, the widest first. Where many accesses
 * are compared at once, one-sided answers for whole CTAs and warps come first, and are remembered: time only grows, so
 * "ordered" stays true, and "not ordered" holds until the clocks have grown. */
#include "race/race_clock.h"
#include "race/race_launch.h"
#include "race/race_slow.h"

/* ---- one thread ---- */

static u32 cta_at(const struct race *r, u32 slot, u32 time)
{
    struct resident was;
    return resident_at(r, slot, time, &was) ? was.number : NONE;
}

/* One of three clocks has the access of that thread at `time`. */
static bool in_clocks(const struct race *r, const struct vclock *cta, const struct vclock *warp,
                      const struct vclock *lane, u32 thread, u32 time)
{
    if (!cta && !warp && !lane) return false;
    u32 c = cta_at(r, thread >> 10, time), w = thread >> 5 & 31, l = thread & 31;
    return vclock_has_thread(cta, c, w, l, time) || vclock_has_thread(warp, c, w, l, time) ||
           vclock_has_thread(lane, c, w, l, time);
}

/* The access is of another launch of the era, which is before the lane as a whole: by the order of operations, or
 * because the lane has read what was written after its end. own: the clock of the lane. */
static bool in_launch(const struct race_warp *w, const struct vclock *own, u32 slot, u32 time)
{
    const struct race_cta *c = w->c;
    struct resident was;
    if (c->era->launches < 2) return false;
    if (!resident_at(c->race, slot, time, &was)) return true;
    if (was.launch == c->launch->number) return false;
    if (launch_before(c->era, was.launch, c->launch)) return true;
    u32 whole = launch_as_location(was.launch);
    return vclock_has_write(c->clock, whole, 0) || vclock_has_write(w->clock, whole, 0) ||
           vclock_has_write(own, whole, 0);
}

/* One of three clocks has that strong write of the location; id 0: there is none. */
static bool write_in_clocks(const struct vclock *cta, const struct vclock *warp, const struct vclock *lane, u32 id,
                            u32 write)
{
    return id &&
           (vclock_has_write(cta, id, write) || vclock_has_write(warp, id, write) || vclock_has_write(lane, id, write));
}

bool hb_thread_clock(const struct race_warp *w, u32 lane, u32 thread, u32 time, u32 id, u32 write)
{
    const struct race_cta *c = w->c;
    const struct vclock *own = w->lane ? w->lane[lane].strict.clock : NULL;
    lock(&c->era->lock);
    bool yes = in_clocks(c->race, c->clock, w->clock, own, thread, time) ||
               write_in_clocks(c->clock, w->clock, own, id, write) || in_launch(w, own, thread >> 10, time);
    unlock(&c->era->lock);
    return yes;
}

/* The same by the weak view alone; a kernel that is not simple. */
static bool hb_thread_clock_weak(const struct race_warp *w, u32 lane, u32 thread, u32 time, u32 id, u32 write)
{
    const struct race_cta *c = w->c;
    if (!c->exact) return false;
    if (thread >> 5 == (u32)w->key >> 14 && time >= c->start && time < w->weak_base) return true;
    const struct vclock *own = w->lane[lane].weak.clock;
    lock(&c->era->lock);
    bool yes = in_clocks(c->race, c->weak, w->weak, own, thread, time) ||
               write_in_clocks(c->weak, w->weak, own, id, write);
    unlock(&c->era->lock);
    return yes;
}

/* ---- whole CTAs and warps ---- */

bool hb_cta_maybe(struct race_cta *c, u64 old, u32 space)
{
    u32 slot = word_slot(old), time = word_time(old), n = slot % CTA_MEMO;
    if (old < c->lo[space]) return true;
    if (slot == c->slot && time >= c->start && time < c->base) return true;
    if (c->cta_memo[n].slot == slot && time >= c->cta_memo[n].from &&
        (time < c->cta_memo[n].below || c->cta_memo[n].base == c->base))
        return time < c->cta_memo[n].below;
    lock(&c->era->lock);
    struct resident was;
    bool known = resident_at(c->race, slot, time, &was);
    u32 below = known && c->clock ? vclock_cta_time(c->clock, was.number) : 0;
    bool other = !known || was.launch != c->launch->number,
         before = other && (!known || launch_before(c->era, was.launch, c->launch));
    if (known) {
        c->cta_memo[n].slot = slot;
        c->cta_memo[n].from = was.start;
        /* another CTA may have used the slot after that time, so no later time is known to be ordered */
        c->cta_memo[n].below = before ? time + 1 : below;
        c->cta_memo[n].base = before ? NONE : c->base;
    }
    unlock(&c->era->lock);
    return before || time < below;
}

void hb_grid_update(struct race_cta *c)
{
    u32 all = (u32)c->launch->total;
    lock(&c->era->lock);
    /* A CTA that has not begun may still get any time, except that launches which begin later have none below the
     * grid_base of others. */
    if (c->era->launches == 1 && c->era->ctas == c->launch->total) {
        c->grid_base = MAX_OF(c->grid_base, vclock_min_cta_time(c->clock, all));
        c->era->grid_top = MAX_OF(c->era->grid_top, c->grid_base);
    }
    unlock(&c->era->lock);
    c->grid_base_at = c->base;
    c->walked = 0;
}

/* The time below which every lane of w is after all that another warp of its CTA did. */
static u32 warp_below(const struct race_warp *w, u32 warp)
{
    const struct race_cta *c = w->c;
    u32 by_cta = vclock_warp_time(c->clock, c->number, warp), by_warp = vclock_warp_time(w->clock, c->number, warp),
        least = w->ahead == w->all ? ~0u : 0;
    const struct vclock *last = NULL;
    u32 together = MAX_OF(by_cta, by_warp);
    for (u32 m = w->all; m && least > together; m &= m - 1) {
        const struct vclock *own = w->lane[__builtin_ctz(m)].strict.clock;
        if (!own || own != last) least = MIN_OF(least, own ? vclock_warp_time(own, c->number, warp) : 0);
        last = own;
    }
    return MAX_OF(together, least);
}

/* All lanes of w are ordered after everything that the warp of that access, another warp of the CTA, had done by that
 * time. */
static bool warp_maybe(struct race_warp *w, u64 old)
{
    struct race_cta *c = w->c;
    u32 warp = word_warp(old) & 31, n = warp % WARP_MEMO, time = word_time(old);
    if (word_slot(old) != c->slot || time < c->start || warp == w->id) return false;
    bool same = w->warp_memo[n].warp == warp && w->warp_memo[n].start == c->start;
    if (same && (time < w->warp_memo[n].below || w->warp_memo[n].version == w->version))
        return time < w->warp_memo[n].below;
    lock(&c->era->lock);
    u32 below = warp_below(w, warp);
    unlock(&c->era->lock);
    w->warp_memo[n].warp = warp;
    w->warp_memo[n].start = c->start;
    w->warp_memo[n].below = below;
    w->warp_memo[n].version = w->version;
    return time < below;
}

/* Each lane of `lanes` is ordered after the access of each lane of `theirs`, in the warp of that access. */
static bool lanes_maybe(const struct race_warp *w, u32 lanes, u64 old, u32 theirs)
{
    const struct race_cta *c = w->c;
    const struct vclock *last = NULL;
    u32 warp = word_warp(old) & 31, time = word_time(old);
    bool yes = true;
    lock(&c->era->lock);
    u32 cta = cta_at(c->race, word_slot(old), time);
    bool together = vclock_has_lanes_maybe(c->clock, cta, warp, theirs, time) ||
                    vclock_has_lanes_maybe(w->clock, cta, warp, theirs, time);
    for (u32 m = lanes; m && yes && !together; m &= m - 1) {
        const struct vclock *own = w->lane[__builtin_ctz(m)].strict.clock;
        yes = own && (own == last || vclock_has_lanes_maybe(own, cta, warp, theirs, time));
        last = own;
    }
    unlock(&c->era->lock);
    return yes;
}

/* ---- accesses with all their threads ---- */

static u32 lanes_of_byte(const struct list_entry *e, u32 k)
{
    return word_kind(e->a) == WHO_WARP ? e->lanes : 1u << lane_of_byte(e->a, k);
}

static u32 lanes_of_bytes(const struct list_entry *e, u32 bytes)
{
    u32 lanes = 0;
    if (word_es(e->a) >= ES_ONE) return lanes_of_byte(e, 0);
    for (; bytes; bytes &= bytes - 1) lanes |= 1u << lane_of_byte(e->a, (u32)__builtin_ctz(bytes));
    return lanes;
}

/* The vector clocks of the two lanes are the same trees: a thread of another warp is before both, or before none. */
static bool same_clocks(const struct race_warp *w, u32 a, u32 b)
{
    const struct lane_clock *x = &w->lane[a], *y = &w->lane[b];
    return x->strict.clock == y->strict.clock && x->weak.clock == y->weak.clock;
}

static bool byte_before(const struct race_warp *w, const struct list_entry *o, const struct list_entry *m, u32 k,
                        u32 space, bool weak)
{
    u32 last = NONE;
    bool alike = w->c->exact && w->lane && word_thread(o->a) >> 5 != (u32)w->key >> 14;
    EACH_SET (lane, lanes_of_byte(m, k)) {
        if (alike && last != NONE && same_clocks(w, last, lane)) continue;
        last = lane;
        EACH_SET (l, lanes_of_byte(o, k)) {
            u32 thread = (word_thread(o->a) & ~31u) | l;
            if (!hb_thread(w, lane, thread, word_time(o->a), space, o->id, o->write) &&
                !(weak && hb_thread_clock_weak(w, lane, thread, word_time(o->a), o->id, o->write)))
                return false;
        }
    }
    return true;
}

bool hb_byte(const struct race_warp *w, const struct list_entry *o, const struct list_entry *m, u32 k, u32 space)
{
    return !(o->op & OP_ASYNC) && byte_before(w, o, m, k, space, false);
}

bool hb_byte_weak(const struct race_warp *w, const struct list_entry *o, const struct list_entry *m, u32 k, u32 space)
{
    return !(o->op & OP_ASYNC) && byte_before(w, o, m, k, space, true);
}

u32 hb_writes_observed(const struct race_warp *w, const struct list_entry *m, u32 id)
{
    const struct race_cta *c = w->c;
    const struct vclock *last = NULL;
    u32 least = ~0u;
    lock(&c->era->lock);
    u32 together = MAX_OF(vclock_writes(c->clock, id), vclock_writes(w->clock, id));
    for (u32 lanes = lanes_of_bytes(m, m->bytes); lanes && least > together; lanes &= lanes - 1) {
        const struct vclock *own = w->lane ? w->lane[__builtin_ctz(lanes)].strict.clock : NULL;
        if (!own || own != last) least = MIN_OF(least, vclock_writes(own, id));
        last = own;
    }
    unlock(&c->era->lock);
    return MAX_OF(together, least);
}

/* Both are of one thread, and nothing but clocks orders them: what was true once stays true. */
static bool memo_applies(const struct race_warp *w, const struct list_entry *o, const struct list_entry *m)
{
    return w->c->exact && !o->id && word_kind(o->a) == WHO_ONE && word_kind(m->a) == WHO_ONE &&
           word_es(o->a) >= ES_ONE && word_es(m->a) >= ES_ONE;
}

/* Of a thread of this CTA: if its operations up to a time are ordered before us, so are all earlier ones. */
static bool is_own_thread(const struct race_cta *c, u64 old)
{
    return word_slot(old) == c->slot && word_time(old) >= c->start;
}

static u32 memo_place(const struct race_warp *w, u64 old, u32 lane)
{
    if (is_own_thread(w->c, old)) return (word_warp(old) % 32 + 5 * word_lane(old) + 11 * lane) % THREAD_MEMO;
    return (u32)((old * 0x9e3779b97f4a7c15) >> 59) % THREAD_MEMO;
}

static bool memo_has(const struct race_warp *w, u64 old, u32 lane, u32 space)
{
    u32 n = memo_place(w, old, lane);
    u64 known = w->thread_memo[n].old;
    if (w->thread_memo[n].lane != lane || w->thread_memo[n].space != space || w->thread_memo[n].start != w->c->start)
        return false;
    return known == old || ((u32)known == (u32)old && known > old && is_own_thread(w->c, old));
}

static void memo_keep(struct race_warp *w, u64 old, u32 lane, u32 space)
{
    u32 n = memo_place(w, old, lane);
    w->thread_memo[n].old = old;
    w->thread_memo[n].lane = lane;
    w->thread_memo[n].space = space;
    w->thread_memo[n].start = w->c->start;
}

enum { FEW_THREADS = 4 }; /* comparing so many one by one takes no longer than comparing lanes at once */

bool hb_entry(struct race_warp *w, const struct list_entry *o, const struct list_entry *m, u32 space)
{
    u32 both = o->bytes & m->bytes;
    if (o->op & OP_ASYNC) return false; /* nothing is after a copy that has not been waited for */
    if (o->a < w->c->lo[space]) return true;
    bool sets = (word_kind(o->a) >= WHO_WARP && !o->lanes) || (word_kind(m->a) >= WHO_WARP && !m->lanes);
    if (sets) return hb_word(w, o->a, m->a, space); /* a set may go by the name of another warp than ours */
    if (hb_entry_maybe(w, o, m, space)) return true;
    if (memo_applies(w, o, m)) {
        u64 old = o->a & ~WORD_LOW;
        u32 lane = word_lane(m->a);
        if (memo_has(w, old, lane, space)) return true;
        bool before = hb_cta_maybe(w->c, o->a, space) || warp_maybe(w, o->a) || byte_before(w, o, m, 0, space, false);
        if (before) memo_keep(w, old, lane, space);
        return before;
    }
    if (w->c->exact && (hb_cta_maybe(w->c, o->a, space) || warp_maybe(w, o->a))) return true;
    if (w->c->exact) {
        u32 mine = lanes_of_bytes(m, both), theirs = lanes_of_bytes(o, both);
        if (__builtin_popcount(mine) + __builtin_popcount(theirs) > FEW_THREADS && lanes_maybe(w, mine, o->a, theirs))
            return true;
    }
    u32 last_o = 0, last_m = 0;
    EACH_SET (k, both) {
        u32 lo = lanes_of_byte(o, k), lm = lanes_of_byte(m, k);
        if (lo == last_o && lm == last_m) continue; /* the same threads as at the byte before */
        last_o = lo;
        last_m = lm;
        if (!byte_before(w, o, m, k, space, false)) return false;
    }
    return true;
}

/* Every member of the set is before whatever the CTA does now. */
static bool members_maybe(const struct touch *t, u32 x)
{
    struct race_cta *c = t->w->c;
    const struct notes *n = notes_of(t);
    struct member m;
    for (u32 note = 0; x; note = m.mark >> n->shift) {
        x = set_last(n, x, &m);
        c->walked++;
        if (m.mark >> n->shift != note && !hb_cta_maybe(c, m.a, t->space)) return false;
    }
    return true;
}

bool hb_set_maybe(const struct touch *t, u32 x)
{
    struct race_cta *c = t->w->c;
    struct notes *n = notes_of(t);
    struct ordered_memo *p = &c->ordered_memo[t->space];
    u64 lo = c->lo[t->space];
    if (c->walked > c->launch->total && c->grid_base_at != c->base) hb_grid_update(c);
    if (hb_grid_maybe(c, __atomic_load_n(&set_at(n, x)->latest, __ATOMIC_RELAXED))) return true;
    if (p->since >= lo && p->set == x) return true;
    if (p->other == x && p->base == c->base) return false;
    if (!members_maybe(t, x)) {
        p->other = x;
        p->base = c->base;
        return false;
    }
    if (p->since >= lo) set_unref(n, p->set, notes_locked(t->w, t->space));
    p->since = (u64)c->now << 32;
    p->set = x;
    if (x) set_ref(n, x, notes_locked(t->w, t->space));
    c->has_refs |= t->space == SPACE_GLOBAL;
    return true;
}

bool hb_prior_slow(const struct touch *t, struct prior old, const struct list_entry *m)
{
    const struct notes *n = notes_of(t);
    if (word_is_set(old.a) &&
        (hb_shared_maybe(t->w, t->space, set_at(n, old.site)->latest) || hb_set_maybe(t, old.site)))
        return true;
    struct list_entry o = { .a = old.a & ~12ull, .bytes = m->bytes };
    if (!word_is_set(old.a)) return hb_entry(t->w, &o, m, t->space);
    struct member r;
    for (u32 x = old.site; x;) {
        x = set_last(n, x, &r);
        o.a = r.a;
        o.lanes = r.lanes;
        if (!hb_entry(t->w, &o, m, t->space)) return false;
    }
    return true;
}

bool hb_sector_maybe(const struct touch *t, u64 old, u32 x, u64 me)
{
    if (hb_by_barrier_maybe(t->w, old, me, t->w->c->lo[t->space])) return true;
    if (!t->w->c->exact || word_kind(old) != WHO_ONE || word_kind(me) != WHO_ONE) return false;
    struct list_entry m = { .a = me, .bytes = ~0u };
    return hb_prior(t, (struct prior){ old, x, 0 }, &m);
}

bool hb_elements_maybe(const struct touch *t, u32 x, u64 me)
{
    u32 step = x ? MIN_OF(element_size(x), word_element_size(me)) : SECTOR;
    u64 lo = t->w->c->lo[t->space];
    bool exact = t->w->c->exact;
    for (u32 k = 0; x && k < SECTOR; k += step) {
        struct prior s = element_at(notes_of(t), x, k);
        struct list_entry m = { .a = word_at_byte(me, k), .bytes = (u32)((1ull << step) - 1) << k };
        if (!hb_by_barrier_maybe(t->w, s.a, m.a, lo) && !(exact && word_kind(me) == WHO_ONE && hb_prior(t, s, &m)))
            return false;
    }
    return true;
}

/* ---- advice ---- */

enum missing hb_missing(const struct race_warp *w, u32 lane, u32 thread, u32 time)
{
    const struct race_cta *c = w->c;
    enum missing what = MISSING_ALL;
    if (!c->exact || !w->lane) return what;
    const struct lane_clock *k = &w->lane[lane];
    lock(&c->era->lock);
    if (in_clocks(c->race, c->pending, NULL, k->strict.pending, thread, time))
        what = MISSING_ACQUIRE;
    else if (in_clocks(c->race, c->unscoped, NULL, k->unscoped, thread, time))
        what = MISSING_SCOPE;
    else if (clock_saw_later_write(w, lane, cta_at(c->race, thread >> 10, time), time))
        what = MISSING_RELEASE;
    unlock(&c->era->lock);
    return what;
}
