/* Arrays of the runtime: descriptions of texels, arrays, and copies to, from and between them. */
#include "runtime/rt_check.h"
#include "runtime/rt_array.h"

#define P(x) (u64)(uintptr_t)(x)

/* ---- texels ---- */

enum { SIGNED, UNSIGNED, FLOAT, NONE, NV12, UNORM_8X1, UNORM_16X1 = 8, SNORM_8X1 = 11, SNORM_16X4 = 16 }; /* kinds */

/* cudaChannelFormatKind of normalized texels and CUarray_format go side by side. */
enum { KIND_FIRST = UNORM_8X1, KIND_LAST = SNORM_16X4, FORMAT_FIRST = 0xc0 };

cu_result rt_channel_read(const struct rt_channel *c, u32 *format, u32 *channels)
{
    int bits[4] = { c->x, c->y, c->z, c->w };
    *channels = 0;
    while (*channels < 4 && bits[*channels]) (*channels)++;
    for (u32 i = 0; i < 4; i++)
        if (bits[i] != (i < *channels ? c->x : 0)) return RT_INVALID_CHANNEL;
    if (*channels != 1 && *channels != 2 && *channels != 4) return RT_INVALID_CHANNEL;
    bool whole = c->x == 8 || c->x == 16 || c->x == 32;
    switch (c->kind) {
    case SIGNED: *format = c->x == 8 ? 0x08 : c->x == 16 ? 0x09 : 0x0a; return whole ? CU_OK : RT_INVALID_CHANNEL;
    case UNSIGNED: *format = c->x == 8 ? 0x01 : c->x == 16 ? 0x02 : 0x03; return whole ? CU_OK : RT_INVALID_CHANNEL;
    case FLOAT: *format = c->x == 16 ? 0x10 : 0x20; return c->x == 16 || c->x == 32 ? CU_OK : RT_INVALID_CHANNEL;
    default: break;
    }
    if (c->kind >= KIND_FIRST && c->kind <= KIND_LAST) {
        *format = FORMAT_FIRST + (u32)(c->kind - KIND_FIRST);
        return CU_OK;
    }
    if (c->kind > KIND_LAST && c->kind < 32) {
        cu_refused("an array of compressed, planar or packed texels");
        return CU_NOT_SUPPORTED;
    }
    return RT_INVALID_CHANNEL;
}

struct rt_channel rt_channel_of(u32 format, u32 channels)
{
    struct texels t = { 0 };
    if (cu_format_read(format, channels, &t)) return (struct rt_channel){ .kind = NONE };
    int bits = 8 * t.channel_bytes;
    bool normalized = format >= FORMAT_FIRST;
    return (struct rt_channel){ .x = bits,
                                .y = channels > 1 ? bits : 0,
                                .z = channels > 2 ? bits : 0,
                                .w = channels > 2 ? bits : 0,
                                .kind = normalized                 ? (int)(format - FORMAT_FIRST) + KIND_FIRST
                                        : t.kind == TEXEL_SIGNED   ? SIGNED
                                        : t.kind == TEXEL_UNSIGNED ? UNSIGNED
                                                                   : FLOAT };
}

__attribute__((visibility("default"))) struct rt_channel lkrt_cudaCreateChannelDesc(int x, int y, int z, int w, int f);
struct rt_channel lkrt_cudaCreateChannelDesc(int x, int y, int z, int w, int f)
{
    return (struct rt_channel){ x, y, z, w, f };
}

/* ---- arrays ---- */

static cu_result described(const struct rt_channel *c, struct rt_extent e, unsigned flags, struct cu_array_3d *out)
{
    cu_result r = rt_enter(NULL);
    if (r) return r;
    if (!cu_ok(c)) return CU_INVALID_VALUE;
    *out = (struct cu_array_3d){ .width = e.width, .height = e.height, .depth = e.depth, .flags = flags };
    return rt_channel_read(c, &out->format, &out->channels);
}

RT_API(cudaMalloc3DArray)(struct cu_array **out, const struct rt_channel *c, struct rt_extent e, unsigned flags)
{
    struct cu_array_3d x;
    cu_result r = described(c, e, flags, &x);
    return rt_done(r ? r : lkcu_cuArray3DCreate_v2(out, &x));
}
RT_API(cudaMallocArray)(struct cu_array **out, const struct rt_channel *c, u64 width, u64 height, unsigned flags)
{
    return lkrt_cudaMalloc3DArray(out, c, (struct rt_extent){ width, height, 0 }, flags);
}
RT_DEFINE(cudaFreeArray, struct cu_array *, a) { return a ? lkcu_cuArrayDestroy(a) : CU_OK; }
RT_API(cudaMallocMipmappedArray)
(struct cu_mipmapped **out, const struct rt_channel *c, struct rt_extent e, unsigned levels, unsigned flags)
{
    struct cu_array_3d x;
    cu_result r = described(c, e, flags, &x);
    return rt_done(r ? r : lkcu_cuMipmappedArrayCreate(out, &x, levels));
}
RT_DEFINE(cudaFreeMipmappedArray, struct cu_mipmapped *, m) { return m ? lkcu_cuMipmappedArrayDestroy(m) : CU_OK; }

RT_DEFINE(cudaArrayGetInfo, struct rt_channel *, c, struct rt_extent *, e, unsigned *, flags, struct cu_array *, a)
{
    struct cu_array_3d x;
    cu_result r = lkcu_cuArray3DGetDescriptor_v2(&x, a);
    if (r) return r;
    if (c && cu_ok(c)) *c = rt_channel_of(x.format, x.channels);
    if (e && cu_ok(e)) *e = (struct rt_extent){ x.width, x.height, x.depth };
    if (flags && cu_ok(flags)) *flags = x.flags;
    return CU_OK;
}
RT_DEFINE(cudaGetChannelDesc, struct rt_channel *, c, struct cu_array *, a)
{
    return lkrt_cudaArrayGetInfo(c, NULL, NULL, a);
}

/* ---- copies of rows ---- */

struct array_place { /* in an array */
    struct cu_array *array;
    u64 x, y; /* bytes, rows */
};

/* width x height bytes between an array and memory, or another array. */
static cu_result rows(const struct array_place *to, const struct array_place *from, const void *p, u64 pitch, u64 width,
                      u64 height, u32 kind, bool async, void *s)
{
    struct cu_copy_3d x = { .width = width, .height = height, .depth = 1 };
    if (kind > BY_ADDRESS) return RT_INVALID_DIRECTION;
    if (p && height > 1 && pitch < width) return 12; /* cudaErrorInvalidPitchValue */
    x.to_type = to ? MEMORY_ARRAY : rt_memory_type(kind, true);
    x.from_type = from ? MEMORY_ARRAY : rt_memory_type(kind, false);
    if (to) x.to_array = to->array, x.to_x = to->x, x.to_y = to->y;
    if (from) x.from_array = from->array, x.from_x = from->x, x.from_y = from->y;
    if (!to) x.to_host = (void *)(uintptr_t)p, x.to_device = P(p), x.to_pitch = pitch;
    if (!from) x.from_host = p, x.from_device = P(p), x.from_pitch = pitch;
    return rt_copy_3d(&x, async, s);
}
#define PLACE(a, x, y) \
    &(struct array_place) { a, x, y }
#define TO_ROWS struct cu_array *a, u64 x, u64 y, const void *p, u64 pitch, u64 w, u64 h, u32 kind
#define FROM_ROWS void *p, u64 pitch, struct cu_array *a, u64 x, u64 y, u64 w, u64 h, u32 kind
#define OTHER_ROWS struct cu_array *a, u64 x, u64 y, struct cu_array *b, u64 bx, u64 by, u64 w, u64 h, u32 kind
RT_CALL(cudaMemcpy2DToArray, (TO_ROWS), rows(PLACE(a, x, y), NULL, p, pitch, w, h, kind, false, NULL))
RT_CALL(cudaMemcpy2DToArrayAsync, (TO_ROWS, void *s), rows(PLACE(a, x, y), NULL, p, pitch, w, h, kind, true, s))
RT_CALL(cudaMemcpy2DFromArray, (FROM_ROWS), rows(NULL, PLACE(a, x, y), p, pitch, w, h, kind, false, NULL))
RT_CALL(cudaMemcpy2DFromArrayAsync, (FROM_ROWS, void *s), rows(NULL, PLACE(a, x, y), p, pitch, w, h, kind, true, s))
RT_CALL(cudaMemcpy2DArrayToArray, (OTHER_ROWS),
        rows(PLACE(a, x, y), PLACE(b, bx, by), NULL, 0, w, h, kind, false, NULL))

/* ---- copies of bytes, which go on in the next row ---- */

/* Bytes that are left in the row of a place. */
static u64 left_in_row(const struct array_place *at)
{
    u64 row = at->array->texels.width * texel_bytes(&at->array->texels);
    return at->x < row ? row - at->x : 0;
}
static void advance_array(struct array_place *at, u64 n)
{
    if (left_in_row(at) > n) {
        at->x += n;
    } else {
        at->x = 0;
        at->y++;
    }
}

static bool fits(const struct array_place *at, u64 n)
{
    const struct texels *t = &at->array->texels;
    u64 row = t->width * texel_bytes(t), rows_ = MAX_OF(t->height, 1u);
    return at->y < rows_ && at->x < row && n <= (rows_ - at->y) * row - at->x;
}

static cu_result bytes(struct array_place *to, struct array_place *from, const void *p, u64 n, u32 kind, bool async,
                       void *s)
{
    cu_result r = rt_enter(NULL);
    if (r) return r;
    if ((to && !cu_handle_is(to->array, CU_ARRAY)) || (from && !cu_handle_is(from->array, CU_ARRAY)))
        return CU_INVALID_HANDLE;
    if (n && ((to && !fits(to, n)) || (from && !fits(from, n)))) return CU_INVALID_VALUE;
    while (n && !r) {
        u64 piece = MIN_OF(n, MIN_OF(to ? left_in_row(to) : n, from ? left_in_row(from) : n));
        r = rows(to, from, p, piece, piece, 1, kind, async, s);
        if (to) advance_array(to, piece);
        if (from) advance_array(from, piece);
        if (p) p = (const char *)p + piece;
        n -= piece;
    }
    return r;
}
#define TO_BYTES struct cu_array *a, u64 x, u64 y, const void *p, u64 n, u32 kind
#define FROM_BYTES void *p, struct cu_array *a, u64 x, u64 y, u64 n, u32 kind
RT_CALL(cudaMemcpyToArray, (TO_BYTES), bytes(PLACE(a, x, y), NULL, p, n, kind, false, NULL))
RT_CALL(cudaMemcpyToArrayAsync, (TO_BYTES, void *s), bytes(PLACE(a, x, y), NULL, p, n, kind, true, s))
RT_CALL(cudaMemcpyFromArray, (FROM_BYTES), bytes(NULL, PLACE(a, x, y), p, n, kind, false, NULL))
RT_CALL(cudaMemcpyFromArrayAsync, (FROM_BYTES, void *s), bytes(NULL, PLACE(a, x, y), p, n, kind, true, s))
RT_CALL(cudaMemcpyArrayToArray,
        (struct cu_array * a, u64 x, u64 y, struct cu_array *b, u64 bx, u64 by, u64 n, u32 kind),
        bytes(PLACE(a, x, y), PLACE(b, bx, by), NULL, n, kind, false, NULL))
