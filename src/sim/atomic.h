/* Atomic read-modify-writes over an access record. */
#ifndef LOCKSTEP_ATOMIC_H
#define LOCKSTEP_ATOMIC_H
#include "sim/access.h"
void atomic_access(struct access *a, char *R);
#endif
