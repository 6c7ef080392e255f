/* What is enqueued on a gpu whose launches are counted is noted for its timeline (count/timeline.h). */
#include "api/host_timeline.h"
#include "count/timeline.h"
#include "device/dev_graph.h"

static bool is_pinned(const struct device *d, const void *host)
{
    const struct mem_object *o = host ? mem_find(d->mem, (u64)(uintptr_t)host) : NULL;
    return o && o->state == MEM_LIVE;
}

/* The direction of a copy, and whether the host's side is pageable. */
static void copy_read(const struct device *d, const struct dev_copy *c, struct timeline_op *op)
{
    op->bytes = c->width * c->rows * c->slices;
    op->kind = c->from.host ? TIME_TO_DEVICE : c->to.host ? TIME_FROM_DEVICE : TIME_ON_DEVICE;
    const void *host = c->from.host ? c->from.host : c->to.host;
    op->pageable = host && !is_pinned(d, host);
    if (host || !d->mem) return;
    const struct mem_object *from = mem_find(d->mem, c->from.address), *to = mem_find(d->mem, c->to.address);
    if (from && from->kind == MEM_PINNED) op->kind = TIME_TO_DEVICE;
    if (to && to->kind == MEM_PINNED) op->kind = TIME_FROM_DEVICE;
}

/* What the timeline knows a stream by; NULL: the legacy one. */
static const void *known_as(const lk_gpu *gpu, const lk_stream *stream)
{
    bool is_legacy = stream && stream->is_default && stream->dev == gpu->device->async->stream_legacy(gpu->device);
    return is_legacy ? NULL : stream;
}

/* What is enqueued in it now becomes a node, and runs when the graph is launched. */
static bool is_captured(const lk_gpu *gpu, const lk_stream *stream)
{
    enum capture_status status = CAPTURE_NONE;
    if (stream) gpu->device->async->capture_status(stream->dev, &status, &(u64){ 0 }, &(struct error){ 0 });
    return status != CAPTURE_NONE;
}

/* name: room for that of a kernel. false: it is nothing that the timeline has. */
static bool task_read(const struct device *d, const struct dev_task *task, char name[1000], struct timeline_op *op)
{
    switch (task->kind) {
    case OP_LAUNCH:
        op->kind = TIME_LAUNCH;
        snprintf(name, 1000, "%.*s", (int)task->launch.kernel->name.n, task->launch.kernel->name.p);
        op->kernel = name;
        memcpy(op->grid, task->launch.grid, sizeof op->grid);
        memcpy(op->block, task->launch.block, sizeof op->block);
        return true;
    case OP_COPY: copy_read(d, &task->copy, op); return true;
    case OP_FILL:
        op->kind = TIME_FILL;
        op->bytes = task->fill.width * task->fill.bytes * task->fill.rows * MAX_OF(task->fill.slices, 1u);
        return true;
    case OP_HOST:
    case OP_LIBRARY: op->kind = TIME_HOST; return true;
    default: return false;
    }
}

void host_note_task(lk_gpu *gpu, const lk_stream *stream, const struct dev_task *task)
{
    const struct device *d = gpu->device;
    struct timeline_op op = { .site = task->site, .waits = stream == NULL, .apart = stream && stream->is_apart };
    char name[1000];
    if (!d->counts || is_captured(gpu, stream) || !task_read(d, task, name, &op)) return;
    timeline_note(d->counts, op, known_as(gpu, stream), NULL);
}

struct noting { /* the nodes of a graph */
    const struct device *device;
    struct arena mem;
    struct timeline_op *op;
    u32 n;
};
static void note_step(void *self, const struct graph_step *s, const struct dev_task *task)
{
    struct noting *x = self;
    if (!x->op) x->op = NEW_ARRAY(&x->mem, struct timeline_op, s->nodes);
    struct timeline_op *op = &x->op[x->n++];
    char name[1000];
    *op = (struct timeline_op){ .kind = TIME_EMPTY, .afters = s->deps };
    if (task) {
        task_read(x->device, task, name, op);
        op->site = task->site;
        op->pageable = false; /* what is copied lies in the graph, or is pinned */
    }
    if (op->kernel) op->kernel = arena_str(&x->mem, str_of(name));
    if (!s->deps) return;
    u32 *after = NEW_ARRAY(&x->mem, u32, s->deps);
    memcpy(after, s->from, s->deps * sizeof *after);
    op->after = after;
}

void host_note_graph(lk_gpu *gpu, const lk_stream *stream, struct dev_exec *exec)
{
    struct noting x = { .device = gpu->device };
    if (!gpu->device->counts || is_captured(gpu, stream)) return;
    dev_exec_steps(exec, note_step, &x);
    struct timeline_op op = { .kind = TIME_GRAPH, .site = host_site(NULL), .apart = stream->is_apart };
    timeline_note_graph(gpu->device->counts, op, x.op, x.n, known_as(gpu, stream));
    arena_free(&x.mem);
}

void host_note_bytes(lk_gpu *gpu, bool to_device, const void *host, u64 bytes)
{
    if (!gpu->device->counts || !bytes) return;
    struct timeline_op op = { .kind = to_device ? TIME_TO_DEVICE : TIME_FROM_DEVICE,
                              .bytes = bytes,
                              .waits = true,
                              .pageable = !is_pinned(gpu->device, host),
                              .site = host_site(NULL) };
    timeline_note(gpu->device->counts, op, NULL, NULL);
}

void host_note_wait(lk_gpu *gpu, enum host_wait what, const lk_stream *stream, const lk_event *event)
{
    static const enum timeline_kind kind[] = { TIME_SYNC, TIME_SYNC_STREAM, TIME_SYNC_EVENT, TIME_RECORD, TIME_WAIT };
    if (!gpu->device->counts || is_captured(gpu, stream)) return;
    struct timeline_op op = { .kind = kind[what],
                              .waits = what <= HOST_WAITS_EVENT,
                              .apart = stream && stream->is_apart,
                              .site = host_site(NULL) };
    timeline_note(gpu->device->counts, op, known_as(gpu, stream), event);
}

void host_note_shared(lk_gpu *gpu)
{
    if (gpu->device->counts) timeline_shares(gpu->device->counts);
}
