/* vclock.h: vector clocks, as values.
 *
 * A vector clock maps threads to times: what a thread did below its time happens before whoever has the clock. It also
 * maps synchronisation locations to counts of strong writes. With thousands of threads a clock is no array. It is a
 * tree whose nodes do not change while they are shared: a copy is one reference, clocks that come from each other share
 * what they have in common, and a join visits only what differs.
 *
 * The tree is a Patricia tree for integer keys (Okasaki and Gill): a branch divides its keys by their highest bit that
 * differs, so equal sets of keys have equal shapes. Leaves hold several values, because joining an array takes little,
 * and trees of many small leaves take long:
 *
 *   LANES_OF   a warp: the time of each of its lanes
 *   WARPS_OF   a CTA: for each of its warps, a time that holds for all its lanes
 *   CTAS       16 CTAs: for each a time that holds for all its threads, and one of its first thread, which most often
 *              releases for all of them
 *   LOCATIONS  16 locations: how many of their strong writes
 *   MAP        a CTA: a clock again (struct scoped_clock)
 *   CHAINS     16 chains of operations of streams (queue/op_in.h): the number, of 64 bits, up to which each is before
 *
 * The time of a thread is the greatest that any of its leaves has. A CTA has a number in its launch that no other has.
 * A clock has threads and locations, or chains. All clocks of a store are used under one lock. */
#ifndef LOCKSTEP_VCLOCK_H
#define LOCKSTEP_VCLOCK_H
#include "base/base.h"

struct vclock; /* a node of a tree, with all below it; NULL: the empty clock */

/* The nodes of the clocks of a launch, and joins that were done: after a barrier of the grid every CTA joins its
 * clock, mostly one that all had, with one that all get, and lanes of a warp with equal clocks acquire the same. */
enum { VCLOCK_KINDS = 7, VCLOCK_RECENT = 32 };
struct vclock_store {
    struct vclock_memo {
        struct vclock *a, *b, *result; /* a joined with b */
    } * memo;                          /* joins of large subtrees, by a hash of both; NULL: none yet */
    u64 large;                         /* a subtree is large if its branch is at this bit of the key, or above */
    struct vclock_memo recent_join[VCLOCK_RECENT]; /* joins of whole clocks, by a hash of both */
    struct vclock_added {
        struct vclock *from, *to; /* the clock before and after; to NULL: none */
        u64 key;
        u32 index, value;               /* of the leaf */
    } added;                            /* the last value that was added to a clock */
    bool remembers;                     /* something is in memo or recent_join */
    struct vclock *spare[VCLOCK_KINDS]; /* nodes to be used again, by kind */
    /* The kernel has scopes that are not wide: what is released is kept by CTA, too (struct scoped_clock). */
    bool scoped;
};
enum { VCLOCK_LARGE = 1 << 12 };                   /* subtrees with CTAs that differ from bit 6 of their number on */
void vclock_store_forget(struct vclock_store *vs); /* the joins; the launch is over */
void vclock_store_free(struct vclock_store *vs);

struct vclock *vclock_hold(struct vclock *k); /* one reference more */
void vclock_unref(struct vclock_store *vs, struct vclock *k);
static inline void vclock_drop(struct vclock_store *vs, struct vclock *k) /* most are empty */
{
    if (k) vclock_unref(vs, k);
}

/* *k becomes the join of both. vclock_accumulate: the same where many joins follow, each with another clock; it is not
 * remembered. */
void vclock_join_other(struct vclock_store *vs, struct vclock **k, const struct vclock *more);
static inline void vclock_join(struct vclock_store *vs, struct vclock **k, const struct vclock *more)
{
    if (more && more != *k) vclock_join_other(vs, k, more);
}
void vclock_accumulate(struct vclock_store *vs, struct vclock **k, const struct vclock *more);
/* If both are equal, *k becomes the same tree: a later join may then have been done before. */
void vclock_share(struct vclock_store *vs, struct vclock **k, const struct vclock *like);

/* *k gets times, if it has lower ones: of all threads of a CTA; of its first thread; of all lanes of a warp; of lanes
 * of a warp: `time` of these, `all` of every lane. */
void vclock_add_cta(struct vclock_store *vs, struct vclock **k, u32 cta, u32 time);
void vclock_add_leader(struct vclock_store *vs, struct vclock **k, u32 cta, u32 time);
void vclock_add_warp(struct vclock_store *vs, struct vclock **k, u32 cta, u32 warp, u32 time);
void vclock_add_lanes(struct vclock_store *vs, struct vclock **k, u32 cta, u32 warp, u32 all, u32 lanes, u32 time);
/* and the first `count` strong writes of a location */
void vclock_add_writes(struct vclock_store *vs, struct vclock **k, u32 location, u32 count);

/* Has the clock what the thread did at `time`? The strong write of that number of a location? */
bool vclock_has_thread(const struct vclock *k, u32 cta, u32 warp, u32 lane, u32 time);
bool vclock_has_write(const struct vclock *k, u32 location, u32 number);
u32 vclock_writes(const struct vclock *k, u32 location); /* how many of its strong writes, which are the first ones */
/* The same for each of these lanes. May return false where it has all of them, by leaves of several kinds: the caller
 * then asks for each thread. */
bool vclock_has_lanes_maybe(const struct vclock *k, u32 cta, u32 warp, u32 lanes, u32 time);
/* The clock has all that `part` has. May return false where that is so (never of chains): the caller then joins for
 * nothing. */
bool vclock_covers_maybe(const struct vclock *k, const struct vclock *part);
u32 vclock_cta_time(const struct vclock *k, u32 cta);              /* the time that holds for all threads of the CTA */
u32 vclock_warp_time(const struct vclock *k, u32 cta, u32 warp);   /* for all lanes of the warp */
u32 vclock_warps_time(const struct vclock *k, u32 cta, u32 warps); /* for that many warps; a lower bound */
/* The least time of the CTAs, if the clock has that many of them; otherwise 0. */
u32 vclock_min_cta_time(const struct vclock *k, u32 ctas);

/* Clocks of chains: *k has the operations of a chain up to this number; up to which number it has them. */
void vclock_add_number(struct vclock_store *vs, struct vclock **k, u32 chain, u64 number);
u64 vclock_number(const struct vclock *k, u32 chain);
/* Joins `more` into *k; shares the nodes of the clock that covers the other one. */
void vclock_join_kept(struct vclock_store *vs, struct vclock **k, const struct vclock *more);

/* The clock that is released at a place, for acquires that each have their own scope. */
struct scoped_clock {
    struct vclock *gpu; /* released with gpu scope, or wider: for threads of all CTAs */
    /* From a CTA to what its threads have released with any scope: for that CTA only. Where vclock_store.scoped. */
    struct vclock *by_cta;
    struct vclock *by_cta_narrow; /* the part of by_cta that is not in gpu: released with a scope that is not wide */
};
/* A thread of the CTA releases `what`; wide: with gpu scope, or wider. */
void scoped_clock_release(struct vclock_store *vs, struct scoped_clock *r, u32 cta, bool wide,
                          const struct vclock *what);
void scoped_clock_join(struct vclock_store *vs, struct scoped_clock *r, const struct scoped_clock *more);
void scoped_clock_clear(struct vclock_store *vs, struct scoped_clock *r);
static inline bool scoped_clock_any(const struct scoped_clock *r) { return r->gpu || r->by_cta || r->by_cta_narrow; }
/* A thread of the CTA acquires, into *k. */
void scoped_clock_acquire_some(struct vclock_store *vs, const struct scoped_clock *r, u32 cta, bool wide,
                               struct vclock **k);
static inline void scoped_clock_acquire(struct vclock_store *vs, const struct scoped_clock *r, u32 cta, bool wide,
                                        struct vclock **k)
{
    if (scoped_clock_any(r)) scoped_clock_acquire_some(vs, r, cta, wide, k);
}
#endif
