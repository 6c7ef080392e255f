/* Words for integers (9.7.1, 9.7.2, 9.7.8). */
#ifndef LOCKSTEP_ISA_WORDS_INT_H
#define LOCKSTEP_ISA_WORDS_INT_H

WORD s32 SATURATE32(s64 x) { return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (s32)x; }

WORD u16 mulhi_u16(u16 a, u16 b) { return (u16)((u32)a * b >> 16); }
WORD s16 mulhi_s16(s16 a, s16 b) { return (s16)((s32)a * b >> 16); }
WORD u32 mulhi_u32(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
WORD s32 mulhi_s32(s32 a, s32 b) { return (s32)((s64)a * b >> 32); }
WORD u64 mulhi_u64(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }
WORD s64 mulhi_s64(s64 a, s64 b) { return (s64)((__int128)a * b >> 64); }
#define MULHI(a, b)           \
    _Generic((a), u16         \
             : mulhi_u16, s16 \
             : mulhi_s16, u32 \
             : mulhi_u32, s32 \
             : mulhi_s32, u64 \
             : mulhi_u64, s64 \
             : mulhi_s64)(a, b)

/* Division by zero yields all ones, the remainder too; the manual leaves both open, an H200 does this. */
#define DIVREM_U(T)                                            \
    WORD T div_##T(T a, T b) { return b ? a / b : (T) ~(T)0; } \
    WORD T rem_##T(T a, T b) { return b ? a % b : (T) ~(T)0; }
#define DIVREM_S(T, U)                                                                    \
    WORD T div_##T(T a, T b) { return b == 0 ? (T)-1 : b == -1 ? (T)(0 - (U)a) : a / b; } \
    WORD T rem_##T(T a, T b) { return b == 0 ? (T)-1 : b == -1 ? 0 : a % b; }
DIVREM_U(u16)
DIVREM_U(u32)
DIVREM_U(u64)
DIVREM_S(s16, u32)
DIVREM_S(s32, u32)
DIVREM_S(s64, u64)
#define DIV(a, b) \
    _Generic((a), u16 : div_u16, s16 : div_s16, u32 : div_u32, s32 : div_s32, u64 : div_u64, s64 : div_s64)(a, b)
#define REM(a, b) \
    _Generic((a), u16 : rem_u16, s16 : rem_s16, u32 : rem_u32, s32 : rem_s32, u64 : rem_u64, s64 : rem_s64)(a, b)

#define POPC(a) ((u32)__builtin_popcountll((u64)(a)))
WORD u32 clz_u32(u32 x) { return x ? (u32)__builtin_clz(x) : 32; }
WORD u32 clz_u64(u64 x) { return x ? (u32)__builtin_clzll(x) : 64; }
#define CLZ(a) _Generic((a), u32 : clz_u32, u64 : clz_u64)(a)
WORD u32 brev_u32(u32 x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
WORD u64 brev_u64(u64 x) { return (u64)brev_u32((u32)x) << 32 | brev_u32((u32)(x >> 32)); }
#define BREV(a) _Generic((a), u32 : brev_u32, u64 : brev_u64)(a)
WORD u32 bfind_u32(u32 x) { return x ? 31u - (u32)__builtin_clz(x) : ~0u; }
WORD u32 bfind_s32(s32 x) { return bfind_u32((u32)(x < 0 ? ~x : x)); }
WORD u32 bfind_u64(u64 x) { return x ? 63u - (u32)__builtin_clzll(x) : ~0u; }
WORD u32 bfind_s64(s64 x) { return bfind_u64((u64)(x < 0 ? ~x : x)); }
#define BFIND(a) _Generic((a), u32 : bfind_u32, s32 : bfind_s32, u64 : bfind_u64, s64 : bfind_s64)(a)
/* 9.7.1.19: a signed field that reaches past the top repeats the sign bit. The low 8 bits of position and length
 * count for 32 bits; for 64 all of them do, for an H200 has no such instruction, and the shifts that ptxas makes of
 * it take them whole, whatever the manual says. */
#define BFE_U(T, N, MASK)                                                                                  \
    WORD T bfe_##T(T a, u32 pos, u32 len)                                                                  \
    {                                                                                                      \
        pos &= MASK;                                                                                       \
        len &= MASK;                                                                                       \
        return SEL(pos < N, a >> (pos & (N - 1)), 0) & SEL(len < N, ((T)1 << (len & (N - 1))) - 1, ~(T)0); \
    }
#define BFE_S(T, U, N, MASK)                                                     \
    WORD T bfe_##T(T a, u32 pos, u32 len)                                        \
    {                                                                            \
        pos &= MASK;                                                             \
        len &= MASK;                                                             \
        u32 up = SEL(len < N, N - len, 0) & (N - 1);                             \
        return SEL(len, (T)((U)(a >> SEL(pos < N, pos, N - 1)) << up) >> up, 0); \
    }
BFE_U(u32, 32, 255)
BFE_S(s32, u32, 32, 255)
BFE_U(u64, 64, ~0u)
BFE_S(s64, u64, 64, ~0u)
#define BFE(a, b, c) _Generic((a), u32 : bfe_u32, s32 : bfe_s32, u64 : bfe_u64, s64 : bfe_s64)(a, b, c)

#define BFIND_SHIFT(a) ((u32)SEL(BFIND(a) == ~0u, ~0u, (u32)(8 * sizeof(T) - 1) - BFIND(a)))
/* The low 8 bits of position and length count for .b32; for .b64 all of them do, on an H200, whatever 9.7.1.20 says. */
#define BFI_OF(T, N, MASK)                                 \
    WORD T bfi_##T(T a, T b, u32 pos, u32 len)             \
    {                                                      \
        pos &= MASK;                                       \
        len &= MASK;                                       \
        if (pos >= N || !len) return b;                    \
        T ones = len >= N ? ~(T)0 : ((T)1 << len) - 1;     \
        return (b & ~(ones << pos)) | ((a & ones) << pos); \
    }
BFI_OF(u32, 32, 255)
BFI_OF(u64, 64, ~0u)
#define BFI(a, b, c, e) _Generic((a), u32 : bfi_u32, u64 : bfi_u64)(a, b, c, e)
/* Bit i of the table is the result for (a, b, c) = bits of i. */
#define LUT_TERM(n, x) (SEL((e) >> n & 1, ~0u, 0u) & (x))
#define LOP3(a, b, c, e)                                                                                 \
    (LUT_TERM(0, ~(a) & ~(b) & ~(c)) | LUT_TERM(1, ~(a) & ~(b) & (c)) | LUT_TERM(2, ~(a) & (b) & ~(c)) | \
     LUT_TERM(3, ~(a) & (b) & (c)) | LUT_TERM(4, (a) & ~(b) & ~(c)) | LUT_TERM(5, (a) & ~(b) & (c)) |    \
     LUT_TERM(6, (a) & (b) & ~(c)) | LUT_TERM(7, (a) & (b) & (c)))
/* Each nibble of c picks a byte of b:a, or repeats its sign. In 32 bits throughout, and without a loop, so that
 * vectors do it. */
WORD u32 prmt_byte(u32 a, u32 b, u32 s)
{
    u32 byte = SEL(s & 4, b, a) >> 8 * (s & 3) & 255;
    return SEL(s & 8, (0u - (byte >> 7)) & 255, byte);
}
WORD u32 PRMT(u32 a, u32 b, u32 c)
{
    return prmt_byte(a, b, c) | prmt_byte(a, b, c >> 4) << 8 | prmt_byte(a, b, c >> 8) << 16 |
           prmt_byte(a, b, c >> 12) << 24;
}
#define SHF_L(a, b, n) ((u32)((((u64)(b) << 32 | (a)) << (n)) >> 32))
#define SHF_R(a, b, n) ((u32)(((u64)(b) << 32 | (a)) >> (n)))

/* Shifts past the width give zeros, or copies of the sign. */
#define SHR_OF(T, U, N, SIGNED)                                                                 \
    WORD T shr_##T(T a, u32 b)                                                                  \
    {                                                                                           \
        return SIGNED ? (T)(a >> (b < N ? b : N - 1)) : (T)(b < N ? (U)a >> (b & (N - 1)) : 0); \
    }
SHR_OF(u16, u32, 16, 0)
SHR_OF(u32, u32, 32, 0)
SHR_OF(u64, u64, 64, 0)
SHR_OF(s16, u32, 16, 1)
SHR_OF(s32, u32, 32, 1)
SHR_OF(s64, u64, 64, 1)
#define SHR(a, b) \
    _Generic((a), u16 : shr_u16, u32 : shr_u32, u64 : shr_u64, s16 : shr_s16, s32 : shr_s32, s64 : shr_s64)(a, b)

/* The low 24 bits of each; .lo is bits 0 to 31 of the product, .hi bits 16 to 47. */
WORD u64 mul24_u32(u32 a, u32 b) { return (u64)(a & 0xffffff) * (b & 0xffffff); }
WORD u64 mul24_s32(s32 a, s32 b) { return (u64)((s64)((s32)((u32)a << 8) >> 8) * ((s32)((u32)b << 8) >> 8)); }
#define MUL24(a, b) _Generic((a), u32 : mul24_u32, s32 : mul24_s32)(a, b)
#define SAD(a, b, c) ((T)((U)(c) + SEL((a) < (b), (U)(b) - (U)(a), (U)(a) - (U)(b))))

/* Two halves in a register: the operation on each. */
#define HALVES(lo, hi) ((u32)(u16)(lo) | (u32)(u16)(hi) << 16)
WORD u16x2 add_u16x2(u16x2 a, u16x2 b) { return (u16x2){ HALVES(a.v + b.v, (a.v >> 16) + (b.v >> 16)) }; }
WORD s16x2 add_s16x2(s16x2 a, s16x2 b) { return (s16x2){ HALVES(a.v + b.v, (a.v >> 16) + (b.v >> 16)) }; }
#define ADD2(a, b) _Generic((a), u16x2 : add_u16x2, s16x2 : add_s16x2)(a, b)
#define PICK(op, T, x, y) ((T)(x)op(T)(y) ? (T)(x) : (T)(y))
WORD u16x2 min_u16x2(u16x2 a, u16x2 b)
{
    return (u16x2){ HALVES(PICK(<, u16, a.v, b.v), PICK(<, u16, a.v >> 16, b.v >> 16)) };
}
WORD u16x2 max_u16x2(u16x2 a, u16x2 b)
{
    return (u16x2){ HALVES(PICK(>, u16, a.v, b.v), PICK(>, u16, a.v >> 16, b.v >> 16)) };
}
WORD s16x2 min_s16x2(s16x2 a, s16x2 b)
{
    return (s16x2){ HALVES(PICK(<, s16, a.v, b.v), PICK(<, s16, a.v >> 16, b.v >> 16)) };
}
WORD s16x2 max_s16x2(s16x2 a, s16x2 b)
{
    return (s16x2){ HALVES(PICK(>, s16, a.v, b.v), PICK(>, s16, a.v >> 16, b.v >> 16)) };
}
#define MIN2(a, b) _Generic((a), u16x2 : min_u16x2, s16x2 : min_s16x2)(a, b)
#define MAX2(a, b) _Generic((a), u16x2 : max_u16x2, s16x2 : max_s16x2)(a, b)
/* .relu: a negative result is zero */
WORD s32 relu_s32(s32 x) { return x < 0 ? 0 : x; }
WORD s16x2 relu_s16x2(s16x2 x) { return max_s16x2(x, (s16x2){ 0 }); }
WORD s32 min_s32(s32 a, s32 b) { return a < b ? a : b; }
WORD s32 max_s32(s32 a, s32 b) { return a > b ? a : b; }
#define MIN_RELU(a, b)                                        \
    _Generic((a), s32                                         \
             : relu_s32(min_s32(_Generic((a), s32             \
                                         : a, default : 0),   \
                                _Generic((b), s32             \
                                         : b, default : 0))), \
               s16x2                                          \
             : relu_s16x2(min_s16x2(_Generic((a), s16x2       \
                                             : a, default     \
                                             : (s16x2){ 0 }), \
                                    _Generic((b), s16x2       \
                                             : b, default     \
                                             : (s16x2){ 0 }))))
#define MAX_RELU(a, b)                                        \
    _Generic((a), s32                                         \
             : relu_s32(max_s32(_Generic((a), s32             \
                                         : a, default : 0),   \
                                _Generic((b), s32             \
                                         : b, default : 0))), \
               s16x2                                          \
             : relu_s16x2(max_s16x2(_Generic((a), s16x2       \
                                             : a, default     \
                                             : (s16x2){ 0 }), \
                                    _Generic((b), s16x2       \
                                             : b, default     \
                                             : (s16x2){ 0 }))))

/* The carry out of a + b + k; k is 0 or 1. A subtraction is a + ~b + 1. */
#define TOP_BIT(x) ((u32)((x) >> (8 * sizeof(U) - 1)))
#define CARRY_ADD(a, b, k) TOP_BIT(((U)(a) & (U)(b)) | (((U)(a) | (U)(b)) & ~((U)(a) + (U)(b) + (U)(k))))

/* 9.7.1.23, 9.7.1.24: sums of products of bytes, or of a half with a byte. */
WORD s64 part(u32 x, u32 n, u32 bits, int is_signed)
{
    u32 v = x >> bits * n & ((1u << bits) - 1);
    return is_signed && v >> (bits - 1) ? (s64)v - (s64)(1u << bits) : (s64)v;
}
#define IS_S32(x) _Generic((x), s32 : 1, default : 0)
WORD u32 byte_at(u32 x, u32 n, int is_signed)
{
    return is_signed ? (u32)((s32)(x << (24 - 8 * n)) >> 24) : x >> 8 * n & 255;
}
WORD u32 half_at(u32 x, u32 n, int is_signed)
{
    return is_signed ? (u32)((s32)(x << (16 - 16 * n)) >> 16) : x >> 16 * n & 0xffff;
}
WORD u32 dp4a(u32 a, int sa, u32 b, int sb, u32 c)
{
    return c + byte_at(a, 0, sa) * byte_at(b, 0, sb) + byte_at(a, 1, sa) * byte_at(b, 1, sb) +
           byte_at(a, 2, sa) * byte_at(b, 2, sb) + byte_at(a, 3, sa) * byte_at(b, 3, sb);
}
WORD u32 dp2a(u32 a, int sa, u32 b, int sb, u32 c, u32 first)
{
    return c + half_at(a, 0, sa) * byte_at(b, first, sb) + half_at(a, 1, sa) * byte_at(b, first + 1, sb);
}
#define DP4A(a, b, c) dp4a((u32)(a), IS_S32(a), (u32)(b), IS_S32(b), (u32)(c))
#define DP2A(a, b, c, first) dp2a((u32)(a), IS_S32(a), (u32)(b), IS_S32(b), (u32)(c), first)

/* 9.7.1.17: the n-th set bit from `base` up or down. */
WORD u32 FNS(u32 mask, u32 base, s32 offset)
{
    if (offset == INT32_MIN) return 0; /* nobody says why, but an H200 does */
    if (offset == 0) return base < 32 && mask >> base & 1 ? base : ~0u;
    s64 pos = base, inc = offset > 0 ? 1 : -1, left = offset > 0 ? (s64)offset : -(s64)offset;
    for (; pos >= 0 && pos < 32; pos += inc)
        if (mask >> pos & 1 && --left == 0) return (u32)pos;
    return ~0u;
}
/* 9.7.1.20, 9.7.1.22 */
WORD u32 BMSK(u32 a, u32 b, u32 mods)
{
    u32 clamp = mods & MOD_CLAMP, from = clamp && a >= 32 ? 32 : a & 31, n = clamp && b >= 32 ? 32 : b & 31;
    u64 ones = ((1ull << n) - 1) << from;
    return (u32)ones;
}
WORD u32 szext(u32 a, u32 b, int is_signed, u32 mods)
{
    if (mods & MOD_CLAMP && b >= 32) return a;
    b &= 31;
    u32 low = a & ((1u << b) - 1);
    return is_signed && b && a >> (b - 1) & 1 ? low | ~0u << b : low;
}
#define SZEXT(a, b, M) szext((u32)(a), b, IS_S32(a), M)

/* prmt's modes: each byte's number in b:a as a function of the low bits of c (9.7.8.7). */
#define PRMT_BYTES(a, b, b0, b1, b2, b3) PRMT(a, b, (u32)(b0) | (u32)(b1) << 4 | (u32)(b2) << 8 | (u32)(b3) << 12)
#define F4E(a, b, n) PRMT_BYTES(a, b, n, n + 1, n + 2, n + 3)
#define B4E(a, b, n) PRMT_BYTES(a, b, n, (n + 7) & 7, (n + 6) & 7, (n + 5) & 7)
#define RC8(a, b, n) PRMT_BYTES(a, b, n, n, n, n)
#define ECL(a, b, n) PRMT_BYTES(a, b, n, SEL(n > 1, n, 1), SEL(n > 2, n, 2), 3)
#define ECR(a, b, n) PRMT_BYTES(a, b, 0, SEL(n < 1, n, 1), SEL(n < 2, n, 2), n)
#define RC16(a, b, n) PRMT_BYTES(a, b, 2 * (n & 1), 2 * (n & 1) + 1, 2 * (n & 1), 2 * (n & 1) + 1)
#endif
