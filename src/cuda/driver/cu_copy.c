/* Copies and fills: one way for all of them, since an address says itself whose memory it is. */
#include "driver/cu_check.h"
#include "driver/cu_engine.h"
#include "driver/cu_mem.h"
#include "driver/cu_reason.h"
#include "mem/host_pointer.h"

/* ---- how one is done ---- */

/* In the stream of `handle`, and waited for unless `async`. */
struct how {
    void *handle;
    bool async;
};

/* One side: an address of any gpu of the process, or memory of the host. */
static lk_end end_of(u64 address)
{
    lk_memory_info info = { .size = sizeof info };
    bool known = address && lk_memory_at(NULL, address, &info) == LK_OK;
    /* what was unregistered is the host's own again */
    if (known && !(info.freed && info.kind == LK_MEMORY_REGISTERED))
        return (lk_end){ .gpu = info.gpu, .address = address };
    return (lk_end){ .host = (void *)(uintptr_t)address };
}

/* A side that the caller says is the device's: an address that is nobody's must not be taken for the host's. */
static lk_end device_end(struct cu_context *c, u64 address)
{
    lk_end e = end_of(address);
    return e.gpu ? e : (lk_end){ .gpu = c->device->gpu, .address = address };
}
static lk_end host_end(const void *p)
{
    lk_end e = end_of((uintptr_t)p);
    return e.gpu ? e : (lk_end){ .host = (void *)(uintptr_t)p };
}

/* Done when the call returns: in the legacy stream that is the public interface's own way. */
static cu_result stream_for(struct cu_context *c, const struct how *h, lk_stream **st)
{
    *st = NULL;
    return h->async || cu_call_per_thread() ? cu_stream_of(c, h->handle, st) : CU_OK;
}

static cu_result copy_do(struct cu_context *c, lk_copy *x, const struct how *h)
{
    cu_result r = stream_for(c, h, &x->stream);
    if (r) return r;
    if (!x->width) return CU_OK;
    if ((!x->to.host && !x->to.address) || (!x->from.host && !x->from.address)) return CU_INVALID_VALUE;
    if ((r = cu_engine->cu_host_check(x))) return r;
    x->size = sizeof *x;
    lk_gpu *gpu = c->device->gpu;
    r = cu_status(gpu, lk_memory_copy(gpu, x));
    return r || h->async || !x->stream ? r : cu_status(gpu, lk_stream_synchronise(x->stream));
}

static lk_end copy_side_end(struct cu_context *c, u64 address, enum cu_side side)
{
    return side == SIDE_DEVICE ? device_end(c, address)
           : side == SIDE_HOST ? host_end((const void *)(uintptr_t)address)
                               : end_of(address);
}

/* One side of a copy was said to be the device's, and no device has memory there: the mistakes that look like this. */
static void stray_explain(u64 address, bool to, u64 other, enum cu_side other_side)
{
    char name[100], cause[300], fix[300];
    const char *end = to ? "dst" : "src", *across = to ? "src" : "dst";
    if (host_shadow_name(address, name, sizeof name)) {
        snprintf(cause, sizeof cause,
                 "%s is %s, a __device__ variable: in host code its name means the host's shadow of it, which is no "
                 "memory of the device.",
                 end, name);
        snprintf(fix, sizeof fix,
                 "Call cudaMemcpy%sSymbol, or ask for the address with cudaGetSymbolAddress((void **)&p, %s), and pass "
                 "p.",
                 to ? "To" : "From", name);
        cu_reason(cause, fix, false);
        return;
    }
    bool exchanged = other_side == SIDE_HOST && end_of(other).gpu;
    snprintf(cause, sizeof cause, "%s is memory of the host, where the call takes it for the device's%s%s%s.", end,
             exchanged ? ", and " : "", exchanged ? across : "", exchanged ? " is memory of the device" : "");
    snprintf(fix, sizeof fix,
             exchanged ? "The direction is wrong: copy with %s, or exchange dst and src."
                       : "Pass an address of device memory (cudaMalloc)%.0s, or the direction that is meant.",
             to ? "cudaMemcpyDeviceToHost" : "cudaMemcpyHostToDevice");
    cu_reason(cause, fix, false);
}

static bool is_stray(u64 address, enum cu_side side)
{
    char file[64];
    lk_memory_info info = { .size = sizeof info };
    return side == SIDE_DEVICE && lk_memory_at(NULL, address, &info) != LK_OK &&
           process_memory_at(address, file, sizeof file) != PROCESS_NOTHING;
}

cu_result cu_copy_linear(u64 to, enum cu_side to_side, u64 from, enum cu_side from_side, u64 bytes, void *stream,
                         bool async)
{
    struct cu_context *c;
    cu_result r = cu_current_for(stream, &c);
    if (r) return r;
    lk_copy x = { .to = copy_side_end(c, to, to_side), .from = copy_side_end(c, from, from_side), .width = bytes };
    r = copy_do(c, &x, &(struct how){ stream, async });
    if (unlikely(r == CU_INVALID_VALUE)) {
        if (is_stray(to, to_side))
            stray_explain(to, true, from, from_side);
        else if (is_stray(from, from_side))
            stray_explain(from, false, to, to_side);
    }
    return r;
}

/* Each copy has a synchronous and an asynchronous form. */
#define SYNC \
    (struct how) { 0 }
#define ASYNC \
    (struct how) { .handle = s, .async = true }
#define P(x) (u64)(uintptr_t)(x)

CU_API(cuMemcpy)(u64 to, u64 from, u64 n) { return cu_copy_linear(to, SIDE_ANY, from, SIDE_ANY, n, NULL, false); }
CU_API(cuMemcpyAsync)(u64 to, u64 from, u64 n, void *s)
{
    return cu_copy_linear(to, SIDE_ANY, from, SIDE_ANY, n, s, true);
}
CU_API(cuMemcpyHtoD_v2)(u64 to, const void *from, u64 n)
{
    return cu_copy_linear(to, SIDE_DEVICE, P(from), SIDE_HOST, n, NULL, false);
}
CU_API(cuMemcpyHtoDAsync_v2)(u64 to, const void *from, u64 n, void *s)
{
    return cu_copy_linear(to, SIDE_DEVICE, P(from), SIDE_HOST, n, s, true);
}
CU_API(cuMemcpyDtoH_v2)(void *to, u64 from, u64 n)
{
    return cu_copy_linear(P(to), SIDE_HOST, from, SIDE_DEVICE, n, NULL, false);
}
CU_API(cuMemcpyDtoHAsync_v2)(void *to, u64 from, u64 n, void *s)
{
    return cu_copy_linear(P(to), SIDE_HOST, from, SIDE_DEVICE, n, s, true);
}
CU_API(cuMemcpyDtoD_v2)(u64 to, u64 from, u64 n)
{
    return cu_copy_linear(to, SIDE_DEVICE, from, SIDE_DEVICE, n, NULL, false);
}
CU_API(cuMemcpyDtoDAsync_v2)(u64 to, u64 from, u64 n, void *s)
{
    return cu_copy_linear(to, SIDE_DEVICE, from, SIDE_DEVICE, n, s, true);
}

/* Between contexts: an address says which device it is of. */
CU_DEFINE(cuMemcpyPeer, u64, to, void *, to_context, u64, from, void *, from_context, u64, n)
{
    return cu_copy_linear(to, SIDE_DEVICE, from, SIDE_DEVICE, n, NULL, false);
}
CU_DEFINE(cuMemcpyPeerAsync, u64, to, void *, to_context, u64, from, void *, from_context, u64, n, void *, s)
{
    return cu_copy_linear(to, SIDE_DEVICE, from, SIDE_DEVICE, n, s, true);
}

/* ---- rows and slices ---- */

/* One side as the caller gives it. */
struct pitched_side {
    u32 type; /* CUmemorytype */
    const void *host;
    u64 device;
    struct cu_array *array;
    u64 pitch, height; /* of memory that is no array; 0: those of the copy */
    u64 at[3];         /* of the first byte: bytes, rows, slices */
};
static cu_result pitched_end(struct cu_context *c, const struct pitched_side *s, const u64 extent[3], lk_end *out)
{
    u64 pitch = s->pitch ? s->pitch : extent[0], slice = pitch * (s->height ? s->height : extent[1]),
        offset = s->at[0] + s->at[1] * pitch + s->at[2] * slice;
    if (s->type == MEMORY_ARRAY) return cu_array_end(s->array, s->at, extent, out);
    if (pitch < extent[0]) return CU_INVALID_VALUE;
    switch (s->type) {
    case MEMORY_HOST: *out = host_end((const void *)((uintptr_t)s->host + offset)); break;
    case MEMORY_DEVICE: *out = device_end(c, s->device + offset); break;
    case MEMORY_UNIFIED: *out = end_of(s->device + offset); break;
    default: return CU_INVALID_VALUE;
    }
    out->pitch = pitch;
    out->slice = slice;
    return CU_OK;
}

cu_result cu_copy_read(struct cu_context *c, const struct cu_copy_3d *x, lk_copy *out)
{
    const u64 extent[3] = { x->width, x->height, x->depth };
    const struct pitched_side to = {
        x->to_type, x->to_host, x->to_device, x->to_array, x->to_pitch, x->to_height, { x->to_x, x->to_y, x->to_z }
    };
    const struct pitched_side from = { x->from_type,
                                       x->from_host,
                                       x->from_device,
                                       x->from_array,
                                       x->from_pitch,
                                       x->from_height,
                                       { x->from_x, x->from_y, x->from_z } };
    *out = (lk_copy){ .size = sizeof *out, .width = x->width, .rows = x->height, .slices = x->depth };
    if (x->to_lod || x->from_lod) return CU_INVALID_VALUE;
    cu_result r = pitched_end(c, &to, extent, &out->to);
    return r ? r : pitched_end(c, &from, extent, &out->from);
}

static cu_result pitched(const struct cu_copy_3d *x, struct how h)
{
    struct cu_context *c;
    lk_copy y;
    cu_result r = cu_current_for(h.handle, &c);
    if (r) return r;
    if (!cu_ok(x)) return CU_INVALID_VALUE;
    if (!x->width || !x->height || !x->depth) return CU_OK;
    return (r = cu_copy_read(c, x, &y)) ? r : copy_do(c, &y, &h);
}

static cu_result pitched_2d(const struct cu_copy_2d *x, struct how h)
{
    if (!cu_ok(x)) return CU_INVALID_VALUE;
    return pitched(&(struct cu_copy_3d){ .from_x = x->from_x,
                                         .from_y = x->from_y,
                                         .from_type = x->from_type,
                                         .from_host = x->from_host,
                                         .from_device = x->from_device,
                                         .from_array = x->from_array,
                                         .from_pitch = x->from_pitch,
                                         .to_x = x->to_x,
                                         .to_y = x->to_y,
                                         .to_type = x->to_type,
                                         .to_host = x->to_host,
                                         .to_device = x->to_device,
                                         .to_array = x->to_array,
                                         .to_pitch = x->to_pitch,
                                         .width = x->width,
                                         .height = x->height,
                                         .depth = 1 },
                   h);
}
CU_API(cuMemcpy2D_v2)(const struct cu_copy_2d *x) { return pitched_2d(x, SYNC); }
CU_API(cuMemcpy2DUnaligned_v2)(const struct cu_copy_2d *x) { return pitched_2d(x, SYNC); }
CU_API(cuMemcpy2DAsync_v2)(const struct cu_copy_2d *x, void *s) { return pitched_2d(x, ASYNC); }
CU_API(cuMemcpy3D_v2)(const struct cu_copy_3d *x) { return pitched(x, SYNC); }
CU_API(cuMemcpy3DAsync_v2)(const struct cu_copy_3d *x, void *s) { return pitched(x, ASYNC); }
CU_API(cuMemcpy3DPeer)(const struct cu_copy_3d *x) { return pitched(x, SYNC); }
CU_API(cuMemcpy3DPeerAsync)(const struct cu_copy_3d *x, void *s) { return pitched(x, ASYNC); }

/* ---- a row of an array ---- */

static cu_result array_row(struct cu_array *to, u64 to_at, struct cu_array *from, u64 from_at, const void *host,
                           u64 device, u64 n, struct how h)
{
    u32 other = host ? MEMORY_HOST : MEMORY_DEVICE;
    return pitched(&(struct cu_copy_3d){ .to_type = to ? MEMORY_ARRAY : other,
                                         .to_array = to,
                                         .to_x = to ? to_at : 0,
                                         .to_host = (void *)(uintptr_t)host,
                                         .to_device = device,
                                         .from_type = from ? MEMORY_ARRAY : other,
                                         .from_array = from,
                                         .from_x = from ? from_at : 0,
                                         .from_host = host,
                                         .from_device = device,
                                         .width = n,
                                         .height = 1,
                                         .depth = 1 },
                   h);
}
CU_DEFINE(cuMemcpyDtoA_v2, struct cu_array *, a, u64, at, u64, from, u64, n)
{
    return array_row(a, at, NULL, 0, NULL, from, n, SYNC);
}
CU_DEFINE(cuMemcpyAtoD_v2, u64, to, struct cu_array *, a, u64, at, u64, n)
{
    return array_row(NULL, 0, a, at, NULL, to, n, SYNC);
}
CU_DEFINE(cuMemcpyHtoA_v2, struct cu_array *, a, u64, at, const void *, from, u64, n)
{
    return array_row(a, at, NULL, 0, from, 0, n, SYNC);
}
CU_DEFINE(cuMemcpyHtoAAsync_v2, struct cu_array *, a, u64, at, const void *, from, u64, n, void *, s)
{
    return array_row(a, at, NULL, 0, from, 0, n, ASYNC);
}
CU_DEFINE(cuMemcpyAtoH_v2, void *, to, struct cu_array *, a, u64, at, u64, n)
{
    return array_row(NULL, 0, a, at, to, 0, n, SYNC);
}
CU_DEFINE(cuMemcpyAtoHAsync_v2, void *, to, struct cu_array *, a, u64, at, u64, n, void *, s)
{
    return array_row(NULL, 0, a, at, to, 0, n, ASYNC);
}
CU_DEFINE(cuMemcpyAtoA_v2, struct cu_array *, to, u64, to_at, struct cu_array *, from, u64, from_at, u64, n)
{
    return array_row(to, to_at, from, from_at, NULL, 0, n, SYNC);
}

/* ---- fills ---- */

static cu_result fill(u64 address, u64 pitch, u32 value, u32 bytes, u64 width, u64 rows, struct how h)
{
    struct cu_context *c;
    lk_fill x = { .size = sizeof x,
                  .address = address,
                  .value = value,
                  .bytes = bytes,
                  .width = width,
                  .rows = rows,
                  .pitch = pitch };
    cu_result r = cu_current_for(h.handle, &c);
    if (r || (r = stream_for(c, &h, &x.stream))) return r;
    if (!width || !rows) return CU_OK;
    if (!address || address % bytes || pitch % bytes) return CU_INVALID_VALUE;
    lk_gpu *gpu = c->device->gpu;
    r = cu_status(gpu, lk_memory_set(gpu, &x));
    return r || h.async || !x.stream ? r : cu_status(gpu, lk_stream_synchronise(x.stream));
}

#define FILL(name, type, bytes)                                                                    \
    CU_API(cuMemset##name##_v2)(u64 a, type v, u64 n) { return fill(a, 0, v, bytes, n, 1, SYNC); } \
    CU_API(cuMemset##name##Async)(u64 a, type v, u64 n, void *s) { return fill(a, 0, v, bytes, n, 1, ASYNC); }
#define FILL_2D(name, type, bytes)                                                                               \
    CU_API(cuMemset##name##_v2)(u64 a, u64 p, type v, u64 w, u64 h) { return fill(a, p, v, bytes, w, h, SYNC); } \
    CU_API(cuMemset##name##Async)(u64 a, u64 p, type v, u64 w, u64 h, void *s)                                   \
    {                                                                                                            \
        return fill(a, p, v, bytes, w, h, ASYNC);                                                                \
    }
FILL(D8, unsigned char, 1)
FILL(D16, unsigned short, 2)
FILL(D32, unsigned, 4)
FILL_2D(D2D8, unsigned char, 1)
FILL_2D(D2D16, unsigned short, 2)
FILL_2D(D2D32, unsigned, 4)
