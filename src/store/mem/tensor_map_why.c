/* Why a tensor map is refused, with the numbers: the rules of tensor_map_wrong, in its order. */
#include "mem/tensor_map.h"
#include <inttypes.h>

static const u8 bits_of[MAP_TYPES] = { 8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6 };
static const char *const swizzle_name[] = { "NONE",         "32B",           "64B",
                                            "128B",         "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B",
                                            "128B_ATOM_64B" };
static const char *const interleave_name[] = { "NONE", "16B", "32B" };

/* "globalStrides[0] is 1000, no multiple of 16: 500 elements of 2 bytes a row". The list of strides begins with that of
 * dimension 1. */
static bool stride_text(const struct tensor_map *m, u32 d, u64 align, char *out, size_t size)
{
    u64 s = m->stride[d], element = bits_of[m->type] / 8u;
    if (s >> 40) {
        snprintf(out, size, "globalStrides[%u] is %" PRIu64 " bytes; it must be less than 2^40.", d - 1, s);
        return true;
    }
    if (!(s % align)) return false;
    int n = snprintf(out, size, "globalStrides[%u] is %" PRIu64 " bytes, no multiple of %" PRIu64, d - 1, s, align);
    if (element && !(s % element))
        n += snprintf(out + n, size - (size_t)n, ": %" PRIu64 " elements of %" PRIu64 " byte%s a row", s / element,
                      element, plural(element));
    snprintf(out + n, size - (size_t)n, "; the next multiple is %" PRIu64 ".", (s + align - 1) / align * align);
    return true;
}

static bool dimensions_text(const struct tensor_map *m, u64 align, char *out, size_t size)
{
    for (u32 d = 0; d < m->rank; d++) {
        bool bad = !m->dim[d] || m->dim[d] > 1ull << 32;
        if (bad) snprintf(out, size, "globalDim[%u] is %" PRIu64 "; it must be 1 to 2^32.", d, m->dim[d]);
        if (bad || (d && stride_text(m, d, align, out, size))) return true;
        if (m->step[d] && m->step[d] <= 8) continue;
        snprintf(out, size, "elementStrides[%u] is %u; it must be 1 to 8.", d, m->step[d]);
        return true;
    }
    return false;
}

static bool box_text(const struct tensor_map *m, char *out, size_t size)
{
    const char *across_name = m->im2col ? "channelsPerPixel" : "boxDim[0]";
    u32 across = m->im2col ? m->channels : m->box[0];
    u32 bits = tensor_map_padded(m->type) ? 8 : bits_of[m->type];
    u64 inner = (u64)across * bits;
    bool bad = m->im2col && (!m->channels || m->channels > 256);
    if (bad) snprintf(out, size, "channelsPerPixel is %u; it must be 1 to 256.", m->channels);
    if (!bad && m->im2col && (bad = !m->pixels || m->pixels > 1024))
        snprintf(out, size, "pixelsPerColumn is %u; it must be 1 to 1024.", m->pixels);
    for (u32 d = 0; !bad && !m->im2col && d < m->rank; d++)
        if ((bad = !m->box[d] || m->box[d] > 256))
            snprintf(out, size, "boxDim[%u] is %u; it must be 1 to 256.", d, m->box[d]);
    if (!bad && tensor_map_padded(m->type) && (bad = across != 128))
        snprintf(out, size, "%s is %u; elements of this type come 128 to a row.", across_name, across);
    if (!bad && (bad = inner % 128))
        snprintf(out, size, "%s is %u: %u elements of %u bits are %" PRIu64 " bytes%s, no multiple of 16.", across_name,
                 across, across, bits, inner / 8, inner % 8 ? " and a part" : "");
    if (!bad && !m->interleave && m->swizzle && (bad = inner > 8 * swizzle_width(m->swizzle)))
        snprintf(out, size,
                 "%s is %u: %u elements of %u bits are %" PRIu64 " bytes, more than the %u of "
                 "CU_TENSOR_MAP_SWIZZLE_%s; at most %u elements fit.",
                 across_name, across, across, bits, inner / 8, swizzle_width(m->swizzle), swizzle_name[m->swizzle],
                 8 * swizzle_width(m->swizzle) / bits);
    return bad;
}

static bool corners_text(const struct tensor_map *m, char *out, size_t size)
{
    u32 bits = m->rank == 3 || m->wide ? 16 : m->rank == 4 ? 8 : 5, first = m->interleave ? 0 : 1;
    s32 half = 1 << (bits - 1);
    for (u32 k = 0; k < (m->wide ? 1 : m->rank - 2u); k++) {
        s32 l = m->lower[k], u = m->upper[k];
        bool range = l < -half || l >= half || u < -half || u >= half;
        s64 left = (s64)m->dim[first + k] + u - l;
        if (range)
            snprintf(out, size,
                     "pixelBoxLowerCorner[%u] is %d and pixelBoxUpperCorner[%u] %d; of rank %u each must be "
                     "%d to %d.",
                     k, l, k, u, m->rank, -half, half - 1);
        else if (left <= 0)
            snprintf(out, size,
                     "globalDim[%u] + pixelBoxUpperCorner[%u] - pixelBoxLowerCorner[%u] is %" PRIu64
                     " + %d - %d = %" PRId64 ": no pixel is left.",
                     first + k, k, k, m->dim[first + k], u, l, left);
        if (range || left <= 0) return true;
    }
    return false;
}

/* What comes before the numbers of the dimensions. */
static bool words_text(const struct tensor_map *m, char *out, size_t size)
{
    u32 types = m->newer ? MAP_TYPES : MAP_U4, swizzles = m->newer ? SWIZZLE_128B_ATOM_64B : SWIZZLE_128B;
    if (m->type >= types)
        snprintf(out, size, "tensorDataType is %u; this device has types below %u.", m->type, types);
    else if (!m->rank || m->rank > TENSOR_RANKS || (m->im2col && m->rank < 3))
        snprintf(out, size, "tensorRank is %u; it must be %u to 5.", m->rank, m->im2col ? 3 : 1);
    else if (m->interleave > INTERLEAVE_32B)
        snprintf(out, size, "interleave is %u; it must be 0 to 2.", m->interleave);
    else if (m->interleave && m->rank < 3)
        snprintf(out, size, "interleave is CU_TENSOR_MAP_INTERLEAVE_%s, which needs a tensorRank of 3 to 5, not %u.",
                 interleave_name[m->interleave], m->rank);
    else if (m->swizzle > swizzles)
        snprintf(out, size, "swizzle is %u; this device has 0 to %u.", m->swizzle, swizzles);
    else if (m->promotion > 3)
        snprintf(out, size, "l2Promotion is %u; it must be 0 to 3.", m->promotion);
    else if (m->fill > 1)
        snprintf(out, size, "oobFill is %u; it must be 0 or 1.", m->fill);
    else if (m->fill && (m->type < MAP_F16 || m->type >= MAP_U4))
        snprintf(out, size, "oobFill is 1, NaN, which only floating-point types have; tensorDataType is %u.", m->type);
    else
        return false;
    return true;
}

void tensor_map_why(const struct tensor_map *m, char *out, size_t size)
{
    bool known = words_text(m, out, size);
    u64 align = m->interleave == INTERLEAVE_32B || tensor_map_padded(m->type) ? 32 : 16;
    if (!known && !m->wide && (known = m->address % align || m->address >> 57))
        snprintf(out, size, "globalAddress is 0x%" PRIx64 ", %" PRIu64 " bytes past a multiple of %" PRIu64 ".",
                 m->address, m->address % align, align);
    if (!known && !m->wide) known = dimensions_text(m, align, out, size);
    if (!known && m->type < MAP_U4 && !m->wide) known = box_text(m, out, size);
    if (!known && m->im2col && m->type < MAP_U4 && !m->wide) known = corners_text(m, out, size);
    const char *wrong = known ? NULL : tensor_map_wrong(m);
    if (wrong) snprintf(out, size, "%c%s.", wrong[0] - 'a' + 'A', wrong + 1);
}
