/* What ordinary stores have written of shared memory (proxy.c). */
#ifndef LOCKSTEP_PROXY_H
#define LOCKSTEP_PROXY_H
#include "sim/machine.h"

/* An ordinary store of the CTA was the last to write the 16 bytes at that offset. Of kernels with asynchronous readers
 * of shared memory. */
bool proxy_stored(const struct cta *c, u64 offset);
#endif
