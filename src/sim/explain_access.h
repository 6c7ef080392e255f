/* What the careful way of an access (access.c) found for each lane, for the report (explain.c). */
#ifndef LOCKSTEP_EXPLAIN_H
#define LOCKSTEP_EXPLAIN_H
#include "sim/access.h"

enum verdict {
    OK,
    PAST,
    NEIGHBOUR,
    NULL_POINTER,
    INVALID,
    FREED,
    READ_ONLY,
    MISALIGNED,
    SHARED_PAST,
    LOCAL_PAST,
    VERDICTS
};

struct lane_check { /* what was found for one lane */
    u8 verdict;
    bool strict;                     /* the pointer came from `object`; otherwise only the address says so */
    struct mem_object *object, *hit; /* the object the pointer came from; the one the access falls into */
    const struct ptx_var *var;       /* shared or local array */
    u64 lo, size;                    /* legal range in shared or local memory */
};

/* The name of a variable without what the compiler adds to it. */
const char *plain_name(struct arena *a, struct str name);
/* Reports the lanes of `mask`, all of one verdict about one object. */
void explain_lanes(const struct access *a, const struct lane_check *c, u32 mask);
#endif
