/* cu_failed.h: calls that failed, and whether anybody looked (docs/reference/rules.md, A).
 *
 * Every call that returned an error is a note with its arguments, once for each place; questions that have an error for
 * an answer are not. Two things are a finding: a launch that failed and whose error nobody asked for, and a call that
 * was given what a failed call should have made. */
#ifndef LOCKSTEP_CU_FAILED_H
#define LOCKSTEP_CU_FAILED_H
#include "driver/cu_engine.h"
#include "driver/cu_reason.h"
#include "driver/gate.h"

/* Of the gate, when the thread's call has returned an error, or any of its calls while cu_failed_watches. */
void cu_failed_done(const struct cu_call *c);
bool cu_failed_watches(void);
/* Whether it has failed: an error that is no answer to what was asked. */
bool cu_failed_is_error(const struct cu_call *c);
/* Calls of this process that were to launch a kernel and failed. */
u64 cu_failed_launches(void);
void cu_failed_thread_end(void);
/* The program has ended. */
void cu_failed_end(void);
#endif
