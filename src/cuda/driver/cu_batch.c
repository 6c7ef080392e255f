/* Several operations in one call: copies, and writes of and waits for values. */
#include "driver/cu_mem.h"

/* ---- copies ---- */

static bool attributes_ok(const struct cu_copy_attributes *x, u64 n)
{
    if (!bytes_readable(x, n * sizeof *x)) return false;
    for (u64 i = 0; i < n; i++)
        if (x[i].order < ORDER_STREAM || x[i].order > ORDER_ANY || x[i].flags > 1) return false;
    return true;
}

/* *failed (may be NULL): the copy that was wrong; SIZE_MAX: something else. */
static cu_result copies(const u64 *to, const u64 *from, const u64 *bytes, u64 n, const struct cu_copy_attributes *x,
                        const u64 *index, u64 attributes, u64 *failed, void *stream)
{
    struct cu_context *c;
    lk_stream *st;
    cu_result r = cu_current_for(stream, &c);
    if (failed && cu_ok(failed)) *failed = UINT64_MAX;
    if (r || (r = cu_stream_of(c, stream, &st))) return r;
    if ((!stream && !cu_call_per_thread()) || !n || n > 1 << 20 || !bytes_readable(to, n * 8) ||
        !bytes_readable(from, n * 8) || !bytes_readable(bytes, n * 8) || !cu_indices_ok(index, attributes, n) ||
        !attributes_ok(x, attributes))
        return CU_INVALID_VALUE;
    for (u64 i = 0; i < n && !r; i++) {
        r = bytes[i] ? lkcu_cuMemcpyAsync(to[i], from[i], bytes[i], stream) : CU_INVALID_VALUE;
        if (r && failed && cu_ok(failed)) *failed = i;
    }
    return r;
}
CU_API(cuMemcpyBatchAsync)(CU_COPIES, u64 *failed, void *s)
{
    return copies(to, from, bytes, n, x, index, attributes, failed, s);
}
CU_API(cuMemcpyBatchAsync_v2)(CU_COPIES, void *s) { return copies(to, from, bytes, n, x, index, attributes, NULL, s); }

/* One copy of rows, as CUDA_MEMCPY3D has it: extents in texels of the arrays, or in bytes. */
static cu_result operand_read(const struct cu_copy_op *o, struct cu_copy_3d *out)
{
    const struct cu_operand *side[2] = { &o->from, &o->to };
    u32 bytes = 1;
    for (u32 i = 0; i < 2; i++) {
        if (side[i]->type != OPERAND_ARRAY) continue;
        struct cu_array *a = side[i]->array.array;
        if (!cu_handle_is(a, CU_ARRAY)) return CU_INVALID_HANDLE;
        if (bytes > 1 && bytes != texel_bytes(&a->texels)) return CU_INVALID_VALUE;
        bytes = texel_bytes(&a->texels);
    }
    if (!o->extent[0] || !o->extent[1] || !o->extent[2] || o->order < ORDER_STREAM || o->order > ORDER_ANY)
        return CU_INVALID_VALUE;
    *out = (struct cu_copy_3d){ .width = o->extent[0] * bytes, .height = o->extent[1], .depth = o->extent[2] };
    for (u32 i = 0; i < 2; i++) {
        const struct cu_operand *s = side[i];
        bool array = s->type == OPERAND_ARRAY;
        if (!array && s->type != OPERAND_POINTER) return CU_INVALID_VALUE;
        u64 pitch = array ? 0 : s->pointer.row * bytes, height = array ? 0 : s->pointer.height;
        if ((pitch && pitch < out->width) || (height && height < out->height)) return CU_INVALID_VALUE;
        *(i ? &out->to_type : &out->from_type) = array ? MEMORY_ARRAY : MEMORY_UNIFIED;
        *(i ? &out->to_pitch : &out->from_pitch) = pitch;
        *(i ? &out->to_height : &out->from_height) = height;
        if (!array) {
            *(i ? &out->to_device : &out->from_device) = s->pointer.address;
            continue;
        }
        *(i ? &out->to_array : &out->from_array) = s->array.array;
        *(i ? &out->to_x : &out->from_x) = s->array.at[0] * bytes;
        *(i ? &out->to_y : &out->from_y) = s->array.at[1];
        *(i ? &out->to_z : &out->from_z) = s->array.at[2];
    }
    return CU_OK;
}

static cu_result copies_3d(u64 n, const struct cu_copy_op *o, u64 *failed, u64 flags, void *stream)
{
    struct cu_context *c;
    lk_stream *st;
    struct cu_copy_3d x;
    cu_result r = cu_current_for(stream, &c);
    if (failed && cu_ok(failed)) *failed = UINT64_MAX;
    if (r || (r = cu_stream_of(c, stream, &st))) return r;
    if ((!stream && !cu_call_per_thread()) || flags || !n || n > 1 << 20 || !bytes_readable(o, n * sizeof *o))
        return CU_INVALID_VALUE;
    for (u64 i = 0; i < n && !r; i++) {
        if (!(r = operand_read(&o[i], &x))) r = lkcu_cuMemcpy3DAsync_v2(&x, stream);
        if (r && failed && cu_ok(failed)) *failed = i;
    }
    return r;
}
CU_API(cuMemcpy3DBatchAsync)(u64 n, struct cu_copy_op *o, u64 *failed, u64 flags, void *s)
{
    return copies_3d(n, o, failed, flags, s);
}
CU_API(cuMemcpy3DBatchAsync_v2)(u64 n, struct cu_copy_op *o, u64 flags, void *s)
{
    return copies_3d(n, o, NULL, flags, s);
}

/* ---- values ---- */

enum { BATCH_MOST = 256 };

/* All of them are looked at before one is enqueued. */
static cu_result values(void *stream, u32 n, const struct cu_memory_op *x, u32 flags)
{
    struct cu_context *c;
    lk_stream *st;
    cu_result r = cu_current_for(stream, &c);
    if (r || (r = cu_stream_of(c, stream, &st))) return r;
    if (!n) return CU_OK;
    if (n > BATCH_MOST || flags || !bytes_readable(x, n * sizeof *x)) return CU_INVALID_VALUE;
    for (u32 i = 0; i < n; i++) {
        if (x[i].operation < WAIT_32 || x[i].operation > BARRIER) return CU_INVALID_VALUE;
        if (x[i].operation == FLUSH) {
            cu_refused("CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES");
            return CU_NOT_SUPPORTED;
        }
    }
    for (u32 i = 0; i < n && !r; i++) {
        bool wide = x[i].operation >= WAIT_64, write = x[i].operation == WRITE_32 || x[i].operation == WRITE_64;
        if (x[i].operation == BARRIER) continue; /* all operations of a stream are in order */
        r = cu_value_op(stream, x[i].address, wide ? x[i].value : (u32)x[i].value, x[i].flags, wide ? 64 : 32, write);
    }
    return r;
}
#define VALUES void *s, unsigned n, struct cu_memory_op *x, unsigned flags
CU_API(cuStreamBatchMemOp)(VALUES) { return values(s, n, x, flags); }
CU_API(cuStreamBatchMemOp_v2)(VALUES) { return values(s, n, x, flags); }
