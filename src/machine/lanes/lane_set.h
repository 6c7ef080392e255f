/* lane_set.h: the tables that lanes_*.c make from isa.def, one row a form. */
#ifndef LOCKSTEP_LANE_SET_H
#define LOCKSTEP_LANE_SET_H
#include "code/code.h"
struct lane_set {
    handler *v[8]; /* vector result, by which sources are scalars; NULL: lanes_mixed of the engine */
    handler *grp;  /* scalar or affine result */
};
/* ONCE: of those there is no second copy on x86-64. */
#define LANE_FAMILIES(X, ONCE) X(int) X(float) X(round) X(half) X(cvt) ONCE(video)
#define X(f) extern const struct lane_set lanes_##f[], lanes_##f##_v3[];
LANE_FAMILIES(X, X)
#undef X
#endif
