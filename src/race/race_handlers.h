/* race_handlers.h: the fast handlers of launches under the race check, a template over memory_fast.h. Before, define
 * HANDLER_FIRST(sp): what comes before the race check, nothing or the check of initialised values. */
#include "race/race_touch.h"
#include "sim/init_fast.h"

#define FAST_MISS memory_watched
#define CELLS_global ((char *)(uintptr_t)r->race)
#define CELLS_shared (((struct race_warp *)w->race)->c->shared)
#define SPACE_OF_global SPACE_GLOBAL
#define SPACE_OF_shared SPACE_SHARED
#define TRACKED_global (r->race != 0)
#define TRACKED_shared 1
#define ES_OF(N) ((N) == 8 ? 3 : (N) == 4 ? 2 : 1)
#define RACE_FEW(sp, W, a, N, lanes)                                      \
    do {                                                                  \
        if ((N) < 4)                                                      \
            race_narrow(w, i, W, SPACE_OF_##sp, CELLS_##sp, a, N, lanes); \
        else                                                              \
            race_few(w, i, W, SPACE_OF_##sp, CELLS_##sp, a, N, lanes);    \
    } while (0)

#define WATCH_RUN(sp, W, a, n, first, N)                                                        \
    do {                                                                                        \
        HANDLER_FIRST(sp);                                                                      \
        if (TRACKED_##sp && (W || !race_run_known(w->race, CELLS_##sp, a, n, SPACE_OF_##sp))) { \
            struct touch t_ = race_touch(w, i, W, SPACE_OF_##sp);                               \
            race_run(&t_, CELLS_##sp, a, n, race_stamp(t_.w, first, ES_OF(N), WHO_ONE));        \
        }                                                                                       \
    } while (0)
#define WATCH_ONE(sp, W, a, N)                                                \
    do {                                                                      \
        HANDLER_FIRST(sp);                                                    \
        if (TRACKED_##sp) {                                                   \
            if (W && w->mask & (w->mask - 1)) return memory_watched(R, i, w); \
            RACE_FEW(sp, W, a, N, w->mask);                                   \
        }                                                                     \
    } while (0)
#define WATCH_GROUP(sp, a, N, first, k)                                                 \
    do {                                                                                \
        HANDLER_FIRST(sp);                                                              \
        if (TRACKED_##sp) {                                                             \
            RACE_FEW(sp, 0, a, N, ((k) == 32 ? ~0u : (1u << ((k)&31)) - 1) << (first)); \
        }                                                                               \
    } while (0)
#define WATCH_SOME(sp, W, a, first, N)                            \
    do {                                                          \
        HANDLER_FIRST(sp);                                        \
        if (TRACKED_##sp) {                                       \
            struct touch t_ = race_touch(w, i, W, SPACE_OF_##sp); \
            race_some(&t_, CELLS_##sp, a, N, first, w->mask);     \
        }                                                         \
    } while (0)
#define WATCH_EACH(sp, W, a, N)                                                                           \
    do {                                                                                                  \
        HANDLER_FIRST(sp);                                                                                \
        if (TRACKED_##sp) {                                                                               \
            if (unlikely((a)[LANES - 1] - (a)[0] == (LANES - 1) * 4) && consecutive(a)) {                 \
                struct touch t_ = race_touch(w, i, W, SPACE_OF_##sp);                                     \
                if (W || !race_run_known(w->race, CELLS_##sp, (a)[0], LANES * 4, SPACE_OF_##sp))          \
                    race_run(&t_, CELLS_##sp, (a)[0], LANES * 4, race_stamp(t_.w, 0, ES_OF(4), WHO_ONE)); \
                break;                                                                                    \
            }                                                                                             \
            if (W && !all_differ(a)) return memory_watched(R, i, w);                                      \
            if (!W && race_alone(w->race, SPACE_OF_##sp))                                                 \
                READ_EACH(sp, a);                                                                         \
            else if (W && SPACE_OF_##sp == SPACE_GLOBAL && race_alone(w->race, SPACE_GLOBAL)) {           \
                SCATTER_##sp(a);                                                                          \
            } else {                                                                                      \
                bool differ_ = W || all_differ(a);                                                        \
                for (u32 todo_ = ALL_LANES, same_; todo_; todo_ &= ~same_) {                              \
                    u32 l_ = (u32)__builtin_ctz(todo_);                                                   \
                    same_ = differ_ ? 1u << l_ : todo_ & at_same(a, l_);                                  \
                    race_few(w, i, W, SPACE_OF_##sp, CELLS_##sp, (a)[l_], N, same_);                      \
                }                                                                                         \
            }                                                                                             \
        }                                                                                                 \
    } while (0)

#define SCATTER_global(a) race_scatter(w, i, CELLS_global, a)
#define SCATTER_shared(a) (void)0

/* Lanes that read words: neighbours are often in one sector. */
#define READ_EACH(sp, a)                                                                                          \
    do {                                                                                                          \
        struct race_warp *rw_ = w->race;                                                                          \
        struct reader q_ = { 0 };                                                                                 \
        u64 me_ = race_stamp(rw_, 0, ES_ONE, WHO_ONE), lo_ = rw_->c->lo[SPACE_OF_##sp];                           \
        u32 site_ = race_site(w, i);                                                                              \
        char *cells_ = CELLS_##sp;                                                                                \
        for (u32 l_ = 0; l_ < LANES; l_++, me_ += 1u << 9) {                                                      \
            struct cell *c_ = cell_of(cells_, (a)[l_] & ~(u64)(SECTOR - 1));                                      \
            if (c_ != q_.c) reader_open(&q_, rw_, c_, SPACE_OF_##sp);                                             \
            if (likely(reader_word(&q_, rw_, (u32)((a)[l_] & (SECTOR - 1)) / 4, me_, site_, lo_, SPACE_OF_##sp))) \
                continue;                                                                                         \
            race_few(w, i, OP_READ, SPACE_OF_##sp, CELLS_##sp, (a)[l_], 4, 1u << l_);                             \
            q_.c = NULL; /* it may be another kind of sector now */                                               \
        }                                                                                                         \
    } while (0)

/* Runs of neighbours among the lanes of the mask, of which `first` is the lowest, at a. */
static inline void race_some(struct touch *t, char *cells, u64 a, u32 each, u32 first, u32 mask)
{
    while (mask) {
        u32 l = (u32)__builtin_ctz(mask), rest = mask >> l, n = rest == ~0u ? 32 : (u32)__builtin_ctz(~rest);
        race_run(t, cells, a + (l - first) * each, n * each, race_stamp(t->w, l, ES_OF(each), WHO_ONE));
        mask = n == 32 ? 0 : mask & ~(((1u << n) - 1) << l);
    }
}

/* Neighbours after all. */
#define consecutive(a)                                                        \
    ({                                                                        \
        u64 off_ = 0;                                                         \
        for (u32 l_ = 1; l_ < LANES; l_++) off_ |= (a)[l_] - (a)[l_ - 1] - 4; \
        !off_;                                                                \
    })

/* The lanes at the address of one. */
#define at_same(a, lane)                                                                  \
    ({                                                                                    \
        u32 same_at_ = 0;                                                                 \
        for (u32 k_ = 0; k_ < LANES; k_++) same_at_ |= (u32)((a)[k_] == (a)[lane]) << k_; \
        same_at_;                                                                         \
    })

/* No two lanes at one address; now and then it says no though it is so. */
#define all_differ(a)                                                    \
    ({                                                                   \
        bool up_ = true;                                                 \
        for (u32 l_ = 1; l_ < LANES; l_++) up_ &= (a)[l_ - 1] < (a)[l_]; \
        u64 bits_[16] = { 0 }, twice_ = 0;                               \
        for (u32 l_ = 0; !up_ && l_ < LANES; l_++) {                     \
            u32 k_ = (u32)((a)[l_] >> 2) * 0x9e3779b1u >> 22;            \
            twice_ |= bits_[k_ >> 6] >> (k_ & 63) & 1;                   \
            bits_[k_ >> 6] |= 1ull << (k_ & 63);                         \
        }                                                                \
        !twice_;                                                         \
    })

#include "sim/memory_fast.h"
