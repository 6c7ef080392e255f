/* What is enqueued on a gpu whose launches are counted is noted for its timeline (count/timeline.h). */
#include "host/host_timeline.h"
#include "count/timeline.h"

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

void host_note_task(lk_gpu *gpu, const lk_stream *stream, const struct dev_task *task)
{
    const struct device *d = gpu->device;
    struct timeline_op op = { .site = task->site, .waits = stream == NULL };
    if (!d->counts) return;
    char name[1000];
    switch (task->kind) {
    case OP_LAUNCH:
        op.kind = TIME_LAUNCH;
        snprintf(name, sizeof name, "%.*s", (int)task->launch.kernel->name.n, task->launch.kernel->name.p);
        op.kernel = name;
        memcpy(op.grid, task->launch.grid, sizeof op.grid);
        memcpy(op.block, task->launch.block, sizeof op.block);
        break;
    case OP_COPY: copy_read(d, &task->copy, &op); break;
    case OP_FILL:
        op.kind = TIME_FILL;
        op.bytes = task->fill.width * task->fill.bytes * task->fill.rows * MAX_OF(task->fill.slices, 1u);
        break;
    case OP_HOST: op.kind = TIME_HOST; break;
    default: return;
    }
    timeline_note(d->counts, op, stream && !stream->is_default ? stream : NULL, NULL);
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
    if (!gpu->device->counts) return;
    struct timeline_op op = { .kind = kind[what], .waits = what <= HOST_WAITS_EVENT, .site = host_site(NULL) };
    timeline_note(gpu->device->counts, op, stream && !stream->is_default ? stream : NULL, event);
}

void host_note_shared(lk_gpu *gpu)
{
    if (gpu->device->counts) timeline_shares(gpu->device->counts);
}
