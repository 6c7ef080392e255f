/* The bodies of operations: what each kind of task does when its operation runs, and a task as the operation of op.h.
 */
#include "base/fault.h"
#include "device/dev_sim_async.h"
#include <inttypes.h>

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

void sim_body_drop(void *of)
{
    struct body *b = of;
    note_unqueued(b->device, &b->managed, NULL);
    if (b->task.kind == OP_HOST && b->task.host.gone) b->task.host.gone(b->task.host.self);
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
    else if (run_begin(r, b->device, &b->task.launch, way, op, &e)) {
        r->in.age = op_age(op);
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
            const char *rows = p->rows * p->slices > 1 ? " of a row" : "";
            if (is_registered(s)) {
                note_lent_gone(
                    b->device,
                    &(struct dev_lent){ .at = (u8 *)s->bytes, .bytes = p->width, .write = write, .site = b->task.site },
                    n, rows);
                return false;
            }
            char cause[300];
            snprintf(cause, sizeof cause,
                     "When the copy runs, %" PRIu64 " of the %" PRIu64 " bytes%s that it %s are there: the memory was "
                     "unmapped meanwhile, or never as large.",
                     n, p->width, rows, write ? "writes" : "reads");
            struct finding f = { .kind = F_host_short, .cause_key = s->address, .call = b->task.site, .cause = cause };
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
    if (b->managed) note_touches(b->device);
    note_copy(b->device, op, &b->copy, b->staged != NULL);
    dev_copy_run(&b->copy);
    note_copied(b->device, &b->copy);
    if (is_registered(to)) note_lent(b->device, op, to, b->copy.width, true, b->task.site);
    if (is_registered(from)) note_lent(b->device, op, from, b->copy.width, false, b->task.site);
    note_unqueued(b->device, &b->managed, op);
    if (op_is_node(op)) note_node_done(b->device, &b->copy, op);
    return OP_OK;
}

static u32 body_fill(struct op *op, void *of)
{
    struct body *b = of;
    note_fill(b->device, op, &b->fill);
    dev_fill_run(&b->fill);
    return OP_OK;
}

/* By the rules of tensors the memory of a graph is the graph's, and what a launch has left there stays for the next. */
static bool keeps(const struct body *b) { return b->graph && op_races_has_tensors(); }

static void life_note(const struct body *b, const struct op *op, bool alloc)
{
    if (!keeps(b)) note_life(b->device, op, b->object, alloc);
}

static u32 body_alloc(struct op *op, void *of)
{
    struct body *b = of;
    if (keeps(b) && mem_is_live(b->object)) return OP_OK;
    if (b->graph && mem_is_live(b->object)) { /* GRAPH_AUTO_FREE: what the launch before left there goes first */
        life_note(b, op, false);
        sim_pool_graph_rest(b->device, b->object, b->task.site);
    }
    if (b->at_once) return OP_OK;
    life_note(b, op, true);
    if (!sim_pool_start(b->device, b->object)) return OP_OK;
    char site[96];
    sim_pool_site(b->object, site, sizeof site);
    note_freed_now(b->device, b->object->base, b->object->size, site[0] ? site : "lk_memory_free");
    sim_pool_end(b->device, b->object, site);
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
    life_note(b, op, false);
    if (!b->graph)
        sim_pool_end(b->device, b->object, b->task.site);
    else if (!sim_pool_graph_rest(b->device, b->object, b->task.site))
        return graph_free_found(b);
    return OP_OK;
}

/* What the program enqueues after a host function may be what it races with, and is watched only from then on: the
 * function gives the program a moment to go on, unless that waits. A program has a tenth of a second for all of them.
 */
static void host_hold_back(const struct body *b)
{
    enum { PAUSE_US = 20, PAUSES = 250, PAUSES_ALL = 5000 };
    static u32 spent; /* atomic */
    struct device *d = b->device;
    struct streams_census c;
    for (u32 k = 0; k < PAUSES && work_races(d) && !d->options.seeded; k++) {
        if (__atomic_load_n(&d->work->enqueued, __ATOMIC_ACQUIRE) != b->enqueued) return;
        streams_census(work_streams(d), &c);
        if (c.hosts || __atomic_add_fetch(&spent, 1, __ATOMIC_RELAXED) > PAUSES_ALL) return;
        thread_sleep_us(PAUSE_US);
    }
}

static u32 body_host(struct op *op, void *of)
{
    struct body *b = of;
    if (b->task.host.operate) {
        struct op_races_use use = { b->task.host.part, b->task.host.parts };
        u32 status = b->task.host.operate(b->task.host.self, &use);
        if (!status) note_library(b->device, op, use.part, use.parts);
        return status;
    }
    host_hold_back(b);
    note_host_begin(b->device, op);
    b->task.host.call(b->task.host.self);
    note_host_end(b->device);
    return OP_OK;
}

/* It ran before it was enqueued, after all earlier operations had ended. */
static u32 body_library(struct op *op, void *of)
{
    struct body *b = of;
    note_library(b->device, op, b->task.library.part, b->task.library.parts);
    return OP_OK;
}

/* ---- a task as an operation ---- */

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
    b->at_once = !status && !b->graph && op_races_has_tensors();
    if (b->at_once) { /* by the rules of tensors every stream may use it now */
        note_gone(d, b->object->base, b->object->size);
        sim_pool_start(d, b->object);
    }
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
        error_set(e, ERR_INPUT, "0x%" PRIx64 " is not memory of an allocation node: a graph cannot free it",
                  t->free.address);
        return OP_INVALID_VALUE;
    }
    return sim_pool_free(b->device, t->free.address, stream, t->site, &b->object, e);
}

bool sim_body_stage(struct body *b, struct error *e)
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

/* The plan that dev_task_plan has made, or one for a task that came by another way. */
static u32 body_plan(struct body *b, const struct dev_task *t, struct error *e)
{
    bool copy = t->kind == OP_COPY;
    if (t->plan && copy) b->copy = t->plan->copy;
    if (t->plan && !copy) b->fill = t->plan->fill;
    if (t->plan) return OP_OK;
    return copy ? dev_copy_plan(b->device, &t->copy, &b->copy, e) : dev_fill_plan(b->device, &t->fill, &b->fill, e);
}

struct body *sim_body_new(struct device *d, struct dev_task *t, u64 stream, u32 *status, struct error *e)
{
    u64 params = t->kind == OP_LAUNCH    ? t->launch.kernel->param_bytes
                 : t->kind == OP_LIBRARY ? t->library.parts * sizeof *t->library.part
                 : t->kind == OP_HOST    ? t->host.parts * sizeof *t->host.part
                                         : 0;
    struct body *b = body_take(d, sizeof *b + params + 8);
    if (!b) {
        error_set(e, ERR_MEMORY, "no memory for an operation");
        *status = OP_OUT_OF_MEMORY;
        return NULL;
    }
    *status = t->kind == OP_COPY || t->kind == OP_FILL ? body_plan(b, t, e)
              : t->kind == OP_ALLOC                    ? body_allocate(b, t, stream, e)
              : t->kind == OP_FREE                     ? body_release(b, t, stream, e)
                                                       : (u32)OP_OK;
    if (*status) {
        body_give(b);
        return NULL;
    }
    b->task = *t;
    b->task.plan = NULL;
    b->task.site = work_site(work_tag(d, t->site));
    if (t->kind == OP_LIBRARY && params) {
        memcpy(b->params, t->library.part, params);
        b->task.library.part = (const struct op_races_part *)(const void *)b->params;
    }
    if (t->kind == OP_HOST && params) {
        memcpy(b->params, t->host.part, params);
        b->task.host.part = (const struct op_races_part *)(const void *)b->params;
    }
    if (t->kind != OP_LAUNCH) return b;
    b->task.launch.origin.stream = stream;
    b->task.launch.origin.site = b->task.site;
    if (params) memcpy(b->params, t->launch.params, params);
    b->task.launch.params = b->params;
    return b;
}

void sim_body_undo(struct body *b)
{
    if (b->task.kind == OP_ALLOC && !b->graph) sim_pool_end(b->device, b->object, b->task.site);
    sim_body_drop(b);
}

static const struct {
    op_run *run;
} runs[OP_KINDS] = {
    [OP_LAUNCH] = { body_launch },   [OP_COPY] = { body_copy }, [OP_FILL] = { body_fill },
    [OP_ALLOC] = { body_alloc },     [OP_FREE] = { body_free }, [OP_HOST] = { body_host },
    [OP_LIBRARY] = { body_library },
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

struct op_spec sim_body_spec(struct body *b)
{
    const struct dev_task *t = &b->task;
    return (struct op_spec){
        .kind = t->kind,
        .to_host = t->kind == OP_COPY && t->copy.to.host,
        .computes = t->kind == OP_HOST && t->host.computes,
        .programmatic = t->programmatic,
        .whole = t->kind == OP_LAUNCH && !ptx_triggers(t->launch.kernel),
        .run = runs[t->kind].run,
        .data = b,
        .drop = sim_body_drop,
        .address = (void *)(uintptr_t)(t->kind == OP_ALLOC  ? t->alloc.address
                                       : t->kind == OP_FREE ? t->free.address
                                                            : 0),
        .key = update_key(b),
        .tag = (u64)(uintptr_t)t->site, /* of work_tag already */
    };
}
