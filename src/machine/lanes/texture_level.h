/* texture_level.h: which levels of a mipmapped array a sample is of. */
#ifndef LOCKSTEP_TEXTURE_LEVEL_H
#define LOCKSTEP_TEXTURE_LEVEL_H
#include "mem/texels.h"

struct texture_levels {
    u32 first, second; /* both, where there is a part */
    u32 part;          /* weight of the second, in 1/256 */
    s32 off;           /* how far the first is above the level that is sampled, in 1/256 */
};
/* Of a level in 1/256 that an instruction gave, before the sampler's bias. */
struct texture_levels texture_levels(const struct texture *t, s64 level, bool biased);
/* A level, in 1/256. */
s64 texture_level_fixed(float level);

/* What two gradients cover. */
struct texture_footprint {
    s32 level;   /* in 1/256 */
    u32 ratio;   /* logarithm, in 1/256, of the length through the width; 0: it is as wide as long, or taken so */
    s32 step[2]; /* one texel along the length, in 1/64 */
};
/* Of gradients of n components each, in texels of the largest level. most: the largest ratio (texture_ratio_most).
 * each_alone: their sum and difference do not count, as of cubes where one leads to another face. */
struct texture_footprint texture_footprint(float (*g)[3], u32 n, bool each_alone, u32 most);
/* The largest ratio that a sampler allows, of a number of coordinates. */
u32 texture_ratio_most(const struct sampler *s, u32 axes);

/* The samples along a footprint, of which it is the sum. */
enum { TEXTURE_ALONG = 16 };
struct texture_along {
    u32 n;                     /* 1, or an even number */
    s32 at[TEXTURE_ALONG];     /* where, in halves of a step */
    u16 weight[TEXTURE_ALONG]; /* together that of the level << shift */
    u32 shift;
    s32 step[2]; /* as they are taken, in 1/64 */
};
/* In a level of weight `all`, which is `off`, in 1/256, above that of the footprint: there the samples lie further
 * apart. Below it the footprint is no narrower than a texel. */
struct texture_along texture_along(const struct texture_footprint *p, s32 off, u32 all);
#endif
