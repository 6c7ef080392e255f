/* Words for the small formats: f16, bf16 and their pairs (9.7.4, 9.7.5), tf32, f8, f6, f4 (9.7.9.22). No _Float16:
 * not every compiler has it.
 *
 * Arithmetic goes through f32 or f64 and rounds once: f32 carries 2p + 2 bits of a half, so that sums, and products
 * where nothing underflows, survive rounding twice; everything else comes as f64 and is rounded to odd on its way
 * (the last bit says whether anything was lost), after which a second rounding is the first. */
#ifndef LOCKSTEP_ISA_WORDS_HALF_H
#define LOCKSTEP_ISA_WORDS_HALF_H

/* ---- f16 and bf16 from and to f32, branch-free ---- */
WORD f32 f32_f16(f16 h)
{
    u32 w = (u32)h.v << 16, two = w + w;
    f32 normal = f32_bits((two >> 4) + (0xe0u << 23)) * 0x1p-112f, tiny = f32_bits((two >> 17) | 126u << 23) - 0.5f;
    return f32_bits((w & 0x80000000u) | bits_f32(two < 1u << 27 ? tiny : normal));
}
WORD f32 f32_bf16(bf16 h) { return f32_bits((u32)h.v << 16); }

/* to the nearest, ties to even; one NaN, 0x7fff */
WORD f16 f16_near(f32 f)
{
    u32 u = bits_f32(f), x = u & 0x7fffffffu, s = u >> 16 & 0x8000u;
    u32 normal = (x + 0xc8000fffu + (x >> 13 & 1)) >> 13, tiny = bits_f32(f32_bits(x) + 0.5f) - 0x3f000000u;
    u32 r = x < 0x38800000u ? tiny : normal;
    r = x >= 0x47800000u ? 0x7c00u : r;
    return (f16){ (u16)(x > 0x7f800000u ? 0x7fffu : r | s) };
}
WORD bf16 bf16_near(f32 f)
{
    u32 x = bits_f32(f);
    return (bf16){ (u16)((x & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : (x + 0x7fff + (x >> 16 & 1)) >> 16) };
}

/* f64 to f32, to odd */
WORD f32 f32_odd(f64 d)
{
    f32 f = (f32)d;
    f64 g = f;
    u32 u = bits_f32(f);
    u32 lost = (g != d) & (d == d) & !(u & 1), up = fabs_f64(g) > fabs_f64(d);
    return f32_bits(u + (lost ? (up ? ~0u : 1u) : 0u));
}
/* x + y in f64, to odd: the error of the sum says what was lost */
WORD f64 sum_odd(f64 x, f64 y)
{
    f64 s = x + y, t = s - x, err = (x - (s - t)) + (y - t);
    u64 u = bits_f64(s);
    u64 lost = (err != 0) & (err == err) & !(u & 1), down = (err < 0) ^ (u64)(u >> 63);
    return f64_bits(u + (lost ? (down ? ~0ull : 1ull) : 0ull));
}

/* .ftz on the way in and out, .sat and .relu on the way out */
WORD f32 in_f16(f16 a, u32 M)
{
    return M & MOD_FTZ && !(a.v & 0x7c00) ? f32_bits((u32)(a.v & 0x8000) << 16) : f32_f16(a);
}
WORD f32 in_bf16(bf16 a, u32 M)
{
    (void)M;
    return f32_bf16(a);
}
WORD f32 clamp_half(f32 x, u32 M)
{
    if (M & MOD_SAT) x = FSAT(x);
    if (M & MOD_RELU) x = x > 0 || x != x ? x : 0;
    return x;
}
WORD f16 out_f16(f32 x, u32 M)
{
    /* flushed by its value with an unbounded exponent, as f32 is */
    if (M & MOD_FTZ && fabs_f32(x) < 0x1.ffep-15f) x = f32_bits(bits_f32(x) & 0x80000000u);
    return f16_near(clamp_half(x, M));
}
WORD bf16 out_bf16(f32 x, u32 M) { return bf16_near(clamp_half(x, M)); }

/* ---- arithmetic: one expression over f32 x, y, z (or wide ones) for the four types ---- */
#define HALF1_OF(op, T, IN, OUT, V)                                                                           \
    WORD T op##_##T(T a, u32 M)                                                                               \
    {                                                                                                         \
        f32 x = IN(a, M);                                                                                     \
        return OUT(V, M);                                                                                     \
    }                                                                                                         \
    WORD T##x2 op##_##T##x2(T##x2 a, u32 M)                                                                   \
    {                                                                                                         \
        return (T##x2){ op##_##T((T){ (u16)a.v }, M).v | (u32)op##_##T((T){ (u16)(a.v >> 16) }, M).v << 16 }; \
    }
#define HALF2_OF(op, T, IN, OUT, V)                                                                   \
    WORD T op##_##T(T a, T b, u32 M)                                                                  \
    {                                                                                                 \
        f32 x = IN(a, M), y = IN(b, M);                                                               \
        return OUT(V, M);                                                                             \
    }                                                                                                 \
    WORD T##x2 op##_##T##x2(T##x2 a, T##x2 b, u32 M)                                                  \
    {                                                                                                 \
        return (T##x2){ op##_##T((T){ (u16)a.v }, (T){ (u16)b.v }, M).v |                             \
                        (u32)op##_##T((T){ (u16)(a.v >> 16) }, (T){ (u16)(b.v >> 16) }, M).v << 16 }; \
    }
#define HALF3_OF(op, T, IN, OUT, V)                                                                                   \
    WORD T op##_##T(T a, T b, T c, u32 M)                                                                             \
    {                                                                                                                 \
        f32 x = IN(a, M), y = IN(b, M), z = IN(c, M);                                                                 \
        return OUT(V, M);                                                                                             \
    }                                                                                                                 \
    WORD T##x2 op##_##T##x2(T##x2 a, T##x2 b, T##x2 c, u32 M)                                                         \
    {                                                                                                                 \
        return (T##x2){ op##_##T((T){ (u16)a.v }, (T){ (u16)b.v }, (T){ (u16)c.v }, M).v |                            \
                        (u32)op##_##T((T){ (u16)(a.v >> 16) }, (T){ (u16)(b.v >> 16) }, (T){ (u16)(c.v >> 16) }, M).v \
                            << 16 };                                                                                  \
    }
#define HALF(n, op, vf, vb) HALF##n##_OF(op, f16, in_f16, out_f16, vf) HALF##n##_OF(op, bf16, in_bf16, out_bf16, vb)
#define OF_HALF(op, a) _Generic((a), f16 : op##_f16, f16x2 : op##_f16x2, bf16 : op##_bf16, bf16x2 : op##_bf16x2)

HALF(2, hadd, x + y, x + y)
HALF(2, hsub, x - y, x - y)
HALF(2, hmul, x *y, f32_odd((f64)x *y))
HALF(3, hfma, f32_odd((f64)x *y + z), f32_odd(sum_odd((f64)x *y, z)))
HALF(2, hmin, fmin_two(x, y, M), fmin_two(x, y, M))
HALF(2, hmax, fmax_two(x, y, M), fmax_two(x, y, M))

/* MUFU.TANH and .EX2 of halves: those of f32, cut off to the half, not rounded */
WORD u16 cut_f16(f32 x)
{
    u16 near = f16_near(x).v;
    return x == x && fabs_f32(f32_f16((f16){ near })) > fabs_f32(x) && fabs_f32(x) < 65536 ? near - 1 : near;
}
WORD u16 cut_bf16(f32 x) { return x == x ? bits_f32(x) >> 16 : 0x7fff; }
#define MUFU_HALF_OF(op, F, T)                                                                                \
    WORD T op##_##T(T a, u32 M)                                                                               \
    {                                                                                                         \
        (void)M;                                                                                              \
        return (T){ cut_##T(f32_bits(F(bits_f32(f32_##T(a))))) };                                             \
    }                                                                                                         \
    WORD T##x2 op##_##T##x2(T##x2 a, u32 M)                                                                   \
    {                                                                                                         \
        return (T##x2){ op##_##T((T){ (u16)a.v }, M).v | (u32)op##_##T((T){ (u16)(a.v >> 16) }, M).v << 16 }; \
    }
#define EX2_FTZ(a) EX2_APPROX(a, MOD_FTZ)
MUFU_HALF_OF(htanh, TANH_APPROX, f16)
MUFU_HALF_OF(htanh, TANH_APPROX, bf16)
MUFU_HALF_OF(hex2, EX2_FTZ, f16)
MUFU_HALF_OF(hex2, EX2_FTZ, bf16)
#define HADD(a, b) OF_HALF(hadd, a)(a, b, M)
#define HSUB(a, b) OF_HALF(hsub, a)(a, b, M)
#define HMUL(a, b) OF_HALF(hmul, a)(a, b, M)
#define HFMA(a, b, c) OF_HALF(hfma, a)(a, b, c, M)
#define HMIN(a, b) OF_HALF(hmin, a)(a, b, M & ~(MOD_SAT | MOD_RELU))
#define HMAX(a, b) OF_HALF(hmax, a)(a, b, M & ~(MOD_SAT | MOD_RELU))
#define HTANH(a) OF_HALF(htanh, a)(a, M)
#define HEX2(a) OF_HALF(hex2, a)(a, M)
/* abs and neg work on the sign bit alone, but every NaN becomes the canonical one; .ftz flushes first. */
#define SIGNS_OF(T, INF, FTZ)                                                                                        \
    WORD T flush_##T(T a, u32 M) { return FTZ && M & MOD_FTZ && !(a.v & 0x7c00) ? (T){ (u16)(a.v & 0x8000) } : a; }  \
    WORD T habs_##T(T a, u32 M) { return (T){ (u16)((a.v & 0x7fff) > INF ? 0x7fff : flush_##T(a, M).v & 0x7fff) }; } \
    WORD T hneg_##T(T a, u32 M) { return (T){ (u16)((a.v & 0x7fff) > INF ? 0x7fff : flush_##T(a, M).v ^ 0x8000) }; } \
    WORD T##x2 habs_##T##x2(T##x2 a, u32 M)                                                                          \
    {                                                                                                                \
        return (T##x2){ habs_##T((T){ (u16)a.v }, M).v | (u32)habs_##T((T){ (u16)(a.v >> 16) }, M).v << 16 };        \
    }                                                                                                                \
    WORD T##x2 hneg_##T##x2(T##x2 a, u32 M)                                                                          \
    {                                                                                                                \
        return (T##x2){ hneg_##T((T){ (u16)a.v }, M).v | (u32)hneg_##T((T){ (u16)(a.v >> 16) }, M).v << 16 };        \
    }
SIGNS_OF(f16, 0x7c00, 1)
SIGNS_OF(bf16, 0x7f80, 0)
#define HABS(a) OF_HALF(habs, a)(a, M)
#define HNEG(a) OF_HALF(hneg, a)(a, M)
/* fma.oob: a factor that is the NaN which marks what lies out of bounds makes the result zero; on an H200 that is
 * 0x7ff7 of either sign */
#define IS_OOB(x) (((x).v & 0x7fff) == 0x7ff7)
#define OOB_OF(T)                                                                                                     \
    WORD T hoob_##T(T a, T b, T c, u32 M) { return IS_OOB(a) || IS_OOB(b) ? (T){ 0 } : hfma_##T(a, b, c, M); }        \
    WORD T##x2 hoob_##T##x2(T##x2 a, T##x2 b, T##x2 c, u32 M)                                                         \
    {                                                                                                                 \
        return (T##x2){ hoob_##T((T){ (u16)a.v }, (T){ (u16)b.v }, (T){ (u16)c.v }, M).v |                            \
                        (u32)hoob_##T((T){ (u16)(a.v >> 16) }, (T){ (u16)(b.v >> 16) }, (T){ (u16)(c.v >> 16) }, M).v \
                            << 16 };                                                                                  \
    }
OOB_OF(f16)
OOB_OF(bf16)
#define HOOB(a, b, c) OF_HALF(hoob, a)(a, b, c, M)

/* ---- any small format, any rounding ---- */

/* The magnitude of x in a format of eb exponent and mb mantissa bits, as its bits; an overflow counts on past the
 * largest. Exact in integers, so that the host's rounding mode does not matter. .rs adds 16 random bits, those of M
 * above its own, to the upper 16 bits of what is cut off, and rounds away from zero when they carry (9.7.9.22). */
WORD u32 small_bits(f64 x, s32 eb, s32 mb, u32 M)
{
    u64 u = bits_f64(x), m = u & 0xfffffffffffffu;
    s32 e = (s32)(u >> 52 & 2047) - 1023, low = 2 - (1 << (eb - 1));
    if (e == -1023)
        e = -1022;
    else
        m |= 1ull << 52;
    s32 at = e > low ? e : low, drop = 52 - mb + (at - e), cut = drop < 79 ? drop - 16 : 63;
    if (drop > 62) drop = 62;
    u64 n = m >> drop, rest = m & ((1ull << drop) - 1), half = 1ull << (drop - 1), up;
    switch (ROUND_OF(M)) {
    case RND_RS: up = ((cut > 0 ? rest >> cut : rest << -cut) + (M >> 16)) >> 16; break;
    case RND_RZ: up = 0; break;
    case RND_RM: up = rest && u >> 63; break;
    case RND_RP: up = rest && !(u >> 63); break;
    case RND_RNA: up = rest >= half; break;
    default: up = rest > half || (rest == half && n & 1);
    }
    return (u32)((u64)(u32)(at - low) << mb) + (u32)(n + up);
}
WORD bool to_infinity(f64 x, enum isa_round round)
{
    return round == RND_RZ ? false : round == RND_RM ? x < 0 : round == RND_RP ? x > 0 : true;
}
/* IEEE-like formats with infinities: f16, bf16, tf32 (as the upper bits of its word), e5m2 */
WORD u32 small_ieee(f64 x, s32 eb, s32 mb, u32 M)
{
    u32 inf = ((1u << eb) - 1) << mb, sign = (u32)(bits_f64(x) >> 63) << (eb + mb), r;
    if (x != x) return M & MOD_SAT ? 0 : (1u << (eb + mb)) - 1;
    if (M & MOD_SAT) {
        x = x > 0 ? (x < 1 ? x : 1) : 0;
        sign = 0;
    }
    if (M & MOD_RELU && !(x > 0)) {
        x = 0;
        sign = 0;
    }
    if (fabs_f64(x) > 1e300)
        r = M & MOD_SATFINITE              ? inf - 1
            : fabs_f64(x) == (f64)INFINITY ? inf
            : to_infinity(x, ROUND_OF(M))  ? inf
                                           : inf - 1;
    else {
        r = small_bits(x, eb, mb, M);
        if (r >= inf) r = !(M & MOD_SATFINITE) && to_infinity(x, ROUND_OF(M)) ? inf : inf - 1;
    }
    return r | sign;
}
/* Formats without infinity: .satfinite; `top` is the largest finite, `nan` what a NaN becomes */
WORD u32 small_finite(f64 x, s32 eb, s32 mb, u32 top, u32 nan, u32 M)
{
    u32 sign = (u32)(bits_f64(x) >> 63) << (eb + mb), r;
    if (x != x) return nan;
    if (M & MOD_RELU && !(x > 0)) return 0;
    r = fabs_f64(x) > 1e300 ? top : small_bits(x, eb, mb, M);
    return (r > top ? top : r) | sign;
}
/* any integer or float as f64, exactly or to odd */
WORD f64 f64_u64(u64 x)
{
    u64 s = x >> 53 ? (x >> 11 | (x & 2047 ? 1 : 0)) : x;
    return x >> 53 ? (f64)s * 2048.0 : (f64)x;
}
WORD f64 f64_s64(s64 x) { return x < 0 ? -f64_u64(0 - (u64)x) : f64_u64((u64)x); }
WORD f64 f64_f16(f16 a) { return (f64)f32_f16(a); }
WORD f64 f64_bf16(bf16 a) { return (f64)f32_bf16(a); }
WORD f64 f64_u32(u32 x) { return x; }
WORD f64 f64_s32(s32 x) { return x; }
WORD f64 f64_f32(f32 x) { return x; }
WORD f64 f64_f64(f64 x) { return x; }
#define F64(a)               \
    _Generic((a), u8         \
             : f64_u32, s8   \
             : f64_s32, u16  \
             : f64_u32, s16  \
             : f64_s32, u32  \
             : f64_u32, s32  \
             : f64_s32, u64  \
             : f64_u64, s64  \
             : f64_s64, f16  \
             : f64_f16, bf16 \
             : f64_bf16, f32 \
             : f64_f32, f64  \
             : f64_f64)(a)
WORD f16 to_f16(f64 x, u32 M) { return (f16){ (u16)small_ieee(x, 5, 10, M) }; }
WORD bf16 to_bf16(f64 x, u32 M) { return (bf16){ (u16)small_ieee(x, 8, 7, M) }; }
/* From f64 a NaN keeps its sign and the upper part of its payload. */
WORD f16 d_to_f16(f64 x, u32 M)
{
    return x == x || M & MOD_SAT ? to_f16(x, M)
                                 : (f16){ (u16)((bits_f64(x) >> 48 & 0x8000) | 0x7e00 | (bits_f64(x) >> 42 & 0x1ff)) };
}
WORD bf16 d_to_bf16(f64 x, u32 M)
{
    return x == x || M & MOD_SAT ? to_bf16(x, M)
                                 : (bf16){ (u16)((bits_f64(x) >> 48 & 0x8000) | 0x7fc0 | (bits_f64(x) >> 45 & 0x3f)) };
}
#define NARROW_HALF(x) _Generic((D){ 0 }, f16 : d_to_f16, bf16 : d_to_bf16)(x, M)
/* bf16 is the upper half of an f32: a NaN is moved as it is. */
WORD kept up_bf16(bf16 a, u32 M)
{
    f32 x = f32_bits((u32)a.v << 16);
    return (kept){ M & (MOD_FTZ | MOD_SAT) ? nan_f32(x) : x };
}
WORD f32 up_f16(f16 a, u32 M)
{
    (void)M;
    return (f32)F64(a);
}
WORD f64 up_wide_f16(f16 a, u32 M)
{
    (void)M;
    return F64(a);
}
WORD f64 up_wide_bf16(bf16 a, u32 M)
{
    (void)M;
    return F64(a);
}
#define UP(a)                               \
    _Generic((D)0, f32                      \
             : _Generic((a), f16            \
                        : up_f16, bf16      \
                        : up_bf16),         \
               f64                          \
             : _Generic((a), f16            \
                        : up_wide_f16, bf16 \
                        : up_wide_bf16))(a, M)
#define TO_HALF(x) _Generic((D){ 0 }, f16 : to_f16, bf16 : to_bf16)(x, M)
#define NEAR(a) _Generic((D){ 0 }, f16 : f16_near, bf16 : bf16_near)(a)
WORD f16x2 pair_f16(f32 a, f32 b, u32 M) { return (f16x2){ to_f16(b, M).v | (u32)to_f16(a, M).v << 16 }; }
WORD bf16x2 pair_bf16(f32 a, f32 b, u32 M) { return (bf16x2){ to_bf16(b, M).v | (u32)to_bf16(a, M).v << 16 }; }
WORD f16x2 near2_f16(f32 a, f32 b) { return (f16x2){ f16_near(b).v | (u32)f16_near(a).v << 16 }; }
WORD bf16x2 near2_bf16(f32 a, f32 b) { return (bf16x2){ bf16_near(b).v | (u32)bf16_near(a).v << 16 }; }
#define PAIR(a, b) _Generic((D){ 0 }, f16x2 : pair_f16, bf16x2 : pair_bf16)(a, b, M)
#define NEAR2(a, b) _Generic((D){ 0 }, f16x2 : near2_f16, bf16x2 : near2_bf16)(a, b)
/* tf32: 10 mantissa bits of an f32, the rest zero; .rn .rz .rna */
/* NaN: the canonical one without its low bits; .rna rounds nothing, it cuts, and with .satfinite takes one more off
 * (an H200). */
WORD u32 tf32_nan(u32 a, u32 M)
{
    return ROUND_OF(M) != RND_RNA ? 0x7fffe000u : (a & 0xffffe000u) - (M & MOD_SATFINITE ? 0x2000 : 0);
}
WORD u32 TF32(f32 a, u32 M) { return a != a ? tf32_nan(bits_f32(a), M) : small_ieee(a, 8, 10, M) << 13; }

WORD u32 e4m3_of(f64 x, u32 M) { return small_finite(x, 4, 3, 0x7e, 0x7f, M); }
WORD u32 e5m2_of(f64 x, u32 M) { return x != x ? 0x7f : small_ieee(x, 5, 2, M | MOD_SATFINITE); }
WORD u32 e2m3_of(f64 x, u32 M) { return small_finite(x, 2, 3, 0x1f, 0x1f, M); }
WORD u32 e3m2_of(f64 x, u32 M) { return small_finite(x, 3, 2, 0x1f, 0x1f, M); }
WORD u32 e2m1_of(f64 x, u32 M) { return small_finite(x, 2, 1, 7, 7, M); }
/* a power of two, .rz or .rp; NaN is 255, and nothing is below 2^-127 */
WORD u32 ue8m0_of(f64 x, u32 M)
{
    if (x != x) return 255;
    u64 u = bits_f64(fabs_f64(x));
    s32 e = (s32)(u >> 52) - 1023 + (ROUND_OF(M) == RND_RP && u & 0xfffffffffffffu);
    return e > 127 ? (M & MOD_SATFINITE ? 254 : 255) : e < -127 ? 0 : (u32)(e + 127);
}
#define SMALL2(T, bits) \
    WORD T##x2 T##_pair(f64 a, f64 b, u32 M) { return (T##x2){ (u16)(T##_of(b, M) | T##_of(a, M) << bits) }; }
SMALL2(e4m3, 8)
SMALL2(e5m2, 8)
SMALL2(e2m3, 8)
SMALL2(e3m2, 8)
SMALL2(e2m1, 4)
SMALL2(ue8m0, 8)
#define SMALL_PAIR(a, b)          \
    _Generic((D){ 0 }, e4m3x2     \
             : e4m3_pair, e5m2x2  \
             : e5m2_pair, e2m3x2  \
             : e2m3_pair, e3m2x2  \
             : e3m2_pair, e2m1x2  \
             : e2m1_pair, ue8m0x2 \
             : ue8m0_pair)(a, b, M)
#define HI16(a) F64(_Generic((a), f16x2 : (f16){ (u16)((a).v >> 16) }, bf16x2 : (bf16){ (u16)((a).v >> 16) }))
#define LO16(a) F64(_Generic((a), f16x2 : (f16){ (u16)(a).v }, bf16x2 : (bf16){ (u16)(a).v }))

/* .rs of two: 13 random bits for f16, 16 for bf16, those of a in the upper half of r */
#define RS_IN(M, bits) ((M) | (u32)(bits) << 16)
WORD f16x2 rs_f16(f32 a, f32 b, u32 r, u32 M)
{
    return (f16x2){ to_f16(b, RS_IN(M, (r & 0x1fff) << 3)).v | (u32)to_f16(a, RS_IN(M, (r >> 16 & 0x1fff) << 3)).v
                                                                   << 16 };
}
WORD bf16x2 rs_bf16(f32 a, f32 b, u32 r, u32 M)
{
    return (bf16x2){ to_bf16(b, RS_IN(M, r & 0xffff)).v | (u32)to_bf16(a, RS_IN(M, r >> 16)).v << 16 };
}
#define PAIR_RS(a, b, r) _Generic((D){ 0 }, f16x2 : rs_f16, bf16x2 : rs_bf16)(a, b, r, M)
/* .rs of four, two at a time: the upper two when `upper`, with the random bits that the manual gives them */
WORD u32 rs_bits(u32 r, u32 upper) { return upper ? r >> 16 : r & 0xffff; }
WORD u32 rs_bits4(u32 r, u32 upper)
{
    return upper ? (r >> 24) << 8 | (r >> 8 & 255) : (r >> 16 & 255) << 8 | (r & 255);
}
#define FOUR_RS(T, bits, pick) \
    ((T##_of(b, RS_IN(M, pick(c, e))) | T##_of(a, RS_IN(M, pick(c, e))) << bits) << (SEL(e, 2, 0) * bits))

/* and back: exact in f16 */
WORD f64 small_value(u32 u, s32 eb, s32 mb)
{
    s32 e = (s32)(u >> mb & ((1u << eb) - 1)), bias = (1 << (eb - 1)) - 1, m = (s32)(u & ((1u << mb) - 1));
    f64 v = __builtin_ldexp((f64)(e ? m + (1 << mb) : m), (e ? e : 1) - bias - mb);
    return u >> (eb + mb) & 1 ? -v : v;
}
WORD f64 value_e4m3(u32 u) { return (u & 0x7f) == 0x7f ? (f64)NAN : small_value(u, 4, 3); }
WORD f64 value_e5m2(u32 u)
{
    return (u & 0x7c) != 0x7c ? small_value(u, 5, 2) : u & 3 ? (f64)NAN : u & 0x80 ? -(f64)INFINITY : (f64)INFINITY;
}
WORD f64 value_e2m3(u32 u) { return small_value(u & 63, 2, 3); }
WORD f64 value_e3m2(u32 u) { return small_value(u & 63, 3, 2); }
WORD f64 value_e2m1(u32 u) { return small_value(u & 15, 2, 1); }
#define UNPACK_OF(T, bits)                                                                                      \
    WORD f16x2 unpack_##T(T##x2 a, u32 M)                                                                       \
    {                                                                                                           \
        u32 k = (1u << bits) - 1;                                                                               \
        return (f16x2){ to_f16(value_##T(a.v & k), M).v | (u32)to_f16(value_##T(a.v >> bits & k), M).v << 16 }; \
    }
UNPACK_OF(e4m3, 8)
UNPACK_OF(e5m2, 8)
UNPACK_OF(e2m3, 8)
UNPACK_OF(e3m2, 8)
UNPACK_OF(e2m1, 4)
#define UNPACK(a)                  \
    _Generic((a), e4m3x2           \
             : unpack_e4m3, e5m2x2 \
             : unpack_e5m2, e2m3x2 \
             : unpack_e2m3, e3m2x2 \
             : unpack_e3m2, e2m1x2 \
             : unpack_e2m1)(a, M)
WORD u32 bf16_ue8m0(u32 u) { return u == 255 ? 0x7fff : u ? u << 7 : 0x40; }
#define UNPACK_UE8M0(a) ((bf16x2){ bf16_ue8m0((a).v & 255) | bf16_ue8m0((a).v >> 8) << 16 })

/* cvt between integers with .sat, and cvt.pack */
#define SAT_TO_OF(D, LO, HI) \
    WORD D sat_##D(__int128 x) { return x < (LO) ? (D)(LO) : x > (HI) ? (D)(HI) : (D)x; }
SAT_TO_OF(u8, 0, 255)
SAT_TO_OF(s8, -128, 127)
SAT_TO_OF(u16, 0, 65535)
SAT_TO_OF(s16, -32768, 32767)
SAT_TO_OF(u32, 0, UINT32_MAX)
SAT_TO_OF(s32, INT32_MIN, INT32_MAX)
SAT_TO_OF(u64, 0, UINT64_MAX)
SAT_TO_OF(s64, INT64_MIN, INT64_MAX)
#define SATURATE(a)         \
    _Generic((D)0, u8       \
             : sat_u8, s8   \
             : sat_s8, u16  \
             : sat_u16, s16 \
             : sat_s16, u32 \
             : sat_u32, s32 \
             : sat_s32, u64 \
             : sat_u64, s64 \
             : sat_s64)(a)
WORD u32 clamp_to(s32 x, s32 lo, s32 hi, u32 bits) { return (u32)(x < lo ? lo : x > hi ? hi : x) & ((1u << bits) - 1); }
#define PACK(a, b, c, bits, lo, hi) \
    (clamp_to(b, lo, hi, bits) | clamp_to(a, lo, hi, bits) << bits | (u32)((u64)(c) << 2 * bits))
#endif
