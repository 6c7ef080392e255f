/* Memory instructions (memory.c): the handler of a site, and the common path of all of them. */
#ifndef LOCKSTEP_MEMORY_H
#define LOCKSTEP_MEMORY_H
#include "sim/machine.h"

/* The handler of a memory instruction whose address is known to be of this shape; run_access where there is no faster
 * one. group: lanes in a group; stride: of an affine address, in bytes. */
handler *memory_handler(const struct site *s, const struct insn *i, u32 group, s32 stride);
/* Any access, as run_access() does it, shown to observers; a plain store that is shown after its handler. */
handler memory_watched, memory_observed_after;
#endif
