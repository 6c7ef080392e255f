/* cu_failed.h: calls that failed, and whether anybody looked (docs/rules.md, A).
 *
 * Every call that returned an error is a note with its arguments, once for each place; questions that have an error for
 * an answer are not. Two things are a finding: a launch that failed and whose error nobody asked for, and a call that
 * was given what a failed call should have made. */
#ifndef LOCKSTEP_CU_FAILED_H
#define LOCKSTEP_CU_FAILED_H
#include "run/gate.h"

/* Why the call that the thread is in fails, in words; NULL: nothing to add. `configuration`: the shape of a launch, for
 * which the runtime has an error of its own. */
void cu_reason(const char *cause, const char *fix, bool configuration);
/* The same for a kernel that module `m` does not have by this name: what it has, and how to ask for it. */
void cu_lookup_failed(lk_module *m, const char *name);
/* The report has a finding of the call that the thread is in: its error needs no note. */
void cu_reported(void);
/* The reason of the call that the thread is in, for a later call that fails for the same one; false: there is none. */
struct cu_why {
    char cause[400], fix[300]; /* as cu_reason takes them */
};
bool cu_reason_keep(struct cu_why *out);
/* Whether cu_reason of the call that the thread is in said so. */
bool cu_reason_is_configuration(void);

/* The code that nvcc makes of <<<>>> has taken the configuration of a launch, which is the thread's next call. */
void cu_chevron(void);
/* The thread asked for its last error, or for the words of this one. */
enum { CU_LAST_ERROR = -1 };
void cu_asked(s64 code);
/* A launch gets these values; the thread's calls that failed before were to make one of them. */
void cu_launch_given(const lk_kernel *k, const void *const *arg, u32 n);

/* Of the gate, when the thread's call has returned an error, or any of its calls while cu_failed_watches. */
void cu_failed_done(const struct cu_call *c);
bool cu_failed_watches(void);
void cu_failed_thread_end(void);
/* The program has ended. */
void cu_failed_end(void);

/* Adds a finding to the report of the device that the thread uses. */
struct finding;
void cu_found(const struct finding *f);
/* A call came in a child of fork: its first one is a finding. */
void cu_forked(void);
#endif
