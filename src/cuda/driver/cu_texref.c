/* Texture and surface references, which were replaced by objects in CUDA 12 but are still exported. A reference of a
 * module is a variable of 8 bytes that holds an object (lower.c): whatever is set makes another object, and it is
 * written there when the device has done all that came before, as a launch takes the reference as it is then. */
#include "driver/cu_check.h"
#include "driver/cu_image.h"
#include "driver/cu_mem.h"

struct reference {
    struct cu_image *image; /* of which module; NULL: of none (cuTexRefCreate) */
    lk_gpu *gpu;            /* where the variable is */
    u64 place;              /* its address */
    u64 object;             /* what is in it; 0: nothing was bound */
};
struct cu_texref { /* CUtexref */
    struct reference at;
    struct cu_resource resource;
    bool bound; /* `resource` is set */
    u32 format, channels;
    struct cu_texture texture;
};
struct cu_surfref { /* CUsurfref */
    struct reference at;
    struct cu_array *array; /* NULL: nothing was bound */
};

static struct cu_texref *texref_new(struct reference at)
{
    struct cu_texref *t = cu_handle_new(CU_TEXREF, sizeof *t);
    if (!t) return NULL;
    t->at = at;
    t->format = 0x20; /* one float, clamped */
    t->channels = 1;
    for (u32 k = 0; k < 3; k++) t->texture.address[k] = TEXTURE_CLAMP;
    return cu_handle_open(t);
}

CU_DEFINE(cuTexRefCreate, struct cu_texref **, out)
{
    struct cu_texref *t = texref_new((struct reference){ 0 });
    if (!t) return CU_OUT_OF_MEMORY;
    *out = t;
    return CU_OK;
}

/* ---- references of modules ---- */

static bool of_image(void *handle, void *self) { return ((struct reference *)handle)->image == self; }
static bool at_place(void *handle, void *self)
{
    struct reference *r = handle;
    return r->image && r->place == *(u64 *)self;
}

/* Stores the object in the variable and destroys the previous object. */
static cu_result reference_put(struct reference *r, u64 object, bool surface)
{
    u64 before = r->object;
    cu_result bad = cu_status(r->gpu, lk_gpu_synchronise(r->gpu));
    if (!bad) bad = cu_status(r->gpu, lk_memory_write(r->gpu, r->place, &object, sizeof object));
    r->object = bad ? before : object;
    u64 ended = bad ? object : before;
    if (ended) (surface ? lkcu_cuSurfObjectDestroy : lkcu_cuTexObjectDestroy)(ended);
    return bad;
}

static cu_result surface_end(void *handle) { return lkcu_cuSurfObjectDestroy(((struct reference *)handle)->object); }
static cu_result texture_end(void *handle) { return lkcu_cuTexObjectDestroy(((struct reference *)handle)->object); }

void cu_references_end(struct cu_image *m)
{
    static const enum cu_kind kinds[] = { CU_TEXREF, CU_SURFREF };
    for (u32 k = 0; k < COUNT_OF(kinds); k++)
        for (struct reference *r; (r = cu_handle_find(kinds[k], of_image, m));) {
            if (cu_handle_take(r, kinds[k])) cu_handle_drop(r, k ? surface_end : texture_end);
        }
}

/* The reference of this name, a handle that is made when it is asked for first. */
static cu_result reference_get(void **out, struct cu_image *m, const char *name, enum cu_kind kind)
{
    lk_module *loaded;
    cu_result r = cu_image_on(m, m->only, &loaded);
    if (r) return r;
    const struct ptx_var *v = dev_variable(loaded->dev, str_of(name));
    if (!v || v->type != (kind == CU_TEXREF ? T_TEXREF : T_SURFREF)) return CU_NOT_FOUND;
    u64 place = v->addr;
    struct reference *had = cu_handle_find(kind, at_place, &place);
    struct reference at = { .image = m->library ? m->library : m, .gpu = m->only->gpu, .place = place };
    if (!had && kind == CU_TEXREF) {
        struct cu_texref *t = texref_new(at);
        if (!t) return CU_OUT_OF_MEMORY;
        had = &t->at;
    } else if (!had) {
        struct cu_surfref *s = cu_handle_new(CU_SURFREF, sizeof *s);
        if (!s) return CU_OUT_OF_MEMORY;
        s->at = at;
        cu_handle_open(s);
        had = &s->at;
    }
    *out = had;
    return CU_OK;
}
CU_DEFINE(cuModuleGetTexRef, void **, out, struct cu_image *, m, const char *, name)
{
    return reference_get(out, m, name, CU_TEXREF);
}
CU_DEFINE(cuModuleGetSurfRef, void **, out, struct cu_image *, m, const char *, name)
{
    return reference_get(out, m, name, CU_SURFREF);
}

/* ---- surfaces ---- */

CU_DEFINE(cuSurfRefSetArray, struct cu_surfref *, s, struct cu_array *, a, u32, flags)
{
    u64 object = 0;
    cu_result r = lkcu_cuSurfObjectCreate(&object, &(struct cu_resource){ .type = RESOURCE_ARRAY, .array = a });
    if (!r) r = reference_put(&s->at, object, true);
    if (!r) s->array = a;
    return r;
}
CU_DEFINE(cuSurfRefGetArray, struct cu_array **, out, struct cu_surfref *, s)
{
    if (!s->array) return CU_INVALID_VALUE;
    *out = s->array;
    return CU_OK;
}

/* ---- textures ---- */

CU_DEFINE(cuTexRefDestroy, struct cu_texref *, t)
{
    if (t->at.image) return CU_INVALID_HANDLE; /* that of a module ends with it */
    return cu_handle_take(t, CU_TEXREF) ? cu_handle_drop(t, NULL) : CU_INVALID_HANDLE;
}

/* What is set has an effect from now on. */
static cu_result changed(struct cu_texref *t)
{
    u64 object = 0;
    if (!t->at.image || !t->bound) return CU_OK;
    if (t->resource.type == RESOURCE_LINEAR) {
        t->resource.linear.format = t->format;
        t->resource.linear.channels = t->channels;
    }
    cu_result r = lkcu_cuTexObjectCreate(&object, &t->resource, &t->texture, NULL);
    return r ? r : reference_put(&t->at, object, false);
}

/* Returns from the call: tells something of a reference; `ok` is what else must be true than its row says. */
#define RETURN_OF(ok, act)                  \
    do {                                    \
        if (!(ok)) return CU_INVALID_VALUE; \
        act;                                \
        return CU_OK;                       \
    } while (0)
/* The same, and sets something. */
#define RETURN_SET(ok, act) RETURN_OF(ok, act; return changed(t))

static void bind(struct cu_texref *t, struct cu_resource r)
{
    t->resource = r;
    t->bound = true;
}
CU_DEFINE(cuTexRefSetArray, struct cu_texref *, t, struct cu_array *, a, unsigned, flags)
{
    bind(t, (struct cu_resource){ .type = RESOURCE_ARRAY, .array = a });
    t->format = a->made.format;
    t->channels = a->made.channels;
    return changed(t);
}
CU_DEFINE(cuTexRefSetMipmappedArray, struct cu_texref *, t, struct cu_mipmapped *, m, unsigned, flags)
{
    bind(t, (struct cu_resource){ .type = RESOURCE_MIPMAPPED, .mipmapped = m });
    t->format = m->made.format;
    t->channels = m->made.channels;
    return changed(t);
}
/* *offset: of the address after the multiple of 512 that the texture starts at, for the kernel to add. */
CU_DEFINE(cuTexRefSetAddress_v2, u64 *, offset, struct cu_texref *, t, u64, address, u64, bytes)
{
    lk_memory_info info;
    u64 behind = address % 512;
    RETURN_SET((offset || !behind) && cu_memory_at(address, &info), {
        bind(t, (struct cu_resource){ .type = RESOURCE_LINEAR,
                                      .linear = { address - behind, t->format, t->channels, bytes + behind } });
        if (offset) *offset = behind;
    });
}
CU_DEFINE(cuTexRefSetAddress2D_v3, struct cu_texref *, t, const struct cu_array_2d *, d, u64, address, u64, pitch)
{
    lk_memory_info info;
    RETURN_SET(address % 512 == 0 && pitch % 32 == 0 && cu_memory_at(address, &info), {
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
CU_DEFINE(cuTexRefSetFormat, struct cu_texref *, t, u32, format, int, channels)
{
    struct texels x;
    RETURN_SET(!cu_format_read(format, (u32)channels, &x), (t->format = format, t->channels = (u32)channels));
}
CU_DEFINE(cuTexRefSetAddressMode, struct cu_texref *, t, int, dim, u32, mode)
{
    RETURN_SET(dim >= 0 && dim < 3 && mode <= TEXTURE_BORDER, t->texture.address[dim] = mode);
}
CU_DEFINE(cuTexRefSetFilterMode, struct cu_texref *, t, u32, mode)
{
    t->texture.filter = mode;
    return changed(t);
}
CU_DEFINE(cuTexRefSetMipmapFilterMode, struct cu_texref *, t, u32, mode)
{
    t->texture.mip_filter = mode;
    return changed(t);
}
CU_DEFINE(cuTexRefSetMipmapLevelBias, struct cu_texref *, t, float, bias)
{
    t->texture.bias = bias;
    return changed(t);
}
CU_DEFINE(cuTexRefSetMipmapLevelClamp, struct cu_texref *, t, float, least, float, most)
{
    t->texture.least = least;
    t->texture.most = most;
    return changed(t);
}
CU_DEFINE(cuTexRefSetMaxAnisotropy, struct cu_texref *, t, u32, most)
{
    t->texture.anisotropy = most;
    return changed(t);
}
CU_DEFINE(cuTexRefSetBorderColor, struct cu_texref *, t, const float *, colour)
{
    memcpy(t->texture.border, colour, 16);
    return changed(t);
}
CU_DEFINE(cuTexRefSetFlags, struct cu_texref *, t, u32, flags)
{
    u32 known = TEXTURE_INTEGER | TEXTURE_NORMALIZED | TEXTURE_SRGB | TEXTURE_NO_TRILINEAR | TEXTURE_SEAMLESS;
    RETURN_SET(!(flags & ~known), t->texture.flags = flags);
}

CU_DEFINE(cuTexRefGetAddress_v2, u64 *, out, struct cu_texref *, t)
{
    RETURN_OF(t->bound && t->resource.type >= RESOURCE_LINEAR, *out = t->resource.linear.address);
}
CU_DEFINE(cuTexRefGetArray, struct cu_array **, out, struct cu_texref *, t)
{
    RETURN_OF(t->bound && t->resource.type == RESOURCE_ARRAY, *out = t->resource.array);
}
CU_DEFINE(cuTexRefGetMipmappedArray, struct cu_mipmapped **, out, struct cu_texref *, t)
{
    RETURN_OF(t->bound && t->resource.type == RESOURCE_MIPMAPPED, *out = t->resource.mipmapped);
}
CU_DEFINE(cuTexRefGetAddressMode, u32 *, out, struct cu_texref *, t, int, dim)
{
    RETURN_OF(dim >= 0 && dim < 3, *out = t->texture.address[dim]);
}
CU_DEFINE(cuTexRefGetFilterMode, u32 *, out, struct cu_texref *, t)
{
    *out = t->texture.filter;
    return CU_OK;
}
CU_DEFINE(cuTexRefGetFormat, u32 *, format, int *, channels, struct cu_texref *, t)
{
    *format = t->format;
    if (channels) *channels = (int)t->channels;
    return CU_OK;
}
CU_DEFINE(cuTexRefGetMipmapFilterMode, u32 *, out, struct cu_texref *, t)
{
    *out = t->texture.mip_filter;
    return CU_OK;
}
CU_DEFINE(cuTexRefGetMipmapLevelBias, float *, out, struct cu_texref *, t)
{
    *out = t->texture.bias;
    return CU_OK;
}
CU_DEFINE(cuTexRefGetMipmapLevelClamp, float *, least, float *, most, struct cu_texref *, t)
{
    *least = t->texture.least;
    *most = t->texture.most;
    return CU_OK;
}
CU_DEFINE(cuTexRefGetMaxAnisotropy, int *, out, struct cu_texref *, t)
{
    *out = (int)t->texture.anisotropy;
    return CU_OK;
}
CU_DEFINE(cuTexRefGetBorderColor, float *, out, struct cu_texref *, t)
{
    memcpy(out, t->texture.border, 16);
    return CU_OK;
}
CU_DEFINE(cuTexRefGetFlags, u32 *, out, struct cu_texref *, t)
{
    *out = t->texture.flags;
    return CU_OK;
}
