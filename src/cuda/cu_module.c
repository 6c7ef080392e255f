/* Modules, libraries, kernels and variables: PTX that a program loads by itself. */
#include "cuda/cu.h"
#include "cuda/cu_text.h"
#include <inttypes.h>

/* ---- options of the compiler in the driver ---- */

enum { JIT_INFO = 3, JIT_INFO_BYTES = 4, JIT_ERROR = 5, JIT_ERROR_BYTES = 6 };
struct jit_log {
    char *text;
    u64 bytes;
    void **size; /* where the number of bytes that were written goes, or NULL */
};
struct jit {
    struct jit_log info, error;
};

static void jit_read(struct jit *j, u32 n, const int *option, void **value)
{
    *j = (struct jit){ 0 };
    if (n && (!cu_readable(option, n * sizeof *option) || !cu_readable(value, n * sizeof *value))) return;
    for (u32 i = 0; i < n; i++) {
        struct jit_log *l = option[i] <= JIT_INFO_BYTES ? &j->info : &j->error;
        if (option[i] == JIT_INFO || option[i] == JIT_ERROR) l->text = value[i];
        if (option[i] == JIT_INFO_BYTES || option[i] == JIT_ERROR_BYTES) {
            l->bytes = (uintptr_t)value[i] & UINT32_MAX; /* an unsigned int in the place of a pointer */
            l->size = &value[i];
        }
    }
}

static void jit_write(const struct jit_log *l, const char *text)
{
    u64 n = strlen(text), room = l->text ? l->bytes : 0;
    u64 keep = room ? MIN_OF(n, room - 1) : 0;
    if (room) {
        memcpy(l->text, text, keep);
        l->text[keep] = 0;
    }
    if (l->size) *l->size = (void *)(uintptr_t)(room && n ? keep + 1 : 0);
}

/* ---- images ---- */

static void image_free(struct cu_image *m)
{
    if (!m) return;
    for (u32 i = 0; i < CU_DEVICES; i++)
        if (m->on[i]) lk_module_unload(m->on[i]);
    while (m->first) {
        struct cu_function *f = m->first;
        m->first = f->next;
        cu_handle_end(f);
    }
    cu_texts_free(m->part, m->parts);
    base_free(m);
}

static cu_result image_on(struct cu_image *m, struct cu_device *d, lk_module **out)
{
    lk_status s = LK_OK;
    cu_result r = cu_device_open(d);
    if (r) return r;
    lock(&m->lock);
    lk_module **on = &m->on[d->ordinal];
    if (!*on) s = lk_module_link(d->gpu, m->part, m->parts, on);
    *out = *on;
    unlock(&m->lock);
    return !s ? CU_OK : s == LK_BAD_INPUT ? CU_INVALID_PTX : cu_status(d->gpu, s);
}

/* Makes an image of what the caller points to. only: a module's device. */
static cu_result image_new(const void *data, enum cu_kind kind, struct cu_device *only, const struct jit *j,
                           struct cu_image **out)
{
    static u32 count;
    char why[400];
    *out = NULL;
    struct cu_image *m = base_alloc(sizeof *m);
    if (!m) return CU_OUT_OF_MEMORY;
    *m = (struct cu_image){ .kind = kind, .only = only, .lock = LOCK_INIT };
    snprintf(m->name, sizeof m->name, "%s %u", kind == CU_MODULE ? "module" : "library",
             __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED));
    cu_result r = cu_texts_of(data, only, m->name, &m->part, &m->parts, why, sizeof why);
    lk_module *loaded;
    if (!r && only && (r = image_on(m, only, &loaded))) snprintf(why, sizeof why, "%s", lk_gpu_error(only->gpu));
    if (!r && !cu_handle_add(m, kind)) r = CU_OUT_OF_MEMORY;
    jit_write(&j->error, r ? why : "");
    jit_write(&j->info, "");
    if (r) {
        image_free(m);
        return r;
    }
    *out = m;
    return CU_OK;
}

static cu_result image_delete(struct cu_image *m, enum cu_kind kind)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_handle_take(m, kind)) return CU_INVALID_HANDLE;
    image_free(m);
    return CU_OK;
}

/* ---- modules ---- */

CU_API(cuModuleLoadDataEx)(struct cu_image **out, const void *image, unsigned n, int *option, void **value)
{
    struct cu_context *c;
    struct jit j;
    cu_result r = cu_current(&c);
    if (r) return r;
    if (!cu_ok(out) || !cu_ok(image)) return CU_INVALID_VALUE;
    jit_read(&j, n, option, value);
    return image_new(image, CU_MODULE, c->device, &j, out);
}
CU_API(cuModuleLoadData)(struct cu_image **out, const void *image)
{
    return lkcu_cuModuleLoadDataEx(out, image, 0, NULL, NULL);
}
CU_API(cuModuleLoadFatBinary)(struct cu_image **out, const void *image)
{
    return lkcu_cuModuleLoadDataEx(out, image, 0, NULL, NULL);
}

/* Reads a file and loads what is in it. */
static cu_result load_file(const char *path, cu_result (*load)(void *self, const void *image), void *self)
{
    struct error e = { 0 };
    struct str text;
    if (!cu_ok(path)) return CU_INVALID_VALUE;
    if (!file_read(path, &text, &e)) return CU_FILE_NOT_FOUND;
    cu_result r = load(self, text.p); /* file_read ends it with a zero byte */
    base_free((void *)(uintptr_t)text.p);
    return r;
}

static cu_result load_module(void *self, const void *image) { return lkcu_cuModuleLoadData(self, image); }
CU_API(cuModuleLoad)(struct cu_image **out, const char *path)
{
    return cu_ok(out) ? load_file(path, load_module, out) : CU_INVALID_VALUE;
}

CU_API(cuModuleUnload)(struct cu_image *m) { return image_delete(m, CU_MODULE); }

CU_API(cuModuleGetLoadingMode)(int *mode)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_ok(mode)) return CU_INVALID_VALUE;
    *mode = 1; /* CU_MODULE_EAGER_LOADING */
    return CU_OK;
}

/* ---- kernels ---- */

/* The function of this name, made when it is asked for first. */
static cu_result function_get(struct cu_image *m, struct cu_device *d, const char *name, enum cu_kind kind,
                              struct cu_function **out)
{
    lk_module *loaded;
    cu_result r = image_on(m, d, &loaded);
    if (r) return r;
    lock(&m->lock);
    struct cu_function *f = m->first;
    while (f && strcmp(f->name, name)) f = f->next;
    unlock(&m->lock);
    if (f) {
        *out = f;
        return CU_OK;
    }
    lk_kernel *k = NULL;
    for (u32 i = 0; !k && i < lk_module_kernel_count(loaded); i++)
        if (!strcmp(lk_kernel_name(lk_module_kernel_at(loaded, i)), name)) k = lk_module_kernel_at(loaded, i);
    if (!k) return CU_NOT_FOUND;
    if (!(f = cu_handle_new(kind, sizeof *f))) return CU_OUT_OF_MEMORY;
    *f = (struct cu_function){ .image = m, .name = lk_kernel_name(k), .carveout = -1 };
    f->on[d->ordinal] = k;
    lock(&m->lock);
    f->next = m->first;
    m->first = f;
    unlock(&m->lock);
    *out = f;
    return CU_OK;
}

struct cu_function *cu_function_of(void *handle) { return cu_handle_is(handle, CU_KERNEL) ? handle : NULL; }

cu_result cu_function_on(struct cu_function *f, struct cu_device *d, lk_kernel **out)
{
    lk_module *m;
    if ((*out = f->on[d->ordinal])) return CU_OK;
    cu_result r = f->image->only && f->image->only != d ? CU_INVALID_HANDLE : image_on(f->image, d, &m);
    if (r) return r;
    for (u32 i = 0; !*out && i < lk_module_kernel_count(m); i++)
        if (!strcmp(lk_kernel_name(lk_module_kernel_at(m, i)), f->name)) *out = lk_module_kernel_at(m, i);
    f->on[d->ordinal] = *out;
    return *out ? CU_OK : CU_NOT_FOUND;
}

CU_API(cuModuleGetFunction)(struct cu_function **out, struct cu_image *m, const char *name)
{
    struct cu_context *c;
    cu_result r = cu_current(&c);
    if (r) return r;
    if (!cu_ok(out) || !cu_ok(name)) return CU_INVALID_VALUE;
    return cu_handle_is(m, CU_MODULE) ? function_get(m, m->only, name, CU_KERNEL, out) : CU_INVALID_HANDLE;
}

CU_API(cuModuleGetFunctionCount)(unsigned *count, struct cu_image *m)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_ok(count)) return CU_INVALID_VALUE;
    if (!cu_handle_is(m, CU_MODULE)) return CU_INVALID_HANDLE;
    *count = lk_module_kernel_count(m->on[m->only->ordinal]);
    return CU_OK;
}

CU_API(cuFuncGetName)(const char **name, void *function)
{
    struct cu_function *f = cu_function_of(function);
    if (!cu_ok(name)) return CU_INVALID_VALUE;
    if (!f) return CU_INVALID_HANDLE;
    *name = f->name;
    return CU_OK;
}
CU_API(cuKernelGetName)(const char **name, void *kernel) { return lkcu_cuFuncGetName(name, kernel); }

CU_API(cuFuncGetModule)(struct cu_image **out, void *function)
{
    struct cu_function *f = cu_function_of(function);
    if (!cu_ok(out)) return CU_INVALID_VALUE;
    if (!f) return CU_INVALID_HANDLE;
    *out = f->image;
    return CU_OK;
}

CU_API(cuFuncGetParamInfo)(void *function, u64 index, u64 *offset, u64 *bytes)
{
    struct cu_context *c;
    struct cu_function *f = cu_function_of(function);
    lk_kernel *k;
    lk_param p;
    cu_result r = cu_current(&c);
    if (r) return r;
    if (!f) return CU_INVALID_HANDLE;
    if ((r = cu_function_on(f, c->device, &k))) return r;
    if (!cu_ok(offset) || index >= lk_kernel_param_count(k) || lk_kernel_param(k, (u32)index, &p))
        return CU_INVALID_VALUE;
    *offset = p.offset;
    if (bytes) *bytes = p.bytes;
    return CU_OK;
}
CU_API(cuKernelGetParamInfo)(void *kernel, u64 index, u64 *offset, u64 *bytes)
{
    return lkcu_cuFuncGetParamInfo(kernel, index, offset, bytes);
}

/* ---- variables ---- */

static cu_result global_get(struct cu_image *m, struct cu_device *d, const char *name, u64 *address, u64 *bytes)
{
    lk_module *loaded;
    u64 at = 0, size = 0;
    cu_result r = image_on(m, d, &loaded);
    if (r) return r;
    if (lk_module_symbol(loaded, name, &at, &size)) return CU_NOT_FOUND;
    if (address) *address = at;
    if (bytes) *bytes = size;
    return CU_OK;
}

CU_API(cuModuleGetGlobal_v2)(u64 *address, u64 *bytes, struct cu_image *m, const char *name)
{
    struct cu_context *c;
    cu_result r = cu_current(&c);
    if (r) return r;
    if (!cu_ok(name) || (!address && !bytes)) return CU_INVALID_VALUE;
    return cu_handle_is(m, CU_MODULE) ? global_get(m, m->only, name, address, bytes) : CU_INVALID_HANDLE;
}

/* ---- libraries ---- */

CU_API(cuLibraryLoadData)
(struct cu_image **out, const void *code, int *jit_option, void **jit_value, unsigned jits, int *option, void **value,
 unsigned options)
{
    struct jit j;
    cu_result r = cu_begin();
    (void)option, (void)value, (void)options; /* whether the data may be kept: they are copied always */
    if (r) return r;
    if (!cu_ok(out) || !cu_ok(code)) return CU_INVALID_VALUE;
    jit_read(&j, jits, jit_option, jit_value);
    return image_new(code, CU_LIBRARY, NULL, &j, out);
}

struct library_load {
    struct cu_image **out;
    int *jit_option;
    void **jit_value;
    unsigned jits;
};
static cu_result load_library(void *self, const void *image)
{
    struct library_load *l = self;
    return lkcu_cuLibraryLoadData(l->out, image, l->jit_option, l->jit_value, l->jits, NULL, NULL, 0);
}
CU_API(cuLibraryLoadFromFile)
(struct cu_image **out, const char *path, int *jit_option, void **jit_value, unsigned jits, int *option, void **value,
 unsigned options)
{
    struct library_load l = { out, jit_option, jit_value, jits };
    (void)option, (void)value, (void)options;
    return cu_ok(out) ? load_file(path, load_library, &l) : CU_INVALID_VALUE;
}

CU_API(cuLibraryUnload)(struct cu_image *m) { return image_delete(m, CU_LIBRARY); }

/* A library needs a device to say which kernels it has: the current one, else the first. */
static struct cu_device *device_for(void)
{
    struct cu_context *c;
    return cu_current(&c) ? cu_device_at(0) : c->device;
}

CU_API(cuLibraryGetKernel)(struct cu_function **out, struct cu_image *m, const char *name)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_ok(out) || !cu_ok(name)) return CU_INVALID_VALUE;
    return cu_handle_is(m, CU_LIBRARY) ? function_get(m, device_for(), name, CU_KERNEL, out) : CU_INVALID_HANDLE;
}

CU_API(cuLibraryGetKernelCount)(unsigned *count, struct cu_image *m)
{
    lk_module *loaded;
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_ok(count)) return CU_INVALID_VALUE;
    if (!cu_handle_is(m, CU_LIBRARY)) return CU_INVALID_HANDLE;
    if ((r = image_on(m, device_for(), &loaded))) return r;
    *count = lk_module_kernel_count(loaded);
    return CU_OK;
}

CU_API(cuLibraryEnumerateKernels)(struct cu_function **out, unsigned most, struct cu_image *m)
{
    lk_module *loaded;
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_ok(out)) return CU_INVALID_VALUE;
    if (!cu_handle_is(m, CU_LIBRARY)) return CU_INVALID_HANDLE;
    if ((r = image_on(m, device_for(), &loaded))) return r;
    for (u32 i = 0; !r && i < most && i < lk_module_kernel_count(loaded); i++)
        r = function_get(m, device_for(), lk_kernel_name(lk_module_kernel_at(loaded, i)), CU_KERNEL, &out[i]);
    return r;
}

CU_API(cuLibraryGetModule)(struct cu_image **out, struct cu_image *m)
{
    (void)out;
    if (!cu_handle_is(m, CU_LIBRARY)) return CU_INVALID_HANDLE;
    cu_refused("cuLibraryGetModule");
    return CU_NOT_SUPPORTED;
}

CU_API(cuLibraryGetGlobal)(u64 *address, u64 *bytes, struct cu_image *m, const char *name)
{
    struct cu_context *c;
    cu_result r = cu_current(&c);
    if (r) return r;
    if (!cu_ok(name) || (!address && !bytes)) return CU_INVALID_VALUE;
    return cu_handle_is(m, CU_LIBRARY) ? global_get(m, c->device, name, address, bytes) : CU_INVALID_HANDLE;
}
CU_API(cuLibraryGetManaged)(u64 *address, u64 *bytes, struct cu_image *m, const char *name)
{
    return lkcu_cuLibraryGetGlobal(address, bytes, m, name);
}

/* CUkernel and CUfunction are the same handle here: it finds its device when it is used. */
CU_API(cuKernelGetFunction)(struct cu_function **out, void *kernel)
{
    struct cu_context *c;
    cu_result r = cu_current(&c);
    if (r) return r;
    if (!cu_ok(out)) return CU_INVALID_VALUE;
    if (!cu_function_of(kernel)) return CU_INVALID_HANDLE;
    *out = kernel;
    return CU_OK;
}

CU_API(cuKernelGetLibrary)(struct cu_image **out, void *kernel)
{
    struct cu_function *f = cu_function_of(kernel);
    if (!cu_ok(out)) return CU_INVALID_VALUE;
    if (!f || f->image->kind != CU_LIBRARY) return CU_INVALID_HANDLE;
    *out = f->image;
    return CU_OK;
}

CU_API(cuFuncLoad)(void *function)
{
    struct cu_context *c;
    lk_kernel *k;
    cu_result r = cu_current(&c);
    if (r) return r;
    return cu_function_of(function) ? cu_function_on(function, c->device, &k) : CU_INVALID_HANDLE;
}
CU_API(cuFuncIsLoaded)(int *state, void *function)
{
    if (!cu_ok(state)) return CU_INVALID_VALUE;
    if (!cu_function_of(function)) return CU_INVALID_HANDLE;
    *state = 1;
    return CU_OK;
}
