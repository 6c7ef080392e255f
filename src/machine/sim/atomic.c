/* atom and red, lane after lane in lane order. Shared memory belongs to one worker, but a generic address may reach
 * memory of every worker, so each step is a compare-and-swap on the host's own atomics; additions take the direct
 * way. */
#include "sim/memory.h"
#include "sim/asked.h"
#include "isa/words.h"
#include "sim/lanes.h"
#include "sim/wait.h"
#include <math.h>

/* f16 and bf16, one or two in a word; subnormals are kept (.noftz). */
static u64 combine_half(const struct site *s, u64 old, u64 b)
{
    enum { M = 0 };
    u32 x = (u32)old, y = (u32)b;
#define HALF_RESULT(T, W)                                      \
    (s->atom == AT_ADD   ? HADD(((T){ (W)x }), ((T){ (W)y }))  \
     : s->atom == AT_MIN ? HMIN(((T){ (W)x }), ((T){ (W)y }))  \
                         : HMAX(((T){ (W)x }), ((T){ (W)y }))) \
        .v
    switch (s->type) {
    case T_F16: return HALF_RESULT(f16, u16);
    case T_BF16: return HALF_RESULT(bf16, u16);
    case T_F16X2: return HALF_RESULT(f16x2, u32);
    default: return HALF_RESULT(bf16x2, u32);
    }
#undef HALF_RESULT
}

/* An H200's memory keeps NaNs as they are, that of the operand before its own; in shared memory ptxas adds with
 * add.f64, whose second operand wins (tests/facts/atomic_nan.cu). */
static u64 add_f64_at(u64 old, u64 b, bool shared)
{
    if (shared) return bits_f64(ADD(f64_bits(b), f64_bits(old)));
    return isnan(f64_bits(b)) ? b : isnan(f64_bits(old)) ? old : bits_f64(ADD(f64_bits(old), f64_bits(b)));
}

/* c: what a compare-and-swap writes; of an addition of f64 whether it is in shared memory. */
static u64 combine(const struct site *s, u64 old, u64 b, u64 c)
{
    bool wide = s->width == 8;
    switch (s->atom) {
    case AT_ADD:
        if (s->type == T_F32) return bits_f32(nan_f32(f32_bits((u32)old) + f32_bits((u32)b)));
        if (s->type == T_F64) return add_f64_at(old, b, c);
        if (s->is_float) return combine_half(s, old, b);
        return old + b;
    case AT_EXCH: return b;
    case AT_CAS: return old == b ? c : old;
    case AT_AND: return old & b;
    case AT_OR: return old | b;
    case AT_XOR: return old ^ b;
    case AT_INC: return old >= b ? 0 : old + 1;
    case AT_DEC: return old == 0 || old > b ? b : old - 1;
    case AT_MIN:
    case AT_MAX: {
        if (s->is_float) return combine_half(s, old, b);
        bool less = !s->is_signed ? old < b : wide ? (s64)old < (s64)b : (s32)old < (s32)b;
        return less == (s->atom == AT_MIN) ? old : b;
    }
    default: return old;
    }
}

/* Inlined into the loop over the lanes, where it costs a tenth of a histogram otherwise; atomic_step has its own. */
__attribute__((always_inline)) static inline u64 step32(const struct site *s, char *at, u64 b, u64 c)
{
    u32 *p = (u32 *)(void *)at;
    if (s->atom == AT_ADD && !s->is_float) return __atomic_fetch_add(p, (u32)b, __ATOMIC_SEQ_CST);
    u32 old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (
        !__atomic_compare_exchange_n(p, &old, (u32)combine(s, old, b, c), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {}
    return old;
}

static u64 step16(const struct site *s, char *at, u64 b, u64 c)
{
    u16 *p = (u16 *)(void *)at, old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (
        !__atomic_compare_exchange_n(p, &old, (u16)combine(s, old, b, c), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {}
    return old;
}

static u64 step64(const struct site *s, char *at, u64 b, u64 c)
{
    u64 *p = (u64 *)(void *)at;
    if (s->atom == AT_ADD && !s->is_float) return __atomic_fetch_add(p, b, __ATOMIC_SEQ_CST);
    u64 old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(p, &old, combine(s, old, b, c), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {}
    return old;
}

void atomic_step(const struct site *s, char *at, u64 b)
{
    (s->width == 8 ? step64 : s->width == 4 ? step32 : step16)(s, at, b, 0);
}

/* Who took a lock last: for wait-for graphs. A lossy table; a reader checks the address. */
static void remember_writer(struct warp *w, const struct access *a, u32 lane, u64 value)
{
    struct launch *l = w->cta->launch;
    u64 addr = (u64)(uintptr_t)a->ptr[lane];
    struct writer *x = &l->writers[(addr >> 2) * 0x9e3779b97f4a7c15u >> 54];
    __atomic_store_n(&x->addr, addr, __ATOMIC_RELAXED);
    __atomic_store_n(&x->value, value, __ATOMIC_RELAXED);
    __atomic_store_n(&x->cta, w->cta->linear, __ATOMIC_RELAXED);
    __atomic_store_n(&x->thread, w->id * LANES + lane, __ATOMIC_RELAXED);
    __atomic_store_n(&x->op, a->insn->op, __ATOMIC_RELAXED);
    __atomic_store_n(&x->low, w->code->low, __ATOMIC_RELAXED);
    __atomic_store_n(&x->serial, l->serial, __ATOMIC_RELAXED);
}

/* 128 bits: no host instruction everywhere, so one lock for all of them. */
static void atomic_wide(struct access *a, char *R)
{
    const struct site *s = a->site;
    const struct insn *i = a->insn;
    struct warp *w = a->warp;
    const struct code *c = w->code;
    const struct lop *o = &c->low->op[i->op];
    u64 b[2][LANES], n[2][LANES]; /* what is compared, what is written: the same for an exchange */
    for (u32 k = 0; k < 2; k++) {
        const struct insn_opnd *x = insn_data(c, i, k), *y = s->atom == AT_CAS ? insn_data(c, i, 2 + k) : x;
        lane_values(c, R, x->slot, x->cls, 8, b[k]);
        lane_values(c, R, y->slot, y->cls, 8, n[k]);
    }
    struct sim *sim = w->cta->launch->sim;
    for (u32 l = 0; l < LANES; l++) {
        if (!(a->mask >> l & 1)) continue;
        u64 old[2] = { 0, 0 }, new[2] = { n[0][l], n[1][l] };
        if (a->ok >> l & 1) {
            lock(&sim->wide);
            memcpy(old, a->ptr[l], 16);
            bool write = s->atom == AT_EXCH || (old[0] == b[0][l] && old[1] == b[1][l]);
            if (!write) a->wrote &= ~(1u << l);
            if (write && memcmp(old, new, 16)) {
                memcpy(a->ptr[l], new, 16);
                w->changed = 1;
            } else if (w->probe)
                for (u32 k = 0; k < 2; k++)
                    wait_probe_read(w, i->op, l, a->space[l], a->addr[l] + 8 * k, a->ptr[l] + 8 * k, 8, old[k]);
            unlock(&sim->wide);
        }
        if (lop_dst(o, 0)->kind == O_REG) {
            memcpy(SLOT(R, insn_dst(c, i, 0)->slot) + 8 * l, &old[0], 8);
            memcpy(SLOT(R, insn_dst(c, i, 1)->slot) + 8 * l, &old[1], 8);
        }
    }
}

/* A lock is taken: a word changes from one constant to another by a compare-and-swap, or from 0 by an exchange. Whoever
 * has it gives way, so that others can take the lock that it will ask for next, in the opposite order: on a GPU this is
 * a matter of chance, and here nobody would ever meet. Often enough to find that is a few times a launch: the others
 * have to look at the lock in vain each time. */
static void lock_taken(struct warp *w, const struct lop *o, const struct site *s, u64 old)
{
    enum { TURNS = 8 };
    struct launch *l = w->cta->launch;
    const struct opnd *b = lop_src(o, SRC_DATA), *c = s->atom == AT_CAS ? lop_src(o, SRC_DATA + 1) : b;
    if (b->kind != O_CONST || c->kind != O_CONST || (s->atom == AT_EXCH && (old || !site_fetches(s)))) return;
    if (__atomic_load_n(&l->schedule.locks, __ATOMIC_RELAXED) >= TURNS) return;
    __atomic_fetch_add(&l->schedule.locks, 1, __ATOMIC_RELAXED);
    w->locked = true;
    w->limit = 0; /* the run ends with the block */
}

void atomic_access(struct access *a, char *R)
{
    if (a->site->width == 16) {
        atomic_wide(a, R);
        return;
    }
    const struct site *s = a->site;
    const struct insn *i = a->insn;
    struct warp *w = a->warp;
    u64 old[LANES];
    u64 vb[LANES], vc[LANES];
    lane_values(w->code, R, i->b, CLS_AT(i, 2), s->width, vb);
    if (s->atom == AT_CAS) lane_values(w->code, R, i->c, CLS_AT(i, 3), s->width, vc);
    u64 width_mask = s->width == 8 ? ~0ull : (1ull << 8 * s->width) - 1;
    EACH_SET (l, a->mask) {
        if (!(a->ok >> l & 1)) {
            old[l] = 0;
            continue;
        }
        u64 b = vb[l], c = s->atom == AT_CAS ? vc[l] : a->space[l] == SP_SHARED;
        old[l] = s->width == 8   ? step64(s, a->ptr[l], b, c)
                 : s->width == 4 ? step32(s, a->ptr[l], b, c)
                                 : step16(s, a->ptr[l], b, c);
        if (s->atom == AT_CAS && (old[l] ^ b) & width_mask) a->wrote &= ~(1u << l);
        if (s->atom == AT_CAS || s->atom == AT_EXCH || unlikely(w->probe)) {
            u64 now = combine(s, old[l], b, c) & width_mask;
            if (now != old[l]) {
                w->changed = 1;
                if (s->atom == AT_CAS || s->atom == AT_EXCH) {
                    remember_writer(w, a, l, now);
                    lock_taken(w, &w->code->low->op[i->op], s, old[l]);
                }
            } else if (w->probe)
                wait_probe_read(w, i->op, l, a->space[l], a->addr[l], a->ptr[l], s->width, old[l]);
        }
    }
    const struct lop *o = &w->code->low->op[i->op];
    if (!site_fetches(s) || lop_dst(o, 0)->kind == O_NONE) return;
    char *d = SLOT(R, i->d);
    EACH_SET (l, a->mask) {
        memcpy(d + l * s->width, &old[l], s->width);
    }
    if (i->flags & IF_TAG) asked->tags_loaded(a, 0, *lop_dst(o, 0), i->d, CLS_V);
}
