/* Memory, copies and symbols of the runtime. */
#include "runtime/rt_check.h"
#include "runtime/rt_array.h"

#define P(x) (u64)(uintptr_t)(x)

/* ---- allocation ---- */

RT_DEFINE(cudaMalloc, void **, out, u64, bytes)
{
    u64 address = 0;
    cu_result r = bytes ? lkcu_cuMemAlloc_v2(&address, bytes)
                        : CU_OK; /* none of 0 bytes: the driver's would refuse it */
    if (!r) *out = (void *)(uintptr_t)address;
    return r;
}
RT_DEFINE(cudaMallocManaged, void **, out, u64, bytes, unsigned, flags)
{
    u64 address = 0;
    cu_result r = bytes || (flags != 1 && flags != 2) ? lkcu_cuMemAllocManaged(&address, bytes, flags) : CU_OK;
    if (!r) *out = (void *)(uintptr_t)address;
    return r;
}
RT_DEFINE(cudaHostAlloc, void **, out, u64, bytes, unsigned, flags)
{
    if (out && !bytes) *out = NULL;
    return bytes ? lkcu_cuMemHostAlloc(out, bytes, flags) : CU_OK;
}
RT_API(cudaMallocHost)(void **out, u64 bytes) { return lkrt_cudaHostAlloc(out, bytes, 0); }
RT_DEFINE(cudaHostGetDevicePointer, void **, out, void *, p, unsigned, flags)
{
    u64 address = 0;
    cu_result r = lkcu_cuMemHostGetDevicePointer_v2(&address, p, flags);
    if (!r) *out = (void *)(uintptr_t)address;
    return r;
}
RT_DEFINE(cudaMallocPitch, void **, out, u64 *, pitch, u64, width, u64, rows)
{
    u64 address = 0;
    *pitch = 0;
    cu_result r = rt_enter(NULL);
    if (!r && width && rows) r = lkcu_cuMemAllocPitch_v2(&address, pitch, width, rows, 4);
    if (!r) *out = (void *)(uintptr_t)address;
    return r;
}
RT_API(cudaMalloc3D)(struct rt_pitched *out, struct rt_extent e)
{
    if (!cu_ok(out)) return rt_done(CU_INVALID_VALUE);
    *out = (struct rt_pitched){ .width = e.width, .height = e.height };
    return lkrt_cudaMallocPitch(&out->p, &out->pitch, e.width, e.height * e.depth);
}

static cu_result malloc_async(void **out, u64 bytes, void *s)
{
    u64 address = 0;
    if (!cu_ok(out)) return CU_INVALID_VALUE;
    cu_result r = THEN(lkcu_cuMemAllocAsync(&address, bytes, s));
    if (!r) *out = (void *)(uintptr_t)address;
    return r;
}
RT_CALL(cudaMallocAsync, (void **out, u64 n, void *s), malloc_async(out, n, s))

/* ---- copies ---- */

/* The kind says which side is whose; what it says wrongly is the caller's error, and found. */
static cu_result copy(void *to, const void *from, u64 n, u32 kind, bool async, void *s)
{
    cu_result r = rt_enter(NULL);
    if (r) return r;
    if (kind > BY_ADDRESS) return RT_INVALID_DIRECTION;
    if (!n) return CU_OK;
    if (!to || !from) return CU_INVALID_VALUE;
    static const struct {
        enum cu_side to, from;
    } side[] = { [TO_DEVICE] = { SIDE_DEVICE, SIDE_HOST },
                 [TO_HOST] = { SIDE_HOST, SIDE_DEVICE },
                 [ON_DEVICE] = { SIDE_DEVICE, SIDE_DEVICE },
                 [BY_ADDRESS] = { SIDE_ANY, SIDE_ANY } };
    return cu_copy_linear(P(to), side[kind].to, P(from), side[kind].from, n, s, async);
}
RT_CALL(cudaMemcpy, (void *to, const void *from, u64 n, u32 kind), copy(to, from, n, kind, false, NULL))
RT_CALL(cudaMemcpyAsync, (void *to, const void *from, u64 n, u32 kind, void *s), copy(to, from, n, kind, true, s))

/* To and from a variable: `offset` bytes into it. */
static cu_result symbol_copy(const void *symbol, void *host, u64 n, u64 offset, u32 kind, bool to_symbol, bool async,
                             void *s)
{
    u64 address, bytes;
    cu_result r = rt_symbol_of(symbol, &address, &bytes);
    if (r) return r;
    if (offset > bytes || n > bytes - offset) return CU_INVALID_VALUE;
    void *variable = (void *)(uintptr_t)(address + offset);
    return copy(to_symbol ? variable : host, to_symbol ? host : variable, n, kind, async, s);
}
#define TO_SYMBOL const void *symbol, const void *p, u64 n, u64 offset, u32 kind
#define FROM_SYMBOL void *p, const void *symbol, u64 n, u64 offset, u32 kind
#define HOSTS (void *)(uintptr_t)p
RT_CALL(cudaMemcpyToSymbol, (TO_SYMBOL), symbol_copy(symbol, HOSTS, n, offset, kind, true, false, NULL))
RT_CALL(cudaMemcpyToSymbolAsync, (TO_SYMBOL, void *s), symbol_copy(symbol, HOSTS, n, offset, kind, true, true, s))
RT_CALL(cudaMemcpyFromSymbol, (FROM_SYMBOL), symbol_copy(symbol, p, n, offset, kind, false, false, NULL))
RT_CALL(cudaMemcpyFromSymbolAsync, (FROM_SYMBOL, void *s), symbol_copy(symbol, p, n, offset, kind, false, true, s))

/* ---- rows and slices ---- */

u32 rt_memory_type(u32 kind, bool to)
{
    if (kind == BY_ADDRESS) return MEMORY_UNIFIED;
    bool device = kind == ON_DEVICE || kind == (to ? TO_DEVICE : TO_HOST);
    return device ? MEMORY_DEVICE : MEMORY_HOST;
}
cu_result rt_copy_3d(const struct cu_copy_3d *x, bool async, void *s)
{
    cu_result r = rt_enter(NULL);
    if (r) return r;
    return async ? lkcu_cuMemcpy3DAsync_v2(x, s) : lkcu_cuMemcpy3D_v2(x);
}
static cu_result pitched(struct cu_copy_3d *x, const void *to, const void *from, u32 kind, bool async, void *s)
{
    if (kind > BY_ADDRESS) return RT_INVALID_DIRECTION;
    if (!x->to_type) x->to_type = rt_memory_type(kind, true);
    if (!x->from_type) x->from_type = rt_memory_type(kind, false);
    x->to_host = (void *)(uintptr_t)to;
    x->to_device = P(to);
    x->from_host = from;
    x->from_device = P(from);
    return rt_copy_3d(x, async, s);
}
static cu_result copy_2d(void *to, u64 to_pitch, const void *from, u64 from_pitch, u64 width, u64 rows, u32 kind,
                         bool async, void *s)
{
    if (width > to_pitch || width > from_pitch) return 12; /* cudaErrorInvalidPitchValue */
    return pitched(
        &(struct cu_copy_3d){
            .from_pitch = from_pitch, .to_pitch = to_pitch, .width = width, .height = rows, .depth = 1 },
        to, from, kind, async, s);
}
#define ROWS void *to, u64 tp, const void *from, u64 fp, u64 w, u64 h, u32 kind
RT_CALL(cudaMemcpy2D, (ROWS), copy_2d(to, tp, from, fp, w, h, kind, false, NULL))
RT_CALL(cudaMemcpy2DAsync, (ROWS, void *s), copy_2d(to, tp, from, fp, w, h, kind, true, s))

cu_result rt_copy_3d_read(const struct rt_copy_3d *x, struct cu_copy_3d *out)
{
    struct cu_array *from = x->from_array, *to = x->to_array;
    if ((from && !cu_handle_is(from, CU_ARRAY)) || (to && !cu_handle_is(to, CU_ARRAY))) return CU_INVALID_HANDLE;
    if (x->kind > BY_ADDRESS) return RT_INVALID_DIRECTION;
    /* with an array the width is in texels; a place is in texels of its own array, or in bytes */
    u32 from_bytes = from ? texel_bytes(&from->texels) : 1, to_bytes = to ? texel_bytes(&to->texels) : 1;
    if (from && to && from_bytes != to_bytes) return CU_INVALID_VALUE;
    *out = (struct cu_copy_3d){ .from_type = from ? MEMORY_ARRAY : rt_memory_type(x->kind, false),
                                .from_array = from,
                                .from_host = x->from.p,
                                .from_device = P(x->from.p),
                                .from_x = x->from_at.width * from_bytes,
                                .from_y = x->from_at.height,
                                .from_z = x->from_at.depth,
                                .from_pitch = x->from.pitch,
                                .from_height = x->from.height,
                                .to_type = to ? MEMORY_ARRAY : rt_memory_type(x->kind, true),
                                .to_array = to,
                                .to_host = x->to.p,
                                .to_device = P(x->to.p),
                                .to_x = x->to_at.width * to_bytes,
                                .to_y = x->to_at.height,
                                .to_z = x->to_at.depth,
                                .to_pitch = x->to.pitch,
                                .to_height = x->to.height,
                                .width = x->extent.width * MAX_OF(from_bytes, to_bytes),
                                .height = x->extent.height,
                                .depth = x->extent.depth };
    return CU_OK;
}
static cu_result copy_3d(const struct rt_copy_3d *x, bool async, void *s)
{
    struct cu_copy_3d y;
    cu_result r = cu_ok(x) ? rt_copy_3d_read(x, &y) : CU_INVALID_VALUE;
    return r ? r : rt_copy_3d(&y, async, s);
}
RT_CALL(cudaMemcpy3D, (const struct rt_copy_3d *x), copy_3d(x, false, NULL))
RT_CALL(cudaMemcpy3DAsync, (const struct rt_copy_3d *x, void *s), copy_3d(x, true, s))

static bool devices_there(int from, int to) { return cu_device_at(from) && cu_device_at(to); }

static cu_result copy_3d_peer(const struct rt_copy_3d_peer *x, bool async, void *s)
{
    if (!cu_ok(x)) return CU_INVALID_VALUE;
    if (!devices_there(x->from_device, x->to_device)) return CU_INVALID_DEVICE;
    struct rt_copy_3d y = { x->from_array, x->from_at, x->from, x->to_array, x->to_at, x->to, x->extent, ON_DEVICE };
    return copy_3d(&y, async, s);
}
RT_CALL(cudaMemcpy3DPeer, (const struct rt_copy_3d_peer *x), copy_3d_peer(x, false, NULL))
RT_CALL(cudaMemcpy3DPeerAsync, (const struct rt_copy_3d_peer *x, void *s), copy_3d_peer(x, true, s))

/* Between devices: an address says whose it is, but the devices have to be there. */
static cu_result copy_peer(void *to, int to_device, const void *from, int from_device, u64 n, bool async, void *s)
{
    if (!devices_there(from_device, to_device)) return CU_INVALID_DEVICE;
    return copy(to, from, n, BY_ADDRESS, async, s);
}
RT_CALL(cudaMemcpyPeer, (void *to, int td, const void *from, int fd, u64 n),
        copy_peer(to, td, from, fd, n, false, NULL))
RT_CALL(cudaMemcpyPeerAsync, (void *to, int td, const void *from, int fd, u64 n, void *s),
        copy_peer(to, td, from, fd, n, true, s))

/* ---- fills ---- */

static cu_result fill(void *p, u64 pitch, int v, u64 width, u64 rows, bool async, void *s)
{
    cu_result r = rt_enter(NULL);
    if (r) return r;
    if (!width || !rows) return CU_OK;
    u8 byte = (u8)v;
    if (rows == 1) return async ? lkcu_cuMemsetD8Async(P(p), byte, width, s) : lkcu_cuMemsetD8_v2(P(p), byte, width);
    return async ? lkcu_cuMemsetD2D8Async(P(p), pitch, byte, width, rows, s)
                 : lkcu_cuMemsetD2D8_v2(P(p), pitch, byte, width, rows);
}
RT_CALL(cudaMemset, (void *p, int v, u64 n), fill(p, 0, v, n, 1, false, NULL))
RT_CALL(cudaMemsetAsync, (void *p, int v, u64 n, void *s), fill(p, 0, v, n, 1, true, s))
RT_CALL(cudaMemset2D, (void *p, u64 pitch, int v, u64 w, u64 h), fill(p, pitch, v, w, h, false, NULL))
RT_CALL(cudaMemset2DAsync, (void *p, u64 pitch, int v, u64 w, u64 h, void *s), fill(p, pitch, v, w, h, true, s))
RT_CALL(cudaMemset3D, (struct rt_pitched p, int v, struct rt_extent e),
        fill(p.p, p.pitch, v, e.width, e.height *e.depth, false, NULL))
RT_CALL(cudaMemset3DAsync, (struct rt_pitched p, int v, struct rt_extent e, void *s),
        fill(p.p, p.pitch, v, e.width, e.height *e.depth, true, s))

/* ---- what a pointer is ---- */

RT_DEFINE(cudaPointerGetAttributes, struct rt_pointer *, out, const void *, p)
{
    u32 type = 0, managed = 0;
    *out = (struct rt_pointer){ 0, -2, NULL, (void *)(uintptr_t)p };
    if (lkcu_cuPointerGetAttribute(&type, 2, P(p))) return CU_OK; /* nobody's: no error since CUDA 11 */
    lkcu_cuPointerGetAttribute(&managed, 8, P(p));
    lkcu_cuPointerGetAttribute(&out->device, 9, P(p));
    out->type = managed ? 3 : (int)type;
    out->on_device = (void *)(uintptr_t)p;
    if (out->type == 2) out->on_host = NULL;
    return CU_OK;
}
