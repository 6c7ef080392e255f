/* Modules and functions: PTX that a program loads by itself. */
#include "driver/cu_check.h"
#include "driver/cu_image.h"

CU_DEFINE(cuModuleLoadDataEx, struct cu_image **, out, const void *, image, unsigned, n, int *, option, void **, value)
{
    struct cu_jit j;
    cu_result r = cu_jit_read(&j, n, option, value);
    if (r) return r;
    return cu_image_new(image, CU_MODULE, here.context->device, false, &j, out);
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
CU_DEFINE(cuModuleLoad, struct cu_image **, out, const char *, path) { return cu_file_load(path, load_module, out); }

CU_API(cuModuleUnload)(struct cu_image *m)
{
    struct cu_context *c = NULL;
    cu_result r = cu_image_delete(m, CU_MODULE);
    if (!r) cu_current(&c);
    return c ? cu_sticky(c->device->gpu) : r;
}

CU_DEFINE(cuModuleGetLoadingMode, int *, mode)
{
    *mode = (int)cu_loading();
    return CU_OK;
}

/* ---- what a module has ---- */

CU_DEFINE(cuModuleGetFunction, struct cu_function **, out, struct cu_image *, m, const char *, name)
{
    return cu_image_function(m, m->only, name, out);
}

CU_DEFINE(cuModuleGetFunctionCount, unsigned *, count, struct cu_image *, m)
{
    lk_module *loaded;
    cu_result r = cu_image_on(m, m->only, &loaded);
    if (r) return r;
    *count = lk_module_kernel_count(loaded);
    return CU_OK;
}

CU_DEFINE(cuModuleEnumerateFunctions, struct cu_function **, out, unsigned, most, struct cu_image *, m)
{
    return cu_image_functions(m, m->only, out, most);
}

CU_DEFINE(cuModuleGetGlobal_v2, u64 *, address, u64 *, bytes, struct cu_image *, m, const char *, name)
{
    if (!address && !bytes) return CU_INVALID_VALUE;
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

CU_DEFINE(cuFuncGetName, const char **, name, void *, function)
{
    *name = here.function->name;
    return CU_OK;
}

CU_DEFINE(cuFuncGetModule, struct cu_image **, out, void *, function)
{
    if (here.function->image->kind == CU_LIBRARY) return cu_image_view(here.function->image, here.context->device, out);
    *out = here.function->image;
    return CU_OK;
}

CU_DEFINE(cuFuncGetParamInfo, void *, function, u64, index, u64 *, offset, u64 *, bytes)
{
    lk_kernel *k;
    lk_param p;
    cu_result r = cu_function_on(here.function, here.context->device, &k);
    if (r) return r;
    if (index >= lk_kernel_param_count(k) || lk_kernel_param(k, (u32)index, &p)) return CU_INVALID_VALUE;
    *offset = p.offset;
    if (bytes) *bytes = p.bytes;
    return CU_OK;
}

CU_DEFINE(cuFuncLoad, void *, function)
{
    lk_kernel *k;
    cu_result r = CU_OK;
    if (!(r = cu_function_on(here.function, here.context->device, &k))) cu_function_load(here.function);
    return r;
}
CU_DEFINE(cuFuncIsLoaded, int *, state, void *, function)
{
    *state = __atomic_load_n(&here.function->loaded, __ATOMIC_RELAXED);
    return CU_OK;
}
