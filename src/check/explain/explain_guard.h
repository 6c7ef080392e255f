/* explain_guard.h: guards whose bound is not that of the array (explain_guard.c). */
#ifndef LOCKSTEP_EXPLAIN_GUARD_H
#define LOCKSTEP_EXPLAIN_GUARD_H
#include "sim/access.h"

/* The index is compared, on the way to the access, with a parameter that is larger than the array: that is the mistake,
 * and no guard is missing. Fills in cause and fix; false: it is not so. */
/* The steps of the index are what is wrong: a pitch in bytes that counts elements, thread and block exchanged. */
bool explain_units(const struct access *a, u64 elements, struct arena *mem, struct finding *f);
bool explain_guard(const struct access *a, u64 index, u64 elements, struct arena *mem, struct finding *f);
#endif
