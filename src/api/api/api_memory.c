/* Memory of the public interface. */
#include "api/host_time.h"
#include "api/host_timeline.h"
#include <inttypes.h>

/* A real GPU does not know the most that lived; the software GPU does. */
static void peak_note(lk_gpu *gpu)
{
    if (gpu->device->mem) return;
    u64 is = gpu->device->ops->live(gpu->device), was = __atomic_load_n(&gpu->peak, __ATOMIC_RELAXED);
    while (is > was && !__atomic_compare_exchange_n(&gpu->peak, &was, is, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

lk_status lk_memory_alloc(lk_gpu *gpu, uint64_t bytes, lk_memory_kind kind, const char *name, uint64_t *address)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!address) return HOST_MISSING(gpu, "place for the address");
    struct error *e = host_begin(gpu);
    *address = 0;
    if (kind > LK_MEMORY_MANAGED) {
        error_set(e, ERR_INPUT, "there is no kind of memory to ask for with number %d", (int)kind);
        return host_failed(gpu);
    }
    static const enum mem_kind kinds[] = { MEM_DEVICE, MEM_PINNED, MEM_MANAGED };
    struct mem_object *o = dev_alloc(gpu->device, bytes, kinds[kind], host_name(name), host_site(NULL), e);
    if (!o) return host_failed(gpu);
    *address = o->base;
    peak_note(gpu);
    if (kind != LK_MEMORY_DEVICE) host_note_shared(gpu);
    return LK_OK;
}

lk_status lk_memory_alloc_pitched(lk_gpu *gpu, uint64_t width, uint64_t rows, uint64_t slices, const char *name,
                                  uint64_t *address, uint64_t *pitch)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!address || !pitch) return HOST_MISSING(gpu, !address ? "place for the address" : "place for the pitch");
    struct error *e = host_begin(gpu);
    *address = *pitch = 0;
    struct mem_object *o = dev_alloc_pitched(gpu->device, width, rows, MAX_OF(slices, 1u), host_name(name),
                                             host_site(NULL), pitch, e);
    if (!o) return host_failed(gpu);
    *address = o->base;
    peak_note(gpu);
    return LK_OK;
}

lk_status lk_memory_describe(lk_gpu *gpu, uint64_t address, const char *name, const char *type, uint32_t element_bytes)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    struct error *e = host_begin(gpu);
    return dev_describe(gpu->device, address, name, type, element_bytes, e) ? LK_OK : host_failed(gpu);
}

lk_status lk_memory_free(lk_gpu *gpu, uint64_t address)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (address && !dev_outside(gpu->device, host_begin(gpu))) return host_failed(gpu);
    launch_forget(); /* a launch that is made again would not look at the pointer */
    return !address || dev_free(gpu->device, address, host_site(NULL)) ? LK_OK : host_found(gpu);
}

/* A copy or a fill that is no task has ended, where somebody wants its time. */
static lk_status timed(lk_gpu *gpu, u64 since, const struct dev_task *as, bool done)
{
    if (unlikely(gpu->times != NULL) && done) host_time_took(gpu, as, time_ns() - since);
    return done ? LK_OK : host_failed(gpu);
}

static u64 since(const lk_gpu *gpu) { return gpu->times ? time_ns() : 0; }

lk_status lk_memory_write(lk_gpu *gpu, uint64_t address, const void *from, uint64_t bytes)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!from && bytes) return HOST_MISSING(gpu, "memory to copy from");
    host_note_bytes(gpu, true, from, bytes);
    u64 t0 = since(gpu);
    struct dev_task as = { .kind = OP_COPY, .copy = { .from.host = (void *)(uintptr_t)from } };
    as.copy.width = bytes, as.copy.rows = as.copy.slices = 1;
    return timed(gpu, t0, &as, dev_write(gpu->device, address, from, bytes, host_begin(gpu)));
}

lk_status lk_memory_read(lk_gpu *gpu, uint64_t address, void *to, uint64_t bytes)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!to && bytes) return HOST_MISSING(gpu, "memory to copy to");
    host_note_bytes(gpu, false, to, bytes);
    u64 t0 = since(gpu);
    struct dev_task as = { .kind = OP_COPY, .copy = { .to.host = to } };
    as.copy.width = bytes, as.copy.rows = as.copy.slices = 1;
    return timed(gpu, t0, &as, dev_read(gpu->device, address, to, bytes, host_begin(gpu)));
}

lk_status lk_memory_output(lk_gpu *gpu, uint64_t address, uint64_t bytes)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    return dev_output(gpu->device, address, bytes, host_begin(gpu)) ? LK_OK : host_failed(gpu);
}

lk_status lk_memory_fill(lk_gpu *gpu, uint64_t address, int byte, uint64_t bytes)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    u64 t0 = since(gpu);
    struct dev_task as = { .kind = OP_FILL, .fill = { .width = bytes, .bytes = 1, .rows = 1, .slices = 1 } };
    return timed(gpu, t0, &as, dev_fill(gpu->device, address, byte, bytes, host_begin(gpu)));
}

uint64_t lk_memory_live(const lk_gpu *gpu)
{
    HOST_CALL(0, USE(GPU, gpu));
    return gpu->device->ops->live(gpu->device);
}

uint64_t lk_memory_peak(const lk_gpu *gpu)
{
    HOST_CALL(0, USE(GPU, gpu));
    return gpu->device->mem ? dev_usage(gpu->device, MEM_KINDS).peak : __atomic_load_n(&gpu->peak, __ATOMIC_RELAXED);
}

/* ---- copies and fills ---- */

static bool end_read(const lk_gpu *gpu, const lk_end *in, struct dev_end *out, u32 where)
{
    if (in->gpu && in->gpu != gpu) __atomic_or_fetch(&in->gpu->peer, where, __ATOMIC_RELEASE);
    *out = (struct dev_end){ .device = in->gpu && in->gpu != gpu ? in->gpu->device : NULL,
                             .address = in->address,
                             .host = in->host,
                             .pitch = in->pitch,
                             .slice = in->slice };
    return in->host || in->address;
}

lk_status host_copy(struct host_call *call, const lk_gpu *gpu, const lk_copy *copy, struct dev_task *task,
                    const char **site, const char *function)
{
    if (!copy) return host_missing_in(gpu, function, "copy");
    if (!copy->size) return host_refuse(gpu, "%s: lk_copy.size is 0: set it to sizeof(lk_copy)", function);
    lk_copy in = { .size = sizeof in };
    memcpy(&in, copy, MIN_OF(copy->size, sizeof in));
    if (!host_enter_also(call, function, (struct host_use)USE_IF(GPU, in.to.gpu)) ||
        !host_enter_also(call, function, (struct host_use)USE_IF(GPU, in.from.gpu)))
        return LK_BAD_INPUT;
    *task = (struct dev_task){ .kind = OP_COPY };
    struct dev_copy *c = &task->copy;
    u32 where = strcmp(function, "lk_memory_copy") ? GPU_IN_GRAPHS : GPU_IN_STREAMS;
    bool to = end_read(gpu, &in.to, &c->to, where), from = end_read(gpu, &in.from, &c->from, where);
    if (in.width && (!to || !from))
        return host_missing_in(gpu, function, to ? "memory to copy from" : "memory to copy to");
    c->width = in.width;
    c->rows = MAX_OF(in.rows, 1u);
    c->slices = MAX_OF(in.slices, 1u);
    *site = in.site;
    return LK_OK;
}

lk_status host_fill(const lk_gpu *gpu, const lk_fill *fill, struct dev_task *task, const char **site,
                    const char *function)
{
    if (!fill) return host_missing_in(gpu, function, "fill");
    if (!fill->size) return host_refuse(gpu, "%s: lk_fill.size is 0: set it to sizeof(lk_fill)", function);
    lk_fill in = { .size = sizeof in };
    memcpy(&in, fill, MIN_OF(fill->size, sizeof in));
    u32 bytes = MAX_OF(in.bytes, 1u);
    if (bytes != 1 && bytes != 2 && bytes != 4)
        return host_refuse(gpu, "memory is filled with values of 1, 2 or 4 bytes, not %u", bytes);
    *task = (struct dev_task){ .kind = OP_FILL,
                               .fill = { .address = in.address,
                                         .value = in.value,
                                         .bytes = bytes,
                                         .width = in.width,
                                         .rows = MAX_OF(in.rows, 1u),
                                         .pitch = in.pitch,
                                         .slices = MAX_OF(in.slices, 1u),
                                         .slice = in.slice } };
    *site = in.site;
    return LK_OK;
}

/* Enqueues, or, without a stream, does it in the legacy stream and waits. */
static lk_status perform(lk_gpu *gpu, lk_stream *stream, struct dev_task *task, const char *site)
{
    if (stream && stream->handle.gpu != gpu) return host_refuse(gpu, "the stream belongs to another gpu");
    if (stream) return host_enqueue(stream, task, site);
    task->site = host_site(site);
    host_note_task(gpu, NULL, task);
    if (unlikely(gpu->keep)) host_kept_add(gpu, NULL, task);
    u64 t0 = gpu->times ? time_ns() : 0;
    u32 status = dev_perform(gpu->device, task, host_begin(gpu));
    if (unlikely(gpu->times != NULL) && !status) host_time_took(gpu, task, time_ns() - t0);
    return host_done(gpu, status);
}

lk_status lk_memory_copy(lk_gpu *gpu, const lk_copy *copy)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    struct dev_task task;
    const char *site;
    bool has_stream = copy && copy->size >= offsetof(lk_copy, stream) + sizeof copy->stream;
    lk_stream *stream = has_stream ? copy->stream : NULL;
    if (!host_enter_also(&call, __func__, (struct host_use)USE_IF(STREAM, stream))) return LK_BAD_INPUT;
    lk_status bad = host_copy(&call, gpu, copy, &task, &site, __func__);
    if (bad) return bad;
    return task.copy.width ? perform(gpu, stream, &task, site) : LK_OK;
}

lk_status lk_memory_set(lk_gpu *gpu, const lk_fill *fill)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    struct dev_task task;
    const char *site;
    bool has_stream = fill && fill->size >= offsetof(lk_fill, stream) + sizeof fill->stream;
    lk_stream *stream = has_stream ? fill->stream : NULL;
    if (!host_enter_also(&call, __func__, (struct host_use)USE_IF(STREAM, stream))) return LK_BAD_INPUT;
    lk_status bad = host_fill(gpu, fill, &task, &site, __func__);
    if (bad) return bad;
    return task.fill.width ? perform(gpu, stream, &task, site) : LK_OK;
}

/* ---- in a stream ---- */

static lk_status copy_async(lk_stream *stream, struct dev_end to, struct dev_end from, u64 bytes, const char *function)
{
    if (!bytes) return LK_OK;
    if ((!to.host && !to.address) || (!from.host && !from.address))
        return host_missing_in(stream->handle.gpu, function,
                               to.host || to.address ? "memory to copy from" : "memory to copy to");
    struct dev_task task = { .kind = OP_COPY,
                             .copy = { .to = to, .from = from, .width = bytes, .rows = 1, .slices = 1 } };
    return host_enqueue(stream, &task, NULL);
}

lk_status lk_memory_write_async(lk_stream *stream, uint64_t address, const void *from, uint64_t bytes)
{
    HOST_CALL(LK_BAD_INPUT, USE(STREAM, stream));
    return copy_async(stream, (struct dev_end){ .address = address }, (struct dev_end){ .host = (void *)from }, bytes,
                      __func__);
}

lk_status lk_memory_read_async(lk_stream *stream, uint64_t address, void *to, uint64_t bytes)
{
    HOST_CALL(LK_BAD_INPUT, USE(STREAM, stream));
    return copy_async(stream, (struct dev_end){ .host = to }, (struct dev_end){ .address = address }, bytes, __func__);
}

lk_status lk_memory_copy_async(lk_stream *stream, uint64_t to, uint64_t from, uint64_t bytes)
{
    HOST_CALL(LK_BAD_INPUT, USE(STREAM, stream));
    return copy_async(stream, (struct dev_end){ .address = to }, (struct dev_end){ .address = from }, bytes, __func__);
}

lk_status lk_memory_fill_async(lk_stream *stream, uint64_t address, int byte, uint64_t bytes)
{
    HOST_CALL(LK_BAD_INPUT, USE(STREAM, stream));
    struct dev_task task = {
        .kind = OP_FILL,
        .fill = { .address = address, .value = (u8)byte, .bytes = 1, .width = bytes, .rows = 1, .slices = 1 }
    };
    return bytes ? host_enqueue(stream, &task, NULL) : LK_OK;
}

lk_status lk_memory_alloc_async(lk_stream *stream, uint64_t bytes, lk_pool *pool, const char *name, uint64_t *address)
{
    HOST_CALL(LK_BAD_INPUT, USE(STREAM, stream), USE_IF(POOL, pool));
    if (!address) return HOST_MISSING(stream->handle.gpu, "place for the address");
    lk_gpu *gpu = stream->handle.gpu;
    *address = 0;
    if (pool && pool->handle.gpu != gpu) return host_refuse(gpu, "the stream and the pool belong to different gpus");
    struct dev_task task = { .kind = OP_ALLOC,
                             .alloc = { .bytes = bytes, .pool = pool ? pool->dev : NULL, .name = host_name(name) } };
    lk_status status = host_enqueue(stream, &task, NULL);
    if (status == LK_OK) *address = task.alloc.address;
    peak_note(gpu);
    return status;
}

lk_status lk_memory_free_async(lk_stream *stream, uint64_t address)
{
    HOST_CALL(LK_BAD_INPUT, USE(STREAM, stream));
    struct dev_task task = { .kind = OP_FREE, .free = { address } };
    return address ? host_enqueue(stream, &task, NULL) : LK_OK;
}

/* ---- what the host sees ---- */

lk_status lk_memory_host(lk_gpu *gpu, uint64_t address, void **host)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!host) return HOST_MISSING(gpu, "place for the pointer");
    struct dev_address at;
    *host = NULL;
    if (!dev_address(gpu->device, address, &at) || at.device != gpu->device)
        return host_refuse(gpu, "0x%" PRIx64 " belongs to no allocation of this device", address);
    if (__atomic_load_n(&at.object->state, __ATOMIC_ACQUIRE) == MEM_FREED)
        return host_refuse(gpu, "%s (%" PRIu64 " bytes) has been freed", at.object->name, at.object->size);
    if (!at.host)
        return host_refuse(gpu, "%s is %s, which the host has no pointer to; copy it with lk_memory_read",
                           at.object->name, dev_kind_name[at.object->kind]);
    *host = at.host;
    return LK_OK;
}

lk_status lk_memory_touch(lk_gpu *gpu, uint64_t address, uint64_t bytes, uint32_t write)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    void *host;
    lk_status status = lk_memory_host(gpu, address, &host);
    if (status != LK_OK) return status;
    if (bytes && !dev_range(gpu->device, address, bytes, host_begin(gpu))) return host_failed(gpu);
    dev_host_touches(gpu->device, address, bytes, write != 0, host_site(NULL));
    return LK_OK;
}

lk_status lk_memory_register(lk_gpu *gpu, void *host, uint64_t bytes, const char *name, uint64_t *address)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!host || !address) return HOST_MISSING(gpu, !host ? "memory" : "place for the address");
    struct mem_object *o = NULL;
    *address = 0;
    u32 status = dev_register(gpu->device, host, bytes, name, host_site(NULL), &o, host_begin(gpu));
    if (!status) *address = o->base;
    peak_note(gpu);
    return host_done(gpu, status);
}

lk_status lk_memory_unregister(lk_gpu *gpu, void *host)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!host) return HOST_MISSING(gpu, "memory");
    struct error *e = host_begin(gpu);
    u32 status = gpu->device->async->synchronise(gpu->device, e);
    return host_done(gpu, status ? status : dev_unregister(gpu->device, host, host_site(NULL), e));
}

static bool has_device(lk_gpu *gpu, void *device) { return gpu->device == device; }

static bool has_address(lk_gpu *gpu, void *self)
{
    struct dev_address at;
    return dev_address(gpu->device, *(u64 *)self, &at) && at.device == gpu->device;
}

lk_status lk_memory_at(lk_gpu *gpu, uint64_t address, lk_memory_info *info)
{
    HOST_CALL(LK_BAD_INPUT, USE_IF(GPU, gpu));
    static const lk_memory_kind kind[MEM_KINDS] = {
        [MEM_DEVICE] = LK_MEMORY_DEVICE,   [MEM_PINNED] = LK_MEMORY_PINNED,         [MEM_MANAGED] = LK_MEMORY_MANAGED,
        [MEM_GLOBAL] = LK_MEMORY_VARIABLE, [MEM_CONST] = LK_MEMORY_VARIABLE,        [MEM_HEAP] = LK_MEMORY_HEAP,
        [MEM_POOL] = LK_MEMORY_POOL,       [MEM_REGISTERED] = LK_MEMORY_REGISTERED, [MEM_VIRTUAL] = LK_MEMORY_VIRTUAL,
    };
    if (!info) return HOST_MISSING(gpu, "place for it");
    u64 wanted = address;
    const lk_gpu *asked = gpu;
    struct dev_address at;
    struct error *e = host_begin(gpu);
    if (!gpu) gpu = host_each(has_address, &wanted);
    if (gpu && !asked && !host_enter_also(&call, __func__, (struct host_use)USE(GPU, gpu))) return LK_BAD_INPUT;
    if (!gpu || !dev_address(gpu->device, address, &at) || (asked && at.device != gpu->device)) {
        error_set(e, ERR_NOTHING, "0x%" PRIx64 " belongs to no allocation of %s", address,
                  asked ? "this device" : "any device");
        return host_failed(asked);
    }
    lk_memory_info out = { .size = info->size,
                           .gpu = host_each(has_device, at.device),
                           .kind = kind[at.object->kind],
                           .freed = __atomic_load_n(&at.object->state, __ATOMIC_ACQUIRE) == MEM_FREED,
                           .base = at.object->base,
                           .bytes = at.object->size,
                           .id = (u64)at.device->number << 40 | at.object->born };
    snprintf(out.name, sizeof out.name, "%s", at.object->name);
    memcpy(info, &out, MIN_OF(info->size, sizeof out));
    return LK_OK;
}
