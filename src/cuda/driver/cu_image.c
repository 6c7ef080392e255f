/* Images and their kernels: what a module or a library is on each device.
 *
 * A kernel's handle outlives its image: a program that uses it after the image was unloaded is told so. The last so
 * many are kept, then their memory is used again. */
#include "driver/cu_reason.h"
#include "driver/cu_engine.h"
#include "driver/cu_image.h"
#include "image/image.h"
#include "card/card.h"
#include <limits.h>
#include <stdlib.h>

u32 cu_loading(void)
{
    const char *mode = getenv("CUDA_MODULE_LOADING");
    return mode && !strcmp(mode, "EAGER") ? CU_EAGER : CU_LAZY;
}

/* ---- kernels of images that were unloaded ---- */

enum { STALE = 256 };
static struct {
    lock_t lock;
    struct stale {
        struct cu_function *handle; /* NULL: none yet */
        char kernel[200];           /* its name */
        char image[64];             /* of its image */
        char site[200];             /* the call that unloaded it, or "" */
    } at[STALE];
    u32 next; /* that is used again */
} stale = { .lock = LOCK_INIT };

static void function_stale(struct cu_function *f, const struct cu_image *m)
{
    const char *site = host_site(NULL);
    lock(&stale.lock);
    struct stale *s = &stale.at[stale.next++ % STALE];
    cu_handle_end(s->handle);
    s->handle = f;
    snprintf(s->kernel, sizeof s->kernel, "%s", f->name);
    snprintf(s->image, sizeof s->image, "%s", m->name);
    snprintf(s->site, sizeof s->site, "%s", site ? site : "");
    base_free(f->old);
    base_free(f->name);
    f->old = NULL;
    f->image = NULL;
    f->name = NULL;
    cu_handle_orphan(f, CU_STALE);
    unlock(&stale.lock);
}

static void stale_found(const void *handle, struct cu_device *d)
{
    char cause[800];
    struct finding f = { .kind = F_module_stale, .cause = cause };
    lock(&stale.lock);
    for (u32 i = 0; i < STALE; i++) {
        const struct stale *s = &stale.at[i];
        char plain[200];
        if (s->handle != handle) continue;
        name_plain(str_of(s->kernel), plain, sizeof plain);
        snprintf(cause, sizeof cause, "%s belongs to %s, which was unloaded%s%s before this launch.", plain, s->image,
                 s->site[0] ? " by " : "", s->site);
        f.kernel = plain;
        f.cause_key = (uintptr_t)handle;
        report_add(d->gpu->device->report, &f);
        break;
    }
    unlock(&stale.lock);
}

struct cu_function *cu_function_of(void *handle) { return cu_handle_is(handle, CU_KERNEL) ? handle : NULL; }

void cu_function_load(struct cu_function *f) { __atomic_store_n(&f->loaded, true, __ATOMIC_RELAXED); }

struct cu_function *cu_function_launched(void *handle, struct cu_device *d)
{
    struct cu_function *f = cu_function_of(handle);
    if (!f && cu_handle_is(handle, CU_STALE)) stale_found(handle, d);
    if (f) cu_function_load(f);
    return f;
}

/* ---- images ---- */

/* With the lock of the image, or nobody else has it. */
static void left_end(struct cu_image *m)
{
    while (m->lefts) lk_module_unload(m->left[--m->lefts]);
    base_free(m->left);
    m->left = NULL;
}

/* Nobody uses the image, nor a kernel of it: those that come are refused, since it is ending, or find them stale. */
static cu_result image_end(void *handle)
{
    struct cu_image *m = handle;
    while (m->first) {
        struct cu_function *f = m->first;
        m->first = f->next;
        function_stale(f, m);
    }
    cu_references_end(m);
    left_end(m);
    for (u32 i = 0; i < CU_DEVICES; i++) {
        if (m->on[i]) lk_module_unload(m->on[i]);
        cu_handle_end(m->view[i]);
    }
    cu_engine->cu_texts_free(m->part, m->parts);
    arena_free(&m->mem);
    return CU_OK;
}

/* The report names the line of the PTX that was refused. */
static cu_result refused_text(void)
{
    const struct error *e = host_error();
    char cause[800];
    snprintf(cause, sizeof cause, "%s%s%s.", e->where, e->where[0] ? ": " : "", e->text);
    cu_reason(cause, NULL, false);
    return CU_INVALID_PTX;
}

/* What the driver of an H200 loads no module with, and with which error: samplers as variables, and textures, samplers
 * and surfaces as parameters. */
static cu_result opaque_refused(const lk_module *m)
{
    for (const struct ptx_module *p = m->dev->ptx; p; p = p->next) {
        for (u32 i = 0; i < p->nvar; i++)
            if (p->var[i]->type == T_SAMPLERREF) {
                cu_reason("The module has a .samplerref variable, and the CUDA driver loads none with one: textures "
                          "are sampled as the object was made, or as the reference is set.",
                          NULL, false);
                return CU_NOT_FOUND;
            }
        for (u32 i = 0; i < p->nfunc; i++)
            for (u32 k = 0; k < p->func[i]->nparam; k++)
                if (p->func[i]->param[k]->type >= T_TEXREF) {
                    cu_reason("A parameter is a .texref, .samplerref or .surfref, and the CUDA driver loads no module "
                              "with one: pass the number of an object, a .u64.",
                              NULL, false);
                    return CU_INVALID_IMAGE;
                }
    }
    return CU_OK;
}

cu_result cu_image_on(struct cu_image *m, struct cu_device *d, lk_module **out)
{
    if (m->library) return cu_image_on(m->library, d, out);
    lk_status s = LK_OK;
    cu_result r = cu_device_open(d);
    *out = NULL;
    if (r) return r;
    cu_handle_is(m, m->kind); /* the call holds it, and the modules loaded from it, until it returns */
    lock(&m->lock);
    lk_module **on = &m->on[d->ordinal];
    if (!*on && !(s = lk_module_link(d->gpu, m->part, m->parts, on)) && (r = opaque_refused(*on))) {
        lk_module_unload(*on);
        *on = NULL;
    }
    *out = *on;
    unlock(&m->lock);
    return !s ? r : s == LK_BAD_INPUT ? refused_text() : cu_status(d->gpu, s);
}

/* PTX for a target that is newer than the device, or than was asked for. */
static cu_result target_check(const struct cu_device *d, const struct cu_jit *j, char *why, size_t size)
{
    if (!d || !j->target || j->target <= d->card->sm) return CU_OK;
    snprintf(why, size, "ptxas fatal   : the target sm_%u was asked for (CU_JIT_TARGET), and the device is sm_%u",
             j->target, d->card->sm);
    return CU_NO_BINARY;
}

/* Whether the PTX names a version that the driver does not know yet. */
static bool version_is_newer(const struct cu_image *m)
{
    u32 version[2];
    for (u32 i = 0; i < m->parts; i++)
        if (cu_engine->cu_ptx_is_newer(m->part[i].ptx, version)) return true;
    return false;
}

cu_result cu_image_new(const void *data, enum cu_kind kind, struct cu_device *only, bool keep, const struct cu_jit *j,
                       struct cu_image **out)
{
    static u32 count;
    char why[1200] = "out of memory";
    lk_module *loaded = NULL;
    *out = NULL;
    struct cu_image *m = cu_handle_new(kind, sizeof *m);
    if (!m) return CU_OUT_OF_MEMORY;
    *m = (struct cu_image){ .kind = kind, .only = only, .data = keep ? data : NULL, .lock = LOCK_INIT };
    snprintf(m->name, sizeof m->name, "%s %u", kind == CU_MODULE ? "module" : "library",
             __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED));
    cu_result r = target_check(only, j, why, sizeof why);
    if (!r) r = cu_engine->cu_texts_of(data, only, m->name, &m->part, &m->parts, why, sizeof why);
    if (!r && only && (r = cu_image_on(m, only, &loaded))) {
        why[0] = 0;
        if (r != CU_NOT_FOUND && r != CU_INVALID_IMAGE) cu_jit_words(why, sizeof why); /* else ptxas took it */
    }
    char name[400], text[400];
    if (!r && loaded && cu_jit_undefined(loaded, name, text, sizeof name)) {
        snprintf(why, sizeof why, "ptxas fatal   : Unresolved extern function '%s'", name);
        r = CU_INVALID_PTX;
    }
    if (r == CU_INVALID_PTX && version_is_newer(m)) r = CU_UNSUPPORTED_PTX;
    cu_jit_end(j, r, why, loaded);
    if (r)
        cu_handle_drop(m, image_end);
    else
        *out = cu_handle_open(m);
    return r;
}

cu_result cu_image_delete(struct cu_image *m, enum cu_kind kind)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_handle_is(m, kind) || m->library) return CU_INVALID_HANDLE;
    for (u32 i = 0; i < CU_DEVICES; i++) {
        struct error e = { 0 };
        lock(&m->lock);
        struct device *d = m->on[i] ? m->on[i]->gpu->device : NULL;
        unlock(&m->lock);
        if (d && !dev_outside(d, &e)) return (cu_result)e.cuda;
    }
    return cu_handle_take(m, kind) ? cu_handle_drop(m, image_end) : CU_INVALID_HANDLE;
}

cu_result cu_image_view(struct cu_image *library, struct cu_device *d, struct cu_image **out)
{
    lk_module *loaded;
    cu_result r = cu_image_on(library, d, &loaded);
    if (r) return r;
    lock(&library->lock);
    struct cu_image **view = &library->view[d->ordinal];
    if (!*view && (*view = cu_handle_new_in(library, CU_MODULE, sizeof **view))) {
        **view = (struct cu_image){ .kind = CU_MODULE, .only = d, .library = library, .lock = LOCK_INIT };
        snprintf((*view)->name, sizeof(*view)->name, "%s", library->name);
        cu_handle_open(*view);
    }
    *out = *view;
    unlock(&library->lock);
    return *out ? CU_OK : CU_OUT_OF_MEMORY;
}

/* ---- files ---- */

enum { FOLDERS = 16 };
static struct {
    lock_t lock;
    char *at[FOLDERS]; /* with the last slash; written once, and kept */
} folders = { .lock = LOCK_INIT };

static void folder_keep(const char *path)
{
    char whole[PATH_MAX];
    if (!realpath(path, whole)) return;
    strrchr(whole, '/')[1] = 0;
    lock(&folders.lock);
    u32 i = 0;
    while (i < FOLDERS && folders.at[i] && strcmp(folders.at[i], whole)) i++;
    char *copy = i < FOLDERS && !folders.at[i] ? base_alloc(strlen(whole) + 1) : NULL;
    if (copy) __atomic_store_n(&folders.at[i], strcpy(copy, whole), __ATOMIC_RELEASE);
    unlock(&folders.lock);
}

const char *cu_file_folder(u32 n) { return n < FOLDERS ? __atomic_load_n(&folders.at[n], __ATOMIC_ACQUIRE) : NULL; }

cu_result cu_file_load(const char *path, cu_result (*load)(void *self, const void *image, u64 bytes), void *self)
{
    struct error e = { 0 };
    struct str text;
    if (!cu_ok(path)) return CU_INVALID_VALUE;
    if (!file_read(path, &text, &e)) return CU_FILE_NOT_FOUND;
    folder_keep(path);
    cu_result r = load(self, text.p, text.n); /* file_read ends it with a zero byte */
    base_free((void *)(uintptr_t)text.p);
    return r;
}

/* Whether the host keeps an address of the module: a managed variable is known by it. */
static bool has_managed(const lk_module *m)
{
    for (const struct ptx_module *p = m->dev->ptx; p; p = p->next)
        for (u32 i = 0; i < p->nvar; i++)
            if (p->var[i]->is_managed) return true;
    return false;
}

static bool image_reset(void *handle, void *device)
{
    struct cu_image *m = handle;
    const struct cu_device *d = device;
    lock(&m->lock);
    lk_module *loaded = m->on[d->ordinal];
    if (loaded && !has_managed(loaded)) {
        m->on[d->ordinal] = NULL;
        m->assembled[d->ordinal] = false;
        for (struct cu_function *f = m->first; f; f = f->next)
            __atomic_store_n(&f->on[d->ordinal], NULL, __ATOMIC_RELEASE);
        m->left = base_need_more(m->left, (m->lefts + 1) * sizeof *m->left);
        m->left[m->lefts++] = loaded;
    }
    if (m->lefts && cu_handle_is_alone(m)) left_end(m); /* else at the next reset, or with the image */
    unlock(&m->lock);
    return false; /* the next one */
}

void cu_images_reset(struct cu_device *d) { cu_handle_find(CU_LIBRARY, image_reset, d); }

/* ---- kernels ---- */

cu_result cu_image_function(struct cu_image *m, struct cu_device *d, const char *name, struct cu_function **out)
{
    if (m->library) m = m->library;
    lk_module *loaded;
    cu_result r = cu_image_on(m, d, &loaded);
    if (r) return r;
    lk_kernel *k = map_get(&loaded->by_name, str_of(name));
    if (!k) {
        cu_lookup_failed(loaded, name);
        return CU_NOT_FOUND;
    }
    lock(&m->lock);
    struct cu_function *f = map_get(&m->functions, str_of(name));
    char *own = f ? NULL : base_alloc(strlen(name) + 1);
    if (own && (f = cu_handle_new_in(m, CU_KERNEL, sizeof *f))) {
        memcpy(own, name, strlen(name) + 1);
        *f = (struct cu_function){ .image = m, .name = own, .carveout = -1, .next = m->first };
        f->on[d->ordinal] = k;
        f->loaded = m->kind == CU_MODULE || cu_loading() == CU_EAGER;
        m->first = f;
        map_put(&m->mem, &m->functions, str_of(f->name), f);
        cu_handle_open(f);
    } else {
        base_free(own);
    }
    unlock(&m->lock);
    *out = f;
    return f ? CU_OK : CU_OUT_OF_MEMORY;
}

cu_result cu_image_functions(struct cu_image *m, struct cu_device *d, struct cu_function **out, u32 most)
{
    lk_module *loaded;
    cu_result r = cu_image_on(m, d, &loaded);
    if (r) return r;
    u32 n = MIN_OF(most, lk_module_kernel_count(loaded));
    if (n && !bytes_readable(out, n * sizeof *out)) return CU_INVALID_VALUE;
    for (u32 i = 0; !r && i < n; i++)
        r = cu_image_function(m, d, lk_kernel_name(lk_module_kernel_at(loaded, i)), &out[i]);
    return r;
}

cu_result cu_function_on(struct cu_function *f, struct cu_device *d, lk_kernel **out)
{
    lk_module *m;
    if ((*out = __atomic_load_n(&f->on[d->ordinal], __ATOMIC_ACQUIRE))) return CU_OK;
    cu_result r = f->image->only && f->image->only != d ? CU_INVALID_HANDLE : cu_image_on(f->image, d, &m);
    if (r) return r;
    *out = map_get(&m->by_name, str_of(f->name));
    struct cu_image *of = f->image->library ? f->image->library : f->image;
    lock(&of->lock);
    if (of->on[d->ordinal] == m) __atomic_store_n(&f->on[d->ordinal], *out, __ATOMIC_RELEASE); /* no reset came by */
    unlock(&of->lock);
    return *out ? CU_OK : CU_NOT_FOUND;
}

cu_result cu_image_global(struct cu_image *m, struct cu_device *d, const char *name, bool managed, u64 *address,
                          u64 *bytes)
{
    lk_module *loaded;
    u64 at = 0, size = 0;
    cu_result r = cu_image_on(m, d, &loaded);
    if (r) return r;
    if (lk_module_symbol(loaded, name, &at, &size)) return CU_NOT_FOUND;
    const struct ptx_var *v = dev_variable(loaded->dev, str_of(name));
    if (managed && !(v && v->is_managed)) return CU_NOT_FOUND;
    if (v && v->type >= T_TEXREF) return CU_INVALID_VALUE; /* a reference has no address for the host */
    if (address) *address = at;
    if (bytes) *bytes = size;
    return CU_OK;
}

/* ---- machine code beside the PTX ---- */

/* The kernels of a cubin that a GPU of this kind would take: how many registers and how much stack they use. */
static void assembled_take(const struct image_code *code, lk_module *m)
{
    for (u32 i = 0; i < code->kernel.n; i++) {
        const struct image_kernel *from = &code->kernel.p[i];
        lk_kernel *k = from->assembled ? map_get(&m->by_name, str_of(from->name)) : NULL;
        if (!k || k->registers) continue;
        k->barriers = from->barriers;
        k->stack = (u32)from->stack;
        __atomic_store_n(&k->registers, from->registers, __ATOMIC_RELEASE); /* launches read it first */
    }
}

void cu_image_assembled(struct cu_image *m, struct cu_device *d)
{
    lk_module *loaded;
    if (m->library) m = m->library;
    if (!m->data || cu_image_on(m, d, &loaded)) return;
    lock(&m->lock);
    bool first = !m->assembled[d->ordinal];
    m->assembled[d->ordinal] = true;
    if (first) {
        struct image_file *f = image_open_memory(m->name, m->data);
        for (u32 i = 0; i < f->fatbin.n; i++) {
            struct image_choice c;
            struct error e = { 0 };
            image_choose(f, i, d->card->sm, false, &c);
            const struct image_code *code = NULL;
            if (c.silicon >= 0 && f->image.p[c.silicon].kind == IMAGE_CUBIN) code = image_read(f, (u32)c.silicon, &e);
            if (code) assembled_take(code, loaded);
        }
        image_close(f);
    }
    unlock(&m->lock);
}
