/* The model of a tensor core: numbers are taken apart, added by lanes_tensor.c, and put together again. */
#include "lanes/tensor.h"
#include "isa/expand.h"
#include "isa/isa.h"
#include <math.h>

/* ---- formats ---- */

static const struct tensor_format formats[TENSOR_TYPES] = {
    [TENSOR_F16] = { 5, 10, 0, false, false },   [TENSOR_BF16] = { 8, 7, 0, false, false },
    [TENSOR_TF32] = { 8, 10, 13, false, false }, [TENSOR_E4M3] = { 4, 3, 0, true, false },
    [TENSOR_E5M2] = { 5, 2, 0, false, false },   [TENSOR_F32] = { 8, 23, 0, false, false },
    [TENSOR_E2M3] = { 2, 3, 0, true, true },     [TENSOR_E3M2] = { 3, 2, 0, true, true },
    [TENSOR_E2M1] = { 2, 1, 2, true, true },     [TENSOR_E2M1_PACKED] = { 2, 1, 0, true, true },
};

static u32 top_of(struct tensor_format f) { return (1u << f.exponent) - 1; }

static bool is_nan(struct tensor_format f, u32 x)
{
    x >>= f.skip;
    u32 low = x & ((1u << f.fraction) - 1), e = x >> f.fraction & top_of(f);
    return !f.numbers && e == top_of(f) && (f.finite ? low == (1u << f.fraction) - 1 : low != 0);
}
static bool is_infinite(struct tensor_format f, u32 x)
{
    x >>= f.skip;
    return !f.finite && (x >> f.fraction & top_of(f)) == top_of(f) && !(x & ((1u << f.fraction) - 1));
}
static bool is_negative(struct tensor_format f, u32 x) { return x >> (f.skip + f.exponent + f.fraction) & 1; }
static bool is_zero(struct tensor_format f, u32 x) { return !(x >> f.skip & ((1u << (f.exponent + f.fraction)) - 1)); }

/* Takes a number apart; a NaN or an infinity gives something, which nobody uses. */
static void unpack(struct tensor_format f, u32 x, s32 *exp, s32 *sig)
{
    x >>= f.skip;
    u32 e = x >> f.fraction & top_of(f), low = x & ((1u << f.fraction) - 1);
    u32 size = low | (u32)(e != 0) << f.fraction;
    *exp = size ? (s32)(e ? e : 1) - (s32)(top_of(f) >> 1) : TENSOR_ZERO;
    *sig = x >> (f.exponent + f.fraction) & 1 ? -(s32)size : (s32)size;
}

/* sum * 2^unit as a number of that format: to the nearest if asked, else cut toward zero. Too large is infinity either
 * way; zero, also by underflow, is +0. */
static u32 pack(struct tensor_format f, s64 sum, s32 unit, bool nearest)
{
    s32 bias = (s32)(top_of(f) >> 1);
    u64 size = sum < 0 ? 0 - (u64)sum : (u64)sum;
    u32 out;
    if (!size) return 0;
    s32 high = 63 - __builtin_clzll(size), e = MAX_OF(high + unit, 1 - bias);
    s32 off = e - (s32)f.fraction - unit; /* bits that fall off */
    if (off > 63) return 0;
    if (off <= 0)
        out = (u32)(size << -off);
    else {
        u64 half = 1ull << (off - 1), rest = size & (2 * half - 1);
        out = (u32)(size >> off);
        if (nearest) out += rest > half || (rest == half && out & 1);
    }
    if (!out) return 0;
    out += (u32)(e + bias - 1) << f.fraction; /* the leading bit of a normal number, or a carry, adds the missing 1 */
    if (out >> f.fraction >= top_of(f)) out = top_of(f) << f.fraction;
    return out | (u32)(sum < 0) << (f.exponent + f.fraction);
}

static u32 nan_of(enum tensor_type t)
{
    return t == TENSOR_F16 ? 0x7fff : 0x7fffffff;
} /* the only one that comes out */
static u32 infinity_of(enum tensor_type t, bool negative)
{
    return t == TENSOR_F16 ? 0x7c00u | (u32)negative << 15 : 0x7f800000u | (u32)negative << 31;
}

/* From one format to another: exact where it widens, to the nearest from f32 to f16. */
static u32 convert(enum tensor_type from, enum tensor_type to, u32 x)
{
    struct tensor_format f = formats[from], t = formats[to];
    s32 exp, sig;
    if (is_nan(f, x)) return nan_of(to);
    if (is_infinite(f, x)) return infinity_of(to, is_negative(f, x));
    unpack(f, x, &exp, &sig);
    return pack(t, sig, exp - f.fraction, true) | (u32)is_negative(f, x) << (t.exponent + t.fraction);
}

static f32 as_float(enum tensor_type t, u32 x)
{
    f32 v;
    x = t == TENSOR_F32 ? x : convert(t, TENSOR_F32, x);
    memcpy(&v, &x, 4);
    return v;
}
static u32 as_bits(f32 v)
{
    u32 x;
    memcpy(&x, &v, 4);
    return v != v ? nan_of(TENSOR_F32) : x;
}
/* The IEEE sum in f32 or f16. An f16 sum loses nothing by being rounded to f32 first: f32 has more than twice its bits.
 */
static u32 plain_sum(enum tensor_type t, u32 x, u32 y)
{
    u32 s = as_bits(as_float(t, x) + as_float(t, y));
    return t == TENSOR_F16 ? convert(TENSOR_F32, TENSOR_F16, s) : s;
}

u32 tensor_halve(u32 x, u32 n)
{
    return convert(TENSOR_F32, TENSOR_F16, as_bits(ldexpf(as_float(TENSOR_F16, x), -(int)n)));
}

/* ---- one sum ---- */

/* Whether a NaN or an infinity decides an element; *out is the result then. */
static bool special(const struct tensor *t, const u32 *a, const u32 *b, u32 c, u32 *out)
{
    struct tensor_format fa = formats[t->a], fb = formats[t->b], fc = formats[t->d];
    bool nan = is_nan(fc, c), above = is_infinite(fc, c) && !is_negative(fc, c),
         below = is_infinite(fc, c) && is_negative(fc, c);
    for (u32 k = 0; k < t->k; k++) {
        nan |= is_nan(fa, a[k]) || is_nan(fb, b[k]);
        if (!is_infinite(fa, a[k]) && !is_infinite(fb, b[k])) continue;
        nan |= is_zero(fa, a[k]) || is_zero(fb, b[k]);
        *(is_negative(fa, a[k]) != is_negative(fb, b[k]) ? &below : &above) = true;
    }
    *out = nan || (above && below) ? nan_of(t->d) : infinity_of(t->d, below);
    return nan || above || below;
}

static bool any_special(enum tensor_type t, const u32 *x, u32 n)
{
    struct tensor_format f = formats[t];
    u32 found = 0, all = top_of(f);
    if (f.finite)
        for (u32 k = 0; k < n; k++) found |= is_nan(f, x[k]);
    else
        for (u32 k = 0; k < n; k++) found |= (x[k] >> f.skip >> f.fraction & all) == all;
    return found;
}

/* The columns of b as the loops want them: [n / 8][k][8]. */
#define TURN(out, in, n, k)             \
    for (u32 col = 0; col < (n); col++) \
        for (u32 j = 0; j < (k); j++)   \
    (out)[(col & ~7u) * (k) + j * TENSOR_COLUMNS + col % TENSOR_COLUMNS] = (in)[col * (k) + j]

enum { SIDE = TENSOR_MOST * TENSOR_MOST };

/* The usual case: no NaN, no infinity, no number at the end of the range of f32. False: it is not. */
static bool one_sum_fast(const struct tensor *t, u32 m, u32 n, const u32 *a, const u32 *b, const u32 *c, u32 *d)
{
    bool fp8 = tensor_is_fp8(t->a) && !t->full;
    f32 x[SIDE], y[SIDE];
    s32 a_exp[SIDE], b_exp[SIDE], largest[SIDE];
    s64 sum[SIDE];
    u32 turned[SIDE], out[SIDE];
    struct tensor_products p = { .m = m,
                                 .n = n,
                                 .k = t->k,
                                 .frac = fp8 ? 13 : 25,
                                 .keep = fp8 ? 13 : 23,
                                 .a = x,
                                 .b = y,
                                 .a_exp = a_exp,
                                 .b_exp = b_exp,
                                 .c = c,
                                 .d = out,
                                 .half = t->d == TENSOR_F16,
                                 .largest = largest,
                                 .sum = sum };
    TURN(turned, b, n, t->k);
    if (!TENSOR_NEWER(tensor_floats)(formats[t->a], m * t->k, a, x, a_exp)) return false;
    if (!TENSOR_NEWER(tensor_floats)(formats[t->b], n * t->k, turned, y, b_exp)) return false;
    if (!TENSOR_NEWER(tensor_fast)(&p)) return false;
    if (!p.half)
        memcpy(d, out, m * n * sizeof *d);
    else
        for (u32 j = 0; j < m * n; j++) d[j] = pack(formats[TENSOR_F16], sum[j], largest[j] - (s32)p.frac, true);
    return true;
}

/* All of k and c at once. Up to TENSOR_MOST rows and columns. */
static void one_sum(const struct tensor *t, u32 m, u32 n, const u32 *a, const u32 *b, const u32 *c, u32 *d)
{
    if (one_sum_fast(t, m, n, a, b, c, d)) return;
    struct tensor_format fa = formats[t->a], fb = formats[t->b], fd = formats[t->d];
    bool fp8 = tensor_is_fp8(t->a) && !t->full;
    u32 frac = fp8 ? 13 : 25, k = t->k;
    s32 least = t->d == TENSOR_F16 ? -21 : -133; /* what c = 0 counts as: 7 below the smallest exponent of its type */
    s32 a_exp[SIDE], a_sig[SIDE], b_exp[SIDE], b_sig[SIDE], c_exp[SIDE], c_sig[SIDE], largest[SIDE];
    s64 sum[SIDE];
    struct tensor_terms x = { .m = m,
                              .n = n,
                              .k = k,
                              .up = frac - fa.fraction - fb.fraction,
                              .a_exp = a_exp,
                              .a_sig = a_sig,
                              .b_exp = b_exp,
                              .b_sig = b_sig,
                              .c_exp = c_exp,
                              .c_sig = c_sig,
                              .largest = largest,
                              .sum = sum };
    for (u32 j = 0; j < m * k; j++) unpack(fa, a[j], &a_exp[j], &a_sig[j]);
    for (u32 col = 0; col < n; col++)
        for (u32 j = 0; j < k; j++) {
            u32 at = (col & ~7u) * k + j * TENSOR_COLUMNS + col % TENSOR_COLUMNS;
            unpack(fb, b[col * k + j], &b_exp[at], &b_sig[at]);
        }
    for (u32 j = 0; j < m * n; j++) {
        unpack(fd, c[j], &c_exp[j], &c_sig[j]);
        if (c_exp[j] == TENSOR_ZERO) c_exp[j] = least;
        s32 size = c_sig[j] < 0 ? -c_sig[j] : c_sig[j];
        size = frac >= fd.fraction ? size << (frac - fd.fraction) : size >> (fd.fraction - frac);
        c_sig[j] = c_sig[j] < 0 ? -size : size;
    }
    TENSOR_NEWER(tensor_sums)(&x);
    bool look = any_special(t->a, a, m * k) || any_special(t->b, b, n * k) || any_special(t->d, c, m * n);
    struct tensor_format out = fp8 && t->d == TENSOR_F32 ? (struct tensor_format){ .exponent = 8, .fraction = 13 } : fd;
    u32 low = fd.fraction - out.fraction; /* fp8 keeps 13 fraction bits of its f32 */
    for (u32 r = 0; r < m; r++)
        for (u32 col = 0; col < n; col++) {
            u32 at = r * n + col, v;
            if (!look || !special(t, a + r * k, b + col * k, c[at], &v))
                v = pack(out, sum[at], largest[at] - (s32)frac, t->d == TENSOR_F16) << low;
            d[at] = v;
        }
}

/* ---- block scaling ---- */

/* Numbers with their factors, taken apart: `bits` more of each significand are fraction. */
static void unpack_scaled(const struct tensor *t, const struct tensor_scales *s, enum tensor_type type, u32 lines,
                          const u32 *x, const u8 *factor, s32 *exp, s32 *sig)
{
    static const struct tensor_format ue4m3 = { 4, 3, 0, true, false };
    u32 part = t->k / s->count;
    for (u32 l = 0; l < lines; l++)
        for (u32 k = 0; k < t->k; k++) {
            u32 at = l * t->k + k, f = factor[l * s->count + k / part];
            s32 scale_exp = (s32)f - 127, scale_sig = 1;
            if (s->ue4m3) unpack(ue4m3, f & 127, &scale_exp, &scale_sig);
            unpack(formats[type], x[at], &exp[at], &sig[at]);
            bool zero = exp[at] == TENSOR_ZERO || scale_exp == TENSOR_ZERO;
            exp[at] = zero ? TENSOR_ZERO : exp[at] + scale_exp;
            sig[at] = zero ? 0 : sig[at] * scale_sig;
        }
}

/* Whether a factor of a row or a column is NaN. */
static bool nan_factor(const struct tensor_scales *s, const u8 *factor)
{
    for (u32 k = 0; k < s->count; k++)
        if (s->ue4m3 ? (factor[k] & 127) == 127 : factor[k] == 255) return true;
    return false;
}

void tensor_multiply_scaled(const struct tensor *t, const struct tensor_scales *s, u32 m, u32 n, const u32 *a,
                            const u32 *b, const u32 *c, u32 *d)
{
    enum { MOST = TENSOR_MOST * TENSOR_SCALED_MOST, FRAC = 25 };
    s32 a_exp[MOST], a_sig[MOST], b_exp[MOST], b_sig[MOST];
    u32 below = formats[t->a].fraction + formats[t->b].fraction + (s->ue4m3 ? 6u : 0u);
    CHECK(m <= TENSOR_MOST && n <= TENSOR_MOST && t->k <= TENSOR_SCALED_MOST && t->d == TENSOR_F32);
    unpack_scaled(t, s, t->a, m, a, s->a, a_exp, a_sig);
    unpack_scaled(t, s, t->b, n, b, s->b, b_exp, b_sig);
    for (u32 r = 0; r < m; r++)
        for (u32 col = 0; col < n; col++) {
            const s32 *ae = a_exp + r * t->k, *as = a_sig + r * t->k, *be = b_exp + col * t->k,
                      *bs = b_sig + col * t->k;
            s32 c_exp, c_sig, largest;
            u32 at = r * n + col, v;
            unpack(formats[TENSOR_F32], c[at], &c_exp, &c_sig);
            largest = c_exp == TENSOR_ZERO ? -133 : c_exp;
            for (u32 k = 0; k < t->k; k++) largest = MAX_OF(largest, ae[k] + be[k]);
            s64 sum = 0;
            for (u32 k = 0; k <= t->k; k++) {
                s64 term = k < t->k ? (s64)as[k] * bs[k] : c_sig;
                s32 down = largest - (k < t->k ? ae[k] + be[k] : c_exp);
                u64 size = (u64)(term < 0 ? -term : term) << (FRAC - (k < t->k ? below : 23));
                size = down > 63 ? 0 : size >> down;
                sum += term < 0 ? -(s64)size : (s64)size;
            }
            if (nan_factor(s, s->a + r * s->count) || nan_factor(s, s->b + col * s->count))
                v = nan_of(TENSOR_F32);
            else if (!special(t, a + r * t->k, b + col * t->k, c[at], &v))
                v = pack(formats[TENSOR_F32], sum, largest - FRAC, false);
            d[at] = v;
        }
}

/* fp8 that an H200's mma.sync does not have: ptxas makes it of two products of f16 and an addition. */
static void fp8_halves(const struct tensor *t, u32 m, u32 n, const u32 *a, const u32 *b, const u32 *c, u32 *d)
{
    u32 x[SIDE / 2], y[SIDE / 2], k = t->k / 2, sum[TENSOR_MOST * TENSOR_MOST] = { 0 };
    struct tensor half = { .a = TENSOR_F16, .b = TENSOR_F16, .c = t->d, .d = t->d, .k = k };
    for (u32 part = 0; part < 2; part++) {
        for (u32 j = 0; j < k; j++) {
            u32 from = j / 2 * 4 + part * 2 + j % 2;
            for (u32 r = 0; r < m; r++) x[r * k + j] = convert(t->a, TENSOR_F16, a[r * t->k + from]);
            for (u32 col = 0; col < n; col++) y[col * k + j] = convert(t->b, TENSOR_F16, b[col * t->k + from]);
        }
        one_sum(&half, m, n, x, y, sum, sum);
    }
    for (u32 j = 0; j < m * n; j++) d[j] = plain_sum(t->d, c[j], sum[j]);
}

/* The products of four columns of tf32 after those of the four before. */
static void by_four(const struct tensor *t, u32 m, u32 n, const u32 *a, const u32 *b, const u32 *c, u32 *d)
{
    struct tensor four = *t;
    u32 x[TENSOR_MOST * 4], y[TENSOR_MOST * 4];
    four.k = 4;
    for (u32 k = 0; k < t->k; k += 4) {
        for (u32 r = 0; r < m; r++) memcpy(x + 4 * r, a + r * t->k + k, 16);
        for (u32 col = 0; col < n; col++) memcpy(y + 4 * col, b + col * t->k + k, 16);
        one_sum(&four, m, n, x, y, k ? d : c, d);
    }
}

/* ---- other arithmetic ---- */

/* mma.m8n8k4 of f16, which ptxas makes of multiply-adds of f32. c may be f16 where d is f32. */
static u32 fma_chain(const struct tensor *t, const u32 *a, const u32 *b, u32 c)
{
    f32 x[4], y[4], s = as_float(t->c, c);
    for (u32 k = 0; k < 4; k++) {
        x[k] = as_float(TENSOR_F16, a[k]);
        y[k] = as_float(TENSOR_F16, b[k]);
    }
    if (t->d == TENSOR_F32) {
        f32 sum = 0;
        for (u32 k = 0; k < 4; k++) sum = fmaf(x[k], y[k], sum);
        return as_bits(s + sum);
    }
    f32 low = fmaf(x[1], y[1], x[0] * y[0]), high = fmaf(x[3], y[3], x[2] * y[2]);
    return convert(TENSOR_F32, TENSOR_F16, as_bits((s + low) + high));
}

static s32 integer(enum tensor_type t, u32 x)
{
    switch (t) {
    case TENSOR_S8: return (s8)x;
    case TENSOR_U8: return (s32)(x & 255);
    case TENSOR_S4: return (s32)((x & 15) ^ 8) - 8;
    default: return (s32)(x & 15);
    }
}

/* The exact sum, brought into range once. */
static u32 integer_sum(const struct tensor *t, const u32 *a, const u32 *b, u32 c)
{
    s64 sum = (s32)c;
    if (t->a == TENSOR_B1)
        for (u32 k = 0; k < t->k; k++) sum += __builtin_popcount(t->conjunction ? a[k] & b[k] : a[k] ^ b[k]);
    else
        for (u32 k = 0; k < t->k; k++) sum += integer(t->a, a[k]) * integer(t->b, b[k]);
    if (t->saturate) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (u32)sum;
}

/* wmma of f16 may have c of one type and d of another: a narrow c is widened, a wide result is rounded. */
static void two_types(const struct tensor *t, u32 m, u32 n, const u32 *a, const u32 *b, const u32 *c, u32 *d)
{
    struct tensor wide = *t;
    u32 x[TENSOR_MOST * TENSOR_MOST];
    x[0] = 0; /* the compiler cannot know that there are elements */
    wide.c = wide.d = TENSOR_F32;
    for (u32 j = 0; j < m * n; j++) x[j] = t->c == TENSOR_F32 ? c[j] : convert(t->c, TENSOR_F32, c[j]);
    one_sum(&wide, m, n, a, b, x, x);
    for (u32 j = 0; j < m * n; j++) d[j] = t->d == TENSOR_F32 ? x[j] : convert(TENSOR_F32, t->d, x[j]);
}

void tensor_multiply(const struct tensor *t, u32 m, u32 n, const u32 *a, const u32 *b, const u32 *c, u32 *d)
{
    CHECK(m <= TENSOR_MOST && n <= TENSOR_MOST && n % TENSOR_COLUMNS == 0);
    CHECK(t->k <= TENSOR_MOST || t->d == TENSOR_S32);
    if (t->d == TENSOR_S32)
        for (u32 r = 0; r < m; r++)
            for (u32 col = 0; col < n; col++)
                d[r * n + col] = integer_sum(t, a + r * t->k, b + col * t->k, c[r * n + col]);
    else if (t->way == TENSOR_FMA_CHAIN)
        for (u32 r = 0; r < m; r++)
            for (u32 col = 0; col < n; col++)
                d[r * n + col] = fma_chain(t, a + r * t->k, b + col * t->k, c[r * n + col]);
    else if (t->c != t->d)
        two_types(t, m, n, a, b, c, d);
    else
        (t->way == TENSOR_FP8_HALF ? fp8_halves : t->way == TENSOR_BY_FOUR ? by_four : one_sum)(t, m, n, a, b, c, d);
}

/* ---- f64 ---- */

typedef unsigned __int128 u128;
static bool nan64(u64 x) { return x << 1 > 0xffe0000000000000; }
static bool infinite64(u64 x) { return x << 1 == 0xffe0000000000000; }

/* A significand, moved up so that its leading bit is bit 125: room for a carry and a borrow. */
struct wide {
    u128 size; /* 0: the number is zero */
    s32 exp;   /* the number is size * 2^exp */
    bool negative;
};

static struct wide normal(u128 size, s32 exp, bool negative)
{
    u64 high = (u64)(size >> 64);
    if (!size) return (struct wide){ .negative = negative };
    s32 by = (high ? __builtin_clzll(high) : 64 + __builtin_clzll((u64)size)) - 2;
    return (struct wide){ by >= 0 ? size << by : size >> -by, exp - by, negative };
}

/* The smaller operand loses bits, which are kept as one bit at the end: enough to round by. */
static struct wide add(struct wide x, struct wide y)
{
    if (!x.size || (y.size && (y.exp > x.exp || (y.exp == x.exp && y.size > x.size)))) {
        struct wide z = x;
        x = y;
        y = z;
    }
    s32 by = x.exp - y.exp;
    if (y.size && by) y.size = by > 127 ? 1 : y.size >> by | ((y.size & (((u128)1 << by) - 1)) != 0);
    x.size = x.negative == y.negative ? x.size + y.size : x.size - y.size;
    return x;
}

static u64 round64(struct wide x, enum isa_round mode)
{
    bool away = mode == (x.negative ? RND_RM : RND_RP);
    u64 high = (u64)(x.size >> 64);
    s32 top = high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((u64)x.size);
    s32 e = MAX_OF(top + x.exp, -1022), off = e - 52 - x.exp;
    u64 out;
    if (off <= 0)
        out = (u64)(x.size << -off);
    else {
        u128 rest = off > 127 ? x.size : x.size & (((u128)1 << off) - 1);
        u128 half = off > 127 ? ~(u128)0 : (u128)1 << (off - 1);
        out = off > 127 ? 0 : (u64)(x.size >> off);
        out += mode == RND_RN ? rest > half || (rest == half && out & 1) : rest && away;
    }
    out += (u64)(e + 1022) << 52;
    if (out >> 52 >= 2047) out = mode == RND_RN || away ? 0x7ff0000000000000 : 0x7fefffffffffffff;
    return (u64)x.negative << 63 | out;
}

/* A fused multiply-add in any rounding. Of NaNs b wins, then c, then a, with sign and payload. */
static u64 fma64(enum isa_round mode, u64 x, u64 y, u64 z)
{
    const u64 sign = 1ull << 63, quiet = 1ull << 51, fraction = (1ull << 52) - 1;
    bool product = (x ^ y) >> 63, addend = z >> 63;
    if (nan64(y)) return y | quiet;
    if (nan64(z)) return z | quiet;
    if (nan64(x)) return x | quiet;
    if (infinite64(x) || infinite64(y)) {
        bool none = !(x << 1) || !(y << 1) || (infinite64(z) && addend != product);
        return none ? 0xfff8000000000000 : (u64)product << 63 | 0x7ff0000000000000;
    }
    if (infinite64(z)) return z;
    if (!(x << 1) || !(y << 1)) return z << 1 || product == addend ? z : mode == RND_RM ? sign : 0;
    s32 ex = x >> 52 & 2047, ey = y >> 52 & 2047, ez = z >> 52 & 2047;
    u64 mx = (x & fraction) | (u64)(ex > 0) << 52, my = (y & fraction) | (u64)(ey > 0) << 52,
        mz = (z & fraction) | (u64)(ez > 0) << 52;
    struct wide sum = add(normal((u128)mx * my, MAX_OF(ex, 1) + MAX_OF(ey, 1) - 2150, product),
                          normal(mz, MAX_OF(ez, 1) - 1075, addend));
    return sum.size ? round64(sum, mode) : mode == RND_RM ? sign : 0;
}

/* The processor's own multiply-add is right in the usual rounding where no NaN comes out. */
static u64 fma64_near(u64 x, u64 y, u64 z)
{
    f64 a, b, c, r;
    u64 out;
    memcpy(&a, &x, 8);
    memcpy(&b, &y, 8);
    memcpy(&c, &z, 8);
    r = fma(a, b, c);
    memcpy(&out, &r, 8);
    return r == r ? out : fma64(RND_RN, x, y, z);
}

void tensor_multiply_f64(const struct tensor *t, u32 m, u32 n, const u64 *a, const u64 *b, const u64 *c, u64 *d)
{
    bool near = t->round == RND_NONE || t->round == RND_RN;
    for (u32 r = 0; r < m; r++)
        for (u32 col = 0; col < n; col++) {
            const u64 *x = a + r * t->k, *y = b + col * t->k;
            u64 sum = c[r * n + col];
            for (u32 k = 0; k < t->k; k++)
                sum = near ? fma64_near(x[k], y[k], sum) : fma64((enum isa_round)t->round, x[k], y[k], sum);
            d[r * n + col] = sum;
        }
}
