/* Happens-before over streams: op_before on random programs against the transitive closure of a naive model.
 *
 *     test_stream_order [FIRST COUNT]     random programs FIRST .. FIRST + COUNT - 1
 *
 * A program is a list of calls: operations, events, legacy and non-blocking streams, host waits and queries, streams
 * that come and go, graphs. The model keeps, for each operation, the set of those before it, as bits. Most programs
 * have few streams; some have hundreds, whose clocks are trees of several levels. */
#include "unit.h"
#include "stream_backend.h"
#include <stdlib.h>

enum { OPS = 600, WORDS = (OPS + 63) / 64, STREAMS = 7, STREAMS_MANY = 320, EVENTS = 5, GRAPH_NODES = 7 };

struct set {
    u64 w[WORDS];
};
static void set_add(struct set *s, u32 i) { s->w[i / 64] |= (u64)1 << i % 64; }
static bool set_has(const struct set *s, u32 i) { return s->w[i / 64] >> i % 64 & 1; }
static void set_or(struct set *s, const struct set *t)
{
    for (u32 i = 0; i < WORDS; i++) s->w[i] |= t->w[i];
}

struct model_stream {
    struct stream *st;
    bool blocking, legacy;
    struct set done; /* what its next operation is after */
};
struct model_event {
    struct event *e;
    bool recorded;
    struct set at;
};
struct model_graph {
    struct graph_exec *x;
    u32 nodes, deps[GRAPH_NODES]; /* bits: the nodes before */
    struct set last;              /* what the next launch is after */
    u32 base[64], launches, runs[GRAPH_NODES];
    struct node_id {
        struct model_graph *g;
        u32 node;
    } id[GRAPH_NODES];
};

static struct streams *s;
static u64 seed;
static u32 count;              /* operations of the model so far */
static struct set before[OPS]; /* of each operation */
static struct op *op_of[OPS];
static struct set host, all, blocking_all, legacy_all;
static u32 streams; /* of this program */
static struct model_stream stream[STREAMS_MANY];
static struct model_event event[EVENTS];
static struct model_graph graph[2];

static u32 below(u32 n) { return (u32)(rand_next(&seed) % n); }

static u32 keep(struct op *op, void *data)
{
    op_of[(uintptr_t)data] = op_hold(op);
    return OP_OK;
}

static u32 keep_node(struct op *op, void *data)
{
    struct node_id *id = data;
    u32 launch = id->g->runs[id->node]++; /* launches of one graph come one after the other */
    op_of[id->g->base[launch] + id->node] = op_hold(op);
    return OP_OK;
}

/* What the next operation of the stream is after, but for its own chain's newest. */
static struct set now(struct model_stream *m)
{
    struct set p = m->done;
    set_or(&p, &host);
    if (m->legacy)
        set_or(&p, &blocking_all);
    else if (m->blocking)
        set_or(&p, &legacy_all);
    return p;
}

static void did(struct model_stream *m, const struct set *after)
{
    m->done = *after;
    set_or(&all, after);
    if (m->legacy)
        set_or(&legacy_all, after);
    else if (m->blocking)
        set_or(&blocking_all, after);
}

static void enqueue(struct model_stream *m)
{
    static const enum op_kind kinds[] = { OP_LAUNCH, OP_LAUNCH, OP_COPY, OP_HOST, OP_FILL, OP_ALLOC };
    u32 id = count++;
    struct op_spec spec = { .kind = kinds[below(COUNT_OF(kinds))], .run = keep, .data = (void *)(uintptr_t)id };
    struct set p = now(m);
    before[id] = p;
    UNIT_EQ(op_enqueue(m->st, &spec, NULL), OP_OK);
    set_add(&p, id);
    did(m, &p);
}

static void launch_graph(struct model_stream *m, struct model_graph *g)
{
    if (count + g->nodes > OPS || g->launches == COUNT_OF(g->base)) return;
    struct set p = now(m), end;
    set_or(&p, &g->last);
    end = p;
    u32 base = g->base[g->launches++] = count;
    count += g->nodes;
    for (u32 i = 0; i < g->nodes; i++) {
        before[base + i] = p;
        for (u32 k = 0; k < i; k++)
            if (g->deps[i] >> k & 1) {
                set_or(&before[base + i], &before[base + k]);
                set_add(&before[base + i], base + k);
            }
        set_add(&end, base + i);
    }
    UNIT_EQ(graph_launch(g->x, m->st, 0, NULL), OP_OK);
    g->last = end;
    did(m, &end);
}

static void make_graph(struct model_graph *g)
{
    struct graph *data = graph_new(s);
    struct graph_node *node[GRAPH_NODES];
    *g = (struct model_graph){ .nodes = 1 + below(GRAPH_NODES) };
    for (u32 i = 0; i < g->nodes; i++) {
        struct graph_dep dep[GRAPH_NODES];
        u32 n = 0;
        for (u32 k = 0; k < i; k++)
            if (below(3) == 0) {
                g->deps[i] |= 1u << k;
                dep[n++] = (struct graph_dep){ node[k], OP_EDGE_COMPLETE };
            }
        g->id[i] = (struct node_id){ g, i };
        struct op_spec spec = { .kind = below(2) ? OP_LAUNCH : OP_COPY, .run = keep_node, .data = &g->id[i] };
        UNIT_EQ(graph_add(data, dep, n, &spec, &node[i]), OP_OK);
    }
    UNIT_EQ(graph_instantiate(data, 0, &g->x, NULL), OP_OK);
    graph_delete(data);
}

static void host_waits(struct model_stream *m)
{
    set_or(&host, &m->done);
    if (m->legacy) set_or(&host, &blocking_all);
}

static void replace_stream(struct model_stream *m)
{
    if (m->legacy) return;
    UNIT_EQ(stream_delete(m->st), OP_OK);
    m->blocking = below(2);
    m->st = stream_new(s, m->blocking ? STREAM_BLOCKING : STREAM_NON_BLOCKING, 0);
    m->done = (struct set){ 0 };
}

static void step(void)
{
    struct model_stream *m = &stream[below(streams)];
    struct model_event *e = &event[below(EVENTS)];
    switch (below(16)) {
    case 0:
    case 1: {
        struct set p = now(m); /* the record is an operation, too */
        UNIT_EQ(event_record(e->e, m->st, 0), OP_OK);
        did(m, &p);
        e->recorded = true;
        e->at = p;
        break;
    }
    case 2:
    case 3:
    case 4: {
        UNIT_EQ(event_wait(m->st, e->e, 0), OP_OK);
        if (!e->recorded) break;
        struct set p = now(m);
        set_or(&p, &e->at);
        did(m, &p);
        break;
    }
    case 5:
        if (below(4)) break;
        UNIT_EQ(stream_synchronise(m->st), OP_OK);
        host_waits(m);
        break;
    case 6:
        if (stream_query(m->st) == OP_OK) host_waits(m);
        break;
    case 7:
        if (event_query(e->e) == OP_OK && e->recorded) set_or(&host, &e->at);
        break;
    case 8:
        if (below(3)) break;
        UNIT_EQ(event_synchronise(e->e), OP_OK);
        if (e->recorded) set_or(&host, &e->at);
        break;
    case 9:
        if (below(12)) break;
        UNIT_EQ(streams_synchronise(s), OP_OK);
        set_or(&host, &all);
        break;
    case 10:
        if (!below(3)) replace_stream(m);
        break;
    case 11: launch_graph(m, &graph[below(2)]); break;
    default: enqueue(m);
    }
}

static void begin(u64 which, u32 slots)
{
    struct streams_options o = { .seeded = which % 3 == 0, .seed = which, .slots = slots };
    seed = which;
    count = 0;
    memset(op_of, 0, sizeof op_of);
    memset(before, 0, sizeof before);
    host = all = blocking_all = legacy_all = (struct set){ 0 };
    s = streams_new(&o);
    for (u32 i = 0; i < streams; i++) {
        bool blocking = below(2);
        stream[i] = (struct model_stream){ .legacy = i == 0, .blocking = blocking };
        stream[i].st = i ? stream_new(s, blocking ? STREAM_BLOCKING : STREAM_NON_BLOCKING, 0) : stream_legacy(s);
    }
    for (u32 i = 0; i < EVENTS; i++) event[i] = (struct model_event){ .e = event_new(s, 0) };
    for (u32 i = 0; i < 2; i++) make_graph(&graph[i]);
}

static void finish(void)
{
    for (u32 i = 0; i < count; i++) op_release(op_of[i]);
    for (u32 i = 0; i < 2; i++) graph_exec_delete(graph[i].x);
    for (u32 i = 0; i < EVENTS; i++) event_delete(event[i].e);
    streams_delete(s);
}

/* The number of pairs that disagree. `exact`: in both directions; else order must not be missed. */
static u32 program(u64 which, u32 slots, bool exact)
{
    begin(which, slots);
    u32 n = OPS - 1 - below(OPS / 2), wrong = 0;
    while (count < n) step();
    for (u32 i = 0; i < count; i++) /* what the host knows now */
        if (set_has(&host, i) && op_of[i] && !host_after(s, op_stamp_of(op_of[i]))) wrong++;
    UNIT_EQ(streams_synchronise(s), OP_OK);
    for (u32 b = 0; b < count; b++)
        for (u32 a = 0; a < count; a++) {
            if (a == b) continue;
            bool is = op_before(op_stamp_of(op_of[a]), op_of[b]), should = set_has(&before[b], a);
            if (is == should || (is && !exact)) continue;
            if (!wrong++)
                fprintf(stderr, "program %" PRIu64 ": %u before %u: %d, should be %d\n", which, a, b, is, should);
        }
    if (exact) UNIT(!streams_inexact(s));
    finish();
    return wrong;
}

int main(int argc, char **argv)
{
    u64 first = argc > 2 ? strtoull(argv[1], NULL, 0) : 1, n = argc > 2 ? strtoull(argv[2], NULL, 0) : 60;
    streams = STREAMS;
    for (u64 i = first; i < first + n; i++) UNIT_EQ(program(i, 0, true), 0);
    /* With hardly any slots unordered operations may count as ordered, never the other way round. */
    for (u64 i = first; i < first + n / 4; i++) UNIT_EQ(program(i, 3, false), 0);
    streams = STREAMS_MANY;
    for (u64 i = first; i < first + n / 2; i++) UNIT_EQ(program(i, 0, true), 0);
    for (u64 i = first; i < first + n / 8; i++) UNIT_EQ(program(i, 100, false), 0);
    return unit_done();
}
