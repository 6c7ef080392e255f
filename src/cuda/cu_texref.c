/* Texture references, which were replaced by texture objects in CUDA 12 but are still exported: what is set is kept and
 * told. A kernel that reads one is refused when it is loaded. */
#include "cuda/cu_mem.h"

struct cu_texref { /* CUtexref */
    struct cu_resource resource;
    bool bound; /* `resource` is set */
    u32 format, channels;
    struct cu_texture texture;
};

CU_API(cuTexRefCreate)(struct cu_texref **out)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_ok(out)) return CU_INVALID_VALUE;
    struct cu_texref *t = cu_handle_new(CU_TEXREF, sizeof *t);
    if (!t) return CU_OUT_OF_MEMORY;
    t->format = 0x20; /* one float, clamped */
    t->channels = 1;
    for (u32 k = 0; k < 3; k++) t->texture.address[k] = TEXTURE_CLAMP;
    *out = t;
    return CU_OK;
}
CU_API(cuTexRefDestroy)(struct cu_texref *t)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_handle_take(t, CU_TEXREF)) return CU_INVALID_HANDLE;
    base_free(t);
    return CU_OK;
}

/* Sets or tells something of a reference: `ok` is what else must be true. */
#define OF(t, ok, act)                                             \
    do {                                                           \
        cu_result begun_ = cu_begin();                             \
        if (begun_) return begun_;                                 \
        if (!cu_handle_is(t, CU_TEXREF)) return CU_INVALID_HANDLE; \
        if (!(ok)) return CU_INVALID_VALUE;                        \
        act;                                                       \
        return CU_OK;                                              \
    } while (0)

static void bind(struct cu_texref *t, struct cu_resource r)
{
    t->resource = r;
    t->bound = true;
}
CU_API(cuTexRefSetArray)(struct cu_texref *t, struct cu_array *a, unsigned flags)
{
    OF(t, flags <= 1 && cu_handle_is(a, CU_ARRAY), {
        bind(t, (struct cu_resource){ .type = RESOURCE_ARRAY, .array = a });
        t->format = a->made.format;
        t->channels = a->made.channels;
    });
}
CU_API(cuTexRefSetMipmappedArray)(struct cu_texref *t, struct cu_mipmapped *m, unsigned flags)
{
    OF(t, flags <= 1 && cu_handle_is(m, CU_MIPMAPPED), {
        bind(t, (struct cu_resource){ .type = RESOURCE_MIPMAPPED, .mipmapped = m });
        t->format = m->made.format;
        t->channels = m->made.channels;
    });
}
/* *offset: of the address behind the multiple of 512 that the texture starts at, for the kernel to add. */
CU_API(cuTexRefSetAddress_v2)(u64 *offset, struct cu_texref *t, u64 address, u64 bytes)
{
    lk_memory_info info;
    u64 behind = address % 512;
    OF(t, (!offset || cu_ok(offset)) && (offset || !behind) && cu_memory_at(address, &info), {
        bind(t, (struct cu_resource){ .type = RESOURCE_LINEAR,
                                      .linear = { address - behind, t->format, t->channels, bytes + behind } });
        if (offset) *offset = behind;
    });
}
CU_API(cuTexRefSetAddress2D_v3)(struct cu_texref *t, const struct cu_array_2d *d, u64 address, u64 pitch)
{
    lk_memory_info info;
    OF(t, cu_ok(d) && address % 512 == 0 && pitch % 32 == 0 && cu_memory_at(address, &info), {
        bind(t, (struct cu_resource){ .type = RESOURCE_PITCHED,
                                      .pitched = { address, d->format, d->channels, d->width, d->height, pitch } });
        t->format = d->format;
        t->channels = d->channels;
    });
}
CU_API(cuTexRefSetAddress2D_v2)(struct cu_texref *t, const struct cu_array_2d *d, u64 address, u64 pitch)
{
    return lkcu_cuTexRefSetAddress2D_v3(t, d, address, pitch);
}
CU_API(cuTexRefSetFormat)(struct cu_texref *t, u32 format, int channels)
{
    struct texels x;
    OF(t, !cu_format_read(format, (u32)channels, &x), (t->format = format, t->channels = (u32)channels));
}
CU_API(cuTexRefSetAddressMode)(struct cu_texref *t, int dim, u32 mode)
{
    OF(t, dim >= 0 && dim < 3 && mode <= TEXTURE_BORDER, t->texture.address[dim] = mode);
}
CU_API(cuTexRefSetFilterMode)(struct cu_texref *t, u32 mode) { OF(t, mode <= 1, t->texture.filter = mode); }
CU_API(cuTexRefSetMipmapFilterMode)(struct cu_texref *t, u32 mode) { OF(t, mode <= 1, t->texture.mip_filter = mode); }
CU_API(cuTexRefSetMipmapLevelBias)(struct cu_texref *t, float bias) { OF(t, true, t->texture.bias = bias); }
CU_API(cuTexRefSetMipmapLevelClamp)(struct cu_texref *t, float least, float most)
{
    OF(t, true, (t->texture.least = least, t->texture.most = most));
}
CU_API(cuTexRefSetMaxAnisotropy)(struct cu_texref *t, u32 most) { OF(t, true, t->texture.anisotropy = most); }
CU_API(cuTexRefSetBorderColor)(struct cu_texref *t, const float *colour)
{
    OF(t, cu_readable(colour, 16), memcpy(t->texture.border, colour, 16));
}
CU_API(cuTexRefSetFlags)(struct cu_texref *t, u32 flags)
{
    u32 known = TEXTURE_INTEGER | TEXTURE_NORMALIZED | TEXTURE_SRGB | TEXTURE_NO_TRILINEAR | TEXTURE_SEAMLESS;
    OF(t, !(flags & ~known), t->texture.flags = flags);
}

CU_API(cuTexRefGetAddress_v2)(u64 *out, struct cu_texref *t)
{
    OF(t, cu_ok(out) && t->bound && t->resource.type >= RESOURCE_LINEAR, *out = t->resource.linear.address);
}
CU_API(cuTexRefGetArray)(struct cu_array **out, struct cu_texref *t)
{
    OF(t, cu_ok(out) && t->bound && t->resource.type == RESOURCE_ARRAY, *out = t->resource.array);
}
CU_API(cuTexRefGetMipmappedArray)(struct cu_mipmapped **out, struct cu_texref *t)
{
    OF(t, cu_ok(out) && t->bound && t->resource.type == RESOURCE_MIPMAPPED, *out = t->resource.mipmapped);
}
CU_API(cuTexRefGetAddressMode)(u32 *out, struct cu_texref *t, int dim)
{
    OF(t, cu_ok(out) && dim >= 0 && dim < 3, *out = t->texture.address[dim]);
}
CU_API(cuTexRefGetFilterMode)(u32 *out, struct cu_texref *t) { OF(t, cu_ok(out), *out = t->texture.filter); }
CU_API(cuTexRefGetFormat)(u32 *format, int *channels, struct cu_texref *t)
{
    OF(t, cu_ok(format), {
        *format = t->format;
        if (channels) *channels = (int)t->channels;
    });
}
CU_API(cuTexRefGetMipmapFilterMode)(u32 *out, struct cu_texref *t) { OF(t, cu_ok(out), *out = t->texture.mip_filter); }
CU_API(cuTexRefGetMipmapLevelBias)(float *out, struct cu_texref *t) { OF(t, cu_ok(out), *out = t->texture.bias); }
CU_API(cuTexRefGetMipmapLevelClamp)(float *least, float *most, struct cu_texref *t)
{
    OF(t, cu_ok(least) && cu_ok(most), (*least = t->texture.least, *most = t->texture.most));
}
CU_API(cuTexRefGetMaxAnisotropy)(int *out, struct cu_texref *t)
{
    OF(t, cu_ok(out), *out = (int)t->texture.anisotropy);
}
CU_API(cuTexRefGetBorderColor)(float *out, struct cu_texref *t)
{
    OF(t, cu_readable(out, 16), memcpy(out, t->texture.border, 16));
}
CU_API(cuTexRefGetFlags)(u32 *out, struct cu_texref *t) { OF(t, cu_ok(out), *out = t->texture.flags); }
