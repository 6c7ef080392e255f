/* The asynchronous work of the software GPU: a task becomes an operation of op.h, which orders and runs it.
 *
 * A copy from memory of the host that is neither pinned nor managed takes the bytes in the call, and one to such memory
 * ends in the call, as CUDA has it. In a capture, and as a node of a graph, they are read and written when the graph
 * runs. */
#include "device/dev_sim_async.h"
#include "mem/shadow.h"
#include "mem/texels.h"

static u32 enqueue(struct dev_stream *st, struct dev_task *t, struct error *e)
{
    struct device *d = device_of_stream(st);
    note_touches(d);
    bool captured = capture_status(stream_in(st), NULL) != CAPTURE_NONE;
    u32 status = t->kind == OP_ALLOC && !captured ? capture_unsafe_call(work_streams(d)) : OP_OK;
    if (status) return work_status(d, status, e);
    struct body *b = sim_body_new(d, t, captured ? 0 : stream_id(stream_in(st)), &status, e);
    if (!b) return work_status(d, status, e);
    bool copy = t->kind == OP_COPY && b->copy.width && !captured, wait = copy && !b->copy.to.object;
    if (copy && !wait && !b->copy.from.object && !sim_body_stage(b, e)) {
        sim_body_drop(b);
        return OP_OUT_OF_MEMORY;
    }
    struct op_spec spec = sim_body_spec(b);
    struct op *op = NULL;
    if (!captured) b->managed = note_queued(d, t, &b->copy, stream_id(stream_in(st)));
    b->enqueued = __atomic_add_fetch(&d->work->enqueued, 1, __ATOMIC_ACQ_REL);
    status = op_enqueue(stream_in(st), &spec, wait ? &op : NULL);
    if (status) sim_body_undo(b);
    if (op) {
        status = op_synchronise(op);
        op_release(op);
        note_waited(d);
    }
    return work_status(d, status, e);
}

u32 work_wait_task(struct device *d, struct dev_task *t, struct error *e)
{
    struct streams *s = work_streams(d);
    u32 status = OP_OUT_OF_MEMORY;
    struct body *b = s ? sim_body_new(d, t, stream_id(stream_legacy(s)), &status, e) : NULL;
    if (!b) return work_status(d, status, e);
    struct op_spec spec = sim_body_spec(b);
    struct op *op = NULL;
    status = op_enqueue(stream_legacy(s), &spec, &op);
    if (status) {
        sim_body_undo(b);
        return work_status(d, status, e);
    }
    status = op_synchronise(op);
    op_release(op);
    note_waited(d);
    return work_status(d, status, e);
}

enum dev_result work_wait_launch(struct device *d, const struct dev_launch *l, struct sim_result *r, struct error *e)
{
    struct streams *s = work_streams(d);
    struct dev_task t = { .kind = OP_LAUNCH, .launch = *l };
    u32 status;
    struct body *b = s ? sim_body_new(d, &t, 0, &status, e) : NULL;
    if (!b) return DEV_FAILED;
    enum dev_result came = DEV_FAILED;
    b->result = r;
    b->error = e;
    b->came = &came;
    struct op_spec spec = sim_body_spec(b);
    struct op *op = NULL;
    status = op_enqueue(stream_legacy(s), &spec, &op);
    if (status) {
        sim_body_undo(b);
        work_status(d, status, e);
        return DEV_FAILED;
    }
    op_synchronise(op);
    op_release(op);
    note_waited(d);
    stream_error_taken(stream_legacy(s)); /* its status was told by the result */
    return came;
}

bool work_texture_end(struct device *d, u64 handle, bool surface)
{
    enum { KEPT_FEW = 64 }; /* are kept without a look at what is in flight */
    struct streams *s = work_used(d);
    if (texture_kept() > KEPT_FEW) texture_settle(d->mem, s ? streams_oldest(s) : UINT64_MAX);
    return texture_remove(handle, surface, s ? streams_age(s) : 0);
}

/* ---- streams ---- */

static u32 sim_stream_new(struct device *d, u32 flags, s32 priority, struct dev_stream **out, struct error *e)
{
    struct streams *s = work_streams(d);
    struct stream *st = s ? stream_new(s, flags, priority) : NULL;
    note_unordered(d);
    *out = stream_out(st);
    return work_status(d, st ? OP_OK : OP_OUT_OF_MEMORY, e);
}

static u32 sim_stream_delete(struct dev_stream *st, struct error *e)
{
    struct device *d = device_of_stream(st);
    return work_status(d, stream_delete(stream_in(st)), e);
}

static void sim_stream_name(struct dev_stream *st, const char *name)
{
    stream_set_name(stream_in(st), work_site(work_tag(device_of_stream(st), name)));
}

static struct dev_stream *sim_stream_legacy(struct device *d)
{
    struct streams *s = work_streams(d);
    return s ? stream_out(stream_legacy(s)) : NULL;
}

static struct dev_stream *sim_stream_per_thread(struct device *d)
{
    struct streams *s = work_streams(d);
    note_unordered(d);
    return s ? stream_out(stream_per_thread(s)) : NULL;
}

static void **sim_stream_user(struct dev_stream *st) { return stream_user(stream_in(st)); }

static u32 sim_stream_query(struct dev_stream *st, struct error *e)
{
    struct device *d = device_of_stream(st);
    note_touches(d);
    u32 status = stream_query(stream_in(st));
    note_waited(d);
    return work_status(d, status, e);
}

static u32 sim_stream_synchronise(struct dev_stream *st, struct error *e)
{
    struct device *d = device_of_stream(st);
    note_waits(d);
    u32 status = stream_synchronise(stream_in(st));
    note_waited(d);
    sim_pools_synchronised(d);
    return work_status(d, status, e);
}

static u32 sim_stream_reach(struct dev_stream *st, struct error *e)
{
    struct device *d = device_of_stream(st);
    if (capture_status(stream_in(st), NULL) != CAPTURE_NONE) return work_status(d, OP_CAPTURE_UNSUPPORTED, e);
    struct op *op = NULL;
    u32 status = op_enqueue(stream_in(st), &(struct op_spec){ .kind = OP_EMPTY }, &op);
    if (op) {
        status = op_await(op);
        op_release(op);
    }
    return work_status(d, status, e);
}

/* In a capture the stream is not asked, which would break it; what waits is this operation only. */
static u32 sim_perform(struct device *d, struct dev_task *t, struct error *e)
{
    struct streams *s = work_streams(d);
    if (!s) return work_status(d, OP_OUT_OF_MEMORY, e);
    if (streams_capture(s)) return work_wait_task(d, t, e);
    u32 status = enqueue(stream_out(stream_legacy(s)), t, e);
    return status ? status : sim_stream_synchronise(stream_out(stream_legacy(s)), e);
}

static u32 sim_synchronise(struct device *d, struct error *e)
{
    struct streams *s = work_used(d);
    note_waits(d);
    u32 status = s ? streams_synchronise(s) : OP_OK;
    note_waited(d);
    sim_pools_synchronised(d);
    return work_status(d, status, e);
}

/* ---- values ---- */

static u32 define_value(struct op *op, void *of)
{
    struct body *b = of;
    u64 bytes = b->fill.width;
    note_fill(b->device, op, &b->fill);
    struct mem_object *o = b->fill.to.object;
    mem_unseen_in(o);
    shadow_define(mem_shadow(b->device->mem), b->fill.to.address, bytes);
    __atomic_store_n(&o->given, true, __ATOMIC_RELAXED);
    return OP_OK;
}

u32 sim_value_read(struct device *d, struct op_spec *spec, u64 address, const char *site, struct error *e)
{
    if (spec->bits != 32 && spec->bits != 64) {
        error_set(e, ERR_INPUT, "a value has 32 or 64 bits, not %u", spec->bits);
        return OP_INVALID_VALUE;
    }
    if (address % (spec->bits / 8)) {
        error_set(e, ERR_INPUT, "a value of %u bits needs an address that is a multiple of %u", spec->bits,
                  spec->bits / 8);
        return OP_INVALID_VALUE;
    }
    const struct mem_object *o = dev_range(d, address, spec->bits / 8, e);
    if (!o) return OP_INVALID_VALUE;
    if (o->kind == MEM_MANAGED) {
        error_set(e, ERR_INPUT, "a value cannot be in managed memory, as %s is: a GPU refuses it, too", o->name);
        return OP_INVALID_VALUE;
    }
    spec->address = mem_view(o, address);
    spec->tag = work_tag(d, site);
    if (spec->kind == OP_VALUE_WRITE) {
        note_signalled(d);
        struct dev_task t = { .kind = OP_FILL, .fill = { address, 0, 4, spec->bits / 32, 1, 0, 0, 0 }, .site = site };
        u32 status;
        struct body *b = sim_body_new(d, &t, 0, &status, e);
        if (!b) return work_status(d, status, e);
        spec->run = define_value;
        spec->data = b;
        spec->drop = sim_body_drop;
    }
    return OP_OK;
}

static u32 value_op(struct dev_stream *st, struct op_spec *spec, u64 address, const char *site, struct error *e)
{
    struct device *d = device_of_stream(st);
    u32 status = sim_value_read(d, spec, address, site, e);
    if (status) return status;
    status = op_enqueue(stream_in(st), spec, NULL);
    if (status && spec->data) sim_body_drop(spec->data);
    return work_status(d, status, e);
}

static u32 sim_value_wait(struct dev_stream *st, u64 address, u32 bits, u64 value, enum op_compare c, const char *site,
                          struct error *e)
{
    struct op_spec spec = { .kind = OP_VALUE_WAIT, .bits = (u8)MIN_OF(bits, 255u), .compare = (u8)c, .value = value };
    return value_op(st, &spec, address, site, e);
}

static u32 sim_value_write(struct dev_stream *st, u64 address, u32 bits, u64 value, const char *site, struct error *e)
{
    struct op_spec spec = { .kind = OP_VALUE_WRITE, .bits = (u8)MIN_OF(bits, 255u), .value = value };
    return value_op(st, &spec, address, site, e);
}

/* ---- events ---- */

static u32 sim_event_new(struct device *d, u32 flags, struct dev_event **out, struct error *e)
{
    struct streams *s = work_streams(d);
    *out = (struct dev_event *)(s ? event_new(s, flags) : NULL);
    return work_status(d, *out ? OP_OK : OP_OUT_OF_MEMORY, e);
}

static void sim_event_delete(struct dev_event *ev) { event_delete(event_in(ev)); }

static u32 sim_event_record(struct dev_event *ev, struct dev_stream *st, bool external, const char *site,
                            struct error *e)
{
    struct device *d = device_of_stream(st);
    u64 tag = work_tag(d, site);
    return work_status(d,
                       external ? event_record_external(event_in(ev), stream_in(st), tag)
                                : event_record(event_in(ev), stream_in(st), tag),
                       e);
}

static u32 sim_event_wait(struct dev_stream *st, struct dev_event *ev, bool external, const char *site, struct error *e)
{
    struct device *d = device_of_stream(st);
    u64 tag = work_tag(d, site);
    return work_status(d,
                       external ? event_wait_external(stream_in(st), event_in(ev), tag)
                                : event_wait(stream_in(st), event_in(ev), tag),
                       e);
}

static u32 sim_event_query(struct dev_event *ev, struct error *e)
{
    struct device *d = device_of_event(ev);
    note_touches(d);
    u32 status = event_query(event_in(ev));
    note_waited(d);
    return work_status(d, status, e);
}

static u32 sim_event_synchronise(struct dev_event *ev, struct error *e)
{
    struct device *d = device_of_event(ev);
    note_waits(d);
    u32 status = event_synchronise(event_in(ev));
    note_waited(d);
    sim_pools_synchronised(d);
    return work_status(d, status, e);
}

static u32 sim_event_elapsed(struct dev_event *from, struct dev_event *to, double *ms, struct error *e)
{
    return work_status(device_of_event(from), event_elapsed(event_in(from), event_in(to), ms), e);
}

const struct dev_async_ops dev_sim_async = {
    .stream_new = sim_stream_new,
    .stream_delete = sim_stream_delete,
    .stream_name = sim_stream_name,
    .stream_legacy = sim_stream_legacy,
    .stream_per_thread = sim_stream_per_thread,
    .stream_user = sim_stream_user,
    .stream_query = sim_stream_query,
    .stream_synchronise = sim_stream_synchronise,
    .perform = sim_perform,
    .synchronise = sim_synchronise,
    .enqueue = enqueue,
    .stream_reach = sim_stream_reach,
    .value_wait = sim_value_wait,
    .value_write = sim_value_write,
    .event_new = sim_event_new,
    .event_delete = sim_event_delete,
    .event_record = sim_event_record,
    .event_wait = sim_event_wait,
    .event_query = sim_event_query,
    .event_synchronise = sim_event_synchronise,
    .event_elapsed = sim_event_elapsed,
    .capture_begin = sim_capture_begin,
    .capture_end = sim_capture_end,
    .capture_status = sim_capture_status,
    .graph_new = sim_graph_new,
    .graph_delete = sim_graph_delete,
    .graph_add = sim_graph_add,
    .graph_add_event = sim_graph_add_event,
    .graph_add_child = sim_graph_add_child,
    .graph_edge = sim_graph_edge,
    .graph_nodes = sim_graph_nodes,
    .graph_instantiate = sim_graph_instantiate,
    .exec_delete = sim_exec_delete,
    .exec_update = sim_exec_update,
    .exec_set = sim_exec_set,
    .exec_launch = sim_exec_launch,
    .pool_new = sim_pool_new,
    .pool_delete = sim_pool_delete,
    .pool_trim = sim_pool_trim,
    .pool_threshold = sim_pool_threshold,
};
