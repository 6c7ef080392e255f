/* How the contents of fill.h are made. */
#include "base/fill.h"
#include "base/thread.h"
#include <math.h>
#include <stdlib.h>

/* Mixed twice: neighbouring seeds and arguments must not give the same sequence shifted by one. */
static u64 stream_start(u64 seed, u32 stream)
{
    u64 mixed = rand_next(&seed) ^ stream;
    return rand_next(&mixed);
}

/* 53 random bits as a fraction below 1. */
static double fraction(u64 *state) { return (double)(rand_next(state) >> 11) * 0x1p-53; }

/* The natural logarithm of 0 < x < 1 by the series of atanh: additions, products and quotients in a fixed order,
 * unlike log(3), whose last bit differs between C libraries. */
static double log_exact(double x)
{
    int e;
    double m = frexp(x, &e);
    if (m < 0.70710678118654752440) {
        m *= 2;
        e--;
    }
    double s = (m - 1) / (m + 1), s2 = s * s, sum = 0;
    for (int k = 23; k >= 1; k -= 2) sum = sum * s2 + 1.0 / k;
    return 2 * s * sum + e * 0.69314718055994530942;
}

static double polynomial(const double *c, int n, double x)
{
    double v = 0;
    for (int i = 0; i < n; i++) v = v * x + c[i];
    return v;
}

/* Acklam's rational approximation of the inverse normal distribution: one for the middle, one for both tails. */
double fill_quantile(double p)
{
    static const double a[] = { -3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                                1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00 };
    static const double b[] = { -5.447609879822406e+01, 1.615858368580409e+02,  -1.556989798598866e+02,
                                6.680131188771972e+01,  -1.328068155288572e+01, 1 };
    static const double c[] = { -7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                                -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00 };
    static const double d[] = { 7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                                3.754408661907416e+00, 1 };
    const double tail = 0.02425;
    if (p > 1 - tail) return -fill_quantile(1 - p);
    if (p < tail) {
        double q = sqrt(-2 * log_exact(p));
        return polynomial(c, COUNT_OF(c), q) / polynomial(d, COUNT_OF(d), q);
    }
    double q = p - 0.5, r = q * q;
    return polynomial(a, COUNT_OF(a), r) * q / polynomial(b, COUNT_OF(b), r);
}

static void make_normal(const struct fill *f, const struct scalar *t, u64 count, u64 state, u8 *to)
{
    double mean = f->bounded ? f->lo : 0, deviation = f->bounded ? f->hi : 1;
    for (u64 i = 0; i < count; i++, to += t->bytes) {
        double p = (double)(2 * (rand_next(&state) >> 12) + 1) * 0x1p-53; /* never 0 or 1 */
        scalar_store(t, mean + deviation * fill_quantile(p), to);
    }
}

static void make_uniform(const struct fill *f, const struct scalar *t, u64 count, u64 state, u8 *to)
{
    double lo = f->bounded ? f->lo : 0, width = f->bounded ? f->hi - f->lo : 1;
    for (u64 i = 0; i < count; i++, to += t->bytes) {
        scalar_store(t, lo + width * fraction(&state), to);
        /* rounding to the narrow type may reach the upper end, which does not belong to the range */
        if (width > 0 && scalar_load(t, to) >= lo + width) scalar_store(t, lo, to);
    }
}

static void make_integers(const struct fill *f, const struct scalar *t, u64 count, u64 state, u8 *to)
{
    double lo = f->bounded ? f->lo : 0, hi = f->bounded ? f->hi : t->class == SCALAR_BOOL ? 1 : 99;
    u64 span = hi - lo >= 0x1p64 ? UINT64_MAX : (u64)(hi - lo), base = lo < 0 ? 0 - (u64)-lo : (u64)lo;
    for (u64 i = 0; i < count; i++, to += t->bytes) {
        u64 r = rand_next(&state);
        scalar_store_int(t, (s64)(base + (span == UINT64_MAX ? r : r % (span + 1))), to);
    }
}

static void make_permutation(const struct scalar *t, u64 count, u64 state, u8 *to)
{
    u8 kept[8];
    for (u64 i = 0; i < count; i++) {
        u64 j = rand_next(&state) % (i + 1);
        memcpy(kept, to + j * t->bytes, t->bytes);
        memcpy(to + i * t->bytes, kept, t->bytes);
        scalar_store_int(t, (s64)i, to + j * t->bytes);
    }
}

static int by_size_4(const void *a, const void *b)
{
    u32 x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static int by_size_8(const void *a, const void *b)
{
    u64 x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Cuts anywhere, sorted: parts of all lengths, empty ones too. Elements have 4 or 8 bytes, and none is negative. */
static void make_offsets(const struct fill *f, const struct scalar *t, u64 count, u64 state, u8 *to)
{
    make_integers(f, t, count, state, to);
    qsort(to, count, t->bytes, t->bytes == 4 ? by_size_4 : by_size_8);
    if (count) scalar_store_int(t, (s64)f->hi, to + (count - 1) * t->bytes);
    if (count) scalar_store_int(t, 0, to);
}

static void make_counted(const struct scalar *t, u64 count, u8 *to)
{
    for (u64 i = 0; i < count; i++, to += t->bytes) scalar_store(t, (double)(i % 1021) - 510, to);
}

static void make_cancel(const struct scalar *t, u64 count, u64 state, u8 *to)
{
    double last = 0;
    for (u64 i = 0; i < count; i++, to += t->bytes) {
        double p = (double)(2 * (rand_next(&state) >> 12) + 1) * 0x1p-53, v = fill_quantile(p);
        last = i & 1 ? -last + 1e-3 * v : 16 * v;
        scalar_store(t, last, to);
    }
}

/* Normal numbers, some of them replaced. */
static void make_mixed(const struct fill *f, const struct scalar *t, u64 count, u64 state, u8 *to)
{
    make_normal(&(struct fill){ .kind = FILL_NORMAL }, t, count, state, to);
    double odd = scalar_load(t, f->value);
    for (u64 i = 0; i < count; i++, to += t->bytes) {
        u64 r = rand_next(&state);
        if (r % 9 == 4) scalar_store(t, r >> 32 & 1 ? -odd : odd, to);
    }
}

const char *const fill_words[FILL_WORDS + 1] = { "exact",   "small", "offset",   "large", "cancel", "constant",
                                                 "counted", "huge",  "denormal", "inf",   "nan",    NULL };

bool fill_word(struct str word, const struct scalar *t, struct fill *out)
{
    bool narrow = t->exponent <= 5;                           /* f16 and what is smaller */
    s32 top = t->exponent ? (1 << (t->exponent - 1)) - 1 : 0; /* the largest exponent */
    *out = (struct fill){ .bounded = true, .kind = FILL_NORMAL };
    if (str_is(word, "exact"))
        *out = (struct fill){ .kind = FILL_RAND, .bounded = true, .integers = true, .lo = -4, .hi = 4 };
    else if (str_is(word, "small"))
        out->hi = 1e-3;
    else if (str_is(word, "offset"))
        out->lo = narrow ? 32 : 1000, out->hi = 1;
    else if (str_is(word, "large"))
        out->hi = narrow ? 16 : 1e4;
    else if (str_is(word, "cancel"))
        out->kind = FILL_CANCEL;
    else if (str_is(word, "counted"))
        out->kind = FILL_COUNTED;
    else if (str_is(word, "huge"))
        *out = (struct fill){ .kind = FILL_RAND, .bounded = true, .lo = ldexp(1, top - 4), .hi = ldexp(1, top - 1) };
    else if (str_is(word, "denormal"))
        out->hi = ldexp(1, 1 - top);
    else {
        bool nan = str_is(word, "nan"), inf = str_is(word, "inf"), constant = str_is(word, "constant");
        out->kind = constant ? FILL_CONST : FILL_MIXED;
        if (nan || inf || constant) scalar_store(t, nan ? (double)NAN : inf ? (double)INFINITY : 1.5, out->value);
        return nan || inf || constant;
    }
    return true;
}

bool fill_word_of(const struct fill *usual, struct str word, const struct scalar *t, struct fill *out)
{
    if (!fill_word(word, t, out)) return false;
    if (!str_is(word, "small") || usual->kind != FILL_RAND || usual->integers || usual->lo != 0) return true;
    *out = *usual;
    out->bounded = true;
    out->hi = (usual->bounded ? usual->hi : 1) * (t->exponent <= 5 ? 1e-3 : 1e-6);
    return true;
}

static bool make_file(const struct fill *f, u64 bytes, u8 *to)
{
    FILE *in = fopen(f->file, "rb");
    bool whole = in && fread(to, 1, bytes, in) == bytes && fgetc(in) == EOF;
    if (in) fclose(in);
    return whole;
}

/* ---- large arrays, by several threads ----
 *
 * Where each element takes one number of the sequence, a part of it can begin anywhere: rand_next adds a constant. */

#define RAND_STEP 0x9e3779b97f4a7c15u /* as in rand_next */
enum { PARTS_MOST = 16 };
static const u64 part_least = 1u << 20;

typedef void make_fn(const struct fill *f, const struct scalar *t, u64 count, u64 state, u8 *to);
struct part {
    make_fn *make;
    const struct fill *f;
    const struct scalar *t;
    u64 count, state;
    u8 *to;
};

static void *make_part(void *self)
{
    const struct part *p = self;
    thread_name("lk-fill");
    p->make(p->f, p->t, p->count, p->state, p->to);
    return NULL;
}

static void make_in_parts(make_fn *make, const struct fill *f, const struct scalar *t, u64 count, u64 state, u8 *to)
{
    struct part part[PARTS_MOST];
    pthread_t thread[PARTS_MOST];
    bool started[PARTS_MOST] = { false };
    u64 parts = MIN_OF(MIN_OF(count / part_least, (u64)cpu_count()), (u64)PARTS_MOST), first = 0;
    for (u32 i = 0; i + 1 < parts; i++) {
        u64 n = count / parts;
        part[i] = (struct part){ make, f, t, n, state + first * RAND_STEP, to + first * t->bytes };
        started[i] = !thread_start(&thread[i], make_part, &part[i]);
        if (!started[i]) make(f, t, n, part[i].state, part[i].to);
        first += n;
    }
    make(f, t, count - first, state + first * RAND_STEP, to + first * t->bytes);
    for (u32 i = 0; i + 1 < parts; i++)
        if (started[i]) pthread_join(thread[i], NULL);
}

bool fill_make(const struct fill *f, const struct scalar *t, u64 count, u64 seed, u32 stream, void *to)
{
    u8 *p = to, one[8];
    u64 state = stream_start(seed, stream);
    switch (f->kind) {
    case FILL_UNINIT: break;
    case FILL_ZEROS: memset(p, 0, count * t->bytes); break;
    case FILL_FILE: return make_file(f, count * t->bytes, p);
    case FILL_NORMAL: make_in_parts(make_normal, f, t, count, state, p); break;
    case FILL_RAND:
        if (t->class == SCALAR_FLOAT && !f->integers)
            make_in_parts(make_uniform, f, t, count, state, p);
        else
            make_in_parts(make_integers, f, t, count, state, p);
        break;
    case FILL_COUNTED: make_counted(t, count, p); break;
    case FILL_CANCEL: make_cancel(t, count, state, p); break;
    case FILL_MIXED: make_mixed(f, t, count, state, p); break;
    case FILL_PERMUTATION: make_permutation(t, count, state, p); break;
    case FILL_OFFSETS: make_offsets(f, t, count, state, p); break;
    case FILL_IOTA:
        for (u64 i = 0; i < count; i++, p += t->bytes) scalar_store_int(t, (s64)i, p);
        break;
    case FILL_ONES:
    case FILL_CONST:
        scalar_store_int(t, 1, one);
        for (u64 i = 0; i < count; i++, p += t->bytes) memcpy(p, f->kind == FILL_ONES ? one : f->value, t->bytes);
        break;
    }
    return true;
}
