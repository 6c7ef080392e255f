/* Lowering of what every lane does for itself: arithmetic, comparisons, selections, moves.
 *
 * Most rows are one operation. What PTX packs into one instruction comes apart here: setp with a boolean operand or
 * two results, set (a comparison and a selection), packed moves, the carry, parts of registers in video instructions.
 */
#include "lower/lower.h"

static const struct opnd no_opnd;

static int same_type(enum isa_name name, enum ptx_type t) { return isa_form(name, t, t, 0); }

/* An operation into a temporary, whatever the guard: nobody else sees it. */
static struct opnd compute(struct lower *w, int form, struct opnd a, struct opnd b, struct opnd c, struct opnd e)
{
    struct opnd t = lower_temp(w, isa_operand_type(&isa_forms[form], 0));
    lower_emit_list(w, form, t, (struct opnd[]){ a, b, c, e }, 4)->guard = no_opnd;
    return t;
}

static struct opnd compute2(struct lower *w, int form, struct opnd a, struct opnd b)
{
    return compute(w, form, a, b, no_opnd, no_opnd);
}

/* lop3.or d|p: whether the result is not zero, combined with q. */
static void lower_nonzero(struct lower *w, const struct isa_form *f, struct opnd d, const struct ptx_operand *p)
{
    const struct ptx_insn *i = w->cur;
    if (p->kind == OP_SINK) return;
    struct opnd t = compute2(w, same_type(N_setp_ne, (enum ptx_type)f->type), d, lower_const(0));
    struct opnd q = lower_operand(w, &i->arg[f->nsrc + 1], T_PRED);
    lower_emit(w, same_type(lower_has_mod(i, "and") ? N_and_pred : N_or_pred, T_PRED), lower_begin(w, p, T_PRED), t, q,
               no_opnd);
}

/* Forms that share an opcode differ in how many operands they take: min of two, and of three. */
static int form_of_count(const struct ptx_insn *i, int form)
{
    u32 mods;
    for (int next = form; next >= 0; next = isa_find_from((u32)next + 1, i->op->text, &mods))
        if (isa_forms[next].nsrc + 1u == i->narg) return next;
    return form;
}

void lower_plain(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    form = form_of_count(i, form);
    const struct isa_form *f = &isa_forms[form];
    const struct ptx_operand *dst = &i->arg[0], *p = NULL;
    if (i->narg && dst->kind == OP_PAIR) {
        p = &dst->elem[1];
        dst = &dst->elem[0];
    }
    if (i->narg != f->nsrc + 1u + (p != NULL)) {
        lower_unsupported(w);
        return;
    }
    struct opnd s[4] = { 0 };
    for (u32 k = 0; k < f->nsrc; k++) s[k] = lower_operand(w, &i->arg[k + 1], isa_operand_type(f, k + 1));
    enum ptx_type dt = isa_operand_type(f, 0);
    struct opnd d = lower_begin(w, dst, dt);
    if (f->shape == SHAPE_FSUB) { /* for fuse.c: nothing executes it unless the difference takes a product */
        compute2(w, isa_negation(f), s[1], no_opnd);
        w->op.p[w->op.n - 1].dead = true;
    }
    lower_emit_list(w, form, d, s, 4)->mods = i->op->mods;
    if (p) lower_nonzero(w, f, d, p);
    lower_finish(w, dst, d, dt);
}

/* ---- comparisons ---- */

static enum isa_name logic_of(const struct ptx_insn *i)
{
    return lower_has_mod(i, "and")   ? N_and_pred
           : lower_has_mod(i, "or")  ? N_or_pred
           : lower_has_mod(i, "xor") ? N_xor_pred
                                     : N_COUNT;
}

/* Writes two predicates, both made already: one of the destinations may be the guard, which goes last. */
static void write_predicates(struct lower *w, const struct ptx_operand *p, struct opnd x, const struct ptx_operand *q,
                             struct opnd y)
{
    bool swap = w->guard.kind == O_REG && p->kind == OP_REG && p->reg->index == w->guard.reg;
    for (int k = 0; k < 2; k++) {
        bool second = (k == 1) != swap;
        const struct ptx_operand *o = second ? q : p;
        if (!o || o->kind == OP_SINK) continue;
        lower_emit(w, same_type(N_mov_pred, T_PRED), lower_begin(w, o, T_PRED), second ? y : x, no_opnd, no_opnd);
    }
}

/* setp.cmp{.bool} p{|q}, a, b{, c}; testp.kind p, a */
void lower_setp(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    const struct isa_form *f = &isa_forms[form];
    if (i->narg < f->nsrc + 1u) {
        lower_unsupported(w);
        return;
    }
    struct opnd a = lower_operand(w, &i->arg[1], (enum ptx_type)f->type),
                b = f->nsrc > 1 ? lower_operand(w, &i->arg[2], (enum ptx_type)f->type) : no_opnd;
    const struct ptx_operand *dst = &i->arg[0], *p = dst->kind == OP_PAIR ? &dst->elem[0] : dst,
                             *q = dst->kind == OP_PAIR ? &dst->elem[1] : NULL;
    enum isa_name logic = logic_of(i);
    if ((logic != N_COUNT) != (i->narg == f->nsrc + 2u)) {
        lower_unsupported(w);
        return;
    }
    if (!q && logic == N_COUNT) {
        lower_emit(w, form, lower_begin(w, p, T_PRED), a, b, no_opnd);
        return;
    }
    struct opnd c = logic == N_COUNT ? no_opnd : lower_operand(w, &i->arg[3], T_PRED), t = compute2(w, form, a, b);
    if (!q) {
        lower_emit(w, same_type(logic, T_PRED), lower_begin(w, p, T_PRED), t, c, no_opnd);
        return;
    }
    struct opnd n = compute2(w, same_type(N_not_pred, T_PRED), t, no_opnd);
    if (logic != N_COUNT) {
        t = compute2(w, same_type(logic, T_PRED), t, c);
        n = compute2(w, same_type(logic, T_PRED), n, c);
    }
    write_predicates(w, p, t, q, n);
}

static struct opnd upper_half(struct lower *w, struct opnd x)
{
    struct opnd t = compute2(w, same_type(N_shr, T_B32), x, lower_const(16));
    return compute2(w, isa_form(N_cvt, T_U32, T_U16, 0), t, no_opnd);
}

static enum ptx_type first_type(const struct ptx_insn *i)
{
    for (u32 k = 0; k < i->op->nmod; k++) {
        enum ptx_type t = type_find(i->op->mod[k]);
        if (t != T_NONE) return t;
    }
    return T_NONE;
}

static struct opnd truth_as(struct lower *w, enum ptx_type d, struct opnd p)
{
    u64 yes = d == T_F32                     ? 0x3f800000u
              : d == T_F16 || d == T_F16X2   ? 0x3c00
              : d == T_BF16 || d == T_BF16X2 ? 0x3f80
                                             : 0xffffffffu;
    enum ptx_type t = type_size[d] == 2 || d == T_F16X2 || d == T_BF16X2 ? T_U16 : T_U32;
    return compute(w, same_type(N_selp, t), lower_const(t == T_U16 ? yes & 0xffff : yes), lower_const(0), p, no_opnd);
}

/* set.cmp{.bool}.D.T d, a, b{, c}, and both set and setp of pairs, which compare their halves. */
void lower_set(struct lower *w, int form)
{
    const struct isa_form *f = &isa_forms[form];
    const struct ptx_insn *i = w->cur;
    enum isa_name logic = logic_of(i);
    bool pairs = f->type == T_F16X2 || f->type == T_BF16X2;
    enum ptx_type t = f->type == T_F16X2    ? T_F16
                      : f->type == T_BF16X2 ? T_BF16
                                            : (enum ptx_type)f->type,
                  d = first_type(i);
    if (i->narg < 3 || (logic != N_COUNT) != (i->narg == 4)) {
        lower_unsupported(w);
        return;
    }
    int cmp = isa_form((enum isa_name)f->partner, t, t, i->op->mods & MOD_FTZ);
    enum ptx_type whole = pairs ? T_B32 : t;
    struct opnd a = lower_operand(w, &i->arg[1], whole), b = lower_operand(w, &i->arg[2], whole),
                c = logic != N_COUNT ? lower_operand(w, &i->arg[3], T_PRED) : no_opnd, p[2];
    for (u32 k = 0; k <= pairs; k++) {
        struct opnd x = a, y = b;
        if (pairs && k) {
            x = upper_half(w, a);
            y = upper_half(w, b);
        } else if (pairs) {
            x = compute2(w, isa_form(N_cvt, T_U32, T_U16, 0), a, no_opnd);
            y = compute2(w, isa_form(N_cvt, T_U32, T_U16, 0), b, no_opnd);
        }
        p[k] = compute2(w, cmp, x, y);
        if (logic != N_COUNT) p[k] = compute2(w, same_type(logic, T_PRED), p[k], c);
    }
    if (str_is(i->op->base, "setp")) {
        const struct ptx_operand *dst = &i->arg[0];
        if (dst->kind == OP_PAIR)
            write_predicates(w, &dst->elem[0], p[0], &dst->elem[1], p[1]);
        else
            lower_unsupported(w);
        return;
    }
    enum ptx_type each = pairs && !type_is_float(d) ? T_U16 : d; /* of two comparisons: 16 bits of ones each */
    struct opnd v = truth_as(w, each, p[0]), r = lower_begin(w, &i->arg[0], d);
    if (pairs) {
        struct opnd lo = compute2(w, isa_form(N_cvt, T_U16, T_U32, 0), v, no_opnd),
                    hi = compute2(w, isa_form(N_cvt, T_U16, T_U32, 0), truth_as(w, each, p[1]), no_opnd);
        lower_emit(w, same_type(N_or, T_B32), r, lo, compute2(w, same_type(N_shl, T_B32), hi, lower_const(16)),
                   no_opnd);
    } else
        lower_emit(w, same_type(N_mov, type_size[d] == 2 ? T_U16 : T_U32), r, v, no_opnd, no_opnd);
    lower_finish(w, &i->arg[0], r, d);
}

/* ---- extended precision ---- */

/* The carry is a register that the text cannot name, the last operand of these rows. */
void lower_carry(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    const struct isa_form *f = &isa_forms[form];
    if (i->narg != f->nsrc) {
        lower_unsupported(w);
        return;
    }
    if (w->carry.kind == O_NONE) w->carry = lower_temp(w, T_U32);
    struct opnd s[4] = { 0 }, out = no_opnd;
    for (u32 k = 0; k + 1 < f->nsrc; k++) s[k] = lower_operand(w, &i->arg[k + 1], isa_operand_type(f, k + 1));
    bool takes = f->shape == SHAPE_TAKE_CARRY;
    s[f->nsrc - 1] = takes ? w->carry : lower_const(0);
    int carry = isa_form((enum isa_name)f->partner, (enum ptx_type)f->type, T_U32, 0);
    if (!takes)
        lower_emit_list(w, carry, w->carry, s, 4);
    else if (lower_has_mod(i, "cc"))
        out = compute(w, carry, s[0], s[1], s[2], s[3]);
    enum ptx_type dt = isa_operand_type(f, 0);
    struct opnd d = lower_begin(w, &i->arg[0], dt);
    lower_emit_list(w, form, d, s, 4);
    lower_finish(w, &i->arg[0], d, dt);
    if (out.kind != O_NONE) lower_emit(w, same_type(N_mov, T_U32), w->carry, out, no_opnd, no_opnd);
}

/* ---- video ---- */

static void part_of(u8 sel, u32 *pos, u32 *len)
{
    *len = sel >= 5 && sel <= 8 ? 8 : sel == 9 || sel == 10 ? 16 : 32;
    *pos = *len == 8 ? 8u * (sel - 5u) : *len == 16 ? 16u * (sel - 9u) : 0;
}

/* a.b1: that byte, extended by the type's sign */
static struct opnd video_operand(struct lower *w, const struct ptx_operand *o, enum ptx_type type)
{
    u32 pos, len;
    struct opnd x = lower_operand(w, o, type);
    part_of(o->sel, &pos, &len);
    return len == 32 ? x : compute(w, same_type(N_bfe, type), x, lower_const(pos), lower_const(len), no_opnd);
}

/* A part of d is written over c: a byte, or the lower half, with the low bits of the result; the upper half with its
 * upper half, which ptxas's sequences do not move there on an H200, whatever 9.7.16 says. The second operation counts
 * by the sign of d; that of vset, which has none, by a's. */
void lower_video(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    const struct isa_form *f = &isa_forms[form];
    enum ptx_type dt = isa_operand_type(f, 0);
    if (i->narg < 3 || i->narg > 4 || (f->nsrc == 4 && i->narg != 4)) {
        lower_unsupported(w);
        return;
    }
    const struct ptx_operand *dst = &i->arg[0];
    u32 pos, len;
    part_of(dst->sel, &pos, &len);
    struct opnd a = video_operand(w, &i->arg[1], isa_operand_type(f, 1)),
                b = video_operand(w, &i->arg[2], isa_operand_type(f, 2));
    struct opnd c = i->narg == 4 ? lower_operand(w, &i->arg[3], dt) : no_opnd, d = lower_begin(w, dst, dt);
    bool add = lower_has_mod(i, "add");
    u32 order = lower_has_mod(i, "min") ? MOD_MIN : lower_has_mod(i, "max") ? MOD_MAX : 0;
    if (f->nsrc == 4) { /* vmad: what is negated */
        struct opnd negated = lower_const((u64)(i->arg[1].neg ^ i->arg[2].neg) | (u64)i->arg[3].neg << 1);
        lower_emit_list(w, form, d, (struct opnd[]){ a, b, c, negated }, 4)->mods = i->op->mods;
    } else if (i->narg == 3 || order) {
        lower_emit(w, form, d, a, b, order ? c : lower_const(len))->mods = i->op->mods | order;
    } else {
        struct opnd t = compute(w, form, a, b, lower_const(len), no_opnd);
        w->op.p[w->op.n - 1].mods = i->op->mods;
        if (!add && len == 8 && pos) t = compute2(w, same_type(N_shl, T_B32), t, lower_const(pos));
        if (add)
            lower_emit(w, same_type(N_add, dt), d, t, c, no_opnd);
        else
            lower_emit_list(
                w, same_type(N_lop3, T_B32), d,
                (struct opnd[]){ t, c, lower_const((len == 32 ? ~0u : (1u << len) - 1) << pos), lower_const(0xe4) }, 4);
    }
    lower_finish(w, dst, d, dt);
}

/* Lanes from both operands: .h10 .b3210 are bytes of b:a, one nibble a lane; the mask of d the same way. */
void lower_simd(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    const struct isa_form *f = &isa_forms[form];
    if (i->narg != 4) {
        lower_unsupported(w);
        return;
    }
    char last = i->op->base.p[i->op->base.n - 1];
    u32 lanes = last == '2' ? 2 : 4, mask = 0, digits = (u32)i->arg[0].imm & 0xffff, n = (u32)(i->arg[0].imm >> 16);
    struct opnd x[2], a = lower_operand(w, &i->arg[1], T_U32), b = lower_operand(w, &i->arg[2], T_U32),
                      c = lower_operand(w, &i->arg[3], T_U32);
    for (u32 k = 0; k < 2; k++) {
        const struct ptx_operand *o = &i->arg[k + 1];
        u32 sel = o->sel == 11 || o->sel == 12 ? (u32)o->imm & 0xffff
                  : lanes == 2                 ? (k ? 0x32 : 0x10)
                  : k                          ? 0x7654
                                               : 0x3210;
        u32 bytes = lanes == 4 ? sel : 0x1010 + (sel & 15) * 0x22 + (sel >> 4) * 0x2200;
        x[k] = compute(w, same_type(N_prmt, T_B32), a, b, lower_const(bytes), no_opnd);
    }
    switch (i->arg[0].sel) {
    case 0: mask = (1u << lanes) - 1; break;
    case 5:
    case 6:
    case 7:
    case 8: mask = 1u << (i->arg[0].sel - 5); break;
    case 9:
    case 10: mask = 1u << (i->arg[0].sel - 9); break;
    default:
        for (u32 k = 0; k < n; k++) mask |= 1u << (digits >> 4 * k & 15);
    }
    struct opnd d = lower_begin(w, &i->arg[0], isa_operand_type(f, 0));
    lower_emit_list(w, form, d, (struct opnd[]){ x[0], x[1], c, lower_const(mask) }, 4)->mods = i->op->mods;
    lower_finish(w, &i->arg[0], d, isa_operand_type(f, 0));
}

/* cvt.rs of four values in braces: the form makes two of them, the upper ones when its last operand is 1. */
void lower_four(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    enum ptx_type dt = isa_operand_type(&isa_forms[form], 0);
    if (i->narg != 3 || i->arg[1].kind != OP_VEC || i->arg[1].nelem != 4) {
        lower_unsupported(w);
        return;
    }
    struct opnd x[2], bits = lower_operand(w, &i->arg[2], T_U32);
    for (u32 k = 0; k < 2; k++) {
        struct opnd a = lower_operand(w, &i->arg[1].elem[2 * k], T_F32),
                    b = lower_operand(w, &i->arg[1].elem[2 * k + 1], T_F32);
        x[k] = compute(w, form, a, b, bits, lower_const(!k));
        w->op.p[w->op.n - 1].mods = i->op->mods;
    }
    struct opnd all = compute2(w, same_type(N_or, type_size[dt] == 2 ? T_B16 : T_B32), x[0], x[1]),
                d = lower_begin(w, &i->arg[0], dt);
    lower_emit(w, isa_form(N_cvt, dt, dt, 0), d, all, no_opnd, no_opnd);
    lower_finish(w, &i->arg[0], d, dt);
}

/* ---- moves ---- */

/* The whole of a vector, element by element from the lowest, as one value of that type. */
static struct opnd pack(struct lower *w, const struct ptx_operand *e, u32 n, u32 whole)
{
    static const u8 uns[] = { [1] = T_U8, [2] = T_U16, [4] = T_U32, [8] = T_U64 },
                    bit[] = { [2] = T_B16, [4] = T_B32, [8] = T_B64 };
    enum ptx_type wt = (enum ptx_type)uns[whole], pt = (enum ptx_type)uns[whole / n], wb = (enum ptx_type)bit[whole];
    struct opnd sum = no_opnd;
    for (u32 k = 0; k < n; k++) {
        struct opnd t = lower_operand(w, &e[k], pt);
        if (n > 1) t = compute2(w, isa_form(N_cvt, pt, wt, 0), t, no_opnd);
        sum = k ? compute2(w, same_type(N_or, wb), sum,
                           compute2(w, same_type(N_shl, wb), t, lower_const(8ull * whole / n * k)))
                : t;
    }
    return sum;
}

static void unpack(struct lower *w, const struct ptx_operand *e, u32 n, u32 whole, struct opnd x)
{
    static const u8 uns[] = { [1] = T_U8, [2] = T_U16, [4] = T_U32, [8] = T_U64 },
                    bit[] = { [2] = T_B16, [4] = T_B32, [8] = T_B64 };
    enum ptx_type wt = (enum ptx_type)uns[whole], pt = (enum ptx_type)uns[whole / n], wb = (enum ptx_type)bit[whole];
    for (u32 k = 0; k < n; k++) {
        if (e[k].kind != OP_REG) continue;
        struct opnd t = k ? compute2(w, same_type(N_shr, wb), x, lower_const(8ull * whole / n * k)) : x,
                    r = lower_begin(w, &e[k], pt);
        lower_emit(w, isa_form(N_cvt, wt, pt, 0), r, t, no_opnd, no_opnd);
        lower_finish(w, &e[k], r, pt);
    }
}

/* mov.b128: its two halves, or two or four registers. */
void lower_mov128(struct lower *w, int form)
{
    (void)form;
    const struct ptx_insn *i = w->cur;
    if (i->narg != 2) {
        lower_unsupported(w);
        return;
    }
    const struct ptx_operand *d = &i->arg[0], *s = &i->arg[1];
    bool ok = true;
    for (u32 k = 0; k < 2; k++)
        ok &= i->arg[k].kind == OP_REG || (i->arg[k].kind == OP_VEC && (i->arg[k].nelem == 2 || i->arg[k].nelem == 4));
    if (!ok) {
        lower_unsupported(w);
        return;
    }
    struct opnd x[2];
    for (u32 k = 0; k < 2; k++)
        x[k] = s->kind == OP_REG ? lower_half(w, s, k) : pack(w, s->elem + s->nelem / 2 * k, s->nelem / 2, 8);
    for (u32 k = 0; k < 2; k++)
        if (d->kind == OP_REG)
            lower_emit(w, same_type(N_mov, T_B64), lower_half(w, d, k), x[k], no_opnd, no_opnd);
        else
            unpack(w, d->elem + d->nelem / 2 * k, d->nelem / 2, 8, x[k]);
}

/* mov.v2 and .v4: element by element, all of them read before one is written. */
void lower_mov_vector(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    const struct ptx_operand *d = &i->arg[0], *s = &i->arg[1];
    if (i->narg != 2 || d->kind != OP_VEC || s->kind != OP_VEC || d->nelem != s->nelem || s->nelem > 4) {
        lower_unsupported(w);
        return;
    }
    enum ptx_type t = lower_last_type(i);
    form = same_type(N_mov, t);
    struct opnd x[4];
    for (u32 k = 0; k < s->nelem; k++) x[k] = compute2(w, form, lower_operand(w, &s->elem[k], t), no_opnd);
    for (u32 k = 0; k < s->nelem; k++) {
        if (d->elem[k].kind == OP_SINK) continue;
        struct opnd r = lower_begin(w, &d->elem[k], t);
        lower_emit(w, form, r, x[k], no_opnd, no_opnd);
        lower_finish(w, &d->elem[k], r, t);
    }
}

/* mov with a vector on one side packs or unpacks. */
void lower_mov(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    if (i->narg != 2) {
        lower_unsupported(w);
        return;
    }
    const struct ptx_operand *d = &i->arg[0], *s = &i->arg[1];
    enum ptx_type type = (enum ptx_type)isa_forms[form].type;
    if (d->kind != OP_VEC && s->kind != OP_VEC) {
        if (s->kind == OP_SREG && s->sreg->id >= SR_CLOCK && s->sreg->id <= SR_GLOBALTIMER_HI) {
            struct opnd r = lower_begin(w, d, type);
            struct lop *o = lower_emit(w, form, r, no_opnd, no_opnd, no_opnd);
            o->kind = K_WARP;
            o->aux = s->sreg->id;
            lower_finish(w, d, r, type);
            return;
        }
        lower_plain(w, form);
        return;
    }
    const struct ptx_operand *v = d->kind == OP_VEC ? d : s;
    u32 whole = type_size[type], part = v->nelem ? whole / v->nelem : 0;
    if ((part != 1 && part != 2 && part != 4) || part * v->nelem != whole || whole > 8 ||
        (d->kind == OP_VEC && s->kind == OP_VEC)) {
        lower_unsupported(w);
        return;
    }
    static const u8 uns[] = { [2] = T_U16, [4] = T_U32, [8] = T_U64 };
    if (d->kind == OP_VEC) {
        unpack(w, v->elem, v->nelem, whole, lower_operand(w, s, (enum ptx_type)uns[whole]));
        return;
    }
    struct opnd x = pack(w, v->elem, v->nelem, whole), r = lower_begin(w, d, (enum ptx_type)uns[whole]);
    lower_emit(w, same_type(N_mov, (enum ptx_type)uns[whole]), r, x, no_opnd, no_opnd);
    lower_finish(w, d, r, (enum ptx_type)uns[whole]);
}
