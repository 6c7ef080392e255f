/* Initialised values between memory and registers: loads fill planes from shadows, stores carry them back, atomics do
 * both (rules.md I1, I2). What memory is born as: mem.c for the device's, init_frame and init_cta below for local and
 * shared memory. */
#include "sim/asked.h"
#include "units/async.h"
#include "sim/cluster.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/memory.h"
#include "sim/planes.h"

/* The shadow of what a lane accesses, and the address in it; NULL: it has none. */
static inline struct shadow *shadow_of(const struct access *a, u32 lane, u64 *at)
{
    u32 space = a->space[lane];
    *at = a->addr[lane];
    if (space == SP_GLOBAL) return a->warp->init_global;
    if (space != SP_LOCAL) return init_shadow(a->warp, space, lane, a->addr[lane], at);
    *at += (u64)lane * LOCAL_STACK;
    return a->warp->init_local;
}

struct shadow *init_shadow(const struct warp *w, u32 space, u32 lane, u64 addr, u64 *at)
{
    const struct frame *f = w->cur ? w->cur->fr : w->base;
    switch (space) {
    case SP_SHARED: {
        *at = addr;
        if (likely(cluster_rank(addr) == w->cta->rank) || !w->init_shared) return w->init_shared;
        const struct cta *other = cluster_cta(w->cta, addr);
        return other ? other->init : w->init_shared;
    }
    case SP_LOCAL: *at = (u64)lane * LOCAL_STACK + addr; return w->init_local;
    case SP_CALL: *at = (u64)lane * f->code->low->pmem_bytes + addr; return f->init_params;
    case SP_PARAM: return NULL;
    default: *at = addr; return w->init_global;
    }
}

/* ---- births ---- */

bool init_shadows(struct cta *c)
{
    struct launch *l = c->launch;
    if (!(l->plain->watch & WATCH_INIT)) return true;
    if (l->shared_total) {
        if (!(c->init = base_alloc(sizeof *c->init)) ||
            !shadow_open(c->init, cluster_base(c->rank), l->shared_total, true))
            return false;
    }
    for (u32 n = 0; n < c->nwarps; n++) {
        c->warp[n]->init_global = mem_shadow(l->sim->mem);
        c->warp[n]->init_shared = c->init;
    }
    return true;
}

static void close_shadow(struct shadow *s)
{
    if (s) shadow_close(s);
    base_free(s);
}

void init_close_frame(struct frame *f)
{
    planes_free(f->planes);
    close_shadow(f->init_params);
}

void init_close(struct cta *c)
{
    close_shadow(c->init);
    for (u32 n = 0; c->warp && n < c->nwarps && c->warp[n]; n++) {
        struct warp *w = c->warp[n];
        close_shadow(w->init_local);
        planes_free(w->base_planes);
        close_shadow(w->base_frame.init_params);
        base_free(w->rdv.taint);
    }
}

void init_cta(struct cta *c)
{
    if (!c->init) return;
    shadow_forget(c->init, c->init->from, c->init->bytes);
    c->init->epoch = __atomic_add_fetch(&c->launch->epochs, 1ull << 32, __ATOMIC_RELAXED);
}

static void init_local(struct warp *w, u64 from, u64 bytes, u32 mask)
{
    if (!bytes) return;
    if (!w->init_local) {
        struct shadow *s = base_need(sizeof *s);
        if (!shadow_open(s, 0, (u64)LANES * LOCAL_STACK, true))
            base_exhausted((u64)LANES * LOCAL_STACK, "the init check (--no-check init does without)");
        w->init_local = s;
        return;
    }
    EACH_SET (l, mask) shadow_forget(w->init_local, (u64)l * LOCAL_STACK + from, bytes);
}

void init_alloca(struct warp *w, u64 from, u64 bytes, u32 mask)
{
    if (w->code->watch & WATCH_INIT) init_local(w, from, bytes, mask);
}

/* Registers that some path reads before anything was written to them. */
static void raw_registers(struct warp *w, struct frame *f)
{
    const struct lowered *l = f->code->low;
    struct planes *p = f->planes;
    bool known = p->raw_of == l && p->raw_serial == w->cta->launch->serial;
    u32 n = 0;
    for (u32 k = 0; !known && k < l->words; k++) n += (u32)__builtin_popcountll(l->block[0].live_in[k]);
    if (!known) {
        base_free(p->raw);
        p->raw = base_need((n + 1) * sizeof *p->raw);
        p->raw_of = l;
        p->raw_serial = w->cta->launch->serial;
    }
    n = 0;
    for (u32 k = 0; k < l->words; k++)
        EACH_SET64 (bit, l->block[0].live_in[k]) {
            u32 r = k * 64 + (u32)bit, bits = l->reg_width[r] == 1 ? 1 : 8u * l->reg_width[r];
            if (!known) p->raw[n] = origin_of_register(w, l, r);
            if (f->code->reg[r].slot)
                planes_fill(p, f->code->reg[r].slot, (struct taint){ low_bits(bits), 0, p->raw[n] });
            n++;
        }
}

void init_frame(struct warp *w, struct frame *f, u32 mask)
{
    const struct lowered *l = f->code->low;
    if (!(f->code->watch & WATCH_INIT)) return;
    init_local(w, f->local_base, l->local_bytes, mask);
    if (f->init_params) shadow_define(f->init_params, 0, f->init_params->bytes);
    if (f == w->base && !f->code->plain) {
        f->planes = NULL;
        return;
    }
    struct planes **p = f == w->base ? &w->base_planes : &f->planes;
    if (!*p) *p = planes_new(f->code);
    f->planes = *p;
    planes_reset(f->planes);
    if (l->reads_unwritten) raw_registers(w, f);
}

/* ---- loads and stores of the fast handlers ---- */

/* Now and then the whole range is checked, so that further accesses need no check of their own. That is done at once
 * for a small range, for a large one after as many accesses as cost about the same, and at doubling distances while the
 * range is not all defined. */
static void check_range(struct range *r, const struct shadow *s, u64 epoch)
{
    enum { PER_ACCESS = 16384 }; /* bytes of a range, whose scan costs about as much as the check of an access */
    if (++r->init_misses < MAX_OF(r->init_after, r->size / PER_ACCESS)) return;
    r->init_misses = 0;
    bool all = shadow_defined_run(s, r->lo, r->size);
    if (all) r->init = epoch;
    r->init_after = all ? 0 : MIN_OF(2 * r->init_after + 1, 1u << 24);
}

/* 32 addresses close together: all that lies between them is defined. */
#define ALL_BETWEEN(BASE)                                                                         \
    do {                                                                                          \
        const BASE *p_ = (const BASE *)(const void *)SLOT(R, i->a);                               \
        BASE least = p_[0], most = p_[0];                                                         \
        for (u32 l = 1; l < LANES; l++) {                                                         \
            least = MIN_OF(least, p_[l]);                                                         \
            most = MAX_OF(most, p_[l]);                                                           \
        }                                                                                         \
        return most - least <= 512 &&                                                             \
               shadow_defined_run(s, (BASE)(least + (BASE)(s64)i->off), (u64)(most - least) + n); \
    } while (0)
static bool defined_between(const char *R, const struct insn *i, const struct shadow *s, u32 addr_width, u32 n)
{
    if (addr_width == 4) ALL_BETWEEN(u32);
    ALL_BETWEEN(u64);
}

/* n bytes at each of g places that lie close together: all that lies between them is defined. */
static bool span_defined(const struct shadow *s, u64 at, s64 stride, u32 g, u32 n)
{
    u64 between = (u64)(stride < 0 ? -stride : stride) * (g - 1);
    return between <= 512 && shadow_defined_run(s, stride < 0 ? at - between : at, between + n);
}

/* The bytes of a fast access, by what its address is; the same cases as in memory_fast.h. */
static bool look(const char *R, const struct insn *i, const struct warp *w, struct shadow *s, const struct site *t)
{
    const struct code *c = w->code;
    bool store = site_is_store(t), whole = w->mask == ALL_LANES;
    u32 cls = CLS_AT(i, 1), g = cls == CLS_A ? c->group : cls == CLS_S ? LANES : 1, n = t->width;
    s64 stride = cls == CLS_A ? c->stride[i->a] : 0;
    if (cls == CLS_V && whole && defined_between(R, i, s, t->addr_width, n)) return true;
    for (u32 k = 0; k * g < LANES; k++) {
        u64 at = 0;
        if (!(g == LANES ? w->mask : w->mask >> k * g & ((1u << g) - 1))) continue;
        memcpy(&at, SLOT(R, i->a) + (cls == CLS_V ? t->addr_width : 8u) * k, t->addr_width);
        at += (u64)(s64)i->off;
        if (t->addr_width == 4) at = (u32)at;
        if (whole && stride && stride != n && span_defined(s, at, stride, g, n)) continue;
        if ((whole && stride == n) || !stride) {
            u64 bytes = stride ? (u64)g * n : n;
            if (shadow_defined_run(s, at, bytes)) continue;
            if (!store) return false;
            shadow_define(s, at, bytes);
            continue;
        }
        for (u32 j = 0; j < g; j++) { /* the first lane's address may lie below 0, where it takes no part */
            u64 mine = t->addr_width == 4 ? (u32)(at + (u64)(stride * j)) : at + (u64)(stride * j);
            if (!(w->mask >> (k * g + j) & 1) || shadow_defined(s, mine, n)) continue;
            if (!store) return false;
            shadow_define(s, mine, n);
        }
    }
    return true;
}

int init_unknown(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct site *t = &w->code->low->site[i->site];
    struct shadow *s = t->space == SP_SHARED ? w->init_shared : w->init_global;
    u64 epoch = __atomic_load_n(&s->epoch, __ATOMIC_ACQUIRE); /* before the bits */
    if (unlikely(!look(R, i, w, s, t))) return EV_DEOPT;
    check_range(&w->range[i->site], s, epoch);
    if (site_is_store(t) && !w->race) stored_look(R, i, w, t, w->mask); /* the race check's handlers do it themselves */
    return handler_under(w, i, LAYER_DEFINED)(R, i, w);
}

bool init_defined(const struct access *a)
{
    EACH_SET (l, a->ok) {
        u64 at;
        const struct shadow *s = shadow_of(a, l, &at);
        if (s && !shadow_defined(s, at, a->bytes)) return false;
    }
    return true;
}

void init_define(const struct access *a, u32 lanes)
{
    EACH_SET (l, lanes) {
        u64 at;
        struct shadow *s = shadow_of(a, l, &at);
        if (s && !shadow_defined(s, at, a->bytes)) shadow_define(s, at, a->bytes);
    }
}

/* ---- with planes ---- */

static bool whole(u64 undef, u32 n)
{
    for (u32 k = 0; k < n; k++)
        if (!(undef >> 8 * k & 0xff)) return false;
    return true;
}

struct taint init_read(const struct access *a, u32 lane, u64 offset, u32 n)
{
    u64 at;
    struct shadow *s = init_shadow(a->warp, a->space[lane], lane, a->addr[lane] + offset, &at);
    struct taint t = s ? shadow_read(s, at, n) : (struct taint){ 0 };
    /* that it comes too early is said already */
    if (t.undef && a->space[lane] == SP_SHARED && a->warp->cta->launch->in->checks & CHECK_ASYNC &&
        async_covers(a->warp->cta, a->ptr[lane] + offset, n))
        return (struct taint){ 0 };
    if (t.undef && !t.origin) t.origin = origin_of_memory(a, lane, whole(t.undef, n));
    return t;
}

/* The host sees pinned and managed memory as it is written. */
static bool is_host_memory(const struct access *a, u32 lane)
{
    return a->space[lane] != SP_SHARED && a->space[lane] != SP_LOCAL && a->space[lane] != SP_CALL &&
           access_is_host_visible(a->warp, a->addr[lane]);
}

struct shadow *init_params(struct frame *f)
{
    if (f->init_params) return f->init_params;
    struct shadow *s = base_need(sizeof *s);
    u64 bytes = (u64)LANES * f->code->low->pmem_bytes;
    if (!shadow_open(s, 0, bytes, true)) base_exhausted(bytes, "the init check (--no-check init does without)");
    shadow_define(s, 0, bytes);
    return f->init_params = s;
}

void init_write(const struct access *a, u32 lane, u64 offset, u32 n, struct taint t)
{
    bool private = a->space[lane] == SP_LOCAL || a->space[lane] == SP_CALL;
    u64 at;
    if (t.undef && a->space[lane] == SP_CALL && !init_params(a->warp->cur->fr)) return;
    struct shadow *s = init_shadow(a->warp, a->space[lane], lane, a->addr[lane] + offset, &at);
    if (!s) return;
    if (!t.undef) {
        shadow_define(s, at, n);
        return;
    }
    if (t.origin & ORIGIN_SCALED && !private && whole(t.undef, n)) t.made = t.undef;
    t.origin &= ~(private ? ORIGIN_PENDING : ORIGIN_FLAGS);
    if (t.made && a->space[lane] != SP_SHARED && !private) t.origin = origin_stored(a->warp, a->insn->op, t.origin);
    shadow_write(s, at, n, t);
}

void init_before(struct access *a, const char *R)
{
    struct warp *w = a->warp;
    const struct insn *i = a->insn;
    const struct lop *o = &w->code->low->op[i->op];
    (void)R;
    a->pending = a->chosen = 0;
    if (!w->planes->dirty) return;
    u32 slot = a->site->which ? i->b : i->a, bad = plane_lanes(w->planes, slot) & a->mask;
    if (!bad) return;
    if (lop_is_load(o) && w->code->low->speculated[i->op]) {
        a->pending = bad;
        return;
    }
    for (u32 m = lop_is_load(o) ? bad : 0; m; m &= m - 1)
        if (plane_taint(w->planes, slot, (u32)__builtin_ctz(m)).origin & ORIGIN_CHOSEN) a->chosen |= m & -m;
    init_use(w, i->op, USE_ADDRESS, slot, a->mask & ~a->chosen,
             lop_is_load(o)    ? "the address of this load"
             : lop_is_store(o) ? "the address of this store"
                               : "the address of this operation");
}

/* The register is wider than what was loaded: zeros, or copies of the sign. */
static struct taint extend(struct taint t, u32 width, u32 reg_width, bool is_signed)
{
    u64 high = low_bits(8 * reg_width) & ~low_bits(8 * width);
    if (!is_signed || width >= reg_width) return t;
    if (t.undef >> (8 * width - 1) & 1) t.undef |= high;
    if (t.made >> (8 * width - 1) & 1) t.made |= high;
    return t;
}

void init_load(struct access *a, const char *R)
{
    struct warp *w = a->warp;
    const struct site *s = a->site;
    const struct insn *i = a->insn;
    const struct lop *o = &w->code->low->op[i->op];
    bool clean = init_defined(a) && !a->pending && !a->chosen;
    (void)R;
    if (clean && !w->planes->dirty) return;
    for (u32 k = 0; k < s->vec; k++) {
        if (lop_dst(o, k)->kind != O_REG) continue;
        struct taint t[LANES] = { { 0 } };
        u32 slot = insn_dst(w->code, i, k)->slot, address = s->which ? i->b : i->a;
        EACH_SET (l, clean ? 0 : a->ok) {
            t[l] = extend(init_read(a, l, (u64)k * s->width, s->width), s->width, s->reg_width, s->is_signed);
        }
        EACH_SET (l, a->pending) {
            t[l] = taint_all(8u * s->reg_width,
                             origin_stored(w, i->op, plane_taint(w->planes, address, l).origin) | ORIGIN_PENDING);
        }
        EACH_SET (l, a->chosen) {
            t[l] = taint_all(8u * s->reg_width, plane_taint(w->planes, address, l).origin & ~ORIGIN_FLAGS);
        }
        planes_put(w->planes, slot,
                   a->mask & ~(unlikely(w->planes->undecided != 0) ? init_undecided(w, i, a->mask) : 0), t);
    }
}

void init_store(struct access *a, const char *R)
{
    struct warp *w = a->warp;
    const struct site *s = a->site;
    u32 dirty = 0;
    (void)R;
    for (u32 k = 0; k < s->vec; k++) dirty |= plane_lanes(w->planes, insn_data(w->code, a->insn, k)->slot);
    init_define(a, a->ok & ~dirty);
    EACH_SET (l, a->ok & dirty) {
        for (u32 k = 0; k < s->vec; k++) {
            struct taint t = plane_taint(w->planes, insn_data(w->code, a->insn, k)->slot, l);
            t.undef &= low_bits(8 * s->width);
            t.made &= low_bits(8 * s->width);
            if (t.made && is_host_memory(a, l)) {
                struct taint one[LANES];
                one[l] = t;
                init_report(w, a->insn->op, USE_OUTPUT, 1u << l, one, "the value stored where the host sees it");
            }
            init_write(a, l, (u64)k * s->width, s->width, t);
        }
    }
}

/* Bitwise operations with a defined operand: bits that it decides are defined now, those that it lets pass stay what
 * they were. Flags and bytes that share a word are set so, beside others that nobody has written yet: then some of its
 * bytes are defined. */
static struct taint atomic_bits(enum atom_op op, struct taint old, u64 operand, u64 all)
{
    bool fresh = op == AT_OR && old.undef == all && !old.made;
    /* bits, not whole bytes, are set in a word that nobody has cleared: what is left of it is a result */
    for (u32 k = 0; k < 8 && fresh; k++)
        if ((operand >> 8 * k & 0xff) % 0xff) old.made = all;
    switch (op) {
    case AT_AND: return (struct taint){ old.undef & operand, old.made & operand, old.origin };
    case AT_OR: return (struct taint){ old.undef & ~operand, old.made & ~operand, old.origin };
    default: return (struct taint){ old.undef, old.made | (old.undef & operand), old.origin };
    }
}

/* One lane, one word of at most 8 bytes: what was there, what is there now. */
static struct taint atomic_word(const struct access *a, u32 lane, u64 offset, u32 n, struct taint operand, u64 value)
{
    const struct site *s = a->site;
    struct taint old = init_read(a, lane, offset, n), now = old;
    bool replaces = s->atom == AT_EXCH || s->atom == AT_CAS;
    operand.undef &= low_bits(8 * n);
    operand.made &= low_bits(8 * n);
    if (s->atom == AT_EXCH)
        now = operand;
    else if (old.undef && (s->atom == AT_AND || s->atom == AT_OR || s->atom == AT_XOR))
        now = atomic_bits(s->atom, old, value, low_bits(8 * n));
    else if (old.undef)
        now = taint_all(8 * n, old.origin);
    else
        now = replaces && a->wrote >> lane & 1 ? operand : (struct taint){ 0 };
    if (old.undef || now.undef)
        init_write(a, lane, offset, n, now);
    else
        init_write(a, lane, offset, n, (struct taint){ 0 });
    return old;
}

void init_atomic(struct access *a, const char *R)
{
    struct warp *w = a->warp;
    const struct site *s = a->site;
    const struct insn *i = a->insn;
    const struct code *c = w->code;
    const struct lop *o = &c->low->op[i->op];
    bool wide = s->width == 16;
    struct taint old[2][LANES];
    memset(old, 0, sizeof old);
    u32 words = 1u + wide;
    /* cas: the first operand is compared, the second stored; exch: the only one is stored, all else: combined */
    for (u32 k = 0; k < words && w->planes->dirty && s->atom != AT_EXCH; k++)
        init_use(w, i->op, USE_ATOMIC, insn_data(c, i, k)->slot, a->ok,
                 s->atom == AT_CAS ? "the value compared by an atomic" : "the operand of an atomic");
    EACH_SET (l, a->ok) { /* in the order of the lanes, as the access itself */
        u32 n = wide ? 8 : s->width;
        for (u32 k = 0; k < words; k++) {
            const struct insn_opnd *stored = insn_data(c, i, s->atom == AT_CAS ? words + k : k);
            old[k][l] = atomic_word(a, l, 8 * k, n, plane_taint(w->planes, stored->slot, l),
                                    lane_value(w, c, R, stored->slot, stored->cls, n, l));
        }
    }
    if (!site_fetches(s) || lop_dst(o, 0)->kind == O_NONE) return;
    for (u32 k = 0; k < words; k++) planes_put(w->planes, insn_dst(c, i, k)->slot, a->mask, old[k]);
}

/* A load under an undefined guard: its registers hold what was loaded or what was there, so they are undefined. */
static void guarded_load(const struct insn *i, struct warp *w, u32 guard)
{
    const struct lowered *low = w->code->low;
    const struct lop *o = &low->op[i->op];
    const struct site *s = &low->site[i->site];
    struct taint t[LANES];
    EACH_SET (l, guard) {
        t[l] = taint_all(8u * s->reg_width, plane_taint(w->planes, i->guard, l).origin);
    }
    for (u32 k = 0; k < s->vec; k++)
        if (lop_dst(o, k)->kind == O_REG) planes_put(w->planes, insn_dst(w->code, i, k)->slot, guard, t);
}

int init_watched(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct lop *o = &w->code->low->op[i->op];
    u32 guard = i->guard ? plane_lanes(w->planes, i->guard) & w->mask : 0;
    if (guard && !lop_is_load(o)) {
        init_use(w, i->op, USE_GUARD, i->guard, w->mask,
                 lop_is_store(o) ? "the guard of this store" : "the guard of this operation");
        guard = 0;
    }
    int ev = memory_watched(R, i, w);
    if (guard) guarded_load(i, w, guard);
    return ev;
}

/* Nothing that the access takes from registers has undefined bits: it can go the way of fast code, which asks the
 * shadow about a load and defines what a store writes. What a load has in its result so far goes first: whoever is
 * asked in the end fills the planes again. */
static bool takes_fast_way(const char *R, const struct insn *i, struct warp *w)
{
    const struct site *s = &w->code->low->site[i->site];
    struct planes *p = w->planes;
    bool load = site_is_load(s);
    if (p->undecided || (!load && !site_is_store(s)) || s->which || plane_lanes(p, i->a)) return false;
    if (i->guard && plane_lanes(p, i->guard)) return false;
    for (u32 k = 0; !load && k < s->vec; k++)
        if (plane_lanes(p, insn_data(w->code, i, k)->slot)) return false;
    u32 lanes = load ? active_lanes(w, R, i) : 0;
    for (u32 k = 0; lanes && k < s->vec; k++)
        if (lop_dst(&w->code->low->op[i->op], k)->kind == O_REG) planes_clear(p, insn_dst(w->code, i, k)->slot, lanes);
    return true;
}

int init_memory(char *restrict R, const struct insn *i, struct warp *w)
{
    if (likely(!w->planes->dirty) || takes_fast_way(R, i, w)) {
        int ev = handler_under(w, i, LAYER_PLANES)(R, i, w);
        if (likely(ev != EV_DEOPT)) return ev;
    }
    return init_watched(R, i, w);
}
