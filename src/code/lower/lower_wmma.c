/* Lowering of wmma (9.7.14.4): wmma.load and wmma.store become ordinary accesses of each lane to the elements that it
 * holds, so that every check sees them; wmma.mma is a product like mma.sync's. The manual leaves open which lane holds
 * which element: code/fragments.c decides. */
#include "lower/lower.h"

static const struct opnd no_opnd;

/* Which shapes wmma has for a type of a or b, and how many registers of f16 and f32 sums. */
static bool shape_known(const struct mma *x)
{
    bool large = x->k == 16 && ((x->m == 16 && x->n == 16) || (x->m == 8 && x->n == 32) || (x->m == 32 && x->n == 8));
    switch (x->a) {
    case TENSOR_F16:
    case TENSOR_BF16:
    case TENSOR_S8:
    case TENSOR_U8: return large;
    case TENSOR_TF32: return x->m == 16 && x->n == 16 && x->k == 8;
    case TENSOR_F64: return x->m == 8 && x->n == 8 && x->k == 4;
    case TENSOR_S4:
    case TENSOR_U4: return x->m == 8 && x->n == 8 && x->k == 32;
    case TENSOR_B1: return x->m == 8 && x->n == 8 && x->k == 128;
    default: return false;
    }
}

static void count_registers(struct mma *x)
{
    enum tensor_type a = (enum tensor_type)x->a, b = (enum tensor_type)x->b;
    /* of f16 eight, whatever the shape: some hold what others hold, too */
    x->na = a == TENSOR_F16 ? 8 : lower_mma_count((u32)x->m * x->k, a);
    x->nb = b == TENSOR_F16 ? 8 : lower_mma_count((u32)x->n * x->k, b);
    x->nc = lower_mma_count((u32)x->m * x->n, (enum tensor_type)x->c);
    x->nd = lower_mma_count((u32)x->m * x->n, (enum tensor_type)x->d);
}

/* ---- loads and stores ---- */

static struct opnd made(struct lower *w, enum isa_name name, enum ptx_type t, struct opnd a, struct opnd b,
                        struct opnd c)
{
    struct opnd r = lower_temp(w, t);
    lower_emit(w, isa_form(name, t, t, 0), r, a, b, c)->guard = no_opnd;
    return r;
}

struct matrix {
    struct mma form;        /* the part that is moved has its type; the others are whatever goes with it */
    enum mma_operand which; /* which part */
    enum tensor_type type;
    bool columns; /* it lies by columns: the first index runs fastest */
    enum ptx_space space;
    struct opnd base, stride; /* its address; elements from one row or column to the next, of `word` */
    u32 width;                /* of an address, bytes */
    s64 off;                  /* added to the address */
    enum ptx_type word;       /* in which addresses are computed */
};

/* The address of lane 0's element at that row and column, moved to each lane's own by `mine`; what is constant goes to
 * *off. Elements of b are counted as the manual does: its rows are k. */
static struct opnd address_of(struct lower *w, const struct matrix *x, struct opnd mine, u32 lead, u32 along, s64 *off)
{
    u32 bits = tensor_bits(x->type);
    *off = x->off + (s64)along * bits / 8;
    if (!lead) return mine;
    struct opnd rows = made(w, N_mul_lo, x->word, x->stride, lower_const((u64)lead * bits / 8), no_opnd);
    return made(w, N_add, x->word, mine, rows, no_opnd);
}

/* Moves one register's elements; each is an access of its own unless they are neighbours in memory. */
static void move_register(struct lower *w, const struct matrix *x, bool load, struct opnd mine, u32 reg, struct opnd r)
{
    u32 bits = tensor_bits(x->type), each = x->type == TENSOR_B1 ? 1 : mma_each(x->type), width = MAX_OF(bits, 8u) / 8;
    struct mma_place at = mma_place(&x->form, x->which, 0, reg, 0);
    u32 scale = x->type == TENSOR_B1 ? 32 : 1; /* columns of b1 are words */
    bool neighbours = !x->columns;
    s64 off;
    if (neighbours || each == 1) {
        u32 lead = x->columns ? at.col * scale : at.row, along = x->columns ? at.row : at.col * scale;
        struct opnd a = address_of(w, x, mine, lead, along, &off);
        lower_access(w, load, x->space, a, x->width, off, r, x->type == TENSOR_F64 ? 8 : 4);
        return;
    }
    struct opnd sum = no_opnd;
    for (u32 e = 0; e < each; e++) {
        struct mma_place p = mma_place(&x->form, x->which, 0, reg, e);
        struct opnd a = address_of(w, x, mine, p.col, p.row, &off), part = lower_temp(w, T_U16);
        if (!load) {
            struct opnd shifted = made(w, N_shr, T_B32, r, lower_const(e * bits), no_opnd);
            lower_emit(w, isa_form(N_cvt, T_U32, T_U16, 0), part, shifted, no_opnd, no_opnd)->guard = no_opnd;
        }
        lower_access(w, load, x->space, a, x->width, off, part, width);
        if (!load) continue;
        struct opnd wide = lower_temp(w, T_U32);
        lower_emit(w, isa_form(N_cvt, T_U16, T_U32, 0), wide, part, no_opnd, no_opnd)->guard = no_opnd;
        struct opnd up = e ? made(w, N_shl, T_B32, wide, lower_const(e * bits), no_opnd) : wide;
        sum = e ? made(w, N_or, T_B32, sum, up, no_opnd) : up;
    }
    if (load) lower_emit(w, isa_form(N_mov, T_B32, T_B32, 0), r, sum, no_opnd, no_opnd)->guard = no_opnd;
}

/* Whether the element of register k + 1 lies after that of register k, for every stride. ptxas makes one access of the
 * two (LDG.64, STG.64; of f64 .128), and so do the checks of alignment and the counters here. */
static bool are_neighbours(const struct matrix *x, u32 k, u32 n)
{
    if (x->which != OPERAND_C || x->columns || k + 1 >= n || mma_each(x->type) != 1) return false;
    struct mma_place at = mma_place(&x->form, x->which, 0, k, 0), next = mma_place(&x->form, x->which, 0, k + 1, 0);
    return next.row == at.row && next.col == at.col + 1 && at.col % 2 == 0;
}

static void move_pair(struct lower *w, const struct matrix *x, bool load, struct opnd mine, u32 reg, struct opnd *r)
{
    struct mma_place at = mma_place(&x->form, x->which, 0, reg, 0);
    s64 off;
    struct opnd a = address_of(w, x, mine, at.row, at.col, &off);
    lower_access_vector(w, load, x->space, a, x->width, off, r, 2, x->type == TENSOR_F64 ? 8 : 4);
}

/* What every lane adds to the address: its row and column of a block. The neighbours that lane 1 holds lie after those
 * of lane 0, and lane 4 has the next row. */
static struct opnd lane_address(struct lower *w, const struct matrix *x)
{
    bool sum = x->which == OPERAND_C;
    u32 each = sum ? 2 : x->type == TENSOR_B1 ? 32 : mma_each(x->type), bits = tensor_bits(x->type);
    struct opnd lane = { .kind = O_SREG, .reg = SR_LANEID };
    struct opnd row = made(w, N_shr, T_B32, lane, lower_const(2), no_opnd);
    struct opnd col = made(w, N_and, T_B32, lane, lower_const(3), no_opnd);
    col = made(w, N_mul_lo, T_U32, col, lower_const(each), no_opnd);
    if (x->columns) {
        struct opnd t = row;
        row = col;
        col = t;
    }
    if (x->width == 8) {
        struct opnd wide[2] = { lower_temp(w, T_U64), lower_temp(w, T_U64) };
        lower_emit(w, isa_form(N_cvt, T_U32, T_U64, 0), wide[0], row, no_opnd, no_opnd)->guard = no_opnd;
        lower_emit(w, isa_form(N_cvt, T_U32, T_U64, 0), wide[1], col, no_opnd, no_opnd)->guard = no_opnd;
        row = wide[0];
        col = wide[1];
    }
    /* (row * stride + col) elements, in bytes */
    struct opnd n = made(w, N_mad_lo, x->word, row, x->stride, col);
    n = bits >= 8 ? made(w, N_mul_lo, x->word, n, lower_const(bits / 8), no_opnd)
                  : made(w, N_shr, x->width == 8 ? T_U64 : T_U32,
                         made(w, N_mul_lo, x->word, n, lower_const(bits), no_opnd), lower_const(3), no_opnd);
    return made(w, N_add, x->word, x->base, n, no_opnd);
}

/* Reads wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 and wmma.store.d; false: nothing that exists. */
static bool matrix_read(const struct ptx_insn *i, struct matrix *x)
{
    int type = -1;
    memset(x, 0, sizeof *x);
    x->which = OPERAND_C;
    for (u32 k = 0; k < i->op->nmod; k++) {
        struct str s = i->op->mod[k];
        if (str_is(s, "a")) x->which = OPERAND_A;
        if (str_is(s, "b")) x->which = OPERAND_B;
        if (str_is(s, "col")) x->columns = true;
        lower_mma_shape(s, &x->form);
        int t = tensor_type_find(s);
        if (t >= 0) type = t;
    }
    if (type < 0) return false;
    x->type = (enum tensor_type)type;
    struct mma *f = &x->form;
    f->layout = MMA_WMMA;
    f->c = f->d = (u8)type;
    f->a = f->b = (u8)type;
    if (x->which == OPERAND_C) /* any type of a that has the shape */
        f->a = f->b = f->k == 8            ? TENSOR_TF32
                      : f->k == 4          ? TENSOR_F64
                      : f->k == 32         ? TENSOR_S4
                      : f->k == 128        ? TENSOR_B1
                      : type == TENSOR_S32 ? TENSOR_S8
                                           : TENSOR_F16;
    if (x->which == OPERAND_B) x->columns = !x->columns; /* rows of b are along n here */
    bool sum = type == TENSOR_F32 || type == TENSOR_S32 || type == TENSOR_F16 || type == TENSOR_F64;
    count_registers(f);
    return shape_known(f) && (x->which != OPERAND_C || sum) && !(x->columns && tensor_bits(x->type) < 8);
}

void lower_wmma_move(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    bool load = !(isa_forms[form].flags & ISA_WRITES);
    struct matrix x;
    struct opnd r[8];
    u32 around = lower_branch_around(w);
    if (!matrix_read(i, &x) || i->narg < 2 || i->narg > 3) {
        lower_unsupported(w);
        return;
    }
    const struct ptx_operand *m = &i->arg[load], *v = &i->arg[!load];
    u32 n = x.which == OPERAND_A ? x.form.na : x.which == OPERAND_B ? x.form.nb : x.form.nc;
    if (m->kind != OP_MEM || !lower_mma_registers(w, v, n, x.type == TENSOR_F64, load, r)) {
        lower_unsupported(w);
        return;
    }
    lower_meet_aligned(w);
    x.space = lower_space_of(w, m);
    x.width = lower_address(w, m, &x.base, &x.off);
    x.word = x.width == 8 ? T_U64 : T_U32;
    bool sum = x.which == OPERAND_C;
    u32 rows = x.which == OPERAND_B ? x.form.n : x.form.m, cols = sum ? x.form.n : x.form.k;
    x.stride = lower_const(x.columns ? rows : cols);
    if (i->narg == 3) {
        struct opnd s = lower_operand(w, &i->arg[2], T_U32);
        x.stride = s;
        if (x.width == 8 && s.kind != O_CONST) {
            x.stride = lower_temp(w, T_U64);
            lower_emit(w, isa_form(N_cvt, T_U32, T_U64, 0), x.stride, s, no_opnd, no_opnd)->guard = no_opnd;
        }
    }
    struct opnd mine = lane_address(w, &x);
    u32 first = (u32)w->site.n;
    for (u32 k = 0; k < n; k++) {
        if (are_neighbours(&x, k, n)) {
            move_pair(w, &x, load, mine, k, &r[k]);
            k++;
            continue;
        }
        u32 same = k; /* the first register that holds the same elements */
        struct mma_place at = mma_place(&x.form, x.which, 0, k, 0);
        for (u32 j = k; j-- > 0;) {
            struct mma_place p = mma_place(&x.form, x.which, 0, j, 0);
            if (p.row == at.row && p.col == at.col) same = j;
        }
        if (same == k)
            move_register(w, &x, load, mine, k, r[k]);
        else if (load)
            lower_emit(w, isa_form(N_mov, T_B32, T_B32, 0), r[k], r[same], no_opnd, no_opnd)->guard = no_opnd;
    }
    bool by_ldmatrix = load && x.which != OPERAND_C && tensor_bits(x.type) == 16;
    if (by_ldmatrix) w->site.p[first].flags |= x.columns ? SITE_MATRIX_COLUMNS : SITE_MATRIX_ROWS;
    if (around != NONE) lower_end_block(w, TERM_FALL);
    lower_end_around(w, around);
}

/* ---- the product ---- */

/* wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 has types of d and c, others have all four. */
static bool product_read(const struct ptx_insn *i, struct mma *x)
{
    u8 t[4];
    u32 n = lower_mma_words(i, x, t);
    x->layout = MMA_WMMA;
    x->a_cols = x->b_rows = false; /* of matrices in memory: fragments are what they are */
    if (n != 2 && n != 4) return false;
    x->d = t[0];
    x->a = n == 4 ? t[1] : TENSOR_F16;
    x->b = n == 4 ? t[2] : TENSOR_F16;
    x->c = t[n - 1];
    bool floats = x->a == TENSOR_F16 || x->a == TENSOR_BF16 || x->a == TENSOR_TF32;
    bool half = x->a == TENSOR_F16 && (x->c == TENSOR_F16 || x->c == TENSOR_F32) &&
                (x->d == TENSOR_F16 || x->d == TENSOR_F32);
    bool sums = floats ? half || (x->c == TENSOR_F32 && x->d == TENSOR_F32)
                       : x->c == x->d && x->d == (x->a == TENSOR_F64 ? TENSOR_F64 : TENSOR_S32);
    count_registers(x);
    return shape_known(x) && sums && tensor_bits((enum tensor_type)x->a) == tensor_bits((enum tensor_type)x->b);
}

void lower_wmma(struct lower *w, int form)
{
    struct mma x;
    lower_mma_product(w, form, product_read(w->cur, &x) ? &x : NULL);
}
