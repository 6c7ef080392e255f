/* A worker's turn in a launch (worker.c). */
#ifndef LOCKSTEP_WORKER_H
#define LOCKSTEP_WORKER_H
#include "sim/machine.h"

/* How a turn ended: nothing of the launch could go on; something ran, and there may be more; the launch is over. */
enum turn { TURN_QUIET, TURN_WENT, TURN_OVER };
enum turn worker_turn(struct worker *k);
/* Whether no thread is in a CTA of the launch, no parked CTA can go on, and none can start. Under the launch's lock. */
bool launch_is_quiescent(struct launch *l);
/* The next cluster to start is called off: it counts as ended. False: all have started. */
bool worker_cancel(struct worker *k, u64 *id);
/* CTAs that were resident at some time. */
u64 launch_started(const struct launch *l);
#endif
