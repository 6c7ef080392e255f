/* Words for accesses and what they hit (explain_access.c). */
#ifndef LOCKSTEP_EXPLAIN_ACCESS_H
#define LOCKSTEP_EXPLAIN_ACCESS_H
#include "sim/lane_check.h"

/* The name of a variable without what the compiler adds to it. */
const char *plain_name(struct arena *a, struct str name);
/* "in the shared memory of CTA (1,0,0), rank 1 of the cluster" */
const char *cluster_whose(struct arena *mem, const struct cta *c);
/* The cause of F_unmapped at an address of reserved ones: what is there, and what is mapped nearest to it. */
struct finding;
void explain_unmapped(const struct mem_object *o, u64 addr, struct arena *mem, struct finding *f);
#endif
