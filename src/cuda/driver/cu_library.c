/* Libraries and kernels: images that belong to no context. CUkernel and CUfunction are the same handle here: it finds
 * its device when it is used. */
#include "driver/cu_check.h"
#include "driver/cu_image.h"

static cu_result load(struct cu_image **out, const void *code, int *option, void **value, unsigned n, bool keep)
{
    struct cu_jit j;
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_ok(out) || !cu_ok((const u32 *)code)) return CU_INVALID_VALUE;
    if ((r = cu_jit_read(&j, n, option, value))) return r;
    return cu_image_new(code, CU_LIBRARY, NULL, keep, &j, out);
}

cu_result cu_library_load(struct cu_image **out, const void *code) { return load(out, code, NULL, NULL, 0, true); }

/* Options of the library itself: whether the data may be kept (they are copied always), and a table of functions that
 * are the same on host and device. */
static cu_result options_read(const int *option, void **value, unsigned n)
{
    enum { HOST_TABLE = 0, OPTIONS = 2 };
    if (n && (!bytes_readable(option, n * sizeof *option) || !bytes_readable(value, n * sizeof *value)))
        return CU_INVALID_VALUE;
    for (u32 i = 0; i < n; i++) {
        if (option[i] < 0 || option[i] >= OPTIONS) return CU_INVALID_VALUE;
        if (option[i] != HOST_TABLE || !value[i]) continue;
        cu_refused("CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE");
        return CU_NOT_SUPPORTED;
    }
    return CU_OK;
}

CU_API(cuLibraryLoadData)
(struct cu_image **out, const void *code, int *jit_option, void **jit_value, unsigned jits, int *option, void **value,
 unsigned options)
{
    cu_result r = options_read(option, value, options);
    return r ? r : load(out, code, jit_option, jit_value, jits, false);
}

struct library_load {
    struct cu_image **out;
    int *jit_option;
    void **jit_value;
    unsigned jits;
};
static cu_result load_library(void *self, const void *image, u64 bytes)
{
    struct library_load *l = self;
    (void)bytes;
    return load(l->out, image, l->jit_option, l->jit_value, l->jits, false);
}
CU_API(cuLibraryLoadFromFile)
(struct cu_image **out, const char *path, int *jit_option, void **jit_value, unsigned jits, int *option, void **value,
 unsigned options)
{
    struct library_load l = { out, jit_option, jit_value, jits };
    cu_result r = options_read(option, value, options);
    if (r) return r;
    return cu_ok(out) ? cu_file_load(path, load_library, &l) : CU_INVALID_VALUE;
}

CU_API(cuLibraryUnload)(struct cu_image *m) { return cu_image_delete(m, CU_LIBRARY); }

/* The beginning of a call about a library. It needs a device to say what it has: the current one, else the first. */
static cu_result enter(struct cu_image *m, struct cu_device **d)
{
    struct cu_context *c;
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_handle_is(m, CU_LIBRARY)) return CU_INVALID_HANDLE;
    *d = cu_current(&c) ? cu_device_at(0) : c->device;
    return CU_OK;
}

CU_DEFINE(cuLibraryGetKernel, struct cu_function **, out, struct cu_image *, m, const char *, name)
{
    return cu_image_function(m, here.device, name, out);
}

CU_DEFINE(cuLibraryGetKernelCount, unsigned *, count, struct cu_image *, m)
{
    lk_module *loaded;
    cu_result r = cu_image_on(m, here.device, &loaded);
    if (r) return r;
    *count = lk_module_kernel_count(loaded);
    return CU_OK;
}

CU_DEFINE(cuLibraryEnumerateKernels, struct cu_function **, out, unsigned, most, struct cu_image *, m)
{
    return cu_image_functions(m, here.device, out, most);
}

CU_DEFINE(cuLibraryGetModule, struct cu_image **, out, struct cu_image *, m)
{
    return cu_image_view(m, here.context->device, out);
}

static cu_result global_get(u64 *address, u64 *bytes, struct cu_image *m, const char *name, bool managed)
{
    struct cu_context *c;
    struct cu_device *d;
    cu_result r = cu_current(&c);
    if (r || (r = enter(m, &d))) return r;
    if (!cu_ok(name) || (!address && !bytes)) return CU_INVALID_VALUE;
    if ((address && !cu_ok(address)) || (bytes && !cu_ok(bytes))) return CU_INVALID_VALUE;
    return cu_image_global(m, d, name, managed, address, bytes);
}
CU_API(cuLibraryGetGlobal)(u64 *address, u64 *bytes, struct cu_image *m, const char *name)
{
    return global_get(address, bytes, m, name, false);
}
CU_API(cuLibraryGetManaged)(u64 *address, u64 *bytes, struct cu_image *m, const char *name)
{
    return global_get(address, bytes, m, name, true);
}
/* Only an image with a table of such functions has them. */
CU_DEFINE(cuLibraryGetUnifiedFunction, void **, out, struct cu_image *, m, const char *, name) { return CU_NOT_FOUND; }

/* ---- kernels ---- */

CU_API(cuKernelGetName)(const char **name, void *kernel) { return lkcu_cuFuncGetName(name, kernel); }
CU_API(cuKernelGetParamInfo)(void *kernel, u64 index, u64 *offset, u64 *bytes)
{
    return lkcu_cuFuncGetParamInfo(kernel, index, offset, bytes);
}

CU_DEFINE(cuKernelGetFunction, struct cu_function **, out, void *, kernel)
{
    if (!cu_function_of(kernel)) return CU_INVALID_HANDLE;
    *out = kernel;
    return CU_OK;
}

CU_DEFINE(cuKernelGetLibrary, struct cu_image **, out, void *, kernel)
{
    struct cu_function *f = cu_function_of(kernel);
    if (!f || f->image->kind != CU_LIBRARY) return CU_INVALID_HANDLE;
    *out = f->image;
    return CU_OK;
}
