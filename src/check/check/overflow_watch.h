/* overflow_watch.h: what becomes of 32-bit indices that overflow, in launches where some can (flow/overflow.h).
 *
 * overflow_step stands before each operation on the way to an address, overflow_use before the accesses. A register
 * whose value is not what the arithmetic means is remembered with the value that it should have. */
#ifndef LOCKSTEP_OVERFLOW_WATCH_H
#define LOCKSTEP_OVERFLOW_WATCH_H
#include "sim/access.h"

/* If the address of one of these lanes overflowed: the arithmetic as cause and origin of a finding about the access. */
void overflow_explain(const struct access *a, u32 mask, struct arena *mem, struct finding *f);
#endif
