/* unneeded.h: predicates that are made of the thread's number alone (unneeded.c). */
#ifndef LOCKSTEP_UNNEEDED_H
#define LOCKSTEP_UNNEEDED_H
#include "code/code.h"

struct thread_numbers {
    const struct lowered *l;                       /* with its `def` */
    u64 (*tid)(const void *of, struct opnd which); /* a coordinate of the thread in its block */
    const void *of;
};
/* The value of a predicate in that thread; false: it is made of something else as well. */
bool unneeded_value(const struct thread_numbers *t, u32 reg, u64 *out);
#endif
