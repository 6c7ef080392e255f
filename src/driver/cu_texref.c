/* Texture and surface references, which were replaced by objects in CUDA 12 but are still exported. A reference of a
 * module is a variable of 8 bytes that holds an object (lower.c): whatever is set makes another object, and it is
 * written there when the device has done all that came before, as a launch takes the reference as it is then. */
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

CU_API(cuTexRefCreate)(struct cu_texref **out)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_ok(out)) return CU_INVALID_VALUE;
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

/* The object is in the variable from now on, and the one before it ends. */
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
    struct cu_context *c;
    lk_module *loaded;
    cu_result r = cu_current(&c);
    if (r) return r;
    if (!cu_handle_is(m, CU_MODULE)) return CU_INVALID_HANDLE;
    if (!cu_ok(out) || !cu_ok(name)) return CU_INVALID_VALUE;
    if ((r = cu_image_on(m, m->only, &loaded))) return r;
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
CU_API(cuModuleGetTexRef)(void **out, struct cu_image *m, const char *name)
{
    return reference_get(out, m, name, CU_TEXREF);
}
CU_API(cuModuleGetSurfRef)(void **out, struct cu_image *m, const char *name)
{
    return reference_get(out, m, name, CU_SURFREF);
}

/* ---- surfaces ---- */

CU_API(cuSurfRefSetArray)(struct cu_surfref *s, struct cu_array *a, u32 flags)
{
    u64 object = 0;
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_handle_is(s, CU_SURFREF)) return CU_INVALID_HANDLE;
    if (flags || !cu_handle_is(a, CU_ARRAY)) return CU_INVALID_VALUE;
    r = lkcu_cuSurfObjectCreate(&object, &(struct cu_resource){ .type = RESOURCE_ARRAY, .array = a });
    if (!r) r = reference_put(&s->at, object, true);
    if (!r) s->array = a;
    return r;
}
CU_API(cuSurfRefGetArray)(struct cu_array **out, struct cu_surfref *s)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_handle_is(s, CU_SURFREF)) return CU_INVALID_HANDLE;
    if (!cu_ok(out) || !s->array) return CU_INVALID_VALUE;
    *out = s->array;
    return CU_OK;
}

/* ---- textures ---- */

CU_API(cuTexRefDestroy)(struct cu_texref *t)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_handle_is(t, CU_TEXREF) || t->at.image) return CU_INVALID_HANDLE; /* that of a module ends with it */
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

/* Tells something of a reference: `ok` is what else must be true. */
#define OF(t, ok, act)                                             \
    do {                                                           \
        cu_result begun_ = cu_begin();                             \
        if (begun_) return begun_;                                 \
        if (!cu_handle_is(t, CU_TEXREF)) return CU_INVALID_HANDLE; \
        if (!(ok)) return CU_INVALID_VALUE;                        \
        act;                                                       \
        return CU_OK;                                              \
    } while (0)
/* Sets something. */
#define SET(t, ok, act) OF(t, ok, act; return changed(t))

static void bind(struct cu_texref *t, struct cu_resource r)
{
    t->resource = r;
    t->bound = true;
}
CU_API(cuTexRefSetArray)(struct cu_texref *t, struct cu_array *a, unsigned flags)
{
    SET(t, flags <= 1 && cu_handle_is(a, CU_ARRAY), {
        bind(t, (struct cu_resource){ .type = RESOURCE_ARRAY, .array = a });
        t->format = a->made.format;
        t->channels = a->made.channels;
    });
}
CU_API(cuTexRefSetMipmappedArray)(struct cu_texref *t, struct cu_mipmapped *m, unsigned flags)
{
    SET(t, flags <= 1 && cu_handle_is(m, CU_MIPMAPPED), {
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
    SET(t, (!offset || cu_ok(offset)) && (offset || !behind) && cu_memory_at(address, &info), {
        bind(t, (struct cu_resource){ .type = RESOURCE_LINEAR,
                                      .linear = { address - behind, t->format, t->channels, bytes + behind } });
        if (offset) *offset = behind;
    });
}
CU_API(cuTexRefSetAddress2D_v3)(struct cu_texref *t, const struct cu_array_2d *d, u64 address, u64 pitch)
{
    lk_memory_info info;
    SET(t, cu_ok(d) && address % 512 == 0 && pitch % 32 == 0 && cu_memory_at(address, &info), {
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
    SET(t, !cu_format_read(format, (u32)channels, &x), (t->format = format, t->channels = (u32)channels));
}
CU_API(cuTexRefSetAddressMode)(struct cu_texref *t, int dim, u32 mode)
{
    SET(t, dim >= 0 && dim < 3 && mode <= TEXTURE_BORDER, t->texture.address[dim] = mode);
}
CU_API(cuTexRefSetFilterMode)(struct cu_texref *t, u32 mode) { SET(t, mode <= 1, t->texture.filter = mode); }
CU_API(cuTexRefSetMipmapFilterMode)(struct cu_texref *t, u32 mode) { SET(t, mode <= 1, t->texture.mip_filter = mode); }
CU_API(cuTexRefSetMipmapLevelBias)(struct cu_texref *t, float bias) { SET(t, true, t->texture.bias = bias); }
CU_API(cuTexRefSetMipmapLevelClamp)(struct cu_texref *t, float least, float most)
{
    SET(t, true, (t->texture.least = least, t->texture.most = most));
}
CU_API(cuTexRefSetMaxAnisotropy)(struct cu_texref *t, u32 most) { SET(t, true, t->texture.anisotropy = most); }
CU_API(cuTexRefSetBorderColor)(struct cu_texref *t, const float *colour)
{
    SET(t, bytes_readable(colour, 16), memcpy(t->texture.border, colour, 16));
}
CU_API(cuTexRefSetFlags)(struct cu_texref *t, u32 flags)
{
    u32 known = TEXTURE_INTEGER | TEXTURE_NORMALIZED | TEXTURE_SRGB | TEXTURE_NO_TRILINEAR | TEXTURE_SEAMLESS;
    SET(t, !(flags & ~known), t->texture.flags = flags);
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
    OF(t, bytes_readable(out, 16), memcpy(out, t->texture.border, 16));
}
CU_API(cuTexRefGetFlags)(u32 *out, struct cu_texref *t) { OF(t, cu_ok(out), *out = t->texture.flags); }
