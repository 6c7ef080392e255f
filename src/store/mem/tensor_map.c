/* The encoding of tensor maps, as NVIDIA's driver has it for sm_90. It is in no manual: it was read off 1,462 maps that
 * the driver of an H200 made (tests/facts/tensormap.cu), and test_tensor_map.c holds it to all of them.
 *
 *   word 0   the address
 *   word 1   0 im2col, 4..6 rank - 1, 7..10 type, 11..12 interleave, 13..14 swizzle, 15 fill with NaN, 16 tf32,
 *            17..18 promotion, 20..21 swizzle beyond that of 128 bytes, 24..25 pixels of one row (places of our
 *            own: no driver of sm_100 was there to ask), 32..63 stride of dimension 1 / 16
 *   word 2   strides of dimensions 2 and 3 / 16
 *   word 3   0..31 stride of dimension 4 / 16, 32..47 bits 36..39 of the four strides
 *   word 4   dimensions 0 and 1, less 1
 *   word 5   dimensions 2 and 3, less 1
 *   word 6   0..31 dimension 4, less 1, 32..46 the element strides, less 1, 56..63 box of dimension 0, or channels,
 *            less 1
 *   word 7   0..31 box of dimensions 1 to 4, less 1, or the corners; 32..41 pixels, less 1
 *   word 8   bytes of a box, with element strides that divide rounding down
 *   word 9   what shared memory has to be aligned to for the swizzle: 16, 256, 512, 1024
 *
 * Elements of 4 and 6 bits have the numbers of the manual's .elemtype, which sm_90 has not. */
#include "mem/tensor_map.h"

/* The number of a type in the map. */
static const u8 type_number[MAP_TYPES] = { 0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 7, 8, 13, 14, 15 };
static const u8 type_bits[MAP_TYPES] = { 8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6 };

/* Elements of a row of padded ones, in every map. */
enum { PADDED_ROW = 128 };

u32 tensor_map_element(u32 type) { return type < MAP_TYPES ? type_bits[type] / 8u : 0; }

u32 tensor_map_units(struct tensor_map *m)
{
    if (m->type < MAP_U4) return 1;
    u32 each = m->type == MAP_U4 ? 2 : 16;
    m->stride[0] = each * type_bits[m->type] / 8u;
    m->dim[0] /= each;
    m->box[0] /= each;
    m->channels /= each;
    return each;
}

/* Bits of a corner's field: lower corners from bit 0 on, upper ones from bit 16. */
static u32 corner_bits(const struct tensor_map *m) { return m->rank == 3 || m->wide ? 16 : m->rank == 4 ? 8 : 5; }
/* Dimensions of pixels that have corners; of a rank that no map of pixels has, none. */
static u32 corner_count(const struct tensor_map *m)
{
    if (m->rank < 3 || m->rank > TENSOR_RANKS) return 0;
    return m->wide ? 1 : m->rank - 2u;
}

static const char *wrong_corners(const struct tensor_map *m)
{
    s32 half = 1 << (corner_bits(m) - 1);
    u32 first = m->interleave ? 0 : 1; /* dimension of pixels */
    for (u32 k = 0; k < corner_count(m); k++) {
        s32 l = m->lower[k], u = m->upper[k];
        if (l < -half || l >= half || u < -half || u >= half) return "a corner is out of its range";
        if ((s64)m->dim[first + k] + u - l <= 0) return "the corners leave no pixel";
    }
    return NULL;
}

static const char *wrong_box(const struct tensor_map *m)
{
    u32 across = m->im2col ? m->channels : m->box[0];
    u64 inner = (u64)across * (tensor_map_padded(m->type) ? 8u : type_bits[m->type]); /* bits, as in shared memory */
    if (m->im2col && (!m->channels || m->channels > 256)) return "channelsPerPixel is not 1 to 256";
    if (m->im2col && (!m->pixels || m->pixels > 1024)) return "pixelsPerColumn is not 1 to 1024";
    for (u32 d = 0; !m->im2col && d < m->rank; d++)
        if (!m->box[d] || m->box[d] > 256) return "a boxDim is not 1 to 256";
    if (tensor_map_padded(m->type) && across != PADDED_ROW) return "the inner dimension of the box is not 128";
    if (inner % 128) return "the inner dimension of the box is not a multiple of 16 bytes";
    if (!m->interleave && m->swizzle && inner > 8 * swizzle_width(m->swizzle))
        return "the inner dimension of the box is larger than the swizzle";
    return NULL;
}

/* What elements of 4 and 6 bits ask for beside the rest. */
static const char *wrong_narrow(const struct tensor_map *m)
{
    bool padded = tensor_map_padded(m->type);
    if (m->dim[0] % (padded ? PADDED_ROW : 2)) return "the first globalDim is not a multiple of 128, or 2";
    if (padded && m->interleave) return "no such interleave for the type";
    if (padded && m->swizzle && m->swizzle < SWIZZLE_128B) return "no such swizzle for the type";
    if (padded && m->swizzle == SWIZZLE_128B_ATOM_32B_FLIP_8B) return "no such swizzle for the type";
    if (m->type == MAP_U4_PADDED && m->swizzle == SWIZZLE_128B_ATOM_64B) return "no such swizzle for the type";
    return NULL;
}

const char *tensor_map_wrong(const struct tensor_map *m)
{
    if (m->type >= (m->newer ? (u32)MAP_TYPES : (u32)MAP_U4)) return "this architecture does not have the data type";
    if (!m->rank || m->rank > TENSOR_RANKS || (m->im2col && m->rank < 3)) return "the rank is not 1 to 5, or 3 to 5";
    if (m->interleave > INTERLEAVE_32B || (m->interleave && m->rank < 3)) return "no such interleave";
    if (m->swizzle > (m->newer ? SWIZZLE_128B_ATOM_64B : SWIZZLE_128B)) return "no such swizzle";
    if (m->wide && (!m->newer || m->wide > WIDE_W128 || m->interleave || m->swizzle < SWIZZLE_64B ||
                    m->swizzle > SWIZZLE_128B_ATOM_32B))
        return "no such interleave or swizzle for pixels of one row";
    if (m->promotion > 3) return "no such promotion";
    if (m->fill > 1 || (m->fill && (m->type < MAP_F16 || m->type >= MAP_U4))) return "no such fill for the type";
    u64 align = m->interleave == INTERLEAVE_32B || tensor_map_padded(m->type) ? 32 : 16;
    if (m->address % align || m->address >> 57) return "the address is not a multiple of 16, or 32";
    for (u32 d = 0; d < m->rank; d++) {
        if (!m->dim[d] || m->dim[d] > 1ull << 32) return "a globalDim is not 1 to 2^32";
        if (d && (m->stride[d] % align || m->stride[d] >> 40)) return "a globalStride is not a multiple of 16, or 32";
        if (!m->step[d] || m->step[d] > 8) return "an elementStride is not 1 to 8";
    }
    const char *box = m->type >= MAP_U4 ? wrong_narrow(m) : NULL;
    if (!box) box = wrong_box(m);
    return box ? box : m->im2col ? wrong_corners(m) : NULL;
}

void tensor_map_encode(const struct tensor_map *m, u64 w[TENSOR_MAP_WORDS])
{
    u64 size = type_bits[m->type];
    bool tf32 = m->type == MAP_TF32 || m->type == MAP_TF32_FTZ;
    memset(w, 0, 8 * TENSOR_MAP_WORDS);
    w[0] = m->address;
    w[1] = (u64)m->im2col | (u64)(m->rank - 1u) << 4 | (u64)type_number[m->type] << 7 | (u64)m->interleave << 11 |
           (u64)MIN_OF(m->swizzle, SWIZZLE_128B) << 13 |
           (u64)(m->swizzle > SWIZZLE_128B ? m->swizzle - SWIZZLE_128B : 0) << 20 | (u64)m->fill << 15 |
           (u64)tf32 << 16 | (u64)m->promotion << 17 | (u64)m->wide << 24;
    for (u32 d = 1; d < m->rank; d++) {
        u64 s = m->stride[d] >> 4;
        w[1 + d / 2] |= (s & 0xffffffffu) << (d % 2 ? 32 : 0);
        w[3] |= (s >> 32 & 15) << (32 + 4 * (d - 1));
    }
    for (u32 d = 0; d < m->rank; d++) {
        w[4 + d / 2] |= (m->dim[d] - 1) << (d % 2 ? 32 : 0);
        w[6] |= (u64)(m->step[d] - 1) << (32 + 3 * d);
        if (!m->im2col) size *= m->box[d] / m->step[d];
        if (!m->im2col && d) w[7] |= (u64)(m->box[d] - 1) << 8 * (d - 1);
    }
    w[6] |= (u64)((m->im2col ? m->channels : m->box[0]) - 1) << 56;
    if (m->im2col) {
        u32 bits = corner_bits(m), mask = (1u << bits) - 1;
        for (u32 k = 0; k < corner_count(m); k++)
            w[7] |= (u64)((u32)m->lower[k] & mask) << bits * k | (u64)((u32)m->upper[k] & mask) << (16 + bits * k);
        w[7] |= (u64)(m->pixels - 1) << 32;
        size *= (u64)m->channels * m->pixels;
    }
    w[8] = size / 8;
    w[9] = m->swizzle ? 8 * swizzle_width(m->swizzle) : 16;
}

static s32 corner(u64 field, u32 bits) { return (s32)((u32)field << (32 - bits)) >> (32 - bits); }

bool tensor_map_decode(const u64 w[TENSOR_MAP_WORDS], struct tensor_map *m)
{
    u32 number = w[1] >> 7 & 15, type = 0;
    bool tf32 = w[1] >> 16 & 1;
    *m = (struct tensor_map){ .newer = true,
                              .im2col = w[1] & 1,
                              .wide = w[1] >> 24 & 3,
                              .rank = (u8)((w[1] >> 4 & 7) + 1),
                              .interleave = w[1] >> 11 & 3,
                              .swizzle = (u8)((w[1] >> 13 & 3) + (w[1] >> 20 & 3)),
                              .fill = w[1] >> 15 & 1,
                              .promotion = w[1] >> 17 & 3,
                              .address = w[0] };
    while (type < MAP_TYPES && (type_number[type] != number || tf32 != (type == MAP_TF32 || type == MAP_TF32_FTZ)))
        type++;
    if (type == MAP_TYPES || m->rank > TENSOR_RANKS) return false;
    m->type = (u8)type;
    m->stride[0] = tensor_map_element(type);
    for (u32 d = 0; d < m->rank; d++) {
        u64 s = d ? w[1 + d / 2] >> (d % 2 ? 32 : 0) & 0xffffffffu : 0;
        if (d) m->stride[d] = (s | (w[3] >> (32 + 4 * (d - 1)) & 15) << 32) << 4;
        m->dim[d] = (w[4 + d / 2] >> (d % 2 ? 32 : 0) & 0xffffffffu) + 1;
        m->step[d] = (u32)(w[6] >> (32 + 3 * d) & 7) + 1;
        m->box[d] = d ? (u32)(w[7] >> 8 * (d - 1) & 255) + 1 : (u32)(w[6] >> 56) + 1;
    }
    if (m->im2col) {
        u32 bits = corner_bits(m);
        for (u32 k = 0; k < corner_count(m); k++) {
            m->lower[k] = corner(w[7] >> bits * k, bits);
            m->upper[k] = corner(w[7] >> (16 + bits * k), bits);
        }
        m->channels = m->box[0];
        m->pixels = (u32)(w[7] >> 32 & 1023) + 1;
        memset(m->box, 0, sizeof m->box);
    }
    return !tensor_map_wrong(m);
}
