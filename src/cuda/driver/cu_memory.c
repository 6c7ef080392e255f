/* Memory: what is allocated, pinned, registered and managed, and what an address is. */
#include "driver/cu_check.h"
#include "driver/cu_engine.h"
#include "driver/gate.h"
#include "driver/cu_mem.h"
#include "driver/cu_image.h"
#include "card/card.h"

static cu_result allocate(u64 *out, u64 bytes, lk_memory_kind kind)
{
    struct cu_context *c;
    cu_result r = cu_current(&c);
    if (r) return r;
    if (!cu_ok(out) || !bytes) return CU_INVALID_VALUE;
    return cu_status(c->device->gpu, lk_memory_alloc(c->device->gpu, bytes, kind, NULL, out));
}

/* cudaFree of what cudaMallocHost has allocated, or the other way round: the call fails, and the memory stays. */
static void wrong_pair(u64 address, const lk_memory_info *m, bool host)
{
    char cause[300], fix[200];
    const char *call = cu_call_name(cu_call_now()), *made = "memory of the device";
    if (m->kind == LK_MEMORY_PINNED) made = "pinned memory of the host";
    if (m->kind == LK_MEMORY_MANAGED) made = "managed memory";
    snprintf(cause, sizeof cause, "%s is %s, which %s does not free.", m->name, made, call);
    snprintf(fix, sizeof fix,
             "Free it with %s%s: what one pair of functions has allocated the other one does not free.",
             strncmp(call, "cuda", 4) ? "cuMemFree" : "cudaFree", host ? "" : "Host");
    cu_engine->cu_found(&(struct finding){
        .kind = F_bad_free, .cause_key = address, .call = host_site(NULL), .cause = cause, .fix = fix });
}

/* Frees memory of whichever gpu it is of; a pointer that is nobody's is a finding there, and an error. What one pair of
 * functions has allocated the other one does not free. */
static cu_result release(u64 address, bool host)
{
    struct cu_context *c;
    lk_memory_info info = { .size = sizeof info };
    cu_result r = cu_current(&c);
    bool known = address && lk_memory_at(NULL, address, &info) == LK_OK;
    if (r && !(r == CU_INVALID_CONTEXT && known)) return r; /* memory says itself whose it is */
    if (!address) return CU_OK;
    bool pinned = info.kind == LK_MEMORY_PINNED && (info.freed || !cu_pool_at(address));
    if (known && !info.freed && pinned != host && info.kind <= LK_MEMORY_POOL) { /* of others lk_memory_free tells */
        wrong_pair(address, &info, host);
        return CU_INVALID_VALUE;
    }
    if (known && info.freed && cu_reset_ended(info.gpu, address)) return CU_INVALID_VALUE;
    lk_gpu *gpu = known ? info.gpu : c->device->gpu;
    lk_status s = lk_memory_free(gpu, address);
    return s == LK_FINDINGS ? CU_INVALID_VALUE : cu_status(gpu, s);
}

CU_API(cuMemAlloc_v2)(u64 *out, u64 bytes) { return allocate(out, bytes, LK_MEMORY_DEVICE); }
CU_API(cuMemFree_v2)(u64 address) { return release(address, false); }

CU_DEFINE(cuMemAllocPitch_v2, u64 *, out, u64 *, pitch, u64, width, u64, rows, unsigned, element)
{
    if (element != 4 && element != 8 && element != 16) return CU_INVALID_VALUE;
    lk_gpu *gpu = here.context->device->gpu;
    return cu_status(gpu, lk_memory_alloc_pitched(gpu, width, rows, 1, NULL, out, pitch));
}

CU_API(cuMemAllocManaged)(u64 *out, u64 bytes, unsigned flags)
{
    if (flags == 1 || flags == 2) return allocate(out, bytes, LK_MEMORY_MANAGED);
    cu_wrong_number("x:flags", 0, flags, "CU_MEM_ATTACH_GLOBAL (1) or CU_MEM_ATTACH_HOST (2)");
    return CU_INVALID_VALUE;
}

enum { HOST_PORTABLE = 1, HOST_MAPPED = 2, HOST_IO = 4 }; /* CU_MEMHOSTALLOC_DEVICEMAP, CU_MEMHOSTREGISTER_IOMEMORY */

/* Pinned memory is mapped, and has one address for both sides. */
CU_DEFINE(cuMemHostAlloc, void **, out, u64, bytes, unsigned, flags)
{
    u64 address;
    cu_result r = allocate(&address, bytes, LK_MEMORY_PINNED);
    if (r) return r;
    cu_note_flags(address, flags & ~(u32)HOST_MAPPED);
    *out = (void *)(uintptr_t)address;
    return CU_OK;
}
CU_API(cuMemAllocHost_v2)(void **out, u64 bytes) { return lkcu_cuMemHostAlloc(out, bytes, 0); }
CU_API(cuMemFreeHost)(void *p) { return release((uintptr_t)p, true); }

CU_DEFINE(cuMemHostRegister_v2, void *, p, u64, bytes, unsigned, flags)
{
    u64 address;
    if (flags & HOST_IO) return CU_INVALID_VALUE; /* it is memory, and no device's registers */
    cu_result r = cu_status(here.context->device->gpu,
                            lk_memory_register(here.context->device->gpu, p, bytes, NULL, &address));
    if (!r) cu_note_flags(address, flags & HOST_PORTABLE);
    return r;
}
CU_API(cuMemHostRegister)(void *p, u64 bytes, unsigned flags) { return lkcu_cuMemHostRegister_v2(p, bytes, flags); }
CU_DEFINE(cuMemHostUnregister, void *, p)
{
    return cu_status(here.context->device->gpu, lk_memory_unregister(here.context->device->gpu, p));
}

bool cu_memory_at(u64 address, lk_memory_info *info)
{
    lk_virtual_info mapped = { .size = sizeof mapped };
    *info = (lk_memory_info){ .size = sizeof *info };
    if (!address || lk_memory_at(NULL, address, info) || info->freed) return false;
    if (info->kind != LK_MEMORY_VIRTUAL) return true;
    if (lk_virtual_at(info->gpu, address, &mapped)) return false; /* addresses only */
    info->base = mapped.base;
    info->bytes = mapped.bytes;
    return true;
}
/* What the device may do there: enum cu_right. */
static u32 right_of(const lk_memory_info *info, u64 address)
{
    static const u32 right[] = { RIGHT_NONE, RIGHT_READ, RIGHT_WRITE }; /* by lk_access */
    lk_virtual_info mapped = { .size = sizeof mapped };
    if (info->kind != LK_MEMORY_VIRTUAL) return RIGHT_WRITE;
    return lk_virtual_at(info->gpu, address, &mapped) ? RIGHT_NONE : right[mapped.access];
}
static bool is_host_memory(lk_memory_kind k) { return k == LK_MEMORY_PINNED || k == LK_MEMORY_REGISTERED; }

CU_DEFINE(cuMemHostGetDevicePointer_v2, u64 *, out, void *, p, unsigned, flags)
{
    lk_memory_info info;
    if (!cu_memory_at((uintptr_t)p, &info) || !is_host_memory(info.kind) || cu_pool_at((uintptr_t)p))
        return CU_INVALID_VALUE;
    *out = (uintptr_t)p;
    return CU_OK;
}

CU_DEFINE(cuMemHostGetFlags, unsigned *, flags, void *, p)
{
    lk_memory_info info;
    if (!cu_memory_at((uintptr_t)p, &info) || !is_host_memory(info.kind) || cu_pool_at((uintptr_t)p))
        return CU_INVALID_VALUE;
    *flags = cu_note_flags_of(&info) | HOST_MAPPED;
    return CU_OK;
}

CU_DEFINE(cuMemGetInfo_v2, u64 *, left, u64 *, total)
{
    u64 live = lk_memory_live(here.context->device->gpu);
    *total = here.context->device->card->memory;
    *left = *total > live ? *total - live : 0;
    return CU_OK;
}

CU_DEFINE(cuMemGetAddressRange_v2, u64 *, base, u64 *, bytes, u64, address)
{
    lk_memory_info info;
    if (!cu_memory_at(address, &info) || !right_of(&info, address) || cu_pool_closed(address)) return CU_NOT_FOUND;
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
       POINTER_TOKENS = 5,
       POINTER_SYNC = 6,
       POINTER_ID = 7,
       POINTER_MANAGED = 8,
       POINTER_ORDINAL = 9,
       POINTER_IPC = 10,
       POINTER_BASE = 11,
       POINTER_BYTES = 12,
       POINTER_MAPPED = 13,
       POINTER_HANDLES = 14,
       POINTER_RDMA = 15,
       POINTER_ACCESS = 16,
       POINTER_POOL = 17,
       POINTER_MAPPING_BYTES = 18,
       POINTER_MAPPING_BASE = 19,
       POINTER_BLOCK = 20,
       POINTER_DECOMPRESS = 21
};

struct cu_device *cu_device_of(const lk_gpu *gpu)
{
    for (u32 i = 0; i < cu_process.devices; i++)
        if (cu_process.device[i].gpu == gpu) return &cu_process.device[i];
    return NULL;
}

enum { PAGE = 4096, GRANULE = 2 << 20 };
static cu_result pointer_fact(void *out, int which, u64 address)
{
    lk_memory_info info;
    if (!cu_memory_at(address, &info)) return CU_INVALID_VALUE;
    /* loose: of no context */
    struct cu_pool *pool = cu_pool_at(address);
    bool host = is_host_memory(info.kind), loose = pool || info.kind == LK_MEMORY_VIRTUAL,
         device = !host && !loose && info.kind != LK_MEMORY_MANAGED, closed = pool && cu_pool_closed(address);
    u64 unit = info.kind == LK_MEMORY_REGISTERED ? PAGE : GRANULE, base = info.base & ~(unit - 1);
    struct cu_device *d = cu_device_of(info.gpu);
    /* of reserved addresses the range is all of them, and the mapping a part */
    lk_memory_info whole = { .size = sizeof whole };
    lk_memory_at(info.gpu, address, &whole);
    u32 right = right_of(&info, address);
    switch (which) {
    case POINTER_CONTEXT: *(void **)out = d && !loose ? d->primary : NULL; break;
    case POINTER_TYPE: *(u32 *)out = host ? 1 : 2; break;
    case POINTER_DEVICE:
        if (!right || closed) return CU_INVALID_VALUE;
        *(u64 *)out = address;
        break;
    case POINTER_HOST:
        if (!host && info.kind != LK_MEMORY_MANAGED) return CU_INVALID_VALUE;
        *(u64 *)out = address;
        break;
    case POINTER_SYNC: *(u32 *)out = cu_note_sync_of(&info, !host); break;
    case POINTER_ID: *(u64 *)out = info.id; break;
    case POINTER_MANAGED: *(u32 *)out = info.kind == LK_MEMORY_MANAGED; break;
    case POINTER_ORDINAL: *(int *)out = d ? (int)d->ordinal : 0; break;
    case POINTER_BASE: *(u64 *)out = closed ? 0 : whole.base; break;
    case POINTER_BYTES: *(u64 *)out = whole.bytes; break;
    case POINTER_MAPPED: *(u32 *)out = 1; break;
    case POINTER_IPC: *(u32 *)out = device; break;
    case POINTER_HANDLES: *(u64 *)out = 0; break;
    case POINTER_RDMA: *(u32 *)out = device; break;
    case POINTER_ACCESS: *(u32 *)out = right; break;
    case POINTER_POOL: *(void **)out = pool; break;
    case POINTER_TOKENS:
        if (host) return CU_INVALID_VALUE;
        memset(out, 0, 16);
        break;
    /* memory of the device is in pages of 2 MiB */
    case POINTER_MAPPING_BYTES: *(u64 *)out = ((info.base + info.bytes + unit - 1) & ~(unit - 1)) - base; break;
    case POINTER_MAPPING_BASE: *(u64 *)out = base; break;
    case POINTER_BLOCK: *(u64 *)out = info.id; break;
    case POINTER_DECOMPRESS: *(u32 *)out = device; break;
    default: return CU_INVALID_VALUE;
    }
    return CU_OK;
}

/* Bytes that an attribute takes. */
static u32 pointer_bytes(int which)
{
    switch (which) {
    case POINTER_TOKENS: return 16;
    case POINTER_CONTEXT:
    case POINTER_DEVICE:
    case POINTER_HOST:
    case POINTER_ID:
    case POINTER_BASE:
    case POINTER_BYTES:
    case POINTER_HANDLES:
    case POINTER_POOL:
    case POINTER_MAPPING_BYTES:
    case POINTER_MAPPING_BASE:
    case POINTER_BLOCK: return 8;
    default: return 4;
    }
}

CU_DEFINE(cuPointerGetAttribute, void *, out, int, which, u64, address)
{
    return bytes_readable(out, pointer_bytes(which)) ? pointer_fact(out, which, address) : CU_INVALID_VALUE;
}

/* Attributes that do not apply become zero here, and nothing fails. */
CU_DEFINE(cuPointerGetAttributes, unsigned, n, const int *, which, void **, out, u64, address)
{
    for (u32 i = 0; i < n; i++) {
        if (!bytes_readable(out[i], pointer_bytes(which[i]))) return CU_INVALID_VALUE;
        if (!pointer_fact(out[i], which[i], address)) continue;
        memset(out[i], 0, pointer_bytes(which[i]));
        if (which[i] == POINTER_ORDINAL) *(int *)out[i] = -2; /* CU_DEVICE_INVALID */
    }
    return CU_OK;
}
CU_DEFINE(cuPointerSetAttribute, const void *, value, int, which, u64, address)
{
    lk_memory_info info;
    if (which != POINTER_SYNC || !cu_memory_at(address, &info)) return CU_INVALID_VALUE;
    cu_note_sync(&info, *(const u32 *)value != 0);
    return CU_OK;
}

/* ---- in stream order ---- */

CU_DEFINE(cuMemAllocAsync, u64 *, out, u64, bytes, void *, stream)
{
    *out = 0;
    if (!bytes) return CU_OK;
    return cu_status(here.context->device->gpu, lk_memory_alloc_async(here.stream, bytes, NULL, NULL, out));
}
CU_DEFINE(cuMemFreeAsync, u64, address, void *, stream)
{
    return address ? cu_status(here.context->device->gpu, lk_memory_free_async(here.stream, address)) : CU_OK;
}
