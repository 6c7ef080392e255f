/* memory_fast_each.h: the fast handlers of one space and one width, a template that memory_fast.h includes.
 *
 * Before, it defines
 *   FAST_SPACE   global or shared
 *   FAST_BASE    of its addresses: u64, or u32 of shared memory with 32-bit addresses
 *   FAST_BITS    of an element, undefined at the end
 *   FAST_BYTES   the same */
#define BASE FAST_BASE
#define N FAST_BYTES
#define T FAST_PASTE(u, FAST_BITS)
#define NAME(op, shape) FAST_NAME(op, FAST_SPACE, shape, FAST_BYTES)
#define AT(a) FAST_AT(FAST_SPACE, a)
#define WATCH(shape, ...) FAST_WATCH(shape, FAST_SPACE, __VA_ARGS__)
#define LOOK_HERE(from) FAST_LOOK(FAST_SPACE, N, from)
#define LOOKS_HERE FAST_LOOKS(FAST_SPACE, N)
#define STORE_HERE(to, from, n) FAST_STORE(FAST_SPACE, N, to, from, n)

/* ---- gathers and scatters of 4-byte elements: the common way without its generality ---- */

#if FAST_BYTES == 4
/* The address of each lane; affine: it is so with a stride that is not the width of the element. */
static inline void NAME(lane, addresses)(BASE a[LANES], const char *R, const struct insn *i, const struct warp *w,
                                         bool affine)
{
    const char *p = SLOT(R, i->a);
    if (!affine) {
        for (u32 l = 0; l < LANES; l++) a[l] = ((const BASE *)(const void *)p)[l] + (BASE)(s64)i->off;
        return;
    }
    u32 group = w->code->group;
    BASE stride = (BASE)(s64)w->code->stride[i->a];
    for (u32 g = 0; g * group < LANES; g++) {
        BASE at = *(const BASE *)(const void *)(p + 8 * g) + (BASE)(s64)i->off;
        for (u32 j = 0; j < group; j++) a[g * group + j] = at + stride * (BASE)j;
    }
}
/* Some lane of the mask accesses what is outside of the range, or not aligned. */
static inline bool NAME(lanes, outside)(const BASE a[LANES], const struct range *r, u32 mask)
{
    BASE limit = (BASE)r->size - 4, lo = (BASE)r->lo, bad = 0;
    if (likely(mask == ALL_LANES)) {
        for (u32 l = 0; l < LANES; l++) bad |= (BASE)(a[l] - lo > limit) | (a[l] & 3);
        return bad;
    }
    EACH_SET (l, mask) {
        bad |= (BASE)(a[l] - lo > limit) | (a[l] & 3);
    }
    return bad;
}
static inline __attribute__((always_inline)) int NAME(ld, lanes)(char *restrict R, const struct insn *i, struct warp *w,
                                                                 bool affine)
{
    const struct range *r = &w->range[i->site];
    MISS_IF(r->size < 4);
    BASE a[LANES];
    NAME(lane, addresses)(a, R, i, w, affine);
    MISS_IF(NAME(lanes, outside)(a, r, w->mask));
    u32 *d = (u32 *)(void *)SLOT(R, i->d);
    if (unlikely(w->mask != ALL_LANES)) {
        WATCH(PICK, 0, a, 4);
        EACH_SET (l, w->mask) {
            memcpy(&d[l], AT(a[l]), 4);
        }
        return 0;
    }
    WATCH(EACH, 0, a, 4);
    for (u32 l = 0; l < LANES; l++) memcpy(&d[l], AT(a[l]), 4);
    return 0;
}
/* mixed: the data may be of another class than V. */
static inline __attribute__((always_inline)) int NAME(st, lanes)(char *restrict R, const struct insn *i, struct warp *w,
                                                                 bool affine, bool mixed)
{
    const struct range *r = &w->range[i->site];
    MISS_IF(r->size < 4);
    BASE a[LANES];
    NAME(lane, addresses)(a, R, i, w, affine);
    MISS_IF(NAME(lanes, outside)(a, r, w->mask));
    u32 values[LANES], *d = (u32 *)(void *)SLOT(R, i->d);
    if (mixed && CLS_AT(i, 0) != CLS_V) {
        u64 wide[LANES];
        lane_values(w->code, R, i->d, CLS_AT(i, 0), 4, wide);
        for (u32 l = 0; l < LANES; l++) values[l] = (u32)wide[l];
        d = values;
    }
    if (unlikely(w->mask != ALL_LANES)) {
        WATCH(PICK, 1, a, 4);
        bool odd = false;
        EACH_SET (l, w->mask) {
            memcpy(AT(a[l]), &d[l], 4);
            if (LOOKS_HERE) odd |= stored_is_odd(d[l], 4);
        }
        if (unlikely(odd)) return stored_odd(w, 4);
        return 0;
    }
    WATCH(EACH, 1, a, 4);
    for (u32 l = 0; l < LANES; l++) memcpy(AT(a[l]), &d[l], 4);
    LOOK_HERE((const char *)d);
    return 0;
}
H(NAME(ld, each)) { return NAME(ld, lanes)(R, i, w, false); }
H(NAME(ld, apart)) { return NAME(ld, lanes)(R, i, w, true); }
H(NAME(st, each)) { return NAME(st, lanes)(R, i, w, false, false); }
#endif

/* ---- neighbours with lanes missing: only what lies between the first and the last active lane of a group must be
 * inside ---- */

/* The active lanes of group g of n lanes, from 0 on; *a: the address of the first of them, as those before it may lie
 * outside. */
static inline u32 NAME(lanes, there)(const char *R, const struct insn *i, const struct warp *w, u32 n, u32 g, u64 *a)
{
    u32 m = n == LANES ? w->mask : w->mask >> g * n & ((1u << n) - 1);
    if (m) *a = (BASE)(ADDR(BASE, g) + (u32)__builtin_ctz(m) * N);
    return m;
}
static inline bool NAME(parts, outside)(const char *R, const struct insn *i, const struct warp *w, u32 n)
{
    const struct range *r = &w->range[i->site];
    bool outside = false;
    u64 a = 0;
    for (u32 g = 0; g * n < LANES; g++) {
        u32 m = NAME(lanes, there)(R, i, w, n, g, &a);
        if (m) outside |= OUTSIDE(a, (32 - (u32)__builtin_clz(m) - (u32)__builtin_ctz(m)) * N, N);
    }
    return outside;
}
static inline __attribute__((always_inline)) int NAME(ld, groups)(char *restrict R, const struct insn *i,
                                                                  struct warp *w, u32 n)
{
    FAST_HEAD;
    MISS_IF(NAME(parts, outside)(R, i, w, n));
    T *d = (T *)(void *)SLOT(R, i->d);
    u64 a = 0;
    for (u32 g = 0; g * n < LANES; g++, d += n) {
        u32 m = NAME(lanes, there)(R, i, w, n, g, &a), from = g * n;
        if (!m) continue;
        u32 first = (u32)__builtin_ctz(m);
        WATCH(SOME, 0, a, from + first, N, m << from);
        const char *p = AT(a);
        for (; m; m &= m - 1) {
            u32 l = (u32)__builtin_ctz(m);
            memcpy(&d[l], p + (size_t)(l - first) * N, N);
        }
    }
    return 0;
}
static inline __attribute__((always_inline)) int NAME(st, groups)(char *restrict R, const struct insn *i,
                                                                  struct warp *w, u32 n)
{
    FAST_HEAD;
    MISS_IF(NAME(parts, outside)(R, i, w, n));
    const T *d = (const T *)(const void *)SLOT(R, i->d);
    bool odd = false;
    u64 a = 0, values[LANES];
    bool lanes = CLS_AT(i, 0) == CLS_V;
    if (!lanes) lane_values(w->code, R, i->d, CLS_AT(i, 0), N, values);
    for (u32 g = 0; g * n < LANES; g++) {
        u32 m = NAME(lanes, there)(R, i, w, n, g, &a), from = g * n;
        if (!m) continue;
        u32 first = (u32)__builtin_ctz(m);
        WATCH(SOME, 1, a, from + first, N, m << from);
        char *p = AT(a);
        for (; m; m &= m - 1) {
            u32 l = (u32)__builtin_ctz(m);
            T x = lanes ? d[from + l] : (T)values[from + l];
            memcpy(p + (size_t)(l - first) * N, &x, N);
            if (LOOKS_HERE) odd |= stored_is_odd(x, N);
        }
    }
    if (unlikely(odd)) return stored_odd(w, N);
    return 0;
}

static int NAME(ld, part)(char *restrict R, const struct insn *i, struct warp *w)
{
    return NAME(ld, groups)(R, i, w, w->code->group);
}
static int NAME(ld, part32)(char *restrict R, const struct insn *i, struct warp *w)
{
    return NAME(ld, groups)(R, i, w, LANES);
}
static int NAME(st, part)(char *restrict R, const struct insn *i, struct warp *w)
{
    return NAME(st, groups)(R, i, w, w->code->group);
}
static int NAME(st, part32)(char *restrict R, const struct insn *i, struct warp *w)
{
    return NAME(st, groups)(R, i, w, LANES);
}

#if FAST_BYTES == 4
H(NAME(st, mixed)) /* addresses that differ, data of any class */
{
    bool affine = CLS_AT(i, 1) == CLS_A;
    if (affine && w->code->stride[i->a] == N && w->mask != ALL_LANES) return NAME(st, part)(R, i, w);
    return NAME(st, lanes)(R, i, w, affine, true);
}
#endif

/* ---- whole warps ---- */

H(NAME(ld, s)) /* one address, one scalar */
{
    FAST_HEAD;
    u64 a = ADDR(BASE, 0);
    MISS_IF(OUTSIDE(a, N, N));
    WATCH(ONE, 0, a, N);
    memcpy(SLOT(R, i->d), AT(a), N);
    return 0;
}
H(NAME(ld, sv)) /* one address, 32 lanes */
{
    FAST_HEAD;
    u64 a = ADDR(BASE, 0);
    MISS_IF(OUTSIDE(a, N, N));
    WATCH(ONE, 0, a, N);
    LANES_OUT(T), x;
    memcpy(&x, AT(a), N);
    if (unlikely(w->mask != ALL_LANES)) {
        EACH_SET (l, w->mask) {
            d[l] = x;
        }
        return 0;
    }
    for (u32 l = 0; l < LANES; l++) d[l] = x;
    return 0;
}
H(NAME(st, s)) /* all active lanes to one address: the last one's value stays */
{
    FAST_HEAD;
    u64 a = ADDR(BASE, 0);
    MISS_IF(OUTSIDE(a, N, N));
    WATCH(ONE, 1, a, N);
    u32 last = CLS_AT(i, 0) == CLS_V ? 31 - (u32)__builtin_clz(w->mask) : 0;
    T x;
    memcpy(&x, SLOT(R, i->d) + last * N, N);
    memcpy(AT(a), &x, N);
    if (LOOKS_HERE && unlikely(stored_is_odd(x, N))) return stored_odd(w, N);
    return 0;
}
H(NAME(ld, c32)) /* neighbours, one group of 32 */
{
    if (unlikely(w->mask != ALL_LANES)) return NAME(ld, part32)(R, i, w);
    FAST_HEAD;
    u64 a = ADDR(BASE, 0);
    MISS_IF(OUTSIDE(a, 32 * N, N));
    WATCH(RUN, 0, a, 32 * N, 0, N);
    COPY(SLOT(R, i->d), AT(a), 32 * N);
    return 0;
}
H(NAME(st, c32))
{
    if (unlikely(w->mask != ALL_LANES)) return NAME(st, part32)(R, i, w);
    FAST_HEAD;
    u64 a = ADDR(BASE, 0);
    MISS_IF(OUTSIDE(a, 32 * N, N));
    WATCH(RUN, 1, a, 32 * N, 0, N);
    STORE_HERE(AT(a), SLOT(R, i->d), 32 * N);
    return 0;
}
H(NAME(ld, c16)) /* two groups of 16 */
{
    if (unlikely(w->mask != ALL_LANES)) return NAME(ld, part)(R, i, w);
    FAST_HEAD;
    u64 a = ADDR(BASE, 0), b = ADDR(BASE, 1);
    MISS_IF(OUTSIDE(a, 16 * N, N) || OUTSIDE(b, 16 * N, N));
    WATCH(RUN, 0, a, 16 * N, 0, N);
    WATCH(RUN, 0, b, 16 * N, 16, N);
    COPY(SLOT(R, i->d), AT(a), 16 * N);
    COPY(SLOT(R, i->d) + 16 * N, AT(b), 16 * N);
    return 0;
}
H(NAME(st, c16))
{
    if (unlikely(w->mask != ALL_LANES)) return NAME(st, part)(R, i, w);
    FAST_HEAD;
    u64 a = ADDR(BASE, 0), b = ADDR(BASE, 1);
    MISS_IF(OUTSIDE(a, 16 * N, N) || OUTSIDE(b, 16 * N, N));
    WATCH(RUN, 1, a, 16 * N, 0, N);
    WATCH(RUN, 1, b, 16 * N, 16, N);
    COPY(AT(a), SLOT(R, i->d), 16 * N);
    COPY(AT(b), SLOT(R, i->d) + 16 * N, 16 * N);
    LOOK_HERE(SLOT(R, i->d));
    return 0;
}
H(NAME(ld, c)) /* groups of any size */
{
    if (unlikely(w->mask != ALL_LANES)) return NAME(ld, part)(R, i, w);
    FAST_HEAD;
    u32 n = w->code->group * N;
    for (u32 g = 0; g < w->code->groups; g++) {
        u64 a = ADDR(BASE, g);
        MISS_IF(OUTSIDE(a, n, N));
        WATCH(RUN, 0, a, n, g * w->code->group, N);
        memcpy(SLOT(R, i->d) + g * n, AT(a), n);
    }
    return 0;
}
H(NAME(st, c))
{
    if (unlikely(w->mask != ALL_LANES)) return NAME(st, part)(R, i, w);
    FAST_HEAD;
    u32 n = w->code->group * N;
    for (u32 g = 0; g < w->code->groups; g++) MISS_IF(OUTSIDE(ADDR(BASE, g), n, N));
    for (u32 g = 0; g < w->code->groups; g++) WATCH(RUN, 1, ADDR(BASE, g), n, g * w->code->group, N);
    for (u32 g = 0; g < w->code->groups; g++) memcpy(AT(ADDR(BASE, g)), SLOT(R, i->d) + g * n, n);
    LOOK_HERE(SLOT(R, i->d));
    return 0;
}
H(NAME(ld, g16)) /* one address a group of 16, to 32 lanes */
{
    MISS_IF(w->mask != ALL_LANES);
    FAST_HEAD;
    u64 a = ADDR(BASE, 0), b = ADDR(BASE, 1);
    MISS_IF(OUTSIDE(a, N, N) || OUTSIDE(b, N, N));
    WATCH(GROUP, a, N, 0, 16);
    WATCH(GROUP, b, N, 16, 16);
    LANES_OUT(T), x, y;
    memcpy(&x, AT(a), N);
    memcpy(&y, AT(b), N);
    for (u32 l = 0; l < 16; l++) {
        d[l] = x;
        d[l + 16] = y;
    }
    return 0;
}
H(NAME(ld, g)) /* one address a group of any size, to 32 lanes */
{
    MISS_IF(w->mask != ALL_LANES);
    FAST_HEAD;
    u32 n = w->code->group;
    LANES_OUT(T), x;
    for (u32 g = 0; g < w->code->groups; g++) {
        u64 a = ADDR(BASE, g);
        MISS_IF(OUTSIDE(a, N, N));
        WATCH(GROUP, a, N, g * n, n);
        memcpy(&x, AT(a), N);
        for (u32 l = 0; l < n; l++) d[g * n + l] = x;
    }
    return 0;
}
H(NAME(ld, gs)) /* one address a group, one scalar a group */
{
    MISS_IF(w->mask != ALL_LANES);
    FAST_HEAD;
    for (u32 g = 0; g < w->code->groups; g++) {
        u64 a = ADDR(BASE, g);
        MISS_IF(OUTSIDE(a, N, N));
        WATCH(GROUP, a, N, g * w->code->group, w->code->group);
        memcpy(SLOT(R, i->d) + 8 * g, AT(a), N);
    }
    return 0;
}

#undef BASE
#undef N
#undef T
#undef NAME
#undef AT
#undef WATCH
#undef LOOK_HERE
#undef LOOKS_HERE
#undef STORE_HERE
#undef FAST_BITS
#undef FAST_BYTES
