/* cuBLAS, level 3 but for products of two plain matrices: symmetric and triangular ones, sums, and systems of
 * equations. What stands for a matrix is unfolded into a plain one; a product of two of these is done by blas_host.c,
 * and the part of the result that is asked for is put where it belongs. */
#include "libraries/blas.h"
#include <inttypes.h>

/* ---- plain matrices, column by column without gaps ---- */

struct plain {
    enum number_type type;
    s64 rows, columns;
    void *p;
};

static struct plain plain_new(enum number_type type, s64 rows, s64 columns)
{
    size_t bytes = (size_t)(rows * columns * number_bytes(type)) + 16;
    struct plain x = { type, rows, columns, base_alloc(bytes) };
    if (!x.p) base_exhausted(bytes, "a product of matrices");
    return x;
}

/* op(s) as a plain matrix. */
static struct plain unfold(const struct blas_stored *s, s64 trans)
{
    struct plain x = plain_new(s->type, trans ? s->columns : s->rows, trans ? s->rows : s->columns);
    for (s64 j = 0; j < x.columns; j++)
        for (s64 i = 0; i < x.rows; i++) {
            struct element v = trans ? blas_conjugate(blas_at(s, j, i), trans == OP_C) : blas_at(s, i, j);
            number_store(x.type, x.p, j * x.rows + i, v);
        }
    return x;
}

static struct plain product_of(struct plain a, struct plain b)
{
    struct plain x = plain_new(a.type, a.rows, b.columns);
    struct blas_product p = {
        a.type,   OP_N,     OP_N, a.rows, b.columns, a.columns, MAX_OF(a.rows, 1), MAX_OF(b.rows, 1), MAX_OF(a.rows, 1),
        { 1, 0 }, { 0, 0 }, a.p,  b.p,    x.p
    };
    if (a.columns) blas_product(&p);
    base_free(a.p);
    base_free(b.p);
    return x;
}

static struct element plain_at(const struct plain *x, s64 i, s64 j)
{
    return number_load(x->type, x->p, j * x->rows + i);
}

/* C = alpha x (+ alpha2 x2) + beta C, where C stores it. */
static void put(const struct blas_stored *to, void *at, const struct plain *x, struct element alpha,
                struct element beta)
{
    bool adds = beta.re != 0 || beta.im != 0;
    for (s64 j = 0; j < to->columns; j++)
        for (s64 i = 0; i < to->rows; i++) {
            s64 place = blas_place(to, i, j);
            if (place < 0) continue;
            struct element v = blas_multiply(alpha, plain_at(x, i, j));
            if (adds) v = blas_add(v, blas_multiply(beta, number_load(to->type, at, place)));
            if (to->shape == SHAPE_HERMITIAN && i == j) v.im = 0;
            number_store(to->type, at, place, v);
        }
}

/* ---- matrices of a call ---- */

static struct blas_stored full(const struct library_call *c, const void *p, s64 rows, s64 columns, s64 ld)
{
    return (struct blas_stored){ .type = c->type, .rows = rows, .columns = columns, .ld = ld, .p = p };
}
static struct blas_stored stored_part(const struct library_call *c, const void *p, s64 n, s64 ld, enum blas_shape shape)
{
    return (struct blas_stored){ .type = c->type,
                                 .shape = shape,
                                 .upper = c->a.uplo == FILL_UPPER,
                                 .unit = shape == SHAPE_TRIANGULAR && c->a.diag,
                                 .rows = n,
                                 .columns = n,
                                 .ld = ld,
                                 .p = p };
}
static struct blas_stored seen(struct blas_stored s)
{
    s.p = library_view(s.p);
    return s;
}
static bool leading(const struct library_call *c, const char *ld, const char *name, const struct blas_stored *s,
                    const char *why)
{
    return blas_leading(c, ld, s->ld, name, s->rows, why, s->columns);
}

static s64 refused(struct library_call *c)
{
    return cu_handle_is(c->a.handle, CU_OF_LIBRARY) ? c->codes->invalid : c->codes->unready;
}

/* ---- symm, hemm ---- */

struct matrices {
    struct blas_stored A, B, C;
};

static struct matrices symm_of(const struct library_call *c, enum blas_shape shape)
{
    s64 n = c->a.side == SIDE_RIGHT ? c->a.n : c->a.m;
    return (struct matrices){ stored_part(c, c->a.A, n, c->a.lda, shape), full(c, c->a.B, c->a.m, c->a.n, c->a.ldb),
                              full(c, c->a.C, c->a.m, c->a.n, c->a.ldc) };
}

static void symm_do(struct library_call *c, enum blas_shape shape)
{
    struct matrices x = symm_of(c, shape);
    struct blas_stored A = seen(x.A), B = seen(x.B);
    struct plain a = unfold(&A, OP_N), b = unfold(&B, OP_N);
    struct plain product = c->a.side == SIDE_RIGHT ? product_of(b, a) : product_of(a, b);
    put(&x.C, library_view(c->a.C), &product, library_value(&c->alpha), library_value(&c->beta));
    base_free(product.p);
}

static s64 symm_call(struct library_call *c, enum blas_shape shape, void (*run)(struct library_call *c))
{
    struct matrices x = symm_of(c, shape);
    struct blas_handle *h = blas_begin(c);
    if (!h || !blas_sizes(c, c->a.m, c->a.n, 0, 0) || !leading(c, "lda", "A", &x.A, "its order") ||
        !leading(c, "ldb", "B", &x.B, "m") || !leading(c, "ldc", "C", &x.C, "m"))
        return refused(c);
    if (!c->a.m || !c->a.n) return 0;
    if (!library_scalar(c, "alpha", c->a.alpha, c->type, blas_on_device(h), &c->alpha) ||
        !library_scalar(c, "beta", c->a.beta, c->type, blas_on_device(h), &c->beta))
        return c->codes->invalid;
    blas_declare(c, "A", &x.A, READS);
    blas_declare(c, "B", &x.B, READS);
    blas_declare(c, "C", &x.C, library_is_zero(&c->beta) ? WRITES : READS | WRITES);
    return library_enqueue(c, run);
}
static void symm_run(struct library_call *c) { symm_do(c, SHAPE_SYMMETRIC); }
static void hemm_run(struct library_call *c) { symm_do(c, SHAPE_HERMITIAN); }
s64 blas_symm(struct library_call *c) { return symm_call(c, SHAPE_SYMMETRIC, symm_run); }
s64 blas_hemm(struct library_call *c) { return symm_call(c, SHAPE_HERMITIAN, hemm_run); }

/* ---- C = alpha op(A) op(B)^T + beta C, of which a triangle is stored; both ways round for the 2k ---- */

struct update {
    bool two, hermitian;
};

static struct matrices update_of(const struct library_call *c, const struct update *u)
{
    s64 rows = c->a.trans ? c->a.k : c->a.n, columns = c->a.trans ? c->a.n : c->a.k;
    const void *B = c->a.B ? c->a.B : c->a.A;
    s64 ldb = c->a.B ? c->a.ldb : c->a.lda;
    return (
        struct matrices){ full(c, c->a.A, rows, columns, c->a.lda), full(c, B, rows, columns, ldb),
                          stored_part(c, c->a.C, c->a.n, c->a.ldc, u->hermitian ? SHAPE_HERMITIAN : SHAPE_SYMMETRIC) };
}

/* op(x) times the transposed op(y). */
static struct plain times_turned(const struct library_call *c, const struct blas_stored *x, const struct blas_stored *y,
                                 bool hermitian)
{
    s64 turn = hermitian ? OP_C : OP_T;
    return product_of(unfold(x, c->a.trans ? turn : OP_N), unfold(y, c->a.trans ? OP_N : turn));
}

static void update_do(struct library_call *c, const struct update *u)
{
    struct matrices x = update_of(c, u);
    struct blas_stored A = seen(x.A), B = seen(x.B);
    struct element alpha = library_value(&c->alpha), beta = library_value(&c->beta);
    void *to = library_view(c->a.C);
    struct plain one = times_turned(c, &A, &B, u->hermitian);
    struct plain other = u->two ? times_turned(c, &B, &A, u->hermitian) : (struct plain){ .p = NULL };
    put(&x.C, to, &one, alpha, beta);
    if (u->two) put(&x.C, to, &other, blas_conjugate(alpha, u->hermitian), (struct element){ 1, 0 });
    base_free(one.p);
    base_free(other.p);
}

static enum number_type real_of(enum number_type t) { return t == C32 ? F32 : t == C64 ? F64 : t; }

static s64 update_call(struct library_call *c, const struct update *u, void (*run)(struct library_call *c))
{
    struct matrices x = update_of(c, u);
    struct blas_handle *h = blas_begin(c);
    const char *why = c->a.trans ? "k, since trans is not N" : "n, since trans is N";
    if (!h || !blas_sizes(c, 0, c->a.n, c->a.k, 0) || !leading(c, "lda", "A", &x.A, why) ||
        (c->a.B && !leading(c, "ldb", "B", &x.B, why)) || !leading(c, "ldc", "C", &x.C, "n"))
        return refused(c);
    if (!c->a.n) return 0;
    enum number_type alpha = u->hermitian && !c->a.B ? real_of(c->type) : c->type;
    enum number_type beta = u->hermitian ? real_of(c->type) : c->type;
    if (!library_scalar(c, "alpha", c->a.alpha, alpha, blas_on_device(h), &c->alpha) ||
        !library_scalar(c, "beta", c->a.beta, beta, blas_on_device(h), &c->beta))
        return c->codes->invalid;
    blas_declare(c, "A", &x.A, READS);
    if (c->a.B) blas_declare(c, "B", &x.B, READS);
    blas_declare(c, "C", &x.C, library_is_zero(&c->beta) ? WRITES : READS | WRITES);
    return library_enqueue(c, run);
}

#define UPDATE(name, two, hermitian)                                              \
    static const struct update name##_how = { two, hermitian };                   \
    static void name##_run(struct library_call *c) { update_do(c, &name##_how); } \
    s64 blas_##name(struct library_call *c) { return update_call(c, &name##_how, name##_run); }
UPDATE(syrk, false, false)
UPDATE(herk, false, true)
UPDATE(syr2k, true, false)
UPDATE(her2k, true, true)
UPDATE(syrkx, false, false)
UPDATE(herkx, false, true)

/* ---- trmm, trsm ---- */

static struct matrices triangular_of(const struct library_call *c)
{
    s64 n = c->a.side == SIDE_RIGHT ? c->a.n : c->a.m;
    return (struct matrices){ stored_part(c, c->a.A, n, c->a.lda, SHAPE_TRIANGULAR),
                              full(c, c->a.B, c->a.m, c->a.n, c->a.ldb), full(c, c->a.C, c->a.m, c->a.n, c->a.ldc) };
}

static void trmm_run(struct library_call *c)
{
    struct matrices x = triangular_of(c);
    struct blas_stored A = seen(x.A), B = seen(x.B);
    struct plain a = unfold(&A, c->a.trans), b = unfold(&B, OP_N);
    struct plain product = c->a.side == SIDE_RIGHT ? product_of(b, a) : product_of(a, b);
    put(&x.C, library_view(c->a.C), &product, library_value(&c->alpha), (struct element){ 0, 0 });
    base_free(product.p);
}

/* Column j of X, of A X = B, and of X A = B row j, in its place; A is plain, and upper or not. */
static void solve_one(const struct plain *a, bool upper, bool right, s64 j, const struct blas_stored *B, void *to)
{
    s64 n = a->rows;
    bool up = upper != right; /* the last one is known first */
    for (s64 t = 0; t < n; t++) {
        s64 i = up ? n - 1 - t : t, place = right ? i * B->ld + j : j * B->ld + i;
        struct element v = number_load(B->type, to, place);
        for (s64 l = up ? i + 1 : 0; l < (up ? n : i); l++) {
            struct element f = right ? plain_at(a, l, i) : plain_at(a, i, l);
            struct element known = number_load(B->type, to, right ? l * B->ld + j : j * B->ld + l);
            struct element less = blas_multiply(f, known);
            v = (struct element){ v.re - less.re, v.im - less.im };
        }
        number_store(B->type, to, place, blas_divide(v, plain_at(a, i, i)));
    }
}

static void trsm_run(struct library_call *c)
{
    struct matrices x = triangular_of(c);
    struct blas_stored A = seen(x.A), B = seen(x.B);
    bool right = c->a.side == SIDE_RIGHT, upper = A.upper != (c->a.trans != OP_N);
    struct plain a = unfold(&A, c->a.trans), b = unfold(&B, OP_N);
    void *to = library_view(c->a.B);
    put(&x.B, to, &b, library_value(&c->alpha), (struct element){ 0, 0 });
    for (s64 j = 0; j < (right ? c->a.m : c->a.n); j++) solve_one(&a, upper, right, j, &x.B, to);
    base_free(a.p);
    base_free(b.p);
}

static s64 triangular_call(struct library_call *c, bool solves, void (*run)(struct library_call *c))
{
    struct matrices x = triangular_of(c);
    struct blas_handle *h = blas_begin(c);
    if (!h || !blas_sizes(c, c->a.m, c->a.n, 0, 0) || !leading(c, "lda", "A", &x.A, "its order") ||
        !leading(c, "ldb", "B", &x.B, "m") || (!solves && !leading(c, "ldc", "C", &x.C, "m")))
        return refused(c);
    if (!c->a.m || !c->a.n) return 0;
    if (!library_scalar(c, "alpha", c->a.alpha, c->type, blas_on_device(h), &c->alpha)) return c->codes->invalid;
    blas_declare(c, "A", &x.A, READS);
    blas_declare(c, "B", &x.B, solves ? READS | WRITES : READS);
    if (!solves) blas_declare(c, "C", &x.C, WRITES);
    return library_enqueue(c, run);
}
s64 blas_trmm(struct library_call *c) { return triangular_call(c, false, trmm_run); }
s64 blas_trsm(struct library_call *c) { return triangular_call(c, true, trsm_run); }

/* ---- C = alpha op(A) + beta op(B); C = A diag(x) or diag(x) A ---- */

static struct blas_stored turned(const struct library_call *c, const void *p, s64 trans, s64 ld)
{
    return full(c, p, trans ? c->a.n : c->a.m, trans ? c->a.m : c->a.n, ld);
}

static struct element turned_at(const struct blas_stored *s, s64 trans, s64 i, s64 j)
{
    return trans ? blas_conjugate(blas_at(s, j, i), trans == OP_C) : blas_at(s, i, j);
}

static void geam_run(struct library_call *c)
{
    struct element alpha = library_value(&c->alpha), beta = library_value(&c->beta);
    struct blas_stored A = turned(c, library_view(c->a.A), c->a.transa, c->a.lda);
    struct blas_stored B = turned(c, library_view(c->a.B), c->a.transb, c->a.ldb);
    bool a = alpha.re != 0 || alpha.im != 0, b = beta.re != 0 || beta.im != 0;
    void *to = library_view(c->a.C);
    for (s64 j = 0; j < c->a.n; j++)
        for (s64 i = 0; i < c->a.m; i++) {
            struct element v = { 0, 0 };
            if (a) v = blas_multiply(alpha, turned_at(&A, c->a.transa, i, j));
            if (b) v = blas_add(v, blas_multiply(beta, turned_at(&B, c->a.transb, i, j)));
            number_store(c->type, to, j * c->a.ldc + i, v);
        }
}

s64 blas_geam(struct library_call *c)
{
    struct blas_handle *h = blas_begin(c);
    struct blas_stored A = turned(c, c->a.A, c->a.transa, c->a.lda), B = turned(c, c->a.B, c->a.transb, c->a.ldb);
    if (!h || !blas_sizes(c, c->a.m, c->a.n, 0, 0)) return refused(c);
    if (!c->a.m || !c->a.n) return 0;
    if (!library_scalar(c, "alpha", c->a.alpha, c->type, blas_on_device(h), &c->alpha) ||
        !library_scalar(c, "beta", c->a.beta, c->type, blas_on_device(h), &c->beta))
        return c->codes->invalid;
    bool a = !library_is_zero(&c->alpha), b = !library_is_zero(&c->beta);
    if ((a && !leading(c, "lda", "A", &A, c->a.transa ? "n, since transa is not N" : "m, since transa is N")) ||
        (b && !leading(c, "ldb", "B", &B, c->a.transb ? "n, since transb is not N" : "m, since transb is N")) ||
        !blas_leading(c, "ldc", c->a.ldc, "C", c->a.m, "m", c->a.n))
        return c->codes->invalid;
    if ((a && c->a.A == c->a.C && c->a.transa) || (b && c->a.B == c->a.C && c->a.transb))
        return library_wrong(c, "Write to another matrix: only what is not transposed may be the result, too.",
                             "%s writes C over a matrix that it reads transposed.", c->name);
    if (a) blas_declare(c, "A", &A, READS);
    if (b) blas_declare(c, "B", &B, READS);
    library_matrix(c, "C", c->a.C, c->a.m, c->a.n, c->a.ldc, number_bytes(c->type), WRITES);
    return library_enqueue(c, geam_run);
}

static void dgmm_run(struct library_call *c)
{
    const void *A = library_view(c->a.A), *x = library_view(c->a.x);
    void *to = library_view(c->a.C);
    bool right = c->a.side == SIDE_RIGHT;
    s64 n = right ? c->a.n : c->a.m;
    for (s64 j = 0; j < c->a.n; j++)
        for (s64 i = 0; i < c->a.m; i++) {
            struct element f = number_load(c->type, x, blas_index(right ? j : i, n, c->a.incx));
            number_store(c->type, to, j * c->a.ldc + i, blas_multiply(f, number_load(c->type, A, j * c->a.lda + i)));
        }
}

s64 blas_dgmm(struct library_call *c)
{
    struct blas_handle *h = blas_begin(c);
    s64 bytes = number_bytes(c->type);
    if (!h || !blas_sizes(c, c->a.m, c->a.n, 0, 0) || !blas_leading(c, "lda", c->a.lda, "A", c->a.m, "m", c->a.n) ||
        !blas_leading(c, "ldc", c->a.ldc, "C", c->a.m, "m", c->a.n))
        return refused(c);
    library_matrix(c, "A", c->a.A, c->a.m, c->a.n, c->a.lda, bytes, READS);
    library_vector(c, "x", c->a.x, c->a.side == SIDE_RIGHT ? c->a.n : c->a.m, c->a.incx, bytes, READS);
    library_matrix(c, "C", c->a.C, c->a.m, c->a.n, c->a.ldc, bytes, WRITES);
    return c->a.m && c->a.n ? library_enqueue(c, dgmm_run) : 0;
}
