/* Which CTAs are on the device: each takes room on one of its multiprocessors (residency.c).
 *
 * All launches in flight share the multiprocessors. A CTA takes a slot, warps, shared memory and, where the PTX bounds
 * them, registers. A plain launch starts a CTA when some multiprocessor has room for it. A cooperative launch takes the
 * room for all its CTAs at once, before the first of them starts; while it cannot, launches behind it take none. */
#ifndef LOCKSTEP_RESIDENCY_H
#define LOCKSTEP_RESIDENCY_H
#include "sim/machine.h"

/* NULL: no memory. */
struct residency *residency_new(const struct profile *p);
void residency_delete(struct residency *r);
/* What a CTA of the launch takes; called once, before any other question about the launch. */
void residency_measure(struct launch *l);
/* Whether a CTA of the launch can start now. Changes nothing. */
bool residency_has_room(struct launch *l);
/* Takes room for one CTA and says on which multiprocessor; false: there is none. */
bool residency_take(struct launch *l, u32 *sm);
/* A CTA of the launch has ended. */
void residency_leave(struct launch *l, u32 sm);
/* The launch has ended: what it had taken for CTAs that never started is free again. */
void residency_end(struct launch *l);
#endif
