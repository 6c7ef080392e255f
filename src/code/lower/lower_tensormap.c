/* Lowering of what changes tensor maps (9.7.9.28, 9.7.13.17): tensormap.replace becomes ordinary accesses to the words
 * that have the field, and tensormap.cp_fenceproxy a copy of four bytes a lane with a fence after it, so that every
 * check sees them. ptxas 13 makes the same of tensormap.replace for sm_90a; mem/tensor_map.c has the layout. */
#include "lower/lower.h"

static const struct opnd no_opnd;

/* A field of one word: new = (old & ~mask) | (value << shift & mask). */
struct field {
    const char *name; /* its modifier */
    u32 at;           /* byte of the word */
    u32 mask, shift;  /* where it lies there */
    u32 next, along;  /* bytes to the word, and bits to the place, of the next ordinal */
    bool less;        /* it has one less than the value */
    bool ordinal;     /* an ordinal says which of them */
};
static const struct field fields[] = {
    { "rank", 8, 0x70, 4, 0, 0, false, false },
    { "global_dim", 0x20, ~0u, 0, 4, 0, true, true },
    { "element_stride", 0x34, 7, 0, 0, 3, true, true },
    { "interleave_layout", 8, 0x1800, 11, 0, 0, false, false },
    { "swizzle_mode", 8, 0x406000, 13, 0, 0, false, false },
    { "swizzle_atomicity", 8, 0x300000, 20, 0, 0, false, false }, /* of sm_100; in a place of our own (tensor_map.c) */
    { "fill_mode", 8, 0x8000, 15, 0, 0, false, false },
};

static struct opnd made(struct lower *w, enum isa_name name, enum ptx_type t, struct opnd a, struct opnd b)
{
    struct opnd r = lower_temp(w, t);
    lower_emit(w, isa_form(name, t, t, 0), r, a, b, no_opnd)->guard = no_opnd;
    return r;
}

static struct opnd narrow(struct lower *w, struct opnd wide)
{
    struct opnd r = lower_temp(w, T_U32);
    lower_emit(w, isa_form(N_cvt, T_U64, T_U32, 0), r, wide, no_opnd, no_opnd)->guard = no_opnd;
    return r;
}

/* Says that something happens to the map at base + off: enum map_event. */
static void mark(struct lower *w, enum map_event what, struct opnd base, s64 off)
{
    struct opnd at = off ? made(w, N_add, T_U64, base, lower_const((u64)off)) : base;
    struct lop o = lower_op(w, isa_form(N_map_fence, T_NONE, T_NONE, 0));
    lower_operands(w, &o, NULL, 0, &at, 1);
    o.aux = (u32)what;
    VEC_PUSH(w->mem, &w->op, o);
}

struct field_place { /* the map */
    enum ptx_space space;
    struct opnd base; /* its address ... */
    u32 width;        /* ... of so many bytes */
    s64 off;          /* added to it */
};

static void put(struct lower *w, const struct field_place *m, u32 at, u32 mask, struct opnd shifted)
{
    struct opnd v = shifted;
    if (~mask) {
        struct opnd old = lower_temp(w, T_U32);
        lower_access(w, true, m->space, m->base, m->width, m->off + at, old, 4);
        v = made(w, N_or, T_B32, made(w, N_and, T_B32, old, lower_const(~mask)),
                 made(w, N_and, T_B32, shifted, lower_const(mask)));
    }
    lower_access(w, false, m->space, m->base, m->width, m->off + at, v, 4);
}

static struct opnd less_one(struct lower *w, struct opnd v)
{
    return made(w, N_add, T_U32, v, lower_const(0xffffffffu));
}

static struct opnd up(struct lower *w, struct opnd v, u32 by)
{
    return by ? made(w, N_shl, T_B32, v, lower_const(by)) : v;
}

/* False: it is a field, or a value, that sm_90 has not. */
static bool replace(struct lower *w, const struct field_place *m, u32 ordinal, struct opnd v)
{
    const struct ptx_insn *i = w->cur;
    if (lower_has_mod(i, "global_address")) {
        lower_access(w, false, m->space, m->base, m->width, m->off, v, 8);
        return true;
    }
    if (lower_has_mod(i, "global_stride")) {
        if (ordinal > 3) return false;
        struct opnd low = narrow(w, made(w, N_shr, T_U64, v, lower_const(4))),
                    high = narrow(w, made(w, N_shr, T_U64, v, lower_const(36)));
        put(w, m, 0xc + 4 * ordinal, ~0u, low);
        put(w, m, 0x1c, 15u << 4 * ordinal, up(w, high, 4 * ordinal));
        return true;
    }
    if (ordinal > 4) return false;
    if (lower_has_mod(i, "box_dim")) {
        u32 shift = ordinal ? 8 * (ordinal - 1) : 24;
        put(w, m, ordinal ? 0x38 : 0x34, 0xffu << shift, up(w, less_one(w, v), shift));
        return true;
    }
    if (lower_has_mod(i, "elemtype")) {
        if (v.kind != O_CONST || v.value > 15) return false;
        bool tf32 = v.value == 11 || v.value == 12;
        u32 number = tf32 ? (u32)v.value - 4 : (u32)v.value;
        put(w, m, 8, 0x780 | (tf32 ? 0x10000 : 0), lower_const(number << 7 | (u32)tf32 << 16));
        return true;
    }
    for (u32 k = 0; k < COUNT_OF(fields); k++) {
        const struct field *f = &fields[k];
        if (!lower_has_mod(i, f->name)) continue;
        if (f->mask == 0x406000 && (v.kind != O_CONST || v.value > 3)) return false;
        u32 shift = f->shift + f->along * ordinal;
        put(w, m, f->at + f->next * ordinal, f->mask << f->along * ordinal, up(w, f->less ? less_one(w, v) : v, shift));
        return true;
    }
    return false;
}

/* tensormap.replace [map]{, ordinal}, value */
void lower_tensormap_replace(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    bool wide = lower_has_mod(i, "b64"), ordinal = i->narg == 3;
    u32 around = lower_branch_around(w);
    (void)form;
    if (i->narg < 2 || i->narg > 3 || i->arg[0].kind != OP_MEM) {
        lower_unsupported(w);
        return;
    }
    struct field_place m = { .space = lower_space_of(w, &i->arg[0]) };
    m.width = lower_address(w, &i->arg[0], &m.base, &m.off);
    struct opnd which = ordinal ? lower_operand(w, &i->arg[1], T_U32) : lower_const(0);
    struct opnd v = lower_operand(w, &i->arg[i->narg - 1u], wide ? T_U64 : T_U32);
    if (which.kind != O_CONST || !replace(w, &m, (u32)which.value, v)) {
        lower_unsupported(w);
        return;
    }
    if (m.width == 8 && m.space != SP_SHARED) mark(w, MAP_CHANGED, m.base, m.off);
    if (around != NONE) lower_end_block(w, TERM_FALL);
    lower_end_around(w, around);
}

/* The whole warp executes it at once: later operations of a lane are ordered after the parts of all lanes. */
static void order_lanes(struct lower *w)
{
    struct lop o = lower_op(w, isa_form(N_warp_bar, T_NONE, T_NONE, 0));
    struct opnd src[SRC_MEMBERS + 1] = { no_opnd };
    src[SRC_MEMBERS] = lower_const(ALL_LANES);
    lower_operands(w, &o, NULL, 0, src, SRC_MEMBERS + 1);
    VEC_PUSH(w->mem, &w->op, o);
    lower_end_block(w, TERM_WARP);
}

/* tensormap.cp_fenceproxy [to], [from], 128 */
void lower_tensormap_copy(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    u32 around = lower_branch_around(w);
    (void)form;
    if (i->narg != 3 || i->arg[0].kind != OP_MEM || i->arg[1].kind != OP_MEM) {
        lower_unsupported(w);
        return;
    }
    lower_meet_aligned(w);
    struct opnd lane = { .kind = O_SREG, .reg = SR_LANEID };
    struct opnd mine = made(w, N_shl, T_B32, lane, lower_const(2)), far = lower_temp(w, T_U64),
                word = lower_temp(w, T_U32);
    lower_emit(w, isa_form(N_cvt, T_U32, T_U64, 0), far, mine, no_opnd, no_opnd)->guard = no_opnd;
    for (u32 k = 2; k-- > 0;) { /* from, then to */
        struct opnd at;
        s64 off;
        u32 width = lower_address(w, &i->arg[k], &at, &off);
        at = width == 8 ? made(w, N_add, T_U64, at, far) : made(w, N_add, T_U32, at, mine);
        lower_access(w, k == 1, k ? SP_SHARED : SP_GLOBAL, at, width, off, word, 4);
        /* of lane 0 it is the map's own address */
        if (!k && width == 8) mark(w, MAP_CHANGED, made(w, N_sub, T_U64, at, far), off);
    }
    order_lanes(w);
    lower_fence(w, isa_form(N_fence, T_NONE, T_NONE, 0));
    if (around != NONE) lower_end_block(w, TERM_FALL);
    lower_end_around(w, around);
}

/* fence.proxy.tensormap::generic: release, or acquire of [map], 128. It orders memory, too. */
void lower_map_fence(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    (void)form;
    if (i->narg) {
        struct field_place m = { 0 };
        if (i->arg[0].kind != OP_MEM) {
            lower_unsupported(w);
            return;
        }
        m.width = lower_address(w, &i->arg[0], &m.base, &m.off);
        if (m.width == 8) mark(w, MAP_ACQUIRED, m.base, m.off);
    }
    lower_fence(w, isa_form(N_fence, T_NONE, T_NONE, 0));
}
