/* Words for f32 and f64 (9.7.3), and conversions to integers. */
#ifndef LOCKSTEP_ISA_WORDS_FLOAT_H
#define LOCKSTEP_ISA_WORDS_FLOAT_H

WORD u32 bits_f32(f32 x)
{
    u32 u;
    memcpy(&u, &x, 4);
    return u;
}
WORD f32 f32_bits(u32 u)
{
    f32 x;
    memcpy(&x, &u, 4);
    return x;
}
WORD u64 bits_f64(f64 x)
{
    u64 u;
    memcpy(&u, &x, 8);
    return u;
}
WORD f64 f64_bits(u64 u)
{
    f64 x;
    memcpy(&x, &u, 8);
    return x;
}

/* NaNs of f64, as an H200 makes them: an operand that is one comes out quiet, with its sign and payload, also through
 * sub, neg and abs; of several the second comes first, then the third, then the first (div: the first). None among
 * the operands: 0xfff8000000000000. f32 has one NaN, 0x7fffffff, which the loop sees to. */
WORD f64 quiet_f64(f64 a) { return f64_bits(bits_f64(a) | 0x8000000000000u); }
WORD f64 made_f64(f64 r, f64 first, f64 second)
{
    f64 nan = second != second ? quiet_f64(second) : first != first ? quiet_f64(first) : f64_bits(0xfff8000000000000u);
    return r == r ? r : nan;
}
WORD f64 made3_f64(f64 r, f64 a, f64 b, f64 c)
{
    f64 nan = b != b ? quiet_f64(b) : c != c ? quiet_f64(c) : a != a ? quiet_f64(a) : f64_bits(0xfff8000000000000u);
    return r == r ? r : nan;
}
/* .ftz flushes by what the result would be with no least exponent: a product just below 2^-126 is zero, though as a
 * subnormal it would round up to 2^-126. FTZ is a constant of the handler. */
WORD f32 tiny_f32(f32 r, f32 scaled)
{
    return __builtin_fabsf(scaled) < 0x1p-102f ? f32_bits(bits_f32(r) & 0x80000000u) : r;
}
WORD f32 mul_ftz(f32 a, f32 b) { return tiny_f32(a * b, (a * 0x1p12f) * (b * 0x1p12f)); }
WORD f32 fma_ftz(f32 a, f32 b, f32 c)
{
    return tiny_f32(__builtin_fmaf(a, b, c), __builtin_fmaf(a * 0x1p12f, b * 0x1p12f, c * 0x1p24f));
}

WORD f32 add_f32(f32 a, f32 b) { return a + b; }
WORD f32 sub_f32(f32 a, f32 b) { return a - b; }
WORD f32 div_f32(f32 a, f32 b) { return a / b; }
WORD f64 add_f64(f64 a, f64 b) { return made_f64(a + b, a, b); }
WORD f64 sub_f64(f64 a, f64 b) { return made_f64(a - b, a, b); }
WORD f64 mul_f64(f64 a, f64 b) { return made_f64(a * b, a, b); }
WORD f64 div_f64(f64 a, f64 b) { return made_f64(a / b, b, a); }
WORD f64 fma_f64(f64 a, f64 b, f64 c) { return made3_f64(__builtin_fma(a, b, c), a, b, c); }
WORD f64 sqrt_f64(f64 a) { return made_f64(__builtin_sqrt(a), a, a); }
#define ADD(a, b) _Generic((a), f32 : add_f32, f64 : add_f64)(a, b)
#define SUB(a, b) _Generic((a), f32 : sub_f32, f64 : sub_f64)(a, b)
WORD f32 mul_f32(f32 a, f32 b, bool ftz) { return ftz ? mul_ftz(a, b) : a * b; }
WORD f64 mul_of_f64(f64 a, f64 b, bool ftz)
{
    (void)ftz;
    return mul_f64(a, b);
}
#define MUL(a, b) _Generic((a), f32 : mul_f32, f64 : mul_of_f64)(a, b, FTZ)
WORD f32 div_of_f32(f32 a, f32 b, bool ftz) { return ftz ? tiny_f32(a / b, (a * 0x1p24f) / b) : a / b; }
WORD f64 div_of_f64(f64 a, f64 b, bool ftz)
{
    (void)ftz;
    return div_f64(a, b);
}
#define FDIV_OF(a, b, M) _Generic((a), f32 : div_of_f32, f64 : div_of_f64)(a, b, ((M)&MOD_FTZ) != 0)
#define FDIV(a, b) _Generic((a), f32 : div_f32, f64 : div_f64)(a, b)
WORD f32 fma_f32(f32 a, f32 b, f32 c, bool ftz) { return ftz ? fma_ftz(a, b, c) : __builtin_fmaf(a, b, c); }
WORD f64 fma_of_f64(f64 a, f64 b, f64 c, bool ftz)
{
    (void)ftz;
    return fma_f64(a, b, c);
}
#define FMA(a, b, c) _Generic((a), f32 : fma_f32, f64 : fma_of_f64)(a, b, c, FTZ)
#define FMA_OF(a, b, c, M) _Generic((a), f32 : fma_f32, f64 : fma_of_f64)(a, b, c, ((M)&MOD_FTZ) != 0)
#define MUL_OF(a, b, M) _Generic((a), f32 : mul_f32, f64 : mul_of_f64)(a, b, ((M)&MOD_FTZ) != 0)
#define SQRT(a) _Generic((a), f32 : __builtin_sqrtf, f64 : sqrt_f64)(a)
WORD f32 fabs_f32(f32 a) { return f32_bits(bits_f32(a) & 0x7fffffffu); }
WORD f64 fabs_f64(f64 a) { return a == a ? f64_bits(bits_f64(a) & 0x7fffffffffffffffu) : quiet_f64(a); }
WORD f32 fneg_f32(f32 a) { return f32_bits(bits_f32(a) ^ 0x80000000u); }
WORD f64 fneg_f64(f64 a) { return a == a ? f64_bits(bits_f64(a) ^ 0x8000000000000000u) : quiet_f64(a); }
#define FABS(a) _Generic((a), f32 : fabs_f32, f64 : fabs_f64)(a)
#define FNEG(a) _Generic((a), f32 : fneg_f32, f64 : fneg_f64)(a)

/* One NaN loses to a number; of two the second comes out, quiet; -0 is less than +0 (9.7.3.11). */
WORD f32 quiet_f32(f32 a) { return a; }
#define FMINMAX(T, B)                                                 \
    WORD T fmin_##T(T a, T b)                                         \
    {                                                                 \
        return a != a                   ? (b != b ? quiet_##T(b) : b) \
               : b != b                 ? a                           \
               : a < b                  ? a                           \
               : b < a                  ? b                           \
               : bits_##T(a) >> (B - 1) ? a                           \
                                        : b;                          \
    }                                                                 \
    WORD T fmax_##T(T a, T b)                                         \
    {                                                                 \
        return a != a                   ? (b != b ? quiet_##T(b) : b) \
               : b != b                 ? a                           \
               : a > b                  ? a                           \
               : b > a                  ? b                           \
               : bits_##T(a) >> (B - 1) ? b                           \
                                        : a;                          \
    }
FMINMAX(f32, 32)
FMINMAX(f64, 64)
#define FMIN(a, b) _Generic((a), f32 : fmin_f32, f64 : fmin_f64)(a, b)
#define FMAX(a, b) _Generic((a), f32 : fmax_f32, f64 : fmax_f64)(a, b)

/* .ftz: a subnormal is a zero of its sign. .sat: clamp to [0, 1], NaN to +0. Every f32 NaN that arithmetic makes is
 * 0x7fffffff. */
WORD f32 ftz_f32(f32 a) { return fabs_f32(a) < 0x1p-126f ? f32_bits(bits_f32(a) & 0x80000000u) : a; }
WORD f32 FSAT(f32 a) { return a > 0 ? (a < 1 ? a : 1) : 0; }
WORD f64 FSAT64(f64 a) { return a > 0 ? (a < 1 ? a : 1) : 0; }
WORD f32 nan_f32(f32 a) { return a == a ? a : f32_bits(0x7fffffffu); }
WORD f64 nan_f64(f64 a) { return a; }
WORD f64 ftz_f64(f64 a) { return a; }

/* Rounding to an integral value; a float that holds one stays itself. */
#define TRUNC(a) _Generic((a), f32 : __builtin_truncf, f64 : __builtin_trunc)(a)
#define FLOOR(a) _Generic((a), f32 : __builtin_floorf, f64 : __builtin_floor)(a)
#define CEIL(a) _Generic((a), f32 : __builtin_ceilf, f64 : __builtin_ceil)(a)
#define NEAREST(a) _Generic((a), f32 : __builtin_rintf, f64 : __builtin_rint)(a)
/* Conversion to an integer saturates. NaN becomes 0 from f32, but for a 64-bit destination 0x8000000000000000
 * (9.7.9.22); from f64 it is the top bit alone whatever the destination, which the manual does not say and an H200
 * does. */
#define TO_INT_OF(D, LO, HI, FROM_F32)                                                        \
    WORD D to_##D(f64 x, bool wide)                                                           \
    {                                                                                         \
        return x != x           ? (D)(wide ? (u64)1 << (8 * sizeof(D) - 1) : (u64)(FROM_F32)) \
               : x <= (f64)(LO) ? (D)(LO)                                                     \
               : x >= (f64)(HI) ? (D)(HI)                                                     \
                                : (D)x;                                                       \
    }
TO_INT_OF(u8, 0, 255, 0)
TO_INT_OF(s8, -128, 127, 0)
TO_INT_OF(u16, 0, 65535, 0)
TO_INT_OF(s16, -32768, 32767, 0)
TO_INT_OF(u32, 0, UINT32_MAX, 0)
TO_INT_OF(s32, INT32_MIN, INT32_MAX, 0)
TO_INT_OF(u64, 0, UINT64_MAX, 1ull << 63)
TO_INT_OF(s64, INT64_MIN, INT64_MAX, 1ull << 63)
#define TO_INT(x)          \
    _Generic((D)0, u8      \
             : to_u8, s8   \
             : to_s8, u16  \
             : to_u16, s16 \
             : to_s16, u32 \
             : to_u32, s32 \
             : to_s32, u64 \
             : to_u64, s64 \
             : to_s64)(x, sizeof(T) == 8)

/* Between floats. cvt.f32.f32 is a move, NaNs and all; .ftz makes it arithmetic, with its one NaN. Narrowing keeps
 * the sign and the upper part of a NaN; .ftz flushes it as it does products. */
typedef struct {
    f32 v;
} kept; /* an f32 whose NaN the loop must leave alone */
WORD f32 kept_out(kept k, u32 M)
{
    f32 x = M & MOD_FTZ ? ftz_f32(k.v) : k.v;
    return M & MOD_SAT ? FSAT(x) : x;
}
WORD kept move_f32(f32 a, u32 M) { return (kept){ M & (MOD_FTZ | MOD_SAT) ? nan_f32(a) : a }; }
WORD f64 wide_f32(f32 a, u32 M) { return M & MOD_FTZ ? nan_f32(a) : a; }
WORD f64 wide_f64(f64 a, u32 M)
{
    (void)M;
    return a;
}
#define WIDEN(a) _Generic((D)0, f32 : move_f32, f64 : _Generic((a), f32 : wide_f32, f64 : wide_f64))(a, M)
WORD kept NARROW(f64 a, u32 M)
{
    f32 r = (f32)a, scaled = (f32)(a * 0x1p100);
    return (kept){ M & MOD_FTZ && fabs_f32(scaled) < 0x1p-26f ? f32_bits(bits_f32(r) & 0x80000000u) : r };
}

/* What the loop does for rows that take their modifiers as they run. */
WORD f32 fin_f32(f32 x, u32 M) { return M & MOD_FTZ ? ftz_f32(x) : x; }
WORD f32 fout_f32(f32 x, u32 M)
{
    if (M & MOD_FTZ) x = ftz_f32(x);
    if (M & MOD_SAT) x = FSAT(x);
    if (M & MOD_RELU) x = x > 0 || x != x ? x : 0;
    return nan_f32(x);
}
WORD f64 fout_f64(f64 x, u32 M) { return nan_f64(M & MOD_SAT ? FSAT64(x) : x); }

/* min and max with .NaN (a NaN wins), .xorsign.abs (magnitudes, with the product of the signs), and of three. */
#define ORDER(name, pick)                                                                                 \
    WORD f32 name##_two(f32 a, f32 b, u32 M)                                                              \
    {                                                                                                     \
        u32 sign = M & MOD_XORSIGN ? (bits_f32(a) ^ bits_f32(b)) & 0x80000000u : 0;                       \
        f32 x = M & MOD_XORSIGN ? fabs_f32(a) : a, y = M & MOD_XORSIGN ? fabs_f32(b) : b, r = pick(x, y); \
        if (M & MOD_NAN && (a != a || b != b)) return f32_bits(0x7fffffffu);                              \
        return f32_bits(bits_f32(r) | sign);                                                              \
    }                                                                                                     \
    WORD f32 name##_three(f32 a, f32 b, f32 c, u32 M)                                                     \
    {                                                                                                     \
        f32 x = M & MOD_XORSIGN ? fabs_f32(a) : a, y = M & MOD_XORSIGN ? fabs_f32(b) : b,                 \
            z = M & MOD_XORSIGN ? fabs_f32(c) : c, r = pick(pick(x, y), z);                               \
        return M & MOD_NAN && (a != a || b != b || c != c) ? f32_bits(0x7fffffffu) : r;                   \
    }
ORDER(fmin, fmin_f32)
ORDER(fmax, fmax_f32)

/* testp: what kind of number (9.7.3.1) */
#define EXPONENT(a) \
    _Generic((a), f32 : (u32)(bits_f32((f32)(a)) >> 23 & 255), f64 : (u32)(bits_f64((f64)(a)) >> 52 & 2047))
#define EXPONENT_TOP(a) _Generic((a), f32 : 255u, f64 : 2047u)
#define IS_FINITE(a) (EXPONENT(a) != EXPONENT_TOP(a))
/* zero counts as normal, on an H200 */
#define IS_NORMAL(a) (IS_FINITE(a) & ((EXPONENT(a) != 0) + ((a) == 0)))
#define IS_SUBNORMAL(a) ((EXPONENT(a) == 0) & ((a) != 0))
#define IS_INFINITE(a) (!IS_FINITE(a) & ((a) == (a)))
/* copysign moves a's sign to b (9.7.3.2) */
#define SIGN_OF(T, a, b) ((b) & ~((T)1 << (8 * sizeof(T) - 1))) | ((a) & (T)1 << (8 * sizeof(T) - 1))

/* two f32 in a register: the operation on each, flushed and canonical */
#define LO2(x) f32_bits((u32)(x).v)
#define HI2(x) f32_bits((u32)((x).v >> 32))
WORD f32x2 pack_f32x2(f32 lo, f32 hi, u32 M)
{
    return (f32x2){ bits_f32(fout_f32(lo, M)) | (u64)bits_f32(fout_f32(hi, M)) << 32 };
}
#define EACH2(M, lo, hi) pack_f32x2(lo, hi, M)
#define IN_LO(x, M) fin_f32(LO2(x), M)
#define IN_HI(x, M) fin_f32(HI2(x), M)
#endif
