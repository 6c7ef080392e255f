/* racecheck.h: the race check, seen by those who launch: an observer of sim/observe.h. race.h shows it from inside. */
#ifndef LOCKSTEP_RACECHECK_H
#define LOCKSTEP_RACECHECK_H
#include "sim/sim.h"

struct observer;
struct race;
struct race *race_new(struct mem *m); /* NULL: no memory */
void race_delete(struct race *r);
const struct observer *race_observer(struct race *r); /* for sim_launch.observers */
#endif
