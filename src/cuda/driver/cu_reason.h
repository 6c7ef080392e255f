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

/* ---- an argument that a call is refused for, by its name in the table of calls ----
 * `names` is the column of parameters of a row, n the parameter. Each gives the call its reason; the error is the
 * caller's. */
/* It is no handle of that kind: NULL, one that was destroyed, one of another kind, or none at all. */
void cu_wrong_handle(const char *names, u32 n, const void *handle, enum cu_kind kind);
/* No memory of so many bytes can be read or written there. */
void cu_wrong_pointer(const char *names, u32 n, const void *at, u64 bytes);
/* A number; rule: what it must be, "more than 0". */
void cu_wrong_number(const char *names, u32 n, u64 value, const char *rule, ...) __attribute__((format(printf, 4, 5)));
#endif
