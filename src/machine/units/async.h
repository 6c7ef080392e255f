/* Asynchronous copies of one lane: cp.async (async.c). */
#ifndef LOCKSTEP_ASYNC_H
#define LOCKSTEP_ASYNC_H
#include "sim/machine.h"

struct async_flight { /* a copy that is under way */
    u32 group;        /* of its thread, from 1 */
    bool committed;   /* the group is complete */
    u32 newer;        /* groups committed after it: the largest count that a wait for it may have */
    bool waited;      /* its thread has waited since ... */
    u32 wait;         /* ... and left so many groups in flight */
    bool counted;     /* an mbarrier counts it */
};
/* The copy of a lane into the byte at `at`; false: none. */
bool async_flight(const struct warp *w, u32 lane, const char *at, struct async_flight *out);
/* Whether a copy into some of these bytes of shared memory is under way. */
bool async_covers(const struct cta *c, const char *at, u32 bytes);
/* Does the copies of the lanes in mask that belong to groups before `keep` newest ones; keep < 0: all. */
void async_complete(struct warp *w, u32 mask, s64 keep);
/* cp.async.mbarrier.arrive of a lane: the mbarrier gets its arrival when the copies so far are complete. */
void async_count(struct warp *w, const struct insn *i, u32 lane, char *mbarrier, u64 at);
#endif
