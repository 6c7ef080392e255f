/* Memory instructions: the handler of a site, and the common path of all of them (memory.c); atomics (atomic.c). */
#ifndef LOCKSTEP_MEMORY_H
#define LOCKSTEP_MEMORY_H
#include "sim/access.h"

/* The handler of a memory instruction whose address is known to be of this shape; run_access where there is no faster
 * one. group: lanes in a group; stride: of an affine address, in bytes. */
handler *memory_handler(const struct site *s, const struct insn *i, u32 group, s32 stride);
/* Any access, as run_access() does it, shown to observers; a plain store that is shown after its handler. */
handler memory_watched, memory_observed_after;
/* Something of so many bytes that is stored to global memory is NaN or infinite (lanes/stored.h). Returns 0, as
 * handlers do. */
int stored_odd(struct warp *w, u32 bytes);
/* Looks for that in what a store gives to global memory, by lanes of a mask. */
void stored_look(const char *R, const struct insn *i, struct warp *w, const struct site *s, u32 mask);
/* Atomic read-modify-writes over an access record. */
void atomic_access(struct access *a, char *R);
/* One of them without a result, on a word in memory, with b; s says what and how wide, and is no compare-and-swap. */
void atomic_step(const struct site *s, char *at, u64 b);
#endif
