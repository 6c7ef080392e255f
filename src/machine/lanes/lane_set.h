/* lane_set.h: the tables that lanes_*.c make from isa.def, one row a form. */
#ifndef LOCKSTEP_LANE_SET_H
#define LOCKSTEP_LANE_SET_H
#include "code/code.h"
struct lane_set {
    handler *v[8]; /* vector result, by which sources are scalars; NULL: lanes_mixed of the engine */
    handler *grp;  /* scalar or affine result */
};
#define LANE_FAMILIES(X) X(int) X(float) X(round) X(half) X(cvt) X(video)
#define X(f) extern const struct lane_set lanes_##f[], lanes_##f##_v3[];
LANE_FAMILIES(X)
#undef X
#endif
