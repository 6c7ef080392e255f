/* Arrays and mipmapped arrays: texels in rows of device memory (mem/texels.h). What a GPU keeps in an order of its own
 * is here in that of its coordinates; programs cannot see the difference, since they copy and sample only. */
#include "driver/cu_check.h"
#include "driver/cu_mem.h"

/* ---- formats ---- */

/* CUarray_format: plain ones have 1, 2 or 4 channels, those of the second list as many as they say. */
static const struct format {
    u8 format, channels; /* channels 0: any */
    u8 kind, bytes;      /* of a channel */
} formats[] = {
    { 0x01, 0, TEXEL_UNSIGNED, 1 }, { 0x02, 0, TEXEL_UNSIGNED, 2 }, { 0x03, 0, TEXEL_UNSIGNED, 4 },
    { 0x08, 0, TEXEL_SIGNED, 1 },   { 0x09, 0, TEXEL_SIGNED, 2 },   { 0x0a, 0, TEXEL_SIGNED, 4 },
    { 0x10, 0, TEXEL_FLOAT, 2 },    { 0x20, 0, TEXEL_FLOAT, 4 },    { 0xc0, 1, TEXEL_UNORM, 1 },
    { 0xc1, 2, TEXEL_UNORM, 1 },    { 0xc2, 4, TEXEL_UNORM, 1 },    { 0xc3, 1, TEXEL_UNORM, 2 },
    { 0xc4, 2, TEXEL_UNORM, 2 },    { 0xc5, 4, TEXEL_UNORM, 2 },    { 0xc6, 1, TEXEL_SNORM, 1 },
    { 0xc7, 2, TEXEL_SNORM, 1 },    { 0xc8, 4, TEXEL_SNORM, 1 },    { 0xc9, 1, TEXEL_SNORM, 2 },
    { 0xca, 2, TEXEL_SNORM, 2 },    { 0xcb, 4, TEXEL_SNORM, 2 },
};

cu_result cu_format_read(u32 format, u32 channels, struct texels *out)
{
    for (u32 i = 0; i < COUNT_OF(formats); i++) {
        const struct format *f = &formats[i];
        if (f->format != format) continue;
        if (f->channels ? channels != f->channels : channels != 1 && channels != 2 && channels != 4)
            return CU_INVALID_VALUE;
        out->kind = f->kind;
        out->channels = (u8)channels;
        out->channel_bytes = f->bytes;
        return CU_OK;
    }
    bool known = (format >= 0x40 && format <= 0xb0) || (format >= 0xcc && format <= 0x120); /* BC, YUV, packed ones */
    if (!known) return CU_INVALID_VALUE;
    cu_refused("an array of compressed, planar or packed texels");
    return CU_NOT_SUPPORTED;
}

/* ---- limits ---- */

static bool within(const struct cu_device *d, u64 n, int attribute)
{
    int most = 0;
    return !lkcu_cuDeviceGetAttribute(&most, attribute, (int)d->ordinal) && n <= (u64)most;
}

enum { /* CUdevice_attribute */
       MOST_1D = 21,
       MOST_2D_WIDTH = 22,
       MOST_2D_HEIGHT = 23,
       MOST_3D_WIDTH = 24,
       MOST_3D_HEIGHT = 25,
       MOST_3D_DEPTH = 26,
       MOST_LAYERED_WIDTH = 27,
       MOST_LAYERED_HEIGHT = 28,
       MOST_LAYERS = 29,
       MOST_1D_LAYERED = 42,
       MOST_1D_LAYERS = 43,
       MOST_GATHER_WIDTH = 45,
       MOST_GATHER_HEIGHT = 46,
       MOST_CUBE = 52,
       MOST_CUBE_LAYERED = 53,
       MOST_CUBE_LAYERS = 54
};

static bool fits(const struct cu_device *d, const struct cu_array_3d *x)
{
    bool layered = x->flags & ARRAY_LAYERED;
    if (x->flags & ARRAY_CUBE)
        return layered ? within(d, x->width, MOST_CUBE_LAYERED) && within(d, x->depth, MOST_CUBE_LAYERS)
                       : within(d, x->width, MOST_CUBE);
    if (layered && !x->height) return within(d, x->width, MOST_1D_LAYERED) && within(d, x->depth, MOST_1D_LAYERS);
    if (layered)
        return within(d, x->width, MOST_LAYERED_WIDTH) && within(d, x->height, MOST_LAYERED_HEIGHT) &&
               within(d, x->depth, MOST_LAYERS);
    if (x->depth)
        return within(d, x->width, MOST_3D_WIDTH) && within(d, x->height, MOST_3D_HEIGHT) &&
               within(d, x->depth, MOST_3D_DEPTH);
    if (x->flags & ARRAY_GATHER)
        return within(d, x->width, MOST_GATHER_WIDTH) && within(d, x->height, MOST_GATHER_HEIGHT);
    if (x->height) return within(d, x->width, MOST_2D_WIDTH) && within(d, x->height, MOST_2D_HEIGHT);
    return within(d, x->width, MOST_1D);
}

/* What an array cannot be, whatever the device. */
static cu_result shape_check(const struct cu_array_3d *x)
{
    bool layered = x->flags & ARRAY_LAYERED, cube = x->flags & ARRAY_CUBE;
    if (!x->width || x->flags & ~(u32)(2 * ARRAY_VIDEO - 1)) return CU_INVALID_VALUE;
    if (x->flags & (ARRAY_SPARSE | ARRAY_DEFERRED)) {
        cu_refused(x->flags & ARRAY_SPARSE ? "a sparse array" : "an array with deferred mapping");
        return CU_NOT_SUPPORTED;
    }
    if (x->flags & ARRAY_VIDEO) {
        cu_refused("an array for video encoding and decoding");
        return CU_NOT_SUPPORTED;
    }
    if (cube && (x->width != x->height || !x->depth || x->depth % 6 || (!layered && x->depth != 6)))
        return CU_INVALID_VALUE;
    if (layered && !x->depth) return CU_INVALID_VALUE;
    if (x->depth && !x->height && !layered) return CU_INVALID_VALUE;
    if (x->flags & ARRAY_GATHER && (!x->height || x->depth)) return CU_INVALID_VALUE;
    return CU_OK;
}

/* ---- arrays ---- */

/* "array 100 x 50 of 1 x 32 bits": its name in reports. */
static void name_of(const struct cu_array_3d *x, const struct texels *t, char *out, size_t size)
{
    int n = snprintf(out, size, "array %llu", (unsigned long long)x->width);
    if (x->height) n += snprintf(out + n, size - (size_t)n, " x %llu", (unsigned long long)x->height);
    if (x->depth) n += snprintf(out + n, size - (size_t)n, " x %llu", (unsigned long long)x->depth);
    snprintf(out + n, size - (size_t)n, " of %u x %u bits", t->channels, 8u * t->channel_bytes);
}

static cu_result array_new(struct cu_device *d, const struct cu_array_3d *x, struct cu_mipmapped *whole,
                           struct cu_array **out)
{
    struct texels t = { .width = x->width,
                        .height = x->height,
                        .depth = x->depth,
                        .layered = x->flags & ARRAY_LAYERED,
                        .cube = x->flags & ARRAY_CUBE,
                        .gather = x->flags & ARRAY_GATHER,
                        .writable = x->flags & ARRAY_SURFACE };
    cu_result r = shape_check(x);
    if (r || (r = cu_format_read(x->format, x->channels, &t))) return r;
    if (!fits(d, x)) return CU_INVALID_VALUE;
    u64 rows = MAX_OF(x->height, 1u), slices = MAX_OF(x->depth, 1u);
    char name[100];
    name_of(x, &t, name, sizeof name);
    r = cu_status(d->gpu,
                  lk_memory_alloc_pitched(d->gpu, x->width * texel_bytes(&t), rows, slices, name, &t.base, &t.pitch));
    if (r) return r;
    t.slice = t.pitch * rows;
    struct cu_array *a = cu_handle_new(CU_ARRAY, sizeof *a);
    if (!a) {
        lk_memory_free(d->gpu, t.base);
        return CU_OUT_OF_MEMORY;
    }
    *a = (struct cu_array){ .device = d, .made = *x, .texels = t, .whole = whole };
    *out = cu_handle_open(a);
    return CU_OK;
}

CU_DEFINE(cuArray3DCreate_v2, struct cu_array **, out, const struct cu_array_3d *, x)
{
    return array_new(here.context->device, x, NULL, out);
}

CU_DEFINE(cuArrayCreate_v2, struct cu_array **, out, const struct cu_array_2d *, x)
{
    struct cu_array_3d y = { .width = x->width, .height = x->height, .format = x->format, .channels = x->channels };
    return lkcu_cuArray3DCreate_v2(out, &y);
}

static cu_result array_end(void *handle)
{
    const struct cu_array *a = handle;
    lk_memory_free(a->device->gpu, a->texels.base);
    return CU_OK;
}
CU_DEFINE(cuArrayDestroy, struct cu_array *, a)
{
    if (a->whole) return CU_OK; /* a level goes with its mipmapped array */
    return cu_handle_take(a, CU_ARRAY) ? cu_handle_drop(a, array_end) : CU_INVALID_HANDLE;
}

CU_DEFINE(cuArrayGetDescriptor_v2, struct cu_array_2d *, out, struct cu_array *, a)
{
    *out = (struct cu_array_2d){ a->made.width, a->made.height, a->made.format, a->made.channels };
    return CU_OK;
}

CU_DEFINE(cuArray3DGetDescriptor_v2, struct cu_array_3d *, out, struct cu_array *, a)
{
    *out = a->made;
    return CU_OK;
}

/* Of arrays with deferred mapping only, and there are none. */
CU_DEFINE(cuArrayGetMemoryRequirements, struct cu_requirements *, out, struct cu_array *, a, int, device)
{
    return (void)device, (void)out, CU_INVALID_VALUE;
}
CU_DEFINE(cuMipmappedArrayGetMemoryRequirements, struct cu_requirements *, out, struct cu_mipmapped *, m, int, device)
{
    return (void)device, (void)out, CU_INVALID_VALUE;
}
/* Of sparse arrays only. */
CU_DEFINE(cuArrayGetSparseProperties, void *, out, struct cu_array *, a) { return CU_INVALID_VALUE; }
CU_DEFINE(cuMipmappedArrayGetSparseProperties, void *, out, struct cu_mipmapped *, m) { return CU_INVALID_VALUE; }
/* Of planar formats only. */
CU_DEFINE(cuArrayGetPlane, struct cu_array **, out, struct cu_array *, a, unsigned, plane) { return CU_INVALID_VALUE; }

/* ---- levels ---- */

static u64 halved(u64 n, u32 times) { return n ? MAX_OF(n >> times, 1u) : 0; }

static cu_result mipmapped_end(void *handle)
{
    struct cu_mipmapped *m = handle;
    for (u32 i = 0; i < m->levels; i++)
        if (cu_handle_take(m->level[i], CU_ARRAY)) cu_handle_drop(m->level[i], array_end);
    return CU_OK;
}

CU_DEFINE(cuMipmappedArrayCreate, struct cu_mipmapped **, out, const struct cu_array_3d *, x, unsigned, levels)
{
    cu_result r = CU_OK;
    if (!x->width) return CU_INVALID_VALUE;
    bool layers = x->flags & (ARRAY_LAYERED | ARRAY_CUBE);
    u64 largest = MAX_OF(x->width, MAX_OF(x->height, layers ? 1u : x->depth));
    u32 most = 64 - (u32)__builtin_clzll(largest);
    struct cu_mipmapped *m = cu_handle_new(CU_MIPMAPPED, sizeof *m);
    if (!m) return CU_OUT_OF_MEMORY;
    m->device = here.context->device;
    m->made = *x;
    levels = MIN_OF(MAX_OF(levels, 1u), MIN_OF(most, (u32)COUNT_OF(m->level)));
    for (; !r && m->levels < levels; m->levels++) {
        struct cu_array_3d y = *x;
        y.width = halved(x->width, m->levels);
        y.height = halved(x->height, m->levels);
        if (!layers) y.depth = halved(x->depth, m->levels);
        if ((r = array_new(here.context->device, &y, m, &m->level[m->levels]))) break;
    }
    if (r)
        cu_handle_drop(m, mipmapped_end);
    else
        *out = cu_handle_open(m);
    return r;
}

CU_DEFINE(cuMipmappedArrayGetLevel, struct cu_array **, out, struct cu_mipmapped *, m, unsigned, level)
{
    if (level >= m->levels) return CU_INVALID_VALUE;
    *out = m->level[level];
    return CU_OK;
}

CU_DEFINE(cuMipmappedArrayDestroy, struct cu_mipmapped *, m)
{
    return cu_handle_take(m, CU_MIPMAPPED) ? cu_handle_drop(m, mipmapped_end) : CU_INVALID_HANDLE;
}

/* ---- copies ---- */

cu_result cu_array_end(struct cu_array *a, const u64 at[3], const u64 extent[3], lk_end *out)
{
    if (!cu_handle_is(a, CU_ARRAY)) return CU_INVALID_VALUE;
    const struct texels *t = &a->texels;
    const u64 size[3] = { t->width * texel_bytes(t), MAX_OF(t->height, 1u), MAX_OF(t->depth, 1u) };
    for (u32 k = 0; k < 3; k++)
        if (at[k] > size[k] || extent[k] > size[k] - at[k]) return CU_INVALID_VALUE;
    *out = (lk_end){ .gpu = a->device->gpu,
                     .address = t->base + at[2] * t->slice + at[1] * t->pitch + at[0],
                     .pitch = t->pitch,
                     .slice = t->slice };
    return CU_OK;
}
