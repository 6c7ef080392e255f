/* Following values that overflowed, at run time: overflow_watch.h says how. */
#include "check/overflow_watch.h"
#include "units/attachments.h"
#include "flow/overflow.h"
#include "sim/finding_place.h"
#include "sim/lanes.h"
#include <inttypes.h>

struct overflow { /* a register that holds something else than its arithmetic means */
    const struct frame *frame;
    u32 reg, lanes;
    u32 op[LANES];                                /* the operation that overflowed */
    s64 means[LANES];                             /* what this register should hold; of 64 bits: not known */
    s64 a[LANES], b[LANES], c[LANES], was[LANES]; /* operands there, and what the result should have been */
};
struct overflows {
    u32 n, cap;
    struct overflow *at;
};

/* ---- what is remembered ---- */

/* NULL: none so far. */
static struct overflows *overflows_of(const struct warp *w) { return w->attached[AT_overflows]; }

static struct overflow *find(const struct warp *w, const struct opnd *o)
{
    const struct overflows *t = overflows_of(w);
    for (u32 k = 0; t && o->kind == O_REG && k < t->n; k++)
        if (t->at[k].reg == o->reg && t->at[k].frame == w->cur->fr) return &t->at[k];
    return NULL;
}

static struct overflow *make(struct warp *w, u32 reg)
{
    struct overflows *t = overflows_of(w);
    if (!t && !(t = base_alloc(sizeof *t))) return NULL;
    attach_warp(w, AT_overflows, t);
    if (t->n == t->cap) {
        u32 cap = t->cap ? 2 * t->cap : 8;
        struct overflow *more = base_realloc(t->at, sizeof *more * cap);
        if (!more) return NULL;
        t->at = more;
        t->cap = cap;
    }
    t->at[t->n] = (struct overflow){ .frame = w->cur->fr, .reg = reg };
    return &t->at[t->n++];
}

static void clear(struct warp *w, const struct opnd *d, u32 lanes)
{
    struct overflow *x = find(w, d);
    if (!x) return;
    x->lanes &= ~lanes;
    if (!x->lanes) *x = overflows_of(w)->at[--overflows_of(w)->n];
}

static void overflow_reset(struct warp *w) { overflows_of(w)->n = 0; }

static void overflow_free(struct warp *w)
{
    base_free(overflows_of(w)->at);
    base_free(overflows_of(w));
    attach_warp(w, AT_overflows, NULL);
}

const struct attachment attach_overflows = { .warp_begin = overflow_reset, .warp_free = overflow_free };

/* ---- one operation ---- */

/* All lanes of an operand: where they lie, or spread into `out`. */
static const s32 *operand(const struct warp *w, const char *R, u32 slot, u32 cls, s32 out[LANES])
{
    u32 g = cls == CLS_A ? w->code->group : LANES, stride = cls == CLS_A ? (u32)w->code->stride[slot] : 0, base;
    if (cls == CLS_V) return (const s32 *)(const void *)SLOT(R, slot);
    for (u32 k = 0; k * g < LANES; k++) {
        memcpy(&base, SLOT(R, slot) + 8 * k, 4);
        for (u32 j = 0; j < g; j++) out[k * g + j] = (s32)(base + stride * j);
    }
    return out;
}

static s64 meant(u32 shape, s64 a, s64 b, s64 c)
{
    s64 r = 0;
    switch (shape) {
    case SHAPE_ADD: return a + b;
    case SHAPE_SUB: return a - b;
    case SHAPE_NEG: return -a;
    case SHAPE_SHL: return b < 0 || b > 31 ? 0 : a * ((s64)1 << b);
    case SHAPE_MIN: return MIN_OF(a, b);
    case SHAPE_MAX: return MAX_OF(a, b);
    case SHAPE_MUL:
    case SHAPE_MAD:
        return __builtin_mul_overflow(a, b, &r) || __builtin_add_overflow(r, shape == SHAPE_MAD ? c : 0, &r) ? INT64_MAX
                                                                                                             : r;
    default: return a;
    }
}

/* Whether some lane leaves 32 bits: a plain loop for each operation, which becomes vectors. */
static bool any_leaves(u32 shape, const s32 *a, const s32 *b, const s32 *c)
{
    u32 bad = 0;
    switch (shape) {
    case SHAPE_ADD:
        for (u32 l = 0; l < LANES; l++) {
            u32 r = (u32)a[l] + (u32)b[l];
            bad |= ((u32)a[l] ^ r) & ((u32)b[l] ^ r);
        }
        return bad >> 31;
    case SHAPE_SUB:
        for (u32 l = 0; l < LANES; l++) {
            u32 r = (u32)a[l] - (u32)b[l];
            bad |= ((u32)a[l] ^ (u32)b[l]) & ((u32)a[l] ^ r);
        }
        return bad >> 31;
    case SHAPE_MUL:
        for (u32 l = 0; l < LANES; l++) {
            s64 r = (s64)a[l] * b[l];
            bad |= (u32)(r >> 32) ^ (u32)((s32)r >> 31);
        }
        return bad != 0;
    case SHAPE_MAD:
        for (u32 l = 0; l < LANES; l++) {
            s64 r = (s64)a[l] * b[l] + c[l];
            bad |= (u32)(r >> 32) ^ (u32)((s32)r >> 31);
        }
        return bad != 0;
    default:
        for (u32 l = 0; l < LANES; l++) {
            s64 r = meant(shape, a[l], b[l], c[l]);
            bad |= r != (s32)r;
        }
        return bad;
    }
}

static void inherit(struct overflow *to, const struct overflow *from, u32 l)
{
    to->op[l] = from->op[l];
    to->a[l] = from->a[l];
    to->b[l] = from->b[l];
    to->c[l] = from->c[l];
    to->was[l] = from->was[l];
}

struct inputs {
    struct overflow *a, *b, *c;
}; /* operands that are remembered */

/* The remembered operand that a lane's result comes from, of a selection the one that it takes; NULL: none. */
static struct overflow *source(const struct inputs *x, const struct lop *o, const char *R, const struct insn *i, u32 l)
{
    if (o->shape == SHAPE_SELECT) {
        struct overflow *side = *(const u32 *)(const void *)SLOT(R, i->c) >> l & 1 ? x->a : x->b;
        return side && side->lanes >> l & 1 ? side : NULL;
    }
    struct overflow *all[] = { x->a, x->b, x->c };
    for (u32 k = 0; k < 3; k++)
        if (all[k] && all[k]->lanes >> l & 1) return all[k];
    return NULL;
}

static s64 means(const struct overflow *x, u32 l, s32 v) { return x && x->lanes >> l & 1 ? x->means[l] : v; }

static void step_slow(struct warp *w, const char *R, const struct insn *i, u32 mask, const s32 *a, const s32 *b,
                      const s32 *c)
{
    const struct lowered *low = w->code->low;
    const struct lop *o = &low->op[i->op];
    struct inputs x = { find(w, lop_src(o, 0)), find(w, lop_src(o, 1)), find(w, lop_src(o, 2)) };
    u32 reg = lop_dst(o, 0)->reg;
    bool narrow = low->reg_width[reg] == 4;
    struct overflow out = { .frame = w->cur->fr, .reg = reg };
    EACH_SET (l, mask) {
        const struct overflow *from = source(&x, o, R, i, l);
        if (!narrow) {
            if (!from) continue;
            out.lanes |= 1u << l;
            inherit(&out, from, l);
            continue;
        }
        s64 is, should;
        if (o->shape == SHAPE_SELECT || o->shape == SHAPE_MOVE) {
            is = 0;
            should = from ? 1 : 0;
            out.means[l] = from ? from->means[l] : 0;
        } else {
            is = (s32)(u32)(u64)meant(o->shape, a[l], b[l], c[l]);
            should = out.means[l] = meant(o->shape, means(x.a, l, a[l]), means(x.b, l, b[l]), means(x.c, l, c[l]));
        }
        if (is == should) continue;
        out.lanes |= 1u << l;
        if (from)
            inherit(&out, from, l);
        else {
            out.op[l] = i->op;
            out.a[l] = a[l];
            out.b[l] = b[l];
            out.c[l] = c[l];
            out.was[l] = should;
        }
    }
    struct overflow *d = find(w, lop_dst(o, 0));
    if (!d && !out.lanes) return;
    if (!d && !(d = make(w, reg))) return;
    d->lanes = (d->lanes & ~mask) | out.lanes;
    EACH_SET (l, out.lanes) {
        inherit(d, &out, l);
        d->means[l] = out.means[l];
    }
    if (!d->lanes) *d = overflows_of(w)->at[--overflows_of(w)->n];
}

int overflow_step(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct lop *o = &w->code->low->op[i->op];
    u8 flags = w->code->low->overflow[i->op];
    bool any = overflows_of(w) && overflows_of(w)->n;
    s32 at[LANES], bt[LANES], ct[LANES];
    const s32 *a = at, *b = bt, *c = ct;
    if (!any && !(flags & OVERFLOW_NARROW)) return 0;
    if (flags & OVERFLOW_CLEAR) {
        EACH_DEF (r, o) clear(w, &(struct opnd){ .kind = O_REG, .reg = r }, active_lanes(w, R, i));
        return 0;
    }
    if (flags & OVERFLOW_NARROW || w->code->low->reg_width[lop_dst(o, 0)->reg] == 4) {
        a = operand(w, R, i->a, CLS_AT(i, 1), at);
        b = operand(w, R, i->b, CLS_AT(i, 2), bt);
        c = o->shape == SHAPE_MAD ? operand(w, R, i->c, CLS_AT(i, 3), ct) : a;
        if (!any && !any_leaves(o->shape, a, b, c)) return 0;
    }
    u32 m = active_lanes(w, R, i);
    if (m) step_slow(w, R, i, m, a, b, c);
    return 0;
}

/* ---- accesses ---- */

/* Whether the access stays inside the object of its pointer: then no bounds check finds that it is misdirected. */
static bool inside_object(const struct access *a, u32 lane)
{
    const struct mem_object *o = access_owner(a, lane);
    return o && mem_is_live(o) && a->addr[lane] >= o->base && a->addr[lane] + a->bytes <= o->base + o->size;
}

static const char *sentence(struct arena *mem, const struct overflow *x, const struct lowered *low, u32 l)
{
    const char *t;
    switch (low->op[x->op[l]].shape) {
    case SHAPE_ADD: t = arena_printf(mem, "%" PRId64 " + %" PRId64, x->a[l], x->b[l]); break;
    case SHAPE_SUB: t = arena_printf(mem, "%" PRId64 " - %" PRId64, x->a[l], x->b[l]); break;
    case SHAPE_NEG: t = arena_printf(mem, "-(%" PRId64 ")", x->a[l]); break;
    case SHAPE_SHL: t = arena_printf(mem, "%" PRId64 " << %" PRId64, x->a[l], x->b[l]); break;
    case SHAPE_MAD: t = arena_printf(mem, "%" PRId64 " * %" PRId64 " + %" PRId64, x->a[l], x->b[l], x->c[l]); break;
    default: t = arena_printf(mem, "%" PRId64 " * %" PRId64, x->a[l], x->b[l]);
    }
    return arena_printf(mem, "%s = %" PRId64 " does not fit in 32 bits, and became %d", t, x->was[l],
                        (s32)(u32)(u64)x->was[l]);
}

static void describe(struct arena *mem, const struct overflow *x, const struct warp *w, u32 l, struct finding *f)
{
    const struct ptx_insn *src = w->code->low->op[x->op[l]].src;
    f->origin = finding_place(mem, w->code->low, x->op[l]);
    f->origin_text = arena_printf(mem, "%.*s in thread %u of the block", src ? (int)src->opcode.n : 1,
                                  src ? src->opcode.p : "?", w->id * LANES + l);
    f->cause = arena_printf(mem, "signed wrap: %s; it was then widened to 64 bits and added to the pointer",
                            sentence(mem, x, w->code->low, l));
    f->fix = "Compute in 64 bits from the first factor on: (size_t)row * cols + col.";
}

static struct overflow *of_address(const struct access *a)
{
    const struct lop *o = &a->warp->code->low->op[a->insn->op];
    return find(a->warp, lop_src(o, a->site->which));
}

void overflow_explain(const struct access *a, u32 mask, struct arena *mem, struct finding *f)
{
    const struct overflow *x = overflows_of(a->warp) && a->site->addr_width == 8 ? of_address(a) : NULL;
    if (x && x->lanes & mask) describe(mem, x, a->warp, (u32)__builtin_ctz(x->lanes & mask), f);
}

int overflow_use(char *restrict R, const struct insn *i, struct warp *w)
{
    if (!overflows_of(w) || !overflows_of(w)->n) return 0;
    struct access a = { .site = &w->code->low->site[i->site], .insn = i, .warp = w, .mask = active_lanes(w, R, i) };
    const struct overflow *x = of_address(&a);
    u32 lanes = x ? x->lanes & a.mask : 0;
    a.bytes = (u32)a.site->width * a.site->vec;
    if (!lanes) return 0;
    access_addresses(&a, R);
    for (u32 m = lanes; m; m &= m - 1)
        if (!inside_object(&a, (u32)__builtin_ctz(m))) lanes &= ~(m & -m);
    if (!lanes) return 0;
    struct arena mem = { 0 };
    u32 first = (u32)__builtin_ctz(lanes);
    const struct mem_object *o = access_owner(&a, first);
    struct finding f = { .kind = F_int32_index,
                         .access = site_is_load(a.site)    ? "read"
                                   : site_is_store(a.site) ? "write"
                                                           : "atomic",
                         .space = "global",
                         .width = a.bytes,
                         .object = o->name,
                         .object_type = o->type,
                         .object_base = o->base,
                         .object_size = o->size,
                         .element_size = o->element_size };
    memcpy(f.addr, a.addr, sizeof f.addr);
    describe(&mem, x, w, first, &f);
    finding_add(w, i->op, &f, lanes);
    arena_free(&mem);
    return 0;
}
