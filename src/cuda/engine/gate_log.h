/* gate_log.h: LOCKSTEP_LOG=api: a line for each call. */
#ifndef LOCKSTEP_GATE_LOG_H
#define LOCKSTEP_GATE_LOG_H
#include "driver/gate.h"

bool cu_log_wanted(void);
u64 cu_log_now(void); /* ns */
void cu_log_call(const struct cu_call *c);
/* The arguments of a launch that the thread's call is about to make, by their types. */
void cu_log_launch(const lk_kernel *k, const void *const *arg, u32 n);
/* CUDA's name of a result, as the function's interface has it; "?": it is not one. */
const char *cu_result_name(const struct cu_call *c);
#endif
