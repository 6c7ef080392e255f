/* Transforms of one dimension. A length of small factors is done factor by factor (Stockham: what a stage writes lies
 * in the order that the next one reads). Another one becomes a convolution of a power of two (Bluestein): with j k =
 * (j^2 + k^2 - (j - k)^2) / 2 the transform is a product by a chirp, a convolution with its inverse, and the same
 * product again. */
#include "libraries/fft.h"
#include <math.h>

enum { FACTORS = 40, LARGEST = 61 };

struct fft {
    s64 n;
    u32 factor[FACTORS], factors; /* 0: by `inner` */
    double complex *root;         /* e^(-2 pi i k / n) */
    double complex *work;
    struct fft *inner;      /* Bluestein's, of a power of two */
    double complex *chirp;  /* e^(-pi i k^2 / n) */
    double complex *kernel; /* the transform of its inverse, divided by the inner length */
};

static double complex circle(double part) /* e^(-2 pi i part) */
{
    return cos(2 * M_PI * part) - sin(2 * M_PI * part) * I;
}

/* false: a factor is too large. */
static bool factors_of(struct fft *f)
{
    s64 left = f->n;
    while (left % 4 == 0) f->factor[f->factors++] = 4, left /= 4;
    for (u32 p = 2; p <= LARGEST && left > 1; p++)
        for (; left % p == 0; left /= p) f->factor[f->factors++] = p;
    if (left > 1) f->factors = 0;
    return left == 1;
}

static bool convolution_make(struct fft *f)
{
    s64 n = f->n, length = 1;
    while (length < 2 * n - 1) length *= 2;
    f->inner = fft_new(length);
    f->chirp = base_alloc((size_t)n * sizeof *f->chirp);
    f->kernel = base_alloc((size_t)length * sizeof *f->kernel);
    f->work = base_alloc((size_t)length * sizeof *f->work);
    if (!f->inner || !f->chirp || !f->kernel || !f->work) return false;
    for (s64 k = 0; k < n; k++)
        f->chirp[k] = circle((double)(u64)((unsigned __int128)k * (u64)k % (u64)(2 * n)) / (double)(2 * n));
    for (s64 k = 0; k < n; k++) f->kernel[k] = f->kernel[(length - k) % length] = conj(f->chirp[k]) / (double)length;
    fft_do(f->inner, f->kernel, false);
    return true;
}

struct fft *fft_new(s64 n)
{
    struct fft *f = base_alloc(sizeof *f);
    if (!f) return NULL;
    f->n = n;
    bool made = factors_of(f) || n == 1;
    if (made) {
        f->root = base_alloc((size_t)n * sizeof *f->root);
        f->work = base_alloc((size_t)n * sizeof *f->work);
        made = f->root && f->work;
        for (s64 k = 0; made && k < n; k++) f->root[k] = circle((double)k / (double)n);
    } else {
        made = convolution_make(f);
    }
    if (made) return f;
    fft_free(f);
    return NULL;
}

void fft_free(struct fft *f)
{
    if (!f) return;
    fft_free(f->inner);
    base_free(f->root);
    base_free(f->work);
    base_free(f->chirp);
    base_free(f->kernel);
    base_free(f);
}

/* The transform of p numbers; step: n / p. */
static void small(const struct fft *f, double complex *v, u32 p, s64 step)
{
    double complex in[LARGEST];
    if (p == 2) {
        double complex a = v[0];
        v[0] = a + v[1];
        v[1] = a - v[1];
        return;
    }
    if (p == 4) {
        double complex a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = (v[1] - v[3]) * -I;
        v[0] = a + c, v[1] = b + d, v[2] = a - c, v[3] = b - d;
        return;
    }
    memcpy(in, v, p * sizeof *in);
    for (u32 j = 0; j < p; j++) {
        double complex s = 0;
        for (u32 k = 0; k < p; k++) s += in[k] * f->root[(s64)(j * k % p) * step];
        v[j] = s;
    }
}

/* One factor p, after those whose product is `done`. */
static void stage(const struct fft *f, const double complex *from, double complex *to, u32 p, s64 done)
{
    s64 apart = f->n / p, turn = f->n / (done * p);
    double complex v[LARGEST];
    for (s64 j = 0; j < apart; j++) {
        s64 k = j % done, base = (j - k) * p + k;
        for (u32 q = 0; q < p; q++) v[q] = q && k ? from[j + q * apart] * f->root[q * k * turn] : from[j + q * apart];
        small(f, v, p, apart);
        for (u32 q = 0; q < p; q++) to[base + q * done] = v[q];
    }
}

static void by_factors(struct fft *f, double complex *x)
{
    double complex *from = x, *to = f->work;
    s64 done = 1;
    for (u32 i = 0; i < f->factors; i++) {
        stage(f, from, to, f->factor[i], done);
        done *= f->factor[i];
        double complex *other = from;
        from = to;
        to = other;
    }
    if (from != x) memcpy(x, from, (size_t)f->n * sizeof *x);
}

static void by_convolution(struct fft *f, double complex *x)
{
    s64 length = f->inner->n;
    for (s64 k = 0; k < length; k++) f->work[k] = k < f->n ? x[k] * f->chirp[k] : 0;
    fft_do(f->inner, f->work, false);
    for (s64 k = 0; k < length; k++) f->work[k] *= f->kernel[k];
    fft_do(f->inner, f->work, true);
    for (s64 k = 0; k < f->n; k++) x[k] = f->work[k] * f->chirp[k];
}

static void conjugate(double complex *x, s64 n)
{
    for (s64 k = 0; k < n; k++) x[k] = conj(x[k]);
}

void fft_do(struct fft *f, double complex *x, bool inverse)
{
    if (inverse) conjugate(x, f->n);
    if (f->inner)
        by_convolution(f, x);
    else
        by_factors(f, x);
    if (inverse) conjugate(x, f->n);
}
