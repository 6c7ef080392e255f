/* happens_before.h: is an access that was recorded earlier ordered before what a thread, a warp or a CTA does now?
 *
 * All such questions are asked here. Three things order two accesses (8.9 of the PTX manual, causality order): a
 * barrier or a launch that lies between them, which the T of their access words tells; the program order of one thread;
 * and synchronisation, which vector clocks tell (race_clock.h).
 *
 *   hb_X          is exact: true exactly when the accesses are ordered.
 *   hb_X_maybe    returns true only for ordered accesses, and may return false for some of them. What that costs is
 *                 said at each: the caller then takes a slower path, or keeps a record longer than it must. It never
 *                 reports a race for that.
 *   hb_X_weak     is exact for happens-before extended by R5: what would be ordered if .sync operations ordered
 *                 their lanes, and barriers what read-modify-writes before them have read. It grades a race.
 *
 * `old` and `o` are the earlier access, `me` and `m` the current one, which is by warp w. */
#ifndef LOCKSTEP_HAPPENS_BEFORE_H
#define LOCKSTEP_HAPPENS_BEFORE_H
#include "race/race.h"

/* ---- launches ---- */

/* The least access word of the era: whatever has a lower one is of an era that is over, and happens before all launches
 * of this one. Of a word above it the history of its slot tells the launch, and launch_before whether that one is
 * before another one as a whole. */
static inline u64 hb_era_floor(const struct race_era *era) { return (u64)era->epoch << 32; }

/* ---- one access word ---- */

/* old is before `me` by a barrier, by a kernel boundary, or by program order of one thread; lo: race_cta.lo of the
 * space. Exact in simple kernels, where nothing else orders, except that mixed words and sets are answered for only
 * where one comparison does it. False for ordered accesses: the access takes the slow path. */
/* the same where old >= lo; inlined, whatever the compiler thinks of the size: gathers ask it lane by lane */
static inline __attribute__((always_inline)) bool hb_by_barrier_above(const struct race_warp *w, u64 old, u64 me);
static inline bool hb_by_barrier_maybe(const struct race_warp *w, u64 old, u64 me, u64 lo)
{
    return likely(old < lo) || hb_by_barrier_above(w, old, me);
}
static inline __attribute__((always_inline)) bool hb_by_barrier_above(const struct race_warp *w, u64 old, u64 me)
{
    const struct race_cta *c = w->c;
    if (word_time(old) < c->start || ((u32)(old ^ me) >> 19)) return false;
    if (word_mixed(old)) return word_kind(old) == WHO_WARP && !((u32)(old ^ me) >> 14) && word_time(old) < w->warp_base;
    if (word_time(old) < w->cta_base) return word_kind(old) != WHO_GRID;
    if ((u32)(old ^ me) >> 14) return false;
    return ((u32)old == (u32)me && word_kind(old) == WHO_ONE) ||
           (word_time(old) < w->warp_base && word_kind(old) <= WHO_WARP);
}

/* All accesses to shared memory until `time` are before whatever the warp does now. False for ordered ones: they are
 * compared one by one. Not asked of global memory, which other CTAs access. */
static inline bool hb_shared_maybe(const struct race_warp *w, u32 space, u32 time)
{
    return space == SPACE_SHARED && time < w->cta_base;
}

/* All accesses of the grid until `time` are before whatever the CTA does now. False for ordered ones: they are
 * compared one by one. hb_grid_update looks at the clocks of the CTA again. */
static inline bool hb_grid_maybe(const struct race_cta *c, u32 time) { return time < c->grid_base; }
void hb_grid_update(struct race_cta *c);

/* The access is before whatever any thread of the CTA does now. False for ordered accesses: threads are compared one
 * by one, or a member of a reader set that could go is kept. */
bool hb_cta_maybe(struct race_cta *c, u64 old, u32 space);
/* old, of one thread, is before `me`: by barriers, program order, or the clock of the whole CTA. False for ordered
 * accesses: the earlier reader is kept beside the current one. */
static inline bool hb_reader_maybe(const struct race_warp *w, u64 old, u64 me, u32 space)
{
    return hb_by_barrier_maybe(w, old, me, w->c->lo[space]) || hb_cta_maybe(w->c, old, space);
}

/* ---- one thread ---- */

/* By the vector clocks alone: the lane's clock has the access of that thread at `time`; id, if not 0: the access is
 * strong write number `write` of that location, which whoever has observed it is after, released or not. */
bool hb_thread_clock(const struct race_warp *w, u32 lane, u32 thread, u32 time, u32 id, u32 write);
/* The access of that thread at `time` is before what the lane does now. */
static inline bool hb_thread(const struct race_warp *w, u32 lane, u32 thread, u32 time, u32 space, u32 id, u32 write)
{
    const struct race_cta *c = w->c;
    if (time < word_time(c->lo[space])) return true;
    if (thread >> 10 == c->slot && time >= c->start) {
        if (time < w->cta_base) return true;
        if (thread >> 5 == (u32)w->key >> 14 && (time < w->warp_base || (thread & 31) == lane)) return true;
    }
    return c->exact && hb_thread_clock(w, lane, thread, time, id, write);
}

/* The same for an access word: of one thread each, or, in a simple kernel, of a set without members. */
static inline bool hb_word(const struct race_warp *w, u64 old, u64 me, u32 space)
{
    const struct race_cta *c = w->c;
    if (old < c->lo[space]) return true;
    if (word_kind(old) == WHO_ONE && word_kind(me) == WHO_ONE)
        return hb_thread(w, word_lane(me), word_thread(old), word_time(old), space, 0, 0);
    if (word_slot(old) != c->slot || word_time(old) < c->start || word_kind(old) == WHO_GRID) return false;
    if (word_time(old) < c->base) return true;
    return word_kind(old) != WHO_CTA && word_warp(old) == (u32)w->key >> 14 && word_time(old) < w->warp_base;
}

/* ---- accesses with all their threads ---- */

/* Every thread of o that accesses byte k is before every thread of m that does; neither is a set without members. */
bool hb_byte(const struct race_warp *w, const struct list_entry *o, const struct list_entry *m, u32 k, u32 space);
bool hb_byte_weak(const struct race_warp *w, const struct list_entry *o, const struct list_entry *m, u32 k, u32 space);
/* The same at each byte that both access. */
bool hb_entry(struct race_warp *w, const struct list_entry *o, const struct list_entry *m, u32 space);
/* The same by barriers and program order alone. False for ordered accesses: the list keeps both. */
static inline bool hb_entry_maybe(const struct race_warp *w, const struct list_entry *o, const struct list_entry *m,
                                  u32 space)
{
    return hb_by_barrier_maybe(w, o->a & ~15ull, m->a & ~15ull, w->c->lo[space]);
}

/* How many strong writes of that location all threads of m have observed: the first ones, which are before m. Others
 * may be before m, too, by the clocks of their threads. For exact kernels. */
u32 hb_writes_observed(const struct race_warp *w, const struct list_entry *m, u32 id);

/* Every member of reader set x is before whatever the CTA does now. False for ordered sets: members are compared one
 * by one. */
bool hb_set_maybe(const struct touch *t, u32 x);
/* What is recorded of an element, one access or a reader set, is before m. */
bool hb_prior_slow(const struct touch *t, struct prior old, const struct list_entry *m);
static inline bool hb_prior(const struct touch *t, struct prior old, const struct list_entry *m)
{
    /* most accesses to shared memory are before the last barrier: inline for them */
    if (!old.a || (!word_is_set(old.a) && hb_shared_maybe(t->w, t->space, word_time(old.a)))) return true;
    return hb_prior_slow(t, old, m);
}
/* old, of a whole sector, is before `me`; x: its site, or the number of its set. False for ordered accesses: in a
 * simple kernel, and where one of them is by several threads a byte, the sector is looked at element by element. */
bool hb_sector_maybe(const struct touch *t, u64 old, u32 x, u64 me);
/* The same of all elements of block x; 0: there are none. False for ordered accesses: as above. */
bool hb_elements_maybe(const struct touch *t, u32 x, u64 me);

/* ---- advice ---- */

/* What would order an access of that thread at `time` before what the lane does now: an acquire (or a fence) after
 * what the lane has read; wider scopes; a release before a flag that the lane has seen; or all of it. */
enum missing { MISSING_ALL, MISSING_ACQUIRE, MISSING_SCOPE, MISSING_RELEASE };
enum missing hb_missing(const struct race_warp *w, u32 lane, u32 thread, u32 time);
#endif
