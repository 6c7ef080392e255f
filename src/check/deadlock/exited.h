/* Threads that left the kernel: where they left, and who is missing at a barrier because of it (exited.c). */
#ifndef LOCKSTEP_EXITED_H
#define LOCKSTEP_EXITED_H
#include "deadlock/deadlock_text.h"
#include "sim/exits.h"

/* The operation where the lanes of a record left, as seen from a barrier that they did not reach. */
u32 exit_op(const struct exit_record *v, u32 barrier_op);

/* "threads 80..127 left the kernel at k.cu:17": everybody who is not at the barrier; NULL: all are there. Adds to
 * `gone` those that left the kernel. */
const char *describe_absent(struct stopped *st, const struct cta *c, u32 bar, u32 barrier_op, struct cta_threads *gone);
/* "block 3 has left the kernel at k.cu:12"; NULL: none has. */
const char *describe_exited_ctas(struct stopped *st, u32 barrier_op);
/* "; their ways part at k.cu:12", or that a loop runs unequally often; or "". */
const char *describe_divergence(struct stopped *st, const struct lowered *l, u32 op);
#endif
