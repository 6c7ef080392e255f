/* Notes operations, and runs them by the model. */
#include "count/timeline.h"
#include "count/count_limits.h"

const char *const timeline_kind_name[TIME_KINDS] = {
    "launch",      "copy_to_device", "copy_from_device",   "copy_on_device",   "fill", "host_function", "event_record",
    "stream_wait", "synchronise",    "synchronise_stream", "synchronise_event"
};

/* The number of a handle, from 1 on; 0: there are too many. */
static u32 number_of(struct timeline_handle *list, u32 *n, u32 most, const void *handle)
{
    for (u32 k = 0; k < *n; k++)
        if (list[k].handle == handle) return list[k].number;
    if (*n + 1 >= most) return 0;
    list[*n] = (struct timeline_handle){ handle, *n + 1 };
    return list[(*n)++].number;
}

void timeline_open(struct counts *c)
{
    lock(&c->lock);
    if (!c->timeline) c->timeline = base_need(sizeof *c->timeline);
    unlock(&c->lock);
}

void timeline_note(struct counts *c, struct timeline_op op, const void *stream, const void *event)
{
    lock(&c->lock);
    struct timeline *t = c->timeline;
    if (!t || t->n == TIMELINE_MOST) {
        if (t) t->more++;
        unlock(&c->lock);
        return;
    }
    if (t->n == t->cap) t->op = base_need_more(t->op, sizeof *t->op * (t->cap = t->cap ? 2 * t->cap : 64));
    if (stream) op.stream = number_of(t->stream, &t->streams, COUNT_OF(t->stream), stream);
    if (event) op.event = number_of(t->event, &t->events, COUNT_OF(t->event), event);
    if (op.kernel) op.kernel = arena_str(&c->mem, str_of(op.kernel));
    if (op.site) op.site = arena_str(&c->mem, str_of(op.site));
    t->op[t->n++] = op;
    unlock(&c->lock);
}

void timeline_shares(struct counts *c)
{
    lock(&c->lock);
    if (c->timeline) c->timeline->host_memory = true;
    unlock(&c->lock);
}

/* The longest limit of the launches of that shape, and what a launch costs. */
static u64 launch_time(const struct counts *c, const struct timeline_op *op)
{
    for (const struct count_kernel *k = c->kernel; k; k = k->next) {
        if (strcmp(k->name, op->kernel) != 0) continue;
        for (const struct count_launch *l = k->launch; l; l = l->next) {
            struct count_limits x;
            if (memcmp(l->grid, op->grid, sizeof l->grid) || memcmp(l->block, op->block, sizeof l->block)) continue;
            count_limits(c->card, l, &x);
            return x.least + LAUNCH_PS;
        }
    }
    return LAUNCH_PS; /* it was not counted */
}

static u64 time_of(const struct counts *c, const struct timeline_op *op)
{
    switch (op->kind) {
    case TIME_LAUNCH: return launch_time(c, op);
    case TIME_TO_DEVICE:
    case TIME_FROM_DEVICE: return LAUNCH_PS + op->bytes * 1000 / (op->pageable ? PAGEABLE_GBS : BUS_GBS);
    case TIME_ON_DEVICE: return LAUNCH_PS + op->bytes * 2000 / c->card->memory_gbs;
    case TIME_FILL: return LAUNCH_PS + op->bytes * 1000 / c->card->memory_gbs;
    default: return 0;
    }
}

static u64 *engine_of(struct timeline *t, enum timeline_kind k)
{
    switch (k) {
    case TIME_LAUNCH: return &t->engine[0];
    case TIME_TO_DEVICE: return &t->engine[1];
    case TIME_FROM_DEVICE: return &t->engine[2];
    case TIME_ON_DEVICE:
    case TIME_FILL: return &t->engine[3];
    default: return NULL;
    }
}

/* An operation of a stream: behind what is before it there, its engine, and the call. */
static void run_in_stream(const struct counts *c, struct timeline *t, struct timeline_op *op)
{
    u64 *last = &t->of_stream[op->stream], *engine = engine_of(t, op->kind);
    u64 start = MAX_OF(t->host, op->stream ? MAX_OF(*last, t->legacy) : t->all);
    if (engine) start = MAX_OF(start, *engine);
    if (op->kind == TIME_WAIT) start = MAX_OF(start, t->at_event[op->event]);
    op->start = start;
    op->end = start + time_of(c, op);
    *last = op->end;
    if (!op->stream) t->legacy = op->end;
    t->all = MAX_OF(t->all, op->end);
    if (engine) *engine = op->end;
    if (op->kind == TIME_RECORD) t->at_event[op->event] = op->end;
    if (op->waits || op->pageable) t->host = MAX_OF(t->host, op->end);
}

void timeline_run(const struct counts *c, struct timeline *t)
{
    memset(t->engine, 0, sizeof t->engine);
    memset(t->of_stream, 0, sizeof t->of_stream);
    memset(t->at_event, 0, sizeof t->at_event);
    t->all = t->legacy = t->host = 0;
    for (u32 k = 0; k < t->n; k++) {
        struct timeline_op *op = &t->op[k];
        t->host += CALL_PS;
        if (op->kind < TIME_SYNC) {
            run_in_stream(c, t, op);
            continue;
        }
        u64 until = op->kind == TIME_SYNC          ? t->all
                    : op->kind == TIME_SYNC_STREAM ? MAX_OF(t->of_stream[op->stream], op->stream ? 0 : t->all)
                                                   : t->at_event[op->event];
        op->start = t->host;
        op->end = t->host = MAX_OF(t->host, until);
    }
}
