/* texture_level.h: which levels of a mipmapped array a sample is of. */
#ifndef LOCKSTEP_TEXTURE_LEVEL_H
#define LOCKSTEP_TEXTURE_LEVEL_H
#include "mem/texels.h"

struct texture_levels {
    u32 first, second; /* both, where there is a part */
    u32 part;          /* weight of the second, in 1/256 */
};
/* Of a level in 1/256 that an instruction gave, before the sampler's bias. */
struct texture_levels texture_levels(const struct texture *t, s64 level, bool biased);
/* A level, in 1/256. */
s64 texture_level_fixed(float level);
/* The level of two gradients of n components each, in texels of the largest level. each_alone: their sum and difference
 * do not count, as of cubes where one leads to another face. */
s64 texture_gradient_level(float (*g)[3], u32 n, bool each_alone);
#endif
