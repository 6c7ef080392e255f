/* The end of a launch, as those who run it see it (launch_stop.c). */
#ifndef LOCKSTEP_SIM_RUN_H
#define LOCKSTEP_SIM_RUN_H
#include "sim/machine.h"

/* The workers take this end (SIM_*); the first one wins. */
void launch_stop(struct launch *l, int end);
/* A GPU would end the launch here, with this error of CUDA's; the first one counts. */
void launch_fault(struct launch *l, u32 code);
/* The same, with an error at operation op of low; the first error wins. */
void launch_fail(struct launch *l, int end, enum error_code code, const struct lowered *low, u32 op, const char *fmt,
                 ...) PRINTF_LIKE(6, 7);
/* Whether a has precedence over b: a higher priority (a smaller number), or the same and it came first. */
static inline bool launch_precedes(const struct launch *a, const struct launch *b)
{
    return a->in->priority != b->in->priority ? a->in->priority < b->in->priority : a->serial < b->serial;
}
static inline bool launch_stopped(const struct launch *l) { return __atomic_load_n(&l->stop, __ATOMIC_RELAXED) != 0; }
static inline bool launch_interrupted(const struct launch *l)
{
    return l->in->interrupt && __atomic_load_n(l->in->interrupt, __ATOMIC_RELAXED);
}
/* Whether the host has asked the launch to stop, or its time is over; it then stops. Reads the clock. */
bool launch_called_off(struct launch *l);
#endif
