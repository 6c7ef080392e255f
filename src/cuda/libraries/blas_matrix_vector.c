/* cuBLAS, level 2: a matrix and vectors. The matrix is read element by element, however it is stored (blas_stored.c).
 */
#include "libraries/blas.h"
#include <inttypes.h>

/* The matrix of a call as its arguments describe it. */
static struct blas_stored matrix(const struct library_call *c, enum blas_storage storage, enum blas_shape shape)
{
    bool band = storage == STORED_BAND, square = shape != SHAPE_GENERAL;
    struct blas_stored s = { .type = c->type,
                             .storage = storage,
                             .shape = shape,
                             .upper = c->a.uplo == FILL_UPPER,
                             .unit = shape == SHAPE_TRIANGULAR && c->a.diag,
                             .rows = square ? c->a.n : c->a.m,
                             .columns = c->a.n,
                             .ld = c->a.lda,
                             .p = c->a.A };
    if (band && square) *(s.upper ? &s.above : &s.below) = c->a.k;
    if (band && !square) s.below = c->a.kl, s.above = c->a.ku;
    return s;
}

/* What is asked of every call: its handle, sizes, increments, and the rows of the matrix as stored; NULL: a finding. */
static struct blas_handle *begin(struct library_call *c, const struct blas_stored *s, bool y)
{
    struct blas_handle *h = blas_begin(c);
    s64 rows = s->storage == STORED_BAND ? s->above + s->below + 1 : s->rows;
    const char *why = s->storage == STORED_BAND ? "the diagonals of the band" : s->shape == SHAPE_GENERAL ? "m" : "n";
    if (!h) return NULL;
    if (!blas_sizes(c, s->rows, s->columns, MIN_OF(s->below, s->above), 0) || !blas_increments(c, y)) return NULL;
    if (s->storage != STORED_PACKED && !blas_leading(c, "lda", s->ld, "A", rows, why, s->columns)) return NULL;
    return h;
}

static s64 refused(struct library_call *c)
{
    return cu_handle_is(c->a.handle, CU_OF_LIBRARY) ? c->codes->invalid : c->codes->unready;
}

/* ---- y = alpha op(A) x + beta y ---- */

static struct element row_times(const struct blas_stored *s, s64 i, s64 trans, const struct library_call *c,
                                const void *x, s64 n)
{
    struct element sum = { 0, 0 };
    for (s64 k = 0; k < n; k++) {
        struct element a = trans ? blas_conjugate(blas_at(s, k, i), trans == OP_C) : blas_at(s, i, k);
        sum = blas_add(sum, blas_multiply(a, number_load(c->type, x, blas_index(k, n, c->a.incx))));
    }
    return sum;
}

/* One product; A, x and y as this process sees them. */
static void multiply(const struct library_call *c, const struct blas_stored *s, const void *x, void *y)
{
    struct element alpha = library_value(&c->alpha), beta = library_value(&c->beta);
    s64 trans = s->shape == SHAPE_GENERAL ? c->a.trans : OP_N, n = trans ? s->rows : s->columns;
    s64 outs = trans ? s->columns : s->rows;
    bool adds = beta.re != 0 || beta.im != 0, uses = alpha.re != 0 || alpha.im != 0;
    for (s64 i = 0; i < outs; i++) {
        s64 at = blas_index(i, outs, c->a.incy);
        struct element v = uses ? blas_multiply(alpha, row_times(s, i, trans, c, x, n)) : (struct element){ 0, 0 };
        if (adds) v = blas_add(v, blas_multiply(beta, number_load(c->type, y, at)));
        number_store(c->type, y, at, v);
    }
}

static void multiply_run(struct library_call *c, enum blas_storage storage, enum blas_shape shape)
{
    struct blas_stored s = matrix(c, storage, shape);
    s64 bytes = number_bytes(c->type), batch = c->a.batch ? c->a.batch : 1;
    const u8 *A = library_view(c->a.A), *x = library_view(c->a.x);
    u8 *y = library_view(c->a.y);
    for (s64 i = 0; i < batch; i++) {
        s.p = A ? A + i * c->a.strideA * bytes : NULL;
        multiply(c, &s, x ? x + i * c->a.stridex * bytes : NULL, y + i * c->a.stridey * bytes);
    }
}

/* The same operand for each of several products. */
static void vector_slices(struct library_call *c, const char *name, const void *p, s64 n, s64 inc, s64 stride,
                          s64 batch, u32 direction)
{
    for (s64 i = 0; i < batch; i++)
        library_vector(c, name, (const u8 *)p + i * stride * number_bytes(c->type), n, inc, number_bytes(c->type),
                       direction);
}

static s64 multiply_call(struct library_call *c, enum blas_storage storage, enum blas_shape shape, s64 batch,
                         void (*run)(struct library_call *c))
{
    struct blas_stored s = matrix(c, storage, shape);
    struct blas_handle *h = begin(c, &s, true);
    if (!h) return refused(c);
    if (!s.rows || !s.columns || !batch) return 0;
    bool device = blas_on_device(h), turned = shape == SHAPE_GENERAL && c->a.trans;
    if (!library_scalar(c, "alpha", c->a.alpha, c->type, device, &c->alpha) ||
        !library_scalar(c, "beta", c->a.beta, c->type, device, &c->beta))
        return c->codes->invalid;
    s64 in = turned ? s.rows : s.columns, out = turned ? s.columns : s.rows;
    for (s64 i = 0; i < batch && !library_is_zero(&c->alpha); i++) {
        s.p = (const u8 *)c->a.A + i * c->a.strideA * number_bytes(c->type);
        blas_declare(c, "A", &s, READS);
    }
    if (!library_is_zero(&c->alpha)) vector_slices(c, "x", c->a.x, in, c->a.incx, c->a.stridex, batch, READS);
    vector_slices(c, "y", c->a.y, out, c->a.incy, c->a.stridey, batch,
                  library_is_zero(&c->beta) ? WRITES : READS | WRITES);
    return library_enqueue(c, run);
}

/* A function, and its run, of a matrix that is stored so. */
#define MULTIPLY(name, storage, shape, batch)                                           \
    static void name##_run(struct library_call *c) { multiply_run(c, storage, shape); } \
    s64 blas_##name(struct library_call *c) { return multiply_call(c, storage, shape, batch, name##_run); }
MULTIPLY(gemv, STORED_FULL, SHAPE_GENERAL, 1)
MULTIPLY(gemv_strided, STORED_FULL, SHAPE_GENERAL, c->a.batch)
MULTIPLY(gbmv, STORED_BAND, SHAPE_GENERAL, 1)
MULTIPLY(symv, STORED_FULL, SHAPE_SYMMETRIC, 1)
MULTIPLY(hemv, STORED_FULL, SHAPE_HERMITIAN, 1)
MULTIPLY(sbmv, STORED_BAND, SHAPE_SYMMETRIC, 1)
MULTIPLY(hbmv, STORED_BAND, SHAPE_HERMITIAN, 1)
MULTIPLY(spmv, STORED_PACKED, SHAPE_SYMMETRIC, 1)
MULTIPLY(hpmv, STORED_PACKED, SHAPE_HERMITIAN, 1)

/* ---- A += alpha x y ---- */

struct rank {
    bool two, conjugate; /* alpha x y + alpha y x; conjugated where BLAS does */
    bool hermitian;
};

static void rank_element(const struct library_call *c, const struct blas_stored *s, const struct rank *r, s64 i, s64 j,
                         const void *x, const void *y, void *A)
{
    s64 at = blas_place(s, i, j);
    if (at < 0) return;
    struct element alpha = library_value(&c->alpha);
    struct element xi = number_load(c->type, x, blas_index(i, s->rows, c->a.incx));
    struct element yj = number_load(c->type, y, blas_index(j, s->columns, c->a.incy));
    struct element v = blas_multiply(blas_multiply(alpha, xi), blas_conjugate(yj, r->conjugate));
    if (r->two) {
        struct element yi = number_load(c->type, y, blas_index(i, s->rows, c->a.incy));
        struct element xj = number_load(c->type, x, blas_index(j, s->columns, c->a.incx));
        struct element other = blas_multiply(blas_conjugate(alpha, r->conjugate), yi);
        v = blas_add(v, blas_multiply(other, blas_conjugate(xj, r->conjugate)));
    }
    v = blas_add(v, number_load(c->type, A, at));
    if (r->hermitian && i == j) v.im = 0;
    number_store(c->type, A, at, v);
}

static void rank_run(struct library_call *c, enum blas_storage storage, enum blas_shape shape, const struct rank *r)
{
    struct blas_stored s = matrix(c, storage, shape);
    const void *x = library_view(c->a.x), *y = c->a.y ? library_view(c->a.y) : x;
    void *A = library_view(c->a.A);
    for (s64 j = 0; j < s.columns; j++)
        for (s64 i = 0; i < s.rows; i++) rank_element(c, &s, r, i, j, x, y, A);
}

static s64 rank_call(struct library_call *c, enum blas_storage storage, enum blas_shape shape, bool hermitian,
                     void (*run)(struct library_call *c))
{
    if (!c->a.y) c->a.incy = c->a.incx;
    struct blas_stored s = matrix(c, storage, shape);
    struct blas_handle *h = begin(c, &s, true);
    if (!h) return refused(c);
    if (!s.rows || !s.columns) return 0;
    bool real = hermitian && !c->a.y; /* alpha of her and hpr */
    enum number_type scale = real && c->type == C32 ? F32 : real && c->type == C64 ? F64 : c->type;
    if (!library_scalar(c, "alpha", c->a.alpha, scale, blas_on_device(h), &c->alpha)) return c->codes->invalid;
    library_vector(c, "x", c->a.x, s.rows, c->a.incx, number_bytes(c->type), READS);
    if (c->a.y) library_vector(c, "y", c->a.y, s.columns, c->a.incy, number_bytes(c->type), READS);
    blas_declare(c, "A", &s, READS | WRITES);
    return library_enqueue(c, run);
}

#define RANK(name, storage, shape, two, conjugate, hermitian)       \
    static void name##_run(struct library_call *c)                  \
    {                                                               \
        static const struct rank r = { two, conjugate, hermitian }; \
        rank_run(c, storage, shape, &r);                            \
    }                                                               \
    s64 blas_##name(struct library_call *c) { return rank_call(c, storage, shape, hermitian, name##_run); }
RANK(ger, STORED_FULL, SHAPE_GENERAL, false, false, false)
RANK(gerc, STORED_FULL, SHAPE_GENERAL, false, true, false)
RANK(syr, STORED_FULL, SHAPE_SYMMETRIC, false, false, false)
RANK(her, STORED_FULL, SHAPE_HERMITIAN, false, true, true)
RANK(spr, STORED_PACKED, SHAPE_SYMMETRIC, false, false, false)
RANK(hpr, STORED_PACKED, SHAPE_HERMITIAN, false, true, true)
RANK(syr2, STORED_FULL, SHAPE_SYMMETRIC, true, false, false)
RANK(her2, STORED_FULL, SHAPE_HERMITIAN, true, true, true)
RANK(spr2, STORED_PACKED, SHAPE_SYMMETRIC, true, false, false)
RANK(hpr2, STORED_PACKED, SHAPE_HERMITIAN, true, true, true)

/* ---- triangular: x = op(A) x, and its inverse ---- */

/* Element (i, j) of op(A). */
static struct element turned(const struct blas_stored *s, s64 trans, s64 i, s64 j)
{
    return trans ? blas_conjugate(blas_at(s, j, i), trans == OP_C) : blas_at(s, i, j);
}

/* A product overwrites each element of x last, a solution uses those that are solved already. */
static void triangular_run(struct library_call *c, enum blas_storage storage, bool solves)
{
    struct blas_stored s = matrix(c, storage, SHAPE_TRIANGULAR);
    s64 n = c->a.n, trans = c->a.trans;
    bool upper = s.upper != (trans != OP_N), down = upper != solves;
    void *x = library_view(c->a.x);
    s.p = library_view(c->a.A);
    for (s64 k = 0; k < n; k++) {
        s64 i = down ? k : n - 1 - k, at = blas_index(i, n, c->a.incx);
        struct element v = number_load(c->type, x, at), sum = { 0, 0 }, d = turned(&s, trans, i, i);
        for (s64 j = upper ? i + 1 : 0; j < (upper ? n : i); j++)
            sum = blas_add(
                sum, blas_multiply(turned(&s, trans, i, j), number_load(c->type, x, blas_index(j, n, c->a.incx))));
        struct element minus = { v.re - sum.re, v.im - sum.im };
        number_store(c->type, x, at, solves ? blas_divide(minus, d) : blas_add(blas_multiply(d, v), sum));
    }
}

static s64 triangular_call(struct library_call *c, enum blas_storage storage, void (*run)(struct library_call *c))
{
    struct blas_stored s = matrix(c, storage, SHAPE_TRIANGULAR);
    if (!begin(c, &s, false)) return refused(c);
    if (!s.rows) return 0;
    blas_declare(c, "A", &s, READS);
    library_vector(c, "x", c->a.x, c->a.n, c->a.incx, number_bytes(c->type), READS | WRITES);
    return library_enqueue(c, run);
}

#define TRIANGULAR(name, storage, solves)                                                  \
    static void name##_run(struct library_call *c) { triangular_run(c, storage, solves); } \
    s64 blas_##name(struct library_call *c) { return triangular_call(c, storage, name##_run); }
TRIANGULAR(trmv, STORED_FULL, false)
TRIANGULAR(trsv, STORED_FULL, true)
TRIANGULAR(tbmv, STORED_BAND, false)
TRIANGULAR(tbsv, STORED_BAND, true)
TRIANGULAR(tpmv, STORED_PACKED, false)
TRIANGULAR(tpsv, STORED_PACKED, true)
