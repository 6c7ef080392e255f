/* publish.h: data and flags for the host (publish.c, rules.md X6). */
#ifndef LOCKSTEP_PUBLISH_H
#define LOCKSTEP_PUBLISH_H
#include "sim/machine.h"

/* When a launch has ended: data that it stored for the host with no fence between them and the flag. */
void publish_report(struct launch *l);
#endif
