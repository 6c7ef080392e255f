/* race_clock.h: who knows what, in kernels that are not simple.
 *
 * A thread knows all that happened before the last full barrier of its CTA (base) and of its warp (wbase), and beyond that what it
 * learned at synchronising places: release to acquire, partial barriers. What can be learned at such a place is a `sync`: a log of
 * contributions, each saying "all that this CTA did before base, this warp before wbase, these lanes before upto, and what they knew".
 * Learning is O(1): one remembers the sync and how long its log was. The log is searched only when a cell asks.
 *
 * A location that strong operations write has one sync; a store begins a new one, a read-modify-write continues it. Who reads there
 * also knows the write itself that left the value, released or not (observation order, 8.10.5), and those before it: they are counted.
 * That takes two that are morally strong: of one size, each within the other's scope.
 *
 * fence.sc: of two such fences one comes first in an order of all of them (8.10.3), and what precedes it is known behind the other. Which
 * comes first is decided where news of the first, by any strong write or barrier, reached the second's thread before it: `loose` is the news. */
#ifndef LOCKSTEP_RACE_CLOCK_H
#define LOCKSTEP_RACE_CLOCK_H
#include "check/race.h"

struct learned {                /* what a thread of some CTA learned at a sync, with some scope */
    struct sync *sync;
    u32 upto;                   /* the first so many contributions */
    u32 writes;                 /* and the first so many writes, as such */
    u32 slot, start;            /* the CTA */
    u8 scope;
    bool rmw;                   /* it read by a read-modify-write */
};
struct clk { u32 refs, n; struct learned l[]; };        /* immutable once shared; counted */

struct contribution {
    u32 slot, start, base, wbase, upto;
    u32 warp, lanes;
    u32 before;                 /* number + 1 of the one before from this slot, 0: none */
    u8 scope;
};
struct passed { struct learned l; u32 at; };            /* what contributor number `at` had learned elsewhere */
struct sync {
    u32 id;                     /* of the location: never given to another one in a launch */
    u32 refs, n, cap;
    u32 writes;                 /* strong writes so far */
    u32 wslot, wstart; u8 wscope, wsize;        /* the CTA, scope and size of the last of them */
    u32 *slots, nslots;         /* hash from slot to number + 1 of its newest contribution; NULL while there are few */
    struct contribution *c;
    struct passed *p; u32 np, capp;
    struct clk *loose;          /* of a barrier: fences that those who arrived had news of */
    struct sync *news;          /* of a location: the same for its writers, as a log of its own */
    bool transparent;           /* such a log: what is in it is seen with the eyes of who reads it; its length counts what it passes on */
    u32 done; u64 phase;        /* mbarrier: contributions of completed phases; the phase now */
    u32 single;                 /* thread + 1 when all contributions are one thread's, 0: none yet, ~0: several */
};

void clock_lanes(struct race_warp *w);                          /* gives the warp's lanes clocks */
void clock_reset(struct race_cta *c);                           /* a new CTA in this slot, or none */
void clock_fence(struct race_warp *w, u32 mask, u32 scope, bool sc);
void clock_warp(struct race_warp *w, u32 mask);                 /* bar.warp.sync by these lanes */
void clock_arrive(struct race_warp *w, u32 mask, u32 bar, bool waits);
void clock_barrier(struct race_cta *c, u32 bar);
/* Strong reads and writes of one lane. `at` names the place in memory; rmw: the read, or the write, of a read-modify-write. */
void clock_learn(struct race_warp *w, u32 lane, u64 at, bool rmw, u32 sem, u32 scope, u32 size);
struct write { u32 id, number; };                               /* of a strong write: its location and which one there */
struct write clock_write(struct race_warp *w, u32 lane, u64 at, bool rmw, u32 scope, u32 size);
void clock_teach(struct race_warp *w, u32 lane, u64 at, u32 sem, u32 scope);     /* after clock_write */
void clock_forget(struct race_warp *w, u64 at, u32 bytes);      /* a weak store: nothing can be learned there */
/* An mbarrier: lanes that arrive, then (once a location and instruction) the word that was left, then lanes whose wait succeeded. */
void clock_mbarrier_arrive(struct race_warp *w, u32 lane, u64 at);
void clock_mbarrier_settle(struct race_warp *w, u64 at, u64 word);
void clock_mbarrier_passed(struct race_warp *w, u32 lane, u64 at);
void clock_launch(struct race *r);                              /* all locations are as new */
void clock_delete(struct race *r);
#endif
