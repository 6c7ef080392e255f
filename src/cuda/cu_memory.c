/* Memory: what is allocated, pinned, registered and managed, and what an address is. */
#include "cuda/cu_mem.h"
#include "sim/profile.h"

static cu_result allocate(u64 *out, u64 bytes, lk_memory_kind kind)
{
    struct cu_context *c;
    cu_result r = cu_current(&c);
    if (r) return r;
    if (!cu_ok(out) || !bytes) return CU_INVALID_VALUE;
    return cu_status(c->device->gpu, lk_memory_alloc(c->device->gpu, bytes, kind, NULL, out));
}

/* Frees memory of whichever gpu it is of; a pointer that is nobody's is a finding there, and an error. */
static cu_result release(u64 address)
{
    struct cu_context *c;
    lk_memory_info info = { .size = sizeof info };
    cu_result r = cu_current(&c);
    if (r) return r;
    if (!address) return CU_OK;
    lk_gpu *gpu = lk_memory_at(NULL, address, &info) == LK_OK ? info.gpu : c->device->gpu;
    lk_status s = lk_memory_free(gpu, address);
    return s == LK_FINDINGS ? CU_INVALID_VALUE : cu_status(gpu, s);
}

CU_API(cuMemAlloc_v2)(u64 *out, u64 bytes) { return allocate(out, bytes, LK_MEMORY_DEVICE); }
CU_API(cuMemFree_v2)(u64 address) { return release(address); }

CU_API(cuMemAllocPitch_v2)(u64 *out, u64 *pitch, u64 width, u64 rows, unsigned element)
{
    struct cu_context *c;
    cu_result r = cu_current(&c);
    if (r) return r;
    if (!cu_ok(out) || !cu_ok(pitch) || !width || !rows || (element != 4 && element != 8 && element != 16))
        return CU_INVALID_VALUE;
    lk_gpu *gpu = c->device->gpu;
    return cu_status(gpu, lk_memory_alloc_pitched(gpu, width, rows, element, NULL, out, pitch));
}

CU_API(cuMemAllocManaged)(u64 *out, u64 bytes, unsigned flags)
{
    return flags == 1 || flags == 2 ? allocate(out, bytes, LK_MEMORY_MANAGED) : CU_INVALID_VALUE;
}

/* Pinned memory is mapped, and has one address for both sides. */
CU_API(cuMemHostAlloc)(void **out, u64 bytes, unsigned flags)
{
    u64 address;
    if (!cu_ok(out) || flags & ~7u) return CU_INVALID_VALUE;
    cu_result r = allocate(&address, bytes, LK_MEMORY_PINNED);
    if (!r) *out = (void *)(uintptr_t)address;
    return r;
}
CU_API(cuMemAllocHost_v2)(void **out, u64 bytes) { return lkcu_cuMemHostAlloc(out, bytes, 0); }
CU_API(cuMemFreeHost)(void *p) { return release((uintptr_t)p); }

CU_API(cuMemHostRegister_v2)(void *p, u64 bytes, unsigned flags)
{
    struct cu_context *c;
    u64 address;
    cu_result r = cu_current(&c);
    if (r) return r;
    if (!p || !bytes || flags & ~15u) return CU_INVALID_VALUE;
    return cu_status(c->device->gpu, lk_memory_register(c->device->gpu, p, bytes, NULL, &address));
}
CU_API(cuMemHostRegister)(void *p, u64 bytes, unsigned flags) { return lkcu_cuMemHostRegister_v2(p, bytes, flags); }
CU_API(cuMemHostUnregister)(void *p)
{
    struct cu_context *c;
    cu_result r = cu_current(&c);
    if (r) return r;
    return p ? cu_status(c->device->gpu, lk_memory_unregister(c->device->gpu, p)) : CU_INVALID_VALUE;
}

bool cu_memory_at(u64 address, lk_memory_info *info)
{
    *info = (lk_memory_info){ .size = sizeof *info };
    return address && lk_memory_at(NULL, address, info) == LK_OK && !info->freed;
}
static bool is_host_memory(lk_memory_kind k) { return k == LK_MEMORY_PINNED || k == LK_MEMORY_REGISTERED; }

CU_API(cuMemHostGetDevicePointer_v2)(u64 *out, void *p, unsigned flags)
{
    lk_memory_info info;
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_ok(out) || flags || !cu_memory_at((uintptr_t)p, &info) || !is_host_memory(info.kind))
        return CU_INVALID_VALUE;
    *out = (uintptr_t)p;
    return CU_OK;
}

CU_API(cuMemHostGetFlags)(unsigned *flags, void *p)
{
    lk_memory_info info;
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_ok(flags) || !cu_memory_at((uintptr_t)p, &info) || info.kind != LK_MEMORY_PINNED) return CU_INVALID_VALUE;
    *flags = 2; /* CU_MEMHOSTALLOC_DEVICEMAP */
    return CU_OK;
}

CU_API(cuMemGetInfo_v2)(u64 *left, u64 *total)
{
    struct cu_context *c;
    cu_result r = cu_current(&c);
    if (r) return r;
    if (!cu_ok(left) || !cu_ok(total)) return CU_INVALID_VALUE;
    u64 live = lk_memory_live(c->device->gpu);
    *total = c->device->profile->memory;
    *left = *total > live ? *total - live : 0;
    return CU_OK;
}

CU_API(cuMemGetAddressRange_v2)(u64 *base, u64 *bytes, u64 address)
{
    lk_memory_info info;
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_memory_at(address, &info)) return CU_NOT_FOUND;
    if (base) *base = info.base;
    if (bytes) *bytes = info.bytes;
    return CU_OK;
}

/* ---- what an address is ---- */

enum { /* CUpointer_attribute */
       POINTER_CONTEXT = 1,
       POINTER_TYPE = 2,
       POINTER_DEVICE = 3,
       POINTER_HOST = 4,
       POINTER_SYNC = 6,
       POINTER_ID = 7,
       POINTER_MANAGED = 8,
       POINTER_ORDINAL = 9,
       POINTER_BASE = 11,
       POINTER_BYTES = 12,
       POINTER_MAPPED = 13,
       POINTER_ACCESS = 16,
       POINTER_POOL = 17
};

struct cu_device *cu_device_of(const lk_gpu *gpu)
{
    for (u32 i = 0; i < cu_process.devices; i++)
        if (cu_process.device[i].gpu == gpu) return &cu_process.device[i];
    return NULL;
}

static cu_result pointer_fact(void *out, int which, u64 address)
{
    lk_memory_info info;
    bool known = cu_memory_at(address, &info), host = known && is_host_memory(info.kind);
    if (!known && which != POINTER_MAPPED) return CU_INVALID_VALUE;
    struct cu_device *d = known ? cu_device_of(info.gpu) : NULL;
    switch (which) {
    case POINTER_CONTEXT: *(void **)out = d ? d->primary : NULL; break;
    case POINTER_TYPE: *(u32 *)out = host ? 1 : 2; break;
    case POINTER_DEVICE: *(u64 *)out = address; break;
    case POINTER_HOST:
        if (!host && info.kind != LK_MEMORY_MANAGED) return CU_INVALID_VALUE;
        *(u64 *)out = address;
        break;
    case POINTER_SYNC: *(u32 *)out = 0; break;
    case POINTER_ID: *(u64 *)out = info.base; break;
    case POINTER_MANAGED: *(u32 *)out = info.kind == LK_MEMORY_MANAGED; break;
    case POINTER_ORDINAL: *(int *)out = d ? (int)d->ordinal : 0; break;
    case POINTER_BASE: *(u64 *)out = info.base; break;
    case POINTER_BYTES: *(u64 *)out = info.bytes; break;
    case POINTER_MAPPED: *(u32 *)out = known; break;
    case POINTER_ACCESS: *(u32 *)out = 3; break;
    case POINTER_POOL: *(void **)out = info.kind == LK_MEMORY_POOL ? cu_pool_at(address) : NULL; break;
    default: return CU_NOT_SUPPORTED;
    }
    return CU_OK;
}

CU_API(cuPointerGetAttribute)(void *out, int which, u64 address)
{
    cu_result r = cu_begin();
    return r ? r : cu_ok(out) ? pointer_fact(out, which, address) : CU_INVALID_VALUE;
}

/* Attributes that do not apply become zero here, and nothing fails. */
CU_API(cuPointerGetAttributes)(unsigned n, const int *which, void **out, u64 address)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!n || !cu_ok(which) || !cu_ok(out)) return CU_INVALID_VALUE;
    for (u32 i = 0; i < n; i++) {
        if (!out[i]) return CU_INVALID_VALUE;
        bool narrow = which[i] == POINTER_TYPE || which[i] == POINTER_SYNC || which[i] == POINTER_MANAGED ||
                      which[i] == POINTER_ORDINAL || which[i] == POINTER_MAPPED || which[i] == POINTER_ACCESS;
        if (!pointer_fact(out[i], which[i], address)) continue;
        memset(out[i], 0, narrow ? 4 : 8);
        if (which[i] == POINTER_ORDINAL) *(int *)out[i] = -2; /* CU_DEVICE_INVALID */
    }
    return CU_OK;
}
CU_API(cuPointerSetAttribute)(const void *value, int which, u64 address)
{
    lk_memory_info info;
    cu_result r = cu_begin();
    if (r) return r;
    return value && which == POINTER_SYNC && cu_memory_at(address, &info) ? CU_OK : CU_INVALID_VALUE;
}

/* ---- wishes about managed memory: its pages are everywhere here ---- */

static cu_result wish(u64 address, u64 bytes, void *stream, bool thread)
{
    struct cu_context *c;
    lk_memory_info info;
    lk_stream *st;
    cu_result r = cu_current(&c);
    if (r || (r = cu_stream_of(c, stream, thread, &st))) return r;
    return cu_memory_at(address, &info) && bytes && bytes <= info.base + info.bytes - address ? CU_OK
                                                                                              : CU_INVALID_VALUE;
}
CU_API(cuMemPrefetchAsync)(u64 a, u64 n, int device, void *s) { return (void)device, wish(a, n, s, false); }
CU_API(cuMemPrefetchAsync_ptsz)(u64 a, u64 n, int device, void *s) { return (void)device, wish(a, n, s, true); }
CU_API(cuMemPrefetchAsync_v2)(u64 a, u64 n, struct cu_location l, unsigned flags, void *s)
{
    return (void)l, flags ? CU_INVALID_VALUE : wish(a, n, s, false);
}
CU_API(cuMemPrefetchAsync_v2_ptsz)(u64 a, u64 n, struct cu_location l, unsigned flags, void *s)
{
    return (void)l, flags ? CU_INVALID_VALUE : wish(a, n, s, true);
}
CU_API(cuMemAdvise)(u64 a, u64 n, int advice, int device)
{
    return (void)advice, (void)device, wish(a, n, NULL, false);
}
CU_API(cuMemAdvise_v2)(u64 a, u64 n, int advice, struct cu_location l)
{
    return (void)advice, (void)l, wish(a, n, NULL, false);
}

/* ---- in stream order ---- */

static cu_result alloc_async(u64 *out, u64 bytes, void *stream, bool thread)
{
    struct cu_context *c;
    lk_stream *st;
    cu_result r = cu_current(&c);
    if (r || (r = cu_stream_of(c, stream, thread, &st))) return r;
    if (!cu_ok(out) || !bytes) return CU_INVALID_VALUE;
    return cu_status(c->device->gpu, lk_memory_alloc_async(st, bytes, NULL, NULL, out));
}
static cu_result free_async(u64 address, void *stream, bool thread)
{
    struct cu_context *c;
    lk_stream *st;
    cu_result r = cu_current(&c);
    if (r || (r = cu_stream_of(c, stream, thread, &st))) return r;
    return address ? cu_status(c->device->gpu, lk_memory_free_async(st, address)) : CU_OK;
}
CU_API(cuMemAllocAsync)(u64 *out, u64 n, void *s) { return alloc_async(out, n, s, false); }
CU_API(cuMemAllocAsync_ptsz)(u64 *out, u64 n, void *s) { return alloc_async(out, n, s, true); }
CU_API(cuMemFreeAsync)(u64 a, void *s) { return free_async(a, s, false); }
CU_API(cuMemFreeAsync_ptsz)(u64 a, void *s) { return free_async(a, s, true); }
