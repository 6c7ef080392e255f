/* The words that values in isa.def are written in, in their scalar spelling. Each is total: defined for every input, as the
 * PTX manual or, where that leaves it open, the silicon defines it. */
#ifndef LOCKSTEP_ISA_WORDS_H
#define LOCKSTEP_ISA_WORDS_H
#include <math.h>
#include "isa/expand.h"

#define SEL(c, x, y) ((c) ? (x) : (y))
#define WORD static inline __attribute__((always_inline))

/* ---- integers ---- */
WORD s32 SATURATE32(s64 x) { return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (s32)x; }

WORD u16 mulhi_u16(u16 a, u16 b) { return (u16)((u32)a * b >> 16); }
WORD s16 mulhi_s16(s16 a, s16 b) { return (s16)((s32)a * b >> 16); }
WORD u32 mulhi_u32(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
WORD s32 mulhi_s32(s32 a, s32 b) { return (s32)((s64)a * b >> 32); }
WORD u64 mulhi_u64(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }
WORD s64 mulhi_s64(s64 a, s64 b) { return (s64)((__int128)a * b >> 64); }
#define MULHI(a, b) _Generic((a), u16: mulhi_u16, s16: mulhi_s16, u32: mulhi_u32, s32: mulhi_s32, u64: mulhi_u64, s64: mulhi_s64)(a, b)

/* Division by zero yields all ones, the remainder then is the dividend; the manual leaves both open. */
#define DIVREM_U(T) \
    WORD T div_##T(T a, T b) { return b ? a / b : (T)~(T)0; } \
    WORD T rem_##T(T a, T b) { return b ? a % b : a; }
#define DIVREM_S(T, U) \
    WORD T div_##T(T a, T b) { return b == 0 ? (T)-1 : b == -1 ? (T)(0 - (U)a) : a / b; } \
    WORD T rem_##T(T a, T b) { return b == 0 ? a : b == -1 ? 0 : a % b; }
DIVREM_U(u16) DIVREM_U(u32) DIVREM_U(u64) DIVREM_S(s16, u32) DIVREM_S(s32, u32) DIVREM_S(s64, u64)
#define DIV(a, b) _Generic((a), u16: div_u16, s16: div_s16, u32: div_u32, s32: div_s32, u64: div_u64, s64: div_s64)(a, b)
#define REM(a, b) _Generic((a), u16: rem_u16, s16: rem_s16, u32: rem_u32, s32: rem_s32, u64: rem_u64, s64: rem_s64)(a, b)

#define POPC(a) ((u32)__builtin_popcountll((u64)(a)))
WORD u32 clz_u32(u32 x) { return x ? (u32)__builtin_clz(x) : 32; }
WORD u32 clz_u64(u64 x) { return x ? (u32)__builtin_clzll(x) : 64; }
#define CLZ(a) _Generic((a), u32: clz_u32, u64: clz_u64)(a)
WORD u32 brev_u32(u32 x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
WORD u64 brev_u64(u64 x) { return (u64)brev_u32((u32)x) << 32 | brev_u32((u32)(x >> 32)); }
#define BREV(a) _Generic((a), u32: brev_u32, u64: brev_u64)(a)
WORD u32 bfind_u32(u32 x) { return x ? 31u - (u32)__builtin_clz(x) : ~0u; }
WORD u32 bfind_s32(s32 x) { return bfind_u32((u32)(x < 0 ? ~x : x)); }
WORD u32 bfind_u64(u64 x) { return x ? 63u - (u32)__builtin_clzll(x) : ~0u; }
WORD u32 bfind_s64(s64 x) { return bfind_u64((u64)(x < 0 ? ~x : x)); }
#define BFIND(a) _Generic((a), u32: bfind_u32, s32: bfind_s32, u64: bfind_u64, s64: bfind_s64)(a)
/* 9.7.1.19: position and length are the low 8 bits; a signed field that reaches past the top repeats the sign bit. */
#define BFE_OF(T, U, N, SIGNED) \
    WORD T bfe_##T(T a, T pb, T pc) \
    { \
        u32 pos = (u32)pb & 255, len = (u32)pc & 255, top = pos + len < N ? pos + len : N; \
        if (len == 0 || pos >= N) return (T)(SIGNED && len && (U)a >> (N - 1) ? ~(U)0 : 0); \
        return (T)((T)((U)a << (N - top)) >> (N - (top - pos))); \
    }
BFE_OF(u32, u32, 32, 0) BFE_OF(s32, u32, 32, 1) BFE_OF(u64, u64, 64, 0) BFE_OF(s64, u64, 64, 1)
#define BFE(a, b, c) _Generic((a), u32: bfe_u32, s32: bfe_s32, u64: bfe_u64, s64: bfe_s64)(a, b, c)

#define BFIND_SHIFT(a) ((u32)SEL(BFIND(a) == ~0u, ~0u, (u32)(8 * sizeof(T) - 1) - BFIND(a)))
#define BFI_OF(T, N) \
    WORD T bfi_##T(T a, T b, u32 pos, u32 len) \
    { \
        pos &= 255; len &= 255; \
        if (pos >= N || !len) return b; \
        T ones = len >= N ? ~(T)0 : ((T)1 << len) - 1; \
        return (b & ~(ones << pos)) | ((a & ones) << pos); \
    }
BFI_OF(u32, 32) BFI_OF(u64, 64)
#define BFI(a, b, c, e) _Generic((a), u32: bfi_u32, u64: bfi_u64)(a, b, c, e)
/* Bit i of the table is the result for (a, b, c) = bits of i. */
#define LUT_TERM(n, x) (SEL((e) >> n & 1, ~0u, 0u) & (x))
#define LOP3(a, b, c, e) (LUT_TERM(0, ~(a) & ~(b) & ~(c)) | LUT_TERM(1, ~(a) & ~(b) & (c)) | LUT_TERM(2, ~(a) & (b) & ~(c)) | LUT_TERM(3, ~(a) & (b) & (c)) \
    | LUT_TERM(4, (a) & ~(b) & ~(c)) | LUT_TERM(5, (a) & ~(b) & (c)) | LUT_TERM(6, (a) & (b) & ~(c)) | LUT_TERM(7, (a) & (b) & (c)))
/* Each nibble of c picks a byte of b:a, or repeats its sign. */
WORD u32 PRMT(u32 a, u32 b, u32 c)
{
    u64 all = (u64)b << 32 | a;
    u32 r = 0;
    for (u32 k = 0; k < 4; k++) {
        u32 s = c >> 4 * k, byte = (u32)(all >> 8 * (s & 7)) & 255;
        r |= (s & 8 ? (byte & 128 ? 255 : 0) : byte) << 8 * k;
    }
    return r;
}
#define SHF_L(a, b, n) ((u32)((((u64)(b) << 32 | (a)) << (n)) >> 32))
#define SHF_R(a, b, n) ((u32)(((u64)(b) << 32 | (a)) >> (n)))

/* ---- floating point ---- */
WORD u32 bits_f32(f32 x) { u32 u; memcpy(&u, &x, 4); return u; }
WORD f32 f32_bits(u32 u) { f32 x; memcpy(&x, &u, 4); return x; }
WORD u64 bits_f64(f64 x) { u64 u; memcpy(&u, &x, 8); return u; }
WORD f64 f64_bits(u64 u) { f64 x; memcpy(&x, &u, 8); return x; }

#define FMA(a, b, c) _Generic((a), f32: __builtin_fmaf, f64: __builtin_fma)(a, b, c)
#define SQRT(a) _Generic((a), f32: __builtin_sqrtf, f64: __builtin_sqrt)(a)
WORD f32 fabs_f32(f32 a) { return f32_bits(bits_f32(a) & 0x7fffffffu); }
WORD f64 fabs_f64(f64 a) { return f64_bits(bits_f64(a) & 0x7fffffffffffffffu); }
WORD f32 fneg_f32(f32 a) { return f32_bits(bits_f32(a) ^ 0x80000000u); }
WORD f64 fneg_f64(f64 a) { return f64_bits(bits_f64(a) ^ 0x8000000000000000u); }
#define FABS(a) _Generic((a), f32: fabs_f32, f64: fabs_f64)(a)
#define FNEG(a) _Generic((a), f32: fneg_f32, f64: fneg_f64)(a)

/* One NaN loses to a number; -0 is less than +0 (9.7.3.11). */
#define FMINMAX(T, B) \
    WORD T fmin_##T(T a, T b) { return a != a ? b : b != b ? a : a < b ? a : b < a ? b : bits_##T(a) >> (B - 1) ? a : b; } \
    WORD T fmax_##T(T a, T b) { return a != a ? b : b != b ? a : a > b ? a : b > a ? b : bits_##T(a) >> (B - 1) ? b : a; }
FMINMAX(f32, 32) FMINMAX(f64, 64)
#define FMIN(a, b) _Generic((a), f32: fmin_f32, f64: fmin_f64)(a, b)
#define FMAX(a, b) _Generic((a), f32: fmax_f32, f64: fmax_f64)(a, b)

/* .ftz: a subnormal is a zero of its sign. .sat: clamp to [0, 1], NaN to +0. Every f32 NaN that arithmetic makes is 0x7fffffff. */
WORD f32 ftz_f32(f32 a) { return fabs_f32(a) < 0x1p-126f ? f32_bits(bits_f32(a) & 0x80000000u) : a; }
WORD f32 FSAT(f32 a) { return a > 0 ? (a < 1 ? a : 1) : 0; }
WORD f32 nan_f32(f32 a) { return a == a ? a : f32_bits(0x7fffffffu); }
WORD f64 nan_f64(f64 a) { return a; }
WORD f64 ftz_f64(f64 a) { return a; }

/* Rounding to an integral value; a float that holds one stays itself. */
#define TRUNC(a) _Generic((a), f32: __builtin_truncf, f64: __builtin_trunc)(a)
#define FLOOR(a) _Generic((a), f32: __builtin_floorf, f64: __builtin_floor)(a)
#define CEIL(a) _Generic((a), f32: __builtin_ceilf, f64: __builtin_ceil)(a)
#define NEAREST(a) _Generic((a), f32: __builtin_rintf, f64: __builtin_rint)(a)
/* Conversion to an integer saturates. NaN becomes 0, but for a 64-bit destination 0x8000000000000000 (9.7.9.22). */
#define TO_INT_OF(D, LO, HI, NAN_VALUE) WORD D to_##D(f64 x) { return x != x ? (D)(NAN_VALUE) : x <= (f64)(LO) ? (D)(LO) : x >= (f64)(HI) ? (D)(HI) : (D)x; }
TO_INT_OF(u8, 0, 255, 0) TO_INT_OF(s8, -128, 127, 0) TO_INT_OF(u16, 0, 65535, 0) TO_INT_OF(s16, -32768, 32767, 0)
TO_INT_OF(u32, 0, UINT32_MAX, 0) TO_INT_OF(s32, INT32_MIN, INT32_MAX, 0)
TO_INT_OF(u64, 0, UINT64_MAX, 1ull << 63) TO_INT_OF(s64, INT64_MIN, INT64_MAX, 1ull << 63)
#define TO_INT(a, ROUND) _Generic((D)0, u8: to_u8, s8: to_s8, u16: to_u16, s16: to_s16, u32: to_u32, s32: to_s32, u64: to_u64, s64: to_s64)(ROUND(a))

/* 2^x: nearest integer n and a polynomial on [-1/2, 1/2]; within 2 ulp. */
WORD f32 EX2(f32 x)
{
    f32 c = x < -152.f ? -152.f : x > 130.f ? 130.f : x;
    f32 t = c + 12582912.f, n = t - 12582912.f, f = c - n;
    f32 p = 1.53531161e-4f;
    p = __builtin_fmaf(p, f, 1.33988120e-3f);
    p = __builtin_fmaf(p, f, 9.61814867e-3f);
    p = __builtin_fmaf(p, f, 5.55033124e-2f);
    p = __builtin_fmaf(p, f, 2.40226462e-1f);
    p = __builtin_fmaf(p, f, 6.93147182e-1f);
    p = __builtin_fmaf(p, f, 1.f);
    s32 e = (s32)n, h = e >> 1;         /* two factors, so that subnormal and huge results come out right */
    f32 r = p * f32_bits((u32)(127 + h) << 23) * f32_bits((u32)(127 + e - h) << 23);
    return x != x ? x : r;
}
WORD f32 LG2(f32 x) { return log2f(x); }
WORD f32 SIN(f32 x) { return sinf(x); }
WORD f32 COS(f32 x) { return cosf(x); }
#endif
