/* cu_growth.h: lockstep run --memory. */
#ifndef LOCKSTEP_CU_GROWTH_H
#define LOCKSTEP_CU_GROWTH_H
#include "api/host.h"
bool cu_growth_option(const char *key); /* false: it is not one of these */
/* A launch is about to be enqueued; the name lives for ever. */
void cu_growth_launch(lk_gpu *gpu, const char *kernel);
void cu_growth_text(lk_gpu *gpu, struct text *t);
#endif
