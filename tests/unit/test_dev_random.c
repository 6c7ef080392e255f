/* Random programs of kernels, copies, fills, host functions, events and graphs over 64 streams of the software GPU,
 * ordered by events wherever they share an array, against the same program done in the order of its calls. The result
 * is the same on any number of workers and under any seed, and the race check finds nothing.
 *
 *   test_dev_random [operations per stream [first seed [seeds]]] */
#include "device/dev_memory.h"
#include "unit.h"
#include <stdlib.h>

/* mix  b[t] = 3 b[t] + a[t] + c */
static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry mix(.param .u64 b, .param .u64 a, .param .u64 c)\n{\n"
    ".reg .u64 %rd<4>; .reg .u32 %r<6>;\n"
    "ld.param.u64 %rd1, [b]; ld.param.u64 %rd2, [a]; ld.param.u32 %r1, [c]; mov.u32 %r2, %tid.x;\n"
    "mul.wide.u32 %rd3, %r2, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;\n"
    "ld.global.u32 %r3, [%rd1]; ld.global.u32 %r4, [%rd2]; mad.lo.u32 %r3, %r3, 3, %r4; add.u32 %r3, %r3, %r1;\n"
    "st.global.u32 [%rd1], %r3;\nret;\n}\n";

enum { STREAMS = 64, BUFFERS = 24, WORDS = 32, GRAPH = 3 }; /* the first buffers belong to the graph */

static struct device *d;
static const struct dev_async_ops *ops;
static struct ptx_func *kernel;
static struct error e;
static u64 rng;
static struct dev_stream *stream[STREAMS];
static u64 at[BUFFERS];
static u32 want[BUFFERS][WORDS]; /* the oracle */
static struct buffer {
    int writer;              /* stream of the last write, -1: none */
    struct dev_event *write; /* behind it */
    bool reads[STREAMS];     /* streams that have read since */
    struct dev_event *read[STREAMS];
} buffer[BUFFERS];
static u32 called, calls;

static u32 draw(u32 n) { return (u32)(rand_next(&rng) % n); }

static struct dev_event *event(struct dev_event **ev)
{
    if (!*ev) UNIT_EQ(ops->event_new(d, EVENT_NO_TIMING, ev, &e), OP_OK);
    return *ev;
}

/* Orders what the stream does next behind the last write of the buffer and, for a write, behind its reads. */
static void before(u32 s, u32 b, bool write)
{
    struct buffer *x = &buffer[b];
    if (x->writer >= 0 && x->writer != (int)s) UNIT_EQ(ops->event_wait(stream[s], x->write, false, NULL, &e), OP_OK);
    for (u32 k = 0; write && k < STREAMS; k++)
        if (x->reads[k] && k != s) UNIT_EQ(ops->event_wait(stream[s], x->read[k], false, NULL, &e), OP_OK);
}

static void after(u32 s, u32 b, bool write)
{
    struct buffer *x = &buffer[b];
    UNIT_EQ(ops->event_record(event(write ? &x->write : &x->read[s]), stream[s], false, NULL, &e), OP_OK);
    if (write) {
        x->writer = (int)s;
        memset(x->reads, 0, sizeof x->reads);
    } else {
        x->reads[s] = true;
    }
}

static struct dev_task mix(u32 b, u32 a, const u64 *params)
{
    (void)a;
    (void)b;
    return (struct dev_task){
        .kind = OP_LAUNCH,
        .launch = { .kernel = kernel, .grid = { 1, 1, 1 }, .block = { WORDS, 1, 1 }, .params = params },
    };
}

static void oracle_mix(u32 b, u32 a, u32 c)
{
    for (u32 k = 0; k < WORDS; k++) want[b][k] = want[b][k] * 3 + want[a][k] + c;
}

static void count(void *of) { __atomic_add_fetch((u32 *)of, 1, __ATOMIC_RELAXED); }

static struct dev_exec *make_graph(void)
{
    struct dev_graph *g;
    struct dev_exec *x;
    struct dev_node *n[3];
    u64 first[] = { at[1], at[0], 5 }, second[] = { at[2], at[0], 7 };
    struct dev_task one = mix(1, 0, first), two = mix(2, 0, second);
    struct dev_task copy = { .kind = OP_COPY, .copy = { { .address = at[0] }, { .address = at[1] }, WORDS * 4, 1, 1 } };
    UNIT_EQ(ops->graph_new(d, &g, &e), OP_OK);
    UNIT_EQ(dev_graph_add(g, d, NULL, 0, &one, &n[0], &e), OP_OK);
    UNIT_EQ(dev_graph_add(g, d, NULL, 0, &two, &n[1], &e), OP_OK);
    UNIT_EQ(dev_graph_add(g, d, n, 2, &copy, &n[2], &e), OP_OK);
    UNIT_EQ(ops->graph_instantiate(g, 0, &x, &e), OP_OK);
    ops->graph_delete(g);
    return x;
}

static void one_operation(struct dev_exec *graph)
{
    u32 s = draw(STREAMS), kind = draw(16), b = draw(BUFFERS), a = draw(BUFFERS), c = draw(1000);
    if (a == b) a = (a + 1) % BUFFERS;
    struct dev_task t;
    if (kind == 0) {
        for (u32 k = 0; k < GRAPH; k++) before(s, k, true);
        UNIT_EQ(ops->exec_launch(graph, stream[s], NULL, &e), OP_OK);
        for (u32 k = 0; k < GRAPH; k++) after(s, k, true);
        oracle_mix(1, 0, 5);
        oracle_mix(2, 0, 7);
        memcpy(want[0], want[1], sizeof want[0]);
        return;
    }
    if (kind == 1) {
        t = (struct dev_task){ .kind = OP_HOST, .host = { .call = count, .self = &called } };
        calls++;
        UNIT_EQ(dev_enqueue(stream[s], d, &t, &e), OP_OK);
        return;
    }
    bool reads = kind > 3;
    before(s, b, true);
    if (reads) before(s, a, false);
    if (kind == 2) {
        u32 in[WORDS];
        for (u32 k = 0; k < WORDS; k++) in[k] = want[b][k] = draw(UINT32_MAX);
        t = (struct dev_task){ .kind = OP_COPY, .copy = { { .address = at[b] }, { .host = in }, sizeof in, 1, 1 } };
        UNIT_EQ(dev_enqueue(stream[s], d, &t, &e), OP_OK);
    } else if (kind == 3) {
        t = (struct dev_task){ .kind = OP_FILL,
                               .fill = { .address = at[b], .value = c, .bytes = 4, .width = WORDS, .rows = 1 } };
        UNIT_EQ(dev_enqueue(stream[s], d, &t, &e), OP_OK);
        for (u32 k = 0; k < WORDS; k++) want[b][k] = c;
    } else if (kind < 6) {
        t = (struct dev_task){ .kind = OP_COPY,
                               .copy = { { .address = at[b] }, { .address = at[a] }, WORDS * 4, 1, 1 } };
        UNIT_EQ(dev_enqueue(stream[s], d, &t, &e), OP_OK);
        memcpy(want[b], want[a], sizeof want[b]);
    } else {
        u64 params[] = { at[b], at[a], c };
        t = mix(b, a, params);
        UNIT_EQ(dev_enqueue(stream[s], d, &t, &e), OP_OK);
        oracle_mix(b, a, c);
    }
    if (reads) after(s, a, false);
    after(s, b, true);
}

static void program(u32 operations, u64 seed, u32 workers, bool seeded, u32 checks)
{
    struct dev_options o = { .workers = workers, .checks = checks, .seeded = seeded, .seed = seed };
    rng = seed;
    memset(buffer, 0, sizeof buffer);
    memset(want, 0, sizeof want);
    called = calls = 0;
    e = (struct error){ 0 };
    d = dev_new(&o, &e);
    struct dev_part part = { "random.ptx", { text, sizeof text - 1 } };
    struct dev_module *m = dev_load(d, &part, 1, &e);
    if (!UNIT(m != NULL)) fprintf(stderr, "%s\n%s\n", e.text, e.excerpt);
    ops = d->async;
    kernel = ptx_kernel(m->ptx, STR("mix"));
    for (u32 k = 0; k < STREAMS; k++)
        UNIT_EQ(ops->stream_new(d, draw(4) ? STREAM_NON_BLOCKING : STREAM_BLOCKING, -(s32)draw(3), &stream[k], &e),
                OP_OK);
    for (u32 b = 0; b < BUFFERS; b++) {
        struct mem_object *x = dev_alloc(d, WORDS * 4, MEM_DEVICE, "buffer", NULL, &e);
        at[b] = x->base;
        UNIT(dev_fill(d, at[b], 0, WORDS * 4, &e));
        buffer[b].writer = -1;
    }
    struct dev_exec *graph = make_graph();
    for (u32 k = 0; k < operations; k++) {
        one_operation(graph);
        if (!draw(500)) UNIT_EQ(ops->stream_synchronise(stream[draw(STREAMS)], &e), OP_OK);
    }
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    UNIT_EQ(called, calls);
    for (u32 b = 0; b < BUFFERS; b++) {
        u32 got[WORDS];
        UNIT(dev_read(d, at[b], got, sizeof got, &e));
        UNIT(!memcmp(got, want[b], sizeof got));
    }
    struct text t = { 0 };
    if (report_errors(d->report)) report_text(d->report, (struct report_style){ 0 }, &t);
    if (!UNIT_EQ(report_errors(d->report), 0)) fprintf(stderr, "seed %" PRIu64 "\n%.4000s\n", seed, t.p);
    text_free(&t);
    for (u32 b = 0; b < BUFFERS; b++) {
        if (buffer[b].write) ops->event_delete(buffer[b].write);
        for (u32 k = 0; k < STREAMS; k++)
            if (buffer[b].read[k]) ops->event_delete(buffer[b].read[k]);
    }
    ops->exec_delete(graph);
    dev_delete(d);
}

int main(int argc, char **argv)
{
    enum { PLAIN = CHECK_ALL & ~(CHECK_RACE | CHECK_ASYNC) };
    u32 each = argc > 1 ? (u32)atoi(argv[1]) : 20, from = argc > 2 ? (u32)atoi(argv[2]) : 1,
        seeds = argc > 3 ? (u32)atoi(argv[3]) : 2;
    for (u64 seed = from; seed < from + seeds; seed++) {
        for (u32 workers = 1; workers <= 3; workers++) program(each * STREAMS, seed, workers, false, PLAIN);
        program(each * STREAMS, seed, 1, true, PLAIN);
        program(each * STREAMS / 2, seed, 2, false, CHECK_ALL);
        program(each * STREAMS / 2, seed, 1, true, CHECK_ALL);
    }
    return unit_done();
}
