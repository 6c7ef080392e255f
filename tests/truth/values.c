/* Operands: edge values by type, and numbers from a counter, shaped so that results are not all infinite, zero or
 * NaN. */
#include "truth.h"

/* The best spread comes first: three operands use 16 of each, four use 10. */
static const u64 edge_int[EDGES_2] = {
    0,
    1,
    0xffffffffffffffff,
    0x8000000080008080,
    31,
    32,
    0x7fffffff7fff7f7f,
    8,
    0x12345678deadbeef,
    255,
    0x80000000,
    0x8000000000000000,
    64,
    3,
    0xfffffffffffffffe,
    0x7fffffffffffffff,
    2,
    5,
    7,
    15,
    16,
    33,
    63,
    65,
    127,
    128,
    256,
    0x7fff,
    0x8000,
    0xffff,
    0x10000,
    0x7fffffff,
    0x80000001,
    0xffffffff,
    0xfffffff0,
    0x100000000,
    0x5555555555555555,
    0xaaaaaaaaaaaaaaaa,
    0xcafef00d,
    0x8000000000000001,
};
static const u32 edge_f32[EDGES_2] = {
    0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001,
    0x807fffff, 0x7f7fffff, 0x00800000, 0x3f7fffff, 0x40490fdb, 0xc0200000, 0xff812345, 0x4b7fffff,
    0x7fffffff, 0xffc00001, 0x7f800001, 0x007fffff, 0x80000001, 0x80800000, 0xff7fffff, 0x3f800001,
    0x3f000000, 0xbf000000, 0x3fc00000, 0x40000000, 0xc0400000, 0x3eaaaaab, 0x4b000000, 0x4f000000,
    0xcf000000, 0x4f800000, 0x5f000000, 0x5f800000, 0x42ff0000, 0x477fe000, 0x1e3ce508, 0x42fc8000,
};
static const u64 edge_f64[EDGES_2] = {
    0,
    0x8000000000000000,
    0x3ff0000000000000,
    0xbff0000000000000,
    0x7ff0000000000000,
    0xfff0000000000000,
    0x7ff8000000000000,
    1,
    0x800fffffffffffff,
    0x7fefffffffffffff,
    0x0010000000000000,
    0x3fefffffffffffff,
    0x400921fb54442d18,
    0xc004000000000000,
    0xfff0000012345678,
    0x433fffffffffffff,
    0x7fffffffffffffff,
    0xfff8000000000001,
    0x7ff0000000000001,
    0x000fffffffffffff,
    0x8000000000000001,
    0x8010000000000000,
    0xffefffffffffffff,
    0x3ff0000000000001,
    0x3fe0000000000000,
    0xbfe0000000000000,
    0x3ff8000000000000,
    0x4000000000000000,
    0xc008000000000000,
    0x3fd5555555555555,
    0x4330000000000000,
    0x41e0000000000000,
    0xc1e0000000000000,
    0x41f0000000000000,
    0x43e0000000000000,
    0x43f0000000000000,
    0x405fe00000000000,
    0x380fffffe0000000,
    0x36a0000000000000,
    0x47efffffefffffff,
};
static const u16 edge_f16[EDGES_2] = {
    0,      0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x0001, 0x83ff, 0x7bff, 0x0400, 0x3bff, 0x4248, 0xc100,
    0xfd23, 0x67ff, 0x7fff, 0xfe01, 0x7c01, 0x03ff, 0x8001, 0x8400, 0xfbff, 0x3c01, 0x3800, 0xb800, 0x3e00, 0x4000,
    0xc200, 0x3555, 0x6400, 0x6800, 0x7800, 0xf800, 0x57f8, 0x5bf8, 0x2e66, 0x1400, 0x0002, 0x7bfe,
};
static const u16 edge_bf16[EDGES_2] = {
    0,      0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 0x0001, 0x807f, 0x7f7f, 0x0080, 0x3f7f, 0x4049, 0xc020,
    0xff81, 0x437f, 0x7fff, 0xffc1, 0x7f81, 0x007f, 0x8001, 0x8080, 0xff7f, 0x3f81, 0x3f00, 0xbf00, 0x3fc0, 0x4000,
    0xc040, 0x3eab, 0x4300, 0x4f00, 0xcf00, 0x4f80, 0x5f00, 0x42ff, 0x477f, 0x1e3d, 0x0002, 0x7f7e,
};

static u32 edges_each(const struct variant *v)
{
    return v->sources <= 2 ? EDGES_2 : v->sources == 3 ? EDGES_3 : EDGES_4;
}

static u32 edges_of(const struct variant *v, u32 source) { return v->source[source] == T_PRED ? 2 : edges_each(v); }

u32 edge_count(const struct variant *v)
{
    u32 n = 1;
    for (u32 i = 0; i < v->sources; i++) n *= edges_of(v, i);
    return n;
}

static u64 edge_at(enum ptx_type t, u32 i)
{
    u32 other = (i * 7 + 3) % EDGES_2;
    switch (t) {
    case T_PRED: return i & 1;
    case T_F32:
    case T_TF32: return edge_f32[i];
    case T_F64: return edge_f64[i];
    case T_F16: return edge_f16[i];
    case T_BF16: return edge_bf16[i];
    case T_F16X2: return edge_f16[i] | (u32)edge_f16[other] << 16;
    case T_BF16X2: return edge_bf16[i] | (u32)edge_bf16[other] << 16;
    case T_F32X2: return edge_f32[i] | (u64)edge_f32[other] << 32;
    default: return edge_int[i];
    }
}

u64 edge_value(const struct variant *v, u32 source, u32 i)
{
    for (u32 k = 0; k < source; k++) i /= edges_of(v, k);
    return edge_at(v->source[source], i % edges_of(v, source));
}

/* A float of `bits` bits with `mantissa` bits behind the point: half of them near 1, a quarter any bits, a quarter
 * edges with low bits disturbed. */
static u64 shape_float(u64 r, u32 bits, u32 mantissa, u64 edge)
{
    u64 mask = bits == 64 ? ~0ull : (1ull << bits) - 1, sign = 1ull << (bits - 1), any = r >> 8;
    u64 bias = (1ull << (bits - 2 - mantissa)) - 1;
    switch (r & 3) {
    case 0: return any & mask;
    case 1: return (edge ^ (any & 3)) & mask;
    default: return (any & ((1ull << mantissa) - 1)) | (bias - 8 + (r >> 2 & 15)) << mantissa | (r & 128 ? sign : 0);
    }
}

u64 random_value(const struct variant *v, u32 source, u32 i)
{
    u64 state = ((u64)i * SOURCES + source) * 0x9e3779b97f4a7c15u, r = rand_next(&state), q = rand_next(&state);
    enum ptx_type t = v->source[source];
    u64 edge = edge_at(t, (u32)(q % EDGES_2));
    switch (t) {
    case T_PRED: return r & 1;
    case T_F32:
    case T_TF32: return shape_float(r, 32, 23, edge);
    case T_F64:
        return (r & 3) == 0   ? q
               : (r & 3) == 1 ? edge ^ (q >> 60)
                              : (q >> 12) | (1015 + (r >> 2 & 15)) << 52 | r >> 63 << 63;
    case T_F16: return shape_float(r, 16, 10, edge);
    case T_BF16: return shape_float(r, 16, 7, edge);
    case T_F16X2: return shape_float(r, 16, 10, edge & 0xffff) | shape_float(q, 16, 10, edge >> 16) << 16;
    case T_BF16X2: return shape_float(r, 16, 7, edge & 0xffff) | shape_float(q, 16, 7, edge >> 16) << 16;
    case T_F32X2: return shape_float(r, 32, 23, edge & 0xffffffff) | shape_float(q, 32, 23, edge >> 32) << 32;
    default: break;
    }
    /* integers of every size, either sign; as a shift or a position small ones matter */
    u32 bits = register_bytes(t) * 8;
    u64 x = q << (64 - bits) >> (64 - bits) >> (r % bits);
    return r >> 40 & 1 ? 0 - x : x;
}

/* The hash of a block is the sum of these, so that order does not matter: 32-bit steps, which processors do several
 * of at a time. Each is a bijection of the value, so that one wrong result always shows. runner.c has the same in
 * PTX. */
static inline u32 mix(u32 value, u32 index)
{
    u32 z = value + index * 0x9e3779b1u;
    z = (z ^ z >> 16) * 0x85ebca6bu;
    z = (z ^ z >> 13) * 0xc2b2ae35u;
    return z ^ z >> 16;
}

#if defined __x86_64__ && defined __GNUC__ && !defined __clang__
__attribute__((target_clones("avx2", "default")))
#endif
u64 hash_array(const void *p, u32 bytes, u32 first, u32 n)
{
    u64 sum = 0;
    if (bytes == 2)
        for (u32 i = 0; i < n; i++) sum += mix(((const u16 *)p)[i], first + i);
    else if (bytes == 4)
        for (u32 i = 0; i < n; i++) sum += mix(((const u32 *)p)[i], first + i);
    else
        for (u32 i = 0; i < n; i++)
            sum += (u64)mix(((const u32 *)p)[2 * i], first + i) + mix(((const u32 *)p)[2 * i + 1], ~(first + i));
    return sum;
}

u64 spot_first(const struct variant *v, u32 block)
{
    u32 bits = MIN_OF(all_bits(v), (u32)ALL_BLOCK_BITS);
    u64 state = str_hash(str_of(v->name)) + block, spots = 1ull << (bits - SPOT_BITS);
    return ((u64)block << bits) + (rand_next(&state) % spots << SPOT_BITS);
}
