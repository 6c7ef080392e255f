/* Notes operations, and runs them by the model. */
#include "base/printable.h"
#include "count/timeline.h"
#include "count/advice.h"

const char *const timeline_kind_name[TIME_KINDS] = {
    "launch",        "copy_to_device",     "copy_from_device", "copy_on_device", "fill",
    "host_function", "event_record",       "stream_wait",      "graph_launch",   "empty",
    "synchronise",   "synchronise_stream", "synchronise_event"
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

/* Room for one more; false: it is counted as left out. */
static bool has_room(struct timeline *t)
{
    if (t->n == TIMELINE_MOST) {
        t->more++;
        return false;
    }
    NEED_ROOM(t->op, t->n, t->cap, 64);
    return true;
}

/* With the lock held. */
static void note(struct counts *c, struct timeline_op op, const void *stream, const void *event)
{
    struct timeline *t = c->timeline;
    if (!has_room(t)) return;
    if (stream) op.stream = number_of(t->stream, &t->streams, COUNT_OF(t->stream), stream);
    if (event) op.event = number_of(t->event, &t->events, COUNT_OF(t->event), event);
    if (op.kernel) op.kernel = arena_str(&c->mem, str_of(op.kernel));
    if (op.site) op.site = arena_str(&c->mem, str_of(op.site));
    if (op.afters) {
        u32 *after = NEW_ARRAY(&c->mem, u32, op.afters);
        memcpy(after, op.after, op.afters * sizeof *after);
        op.after = after;
    }
    t->op[t->n++] = op;
}

void timeline_note(struct counts *c, struct timeline_op op, const void *stream, const void *event)
{
    lock(&c->lock);
    if (c->timeline) note(c, op, stream, event);
    unlock(&c->lock);
}

void timeline_note_graph(struct counts *c, struct timeline_op launch, const struct timeline_op *node, u32 nodes,
                         const void *stream)
{
    lock(&c->lock);
    struct timeline *t = c->timeline;
    if (t) {
        launch.graph = ++t->graphs;
        note(c, launch, stream, NULL);
        for (u32 k = 0; k < nodes; k++) {
            struct timeline_op op = node[k];
            op.graph = launch.graph;
            op.apart = launch.apart;
            note(c, op, stream, NULL);
        }
    }
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

/* What follows in the stream, and for those who wait for all, waits until then. */
static void stream_ends(struct timeline *t, const struct timeline_op *op, u64 end)
{
    t->of_stream[op->stream] = MAX_OF(t->of_stream[op->stream], end);
    t->all = MAX_OF(t->all, end);
    if (!op->stream) t->legacy = end;
    if (!op->apart) t->joined = MAX_OF(t->joined, end);
}

/* When something can begin that may begin at `start`, and takes `fixed` before it needs its engine. */
static u64 begins(const u64 *engine, u64 start, u64 fixed)
{
    return engine && *engine > fixed ? MAX_OF(start, *engine - fixed) : start;
}

/* An operation of a stream starts after its stream's previous operation, its engine and its call. */
static void run_in_stream(const struct counts *c, struct timeline *t, struct timeline_op *op)
{
    u64 last = t->of_stream[op->stream], *engine = engine_of(t, op->kind);
    u64 start = MAX_OF(t->host, op->stream ? MAX_OF(last, op->apart ? 0 : t->legacy) : MAX_OF(last, t->joined));
    if (op->kind == TIME_WAIT) start = MAX_OF(start, t->at_event[op->event]);
    op->start = begins(engine, start, LAUNCH_PS);
    op->end = op->start + time_of(c, op);
    stream_ends(t, op, op->end);
    if (engine) *engine = op->end;
    if (op->kind == TIME_RECORD) t->at_event[op->event] = op->end;
    if (op->waits || op->pageable) t->host = MAX_OF(t->host, op->end);
}

/* A node of the graph that was launched by `head`, the k-th. */
static void run_node(const struct counts *c, struct timeline *t, struct timeline_op *head, u32 k)
{
    struct timeline_op *op = head + 1 + k;
    u64 *engine = engine_of(t, op->kind), start = head->start, takes = time_of(c, op);
    for (u32 i = 0; i < op->afters; i++)
        if (op->after[i] < k) start = MAX_OF(start, head[1 + op->after[i]].end);
    op->start = begins(engine, start, NODE_PS);
    op->end = op->start + (takes ? takes - LAUNCH_PS + NODE_PS : 0);
    op->call = head->call;
    op->back = head->back;
    if (engine) *engine = op->end;
    head->end = MAX_OF(head->end, op->end);
    stream_ends(t, head, head->end);
}

static void run_wait(struct timeline *t, struct timeline_op *op)
{
    u64 until = op->kind == TIME_SYNC          ? t->all
                : op->kind == TIME_SYNC_STREAM ? MAX_OF(t->of_stream[op->stream], op->stream ? 0 : t->joined)
                                               : t->at_event[op->event];
    op->start = t->host;
    op->end = t->host = MAX_OF(t->host, until);
}

void timeline_run(const struct counts *c, struct timeline *t)
{
    struct timeline_op *head = NULL;
    memset(t->engine, 0, sizeof t->engine);
    memset(t->of_stream, 0, sizeof t->of_stream);
    memset(t->at_event, 0, sizeof t->at_event);
    t->all = t->legacy = t->joined = t->host = 0;
    for (u32 k = 0; k < t->n; k++) {
        struct timeline_op *op = &t->op[k];
        if (op->graph && op->kind != TIME_GRAPH) {
            run_node(c, t, head, (u32)(op - head) - 1);
            continue;
        }
        head = op;
        op->call = t->host;
        t->host += CALL_PS;
        if (op->kind < TIME_SYNC)
            run_in_stream(c, t, op);
        else
            run_wait(t, op);
        op->back = t->host;
    }
}

/* ---- as text ---- */

static const char *const kind_plain[TIME_KINDS] = { "launch of",
                                                    "copy to the device",
                                                    "copy from the device",
                                                    "copy on the device",
                                                    "fill",
                                                    "function of the host",
                                                    "event",
                                                    "wait for event",
                                                    "graph",
                                                    "",
                                                    "the host waits for all",
                                                    "the host waits for the stream",
                                                    "the host waits for event" };

static const char *plain_of(const struct counts *c, const char *name)
{
    for (const struct count_kernel *k = c->kernel; k; k = k->next)
        if (!strcmp(k->name, name)) return k->plain;
    return name;
}

static void op_text(const struct counts *c, const struct timeline_op *o, struct text *out)
{
    char stream[24];
    struct tenths start = tenths(o->start, 1000000), end = tenths(o->end, 1000000);
    snprintf(stream, sizeof stream, o->kind == TIME_SYNC ? "-" : o->stream ? "%u" : "legacy", o->stream);
    text_add(out, "  %9llu.%u %9llu.%u  %-6s  %s%s", TENTHS_OF(start), TENTHS_OF(end), stream,
             o->graph && o->kind != TIME_GRAPH ? "  " : "", kind_plain[o->kind]);
    if (o->kernel) {
        text_add(out, " ");
        printable(str_of(plain_of(c, o->kernel)), out);
    }
    if (o->event) text_add(out, " %u", o->event);
    if (o->kind == TIME_GRAPH) text_add(out, ", launch %u", o->graph);
    if (o->bytes)
        text_add(out, ", %llu bytes%s", (unsigned long long)o->bytes, o->pageable ? " of pageable memory" : "");
    if (o->site) {
        text_add(out, ", ");
        printable(str_of(o->site), out);
    }
    text_add(out, "\n");
}

void timeline_text(const struct counts *c, const struct timeline *t, struct text *out)
{
    text_add(out,
             "\ntimeline of %s, in microseconds by a model, least times at published peaks and what calls cost; "
             "nothing was measured\n",
             c->card->title);
    text_add(out, "  %11s %11s  %-6s  what\n", "start", "end", "stream");
    for (u32 k = 0; k < t->n; k++)
        if (t->op[k].kind != TIME_EMPTY) op_text(c, &t->op[k], out);
    if (t->more) text_add(out, "  and %llu operations more\n", (unsigned long long)t->more);
}
