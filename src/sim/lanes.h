/* The table that lanes.c makes from isa.def, one row a form. */
#ifndef LOCKSTEP_LANES_H
#define LOCKSTEP_LANES_H
#include "sim/machine.h"
struct lane_set {
    handler *v[8];              /* vector result, by which sources are scalars; NULL: lanes_mixed */
    handler *grp;               /* scalar or affine result */
};
extern const struct lane_set lanes_table[], lanes_table_v3[];
const struct lane_set *lanes_active(void);      /* the table for this processor */
#endif
