/* Atomic read-modify-writes over an access record. */
#ifndef LOCKSTEP_ATOMIC_H
#define LOCKSTEP_ATOMIC_H
#include "sim/access.h"
void atomic_access(struct access *a, char *R);
/* One of them without a result, on a word in memory, with b; s says what and how wide, and is no compare-and-swap. */
void atomic_step(const struct site *s, char *at, u64 b);
#endif
