/* Workers and the threads they run on (worker_pool.c). */
#ifndef LOCKSTEP_WORKER_POOL_H
#define LOCKSTEP_WORKER_POOL_H
#include "sim/machine.h"

enum { MAX_WORKERS = 256 };
/* How many of n workers can run at once; the sim's pool is made with the first launch that wants more than one. */
u32 pool_workers(struct sim *s, u32 n);
void pool_delete(struct pool *p);
/* Runs the launch on its workers, worker 0 on the calling thread, and returns when all of them are done. */
void pool_run(struct sim *s, struct launch *l);
/* CTAs that were resident at some time. */
u64 launch_started(const struct launch *l);
#endif
