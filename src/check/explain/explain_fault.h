/* explain_fault.h: the cause and the fix of a bad access, by kinds of faults; explain_access.c chooses. */
#ifndef LOCKSTEP_EXPLAIN_FAULT_H
#define LOCKSTEP_EXPLAIN_FAULT_H
#include "explain/explain_access.h"
#include "report/finding.h"

/* explain_align.c: the lanes of `mask`, of which `first` is one, are misaligned. */
void explain_misaligned(const struct access *a, u32 first, u32 mask, struct arena *mem, struct finding *f);
/* explain_stray.c */
void explain_null(const struct access *a, u32 first, struct arena *mem, struct finding *f);
void explain_invalid(const struct access *a, u32 first, struct arena *mem, struct finding *f);
/* a pointer to local memory that another thread has stored */
void explain_foreign(const struct access *a, const struct lane_check *c, struct arena *mem, struct finding *f);
#endif
