/* classes.h: which registers are uniform (S) or affine (A) in every warp, and which blocks may diverge. */
#ifndef LOCKSTEP_CLASSES_H
#define LOCKSTEP_CLASSES_H
#include "code/code.h"

struct lane_class { /* how the lanes of a warp see one value */
    u8 cls;         /* enum cls */
    s32 stride;     /* CLS_A: between neighbouring lanes of a group */
};
struct divergence {
    u8 *div;     /* by block: may run with lanes missing */
    u8 *cls;     /* by register: enum cls */
    s32 *stride; /* by register: of CLS_A */
};
void classes_find(struct lowered *l, u32 group, struct divergence *out, struct arena *a);
struct lane_class classes_of_sreg(u32 id, u32 comp, u32 group);
#endif
