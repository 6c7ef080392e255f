/* cu_record.h: recording a launch of the program before it runs (lockstep run --record, LOCKSTEP_RECORD). */
#ifndef LOCKSTEP_CU_RECORD_H
#define LOCKSTEP_CU_RECORD_H
#include "api/host.h"

/* Takes an option of the launcher; false: it is not one of these. */
bool cu_record_option(const char *key, const char *value);
/* A launch is about to be enqueued, the nth of its kernel; one that is captured is not recorded. */
void cu_record_launch(const lk_kernel *kernel, const lk_launch *launch, bool captured);
#endif
