/* Buffers that are given back too early (race_early.c). */
#ifndef LOCKSTEP_RACE_EARLY_H
#define LOCKSTEP_RACE_EARLY_H
#include "explain/race_advice.h"

/* A copy overwrites what a product reads, and an arrival that came too early has let it do so: says so. */
bool race_early_advise(struct draft *x);
#endif
