/* Lowering of products of small matrices (mma.h): what an opcode says becomes a struct mma, the vectors of its operands
 * one list of registers, a, b and c one after the other. */
#include "lower/lower.h"
#include "code/mma.h"

/* Which shapes the manual has for a type of a (tables of 9.7.14.5.14 and 9.7.14.6.3), dense and sparse. */
static const struct {
    u16 m, k;
    u16 dense, sparse; /* sets of types, a bit each */
} shapes[] = {
#define OF(t) 1u << TENSOR_##t
    { 8, 4, OF(F16) | OF(F64), 0 },
    { 8, 16, OF(S8) | OF(U8), 0 },
    { 8, 32, OF(S4) | OF(U4), 0 },
    { 8, 128, OF(B1), 0 },
    { 16, 4, OF(TF32) | OF(F64), 0 },
    { 16, 8, OF(F16) | OF(BF16) | OF(TF32) | OF(F64), OF(TF32) },
    { 16, 16, OF(F16) | OF(BF16) | OF(E4M3) | OF(E5M2) | OF(S8) | OF(U8) | OF(F64), OF(F16) | OF(BF16) | OF(TF32) },
    { 16, 32, OF(E4M3) | OF(E5M2) | OF(S8) | OF(U8) | OF(S4) | OF(U4), OF(F16) | OF(BF16) | OF(S8) | OF(U8) },
    { 16, 64, OF(S4) | OF(U4), OF(E4M3) | OF(E5M2) | OF(S8) | OF(U8) | OF(S4) | OF(U4) },
    { 16, 128, OF(B1), OF(S4) | OF(U4) },
    { 16, 256, OF(B1), 0 },
};

/* Types that a and b, c and d may have together. */
static bool types_agree(const struct mma *x)
{
    bool floats = x->c != TENSOR_S32 && x->c != TENSOR_F64;
    bool same_cd = x->c == x->d || (x->layout == MMA_QUAD_PAIR && x->c == TENSOR_F16 && x->d == TENSOR_F32);
    switch (x->a) {
    case TENSOR_F16: return x->b == x->a && floats && same_cd;
    case TENSOR_BF16:
    case TENSOR_TF32: return x->b == x->a && x->c == TENSOR_F32 && x->d == TENSOR_F32;
    case TENSOR_E4M3:
    case TENSOR_E5M2: return tensor_is_fp8((enum tensor_type)x->b) && floats && same_cd;
    case TENSOR_F64: return x->b == x->a && x->c == x->a && x->d == x->a;
    default:
        return tensor_bits((enum tensor_type)x->b) == tensor_bits((enum tensor_type)x->a) && x->b >= TENSOR_S8 &&
               x->c == TENSOR_S32 && x->d == TENSOR_S32;
    }
}

u8 lower_mma_count(u32 elements, enum tensor_type t)
{
    u32 bits = elements * tensor_bits(t) / LANES;
    return (u8)(bits / (t == TENSOR_F64 ? 64 : 32));
}

bool lower_mma_shape(struct str s, struct mma *x)
{
    unsigned m, n, k;
    char text[24];
    if (s.n >= sizeof text || s.p[0] != 'm') return false;
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    if (sscanf(text, "m%3un%3uk%3u", &m, &n, &k) != 3) return false;
    x->m = (u16)m;
    x->n = (u16)n;
    x->k = (u16)k;
    return true;
}

u32 lower_mma_words(const struct ptx_insn *i, struct mma *x, u8 t[4])
{
    u32 n = 0, layouts = 0;
    memset(x, 0, sizeof *x); /* forms are compared as bytes */
    x->round = RND_RN;
    for (u32 k = 0; k < i->op->nmod; k++) {
        struct str s = i->op->mod[k];
        if (s.n > 4 && lower_mma_shape(s, x)) continue;
        if (str_is(s, "row") || str_is(s, "col")) {
            if (layouts++)
                x->b_rows = s.p[0] == 'r';
            else
                x->a_cols = s.p[0] == 'c';
        }
        if (str_is(s, "satfinite")) x->saturate = true;
        if (str_is(s, "and")) x->conjunction = true;
        if (str_is(s, "rz")) x->round = RND_RZ;
        if (str_is(s, "rm")) x->round = RND_RM;
        if (str_is(s, "rp")) x->round = RND_RP;
        if (str_is(s, "sp") || str_is(s, "sp::ordered_metadata")) x->sparse = true;
        if (str_is(s, "sp::ordered_metadata")) x->ordered = true;
        int type = tensor_type_find(s);
        if (type >= 0 && n < 4) t[n++] = (u8)type;
    }
    return n;
}

static bool is_narrow(u32 t) { return tensor_is_fp8((enum tensor_type)t) || (t >= TENSOR_E2M3 && t <= TENSOR_E2M1); }

/* A .kind of Blackwell (9.7.14.5.14): its shape, types and scale factors; false: nothing that exists. */
static bool read_kind(const struct ptx_insn *i, struct mma *x)
{
    bool f4 = lower_has_mod(i, "kind::mxf4"), nv = lower_has_mod(i, "kind::mxf4nvf4"),
         scaled = lower_has_mod(i, "block_scale");
    u32 factors = lower_has_mod(i, "scale_vec::4X")   ? 4
                  : lower_has_mod(i, "scale_vec::2X") ? 2
                  : lower_has_mod(i, "scale_vec::1X") ? 1
                                                      : 0;
    x->full = true;
    if (!is_narrow(x->a) || !is_narrow(x->b) || x->m != 16 || x->k != (f4 || nv ? 64u : 32u) << x->sparse) return false;
    if (!scaled) return x->c == x->d && (x->c == TENSOR_F16 || x->c == TENSOR_F32);
    x->ue4m3 = lower_has_mod(i, "ue4m3");
    x->scales = (u8)(factors ? factors : f4 ? 2 : nv ? 0 : 1);
    if (f4 || nv) {
        if (x->a != TENSOR_E2M1 || x->b != TENSOR_E2M1) return false;
        x->a = x->b = TENSOR_E2M1_PACKED;
    }
    bool fits = nv ? x->scales == 4 || (x->scales == 2 && !x->ue4m3) : x->scales == (f4 ? 2 : 1) && !x->ue4m3;
    return fits && x->c == TENSOR_F32 && x->d == TENSOR_F32;
}

/* What the opcode says; false: nothing that exists. */
static bool mma_read(const struct ptx_insn *i, struct mma *x)
{
    u32 set = 0;
    u8 t[4];
    u32 n = lower_mma_words(i, x, t);
    if (n != 4 || x->n != 8) return false;
    x->d = t[0];
    x->a = t[1];
    x->b = t[2];
    x->c = t[3];
    for (u32 k = 0; k < COUNT_OF(shapes); k++)
        if (shapes[k].m == x->m && shapes[k].k == x->k) set = x->sparse ? shapes[k].sparse : shapes[k].dense;
    bool pairs = x->m == 8 && x->k == 4 && x->a == TENSOR_F16,
         kind = lower_has_mod(i, "block_scale") || lower_has_mod(i, "kind::f8f6f4");
    x->layout = pairs ? MMA_QUAD_PAIR : MMA_FRAGMENT;
    if (kind ? !read_kind(i, x) : !(set >> x->a & 1) || !types_agree(x)) return false;
    if (!pairs && (x->a_cols || x->b_rows)) return false;
    u32 each = pairs ? 4 : 1; /* a warp makes four products of m8n8k4 */
    x->na = lower_mma_count(each * x->m * x->k >> x->sparse, (enum tensor_type)x->a);
    x->nb = lower_mma_count(each * x->n * x->k, (enum tensor_type)x->b);
    x->nc = lower_mma_count(each * x->m * x->n, (enum tensor_type)x->c);
    x->nd = lower_mma_count(each * x->m * x->n, (enum tensor_type)x->d);
    return true;
}

bool lower_mma_registers(struct lower *w, const struct ptx_operand *v, u32 n, bool wide, bool result, struct opnd *out)
{
    u32 has = v->kind == OP_VEC ? v->nelem : 1;
    if (has != n) return false;
    for (u32 k = 0; k < n; k++) {
        const struct ptx_operand *e = v->kind == OP_VEC ? &v->elem[k] : v;
        if (e->kind == OP_REG && lower_width(w, e) != (wide ? 8u : 4u)) return false;
        if (result && e->kind != OP_REG && e->kind != OP_SINK) return false;
        out[k] = result ? lower_begin(w, e, wide ? T_B64 : T_B32) : lower_operand(w, e, wide ? T_B64 : T_B32);
    }
    return true;
}

/* Fills in mma.first. */
static void firsts(struct mma *x)
{
    const u8 registers[] = { x->na, x->nb, x->nc, x->nd };
    if (x->group || x->layout == MMA_QUAD_PAIR || x->d == TENSOR_F64) return;
    for (u32 which = OPERAND_A; which <= OPERAND_D; which++)
        for (u32 reg = 0; reg < MIN_OF(registers[which], (u32)MMA_REGISTERS); reg++) {
            struct mma_place at = mma_place(x, (enum mma_operand)which, 0, reg, 0);
            x->first[which][reg].row = at.row;
            x->first[which][reg].col = at.col;
        }
}

u32 lower_mma_number(struct lower *w, const struct mma *x)
{
    struct mma made = *x;
    firsts(&made);
    made.direct = x->layout == MMA_FRAGMENT && !x->group && !x->sparse && x->m == 16 && x->n == 8 &&
                  (x->k == 8 || x->k == 16) && x->a == x->b && (x->a == TENSOR_F16 || x->a == TENSOR_BF16) &&
                  x->c == TENSOR_F32 && x->d == TENSOR_F32;
    for (u32 k = 0; k < w->mma.n; k++)
        if (!memcmp(&w->mma.p[k], &made, sizeof made)) return k;
    VEC_PUSH(w->mem, &w->mma, made);
    return w->mma.n - 1;
}

/* Factors, byte and thread of a, and the same of b: scale-a-data, {byte-id-a, thread-id-a}, ... */
static bool scale_sources(struct lower *w, u32 k, struct opnd *out)
{
    const struct ptx_insn *i = w->cur;
    for (u32 side = 0; side < 2; side++, k += 2, out += 3) {
        const struct ptx_operand *pick = &i->arg[k + 1];
        if (pick->kind != OP_VEC || pick->nelem != 2 || !lower_mma_registers(w, &i->arg[k], 1, false, false, out))
            return false;
        out[1] = lower_operand(w, &pick->elem[0], T_U16);
        out[2] = lower_operand(w, &pick->elem[1], T_U16);
    }
    return true;
}

/* How many selectors of sparse metadata there are: of the four lanes of a group, one, two or all bring them
 * (chunk_bits of units/mma.c). */
static u32 selectors(const struct mma *x)
{
    u32 lanes = tensor_bits((enum tensor_type)x->a) >= 16 ? x->na / 2u : x->na;
    return 4 / MAX_OF(lanes, 1u);
}

void lower_mma_product(struct lower *w, int form, struct mma *x)
{
    const struct ptx_insn *i = w->cur;
    struct opnd dst[8], src[8 * 3 + 1 + MMA_SCALE_SOURCES];
    u32 around = lower_branch_around(w);
    struct lop o = lower_op(w, form);
    if (!x || i->narg != 4u + (x->sparse ? 2 : 0) + (x->scales ? 4 : 0)) {
        lower_unsupported(w);
        return;
    }
    bool wide = x->a == TENSOR_F64;
    struct opnd *a = src, *b = a + x->na, *c = b + x->nb;
    u32 n = (u32)x->na + x->nb + x->nc;
    bool ok = lower_mma_registers(w, &i->arg[0], x->nd, wide, true, dst) &&
              lower_mma_registers(w, &i->arg[1], x->na, wide, false, a) &&
              lower_mma_registers(w, &i->arg[2], x->nb, wide, false, b) &&
              lower_mma_registers(w, &i->arg[3], x->nc, wide, false, c);
    if (ok && x->sparse) {
        struct opnd which = lower_operand(w, &i->arg[5], T_U32);
        ok = lower_mma_registers(w, &i->arg[4], 1, false, false, src + n) && which.kind == O_CONST &&
             which.value < selectors(x);
        x->selector = (u8)which.value;
        n++;
    }
    if (ok && x->scales) {
        ok = scale_sources(w, x->sparse ? 6 : 4, src + n);
        n += MMA_SCALE_SOURCES;
    }
    if (!ok) {
        lower_unsupported(w);
        return;
    }
    lower_operands(w, &o, dst, x->nd, src, n);
    o.product = lower_mma_number(w, x);
    lower_meet_aligned(w);
    VEC_PUSH(w->mem, &w->op, o);
    if (around != NONE) lower_end_block(w, TERM_FALL);
    lower_end_around(w, around);
}

void lower_mma(struct lower *w, int form)
{
    struct mma x;
    lower_mma_product(w, form, mma_read(w->cur, &x) ? &x : NULL);
}
