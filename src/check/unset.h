/* unset.h: variables of a module that a launch read and nobody had set. */
#ifndef LOCKSTEP_UNSET_H
#define LOCKSTEP_UNSET_H
#include "sim/machine.h"

/* After the launch, while its workers' ranges are there: notes for the variables that were read. */
void unset_report(struct launch *l);
#endif
