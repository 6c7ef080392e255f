/* vclock.h: what a thread knows of the others, as a value: a map from whose actions to how far they are known. That is
 * a vector clock, kept as a tree whose parts are never changed while more than one has them, so that handing it on is
 * one reference, two that come from one another share what they have in common, and joining them takes only what
 * differs.
 *
 * The tree is Okasaki and Gill's for integer keys: a branch parts its keys by their highest bit that differs, so
 * equal sets of keys have equal shapes. Its leaves are of three kinds:
 *
 *   times    of a warp: how far each of its lanes is known; of the warps of a CTA: how far all lanes of each are; of
 *            some CTAs: how far all threads of each are, and its first thread, who most often speaks for the others
 *   counts   of some locations: how many of the strong writes there
 *   maps     of a CTA: something known, again (struct scoped_clock)
 *
 * Some together, because joining an array takes little, and trees of many small leaves take long.
 *
 * All of it belongs to one launch and is used under one lock. */
#ifndef LOCKSTEP_VCLOCK_H
#define LOCKSTEP_VCLOCK_H
#include "base/base.h"

struct vclock; /* NULL: nothing */

/* Many join the same with the same: behind a barrier of the grid each CTA joins what it knew, mostly what all of them
 * knew, with what all of them know now. So what large parts came to is remembered. */
enum { VCLOCK_KINDS = 6, VCLOCK_RECENT = 32 };
struct vclock_store {
    struct vclock_memo {
        struct vclock *a, *b, *is;
    } * memo;  /* by a hash of both; NULL: nothing yet */
    u64 large; /* a branch at this bit of the key, or above */
    /* whole values, in the same way: lanes of a warp, that know the same, learn the same */
    struct vclock_memo recent_join[VCLOCK_RECENT];
    struct vclock_added {
        struct vclock *k, *is;
        u64 key;
        u32 which, value;
    } added;                            /* and what a value with one more was */
    struct vclock *spare[VCLOCK_KINDS]; /* parts of trees that are of no use any more, by kind */
    /* something in the kernel has a scope that is not wide: what is released is kept for such readers, too */
    bool scoped;
};
enum { VCLOCK_LARGE = 1 << 12 };                  /* parts with CTAs that differ from their seventh bit on */
void vclock_store_forget(struct vclock_store *j); /* what it remembers; the launch is over */
void vclock_store_free(struct vclock_store *j);

struct vclock *vclock_hold(struct vclock *k);
void vclock_drop(struct vclock_store *j, struct vclock *k);

void vclock_join(struct vclock_store *j, struct vclock **k, const struct vclock *more); /* *k becomes both */

/* the same where many follow, each another one */
void vclock_accumulate(struct vclock_store *j, struct vclock **k, const struct vclock *more);
/* if they say the same, *k becomes that one: joining it with something will then have been done before */
void vclock_share(struct vclock_store *j, struct vclock **k, const struct vclock *like);

/* A CTA has a number in its launch that no other has; below `time` what it did is known. */
void vclock_add_cta(struct vclock_store *j, struct vclock **k, u32 cta, u32 time);
void vclock_add_leader(struct vclock_store *j, struct vclock **k, u32 cta, u32 time); /* of its first thread */
/* all lanes below `all`, these below `time` */
void vclock_add_lanes(struct vclock_store *j, struct vclock **k, u32 cta, u32 warp, u32 all, u32 lanes, u32 time);
void vclock_add_warp(struct vclock_store *j, struct vclock **k, u32 cta, u32 warp, u32 time); /* all lanes */
void vclock_add_writes(struct vclock_store *j, struct vclock **k, u32 location, u32 count);
/* it says all that the part does; maybe so though it says no */
bool vclock_covers_maybe(const struct vclock *k, const struct vclock *part);
bool vclock_has_thread(const struct vclock *k, u32 cta, u32 warp, u32 lane, u32 time);
/* all of them; maybe so though it says no */
bool vclock_has_lanes_maybe(const struct vclock *k, u32 cta, u32 warp, u32 lanes, u32 time);
u32 vclock_warp_time(const struct vclock *k, u32 cta, u32 warp); /* below this time all that it did is known */
/* the same of so many warps of it; maybe of a later one, too */
u32 vclock_warps_time(const struct vclock *k, u32 cta, u32 warps);
u32 vclock_cta_time(const struct vclock *k, u32 cta); /* below this time all that it did is known */
/* below this time all that each of them did is known, if there are that many; 0: nothing is */
u32 vclock_min_cta_time(const struct vclock *k, u32 ctas);
bool vclock_has_write(const struct vclock *k, u32 location, u32 number);

/* What was released at a place, each with the scope it was released with, for readers that each have theirs. */
struct scoped_clock {
    struct vclock *wide; /* by whom it may concern: at gpu scope, or wider */
    /* from CTA to what its own threads find here, with any scope; if there are such scopes */
    struct vclock *own;
    struct vclock *narrow; /* the same of what was released with a scope that is not wide: nobody else's */
};
void scoped_clock_release(struct vclock_store *j, struct scoped_clock *r, u32 cta, bool wide,
                          const struct vclock *what);
void scoped_clock_join(struct vclock_store *j, struct scoped_clock *r, const struct scoped_clock *more);
/* *k grows by what a reader of that CTA may know */
void scoped_clock_acquire(struct vclock_store *j, const struct scoped_clock *r, u32 cta, bool wide, struct vclock **k);
void scoped_clock_clear(struct vclock_store *j, struct scoped_clock *r);
#endif
