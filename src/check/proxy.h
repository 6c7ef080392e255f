/* Proxies (9.7.13.4): ordinary stores to shared memory, and what the async proxy reads there (proxy.c). */
#ifndef LOCKSTEP_PROXY_H
#define LOCKSTEP_PROXY_H
#include "sim/machine.h"

struct flight;
void proxy_wrote(struct cta *c, const char *at,
                 u32 bytes); /* something else than an ordinary store has written there */
/* The async proxy reads the sources of a flight: reports the first that an ordinary store has written since the last
 * fence between the two proxies. */
void proxy_reads(const struct flight *f);
/* A tensor copy of a lane uses the map at that address: reports one that was changed without the fence that makes it
 * known to the tensor unit. */
void proxy_map(struct warp *w, const struct insn *i, u32 lane, u64 at);
#endif
