/* Textures and surfaces of the public interface: arrays, and the numbers that kernels know textures and surfaces by.
 *
 * On the software GPU an array is rows of device memory, which mem/texels.h describes for the sampler; on a real one it
 * is the driver's. Arguments of both are checked by the same rules first, so that both refuse the same ones. */
#include "gpu/dev_gpu.h"
#include "api/host.h"
#include "mem/texels.h"
#include <inttypes.h>

struct lk_array {
    struct handle handle;
    lk_array_info info;
    struct texels texels; /* software GPU: base is its memory */
    void *driver;         /* a real GPU: the driver's array */
};
struct host_texture { /* of a gpu: what ends with it */
    u64 object;
    bool surface;
};

static const struct {
    u8 format, kind, bytes; /* of the driver; of texels.h; of a channel */
} texel[] = { [LK_TEXEL_U8] = { 0x01, TEXEL_UNSIGNED, 1 },  [LK_TEXEL_U16] = { 0x02, TEXEL_UNSIGNED, 2 },
              [LK_TEXEL_U32] = { 0x03, TEXEL_UNSIGNED, 4 }, [LK_TEXEL_I8] = { 0x08, TEXEL_SIGNED, 1 },
              [LK_TEXEL_I16] = { 0x09, TEXEL_SIGNED, 2 },   [LK_TEXEL_I32] = { 0x0a, TEXEL_SIGNED, 4 },
              [LK_TEXEL_F16] = { 0x10, TEXEL_FLOAT, 2 },    [LK_TEXEL_F32] = { 0x20, TEXEL_FLOAT, 4 } };
enum { TEXTURE_ALIGN = 512, PITCH_ALIGN = 32, RESOURCE_OF_ARRAY = 0, RESOURCE_OF_MEMORY = 2, RESOURCE_OF_ROWS = 3 };
enum { WIDTH_MOST = 131072, HEIGHT_MOST = 65536, DEPTH_MOST = 16384, COPY_OF_ARRAY = 3 };

static bool format_read(u32 is, u32 channels, struct texels *t, struct error *e)
{
    if (is >= COUNT_OF(texel)) return error_set(e, ERR_INPUT, "there is no kind %u of texels (lk_texel)", is);
    if (channels != 1 && channels != 2 && channels != 4)
        return error_set(e, ERR_INPUT, "a texel has 1, 2 or 4 channels, not %u", channels);
    t->kind = texel[is].kind;
    t->channel_bytes = texel[is].bytes;
    t->channels = (u8)channels;
    return true;
}

/* ---- arrays ---- */

static bool shape_check(const lk_array_info *x, struct error *e)
{
    bool layered = x->flags & LK_ARRAY_LAYERED, cube = x->flags & LK_ARRAY_CUBE;
    if (x->flags & ~(u32)(LK_ARRAY_SURFACE | LK_ARRAY_LAYERED | LK_ARRAY_CUBE))
        return error_set(e, ERR_INPUT, "an array has no flags 0x%x", x->flags);
    if (!x->width) return error_set(e, ERR_INPUT, "the array has no width");
    if (x->width > WIDTH_MOST || x->height > HEIGHT_MOST || x->depth > DEPTH_MOST)
        return error_set(e, ERR_INPUT, "an array has at most %d by %d by %d texels", WIDTH_MOST, HEIGHT_MOST,
                         DEPTH_MOST);
    if (x->depth && !x->height && !layered) return error_set(e, ERR_INPUT, "an array with depth has a height, too");
    if (layered && !x->depth)
        return error_set(e, ERR_INPUT, "a layered array says by its depth how many layers it has");
    if (cube && (x->width != x->height || !x->depth || x->depth % 6 || (!layered && x->depth != 6)))
        return error_set(e, ERR_INPUT, "a cube has six square faces: width and height are equal, and depth is 6");
    return true;
}

static u32 array_new(lk_gpu *gpu, lk_array *a, struct error *e)
{
    const lk_array_info *x = &a->info;
    struct device *d = gpu->device;
    if (d->mem) {
        char name[80];
        u64 rows = MAX_OF(x->height, 1u), slices = MAX_OF(x->depth, 1u);
        snprintf(name, sizeof name, "array %" PRIu64 " x %" PRIu64 " x %" PRIu64, x->width, rows, slices);
        lk_status s = lk_memory_alloc_pitched(gpu, x->width * texel_bytes(&a->texels), rows, slices, name,
                                              &a->texels.base, &a->texels.pitch);
        a->texels.slice = a->texels.pitch * rows;
        return s == LK_OK ? 0 : s == LK_OUT_OF_MEMORY ? 2 : 1;
    }
    struct cu_array_3d y = { .width = x->width,
                             .height = x->height,
                             .depth = x->depth,
                             .format = texel[x->texel].format,
                             .channels = x->channels };
    if (x->flags & LK_ARRAY_LAYERED) y.flags |= ARRAY_LAYERED;
    if (x->flags & LK_ARRAY_SURFACE) y.flags |= ARRAY_SURFACE;
    if (x->flags & LK_ARRAY_CUBE) y.flags |= ARRAY_CUBE;
    u32 code = gpu_ready(d, e);
    return code ? code : ASK(d, NULL, e, "cuArray3DCreate", array_new, &a->driver, &y);
}

lk_status lk_array_create(lk_gpu *gpu, const lk_array_info *info, lk_array **array)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!info || !array) return HOST_MISSING(gpu, info ? "place for the array" : "info");
    struct error *e = host_begin(gpu);
    *array = NULL;
    lk_array *a = handle_new(sizeof *a);
    if (!a) return host_done(gpu, gpu_no_memory(e));
    memcpy(&a->info, info, MIN_OF(info->size, sizeof a->info));
    bool ok = shape_check(&a->info, e) && format_read(a->info.texel, a->info.channels, &a->texels, e);
    a->texels.width = a->info.width;
    a->texels.height = a->info.height;
    a->texels.depth = a->info.depth;
    a->texels.layered = a->info.flags & LK_ARRAY_LAYERED;
    a->texels.cube = a->info.flags & LK_ARRAY_CUBE;
    a->texels.writable = a->info.flags & LK_ARRAY_SURFACE;
    u32 status = ok ? array_new(gpu, a, e) : 1;
    if (status) {
        handle_free(a, sizeof *a);
        return ok ? host_done(gpu, status) : host_failed(gpu);
    }
    handle_add(&a->handle, gpu, HANDLE_ARRAY);
    *array = a;
    return LK_OK;
}

u32 host_array_ended(struct handle *h)
{
    lk_array *a = (lk_array *)h;
    lk_gpu *gpu = h->gpu;
    struct error none = { 0 };
    handle_remove(h);
    if (gpu->device->mem)
        dev_free(gpu->device, a->texels.base, NULL);
    else if (!gpu_ready(gpu->device, &none))
        ask_driver(&gpu->device->gpu->cu, array_delete, a->driver);
    handle_free(a, sizeof *a);
    return 0;
}

lk_status lk_array_destroy(lk_array *array)
{
    HOST_CALL(LK_BAD_INPUT, USE_IF(ARRAY, array));
    u32 none;
    return !array || host_destroy(&call, &array->handle, __func__, &none) ? LK_OK : LK_BAD_INPUT;
}

/* All of the array, in the order of the legacy stream; done when it returns. */
static lk_status array_copy(lk_array *a, void *host, u64 pitch, bool in, const char *function)
{
    lk_gpu *gpu = a->handle.gpu;
    const struct texels *t = &a->texels;
    u64 width = t->width * texel_bytes(t), rows = MAX_OF(t->height, 1u), slices = MAX_OF(t->depth, 1u);
    if (!host) return host_missing_in(gpu, function, "memory");
    if (pitch && pitch < width)
        return host_refuse(gpu, "a row of the array has %" PRIu64 " bytes: rows cannot be %" PRIu64 " apart", width,
                           pitch);
    if (!pitch) pitch = width;
    if (gpu->device->mem) {
        lk_end there = { .address = t->base, .pitch = t->pitch, .slice = t->slice };
        lk_end here = { .host = host, .pitch = pitch, .slice = pitch * rows };
        lk_copy c = { .size = sizeof c, .to = in ? there : here, .from = in ? here : there };
        c.width = width;
        c.rows = rows;
        c.slices = slices;
        return lk_memory_copy(gpu, &c);
    }
    struct error *e = host_begin(gpu);
    struct cu_copy_3d c = { .width = width, .height = rows, .depth = slices };
    c.from_type = in ? CU_MEMORY_HOST : COPY_OF_ARRAY;
    c.to_type = in ? COPY_OF_ARRAY : CU_MEMORY_HOST;
    c.from_host = host;
    c.to_host = host;
    c.from_array = c.to_array = a->driver;
    c.from_pitch = c.to_pitch = pitch;
    c.from_height = c.to_height = rows;
    u32 code = gpu_ready(gpu->device, e);
    if (!code) code = ASK(gpu->device, NULL, e, "cuMemcpy3DAsync", copy3, &c, CU_LEGACY);
    if (!code) code = ASK(gpu->device, NULL, e, "cuStreamSynchronize", stream_sync, CU_LEGACY);
    return host_done(gpu, code);
}

lk_status lk_array_write(lk_array *array, const void *from, uint64_t pitch)
{
    HOST_CALL(LK_BAD_INPUT, USE(ARRAY, array));
    return array_copy(array, (void *)(uintptr_t)from, pitch, true, __func__);
}

lk_status lk_array_read(lk_array *array, void *to, uint64_t pitch)
{
    HOST_CALL(LK_BAD_INPUT, USE(ARRAY, array));
    return array_copy(array, to, pitch, false, __func__);
}

/* ---- objects ---- */

static lk_status object_keep(lk_gpu *gpu, u64 object, bool surface, u64 *out)
{
    lock(&gpu->lock);
    gpu->texture = base_need_more(gpu->texture, sizeof *gpu->texture * (gpu->textures + 1));
    gpu->texture[gpu->textures++] = (struct host_texture){ object, surface };
    unlock(&gpu->lock);
    *out = object;
    return LK_OK;
}

static void object_end(lk_gpu *gpu, struct host_texture t)
{
    if (gpu->device->mem) {
        texture_remove(t.object, t.surface, 0);
        return;
    }
    const struct driver *cu = &gpu->device->gpu->cu;
    if (gpu_ready(gpu->device, &(struct error){ 0 })) return;
    if (t.surface)
        ask_driver(cu, surface_delete, t.object);
    else
        ask_driver(cu, texture_delete, t.object);
}

void host_textures_end(lk_gpu *gpu)
{
    while (gpu->textures) object_end(gpu, gpu->texture[--gpu->textures]);
    base_free(gpu->texture);
    gpu->texture = NULL;
}

static lk_status object_destroy(lk_gpu *gpu, u64 object, bool surface)
{
    host_begin(gpu);
    if (!object) return LK_OK;
    lock(&gpu->lock);
    u32 i = 0;
    while (i < gpu->textures && (gpu->texture[i].object != object || gpu->texture[i].surface != surface)) i++;
    struct host_texture t = i < gpu->textures ? gpu->texture[i] : (struct host_texture){ 0 };
    if (t.object) gpu->texture[i] = gpu->texture[--gpu->textures];
    unlock(&gpu->lock);
    if (!t.object) return host_refuse(gpu, "%" PRIu64 " is no %s of this gpu", object, surface ? "surface" : "texture");
    u32 status = gpu->device->async->synchronise(gpu->device, host_begin(gpu)); /* launches in flight may use it */
    object_end(gpu, t);
    return host_done(gpu, status);
}

/* Memory that a texture reads: linear, or rows. */
static bool memory_read(lk_gpu *gpu, const lk_texture *x, struct texels *t, struct error *e)
{
    struct dev_address at;
    if (!format_read(x->texel, x->channels, t, e)) return false;
    u64 row = x->width * texel_bytes(t), bytes = x->height ? x->pitch * (x->height - 1) + row : row;
    if (!x->width || x->width > (x->height ? (u64)WIDTH_MOST : 1u << 28) || x->height > HEIGHT_MOST)
        return error_set(e, ERR_INPUT, "a texture of memory has 1 to %u texels, or rows of 1 to %d", 1u << 28,
                         WIDTH_MOST);
    if (x->height && (x->pitch % PITCH_ALIGN || x->pitch < row))
        return error_set(e, ERR_INPUT, "rows of a texture are a multiple of %d bytes apart, at least %" PRIu64,
                         PITCH_ALIGN, row);
    if (x->address % TEXTURE_ALIGN || !dev_address(gpu->device, x->address, &at) || at.device != gpu->device)
        return error_set(e, ERR_INPUT, "0x%" PRIx64 " is not memory of this gpu at a multiple of %d", x->address,
                         TEXTURE_ALIGN);
    if (at.offset + bytes > at.object->size)
        return error_set(e, ERR_INPUT, "the texture needs %" PRIu64 " bytes, and %s has %" PRIu64 " from there on",
                         bytes, at.object->name, at.object->size - at.offset);
    t->base = x->address;
    t->width = x->width;
    t->height = x->height;
    t->pitch = x->height ? x->pitch : bytes;
    t->slice = t->pitch * MAX_OF(x->height, 1u);
    t->linear = !x->height;
    return true;
}

static u32 sampled_by_sim(lk_gpu *gpu, const lk_texture *x, const struct texels *t, u64 *out)
{
    bool integer = t->kind == TEXEL_UNSIGNED || t->kind == TEXEL_SIGNED;
    struct texture y = { .mem = gpu->device->mem, .texels = *t, .levels = 1 };
    y.sampler = (struct sampler){ .linear = x->smooth != 0,
                                  .normalized = x->normalised != 0,
                                  .as_float = integer && t->channel_bytes < 4 && x->as_float };
    for (u32 k = 0; k < 3; k++) y.sampler.address[k] = (enum texture_address)x->outside[k];
    memcpy(y.sampler.border, x->border, sizeof x->border);
    return (*out = texture_add(&y)) ? 0 : 2;
}

static u32 sampled_by_gpu(lk_gpu *gpu, const lk_texture *x, u64 *out, struct error *e)
{
    struct cu_resource r = { .type = x->array ? RESOURCE_OF_ARRAY : x->height ? RESOURCE_OF_ROWS : RESOURCE_OF_MEMORY };
    if (x->array) {
        r.array = x->array->driver;
    } else if (x->height) {
        r.pitched.address = x->address;
        r.pitched.format = texel[x->texel].format;
        r.pitched.channels = x->channels;
        r.pitched.width = x->width;
        r.pitched.height = x->height;
        r.pitched.pitch = x->pitch;
    } else {
        r.linear.address = x->address;
        r.linear.format = texel[x->texel].format;
        r.linear.channels = x->channels;
        r.linear.bytes = x->width * texel[x->texel].bytes * x->channels;
    }
    struct cu_texture t = { .filter = x->smooth != 0 };
    t.flags = (x->normalised ? TEXTURE_NORMALIZED : 0) | (x->as_float ? 0 : TEXTURE_INTEGER);
    memcpy(t.address, x->outside, sizeof t.address);
    memcpy(t.border, x->border, sizeof t.border);
    u32 code = gpu_ready(gpu->device, e);
    return code ? code : ASK(gpu->device, NULL, e, "cuTexObjectCreate", texture_new, out, &r, &t, NULL);
}

static bool sampler_check(const lk_texture *x, const struct texels *t, struct error *e)
{
    bool whole = (t->kind == TEXEL_UNSIGNED || t->kind == TEXEL_SIGNED) && !(x->as_float && t->channel_bytes < 4);
    for (u32 k = 0; k < 3; k++) {
        if (x->outside[k] > LK_OUTSIDE_BORDER)
            return error_set(e, ERR_INPUT, "there is no lk_outside %u", x->outside[k]);
        if (!x->normalised && (x->outside[k] == LK_OUTSIDE_MIRROR || (x->outside[k] == LK_OUTSIDE_WRAP && x->smooth)))
            return error_set(e, ERR_INPUT,
                             "coordinates wrap and are mirrored only where they are normalised: take "
                             "LK_OUTSIDE_CLAMP or LK_OUTSIDE_BORDER, or set normalised");
    }
    if (x->smooth && (whole || t->linear))
        return error_set(e, ERR_INPUT, "%s are not interpolated: leave smooth 0%s",
                         t->linear ? "textures that are read by index" : "whole numbers",
                         whole && t->channel_bytes < 4 && !t->linear ? ", or set as_float" : "");
    return true;
}

lk_status lk_texture_create(lk_gpu *gpu, const lk_texture *texture, uint64_t *object)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!texture || !object) return HOST_MISSING(gpu, texture ? "place for the object" : "texture");
    struct error *e = host_begin(gpu);
    lk_texture x = { .size = sizeof x };
    struct texels t = { 0 };
    u64 made = 0;
    *object = 0;
    memcpy(&x, texture, MIN_OF(texture->size, sizeof x));
    if (!host_enter_also(&call, __func__, (struct host_use)USE_IF(ARRAY, x.array))) return LK_BAD_INPUT;
    if (x.array && x.array->handle.gpu != gpu) return host_refuse(gpu, "the array belongs to another gpu");
    if (x.array)
        t = x.array->texels;
    else if (!memory_read(gpu, &x, &t, e))
        return host_failed(gpu);
    if (!sampler_check(&x, &t, e)) return host_failed(gpu);
    u32 status = gpu->device->mem ? sampled_by_sim(gpu, &x, &t, &made) : sampled_by_gpu(gpu, &x, &made, e);
    return status ? host_done(gpu, status) : object_keep(gpu, made, false, object);
}

lk_status lk_texture_destroy(lk_gpu *gpu, uint64_t object)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    return object_destroy(gpu, object, false);
}

lk_status lk_surface_create(lk_array *array, uint64_t *object)
{
    HOST_CALL(LK_BAD_INPUT, USE(ARRAY, array));
    lk_gpu *gpu = array->handle.gpu;
    if (!object) return HOST_MISSING(gpu, "place for the object");
    struct error *e = host_begin(gpu);
    *object = 0;
    u64 made = 0;
    if (!array->texels.writable) return host_refuse(gpu, "the array was not made with LK_ARRAY_SURFACE");
    struct texture y = { .mem = gpu->device->mem, .surface = true, .texels = array->texels, .levels = 1 };
    if (gpu->device->mem) {
        if (!(made = texture_add(&y))) return host_done(gpu, gpu_no_memory(e));
        return object_keep(gpu, made, true, object);
    }
    struct cu_resource r = { .type = RESOURCE_OF_ARRAY, .array = array->driver };
    u32 status = gpu_ready(gpu->device, e);
    if (!status) status = ASK(gpu->device, NULL, e, "cuSurfObjectCreate", surface_new, &made, &r);
    return status ? host_done(gpu, status) : object_keep(gpu, made, true, object);
}

lk_status lk_surface_destroy(lk_gpu *gpu, uint64_t object)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    return object_destroy(gpu, object, true);
}
