/* Where threads left the kernel. A warp records where its lanes left, a worker where those of its finished CTAs did:
 * EXIT_RECORDS places each, written once a warp (cta.c). They are read only when a report explains who is missing. */
#ifndef LOCKSTEP_EXITS_H
#define LOCKSTEP_EXITS_H
#include "sim/machine.h"

/* Adds a record to some; those of one operation are joined. */
void exit_record_join(struct exit_records *v, const struct exit_record *x);
/* The same where there may be none yet. Nearly all threads leave at one operation. Field by field: a record that is
 * made in small stores and copied in one large load waits for the stores. */
static inline void exit_record_add(struct exit_records *v, struct exit_record x)
{
    struct exit_record *first = &v->at[0];
    if (!v->n) {
        first->mask = x.mask;
        first->op = x.op;
        first->low = x.low;
        v->n = 1;
    } else if (likely(first->op == x.op && first->low == x.low))
        first->mask |= x.mask;
    else
        exit_record_join(v, &x);
}
/* A CTA is done: adds its records to those of its worker. */
void exit_record_cta(struct worker *k, const struct cta *c);
#endif
