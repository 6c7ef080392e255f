/* The loops of a tensor core over all products (tensor.h), eight columns at once. Like the other lanes_*.c this file is
 * compiled twice on x86-64: a shift of each column by its own count needs a newer processor. */
#include "base/base.h"
#include "lanes/tensor.h"
#ifdef __AVX2__
#include <immintrin.h>
#endif
#ifdef LANES_V3
#define tensor_sums tensor_sums_v3
#define tensor_floats tensor_floats_v3
#define tensor_fast tensor_fast_v3
#define tensor_warp tensor_warp_v3
#endif

/* What is left of a term of which `down` bits fall off, toward zero. */
static inline s32 cut(s32 term, u32 up, s32 down)
{
    u32 size = (u32)(term < 0 ? -term : term) << up >> (down > 31 ? 31 : down);
    return term < 0 ? -(s32)size : (s32)size;
}

/* A product of two significands has 22 bits at most, and 27 when it is moved up: eight of them fit into 31 bits. */
enum { EIGHT = 8 };

static void row(const struct tensor_terms *t, u32 r, u32 column)
{
    const s32 *ae = t->a_exp + r * t->k, *as = t->a_sig + r * t->k;
    const s32 *be = t->b_exp + column * t->k, *bs = t->b_sig + column * t->k;
    u32 at = r * t->n + column;
    s32 big[TENSOR_COLUMNS];
    s64 sum[TENSOR_COLUMNS];
    for (u32 c = 0; c < TENSOR_COLUMNS; c++) big[c] = t->c_exp[at + c];
    for (u32 k = 0; k < t->k; k++)
        for (u32 c = 0; c < TENSOR_COLUMNS; c++) {
            s32 e = ae[k] + be[k * TENSOR_COLUMNS + c];
            big[c] = e > big[c] ? e : big[c];
        }
    for (u32 c = 0; c < TENSOR_COLUMNS; c++) sum[c] = cut(t->c_sig[at + c], 0, big[c] - t->c_exp[at + c]);
    for (u32 k = 0; k < t->k; k += EIGHT) {
        s32 some[TENSOR_COLUMNS] = { 0 };
        for (u32 j = k; j < MIN_OF(k + EIGHT, t->k); j++)
            for (u32 c = 0; c < TENSOR_COLUMNS; c++) {
                s32 e = ae[j] + be[j * TENSOR_COLUMNS + c];
                some[c] += cut(as[j] * bs[j * TENSOR_COLUMNS + c], t->up, big[c] - e);
            }
        for (u32 c = 0; c < TENSOR_COLUMNS; c++) sum[c] += some[c];
    }
    memcpy(t->largest + at, big, sizeof big);
    memcpy(t->sum + at, sum, sizeof sum);
}

void tensor_sums(const struct tensor_terms *t)
{
    for (u32 r = 0; r < t->m; r++)
        for (u32 c = 0; c < t->n; c += TENSOR_COLUMNS) row(t, r, c);
}

/* ---- by multiplications of the processor ---- */

enum { FAR = 45 }; /* exponents of operands up to this: neither a product nor its scale leaves the range of f32 */

bool tensor_floats(struct tensor_format f, u32 n, const u32 *x, f32 *value, s32 *exp)
{
    u32 bits = f.exponent + f.fraction, all = (1u << bits) - 1, top = (1u << f.exponent) - 1, up = 23u - f.fraction;
    s32 bias = (s32)(top >> 1);
    u32 special = f.numbers  ? all + 1
                  : f.finite ? all
                             : top << f.fraction,
        wild = 0, scale_bits = (u32)(254 - bias) << 23;
    f32 scale;
    memcpy(&scale, &scale_bits, 4);
    for (u32 j = 0; j < n; j++) {
        u32 v = x[j] >> f.skip, size = v & all, word = size << up | v >> bits << 31;
        s32 e = (s32)(size >> f.fraction);
        f32 y;
        e = (e > 1 ? e : 1) - bias;
        wild |= (u32)(size >= special) | ((u32)(size != 0) & ((u32)(e > FAR) | (u32)(e < -FAR)));
        memcpy(&y, &word, 4);
        value[j] = y * scale;
        exp[j] = size ? e : TENSOR_ZERO;
    }
    return !wild;
}

/* Every function that takes or gives a vector is inlined, so how one would be passed does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"
typedef s32 s32x8 __attribute__((vector_size(32)));
typedef u32 u32x8 __attribute__((vector_size(32)));
typedef u16 u16x8 __attribute__((vector_size(16)));
typedef f32 f32x8 __attribute__((vector_size(32)));
typedef s64 s64x8 __attribute__((vector_size(64)));
typedef f64 f64x8 __attribute__((vector_size(64)));
#define INLINE static inline __attribute__((always_inline))
#define EACH(x) ((s32x8){ 0 } + (x))
#define CHOOSE(if_, then, otherwise) (((if_) & (then)) | (~(if_) & (otherwise)))

#ifdef __AVX2__
#define LARGER(x, y) ((s32x8)_mm256_max_epi32((__m256i)(x), (__m256i)(y)))
#else
#define LARGER(x, y)              \
    ({                            \
        s32x8 x_ = (x), y_ = (y); \
        s32x8 first_ = x_ > y_;   \
        CHOOSE(first_, x_, y_);   \
    })
#endif

/* c of eight columns. */
struct addend {
    s32x8 exp, sig; /* sig is moved up by so many bits that `frac` lie below its exponent */
    s32x8 minus;    /* ~0: it is negative; sig has the size only */
};

INLINE bool any(const s32x8 *x)
{
    s64 w[4];
    memcpy(w, x, sizeof w);
    return w[0] | w[1] | w[2] | w[3];
}
/* Adds ~0 to wild where it is an infinity or a NaN. */
INLINE void split_c(s32x8 x, s32 exponent, s32 fraction, s32 frac, struct addend *out, s32x8 *wild)
{
    s32 top = (1 << exponent) - 1, bias = top >> 1;
    s32x8 e = x >> fraction & top, low = x & ((1 << fraction) - 1), size = low | (EACH(1 << fraction) & (e != 0));
    out->sig = frac > fraction ? size << (frac - fraction) : size >> (fraction - frac);
    out->exp = CHOOSE(size != 0, LARGER(e, EACH(1)) - bias, EACH(-bias - 6)); /* c = 0 counts as 7 below the smallest */
    out->minus = -(x >> (exponent + fraction) & 1);
    *wild |= e == top;
}
INLINE void take_c(const u32 *c, s32 exponent, s32 fraction, s32 frac, struct addend *out, s32x8 *wild)
{
    s32x8 x;
    memcpy(&x, c, sizeof x);
    split_c(x, exponent, fraction, frac, out, wild);
}

/* What is known of a call of tensor_fast() before it runs, so that its loops are made for it. */
struct shape {
    u32 k;
    s32 frac;  /* tensor_products.frac */
    u32 keep;  /* tensor_products.keep */
    bool half; /* tensor_products.half */
};

/* The sums of the products and of c in units of 2^(most - frac). Sixteen products of four units at 2^25 fit into 31
 * bits. */
INLINE void sum_eight(const struct shape s, const f32 *a, const f32 *b, const struct addend *c, s32x8 most,
                      s32x8 *products, s32x8 *rest)
{
    s32x8 sum = { 0 };
    f32x8 scale, y;
    /* below 2^-100 all products are 0 */
    s32x8 word = (s.frac + 127 - LARGER(most, EACH(-100))) << 23, down = most - c->exp;
    memcpy(&scale, &word, sizeof scale);
    down = c->sig >> CHOOSE(down > 31, EACH(31), down);
    for (u32 k = 0; k < s.k; k++) {
        memcpy(&y, b + (size_t)k * TENSOR_COLUMNS, sizeof y);
        sum += __builtin_convertvector(y * a[k] * scale, s32x8);
    }
    *products = sum;
    *rest = (down ^ c->minus) - c->minus;
}

/* One row and eight columns: largest exponents, and the sums. */
INLINE void eight(const struct shape s, const f32 *a, const s32 *ae, const f32 *b, const s32 *be,
                  const struct addend *c, s32x8 *big, s32x8 *products, s32x8 *rest)
{
    s32x8 most = c->exp, e;
    for (u32 k = 0; k < s.k; k++) {
        memcpy(&e, be + (size_t)k * TENSOR_COLUMNS, sizeof e);
        most = LARGER(most, e + ae[k]);
    }
    *big = most;
    sum_eight(s, a, b, c, most, products, rest);
}

/* What eight sums are as f32, cut toward zero. Adds ~0 to wild where one may be subnormal. */
INLINE void round_eight(const struct shape s, const s32x8 *largest, const s32x8 *products, const s32x8 *rest, u32 *d,
                        s32x8 *wild)
{
    s32x8 big = *largest;
    s64x8 word, unit_bits = __builtin_convertvector(big - s.frac + 1023, s64x8) << 52;
    f64x8 unit, v = __builtin_convertvector(*products, f64x8) + __builtin_convertvector(*rest, f64x8);
    memcpy(&unit, &unit_bits, sizeof unit);
    v *= unit;
    memcpy(&word, &v, sizeof v);
    word &= (s64)(~0ull << (52 - s.keep));
    memcpy(&v, &word, sizeof v);
    f32x8 out = __builtin_convertvector(v, f32x8);
    memcpy(d, &out, sizeof out);
    *wild |= (big < s.frac - 126) & ((*products | *rest) != 0);
}

INLINE bool fast(const struct tensor_products *t, const struct shape s)
{
    s32x8 wild = { 0 };
    for (u32 r = 0; r < t->m; r++)
        for (u32 n = 0; n < t->n; n += TENSOR_COLUMNS) {
            struct addend c;
            s32x8 big, products, rest;
            u32 at = r * t->n + n;
            take_c(t->c + at, s.half ? 5 : 8, s.half ? 10 : 23, s.frac, &c, &wild);
            eight(s, t->a + (size_t)r * s.k, t->a_exp + (size_t)r * s.k, t->b + (size_t)n * s.k,
                  t->b_exp + (size_t)n * s.k, &c, &big, &products, &rest);
            if (!s.half) {
                round_eight(s, &big, &products, &rest, t->d + at, &wild);
                continue;
            }
            memcpy(t->largest + at, &big, sizeof big);
            for (u32 k = 0; k < TENSOR_COLUMNS; k++) t->sum[at + k] = (s64)products[k] + rest[k];
        }
    return !any(&wild);
}

bool tensor_fast(const struct tensor_products *t)
{
    struct shape s = { t->k, (s32)t->frac, t->keep, t->half };
    if (s.half || s.frac != 25) return fast(t, s);
    switch (s.k) {
    case 4: return fast(t, (struct shape){ 4, 25, 23, false });
    case 8: return fast(t, (struct shape){ 8, 25, 23, false });
    case 16: return fast(t, (struct shape){ 16, 25, 23, false });
    default: return fast(t, s);
    }
}

/* ---- straight from the registers of a warp ---- */

/* Numbers of 16 bits come in pairs, so that their exponents are compared two at a time. */
typedef s16 s16x16 __attribute__((vector_size(32)));
enum { ROWS = 16, HALVES = 16 }; /* rows of a; its largest k */

#ifdef __AVX2__
#define LARGER_16(x, y) ((s16x16)_mm256_max_epi16((__m256i)(x), (__m256i)(y)))
#else
#define LARGER_16(x, y)            \
    ({                             \
        s16x16 x_ = (x), y_ = (y); \
        s16x16 first_ = x_ > y_;   \
        CHOOSE(first_, x_, y_);    \
    })
#endif

/* 16 bytes and 16 others. */
INLINE s32x8 join(const u32 *low, const u32 *high)
{
#ifdef __AVX2__
    __m256i x = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)low));
    return (s32x8)_mm256_inserti128_si256(x, _mm_loadu_si128((const __m128i *)(const void *)high), 1);
#else
    s32x8 x;
    memcpy(&x, low, 16);
    memcpy((char *)&x + 16, high, 16);
    return x;
#endif
}

/* Exponents of sixteen numbers. Adds ~0 to wild where tensor_floats() would refuse one. */
INLINE s16x16 exponents(bool bf16, s32x8 numbers, s16x16 *wild)
{
    s16x16 size = (s16x16)numbers & 0x7fff, zero = size == 0;
    s16x16 e = LARGER_16(size >> (bf16 ? 7 : 10), ((s16x16){ 0 } + 1)) - (s16)(bf16 ? 127 : 15);
    *wild |= bf16 ? (e > FAR) | ((e < -FAR) & ~zero) : e > 15;
    return CHOOSE(zero, (s16x16){ 0 } + TENSOR_ZERO, e);
}

/* Eight numbers in the low halves of words. */
INLINE f32x8 values(bool bf16, s32x8 x)
{
    s32x8 word = bf16 ? x << 16 : (x & 0x7fff) << 13 | (x & 0x8000) << 16;
    f32x8 v;
    memcpy(&v, &word, sizeof v);
    return bf16 ? v : v * 0x1p112f;
}

/* a by rows, b by pairs of k with the columns in the order in which c has them, and the exponents of both. */
struct halves {
    f32 a[ROWS][HALVES];
    s16 a_exp[ROWS][HALVES];
    f32x8 b[HALVES];
    s16x16 b_exp[HALVES / 2]; /* of k and k + 1 for each column */
};

INLINE bool take_halves(const struct tensor_registers *t, const bool bf16, const u32 k, struct halves *h)
{
    s16x16 wild = { 0 };
    for (u32 r = 0; r < ROWS; r++) { /* a row is eight neighbours of a register, or of two */
        const u32 *low = t->a[r / 8] + r % 8 * 4, *high = k > 8 ? t->a[2 + r / 8] + r % 8 * 4 : low;
        s16x16 e = exponents(bf16, join(low, high), &wild);
        memcpy(h->a_exp[r], &e, sizeof e);
        for (u32 j = 0; j < k; j += 8) {
            u16x8 narrow;
            memcpy(&narrow, j ? high : low, sizeof narrow);
            f32x8 v = values(bf16, __builtin_convertvector(narrow, s32x8));
            memcpy(h->a[r] + j, &v, sizeof v);
        }
    }
    for (u32 j = 0; j < k; j += 2) {
        const u32 *w = t->b[j / 8] + j % 8 / 2;
        u32x8 x = { w[0], w[8], w[16], w[24], w[4], w[12], w[20], w[28] };
        h->b_exp[j / 2] = exponents(bf16, (s32x8)x, &wild);
        h->b[j] = values(bf16, (s32x8)(x & 0xffff));
        h->b[j + 1] = values(bf16, (s32x8)(x >> 16));
    }
    s32x8 found = (s32x8)wild;
    return !any(&found);
}

/* What eight() does, for row r. */
INLINE void eight_halves(const struct shape s, const struct halves *h, u32 r, const struct addend *c, s32x8 *big,
                         s32x8 *products, s32x8 *rest)
{
    s16x16 both = (s16x16){ 0 } + 2 * TENSOR_ZERO;
    for (u32 k = 0; k < s.k; k += 2) {
        s32 pair;
        memcpy(&pair, h->a_exp[r] + k, sizeof pair);
        both = LARGER_16(both, h->b_exp[k / 2] + (s16x16)EACH(pair));
    }
    s32x8 odd = (s32x8)both >> 16, even = (s32x8)((u32x8)both << 16) >> 16, most = LARGER(LARGER(odd, even), c->exp);
    *big = most;
    sum_eight(s, h->a[r], (const f32 *)h->b, c, most, products, rest);
}

INLINE bool warp(const struct tensor_registers *t, const bool bf16, const u32 k)
{
    const struct shape s = { k, 25, 23, false };
    struct halves h;
    s32x8 wild = { 0 };
    u32 out[ROWS][TENSOR_COLUMNS];
    if (!take_halves(t, bf16, k, &h)) return false;
    for (u32 r = 0; r < ROWS; r++) {
        const u32 *const *from = t->c + r / 8 * 2;
        struct addend c;
        s32x8 big, products, rest;
        split_c(join(from[0] + r % 8 * 4, from[1] + r % 8 * 4), 8, 23, s.frac, &c, &wild);
        eight_halves(s, &h, r, &c, &big, &products, &rest);
        round_eight(s, &big, &products, &rest, out[r], &wild);
    }
    if (any(&wild)) return false;
    for (u32 r = 0; r < ROWS; r++)
        for (u32 p = 0; p < 2; p++) memcpy(t->d[r / 8 * 2 + p] + r % 8 * 4, out[r] + 4 * p, 16);
    return true;
}

bool tensor_warp(const struct tensor_registers *t)
{
    if (t->k == 16) return t->bf16 ? warp(t, true, 16) : warp(t, false, 16);
    return t->bf16 ? warp(t, true, 8) : warp(t, false, 8);
}
