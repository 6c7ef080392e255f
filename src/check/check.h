/* check: what the checks are to those who launch. One file, one checker; each watches a launch through sim/observe.h. */
#ifndef LOCKSTEP_CHECK_H
#define LOCKSTEP_CHECK_H
#include "sim/sim.h"

struct observer;
struct race;
struct race *race_new(struct mem *m);           /* NULL: no memory */
void race_delete(struct race *r);
const struct observer *race_observer(struct race *r);   /* for sim_launch.observers */
#endif
