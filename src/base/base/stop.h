/* stop.h: what stop_asked of base.h goes by in the calling thread, kept and put back. */
#ifndef LOCKSTEP_STOP_H
#define LOCKSTEP_STOP_H
#include "base/base.h"

struct stop {
    const volatile int *asked; /* not 0: stop; NULL: nobody asks */
    u64 deadline;              /* 0: none */
    u32 calls;                 /* of stop_asked */
    bool is;                   /* it was asked, or is overdue */
};
struct stop stop_state(void);
void stop_restore(struct stop s);
#endif
