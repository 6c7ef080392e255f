/* Words for the video instructions (9.7.16). Lowering has picked the parts of the operands: a and b come extended to 32 bits
 * of their own signedness. */
#ifndef LOCKSTEP_ISA_WORDS_VIDEO_H
#define LOCKSTEP_ISA_WORDS_VIDEO_H

/* .sat clamps to the part of the destination that is written: `bits` of it, signed or not */
WORD u32 video_sat(s64 x, u32 bits, int is_signed, u32 M)
{
    s64 lo = is_signed ? -(1ll << (bits - 1)) : 0, hi = is_signed ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1;
    if (M & MOD_SAT) x = x < lo ? lo : x > hi ? hi : x;
    return (u32)x;
}
#define VIDEO(x) video_sat(x, c, IS_S32((D)0), M)
WORD s64 absdiff(s64 a, s64 b) { return a < b ? b - a : a - b; }
WORD u32 video_shift(u32 b, u32 M) { return M & MOD_CLAMP ? (b > 32 ? 32 : b) : b & 31; }
#define VSHL(a, b) ((s64)((u64)(s64)(a) << video_shift(b, M)))
#define VSHR(a, b) ((s64)(a) >> video_shift(b, M))

/* vmad: e says what is negated, 1 the product, 2 c */
WORD u32 vmad(s64 a, int sa, s64 b, int sb, u32 c, u32 e, u32 M)
{
    int is_signed = sa || sb || e;
    __int128 t = (__int128)a * b;
    u32 one = M & MOD_PO || e ? 1 : 0;
    if (!(M & MOD_PO) && e & 1) t = ~t;
    else if (!(M & MOD_PO) && e & 2) c = ~c;
    t += is_signed ? (__int128)(s32)c : (__int128)c;
    t += one;
    t >>= M & MOD_SHR7 ? 7 : M & MOD_SHR15 ? 15 : 0;
    __int128 lo = is_signed ? INT32_MIN : 0, hi = is_signed ? INT32_MAX : UINT32_MAX;
    if (M & MOD_SAT) t = t < lo ? lo : t > hi ? hi : t;
    return (u32)t;
}
#define VMAD(a, b, c, e) vmad(a, IS_S32(a), b, IS_S32(b), c, e, M)

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
