/* A CTA's life (cta.c). */
#ifndef LOCKSTEP_CTA_H
#define LOCKSTEP_CTA_H
#include "sim/machine.h"

struct cta *cta_new(struct worker *k, u32 rank); /* for CTAs of that rank; NULL: no memory */
void cta_free(struct cta *c);
/* Starts CTA number `linear` of the grid in c; fresh: nothing has run in c before. */
void cta_start(struct cta *c, u64 linear, bool fresh);
/* Runs a CTA until it is done (true), or until all of it waits or has given way (false; c->state says which). */
bool cta_run(struct cta *c);
/* Whether a CTA that cta_run left can go on. Changes nothing. */
bool cta_woken(const struct cta *c);
/* Wakes what can go on: sleepers, and idle splits one of whose reads changed. false: every split still waits. */
bool warp_runnable(struct warp *w);

/* ---- its barriers (barrier.c) ---- */

u32 barrier_lanes(const struct warp *w, u32 bar); /* the lanes of a warp that wait there */
/* Threads have left: completes the barriers that waited only for them. */
void barriers_recheck(struct cta *c);
static inline void barrier_recheck(struct cta *c)
{
    if (c->bars_used) barriers_recheck(c);
}
#endif
