/* cu_time.h: lockstep run --time. */
#ifndef LOCKSTEP_CU_TIME_H
#define LOCKSTEP_CU_TIME_H
#include "api/host.h"
bool cu_time_option(const char *key, lk_options *o); /* false: it is not one of these */
void cu_time_text(lk_gpu *gpu, struct text *out);    /* the table, if --time was given and anything was timed */
#endif
