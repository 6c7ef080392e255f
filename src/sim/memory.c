/* Loads and stores.
 *
 * Three ways, from fast to careful:
 *   fast    address S, or affine with the stride of the access; all lanes take part; inside the site's range, aligned:
 *           one range test per group and a plain copy. Chosen at decode by class, width and space.
 *   common  any classes, masks, widths and vectors: addresses to an array, one pass of tests against the site's range, then lanes.
 *   slow    access.c: what misses the range is looked up, checked against the object its pointer came from, and reported.
 * A lane that fails a check reads zero and writes nothing; the launch goes on, so that one run shows every cause. */
#include "sim/observe.h"
#include "sim/atomic.h"

#define H(name) static int name(char *restrict R, const struct insn *i, struct warp *w)

static inline bool inside(const struct range *r, u64 a, u64 n)
{
    u64 o = a - r->lo;
    return o < r->size && n <= r->size - o;
}

/* ---- common ---- */

void access_addresses(struct access *a, const char *R)
{
    const struct insn *i = a->insn;
    const struct code *c = a->warp->code;
    u32 cls = CLS_AT(i, a->site->which ? 2 : 1), aw = a->site->addr_width, slot = a->site->which ? i->b : i->a;
    s64 off = a->site->which ? 0 : i->off;
    const char *p = SLOT(R, slot);
    a->shape = cls == CLS_S ? SHAPE_U : cls == CLS_A ? SHAPE_A : SHAPE_V;
    if (cls == CLS_V && aw == 8) { for (u32 l = 0; l < LANES; l++) a->addr[l] = ((const u64 *)(const void *)p)[l] + (u64)off; return; }
    if (cls == CLS_V) { for (u32 l = 0; l < LANES; l++) a->addr[l] = (u32)(((const u32 *)(const void *)p)[l] + (u32)off); return; }
    u32 g = cls == CLS_A ? c->group : LANES;
    s64 stride = cls == CLS_A ? c->stride[slot] : 0;
    for (u32 k = 0; k * g < LANES; k++) {
        u64 base;
        memcpy(&base, p + 8 * k, 8);
        for (u32 j = 0; j < g; j++) {
            u64 v = base + (u64)(stride * j) + (u64)off;
            a->addr[k * g + j] = aw == 8 ? v : (u32)v;
        }
    }
}

/* Local memory and the parameters of calls: one piece a lane, at the same place in each. */
static bool quick_private(struct access *a)
{
    const struct site *s = a->site;
    const struct frame *f = a->warp->cur->fr;
    const struct lowered *low = f->code->low;
    bool call = s->space == SP_CALL, var = s->root.kind == ROOT_VAR && s->root.var->space == SP_LOCAL;
    u64 lo = var && !call ? f->local_base + s->root.var->offset : 0, size = call ? low->pmem_bytes : var ? s->root.var->size : f->local_base + low->local_bytes + f->top;
    if (size < a->bytes || lo + size > (call ? low->pmem_bytes : LOCAL_STACK) || (a->bytes & (a->bytes - 1))) return false;
    u64 limit = size - a->bytes, low_bits = a->bytes - 1, bad = 0;
    for (u32 l = 0; l < LANES; l++) bad |= (u64)(a->addr[l] - lo > limit || (a->addr[l] & low_bits)) << l;
    if (bad & a->mask) return false;
    u64 base = (u64)(uintptr_t)(call ? f->pmem : local_of(a->warp)), each = call ? low->pmem_bytes : LOCAL_STACK;
    for (u32 l = 0; l < LANES; l++) a->ptr[l] = (char *)(uintptr_t)(base + l * each + a->addr[l]);     /* of lanes that take part */
    a->ok = a->mask;
    return true;
}

/* All active lanes inside the cached range and aligned? Then their places are known. */
static bool quick_check(struct access *a)
{
    const struct site *s = a->site;
    const struct range *r = &a->warp->range[a->insn->site];
    if ((s->space == SP_LOCAL || s->space == SP_CALL) && !s->align) return quick_private(a);
    if (s->space == SP_LOCAL || s->space == SP_CALL || s->space == SP_PARAM || s->root.kind == ROOT_DYN || s->align || r->size < a->bytes) return false;
    u64 limit = r->size - a->bytes, low = a->bytes - 1, base = r->view;
    if (a->bytes & low) low = 0;
    u64 bad = 0;
    if (s->space == SP_SHARED) base = (u64)(uintptr_t)a->warp->shared;
    for (u32 l = 0; l < LANES; l++) bad |= (u64)(a->addr[l] - r->lo > limit || (a->addr[l] & low)) << l;
    if (low == 0 && a->bytes != 1) return false;
    if (bad & a->mask) return false;
    for (u32 l = 0; l < LANES; l++) a->ptr[l] = (char *)(uintptr_t)(a->addr[l] + base);
    a->ok = a->mask;
    if (s->space == SP_GLOBAL || s->space == SP_SHARED || s->space == SP_CONST) return true;
    return s->space == SP_GENERIC;
}

static inline u64 extend(u64 v, u32 width, bool sg)
{
    if (!sg || width >= 8) return v;
    u32 sh = 64 - 8 * width;
    return (u64)((s64)(v << sh) >> sh);
}

static u64 load_one(const char *p, u32 width, bool strong)
{
    u64 v = 0;
    if (strong) {
        switch (width) {
        case 1: return __atomic_load_n((const u8 *)p, __ATOMIC_ACQUIRE);
        case 2: return __atomic_load_n((const u16 *)(const void *)p, __ATOMIC_ACQUIRE);
        case 4: return __atomic_load_n((const u32 *)(const void *)p, __ATOMIC_ACQUIRE);
        default: return __atomic_load_n((const u64 *)(const void *)p, __ATOMIC_ACQUIRE);
        }
    }
    memcpy(&v, p, width);
    return v;
}

static void store_one(char *p, u64 v, u32 width, bool strong)
{
    if (strong) {
        switch (width) {
        case 1: __atomic_store_n((u8 *)p, (u8)v, __ATOMIC_RELEASE); return;
        case 2: __atomic_store_n((u16 *)(void *)p, (u16)v, __ATOMIC_RELEASE); return;
        case 4: __atomic_store_n((u32 *)(void *)p, (u32)v, __ATOMIC_RELEASE); return;
        default: __atomic_store_n((u64 *)(void *)p, v, __ATOMIC_RELEASE); return;
        }
    }
    memcpy(p, &v, width);
}

static u16 data_slot(const struct insn *i, u32 k) { return k == 0 ? i->d : k == 1 ? i->b : k == 2 ? i->c : i->e; }
static u32 data_class(const struct insn *i, u32 k) { return k < 3 ? CLS_AT(i, k == 0 ? 0 : k + 1) : CLS_E(i); }
static bool data_there(const struct warp *w, const struct insn *i, u32 k)
{
    const struct lop *o = &w->code->low->op[i->op];
    const struct opnd *p = k == 0 ? &o->d : k == 1 ? &o->b : k == 2 ? &o->c : &o->e;
    return p->kind != O_NONE;
}

/* The values of one element of all lanes go to the register: every active lane, or one per warp or group. */
static void put_result(struct warp *w, char *R, const struct insn *i, u32 slot, u32 cls, u32 reg_width, u32 mask, const u64 *v)
{
    char *d = SLOT(R, slot);
    (void)i;
    if (cls == CLS_V) {
        switch (reg_width) {
        case 2: for (u32 l = 0; l < LANES; l++) if (mask >> l & 1) ((u16 *)(void *)d)[l] = (u16)v[l]; break;
        case 4:
            if (mask == ALL_LANES) { for (u32 l = 0; l < LANES; l++) ((u32 *)(void *)d)[l] = (u32)v[l]; break; }
            for (u32 l = 0; l < LANES; l++) if (mask >> l & 1) ((u32 *)(void *)d)[l] = (u32)v[l];
            break;
        default: for (u32 l = 0; l < LANES; l++) if (mask >> l & 1) ((u64 *)(void *)d)[l] = v[l];
        }
        return;
    }
    u32 g = cls == CLS_A ? w->code->group : LANES;
    for (u32 k = 0; k * g < LANES; k++) {
        u32 m = mask >> k * g & (g == LANES ? ALL_LANES : (1u << g) - 1);
        if (m) memcpy(d + 8 * k, &v[k * g + (u32)__builtin_ctz(m)], 8);
    }
}

/* One 32- or 64-bit element a lane, every active lane allowed: straight between memory and the register. */
static bool load_plain(const struct access *a, char *R)
{
    const struct site *s = a->site;
    const struct insn *i = a->insn;
    if (s->vec != 1 || s->sem != SEM_WEAK || a->ok != a->mask || s->width != s->reg_width || s->width < 4 || CLS_AT(i, 0) != CLS_V || i->flags & IF_TAG || a->warp->probe) return false;
    char *d = SLOT(R, i->d);
    if (s->width == 4) { for (u32 m = a->mask; m; m &= m - 1) { u32 l = (u32)__builtin_ctz(m); memcpy(d + 4 * l, a->ptr[l], 4); } }
    else for (u32 m = a->mask; m; m &= m - 1) { u32 l = (u32)__builtin_ctz(m); memcpy(d + 8 * l, a->ptr[l], 8); }
    return true;
}

static bool store_plain(const struct access *a, const char *R)
{
    const struct site *s = a->site;
    const struct insn *i = a->insn;
    if (s->vec != 1 || s->sem != SEM_WEAK || s->width != s->reg_width || s->width < 4 || CLS_AT(i, 0) != CLS_V || a->warp->probe) return false;
    const char *d = SLOT(R, i->d);
    if (s->width == 4) { for (u32 m = a->ok; m; m &= m - 1) { u32 l = (u32)__builtin_ctz(m); memcpy(a->ptr[l], d + 4 * l, 4); } }
    else for (u32 m = a->ok; m; m &= m - 1) { u32 l = (u32)__builtin_ctz(m); memcpy(a->ptr[l], d + 8 * l, 8); }
    return true;
}

static void do_load(struct access *a, char *R)
{
    const struct site *s = a->site;
    struct warp *w = a->warp;
    if (load_plain(a, R)) return;
    u64 v[4][LANES];
    bool strong = s->sem != SEM_WEAK;
    for (u32 l = 0; l < LANES; l++) {
        if (!(a->mask >> l & 1)) continue;
        if (!(a->ok >> l & 1)) { for (u32 k = 0; k < s->vec; k++) v[k][l] = 0; continue; }
        char buf[32] __attribute__((aligned(16)));
        const char *p = a->ptr[l];
        if (a->bytes == 16 && s->vec > 1) { memcpy(buf, p, 16); p = buf; }      /* one access, not four */
        for (u32 k = 0; k < s->vec; k++) v[k][l] = extend(load_one(p + k * s->width, s->width, strong && p != buf), s->width, s->is_signed);
    }
    if (unlikely(w->probe))
        for (u32 l = 0; l < LANES; l++)
            if (a->ok >> l & 1) for (u32 k = 0; k < s->vec; k++) wait_record_read(w, a->insn->op, l, a->space[l], a->addr[l] + k * s->width, a->ptr[l] + k * s->width, s->width, v[k][l]);
    for (u32 k = 0; k < s->vec; k++) {
        if (!data_there(w, a->insn, k)) continue;
        put_result(w, R, a->insn, data_slot(a->insn, k), data_class(a->insn, k), s->reg_width, a->mask, v[k]);
    }
    if (a->insn->flags & IF_TAG) {
        const struct lop *o = &w->code->low->op[a->insn->op];
        const struct opnd *r[4] = { &o->d, &o->b, &o->c, &o->e };
        for (u32 k = 0; k < s->vec; k++) tags_loaded(w, *r[k], data_slot(a->insn, k), data_class(a->insn, k), a->mask);
    }
}

static void do_store(struct access *a, const char *R)
{
    const struct site *s = a->site;
    struct warp *w = a->warp;
    bool strong = s->sem != SEM_WEAK;
    u64 data[4][LANES];
    if (store_plain(a, R)) return;
    for (u32 k = 0; k < s->vec; k++) lane_values(w->code, R, data_slot(a->insn, k), data_class(a->insn, k), s->reg_width, data[k]);
    for (u32 l = 0; l < LANES; l++) {
        if (!(a->ok >> l & 1)) continue;
        char buf[32] __attribute__((aligned(16)));
        bool whole = a->bytes == 16 && s->vec > 1;
        char *p = whole ? buf : a->ptr[l];
        for (u32 k = 0; k < s->vec; k++) {
            u64 v = data[k][l];
            if (unlikely(w->probe) && load_one(a->ptr[l] + k * s->width, s->width, strong) != (s->width < 8 ? v & ((1ull << 8 * s->width) - 1) : v)) w->changed = 1;
            store_one(p + k * s->width, v, s->width, strong && !whole);
        }
        if (whole) memcpy(a->ptr[l], buf, 16);
    }
}

/* One memory instruction, the common way; false: no lane takes part. */
static bool common(struct access *a, char *R, const struct insn *i, struct warp *w)
{
    a->site = &w->code->low->site[i->site];
    a->insn = i; a->warp = w; a->mask = active_lanes(w, R, i);
    a->bytes = (u32)a->site->width * a->site->vec;
    if (!a->mask) return false;
    access_addresses(a, R);
    if (unlikely(w->probe) || w->code->observed || !quick_check(a)) access_check(a);
    switch (a->site->name) {
    case N_ld: do_load(a, R); break;
    case N_st: do_store(a, R); break;
    default: atomic_access(a, R);
    }
    return true;
}

int memory_any(char *restrict R, const struct insn *i, struct warp *w)
{
    struct access a;
    common(&a, R, i, w);
    return 0;
}

int memory_observed(char *restrict R, const struct insn *i, struct warp *w)
{
    struct access a;
    if (common(&a, R, i, w)) observe_access(w->cta->launch, &a);
    return 0;
}

/* ---- gathers and scatters of 4-byte elements: the common way without its generality ---- */

H(gather4)
{
    if (unlikely(w->mask != ALL_LANES)) return memory_any(R, i, w);
    const struct range *r = &w->range[i->site];
    if (unlikely(r->size < 4)) return memory_any(R, i, w);
    u64 a[LANES], limit = r->size - 4, bad = 0;
    const u64 *p = (const u64 *)(const void *)SLOT(R, i->a);
    u32 *d = (u32 *)(void *)SLOT(R, i->d);
    for (u32 l = 0; l < LANES; l++) { a[l] = p[l] + (u64)(s64)i->off; bad |= (u64)(a[l] - r->lo > limit) | (a[l] & 3); }
    if (unlikely(bad)) return memory_any(R, i, w);
    for (u32 l = 0; l < LANES; l++) memcpy(&d[l], (const char *)(uintptr_t)(a[l] + r->view), 4);
    return 0;
}

H(gather4_shared)
{
    if (unlikely(w->mask != ALL_LANES)) return memory_any(R, i, w);
    const struct range *r = &w->range[i->site];
    if (unlikely(r->size < 4)) return memory_any(R, i, w);
    u32 a[LANES], limit = (u32)r->size - 4, lo = (u32)r->lo, bad = 0;
    const u32 *p = (const u32 *)(const void *)SLOT(R, i->a);
    u32 *d = (u32 *)(void *)SLOT(R, i->d);
    for (u32 l = 0; l < LANES; l++) { a[l] = p[l] + (u32)i->off; bad |= (u32)(a[l] - lo > limit) | (a[l] & 3); }
    if (unlikely(bad)) return memory_any(R, i, w);
    for (u32 l = 0; l < LANES; l++) memcpy(&d[l], w->shared + a[l], 4);
    return 0;
}

H(scatter4)
{
    if (unlikely(w->mask != ALL_LANES)) return memory_any(R, i, w);
    const struct range *r = &w->range[i->site];
    if (unlikely(r->size < 4)) return memory_any(R, i, w);
    u64 a[LANES], limit = r->size - 4, bad = 0;
    const u64 *p = (const u64 *)(const void *)SLOT(R, i->a);
    const u32 *d = (const u32 *)(const void *)SLOT(R, i->d);
    for (u32 l = 0; l < LANES; l++) { a[l] = p[l] + (u64)(s64)i->off; bad |= (u64)(a[l] - r->lo > limit) | (a[l] & 3); }
    if (unlikely(bad)) return memory_any(R, i, w);
    for (u32 l = 0; l < LANES; l++) memcpy((char *)(uintptr_t)(a[l] + r->view), &d[l], 4);
    return 0;
}

/* ---- fast ---- */

/* A copy whose length the compiler knows, in vectors; memcpy of 128 bytes and more would be a call. */
typedef u32 vec16 __attribute__((vector_size(16), aligned(4), may_alias));
#define COPY(to, from, n) do { vec16 *t_ = (vec16 *)(void *)(to); const vec16 *f_ = (const vec16 *)(const void *)(from); for (u32 k_ = 0; k_ < (n) / 16; k_++) t_[k_] = f_[k_]; } while (0)


/* Address of the access at group g: BASE is u32 for shared memory with 32-bit addresses, u64 otherwise. */
#define ADDR(BASE, g) ((u64)(BASE)(*(const BASE *)(const void *)(SLOT(R, i->a) + 8 * (g)) + (BASE)(s64)i->off))
#define AT_global(a) ((char *)(uintptr_t)((a) + r->view))
#define AT_shared(a) (w->shared + (a))
/* Neighbours with lanes missing: only what lies between the first and the last active lane must be inside. */
#define PART(sp, BASE, T, N) \
    static int ld_##sp##_part_##N(char *restrict R, const struct insn *i, struct warp *w) \
    { \
        const struct range *r = &w->range[i->site]; \
        u32 m = w->mask, first = (u32)__builtin_ctz(m), last = 31 - (u32)__builtin_clz(m); \
        u64 a = (BASE)(ADDR(BASE, 0) + first * N);      /* of the first active lane: those before it may lie outside */ \
        if (unlikely(!inside(r, a, (last - first + 1) * N) || (a & (N - 1)))) return memory_any(R, i, w); \
        T *d = (T *)(void *)SLOT(R, i->d); \
        const char *p = AT_##sp(a); \
        for (; m; m &= m - 1) { u32 l = (u32)__builtin_ctz(m); memcpy(&d[l], p + (size_t)(l - first) * N, N); } \
        return 0; \
    } \
    static int st_##sp##_part_##N(char *restrict R, const struct insn *i, struct warp *w) \
    { \
        const struct range *r = &w->range[i->site]; \
        u32 m = w->mask, first = (u32)__builtin_ctz(m), last = 31 - (u32)__builtin_clz(m); \
        u64 a = (BASE)(ADDR(BASE, 0) + first * N);      /* of the first active lane: those before it may lie outside */ \
        if (unlikely(!inside(r, a, (last - first + 1) * N) || (a & (N - 1)))) return memory_any(R, i, w); \
        const T *d = (const T *)(const void *)SLOT(R, i->d); \
        char *p = AT_##sp(a); \
        for (; m; m &= m - 1) { u32 l = (u32)__builtin_ctz(m); memcpy(p + (size_t)(l - first) * N, &d[l], N); } \
        return 0; \
    }
PART(global, u64, u32, 4) PART(global, u64, u64, 8) PART(shared, u32, u32, 4) PART(shared, u32, u64, 8)

#define MISS_IF(c) do { if (unlikely(c)) return memory_any(R, i, w); } while (0)

/* What every fast handler begins with, and the test of n bytes at a. */
#define FAST_HEAD const struct range *r = &w->range[i->site]; (void)r
#define OUTSIDE(a, n, N) (!inside(r, a, n) || ((a) & ((N) - 1)))
#define LANES_OUT(T) T *d = (T *)(void *)SLOT(R, i->d)

#define FAST(sp, BASE, T, N) \
    H(ld_##sp##_s_##N)                          /* one address, one scalar */ \
    { \
        FAST_HEAD; \
        u64 a = ADDR(BASE, 0); \
        MISS_IF(OUTSIDE(a, N, N)); \
        memcpy(SLOT(R, i->d), AT_##sp(a), N); \
        return 0; \
    } \
    H(ld_##sp##_sv_##N)                         /* one address, 32 lanes */ \
    { \
        MISS_IF(w->mask != ALL_LANES); \
        FAST_HEAD; \
        u64 a = ADDR(BASE, 0); \
        MISS_IF(OUTSIDE(a, N, N)); \
        LANES_OUT(T), x; \
        memcpy(&x, AT_##sp(a), N); \
        for (u32 l = 0; l < LANES; l++) d[l] = x; \
        return 0; \
    } \
    H(st_##sp##_s_##N)                          /* all active lanes to one address: the last one's value stays */ \
    { \
        FAST_HEAD; \
        u64 a = ADDR(BASE, 0); \
        MISS_IF(OUTSIDE(a, N, N)); \
        u32 last = CLS_AT(i, 0) == CLS_V ? 31 - (u32)__builtin_clz(w->mask) : 0; \
        memcpy(AT_##sp(a), SLOT(R, i->d) + last * N, N); \
        return 0; \
    } \
    H(ld_##sp##_c32_##N)                        /* neighbours, one group of 32 */ \
    { \
        if (unlikely(w->mask != ALL_LANES)) return ld_##sp##_part_##N(R, i, w); \
        FAST_HEAD; \
        u64 a = ADDR(BASE, 0); \
        MISS_IF(OUTSIDE(a, 32 * N, N)); \
        COPY(SLOT(R, i->d), AT_##sp(a), 32 * N); \
        return 0; \
    } \
    H(st_##sp##_c32_##N) \
    { \
        if (unlikely(w->mask != ALL_LANES)) return st_##sp##_part_##N(R, i, w); \
        FAST_HEAD; \
        u64 a = ADDR(BASE, 0); \
        MISS_IF(OUTSIDE(a, 32 * N, N)); \
        COPY(AT_##sp(a), SLOT(R, i->d), 32 * N); \
        return 0; \
    } \
    H(ld_##sp##_c16_##N)                        /* two groups of 16 */ \
    { \
        MISS_IF(w->mask != ALL_LANES); \
        FAST_HEAD; \
        u64 a = ADDR(BASE, 0), b = ADDR(BASE, 1); \
        MISS_IF(OUTSIDE(a, 16 * N, N) || OUTSIDE(b, 16 * N, N)); \
        COPY(SLOT(R, i->d), AT_##sp(a), 16 * N); \
        COPY(SLOT(R, i->d) + 16 * N, AT_##sp(b), 16 * N); \
        return 0; \
    } \
    H(st_##sp##_c16_##N) \
    { \
        MISS_IF(w->mask != ALL_LANES); \
        FAST_HEAD; \
        u64 a = ADDR(BASE, 0), b = ADDR(BASE, 1); \
        MISS_IF(OUTSIDE(a, 16 * N, N) || OUTSIDE(b, 16 * N, N)); \
        COPY(AT_##sp(a), SLOT(R, i->d), 16 * N); \
        COPY(AT_##sp(b), SLOT(R, i->d) + 16 * N, 16 * N); \
        return 0; \
    } \
    H(ld_##sp##_c_##N)                          /* groups of any size */ \
    { \
        MISS_IF(w->mask != ALL_LANES); \
        FAST_HEAD; \
        u32 n = w->code->group * N; \
        for (u32 g = 0; g < w->code->groups; g++) { \
            u64 a = ADDR(BASE, g); \
            MISS_IF(OUTSIDE(a, n, N)); \
            memcpy(SLOT(R, i->d) + g * n, AT_##sp(a), n); \
        } \
        return 0; \
    } \
    H(st_##sp##_c_##N) \
    { \
        MISS_IF(w->mask != ALL_LANES); \
        FAST_HEAD; \
        u32 n = w->code->group * N; \
        for (u32 g = 0; g < w->code->groups; g++) MISS_IF(OUTSIDE(ADDR(BASE, g), n, N)); \
        for (u32 g = 0; g < w->code->groups; g++) memcpy(AT_##sp(ADDR(BASE, g)), SLOT(R, i->d) + g * n, n); \
        return 0; \
    } \
    H(ld_##sp##_g16_##N)                        /* one address a group of 16, to 32 lanes */ \
    { \
        MISS_IF(w->mask != ALL_LANES); \
        FAST_HEAD; \
        u64 a = ADDR(BASE, 0), b = ADDR(BASE, 1); \
        MISS_IF(OUTSIDE(a, N, N) || OUTSIDE(b, N, N)); \
        LANES_OUT(T), x, y; \
        memcpy(&x, AT_##sp(a), N); \
        memcpy(&y, AT_##sp(b), N); \
        for (u32 l = 0; l < 16; l++) { d[l] = x; d[l + 16] = y; } \
        return 0; \
    } \
    H(ld_##sp##_g_##N)                          /* one address a group of any size, to 32 lanes */ \
    { \
        MISS_IF(w->mask != ALL_LANES); \
        FAST_HEAD; \
        u32 n = w->code->group; \
        LANES_OUT(T), x; \
        for (u32 g = 0; g < w->code->groups; g++) { \
            u64 a = ADDR(BASE, g); \
            MISS_IF(OUTSIDE(a, N, N)); \
            memcpy(&x, AT_##sp(a), N); \
            for (u32 l = 0; l < n; l++) d[g * n + l] = x; \
        } \
        return 0; \
    } \
    H(ld_##sp##_gs_##N)                         /* one address a group, one scalar a group */ \
    { \
        MISS_IF(w->mask != ALL_LANES); \
        FAST_HEAD; \
        for (u32 g = 0; g < w->code->groups; g++) { \
            u64 a = ADDR(BASE, g); \
            MISS_IF(OUTSIDE(a, N, N)); \
            memcpy(SLOT(R, i->d) + 8 * g, AT_##sp(a), N); \
        } \
        return 0; \
    }
FAST(global, u64, u32, 4) FAST(global, u64, u64, 8)
FAST(shared, u32, u32, 4) FAST(shared, u32, u64, 8)

struct fast_set { handler *s, *sts, *sv, *c32, *c16, *c, *g16, *g, *gs, *st32, *st16, *st; };
#define FAST_SET(sp, N) { ld_##sp##_s_##N, st_##sp##_s_##N, ld_##sp##_sv_##N, ld_##sp##_c32_##N, ld_##sp##_c16_##N, ld_##sp##_c_##N, ld_##sp##_g16_##N, ld_##sp##_g_##N, ld_##sp##_gs_##N, \
    st_##sp##_c32_##N, st_##sp##_c16_##N, st_##sp##_c_##N }
static const struct fast_set fast_sets[2][2] = { { FAST_SET(global, 4), FAST_SET(global, 8) }, { FAST_SET(shared, 4), FAST_SET(shared, 8) } };

handler *memory_handler(const struct site *s, const struct insn *i, u32 group, s32 stride)
{
    bool shared = s->space == SP_SHARED && s->addr_width == 4;
    bool global = (s->space == SP_GLOBAL || s->space == SP_CONST || (s->space == SP_GENERIC && (s->root.kind == ROOT_PARAM || (s->root.kind == ROOT_VAR && s->root.var->space != SP_SHARED && s->root.var->space != SP_LOCAL)))) && s->addr_width == 8;
    bool load = s->name == N_ld;
    if ((!shared && !global) || s->vec != 1 || s->width != s->reg_width || s->width < 4 || s->sem != SEM_WEAK || i->guard || (i->flags & IF_TAG) || s->root.kind == ROOT_DYN || (!load && s->name != N_st)) return memory_any;
    const struct fast_set *f = &fast_sets[shared][s->width == 8];
    u32 addr = CLS_AT(i, 1), data = CLS_AT(i, 0);
    if (!load && s->space == SP_CONST) return memory_any;
    if (addr == CLS_S) return !load ? (data == CLS_A ? memory_any : f->sts) : data == CLS_S ? f->s : data == CLS_V ? f->sv : memory_any;
    if (addr == CLS_A && stride == s->width && data == CLS_V)
        return load ? (group == 32 ? f->c32 : group == 16 ? f->c16 : f->c) : (group == 32 ? f->st32 : group == 16 ? f->st16 : f->st);
    if (addr == CLS_A && stride == 0 && load) return data == CLS_V ? (group == 16 ? f->g16 : f->g) : data == CLS_A ? f->gs : memory_any;
    if (addr == CLS_V && s->width == 4 && data == CLS_V) return load ? (shared ? gather4_shared : gather4) : shared ? memory_any : scatter4;
    return memory_any;
}

/* ---- what is no access ---- */

int mem_fence(char *restrict R, const struct insn *i, struct warp *w)
{
    (void)R;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (observed(w->cta->launch)) observe_sync(w->cta->launch, (struct sync_event){ .kind = SYNC_FENCE, .cta = w->cta, .warp = w, .mask = w->mask, .id = w->code->low->op[i->op].aux, .op = i->op });
    return 0;
}

/* Prefetches and cache priorities change no value. */
int mem_hint(char *restrict R, const struct insn *i, struct warp *w)
{
    (void)R; (void)i; (void)w;
    return 0;
}

int mem_isspacep(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct mem *m = w->cta->launch->sim->mem;
    u32 bits = 0, space = w->code->low->op[i->op].aux, mask;
    for (u32 l = 0; l < LANES; l++) {
        u64 a = lane_value(w, w->code, R, i->a, CLS_AT(i, 1), 8, l);
        bool sh = a - mem_shared_window(m) < (u64)MEM_WINDOW_CTA * MEM_WINDOW_CTAS, lo = a - mem_local_window(m) < MEM_LOCAL_BYTES;
        struct mem_object *o = sh || lo ? NULL : mem_find(m, a);
        bool is = space == SP_SHARED ? sh : space == SP_LOCAL ? lo : space == SP_CONST ? o && o->kind == MEM_CONST : !sh && !lo && !(o && o->kind == MEM_CONST);
        bits |= (u32)is << l;
    }
    mask = active_lanes(w, R, i);
    u32 *d = (u32 *)(void *)SLOT(R, i->d);
    *d = (*d & ~mask) | (bits & mask);
    return 0;
}
