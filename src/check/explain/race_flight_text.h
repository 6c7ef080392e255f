/* race_flight_text.h: what a race finding says of a flight (race_flight_text.c). */
#ifndef LOCKSTEP_RACE_FLIGHT_TEXT_H
#define LOCKSTEP_RACE_FLIGHT_TEXT_H
#include "explain/race_advice.h"

/* The prior access is that of a flight (units/flight.h) to shared memory, in flight or complete. */
bool race_flight_is(const struct draft *x);
/* Fills cause, order and fix of such a finding. */
bool race_flight_advise(struct draft *x); /* false: it is in flight no longer */
/* One side is what a wgmma reads from shared memory, the other a write that is complete. */
bool race_product_is(const struct draft *x);
void race_product_advise(struct draft *x);
#endif
