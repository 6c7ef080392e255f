/* Devices of the runtime, and their properties in each release's layout. */
#include "runtime/rt.h"
#include "card/card.h"

static const struct property {
    u8 bytes, count, attribute, first, last;
} property[] = {
#define PROPERTY(bytes, count, attribute, first, last) { bytes, count, attribute, first, last },
#include "abi/rt_property.def"
#undef PROPERTY
};

static cu_result initialised(void) { return cu_begin() ? lkcu_cuInit(0) : CU_OK; }

/* Fills cudaDeviceProp as the release has it. */
static cu_result properties(u8 *out, int device, u32 release)
{
    cu_result r = initialised();
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

RT_API(cudaDeviceGetAttribute)(int *value, int which, int device)
{
    cu_result r = initialised();
    return rt_done(r ? r : lkcu_cuDeviceGetAttribute(value, which, device));
}
RT_API(cudaDriverGetVersion)(int *version)
{
    if (!cu_ok(version)) return rt_done(CU_INVALID_VALUE);
    *version = CU_VERSION;
    return CU_OK;
}
RT_API(cudaDeviceGetPCIBusId)(char *out, int size, int device)
{
    cu_result r = initialised();
    return rt_done(r ? r : lkcu_cuDeviceGetPCIBusId(out, size, device));
}
RT_API(cudaDeviceGetByPCIBusId)(int *device, const char *id)
{
    cu_result r = initialised();
    return rt_done(r ? r : lkcu_cuDeviceGetByPCIBusId(device, id));
}
RT_API(cudaDeviceCanAccessPeer)(int *can, int device, int peer)
{
    cu_result r = initialised();
    return rt_done(r ? r : lkcu_cuDeviceCanAccessPeer(can, device, peer));
}
RT_API(cudaDeviceGetP2PAttribute)(int *value, int which, int device, int peer)
{
    cu_result r = initialised();
    return rt_done(r ? r : lkcu_cuDeviceGetP2PAttribute(value, which, device, peer));
}
RT_API(cudaDeviceGetHostAtomicCapabilities)(u32 *out, const u32 *operation, unsigned n, int device)
{
    cu_result r = initialised();
    return rt_done(r ? r : lkcu_cuDeviceGetHostAtomicCapabilities(out, operation, n, device));
}
RT_API(cudaDeviceGetP2PAtomicCapabilities)(u32 *out, const u32 *operation, unsigned n, int device, int peer)
{
    cu_result r = initialised();
    return rt_done(r ? r : lkcu_cuDeviceGetP2PAtomicCapabilities(out, operation, n, device, peer));
}
RT_API(cudaDeviceDisablePeerAccess)(int peer)
{
    cu_result r = initialised();
    if (!r && !cu_device_at(peer)) r = CU_INVALID_DEVICE;
    return rt_done(r ? r : CU_PEER_NOT_ENABLED);
}
RT_API(cudaDeviceEnablePeerAccess)(int peer, unsigned flags)
{
    cu_result r = initialised();
    if (!r && !cu_device_at(peer)) r = CU_INVALID_DEVICE;
    return rt_done(r ? r : flags ? CU_INVALID_VALUE : CU_PEER_UNSUPPORTED);
}

RT_API(cudaDeviceGetLimit)(u64 *value, u32 limit) { return rt_done(THEN(lkcu_cuCtxGetLimit(value, limit))); }
RT_API(cudaDeviceSetLimit)(u32 limit, u64 value) { return rt_done(THEN(lkcu_cuCtxSetLimit(limit, value))); }
RT_API(cudaDeviceGetCacheConfig)(u32 *c) { return rt_done(THEN(lkcu_cuCtxGetCacheConfig(c))); }
RT_API(cudaDeviceSetCacheConfig)(u32 c) { return rt_done(THEN(lkcu_cuCtxSetCacheConfig(c))); }
RT_API(cudaSetDeviceFlags)(unsigned flags)
{
    struct cu_context *c;
    cu_result r = rt_enter(&c);
    return rt_done(r ? r : lkcu_cuDevicePrimaryCtxSetFlags_v2((int)c->device->ordinal, flags));
}
RT_API(cudaDeviceReset)(void)
{
    struct cu_context *c;
    cu_result r = rt_enter(&c);
    return rt_done(r ? r : lkcu_cuDevicePrimaryCtxReset_v2((int)c->device->ordinal));
}
RT_API(cudaCtxResetPersistingL2Cache)(void) { return rt_done(rt_enter(NULL)); }
RT_API(cudaThreadGetLimit)(u64 *value, u32 limit) { return lkrt_cudaDeviceGetLimit(value, limit); }
RT_API(cudaThreadSetLimit)(u32 limit, u64 value) { return lkrt_cudaDeviceSetLimit(limit, value); }
RT_API(cudaThreadGetCacheConfig)(u32 *c) { return lkrt_cudaDeviceGetCacheConfig(c); }
RT_API(cudaThreadSetCacheConfig)(u32 c) { return lkrt_cudaDeviceSetCacheConfig(c); }
RT_API(cudaThreadExit)(void) { return lkrt_cudaDeviceReset(); }
RT_API(cudaProfilerStart)(void) { return rt_done(rt_enter(NULL)); }
RT_API(cudaProfilerStop)(void) { return rt_done(rt_enter(NULL)); }

/* The device that suits a wish best: with one card of each kind, the first. */
RT_API(cudaChooseDevice)(int *device, const void *wish)
{
    cu_result r = initialised();
    (void)wish;
    if (!r && !cu_ok(device)) r = CU_INVALID_VALUE;
    if (!r) *device = 0;
    return rt_done(r);
}

/* The devices that a thread without a choice may get, the best first. */
RT_API(cudaSetValidDevices)(const int *list, int n)
{
    cu_result r = initialised();
    if (!r && (n < 0 || n > (int)cu_process.devices || (n && !bytes_readable(list, (u32)n * sizeof *list))))
        r = CU_INVALID_VALUE;
    for (int i = 0; !r && i < n; i++)
        if (!cu_device_at(list[i])) r = CU_INVALID_DEVICE;
    if (!r && n) rt_device_prefer(list[0]);
    return rt_done(r);
}
/* Doubles are doubles since compute capability 1.3. */
RT_API(cudaSetDoubleForDevice)(double *d) { return rt_done(cu_ok(d) ? CU_OK : CU_INVALID_VALUE); }
RT_API(cudaSetDoubleForHost)(double *d) { return rt_done(cu_ok(d) ? CU_OK : CU_INVALID_VALUE); }
