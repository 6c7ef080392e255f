/* escape.h: addresses of local memory that a thread hands to others (escape.c, rules.md B10). */
#ifndef LOCKSTEP_ESCAPE_H
#define LOCKSTEP_ESCAPE_H
#include "sim/access.h"

/* The tag of a pointer to the local memory of another thread: this and the number of the thread in the grid. */
#define TAG_LOCAL 0x80000000u
static inline bool tag_is_local(u32 t) { return t & TAG_LOCAL && t != TAG_MIXED; }

/* A store of an address of local memory (SITE_LOCAL_ADDRESS): a layer around its handler. */
handler escape_store;
/* The tag of an address of local memory that a lane has loaded from p; 0: it is the lane's own, or nobody's. */
u32 escape_loaded(const struct warp *w, u32 lane, const char *p, u64 value);
#endif
