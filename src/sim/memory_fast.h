/* memory_fast.h: the fast handlers of loads and stores, a template.
 *
 * Each file that includes it gets its own set, static, and fast_handler() to choose from it. Before, it defines
 *   FAST_MISS                        the handler that takes what is not fast: run_access, or one that checks more
 *   WATCH_RUN(sp, W, a, n, lane, N)  called for n bytes at a, by consecutive lanes from `lane` on, N bytes each
 *   WATCH_ONE(sp, W, a, N)           N bytes at a, by all active lanes
 *   WATCH_GROUP(sp, a, N, lane, k)   loads: N bytes at a, by the k lanes from `lane` on
 *   WATCH_SOME(sp, W, a, lane, N)    N bytes at a + (l - lane) * N, by each active lane l
 *   WATCH_EACH(sp, W, a, N)          N bytes at a[l], by each of the 32 lanes l
 *   LOOKS                            1: values that go to global memory are looked at (stored.h); 0: they are not
 * sp is global or shared, W says whether it is a store. The calls come after the bounds test and before the access,
 * with i and w in scope, for global memory r, the range; they may return from the handler. */
#include "sim/access.h"
#include "sim/memory.h"
#include "lanes/stored.h"

#define H(name) static int name(char *restrict R, const struct insn *i, struct warp *w)

static inline bool inside(const struct range *r, u64 a, u64 n)
{
    u64 o = a - r->lo;
    return o < r->size && n <= r->size - o;
}

/* Whether the values of a store of elements of N bytes are looked at. */
#define LOOKS_global LOOKS
#define LOOKS_shared 0
#define LOOKS_AT(sp, N) (LOOKS_##sp && ((N) == 4 || (N) == 8))

#define MISS_IF(c)                                  \
    do {                                            \
        if (unlikely(c)) return FAST_MISS(R, i, w); \
    } while (0)

/* Looks at the 32 lanes of a register that was stored. */
#define LOOK(sp, N, from)                                                                      \
    do {                                                                                       \
        if (LOOKS_AT(sp, N) && unlikely(stored_lanes_odd((from), N))) return stored_odd(w, N); \
    } while (0)

/* ---- gathers and scatters of 4-byte elements: the common way without its generality ---- */

#define EACH(name, sp, BASE, W)                                              \
    H(name)                                                                  \
    {                                                                        \
        MISS_IF(w->mask != ALL_LANES);                                       \
        const struct range *r = &w->range[i->site];                          \
        MISS_IF(r->size < 4);                                                \
        BASE a[LANES], limit = (BASE)r->size - 4, lo = (BASE)r->lo, bad = 0; \
        const BASE *p = (const BASE *)(const void *)SLOT(R, i->a);           \
        u32 *d = (u32 *)(void *)SLOT(R, i->d);                               \
        for (u32 l = 0; l < LANES; l++) {                                    \
            a[l] = p[l] + (BASE)(s64)i->off;                                 \
            bad |= (BASE)(a[l] - lo > limit) | (a[l] & 3);                   \
        }                                                                    \
        MISS_IF(bad);                                                        \
        WATCH_EACH(sp, W, a, 4);                                             \
        if (W) {                                                             \
            for (u32 l = 0; l < LANES; l++) memcpy(AT_##sp(a[l]), &d[l], 4); \
            LOOK(sp, 4, (const char *)d);                                    \
        } else                                                               \
            for (u32 l = 0; l < LANES; l++) memcpy(&d[l], AT_##sp(a[l]), 4); \
        return 0;                                                            \
    }

/* ---- fast ---- */

/* A copy whose length the compiler knows, in vectors; memcpy of 128 bytes and more would be a call. */
typedef u32 vec16 __attribute__((vector_size(16), aligned(2), may_alias));
#define COPY(to, from, n)                                      \
    do {                                                       \
        vec16 *t_ = (vec16 *)(void *)(to);                     \
        const vec16 *f_ = (const vec16 *)(const void *)(from); \
        for (u32 k_ = 0; k_ < (n) / 16; k_++) t_[k_] = f_[k_]; \
    } while (0)

/* The same to memory. */
#define STORE(sp, N, to, from, n)                                           \
    do {                                                                    \
        if (LOOKS_AT(sp, N) && (N) == 4 && (n) == 128) {                    \
            if (unlikely(stored_copy_4(to, from))) return stored_odd(w, N); \
        } else {                                                            \
            COPY(to, from, n);                                              \
            LOOK(sp, N, from);                                              \
        }                                                                   \
    } while (0)

/* Address of the access at group g: BASE is u32 for shared memory with 32-bit addresses, u64 otherwise. */
#define ADDR(BASE, g) ((u64)(BASE)(*(const BASE *)(const void *)(SLOT(R, i->a) + 8 * (g)) + (BASE)(s64)i->off))
#define AT_global(a) ((char *)(uintptr_t)((a) + r->view))
#define AT_shared(a) (w->shared + (a))
EACH(gather4, global, u64, 0)
EACH(gather4_shared, shared, u32, 0)
EACH(scatter4, global, u64, 1)
EACH(scatter4_shared, shared, u32, 1)

/* Neighbours with lanes missing: only what lies between the first and the last active lane must be inside. */
#define PART(sp, BASE, T, N)                                                                                       \
    static int ld_##sp##_part_##N(char *restrict R, const struct insn *i, struct warp *w)                          \
    {                                                                                                              \
        const struct range *r = &w->range[i->site];                                                                \
        u32 m = w->mask, first = (u32)__builtin_ctz(m), last = 31 - (u32)__builtin_clz(m);                         \
        u64 a = (BASE)(ADDR(BASE, 0) + first * N); /* of the first active lane: those before it may lie outside */ \
        if (unlikely(!inside(r, a, (last - first + 1) * N) || (a & (N - 1)))) return FAST_MISS(R, i, w);           \
        WATCH_SOME(sp, 0, a, first, N);                                                                            \
        T *d = (T *)(void *)SLOT(R, i->d);                                                                         \
        const char *p = AT_##sp(a);                                                                                \
        for (; m; m &= m - 1) {                                                                                    \
            u32 l = (u32)__builtin_ctz(m);                                                                         \
            memcpy(&d[l], p + (size_t)(l - first) * N, N);                                                         \
        }                                                                                                          \
        return 0;                                                                                                  \
    }                                                                                                              \
    static int st_##sp##_part_##N(char *restrict R, const struct insn *i, struct warp *w)                          \
    {                                                                                                              \
        const struct range *r = &w->range[i->site];                                                                \
        u32 m = w->mask, first = (u32)__builtin_ctz(m), last = 31 - (u32)__builtin_clz(m);                         \
        u64 a = (BASE)(ADDR(BASE, 0) + first * N); /* of the first active lane: those before it may lie outside */ \
        if (unlikely(!inside(r, a, (last - first + 1) * N) || (a & (N - 1)))) return FAST_MISS(R, i, w);           \
        WATCH_SOME(sp, 1, a, first, N);                                                                            \
        const T *d = (const T *)(const void *)SLOT(R, i->d);                                                       \
        char *p = AT_##sp(a);                                                                                      \
        bool odd = false;                                                                                          \
        for (; m; m &= m - 1) {                                                                                    \
            u32 l = (u32)__builtin_ctz(m);                                                                         \
            memcpy(p + (size_t)(l - first) * N, &d[l], N);                                                         \
            if (LOOKS_AT(sp, N)) odd |= stored_is_odd(d[l], N);                                                    \
        }                                                                                                          \
        if (unlikely(odd)) return stored_odd(w, N);                                                                \
        return 0;                                                                                                  \
    }
PART(global, u64, u16, 2)
PART(global, u64, u32, 4)
PART(global, u64, u64, 8)
PART(shared, u32, u16, 2)
PART(shared, u32, u32, 4)
PART(shared, u32, u64, 8)

/* What every fast handler begins with, and the test of n bytes at a. */
#define FAST_HEAD                               \
    const struct range *r = &w->range[i->site]; \
    (void)r
#define OUTSIDE(a, n, N) (!inside(r, a, n) || ((a) & ((N)-1)))
#define LANES_OUT(T) T *d = (T *)(void *)SLOT(R, i->d)

#define FAST(sp, BASE, T, N)                                                                                 \
    H(ld_##sp##_s_##N) /* one address, one scalar */                                                         \
    {                                                                                                        \
        FAST_HEAD;                                                                                           \
        u64 a = ADDR(BASE, 0);                                                                               \
        MISS_IF(OUTSIDE(a, N, N));                                                                           \
        WATCH_ONE(sp, 0, a, N);                                                                              \
        memcpy(SLOT(R, i->d), AT_##sp(a), N);                                                                \
        return 0;                                                                                            \
    }                                                                                                        \
    H(ld_##sp##_sv_##N) /* one address, 32 lanes */                                                          \
    {                                                                                                        \
        MISS_IF(w->mask != ALL_LANES);                                                                       \
        FAST_HEAD;                                                                                           \
        u64 a = ADDR(BASE, 0);                                                                               \
        MISS_IF(OUTSIDE(a, N, N));                                                                           \
        WATCH_ONE(sp, 0, a, N);                                                                              \
        LANES_OUT(T), x;                                                                                     \
        memcpy(&x, AT_##sp(a), N);                                                                           \
        for (u32 l = 0; l < LANES; l++) d[l] = x;                                                            \
        return 0;                                                                                            \
    }                                                                                                        \
    H(st_##sp##_s_##N) /* all active lanes to one address: the last one's value stays */                     \
    {                                                                                                        \
        FAST_HEAD;                                                                                           \
        u64 a = ADDR(BASE, 0);                                                                               \
        MISS_IF(OUTSIDE(a, N, N));                                                                           \
        WATCH_ONE(sp, 1, a, N);                                                                              \
        u32 last = CLS_AT(i, 0) == CLS_V ? 31 - (u32)__builtin_clz(w->mask) : 0;                             \
        T x;                                                                                                 \
        memcpy(&x, SLOT(R, i->d) + last * N, N);                                                             \
        memcpy(AT_##sp(a), &x, N);                                                                           \
        if (LOOKS_AT(sp, N) && unlikely(stored_is_odd(x, N))) return stored_odd(w, N);                       \
        return 0;                                                                                            \
    }                                                                                                        \
    H(ld_##sp##_c32_##N) /* neighbours, one group of 32 */                                                   \
    {                                                                                                        \
        if (unlikely(w->mask != ALL_LANES)) return ld_##sp##_part_##N(R, i, w);                              \
        FAST_HEAD;                                                                                           \
        u64 a = ADDR(BASE, 0);                                                                               \
        MISS_IF(OUTSIDE(a, 32 * N, N));                                                                      \
        WATCH_RUN(sp, 0, a, 32 * N, 0, N);                                                                   \
        COPY(SLOT(R, i->d), AT_##sp(a), 32 * N);                                                             \
        return 0;                                                                                            \
    }                                                                                                        \
    H(st_##sp##_c32_##N)                                                                                     \
    {                                                                                                        \
        if (unlikely(w->mask != ALL_LANES)) return st_##sp##_part_##N(R, i, w);                              \
        FAST_HEAD;                                                                                           \
        u64 a = ADDR(BASE, 0);                                                                               \
        MISS_IF(OUTSIDE(a, 32 * N, N));                                                                      \
        WATCH_RUN(sp, 1, a, 32 * N, 0, N);                                                                   \
        STORE(sp, N, AT_##sp(a), SLOT(R, i->d), 32 * N);                                                     \
        return 0;                                                                                            \
    }                                                                                                        \
    H(ld_##sp##_c16_##N) /* two groups of 16 */                                                              \
    {                                                                                                        \
        MISS_IF(w->mask != ALL_LANES);                                                                       \
        FAST_HEAD;                                                                                           \
        u64 a = ADDR(BASE, 0), b = ADDR(BASE, 1);                                                            \
        MISS_IF(OUTSIDE(a, 16 * N, N) || OUTSIDE(b, 16 * N, N));                                             \
        WATCH_RUN(sp, 0, a, 16 * N, 0, N);                                                                   \
        WATCH_RUN(sp, 0, b, 16 * N, 16, N);                                                                  \
        COPY(SLOT(R, i->d), AT_##sp(a), 16 * N);                                                             \
        COPY(SLOT(R, i->d) + 16 * N, AT_##sp(b), 16 * N);                                                    \
        return 0;                                                                                            \
    }                                                                                                        \
    H(st_##sp##_c16_##N)                                                                                     \
    {                                                                                                        \
        MISS_IF(w->mask != ALL_LANES);                                                                       \
        FAST_HEAD;                                                                                           \
        u64 a = ADDR(BASE, 0), b = ADDR(BASE, 1);                                                            \
        MISS_IF(OUTSIDE(a, 16 * N, N) || OUTSIDE(b, 16 * N, N));                                             \
        WATCH_RUN(sp, 1, a, 16 * N, 0, N);                                                                   \
        WATCH_RUN(sp, 1, b, 16 * N, 16, N);                                                                  \
        COPY(AT_##sp(a), SLOT(R, i->d), 16 * N);                                                             \
        COPY(AT_##sp(b), SLOT(R, i->d) + 16 * N, 16 * N);                                                    \
        LOOK(sp, N, SLOT(R, i->d));                                                                          \
        return 0;                                                                                            \
    }                                                                                                        \
    H(ld_##sp##_c_##N) /* groups of any size */                                                              \
    {                                                                                                        \
        MISS_IF(w->mask != ALL_LANES);                                                                       \
        FAST_HEAD;                                                                                           \
        u32 n = w->code->group * N;                                                                          \
        for (u32 g = 0; g < w->code->groups; g++) {                                                          \
            u64 a = ADDR(BASE, g);                                                                           \
            MISS_IF(OUTSIDE(a, n, N));                                                                       \
            WATCH_RUN(sp, 0, a, n, g * w->code->group, N);                                                   \
            memcpy(SLOT(R, i->d) + g * n, AT_##sp(a), n);                                                    \
        }                                                                                                    \
        return 0;                                                                                            \
    }                                                                                                        \
    H(st_##sp##_c_##N)                                                                                       \
    {                                                                                                        \
        MISS_IF(w->mask != ALL_LANES);                                                                       \
        FAST_HEAD;                                                                                           \
        u32 n = w->code->group * N;                                                                          \
        for (u32 g = 0; g < w->code->groups; g++) MISS_IF(OUTSIDE(ADDR(BASE, g), n, N));                     \
        for (u32 g = 0; g < w->code->groups; g++) WATCH_RUN(sp, 1, ADDR(BASE, g), n, g * w->code->group, N); \
        for (u32 g = 0; g < w->code->groups; g++) memcpy(AT_##sp(ADDR(BASE, g)), SLOT(R, i->d) + g * n, n);  \
        LOOK(sp, N, SLOT(R, i->d));                                                                          \
        return 0;                                                                                            \
    }                                                                                                        \
    H(ld_##sp##_g16_##N) /* one address a group of 16, to 32 lanes */                                        \
    {                                                                                                        \
        MISS_IF(w->mask != ALL_LANES);                                                                       \
        FAST_HEAD;                                                                                           \
        u64 a = ADDR(BASE, 0), b = ADDR(BASE, 1);                                                            \
        MISS_IF(OUTSIDE(a, N, N) || OUTSIDE(b, N, N));                                                       \
        WATCH_GROUP(sp, a, N, 0, 16);                                                                        \
        WATCH_GROUP(sp, b, N, 16, 16);                                                                       \
        LANES_OUT(T), x, y;                                                                                  \
        memcpy(&x, AT_##sp(a), N);                                                                           \
        memcpy(&y, AT_##sp(b), N);                                                                           \
        for (u32 l = 0; l < 16; l++) {                                                                       \
            d[l] = x;                                                                                        \
            d[l + 16] = y;                                                                                   \
        }                                                                                                    \
        return 0;                                                                                            \
    }                                                                                                        \
    H(ld_##sp##_g_##N) /* one address a group of any size, to 32 lanes */                                    \
    {                                                                                                        \
        MISS_IF(w->mask != ALL_LANES);                                                                       \
        FAST_HEAD;                                                                                           \
        u32 n = w->code->group;                                                                              \
        LANES_OUT(T), x;                                                                                     \
        for (u32 g = 0; g < w->code->groups; g++) {                                                          \
            u64 a = ADDR(BASE, g);                                                                           \
            MISS_IF(OUTSIDE(a, N, N));                                                                       \
            WATCH_GROUP(sp, a, N, g *n, n);                                                                  \
            memcpy(&x, AT_##sp(a), N);                                                                       \
            for (u32 l = 0; l < n; l++) d[g * n + l] = x;                                                    \
        }                                                                                                    \
        return 0;                                                                                            \
    }                                                                                                        \
    H(ld_##sp##_gs_##N) /* one address a group, one scalar a group */                                        \
    {                                                                                                        \
        MISS_IF(w->mask != ALL_LANES);                                                                       \
        FAST_HEAD;                                                                                           \
        for (u32 g = 0; g < w->code->groups; g++) {                                                          \
            u64 a = ADDR(BASE, g);                                                                           \
            MISS_IF(OUTSIDE(a, N, N));                                                                       \
            WATCH_GROUP(sp, a, N, g * w->code->group, w->code->group);                                       \
            memcpy(SLOT(R, i->d) + 8 * g, AT_##sp(a), N);                                                    \
        }                                                                                                    \
        return 0;                                                                                            \
    }
FAST(global, u64, u16, 2)
FAST(global, u64, u32, 4)
FAST(global, u64, u64, 8)
FAST(shared, u32, u16, 2)
FAST(shared, u32, u32, 4)
FAST(shared, u32, u64, 8)

struct fast_set {
    handler *s, *sts, *sv, *c32, *c16, *c, *g16, *g, *gs, *st32, *st16, *st;
};
#define FAST_SET(sp, N)                                                                                            \
    {                                                                                                              \
        ld_##sp##_s_##N, st_##sp##_s_##N, ld_##sp##_sv_##N, ld_##sp##_c32_##N, ld_##sp##_c16_##N, ld_##sp##_c_##N, \
            ld_##sp##_g16_##N, ld_##sp##_g_##N, ld_##sp##_gs_##N, st_##sp##_c32_##N, st_##sp##_c16_##N,            \
            st_##sp##_c_##N                                                                                        \
    }
static const struct fast_set fast_sets[2][9] = {
    /* by the width of an element */
    { [2] = FAST_SET(global, 2), [4] = FAST_SET(global, 4), [8] = FAST_SET(global, 8) },
    { [2] = FAST_SET(shared, 2), [4] = FAST_SET(shared, 4), [8] = FAST_SET(shared, 8) },
};

static handler *fast_handler(const struct site *s, const struct insn *i, u32 group, s32 stride)
{
    bool shared = s->space == SP_SHARED && s->addr_width == 4;
    bool global = (s->space == SP_GLOBAL || s->space == SP_CONST ||
                   (s->space == SP_GENERIC &&
                    (s->prov.kind == FROM_PARAM || (s->prov.kind == FROM_VAR && s->prov.var->space != SP_SHARED &&
                                                    s->prov.var->space != SP_LOCAL)))) &&
                  s->addr_width == 8;
    bool load = site_is_load(s);
    if ((!shared && !global) || s->vec != 1 || s->width != s->reg_width || s->width < 2 || s->sem != SEM_WEAK ||
        i->guard || (i->flags & IF_TAG) || s->prov.kind == FROM_TAG || (!load && !site_is_store(s)))
        return FAST_MISS;
    const struct fast_set *f = &fast_sets[shared][s->width];
    u32 addr = CLS_AT(i, 1), data = CLS_AT(i, 0);
    if (!load && s->space == SP_CONST) return FAST_MISS;
    if (addr == CLS_S)
        return !load ? (data == CLS_A ? FAST_MISS : f->sts) : data == CLS_S ? f->s : data == CLS_V ? f->sv : FAST_MISS;
    if (addr == CLS_A && stride == s->width && data == CLS_V)
        return load ? (group == 32   ? f->c32
                       : group == 16 ? f->c16
                                     : f->c)
                    : (group == 32   ? f->st32
                       : group == 16 ? f->st16
                                     : f->st);
    if (addr == CLS_A && stride == 0 && load)
        return data == CLS_V ? (group == 16 ? f->g16 : f->g) : data == CLS_A ? f->gs : FAST_MISS;
    if (addr == CLS_V && s->width == 4 && data == CLS_V)
        return load ? (shared ? gather4_shared : gather4) : shared ? scatter4_shared : scatter4;
    return FAST_MISS;
}
