/* race_clock.h: who knows what, in kernels that are not simple.
 *
 * A thread knows all that happened before the last full barrier of its CTA (base) and of its warp (warp_base), and
 * beyond that what it learned at synchronising places: release to acquire, partial barriers. That is a value of
 * vclock.h: one for the CTA, one for each warp, of what all its lanes were told together, and one for each lane. Lanes
 * that learn the same come to one value, since joining the same with the same is done once (vclock.h); what a lane has
 * done itself, which is never the same, is added only where it is handed on.
 *
 * A location is the exact extent of a strong write: its address and size, those of one element of a vector. There
 * lies what its value has released; a store begins anew, a read-modify-write continues, and any other write to one of
 * its bytes ends it. Who reads there also knows the write itself that left the value, released or not (observation
 * order, 8.10.5), and those before it: they are counted. That takes two that are morally strong: of one extent, each
 * within the other's scope.
 *
 * fence.sc: of two such fences one comes first in an order of all of them (8.10.3), and what precedes it is known
 * behind the other. Which comes first is decided where news of the first, by any strong write or barrier, reached the
 * second's thread before it: `news` is what such fences released, and it is learned at a fence.sc only.
 *
 * Beside what is known goes what would be known if shuffles, votes and matches ordered the lanes they bring together
 * (R5b): a second view, which takes the same ways as the first, through barriers, fences, atomics and mbarriers, and
 * holds only what the first does not. */
#ifndef LOCKSTEP_RACE_CLOCK_H
#define LOCKSTEP_RACE_CLOCK_H
#include "race/race.h"

void clock_make_lanes(struct race_warp *w); /* gives the warp's lanes clocks */
void clock_reset(struct race_cta *c);       /* a new CTA in this slot, or none */
void clock_fence(struct race_warp *w, u32 mask, u32 scope, bool sc);
void clock_warp_barrier(struct race_warp *w, u32 mask); /* bar.warp.sync by these lanes */
void clock_converge(struct race_warp *w, u32 mask);     /* another .sync operation by them */
void clock_barrier_arrive(struct race_warp *w, u32 mask, u32 bar, bool waits);
bool clock_barrier(struct race_cta *c, u32 bar); /* true: of all its threads */
/* Strong reads and writes of one lane. `at` names the place in memory; rmw: the read, or the write, of a
 * read-modify-write. */
struct strong {
    u64 at;
    u32 size;
    u8 sem, scope;
    bool rmw;
};
/* asks for the memory where it is looked up, then for its own */
void clock_prefetch(const struct race_launch *launch, u64 at, u32 stage);
void clock_strong_read(struct race_warp *w, u32 lane, const struct strong *s);
/* of a strong write: its location and which one there */
struct write {
    u32 id, number;
};
struct write clock_strong_write(struct race_warp *w, const struct strong *s, u32 lane);
void clock_strong_release(struct race_warp *w, u32 lane, const struct strong *s); /* after clock_strong_write */
/* weak accesses that are taken for flags (R5c) */
void clock_flag_read(struct race_warp *w, u32 lane, const struct strong *s);
void clock_flag_write(struct race_warp *w, u32 lane, const struct strong *s); /* after clock_weak_write */
void clock_weak_write(struct race_warp *w, u64 at, u32 bytes); /* a weak store: nothing can be learned there */
/* An mbarrier: lanes that arrive, then (once a location and instruction) the word that was left, then lanes whose
 * wait succeeded. */
void clock_mbarrier_arrive(struct race_warp *w, u32 lane, u64 at, bool relaxed);
void clock_mbarrier_phase(struct race_warp *w, u64 at, u64 word);
void clock_mbarrier_waited(struct race_warp *w, u32 lane, u64 at, bool relaxed);
void clock_begin_launch(struct race_launch *launch); /* all locations are as new */
void clock_delete(struct race_launch *launch);

/* Between the clocks (race_clock.c) and the locations (race_location.c), under the lock. */
/* what several know, would know, have news of */
struct joint_clock {
    struct vclock *known, *weak;
    struct scoped_clock sc_clock;
};
static inline bool scope_is_wide(u32 scope) { return scope >= SCOPE_GPU; }
static inline struct vclock_store *clock_store(const struct race_warp *w) { return &w->c->launch->vclocks; }
static inline void clock_grew(struct race_warp *w, u32 lanes)
{
    w->ahead |= lanes;
    w->ahead_weak |= lanes;
    w->used |= lanes;
    w->version++;
}
void clock_view_drop(struct vclock_store *j, struct view *v);
void clock_join_lanes(struct race_warp *w, u32 lanes, const struct joint_clock *all); /* each of them learns that */
/* All that a lane knows and did until now; that it would know beside that: references. */
struct vclock *clock_of_lane(const struct race_warp *w, u32 lane);
struct vclock *clock_of_lane_weak(const struct race_warp *w, u32 lane);
/* the same until its last fence, in its views */
const struct lane_clock *clock_fence_clocks(struct race_warp *w, u32 lane);
bool clock_has_sc(const struct race_warp *w, u32 lane);
void clock_publish_sc(struct race_warp *w, u32 lane, struct scoped_clock *to); /* its news go there */
/* it has seen a strong write that the CTA made somewhere after that time */
bool clock_saw_later_write(const struct race_warp *w, u32 lane, u32 cta, u32 time);
#endif
