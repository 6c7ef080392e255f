/* Argument sets of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, made by number: each field in turn through its
 * bits and its limits, then random ones. tensormap.cu has a driver encode them, test_tensor_map.c compares what it
 * recorded (tests/truth/tensormap.txt) with our own encoding. */
#ifndef TENSORMAP_CASES_H
#define TENSORMAP_CASES_H
#include <stdint.h>
#include <string.h>

enum { MAP_TILED, MAP_IM2COL };
struct map_case {
    int kind, type; /* MAP_*; CUtensorMapDataType */
    uint32_t rank;
    uint64_t address, dim[5], stride[5]; /* bytes; stride[k] is that of dimension k + 1 */
    uint32_t box[5], step[5];            /* tiled: the box; element strides */
    int lower[3], upper[3];              /* im2col: corners of the box of pixels */
    uint32_t channels, pixels;           /* im2col */
    int interleave, swizzle, promotion, fill;
};

static inline uint64_t map_random(uint64_t *s)
{
    *s += 0x9e3779b97f4a7c15u;
    uint64_t z = *s;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline uint32_t map_type_bytes(int type)
{
    static const uint8_t bytes[] = { 1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 1, 1, 1 };
    return type >= 0 && type < 16 ? bytes[type] : 4;
}

static inline struct map_case map_base(int kind, uint32_t rank)
{
    struct map_case c;
    static const uint64_t dim[5] = { 1000, 77, 13, 9, 5 };
    static const uint32_t box[5] = { 32, 8, 4, 2, 1 };
    uint64_t pitch = 4096;
    memset(&c, 0, sizeof c);
    c.kind = kind;
    c.type = 7; /* f32 */
    c.rank = rank;
    c.address = 0x7f1234567800u;
    for (uint32_t k = 0; k < 5; k++) {
        c.dim[k] = dim[k];
        c.stride[k] = pitch;
        pitch *= 2 * dim[k + 1 < 5 ? k + 1 : 4];
        pitch = pitch / 16 * 16;
        c.box[k] = box[k];
        c.step[k] = 1;
    }
    c.channels = 32;
    c.pixels = 64;
    return c;
}

static inline struct map_case map_drawn(uint64_t seed)
{
    uint64_t s = seed;
    uint32_t rank = 1 + (uint32_t)(map_random(&s) % 5); /* one draw a statement: the record depends on their order */
    struct map_case c = map_base(map_random(&s) % 4 == 0 ? MAP_IM2COL : MAP_TILED, rank);
    if (c.kind == MAP_IM2COL && c.rank < 3) c.rank = 3;
    c.type = (int)(map_random(&s) % 13);
    c.address = (map_random(&s) & 0xffffffffffffu) & ~(uint64_t)31;
    uint32_t bytes = map_type_bytes(c.type), inner = 16 / bytes ? 16 / bytes : 1;
    c.interleave = c.rank >= 3 && map_random(&s) % 4 == 0 ? 1 + (int)(map_random(&s) % 2) : 0;
    c.swizzle = c.interleave == 2 ? 1 : c.interleave ? 0 : (int)(map_random(&s) % 4);
    c.promotion = (int)(map_random(&s) % 4);
    c.fill = c.type >= 6 ? (int)(map_random(&s) % 2) : 0;
    uint64_t pitch = 32;
    for (uint32_t k = 0; k < 5; k++) {
        uint64_t drawn = map_random(&s);
        drawn >>= map_random(&s) % 24;
        c.dim[k] = 1 + drawn % (k < 2 ? 100000 : 3000);
        pitch = (k ? c.stride[k - 1] * (1 + map_random(&s) % 9)
                   : (c.dim[0] * bytes + 31) / 32 * 32 * (1 + map_random(&s) % 5));
        c.stride[k] = pitch & 0xffffffffe0u;
        if (!c.stride[k]) c.stride[k] = 32;
        c.box[k] = 1 + (uint32_t)(map_random(&s) % (k ? 12 : 4));
        c.step[k] = map_random(&s) % 4 ? 1 : 1 + (uint32_t)(map_random(&s) % 8);
    }
    c.box[0] *= inner;
    if (c.interleave) c.box[0] = (c.interleave == 1 ? 16 : 32) / bytes;
    int span = c.rank == 3 ? 32768 : c.rank == 4 ? 128 : 8;
    for (uint32_t k = 0; k < 3; k++) {
        c.lower[k] = (int)(map_random(&s) % (uint32_t)(2 * span)) - span;
        c.upper[k] = (int)(map_random(&s) % (uint32_t)(2 * span)) - span;
    }
    c.channels = inner * (1 + (uint32_t)(map_random(&s) % 4));
    c.pixels = 1 + (uint32_t)(map_random(&s) % 1024);
    return c;
}

/* How many there are of each field. */
enum { MAP_RANDOM = 287 };

/* Case n; 0: there are no more. */
static inline int map_case(unsigned n, struct map_case *c)
{
    static const uint32_t boxes[] = { 0, 1, 2, 3, 4, 8, 16, 64, 128, 255, 256, 257 };
    static const int corners[] = { 0,  1,   -1,  2,    4,    7,    8,     -8,     -9,   16,
                                   64, 127, 128, -128, -129, 1024, 32767, -32768, 32768 };
    static const uint32_t counts[] = { 0, 1, 2, 4, 8, 16, 64, 128, 255, 256, 257, 512, 1023, 1024, 1025, 2048 };
#define UPTO(count) (n < (count) ? 1 : (n -= (count), 0))
    *c = map_base(MAP_TILED, 3);
    if (UPTO(1)) return 1;
    if (UPTO(20)) { /* types */
        c->type = (int)n;
        return 1;
    }
    if (UPTO(8)) { /* ranks */
        *c = map_base(MAP_TILED, n);
        return 1;
    }
    if (UPTO(64)) {
        c->address = (uint64_t)1 << n;
        return 1;
    }
    if (UPTO(5 * 34)) {
        *c = map_base(MAP_TILED, 5);
        c->dim[n / 34] = n % 34 == 33 ? 0 : (uint64_t)1 << n % 34;
        return 1;
    }
    if (UPTO(4 * 42)) {
        *c = map_base(MAP_TILED, 5);
        c->stride[n / 42] = (uint64_t)1 << n % 42;
        return 1;
    }
    if (UPTO(5 * 12)) {
        *c = map_base(MAP_TILED, 5);
        c->type = 0;
        for (unsigned k = 0; k < 5; k++) c->box[k] = k ? 1 : 16;
        c->box[n / 12] = boxes[n % 12];
        return 1;
    }
    if (UPTO(5 * 10)) {
        *c = map_base(MAP_TILED, 5);
        c->step[n / 10] = n % 10;
        return 1;
    }
    if (UPTO(4 * 8 * 4)) { /* interleave, swizzle, bytes of the inner box */
        static const uint32_t inner[] = { 16, 32, 64, 128 };
        c->type = 0;
        c->interleave = (int)(n / 32);
        c->swizzle = (int)(n / 4 % 8);
        c->box[0] = inner[n % 4];
        return 1;
    }
    if (UPTO(4)) { /* twice the inner box that a swizzle allows */
        c->type = 0;
        c->swizzle = (int)n;
        c->box[0] = 256;
        return 1;
    }
    if (UPTO(6)) {
        c->promotion = (int)n;
        return 1;
    }
    if (UPTO(2 * 16)) {
        c->type = (int)(n % 16);
        c->fill = 1 + (int)(n / 16);
        return 1;
    }
    if (UPTO(3)) { /* alignment with interleaving by 32 bytes */
        c->interleave = 2;
        c->swizzle = 1;
        c->box[0] = 8;
        c->address += n == 1 ? 16 : 0;
        c->stride[0] += n == 2 ? 16 : 0;
        return 1;
    }
    if (UPTO(4)) { /* interleaving of ranks below 3 */
        *c = map_base(MAP_TILED, 1 + n % 2);
        c->interleave = 1 + (int)(n / 2);
        c->swizzle = c->interleave == 2;
        c->box[0] = 4u * (unsigned)c->interleave;
        return 1;
    }
    if (UPTO(3)) { /* strides that are smaller than what they step over, or no multiple of the one before */
        c->stride[0] = n == 0 ? 16 : 4096;
        c->stride[1] = n == 1 ? 64 : n == 2 ? 4096 * 77 + 16 : c->stride[1];
        return 1;
    }
    if (UPTO(6)) { /* im2col of each rank */
        *c = map_base(MAP_IM2COL, n);
        return 1;
    }
    if (UPTO(3 * 6 * 19)) {
        *c = map_base(MAP_IM2COL, 3 + n / (6 * 19));
        unsigned k = n / 19 % 6;
        (k < 3 ? c->lower : c->upper)[k % 3] = corners[n % 19];
        return 1;
    }
    if (UPTO(2 * 16)) {
        *c = map_base(MAP_IM2COL, 4);
        c->type = 0;
        *(n / 16 ? &c->pixels : &c->channels) = counts[n % 16];
        return 1;
    }
    if (UPTO(3 * 8)) {
        *c = map_base(MAP_IM2COL, 4);
        c->type = 0;
        c->channels = n / 8 == 2 ? 32 : 16;
        c->interleave = (int)(n / 8);
        c->swizzle = (int)(n % 8);
        return 1;
    }
    if (UPTO(5 * 10)) {
        *c = map_base(MAP_IM2COL, 5);
        c->step[n / 10] = n % 10;
        return 1;
    }
    if (UPTO(MAP_RANDOM)) {
        *c = map_drawn(n * 77 + 5);
        return 1;
    }
#undef UPTO
    return 0;
}
#endif
