/* escape.h: addresses of local memory that a thread hands to others (escape.c, rules.md B10). */
#ifndef LOCKSTEP_ESCAPE_H
#define LOCKSTEP_ESCAPE_H
#include "sim/access.h"

/* The tag of an address of local memory that a lane has loaded from p; 0: it is the lane's own, or nobody's. */
u32 escape_loaded(const struct warp *w, u32 lane, const char *p, u64 value);
#endif
