/* Lowering of wgmma (9.7.15): products of a warpgroup that are complete at a later wait.
 *
 * The warps of a warpgroup have 16 rows each, so an operation is the part of one warp. It writes its accumulators when
 * a wait covers it: the wait reads all accumulators of the function, and so their registers stay theirs until then. */
#include "lower/lower.h"

enum { MOST_D = 128 }; /* registers of d */

/* Elements of k in one product: 32 bytes of a row of a, of a sparse one twice as many with its zeros. */
static bool shape_fits(const struct mma *x)
{
    u32 bits = tensor_bits((enum tensor_type)x->a), k = 256 / bits << x->sparse;
    if (x->m != 64 || x->n < 8 || x->n > 256 || x->n % 8 || x->k != k) return false;
    return x->d != TENSOR_S32 || x->n <= 32 || x->n % 16 == 0;
}

static bool types_fit(const struct mma *x)
{
    switch (x->a) {
    case TENSOR_F16: return x->b == x->a && (x->d == TENSOR_F16 || x->d == TENSOR_F32);
    case TENSOR_BF16:
    case TENSOR_TF32: return x->b == x->a && x->d == TENSOR_F32;
    case TENSOR_E4M3:
    case TENSOR_E5M2: return tensor_is_fp8((enum tensor_type)x->b) && (x->d == TENSOR_F16 || x->d == TENSOR_F32);
    case TENSOR_S8:
    case TENSOR_U8: return (x->b == TENSOR_S8 || x->b == TENSOR_U8) && x->d == TENSOR_S32;
    case TENSOR_B1: return x->b == x->a && x->d == TENSOR_S32 && x->conjunction && !x->sparse && !x->saturate;
    default: return false;
    }
}

/* What the opcode says; false: nothing that exists. */
static bool wgmma_read(const struct ptx_insn *i, struct mma *x)
{
    u8 t[4];
    if (lower_mma_words(i, x, t) != 3) return false;
    x->group = true;
    x->d = x->c = t[0];
    x->a = t[1];
    x->b = t[2];
    if (!types_fit(x) || !shape_fits(x)) return false;
    if (x->saturate && x->d != TENSOR_S32) return false;
    x->m = 16;
    x->na = 4;
    x->nd = x->nc = lower_mma_count(16u * x->n, (enum tensor_type)x->d);
    return true;
}

/* -1 or 1; 0 or 1. */
static bool read_immediate(const struct ptx_insn *i, u32 k, s64 low, bool *out)
{
    if (k >= i->narg || i->arg[k].kind != OP_INT || (i->arg[k].imm != low && i->arg[k].imm != 1)) return false;
    *out = i->arg[k].imm == (low ? low : 1);
    return true;
}

/* The operands after scale-d: of floats signs, of 16-bit ones also how the matrices in shared memory lie. */
static bool read_options(const struct ptx_insn *i, u32 k, struct mma *x)
{
    bool floats = x->d != TENSOR_S32, turns = x->a == TENSOR_F16 || x->a == TENSOR_BF16;
    if (floats && !(read_immediate(i, k, -1, &x->negate_a) && read_immediate(i, k + 1, -1, &x->negate_b))) return false;
    k += floats ? 2 : 0;
    if (turns && x->a_shared && !read_immediate(i, k++, 0, &x->a_cols)) return false;
    if (turns && !read_immediate(i, k++, 0, &x->b_rows)) return false;
    return k == i->narg;
}

void lower_wgmma(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    struct mma x;
    struct opnd dst[MOST_D], all[MOST_D + 8], *src = all + MOST_D;
    u32 around = lower_branch_around(w), n, k = 3;
    struct lop o = lower_op(w, form);
    if (!wgmma_read(i, &x) || i->narg < 4u + 2u * x.sparse) {
        lower_unsupported(w);
        return;
    }
    x.a_shared = i->arg[1].kind != OP_VEC;
    n = wgmma_sources_a(&x);
    bool ok = lower_mma_registers(w, &i->arg[0], x.nd, false, true, dst) &&
              lower_mma_registers(w, &i->arg[1], n, x.a_shared, false, src) &&
              lower_mma_registers(w, &i->arg[2], 1, true, false, src + n);
    n++;
    if (ok && x.sparse) {
        struct opnd which = lower_operand(w, &i->arg[4], T_U32);
        ok = lower_mma_registers(w, &i->arg[3], 1, false, false, src + n) && which.kind == O_CONST &&
             which.value < (tensor_bits((enum tensor_type)x.a) >= 16 ? 2 : 1);
        x.selector = (u8)which.value;
        n++;
        k = 5;
    }
    const struct ptx_operand *scale = &i->arg[k];
    if (scale->kind == OP_INT)
        x.scale = scale->imm ? SCALE_ALWAYS : SCALE_NEVER;
    else {
        x.scale = SCALE_PREDICATE;
        src[n++] = lower_operand(w, scale, T_PRED);
    }
    /* across calls, and without optimisation, ptxas lets every product be waited for where it is issued */
    x.at_once = !w->l->func->is_entry || w->l->func->module->debug;
    if (!ok || !read_options(i, k + 1, &x)) {
        lower_unsupported(w);
        return;
    }
    x.nc = x.scale == SCALE_NEVER ? 0 : x.nd;
    memcpy(src - x.nc, dst, x.nc * sizeof *dst);
    lower_operands(w, &o, dst, x.nd, src - x.nc, n + x.nc);
    o.product = lower_mma_number(w, &x);
    lower_meet_aligned(w);
    VEC_PUSH(w->mem, &w->op, o);
    if (around != NONE) lower_end_block(w, TERM_FALL);
    lower_end_around(w, around);
}

void lower_wgmma_sync(struct lower *w, int form)
{
    u32 around = lower_branch_around(w);
    lower_meet_aligned(w);
    lower_pattern(w, form);
    w->op.p[w->op.n - 1].aux = lower_has_mod(w->cur, "fence")          ? WGMMA_FENCE
                               : lower_has_mod(w->cur, "commit_group") ? WGMMA_COMMIT
                                                                       : WGMMA_WAIT;
    if (w->op.p[w->op.n - 1].aux == WGMMA_WAIT) {
        struct lop meet = lower_op(w, form);
        meet.aux = WGMMA_MEET;
        VEC_PUSH(w->mem, &w->op, meet);
        lower_end_wait(w, WAIT_group);
    } else if (around != NONE)
        lower_end_block(w, TERM_FALL);
    lower_end_around(w, around);
}

void lower_wgmma_waits(struct lower *w)
{
    VEC(struct opnd) all = { 0 };
    u8 *seen = NEW_ARRAY(w->mem, u8, w->reg_type.n + 1);
    for (u32 k = 0; k < w->op.n; k++) {
        const struct lop *o = &w->op.p[k];
        if (!lop_is_wgmma(o)) continue;
        for (u32 j = 0; j < o->ndst; j++) {
            const struct opnd *d = lop_dst(o, j);
            if (d->kind != O_REG || seen[d->reg]++) continue;
            VEC_PUSH(w->mem, &all, *d);
        }
    }
    for (u32 k = 0; k < w->op.n && all.n; k++) {
        struct lop *o = &w->op.p[k];
        if (lop_orders_wgmma(o, WGMMA_WAIT)) lower_operands(w, o, NULL, 0, all.p, all.n);
    }
}
