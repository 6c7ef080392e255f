/* Words for accesses and what they hit (explain_access.c). */
#ifndef LOCKSTEP_EXPLAIN_ACCESS_H
#define LOCKSTEP_EXPLAIN_ACCESS_H
#include "sim/access.h"

/* "in the shared memory of block (1,0,0), rank 1 of the cluster" */
const char *cluster_whose(struct arena *mem, const struct cta *c);
#endif
