/* cuBLAS, level 1: vectors. Sums are made in double, also of floats. */
#include "libraries/blas.h"
#include <math.h>

/* ---- what a call works on ---- */

static enum number_type x_type(const struct library_call *c)
{
    return c->type != ANY ? c->type : number_type_of(c->a.xType);
}
static enum number_type y_type(const struct library_call *c)
{
    return c->type != ANY ? c->type : number_type_of(c->a.yType);
}

/* Types that are not here are refused by name. */
static bool types_known(struct library_call *c)
{
    if (x_type(c) != ANY && (!c->a.y || y_type(c) != ANY)) return true;
    library_refused(c->name);
    return false;
}

/* Declares x and, where the call has one, y; false: what was found. */
static struct blas_handle *vectors(struct library_call *c, u32 x, u32 y)
{
    struct blas_handle *h = blas_begin(c);
    if (!h || !types_known(c)) return NULL;
    library_vector(c, "x", c->a.x, c->a.n, c->a.incx, number_bytes(x_type(c)), x);
    if (y) library_vector(c, "y", c->a.y, c->a.n, c->a.incy, number_bytes(y_type(c)), y);
    return h;
}

static s64 refused(struct library_call *c)
{
    return cu_handle_is(c->a.handle, CU_OF_LIBRARY) ? c->codes->unsupported : c->codes->unready;
}

/* A vector while the operation runs. */
struct run_vector {
    void *p;
    enum number_type type;
    s64 n, inc;
};
static struct run_vector run_x(const struct library_call *c)
{
    return (struct run_vector){ c->a.n > 0 ? library_view(c->a.x) : NULL, x_type(c), c->a.n, c->a.incx };
}
static struct run_vector run_y(const struct library_call *c)
{
    return (struct run_vector){ c->a.n > 0 ? library_view(c->a.y) : NULL, y_type(c), c->a.n, c->a.incy };
}
static struct element get(const struct run_vector *v, s64 i)
{
    return number_load(v->type, v->p, blas_index(i, v->n, v->inc));
}
static void put(const struct run_vector *v, s64 i, struct element value)
{
    number_store(v->type, v->p, blas_index(i, v->n, v->inc), value);
}

/* ---- elements ---- */

static void axpy_run(struct library_call *c)
{
    struct run_vector x = run_x(c), y = run_y(c);
    struct element alpha = library_value(&c->alpha);
    for (s64 i = 0; i < x.n; i++) put(&y, i, blas_add(get(&y, i), blas_multiply(alpha, get(&x, i))));
}
s64 blas_axpy(struct library_call *c)
{
    struct blas_handle *h = vectors(c, READS, READS | WRITES);
    enum number_type scale = c->type != ANY ? c->type : number_type_of(c->a.alphaType);
    if (!h) return refused(c);
    if (c->a.n <= 0) return 0;
    if (!library_scalar(c, "alpha", c->a.alpha, scale, blas_on_device(h), &c->alpha)) return c->codes->invalid;
    return library_is_zero(&c->alpha) ? 0 : library_enqueue(c, axpy_run);
}

static void scal_run(struct library_call *c)
{
    struct run_vector x = run_x(c);
    struct element alpha = library_value(&c->alpha);
    for (s64 i = 0; i < x.n; i++) put(&x, i, blas_multiply(alpha, get(&x, i)));
}
static s64 scal(struct library_call *c, enum number_type scale)
{
    if (c->a.n <= 0 || c->a.incx <= 0) return 0;
    struct blas_handle *h = vectors(c, READS | WRITES, 0);
    if (!h) return refused(c);
    if (!library_scalar(c, "alpha", c->a.alpha, scale, blas_on_device(h), &c->alpha)) return c->codes->invalid;
    return library_enqueue(c, scal_run);
}
s64 blas_scal(struct library_call *c) { return scal(c, c->type != ANY ? c->type : number_type_of(c->a.alphaType)); }
s64 blas_scal_real(struct library_call *c) { return scal(c, c->type == C32 ? F32 : F64); }

static void copy_run(struct library_call *c)
{
    struct run_vector x = run_x(c), y = run_y(c);
    for (s64 i = 0; i < x.n; i++) put(&y, i, get(&x, i));
}
s64 blas_copy(struct library_call *c)
{
    if (!vectors(c, READS, WRITES)) return refused(c);
    return c->a.n <= 0 ? 0 : library_enqueue(c, copy_run);
}

static void swap_run(struct library_call *c)
{
    struct run_vector x = run_x(c), y = run_y(c);
    for (s64 i = 0; i < x.n; i++) {
        struct element v = get(&x, i);
        put(&x, i, get(&y, i));
        put(&y, i, v);
    }
}
s64 blas_swap(struct library_call *c)
{
    if (!vectors(c, READS | WRITES, READS | WRITES)) return refused(c);
    return c->a.n <= 0 ? 0 : library_enqueue(c, swap_run);
}

/* alpha is the cosine, beta the sine. */
static void rot_run(struct library_call *c)
{
    struct run_vector x = run_x(c), y = run_y(c);
    struct element cosine = library_value(&c->alpha), sine = library_value(&c->beta);
    struct element back = { -sine.re, sine.im }; /* - conj(sine) */
    for (s64 i = 0; i < x.n; i++) {
        struct element a = get(&x, i), b = get(&y, i);
        put(&x, i, blas_add(blas_multiply(cosine, a), blas_multiply(sine, b)));
        put(&y, i, blas_add(blas_multiply(cosine, b), blas_multiply(back, a)));
    }
}
static s64 rot(struct library_call *c, enum number_type sine)
{
    struct blas_handle *h = vectors(c, READS | WRITES, READS | WRITES);
    enum number_type cosine = c->type == C32 ? F32 : c->type == C64 ? F64 : c->type;
    if (!h) return refused(c);
    if (c->a.n <= 0) return 0;
    if (!library_scalar(c, "c", c->a.c, cosine, blas_on_device(h), &c->alpha) ||
        !library_scalar(c, "s", c->a.s, sine, blas_on_device(h), &c->beta))
        return c->codes->invalid;
    return library_enqueue(c, rot_run);
}
s64 blas_rot(struct library_call *c) { return rot(c, c->type); }
s64 blas_rot_real(struct library_call *c) { return rot(c, c->type == C32 ? F32 : F64); }

/* ---- one number ---- */

/* The number goes to the host, which waits for it, or to the device. */
static s64 reduce(struct library_call *c, enum number_type type, s64 bytes, void (*run)(struct library_call *c))
{
    struct blas_handle *h = vectors(c, READS, c->a.y ? READS : 0);
    if (!h) return refused(c);
    bool host = !blas_on_device(h);
    if (type == ANY && !bytes) return c->codes->unsupported;
    if (!bytes) bytes = number_bytes(type);
    if (!c->a.result || (host && !bytes_readable(c->a.result, (u64)bytes)))
        return library_wrong(c,
                             "Pass the address of a variable of the host; with cublasSetPointerMode(handle, "
                             "CUBLAS_POINTER_MODE_DEVICE) it is one of the device.",
                             "the result of %s would go to %s.", c->name,
                             c->a.result ? "an address that is no memory of the host" : "NULL");
    c->result.to = c->a.result;
    c->result.on_host = host;
    c->result.type = type;
    if (!host) library_operand(c, "result", c->a.result, bytes, 1, 0, 1, 0, WRITES);
    return host ? library_perform(c, run) : library_enqueue(c, run);
}

static void *scalar_result(const struct library_call *c)
{
    return c->result.on_host ? c->result.to : library_view(c->result.to);
}
static void result_put(const struct library_call *c, struct element v)
{
    number_store(c->result.type, scalar_result(c), 0, v);
}
/* The type of the result of a norm: real. */
static enum number_type real_type(const struct library_call *c)
{
    return c->type == ANY ? number_type_of(c->a.resultType) : c->type == C32 ? F32 : c->type == C64 ? F64 : c->type;
}

static void dot_sum(struct library_call *c, bool conjugate)
{
    struct run_vector x = run_x(c), y = run_y(c);
    struct element s = { 0, 0 };
    for (s64 i = 0; i < x.n; i++) s = blas_add(s, blas_multiply(blas_conjugate(get(&x, i), conjugate), get(&y, i)));
    result_put(c, s);
}
static void dot_run(struct library_call *c) { dot_sum(c, false); }
static void dotc_run(struct library_call *c) { dot_sum(c, true); }
static enum number_type dot_type(const struct library_call *c)
{
    return c->type != ANY ? c->type : number_type_of(c->a.resultType);
}
s64 blas_dot(struct library_call *c) { return reduce(c, dot_type(c), 0, dot_run); }
s64 blas_dotc(struct library_call *c) { return reduce(c, dot_type(c), 0, dotc_run); }

/* Scaled by the largest part, so that squares do not overflow. */
static void nrm2_run(struct library_call *c)
{
    struct run_vector x = run_x(c);
    double most = 0, s = 0;
    for (s64 i = 0; i < x.n; i++) {
        struct element v = get(&x, i);
        most = fmax(most, fmax(fabs(v.re), fabs(v.im)));
        if (isnan(v.re) || isnan(v.im)) s = NAN;
    }
    for (s64 i = 0; i < x.n && most > 0 && !isinf(most); i++) {
        struct element v = get(&x, i);
        double re = v.re / most, im = v.im / most;
        s += re * re + im * im;
    }
    result_put(c, (struct element){ isinf(most) && !isnan(s) ? most : most > 0 ? most * sqrt(s) : s, 0 });
}
s64 blas_nrm2(struct library_call *c) { return reduce(c, real_type(c), 0, nrm2_run); }

static void asum_run(struct library_call *c)
{
    struct run_vector x = run_x(c);
    double s = 0;
    for (s64 i = 0; i < x.n; i++) s += fabs(get(&x, i).re) + fabs(get(&x, i).im);
    result_put(c, (struct element){ s, 0 });
}
s64 blas_asum(struct library_call *c) { return reduce(c, real_type(c), 0, asum_run); }

/* The first of the largest or the smallest, counted from 1; 0: there is none. */
static void index_run(struct library_call *c, bool largest)
{
    struct run_vector x = run_x(c);
    s64 best = 0;
    double value = 0;
    for (s64 i = 0; i < x.n && c->a.incx > 0; i++) {
        double v = fabs(get(&x, i).re) + fabs(get(&x, i).im);
        if (best && !(largest ? v > value : v < value)) continue;
        best = i + 1;
        value = v;
    }
    void *to = scalar_result(c);
    s32 narrow = (s32)best;
    memcpy(to, c->wide ? (void *)&best : (void *)&narrow, c->wide ? sizeof best : sizeof narrow);
}
static void amax_run(struct library_call *c) { index_run(c, true); }
static void amin_run(struct library_call *c) { index_run(c, false); }
s64 blas_amax(struct library_call *c) { return reduce(c, ANY, c->wide ? 8 : 4, amax_run); }
s64 blas_amin(struct library_call *c) { return reduce(c, ANY, c->wide ? 8 : 4, amin_run); }
