/* Attributes of kernels, and what a program sets of them. */
#include "driver/cu_check.h"
#include "driver/cu_image.h"
#include "driver/cu_launch.h"
#include "card/card.h"

/* The largest block that the registers of the device are enough for; unknown: whatever the device takes. */
static u64 threads_by_registers(const lk_usage *u, const struct card *p)
{
    u32 of_warp = (u->registers * 32 + 255) / 256 * 256;
    if (!u->registers) return p->threads_per_cta;
    return MIN_OF((u64)p->regs_per_cta / of_warp / 4 * 4 * 32, (u64)p->threads_per_cta); /* warps in fours */
}

int cu_function_attribute(const struct cu_function *f, const lk_usage *u, const struct cu_device *d,
                          enum cu_function_attribute which)
{
    const struct card *p = d->card;
    u64 most = (u64)u->max_threads[0] * MAX_OF(u->max_threads[1], 1u) * MAX_OF(u->max_threads[2], 1u),
        exact = (u64)u->required_threads[0] * MAX_OF(u->required_threads[1], 1u) * MAX_OF(u->required_threads[2], 1u);
    u32 free_shared = p->shared_per_cta > u->shared_bytes ? p->shared_per_cta - (u32)u->shared_bytes : 0;
    switch (which) {
    case CU_FUNC_MAX_THREADS: return (int)(exact ? exact : most ? most : threads_by_registers(u, p));
    case CU_FUNC_SHARED: return (int)u->shared_bytes;
    case CU_FUNC_CONST: return (int)u->const_bytes;
    case CU_FUNC_LOCAL: return (int)(u->assembled ? u->stack_bytes : u->local_bytes);
    case CU_FUNC_REGISTERS: /* not known: no card says 0, and programs divide by it; no check goes by this number */
        return (int)(u->registers ? u->registers : u->max_registers ? u->max_registers : 32);
    case CU_FUNC_BINARY: return (int)p->sm;
    case CU_FUNC_DYNAMIC_SHARED: return (int)(f->dynamic_shared ? f->dynamic_shared : free_shared);
    case CU_FUNC_CARVEOUT: return f->carveout;
    case CU_FUNC_CLUSTER_MUST_BE_SET: return u->cluster[0] != 0;
    case CU_FUNC_CLUSTER_X: return (int)(u->cluster[0] ? u->cluster[0] : f->cluster[0]);
    case CU_FUNC_CLUSTER_Y: return (int)(u->cluster[0] ? u->cluster[1] : f->cluster[1]);
    case CU_FUNC_CLUSTER_Z: return (int)(u->cluster[0] ? u->cluster[2] : f->cluster[2]);
    case CU_FUNC_CLUSTER_ANY: return f->cluster_any;
    case CU_FUNC_CLUSTER_POLICY: return (int)f->policy;
    default: return 0;
    }
}

static cu_result attribute_get(int *value, int which, void *function, struct cu_device *d)
{
    struct cu_function *f = cu_function_of(function);
    lk_usage u = { .size = sizeof u };
    lk_kernel *k;
    if (!cu_ok(value) || which < 0 || which > CU_FUNC_CLUSTER_POLICY) return CU_INVALID_VALUE;
    if (!f) return CU_INVALID_HANDLE;
    cu_result r = cu_function_on(f, d, &k);
    if (r) return r;
    cu_image_assembled(f->image, d);
    if ((r = cu_status(d->gpu, lk_kernel_usage(k, &u)))) return r;
    u32 sm = 0;
    sscanf(lk_module_arch(k->module), "sm_%u", &sm);
    *value = which == CU_FUNC_PTX ? (int)sm : cu_function_attribute(f, &u, d, (enum cu_function_attribute)which);
    return CU_OK;
}

static cu_result attribute_set(int which, int value, void *function, struct cu_device *d)
{
    struct cu_function *f = cu_function_of(function);
    if (!f) return CU_INVALID_HANDLE;
    switch (which) {
    case CU_FUNC_DYNAMIC_SHARED:
        if (value < 0 || (u32)value > d->card->shared_optin) return CU_INVALID_VALUE;
        f->dynamic_shared = (u32)value;
        return CU_OK;
    case CU_FUNC_CARVEOUT:
        if (value < -1 || value > 100) return CU_INVALID_VALUE;
        f->carveout = value;
        return CU_OK;
    case CU_FUNC_CLUSTER_X:
    case CU_FUNC_CLUSTER_Y:
    case CU_FUNC_CLUSTER_Z: f->cluster[which - CU_FUNC_CLUSTER_X] = (u32)value; return CU_OK;
    case CU_FUNC_CLUSTER_ANY: f->cluster_any = value != 0; return CU_OK;
    case CU_FUNC_CLUSTER_POLICY:
        if (value < 0 || value > 2) return CU_INVALID_VALUE;
        f->policy = (u32)value;
        return CU_OK;
    default: return CU_INVALID_VALUE;
    }
}

CU_DEFINE(cuFuncGetAttribute, int *, value, int, which, void *, function)
{
    return attribute_get(value, which, function, here.context->device);
}
CU_DEFINE(cuFuncSetAttribute, void *, function, int, which, int, value)
{
    return attribute_set(which, value, function, here.context->device);
}
CU_DEFINE(cuKernelGetAttribute, int *, value, int, which, void *, kernel, int, device)
{
    return attribute_get(value, which, kernel, here.device);
}
CU_DEFINE(cuKernelSetAttribute, int, which, int, value, void *, kernel, int, device)
{
    return attribute_set(which, value, kernel, here.device);
}
CU_DEFINE(cuFuncSetCacheConfig, void *, function, u32, config)
{
    return CU_OK; /* a wish about caches, which hold no state here */
}
CU_API(cuKernelSetCacheConfig)(void *kernel, u32 config, int device)
{
    (void)device;
    return lkcu_cuFuncSetCacheConfig(kernel, config);
}
CU_API(cuFuncSetSharedMemConfig)(void *function, u32 config) { return lkcu_cuFuncSetCacheConfig(function, config); }
