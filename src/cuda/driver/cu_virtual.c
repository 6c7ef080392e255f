/* Virtual memory management: addresses that are reserved, memory that is mapped there. A handle of physical memory is
 * that of the public interface. */
#include "driver/cu_check.h"
#include "driver/cu_mem.h"

enum { GRANULARITY_MINIMUM, GRANULARITY_RECOMMENDED }; /* CUmemAllocationGranularity_flags */

_Static_assert(sizeof(struct cu_allocation) == sizeof(((struct lk_physical *)0)->note), "it is kept there");

/* The device of a description, opened. */
static cu_result access_device(const struct cu_allocation *x, struct cu_device **d)
{
    if (x->type != 1) return CU_INVALID_VALUE;
    if (x->location.type >= PLACE_HOST && x->location.type <= PLACE_NUMA_CURRENT) {
        cu_refused("physical memory of the host (cuMemCreate)");
        return CU_NOT_SUPPORTED;
    }
    if (x->location.type != PLACE_DEVICE) return CU_INVALID_VALUE;
    if (!(*d = cu_device_at(x->location.id))) return CU_INVALID_DEVICE;
    return cu_device_open(*d);
}

CU_DEFINE(cuMemGetAllocationGranularity, u64 *, out, const struct cu_allocation *, x, u32, option)
{
    if (x->type != 1 || option > GRANULARITY_RECOMMENDED) return CU_INVALID_VALUE;
    *out = LK_GRANULE;
    return CU_OK;
}

/* Addresses belong to a device here: that of the current context, or the first. */
CU_DEFINE(cuMemAddressReserve, u64 *, out, u64, bytes, u64, align, u64, hint, u64, flags)
{
    struct cu_device *d = here.device;
    if (bytes % LK_GRANULE || align & (align - 1) || hint % LK_GRANULE)
        return CU_INVALID_VALUE; /* the hint is a wish, which is not granted */
    if (!d) return CU_NO_DEVICE;
    cu_result r = cu_device_open(d);
    if (r) return r;
    return cu_status(d->gpu, lk_virtual_reserve(d->gpu, bytes, align, NULL, out));
}

/* The gpu whose reserved addresses these are; NULL: nobody's. */
static lk_gpu *gpu_of(u64 address)
{
    lk_memory_info info = { .size = sizeof info };
    bool is = lk_memory_at(NULL, address, &info) == LK_OK && info.kind == LK_MEMORY_VIRTUAL && !info.freed;
    return is ? info.gpu : NULL;
}

CU_DEFINE(cuMemAddressFree, u64, address, u64, bytes)
{
    lk_gpu *gpu = gpu_of(address);
    return gpu ? cu_status(gpu, lk_virtual_free(gpu, address, bytes)) : CU_INVALID_VALUE;
}

CU_DEFINE(cuMemCreate, lk_physical **, out, u64, bytes, const struct cu_allocation *, x, u64, flags)
{
    struct cu_device *d;
    cu_result r = access_device(x, &d);
    if (r) return r;
    if (!cu_ok(out) || flags || !bytes || bytes % LK_GRANULE) return CU_INVALID_VALUE;
    lk_physical *p;
    if ((r = cu_status(d->gpu, lk_physical_create(d->gpu, bytes, &p)))) return r;
    memcpy(p->note, x, sizeof *x);
    if (!cu_handle_add(p, CU_PHYSICAL)) {
        lk_physical_release(p);
        return CU_OUT_OF_MEMORY;
    }
    *out = p;
    return CU_OK;
}

static lock_t guard = LOCK_INIT; /* physical memory is not released while a call looks at it */

/* With several holders the handle stays. */
CU_DEFINE(cuMemRelease, lk_physical *, p)
{
    lock(&guard);
    bool is = cu_handle_is(p, CU_PHYSICAL);
    if (is && p->holders == 1) cu_handle_remove(p);
    if (is) lk_physical_release(p);
    unlock(&guard);
    return is ? CU_OK : CU_INVALID_VALUE;
}

static cu_result map(lk_gpu *gpu, u64 address, u64 bytes, u64 offset, lk_physical *p, u64 flags)
{
    if (!gpu || !bytes || bytes % LK_GRANULE || address % LK_GRANULE || flags || !cu_handle_is(p, CU_PHYSICAL))
        return CU_INVALID_VALUE;
    if (offset || bytes != p->dev->bytes) return CU_NOT_SUPPORTED; /* so says an H200, too: all of it or nothing */
    if (gpu != p->handle.gpu) {
        cu_refused("cuMemMap of memory of one device to addresses that were reserved under another");
        return CU_NOT_SUPPORTED;
    }
    return cu_status(gpu, lk_virtual_map(gpu, address, bytes, p));
}
CU_DEFINE(cuMemMap, u64, address, u64, bytes, u64, offset, lk_physical *, p, u64, flags)
{
    lock(&guard);
    cu_result r = map(gpu_of(address), address, bytes, offset, p, flags);
    unlock(&guard);
    return r;
}

CU_DEFINE(cuMemUnmap, u64, address, u64, bytes)
{
    lk_gpu *gpu = gpu_of(address);
    if (!gpu) return CU_INVALID_VALUE;
    lock(&guard);
    cu_result r = cu_status(gpu, lk_virtual_unmap(gpu, address, bytes));
    unlock(&guard);
    return r;
}

CU_DEFINE(cuMemSetAccess, u64, address, u64, bytes, const struct cu_access *, a, u64, n)
{
    cu_result r = CU_OK;
    lk_gpu *gpu = gpu_of(address);
    if (!gpu) return CU_INVALID_VALUE;
    for (u64 i = 0; i < n; i++) {
        if (a[i].flags != RIGHT_NONE && a[i].flags != RIGHT_READ && a[i].flags != RIGHT_WRITE) return CU_INVALID_VALUE;
        if (a[i].location.type >= PLACE_HOST && a[i].location.type <= PLACE_NUMA_CURRENT) {
            cu_refused("cuMemSetAccess for the host");
            return CU_NOT_SUPPORTED;
        }
        const struct cu_device *d = a[i].location.type == PLACE_DEVICE ? cu_device_at(a[i].location.id) : NULL;
        if (!d) return CU_INVALID_VALUE;
        if (d->gpu != gpu && a[i].flags) { /* cuDeviceCanAccessPeer says no */
            cu_refused("cuMemSetAccess for another device");
            return CU_NOT_SUPPORTED;
        }
    }
    for (u64 i = 0; i < n && !r; i++) {
        lk_access access = a[i].flags == RIGHT_WRITE  ? LK_ACCESS_WRITE
                           : a[i].flags == RIGHT_READ ? LK_ACCESS_READ
                                                      : LK_ACCESS_NONE;
        if (cu_device_at(a[i].location.id)->gpu == gpu)
            r = cu_status(gpu, lk_virtual_access(gpu, address, bytes, access));
    }
    return r;
}

CU_DEFINE(cuMemGetAccess, u64 *, flags, const struct cu_location *, l, u64, address)
{
    lk_virtual_info info = { .size = sizeof info };
    lk_gpu *gpu = gpu_of(address);
    if (!gpu || lk_virtual_at(gpu, address, &info)) return CU_INVALID_VALUE;
    const struct cu_device *d = l->type == PLACE_DEVICE ? cu_device_at(l->id) : NULL;
    if (!d) return CU_INVALID_DEVICE;
    *flags = d->gpu != gpu                    ? RIGHT_NONE
             : info.access == LK_ACCESS_WRITE ? RIGHT_WRITE
             : info.access == LK_ACCESS_READ  ? RIGHT_READ
                                              : RIGHT_NONE;
    return CU_OK;
}

CU_DEFINE(cuMemGetAllocationPropertiesFromHandle, struct cu_allocation *, out, lk_physical *, p)
{
    lock(&guard);
    bool is = cu_handle_is(p, CU_PHYSICAL);
    if (is) memcpy(out, p->note, sizeof *out);
    unlock(&guard);
    return is ? CU_OK : CU_INVALID_VALUE;
}

CU_DEFINE(cuMemRetainAllocationHandle, lk_physical **, out, const void *, p)
{
    lk_virtual_info info = { .size = sizeof info };
    u64 address = (u64)(uintptr_t)p;
    lk_gpu *gpu = gpu_of(address);
    if (!gpu) return CU_INVALID_VALUE;
    cu_result r = CU_OK;
    lock(&guard);
    if (lk_virtual_at(gpu, address, &info)) {
        r = CU_INVALID_VALUE;
    } else if (!cu_handle_add(info.physical, CU_PHYSICAL)) {
        r = CU_OUT_OF_MEMORY;
    } else {
        host_physical_retain(info.physical);
        *out = info.physical;
    }
    unlock(&guard);
    return r;
}
