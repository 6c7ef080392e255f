/* Libraries of the runtime, and its way to the functions of the driver. */
#include "runtime/rt_check.h"
#include "runtime/rt.h"

/* ---- libraries ---- */

RT_DEFINE(cudaLibraryGetKernel, struct cu_function **, out, struct cu_image *, m, const char *, name)
{
    cu_result r = lkcu_cuLibraryGetKernel(out, m, name);
    return r == CU_NOT_FOUND ? RT_INVALID_DEVICE_FUNCTION : r;
}
RT_DEFINE(cudaLibraryGetGlobal, u64 *, address, u64 *, bytes, struct cu_image *, m, const char *, name)
{
    cu_result r = lkcu_cuLibraryGetGlobal(address, bytes, m, name);
    return r == CU_NOT_FOUND ? RT_INVALID_SYMBOL : r;
}
RT_DEFINE(cudaLibraryGetManaged, u64 *, address, u64 *, bytes, struct cu_image *, m, const char *, name)
{
    cu_result r = lkcu_cuLibraryGetManaged(address, bytes, m, name);
    return r == CU_NOT_FOUND ? RT_INVALID_SYMBOL : r;
}
RT_API(cudaKernelSetAttributeForDevice)(void *kernel, int which, int value, int device)
{
    return rt_done(THEN(lkcu_cuKernelSetAttribute(which, value, kernel, device)));
}

/* ---- functions of the driver by name ---- */

enum { ENTRY_FOUND, ENTRY_NOT_FOUND, ENTRY_NEWER }; /* cudaDriverEntryPointQueryResult, as the driver's own */

static cu_result entry(const char *name, void **out, unsigned version, u64 flags, int *status)
{
    enum { PER_THREAD = 2 };
    int found = ENTRY_NOT_FOUND;
    if (status && !cu_ok(status)) return CU_INVALID_VALUE;
    if (flags > PER_THREAD || !version || version > 99999) return CU_INVALID_VALUE;
    if (!flags && cu_call_per_thread()) flags = PER_THREAD;
    cu_result r = lkcu_cuGetProcAddress_v2(name, out, (int)version, flags, &found);
    if (r) return r;
    if (status) *status = found;
    return found == ENTRY_FOUND || status ? CU_OK : CU_NOT_FOUND;
}
RT_CALL(cudaGetDriverEntryPoint, (const char *name, void **out, u64 flags, int *status),
        entry(name, out, CU_VERSION, flags, status))
RT_CALL(cudaGetDriverEntryPoint_12, (const char *name, void **out, u64 flags, int *status),
        entry(name, out, RT_VERSION_12, flags, status))
/* Without a status, which came with release 12. */
RT_CALL(cudaGetDriverEntryPoint_11, (const char *name, void **out, u64 flags),
        entry(name, out, RT_VERSION_11, flags, NULL))
RT_CALL(cudaGetDriverEntryPointByVersion, (const char *name, void **out, unsigned version, u64 flags, int *status),
        entry(name, out, version, flags, status))
/* The runtime's own tables are the driver's. */
RT_API(cudaGetExportTable)(const void **out, const void *id) { return rt_done(lkcu_cuGetExportTable(out, id)); }

RT_DEFINE(cudaRuntimeGetVersion, int *, version)
{
    *version = CU_VERSION;
    return CU_OK;
}
RT_API(cudaRuntimeGetVersion_12)(int *version)
{
    if (!cu_ok(version)) return rt_done(CU_INVALID_VALUE);
    *version = RT_VERSION_12;
    return CU_OK;
}
RT_API(cudaRuntimeGetVersion_11)(int *version)
{
    if (!cu_ok(version)) return rt_done(CU_INVALID_VALUE);
    *version = RT_VERSION_11;
    return CU_OK;
}
