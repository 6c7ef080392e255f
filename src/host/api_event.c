/* Events of the public interface. */
#include "host/host_timeline.h"

static const struct dev_async_ops *ops_of(const lk_event *event) { return event->handle.gpu->device->async; }

lk_status lk_event_create(lk_gpu *gpu, uint32_t flags, lk_event **event)
{
    if (!gpu || !event) return HOST_MISSING(gpu, gpu ? "place for the event" : "gpu");
    *event = NULL;
    if (flags & ~(u32)(LK_EVENT_BLOCKING_SYNC | LK_EVENT_NO_TIMING))
        return host_refuse(gpu, "an event has no flags 0x%x", flags);
    struct error *e = host_begin(gpu);
    lk_event *ev = base_alloc(sizeof *ev);
    if (!ev) {
        error_set(e, ERR_MEMORY, "out of memory");
        return host_failed(gpu);
    }
    u32 status = gpu->device->async->event_new(gpu->device, flags, &ev->dev, e);
    if (status) {
        base_free(ev);
        return host_done(gpu, status);
    }
    handle_add(&ev->handle, gpu, HANDLE_EVENT);
    *event = ev;
    return LK_OK;
}

void lk_event_destroy(lk_event *event)
{
    if (!event) return;
    handle_remove(&event->handle);
    ops_of(event)->event_delete(event->dev);
    base_free(event);
}

static lk_status record(lk_event *event, lk_stream *stream, bool external, const char *function)
{
    if (!event || !stream)
        return host_missing_in(event ? event->handle.gpu : NULL, function, event ? "stream" : "event");
    lk_gpu *gpu = event->handle.gpu;
    if (stream->handle.gpu != gpu) return host_refuse(gpu, "the event and the stream belong to different gpus");
    host_note_wait(gpu, HOST_RECORDS, stream, event);
    return host_done(gpu,
                     ops_of(event)->event_record(event->dev, stream->dev, external, host_site(NULL), host_begin(gpu)));
}

lk_status lk_event_record(lk_event *event, lk_stream *stream) { return record(event, stream, false, __func__); }

lk_status lk_event_record_external(lk_event *event, lk_stream *stream) { return record(event, stream, true, __func__); }

lk_status lk_event_query(lk_event *event)
{
    if (!event) return HOST_MISSING(NULL, "event");
    lk_gpu *gpu = event->handle.gpu;
    return host_done(gpu, ops_of(event)->event_query(event->dev, host_begin(gpu)));
}

lk_status lk_event_synchronise(lk_event *event)
{
    if (!event) return HOST_MISSING(NULL, "event");
    lk_gpu *gpu = event->handle.gpu;
    host_note_wait(gpu, HOST_WAITS_EVENT, NULL, event);
    return host_done(gpu, ops_of(event)->event_synchronise(event->dev, host_begin(gpu)));
}

lk_status lk_event_elapsed(lk_event *from, lk_event *to, double *milliseconds)
{
    if (!from || !to || !milliseconds)
        return HOST_MISSING(from ? from->handle.gpu : NULL, from && to ? "place for the time" : "event");
    lk_gpu *gpu = from->handle.gpu;
    *milliseconds = 0;
    if (to->handle.gpu != gpu) return host_refuse(gpu, "the two events belong to different gpus");
    return host_done(gpu, ops_of(from)->event_elapsed(from->dev, to->dev, milliseconds, host_begin(gpu)));
}
