/* The report of a launch that came to a stop (deadlock.c).
 *
 * The proof is elsewhere: wait.c shows of a single split that it can go on only when memory changes, and worker_pool.c
 * that every split waits and no memory that one of them reads has changed (quiescence). What is left to do here is the
 * explanation: who waits for whom, and why that never comes. */
#ifndef LOCKSTEP_DEADLOCK_H
#define LOCKSTEP_DEADLOCK_H
#include "sim/machine.h"

/* Reports a deadlock with its cause and stops the launch. Called by the last worker, under the launch's lock, with
 * every CTA parked. */
void deadlock_report(struct launch *l);
enum { SUSPECT_SECONDS = 5 }; /* without a change, before a wait for the host is called suspicious */
enum { HOST_QUIET_MS = 100 }; /* without a change, before it is asked whether the host can still write */
/* Adds the note that the launch, which stands still, may wait for ever; it goes on. Under the same locks. */
void suspected_report(struct launch *l);
/* Reports where the threads are of a launch that its budget or the host has stopped. */
void stopped_report(struct launch *l);
#endif
