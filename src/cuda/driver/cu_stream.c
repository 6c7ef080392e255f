/* Streams, events and host functions. */
#include "driver/cu_check.h"
#include "driver/cu_engine.h"
#include "driver/cu_reason.h"
#include "driver/cu_stream.h"
#include "driver/cu_mem.h"

struct cu_event {
    struct cu_device *device;
    lk_event *event;
    struct cu_clock_mark mark; /* its last record */
};
enum { STREAM_LEGACY_HANDLE = 1, STREAM_THREAD_HANDLE = 2 };

/* What stream 0 stands for. */
static uintptr_t default_handle(void) { return cu_call_per_thread() ? STREAM_THREAD_HANDLE : STREAM_LEGACY_HANDLE; }

cu_result cu_stream_of(struct cu_context *c, void *handle, lk_stream **out)
{
    uintptr_t h = (uintptr_t)handle;
    struct cu_stream *s = handle;
    if (!h) h = default_handle();
    if (h == STREAM_LEGACY_HANDLE)
        *out = lk_stream_legacy(c->device->gpu);
    else if (h == STREAM_THREAD_HANDLE)
        *out = lk_stream_per_thread(c->device->gpu);
    else if (!cu_handle_is(s, CU_STREAM)) {
        cu_wrong_handle("h:hStream", 0, s, CU_STREAM);
        return CU_INVALID_HANDLE;
    } else
        *out = s->stream;
    return *out ? CU_OK : CU_OUT_OF_MEMORY;
}

cu_result cu_current_for(void *handle, struct cu_context **out)
{
    cu_result r = cu_current(out);
    struct cu_stream *s = handle;
    if (r != CU_INVALID_CONTEXT || !cu_handle_is(s, CU_STREAM)) return r;
    *out = s->context;
    return cu_context_lives(*out) ? cu_sticky((*out)->device->gpu) : CU_CONTEXT_DESTROYED;
}

/* The gpu that errors of a stream are kept with. */
static lk_gpu *gpu_of(const lk_stream *s) { return s->handle.gpu; }

/* The beginning of every call that takes a stream. */
static cu_result enter(void *handle, struct cu_context **c, lk_stream **st)
{
    cu_result r = cu_current_for(handle, c);
    return r ? r : cu_stream_of(*c, handle, st);
}

/* ---- streams ---- */

CU_DEFINE(cuStreamCreateWithPriority, struct cu_stream **, out, unsigned, flags, int, priority)
{
    static u64 ids = 2;
    struct cu_context *c = here.context;
    struct cu_stream *s = cu_handle_new(CU_STREAM, sizeof *s);
    if (!s) return CU_OUT_OF_MEMORY;
    *s = (struct cu_stream){ .device = c->device,
                             .context = c,
                             .flags = flags,
                             .priority = MIN_OF(MAX_OF(priority, -5), 0),
                             .id = __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED) };
    cu_result r = cu_status(c->device->gpu, lk_stream_create(c->device->gpu, flags, priority, &s->stream));
    if (r)
        cu_handle_end(s);
    else
        *out = cu_handle_open(s);
    return r;
}
CU_API(cuStreamCreate)(struct cu_stream **out, unsigned flags)
{
    return lkcu_cuStreamCreateWithPriority(out, flags, 0);
}

static cu_result stream_end(void *handle)
{
    struct cu_stream *s = handle;
    cu_result r = cu_status(s->device->gpu, lk_stream_destroy(s->stream));
    base_free(s->attributes);
    return r;
}
CU_DEFINE(cuStreamDestroy_v2, struct cu_stream *, s)
{
    return cu_handle_take(s, CU_STREAM) ? cu_handle_drop(s, stream_end) : CU_INVALID_HANDLE;
}
CU_API(cuStreamDestroy)(struct cu_stream *s) { return lkcu_cuStreamDestroy_v2(s); }

CU_DEFINE(cuStreamSynchronize, void *, s) { return cu_status(gpu_of(here.stream), lk_stream_synchronise(here.stream)); }
CU_DEFINE(cuStreamQuery, void *, s) { return cu_status(gpu_of(here.stream), lk_stream_query(here.stream)); }

static cu_result stream_fact(const struct cu_context *c, void *handle, int which, void *out)
{
    const struct cu_stream *s = cu_handle_is(handle, CU_STREAM) ? handle : NULL;
    uintptr_t h = handle ? (uintptr_t)handle : default_handle();
    switch (which) {
    case 0: *(unsigned *)out = s ? s->flags : 0; break;
    case 1: *(int *)out = s ? s->priority : 0; break;
    case 2: *(u64 *)out = s ? s->id : h; break;
    case 3: *(const struct cu_context **)out = s ? s->context : c; break;
    default: *(int *)out = (int)(s ? s->device : c->device)->ordinal; break;
    }
    return CU_OK;
}
CU_DEFINE(cuStreamGetFlags, void *, s, unsigned *, out) { return stream_fact(here.context, s, 0, out); }
CU_DEFINE(cuStreamGetPriority, void *, s, int *, out) { return stream_fact(here.context, s, 1, out); }
CU_DEFINE(cuStreamGetId, void *, s, u64 *, out) { return stream_fact(here.context, s, 2, out); }
CU_DEFINE(cuStreamGetCtx, void *, s, struct cu_context **, out) { return stream_fact(here.context, s, 3, out); }
/* A stream of a green context has none of these, and there are no green contexts. */
CU_DEFINE(cuStreamGetCtx_v2, void *, s, struct cu_context **, out, void **, green)
{
    if (cu_ok(green)) *green = NULL;
    return stream_fact(here.context, s, 3, out);
}
CU_DEFINE(cuStreamGetGreenCtx, void *, s, void **, green)
{
    *green = NULL;
    return CU_OK;
}
CU_DEFINE(cuStreamGetDevice, void *, s, int *, out) { return stream_fact(here.context, s, 4, out); }

CU_DEFINE(cuStreamWaitEvent, void *, handle, struct cu_event *, e, unsigned, flags)
{
    cu_engine->cu_clock_record(&e->mark, here.stream);
    return cu_status(gpu_of(here.stream), (flags ? lk_stream_wait_external : lk_stream_wait)(here.stream, e->event));
}

static cu_result host_call(void *handle, void (*f)(void *), void *self)
{
    struct cu_context *c;
    lk_stream *st;
    cu_result r = enter(handle, &c, &st);
    if (r) return r;
    bool calls = bytes_readable((const void *)(uintptr_t)f, 1);
    return calls ? cu_status(gpu_of(st), lk_host_call(st, f, self)) : CU_INVALID_VALUE;
}
CU_API(cuLaunchHostFunc)(void *s, void (*f)(void *), void *self) { return host_call(s, f, self); }

/* The older kind of host function also gets the stream and its state. */
struct callback {
    void (*call)(void *stream, cu_result status, void *self);
    void *stream, *self;
};
static void callback_run(void *of)
{
    struct callback x = *(struct callback *)of;
    base_free(of);
    x.call(x.stream, CU_OK, x.self);
}
CU_API(cuStreamAddCallback)(void *handle, void (*f)(void *, cu_result, void *), void *self, unsigned flags)
{
    if (!bytes_readable((const void *)(uintptr_t)f, 1) || flags) return CU_INVALID_VALUE;
    struct callback *x = base_alloc(sizeof *x);
    if (!cu_ok(x)) return CU_OUT_OF_MEMORY;
    *x = (struct callback){ f, handle, self };
    cu_result r = host_call(handle, callback_run, x);
    if (r) base_free(x);
    return r;
}

enum { WAIT_FLUSH = 1 << 30 }; /* of CUstreamWaitValue_flags; flags of a write are refused by an H200, too */

cu_result cu_value_op(void *handle, u64 address, u64 value, unsigned flags, u32 bits, bool write)
{
    struct cu_context *c;
    lk_stream *st;
    cu_result r = enter(handle, &c, &st);
    if (r) return r;
    if (!address || address % (bits / 8) || flags & ~(write ? 0u : 3u | WAIT_FLUSH)) return CU_INVALID_VALUE;
    if (!write && flags & WAIT_FLUSH) { /* CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES is 0 */
        cu_refused("cuStreamWaitValue with CU_STREAM_WAIT_VALUE_FLUSH");
        return CU_NOT_SUPPORTED;
    }
    if (write) return cu_status(gpu_of(st), lk_stream_write_value(st, address, bits, value));
    static const lk_compare compare[] = { LK_COMPARE_GEQ, LK_COMPARE_EQ, LK_COMPARE_AND, LK_COMPARE_NOR };
    return cu_status(gpu_of(st), lk_stream_wait_value(st, address, bits, value, compare[flags & 3]));
}
#define VALUE_OPS(suffix)                                                   \
    CU_API(cuStreamWaitValue32##suffix)(void *s, u64 a, u32 v, unsigned f)  \
    {                                                                       \
        return cu_value_op(s, a, v, f, 32, false);                          \
    }                                                                       \
    CU_API(cuStreamWaitValue64##suffix)(void *s, u64 a, u64 v, unsigned f)  \
    {                                                                       \
        return cu_value_op(s, a, v, f, 64, false);                          \
    }                                                                       \
    CU_API(cuStreamWriteValue32##suffix)(void *s, u64 a, u32 v, unsigned f) \
    {                                                                       \
        return cu_value_op(s, a, v, f, 32, true);                           \
    }                                                                       \
    CU_API(cuStreamWriteValue64##suffix)(void *s, u64 a, u64 v, unsigned f) \
    {                                                                       \
        return cu_value_op(s, a, v, f, 64, true);                           \
    }
VALUE_OPS()
VALUE_OPS(_v2)

/* ---- events ---- */

lk_event *cu_event_of(void *handle)
{
    struct cu_event *e = handle;
    return cu_handle_is(e, CU_EVENT) ? e->event : NULL;
}

CU_DEFINE(cuEventCreate, struct cu_event **, out, unsigned, flags)
{
    if ((flags & 6) == 4) return CU_INVALID_VALUE; /* an event between processes has no times */
    if (flags & 4) {
        cu_refused("cuEventCreate with CU_EVENT_INTERPROCESS");
        return CU_NOT_SUPPORTED;
    }
    struct cu_event *e = cu_handle_new(CU_EVENT, sizeof *e);
    if (!e) return CU_OUT_OF_MEMORY;
    e->device = here.context->device;
    cu_result r = cu_status(here.context->device->gpu, lk_event_create(here.context->device->gpu, flags, &e->event));
    if (r)
        cu_handle_end(e);
    else
        *out = cu_handle_open(e);
    return r;
}

static cu_result event_end(void *handle)
{
    struct cu_event *e = handle;
    lk_gpu *gpu = e->event->handle.gpu;
    lk_event_destroy(e->event);
    return cu_sticky(gpu);
}
CU_DEFINE(cuEventDestroy_v2, struct cu_event *, e)
{
    return cu_handle_take(e, CU_EVENT) ? cu_handle_drop(e, event_end) : CU_INVALID_HANDLE;
}
CU_API(cuEventDestroy)(struct cu_event *e) { return lkcu_cuEventDestroy_v2(e); }

CU_DEFINE(cuEventRecord, struct cu_event *, e, void *, s)
{
    cu_engine->cu_clock_record(&e->mark, here.stream);
    return cu_status(gpu_of(here.stream), lk_event_record(e->event, here.stream));
}
CU_DEFINE(cuEventRecordWithFlags, struct cu_event *, e, void *, s, unsigned, f)
{
    cu_engine->cu_clock_record(&e->mark, here.stream);
    return cu_status(gpu_of(here.stream), (f ? lk_event_record_external : lk_event_record)(e->event, here.stream));
}

/* Of a context, which has all streams of its device. */
static cu_result context_event(struct cu_context *c, struct cu_event *e, u32 (*act)(struct event *e, u64 tag))
{
    if (!cu_context_lives(c)) return CU_INVALID_CONTEXT;
    if (!cu_handle_is(e, CU_EVENT) || e->device != c->device) return CU_INVALID_HANDLE;
    return (cu_result)act((struct event *)e->event->dev, 0);
}
CU_DEFINE(cuCtxRecordEvent, struct cu_context *, c, struct cu_event *, e)
{
    return context_event(c, e, event_record_all);
}
CU_DEFINE(cuCtxWaitEvent, struct cu_context *, c, struct cu_event *, e) { return context_event(c, e, event_wait_all); }

CU_DEFINE(cuEventQuery, struct cu_event *, e) { return cu_status(e->device->gpu, lk_event_query(e->event)); }
CU_DEFINE(cuEventSynchronize, struct cu_event *, e)
{
    return cu_status(e->device->gpu, lk_event_synchronise(e->event));
}

CU_DEFINE(cuEventElapsedTime, float *, ms, struct cu_event *, from, struct cu_event *, to)
{
    double x = 0;
    char cause[200];
    cu_result r = cu_status(from->device->gpu, lk_event_elapsed(from->event, to->event, &x));
    if (r == CU_NOT_READY)
        cu_reason("an event is not complete yet, since nothing has waited for it: no time was written",
                  "Call cudaEventSynchronize with the second event before cudaEventElapsedTime.", false);
    if (r == CU_INVALID_HANDLE && (!from->mark.recorded || !to->mark.recorded)) {
        snprintf(cause, sizeof cause, "%s was never recorded in a stream.",
                 from->mark.recorded ? "hEnd"
                 : to->mark.recorded ? "hStart"
                                     : "hStart and hEnd");
        cu_reason(cause, "Record both events in a stream, before and after the work, and wait for the second.", false);
    } else if (r == CU_INVALID_HANDLE) {
        cu_reason("One of the events was made without times (CU_EVENT_DISABLE_TIMING), or belongs to another device.",
                  "Make both events on the device of their stream, without cudaEventDisableTiming.", false);
    }
    if (r) return r;
    *ms = (float)x;
    cu_engine->cu_clock_elapsed(&from->mark, &to->mark);
    return CU_OK;
}
CU_API(cuEventElapsedTime_v2)(float *ms, struct cu_event *from, struct cu_event *to)
{
    return lkcu_cuEventElapsedTime(ms, from, to);
}
