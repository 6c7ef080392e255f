/* Pools of the runtime: the driver's. Structs and numbers are the same. */
#include "driver/cu_mem.h"
#include "runtime/rt.h"

RT_API(cudaDeviceGetDefaultMemPool)(struct cu_pool **out, int device)
{
    return rt_done(THEN(lkcu_cuDeviceGetDefaultMemPool(out, device)));
}
RT_API(cudaDeviceGetMemPool)(struct cu_pool **out, int device)
{
    return rt_done(THEN(lkcu_cuDeviceGetMemPool(out, device)));
}
RT_API(cudaDeviceSetMemPool)(int device, struct cu_pool *p)
{
    return rt_done(THEN(lkcu_cuDeviceSetMemPool(device, p)));
}
RT_API(cudaMemGetDefaultMemPool)(struct cu_pool **out, const struct cu_location *l, u32 type)
{
    return rt_done(THEN(lkcu_cuMemGetDefaultMemPool(out, l, type)));
}
RT_API(cudaMemGetMemPool)(struct cu_pool **out, const struct cu_location *l, u32 type)
{
    return rt_done(THEN(lkcu_cuMemGetMemPool(out, l, type)));
}
RT_API(cudaMemSetMemPool)(const struct cu_location *l, u32 type, struct cu_pool *p)
{
    return rt_done(THEN(lkcu_cuMemSetMemPool(l, type, p)));
}
RT_API(cudaMemPoolCreate)(struct cu_pool **out, const struct cu_pool_props *x)
{
    return rt_done(THEN(lkcu_cuMemPoolCreate(out, x)));
}
RT_API(cudaMemPoolDestroy)(struct cu_pool *p) { return rt_done(THEN(lkcu_cuMemPoolDestroy(p))); }
RT_API(cudaMemPoolTrimTo)(struct cu_pool *p, u64 keep) { return rt_done(THEN(lkcu_cuMemPoolTrimTo(p, keep))); }
RT_API(cudaMemPoolSetAttribute)(struct cu_pool *p, u32 which, const void *value)
{
    return rt_done(THEN(lkcu_cuMemPoolSetAttribute(p, which, value)));
}
RT_API(cudaMemPoolGetAttribute)(struct cu_pool *p, u32 which, void *value)
{
    return rt_done(THEN(lkcu_cuMemPoolGetAttribute(p, which, value)));
}
RT_API(cudaMemPoolSetAccess)(struct cu_pool *p, const struct cu_access *a, u64 n)
{
    return rt_done(THEN(lkcu_cuMemPoolSetAccess(p, a, n)));
}
RT_API(cudaMemPoolGetAccess)(u32 *flags, struct cu_pool *p, const struct cu_location *l)
{
    return rt_done(THEN(lkcu_cuMemPoolGetAccess(flags, p, l)));
}

static cu_result alloc(void **out, u64 n, struct cu_pool *p, void *s)
{
    u64 address = 0;
    if (!cu_ok(out)) return CU_INVALID_VALUE;
    cu_result r = THEN(lkcu_cuMemAllocFromPoolAsync(&address, n, p, s));
    if (!r) *out = (void *)(uintptr_t)address;
    return r;
}
RT_CALL(cudaMallocFromPoolAsync, (void **out, u64 n, struct cu_pool *p, void *s), alloc(out, n, p, s))
