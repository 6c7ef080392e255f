/* lockstep_memory.h: memory and time: what lives, what grows, spans of memory for the host, and what
 * operations took. Part of lockstep.h, which includes it. */
#ifndef LK_MEMORY_H
#define LK_MEMORY_H
#include "lockstep.h"
#ifdef __cplusplus
extern "C" {
#endif
#if defined __GNUC__
#pragma GCC visibility push(default)
#endif

/* How much memory there is in what. */
typedef struct lk_memory_use { /* set size */
    size_t size;
    uint64_t used;   /* bytes in live allocations of the program: what it asked for */
    uint64_t pooled; /* software GPU: bytes that pools hold of the gpu and nobody uses */
    uint64_t peak;   /* the most that lived at one time */
    uint64_t device, pinned, managed, registered, pool; /* of `used`, by kind */
} lk_memory_use;
lk_status lk_memory_usage(lk_gpu *gpu, lk_memory_use *use);
/* What lives, by the places that allocated it (lk_thread_site, or its name where there is none): up to `most` of them,
 * the one that holds most first. Returns how many there are. */
typedef struct lk_memory_site {
    char site[160];
    uint64_t bytes;
    uint64_t count; /* allocations */
} lk_memory_site;
uint32_t lk_memory_snapshot(lk_gpu *gpu, lk_memory_site *out, uint32_t most);
/* The places whose memory grew from `before` to `after`, and by how many bytes, in the same form. */
uint32_t lk_memory_growth(const lk_memory_site *before, uint32_t n, const lk_memory_site *after, uint32_t m,
                          lk_memory_site *out, uint32_t most);
/* An iteration has ended. Places that held more at the end of each of the last four than at the end of the one before
 * are named in *text, a line each, which is released with lk_text_free; NULL: there are none, or too few iterations. */
lk_status lk_memory_iteration(lk_gpu *gpu, char **text);
/* The host's pointer to `bytes` of pinned, managed or registered memory, when no work is in flight that may use them:
 * waits for all of the gpu, or is LK_NOT_READY. */
typedef enum lk_span { LK_SPAN_WAIT, LK_SPAN_REFUSE } lk_span;
lk_status lk_memory_span(lk_gpu *gpu, uint64_t address, uint64_t bytes, lk_span when, void **host);

/* ---- time ---- */

/* What a gpu that was made with lk_options.time has done so far: a row for each kernel, each direction of copies, and
 * fills, in each range that was open in the calling thread when they were enqueued. */
typedef struct lk_timing { /* set size */
    size_t size;
    const char *name;  /* the kernel, "copy to the device", ...; lives as long as the gpu, like range */
    const char *range; /* "step/forward"; "": none was open */
    uint64_t count;    /* how many have ended */
    uint64_t bytes;    /* of copies and fills */
    double total_us, least_us, most_us;
} lk_timing;
/* 0: there is no i-th one. Waits for nothing: what has not ended is not counted yet. */
int lk_time_at(lk_gpu *gpu, uint32_t i, lk_timing *timing);
/* The same as a table, with GB/s of copies; released with lk_text_free. NULL: nothing was timed. */
char *lk_time_text(lk_gpu *gpu);
/* Ranges of the calling thread, one within the other, as NVTX has them. */
void lk_range_push(const char *name);
void lk_range_pop(void);
#if defined __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
