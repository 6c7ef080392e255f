/* race_handlers.h: the fast handlers of loads and stores under the race check, a template over memory_fast.h.
 *
 * A file that includes it gets its own set of handlers, static, and fast_handler() to choose from it. Before, define
 *   HANDLER_FIRST(sp)   what comes before the race check: nothing, or the check of initialised values
 *
 * memory_fast.h calls the WATCH_* hooks below after the bounds test and before the access; each hook is one shape of
 * access. sp is global or shared, W is 1 for a store, a an address, N the bytes of one lane. In scope are R, i and w,
 * the arguments of the handler, and for global memory r, the range of the site. A hook may return from the handler. */
#include "race/race_reads.h"
#include "race/race_touch.h"
#include "sim/planes.h"

/* What is not fast: the general handler, which calls the observers. */
#define FAST_MISS memory_watched
/* With init_unknown before it, these are the handlers that store. */
#define LOOKS 1
/* The cells of the space, as in cell_of. */
#define CELLS_global ((char *)(uintptr_t)r->race)
#define CELLS_shared (((struct race_warp *)w->race)->c->shared)
#define SPACE_OF_global SPACE_GLOBAL
#define SPACE_OF_shared SPACE_SHARED
/* The memory has cells. Global memory that the launch cannot write has none. */
#define TRACKED_global (r->race != 0)
#define TRACKED_shared 1
/* The launch only reads it, and what it reads is asked for. */
#define READ_ONLY_global (r->reads != 0)
#define READ_ONLY_shared 0
#define READ_CELLS_global ((char *)(uintptr_t)r->reads)
#define READ_CELLS_shared NULL

static inline void race_reads_run(const struct warp *w, const struct insn *i, char *cells, u64 a, u64 n)
{
    const struct race_warp *rw = w->race;
    if (likely(rw != NULL)) reads_run(rw->c->era, cells, a, n, race_site(w, i));
}

/* The lanes of the mask read `each` bytes each, neighbours; the lowest of them, `first`, at a. */
static inline void race_reads_masked(const struct warp *w, const struct insn *i, char *cells, u64 a, u32 each,
                                     u32 first, u32 mask)
{
    while (mask) {
        u32 l = (u32)__builtin_ctz(mask), rest = mask >> l, n = rest == ~0u ? 32 : (u32)__builtin_ctz(~rest);
        race_reads_run(w, i, cells, a + (l - first) * each, n * each);
        mask = n == 32 ? 0 : mask & ~(((1u << n) - 1) << l);
    }
}

/* 4 bytes at each of these addresses, by active lanes. */
static inline void race_reads_picked(const struct warp *w, const struct insn *i, char *cells, const u64 a[LANES])
{
    EACH_SET (l, w->mask) {
        race_reads_run(w, i, cells, a[l], 4);
    }
}

/* The same by all lanes. */
static inline void race_reads_each(const struct warp *w, const struct insn *i, char *cells, const u64 a[LANES])
{
    const struct race_warp *rw = w->race;
    if (unlikely(!rw)) return;
    u64 stamp = reads_stamp(rw->c->era);
    u32 site = race_site(w, i);
    for (u32 l = 0; l < LANES; l++)
        reads_sector(cell_of(cells, a[l] & ~(u64)(SECTOR - 1)), 15u << (a[l] & (SECTOR - 1)), stamp, site);
}

/* n bytes at a, by consecutive lanes from `first` on, `each` bytes a lane. */
ALWAYS_INLINE void race_run_of_lanes(struct warp *w, const struct insn *i, u32 op, u32 space, char *cells, u64 a, u32 n,
                                     u32 first, u32 each)
{
    if (op == OP_READ && race_run_covered(w->race, cells, a, n, space)) return;
    struct touch t = race_touch(w, i, op, space);
    race_run(&t, cells, a, n, race_stamp(t.w, first, (u32)__builtin_ctz(each), WHO_ONE));
}

/* The runs of neighbours among the lanes of the mask, of which `first` is the lowest, at a; `each` bytes a lane. */
static inline void race_masked_run(struct touch *t, char *cells, u64 a, u32 each, u32 first, u32 mask)
{
    while (mask) {
        u32 l = (u32)__builtin_ctz(mask), rest = mask >> l, n = rest == ~0u ? 32 : (u32)__builtin_ctz(~rest);
        race_run(t, cells, a + (l - first) * each, n * each, race_stamp(t->w, l, (u32)__builtin_ctz(each), WHO_ONE));
        mask = n == 32 ? 0 : mask & ~(((1u << n) - 1) << l);
    }
}

/* n bytes at a, by all of the lanes. */
ALWAYS_INLINE void race_same_bytes(struct warp *w, const struct insn *i, u32 op, u32 space, char *cells, u64 a, u32 n,
                                   u32 lanes)
{
    if (n < 4)
        race_access_subword(w, i, op, space, cells, a, n, lanes);
    else
        race_access_words(w, i, op, space, cells, a, n, lanes);
}

#define EACH_SPACE global
#define EACH_ADDRESS u64
#include "race/race_each.h"
#define EACH_SPACE shared
#define EACH_ADDRESS u32
#include "race/race_each.h"

/* n bytes at a, by consecutive lanes from `lane` on: a coalesced access. */
#define WATCH_RUN(sp, W, a, n, lane, N)                                           \
    do {                                                                          \
        HANDLER_FIRST(sp);                                                        \
        if (TRACKED_##sp)                                                         \
            race_run_of_lanes(w, i, W, SPACE_OF_##sp, CELLS_##sp, a, n, lane, N); \
        else if (!(W) && READ_ONLY_##sp)                                          \
            race_reads_run(w, i, READ_CELLS_##sp, a, n);                          \
    } while (0)

/* N bytes at a, by all active lanes. Several lanes that store there are a finding of their own (R6). */
#define WATCH_ONE(sp, W, a, N)                                                  \
    do {                                                                        \
        HANDLER_FIRST(sp);                                                      \
        if (TRACKED_##sp) {                                                     \
            if (W && w->mask & (w->mask - 1)) return memory_watched(R, i, w);   \
            race_same_bytes(w, i, W, SPACE_OF_##sp, CELLS_##sp, a, N, w->mask); \
        } else if (!(W) && READ_ONLY_##sp)                                      \
            race_reads_run(w, i, READ_CELLS_##sp, a, N);                        \
    } while (0)

/* Loads only: N bytes at a, by the k lanes from `lane` on. */
#define WATCH_GROUP(sp, a, N, lane, k)                                           \
    do {                                                                         \
        HANDLER_FIRST(sp);                                                       \
        if (TRACKED_##sp)                                                        \
            race_same_bytes(w, i, OP_READ, SPACE_OF_##sp, CELLS_##sp, a, N,      \
                            ((k) == 32 ? ~0u : (1u << ((k)&31)) - 1) << (lane)); \
        else if (READ_ONLY_##sp)                                                 \
            race_reads_run(w, i, READ_CELLS_##sp, a, N);                         \
    } while (0)

/* N bytes at a + (l - lane) * N, by each lane l of the mask m: a coalesced access with lanes missing. */
#define WATCH_SOME(sp, W, a, lane, N, m)                             \
    do {                                                             \
        HANDLER_FIRST(sp);                                           \
        if (TRACKED_##sp) {                                          \
            struct touch t_ = race_touch(w, i, W, SPACE_OF_##sp);    \
            race_masked_run(&t_, CELLS_##sp, a, N, lane, m);         \
        } else if (!(W) && READ_ONLY_##sp)                           \
            race_reads_masked(w, i, READ_CELLS_##sp, a, N, lane, m); \
    } while (0)

/* 4 bytes at a[l], by each of the 32 lanes l: a gather or a scatter. */
#define WATCH_EACH(sp, W, a, N)                                                          \
    do {                                                                                 \
        HANDLER_FIRST(sp);                                                               \
        if (TRACKED_##sp) {                                                              \
            if (!race_each_##sp(w, i, CELLS_##sp, a, W)) return memory_watched(R, i, w); \
        } else if (!(W) && READ_ONLY_##sp)                                               \
            race_reads_each(w, i, READ_CELLS_##sp, (const u64 *)(const void *)(a));      \
    } while (0)

/* The same by each active lane l. */
#define WATCH_PICK(sp, W, a, N)                                                          \
    do {                                                                                 \
        HANDLER_FIRST(sp);                                                               \
        if (TRACKED_##sp) {                                                              \
            if (!race_pick_##sp(w, i, CELLS_##sp, a, W)) return memory_watched(R, i, w); \
        } else if (!(W) && READ_ONLY_##sp)                                               \
            race_reads_picked(w, i, READ_CELLS_##sp, (const u64 *)(const void *)(a));    \
    } while (0)

#include "sim/memory_fast.h"
