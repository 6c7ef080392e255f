/* Words for the approximations (.approx, div.full): an H200's special function unit, MUFU, bit for bit, and what
 * ptxas puts around it.
 *
 * MUFU is one interpolator for all functions. An argument becomes a point: the number of a segment and 17 bits x that
 * say where in it. The value is c0 + k1 x + k2 s(x) in integers, with the three coefficients of that segment
 * (mufu_rom.c); it is cut off to the 24 bits of the result, never rounded. s is x squared as cheaply as silicon does
 * it: a multiplier folded along its diagonal, of which the columns below 19 are missing, their carries too. All this
 * was found from results (tests/truth/fit.py); that it leaves no exception among all 2^32 inputs of a form is what
 * the records say (docs/measured/truth.md).
 *
 * Values are the bits of an f32 throughout. MUFU flushes subnormals, in and out. Most arguments need none of what
 * ptxas does about subnormal and huge ones, nor of what MUFU does about infinities and the like: they take the short
 * way of a word, the others its `rare` one, out of line. */
#ifndef LOCKSTEP_ISA_WORDS_MUFU_H
#define LOCKSTEP_ISA_WORDS_MUFU_H
#include "isa/mufu.h"

#define RARE static __attribute__((noinline, cold, unused))
enum { MAG = 0x7fffffff, INF = 0x7f800000, ONE = 0x3f800000, X_BITS = 17, X_MASK = (1 << X_BITS) - 1 };

/* The square from the upper 12 bits of x, and what bits 4 to 2 add, which depends on the upper three. */
WORD s64 mufu_at(const struct mufu_row *rom, u32 point)
{
    const struct mufu_row *row = &rom[point >> X_BITS];
    u32 x = point & X_MASK, square = mufu_square[x >> 5] + mufu_square_low[x >> 14 << 3 | (x >> 2 & 7)];
    return row->c0 + (s64)row->k1 * (s32)x + (s64)row->k2 * (s32)square;
}
WORD u32 result_at(const struct mufu_row *rom, u32 point) { return (u32)(mufu_at(rom, point) >> 17); }
WORD u32 exponent_of(u32 a) { return a >> 23 & 255; }
WORD u32 sign_of(u32 a) { return a & 0x80000000u; }
WORD u32 times(u32 a, f32 b) { return bits_f32(f32_bits(a) * b); }
/* n units, n below 2^52, cut off to 24 bits */
WORD u32 cut_f32(s64 n, f64 unit) { return bits_f32((f32)(f64_bits(bits_f64((f64)n) & ~0x1fffffffull) * unit)); }

/* ---- MUFU.RCP, and rcp.approx: without .ftz it is scaled by 2^24 or 1/4, before and after ---- */
/* the sign goes along */
WORD u32 rcp_normal(u32 a) { return result_at(mufu_rcp, a << 1 & 0xffffff) - (a & 0xff800000u); }
WORD bool rcp_is_normal(u32 a) { return (a << 1) - (1u << 24) < 252u << 24; }
RARE u32 mufu_rcp_of(u32 a)
{
    if ((a & MAG) > INF) return MAG;
    if (exponent_of(a) == 0) return INF | sign_of(a);
    u32 r = rcp_normal(a) & MAG; /* of the two highest exponents all but 2^126 comes out below 2^-126 */
    return (exponent_of(a) < 253 || (a & MAG) == 0x7e800000 ? r : 0) | sign_of(a);
}
RARE u32 rcp_rare(u32 a, u32 M)
{
    f32 s = M & MOD_FTZ ? 1 : exponent_of(a) == 0 ? 0x1p24f : (a & MAG) > 0x7e800000 ? 0.25f : 1;
    return bits_f32(nan_f32(f32_bits(mufu_rcp_of(times(a, s))) * s));
}
WORD u32 RCP_APPROX(u32 a, u32 M) { return likely(rcp_is_normal(a)) ? rcp_normal(a) : rcp_rare(a, M); }

/* ---- division: a times the reciprocal of b, both scaled; div.full is scaled by large divisors too, with .ftz as
 * well ---- */
WORD u32 div_out(u32 a, u32 r, u32 M)
{
    f32 x = fin_f32(f32_bits(a), M);
    return bits_f32(M & MOD_FTZ ? fout_f32(mul_ftz(x, f32_bits(r)), M) : nan_f32(x * f32_bits(r)));
}
RARE u32 div_rare(u32 a, u32 b, u32 M, bool full)
{
    f32 s = exponent_of(b) == 0 && !(M & MOD_FTZ) ? 0x1p24f : full && (b & MAG) > 0x7e800000 ? 0.25f : 1;
    return div_out(bits_f32(mul_f32(fin_f32(f32_bits(a), M), s, M & MOD_FTZ)), mufu_rcp_of(times(b, s)), M);
}
WORD u32 DIV_APPROX(u32 a, u32 b, u32 M)
{
    return likely(rcp_is_normal(b)) ? div_out(a, rcp_normal(b), M) : div_rare(a, b, M, false);
}
WORD u32 DIV_FULL(u32 a, u32 b, u32 M)
{
    return likely(rcp_is_normal(b)) ? div_out(a, rcp_normal(b), M) : div_rare(a, b, M, true);
}

/* ---- MUFU.SQRT, .RSQ: two binades make a period; an odd exponent (biased: an even one) takes the second half of the
 * table. The reciprocal root of a power of 4 is exact, for which the table is one too low. Without .ftz subnormals
 * are scaled by 2^24, and back by its root. ---- */
WORD u32 root_point(u32 a) { return (a & 0xffffff) ^ 0x800000; }
WORD u32 root_exponent(u32 a) { return (a + (1u << 23)) >> 1 & 0xff800000u; }
WORD u32 sqrt_normal(u32 a) { return result_at(mufu_sqrt, root_point(a)) + root_exponent(a); }
WORD u32 rsqrt_normal(u32 a) { return result_at(mufu_rsqrt, root_point(a)) + (root_point(a) == 0) - root_exponent(a); }
WORD bool is_normal_positive(u32 a) { return a - (1u << 23) < (254u << 23); }
RARE u32 sqrt_rare(u32 a, u32 M)
{
    if (exponent_of(a) == 0 && !(M & MOD_FTZ) && a << 1 && !sign_of(a))
        return times(sqrt_normal(times(a, 0x1p24f)), 0x1p-12f);
    return exponent_of(a) == 0 && (M & MOD_FTZ || a << 1 == 0) ? sign_of(a) : a == INF ? INF : MAG;
}
RARE u32 rsqrt_rare(u32 a, u32 M)
{
    if (exponent_of(a) == 0 && !(M & MOD_FTZ) && a << 1 && !sign_of(a))
        return times(rsqrt_normal(times(a, 0x1p24f)), 0x1p12f);
    return exponent_of(a) == 0 && (M & MOD_FTZ || a << 1 == 0) ? sign_of(a) | INF : a == INF ? 0 : MAG;
}
WORD u32 SQRT_APPROX(u32 a, u32 M) { return likely(is_normal_positive(a)) ? sqrt_normal(a) : sqrt_rare(a, M); }
WORD u32 RSQRT_APPROX(u32 a, u32 M) { return likely(is_normal_positive(a)) ? rsqrt_normal(a) : rsqrt_rare(a, M); }

/* ---- MUFU.EX2: the argument with 23 bits after the point, the rest cut off; minus is not (ones' complement) unless
 * nothing is after the point. Without .ftz, below -126, the square of 2^(a/2). ---- */
WORD u32 ex2_normal(u32 a) /* magnitude below 160; wrong where the exponent leaves its range */
{
    s32 f = (s32)(f32_bits(a) * 0x1p23f);
    f -= (f < 0) & ((f & 0x7fffff) != 0);
    return result_at(mufu_ex2, (u32)f & 0x7fffff) + ((u32)f & 0xff800000u);
}
RARE u32 mufu_ex2_of(u32 a)
{
    if ((a & MAG) > INF) return MAG;
    if (f32_bits(a) >= 128) return INF;
    return f32_bits(a) >= -126 ? ex2_normal(a) : 0;
}
RARE u32 ex2_rare(u32 a, u32 M)
{
    if (M & MOD_FTZ || !(f32_bits(a) < -126)) return mufu_ex2_of(a);
    u32 half = mufu_ex2_of(times(a, 0.5f));
    return times(half, f32_bits(half));
}
WORD u32 EX2_APPROX(u32 a, u32 M) { return likely((a & MAG) < 0x42fc0000) ? ex2_normal(a) : ex2_rare(a, M); }

/* ---- MUFU.LG2: exponent and sum make a number with 36 bits after the point, again with ones' complement; of 1 it
 * is 0. Without .ftz subnormals are scaled by 2^24. ---- */
WORD u32 lg2_normal(u32 a)
{
    s64 v = ((s64)exponent_of(a) - 127) * (1ll << 36) + (mufu_at(mufu_lg2, a & 0x7fffff) >> 4), minus = v >> 63;
    u32 r = cut_f32(v ^ minus, 0x1p-36) | sign_of((u32)minus);
    return a == ONE ? 0 : r;
}
RARE u32 lg2_rare(u32 a, u32 M)
{
    if (exponent_of(a) == 0 && (M & MOD_FTZ || a << 1 == 0)) return INF | 0x80000000u;
    if (sign_of(a) || a > INF) return MAG;
    return a == INF ? INF : bits_f32(f32_bits(lg2_normal(times(a, 0x1p24f))) - 24);
}
WORD u32 LG2_APPROX(u32 a, u32 M) { return likely(is_normal_positive(a)) ? lg2_normal(a) : lg2_rare(a, M); }

/* ---- sin and cos are FMUL.RZ by 1 / 2 pi, then MUFU, which sees 25 bits of the fraction of a turn: two name the
 * quarter, which is walked backwards where it is odd. So arguments from 2^27 on are whole turns. ---- */
WORD u32 turn_of(u32 a)
{
    f64 product = (f64)f32_bits(a & MAG) * (f64)0.15915493667f;
    f32 t = (f32)f64_bits(bits_f64(product) & ~0x1fffffffull), c = t < 0x1p24f ? t : 0;
    return (u32)(s32)((c - (f32)(s32)c) * 0x1p25f);
}
WORD u32 quarter_of(u32 a, u32 turn, u32 sign)
{
    u32 r = cut_f32(mufu_at(mufu_sin, (turn ^ (0u - (turn >> 23 & 1))) & 0x7fffff), 0x1p-37);
    r = (r > ONE ? ONE : r) | sign_of(sign ^ turn << 7);
    return (a & MAG) >= INF ? MAG : r;
}
WORD u32 SIN_APPROX(u32 a) { return quarter_of(a, turn_of(a), a); }
WORD u32 COS_APPROX(u32 a) { return quarter_of(a, turn_of(a) + (1u << 23), 0); }

/* ---- MUFU.TANH: itself below 2^-8, 1 from 8 on; between, each binade has as many segments as it needs ---- */
WORD u32 tanh_normal(u32 a)
{
    static const u8 first[16] = { 0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43 },
                    bits[16] = { 0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3 };
    u32 binade = exponent_of(a) - 119;
    return cut_f32(mufu_at(mufu_tanh, ((u32)first[binade] << X_BITS) + ((a & 0x7fffff) >> (6 - bits[binade]))),
                   0x1p-39) |
           sign_of(a);
}
WORD u32 TANH_APPROX(u32 a)
{
    u32 m = a & MAG;
    return likely(exponent_of(a) - 119 < 11) ? tanh_normal(a) : m > INF ? MAG : m < ONE ? a : ONE | sign_of(a);
}

/* ---- f64: MUFU.RCP64H and .RSQ64H see the upper word of a alone, infinity or not a number by that, and give that of
 * the result (9.7.3.13, 9.7.3.17), as the f32 functions do with 20 bits of mantissa ---- */
WORD f64 upper_f64(u32 upper) { return f64_bits((u64)upper << 32); }
WORD f64 RCP64(f64 a)
{
    u32 u = (u32)(bits_f64(a) >> 32), e = u >> 20 & 2047;
    s32 r = (s32)(result_at(mufu_rcp, (u & 0xfffff) << 4) >> 3) + (2045 - 253 - (s32)e) * (1 << 20);
    r = e == 0 ? 0x7ff00000 : r < 1 << 20 ? 0 : r;
    return upper_f64((u & MAG) > 0x7ff00000 ? MAG : (u32)r | sign_of(u));
}
WORD f64 RSQRT64(f64 a)
{
    u32 u = (u32)(bits_f64(a) >> 32), e = u >> 20 & 2047, point = ((u & 0x1fffff) ^ 0x100000) << 3;
    u32 r = ((result_at(mufu_rsqrt, point) + (point == 0)) >> 3) + (1534 - 190 - ((e + 1) >> 1)) * (1u << 20);
    r = e == 2047 ? 0 : r;
    r = u > 0x7ff00000 ? MAG : r;
    return upper_f64(e == 0 ? sign_of(u) | 0x7ff00000 : r);
}
/* rsqrt.approx.f64 is one step of Halley's from there, in its words; subnormals are scaled by 2^54 */
WORD f64 rsqrt_step(f64 a)
{
    f64 y = RSQRT64(a), e = __builtin_fma(a, -(y * y), 1);
    return __builtin_fma(__builtin_fma(e, 0.375, 0.5), y * e, y);
}
RARE f64 rsqrt_f64_rare(f64 a)
{
    if (a == 0) return f64_bits(bits_f64(a) | 0x7ff0000000000000u);
    if (a != a) return quiet_f64(a);
    return a < 0 ? f64_bits(0xfff8000000000000u) : a == __builtin_inf() ? 0 : rsqrt_step(a * 0x1p54) * 0x1p27;
}
WORD f64 RSQRT_F64(f64 a)
{
    return likely(bits_f64(a) - (1ull << 52) < 2046ull << 52) ? rsqrt_step(a) : rsqrt_f64_rare(a);
}
#endif
