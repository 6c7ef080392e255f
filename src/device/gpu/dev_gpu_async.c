/* Streams, events, copies, fills, pools and capture of a real GPU: each call becomes one of the driver, which orders
 * and runs the work. Nothing is kept of an operation: a launch takes hardly longer than the driver's own call.
 *
 * Waiting asks the driver again and again instead of sleeping in it, so that an interrupt ends the wait. */
#include "gpu/dev_gpu.h"
#include <inttypes.h>

/* ---- streams ---- */

static u32 stream_new_gpu(struct device *d, u32 flags, s32 priority, struct dev_stream **out, struct error *e)
{
    struct gpu *g = d->gpu;
    struct dev_stream *st = base_alloc(sizeof *st);
    *out = NULL;
    if (!st) return gpu_no_memory(e);
    u32 code = gpu_ready(d, e);
    if (!code) code = ASK(d, NULL, e, "cuStreamCreateWithPriority", stream_new, &st->handle, flags, priority);
    if (code) {
        base_free(st);
        return code;
    }
    st->d = d;
    lock(&g->lock);
    st->next = g->streams;
    g->streams = st;
    unlock(&g->lock);
    *out = st;
    return 0;
}

static u32 stream_delete_gpu(struct dev_stream *st, struct error *e)
{
    struct device *d = st->d;
    struct gpu *g = d->gpu;
    if (st == &g->legacy || st == &g->per_thread) {
        error_set(e, ERR_INPUT, "a default stream cannot be deleted");
        return OP_INVALID_HANDLE;
    }
    lock(&g->lock);
    struct dev_stream **link = &g->streams;
    while (*link != st) link = &(*link)->next;
    *link = st->next;
    unlock(&g->lock);
    launch_forget();
    /* The driver's answer may be the fault of a kernel before: the stream is gone, whatever it says. */
    if (!gpu_ready(d, e)) ASK(d, st, e, "cuStreamDestroy", stream_delete, st->handle);
    base_free(st);
    return 0;
}

static struct dev_stream *stream_legacy_gpu(struct device *d) { return &d->gpu->legacy; }
static struct dev_stream *stream_per_thread_gpu(struct device *d) { return &d->gpu->per_thread; }
static void **stream_user_gpu(struct dev_stream *st) { return &st->user; }

static cu_result stream_done(const struct driver *cu, void *of) { return cu->query(of); }

static u32 stream_query_gpu(struct dev_stream *st, struct error *e)
{
    u32 code = gpu_ready(st->d, e);
    return code ? code : gpu_status(st->d, st, "cuStreamQuery", st->d->gpu->cu.query(st->handle), e);
}

/* A wait that an interrupt ends leaves the work as it is: not ready. */
static u32 wait_for(struct device *d, const struct dev_stream *st, const char *call,
                    cu_result (*done)(const struct driver *cu, void *of), void *of, struct error *e)
{
    bool interrupted = false;
    u32 code = gpu_ready(d, e);
    if (code) return code;
    cu_result answer = gpu_wait(d, done, of, &interrupted);
    if (!interrupted) return gpu_status(d, st, call, answer, e);
    __atomic_store_n(&d->interrupt, 0, __ATOMIC_RELAXED);
    gpu_interrupted(d, e);
    return CU_NOT_READY;
}

static u32 stream_synchronise_gpu(struct dev_stream *st, struct error *e)
{
    return wait_for(st->d, st, "cuStreamQuery", stream_done, st->handle, e);
}

/* The streams that are known here, one after the other. While one is captured a question would break the capture: the
 * driver has to answer then. */
static cu_result streams_done(const struct driver *cu, void *of)
{
    struct gpu *g = of;
    cu_result code = 0;
    int captured = 0;
    lock(&g->lock);
    for (const struct dev_stream *st = g->streams; st && !code && !captured; st = st->next)
        code = ask_driver(cu, capturing, st->handle, &captured);
    if (!captured) {
        for (const struct dev_stream *st = g->streams; st && !code; st = st->next) code = cu->query(st->handle);
        if (!code) code = cu->query(CU_LEGACY);
        if (!code && g->per_thread.last) code = cu->query(CU_PER_THREAD);
    }
    unlock(&g->lock);
    return code;
}

/* What is left then, of other threads' streams and of whoever else uses this context, the driver waits for. */
static u32 synchronise_gpu(struct device *d, struct error *e)
{
    u32 code = wait_for(d, NULL, "cuStreamQuery", streams_done, d->gpu, e);
    return code ? code : ASK(d, NULL, e, "cuCtxSynchronize", synchronise);
}

/* ---- copies and fills ---- */

static u64 end_address(const struct dev_end *x) { return x->host ? (u64)(uintptr_t)x->host : x->address; }

/* Rows and slices that follow each other without a gap are one row. */
static struct dev_copy flat_copy(const struct dev_copy *c)
{
    struct dev_copy f = *c;
    f.to.pitch = c->to.pitch ? c->to.pitch : c->width;
    f.from.pitch = c->from.pitch ? c->from.pitch : c->width;
    f.to.slice = c->to.slice ? c->to.slice : f.to.pitch * c->rows;
    f.from.slice = c->from.slice ? c->from.slice : f.from.pitch * c->rows;
    if (f.slices == 1 || (f.to.slice == f.to.pitch * f.rows && f.from.slice == f.from.pitch * f.rows)) {
        f.rows *= f.slices;
        f.slices = 1;
    }
    if (f.slices == 1 && (f.rows == 1 || (f.to.pitch == f.width && f.from.pitch == f.width))) {
        f.width *= f.rows;
        f.rows = 1;
        f.to.pitch = f.from.pitch = f.width;
    }
    if (f.slices == 1) { /* the driver wants slices with all rows, and rows with all bytes, where there is one */
        f.to.slice = f.to.pitch * f.rows;
        f.from.slice = f.from.pitch * f.rows;
    }
    return f;
}

/* The memory of one side, where a side is an address. */
static u32 type_of(const struct dev_end *x) { return x->host ? CU_MEMORY_HOST : CU_MEMORY_UNIFIED; }

u32 gpu_copy3(const struct dev_copy *c, struct cu_copy_3d *out, struct error *e)
{
    struct dev_copy f = flat_copy(c);
    if (!f.width || (f.slices > 1 && (f.to.slice % f.to.pitch || f.from.slice % f.from.pitch))) {
        error_set(e, ERR_INPUT, "%s", f.width ? "a slice is not a multiple of its pitch" : "a copy of no bytes");
        return OP_INVALID_VALUE;
    }
    *out = (struct cu_copy_3d){ .from_type = type_of(&f.from),
                                .from_host = f.from.host,
                                .from_device = f.from.host ? 0 : f.from.address,
                                .from_pitch = f.from.pitch,
                                .from_height = f.from.slice / f.from.pitch,
                                .to_type = type_of(&f.to),
                                .to_host = f.to.host,
                                .to_device = f.to.host ? 0 : f.to.address,
                                .to_pitch = f.to.pitch,
                                .to_height = f.to.slice / f.to.pitch,
                                .width = f.width,
                                .height = f.rows,
                                .depth = f.slices };
    return 0;
}

static u32 copy_rows(struct dev_stream *st, const struct dev_copy *f, u64 slice, struct error *e)
{
    u64 from = slice * f->from.slice, to = slice * f->to.slice;
    struct cu_copy_2d c = { .from_type = type_of(&f->from),
                            .from_host = f->from.host ? (char *)f->from.host + from : NULL,
                            .from_device = f->from.host ? 0 : f->from.address + from,
                            .from_pitch = f->from.pitch,
                            .to_type = type_of(&f->to),
                            .to_host = f->to.host ? (char *)f->to.host + to : NULL,
                            .to_device = f->to.host ? 0 : f->to.address + to,
                            .to_pitch = f->to.pitch,
                            .width = f->width,
                            .height = f->rows };
    return ASK(st->d, st, e, "cuMemcpy2DAsync", copy2, &c, st->handle);
}

/* Between the contexts of two GPUs the driver copies rows. */
static u32 copy_peer(struct dev_stream *st, const struct dev_copy *f, struct error *e)
{
    cu_context to = (f->to.device ? f->to.device : st->d)->gpu->context;
    cu_context from = (f->from.device ? f->from.device : st->d)->gpu->context;
    u32 code = 0;
    for (u64 z = 0; z < f->slices && !code; z++)
        for (u64 y = 0; y < f->rows && !code; y++)
            code = ASK(st->d, st, e, "cuMemcpyPeerAsync", copy_peer,
                       end_address(&f->to) + z * f->to.slice + y * f->to.pitch, to,
                       end_address(&f->from) + z * f->from.slice + y * f->from.pitch, from, f->width, st->handle);
    return code;
}

/* Whether this side is memory of a GPU in another context than the stream's. */
static bool is_cross_device(const struct dev_stream *st, const struct dev_end *x)
{
    return !x->host && x->device && x->device != st->d && x->device->gpu &&
           x->device->gpu->context != st->d->gpu->context;
}

static u32 copy(struct dev_stream *st, const struct dev_copy *c, struct error *e)
{
    struct dev_copy f = flat_copy(c);
    struct device *d = st->d;
    if (!f.width || !f.rows || !f.slices) return 0;
    if (is_cross_device(st, &f.to) || is_cross_device(st, &f.from)) return copy_peer(st, &f, e);
    if (f.rows == 1 && f.slices == 1) {
        if (f.from.host && !f.to.host)
            return ASK(d, st, e, "cuMemcpyHtoDAsync", copy_in, f.to.address, f.from.host, f.width, st->handle);
        if (f.to.host && !f.from.host)
            return ASK(d, st, e, "cuMemcpyDtoHAsync", copy_out, f.to.host, f.from.address, f.width, st->handle);
        return ASK(d, st, e, "cuMemcpyAsync", copy, end_address(&f.to), end_address(&f.from), f.width, st->handle);
    }
    if (f.slices == 1) return copy_rows(st, &f, 0, e);
    if (f.to.slice % f.to.pitch == 0 && f.from.slice % f.from.pitch == 0) {
        struct cu_copy_3d c3;
        u32 code = gpu_copy3(&f, &c3, e);
        return code ? code : ASK(d, st, e, "cuMemcpy3DAsync", copy3, &c3, st->handle);
    }
    u32 code = 0;
    for (u64 z = 0; z < f.slices && !code; z++) code = copy_rows(st, &f, z, e);
    return code;
}

bool gpu_flat_fill(const struct dev_fill *f, struct dev_fill *out)
{
    *out = *f;
    out->pitch = f->pitch ? f->pitch : f->width * f->bytes;
    out->slices = MAX_OF(f->slices, 1u);
    out->slice = f->slice ? f->slice : out->pitch * f->rows;
    if (out->slices == 1 || out->slice == out->pitch * out->rows) {
        out->rows *= out->slices;
        out->slices = 1;
    }
    if (out->rows == 1 || out->pitch == out->width * out->bytes) {
        out->width *= out->rows;
        out->rows = 1;
        out->pitch = out->width * out->bytes;
    }
    return out->slices == 1;
}

static u32 fill_rows(struct dev_stream *st, const struct dev_fill *f, u64 at, struct error *e)
{
    struct device *d = st->d;
    cu_stream s = st->handle;
    bool one = f->rows == 1;
    switch (f->bytes) {
    case 1:
        return one ? ASK(d, st, e, "cuMemsetD8Async", fill8, at, (u8)f->value, f->width, s)
                   : ASK(d, st, e, "cuMemsetD2D8Async", fill_rows8, at, f->pitch, (u8)f->value, f->width, f->rows, s);
    case 2:
        return one ? ASK(d, st, e, "cuMemsetD16Async", fill16, at, (u16)f->value, f->width, s)
                   : ASK(d, st, e, "cuMemsetD2D16Async", fill_rows16, at, f->pitch, (u16)f->value, f->width, f->rows,
                         s);
    case 4:
        return one ? ASK(d, st, e, "cuMemsetD32Async", fill32, at, f->value, f->width, s)
                   : ASK(d, st, e, "cuMemsetD2D32Async", fill_rows32, at, f->pitch, f->value, f->width, f->rows, s);
    default: error_set(e, ERR_INPUT, "a fill stores 1, 2 or 4 bytes, not %u", f->bytes); return OP_INVALID_VALUE;
    }
}

static u32 fill(struct dev_stream *st, const struct dev_fill *given, struct error *e)
{
    struct dev_fill f;
    u32 code = 0;
    if (!given->width || !given->rows) return 0;
    gpu_flat_fill(given, &f);
    for (u64 z = 0; z < f.slices && !code; z++) code = fill_rows(st, &f, f.address + z * f.slice, e);
    return code;
}

/* ---- memory in the order of a stream ---- */

struct dev_pool {
    struct device *d;
    cu_pool handle;
};

static bool is_captured(const struct dev_stream *st)
{
    int status = 0;
    return !ask_driver(&st->d->gpu->cu, capturing, st->handle, &status) && status;
}

static u32 alloc_async(struct dev_stream *st, struct dev_task *t, struct error *e)
{
    struct device *d = st->d;
    u64 address = 0;
    size_t bytes = MAX_OF(t->alloc.bytes, 1u);
    bool graph = is_captured(st);
    u32 code = t->alloc.pool ? ASK(d, st, e, "cuMemAllocFromPoolAsync", alloc_pool, &address, bytes,
                                   t->alloc.pool->handle, st->handle)
                             : ASK(d, st, e, "cuMemAllocAsync", alloc_async, &address, bytes, st->handle);
    if (code) return code;
    if (!gpu_enter(d->gpu, address, t->alloc.bytes, MEM_POOL, graph, t->alloc.name, t->site)) {
        ask_driver(&d->gpu->cu, free_async, address, st->handle);
        return gpu_no_memory(e);
    }
    t->alloc.address = address;
    return 0;
}

static u32 free_async(struct dev_stream *st, const struct dev_task *t, struct error *e)
{
    struct device *d = st->d;
    struct mem_object *o = gpu_find(d, t->free.address);
    bool variable = o && (o->kind == MEM_GLOBAL || o->kind == MEM_CONST);
    if (!o || o->base != t->free.address || variable || o->state == MEM_FREED) {
        dev_free_found(d, o && o->base == t->free.address && o->state == MEM_FREED, t->free.address, o, t->site);
        error_set(e, ERR_INPUT, "0x%" PRIx64 " is not the start of a live allocation", t->free.address);
        return OP_INVALID_VALUE;
    }
    bool leaves = !gpu_is_of_graph(o) && !is_captured(st);
    struct mem_object was = *o;
    /* out of the list first: another thread may be given the same addresses as soon as the driver has them back */
    if (leaves) gpu_leave(d->gpu, o, t->site);
    u32 code = ASK(d, st, e, "cuMemFreeAsync", free_async, t->free.address, st->handle);
    if (code && leaves) gpu_enter(d->gpu, was.base, was.size, was.kind, false, was.name, was.alloc_site);
    return code;
}

static u32 pool_new_gpu(struct device *d, u64 most, enum mem_kind kind, struct dev_pool **out, struct error *e)
{
    *out = NULL;
    if (kind != MEM_POOL) {
        error_set(e, ERR_UNSUPPORTED, "a pool of pinned or managed memory is not supported on a real GPU");
        return OP_NOT_SUPPORTED;
    }
    struct dev_pool *p = base_alloc(sizeof *p);
    if (!p) return gpu_no_memory(e);
    /* pinned, as the driver calls it: memory of this device, for this process alone */
    struct cu_pool_props props = { .type = TYPE_PINNED, .location = { PLACE_DEVICE, d->gpu->device }, .most = most };
    u32 code = gpu_ready(d, e);
    if (!code) code = ASK(d, NULL, e, "cuMemPoolCreate", pool_new, &p->handle, &props);
    if (code) {
        base_free(p);
        return code;
    }
    p->d = d;
    *out = p;
    return 0;
}

static u32 pool_delete_gpu(struct dev_pool *p, struct error *e)
{
    u32 code = gpu_ready(p->d, e);
    if (!code) code = ASK(p->d, NULL, e, "cuMemPoolDestroy", pool_delete, p->handle);
    if (!code) base_free(p);
    return code;
}

static u32 pool_trim_gpu(struct dev_pool *p, u64 keep, struct error *e)
{
    u32 code = gpu_ready(p->d, e);
    return code ? code : ASK(p->d, NULL, e, "cuMemPoolTrimTo", pool_trim, p->handle, keep);
}

static u32 pool_threshold_gpu(struct dev_pool *p, u64 bytes, struct error *e)
{
    u32 code = gpu_ready(p->d, e);
    return code ? code : ASK(p->d, NULL, e, "cuMemPoolSetAttribute", pool_set, p->handle, CU_POOL_THRESHOLD, &bytes);
}

/* ---- operations ---- */

/* Making the context current takes a third of the time that a launch may cost here. Where this thread made it so
 * before, a launch in a stream with a handle of its own is tried without: kernel and stream say which context it is
 * for, and where the program has made another one current meanwhile, a launch that the driver refuses is tried again.
 */
static u32 launch(struct dev_stream *st, const struct dev_task *t, struct error *e)
{
    const char *call = "";
    struct device *d = st->d;
    bool trusted = gpu_was_current == d->gpu->serial && st->handle > CU_PER_THREAD;
    u32 status = trusted ? 0 : gpu_ready(d, e);
    if (unlikely(status)) return status;
    cu_result code = gpu_launch(d, &t->launch, t->programmatic, st->handle, &call);
    if (unlikely(code == CU_INVALID_CONTEXT || code == CU_INVALID_HANDLE || code == CU_CONTEXT_GONE) && trusted) {
        if ((status = gpu_ready(d, e))) return status;
        code = gpu_launch(d, &t->launch, t->programmatic, st->handle, &call);
    }
    if (unlikely(code)) return gpu_status(d, st, call, code, e);
    __atomic_store_n(&st->last, t->launch.kernel, __ATOMIC_RELEASE);
    return 0;
}

static bool repeat_gpu(struct dev_stream *st, const struct dev_launch *l, struct dev_repeat *out)
{
    const struct gpu_kernel *x = __atomic_load_n(&l->kernel->device, __ATOMIC_ACQUIRE);
    if (!x || l->cooperative || st->handle <= CU_PER_THREAD) return false;
    *out = (struct dev_repeat){ .launch = st->d->gpu->cu.launch,
                                .function = x->function,
                                .stream = st->handle,
                                .kernel = l->kernel,
                                .last = &st->last };
    return true;
}

static u32 enqueue_gpu(struct dev_stream *st, struct dev_task *t, struct error *e)
{
    if (t->kind == OP_LAUNCH) return launch(st, t, e);
    u32 code = gpu_ready(st->d, e);
    if (code) return code;
    switch (t->kind) {
    case OP_COPY: return copy(st, &t->copy, e);
    case OP_FILL: return fill(st, &t->fill, e);
    case OP_ALLOC: return alloc_async(st, t, e);
    case OP_FREE: return free_async(st, t, e);
    case OP_HOST: return ASK(st->d, st, e, "cuLaunchHostFunc", host_call, st->handle, t->host.call, t->host.self);
    case OP_EMPTY: return 0;
    default:
        error_set(e, ERR_INPUT, "there is no operation of kind %d to enqueue", (int)t->kind);
        return OP_INVALID_VALUE;
    }
}

static u32 value_wait_gpu(struct dev_stream *st, u64 address, u32 bits, u64 value, enum op_compare c, const char *site,
                          struct error *e)
{
    (void)site;
    u32 code = gpu_ready(st->d, e);
    if (code) return code;
    return bits == 32
               ? ASK(st->d, st, e, "cuStreamWaitValue32", wait_value32, st->handle, address, (u32)value, (unsigned)c)
               : ASK(st->d, st, e, "cuStreamWaitValue64", wait_value64, st->handle, address, value, (unsigned)c);
}

static u32 value_write_gpu(struct dev_stream *st, u64 address, u32 bits, u64 value, const char *site, struct error *e)
{
    (void)site;
    u32 code = gpu_ready(st->d, e);
    if (code) return code;
    return bits == 32 ? ASK(st->d, st, e, "cuStreamWriteValue32", write_value32, st->handle, address, (u32)value, 0)
                      : ASK(st->d, st, e, "cuStreamWriteValue64", write_value64, st->handle, address, value, 0);
}

/* ---- events ---- */

static u32 event_new_gpu(struct device *d, u32 flags, struct dev_event **out, struct error *e)
{
    struct dev_event *ev = base_alloc(sizeof *ev);
    *out = NULL;
    if (!ev) return gpu_no_memory(e);
    u32 code = gpu_ready(d, e);
    if (!code) code = ASK(d, NULL, e, "cuEventCreate", event_new, &ev->handle, flags);
    if (code) {
        base_free(ev);
        return code;
    }
    ev->d = d;
    *out = ev;
    return 0;
}

static void event_delete_gpu(struct dev_event *ev)
{
    struct error e = { 0 };
    if (!gpu_ready(ev->d, &e)) ask_driver(&ev->d->gpu->cu, event_delete, ev->handle);
    base_free(ev);
}

static u32 event_record_gpu(struct dev_event *ev, struct dev_stream *st, bool external, const char *site,
                            struct error *e)
{
    (void)site;
    u32 code = gpu_ready(st->d, e);
    return code ? code : ASK(st->d, st, e, "cuEventRecord", event_record, ev->handle, st->handle, external);
}

static u32 event_wait_gpu(struct dev_stream *st, struct dev_event *ev, bool external, const char *site, struct error *e)
{
    (void)site;
    u32 code = gpu_ready(st->d, e);
    return code ? code : ASK(st->d, st, e, "cuStreamWaitEvent", stream_wait, st->handle, ev->handle, external);
}

static cu_result event_done(const struct driver *cu, void *of) { return ask_driver(cu, event_query, of); }

static u32 event_query_gpu(struct dev_event *ev, struct error *e)
{
    u32 code = gpu_ready(ev->d, e);
    return code ? code : ASK(ev->d, NULL, e, "cuEventQuery", event_query, ev->handle);
}

static u32 event_synchronise_gpu(struct dev_event *ev, struct error *e)
{
    return wait_for(ev->d, NULL, "cuEventQuery", event_done, ev->handle, e);
}

static u32 event_elapsed_gpu(struct dev_event *from, struct dev_event *to, double *ms, struct error *e)
{
    float got = 0;
    u32 code = gpu_ready(from->d, e);
    if (!code) code = ASK(from->d, NULL, e, "cuEventElapsedTime", event_elapsed, &got, from->handle, to->handle);
    *ms = (double)got;
    return code;
}

/* ---- capture ---- */

static u32 capture_begin_gpu(struct dev_stream *st, enum capture_mode mode, struct error *e)
{
    u32 code = gpu_ready(st->d, e);
    return code ? code : ASK(st->d, st, e, "cuStreamBeginCapture", capture_begin, st->handle, (int)mode);
}

static u32 capture_end_gpu(struct dev_stream *st, struct dev_graph **out, struct error *e)
{
    cu_graph graph = NULL;
    *out = NULL;
    u32 code = gpu_ready(st->d, e);
    if (!code) code = ASK(st->d, st, e, "cuStreamEndCapture", capture_end, st->handle, &graph);
    return code ? code : gpu_graph_of(st->d, graph, out, e);
}

static u32 capture_status_gpu(struct dev_stream *st, enum capture_status *out, u64 *id, struct error *e)
{
    int status = 0;
    u64 number = 0;
    u32 code = gpu_ready(st->d, e);
    if (!code)
        code = ASK(st->d, st, e, "cuStreamGetCaptureInfo", capture_info, st->handle, &status, &number, NULL, NULL,
                   NULL);
    *out = (enum capture_status)status;
    if (id) *id = number;
    return code;
}

const struct dev_async_ops dev_gpu_async = {
    .stream_new = stream_new_gpu,
    .stream_delete = stream_delete_gpu,
    .stream_legacy = stream_legacy_gpu,
    .stream_per_thread = stream_per_thread_gpu,
    .stream_user = stream_user_gpu,
    .stream_query = stream_query_gpu,
    .stream_synchronise = stream_synchronise_gpu,
    .synchronise = synchronise_gpu,
    .enqueue = enqueue_gpu,
    .repeat = repeat_gpu,
    .value_wait = value_wait_gpu,
    .value_write = value_write_gpu,
    .event_new = event_new_gpu,
    .event_delete = event_delete_gpu,
    .event_record = event_record_gpu,
    .event_wait = event_wait_gpu,
    .event_query = event_query_gpu,
    .event_synchronise = event_synchronise_gpu,
    .event_elapsed = event_elapsed_gpu,
    .capture_begin = capture_begin_gpu,
    .capture_end = capture_end_gpu,
    .capture_status = capture_status_gpu,
    .graph_new = gpu_graph_new,
    .graph_delete = gpu_graph_delete,
    .graph_add = gpu_graph_add,
    .graph_add_event = gpu_graph_add_event,
    .graph_add_child = gpu_graph_add_child,
    .graph_edge = gpu_graph_edge,
    .graph_nodes = gpu_graph_nodes,
    .graph_instantiate = gpu_graph_instantiate,
    .exec_delete = gpu_exec_delete,
    .exec_update = gpu_exec_update,
    .exec_set = gpu_exec_set,
    .exec_launch = gpu_exec_launch,
    .pool_new = pool_new_gpu,
    .pool_delete = pool_delete_gpu,
    .pool_trim = pool_trim_gpu,
    .pool_threshold = pool_threshold_gpu,
};
