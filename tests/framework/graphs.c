/* Graphs: captured and built, launched again and again, changed in between. */
#include "suite.h"

static void ints_are(uint64_t at, int n, int32_t value)
{
    int32_t want[64];
    for (int i = 0; i < n; i++) want[i] = value;
    same(at, want, 4u * (unsigned)n);
}

static lk_launch over(const lk_value *v, uint32_t n)
{
    return (lk_launch){ .size = sizeof(lk_launch), .grid = { 1 }, .block = { 64 }, .values = v, .arg_count = n };
}

/* A stream is captured: write, launch, launch; the graph runs `times`. */
static void captured(int times)
{
    lk_stream *s = stream_of(0);
    lk_graph *g = NULL;
    lk_exec *x = NULL;
    lk_capture_status status = LK_CAPTURE_NONE;
    int32_t zero[64] = { 0 };
    uint64_t d = buffer(256, zero);
    lk_kernel *increment = job("increment"), *multiply = job("multiply");
    OK(lk_stream_capture(s, LK_CAPTURE_THREAD_LOCAL));
    OK(lk_stream_capture_status(s, &status));
    CHECK(status == LK_CAPTURE_ACTIVE);
    OK(LAUNCH_IN(s, increment, 64, 64, B(d), I(64)));
    OK(LAUNCH_IN(s, multiply, 64, 64, B(d), I(64), I(2)));
    OK(lk_stream_capture_end(s, &g));
    CHECK(lk_graph_node_count(g) == 2);
    OK(lk_graph_instantiate(g, 0, &x));
    int32_t want = 0;
    for (int i = 0; i < times; i++) {
        OK(lk_exec_launch(x, s));
        want = (want + 1) * 2;
    }
    OK(lk_stream_synchronise(s));
    ints_are(d, 64, want);
    OK(lk_exec_destroy(x));
    OK(lk_graph_destroy(g));
}

/* Two streams of a capture, forked and joined by events. */
static void forked(int unused)
{
    lk_stream *a = stream_of(LK_STREAM_NON_BLOCKING), *b = stream_of(LK_STREAM_NON_BLOCKING);
    lk_event *fork = event_of(), *join = event_of();
    lk_graph *g = NULL;
    lk_exec *x = NULL;
    int32_t zero[64] = { 0 };
    uint64_t da = buffer(256, zero), db = buffer(256, zero);
    lk_kernel *increment = job("increment"), *add = job("add<int>");
    (void)unused;
    OK(lk_stream_capture(a, LK_CAPTURE_RELAXED));
    OK(lk_event_record(fork, a));
    OK(lk_stream_wait(b, fork));
    OK(LAUNCH_IN(a, increment, 64, 64, B(da), I(64)));
    OK(LAUNCH_IN(b, increment, 64, 64, B(db), I(64)));
    OK(lk_event_record(join, b));
    OK(lk_stream_wait(a, join));
    OK(LAUNCH_IN(a, add, 64, 64, B(da), B(db), B(da), I(64)));
    OK(lk_stream_capture_end(a, &g));
    CHECK(lk_graph_node_count(g) == 3);
    OK(lk_graph_instantiate(g, 0, &x));
    OK(lk_exec_launch(x, a));
    OK(lk_stream_synchronise(a));
    ints_are(da, 64, 2);
    OK(lk_exec_destroy(x));
    OK(lk_graph_destroy(g));
}

/* Built by hand: fill, two launches that do not wait for each other, one behind both. */
static void built(int times)
{
    lk_stream *s = stream_of(0);
    lk_graph *g = NULL;
    lk_exec *x = NULL;
    lk_node *fill_a = NULL, *fill_b = NULL, *one = NULL, *two = NULL, *last = NULL;
    uint64_t a = buffer(256, NULL), b = buffer(256, NULL);
    lk_fill fa = { .size = sizeof fa, .address = a, .value = 3, .bytes = 4, .width = 64 }, fb = fa;
    lk_value va[] = { B(a), I(64) }, vb[] = { B(b), I(64), I(7) }, vc[] = { B(a), B(b), B(a), I(64) };
    lk_launch la = over(va, 2), lb = over(vb, 3), lc = over(vc, 4);
    fb.address = b;
    OK(lk_graph_create(gpu, &g));
    OK(lk_graph_add_fill(g, NULL, 0, &fa, &fill_a));
    OK(lk_graph_add_fill(g, NULL, 0, &fb, &fill_b));
    OK(lk_graph_add_launch(g, &fill_a, 1, job("increment"), &la, &one));
    OK(lk_graph_add_launch(g, &fill_b, 1, job("multiply"), &lb, &two));
    OK(lk_graph_add_launch(g, (lk_node *[]){ one, two }, 2, job("add<int>"), &lc, &last));
    CHECK(lk_graph_node_count(g) == 5);
    OK(lk_graph_instantiate(g, 0, &x));
    for (int i = 0; i < times; i++) OK(lk_exec_launch(x, s));
    OK(lk_stream_synchronise(s));
    ints_are(a, 64, 4 + 21);
    OK(lk_exec_destroy(x));
    OK(lk_graph_destroy(g));
}

static void parameters_change(int whole)
{
    lk_stream *s = stream_of(0);
    lk_graph *g = NULL, *other = NULL;
    lk_exec *x = NULL;
    lk_node *n = NULL, *m = NULL;
    int32_t one[64];
    for (int i = 0; i < 64; i++) one[i] = 1;
    uint64_t d = buffer(256, one);
    lk_value v[] = { B(d), I(64), I(3) };
    lk_launch l = over(v, 3);
    OK(lk_graph_create(gpu, &g));
    OK(lk_graph_add_launch(g, NULL, 0, job("multiply"), &l, &n));
    OK(lk_graph_instantiate(g, 0, &x));
    OK(lk_exec_launch(x, s));
    OK(lk_stream_synchronise(s));
    v[2] = I(5);
    if (whole) {
        OK(lk_graph_create(gpu, &other));
        OK(lk_graph_add_launch(other, NULL, 0, job("multiply"), &l, &m));
        OK(lk_exec_update(x, other));
    } else {
        OK(lk_exec_set_launch(x, n, job("multiply"), &l));
    }
    OK(lk_exec_launch(x, s));
    OK(lk_stream_synchronise(s));
    ints_are(d, 64, 15);
    OK(lk_exec_destroy(x));
    OK(lk_graph_destroy(g));
    if (other) OK(lk_graph_destroy(other));
}

static void counts(void *self) { ++*(volatile int *)self; }

static void host_and_copy(int unused)
{
    lk_stream *s = stream_of(0);
    lk_graph *g = NULL;
    lk_exec *x = NULL;
    lk_node *in = NULL, *call = NULL;
    volatile int count = 0;
    uint64_t from = 0, to = buffer(256, NULL);
    void *host = NULL;
    (void)unused;
    OK(lk_memory_alloc(gpu, 256, LK_MEMORY_PINNED, "pinned", &from));
    OK(lk_memory_host(gpu, from, &host));
    for (int i = 0; i < 64; i++) ((int32_t *)host)[i] = 9;
    lk_copy c = { .size = sizeof c, .to = { .address = to }, .from = { .address = from }, .width = 256 };
    OK(lk_graph_create(gpu, &g));
    OK(lk_graph_add_copy(g, NULL, 0, &c, &in));
    OK(lk_graph_add_host(g, &in, 1, counts, (void *)(uintptr_t)&count, &call));
    OK(lk_graph_instantiate(g, 0, &x));
    OK(lk_exec_launch(x, s));
    OK(lk_exec_launch(x, s));
    OK(lk_stream_synchronise(s));
    CHECK(count == 2);
    ints_are(to, 64, 9);
    OK(lk_exec_destroy(x));
    OK(lk_graph_destroy(g));
    OK(lk_memory_free(gpu, from));
}

static void child(int unused)
{
    lk_stream *s = stream_of(0);
    lk_graph *inner = NULL, *outer = NULL;
    lk_exec *x = NULL;
    lk_node *a = NULL, *b = NULL;
    int32_t zero[64] = { 0 };
    uint64_t d = buffer(256, zero);
    lk_value v[] = { B(d), I(64) };
    lk_launch l = over(v, 2);
    (void)unused;
    OK(lk_graph_create(gpu, &inner));
    OK(lk_graph_add_launch(inner, NULL, 0, job("increment"), &l, NULL));
    OK(lk_graph_create(gpu, &outer));
    OK(lk_graph_add_child(outer, NULL, 0, inner, &a));
    OK(lk_graph_add_child(outer, &a, 1, inner, &b));
    OK(lk_graph_instantiate(outer, 0, &x));
    OK(lk_exec_launch(x, s));
    OK(lk_stream_synchronise(s));
    ints_are(d, 64, 2);
    OK(lk_exec_destroy(x));
    OK(lk_graph_destroy(outer));
    OK(lk_graph_destroy(inner));
}

static void memory_of_graph(int unused)
{
    lk_stream *s = stream_of(0);
    lk_graph *g = NULL;
    lk_exec *x = NULL;
    lk_node *alloc = NULL, *fill = NULL, *copy = NULL, *end = NULL;
    uint64_t inside = 0, out = buffer(256, NULL);
    (void)unused;
    OK(lk_graph_create(gpu, &g));
    OK(lk_graph_add_alloc(g, NULL, 0, 256, "inside", &inside, &alloc));
    lk_fill f = { .size = sizeof f, .address = inside, .value = 6, .bytes = 4, .width = 64 };
    lk_copy c = { .size = sizeof c, .to = { .address = out }, .from = { .address = inside }, .width = 256 };
    OK(lk_graph_add_fill(g, &alloc, 1, &f, &fill));
    OK(lk_graph_add_copy(g, &fill, 1, &c, &copy));
    OK(lk_graph_add_free(g, &copy, 1, inside, &end));
    OK(lk_graph_instantiate(g, 0, &x));
    OK(lk_exec_launch(x, s));
    OK(lk_exec_launch(x, s));
    OK(lk_stream_synchronise(s));
    ints_are(out, 64, 6);
    OK(lk_exec_destroy(x));
    OK(lk_graph_destroy(g));
}

static void edges(int unused)
{
    lk_graph *g = NULL;
    lk_exec *x = NULL;
    lk_node *a = NULL, *b = NULL;
    (void)unused;
    OK(lk_graph_create(gpu, &g));
    OK(lk_graph_add_empty(g, NULL, 0, &a));
    OK(lk_graph_add_empty(g, NULL, 0, &b));
    OK(lk_graph_edge(g, a, b));
    OK(lk_graph_instantiate(g, 0, &x));
    OK(lk_exec_destroy(x));
    OK(lk_graph_edge_remove(g, a, b));
    OK(lk_graph_edge(g, b, a));
    OK(lk_graph_destroy(g));
}

const struct test graph_tests[] = { { "captured_1", captured, 1 },
                                    { "captured_7", captured, 7 },
                                    { "forked", forked, 0 },
                                    { "built_1", built, 1 },
                                    { "built_4", built, 4 },
                                    { "node_changes", parameters_change, 0 },
                                    { "graph_changes", parameters_change, 1 },
                                    { "host_and_copy", host_and_copy, 0 },
                                    { "child", child, 0 },
                                    { "memory", memory_of_graph, 0 },
                                    { "edges", edges, 0 },
                                    { 0 } };
