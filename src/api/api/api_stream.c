/* Streams of the public interface, what is enqueued in them besides kernels and memory, and captures. */
#include "api/host_time.h"
#include "api/host_timeline.h"
#include <sched.h>

static const struct dev_async_ops *ops_of(const lk_gpu *gpu) { return gpu->device->async; }

/* A handle for a stream of the device; NULL: the error says why. */
static lk_stream *stream_wrap(lk_gpu *gpu, struct dev_stream *dev, bool is_default)
{
    lk_stream *s = handle_new(sizeof *s);
    if (!s) {
        error_set(host_error(), ERR_MEMORY, "out of memory");
        return NULL;
    }
    s->dev = dev;
    s->is_default = is_default;
    s->is_apart = false;
    handle_add(&s->handle, gpu, HANDLE_STREAM);
    return s;
}

lk_status lk_stream_create(lk_gpu *gpu, uint32_t flags, int32_t priority, lk_stream **stream)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!stream) return HOST_MISSING(gpu, "place for the stream");
    *stream = NULL;
    if (flags & ~(u32)LK_STREAM_NON_BLOCKING) return host_refuse(gpu, "a stream has no flags 0x%x", flags);
    struct error *e = host_begin(gpu);
    struct dev_stream *dev = NULL;
    u32 status = ops_of(gpu)->stream_new(gpu->device, flags, priority, &dev, e);
    if (status) return host_done(gpu, status);
    if ((*stream = stream_wrap(gpu, dev, false))) {
        (*stream)->is_apart = flags & LK_STREAM_NON_BLOCKING;
        return LK_OK;
    }
    ops_of(gpu)->stream_delete(dev, &(struct error){ 0 });
    return host_failed(gpu);
}

lk_status lk_stream_name(lk_stream *stream, const char *name)
{
    HOST_CALL(LK_BAD_INPUT, USE(STREAM, stream));
    if (!name) return HOST_MISSING(stream->handle.gpu, "name");
    lk_gpu *gpu = stream->handle.gpu;
    host_begin(gpu);
    if (ops_of(gpu)->stream_name) ops_of(gpu)->stream_name(stream->dev, name);
    return LK_OK;
}

static void repeats_wait(const lk_stream *s)
{
    while (__atomic_load_n(&s->repeats, __ATOMIC_SEQ_CST)) sched_yield();
}

void host_repeats_wait(lk_gpu *gpu)
{
    lock(&gpu->lock);
    for (struct handle *h = gpu->handle[HANDLE_STREAM]; h; h = h->next) repeats_wait((lk_stream *)h);
    unlock(&gpu->lock);
}

u32 host_stream_ended(struct handle *h)
{
    lk_stream *s = (lk_stream *)h;
    launch_forget();
    repeats_wait(s);
    handle_remove(h); /* before the stream: others look at the streams of the gpu under its lock */
    u32 status = s->is_default ? 0 : ops_of(h->gpu)->stream_delete(s->dev, host_begin(h->gpu));
    host_kept_free(s->kept);
    handle_free(s, sizeof *s);
    return status;
}

lk_status lk_stream_destroy(lk_stream *stream)
{
    HOST_CALL(LK_BAD_INPUT, USE(STREAM, stream));
    lk_gpu *gpu = stream->handle.gpu;
    if (stream->is_default) return host_refuse(gpu, "a default stream lives as long as its gpu");
    u32 status;
    return host_destroy(&call, &stream->handle, __func__, &status) ? host_done(gpu, status) : LK_BAD_INPUT;
}

/* The handle that a default stream has already, or a new one. */
static lk_stream *default_stream(lk_gpu *gpu, struct dev_stream *dev)
{
    if (!dev) {
        error_set(host_begin(gpu), ERR_MEMORY, "no memory for a stream");
        host_failed(gpu);
        return NULL;
    }
    host_begin(gpu);
    lock(&gpu->lock);
    void **user = ops_of(gpu)->stream_user(dev);
    lk_stream *s = *user;
    unlock(&gpu->lock);
    if (s) return s;
    if (!(s = stream_wrap(gpu, dev, true))) {
        host_failed(gpu);
        return NULL;
    }
    lock(&gpu->lock);
    *user = s; /* of two threads that made a handle each, the later: both mean the same stream, and end with the gpu */
    unlock(&gpu->lock);
    return s;
}

lk_stream *lk_stream_legacy(lk_gpu *gpu)
{
    HOST_CALL(NULL, USE(GPU, gpu));
    lk_stream *s = __atomic_load_n(&gpu->legacy, __ATOMIC_ACQUIRE), *none = NULL;
    if (s) return s;
    s = default_stream(gpu, ops_of(gpu)->stream_legacy(gpu->device));
    /* two threads may have made a handle each: both mean the same stream, and end with the gpu */
    if (s) __atomic_compare_exchange_n(&gpu->legacy, &none, s, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return none ? none : s;
}

lk_stream *lk_stream_per_thread(lk_gpu *gpu)
{
    HOST_CALL(NULL, USE(GPU, gpu));
    static _Thread_local struct { /* the one that was asked for last */
        u64 serial;
        lk_stream *stream;
    } last;
    if (last.serial == gpu->serial) return last.stream;
    lk_stream *s = default_stream(gpu, ops_of(gpu)->stream_per_thread(gpu->device));
    if (s) {
        last.serial = gpu->serial;
        last.stream = s;
    }
    return s;
}

lk_status lk_stream_query(lk_stream *stream)
{
    HOST_CALL(LK_BAD_INPUT, USE(STREAM, stream));
    lk_gpu *gpu = stream->handle.gpu;
    return host_done(gpu, ops_of(gpu)->stream_query(stream->dev, host_begin(gpu)));
}

lk_status lk_stream_synchronise(lk_stream *stream)
{
    HOST_CALL(LK_BAD_INPUT, USE(STREAM, stream));
    lk_gpu *gpu = stream->handle.gpu;
    host_note_wait(gpu, HOST_WAITS_STREAM, stream, NULL);
    return host_done(gpu, ops_of(gpu)->stream_synchronise(stream->dev, host_begin(gpu)));
}

lk_status lk_gpu_synchronise(lk_gpu *gpu)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    host_note_wait(gpu, HOST_WAITS_ALL, NULL, NULL);
    return host_done(gpu, ops_of(gpu)->synchronise(gpu->device, host_begin(gpu)));
}

/* ---- operations ---- */

static lk_status wait_for(lk_stream *stream, lk_event *event, bool external)
{
    lk_gpu *gpu = stream->handle.gpu;
    struct error *e = host_begin(gpu);
    if (gpu->device->options.gpu != event->handle.gpu->device->options.gpu) {
        error_set(e, ERR_UNSUPPORTED,
                  "the event belongs to another gpu: of the software GPU and a real one neither waits for the other's "
                  "events; lk_event_synchronise waits for it");
        return host_failed(gpu);
    }
    if (event->handle.gpu != gpu) __atomic_or_fetch(&event->handle.gpu->peer, GPU_IN_STREAMS, __ATOMIC_RELEASE);
    u32 status = ops_of(gpu)->event_wait(stream->dev, event->dev, external, host_site(NULL), e);
    host_note_wait(gpu, STREAM_WAITS, stream, event); /* after it: the stream may be captured from now on */
    return host_done(gpu, status);
}

lk_status lk_stream_wait(lk_stream *stream, lk_event *event)
{
    HOST_CALL(LK_BAD_INPUT, USE(STREAM, stream), USE(EVENT, event));
    return wait_for(stream, event, false);
}

lk_status lk_stream_wait_external(lk_stream *stream, lk_event *event)
{
    HOST_CALL(LK_BAD_INPUT, USE(STREAM, stream), USE(EVENT, event));
    return wait_for(stream, event, true);
}

static lk_status bad_value(const lk_gpu *gpu, u64 address, u32 bits)
{
    if (bits != 32 && bits != 64) return host_refuse(gpu, "a value has 32 or 64 bits, not %u", bits);
    if (address % (bits / 8)) return host_refuse(gpu, "a value of %u bits lies at a multiple of %u", bits, bits / 8);
    return LK_OK;
}

lk_status lk_stream_wait_value(lk_stream *stream, uint64_t address, uint32_t bits, uint64_t value, lk_compare compare)
{
    HOST_CALL(LK_BAD_INPUT, USE(STREAM, stream));
    static const enum op_compare as[] = { OP_GEQ, OP_EQ, OP_AND, OP_NOR };
    lk_gpu *gpu = stream->handle.gpu;
    lk_status bad = bad_value(gpu, address, bits);
    if (bad) return bad;
    if (compare > LK_COMPARE_NOR) return host_refuse(gpu, "there is no comparison %d", (int)compare);
    return host_done(
        gpu, ops_of(gpu)->value_wait(stream->dev, address, bits, value, as[compare], host_site(NULL), host_begin(gpu)));
}

lk_status lk_stream_write_value(lk_stream *stream, uint64_t address, uint32_t bits, uint64_t value)
{
    HOST_CALL(LK_BAD_INPUT, USE(STREAM, stream));
    lk_gpu *gpu = stream->handle.gpu;
    lk_status bad = bad_value(gpu, address, bits);
    if (bad) return bad;
    return host_done(gpu,
                     ops_of(gpu)->value_write(stream->dev, address, bits, value, host_site(NULL), host_begin(gpu)));
}

lk_status lk_host_call(lk_stream *stream, void (*function)(void *self), void *self)
{
    HOST_CALL(LK_BAD_INPUT, USE(STREAM, stream));
    if (!function) return HOST_MISSING(stream->handle.gpu, "function");
    struct dev_task task = { .kind = OP_HOST, .host = { .call = function, .self = self } };
    return host_enqueue(stream, &task, NULL);
}

lk_status host_enqueue(lk_stream *stream, struct dev_task *task, const char *site)
{
    lk_gpu *gpu = stream->handle.gpu;
    task->site = host_site(site);
    host_note_task(gpu, stream, task);
    if (unlikely(gpu->keep)) host_kept_add(gpu, stream, task);
    if (likely(!gpu->times)) return host_done(gpu, dev_enqueue(stream->dev, gpu->device, task, host_begin(gpu)));
    struct host_timing timing;
    host_time_task(gpu, stream, task, &timing);
    u32 status = dev_enqueue(stream->dev, gpu->device, task, host_begin(gpu));
    host_time_to(gpu, stream, &timing, !status);
    return host_done(gpu, status);
}

/* ---- capture ---- */

lk_status lk_stream_capture(lk_stream *stream, lk_capture_mode mode)
{
    HOST_CALL(LK_BAD_INPUT, USE(STREAM, stream));
    static const enum capture_mode as[] = { CAPTURE_GLOBAL, CAPTURE_THREAD_LOCAL, CAPTURE_RELAXED };
    lk_gpu *gpu = stream->handle.gpu;
    if (mode > LK_CAPTURE_RELAXED) return host_refuse(gpu, "there is no mode %d of capture", (int)mode);
    return host_done(gpu, ops_of(gpu)->capture_begin(stream->dev, as[mode], host_begin(gpu)));
}

lk_status lk_stream_capture_end(lk_stream *stream, lk_graph **graph)
{
    HOST_CALL(LK_BAD_INPUT, USE(STREAM, stream));
    if (!graph) return HOST_MISSING(stream->handle.gpu, "place for the graph");
    lk_gpu *gpu = stream->handle.gpu;
    struct dev_graph *dev = NULL;
    *graph = NULL;
    u32 status = ops_of(gpu)->capture_end(stream->dev, &dev, host_begin(gpu));
    if (!status) return host_graph(gpu, dev, graph);
    lk_status failed = host_done(gpu, status);
    host_modules_end(gpu);
    return failed;
}

lk_status lk_stream_capture_status(lk_stream *stream, lk_capture_status *status)
{
    HOST_CALL(LK_BAD_INPUT, USE(STREAM, stream));
    if (!status) return HOST_MISSING(stream->handle.gpu, "place for the status");
    lk_gpu *gpu = stream->handle.gpu;
    enum capture_status is = CAPTURE_NONE;
    u64 id;
    u32 result = ops_of(gpu)->capture_status(stream->dev, &is, &id, host_begin(gpu));
    *status = is == CAPTURE_ACTIVE        ? LK_CAPTURE_ACTIVE
              : is == CAPTURE_INVALIDATED ? LK_CAPTURE_INVALIDATED
                                          : LK_CAPTURE_NONE;
    return host_done(gpu, result);
}
