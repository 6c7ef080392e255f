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
/* tmem_check.c: these lines of the matrix lie in the shared memory of the CTA, and its descriptor has the bits that it
 * must have; false: it does not, which is reported. */
bool umma_check_matrix(struct warp *w, const struct insn *i, u32 lane, const char *name, u64 descriptor,
                       const struct matrix *m, enum tensor_type t, u32 first, u32 lines, u32 k);
/* Metadata of a sparse a that lie where they cannot; that have no meaning, found when the product is done. */
void umma_wrong_place(struct warp *w, const struct insn *i, u32 lane, const char *what);
void umma_wrong_metadata(const struct tmem_work *x, u32 row, u32 chunk, u32 bits, u32 lane, u32 column);
/* An instruction descriptor that does not go with its instruction. */
void umma_wrong(struct warp *w, const struct insn *i, u32 lane, u32 idesc, const char *what);
#endif
