/* known.h: what a thread knows of the others, as a value: a map from whose actions to how far they are known. That is
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
 *   maps     of a CTA: something known, again (struct released)
 *
 * Some together, because joining an array takes little, and trees of many small leaves take long.
 *
 * All of it belongs to one launch and is used under one lock. */
#ifndef LOCKSTEP_KNOWN_H
#define LOCKSTEP_KNOWN_H
#include "base/base.h"

struct known; /* NULL: nothing */

/* Many join the same with the same: behind a barrier of the grid each CTA joins what it knew, mostly what all of them
 * knew, with what all of them know now. So what large parts came to is remembered. */
enum { KNOWN_KINDS = 6, JOINS_LATELY = 32 };
struct joins {
    struct joined {
        struct known *a, *b, *is;
    } * memo;  /* by a hash of both; NULL: nothing yet */
    u64 large; /* a branch at this bit of the key, or above */
    /* whole values, in the same way: lanes of a warp, that know the same, learn the same */
    struct joined lately[JOINS_LATELY];
    struct added {
        struct known *k, *is;
        u64 key;
        u32 which, value;
    } added;                          /* and what a value with one more was */
    struct known *spare[KNOWN_KINDS]; /* parts of trees that are of no use any more, by kind */
    /* something in the kernel has a scope that is not wide: what is released is kept for such readers, too */
    bool scoped;
};
enum { JOINS_LARGE = 1 << 12 };     /* parts with CTAs that differ from their seventh bit on */
void joins_forget(struct joins *j); /* what it remembers; the launch is over */
void joins_free(struct joins *j);

struct known *known_hold(struct known *k);
void known_drop(struct joins *j, struct known *k);

void known_join(struct joins *j, struct known **k, const struct known *more); /* *k becomes both */

/* the same where many follow, each another one */
void known_gather(struct joins *j, struct known **k, const struct known *more);
/* if they say the same, *k becomes that one: joining it with something will then have been done before */
void known_unite(struct joins *j, struct known **k, const struct known *like);

/* A CTA has a number in its launch that no other has; below `time` what it did is known. */
void known_add_cta(struct joins *j, struct known **k, u32 cta, u32 time);
void known_add_leader(struct joins *j, struct known **k, u32 cta, u32 time); /* of its first thread */
/* all lanes below `all`, these below `time` */
void known_add_warp(struct joins *j, struct known **k, u32 cta, u32 warp, u32 all, u32 lanes, u32 time);
void known_add_whole(struct joins *j, struct known **k, u32 cta, u32 warp, u32 time); /* all lanes */
void known_add_writes(struct joins *j, struct known **k, u32 location, u32 count);
/* it says all that the part does; maybe so though it says no */
bool known_has(const struct known *k, const struct known *part);
bool known_thread(const struct known *k, u32 cta, u32 warp, u32 lane, u32 time);
/* all of them; maybe so though it says no */
bool known_lanes(const struct known *k, u32 cta, u32 warp, u32 lanes, u32 time);
u32 known_warp(const struct known *k, u32 cta, u32 warp); /* below this time all that it did is known */
/* the same of so many warps of it; maybe of a later one, too */
u32 known_warps(const struct known *k, u32 cta, u32 warps);
u32 known_cta(const struct known *k, u32 cta); /* below this time all that it did is known */
/* below this time all that each of them did is known, if there are that many; 0: nothing is */
u32 known_least(const struct known *k, u32 ctas);
bool known_write(const struct known *k, u32 location, u32 number);

/* What was released at a place, each with the scope it was released with, for readers that each have theirs. */
struct released {
    struct known *wide; /* by whom it may concern: at gpu scope, or wider */
    /* from CTA to what its own threads find here, with any scope; if there are such scopes */
    struct known *own;
    struct known *narrow; /* the same of what was released with a scope that is not wide: nobody else's */
};
void released_add(struct joins *j, struct released *r, u32 cta, bool wide, const struct known *what);
void released_join(struct joins *j, struct released *r, const struct released *more);
/* *k grows by what a reader of that CTA may know */
void released_learn(struct joins *j, const struct released *r, u32 cta, bool wide, struct known **k);
void released_clear(struct joins *j, struct released *r);
#endif
