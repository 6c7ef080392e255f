/* racecheck.h: the race check, seen by those who launch: an observer of sim/observe.h. race.h shows it from inside. */
#ifndef LOCKSTEP_RACECHECK_H
#define LOCKSTEP_RACECHECK_H
#include "sim/sim.h"

struct observer;
struct race;
struct race *race_new(struct mem *m); /* NULL: no memory */
void race_delete(struct race *r);
const struct observer *race_observer(struct race *r); /* for sim_launch.observers */

/* Several launches. Those of kernels that may synchronise with each other are judged together, like blocks of one grid;
 * what one did is before another one if the order of operations says so, or if their accesses hand it over (release,
 * acquire). `before` says whether the operation of that stamp is before the operation `op` (sim_launch.stamp and .op;
 * op_before). It is called while a launch begins, on the thread that calls sim_start or sim_run, for launches that have
 * ended; it must not call the sim or the race check. Without it, what has ended is before what begins. Launches with
 * stamp 0 are not asked about: they are after all that has ended, and before all that begins after their end. */
void race_order(struct race *r, bool (*before)(void *self, u64 stamp, const void *op), void *self);
/* A launch of this kernel is to run while no other one is in flight, and no other one is to start before it has ended:
 * it is checked in the fast way, which knows no other launches (a simple kernel, race.h). It waits for nobody, so that
 * holding it or others back blocks nothing. A launch that begins beside others all the same is checked in the exact
 * way; one that begins beside a launch that is checked in the fast way is not checked. */
bool race_kernel_alone(struct race *r, struct sim *s, struct ptx_func *kernel);
/* Some loop of the kernel may wait for what another launch, a copy or the host writes. */
bool race_kernel_polls(struct race *r, struct sim *s, struct ptx_func *kernel);
#endif
