/* Products of matrices: D = epilogue(alpha op(A) op(B) + beta C + bias).
 *
 * Where all types are one of F32, F64, C32 or C64, and nothing follows the product, the machine's BLAS does it in
 * place. Otherwise A and B are copied, as float or double, rounded as the type of computation says, and the rest is
 * done element by element. */
#include "libraries/blas_gemm.h"
#include <math.h>

/* ---- one product, all pointers as this process sees them ---- */

struct product {
    const struct library_call *c;
    const void *A, *B, *C, *bias;
    void *D, *aux;
    struct element alpha, beta;
};

static bool in_place(const struct product *p)
{
    const struct library_call *c = p->c;
    bool same = c->gemm.at == c->gemm.bt && c->gemm.at == c->gemm.ct && c->gemm.ct == c->gemm.dt &&
                c->gemm.compute == c->gemm.at;
    return same && p->C == p->D && c->gemm.ldc == c->gemm.ldd && !c->gemm.tf32 && !c->gemm.epilogue && !p->bias &&
           !p->aux && !c->gemm.scale_a && !c->gemm.scale_b && !c->gemm.scale_d;
}

/* A matrix of the type of computation, column by column without gaps; NULL: no memory. */
static void *copied(const struct library_call *c, const void *p, enum number_type type, s64 rows, s64 columns, s64 ld)
{
    enum number_type to = c->gemm.compute;
    void *out = base_alloc((size_t)(rows * columns * number_bytes(to)) + 16);
    for (s64 j = 0; out && j < columns; j++)
        for (s64 i = 0; i < rows; i++) {
            struct element v = number_load(type, p, j * ld + i);
            if (c->gemm.tf32) v = (struct element){ number_tf32((float)v.re), number_tf32((float)v.im) };
            number_store(to, out, j * rows + i, v);
        }
    return out;
}

static double factor(const void *p)
{
    const float *f = p ? library_view(p) : NULL;
    return f ? (double)*f : 1;
}

static double gelu(double v) { return 0.5 * v * (1 + tanh(0.7978845608028654 * (v + 0.044715 * v * v * v))); }

/* The end of one element: `v` is the sum. */
static struct element finished(const struct product *p, struct element v, s64 i, s64 j)
{
    const struct library_call *c = p->c;
    u32 e = c->gemm.epilogue;
    v = blas_multiply(p->alpha, v);
    if (p->beta.re != 0 || p->beta.im != 0)
        v = blas_add(v, blas_multiply(p->beta, number_load(c->gemm.ct, p->C, j * c->gemm.ldc + i)));
    if (p->bias) v = blas_add(v, number_load(c->gemm.bias_type, p->bias, c->gemm.bias_along_columns ? j : i));
    if (p->aux) number_store(c->gemm.aux_type, p->aux, j * c->gemm.ld_aux + i, v);
    if (e & EPILOGUE_RELU) v.re = v.re > 0 || v.re != v.re ? v.re : 0;
    if (e & EPILOGUE_GELU) v.re = gelu(v.re);
    return v;
}

static void by_copies(struct product *p)
{
    const struct library_call *c = p->c;
    enum number_type type = c->gemm.compute;
    s64 m = c->a.m, n = c->a.n, k = c->a.k, ar = c->a.transa ? k : m, br = c->a.transb ? n : k;
    bool uses = k && (p->alpha.re != 0 || p->alpha.im != 0);
    void *a = uses ? copied(c, p->A, c->gemm.at, ar, c->a.transa ? m : k, c->gemm.lda) : NULL;
    void *b = uses ? copied(c, p->B, c->gemm.bt, br, c->a.transb ? k : n, c->gemm.ldb) : NULL;
    void *sum = base_alloc((size_t)(m * n * number_bytes(type)) + 16);
    if (!sum || (uses && (!a || !b))) base_exhausted((size_t)(m * n), "a product of matrices");
    struct blas_product product = { type,          c->a.transa,  c->a.transb, m,        n, k, MAX_OF(ar, 1),
                                    MAX_OF(br, 1), MAX_OF(m, 1), { 1, 0 },    { 0, 0 }, a, b, sum };
    if (uses) blas_product(&product);
    double scale = factor(c->gemm.scale_a) * factor(c->gemm.scale_b), last = factor(c->gemm.scale_d);
    for (s64 j = 0; j < n; j++)
        for (s64 i = 0; i < m; i++) {
            struct element v = number_load(type, sum, j * m + i);
            v = finished(p, (struct element){ v.re * scale, v.im * scale }, i, j);
            number_store(c->gemm.dt, p->D, j * c->gemm.ldd + i, (struct element){ v.re * last, v.im * last });
        }
    base_free(a);
    base_free(b);
    base_free(sum);
}

static void product_do(struct product *p)
{
    const struct library_call *c = p->c;
    if (!in_place(p)) {
        by_copies(p);
        return;
    }
    struct blas_product product = { c->gemm.at,  c->a.transa, c->a.transb, c->a.m,  c->a.n, c->a.k, c->gemm.lda,
                                    c->gemm.ldb, c->gemm.ldc, p->alpha,    p->beta, p->A,   p->B,   p->D };
    blas_product(&product);
}

/* ---- when it runs ---- */

static const void *moved(const void *p, s64 elements, enum number_type type)
{
    return p ? (const u8 *)p + elements * number_bytes(type) : NULL;
}
static const void *seen(const void *p) { return p ? library_view(p) : NULL; }

static void gemm_run(struct library_call *c)
{
    struct product p = { .c = c, .alpha = library_value(&c->alpha), .beta = library_value(&c->beta) };
    const void *A = seen(c->gemm.A), *B = seen(c->gemm.B), *C = seen(c->gemm.C), *bias = seen(c->gemm.bias);
    const void *D = seen(c->gemm.D), *aux = seen(c->gemm.aux);
    for (s64 i = 0; i < c->gemm.batch; i++) {
        p.A = moved(A, i * c->gemm.sa, c->gemm.at);
        p.B = moved(B, i * c->gemm.sb, c->gemm.bt);
        p.C = moved(C, i * c->gemm.sc, c->gemm.ct);
        p.D = (void *)(uintptr_t)moved(D, i * c->gemm.sd, c->gemm.dt);
        p.bias = moved(bias, i * c->gemm.stride_bias, c->gemm.bias_type);
        p.aux = (void *)(uintptr_t)moved(aux, i * c->gemm.stride_aux, c->gemm.aux_type);
        product_do(&p);
    }
}

/* The addresses of the matrices are in memory of the device: they are operands from now on. */
static void pointers_run(struct library_call *c)
{
    struct product p = { .c = c, .alpha = library_value(&c->alpha), .beta = library_value(&c->beta) };
    void *const *A = library_view(c->gemm.A), *const *B = library_view(c->gemm.B), *const *C = library_view(c->gemm.C);
    s64 ab = number_bytes(c->gemm.at), bb = number_bytes(c->gemm.bt), cb = number_bytes(c->gemm.ct);
    s64 m = c->a.m, n = c->a.n, k = c->a.k;
    bool uses = k && (p.alpha.re != 0 || p.alpha.im != 0), adds = p.beta.re != 0 || p.beta.im != 0;
    for (s64 i = 0; i < c->gemm.batch; i++) {
        c->failed = false;
        p.A = uses ? library_found(c, "A", A[i], (c->a.transa ? k : m) * ab, c->a.transa ? m : k, c->gemm.lda * ab,
                                   READS)
                   : NULL;
        p.B = uses ? library_found(c, "B", B[i], (c->a.transb ? n : k) * bb, c->a.transb ? k : n, c->gemm.ldb * bb,
                                   READS)
                   : NULL;
        p.D = library_found(c, "C", C[i], m * cb, n, c->gemm.ldc * cb, adds ? READS | WRITES : WRITES);
        p.C = p.D;
        if (!c->failed) product_do(&p);
    }
}

/* ---- calls ---- */

static bool gemm_arguments(const struct library_call *c)
{
    const struct library_args *a = &c->a;
    if (!blas_sizes(c, a->m, a->n, a->k, c->gemm.batch)) return false;
    if (a->transa < OP_N || a->transa > OP_C || a->transb < OP_N || a->transb > OP_C) {
        library_wrong(c, "Pass CUBLAS_OP_N, CUBLAS_OP_T or CUBLAS_OP_C.", "%s of %s is %d, which is no operation.",
                      a->transa < OP_N || a->transa > OP_C ? "transa" : "transb", c->name,
                      (int)(a->transa < OP_N || a->transa > OP_C ? a->transa : a->transb));
        return false;
    }
    return blas_leading(c, "lda", c->gemm.lda, "A", a->transa ? a->k : a->m,
                        a->transa ? "k, since transa is not N" : "m, since transa is N", a->transa ? a->m : a->k) &&
           blas_leading(c, "ldb", c->gemm.ldb, "B", a->transb ? a->n : a->k,
                        a->transb ? "n, since transb is not N" : "k, since transb is N", a->transb ? a->k : a->n) &&
           blas_leading(c, "ldc", c->gemm.ldc, "C", a->m, "m", a->n);
}

static void matrix_operand(struct library_call *c, const char *name, const void *p, enum number_type type, s64 rows,
                           s64 columns, s64 ld, s64 stride, u32 direction)
{
    s64 bytes = number_bytes(type);
    library_operand(c, name, p, rows * bytes, columns, ld * bytes, c->gemm.batch, stride * bytes, direction);
}

static void gemm_operands(struct library_call *c)
{
    const struct library_args *a = &c->a;
    bool uses = a->k && !library_is_zero(&c->alpha), adds = !library_is_zero(&c->beta), one = c->gemm.C == c->gemm.D;
    if (uses) {
        matrix_operand(c, "A", c->gemm.A, c->gemm.at, a->transa ? a->k : a->m, a->transa ? a->m : a->k, c->gemm.lda,
                       c->gemm.sa, READS);
        matrix_operand(c, "B", c->gemm.B, c->gemm.bt, a->transb ? a->n : a->k, a->transb ? a->k : a->n, c->gemm.ldb,
                       c->gemm.sb, READS);
    }
    if (adds && !one) matrix_operand(c, "C", c->gemm.C, c->gemm.ct, a->m, a->n, c->gemm.ldc, c->gemm.sc, READS);
    matrix_operand(c, one ? "C" : "D", c->gemm.D, c->gemm.dt, a->m, a->n, c->gemm.ldd, c->gemm.sd,
                   adds && one ? READS | WRITES : WRITES);
    if (c->gemm.bias)
        matrix_operand(c, "bias", c->gemm.bias, c->gemm.bias_type, c->gemm.bias_along_columns ? a->n : a->m, 1, 0,
                       c->gemm.stride_bias, READS);
    if (c->gemm.aux)
        matrix_operand(c, "the auxiliary matrix", c->gemm.aux, c->gemm.aux_type, a->m, a->n, c->gemm.ld_aux,
                       c->gemm.stride_aux, WRITES);
    const void *const scale[] = { c->gemm.scale_a, c->gemm.scale_b, c->gemm.scale_d };
    for (u32 i = 0; i < COUNT_OF(scale); i++)
        if (scale[i]) library_operand(c, "a scale", scale[i], 4, 1, 0, 1, 0, READS);
}

s64 blas_gemm_enqueue(struct library_call *c, const void *alpha, const void *beta, enum number_type scale,
                      bool on_device)
{
    if (!gemm_arguments(c)) return c->codes->invalid;
    if (!c->a.m || !c->a.n || !c->gemm.batch) return 0;
    if (!library_scalar(c, "alpha", alpha, scale, on_device, &c->alpha) ||
        !library_scalar(c, "beta", beta, scale, on_device, &c->beta))
        return c->codes->invalid;
    if (c->gemm.pointers) {
        s64 bytes = c->gemm.batch * (s64)sizeof(void *);
        library_operand(c, "Aarray", c->gemm.A, bytes, 1, 0, 1, 0, READS);
        library_operand(c, "Barray", c->gemm.B, bytes, 1, 0, 1, 0, READS);
        library_operand(c, "Carray", c->gemm.C, bytes, 1, 0, 1, 0, READS);
        return library_enqueue(c, pointers_run);
    }
    gemm_operands(c);
    return library_enqueue(c, gemm_run);
}

/* The type that sums are made in; that of alpha and beta. */
static enum number_type sums_in(enum number_type element, s64 compute)
{
    if (element == F64 || element == C64 || element == C32) return element;
    return compute == COMPUTE_64F || number_is_whole(element) ? F64 : F32;
}
static enum number_type scale_of(enum number_type c, s64 compute)
{
    bool complex = number_is_complex(c);
    if (compute == COMPUTE_16F || compute == COMPUTE_16F + 1) return F16;
    if (compute == COMPUTE_32I || compute == COMPUTE_32I + 1) return I32;
    if (compute == COMPUTE_64F || compute == COMPUTE_64F + 1) return complex ? C64 : F64;
    return complex ? C32 : F32;
}

/* Its first bytes stand for all of it: a large one would cost more than the product. */
void blas_workspace(struct library_call *c, const void *p, u64 bytes)
{
    enum { FIRST = 256 };
    if (p && bytes) library_operand(c, "the workspace", p, MIN_OF((s64)bytes, FIRST), 1, 0, 1, 0, WRITES);
}

/* The call as its arguments describe it; `strided` and `pointers` many of them. */
static s64 gemm(struct library_call *c, enum number_type at, enum number_type bt, enum number_type ct,
                enum number_type scale, s64 compute, bool many)
{
    struct blas_handle *h = blas_begin(c);
    if (!h) return c->codes->unready;
    if (at == ANY || bt == ANY || ct == ANY) {
        library_refused(c->name);
        return c->codes->unsupported;
    }
    bool pointers = c->a.Carray || c->a.Aarray, floats = at == F32 && bt == F32;
    c->gemm.at = at, c->gemm.bt = bt, c->gemm.ct = c->gemm.dt = ct;
    c->gemm.compute = sums_in(at, compute);
    c->gemm.tf32 = (floats || at == C32) &&
                   (compute == COMPUTE_TF32 || (h->math == MATH_TF32 && (compute == COMPUTE_32F || !compute)));
    c->gemm.pointers = pointers;
    c->gemm.lda = c->a.lda, c->gemm.ldb = c->a.ldb, c->gemm.ldc = c->gemm.ldd = c->a.ldc;
    c->gemm.sa = c->a.strideA, c->gemm.sb = c->a.strideB, c->gemm.sc = c->gemm.sd = c->a.strideC;
    c->gemm.batch = many ? c->a.batch : 1;
    c->gemm.A = pointers ? c->a.Aarray : c->a.A;
    c->gemm.B = pointers ? c->a.Barray : c->a.B;
    c->gemm.C = pointers ? c->a.Carray : c->a.C;
    c->gemm.D = (void *)(uintptr_t)c->gemm.C;
    blas_workspace(c, h->workspace, h->bytes);
    return blas_gemm_enqueue(c, c->a.alpha, c->a.beta, scale, blas_on_device(h));
}

static s64 gemm_of_type(struct library_call *c, bool many)
{
    return gemm(c, c->type, c->type, c->type, c->type, 0, many);
}
s64 blas_gemm(struct library_call *c) { return gemm_of_type(c, false); }
s64 blas_gemm_strided(struct library_call *c) { return gemm_of_type(c, true); }
s64 blas_gemm_pointers(struct library_call *c) { return gemm_of_type(c, true); }

/* Types are arguments. cublasSgemmEx and cublasCgemmEx compute in the type of their name. */
static s64 gemm_of_types(struct library_call *c, bool many)
{
    enum number_type at = number_type_of(c->a.Atype), bt = number_type_of(c->a.Btype), ct = number_type_of(c->a.Ctype);
    s64 compute = c->type == ANY ? c->a.computeType : COMPUTE_32F;
    return gemm(c, at, bt, ct, scale_of(ct, compute), compute, many);
}
s64 blas_gemm_ex(struct library_call *c) { return gemm_of_types(c, false); }
s64 blas_gemm_strided_ex(struct library_call *c) { return gemm_of_types(c, true); }
s64 blas_gemm_pointers_ex(struct library_call *c) { return gemm_of_types(c, true); }
