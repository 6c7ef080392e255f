/* Events of the public interface. */
#include "api/host_timeline.h"

static const struct dev_async_ops *ops_of(const lk_event *event) { return event->handle.gpu->device->async; }

lk_status lk_event_create(lk_gpu *gpu, uint32_t flags, lk_event **event)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!event) return HOST_MISSING(gpu, "place for the event");
    *event = NULL;
    if (flags & ~(u32)(LK_EVENT_BLOCKING_SYNC | LK_EVENT_NO_TIMING))
        return host_refuse(gpu, "an event has no flags 0x%x", flags);
    struct error *e = host_begin(gpu);
    lk_event *ev = handle_new(sizeof *ev);
    if (!ev) {
        error_set(e, ERR_MEMORY, "out of memory");
        return host_failed(gpu);
    }
    u32 status = gpu->device->async->event_new(gpu->device, flags, &ev->dev, e);
    if (status) {
        handle_free(ev, sizeof *ev);
        return host_done(gpu, status);
    }
    handle_add(&ev->handle, gpu, HANDLE_EVENT);
    *event = ev;
    return LK_OK;
}

u32 host_event_ended(struct handle *h)
{
    lk_event *event = (lk_event *)h;
    handle_remove(h);
    ops_of(event)->event_delete(event->dev);
    handle_free(event, sizeof *event);
    return 0;
}

lk_status lk_event_destroy(lk_event *event)
{
    HOST_CALL(LK_BAD_INPUT, USE_IF(EVENT, event));
    u32 none;
    return !event || host_destroy(&call, &event->handle, __func__, &none) ? LK_OK : LK_BAD_INPUT;
}

static lk_status record(lk_event *event, lk_stream *stream, bool external)
{
    lk_gpu *gpu = event->handle.gpu;
    if (stream->handle.gpu != gpu) return host_refuse(gpu, "the event and the stream belong to different gpus");
    host_note_wait(gpu, HOST_RECORDS, stream, event);
    return host_done(gpu,
                     ops_of(event)->event_record(event->dev, stream->dev, external, host_site(NULL), host_begin(gpu)));
}

lk_status lk_event_record(lk_event *event, lk_stream *stream)
{
    HOST_CALL(LK_BAD_INPUT, USE(EVENT, event), USE(STREAM, stream));
    return record(event, stream, false);
}

lk_status lk_event_record_external(lk_event *event, lk_stream *stream)
{
    HOST_CALL(LK_BAD_INPUT, USE(EVENT, event), USE(STREAM, stream));
    return record(event, stream, true);
}

lk_status lk_event_query(lk_event *event)
{
    HOST_CALL(LK_BAD_INPUT, USE(EVENT, event));
    lk_gpu *gpu = event->handle.gpu;
    return host_done(gpu, ops_of(event)->event_query(event->dev, host_begin(gpu)));
}

lk_status lk_event_synchronise(lk_event *event)
{
    HOST_CALL(LK_BAD_INPUT, USE(EVENT, event));
    lk_gpu *gpu = event->handle.gpu;
    host_note_wait(gpu, HOST_WAITS_EVENT, NULL, event);
    return host_done(gpu, ops_of(event)->event_synchronise(event->dev, host_begin(gpu)));
}

lk_status lk_event_elapsed(lk_event *from, lk_event *to, double *milliseconds)
{
    HOST_CALL(LK_BAD_INPUT, USE(EVENT, from), USE(EVENT, to));
    if (!milliseconds) return HOST_MISSING(from->handle.gpu, "place for the time");
    lk_gpu *gpu = from->handle.gpu;
    *milliseconds = 0;
    if (to->handle.gpu != gpu) return host_refuse(gpu, "the two events belong to different gpus");
    return host_done(gpu, ops_of(from)->event_elapsed(from->dev, to->dev, milliseconds, host_begin(gpu)));
}
