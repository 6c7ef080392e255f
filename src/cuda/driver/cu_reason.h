/* cu_reason.h: why the call that the thread is in fails, in words, for the note of it (engine/cu_failed.h). */
#ifndef LOCKSTEP_CU_REASON_H
#define LOCKSTEP_CU_REASON_H
#include "driver/cu.h"

struct cu_why {
    char cause[400], fix[300]; /* "": nothing to add */
    bool configuration;        /* the shape of a launch, for which the runtime has an error of its own */
    bool reported;             /* the report has a finding of the call: its error needs no note */
};
/* NULL: nothing to add. */
void cu_reason(const char *cause, const char *fix, bool configuration);
/* The same for a kernel name that module `m` lacks: lists the module's kernels, and the name to use. */
void cu_lookup_failed(lk_module *m, const char *name);
/* The report has a finding of the call that the thread is in. */
void cu_reported(void);
/* What was said of the call that the thread is in; NULL: nothing. */
const struct cu_why *cu_reason_now(void);
#endif
