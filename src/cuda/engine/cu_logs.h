/* cu_logs.h: the error log of the driver, as cuLogsRegisterCallback and CUDA_LOG_FILE show it. */
#ifndef LOCKSTEP_CU_LOGS_H
#define LOCKSTEP_CU_LOGS_H
#include "driver/gate.h"

/* A call has failed: what is said of it goes into the log, and to the callbacks of the program. Its record is the
 * thread's yet. */
void cu_logs_failed(const struct cu_call *c);
#endif
