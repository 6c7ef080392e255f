/* race_clock.h: the clocks of lanes, warps and CTAs, in exact kernels.
 *
 * A thread is ordered after all that its CTA did before its last full barrier (race_cta.base), after all that its warp
 * did before its last barrier (race_warp.warp_base), and beyond that after what its vector clocks have: what it
 * acquired at synchronisation locations and at barriers of some warps. There is one clock for the CTA, one for each
 * warp, and one for each lane, and a thread has the join of the three. Lanes that acquire the same come to the same
 * value, since joining the same two values is done once (vclock.h). A thread's own epoch, which is different for each,
 * is added only where a clock is released.
 *
 * Two views. The strict one is happens-before by the manual. The weak one is what R5 adds to it: shuffles, votes and
 * matches order the lanes they bring together (R5b), a barrier makes acquires of the read-modify-writes before it
 * (R5a), weak accesses past the first cache are flags (R5c). It takes the same ways as the strict view, through
 * barriers, fences, atomics and mbarriers, and holds only what the strict view does not have.
 *
 * Fences. A strong read without acquire keeps what it read as pending: the next fence acquires it. A strong write
 * without release releases the clock that the lane had at its last fence (release and acquire patterns, 8.8).
 *
 * fence.sc (8.9.3). Of two such fences one precedes the other in Fence-SC order, and then synchronises with it. Which
 * one precedes is decided by what reached whom: the clock of a fence.sc goes with every strong write and barrier after
 * it (sc_clock), and is acquired at a fence.sc only.
 *
 * Locations. A synchronisation location is the exact extent of a strong write: address and size of one element. It has
 * the release sequence of its value: a store begins one, a read-modify-write continues it, any other write to one of
 * its bytes ends the location. A strong read is also ordered after the write that it reads from, released or not, and
 * after the writes before it at that location (observation order, 8.9.2): they are counted. Both need operations that
 * are morally strong: of one extent, each within the scope of the other. */
#ifndef LOCKSTEP_RACE_CLOCK_H
#define LOCKSTEP_RACE_CLOCK_H
#include "race/race.h"

/* The clocks of a lane in one view. */
struct view {
    struct vclock *clock;       /* what the lane is ordered after, beyond the clocks of its warp and CTA */
    struct vclock *pending;     /* read by strong reads: the next fence of gpu scope or wider acquires it */
    struct vclock *pending_cta; /* the part of it that a fence of CTA scope acquires */
    /* The clock of the lane at its last fence. The own epoch of the lane is added when the clock is used
     * (lane_clock.fence_has_own). */
    struct vclock *fence;
};

/* What a lane has done itself at some moment: whatever its warp did below warp_base, and the lane below now. */
struct own_epoch {
    u32 now, warp_base;
    u32 weak_base;  /* as in race_warp; 0: it is not after warp_base */
    bool is_leader; /* the first warp, which has had no barrier of its own since that of the CTA */
};

struct lane_clock {
    struct view strict, weak;
    struct vclock *rmw;      /* read by read-modify-writes of gpu scope: a barrier acquires it in the weak view (R5a) */
    struct vclock *unscoped; /* what the lane would have acquired if every scope were wide enough: for advice */
    struct scoped_clock sc_clock; /* of the fence.sc operations that have reached the lane */
    struct own_epoch fence_at;    /* when its last fence was */
    /* As view.fence, with the own epoch, of the last fence of gpu scope or wider. NULL: that is the last fence, or
     * there was none. */
    struct vclock *fence_gpu, *fence_gpu_weak;
    bool has_fenced;    /* it has had a fence */
    bool fence_has_own; /* view.fence has the own epoch of the lane */
    bool has_released;  /* it has had a release operation */
    bool sc_deferred;   /* its last fence was fence.sc, whose clock is not yet joined into sc_clock */
    bool sc_covers_cta; /* its sc_clock has all of those of its warp and CTA */
    u8 fence_scope;     /* of its last fence */
    /* Its last strong read: location, version of what was to be acquired there, and how. The same again does nothing.
     */
    struct {
        u32 id, version;
        u8 sem, scope;
    } read;
    /* race_era.outside when the lane last acquired what that counts; when it last made it pending */
    u32 outside_acquired, outside_pending;
};

void clock_make_lanes(struct race_warp *w); /* gives the lanes of the warp clocks */
void clock_reset(struct race_cta *c);       /* all clocks of the CTA are as new: another one is in the slot, or none */
void clock_begin(struct race_cta *c, struct vclock *k);              /* a new CTA is ordered after what k has */
void clock_fence(struct race_warp *w, u32 mask, u32 scope, bool sc); /* membar, fence */
void clock_warp_barrier(struct race_warp *w, u32 mask);              /* bar.warp.sync */
void clock_converge(struct race_warp *w, u32 mask);                  /* any other .sync operation (R5b) */
void clock_barrier_arrive(struct race_warp *w, u32 mask, u32 bar, bool waits);
bool clock_barrier(struct race_cta *c, u32 bar); /* the barrier is complete; true: all threads of the CTA waited */

/* A strong access of one lane to one element. */
struct strong {
    u64 at; /* names the place in memory */
    u32 size;
    u8 sem, scope;
    bool rmw;  /* the read or the write of a read-modify-write */
    bool host; /* in memory that the host reads and writes as well, while other launches may begin */
};
/* A strong write: the id of its location, and its number there. */
struct write {
    u32 id, number;
};
/* asks for the memory of the index at that place (stage 0), then for that of the location (stage 1) */
void clock_prefetch(const struct race_era *era, u64 at, u32 stage);
/* Of each of these lanes, whose elements are in s by lane: it acquires what its read of the location makes it acquire,
 * now or at its next fence. */
void clock_strong_reads(struct race_warp *w, u32 lanes, const struct strong *s);
/* the same of writes to locations, which begin or continue their release sequences */
void clock_strong_writes(struct race_warp *w, u32 lanes, const struct strong *s, struct write *made);
/* that write releases what it has to; after clock_strong_writes, and after the access was recorded */
void clock_strong_release(struct race_warp *w, u32 lane, const struct strong *s);
/* weak accesses that are taken for flags (R5c): acquire and release in the weak view */
void clock_flag_read(struct race_warp *w, u32 lane, const struct strong *s);
void clock_flag_write(struct race_warp *w, u32 lane, const struct strong *s); /* after clock_weak_write */
void clock_weak_write(struct race_warp *w, u64 at, u32 bytes); /* ends the locations that have one of these bytes */
/* Something that is no launch has read these bytes, and launches that begin from now on may come after it: a value that
 * a stream waits for, a copy to the host. Or it has written them: whoever reads that acquires all that has ended. */
void clock_outside(struct race_era *era, u64 at, u64 bytes, bool writes);
/* An mbarrier: a lane arrives; then, once for each location of the instruction, its new word, which tells whether the
 * phase is complete; then a lane whose wait succeeded. */
void clock_mbarrier_arrive(struct race_warp *w, u32 lane, u64 at, bool relaxed);
void clock_mbarrier_phase(struct race_warp *w, u64 at, u64 word);
void clock_mbarrier_waited(struct race_warp *w, u32 lanes, u64 at, bool relaxed);
/* An asynchronous operation arrives: that lane of the engine of the warp, with its epoch below a time (LANES: of each
 * lane); and the clock that its thread had when it issued it, to which the references go. */
void clock_engine_arrive(struct race_warp *w, u32 lane, u64 at, u32 time);
struct flight;
struct issuer_clock {
    const struct flight *of;
    struct vclock *strict, *weak;
    u32 now; /* the time of the warp afterwards */
};
void clock_issuer_arrive(struct race_warp *w, u64 at, const struct issuer_clock *k);
/* The same of barrier.cluster, whose phase is over; `at` names the cluster. */
void clock_cluster_phase(struct race_warp *w, u64 at);
void clock_begin_era(struct race_era *era); /* no clock, no location */
void clock_delete(struct race_era *era);
/* the lane has seen a strong write that the CTA made after that time, at any location; under the lock */
bool clock_saw_later_write(const struct race_warp *w, u32 lane, u32 cta, u32 time);

/* ---- between race_clock.c and race_location.c, under the lock ---- */

/* What several lanes have together, or get. */
struct joint_clock {
    struct vclock *clock, *weak;
    struct scoped_clock sc_clock;
};
/* Threads of all CTAs are within the scope. That of a cluster comes as one of the others (race.c). */
static inline bool scope_is_wide(u32 scope) { return scope >= SCOPE_GPU; }
static inline struct vclock_store *clock_store(const struct race_warp *w) { return &w->c->era->vclocks; }
/* The clocks of these lanes may have grown. */
static inline void clock_grew(struct race_warp *w, u32 lanes)
{
    w->ahead |= lanes;
    w->ahead_weak |= lanes;
    w->used |= lanes;
    w->version++;
}
void clock_view_drop(struct vclock_store *vs, struct view *v);
void clock_join_lanes(struct race_warp *w, u32 lanes, const struct joint_clock *more); /* into the clock of each */
/* The whole clock of a lane, with its own epoch; what the weak view adds to that. References. */
struct vclock *clock_of_lane(const struct race_warp *w, u32 lane);
struct vclock *clock_of_lane_weak(const struct race_warp *w, u32 lane);
/* The lane, with its own epoch in the clocks of its last fence. */
const struct lane_clock *clock_fence_clocks(struct race_warp *w, u32 lane);
bool clock_has_sc(const struct race_warp *w, u32 lane);                        /* fence.sc operations have reached it */
void clock_publish_sc(struct race_warp *w, u32 lane, struct scoped_clock *to); /* joins their clocks into *to */
#endif
