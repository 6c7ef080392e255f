/* Graphs and capture, rule by rule. */
#include "unit.h"
#include "stream_backend.h"

static struct streams *s;
static struct stream *x, *y;

static void open_all(void)
{
    s = streams_new(&(struct streams_options){ 0 });
    x = stream_new(s, STREAM_NON_BLOCKING, 0);
    y = stream_new(s, STREAM_NON_BLOCKING, 0);
}

/* A body that adds a digit: the order in which nodes ran. */
static u64 trail;
static u32 digit(struct op *op, void *data)
{
    (void)op;
    trail = trail * 10 + (u64)(uintptr_t)data;
    return OP_OK;
}
static u32 dropped;
static void drop(void *data)
{
    (void)data;
    dropped++;
}
static struct op_spec node_of(u32 d)
{
    return (struct op_spec){ .kind = OP_LAUNCH, .run = digit, .data = (void *)(uintptr_t)d, .drop = drop };
}
static struct graph_node *add(struct graph *g, u32 d, struct graph_node *a, struct graph_node *b)
{
    struct graph_dep dep[2] = { { a, OP_EDGE_COMPLETE }, { b, OP_EDGE_COMPLETE } };
    struct op_spec spec = node_of(d);
    struct graph_node *n;
    UNIT_EQ(graph_add(g, dep, (a != NULL) + (b != NULL), &spec, &n), OP_OK);
    return n;
}
static u64 run(struct graph_exec *e, struct stream *st)
{
    trail = 0;
    UNIT_EQ(graph_launch(e, st, 0, NULL), OP_OK);
    UNIT_EQ(stream_synchronise(st), OP_OK);
    return trail;
}

static void building(void)
{
    open_all();
    dropped = 0;
    struct graph *g = graph_new(s), *other = graph_new(s);
    struct graph_node *a = add(g, 1, NULL, NULL), *b = add(g, 2, a, NULL), *c = add(g, 3, b, NULL), *bad = NULL;
    struct graph_node *o = add(other, 9, NULL, NULL);
    struct op_spec spec = node_of(4);
    struct graph_dep foreign = { o, OP_EDGE_COMPLETE }, twice[2] = { { a, 0 }, { a, 0 } };
    UNIT_EQ(graph_add(g, &foreign, 1, &spec, NULL), OP_INVALID_VALUE);
    UNIT_EQ(graph_add(g, twice, 2, &spec, NULL), OP_INVALID_VALUE);
    UNIT_EQ(graph_edge_add(g, a, b, 0), OP_INVALID_VALUE); /* there already */
    UNIT_EQ(graph_edge_add(g, a, a, 0), OP_INVALID_VALUE);
    UNIT_EQ(graph_edge_add(g, a, c, 0), OP_OK);
    UNIT_EQ(graph_edge_count(g), 3);
    UNIT_EQ(graph_edge_remove(g, a, c), OP_OK);
    UNIT_EQ(graph_edge_remove(g, a, c), OP_INVALID_VALUE);
    struct graph_exec *e;
    UNIT_EQ(graph_edge_add(g, c, a, 0), OP_OK); /* a cycle is found when it is instantiated */
    struct graph_node *tail = add(g, 5, c, NULL);
    UNIT_EQ(graph_instantiate(g, 0, &e, &bad), OP_INVALID_VALUE);
    UNIT(!e && (bad == a || bad == b || bad == c));
    graph_edge_remove(g, c, a);
    UNIT_EQ(graph_node_remove(tail), OP_OK);
    UNIT_EQ(graph_instantiate(g, 0, &e, &bad), OP_OK);
    UNIT(!bad);
    UNIT_EQ(run(e, x), 123);
    UNIT_EQ(graph_node_remove(b), OP_OK); /* the executable graph has its own */
    UNIT_EQ(graph_node_count(g), 2);
    UNIT(graph_node_at(g, 1) == c && graph_node_deps(c, NULL, 0) == 0);
    UNIT_EQ(run(e, x), 123);
    graph_delete(g);
    graph_delete(other);
    UNIT_EQ(run(e, x), 123);
    graph_exec_delete(e);
    streams_delete(s);
    UNIT_EQ(dropped, 5); /* a, b, c, tail and o, once each */
}

/* Graphs in graphs end somewhere: those that are put around others, and those that are put into the innermost. */
static void too_deep(void)
{
    struct graph *g = graph_new(s), *outer;
    struct graph_node *n;
    struct graph_exec *e;
    u32 deep = 1;
    add(g, 5, NULL, NULL);
    for (u32 status = OP_OK; !status; deep += !status) {
        outer = graph_new(s);
        status = graph_add_child(outer, NULL, 0, g, &n);
        UNIT_EQ(status, deep < GRAPH_DEPTH ? OP_OK : OP_NOT_SUPPORTED);
        graph_delete(status ? outer : g);
        if (!status) g = outer;
    }
    UNIT_EQ(deep, GRAPH_DEPTH);
    UNIT(graph_fits(g, NULL));
    UNIT_EQ(graph_instantiate(g, 0, &e, NULL), OP_OK);
    UNIT_EQ(run(e, x), 5);
    graph_exec_delete(e);
    struct graph *in = g, *empty = graph_new(s);
    while (graph_node_child(graph_node_at(in, 0))) in = graph_node_child(graph_node_at(in, 0));
    UNIT(!graph_fits(in, NULL));
    UNIT_EQ(graph_add_child(in, NULL, 0, empty, &n), OP_NOT_SUPPORTED);
    graph_delete(empty);
    graph_delete(g);
}

/* A graph that is put twice into the next, and that into the next, ends somewhere, too. */
static void too_large(void)
{
    struct graph *g = graph_new(s), *half = graph_new(s);
    struct graph_node *n;
    struct op_spec empty = { .kind = OP_EMPTY };
    for (u32 i = 0; i < GRAPH_CHILD_NODES / 2; i++) {
        UNIT_EQ(graph_add(half, NULL, 0, &empty, &n), OP_OK);
        UNIT_EQ(graph_add(g, NULL, 0, &empty, &n), OP_OK);
    }
    struct graph *outer = graph_new(s);
    UNIT(graph_fits(outer, g));
    UNIT_EQ(graph_add_child(g, NULL, 0, half, &n), OP_OK); /* the node of the child is one too many */
    UNIT(!graph_fits(outer, g));
    UNIT_EQ(graph_add_child(outer, NULL, 0, g, &n), OP_NOT_SUPPORTED);
    graph_delete(outer);
    graph_delete(half);
    graph_delete(g);
}

static void clones_and_children(void)
{
    open_all();
    struct graph *g = graph_new(s), *clone, *outer = graph_new(s);
    struct graph_node *a = add(g, 1, NULL, NULL), *b = add(g, 2, a, NULL);
    UNIT_EQ(graph_clone(g, &clone), OP_OK);
    struct graph_node *twin = graph_in_clone(b, clone);
    UNIT(twin && twin != b && graph_in_clone(twin, g) == NULL);
    add(clone, 3, twin, NULL);
    struct graph_node *first = add(outer, 7, NULL, NULL), *child;
    struct graph_dep dep = { first, OP_EDGE_COMPLETE };
    UNIT_EQ(graph_add_child(outer, &dep, 1, clone, &child), OP_OK);
    add(outer, 8, child, NULL);
    add(clone, 4, NULL, NULL); /* the child is a copy */
    UNIT_EQ(graph_node_count(graph_node_child(child)), 3);
    struct graph_exec *e;
    UNIT_EQ(graph_instantiate(outer, 0, &e, NULL), OP_OK);
    graph_delete(outer);
    graph_delete(clone);
    graph_delete(g);
    UNIT_EQ(run(e, x), 71238);
    graph_exec_delete(e);
    too_deep();
    too_large();
    /* An empty graph, and an empty child. */
    g = graph_new(s);
    outer = graph_new(s);
    UNIT_EQ(graph_add_child(outer, NULL, 0, g, &child), OP_OK);
    add(outer, 6, child, NULL);
    struct graph_exec *none;
    UNIT_EQ(graph_instantiate(g, 0, &none, NULL), OP_OK);
    UNIT_EQ(graph_instantiate(outer, 0, &e, NULL), OP_OK);
    UNIT_EQ(run(none, x), 0);
    UNIT_EQ(run(e, x), 6);
    graph_exec_delete(none);
    graph_exec_delete(e);
    graph_delete(g);
    graph_delete(outer);
    streams_delete(s);
}

static void never_overlaps_itself(void)
{
    open_all();
    struct graph *g = graph_new(s);
    struct op *at[2], *end[3];
    struct op_spec spec = manual_launch(&at[0]);
    graph_add(g, NULL, 0, &spec, NULL);
    spec = manual_launch(&at[1]);
    graph_add(g, NULL, 0, &spec, NULL);
    struct graph_exec *e;
    graph_instantiate(g, 0, &e, NULL);
    graph_delete(g);
    UNIT_EQ(graph_launch(e, x, 0, &end[0]), OP_OK);
    struct op *first = at[0], *second = at[1];
    UNIT(first && second); /* the nodes run side by side */
    UNIT(!op_before(op_stamp_of(first), second) && !op_before(op_stamp_of(second), first));
    op_hold(first);
    op_stamp stamp = op_stamp_of(first);
    at[0] = at[1] = NULL;
    UNIT_EQ(graph_launch(e, y, 0, &end[1]), OP_OK); /* in another stream */
    UNIT(!at[0] && !at[1]);
    op_done(first, OP_OK);
    UNIT(!at[0]);
    op_done(second, OP_OK);
    UNIT(at[0] && at[1]);
    UNIT(op_before(stamp, at[0]) && op_before(stamp, at[1]));
    UNIT_EQ(op_state(end[0]), OP_DONE);
    UNIT_EQ(op_state(end[1]), OP_QUEUED);
    graph_exec_delete(e); /* with a launch in flight */
    op_done(at[1], OP_OK);
    op_done(at[0], 999);
    UNIT_EQ(stream_synchronise(y), 999); /* a node's error is the stream's */
    UNIT(op_before(stamp, end[1]));
    op_release(first);
    op_release(end[0]);
    op_release(end[1]);
    streams_delete(s);
}

static void updates(void)
{
    open_all();
    struct graph *g = graph_new(s), *h = graph_new(s);
    struct graph_node *a = add(g, 1, NULL, NULL), *b = add(g, 2, a, NULL);
    struct graph_exec *e;
    struct graph_update why;
    graph_instantiate(g, 0, &e, NULL);
    add(h, 3, add(h, 4, NULL, NULL), NULL);
    UNIT_EQ(graph_update(e, h, &why), OP_OK);
    UNIT_EQ(run(e, x), 43);
    struct op_spec spec = node_of(5);
    UNIT_EQ(graph_exec_set(e, b, &spec), OP_OK); /* by the node that it was made from */
    UNIT_EQ(run(e, x), 45);
    spec.kind = OP_COPY;
    UNIT_EQ(graph_exec_set(e, b, &spec), OP_INVALID_VALUE);
    struct graph_node *more = add(h, 6, NULL, NULL);
    UNIT_EQ(graph_update(e, h, &why), OP_GRAPH_UPDATE_FAILURE);
    UNIT(why.result == GRAPH_UPDATE_TOPOLOGY);
    graph_node_remove(more);
    graph_edge_remove(h, graph_node_at(h, 0), graph_node_at(h, 1)); /* the same nodes, another edge */
    UNIT_EQ(graph_update(e, h, &why), OP_GRAPH_UPDATE_FAILURE);
    UNIT(why.result == GRAPH_UPDATE_TOPOLOGY && why.node == graph_node_at(h, 1));
    graph_delete(h);
    h = graph_new(s);
    struct graph_node *n;
    spec = node_of(1);
    spec.kind = OP_HOST;
    graph_add(h, NULL, 0, &spec, &n);
    add(h, 2, n, NULL);
    UNIT_EQ(graph_update(e, h, &why), OP_GRAPH_UPDATE_FAILURE);
    UNIT(why.result == GRAPH_UPDATE_KIND && why.node == n);
    graph_delete(h);
    h = graph_new(s);
    spec = node_of(1);
    spec.key = 1;
    graph_add(h, NULL, 0, &spec, &n);
    add(h, 2, n, NULL);
    UNIT_EQ(graph_update(e, h, &why), OP_GRAPH_UPDATE_FAILURE);
    UNIT(why.result == GRAPH_UPDATE_PARAMETERS && why.node == n);
    UNIT_EQ(run(e, x), 45); /* as before */
    spec = node_of(8);
    UNIT_EQ(graph_node_set(a, &spec), OP_OK); /* the graph, not what was made from it */
    UNIT_EQ(run(e, x), 45);
    /* A launch in flight keeps what it was enqueued with. */
    struct op *gate;
    spec = manual_launch(&gate);
    op_enqueue(x, &spec, NULL);
    trail = 0;
    graph_launch(e, x, 0, NULL);
    UNIT_EQ(graph_update(e, g, NULL), OP_OK);
    graph_launch(e, x, 0, NULL);
    op_done(gate, OP_OK);
    UNIT_EQ(stream_synchronise(x), OP_OK);
    UNIT_EQ(trail, 4582);
    graph_delete(g);
    graph_delete(h);
    graph_exec_delete(e);
    streams_delete(s);
}

static void allocations(void)
{
    open_all();
    char memory[2];
    struct graph *g = graph_new(s), *copy, *outer = graph_new(s);
    struct op_spec alloc = { .kind = OP_ALLOC, .run = digit, .data = (void *)1, .address = &memory[0] };
    struct op_spec free_it = { .kind = OP_FREE, .run = digit, .data = (void *)2, .address = &memory[0] };
    struct graph_node *a, *b;
    UNIT_EQ(graph_add(g, NULL, 0, &alloc, &a), OP_OK);
    UNIT_EQ(graph_add(g, NULL, 0, &alloc, NULL), OP_INVALID_VALUE); /* an address has one node */
    struct graph_dep dep = { a, OP_EDGE_COMPLETE };
    struct graph_exec *e, *f;
    UNIT_EQ(graph_instantiate(g, 0, &e, NULL), OP_OK);
    UNIT_EQ(graph_instantiate(g, 0, &f, NULL), OP_NOT_SUPPORTED); /* one at a time */
    UNIT_EQ(graph_clone(g, &copy), OP_NOT_SUPPORTED);
    UNIT_EQ(graph_add_child(outer, NULL, 0, g, NULL), OP_NOT_SUPPORTED);
    UNIT_EQ(graph_node_remove(a), OP_NOT_SUPPORTED);
    UNIT_EQ(run(e, x), 1);
    UNIT_EQ(graph_launch(e, x, 0, NULL), OP_INVALID_VALUE); /* the allocation is still there */
    UNIT_EQ(op_enqueue(x, &free_it, NULL), OP_OK);
    UNIT_EQ(run(e, x), 1);
    graph_freed(s, &memory[0]);
    UNIT_EQ(run(e, x), 1);
    graph_exec_delete(e);
    UNIT_EQ(graph_instantiate(g, GRAPH_AUTO_FREE, &e, NULL), OP_OK);
    UNIT_EQ(run(e, x), 1);
    UNIT_EQ(run(e, x), 1);
    graph_exec_delete(e);
    UNIT_EQ(graph_add(g, &dep, 1, &free_it, &b), OP_OK);
    UNIT_EQ(graph_add(g, &dep, 1, &free_it, NULL), OP_INVALID_VALUE); /* freed twice */
    UNIT_EQ(graph_instantiate(g, 0, &e, NULL), OP_OK);
    UNIT_EQ(run(e, x), 12);
    UNIT_EQ(run(e, x), 12);
    struct graph *h = graph_new(s);
    alloc.address = &memory[1];
    graph_add(h, NULL, 0, &alloc, &a);
    dep.from = a;
    graph_add(h, &dep, 1, &free_it, NULL);
    struct graph_update why;
    UNIT_EQ(graph_update(e, h, &why), OP_GRAPH_UPDATE_FAILURE);
    UNIT(why.result == GRAPH_UPDATE_NOT_SUPPORTED && why.node == a);
    graph_delete(h);
    graph_delete(g);
    graph_delete(outer);
    graph_exec_delete(e);
    streams_delete(s);
}

static void event_nodes(void)
{
    open_all();
    struct event *e = event_new(s, 0), *f = event_new(s, 0);
    struct graph *g = graph_new(s);
    struct op *gate, *in, *after;
    struct op_spec spec = { .kind = OP_WAIT, .event = e };
    struct graph_node *n;
    graph_add(g, NULL, 0, &spec, &n);
    struct graph_dep dep = { n, OP_EDGE_COMPLETE };
    spec = manual_launch(&in);
    graph_add(g, &dep, 1, &spec, &n);
    dep.from = n;
    spec = (struct op_spec){ .kind = OP_RECORD, .event = f };
    graph_add(g, &dep, 1, &spec, NULL);
    struct graph_exec *x1;
    graph_instantiate(g, 0, &x1, NULL);
    graph_delete(g);
    spec = manual_launch(&gate);
    op_enqueue(y, &spec, NULL);
    event_record(e, y, 0);
    graph_launch(x1, x, 0, NULL); /* binds to the record of y, and is a record of f */
    event_wait(y, f, 0);
    spec = manual_launch(&after);
    op_enqueue(y, &spec, NULL);
    UNIT(!started(&in));
    op_done(gate, OP_OK);
    UNIT(started(&in) && !started(&after));
    UNIT_EQ(event_query(f), OP_NOT_READY);
    op_done(in, OP_OK);
    UNIT(started(&after));
    UNIT_EQ(event_query(f), OP_OK);
    op_done(after, OP_OK);
    graph_exec_delete(x1);
    event_delete(e);
    event_delete(f);
    streams_delete(s);
}

static void programmatic_edges(void)
{
    open_all();
    struct graph *g = graph_new(s);
    struct op *a, *b;
    struct graph_node *n;
    struct op_spec spec = manual_launch(&a);
    graph_add(g, NULL, 0, &spec, &n);
    struct graph_dep dep = { n, OP_EDGE_PROGRAMMATIC };
    spec = manual_launch(&b);
    graph_add(g, &dep, 1, &spec, NULL);
    struct graph_exec *e;
    struct op *end;
    graph_instantiate(g, 0, &e, NULL);
    graph_delete(g);
    graph_launch(e, x, 0, &end);
    UNIT(started(&a) && !started(&b));
    op_trigger(a);
    UNIT(started(&b) && !op_before(op_stamp_of(a), b));
    op_stamp stamp = op_stamp_of(a);
    op_hold(b);
    op_done(b, OP_OK);
    UNIT_EQ(op_state(end), OP_QUEUED);
    op_done(a, OP_OK);
    UNIT_EQ(op_state(end), OP_DONE);
    UNIT(op_before_full(stamp, b) && op_before(stamp, end));
    op_release(b);
    op_release(end);
    graph_exec_delete(e);
    streams_delete(s);
}

/* ---- capture ---- */

static void put(struct stream *st, u32 d)
{
    struct op_spec spec = node_of(d);
    UNIT_EQ(op_enqueue(st, &spec, NULL), OP_OK);
}

static void capture_fork(void)
{
    open_all();
    struct event *e = event_new(s, 0), *f = event_new(s, 0);
    struct graph *g;
    u64 id;
    trail = 0;
    UNIT_EQ(capture_begin(x, CAPTURE_GLOBAL), OP_OK);
    UNIT_EQ(capture_status(x, &id), CAPTURE_ACTIVE);
    UNIT_EQ(capture_status(y, NULL), CAPTURE_NONE);
    put(x, 1);
    event_record(e, x, 0);
    UNIT_EQ(event_wait(y, e, 0), OP_OK); /* y joins */
    UNIT_EQ(capture_status(y, NULL), CAPTURE_ACTIVE);
    put(y, 2);
    put(x, 3);
    event_record(f, y, 0);
    UNIT_EQ(event_wait(x, f, 0), OP_OK); /* and comes back */
    put(x, 4);
    UNIT_EQ(capture_end(x, &g), OP_OK);
    UNIT_EQ(trail, 0); /* nothing has run */
    UNIT_EQ(capture_status(y, NULL), CAPTURE_NONE);
    UNIT_EQ(graph_node_count(g), 4);
    UNIT_EQ(graph_edge_count(g), 4);
    struct graph_dep dep[2];
    UNIT_EQ(graph_node_deps(graph_node_at(g, 3), dep, 2), 2);
    UNIT_EQ(event_query(f), OP_INVALID_VALUE); /* last recorded in a capture, which is over */
    UNIT_EQ(event_synchronise(f), OP_INVALID_VALUE);
    UNIT_EQ(event_wait(y, f, 0), OP_INVALID_VALUE);
    event_record(f, y, 0);
    UNIT_EQ(event_synchronise(f), OP_OK);
    struct graph_exec *e1;
    UNIT_EQ(graph_instantiate(g, 0, &e1, NULL), OP_OK);
    u64 t = run(e1, x);
    UNIT(t == 1234 || t == 1324);
    graph_delete(g);
    /* The launch of a graph cannot be captured. */
    UNIT_EQ(capture_begin(y, CAPTURE_RELAXED), OP_OK);
    put(y, 5);
    UNIT_EQ(graph_launch(e1, y, 0, NULL), OP_CAPTURE_UNSUPPORTED);
    UNIT_EQ(capture_end(y, &g), OP_CAPTURE_INVALIDATED);
    graph_exec_delete(e1);
    event_delete(e);
    event_delete(f);
    streams_delete(s);
}

/* Begins a capture of x with one node, and says what ending it gives. */
static void begin_x(enum capture_mode mode)
{
    UNIT_EQ(capture_begin(x, mode), OP_OK);
    put(x, 1);
}
static u32 end_x(void)
{
    struct graph *g;
    u32 status = capture_end(x, &g);
    UNIT_EQ(g != NULL, status == OP_OK);
    graph_delete(g);
    UNIT_EQ(capture_status(x, NULL), CAPTURE_NONE);
    return status;
}

static void capture_errors(void)
{
    open_all();
    struct event *e = event_new(s, 0), *f = event_new(s, 0), *old = event_new(s, 0), *never = event_new(s, 0);
    struct stream *blocking = stream_new(s, STREAM_BLOCKING, 0), *legacy = stream_legacy(s);
    struct graph *g;
    struct op_spec spec = node_of(2);
    double ms;
    event_record(old, y, 0);
    UNIT_EQ(capture_end(x, &g), OP_ILLEGAL_STATE); /* not captured */
    UNIT_EQ(capture_begin(legacy, CAPTURE_RELAXED), OP_CAPTURE_UNSUPPORTED);
    begin_x(CAPTURE_GLOBAL);
    UNIT_EQ(capture_begin(x, CAPTURE_GLOBAL), OP_ILLEGAL_STATE);
    UNIT_EQ(end_x(), OP_OK);

    begin_x(CAPTURE_GLOBAL); /* a fork that does not come back */
    event_record(e, x, 0);
    event_wait(y, e, 0);
    put(y, 2);
    UNIT_EQ(end_x(), OP_CAPTURE_UNJOINED);
    UNIT_EQ(capture_status(y, NULL), CAPTURE_NONE);

    begin_x(CAPTURE_GLOBAL); /* ended on the stream that joined */
    event_record(e, x, 0);
    event_wait(y, e, 0);
    UNIT_EQ(capture_end(y, &g), OP_CAPTURE_UNMATCHED);
    UNIT_EQ(capture_status(x, NULL), CAPTURE_INVALIDATED);
    UNIT_EQ(end_x(), OP_CAPTURE_INVALIDATED);

    begin_x(CAPTURE_GLOBAL); /* a fork without nodes need not come back */
    event_record(e, x, 0);
    event_wait(y, e, 0);
    UNIT_EQ(end_x(), OP_OK);
    UNIT_EQ(capture_status(y, NULL), CAPTURE_NONE);

    begin_x(CAPTURE_GLOBAL); /* waiting for others, and asking them, is unsafe as allocating is */
    UNIT_EQ(stream_synchronise(y), OP_CAPTURE_UNSUPPORTED);
    UNIT_EQ(end_x(), OP_CAPTURE_INVALIDATED);
    begin_x(CAPTURE_THREAD_LOCAL);
    UNIT_EQ(stream_query(y), OP_CAPTURE_UNSUPPORTED);
    UNIT_EQ(end_x(), OP_CAPTURE_INVALIDATED);
    begin_x(CAPTURE_GLOBAL);
    UNIT_EQ(event_query(old), OP_CAPTURE_UNSUPPORTED);
    UNIT_EQ(end_x(), OP_CAPTURE_INVALIDATED);
    begin_x(CAPTURE_GLOBAL);
    UNIT_EQ(event_synchronise(old), OP_CAPTURE_UNSUPPORTED);
    UNIT_EQ(end_x(), OP_CAPTURE_INVALIDATED);
    begin_x(CAPTURE_RELAXED);
    UNIT_EQ(stream_synchronise(y), OP_OK);
    UNIT_EQ(event_synchronise(old), OP_OK);
    UNIT_EQ(end_x(), OP_OK);

    begin_x(CAPTURE_GLOBAL); /* synchronising with a captured stream, then anything on it */
    UNIT_EQ(stream_synchronise(x), OP_CAPTURE_UNSUPPORTED);
    UNIT_EQ(capture_status(x, NULL), CAPTURE_INVALIDATED);
    UNIT_EQ(op_enqueue(x, &spec, NULL), OP_CAPTURE_INVALIDATED);
    UNIT_EQ(event_record(e, x, 0), OP_CAPTURE_INVALIDATED);
    UNIT_EQ(event_wait(x, never, 0), OP_CAPTURE_INVALIDATED);
    UNIT_EQ(stream_query(x), OP_CAPTURE_INVALIDATED);
    UNIT_EQ(end_x(), OP_CAPTURE_INVALIDATED);

    begin_x(CAPTURE_RELAXED);
    UNIT_EQ(stream_query(x), OP_CAPTURE_UNSUPPORTED);
    UNIT_EQ(end_x(), OP_CAPTURE_INVALIDATED);

    begin_x(CAPTURE_RELAXED); /* the whole device */
    UNIT_EQ(streams_synchronise(s), OP_CAPTURE_UNSUPPORTED);
    UNIT_EQ(end_x(), OP_CAPTURE_INVALIDATED);

    begin_x(CAPTURE_GLOBAL); /* captured events */
    event_record(e, x, 0);
    UNIT_EQ(event_query(e), OP_CAPTURED_EVENT);
    UNIT_EQ(end_x(), OP_CAPTURE_INVALIDATED);
    begin_x(CAPTURE_GLOBAL);
    event_record(e, x, 0);
    UNIT_EQ(event_synchronise(e), OP_CAPTURED_EVENT);
    UNIT_EQ(event_wait(y, e, 0), OP_CAPTURE_INVALIDATED);
    UNIT_EQ(end_x(), OP_CAPTURE_INVALIDATED);
    begin_x(CAPTURE_GLOBAL);
    event_record(e, x, 0);
    UNIT_EQ(event_elapsed(old, e, &ms), OP_CAPTURED_EVENT); /* and nothing else */
    UNIT_EQ(end_x(), OP_OK);
    UNIT_EQ(event_elapsed(old, e, &ms), OP_INVALID_VALUE);

    begin_x(CAPTURE_GLOBAL); /* an event from outside; one that was never recorded orders nothing */
    UNIT_EQ(event_wait(x, never, 0), OP_OK);
    UNIT_EQ(event_wait(x, old, 0), OP_CAPTURE_ISOLATION);
    UNIT_EQ(end_x(), OP_CAPTURE_INVALIDATED);

    begin_x(CAPTURE_GLOBAL); /* two captures must not become one */
    UNIT_EQ(capture_begin(y, CAPTURE_GLOBAL), OP_OK);
    event_record(e, x, 0);
    UNIT_EQ(event_wait(y, e, 0), OP_CAPTURE_MERGE);
    UNIT_EQ(capture_end(y, &g), OP_CAPTURE_INVALIDATED);
    UNIT_EQ(end_x(), OP_CAPTURE_INVALIDATED);

    begin_x(CAPTURE_GLOBAL); /* the legacy stream beside a captured stream: no harm if that is NON_BLOCKING */
    UNIT_EQ(op_enqueue(legacy, &spec, NULL), OP_OK);
    UNIT_EQ(end_x(), OP_OK);
    UNIT_EQ(capture_begin(blocking, CAPTURE_RELAXED), OP_OK);
    UNIT_EQ(op_enqueue(legacy, &spec, NULL), OP_CAPTURE_IMPLICIT);
    UNIT_EQ(capture_end(blocking, &g), OP_CAPTURE_INVALIDATED);
    UNIT_EQ(capture_begin(blocking, CAPTURE_RELAXED), OP_OK);
    UNIT_EQ(stream_synchronise(legacy), OP_CAPTURE_IMPLICIT);
    UNIT_EQ(capture_end(blocking, &g), OP_CAPTURE_INVALIDATED);
    begin_x(CAPTURE_GLOBAL);
    event_record(e, x, 0);
    UNIT_EQ(event_wait(legacy, e, 0), OP_CAPTURE_IMPLICIT);
    UNIT_EQ(end_x(), OP_CAPTURE_INVALIDATED);

    begin_x(CAPTURE_GLOBAL); /* its stream is deleted */
    event_record(e, x, 0);
    UNIT_EQ(stream_delete(x), OP_OK);
    UNIT_EQ(event_wait(y, e, 0), OP_INVALID_VALUE);
    UNIT_EQ(streams_synchronise(s), OP_OK);
    event_delete(e);
    event_delete(f);
    event_delete(old);
    event_delete(never);
    streams_delete(s);
}

struct other { /* what another thread gets */
    enum capture_mode mode;
    bool end; /* it tries to end the capture, too */
    u32 unsafe, ended;
};
static void *other_thread(void *of)
{
    struct other *o = of;
    struct graph *g;
    capture_exchange_mode(o->mode);
    o->unsafe = capture_unsafe_call(s);
    if (!o->end) return NULL;
    o->ended = capture_end(x, &g);
    graph_delete(g);
    return NULL;
}
static struct other ask_other(enum capture_mode mode, bool end)
{
    struct other o = { .mode = mode, .end = end };
    pthread_t t;
    pthread_create(&t, NULL, other_thread, &o);
    pthread_join(t, NULL);
    return o;
}

static void capture_modes(void)
{
    open_all();
    UNIT_EQ(capture_unsafe_call(s), OP_OK); /* nothing is captured */
    begin_x(CAPTURE_GLOBAL);
    struct other o = ask_other(CAPTURE_RELAXED, true);
    UNIT_EQ(o.unsafe, OP_OK); /* that thread takes the risk */
    UNIT_EQ(o.ended, OP_CAPTURE_WRONG_THREAD);
    UNIT_EQ(capture_status(x, NULL), CAPTURE_NONE); /* and has ended it without a graph */
    begin_x(CAPTURE_GLOBAL);
    o = ask_other(CAPTURE_THREAD_LOCAL, false);
    UNIT_EQ(o.unsafe, OP_OK);
    UNIT_EQ(capture_status(x, NULL), CAPTURE_ACTIVE);
    o = ask_other(CAPTURE_GLOBAL, false);
    UNIT_EQ(o.unsafe, OP_CAPTURE_UNSUPPORTED); /* forbidden to all threads */
    UNIT_EQ(end_x(), OP_CAPTURE_INVALIDATED);

    begin_x(CAPTURE_THREAD_LOCAL);
    o = ask_other(CAPTURE_GLOBAL, false);
    UNIT_EQ(o.unsafe, OP_OK); /* forbidden to this thread only */
    UNIT_EQ(capture_exchange_mode(CAPTURE_RELAXED), CAPTURE_GLOBAL);
    UNIT_EQ(capture_unsafe_call(s), OP_OK);
    UNIT_EQ(capture_exchange_mode(CAPTURE_GLOBAL), CAPTURE_RELAXED);
    UNIT_EQ(capture_unsafe_call(s), OP_CAPTURE_UNSUPPORTED);
    UNIT_EQ(end_x(), OP_CAPTURE_INVALIDATED);

    begin_x(CAPTURE_RELAXED);
    UNIT_EQ(capture_unsafe_call(s), OP_OK);
    UNIT_EQ(ask_other(CAPTURE_GLOBAL, true).ended, OP_OK); /* and any thread may end it */
    UNIT_EQ(capture_status(x, NULL), CAPTURE_NONE);
    streams_delete(s);
}

static void capture_kinds(void)
{
    open_all();
    struct event *e = event_new(s, 0), *old = event_new(s, 0);
    u32 cell = 0;
    struct graph *g;
    event_record(old, y, 0);
    UNIT_EQ(capture_begin(x, CAPTURE_GLOBAL), OP_OK);
    struct op *a, *b;
    struct op_spec spec = manual_launch(&a);
    op_enqueue(x, &spec, NULL);
    spec = manual_launch(&b);
    spec.programmatic = true;
    op_enqueue(x, &spec, NULL);
    UNIT_EQ(event_wait_external(x, old, 0), OP_OK); /* a node, not a dependency on what is outside */
    UNIT_EQ(event_record_external(e, x, 0), OP_OK);
    spec = (struct op_spec){ .kind = OP_VALUE_WRITE, .address = &cell, .value = 3, .bits = 32 };
    UNIT_EQ(op_enqueue(x, &spec, NULL), OP_OK);
    UNIT_EQ(capture_end(x, &g), OP_OK);
    UNIT_EQ(event_query(e), OP_OK); /* never recorded so far */
    static const enum op_kind want[] = { OP_LAUNCH, OP_LAUNCH, OP_WAIT, OP_RECORD, OP_VALUE_WRITE };
    UNIT_EQ(graph_node_count(g), COUNT_OF(want));
    for (u32 i = 0; i < COUNT_OF(want); i++) UNIT_EQ(graph_node_kind(graph_node_at(g, i)), want[i]);
    struct graph_dep dep;
    graph_node_deps(graph_node_at(g, 1), &dep, 1);
    UNIT_EQ(dep.kind, OP_EDGE_PROGRAMMATIC);
    struct graph_exec *exec;
    UNIT_EQ(graph_instantiate(g, 0, &exec, NULL), OP_OK);
    graph_launch(exec, y, 0, NULL);
    UNIT_EQ(event_query(e), OP_NOT_READY); /* recorded by the launch */
    op_trigger(a);
    UNIT(started(&b));
    op_done(b, OP_OK);
    op_done(a, OP_OK);
    UNIT_EQ(event_synchronise(e), OP_OK);
    UNIT_EQ(stream_synchronise(y), OP_OK);
    UNIT_EQ(cell, 3);
    graph_exec_delete(exec);
    graph_delete(g);
    event_delete(e);
    event_delete(old);
    streams_delete(s);
}

int main(void)
{
    building();
    clones_and_children();
    never_overlaps_itself();
    updates();
    allocations();
    event_nodes();
    programmatic_edges();
    capture_fork();
    capture_errors();
    capture_modes();
    capture_kinds();
    return unit_done();
}
