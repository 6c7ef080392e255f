/* The launches in flight, and the threads that run them (worker_pool.c). */
#ifndef LOCKSTEP_WORKER_POOL_H
#define LOCKSTEP_WORKER_POOL_H
#include "sim/machine.h"

enum { MAX_WORKERS = 256 };
/* How many of n workers can run at once beside the calling thread, and with it; the sim's pool of threads is made with
 * the first launch that wants it. */
u32 pool_workers(struct sim *s, u32 n, bool caller);
void pool_delete(struct sim *s);
/* Runs the launch, worker 0 on the calling thread, and returns when it is over and nobody is in it. */
void pool_run(struct sim *s, struct launch *l);
/* Puts the launch in flight, and returns. */
void pool_start(struct sim *s, struct launch *l);
/* sim_drive. */
enum sim_drive pool_drive(struct sim *s);
void pool_help(struct sim *s, const void *op);                           /* sim_help */
void pool_starter(struct sim *s, void (*start)(void *self), void *self); /* sim_starter */
bool pool_start_soon(struct sim *s);                                     /* sim_start_soon */
/* Waits for the end of a launch that was put in flight. */
void pool_wait(struct sim *s, struct launch *l);
/* Takes the launch, which is over and in flight no more, to its end (sim_run.c): what it counted, what it held. */
void launch_finish(struct launch *l);
#endif
