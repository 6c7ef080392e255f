/* Texture and surface objects of the runtime, and its texture references, which release 11 has. */
#include "runtime/rt_check.h"
#include "runtime/rt_array.h"

#define P(x) (u64)(uintptr_t)(x)

/* ---- descriptions ---- */

static cu_result resource_read(const struct rt_resource *x, struct cu_resource *out)
{
    cu_result r = rt_enter(NULL);
    if (r) return r;
    if (!cu_ok(x)) return CU_INVALID_VALUE;
    *out = (struct cu_resource){ .type = x->type };
    switch (x->type) {
    case RESOURCE_ARRAY: out->array = x->array; return CU_OK;
    case RESOURCE_MIPMAPPED: out->mipmapped = x->mipmapped; return CU_OK;
    case RESOURCE_LINEAR:
        out->linear.address = P(x->linear.p);
        out->linear.bytes = x->linear.bytes;
        return rt_channel_read(&x->linear.texel, &out->linear.format, &out->linear.channels);
    case RESOURCE_PITCHED:
        out->pitched.address = P(x->pitched.p);
        out->pitched.width = x->pitched.width;
        out->pitched.height = x->pitched.height;
        out->pitched.pitch = x->pitched.pitch;
        return rt_channel_read(&x->pitched.texel, &out->pitched.format, &out->pitched.channels);
    default: return CU_INVALID_VALUE;
    }
}

static void resource_write(const struct cu_resource *x, struct rt_resource *out)
{
    *out = (struct rt_resource){ .type = x->type };
    switch (x->type) {
    case RESOURCE_ARRAY: out->array = x->array; break;
    case RESOURCE_MIPMAPPED: out->mipmapped = x->mipmapped; break;
    case RESOURCE_LINEAR:
        out->linear.p = (void *)(uintptr_t)x->linear.address;
        out->linear.texel = rt_channel_of(x->linear.format, x->linear.channels);
        out->linear.bytes = x->linear.bytes;
        break;
    default:
        out->pitched.p = (void *)(uintptr_t)x->pitched.address;
        out->pitched.texel = rt_channel_of(x->pitched.format, x->pitched.channels);
        out->pitched.width = x->pitched.width;
        out->pitched.height = x->pitched.height;
        out->pitched.pitch = x->pitched.pitch;
    }
}

static struct cu_texture texture_read(const struct rt_texture *x, bool seamless)
{
    struct cu_texture t = { .address = { x->address[0], x->address[1], x->address[2] },
                            .filter = x->filter,
                            .flags = (x->read ? 0 : TEXTURE_INTEGER) | (x->normalized ? TEXTURE_NORMALIZED : 0) |
                                     (x->srgb ? TEXTURE_SRGB : 0) | (x->no_trilinear ? TEXTURE_NO_TRILINEAR : 0) |
                                     (seamless && x->seamless ? TEXTURE_SEAMLESS : 0),
                            .anisotropy = x->anisotropy,
                            .mip_filter = x->mip_filter,
                            .bias = x->bias,
                            .least = x->least,
                            .most = x->most };
    memcpy(t.border, x->border, sizeof t.border);
    return t;
}

/* ---- objects ---- */

/* A filter between texels needs floats: what is read as integers has none. */
static bool filter_fits(const struct cu_resource *r, const struct cu_texture *t)
{
    u32 format = r->type == RESOURCE_ARRAY ? (cu_handle_is(r->array, CU_ARRAY) ? r->array->made.format : 0x20)
                 : r->type == RESOURCE_MIPMAPPED
                     ? (cu_handle_is(r->mipmapped, CU_MIPMAPPED) ? r->mipmapped->made.format : 0x20)
                 : r->type == RESOURCE_LINEAR ? r->linear.format
                                              : r->pitched.format;
    bool integer = format <= 0x0a;
    return !integer || !t->filter || !(t->flags & TEXTURE_INTEGER);
}

static cu_result create(u64 *out, const struct rt_resource *r, const struct rt_texture *t, const struct cu_view *v,
                        bool seamless)
{
    enum { NOT_FLOAT = 26 }; /* cudaErrorInvalidFilterSetting */
    struct cu_resource x;
    cu_result bad = resource_read(r, &x);
    if (bad) return bad;
    if (!bytes_readable(t, seamless ? sizeof *t : offsetof(struct rt_texture, seamless))) return CU_INVALID_VALUE;
    struct cu_texture y = texture_read(t, seamless);
    if (!filter_fits(&x, &y)) return NOT_FLOAT;
    /* releases before 13 have no room behind the view */
    struct cu_view view = { 0 };
    if (v && !bytes_readable(v, offsetof(struct cu_view, reserved))) return CU_INVALID_VALUE;
    if (v) memcpy(&view, v, offsetof(struct cu_view, reserved));
    return lkcu_cuTexObjectCreate(out, &x, &y, v ? &view : NULL);
}
#define MADE_OF u64 *out, const struct rt_resource *r, const struct rt_texture *t, const struct cu_view *v
RT_API(cudaCreateTextureObject)(MADE_OF) { return rt_done(create(out, r, t, v, true)); }
RT_API(cudaCreateTextureObject_v2)(MADE_OF) { return rt_done(create(out, r, t, v, true)); }
RT_API(cudaCreateTextureObject_11)(MADE_OF) { return rt_done(create(out, r, t, v, false)); }

RT_DEFINE(cudaGetTextureObjectResourceDesc, struct rt_resource *, out, u64, texture)
{
    struct cu_resource x;
    cu_result r = lkcu_cuTexObjectGetResourceDesc(&x, texture);
    if (!r) resource_write(&x, out);
    return r;
}
static cu_result texture_description(struct rt_texture *out, u64 texture, bool seamless)
{
    struct cu_texture x;
    u64 bytes = seamless ? sizeof *out : offsetof(struct rt_texture, seamless);
    cu_result r = bytes_readable(out, bytes) ? THEN(lkcu_cuTexObjectGetTextureDesc(&x, texture)) : CU_INVALID_VALUE;
    if (r) return r;
    struct rt_texture t = { .address = { x.address[0], x.address[1], x.address[2] },
                            .filter = x.filter,
                            .read = !(x.flags & TEXTURE_INTEGER),
                            .srgb = (x.flags & TEXTURE_SRGB) != 0,
                            .normalized = (x.flags & TEXTURE_NORMALIZED) != 0,
                            .anisotropy = x.anisotropy,
                            .mip_filter = x.mip_filter,
                            .bias = x.bias,
                            .least = x.least,
                            .most = x.most,
                            .no_trilinear = (x.flags & TEXTURE_NO_TRILINEAR) != 0,
                            .seamless = (x.flags & TEXTURE_SEAMLESS) != 0 };
    memcpy(t.border, x.border, sizeof t.border);
    memcpy(out, &t, bytes);
    return CU_OK;
}
RT_API(cudaGetTextureObjectTextureDesc)(struct rt_texture *out, u64 texture)
{
    return rt_done(texture_description(out, texture, true));
}
RT_API(cudaGetTextureObjectTextureDesc_v2)(struct rt_texture *out, u64 texture)
{
    return rt_done(texture_description(out, texture, true));
}
RT_API(cudaGetTextureObjectTextureDesc_11)(struct rt_texture *out, u64 texture)
{
    return rt_done(texture_description(out, texture, false));
}
RT_API(cudaGetTextureObjectResourceViewDesc)(struct cu_view *out, u64 texture)
{
    struct cu_view x;
    u64 bytes = offsetof(struct cu_view, reserved);
    cu_result r = bytes_readable(out, bytes) ? THEN(lkcu_cuTexObjectGetResourceViewDesc(&x, texture))
                                             : CU_INVALID_VALUE;
    if (!r) memcpy(out, &x, bytes);
    return rt_done(r);
}

RT_API(cudaCreateSurfaceObject)(u64 *out, const struct rt_resource *r)
{
    struct cu_resource x;
    cu_result bad = resource_read(r, &x);
    return rt_done(bad ? bad : lkcu_cuSurfObjectCreate(out, &x));
}
RT_DEFINE(cudaGetSurfaceObjectResourceDesc, struct rt_resource *, out, u64, surface)
{
    struct cu_resource x;
    cu_result r = lkcu_cuSurfObjectGetResourceDesc(&x, surface);
    if (!r) resource_write(&x, out);
    return r;
}

/* 1D textures of linear memory: 2^28 texels. */
RT_DEFINE(cudaDeviceGetTexture1DLinearMaxWidth, u64 *, out, const struct rt_channel *, c, int, device)
{
    u32 format, channels;
    cu_result r = rt_channel_read(c, &format, &channels);
    if (r) return r;
    *out = 1ull << 28;
    return CU_OK;
}

/* ---- references: variables of the program, by their addresses ---- */

enum { NOT_A_TEXTURE = 18, NOT_BOUND = 19 }; /* cudaErrorInvalidTexture, cudaErrorInvalidTextureBinding */
struct reference {
    const void *variable; /* of the program */
    bool bound;
    u64 offset; /* of what was bound after a multiple of 512 */
};
static struct {
    lock_t lock;
    struct reference *list;
    u32 n, cap;
} references = { .lock = LOCK_INIT };

/* With the lock; NULL: it is not known, or there is no memory. */
static struct reference *reference_of(const void *variable, bool add)
{
    for (u32 i = 0; i < references.n; i++)
        if (references.list[i].variable == variable) return &references.list[i];
    if (!add) return NULL;
    NEED_ROOM(references.list, references.n, references.cap, 16);
    references.list[references.n] = (struct reference){ .variable = variable };
    return &references.list[references.n++];
}

__attribute__((visibility("default"))) void lkrt___cudaRegisterTexture(void **image, const void *variable,
                                                                       const void **address, const char *name, int dim,
                                                                       int normalized, int external);
void lkrt___cudaRegisterTexture(void **image, const void *variable, const void **address, const char *name, int dim,
                                int normalized, int external)
{
    (void)image, (void)address, (void)name, (void)dim, (void)normalized, (void)external;
    lock(&references.lock);
    reference_of(variable, true);
    unlock(&references.lock);
}
__attribute__((visibility("default"))) void lkrt___cudaRegisterSurface(void **image, const void *variable,
                                                                       const void **address, const char *name, int dim,
                                                                       int external);
void lkrt___cudaRegisterSurface(void **image, const void *variable, const void **address, const char *name, int dim,
                                int external)
{
    lkrt___cudaRegisterTexture(image, variable, address, name, dim, 0, external);
}

static cu_result reference_bind(const void *variable, u64 offset, bool bound)
{
    lock(&references.lock);
    struct reference *f = reference_of(variable, false);
    if (f) *f = (struct reference){ variable, bound, offset };
    unlock(&references.lock);
    return f ? CU_OK : NOT_A_TEXTURE;
}

RT_DEFINE(cudaBindTexture, u64 *, offset, const void *, variable, const void *, p, const struct rt_channel *, c, u64,
          bytes)
{
    lk_memory_info info;
    u32 format, channels;
    u64 behind = P(p) % 512;
    if ((!offset && behind) || !cu_memory_at(P(p), &info)) return CU_INVALID_VALUE;
    cu_result r = rt_channel_read(c, &format, &channels);
    if (r || (r = reference_bind(variable, behind, true))) return r;
    if (offset) *offset = behind;
    return CU_OK;
}
RT_DEFINE(cudaBindTexture2D, u64 *, offset, const void *, variable, const void *, p, const struct rt_channel *, c, u64,
          width, u64, height, u64, pitch)
{
    if (pitch % 32) return CU_INVALID_VALUE;
    return lkrt_cudaBindTexture(offset, variable, p, c, pitch * height);
}
RT_DEFINE(cudaBindTextureToArray, const void *, variable, struct cu_array *, a, const struct rt_channel *, c)
{
    return reference_bind(variable, 0, true);
}
RT_DEFINE(cudaBindTextureToMipmappedArray, const void *, variable, struct cu_mipmapped *, m, const struct rt_channel *,
          c)
{
    return reference_bind(variable, 0, true);
}
RT_API(cudaBindSurfaceToArray)(const void *variable, struct cu_array *a, const struct rt_channel *c)
{
    return lkrt_cudaBindTextureToArray(variable, a, c);
}
RT_DEFINE(cudaUnbindTexture, const void *, variable) { return reference_bind(variable, 0, false); }
RT_DEFINE(cudaGetTextureAlignmentOffset, u64 *, offset, const void *, variable)
{
    lock(&references.lock);
    const struct reference *f = reference_of(variable, false);
    cu_result r = !f ? NOT_A_TEXTURE : !f->bound ? NOT_BOUND : CU_OK;
    if (!r) *offset = f->offset;
    unlock(&references.lock);
    return r;
}
/* The reference of a variable is the variable. */
RT_DEFINE(cudaGetTextureReference, const void **, out, const void *, variable)
{
    lock(&references.lock);
    bool known = reference_of(variable, false);
    unlock(&references.lock);
    if (known) *out = variable;
    return known ? CU_OK : NOT_A_TEXTURE;
}
RT_API(cudaGetSurfaceReference)(const void **out, const void *variable)
{
    return lkrt_cudaGetTextureReference(out, variable);
}
