/* occupancy.h: how many CTAs of a kernel a multiprocessor holds at a time, and what limits them, as CUDA's own
 * calculator has it. */
#ifndef LOCKSTEP_OCCUPANCY_H
#define LOCKSTEP_OCCUPANCY_H
#include "card/card.h"

/* What a CTA takes. */
struct cta_needs {
    u32 threads;
    u32 registers;   /* of a thread; 0: not known, they limit nothing */
    u64 shared;      /* bytes, static and dynamic; without what the system reserves */
    u64 shared_most; /* that the kernel may have; with more none fits */
};
enum occupancy_limit { LIMIT_CTAS, LIMIT_WARPS, LIMIT_REGISTERS, LIMIT_SHARED, OCCUPANCY_LIMITS };
struct occupancy {
    u32 ctas;                   /* 0: not even one fits */
    enum occupancy_limit by;    /* the first of the limits that allow no more */
    u32 most[OCCUPANCY_LIMITS]; /* CTAs that each limit alone allows */
};
struct occupancy occupancy_of(const struct card *p, const struct cta_needs *n);
/* "shared memory", for sentences. */
const char *occupancy_limit_name(enum occupancy_limit l);
/* Shared memory comes in pieces of this size; what a CTA takes of it, with what the system reserves. */
enum { SHARED_STEP = 128 };
static inline u64 occupancy_shared(const struct card *p, u64 bytes)
{
    return (bytes + p->shared_reserved + SHARED_STEP - 1) / SHARED_STEP * SHARED_STEP;
}
#endif
