/* Modules and functions: PTX that a program loads by itself. */
#include "driver/cu_image.h"

CU_API(cuModuleLoadDataEx)(struct cu_image **out, const void *image, unsigned n, int *option, void **value)
{
    struct cu_context *c;
    struct cu_jit j;
    cu_result r = cu_current(&c);
    if (r) return r;
    if (!cu_ok(out) || !cu_ok((const u32 *)image)) return CU_INVALID_VALUE;
    if ((r = cu_jit_read(&j, n, option, value))) return r;
    return cu_image_new(image, CU_MODULE, c->device, false, &j, out);
}
CU_API(cuModuleLoadData)(struct cu_image **out, const void *image)
{
    return lkcu_cuModuleLoadDataEx(out, image, 0, NULL, NULL);
}
CU_API(cuModuleLoadFatBinary)(struct cu_image **out, const void *image)
{
    return lkcu_cuModuleLoadDataEx(out, image, 0, NULL, NULL);
}

static cu_result load_module(void *self, const void *image, u64 bytes)
{
    return (void)bytes, lkcu_cuModuleLoadData(self, image);
}
CU_API(cuModuleLoad)(struct cu_image **out, const char *path)
{
    struct cu_context *c;
    cu_result r = cu_current(&c);
    if (r) return r;
    return cu_ok(out) ? cu_file_load(path, load_module, out) : CU_INVALID_VALUE;
}

CU_API(cuModuleUnload)(struct cu_image *m)
{
    struct cu_context *c = NULL;
    cu_result r = cu_image_delete(m, CU_MODULE);
    if (!r) cu_current(&c);
    return c ? cu_sticky(c->device->gpu) : r;
}

CU_API(cuModuleGetLoadingMode)(int *mode)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_ok(mode)) return CU_INVALID_VALUE;
    *mode = (int)cu_loading();
    return CU_OK;
}

/* ---- what a module has ---- */

/* The beginning of a call about a module. */
static cu_result enter(struct cu_image *m)
{
    struct cu_context *c;
    cu_result r = cu_current(&c);
    return r ? r : cu_handle_is(m, CU_MODULE) ? CU_OK : CU_INVALID_HANDLE;
}

CU_API(cuModuleGetFunction)(struct cu_function **out, struct cu_image *m, const char *name)
{
    cu_result r = enter(m);
    if (r) return r;
    if (!cu_ok(out) || !cu_ok(name)) return CU_INVALID_VALUE;
    return cu_image_function(m, m->only, name, out);
}

CU_API(cuModuleGetFunctionCount)(unsigned *count, struct cu_image *m)
{
    lk_module *loaded;
    cu_result r = enter(m);
    if (r) return r;
    if (!cu_ok(count)) return CU_INVALID_VALUE;
    if ((r = cu_image_on(m, m->only, &loaded))) return r;
    *count = lk_module_kernel_count(loaded);
    return CU_OK;
}

CU_API(cuModuleEnumerateFunctions)(struct cu_function **out, unsigned most, struct cu_image *m)
{
    cu_result r = enter(m);
    return r ? r : cu_image_functions(m, m->only, out, most);
}

CU_API(cuModuleGetGlobal_v2)(u64 *address, u64 *bytes, struct cu_image *m, const char *name)
{
    cu_result r = enter(m);
    if (r) return r;
    if (!cu_ok(name) || (!address && !bytes)) return CU_INVALID_VALUE;
    if ((address && !cu_ok(address)) || (bytes && !cu_ok(bytes))) return CU_INVALID_VALUE;
    return cu_image_global(m, m->only, name, false, address, bytes);
}
CU_API(cuModuleGetGlobal)(u32 *address, u32 *bytes, struct cu_image *m, const char *name)
{
    u64 at, size;
    cu_result r = lkcu_cuModuleGetGlobal_v2(&at, &size, m, name);
    if (r) return r;
    if ((address && !cu_ok(address)) || (bytes && !cu_ok(bytes))) return CU_INVALID_VALUE;
    if (address && at > UINT32_MAX) return CU_INVALID_VALUE; /* addresses of this interface have 32 bits */
    if (address) *address = (u32)at;
    if (bytes) *bytes = (u32)size;
    return CU_OK;
}

/* ---- functions ---- */

CU_API(cuFuncGetName)(const char **name, void *function)
{
    struct cu_function *f = cu_function_of(function);
    if (!cu_ok(name)) return CU_INVALID_VALUE;
    if (!f) return CU_INVALID_HANDLE;
    *name = f->name;
    return CU_OK;
}

CU_API(cuFuncGetModule)(struct cu_image **out, void *function)
{
    struct cu_context *c;
    struct cu_function *f = cu_function_of(function);
    cu_result r = cu_current(&c);
    if (r) return r;
    if (!cu_ok(out)) return CU_INVALID_VALUE;
    if (!f) return CU_INVALID_HANDLE;
    if (f->image->kind == CU_LIBRARY) return cu_image_view(f->image, c->device, out);
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
    if (!cu_ok(offset) || (bytes && !cu_ok(bytes)) || index >= lk_kernel_param_count(k) ||
        lk_kernel_param(k, (u32)index, &p))
        return CU_INVALID_VALUE;
    *offset = p.offset;
    if (bytes) *bytes = p.bytes;
    return CU_OK;
}

CU_API(cuFuncLoad)(void *function)
{
    struct cu_context *c;
    struct cu_function *f = cu_function_of(function);
    lk_kernel *k;
    cu_result r = cu_current(&c);
    if (r) return r;
    if (!f) return CU_INVALID_HANDLE;
    if (!(r = cu_function_on(f, c->device, &k))) cu_function_load(f);
    return r;
}
CU_API(cuFuncIsLoaded)(int *state, void *function)
{
    const struct cu_function *f = cu_function_of(function);
    if (!cu_ok(state)) return CU_INVALID_VALUE;
    if (!f) return CU_INVALID_HANDLE;
    *state = __atomic_load_n(&f->loaded, __ATOMIC_RELAXED);
    return CU_OK;
}
