/* setmaxnreg (registers.c): what is told of a CTA whose warps hold too many registers (check/unit_check.c). */
#ifndef LOCKSTEP_REGISTERS_H
#define LOCKSTEP_REGISTERS_H
#include "sim/machine.h"

enum { GROUP_WARPS = 4 };
struct registers_short {
    struct cta *cta;
    u32 start, sum; /* registers of a thread when it began; of one thread of each warpgroup together, now */
    const struct lowered *taker;       /* the operation that took the most, and its function */
    u32 op, warp;                      /* a warp that executed it */
    u32 held[MAX_WARPS / GROUP_WARPS]; /* by warpgroup: registers of a thread */
};
#endif
