/* memory_fast.h: the fast handlers of loads and stores, a template.
 *
 * Each file that includes it gets its own set, static, and fast_handler() to choose from it. Before, it defines
 *   FAST_MISS                        the handler that takes what is not fast: run_access, or one that checks more
 *   WATCH_RUN(sp, W, a, n, lane, N)  called for n bytes at a, by consecutive lanes from `lane` on, N bytes each
 *   WATCH_ONE(sp, W, a, N)           N bytes at a, by all active lanes
 *   WATCH_GROUP(sp, a, N, lane, k)   loads: N bytes at a, by the k lanes from `lane` on
 *   WATCH_SOME(sp, W, a, lane, N, m) N bytes at a + (l - lane) * N, by each lane l of the mask m, the lowest of which
 *                                    is `lane`
 *   WATCH_EACH(sp, W, a, N)          N bytes at a[l], by each of the 32 lanes l
 *   WATCH_PICK(sp, W, a, N)          N bytes at a[l], by each active lane l
 *   LOOKS                            1: values that go to global memory are looked at (stored.h); 0: they are not
 * sp is global or shared, W says whether it is a store. The calls come after the bounds test and before the access,
 * with i and w in scope, for global memory r, the range; they may return from the handler. */
#include "sim/access.h"
#include "sim/lanes.h"
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

/* What every fast handler begins with, and the test of n bytes at a. */
#define FAST_HEAD                               \
    const struct range *r = &w->range[i->site]; \
    (void)r
#define OUTSIDE(a, n, N) (!inside(r, a, n) || ((a) & ((N)-1)))
#define LANES_OUT(T) T *d = (T *)(void *)SLOT(R, i->d)

/* memory_fast_each.h pastes the name of its space: these have it expanded first. */
#define FAST_PASTE_2(a, b) a##b
#define FAST_PASTE(a, b) FAST_PASTE_2(a, b)
#define FAST_NAME_2(op, sp, shape, n) op##_##sp##_##shape##_##n
#define FAST_NAME(op, sp, shape, n) FAST_NAME_2(op, sp, shape, n)
#define FAST_AT_2(sp, a) AT_##sp(a)
#define FAST_AT(sp, a) FAST_AT_2(sp, a)
#define FAST_WATCH_2(shape, sp, ...) WATCH_##shape(sp, __VA_ARGS__)
#define FAST_WATCH(shape, sp, ...) FAST_WATCH_2(shape, sp, __VA_ARGS__)
#define FAST_LOOK(sp, N, from) LOOK(sp, N, from)
#define FAST_LOOKS(sp, N) LOOKS_AT(sp, N)
#define FAST_STORE(sp, N, to, from, n) STORE(sp, N, to, from, n)

#define FAST_SPACE global
#define FAST_BASE u64
#define FAST_BITS 16
#define FAST_BYTES 2
#include "sim/memory_fast_each.h"
#define FAST_BITS 32
#define FAST_BYTES 4
#include "sim/memory_fast_each.h"
#define FAST_BITS 64
#define FAST_BYTES 8
#include "sim/memory_fast_each.h"
#undef FAST_SPACE
#undef FAST_BASE
#define FAST_SPACE shared
#define FAST_BASE u32
#define FAST_BITS 16
#define FAST_BYTES 2
#include "sim/memory_fast_each.h"
#define FAST_BITS 32
#define FAST_BYTES 4
#include "sim/memory_fast_each.h"
#define FAST_BITS 64
#define FAST_BYTES 8
#include "sim/memory_fast_each.h"

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
        return load ? (shared ? ld_shared_each_4 : ld_global_each_4) : shared ? st_shared_each_4 : st_global_each_4;
    if (addr == CLS_A && s->width == 4 && load && data == CLS_V) return shared ? ld_shared_apart_4 : ld_global_apart_4;
    if (addr != CLS_S && s->width == 4 && !load) return shared ? st_shared_mixed_4 : st_global_mixed_4;
    return FAST_MISS;
}
