/* Which CTAs are on the device: each takes room on one of its multiprocessors (residency.c).
 *
 * All launches in flight share the multiprocessors. A CTA takes a slot, warps, shared memory and, where the PTX bounds
 * them, registers. A plain launch starts a CTA when some multiprocessor has room for it. A cooperative launch takes the
 * room for all its CTAs at once, before the first of them starts; while it cannot, launches after it take none.
 *
 * The CTAs of a cluster take room together, each on a multiprocessor of its own, all of one GPC: the multiprocessors
 * of a GPC are cut into groups of as many as a cluster has CTAs, and a cluster takes room in a group. So as many fit
 * as cudaOccupancyMaxActiveClusters of a card says. */
#ifndef LOCKSTEP_RESIDENCY_H
#define LOCKSTEP_RESIDENCY_H
#include "sim/machine.h"

/* NULL: no memory. */
struct residency *residency_new(const struct card *p);
void residency_delete(struct residency *r);
/* What a CTA of the launch takes; called once, before any other question about the launch. */
void residency_measure(struct launch *l);
/* Whether a cluster of the launch can start now. Changes nothing. */
bool residency_has_room(struct launch *l);
/* Takes room for one cluster and says on which multiprocessors, by rank; false: there is none. */
bool residency_take(struct launch *l, u32 *sm);
/* A cluster that was on these multiprocessors has ended. */
void residency_leave(struct launch *l, const u32 *sm);
void residency_leave_cluster(const struct cta *first); /* the same, by its CTA of rank 0 */
/* The launch has ended: what it had taken for CTAs that never started is free again. */
void residency_end(struct launch *l);
#endif
