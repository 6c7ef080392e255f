/* Texture and surface objects: checked, and described for the sampler (mem/texels.h). Texture references, which came
 * before them, keep what is set. */
#include "driver/cu_check.h"
#include "driver/cu_mem.h"
#include "device/dev_work.h"

/* What an object was made of, as the caller gave it: texture.owner. */
struct made {
    struct cu_resource resource;
    struct cu_texture texture;
    struct cu_view view;
};

enum { ALIGNMENT = 512, PITCH_ALIGNMENT = 32, LINEAR_MOST = 1 << 28 }; /* bytes, bytes, texels */

/* ---- what it reads ---- */

/* Memory of ours. Its size is checked when it is read: the driver does not check it here, either. */
static bool there(u64 address)
{
    lk_memory_info info;
    return cu_memory_at(address, &info);
}

static cu_result linear_read(const struct cu_resource *r, struct texels *t)
{
    cu_result bad = cu_format_read(r->linear.format, r->linear.channels, t);
    if (bad) return bad;
    u64 width = r->linear.bytes / texel_bytes(t);
    if (r->linear.address % ALIGNMENT || !there(r->linear.address)) return CU_INVALID_VALUE;
    t->base = r->linear.address;
    t->width = width;
    t->pitch = t->slice = r->linear.bytes;
    t->linear = true;
    return CU_OK;
}

static cu_result pitched_read(const struct cu_resource *r, struct texels *t)
{
    cu_result bad = cu_format_read(r->pitched.format, r->pitched.channels, t);
    if (bad) return bad;
    u64 width = r->pitched.width, height = r->pitched.height, pitch = r->pitched.pitch;
    if (!width || !height || width > 131072 || height > 65000 || pitch > 2097120 || pitch % PITCH_ALIGNMENT ||
        r->pitched.address % ALIGNMENT || !there(r->pitched.address))
        return CU_INVALID_VALUE;
    t->base = r->pitched.address;
    t->width = width;
    t->height = height;
    t->pitch = pitch;
    t->slice = pitch * height;
    return CU_OK;
}

/* `rest`: room for the levels after the first. */
static cu_result resource_read(const struct cu_resource *r, struct texture *out, struct texels rest[32])
{
    out->levels = 1;
    if (r->flags) return CU_INVALID_VALUE;
    switch (r->type) {
    case RESOURCE_ARRAY:
        if (!cu_handle_is(r->array, CU_ARRAY)) return CU_INVALID_HANDLE;
        out->texels = r->array->texels;
        return CU_OK;
    case RESOURCE_MIPMAPPED:
        if (!cu_handle_is(r->mipmapped, CU_MIPMAPPED)) return CU_INVALID_HANDLE;
        out->texels = r->mipmapped->level[0]->texels;
        out->levels = r->mipmapped->levels;
        for (u32 i = 1; i < out->levels; i++) rest[i - 1] = r->mipmapped->level[i]->texels;
        out->level = rest;
        return CU_OK;
    case RESOURCE_LINEAR: return linear_read(r, &out->texels);
    case RESOURCE_PITCHED: return pitched_read(r, &out->texels);
    default: return CU_INVALID_VALUE;
    }
}

/* A view is of the same number of bytes a texel, and of levels and layers that are there. */
static cu_result view_read(const struct cu_view *v, struct texture *out)
{
    static const struct {
        u8 kind, bytes;
    } group[] = { { TEXEL_UNSIGNED, 1 }, { TEXEL_SIGNED, 1 }, { TEXEL_UNSIGNED, 2 }, { TEXEL_SIGNED, 2 },
                  { TEXEL_UNSIGNED, 4 }, { TEXEL_SIGNED, 4 }, { TEXEL_FLOAT, 2 },    { TEXEL_FLOAT, 4 } };
    struct texels *t = &out->texels;
    if (t->linear || v->format > 0x22) return CU_INVALID_VALUE;
    if (v->format > 0x18) {
        cu_refused("a view of a texture as compressed blocks");
        return CU_NOT_SUPPORTED;
    }
    if (v->width != t->width || v->height != t->height || v->depth != t->depth) return CU_INVALID_VALUE;
    if (v->first_level > v->last_level || v->last_level >= out->levels || v->first_layer > v->last_layer ||
        (v->last_layer && v->last_layer >= t->depth))
        return CU_INVALID_VALUE;
    for (u32 i = 0; v->format && i < out->levels; i++) {
        struct texels *l = i ? &out->level[i - 1] : t;
        u32 k = (v->format - 1) / 3, channels = 1u << (v->format - 1) % 3;
        if (group[k].bytes * channels != texel_bytes(l)) return CU_INVALID_VALUE;
        l->kind = group[k].kind;
        l->channel_bytes = group[k].bytes;
        l->channels = (u8)channels;
    }
    if (v->first_layer || v->last_layer) {
        t->base += v->first_layer * t->slice;
        t->depth = v->last_layer - v->first_layer + 1;
    }
    if (v->first_level) {
        *t = out->level[v->first_level - 1];
        out->level += v->first_level;
    }
    out->levels = v->last_level - v->first_level + 1;
    return CU_OK;
}

static cu_result sampler_read(const struct cu_texture *t, const struct texels *x, struct sampler *out)
{
    u32 known = TEXTURE_INTEGER | TEXTURE_NORMALIZED | TEXTURE_SRGB | TEXTURE_NO_TRILINEAR | TEXTURE_SEAMLESS;
    if (t->filter > 1 || t->mip_filter > 1 || t->flags & ~known) return CU_INVALID_VALUE;
    bool integer = x->kind == TEXEL_UNSIGNED || x->kind == TEXEL_SIGNED;
    *out = (struct sampler){ .linear = t->filter,
                             .mip_linear = t->mip_filter,
                             .normalized = t->flags & TEXTURE_NORMALIZED,
                             .as_float = integer && x->channel_bytes < 4 && !(t->flags & TEXTURE_INTEGER),
                             .srgb = t->flags & TEXTURE_SRGB,
                             .seamless = t->flags & TEXTURE_SEAMLESS,
                             .anisotropy = t->anisotropy,
                             .whole_trilinear = t->flags & TEXTURE_NO_TRILINEAR,
                             .bias = t->bias,
                             .least = t->least,
                             .most = t->most };
    for (u32 k = 0; k < 3; k++) {
        if (t->address[k] > TEXTURE_BORDER) return CU_INVALID_VALUE;
        out->address[k] = t->address[k];
    }
    memcpy(out->border, t->border, sizeof out->border);
    return CU_OK;
}

/* ---- objects ---- */

static cu_result object_new(struct cu_context *c, u64 *out, const struct cu_resource *r, const struct cu_texture *t,
                            const struct cu_view *v)
{
    struct texels rest[32];
    struct texture x = { .surface = !t };
    x.mem = c->device->gpu->device->mem;
    cu_result bad = resource_read(r, &x, rest);
    if (bad) return bad;
    if (!t && r->type != RESOURCE_ARRAY) return CU_INVALID_VALUE;
    if (v && (bad = view_read(v, &x))) return bad;
    if (t && (bad = sampler_read(t, &x.texels, &x.sampler))) return bad;
    struct made *m = base_alloc(sizeof *m);
    if (!m) return CU_OUT_OF_MEMORY;
    *m = (struct made){ .resource = *r };
    if (t) m->texture = *t;
    if (v) m->view = *v;
    x.owner = m;
    u64 handle = texture_add(&x);
    if (!handle) base_free(m);
    if (handle) *out = handle;
    return handle ? CU_OK : CU_OUT_OF_MEMORY;
}

static lock_t guard = LOCK_INIT; /* of what objects were made of, against their end */

/* Nothing waits, and kernels that were launched before keep it, as on an H200 (tests/facts/destroyed_in_use.cu). */
static bool object_remove(const struct mem *mem, u64 handle, bool surface)
{
    for (u32 i = 0; i < cu_process.devices; i++) {
        const lk_gpu *gpu = __atomic_load_n(&cu_process.device[i].gpu, __ATOMIC_ACQUIRE);
        if (gpu && gpu->device->mem == mem) return work_texture_end(gpu->device, handle, surface);
    }
    return texture_remove(handle, surface, 0);
}

static cu_result object_end(u64 handle, bool surface)
{
    bool gone;
    cu_result r = cu_begin();
    if (r) return r;
    if (!handle) return CU_OK;
    lock(&guard);
    const struct texture *t = texture_at(handle, TEXTURE_NOW, &gone);
    struct made *m = t && !gone ? t->owner : NULL;
    if (!m || !object_remove(t->mem, handle, surface)) r = CU_INVALID_VALUE;
    if (!r) base_free(m);
    unlock(&guard);
    return r;
}

static cu_result made_of(u64 handle, bool surface, struct made *out)
{
    bool gone;
    if (cu_begin()) return CU_INVALID_VALUE;
    lock(&guard);
    const struct texture *t = texture_at(handle, TEXTURE_NOW, &gone);
    const struct made *m = t && !gone && t->surface == surface ? t->owner : NULL;
    if (m) *out = *m;
    unlock(&guard);
    return m ? CU_OK : CU_INVALID_VALUE;
}

CU_DEFINE(cuTexObjectCreate, u64 *, out, const struct cu_resource *, r, const struct cu_texture *, t,
          const struct cu_view *, v)
{
    return object_new(here.context, out, r, t, v);
}
CU_API(cuTexObjectDestroy)(u64 texture) { return object_end(texture, false); }
CU_DEFINE(cuSurfObjectCreate, u64 *, out, const struct cu_resource *, r)
{
    return object_new(here.context, out, r, NULL, NULL);
}
CU_API(cuSurfObjectDestroy)(u64 surface) { return object_end(surface, true); }

CU_DEFINE(cuTexObjectGetResourceDesc, struct cu_resource *, out, u64, texture)
{
    struct made m;
    if (made_of(texture, false, &m)) return CU_INVALID_VALUE;
    *out = m.resource;
    return CU_OK;
}
CU_DEFINE(cuTexObjectGetTextureDesc, struct cu_texture *, out, u64, texture)
{
    struct made m;
    if (made_of(texture, false, &m)) return CU_INVALID_VALUE;
    *out = m.texture;
    return CU_OK;
}
CU_DEFINE(cuTexObjectGetResourceViewDesc, struct cu_view *, out, u64, texture)
{
    struct made m;
    if (made_of(texture, false, &m)) return CU_INVALID_VALUE;
    *out = m.view;
    return CU_OK;
}
CU_DEFINE(cuSurfObjectGetResourceDesc, struct cu_resource *, out, u64, surface)
{
    struct made m;
    if (made_of(surface, true, &m)) return CU_INVALID_VALUE;
    *out = m.resource;
    return CU_OK;
}

CU_DEFINE(cuDeviceGetTexture1DLinearMaxWidth, u64 *, out, u32, format, unsigned, channels, int, device)
{
    struct texels t;
    if (cu_format_read(format, channels, &t)) return CU_INVALID_VALUE;
    *out = LINEAR_MOST;
    return CU_OK;
}
