/* Words for the video instructions (9.7.16). Lowering has picked the parts of the operands: a and b come extended to
 * 32 bits of their own signedness. */
#ifndef LOCKSTEP_ISA_WORDS_VIDEO_H
#define LOCKSTEP_ISA_WORDS_VIDEO_H

/* .sat clamps to the part of the destination that is written: `bits` of it, signed or not */
WORD u32 video_sat(s64 x, u32 bits, int is_signed, u32 M)
{
    s64 lo = is_signed ? -(1ll << (bits - 1)) : 0, hi = is_signed ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1;
    if (M & MOD_SAT) x = x < lo ? lo : x > hi ? hi : x;
    return (u32)x;
}
/* .sat to a part of d: ptxas's code for sm_90 has no lower bound there, so that what is negative becomes the
 * greatest, whatever 9.7.16 says; shifts saturate to all 32 bits (an H200; lower_video says where they go from here).
 */
WORD u32 video_part(s64 x, u32 bits, int is_signed)
{
    u32 t = (u64)x >> 32 ? ~0u : (u32)x, most = (1u << (bits - (is_signed != 0))) - 1;
    return t > most ? most : t;
}
/* Sums for a whole unsigned destination: ptxas leaves the upper bound out on sm_90, and an H200 wraps there whatever
 * 9.7.16 says. */
WORD u32 video_sum(s64 x, u32 bits, int is_signed, u32 M)
{
    return bits < 32 || is_signed || x < 0 ? video_sat(x, bits, is_signed, M) : (u32)x;
}
/* The second operation .min or .max compares c with more than the 32 bits of the manual: ptxas makes both 64 bits
 * wide for sm_90, c by the sign of d, and compares by the sign of d. What the first operation leaves there differs: a
 * difference, a least or a greatest is exact; a sum was cut to 32 bits and is extended by its top bit, also when d is
 * unsigned, where it is then greater than any c; a shift is one or the other, as .sat cuts it (an H200). */
WORD u32 video_second(s64 x, u32 c, int is_signed, u32 M)
{
    bool less = is_signed ? x < (s32)c : (u64)x < c;
    return less == ((M & MOD_MIN) != 0) ? (u32)x : c;
}
WORD u32 video_first(s64 x, u32 bits, int is_signed, u32 M)
{
    return M & MOD_SAT && bits < 32 ? video_part(x, bits, is_signed) : video_sat(x, bits, is_signed, M);
}
WORD u32 video_first_sum(s64 x, u32 bits, int is_signed, u32 M)
{
    return M & MOD_SAT && bits < 32 ? video_part(x, bits, is_signed) : video_sum(x, bits, is_signed, M);
}
#define SECOND (M & (MOD_MIN | MOD_MAX))
#define SIGNED_D IS_S32((D)0)
WORD s64 video_exact(s64 x, int is_signed, u32 M)
{
    return !(M & MOD_SAT) || (!is_signed && x > 0) ? x : is_signed ? (s32)video_sat(x, 32, 1, M) : 0;
}
WORD s64 video_shifted(s64 cut, s64 x, int is_signed, u32 M)
{
    return M & MOD_SAT ? (s32)video_sat(cut, 32, is_signed, M) : x;
}
#define VIDEO(x) (SECOND ? video_second(video_exact(x, SIGNED_D, M), c, SIGNED_D, M) : video_first(x, c, SIGNED_D, M))
#define VIDEO_DIFF(x) \
    (SECOND ? video_second(video_exact(x, SIGNED_D, M), c, SIGNED_D, M) : video_first_sum(x, c, SIGNED_D, M))
#define VIDEO_SUM(x) \
    (SECOND ? video_second((s32)video_sum(x, 32, SIGNED_D, M), c, SIGNED_D, M) : video_first_sum(x, c, SIGNED_D, M))
/* x is cut by what is shifted out of 34 signed bits, which is gone before .sat sees it (an H200) */
#define VIDEO_SHIFT(x)                                                              \
    (SECOND ? video_second(video_shifted(CUT34(x), x, SIGNED_D, M), c, SIGNED_D, M) \
            : video_sat(CUT34(x), 32, SIGNED_D, M))
#define CUT34(x) ((s64)((u64)(x) << 30) >> 30)
/* vset makes 0 or 1, which no width changes */
#define VIDEO_SET(x) (SECOND ? video_second(x, c, IS_S32(a), M) : (u32)(x))
WORD s64 absdiff(s64 a, s64 b)
{
    s64 d = a - b;
    return d < 0 ? -d : d;
}
WORD u32 video_shift(u32 b, u32 M) { return M & MOD_CLAMP ? (b > 32 ? 32 : b) : b & 31; }
#define VSHL(a, b) ((s64)((u64)(s64)(a) << video_shift(b, M)))
#define VSHR(a, b) ((s64)(a) >> video_shift(b, M))

/* vmad: e says what is negated, 1 the product, 2 c. On an H200 all three are signed, whatever their types say; those
 * only decide how the sum is shifted and what it saturates to. */
WORD u32 vmad(s32 a, int sa, s32 b, int sb, u32 c, u32 e, u32 M)
{
    int is_signed = sa || sb || e;
    u32 one = M & MOD_PO || e ? 1 : 0, shift = M & MOD_SHR7 ? 7 : M & MOD_SHR15 ? 15 : 0;
    s64 t = (s64)a * b;
    if (!(M & MOD_PO) && e & 1)
        t = ~t;
    else if (!(M & MOD_PO) && e & 2)
        c = ~c;
    t += (s64)(s32)c + one;
    t = is_signed ? t >> shift : (s64)((u64)t >> shift);
    s64 lo = is_signed ? INT32_MIN : 0, hi = is_signed ? INT32_MAX : UINT32_MAX;
    if (M & MOD_SAT) t = t < lo ? lo : t > hi ? hi : t;
    return (u32)t;
}
#define VMAD(a, b, c, e) vmad((s32)(a), IS_S32(a), (s32)(b), IS_S32(b), c, e, M)

/* Two or four lanes; e has a bit for each lane that is written, the others come from c. */
enum simd_op { V_ADD, V_SUB, V_AVRG, V_ABSDIFF, V_MIN, V_MAX, V_EQ, V_NE, V_LT, V_LE, V_GT, V_GE };
WORD s64 simd_lane(enum simd_op op, s64 x, s64 y)
{
    switch (op) {
    case V_ADD: return x + y;
    case V_SUB: return x - y;
    case V_AVRG: return (x + y + (x + y >= 0)) >> 1;
    case V_ABSDIFF: return absdiff(x, y);
    case V_MIN: return x < y ? x : y;
    case V_MAX: return x > y ? x : y;
    case V_EQ: return x == y;
    case V_NE: return x != y;
    case V_LT: return x < y;
    case V_LE: return x <= y;
    case V_GT: return x > y;
    default: return x >= y;
    }
}
WORD u32 simd(enum simd_op op, u32 n, u32 a, int sa, u32 b, int sb, u32 c, u32 e, int sd, u32 M)
{
    u32 bits = 32 / n, sum = c, d = 0, ones = (1u << bits) - 1;
    for (u32 k = 0; k < n; k++) {
        u32 t = video_sat(simd_lane(op, part(a, k, bits, sa), part(b, k, bits, sb)), bits, sd, M), on = e >> k & 1;
        sum += on ? t : 0;
        d |= ((on ? t : c >> bits * k) & ones) << bits * k;
    }
    return M & MOD_ADD ? sum : d;
}
#define SIMD_OF(op, n) simd(op, n, (u32)a, IS_S32(a), (u32)b, IS_S32(b), c, e, IS_S32((D)0), M)
#endif
