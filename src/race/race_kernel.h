/* race_kernel.h: what the race check finds out about a kernel before it runs. */
#ifndef LOCKSTEP_RACE_KERNEL_H
#define LOCKSTEP_RACE_KERNEL_H
#include "race/race.h"

struct race_kernel {
    u32 serial;  /* of its lowered function */
    bool simple; /* only barriers of all threads of a CTA or a warp order it */
    bool scoped; /* a fence or a strong access may be of a scope that is less than the GPU */
    /* it has operations that release or acquire, and strong accesses that do not: the two may make a pattern at one
     * place */
    bool repeats;
    u32 stores;    /* instructions that write global memory */
    bool anywhere; /* it may write through pointers that cannot be followed in the text */
    u32 *param;
    u32 nparam; /* offsets of parameters that it writes through */
    struct ptx_var **var;
    u32 nvar;   /* variables that it writes */
    u8 *used;   /* by register: something reads it */
    u8 *update; /* by operation: a load whose thread writes a new value there right away (x += 1) */
    struct race_kernel *next;
};
struct race_kernel *race_kernel_of(struct race *r, const struct lowered *l);
/* Whether the kernel does something with what an atomic gives it. One that is relaxed and does not is a red: it
 * learns nothing (R3). */
bool race_atom_reads(const struct race *r, const struct lowered *l, const struct lop *o);
bool race_updates(const struct race *r, u32 site); /* of a cell: the load begins such an update */
void race_kernels_free(struct race *r);
#endif
