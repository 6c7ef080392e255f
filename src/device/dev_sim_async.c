/* The asynchronous work of the software GPU: a task becomes an operation of op.h, which orders and runs it.
 *
 * A copy from memory of the host that is neither pinned nor managed takes the bytes in the call, and one to such memory
 * ends in the call, as CUDA has it. In a capture, and as a node of a graph, they are read and written when the graph
 * runs. */
#include "base/fault.h"
#include "device/dev_graph.h"
#include "device/dev_work.h"
#include "mem/shadow.h"
#include <inttypes.h>
#include "units/condition.h"

/* What an operation does, kept until it, or the last graph with it, is gone. */
struct body {
    struct device *device;
    struct dev_task task; /* what it points to lies behind this struct */
    union {
        struct dev_copy_plan copy;
        struct dev_fill_plan fill;
        struct {
            struct mem_object *object; /* that is allocated or freed */
            bool graph;                /* an allocation node owns it */
        };
    };
    void *staged; /* the source of a copy; NULL: none */
    u32 managed;  /* of tell_queued; 0: none */
    u32 enqueued; /* of a host function: operations that were enqueued up to it */
    bool spare;   /* one of those that are kept */
    /* of a synchronous launch: where its caller wants the result */
    struct sim_result *result;
    struct error *error;
    enum dev_result *came;
    u64 params[]; /* of a launch */
};

static struct stream *stream_in(struct dev_stream *st) { return (struct stream *)st; }
static struct dev_stream *stream_out(struct stream *st) { return (struct dev_stream *)st; }
static struct event *event_in(struct dev_event *ev) { return (struct event *)ev; }
static struct graph *graph_in(struct dev_graph *g) { return (struct graph *)g; }
static struct graph_node *node_in(struct dev_node *n) { return (struct graph_node *)n; }
static struct graph_exec *exec_in(struct dev_exec *x) { return (struct graph_exec *)x; }
static struct device *device_of(const struct streams *s) { return streams_self(s); }
static struct device *device_of_stream(struct dev_stream *st) { return device_of(stream_owner(stream_in(st))); }
static struct device *device_of_graph(struct dev_graph *g) { return device_of(graph_owner(graph_in(g))); }
static struct device *device_of_event(struct dev_event *ev) { return device_of(event_owner(event_in(ev))); }
static struct device *device_of_exec(struct dev_exec *x) { return device_of(graph_exec_owner(exec_in(x))); }

const struct dev_task *work_task(const struct op *op)
{
    const struct body *b = op_data(op);
    return b ? &b->task : NULL;
}

/* ---- bodies ---- */

enum { BODY_BYTES = 640 }; /* most have room in it, and go back and forth between who enqueues and who runs */

static struct body *body_take(struct device *d, u64 bytes)
{
    struct body *b = bytes <= BODY_BYTES ? spares_take(&d->work->bodies, BODY_BYTES) : base_alloc(bytes);
    if (!b) return NULL;
    bytes_clear(b, sizeof *b);
    b->device = d;
    b->spare = bytes <= BODY_BYTES;
    return b;
}

static void body_give(struct body *b) { b->spare ? spares_give(&b->device->work->bodies, b) : base_free(b); }

static void body_drop(void *of)
{
    struct body *b = of;
    tell_unqueued(b->device, &b->managed, NULL);
    if (b->task.kind == OP_ALLOC && b->graph) {
        graph_freed(work_used(b->device), (void *)(uintptr_t)b->object->base);
        sim_pool_graph_delete(b->device, b->object);
    }
    base_free(b->staged);
    body_give(b);
}

static u32 body_launch(struct op *op, void *of)
{
    struct body *b = of;
    struct error e;
    error_none(&e);
    enum dev_way way = run_way(b->device, &b->task.launch);
    if (way == DEV_LEFT_OUT) {
        if (b->came) *b->came = DEV_RAN;
        return OP_OK;
    }
    struct dev_run *r = base_alloc(sizeof *r);
    if (!r)
        error_set(&e, ERR_MEMORY, "no memory for a launch");
    else if (run_begin(r, b->device, &b->task.launch, way, false, &e)) {
        r->op = op;
        r->managed = b->managed;
        b->managed = 0;
        r->in.number = b->task.number;
        r->result = b->result;
        r->error = b->error;
        r->came = b->came;
        work_start(r);
        return OP_LATER;
    }
    base_free(r);
    if (b->error)
        *b->error = e;
    else
        work_failed(b->device, &e);
    if (b->came) *b->came = DEV_FAILED;
    return DEV_LAUNCH_FAILED;
}

static bool is_registered(const struct dev_side *s) { return s->object && s->object->kind == MEM_REGISTERED; }

/* Memory of the host that was there when the copy was enqueued, or when the node of a graph was made, may be gone when
 * it runs. Registered memory is the program's to unmap, too. */
static bool host_is_there(struct body *b, const struct dev_side *s, bool write)
{
    const struct dev_copy_plan *p = &b->copy;
    if ((s->device && !is_registered(s)) || !s->bytes || (!write && b->staged)) return true;
    for (u64 k = 0; k < p->slices; k++)
        for (u64 i = 0; i < p->rows; i++) {
            u64 n = pages_there(s->bytes + k * s->slice + i * s->pitch, p->width, write);
            if (n == p->width) continue;
            if (fault_program_handles()) return true;
            char cause[300];
            snprintf(cause, sizeof cause,
                     "When the copy runs, %" PRIu64 " of the %" PRIu64 " bytes%s that it %s are there: %s.", n,
                     p->width, p->rows * p->slices > 1 ? " of a row" : "", write ? "writes" : "reads",
                     is_registered(s) ? "the memory is registered, and was freed or unmapped meanwhile, without "
                                        "cudaHostUnregister"
                                      : "the memory was unmapped meanwhile, or never as large");
            struct finding f = { .kind = F_host_short, .cause_key = s->address, .call = b->task.site, .cause = cause };
            if (is_registered(s))
                f.fix =
                    "Unregister the memory (cudaHostUnregister) behind the last copy that uses it, and free it then. A "
                    "vector that grows frees what it had.";
            report_add(b->device->report, &f);
            return false;
        }
    return true;
}

static u32 body_copy(struct op *op, void *of)
{
    struct body *b = of;
    const struct dev_side *to = &b->copy.to, *from = &b->copy.from;
    if (!host_is_there(b, to, true))
        return is_registered(to) ? OP_OK : OP_INVALID_VALUE; /* a GPU has the pages still */
    if (!host_is_there(b, from, false)) return is_registered(from) ? OP_OK : OP_INVALID_VALUE;
    if (b->managed) tell_touches(b->device);
    tell_copy(b->device, op, &b->copy, b->staged != NULL);
    dev_copy_run(&b->copy);
    tell_copied(b->device, &b->copy);
    tell_unqueued(b->device, &b->managed, op);
    if (op_is_node(op)) tell_node_done(b->device, &b->copy, op);
    return OP_OK;
}

static u32 body_fill(struct op *op, void *of)
{
    struct body *b = of;
    tell_fill(b->device, op, &b->fill);
    dev_fill_run(&b->fill);
    return OP_OK;
}

static u32 body_alloc(struct op *op, void *of)
{
    struct body *b = of;
    if (b->graph && mem_is_live(b->object)) { /* GRAPH_AUTO_FREE: what the launch before left there goes first */
        tell_life(b->device, op, b->object, false);
        sim_pool_graph_rest(b->device, b->object, b->task.site);
    }
    tell_life(b->device, op, b->object, true);
    sim_pool_start(b->device, b->object);
    return OP_OK;
}

/* Memory of an allocation node is freed, and is not allocated. */
static u32 graph_free_found(struct body *b)
{
    dev_free_found(b->device, b->object->state == MEM_FREED, b->object->base, b->object, b->task.site);
    return OP_INVALID_VALUE;
}

static u32 body_free(struct op *op, void *of)
{
    struct body *b = of;
    if (b->graph && !mem_is_live(b->object)) return graph_free_found(b);
    tell_life(b->device, op, b->object, false);
    if (!b->graph)
        sim_pool_end(b->device, b->object, b->task.site);
    else if (!sim_pool_graph_rest(b->device, b->object, b->task.site))
        return graph_free_found(b);
    return OP_OK;
}

/* What the program enqueues behind a host function may be what it races with, and is watched only from then on: the
 * function gives the program a moment to go on, unless that waits. A program has a tenth of a second for all of them.
 */
static void host_hold_back(const struct body *b)
{
    enum { PAUSE_US = 20, PAUSES = 250, PAUSES_ALL = 5000 };
    static u32 spent; /* atomic */
    struct device *d = b->device;
    struct streams_census c;
    for (u32 k = 0; k < PAUSES && work_between(d) && !d->options.seeded; k++) {
        if (__atomic_load_n(&d->work->enqueued, __ATOMIC_ACQUIRE) != b->enqueued) return;
        streams_census(work_streams(d), &c);
        if (c.hosts || __atomic_add_fetch(&spent, 1, __ATOMIC_RELAXED) > PAUSES_ALL) return;
        thread_sleep_us(PAUSE_US);
    }
}

static u32 body_host(struct op *op, void *of)
{
    struct body *b = of;
    host_hold_back(b);
    tell_host_begin(b->device, op);
    b->task.host.call(b->task.host.self);
    tell_host_end(b->device);
    return OP_OK;
}

/* ---- a task as an operation ---- */

/* The bytes of a pageable source, taken now. */
static bool stage(struct body *b, struct error *e)
{
    struct dev_side *from = &b->copy.from;
    u64 bytes = (b->copy.slices - 1) * from->slice + (b->copy.rows - 1) * from->pitch + b->copy.width;
    b->staged = base_alloc(bytes);
    if (!b->staged) return error_set(e, ERR_MEMORY, "no memory for the source of a copy, %" PRIu64 " bytes", bytes);
    for (u64 z = 0; z < b->copy.slices; z++)
        for (u64 y = 0; y < b->copy.rows; y++) {
            u64 at = z * from->slice + y * from->pitch;
            memcpy((u8 *)b->staged + at, from->bytes + at, b->copy.width);
        }
    from->bytes = b->staged;
    return true;
}

/* The address of a stream-ordered allocation exists when the call returns. */
static u32 body_allocate(struct body *b, struct dev_task *t, u64 stream, struct error *e)
{
    struct device *d = b->device;
    bool wait = false;
    b->graph = !stream;
    u32 status = stream ? sim_pool_alloc(d, t->alloc.pool, t->alloc.bytes, stream, t->alloc.name, t->site, &b->object,
                                         &wait, e)
                        : sim_pool_graph_new(d, t->alloc.pool, t->alloc.bytes, t->alloc.name, t->site, &b->object, e);
    if (status && wait) { /* frees of other streams will make room */
        *e = (struct error){ 0 };
        streams_settle(work_streams(d));
        status = sim_pool_alloc(d, t->alloc.pool, t->alloc.bytes, stream, t->alloc.name, t->site, &b->object, NULL, e);
    }
    t->alloc.address = status ? 0 : b->object->base;
    return status;
}

static u32 body_release(struct body *b, const struct dev_task *t, u64 stream, struct error *e)
{
    b->object = mem_find(b->device->mem, t->free.address);
    b->graph = b->object && b->object->base == t->free.address && sim_pool_is_graph(b->object);
    if (b->graph && (!stream || graph_lives(work_streams(b->device), (void *)(uintptr_t)t->free.address))) return OP_OK;
    if (b->graph) {
        streams_settle(work_streams(b->device)); /* a free that is enqueued has run: the report is the same each time */
        b->task.site = t->site;
        error_set(e, ERR_INPUT, "%s is memory of a graph, and no launch of the graph has allocated it%s",
                  b->object->name, b->object->state == MEM_RESERVED ? "" : " since it was freed");
        return graph_free_found(b);
    }
    if (!stream) {
        error_set(e, ERR_INPUT, "0x%" PRIx64 " is no memory of an allocation node: a graph cannot free it",
                  t->free.address);
        return OP_INVALID_VALUE;
    }
    return sim_pool_free(b->device, t->free.address, stream, t->site, &b->object, e);
}

/* NULL: *status and e say why. stream: where it is enqueued, 0: it becomes a node. */
static struct body *body_new(struct device *d, struct dev_task *t, u64 stream, u32 *status, struct error *e)
{
    u64 params = t->kind == OP_LAUNCH ? t->launch.kernel->param_bytes : 0;
    struct body *b = body_take(d, sizeof *b + params + 8);
    if (!b) {
        error_set(e, ERR_MEMORY, "no memory for an operation");
        *status = OP_OUT_OF_MEMORY;
        return NULL;
    }
    *status = t->kind == OP_COPY    ? dev_copy_plan(d, &t->copy, &b->copy, e)
              : t->kind == OP_FILL  ? dev_fill_plan(d, &t->fill, &b->fill, e)
              : t->kind == OP_ALLOC ? body_allocate(b, t, stream, e)
              : t->kind == OP_FREE  ? body_release(b, t, stream, e)
                                    : (u32)OP_OK;
    if (*status) {
        body_give(b);
        return NULL;
    }
    b->task = *t;
    b->task.site = work_site(work_tag(d, t->site));
    if (t->kind != OP_LAUNCH) return b;
    b->task.launch.origin.stream = stream;
    b->task.launch.origin.site = b->task.site;
    if (params) memcpy(b->params, t->launch.params, params);
    b->task.launch.params = b->params;
    return b;
}

/* The operation was not enqueued. */
static void body_undo(struct body *b)
{
    if (b->task.kind == OP_ALLOC && !b->graph) sim_pool_end(b->device, b->object, b->task.site);
    body_drop(b);
}

static const struct {
    op_run *run;
} runs[OP_KINDS] = {
    [OP_LAUNCH] = { body_launch }, [OP_COPY] = { body_copy }, [OP_FILL] = { body_fill },
    [OP_ALLOC] = { body_alloc },   [OP_FREE] = { body_free }, [OP_HOST] = { body_host },
};

static bool is_host_side(const struct dev_side *x)
{
    return !x->object || x->object->kind == MEM_PINNED || x->object->kind == MEM_REGISTERED;
}

/* What an update of an executable graph must leave as it is, as the driver has it: whether a launch is cooperative,
 * between which memories a copy is, whether a fill has rows. */
static u64 update_key(const struct body *b)
{
    const struct dev_task *t = &b->task;
    if (t->kind == OP_LAUNCH) return t->launch.cooperative;
    if (t->kind == OP_COPY) return (u64)is_host_side(&b->copy.to) | (u64)is_host_side(&b->copy.from) << 1;
    return t->kind == OP_FILL && t->fill.rows > 1;
}

static struct op_spec spec_of(struct body *b)
{
    const struct dev_task *t = &b->task;
    return (struct op_spec){
        .kind = t->kind,
        .to_host = t->kind == OP_COPY && t->copy.to.host,
        .programmatic = t->programmatic,
        .whole = t->kind == OP_LAUNCH && !ptx_triggers(t->launch.kernel),
        .run = runs[t->kind].run,
        .data = b,
        .drop = body_drop,
        .address = (void *)(uintptr_t)(t->kind == OP_ALLOC  ? t->alloc.address
                                       : t->kind == OP_FREE ? t->free.address
                                                            : 0),
        .key = update_key(b),
        .tag = (u64)(uintptr_t)t->site, /* of work_tag already */
    };
}

static u32 enqueue(struct dev_stream *st, struct dev_task *t, struct error *e)
{
    struct device *d = device_of_stream(st);
    tell_touches(d);
    bool captured = capture_status(stream_in(st), NULL) != CAPTURE_NONE;
    u32 status = t->kind == OP_ALLOC && !captured ? capture_unsafe_call(work_streams(d)) : OP_OK;
    if (status) return work_status(d, status, e);
    struct body *b = body_new(d, t, captured ? 0 : stream_id(stream_in(st)), &status, e);
    if (!b) return work_status(d, status, e);
    bool copy = t->kind == OP_COPY && b->copy.width && !captured, wait = copy && !b->copy.to.object;
    if (copy && !wait && !b->copy.from.object && !stage(b, e)) {
        body_drop(b);
        return OP_OUT_OF_MEMORY;
    }
    struct op_spec spec = spec_of(b);
    struct op *op = NULL;
    if (!captured) b->managed = tell_queued(d, t, &b->copy, stream_id(stream_in(st)));
    b->enqueued = __atomic_add_fetch(&d->work->enqueued, 1, __ATOMIC_ACQ_REL);
    status = op_enqueue(stream_in(st), &spec, wait ? &op : NULL);
    if (status) body_undo(b);
    if (op) {
        status = op_synchronise(op);
        op_release(op);
        tell_waited(d);
    }
    return work_status(d, status, e);
}

u32 work_wait_task(struct device *d, struct dev_task *t, struct error *e)
{
    struct streams *s = work_streams(d);
    u32 status = OP_OUT_OF_MEMORY;
    struct body *b = s ? body_new(d, t, stream_id(stream_legacy(s)), &status, e) : NULL;
    if (!b) return work_status(d, status, e);
    struct op_spec spec = spec_of(b);
    struct op *op = NULL;
    status = op_enqueue(stream_legacy(s), &spec, &op);
    if (status) {
        body_undo(b);
        return work_status(d, status, e);
    }
    status = op_synchronise(op);
    op_release(op);
    tell_waited(d);
    return work_status(d, status, e);
}

enum dev_result work_wait_launch(struct device *d, const struct dev_launch *l, struct sim_result *r, struct error *e)
{
    struct streams *s = work_streams(d);
    struct dev_task t = { .kind = OP_LAUNCH, .launch = *l };
    u32 status;
    struct body *b = s ? body_new(d, &t, 0, &status, e) : NULL;
    if (!b) return DEV_FAILED;
    enum dev_result came = DEV_FAILED;
    b->result = r;
    b->error = e;
    b->came = &came;
    struct op_spec spec = spec_of(b);
    struct op *op = NULL;
    status = op_enqueue(stream_legacy(s), &spec, &op);
    if (status) {
        body_undo(b);
        work_status(d, status, e);
        return DEV_FAILED;
    }
    op_synchronise(op);
    op_release(op);
    tell_waited(d);
    stream_error_taken(stream_legacy(s)); /* its status was told by the result */
    return came;
}

/* ---- streams ---- */

static u32 sim_stream_new(struct device *d, u32 flags, s32 priority, struct dev_stream **out, struct error *e)
{
    struct streams *s = work_streams(d);
    struct stream *st = s ? stream_new(s, flags, priority) : NULL;
    tell_unordered(d);
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
    tell_unordered(d);
    return s ? stream_out(stream_per_thread(s)) : NULL;
}

static void **sim_stream_user(struct dev_stream *st) { return stream_user(stream_in(st)); }

static u32 sim_stream_query(struct dev_stream *st, struct error *e)
{
    struct device *d = device_of_stream(st);
    tell_touches(d);
    u32 status = stream_query(stream_in(st));
    tell_waited(d);
    return work_status(d, status, e);
}

static u32 sim_stream_synchronise(struct dev_stream *st, struct error *e)
{
    struct device *d = device_of_stream(st);
    tell_waits(d);
    u32 status = stream_synchronise(stream_in(st));
    tell_waited(d);
    sim_pools_synchronised(d);
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
    tell_waits(d);
    u32 status = s ? streams_synchronise(s) : OP_OK;
    tell_waited(d);
    sim_pools_synchronised(d);
    return work_status(d, status, e);
}

/* ---- values ---- */

static u32 define_value(struct op *op, void *of)
{
    struct body *b = of;
    u64 bytes = b->fill.width;
    tell_fill(b->device, op, &b->fill);
    struct mem_object *o = b->fill.to.object;
    shadow_define(mem_shadow(b->device->mem), b->fill.to.address, bytes);
    __atomic_store_n(&o->given, true, __ATOMIC_RELAXED);
    return OP_OK;
}

/* Completes the spec of a wait or a write. */
static u32 value_read(struct device *d, struct op_spec *spec, u64 address, const char *site, struct error *e)
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
        tell_told(d);
        struct dev_task t = { .kind = OP_FILL, .fill = { address, 0, 4, spec->bits / 32, 1, 0, 0, 0 }, .site = site };
        u32 status;
        struct body *b = body_new(d, &t, 0, &status, e);
        if (!b) return work_status(d, status, e);
        spec->run = define_value;
        spec->data = b;
        spec->drop = body_drop;
    }
    return OP_OK;
}

static u32 value_op(struct dev_stream *st, struct op_spec *spec, u64 address, const char *site, struct error *e)
{
    struct device *d = device_of_stream(st);
    u32 status = value_read(d, spec, address, site, e);
    if (status) return status;
    status = op_enqueue(stream_in(st), spec, NULL);
    if (status && spec->data) body_drop(spec->data);
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
    tell_touches(d);
    u32 status = event_query(event_in(ev));
    tell_waited(d);
    return work_status(d, status, e);
}

static u32 sim_event_synchronise(struct dev_event *ev, struct error *e)
{
    struct device *d = device_of_event(ev);
    tell_waits(d);
    u32 status = event_synchronise(event_in(ev));
    tell_waited(d);
    sim_pools_synchronised(d);
    return work_status(d, status, e);
}

static u32 sim_event_elapsed(struct dev_event *from, struct dev_event *to, double *ms, struct error *e)
{
    return work_status(device_of_event(from), event_elapsed(event_in(from), event_in(to), ms), e);
}

/* ---- capture and graphs ---- */

static u32 sim_capture_begin(struct dev_stream *st, enum capture_mode mode, struct error *e)
{
    return work_status(device_of_stream(st), capture_begin(stream_in(st), mode), e);
}

static u32 sim_capture_end(struct dev_stream *st, struct dev_graph **out, struct error *e)
{
    struct graph *g = NULL;
    u32 status = capture_end(stream_in(st), &g);
    *out = (struct dev_graph *)g;
    return work_status(device_of_stream(st), status, e);
}

static u32 sim_capture_status(struct dev_stream *st, enum capture_status *out, u64 *id, struct error *e)
{
    *out = capture_status(stream_in(st), id);
    return work_status(device_of_stream(st), capture_hidden(stream_in(st)), e);
}

static u32 sim_graph_new(struct device *d, struct dev_graph **out, struct error *e)
{
    struct streams *s = work_streams(d);
    *out = (struct dev_graph *)(s ? graph_new(s) : NULL);
    return work_status(d, *out ? OP_OK : OP_OUT_OF_MEMORY, e);
}

static void sim_graph_delete(struct dev_graph *g) { graph_delete(graph_in(g)); }

/* The edges of a new node; with `overlap` programmatic where they come from launches. NULL: no memory. */
static struct graph_dep *edges_of(struct dev_node *const *dep, u32 deps, bool overlap)
{
    struct graph_dep *out = base_alloc((deps + 1) * sizeof *out);
    for (u32 i = 0; out && i < deps; i++) {
        bool launch = overlap && graph_node_kind(node_in(dep[i])) == OP_LAUNCH;
        out[i] = (struct graph_dep){ node_in(dep[i]), launch ? OP_EDGE_PROGRAMMATIC : OP_EDGE_COMPLETE };
    }
    return out;
}

static u32 add_node(struct dev_graph *g, struct dev_node *const *dep, u32 deps, const struct op_spec *spec,
                    struct dev_graph *child, struct dev_node **out, struct error *e)
{
    struct graph_dep *edge = edges_of(dep, deps, spec && spec->programmatic);
    struct graph_node *n = NULL;
    u32 status = !edge   ? (u32)OP_OUT_OF_MEMORY
                 : child ? graph_add_child(graph_in(g), edge, deps, graph_in(child), &n)
                         : graph_add(graph_in(g), edge, deps, spec, &n);
    base_free(edge);
    if (out) *out = (struct dev_node *)n;
    if (status == OP_NOT_SUPPORTED && child && !graph_fits(graph_in(g), graph_in(child)))
        error_set(e, ERR_UNSUPPORTED, "graphs in graphs are nested more than %u deep", GRAPH_DEPTH);
    return work_status(device_of_graph(g), status, e);
}

static u32 sim_graph_add(struct dev_graph *g, struct dev_node *const *dep, u32 deps, struct dev_task *t,
                         struct dev_node **out, struct error *e)
{
    struct device *d = device_of_graph(g);
    u32 status;
    struct body *b = body_new(d, t, 0, &status, e);
    if (!b) return work_status(d, status, e);
    struct op_spec spec = spec_of(b);
    status = add_node(g, dep, deps, &spec, NULL, out, e);
    if (status) body_undo(b);
    return status;
}

static u32 sim_graph_add_event(struct dev_graph *g, struct dev_node *const *dep, u32 deps, struct dev_event *ev,
                               bool wait, struct dev_node **out, struct error *e)
{
    struct op_spec spec = { .kind = wait ? OP_WAIT : OP_RECORD, .event = event_in(ev) };
    return add_node(g, dep, deps, &spec, NULL, out, e);
}

static u32 sim_graph_add_child(struct dev_graph *g, struct dev_node *const *dep, u32 deps, struct dev_graph *child,
                               struct dev_node **out, struct error *e)
{
    return add_node(g, dep, deps, NULL, child, out, e);
}

static u32 sim_graph_edge(struct dev_graph *g, struct dev_node *from, struct dev_node *to, bool remove, struct error *e)
{
    u32 status = remove ? graph_edge_remove(graph_in(g), node_in(from), node_in(to))
                        : graph_edge_add(graph_in(g), node_in(from), node_in(to), OP_EDGE_COMPLETE);
    return work_status(device_of_graph(g), status, e);
}

static u32 sim_graph_nodes(struct dev_graph *g) { return graph_node_count(graph_in(g)); }

static u32 sim_graph_instantiate(struct dev_graph *g, u32 flags, struct dev_exec **out, struct error *e)
{
    struct graph_exec *x = NULL;
    *out = NULL;
    tell_unordered(device_of_graph(g));
    u32 status = capture_unsafe_call(work_streams(device_of_graph(g)));
    if (!status) status = graph_instantiate(graph_in(g), flags, &x, NULL);
    if (status == OP_INVALID_VALUE) error_set(e, ERR_INPUT, "the edges of the graph form a cycle");
    *out = (struct dev_exec *)x;
    return work_status(device_of_graph(g), status, e);
}

static void sim_exec_delete(struct dev_exec *x) { graph_exec_delete(exec_in(x)); }

static u32 sim_exec_update(struct dev_exec *x, struct dev_graph *g, struct error *e)
{
    static const char fixed[] = "a node that differs in more than can be changed: whether a launch is cooperative, "
                                "between which memories a copy is, whether a fill has rows";
    static const char *const what[] = { "", "other nodes or edges", "a node of another kind", fixed,
                                        "another allocation" };
    struct graph_update u = { 0 };
    u32 status = graph_update(exec_in(x), graph_in(g), &u);
    if (status) error_set(e, ERR_INPUT, "the executable graph cannot be updated: the new graph has %s", what[u.result]);
    return work_status(device_of_graph(g), status, e);
}

static u32 sim_exec_set(struct dev_exec *x, struct dev_node *n, struct dev_task *t, struct error *e)
{
    struct device *d = device_of_exec(x);
    u32 status;
    struct body *b = body_new(d, t, 0, &status, e);
    if (!b) return work_status(d, status, e);
    struct op_spec spec = spec_of(b);
    status = graph_exec_set(exec_in(x), node_in(n), &spec);
    if (status) body_undo(b);
    return work_status(d, status, e);
}

/* Copies and launches of a graph that is launched: the host must not touch their memory until it has waited for the
 * end. */
struct exec_flights {
    struct device *device;
    u64 stream;
    op_stamp end;
};

static void exec_flight(void *self, const struct op_spec *spec)
{
    const struct exec_flights *f = self;
    const struct body *b = spec->data;
    u32 token = tell_queued(f->device, &b->task, &b->copy, f->stream);
    tell_unseen(f->device, token, f->end, spec->kind == OP_COPY ? (const void *)&b->copy : &b->task.launch);
}

static u32 sim_exec_launch(struct dev_exec *x, struct dev_stream *st, const char *site, struct error *e)
{
    struct device *d = device_of_stream(st);
    struct op *end = NULL;
    tell_touches(d);
    u32 status = graph_launch(exec_in(x), stream_in(st), work_tag(d, site), &end);
    if (end) {
        struct exec_flights f = { d, stream_id(stream_in(st)), op_stamp_of(end) };
        bool shared = d->mem && (mem_bytes_of(d->mem, MEM_PINNED) || mem_bytes_of(d->mem, MEM_MANAGED));
        if (work_between(d) && shared) graph_exec_each(exec_in(x), exec_flight, &f);
        op_release(end);
    }
    return work_status(d, status, e);
}

/* ---- from the inside ---- */

const struct dev_task *dev_node_task(const struct graph_node *n)
{
    const struct op_spec *spec = graph_node_spec(n);
    bool other = spec && (spec->kind == OP_VALUE_WAIT || spec->kind == OP_VALUE_WRITE || spec->kind == OP_BRANCH);
    const struct body *b = spec && !other ? spec->data : NULL;
    return b ? &b->task : NULL;
}

u32 dev_node_set(struct graph_node *n, struct device *d, struct dev_task *t, struct error *e)
{
    u32 status = dev_task_check(d, t, e);
    struct body *b = status ? NULL : body_new(d, t, 0, &status, e);
    if (!b) return work_status(d, status, e);
    struct op_spec spec = spec_of(b);
    status = graph_node_set(n, &spec);
    if (status) body_undo(b);
    return work_status(d, status, e);
}

static u32 branch_run(struct op *op, void *condition)
{
    tell_decided(streams_self(stream_owner(op_stream(op))), op, condition);
    return OP_OK;
}
static void branch_drop(void *condition) { condition_release(condition); }

u32 dev_graph_add_branch(struct graph *g, const struct graph_dep *dep, u32 deps, enum op_branch how,
                         struct condition *c, u32 bodies, const char *site, struct graph_node **out)
{
    struct op_spec spec = { .kind = OP_BRANCH,
                            .compare = (u8)how,
                            .assigns = c->assigns,
                            .value = c->initial,
                            .address = &c->value,
                            .run = branch_run,
                            .data = c,
                            .drop = branch_drop,
                            .tag = work_tag(streams_self(graph_owner(g)), site) };
    tell_conditions();
    return graph_add_branch(g, dep, deps, &spec, bodies, out);
}

u32 dev_graph_add_value(struct graph *g, const struct graph_dep *dep, u32 deps, struct op_spec *spec, u64 address,
                        struct graph_node **out, struct error *e)
{
    struct device *d = device_of(graph_owner(g));
    u32 status = value_read(d, spec, address, NULL, e);
    if (status) return status;
    status = graph_add(g, dep, deps, spec, out);
    if (status && spec->data) body_drop(spec->data);
    return work_status(d, status, e);
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
