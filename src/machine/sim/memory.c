/* Loads and stores.
 *
 * Three paths, from fast to slow:
 *   fast    memory_fast.h: address S, or affine with the stride of the access; all lanes take part; inside the site's
 *           range, aligned: one range test per group and a plain copy. Chosen at decode by class, width and space.
 *   common  any classes, masks, widths and vectors: addresses to an array, one pass of tests against the site's
 *           range, then lanes.
 *   slow    access.c: what misses the range is looked up, checked against the object its pointer came from, and
 *           reported.
 * A lane that fails a check reads zero and writes nothing; the launch goes on, so that one run shows every cause. */
#include "sim/memory.h"
#include "sim/asked.h"
#include "sim/attach.h"
#include "sim/call.h"
#include "sim/cluster.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/observe.h"
#include "sim/planes.h"
#include "sim/wait.h"
#include "lanes/stored.h"

/* ---- common ---- */

void access_addresses(struct access *a, const char *R)
{
    const struct insn *i = a->insn;
    const struct code *c = a->warp->code;
    u32 k = a->site->which, cls = CLS_AT(i, k + 1), aw = a->site->addr_width, slot = (&i->a)[k];
    s64 off = a->site->which ? 0 : i->off;
    const char *p = SLOT(R, slot);
    a->shape = cls == CLS_S ? SHAPE_U : cls == CLS_A ? SHAPE_A : SHAPE_V;
    if (cls == CLS_V && aw == 8) {
        for (u32 l = 0; l < LANES; l++) a->addr[l] = ((const u64 *)(const void *)p)[l] + (u64)off;
        return;
    }
    if (cls == CLS_V) {
        for (u32 l = 0; l < LANES; l++) a->addr[l] = (u32)(((const u32 *)(const void *)p)[l] + (u32)off);
        return;
    }
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

u64 access_length(const struct access *a, const char *R, u32 lane)
{
    const struct code *c = a->warp->code;
    if (!a->site->length) return (u64)a->site->width * a->site->vec;
    const struct insn_opnd *o = insn_src(c, a->insn, a->site->length);
    return lane_value(a->warp, c, R, o->slot, o->cls, o->width, lane);
}

/* Local memory and the parameters of calls: one piece a lane, at the same place in each. */
static bool quick_private(struct access *a)
{
    const struct site *s = a->site;
    const struct frame *f = a->warp->cur->fr;
    const struct lowered *low = f->code->low;
    bool call = s->space == SP_CALL, var = s->prov.kind == FROM_VAR && s->prov.var->space == SP_LOCAL;
    u64 lo = var && !call ? f->local_base + s->prov.var->offset : 0,
        size = call  ? low->pmem_bytes
               : var ? s->prov.var->size
                     : f->local_base + low->local_bytes + f->top;
    if (size < a->bytes || lo + size > (call ? low->pmem_bytes : LOCAL_STACK) || (a->bytes & (a->bytes - 1)))
        return false;
    u64 limit = size - a->bytes, low_bits = a->bytes - 1, bad = 0;
    for (u32 l = 0; l < LANES; l++) bad |= (u64)(a->addr[l] - lo > limit || (a->addr[l] & low_bits)) << l;
    if (bad & a->mask) return false;
    u64 base = (u64)(uintptr_t)(call ? f->pmem : local_of(a->warp)), each = call ? low->pmem_bytes : LOCAL_STACK;
    /* of lanes that take part */
    for (u32 l = 0; l < LANES; l++) a->ptr[l] = (char *)(uintptr_t)(base + l * each + a->addr[l]);
    a->ok = a->mask;
    memset(a->space, s->space, sizeof a->space);
    return true;
}

/* The first lane of a generic access is in shared memory. */
static bool is_shared_window(const struct access *a)
{
    u64 at = a->addr[__builtin_ctz(a->mask)] - mem_shared_window(a->warp->cta->launch->sim->mem);
    return at < (u64)MEM_WINDOW_CTA * MEM_WINDOW_CTAS;
}

/* An array of the CTA's own shared memory, or all of that, by generic addresses. */
static bool quick_generic_shared(struct access *a)
{
    const struct cta *cta = a->warp->cta;
    const struct provenance *r = &a->site->prov;
    const struct launch *l = cta->launch;
    bool var = r->kind == FROM_VAR && r->var->space == SP_SHARED, dynamic = var && !r->var->size && r->var->is_extern;
    u64 window = mem_shared_window(l->sim->mem), base = cluster_base(cta->rank),
        lo = dynamic ? l->dyn_shared
             : var   ? r->var->offset
                     : 0,
        size = var && !dynamic ? r->var->size : l->shared_total - lo, from = window + base + lo, low = a->bytes - 1;
    if (size < a->bytes || a->bytes & low) return false;
    EACH_SET (lane, a->mask) {
        u64 at = a->addr[lane];
        if (at - from > size - a->bytes || at & low) return false;
    }
    for (u32 k = 0; k < LANES; k++) {
        a->addr[k] -= window;
        a->ptr[k] = (char *)((uintptr_t)a->warp->shared + a->addr[k]);
    }
    a->ok = a->mask;
    memset(a->space, SP_SHARED, sizeof a->space);
    return true;
}

/* All active lanes inside the cached range and aligned? Then their places are known. */
static bool quick_check(struct access *a)
{
    const struct site *s = a->site;
    const struct range *r = &a->warp->range[a->insn->site];
    if ((s->space == SP_LOCAL || s->space == SP_CALL) && !s->align) return quick_private(a);
    if (s->space == SP_GENERIC && !s->align && is_shared_window(a)) return quick_generic_shared(a);
    if (s->prov.kind == FROM_TAG && (s->space == SP_GLOBAL || s->space == SP_GENERIC)) return access_tagged(a);
    if (s->space == SP_LOCAL || s->space == SP_CALL || s->space == SP_PARAM || s->prov.kind == FROM_TAG || s->align ||
        r->size < a->bytes)
        return false;
    u64 limit = r->size - a->bytes, low = a->bytes - 1, base = r->view;
    if (a->bytes & low) low = 0;
    u64 bad = 0;
    if (s->space == SP_SHARED) base = (u64)(uintptr_t)a->warp->shared;
    for (u32 l = 0; l < LANES; l++) bad |= (u64)(a->addr[l] - r->lo > limit || (a->addr[l] & low)) << l;
    if (low == 0 && a->bytes != 1) return false;
    if (bad & a->mask) return false;
    for (u32 l = 0; l < LANES; l++) a->ptr[l] = (char *)(uintptr_t)(a->addr[l] + base);
    a->ok = a->mask;
    memset(a->space, s->space == SP_GENERIC ? SP_GLOBAL : s->space, sizeof a->space);
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
    if (strong) return load_strong(p, width);
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

/* The values of one element of all lanes go to the register: every active lane, or one per warp or group. */
static void put_result(const struct code *c, char *R, const struct insn_opnd *to, u32 reg_width, u32 mask, const u64 *v)
{
    char *d = SLOT(R, to->slot);
    if (to->cls == CLS_V) {
        switch (reg_width) {
        case 2:
            for (u32 l = 0; l < LANES; l++)
                if (mask >> l & 1) ((u16 *)(void *)d)[l] = (u16)v[l];
            break;
        case 4:
            if (mask == ALL_LANES) {
                for (u32 l = 0; l < LANES; l++) ((u32 *)(void *)d)[l] = (u32)v[l];
                break;
            }
            for (u32 l = 0; l < LANES; l++)
                if (mask >> l & 1) ((u32 *)(void *)d)[l] = (u32)v[l];
            break;
        default:
            for (u32 l = 0; l < LANES; l++)
                if (mask >> l & 1) ((u64 *)(void *)d)[l] = v[l];
        }
        return;
    }
    u32 g = to->cls == CLS_A ? c->group : LANES;
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
    if (s->vec != 1 || s->sem != SEM_WEAK || a->ok != a->mask || s->width != s->reg_width || s->width < 4 ||
        CLS_AT(i, 0) != CLS_V || i->flags & IF_TAG || a->warp->probe)
        return false;
    char *d = SLOT(R, i->d);
    if (s->width == 4) {
        EACH_SET (l, a->mask) {
            memcpy(d + 4 * l, a->ptr[l], 4);
        }
    } else
        EACH_SET (l, a->mask) {
            memcpy(d + 8 * l, a->ptr[l], 8);
        }
    return true;
}

static bool store_plain(const struct access *a, const char *R)
{
    const struct site *s = a->site;
    const struct insn *i = a->insn;
    if (s->vec != 1 || s->sem != SEM_WEAK || s->width != s->reg_width || s->width < 4 || CLS_AT(i, 0) != CLS_V ||
        a->warp->probe)
        return false;
    const char *d = SLOT(R, i->d);
    if (s->width == 4) {
        EACH_SET (l, a->ok) {
            memcpy(a->ptr[l], d + 4 * l, 4);
        }
    } else
        EACH_SET (l, a->ok) {
            memcpy(a->ptr[l], d + 8 * l, 8);
        }
    return true;
}

/* Every active lane reads the same place, and is allowed to. */
static bool is_one_place(const struct access *a)
{
    const char *p = a->ptr[__builtin_ctz(a->mask)];
    bool same = a->ok == a->mask;
    for (u32 m = a->mask; same && m; m &= m - 1) same = a->ptr[__builtin_ctz(m)] == p;
    return same;
}

static void do_load(struct access *a, char *R)
{
    const struct site *s = a->site;
    struct warp *w = a->warp;
    if (load_plain(a, R)) return;
    u64 v[4][LANES];
    bool strong = s->sem != SEM_WEAK, same = !strong && is_one_place(a);
    for (u32 l = 0; l < LANES; l++) {
        if (!(a->mask >> l & 1)) continue;
        if (!(a->ok >> l & 1)) {
            for (u32 k = 0; k < s->vec; k++) v[k][l] = 0;
            continue;
        }
        if (same && l != (u32)__builtin_ctz(a->mask)) continue;
        char buf[32] __attribute__((aligned(16)));
        const char *p = a->ptr[l];
        if (a->bytes == 16 && s->vec > 1) {
            memcpy(buf, p, 16);
            p = buf;
        } /* one access, not four */
        for (u32 k = 0; k < s->vec; k++)
            v[k][l] = extend(load_one(p + k * s->width, s->width, strong && p != buf), s->width, s->is_signed);
    }
    for (u32 k = 0, first = (u32)__builtin_ctz(a->mask); same && k < s->vec; k++)
        for (u32 l = 0; l < LANES; l++) v[k][l] = v[k][first];
    if (unlikely(w->probe))
        for (u32 l = 0; l < LANES; l++)
            if (a->ok >> l & 1)
                for (u32 k = 0; k < s->vec; k++)
                    wait_probe_read(w, a->insn->op, l, a->space[l], a->addr[l] + k * s->width, a->ptr[l] + k * s->width,
                                    s->width, v[k][l]);
    const struct lop *o = &w->code->low->op[a->insn->op];
    for (u32 k = 0; k < s->vec; k++) {
        const struct insn_opnd *d = insn_dst(w->code, a->insn, k);
        if (!d->width) continue;
        put_result(w->code, R, d, s->reg_width, a->mask, v[k]);
        if (a->insn->flags & IF_TAG) asked->tags_loaded(a, k, *lop_dst(o, k), d->slot, d->cls);
    }
}

static void do_store(struct access *a, const char *R)
{
    const struct site *s = a->site;
    struct warp *w = a->warp;
    bool strong = s->sem != SEM_WEAK;
    u64 data[4][LANES];
    if (store_plain(a, R)) return;
    const struct insn_opnd *from = insn_data(w->code, a->insn, 0);
    for (u32 k = 0; k < s->vec; k++) lane_values(w->code, R, from[k].slot, from[k].cls, s->reg_width, data[k]);
    for (u32 l = 0; l < LANES; l++) {
        if (!(a->ok >> l & 1)) continue;
        char buf[32] __attribute__((aligned(16)));
        bool whole = a->bytes == 16 && s->vec > 1;
        char *p = whole ? buf : a->ptr[l];
        for (u32 k = 0; k < s->vec; k++) {
            u64 v = data[k][l];
            if (unlikely(w->probe) && load_one(a->ptr[l] + k * s->width, s->width, strong) !=
                                          (s->width < 8 ? v & ((1ull << 8 * s->width) - 1) : v))
                w->changed |= a->space[l] == SP_LOCAL || a->space[l] == SP_CALL ? CHANGED_OWN : CHANGED_ALL;
            store_one(p + k * s->width, v, s->width, strong && !whole);
        }
        if (whole) memcpy(a->ptr[l], buf, 16);
    }
}

/* ---- stored values ---- */

int stored_odd(struct warp *w, u32 bytes)
{
    u32 as = bytes == 4 ? MEM_AS_F32 : bytes == 8 ? MEM_AS_F64 : 0, *odd = &w->cta->launch->odd_stored;
    if (as & ~__atomic_load_n(odd, __ATOMIC_RELAXED)) __atomic_fetch_or(odd, as, __ATOMIC_RELAXED);
    return 0;
}

/* One element of all lanes. Of a register that has all of them, those that do not store are looked at first: mostly
 * they are not odd either. */
static bool any_odd(const char *R, const struct warp *w, const struct insn_opnd *from, const struct site *s, u32 mask)
{
    const char *at = SLOT(R, from->slot);
    u64 v[LANES];
    if (from->cls == CLS_V && s->reg_width == s->width && !stored_lanes_odd(at, s->width)) return false;
    lane_values(w->code, R, from->slot, from->cls, s->reg_width, v);
    EACH_SET (l, mask)
        if (stored_is_odd(v[l], s->width)) return true;
    return false;
}

void stored_look(const char *R, const struct insn *i, struct warp *w, const struct site *s, u32 mask)
{
    const struct insn_opnd *from = insn_data(w->code, i, 0);
    if ((s->width != 4 && s->width != 8) || s->space == SP_SHARED || s->space == SP_LOCAL || s->space == SP_CALL)
        return;
    for (u32 k = 0; k < s->vec; k++)
        if (unlikely(any_odd(R, w, &from[k], s, mask))) stored_odd(w, s->width);
}

/* ---- the common way ---- */

/* Finds out what a memory instruction touches, the common way, and what of it is allowed; false: no lane takes part. */
static bool access_begin(struct access *a, const char *R, const struct insn *i, struct warp *w)
{
    a->site = &w->code->low->site[i->site];
    a->insn = i;
    a->warp = w;
    a->mask = active_lanes(w, R, i);
    a->bytes = (u32)a->site->width * a->site->vec;
    if (!a->mask) return false;
    access_addresses(a, R);
    if (unlikely(w->probe) || !quick_check(a)) access_check(a);
    a->wrote = site_is_load(a->site) ? 0 : a->ok;
    return true;
}

static void access_do(struct access *a, char *R)
{
    if (site_is_load(a->site))
        do_load(a, R);
    else if (site_is_store(a->site))
        do_store(a, R);
    else
        atomic_access(a, R);
}

int run_access(char *restrict R, const struct insn *i, struct warp *w)
{
    struct access a;
    if (access_begin(&a, R, i, w)) access_do(&a, R);
    return 0;
}

int memory_watched(char *restrict R, const struct insn *i, struct warp *w)
{
    struct access a;
    bool init = w->code->watch & WATCH_INIT;
    if (!access_begin(&a, R, i, w)) return 0;
    if (init && w->planes)
        asked->init_before(&a, R);
    else if (init && !site_is_store(a.site) && unlikely(!asked->init_defined(&a))) {
        w->faults_reported = a.ok != a.mask;
        return EV_DEOPT;
    }
    observe_before(w->cta->launch, &a);
    access_do(&a, R);
    if (init && site_is_store(a.site)) stored_look(R, i, w, a.site, a.ok);
    observe_access(w->cta->launch, &a);
    if (init && w->planes)
        (site_is_load(a.site)    ? asked->init_load
         : site_is_store(a.site) ? asked->init_store
                                 : asked->init_atomic)(&a, R);
    else if (init && !site_is_load(a.site))
        asked->init_define(&a, a.ok);
    return 0;
}

int memory_observed_after(char *restrict R, const struct insn *i, struct warp *w)
{
    w->observed_after = true;
    int ev = handler_under(w, i, LAYER_OBSERVED_AFTER)(R, i, w);
    w->observed_after = false;
    struct access a = { .site = &w->code->low->site[i->site], .insn = i, .warp = w };
    if (ev) return ev;
    a.mask = a.ok = a.wrote = active_lanes(w, R, i);
    if (!a.mask) return 0;
    a.bytes = (u32)a.site->width * a.site->vec;
    memset(a.space, SP_GLOBAL, sizeof a.space);
    access_addresses(&a, R);
    observe_wrote(w->cta->launch, &a);
    return 0;
}

/* ---- what is no access ---- */

int run_fence(char *restrict R, const struct insn *i, struct warp *w)
{
    u32 lanes = active_lanes(w, R, i);
    if (!lanes) return 0;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (unlikely(w->cta->has)) ATTACH_EACH(w->cta->has, fence, w, &w->code->low->op[i->op]);
    if (observed(w->cta->launch))
        observe_sync(w->cta->launch, &(struct sync_event){ .kind = SYNC_FENCE,
                                                           .cta = w->cta,
                                                           .warp = w,
                                                           .mask = lanes,
                                                           .id = w->code->low->op[i->op].aux,
                                                           .op = i->op });
    return 0;
}

/* Prefetches and cache priorities change no value. */
int run_hint(char *restrict R, const struct insn *i, struct warp *w)
{
    (void)R;
    (void)i;
    (void)w;
    return 0;
}

int run_isspacep(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct mem *m = w->cta->launch->sim->mem;
    u32 bits = 0, aux = w->code->low->op[i->op].aux, space = aux & ~(u32)ISSPACEP_CLUSTER, mask;
    bool of_cluster = aux & ISSPACEP_CLUSTER;
    for (u32 l = 0; l < LANES; l++) {
        u64 a = lane_value(w, w->code, R, i->a, CLS_AT(i, 1), 8, l);
        u64 in = a - mem_shared_window(m);
        bool sh = in < (u64)MEM_WINDOW_CTA * MEM_WINDOW_CTAS, lo = a - mem_local_window(m) < MEM_LOCAL_BYTES;
        struct mem_object *o = sh || lo ? NULL : mem_find(m, a);
        bool is = space == SP_SHARED  ? sh && (of_cluster || cluster_rank(in) == w->cta->rank)
                  : space == SP_LOCAL ? lo
                  : space == SP_CONST ? o && o->kind == MEM_CONST
                                      : !sh && !lo && !(o && o->kind == MEM_CONST);
        bits |= (u32)is << l;
    }
    mask = active_lanes(w, R, i);
    u32 *d = (u32 *)(void *)SLOT(R, i->d);
    *d = (*d & ~mask) | (bits & mask);
    return 0;
}
