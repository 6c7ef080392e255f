/* Devices of the runtime, and their properties in each release's layout. */
#include "runtime/rt_check.h"
#include "runtime/rt.h"
#include "card/card.h"

static const struct property {
    u8 bytes, count, attribute, first, last;
} property[] = {
#define PROPERTY(bytes, count, attribute, first, last) { bytes, count, attribute, first, last },
#include "abi/rt_property.def"
#undef PROPERTY
};

/* Fills cudaDeviceProp as the release has it. */
static cu_result properties(u8 *out, int device, u32 release)
{
    cu_result r = rt_ready();
    const struct cu_device *d = cu_device_at(device);
    if (r) return r;
    if (!cu_ok(out)) return CU_INVALID_VALUE;
    if (!d) return CU_INVALID_DEVICE;
    u64 at = 288; /* name[256], uuid, luid[8], luidDeviceNodeMask */
    memset(out, 0, at);
    snprintf((char *)out, 256, "%s", card_driver_name(d->card));
    lkcu_cuDeviceGetUuid(out + 256, device);
    memcpy(out + at, &d->card->memory, 8);
    at += 8;
    for (u32 i = 0; i < COUNT_OF(property); i++) {
        const struct property *p = &property[i];
        if (release < p->first || release > p->last) continue;
        at = (at + p->bytes - 1) / p->bytes * p->bytes;
        for (u32 k = 0; k < p->count; k++, at += p->bytes) {
            int v = 0;
            if (p->attribute) lkcu_cuDeviceGetAttribute(&v, p->attribute + (int)k, device);
            s64 wide = v;
            memcpy(out + at, &wide, p->bytes);
        }
    }
    return CU_OK;
}
RT_API(cudaGetDeviceProperties_v2)(void *out, int device) { return rt_done(properties(out, device, 12)); }
/* One name, two layouts: the shells of releases 11 and 12 export the first as cudaGetDeviceProperties, 13 the second.
 */
RT_API(cudaGetDeviceProperties_11)(void *out, int device) { return rt_done(properties(out, device, 11)); }
RT_API(cudaGetDeviceProperties)(void *out, int device) { return rt_done(properties(out, device, 13)); }

RT_DEFINE(cudaDeviceGetAttribute, int *, value, int, which, int, device)
{
    return lkcu_cuDeviceGetAttribute(value, which, device);
}
RT_DEFINE(cudaDriverGetVersion, int *, version)
{
    *version = CU_VERSION;
    return CU_OK;
}
RT_DEFINE(cudaDeviceGetPCIBusId, char *, out, int, size, int, device)
{
    return lkcu_cuDeviceGetPCIBusId(out, size, device);
}
RT_DEFINE(cudaDeviceGetByPCIBusId, int *, device, const char *, id) { return lkcu_cuDeviceGetByPCIBusId(device, id); }
RT_DEFINE(cudaDeviceCanAccessPeer, int *, can, int, device, int, peer)
{
    return lkcu_cuDeviceCanAccessPeer(can, device, peer);
}
RT_DEFINE(cudaDeviceGetP2PAttribute, int *, value, int, which, int, device, int, peer)
{
    return lkcu_cuDeviceGetP2PAttribute(value, which, device, peer);
}
RT_DEFINE(cudaDeviceGetHostAtomicCapabilities, u32 *, out, const u32 *, operation, unsigned, n, int, device)
{
    return lkcu_cuDeviceGetHostAtomicCapabilities(out, operation, n, device);
}
RT_DEFINE(cudaDeviceGetP2PAtomicCapabilities, u32 *, out, const u32 *, operation, unsigned, n, int, device, int, peer)
{
    return lkcu_cuDeviceGetP2PAtomicCapabilities(out, operation, n, device, peer);
}
RT_DEFINE(cudaDeviceDisablePeerAccess, int, peer) { return CU_PEER_NOT_ENABLED; }
RT_DEFINE(cudaDeviceEnablePeerAccess, int, peer, unsigned, flags) { return CU_PEER_UNSUPPORTED; }

RT_DEFINE(cudaDeviceGetLimit, u64 *, value, u32, limit) { return lkcu_cuCtxGetLimit(value, limit); }
RT_DEFINE(cudaDeviceSetLimit, u32, limit, u64, value) { return lkcu_cuCtxSetLimit(limit, value); }
RT_DEFINE(cudaDeviceGetCacheConfig, u32 *, c) { return lkcu_cuCtxGetCacheConfig(c); }
RT_DEFINE(cudaDeviceSetCacheConfig, u32, c) { return lkcu_cuCtxSetCacheConfig(c); }
RT_DEFINE(cudaSetDeviceFlags, unsigned, flags)
{
    return lkcu_cuDevicePrimaryCtxSetFlags_v2((int)here.context->device->ordinal, flags);
}
RT_DEFINE(cudaDeviceReset) { return lkcu_cuDevicePrimaryCtxReset_v2((int)here.context->device->ordinal); }
RT_DEFINE(cudaCtxResetPersistingL2Cache) { return CU_OK; }
RT_API(cudaThreadGetLimit)(u64 *value, u32 limit) { return lkrt_cudaDeviceGetLimit(value, limit); }
RT_API(cudaThreadSetLimit)(u32 limit, u64 value) { return lkrt_cudaDeviceSetLimit(limit, value); }
RT_API(cudaThreadGetCacheConfig)(u32 *c) { return lkrt_cudaDeviceGetCacheConfig(c); }
RT_API(cudaThreadSetCacheConfig)(u32 c) { return lkrt_cudaDeviceSetCacheConfig(c); }
RT_API(cudaThreadExit)(void) { return lkrt_cudaDeviceReset(); }
RT_DEFINE(cudaProfilerStart) { return CU_OK; }
RT_DEFINE(cudaProfilerStop) { return CU_OK; }

/* The device that suits a wish best: with one card of each kind, the first. */
RT_DEFINE(cudaChooseDevice, int *, device, const void *, wish)
{
    *device = 0;
    return CU_OK;
}

/* The devices that a thread without a choice may get, the best first. */
RT_DEFINE(cudaSetValidDevices, const int *, list, int, n)
{
    if (n < 0 || n > (int)cu_process.devices || (n && !bytes_readable(list, (u32)n * sizeof *list)))
        return CU_INVALID_VALUE;
    for (int i = 0; i < n; i++)
        if (!cu_device_at(list[i])) return CU_INVALID_DEVICE;
    if (n) rt_device_prefer(list[0]);
    return CU_OK;
}
/* Doubles are doubles since compute capability 1.3. */
RT_DEFINE(cudaSetDoubleForDevice, double *, d) { return CU_OK; }
RT_DEFINE(cudaSetDoubleForHost, double *, d) { return CU_OK; }
