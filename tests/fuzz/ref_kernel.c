/* ref_kernel: the right answer for a generated program. One thread at a time, scalar C; threads stop only where they
 * meet: .sync operations wait for the lanes of their mask, barriers for the block. The arithmetic is written again
 * from the manual, not taken from words.h (but for the approximations, which the records of silicon test). */
#include "gen_kernel.h"
#include "isa/words.h"
#include <fenv.h>

static u64 zext(u64 v, u32 bytes) { return bytes >= 8 ? v : v & ((1ull << 8 * bytes) - 1); }
static s64 sext(u64 v, u32 bytes) { return bytes >= 8 ? (s64)v : (s64)(v << (64 - 8 * bytes)) >> (64 - 8 * bytes); }

/* ---- integers ---- */

static u64 int_high(u64 a, u64 b, u32 bytes, bool sg)
{
    if (sg) return (u64)(s64)(((__int128)sext(a, bytes) * sext(b, bytes)) >> (8 * bytes));
    return (u64)(((unsigned __int128)zext(a, bytes) * zext(b, bytes)) >> (8 * bytes));
}

static u64 int_divide(u64 a, u64 b, u32 bytes, bool sg, bool remainder)
{
    if (zext(b, bytes) == 0) return ~0ull;
    if (!sg) return remainder ? zext(a, bytes) % zext(b, bytes) : zext(a, bytes) / zext(b, bytes);
    s64 x = sext(a, bytes), y = sext(b, bytes);
    if (y == -1) return remainder ? 0 : 0 - (u64)x;
    return (u64)(remainder ? x % y : x / y);
}

static u64 top_bit(u64 a, u32 bytes, bool sg)
{
    u64 x = zext(a, bytes);
    if (sg && sext(a, bytes) < 0) x = zext(~x, bytes);
    for (s32 k = (s32)bytes * 8 - 1; k >= 0; k--)
        if (x >> k & 1) return (u64)k;
    return 0xffffffffu;
}

static u64 field(u64 a, u64 b, u64 c, u32 bytes, bool sg)
{
    u64 mask = bytes == 8 ? 0xffffffff : 255, pos = b & mask, len = c & mask, top = bytes * 8 - 1;
    u64 sign = !sg || len == 0 ? 0 : a >> MIN_OF(pos + len - 1, top) & 1, r = 0;
    for (u64 k = 0; k <= top; k++) r |= (k < len && pos + k <= top ? a >> (pos + k) & 1 : sign) << k;
    return r;
}

static u64 insert(u64 a, u64 b, u64 c, u64 d, u32 bytes)
{
    u64 mask = bytes == 8 ? 0xffffffff : 255, pos = c & mask, len = d & mask;
    for (u64 k = 0; k < len && pos + k < bytes * 8; k++) b = (b & ~(1ull << (pos + k))) | (a >> k & 1) << (pos + k);
    return b;
}

static u64 permute_bytes(u64 a, u64 b, u64 c)
{
    u64 all = zext(b, 4) << 32 | zext(a, 4), r = 0;
    for (u32 k = 0; k < 4; k++) {
        u64 pick = c >> 4 * k & 15, byte = all >> 8 * (pick & 7) & 255;
        if (pick & 8) byte = byte >> 7 ? 255 : 0;
        r |= byte << 8 * k;
    }
    return r;
}

static s64 clamp32(s64 x) { return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x; }

static u64 eval_int(const struct op *o, const u64 *s)
{
    u32 n = type_size[o->type], bits = 8 * n;
    bool sg = type_is_signed((enum ptx_type)o->type);
    u64 a = zext(s[0], n), b = s[1], c = s[2], r = 0;
    switch (o->code) {
    case OP_ADD: return a + b;
    case OP_SUB: return a - b;
    case OP_MUL_LO: return a * b;
    case OP_MUL_HI: return int_high(a, b, n, sg);
    case OP_MUL_WIDE: return sg ? (u64)(sext(a, n) * sext(b, n)) : a * zext(b, n);
    case OP_MAD_LO: return a * b + c;
    case OP_MAD_HI: return int_high(a, b, n, sg) + c;
    case OP_MAD_WIDE: return (sg ? (u64)(sext(a, n) * sext(b, n)) : a * zext(b, n)) + c;
    case OP_DIV: return int_divide(a, b, n, sg, false);
    case OP_REM: return int_divide(a, b, n, sg, true);
    case OP_MIN: return (sg ? sext(a, n) < sext(b, n) : a < zext(b, n)) ? a : b;
    case OP_MAX: return (sg ? sext(a, n) > sext(b, n) : a > zext(b, n)) ? a : b;
    case OP_ABS: return sext(a, n) < 0 ? 0 - a : a;
    case OP_NEG: return 0 - a;
    case OP_ADD_SAT: return (u64)clamp32(sext(a, 4) + sext(b, 4));
    case OP_SUB_SAT: return (u64)clamp32(sext(a, 4) - sext(b, 4));
    case OP_POPC:
        for (u32 k = 0; k < bits; k++) r += a >> k & 1;
        return r;
    case OP_CLZ: {
        u64 t = top_bit(a, n, false);
        return t > 64 ? bits : bits - 1 - t;
    }
    case OP_BREV:
        for (u32 k = 0; k < bits; k++) r |= (a >> k & 1) << (bits - 1 - k);
        return r;
    case OP_BFIND: return top_bit(a, n, sg);
    case OP_BFIND_SHIFT: {
        u64 t = top_bit(a, n, sg);
        return t > 64 ? t : bits - 1 - t;
    }
    case OP_BFI: return insert(a, b, c, s[3], n);
    case OP_BFE: return field(a, b, c, n, sg);
    case OP_AND: return a & b;
    case OP_OR: return a | b;
    case OP_XOR: return a ^ b;
    case OP_NOT: return ~a;
    case OP_SHL: return zext(b, 4) >= bits ? 0 : a << zext(b, 4);
    case OP_SHR: {
        u64 k = zext(b, 4);
        return sg ? (u64)(sext(a, n) >> (k >= bits ? bits - 1 : k)) : k >= bits ? 0 : a >> k;
    }
    case OP_LOP3:
        for (u32 k = 0; k < 32; k++) r |= (s[3] >> ((a >> k & 1) << 2 | (b >> k & 1) << 1 | (c >> k & 1)) & 1) << k;
        return r;
    case OP_PRMT: return permute_bytes(a, b, c);
    case OP_SAD: return c + ((sg ? sext(a, n) < sext(b, n) : a < zext(b, n)) ? b - a : a - b);
    case OP_CNOT: return a == 0;
    case OP_MUL24:
        return sg ? (u64)((s64)(a << 40) >> 40) * (u64)((s64)(b << 40) >> 40) : (a & 0xffffff) * (b & 0xffffff);
    case OP_DP4A:
        for (u32 k = 0; k < 32; k += 8)
            c += sg ? (u64)(sext(a >> k, 1) * sext(b >> k, 1)) : zext(a >> k, 1) * zext(b >> k, 1);
        return c;
    case OP_CARRY: return c + c + (zext(a + b, n) < a); /* add.cc of a and b, addc of c and c */
    case OP_BORROW: return 0ull - (a < zext(b, n));     /* sub.cc of a and b, subc of c and c */
    case OP_SHF_LW:
    case OP_SHF_LC: {
        u64 k = zext(c, 4);
        k = o->code == OP_SHF_LW ? k & 31 : MIN_OF(k, 32);
        return k == 32 ? a : zext(b, 4) << k | (k ? a >> (32 - k) : 0);
    }
    case OP_SHF_RW:
    case OP_SHF_RC: {
        u64 k = zext(c, 4);
        k = o->code == OP_SHF_RW ? k & 31 : MIN_OF(k, 32);
        return k == 32 ? zext(b, 4) : a >> k | (k ? zext(b, 4) << (32 - k) : 0);
    }
    default: return 0;
    }
}

/* ---- floats: f32 in its own precision; its results are canonical, flushed and clamped as the modifiers say ---- */

static f32 to_f32(u64 v, bool flush)
{
    u32 b = (u32)v;
    if (flush && !(b & 0x7f800000)) b &= 0x80000000;
    f32 x;
    memcpy(&x, &b, 4);
    return x;
}
static u64 from_f32(f32 x, u32 mods)
{
    u32 b;
    if (mods & OPM_SAT) x = x > 0 ? (x < 1 ? x : 1) : 0;
    memcpy(&b, &x, 4);
    if (mods & OPM_FTZ && !(b & 0x7f800000)) b &= 0x80000000;
    return x != x ? 0x7fffffff : b;
}
static f64 to_f64(u64 v)
{
    f64 x;
    memcpy(&x, &v, 8);
    return x;
}
static u64 from_f64(f64 x)
{
    u64 b;
    memcpy(&b, &x, 8);
    return b;
}

/* Flushed by what it would be with no least exponent. */
static f32 flushed(f32 r, f64 exact, bool z) { return z && fabs(exact) < 0x1.ffffffp-127 ? copysignf(0, r) : r; }
/* NaN operands come out quiet, in the order given; otherwise a NaN is the one that invalid operations make. */
static u64 nan_of(f64 r, u64 first, u64 second, u64 third)
{
    u64 in[3] = { first, second, third };
    if (r == r) return from_f64(r);
    for (u32 k = 0; k < 3; k++)
        if (to_f64(in[k]) != to_f64(in[k])) return in[k] | 1ull << 51;
    return 0xfff8ull << 48;
}

static f64 smaller(f64 a, f64 b, int sign)
{
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) return (sign > 0) == !!__builtin_signbit(a) ? a : b;
    return (a < b) == (sign > 0) ? a : b;
}

static u64 eval_f32(const struct op *o, const u64 *s)
{
    bool z = o->mods & OPM_FTZ;
    u32 M = z ? MOD_FTZ : 0;
    f32 a = to_f32(s[0], z), b = to_f32(s[1], z), c = to_f32(s[2], z), r;
    switch (o->code) {
    case OP_ADD: r = a + b; break;
    case OP_SUB: r = a - b; break;
    case OP_FMUL: r = flushed(a * b, (f64)a * b, z); break;
    case OP_FMA: r = flushed(fmaf(a, b, c), fma(a, b, c), z); break;
    case OP_FDIV: r = a / b; break;
    case OP_MIN: r = (f32)smaller(a, b, 1); break;
    case OP_MAX: r = (f32)smaller(a, b, -1); break;
    case OP_ABS: r = fabsf(a); break;
    case OP_NEG: r = -a; break;
    case OP_RCP: r = 1 / a; break;
    case OP_SQRT: r = sqrtf(a); break;
    case OP_RCP_APPROX: r = f32_bits(RCP_APPROX(bits_f32(a), M)); break;
    case OP_SQRT_APPROX: r = f32_bits(SQRT_APPROX(bits_f32(a), M)); break;
    case OP_RSQRT: r = f32_bits(RSQRT_APPROX(bits_f32(a), M)); break;
    case OP_DIV_FULL: r = f32_bits(DIV_FULL(bits_f32(a), bits_f32(b), M)); break;
    case OP_LG2: r = f32_bits(LG2_APPROX(bits_f32(a), M)); break;
    case OP_SIN: r = f32_bits(SIN_APPROX(bits_f32(a))); break;
    case OP_COS: r = f32_bits(COS_APPROX(bits_f32(a))); break;
    case OP_EX2: r = f32_bits(EX2_APPROX(bits_f32(a), M)); break;
    case OP_TANH: r = f32_bits(TANH_APPROX(bits_f32(a))); break;
    default: r = 0;
    }
    return from_f32(r, o->mods);
}

static u64 eval_f64(const struct op *o, const u64 *s)
{
    f64 a = to_f64(s[0]), b = to_f64(s[1]), c = to_f64(s[2]);
    switch (o->code) {
    case OP_ADD: return nan_of(a + b, s[1], s[0], 0);
    case OP_SUB: return nan_of(a - b, s[1], s[0], 0);
    case OP_FMUL: return nan_of(a * b, s[1], s[0], 0);
    case OP_FMA: return nan_of(fma(a, b, c), s[1], s[2], s[0]);
    case OP_FDIV: return nan_of(a / b, s[0], s[1], 0);
    case OP_MIN: return nan_of(smaller(a, b, 1), s[1], s[0], 0);
    case OP_MAX: return nan_of(smaller(a, b, -1), s[1], s[0], 0);
    case OP_ABS: return a == a ? s[0] & INT64_MAX : nan_of(a, s[0], 0, 0);
    case OP_NEG: return a == a ? s[0] ^ 1ull << 63 : nan_of(a, s[0], 0, 0);
    case OP_RCP: return nan_of(1 / a, s[0], 0, 0);
    case OP_SQRT: return nan_of(sqrt(a), s[0], 0, 0);
    case OP_RSQRT: return bits_f64(RSQRT_F64(a));
    default: return 0;
    }
}

static f64 round_as(f64 x, u32 code)
{
    return code == OP_TRUNC     ? trunc(x)
           : code == OP_NEAREST ? rint(x)
           : code == OP_FLOOR   ? floor(x)
           : code == OP_CEIL    ? ceil(x)
                                : x;
}

static u64 float_to_int(f64 x, u32 bytes, bool sg, bool from_f64)
{
    if (x != x) return bytes == 8 || from_f64 ? 1ull << (bytes * 8 - 1) : 0;
    f64 top = ldexp(1, (int)bytes * 8 - sg), low = sg ? -top : 0;
    if (x < low) return sg ? 1ull << (bytes * 8 - 1) : 0;
    if (x >= top) return sg ? (1ull << (bytes * 8 - 1)) - 1 : ~0ull;
    return sg ? (u64)(s64)x : (u64)x;
}

static u64 eval_cvt(const struct op *o, u64 s)
{
    enum ptx_type T = (enum ptx_type)o->type, D = (enum ptx_type)o->dtype;
    bool ft = type_is_float(T), fd = type_is_float(D), sg = type_is_signed(T);
    if (!ft && !fd) {
        u64 v = sg ? (u64)sext(s, type_size[T]) : zext(s, type_size[T]);
        return type_is_signed(D) ? (u64)sext(v, type_size[D]) : zext(v, type_size[D]);
    }
    if (!ft) {
        s64 i = sext(s, type_size[T]);
        u64 u = zext(s, type_size[T]);
        return D == T_F32 ? from_f32(sg ? (f32)i : (f32)u, 0) : from_f64(sg ? (f64)i : (f64)u);
    }
    f64 x = T == T_F32 ? (f64)to_f32(s, o->mods & OPM_FTZ) : to_f64(s);
    x = round_as(x, o->code);
    if (!fd) {
        u64 v = float_to_int(x, type_size[D], type_is_signed(D), T == T_F64);
        return type_is_signed(D) ? (u64)sext(v, type_size[D]) : zext(v, type_size[D]);
    }
    bool z = o->mods & OPM_FTZ, move = o->code == OP_CVT && !(o->mods & OPM_SAT);
    if (x != x && move && D == T_F32 && !z && T == T_F32) return zext(s, 4);
    if (x != x && move && D == T_F32 && T == T_F64) return (s >> 32 & 0x80000000) | 0x7fc00000 | (s >> 29 & 0x3fffff);
    if (x != x && move && D == T_F64 && T == T_F32)
        return z ? 0x7fffffffull << 29 | 0x7ffull << 52
                 : (s & 0x80000000) << 32 | 0x7ff8ull << 48 | (s & 0x3fffff) << 29;
    return D == T_F32 ? from_f32(T == T_F64 ? flushed((f32)x, x, z) : (f32)x, o->mods) : from_f64(x);
}

static bool compare(const struct op *o, const u64 *s)
{
    enum { EQ, NE, LT, LE, GT, GE, EQU, NEU, LTU, LEU, GTU, GEU, NUM, NAN_ };
    if (type_is_float((enum ptx_type)o->type)) {
        f64 a = o->type == T_F32 ? (f64)to_f32(s[0], o->mods & OPM_FTZ) : to_f64(s[0]),
            b = o->type == T_F32 ? (f64)to_f32(s[1], o->mods & OPM_FTZ) : to_f64(s[1]);
        bool un = a != a || b != b;
        switch (o->cmp) {
        case EQ: return a == b;
        case NE: return !un && a != b;
        case LT: return a < b;
        case LE: return a <= b;
        case GT: return a > b;
        case GE: return a >= b;
        case EQU: return un || a == b;
        case NEU: return un || a != b;
        case LTU: return un || a < b;
        case LEU: return un || a <= b;
        case GTU: return un || a > b;
        case GEU: return un || a >= b;
        case NUM: return !un;
        default: return un;
        }
    }
    u32 n = type_size[o->type];
    s64 x = sext(s[0], n), y = sext(s[1], n);
    u64 u = zext(s[0], n), v = zext(s[1], n);
    bool less = type_is_signed((enum ptx_type)o->type) ? x < y : u < v;
    switch (o->cmp) {
    case EQ: return u == v;
    case NE: return u != v;
    case LT: return less;
    case LE: return less || u == v;
    case GT: return !less && u != v;
    default: return !less;
    }
}

/* The host rounds as the modifiers say. What is computed comes from and goes to memory that the compiler must not
 * keep, so that nothing moves out from between. */
static u64 eval_directed(const struct op *o, const u64 *s)
{
    volatile u64 in[4] = { s[0], s[1], s[2], s[3] }, out;
    fesetround(o->mods & OPM_RZ ? FE_TOWARDZERO : o->mods & OPM_RM ? FE_DOWNWARD : FE_UPWARD);
    u64 x[4] = { in[0], in[1], in[2], in[3] };
    struct op plain = *o;
    plain.mods = 0;
    out = o->type == T_F32 ? eval_f32(&plain, x) : eval_f64(&plain, x);
    fesetround(FE_TONEAREST);
    return out;
}

/* f16 and bf16: in f64, where sums that do not fit are rounded to odd, and then once to the nearest even */
struct half {
    s32 eb, mb;
};
static struct half half_of(enum ptx_type t)
{
    return t == T_F16 || t == T_F16X2 ? (struct half){ 5, 10 } : (struct half){ 8, 7 };
}

static f64 half_value(u64 h, struct half f)
{
    s32 top = (1 << f.eb) - 1, e = (s32)(h >> f.mb) & top, m = (s32)h & ((1 << f.mb) - 1);
    f64 v = e == top ? (m ? (f64)NAN : (f64)INFINITY)
                     : ldexp(e ? m + (1 << f.mb) : m, (e ? e : 1) - (1 << (f.eb - 1)) + 1 - f.mb);
    return h >> 15 & 1 ? -v : v;
}

static u64 half_bits(f64 x, struct half f, u32 mods)
{
    s32 least = 2 - (1 << (f.eb - 1));
    if (mods & OPM_SAT) x = x > 0 ? (x < 1 ? x : 1) : 0;
    if (mods & OPM_RELU && x <= 0) x = 0;
    if (x != x) return 0x7fff;
    u64 sign = (u64) !!signbit(x) << 15, inf = ((1ull << f.eb) - 1) << f.mb;
    x = fabs(x);
    if (x >= ldexp(1, -least + 2)) return sign | inf;
    s32 e = x < ldexp(1, least) ? least : ilogb(x);
    u64 m = (u64)nearbyint(ldexp(x, f.mb - e)), r = m + ((u64)(e - least) << f.mb);
    return sign | MIN_OF(r, inf);
}

static f64 odd_sum(f64 a, f64 b)
{
    f64 s = a + b, part = s - a, lost = (a - (s - part)) + (b - part);
    u64 u = from_f64(s);
    if (!isfinite(s) || lost == 0 || u & 1) return s;
    return to_f64((lost > 0) == (s > 0) ? u + 1 : u - 1);
}

static u64 half_one(const struct op *o, struct half f, u64 a, u64 b, u64 c)
{
    f64 x = half_value(a, f), y = half_value(b, f), z = half_value(c, f);
    switch (o->code) {
    case OP_ADD: return half_bits(odd_sum(x, y), f, o->mods);
    case OP_SUB: return half_bits(odd_sum(x, -y), f, o->mods);
    case OP_FMUL: return half_bits(x * y, f, o->mods);
    case OP_FMA: return half_bits(odd_sum(x * y, z), f, o->mods);
    case OP_MIN: return half_bits(smaller(x, y, 1), f, 0);
    case OP_MAX: return half_bits(smaller(x, y, -1), f, 0);
    case OP_ABS: return x != x ? 0x7fff : a & 0x7fff;
    case OP_NEG: return x != x ? 0x7fff : (a ^ 0x8000) & 0xffff;
    case OP_TANH: return f.mb == 10 ? htanh_f16((f16){ (u16)a }, 0).v : htanh_bf16((bf16){ (u16)a }, 0).v;
    default: return f.mb == 10 ? hex2_f16((f16){ (u16)a }, 0).v : hex2_bf16((bf16){ (u16)a }, 0).v;
    }
}

static bool is_half(u32 t) { return t == T_F16 || t == T_BF16; }
static bool is_half_pair(u32 t) { return t == T_F16X2 || t == T_BF16X2; }

static u64 eval_half(const struct op *o, const u64 *s)
{
    struct half f = half_of((enum ptx_type)o->type);
    u64 low = half_one(o, f, s[0] & 0xffff, s[1] & 0xffff, s[2] & 0xffff);
    return is_half(o->type) ? low
                            : low | half_one(o, f, s[0] >> 16 & 0xffff, s[1] >> 16 & 0xffff, s[2] >> 16 & 0xffff) << 16;
}

/* A bf16 is the upper half of an f32, which may be any NaN; of two operands the first becomes the upper half. */
static u64 cvt_half(const struct op *o, const u64 *s)
{
    if (o->type == T_BF16) return zext(s[0] << 16, 4);
    if (o->type == T_F16) return from_f32((f32)half_value(s[0], half_of(T_F16)), 0);
    struct half f = half_of((enum ptx_type)o->dtype);
    u64 first = half_bits(to_f32(s[0], false), f, o->mods);
    return is_half(o->dtype) ? first : first << 16 | half_bits(to_f32(s[1], false), f, o->mods);
}

u64 ref_eval(const struct op *o, const u64 *s, u64 *second)
{
    if (o->code == OP_SETP) {
        bool t = compare(o, s), c = s[2] & 1, p = t, q = !t;
        if (o->bool_op) {
            p = o->bool_op == 1 ? p && c : o->bool_op == 2 ? p || c : p != c;
            q = o->bool_op == 1 ? q && c : o->bool_op == 2 ? q || c : q != c;
        }
        *second = q;
        return p;
    }
    if (o->code == OP_SELP) return s[2] & 1 ? s[0] : s[1];
    if (o->code == OP_MOV) return s[0];
    if (o->code == OP_CVT && (is_half(o->type) || is_half(o->dtype) || is_half_pair(o->dtype))) return cvt_half(o, s);
    if (is_half(o->type) || is_half_pair(o->type)) return eval_half(o, s);
    if (o->mods & (OPM_RZ | OPM_RM | OPM_RP)) return eval_directed(o, s);
    if (o->code == OP_CVT || (o->code >= OP_TRUNC && o->code <= OP_CEIL)) return eval_cvt(o, s[0]);
    if (o->type == T_PRED)
        return (o->code == OP_AND   ? s[0] & s[1]
                : o->code == OP_OR  ? s[0] | s[1]
                : o->code == OP_XOR ? s[0] ^ s[1]
                                    : ~s[0]) &
               1;
    if (o->type == T_F32) return eval_f32(o, s);
    if (o->type == T_F64) return eval_f64(o, s);
    return eval_int(o, s);
}

/* ---- threads ---- */

enum { TS_RUN, TS_WARP, TS_BAR, TS_DONE };
struct thread {
    u64 *reg[FILES];
    u8 *set[FILES];
    u32 pc, state, tid[3], cta, linear;
    /* of asynchronous copies: the one that is filled; the last that was waited for; each slot's */
    u32 group, over, in_group[COPY_SLOTS];
    char local[LOCAL_BYTES];
};
struct ref {
    const struct program *p;
    struct gen_launch *l;
    char *shared;
    u64 shared_bytes;
    struct arena mem;
    u64 steps;
    bool bad;
    u32 epoch;
    struct owner {
        u32 writer, write_epoch, reader, read_epoch;
    } * own[BUFS + 1];
    u32 *label_at[GEN_FUNCS + 1];
};
enum { STEPS_MAX = 20000000 };
static const u32 file_bytes[FILES] = { 1, 2, 4, 8, 4, 8 };
static const u64 buf_base[BUFS] = { 1ull << 40, 2ull << 40, 3ull << 40, 4ull << 40 };
enum { SHARED_WINDOW = 5 };

static u64 read_sreg(const struct ref *r, const struct thread *t, u32 id)
{
    switch (id) {
    case G_TID_X:
    case G_TID_Y:
    case G_TID_Z: return t->tid[id - G_TID_X];
    case G_NTID_X:
    case G_NTID_Y:
    case G_NTID_Z: return r->l->block[id - G_NTID_X];
    case G_CTAID_X: return t->cta;
    case G_LANEID: return t->linear & 31;
    case G_WARPID: return t->linear / 32;
    default: return r->l->grid;
    }
}

/* A program that reads what nobody wrote has no right answer. */
static u64 get(struct ref *r, const struct thread *t, struct opr o)
{
    if (o.kind == R_REG && !t->set[o.file][o.reg]) r->bad = true;
    return o.kind == R_REG    ? t->reg[o.file][o.reg]
           : o.kind == R_IMM  ? o.imm
           : o.kind == R_SREG ? read_sreg(r, t, o.reg)
                              : 0;
}

static void put(struct thread *t, struct opr o, u64 v)
{
    if (o.kind == R_REG) t->set[o.file][o.reg] = 1;
    if (o.kind == R_REG) t->reg[o.file][o.reg] = o.file == FILE_P ? v & 1 : zext(v, file_bytes[o.file]);
}

/* Nor has one whose threads touch the same word, unless a barrier stands between; sums are one kind of atomic a word.
 */
static void claim(struct ref *r, const struct thread *t, u32 which, u64 off, u32 n, u32 how)
{
    u32 me = t->cta * 65536 + t->linear + 1;
    if (which == BUF_IN) return;
    for (u64 k = off / 4; k <= (off + n - 1) / 4; k++) {
        struct owner *o = &r->own[which][k];
        if (how > 1) {
            if (o->writer && o->writer != how + (1u << 30)) r->bad = true;
            o->writer = how + (1u << 30);
            continue;
        }
        if (o->writer && o->writer != me && (o->write_epoch == r->epoch || which != BUFS)) r->bad = true;
        if (how && o->reader && o->reader != me && o->read_epoch == r->epoch) r->bad = true;
        if (how) {
            o->writer = me;
            o->write_epoch = r->epoch;
        } else {
            o->reader = o->reader && o->reader != me && o->read_epoch == r->epoch ? NONE_AT : me;
            o->read_epoch = r->epoch;
        }
    }
}

/* What is copied is read by whoever has waited for it, and only if it was copied; nor is it copied again before. */
static bool copy_is_there(const struct ref *r, const struct thread *t, u64 off, bool write)
{
    if (off < COPY_SHOWN) return true;
    if (t->in_group[(off - COPY_SHOWN) / COPY_EACH] > t->over) return false;
    return write || off < COPY_OWN || r->own[BUFS][off / 4].writer == t->cta * 65536 + t->linear + 1;
}

/* how: 0 read, 1 write, more: which sum */
static char *place(struct ref *r, struct thread *t, u32 space, u64 a, u32 n, u32 how)
{
    u32 which = BUFS;
    char *p = NULL;
    u64 size = 0, off = a;
    if (space == M_SHARED) {
        off = (u32)a;
        p = r->shared;
        size = r->shared_bytes;
    } else if (space == M_LOCAL) {
        p = t->local;
        size = LOCAL_BYTES;
    } else if (space == M_CONST) {
        p = (char *)r->p->tab;
        size = sizeof r->p->tab;
    } else {
        u64 k = (a >> 40) - 1;
        off = a & ((1ull << 40) - 1);
        if (k == SHARED_WINDOW - 1) {
            p = r->shared;
            size = r->shared_bytes;
        } else if (k < BUFS) {
            p = r->l->buf[k];
            size = r->l->bytes[k];
            which = (u32)k;
        }
    }
    if (r->bad || off + n > size || off % n || (which == BUF_IN && how)) {
        r->bad = true;
        return NULL;
    }
    if (p == r->shared && !copy_is_there(r, t, off, how != 0)) {
        r->bad = true;
        return NULL;
    }
    if (space != M_LOCAL && space != M_CONST) claim(r, t, which, off, n, how);
    return p + off;
}

static void run_memory(struct ref *r, struct thread *t, const struct item *i)
{
    u32 w = type_size[i->type], n = i->vec ? i->vec : 1;
    char *p = place(r, t, i->space, get(r, t, i->s[0]) + (u64)(s64)i->at, w * n, i->kind == I_ST);
    if (!p) return;
    const struct opr *d[4] = { &i->d, &i->d2, &i->more[0], &i->more[1] };
    u64 v[4] = { 0 };
    for (u32 k = 0; k < n; k++) {
        if (i->kind == I_LD)
            memcpy(&v[k], p + k * w, w);
        else {
            v[k] = get(r, t, *d[k]);
            memcpy(p + k * w, &v[k], w);
        }
    }
    if (i->kind == I_LD)
        for (u32 k = 0; k < n; k++) put(t, *d[k], type_is_signed((enum ptx_type)i->type) ? (u64)sext(v[k], w) : v[k]);
}

static void run_atomic(struct ref *r, struct thread *t, const struct item *i)
{
    u32 w = type_size[i->type];
    char *p = place(r, t, i->space, get(r, t, i->s[0]) + (u64)(s64)i->at, w, i->red ? 2 + i->op : 1);
    if (!p) return;
    u64 old = 0, b = zext(get(r, t, i->s[1]), w), c = zext(get(r, t, i->s[2]), w), v;
    memcpy(&old, p, w);
    switch (i->op) {
    case A_ADD: v = old + b; break;
    case A_MIN: v = MIN_OF(old, b); break;
    case A_MAX: v = MAX_OF(old, b); break;
    case A_MIN_S: v = sext(old, w) < sext(b, w) ? old : b; break;
    case A_MAX_S: v = sext(old, w) > sext(b, w) ? old : b; break;
    case A_AND: v = old & b; break;
    case A_OR: v = old | b; break;
    case A_XOR: v = old ^ b; break;
    case A_EXCH: v = b; break;
    case A_CAS: v = old == b ? c : old; break;
    case A_INC: v = old >= b ? 0 : old + 1; break;
    default: v = old == 0 || old > b ? b : old - 1;
    }
    memcpy(p, &v, w);
    if (!i->red) put(t, i->d, old);
}

static void run_wide(struct ref *r, struct thread *t, const struct item *i)
{
    u64 v[2] = { i->op == WIDE_LD ? 0 : get(r, t, i->s[1]), i->op == WIDE_LD ? 0 : get(r, t, i->s[2]) },
        old[2] = { v[0], v[1] };
    u64 c[2] = { get(r, t, i->more[0]), get(r, t, i->more[1]) };
    char *p = i->op == WIDE_MOV ? NULL
                                : place(r, t, M_GLOBAL, get(r, t, i->s[0]) + (u64)(s64)i->at, 16, i->op != WIDE_LD);
    if (p && i->op != WIDE_ST) memcpy(old, p, 16);
    if (p && i->op == WIDE_CAS) memcpy(v, old[0] == v[0] && old[1] == v[1] ? c : old, 16);
    if (p && i->op != WIDE_LD) memcpy(p, v, 16);
    if (i->op == WIDE_ST) return;
    put(t, i->d, old[0]);
    put(t, i->d2, old[1]);
}

/* A copy is made at once: nobody may look before it is waited for. */
static void run_async(struct ref *r, struct thread *t, const struct item *i)
{
    u32 n = i->vec;
    switch (i->op) {
    case ASYNC_COMMIT: t->group++; return;
    case ASYNC_WAIT:
        if (t->group > n + 1) t->over = MAX_OF(t->over, t->group - n - 1);
        return;
    case ASYNC_WAIT_ALL: t->over = t->group++; return;
    case ASYNC_INIT: return;
    }
    u64 given = i->s[2].kind ? get(r, t, i->s[2]) : n;
    char *to = place(r, t, M_SHARED, get(r, t, i->s[1]) + (u64)(s64)i->at, n, 1),
         *from = place(r, t, M_GLOBAL, get(r, t, i->s[0]), n, 0);
    if (!to || !from || given > n) {
        r->bad = true;
        return;
    }
    memset(to, 0, n);
    memcpy(to, from, given);
    t->in_group[((u32)i->at - COPY_SHOWN) / COPY_EACH] = t->group;
}

static void run_op(struct ref *r, struct thread *t, const struct item *i)
{
    const struct op *o = &gen_ops[i->op];
    u64 s[4], second = 0;
    if (o->code == OP_SELP) {
        put(t, i->d, get(r, t, get(r, t, i->s[2]) & 1 ? i->s[0] : i->s[1]));
        return;
    }
    for (u32 k = 0; k < 4; k++) s[k] = get(r, t, i->s[k]);
    if (o->code == OP_PACK) {
        u64 v = 0;
        u32 part = o->cmp, n = o->bool_op;
        for (u32 k = 0; k < n; k++) v |= zext(s[k], part) << 8 * part * k;
        put(t, i->d, v);
        return;
    }
    if (o->code == OP_UNPACK) {
        const struct opr *d[4] = { &i->d, &i->d2, &i->more[0], &i->more[1] };
        for (u32 k = 0; k < o->bool_op; k++) put(t, *d[k], s[0] >> 8 * o->cmp * k);
        return;
    }
    u64 v = ref_eval(o, s, &second);
    put(t, i->d, v);
    if (o->pair) put(t, i->d2, second);
}

static void run_thread(struct ref *r, struct thread *t, u32 func, u32 depth);

static void run_call(struct ref *r, struct thread *t, const struct item *i, u32 depth)
{
    u32 f = i->other && !(get(r, t, i->d2) & 1) ? i->other - 1 : i->label;
    const struct gfunc *g = &r->p->func[f];
    if (depth > 20) {
        r->bad = true;
        return;
    }
    u32 n = 0;
    for (u32 k = 0; k < FILES; k++) n += g->nreg[k] + 1;
    u64 *regs = base_alloc(8 * n), at = 0;
    struct thread c = *t;
    c.pc = 0;
    c.state = TS_RUN;
    memset(c.local, 0, sizeof c.local);
    u8 *set = base_alloc(n);
    for (u32 k = 0; k < FILES; k++) {
        c.reg[k] = regs + at;
        c.set[k] = set + at;
        at += g->nreg[k] + 1;
    }
    c.set[FILE_R][0] = c.set[FILE_R][1] = c.set[FILE_D][0] = c.set[FILE_F][0] = 1;
    /* parameters: %r0, %r1, %rd0, %f0; the result in %r0 */
    c.reg[FILE_R][0] = zext(get(r, t, i->s[0]), 4);
    c.reg[FILE_R][1] = zext(get(r, t, i->s[1]), 4);
    c.reg[FILE_D][0] = get(r, t, i->s[2]);
    c.reg[FILE_F][0] = zext(get(r, t, i->s[3]), 4);
    run_thread(r, &c, f, depth + 1);
    put(t, i->d, c.reg[FILE_R][0]);
    base_free(regs);
    base_free(set);
}

static u64 param_value(const struct ref *r, u32 k)
{
    const struct gen_args *a = &r->l->args;
    switch (k) {
    case 4: return a->p0;
    case 5: return a->p1;
    case 6: return a->q0;
    case 7: return from_f32(a->x0, 0);
    case 8: return from_f64(a->y0);
    case 9: return a->h0;
    default: return buf_base[k];
    }
}

/* Runs until the thread meets others or is done. */
static void run_thread(struct ref *r, struct thread *t, u32 func, u32 depth)
{
    const struct gfunc *f = &r->p->func[func];
    while (!r->bad) {
        if (++r->steps > STEPS_MAX) {
            r->bad = true;
            return;
        }
        if (t->pc >= f->item.n) {
            t->state = TS_DONE;
            return;
        }
        const struct item *i = &f->item.p[t->pc++];
        if (i->off) continue;
        if (i->guarded && !t->set[FILE_P][i->guard]) r->bad = true;
        if (i->guarded && (t->reg[FILE_P][i->guard] & 1) == i->neg) continue;
        switch (i->kind) {
        case I_OP: run_op(r, t, i); break;
        case I_LABEL: break;
        case I_BRA: t->pc = r->label_at[func][i->label]; break;
        case I_BRX: {
            u64 x = zext(get(r, t, i->s[0]), 4);
            if (x >= i->ntargets) {
                r->bad = true;
                return;
            }
            t->pc = r->label_at[func][i->targets[x]];
            break;
        }
        case I_RET: t->state = TS_DONE; return;
        case I_LD:
        case I_ST: run_memory(r, t, i); break;
        case I_ATOM: run_atomic(r, t, i); break;
        case I_CALL: run_call(r, t, i, depth); break;
        case I_PARAM: put(t, i->d, param_value(r, i->op)); break;
        case I_SYMBOL: put(t, i->d, 0); break;
        case I_WIDE: run_wide(r, t, i); break;
        case I_ASYNC: run_async(r, t, i); break;
        case I_WARP:
            t->state = TS_WARP;
            t->pc--;
            return;
        case I_BAR:
            t->state = TS_BAR;
            t->pc--;
            return;
        }
    }
}

/* ---- where threads meet ---- */

static void warp_operation(struct ref *r, struct thread *t, u32 who, const struct item *i)
{
    u64 a[32] = { 0 }, out[32] = { 0 };
    u32 pred[32] = { 0 }, set = 0, first = (u32)__builtin_ctz(who);
    bool equal = true, narrow = i->type != T_B64;
    for (u32 k = 0; k < 32; k++) {
        if (!(who >> k & 1)) continue;
        a[k] = get(r, &t[k], i->s[0]);
        if (narrow && i->s[0].file != FILE_P) a[k] = zext(a[k], 4);
        if (a[k]) set |= 1u << k;
        equal &= a[k] == a[first];
    }
    for (u32 k = 0; k < 32; k++) {
        if (!(who >> k & 1)) continue;
        s64 acc = 0;
        bool begun = false;
        switch (i->op) {
        case W_SHFL_UP:
        case W_SHFL_DOWN:
        case W_SHFL_BFLY:
        case W_SHFL_IDX: {
            u32 b = get(r, &t[k], i->s[1]) & 31, c = (u32)get(r, &t[k], i->s[2]), seg = c >> 8 & 31, cl = c & 31;
            s32 max = (s32)((k & seg) | (cl & ~seg)), min = (s32)(k & seg), j;
            bool in;
            if (i->op == W_SHFL_UP) {
                j = (s32)k - (s32)b;
                in = j >= max;
            } else if (i->op == W_SHFL_DOWN) {
                j = (s32)(k + b);
                in = j <= max;
            } else if (i->op == W_SHFL_BFLY) {
                j = (s32)(k ^ b);
                in = j <= max;
            } else {
                j = min | (s32)(b & ~seg);
                in = j <= max;
            }
            if (!in) j = (s32)k;
            out[k] = a[who >> j & 1 ? (u32)j : k];
            pred[k] = in;
            break;
        }
        case W_ALL: out[k] = set == who; break;
        case W_ANY: out[k] = set != 0; break;
        case W_UNI: out[k] = set == who || !set; break;
        case W_BALLOT: out[k] = set; break;
        case W_MATCH_ANY:
            for (u32 j = 0; j < 32; j++)
                if (who >> j & 1 && a[j] == a[k]) out[k] |= 1u << j;
            break;
        case W_MATCH_ALL:
            out[k] = equal ? who : 0;
            pred[k] = equal;
            break;
        case W_SYNC: break;
        default:
            for (u32 j = 0; j < 32; j++) {
                if (!(who >> j & 1)) continue;
                bool sg = i->op == W_RMINS || i->op == W_RMAXS;
                s64 v = sg ? sext(a[j], 4) : (s64)a[j];
                if (!begun) {
                    acc = v;
                    begun = true;
                    continue;
                }
                switch (i->op) {
                case W_RADD: acc += v; break;
                case W_RMIN:
                case W_RMINS: acc = MIN_OF(acc, v); break;
                case W_RMAX:
                case W_RMAXS: acc = MAX_OF(acc, v); break;
                case W_RAND: acc &= v; break;
                case W_ROR: acc |= v; break;
                default: acc ^= v;
                }
            }
            out[k] = (u64)acc;
        }
    }
    for (u32 k = 0; k < 32; k++) {
        if (!(who >> k & 1)) continue;
        put(&t[k], i->d, out[k]);
        put(&t[k], i->d2, pred[k]);
        t[k].state = TS_RUN;
        t[k].pc++;
    }
}

static bool meet_warp(struct ref *r, struct thread *t, u32 n)
{
    const struct gfunc *f = &r->p->func[r->p->nfunc];
    u32 live = 0;
    for (u32 k = 0; k < n; k++)
        if (t[k].state != TS_DONE) live |= 1u << k;
    for (u32 k = 0; k < n; k++) {
        if (t[k].state != TS_WARP) continue;
        const struct item *i = &f->item.p[t[k].pc];
        u32 mask = (u32)get(r, &t[k], i->s[3]), who = 0;
        for (u32 j = 0; j < n; j++)
            if (t[j].state == TS_WARP && t[j].pc == t[k].pc && (u32)get(r, &t[j], i->s[3]) == mask) who |= 1u << j;
        if (who & ~mask) {
            r->bad = true;
            return false;
        }
        if (who != (mask & live)) continue;
        warp_operation(r, t, who, i);
        return true;
    }
    return false;
}

static bool meet_barrier(struct ref *r, struct thread *t, u32 n)
{
    const struct gfunc *f = &r->p->func[r->p->nfunc];
    u32 at = NONE_AT, count = 0;
    bool all = true, any = false;
    for (u32 k = 0; k < n; k++) {
        if (t[k].state == TS_DONE) continue;
        if (t[k].state != TS_BAR || (at != NONE_AT && t[k].pc != at)) return false;
        at = t[k].pc;
    }
    if (at == NONE_AT) return false;
    r->epoch++;
    const struct item *i = &f->item.p[at];
    for (u32 k = 0; k < n; k++) {
        if (t[k].state == TS_DONE) continue;
        bool v = i->op < B_STATE && get(r, &t[k], i->s[0]) & 1;
        all &= v;
        any |= v;
        count += v;
        if (i->op == B_COPIED) t[k].over = t[k].group++;
        for (u32 c = 0; c < COPY_SLOTS; c++)
            if (t[k].in_group[c] > t[k].over) r->bad = true;
    }
    for (u32 k = 0; k < n; k++) {
        if (t[k].state == TS_DONE) continue;
        if (i->op != B_SYNC && i->op < B_STATE) put(&t[k], i->d, i->op == B_AND ? all : i->op == B_OR ? any : count);
        t[k].state = TS_RUN;
        t[k].pc++;
    }
    return true;
}

static void run_cta(struct ref *r, u32 cta)
{
    const u32 *b = r->l->block, n = b[0] * b[1] * b[2];
    const struct gfunc *f = &r->p->func[r->p->nfunc];
    struct thread *t = NEW_ARRAY(&r->mem, struct thread, n);
    memset(r->shared, 0, r->shared_bytes);
    memset(r->own[BUFS], 0, SHARED_BYTES / 4 * sizeof *r->own[BUFS]);
    r->epoch++;
    for (u32 k = 0; k < n; k++) {
        t[k].tid[0] = k % b[0];
        t[k].tid[1] = k / b[0] % b[1];
        t[k].tid[2] = k / b[0] / b[1];
        t[k].cta = cta;
        t[k].linear = k;
        t[k].group = 1;
        for (u32 j = 0; j < FILES; j++)
            t[k].reg[j] = NEW_ARRAY(&r->mem, u64, f->nreg[j] + 1), t[k].set[j] = NEW_ARRAY(&r->mem, u8, f->nreg[j] + 1);
    }
    for (bool again = true; again && !r->bad;) {
        again = false;
        for (u32 k = 0; k < n; k++)
            if (t[k].state == TS_RUN) {
                run_thread(r, &t[k], r->p->nfunc, 0);
                again = true;
            }
        for (u32 k = 0; k < n; k += 32)
            while (!r->bad && meet_warp(r, t + k, MIN_OF(32, n - k))) again = true;
        if (!again) again = meet_barrier(r, t, n);
    }
    for (u32 k = 0; k < n; k++)
        if (t[k].state != TS_DONE) r->bad = true;
}

bool ref_run(const struct program *p, struct gen_launch *l)
{
    struct ref r = { .p = p, .l = l };
    r.shared_bytes = SHARED_BYTES;
    r.shared = NEW_ARRAY(&r.mem, char, r.shared_bytes);
    for (u32 b = 0; b <= BUFS; b++)
        r.own[b] = NEW_ARRAY(&r.mem, struct owner, b == BUFS ? SHARED_BYTES / 4 : l->bytes[b] / 4 + 1);
    for (u32 f = 0; f <= p->nfunc; f++) {
        r.label_at[f] = NEW_ARRAY(&r.mem, u32, p->func[f].nlabel + 1);
        for (u32 k = 0; k < p->func[f].item.n; k++)
            if (p->func[f].item.p[k].kind == I_LABEL) r.label_at[f][p->func[f].item.p[k].label] = k;
    }
    for (u32 c = 0; c < l->grid && !r.bad; c++) run_cta(&r, c);
    arena_free(&r.mem);
    return !r.bad;
}
