/* tcgen05.mma: products whose sums lie in tensor memory (9.7.16.10). One thread starts a product, a flight that is done
 * with the commit after it; with .cta_group::2 each CTA of the pair has half of the rows, and half of the columns of b
 * lie in the shared memory of each.
 *
 * The arithmetic is that of tensor.c; no card has been asked (docs/inside/tensor.md). */
#include "units/umma.h"
#include "sim/asked.h"
#include "mem/shadow.h"
#include "units/bulk.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/sim_run.h"
#include <math.h>

enum { BLOCK = TENSOR_MOST }; /* rows, columns at once */

/* One product in one CTA. */
struct part_of_product {
    const struct umma *x;
    u32 nth;            /* which CTA of the pair */
    struct cta *cta;    /* that one */
    u32 rows;           /* of it */
    u32 *a;             /* [rows][kept], of the part in hand where a lies in tensor memory */
    const u32 *b;       /* [n][k] */
    u32 *row_bad;       /* origin of an undefined row of a, + 1; 0: it is defined. NULL: not checked */
    const u32 *col_bad; /* the same of columns of b */
};

/* ---- operands ---- */

/* Row r of a from tensor memory: its elements, as many to a word as fit. */
static void row_of_a(const struct part_of_product *p, u32 lane, u32 *out)
{
    const struct umma *x = p->x;
    u32 bits = tensor_bits(x->a), each = 32 / bits, turn = x->negate_a ? tensor_sign(x->a) : 0;
    const u32 *cell = &tmem_in(p->cta)->cell[lane][x->a_at & 0xffff];
    for (u32 k = 0; k < x->kept; k++) out[k] = (u32)(cell[k / each] >> k % each * bits & low_bits(bits)) ^ turn;
}

static void load_a(const struct part_of_product *p, u32 part)
{
    const struct umma *x = p->x;
    if (x->aux & UMMA_A_TMEM) {
        for (u32 r = 0; r < p->rows; r++)
            row_of_a(p, (x->a_at >> 16) + umma_lane(x, r, part), p->a + (size_t)r * x->kept);
        return;
    }
    struct matrix m = matrix_of_tcgen05(x->a_desc, x->a_mn);
    if (part) return; /* the same as before */
    matrix_load(&m, p->cta->shared, x->a, 0, p->rows, x->kept, x->negate_a ? tensor_sign(x->a) : 0, p->a);
}

/* All columns of b: of a pair, the first half from the even CTA. */
static void load_b(const struct umma *x, u32 *b)
{
    struct matrix m = matrix_of_tcgen05(x->b_desc, x->b_mn);
    u32 each = x->n / x->work.ctas, turn = x->negate_b ? tensor_sign(x->b) : 0;
    u8 zero[256];
    u32 shift = umma_shift(x);
    umma_zero_columns(x, zero);
    for (u32 c = 0; c < x->work.ctas; c++)
        matrix_load(&m, x->work.cta[c]->shared, x->b, shift, each, x->k, turn, b + (size_t)c * each * x->k);
    for (u32 n = 0; n < x->n; n++)
        if (zero[n]) memset(b + (size_t)n * x->k, 0, x->k * sizeof *b);
}

/* The factors of `count` lines from `first` on, for what lies in that quarter of the lanes: line l has its own in lane
 * l mod 32, column l / 32 (9.7.16.10.7.2). */
static void factors(const struct part_of_product *p, u32 at, u32 byte, u32 quarter, u32 first, u32 count, u8 *out)
{
    const struct umma *x = p->x;
    for (u32 l = 0; l < count; l++) {
        u32 lane = quarter * 32 + (first + l) % 32, column = (at & 0x3fff) + (first + l) / 32;
        u32 word = tmem_in(p->cta)->cell[lane][column % TMEM_COLUMNS];
        for (u32 k = 0; k < x->scales; k++) out[l * x->scales + k] = (u8)(word >> 8 * ((byte + k) % 4));
    }
}

/* ---- sums ---- */

static u32 divided(const struct umma *x, u32 c)
{
    f32 v;
    if (!x->scale_d) return c;
    if (x->d == TENSOR_F16) return tensor_halve(c, x->scale_d);
    memcpy(&v, &c, 4);
    v = ldexpf(v, -(int)x->scale_d);
    memcpy(&c, &v, 4);
    return c;
}

/* An element of d is undefined where its row of a, its column of b or what it is added to is. */
static u32 origin_of(const struct part_of_product *p, u32 row, u32 col, u32 c)
{
    if (p->row_bad && p->row_bad[row]) return p->row_bad[row];
    if (p->col_bad && p->col_bad[col]) return p->col_bad[col];
    return p->x->add ? c : 0;
}

/* The elements of `cols` columns of b that the stored ones of a sparse row meet. */
static void met_by(const struct part_of_product *p, u32 part, u32 row, u32 cols, const u32 *b, u32 *met)
{
    const struct umma *x = p->x;
    u32 chunk = umma_chunk(x), stored = chunk / 2;
    for (u32 j = 0; j < x->kept; j++) {
        struct umma_meta at = umma_metadata(x, row, part, j / stored);
        u32 bits = tmem_in(p->cta)->cell[at.lane][at.column] >> at.shift & 15;
        u32 k = j / stored * chunk + umma_position(x, bits, j % stored);
        for (u32 n = 0; n < cols; n++) met[n * x->kept + j] = b[n * x->k + k];
    }
}

static void multiply_tile(const struct tensor *f, const struct tensor_scales *s, u32 rows, u32 cols, const u32 *a,
                          const u32 *b, u32 *c)
{
    if (s)
        tensor_multiply_scaled(f, s, rows, cols, a, b, c, c);
    else
        tensor_multiply(f, rows, cols, a, b, c, c);
}

/* Rows from `row` on, columns from `col` on, which lie in `part`. */
static void tile(const struct part_of_product *p, u32 part, u32 row, u32 rows, u32 col, u32 cols)
{
    const struct umma *x = p->x;
    struct tmem *t = tmem_in(p->cta);
    u32 c[BLOCK * BLOCK], each = x->n / umma_parts(x), column = (x->d_at & 0xffff) + col - part * each;
    bool half = x->d == TENSOR_F16;
    for (u32 r = 0; r < rows; r++) {
        const u32 *cell = &t->cell[(x->d_at >> 16) + umma_lane(x, row + r, part)][column];
        for (u32 n = 0; n < cols; n++) c[r * cols + n] = !x->add ? 0 : divided(x, half ? cell[n] & 0xffff : cell[n]);
    }
    struct tensor f = {
        .a = x->a, .b = x->b, .c = x->d, .d = x->d, .k = x->kept, .saturate = x->saturate, .full = true
    };
    const u32 *a = p->a + (size_t)row * x->kept, *b = p->b + (size_t)col * x->k;
    u8 sa[BLOCK * 4], sb[BLOCK * 4];
    struct tensor_scales s = { sa, sb, x->scales, x->ue4m3 };
    if (x->scales) {
        u32 quarter = umma_lane(x, row, part) / 32;
        factors(p, x->scale_a_at, x->a_byte, quarter, row, rows, sa);
        factors(p, x->scale_b_at, x->b_byte, quarter, col - part * each, cols, sb);
    }
    if (x->aux & UMMA_SPARSE)
        for (u32 r = 0; r < rows; r++) { /* each row of a meets other elements of b */
            u32 met[BLOCK * TENSOR_SCALED_MOST];
            struct tensor_scales of = { sa + r * x->scales, sb, x->scales, x->ue4m3 };
            met_by(p, part, row + r, cols, b, met);
            multiply_tile(&f, x->scales ? &of : NULL, 1, cols, a + r * x->kept, met, c + r * cols);
        }
    else
        multiply_tile(&f, x->scales ? &s : NULL, rows, cols, a, b, c);
    for (u32 r = 0; r < rows; r++) {
        u32 lane = (x->d_at >> 16) + umma_lane(x, row + r, part);
        if (x->keep[p->nth * 4 + lane / 32] >> lane % 32 & 1) continue;
        memcpy(&t->cell[lane][column], c + r * cols, cols * sizeof *c);
        for (u32 n = 0; n < cols && t->origin; n++)
            t->origin[lane][column + n] = origin_of(p, row + r, col + n, t->origin[lane][column + n]);
    }
}

/* The bytes of a chunk that element e of it lies in: 4- and 6-bit elements are packed, and padding follows. */
static u32 first_byte(enum tensor_type t, u32 e)
{
    u32 bits = t == TENSOR_E2M1 ? 4 : t == TENSOR_E2M3 || t == TENSOR_E3M2 ? 6 : tensor_bits(t);
    return e * bits / 8;
}
static u32 end_byte(enum tensor_type t, u32 e)
{
    u32 bits = t == TENSOR_E2M1 ? 4 : t == TENSOR_E2M3 || t == TENSOR_E3M2 ? 6 : tensor_bits(t);
    return ((e + 1) * bits + 7) / 8;
}

/* Which of some lines of a matrix in shared memory, from one on, are undefined; false: none. */
static bool undefined_lines(const struct cta *c, u64 descriptor, bool mn, enum tensor_type t, u32 from, u32 lines,
                            u32 k, u32 *bad)
{
    struct matrix m = matrix_of_tcgen05(descriptor, mn);
    u32 each = 128 / tensor_bits(t), some = 0;
    if (shadow_defined(c->init, c->init->from, c->launch->shared_total)) return false;
    for (u32 l = 0; l < lines; l++)
        for (u32 n = 0; n < matrix_across(&m, t, k) && !bad[l]; n++) {
            u32 y = from + l, first = mn ? first_byte(t, y % each) : 0, end = end_byte(t, mn ? y % each : each - 1);
            u64 at = c->init->from + (mn ? matrix_chunk(&m, n, y / each) : matrix_chunk(&m, y, n));
            if (shadow_defined(c->init, at + first, end - first)) continue;
            for (u32 j = first; j < end && !bad[l]; j++) {
                struct taint x = shadow_read(c->init, at + j, 1);
                if (x.undef) some |= bad[l] = x.origin + 1;
            }
        }
    return some;
}

/* Whether the stored elements of a chunk are all zero: then it does not matter where they stand, and CUTLASS's
 * compressor gives them metadata of 0. */
static bool zero_chunk(const struct part_of_product *p, u32 row, u32 chunk)
{
    const struct umma *x = p->x;
    u32 stored = umma_chunk(x) / 2, some = 0;
    for (u32 j = 0; j < stored; j++) some |= p->a[(size_t)row * x->kept + chunk * stored + j] & ~tensor_sign(x->a);
    return !some;
}

/* Metadata of a sparse a that have no meaning are reported, the first of them; undefined ones make their row so. */
static void look_at_metadata(struct part_of_product *p, u32 part, bool *reported, u32 *row_bad)
{
    const struct umma *x = p->x;
    const struct tmem *t = tmem_in(p->cta);
    for (u32 row = 0; row < p->rows; row++)
        for (u32 chunk = 0; chunk < x->k / umma_chunk(x); chunk++) {
            struct umma_meta at = umma_metadata(x, row, part, chunk);
            u32 bits = t->cell[at.lane][at.column] >> at.shift & 15;
            u32 origin = t->origin ? t->origin[at.lane][at.column] : 0;
            if (origin) {
                row_bad[row] = origin;
                p->row_bad = row_bad;
            } else if (!umma_meaning(x, bits) && !*reported && !zero_chunk(p, row, chunk)) {
                asked->umma_wrong_metadata(&x->work, row, chunk, bits, at.lane, at.column);
                *reported = true;
            }
        }
}

static void multiply(struct tmem_work *work)
{
    const struct umma *x = (const struct umma *)work;
    u32 rows = x->m / work->ctas, parts = umma_parts(x), each = x->n / parts;
    u32 *b = base_need((size_t)x->n * x->k * sizeof *b), *a = base_need((size_t)rows * x->kept * sizeof *a);
    u32 row_bad[TMEM_LANES], col_bad[256] = { 0 };
    bool bad_cols = false, reported = false;
    load_b(x, b);
    for (u32 c = 0; c < work->ctas && work->cta[c]->init; c++)
        bad_cols |= undefined_lines(work->cta[c], x->b_desc, x->b_mn, x->b, umma_shift(x), x->n / work->ctas, x->k,
                                    col_bad + c * (x->n / work->ctas));
    for (u32 c = 0; c < work->ctas; c++) {
        struct part_of_product p = { x, c, work->cta[c], rows, a, b, NULL, bad_cols ? col_bad : NULL };
        memset(row_bad, 0, sizeof row_bad);
        if (p.cta->init && !(x->aux & UMMA_A_TMEM) &&
            undefined_lines(p.cta, x->a_desc, x->a_mn, x->a, 0, rows, x->kept, row_bad))
            p.row_bad = row_bad;
        for (u32 part = 0; part < parts; part++) {
            load_a(&p, part);
            if (x->aux & UMMA_SPARSE) look_at_metadata(&p, part, &reported, row_bad);
            for (u32 row = 0; row < rows; row += BLOCK)
                for (u32 col = 0; col < each; col += BLOCK)
                    tile(&p, part, row, MIN_OF((u32)BLOCK, rows - row), part * each + col,
                         MIN_OF((u32)BLOCK, each - col));
        }
    }
    base_free(a);
    base_free(b);
}

/* ---- the instruction ---- */

/* The cells that it uses in each CTA. */
static void areas(struct umma *x)
{
    struct tmem_work *k = &x->work;
    u32 rows = x->m / k->ctas, parts = umma_parts(x), last = umma_lane(x, rows - 1, parts - 1) + 1;
    bool half = umma_half(x);
    k->wrote = (struct tmem_area){ x->d_at >> 16, last, x->d_at & 0xffff, x->n / parts, half };
    if (x->aux & UMMA_A_TMEM)
        k->read[k->reads++] = (struct tmem_area){ x->a_at >> 16, last, x->a_at & 0xffff, 8, half };
    if (x->aux & UMMA_SPARSE)
        k->read[k->reads++] = (x->aux & UMMA_KIND) <= UMMA_TF32
                                  ? (struct tmem_area){ x->meta_at >> 16, last, (x->meta_at & 0xffff) + x->selector, 1,
                                                        half }
                                  : (struct tmem_area){ x->meta_at >> 16, last, x->meta_at & 0xffff, 2, half };
    if (!x->scales) return;
    k->read[k->reads++] = (struct tmem_area){ 0, TMEM_LANES, x->scale_a_at & 0x3fff, (rows + 31) / 32, false };
    k->read[k->reads++] = (struct tmem_area){ 0, TMEM_LANES, x->scale_b_at & 0x3fff, (x->n / parts + 31) / 32, false };
}

/* Where the metadata of a sparse a may lie (9.7.16.10.8.5): at an even column, and where d has half of the lanes, in
 * the same half. */
static bool good_metadata(struct warp *w, const struct insn *i, u32 lane, const struct umma *x)
{
    char text[160];
    u32 first = x->meta_at >> 16, column = x->meta_at & 0xffff;
    if (!(x->aux & UMMA_SPARSE)) return true;
    if (column % 2 == 0 && (!umma_half(x) || first == x->d_at >> 16)) return true;
    if (column % 2)
        snprintf(text, sizeof text, "the metadata begin at column %u, which is not even", column);
    else
        snprintf(text, sizeof text,
                 "the metadata begin at lane %u and d at lane %u, and both have 16 of every 32 lanes", first,
                 x->d_at >> 16);
    asked->umma_wrong_place(w, i, lane, text);
    return false;
}

/* Checks that its operands exist; missing ones are reported. */
static bool check(struct warp *w, const struct insn *i, u32 lane, const struct umma *x)
{
    const struct tmem_work *k = &x->work;
    struct matrix a = matrix_of_tcgen05(x->a_desc, x->a_mn), b = matrix_of_tcgen05(x->b_desc, x->b_mn);
    const char *does[COUNT_OF(k->read)] = { 0 };
    u32 bit = 1u << lane, n = 0;
    if (x->aux & UMMA_A_TMEM) does[n++] = "reads a from";
    if (x->aux & UMMA_SPARSE) does[n++] = "reads metadata from";
    while (n < k->reads) does[n++] = "reads scale factors from";
    bool ok = asked->umma_check_matrix(w, i, lane, "b", x->b_desc, &b, x->b, umma_shift(x), x->n / k->ctas, x->k);
    if (!(x->aux & UMMA_A_TMEM))
        ok &= asked->umma_check_matrix(w, i, lane, "a", x->a_desc, &a, x->a, 0, x->m / k->ctas, x->kept);
    ok = ok && good_metadata(w, i, lane, x);
    for (u32 c = 0; c < k->ctas && ok; c++) {
        ok &= asked->tmem_check_area(w, i->op, bit, k->cta[c], k->wrote, "writes d to");
        for (n = 0; n < k->reads && ok; n++)
            ok &= asked->tmem_check_area(w, i->op, bit, k->cta[c], k->read[n], does[n]);
    }
    return ok;
}

static void issue(struct warp *w, const char *R, const struct insn *i, u32 lane)
{
    const struct lop *o = &w->code->low->op[i->op];
    struct umma *x = base_need(sizeof *x);
    char room[160];
    memset(x, 0, sizeof *x);
    x->work.ctas = tmem_ctas(w, o->aux & TMEM_PAIR, x->work.cta);
    x->work.run = multiply;
    u32 idesc = (u32)bulk_source(w, R, i, SRC_UMMA_IDESC, 4, lane);
    const char *wrong = umma_read(o->aux, idesc, x, room, sizeof room);
    if (!wrong && o->aux & TMEM_PAIR && x->work.ctas < 2)
        wrong = "the instruction is for a pair of blocks (.cta_group::2), and the block has no peer: the cluster has "
                "one block";
    if (wrong) {
        asked->umma_wrong(w, i, lane, idesc, wrong);
        base_free(x);
        return;
    }
    x->d_at = (u32)bulk_source(w, R, i, SRC_UMMA_D, 4, lane);
    if (o->aux & UMMA_A_TMEM)
        x->a_at = (u32)bulk_source(w, R, i, SRC_UMMA_A, 4, lane);
    else
        x->a_desc = bulk_source(w, R, i, SRC_UMMA_A, 8, lane);
    x->b_desc = bulk_source(w, R, i, SRC_UMMA_B, 8, lane);
    if (o->aux & UMMA_SPARSE) x->meta_at = (u32)bulk_source(w, R, i, SRC_UMMA_META, 4, lane);
    if (x->scales) x->scale_a_at = (u32)bulk_source(w, R, i, SRC_UMMA_SCALE_A, 4, lane);
    if (x->scales) x->scale_b_at = (u32)bulk_source(w, R, i, SRC_UMMA_SCALE_B, 4, lane);
    x->add = *(const u32 *)(const void *)SLOT(R, insn_src(w->code, i, SRC_UMMA_ADD)->slot) >> lane & 1;
    x->scale_d = (u32)o->off;
    for (u32 k = 0; k < 8 && lop_src(o, SRC_UMMA_KEEP + k)->kind != O_NONE; k++)
        x->keep[k] = (u32)bulk_source(w, R, i, SRC_UMMA_KEEP + k, 4, lane);
    x->masked = lop_src(o, SRC_UMMA_ZERO)->kind != O_NONE;
    if (x->masked) x->zero = bulk_source(w, R, i, SRC_UMMA_ZERO, 8, lane);
    areas(x);
    if (!check(w, i, lane, x)) {
        base_free(x);
        return;
    }
    struct tmem_reads reads = { 0 };
    struct matrix a = matrix_of_tcgen05(x->a_desc, x->a_mn), b = matrix_of_tcgen05(x->b_desc, x->b_mn);
    if (!(x->aux & UMMA_A_TMEM)) tmem_mark(&reads, &a, x->a, 0, x->m / x->work.ctas, x->kept);
    tmem_mark(&reads, &b, x->b, umma_shift(x), x->n / x->work.ctas, x->k);
    tmem_issue(w, i, lane, &x->work, &reads);
}

int run_umma(char *restrict R, const struct insn *i, struct warp *w)
{
    EACH_SET (l, active_lanes(w, R, i)) issue(w, R, i, l);
    return 0;
}
