/* Barriers of a CTA (barrier.c). */
#ifndef LOCKSTEP_BARRIER_H
#define LOCKSTEP_BARRIER_H
#include "sim/machine.h"

u32 barrier_lanes(const struct warp *w, u32 bar); /* the lanes of a warp that wait there */
/* Threads have left: completes the barriers that waited only for them. */
void barriers_recheck(struct cta *c);
static inline void barrier_recheck(struct cta *c)
{
    if (c->bars_used) barriers_recheck(c);
}
#endif
