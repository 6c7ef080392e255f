/* tmem_async.h: asynchronous operations on tensor memory, from their issue to the commit that completes them. */
#ifndef LOCKSTEP_TMEM_ASYNC_H
#define LOCKSTEP_TMEM_ASYNC_H
#include "lanes/descriptor.h"
#include "units/flight.h"
#include "units/tmem.h"

/* The chunks of shared memory that an operation reads, at the same place in each of its CTAs. */
struct tmem_reads {
    u64 chunk[WINDOW_BYTES / CHUNK_BYTES / 64];
};
/* Adds `lines` of a matrix, from the line `first` on, with `k` elements of a type each. */
void tmem_mark(struct tmem_reads *r, const struct matrix *m, enum tensor_type t, u32 first, u32 lines, u32 k);
/* Starts the work, which is freed when it is done. */
void tmem_issue(struct warp *w, const struct insn *i, u32 lane, struct tmem_work *x, const struct tmem_reads *reads);
#endif
