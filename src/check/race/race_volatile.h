/* race_volatile.h: races that volatile hides (rules.md R2b; race_volatile.c has the idea). */
#ifndef LOCKSTEP_RACE_VOLATILE_H
#define LOCKSTEP_RACE_VOLATILE_H
#include "race/race_touch.h"

struct volatiles;
/* a lane accesses one element at that place with a volatile load or store, which is recorded already */
void volatile_access(struct touch *t, const struct access *a, u32 lane, u32 element);
/* the same with an atomic, or any other strong operation: the location is a flag */
void volatile_flag(struct touch *t, const struct access *a, u32 lane, u32 element);
void volatile_cta_begin(struct race_cta *c); /* its shared memory is another CTA's from now on */
void volatile_era_begin(struct race_era *era);
/* a launch ends: what no flag explains goes to its report */
void volatile_launch_end(struct race_launch *launch, const struct race_era *era);
void volatile_free(struct volatiles *v);
#endif
