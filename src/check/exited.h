/* Threads that left the kernel: where they left, and who is missing at a barrier because of it (exited.c). */
#ifndef LOCKSTEP_EXITED_H
#define LOCKSTEP_EXITED_H
#include "explain/deadlock_text.h"

/* Adds a record to an array of at most EXIT_RECORDS that has some; those of one operation are joined. */
void exit_record_join(struct exit_record *v, u32 *n, const struct exit_record *x);
/* The same for an array that may be empty. Nearly all threads leave at one operation. */
static inline void exit_record_add(struct exit_record *v, u32 *n, const struct exit_record *x)
{
    if (!*n) {
        v[0] = *x;
        *n = 1;
    } else if (likely(v[0].op == x->op && v[0].low == x->low))
        v[0].mask |= x->mask;
    else
        exit_record_join(v, n, x);
}
/* A CTA is done: adds its records to those of its worker. */
void exit_record_cta(struct worker *k, const struct cta *c);
/* The operation where the lanes of a record left, as seen from a barrier that they did not reach. */
u32 exit_op(const struct exit_record *v, u32 barrier_op);

/* "threads 80..127 left the kernel at k.cu:17": everybody who is not at the barrier; NULL: all are there. Adds to
 * `gone` those that left the kernel. */
const char *describe_absent(struct stopped *st, const struct cta *c, u32 bar, u32 barrier_op, struct cta_threads *gone);
/* "CTA 3 has left the kernel at k.cu:12"; NULL: none has. */
const char *describe_exited_ctas(struct stopped *st, u32 barrier_op);
/* "; their ways part at k.cu:12", or that a loop runs unequally often; or "". */
const char *describe_divergence(struct stopped *st, const struct lowered *l, u32 op);

const struct loop *loop_of_op(const struct lowered *l, u32 op); /* the innermost around an operation; NULL: none */
u32 deciding_branch(const struct lowered *l, u32 op); /* which decides whether an operation is reached; NONE: none */
#endif
