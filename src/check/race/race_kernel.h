/* race_kernel.h: what the race check finds out about a kernel before it runs. */
#ifndef LOCKSTEP_RACE_KERNEL_H
#define LOCKSTEP_RACE_KERNEL_H
#include "flow/objects.h"
#include "race/race.h"

struct race_kernel {
    u32 serial;  /* of its lowered function */
    char *name;  /* a copy: its module may be gone when the name is needed */
    bool simple; /* all synchronisation is by barriers of all threads of a CTA or a warp */
    bool polls;  /* some loop may wait for a write of another launch */
    bool scoped; /* a fence or a strong access may have a scope narrower than the GPU */
    /* it has release or acquire operations, and strong accesses that are neither: a release sequence may contain both
     */
    bool repeats;
    bool has_volatile;            /* it may have volatile accesses to shared or global memory */
    u32 stores;                   /* instructions that write global memory */
    struct objects written, read; /* objects of global memory that it may write; that it may load from */
    u8 *used;                     /* by register: some operation reads it */
    u8 *update;                   /* by operation: a load whose thread then stores a new value there (x += 1) */
    struct race_kernel *next;
};
struct race_kernel *race_kernel_of(struct race *r, struct lowered *l); /* under the lock of the race check */
/* The kernel uses the value that an atomic returns. A relaxed one whose value is not used counts as a red: it reads
 * nothing (R3). */
bool race_atom_reads(const struct race_launch *launch, const struct lowered *l, const struct lop *o);
bool race_updates(const struct race_launch *launch,
                  u32 site); /* the load at the site, as cells have it, begins an update */
void race_kernels_free(struct race *r);
#endif
