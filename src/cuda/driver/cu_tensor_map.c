/* Tensor maps: the arguments of cuTensorMapEncode* become 128 bytes, in the bits of NVIDIA's driver
 * (mem/tensor_map.h), or are refused as there. */
#include "driver/cu_check.h"
#include "driver/cu_mem.h"
#include "driver/cu_reason.h"
#include "mem/tensor_map.h"

/* Of the 128 bytes. The documentation asks for 64; an H200 replaces addresses in maps anywhere, and cuda.core hands
 * over maps that Python placed. Copies by a map that lies at less than 64 on the device are reported there. */
enum { MAP_ALIGN = 8 };

/* The fields of a map are smaller than the arguments. */
static u8 small(u32 x) { return x > 255 ? 255 : (u8)x; }

/* The call is refused for what the map would be. */
static cu_result refused(const struct tensor_map *m)
{
    char cause[300];
    tensor_map_why(m, cause, sizeof cause);
    bool bytes = strstr(cause, "multiple of") || strstr(cause, "more than the");
    cu_reason(cause,
              bytes
                  ? "Pad rows to a multiple of 16 bytes, and choose boxes whose rows are one, too, and no longer than "
                    "the swizzle."
                  : "Give that argument a value which the sentence above allows.",
              false);
    return CU_INVALID_VALUE;
}

static bool is_list(const void *at, const char *parameter, u64 bytes)
{
    if (at && bytes_readable(at, bytes)) return true;
    cu_wrong_pointer(parameter, 0, at, bytes);
    return false;
}

/* What all maps have. false: an argument cannot be read. */
static bool begin(struct tensor_map *m, u32 type, u32 rank, u64 address, const u64 *dim, const u64 *stride,
                  const u32 *step)
{
    if (!rank || rank > TENSOR_RANKS || type >= MAP_TYPES) {
        *m = (struct tensor_map){ .type = small(type), .rank = small(rank) };
        refused(m);
        return false;
    }
    if (!is_list(dim, "p:globalDim", 8 * rank) || !is_list(step, "p:elementStrides", 4 * rank)) return false;
    /* NULL is refused for any rank */
    if ((!stride || rank > 1) && !is_list(stride, "p:globalStrides", 8 * MAX_OF(rank - 1u, 1u))) return false;
    *m = (struct tensor_map){ .type = (u8)type, .rank = (u8)rank, .address = address };
    m->stride[0] = tensor_map_element(type);
    for (u32 d = 0; d < rank; d++) {
        m->dim[d] = dim[d];
        m->step[d] = step[d];
        if (d) m->stride[d] = stride[d - 1];
    }
    return true;
}

static cu_result finish(struct map_words *out, struct tensor_map *m, u32 interleave, u32 swizzle, u32 promotion,
                        u32 fill)
{
    struct cu_context *c;
    m->newer = !cu_current(&c) && c->device->card->sm >= 100;
    m->interleave = small(interleave);
    m->swizzle = small(swizzle);
    m->promotion = small(promotion);
    m->fill = small(fill);
    if ((u64)(uintptr_t)out % MAP_ALIGN || !cu_ok(out)) {
        cu_reason("tensorMap is not the address of 128 bytes that is a multiple of 64.",
                  "Declare it as CUtensorMap, or align the memory for it to 64 bytes.", false);
        return CU_INVALID_VALUE;
    }
    if (tensor_map_wrong(m)) return refused(m);
    tensor_map_encode(m, out->word);
    return CU_OK;
}

CU_API(cuTensorMapEncodeTiled)
(struct map_words *out, u32 type, u32 rank, u64 address, const u64 *dim, const u64 *stride, const u32 *box,
 const u32 *step, u32 interleave, u32 swizzle, u32 promotion, u32 fill)
{
    struct tensor_map m;
    cu_result bad = cu_begin();
    if (bad) return bad;
    if (!begin(&m, type, rank, address, dim, stride, step) || !is_list(box, "p:boxDim", 4 * rank))
        return CU_INVALID_VALUE;
    memcpy(m.box, box, 4 * rank);
    return finish(out, &m, interleave, swizzle, promotion, fill);
}

CU_API(cuTensorMapEncodeIm2col)
(struct map_words *out, u32 type, u32 rank, u64 address, const u64 *dim, const u64 *stride, const s32 *lower,
 const s32 *upper, u32 channels, u32 pixels, const u32 *step, u32 interleave, u32 swizzle, u32 promotion, u32 fill)
{
    struct tensor_map m;
    cu_result bad = cu_begin();
    if (bad) return bad;
    if (rank < 3 || !begin(&m, type, rank, address, dim, stride, step)) return CU_INVALID_VALUE;
    u32 n = rank - 2;
    if (!bytes_readable(lower, 4 * n) || !bytes_readable(upper, 4 * n)) return CU_INVALID_VALUE;
    m.im2col = true;
    memcpy(m.lower, lower, 4 * n);
    memcpy(m.upper, upper, 4 * n);
    m.channels = channels;
    m.pixels = pixels;
    return finish(out, &m, interleave, swizzle, promotion, fill);
}

CU_API(cuTensorMapEncodeIm2colWide)
(struct map_words *out, u32 type, u32 rank, u64 address, const u64 *dim, const u64 *stride, s32 lower, s32 upper,
 u32 channels, u32 pixels, const u32 *step, u32 interleave, u32 mode, u32 swizzle, u32 promotion, u32 fill)
{
    struct tensor_map m;
    cu_result bad = cu_begin();
    if (bad) return bad;
    if (rank < 3 || mode > 1 || !begin(&m, type, rank, address, dim, stride, step)) return CU_INVALID_VALUE;
    m.im2col = true;
    m.wide = mode ? WIDE_W128 : WIDE_W;
    m.lower[0] = lower;
    m.upper[0] = upper;
    m.channels = channels;
    m.pixels = mode ? 128 : pixels;
    return finish(out, &m, interleave, swizzle, promotion, fill);
}

CU_DEFINE(cuTensorMapReplaceAddress, struct map_words *, map, u64, address)
{
    struct tensor_map m;
    if ((u64)(uintptr_t)map % MAP_ALIGN || !tensor_map_decode(map->word, &m)) return CU_INVALID_VALUE;
    m.address = address;
    if (tensor_map_wrong(&m)) return refused(&m);
    map->word[0] = address;
    return CU_OK;
}
