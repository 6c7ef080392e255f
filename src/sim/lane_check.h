/* What the check of an access (access.c) found for each lane, and who is asked about it. */
#ifndef LOCKSTEP_LANE_CHECK_H
#define LOCKSTEP_LANE_CHECK_H
#include "sim/access.h"

enum lane_fault {
    FAULT_NONE,
    FAULT_PAST,
    FAULT_NEIGHBOUR,
    FAULT_NULL_POINTER,
    FAULT_INVALID,
    FAULT_FREED,
    FAULT_RESERVED, /* its stream-ordered allocation has not run yet */
    FAULT_UNMAPPED, /* reserved addresses without memory, or memory without a right to it */
    FAULT_READ_ONLY,
    FAULT_MISALIGNED,
    FAULT_SHARED_PAST,
    FAULT_LOCAL_PAST,
    FAULT_NO_CTA,        /* shared memory of a CTA that the cluster has not */
    FAULT_FOREIGN_LOCAL, /* an address of local memory that another thread has handed out */
    FAULT_CTA_GONE,      /* shared memory of a CTA of the cluster whose threads have all left */
    FAULTS
};

struct lane_check { /* what was found for one lane */
    u8 fault;
    bool stops;                      /* its check is off, and a GPU would stop the kernel all the same */
    bool done;                       /* the access is performed all the same, as a GPU does */
    u32 thread;                      /* FOREIGN_LOCAL: whose, by its number in the grid */
    bool strict;                     /* the pointer came from `object`; otherwise only the address says so */
    struct mem_object *object, *hit; /* the object the pointer came from; the one the access falls into */
    const struct ptx_var *var;       /* shared or local array */
    const struct cta *owner;         /* of the shared memory; NULL: there is none */
    u64 lo, size;                    /* legal range in shared or local memory */
    u64 closed_at;                   /* FAULT_UNMAPPED: the first byte that is */
    struct report *held;             /* where it is reported; NULL: in the launch's report (moved_pointer.c) */
};

/* ---- explain/explain_access.c ---- */

/* Reports lanes that reach the shared memory of other CTAs before the cluster has met. */
void explain_early(const struct access *a, const struct lane_check *c);
/* Reports the lanes of `mask`, which have the same fault with the same object. */
void explain_lanes(const struct access *a, const struct lane_check *c, u32 mask);
/* The cause of F_unmapped at an address of reserved ones: what is there, and what is mapped nearest to it. */
void explain_unmapped(const struct mem_object *o, u64 addr, struct arena *mem, struct finding *f);

/* ---- check/moved_pointer.c: pointers that the host has moved out of their allocation (rules.md B9) ---- */

/* An access through a kernel parameter stayed in the object that the parameter points into, or is in no object at all:
 * the parameter is that object's. Whatever was held of it is reported. */
void moved_pointer_own(const struct access *a);
/* Where a report that the lane landed in c->hit is held until the launch ends; NULL: it is reported at once. The lane
 * may go on. */
struct report *moved_pointer_held(const struct access *a, const struct lane_check *c);
#endif
