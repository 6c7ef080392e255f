/* Programmatic dependent launch: a launch that starts before the one in front of it has ended (dependent.c). */
#ifndef LOCKSTEP_DEPENDENT_H
#define LOCKSTEP_DEPENDENT_H
#include "sim/machine.h"

/* The CTA has had a turn, or is done: if all CTAs have triggered or left, the one behind is told. */
void dependent_look(struct worker *k, const struct cta *c, bool done);
#endif
