/* Random programs over streams, events, values, graphs and captures through dev_async.h, on the software GPU and, where
 * the third argument says so, on a real one, against an oracle that does one operation after the other.
 *
 *     test_async_random [FIRST COUNT [gpu]]
 *
 * Every two operations that use the same bytes are ordered, by an event, a value or a stream, so the bytes at the end
 * are those of the order of the calls, and the software GPU has nothing to report. */
#include "device/dev_async.h"
#include "queue/graph.h"
#include "unit.h"
#include <stdlib.h>

enum { BUFFERS = 6, N = 192, STREAMS = 5, OPS = 40, FLAGS = 64, EVENTS = 2048, EXECS = 64 };
static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry axpy(.param .u64 y, .param .u64 x, .param .u32 a, .param .u32 n)\n{\n"
    ".reg .u64 %rd<4>; .reg .u32 %r<8>; .reg .pred %p;\n"
    "ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [x]; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [n];\n"
    "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.u32 %r3, %r3, %r4, %r5;\n"
    "setp.ge.u32 %p, %r3, %r2; @%p ret;\n"
    "mul.wide.u32 %rd3, %r3, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;\n"
    "ld.global.u32 %r4, [%rd1]; ld.global.u32 %r5, [%rd2]; mad.lo.u32 %r4, %r4, %r1, %r5;\n"
    "st.global.u32 [%rd1], %r4;\nret;\n}\n";

struct params {
    u64 y, x;
    u32 a, n;
};
struct use { /* who has used a buffer last */
    struct dev_event *write, *read[STREAMS + 1];
};
static struct device *d;
static const struct dev_async_ops *ops;
static struct ptx_func *axpy;
static struct error e;
static u64 state;
static u64 address[BUFFERS];   /* the last two are pinned */
static u32 model[BUFFERS][N];  /* what they hold in the order of the calls */
static u32 source[OPS * 8][N]; /* of copies from the host; never changed while in use */
static u32 sources;
static struct use use[BUFFERS];
static struct dev_stream *stream[STREAMS + 1]; /* the last one is the legacy stream */
static struct dev_event *event[EVENTS];
static struct dev_exec *exec[EXECS];
static u32 events, execs, flags;
static u64 flag;
static u64 seed;
static int bad;

static u32 pick(u32 n) { return (u32)(rand_next(&state) % n); }

static void ok(u32 status, const char *what)
{
    if (!status || bad) return;
    bad = 1;
    fprintf(stderr, "seed %" PRIu64 ": %s: status %u, %s\n", seed, what, status, e.text);
}

/* ---- order ---- */

static struct dev_event *mark(struct dev_stream *st)
{
    struct dev_event *ev = NULL;
    if (events == EVENTS) return NULL;
    ok(ops->event_new(d, EVENT_NO_TIMING, &ev, &e), "event_new");
    if (!ev) return NULL;
    event[events++] = ev;
    ok(ops->event_record(ev, st, false, "record", &e), "event_record");
    return ev;
}

/* The stream waits for all that must be before a use of a buffer. */
static void before(struct dev_stream *st, u32 b, bool write)
{
    if (use[b].write) ok(ops->event_wait(st, use[b].write, false, "wait", &e), "event_wait");
    for (u32 i = 0; write && i <= STREAMS; i++)
        if (use[b].read[i]) ok(ops->event_wait(st, use[b].read[i], false, "wait", &e), "event_wait");
}

static void after(u32 s, u32 b, bool write)
{
    struct dev_event *ev = mark(stream[s]);
    if (write)
        use[b] = (struct use){ .write = ev };
    else
        use[b].read[s] = ev;
}

/* ---- operations, as tasks with what they do to the model ---- */

struct made {
    struct dev_task task;
    struct params params;
    u32 to, from; /* buffers; BUFFERS: memory of the host */
};
static void host_function(void *self)
{
    u32 *word = self;
    for (u32 i = 0; i < N; i++) word[i] = word[i] * 3 + i;
}

static void make_launch(struct made *m)
{
    m->params = (struct params){ address[m->to], address[m->from], pick(9) + 1, N - pick(60) };
    u32 block = 32u << pick(3);
    m->task = (struct dev_task){ .kind = OP_LAUNCH,
                                 .launch = { .kernel = axpy,
                                             .grid = { (N + block - 1) / block, 1, 1 },
                                             .block = { block, 1, 1 },
                                             .params = &m->params } };
    for (u32 i = 0; i < m->params.n; i++) model[m->to][i] = model[m->to][i] * m->params.a + model[m->from][i];
}

static void make_copy(struct made *m)
{
    u32 rows = 1 + pick(4), width = 1 + pick(N / 8), slices = rows > 1 ? 1 + pick(2) : 1;
    u32 pitch = width + pick(4), from_pitch = width + pick(4);
    u32 slice = pitch * rows + pitch * pick(2), from_slice = from_pitch * rows;
    while (slice * (slices - 1) + pitch * rows > N || from_slice * (slices - 1) + from_pitch * rows > N) {
        if (slices > 1)
            slices--;
        else
            rows--;
    }
    if (m->from == BUFFERS)
        for (u32 i = 0; i < N; i++) source[sources][i] = (u32)rand_next(&state);
    const u32 *from = m->from == BUFFERS ? source[sources++] : model[m->from];
    struct dev_copy c = { .to = { .address = address[m->to], .pitch = pitch * 4, .slice = slice * 4 },
                          .from = { .pitch = from_pitch * 4, .slice = from_slice * 4 },
                          .width = width * 4,
                          .rows = rows,
                          .slices = slices };
    if (m->from == BUFFERS)
        c.from.host = (void *)(uintptr_t)from;
    else
        c.from.address = address[m->from];
    for (u32 z = 0; z < slices; z++)
        for (u32 y = 0; y < rows; y++)
            memcpy(model[m->to] + z * slice + y * pitch, from + z * from_slice + y * from_pitch, width * 4);
    m->task = (struct dev_task){ .kind = OP_COPY, .copy = c };
}

static void make_fill(struct made *m)
{
    static const u32 sizes[] = { 1, 2, 4 };
    u32 bytes = sizes[pick(3)], rows = 1 + pick(3), width = 1 + pick(N / 4), pitch = (width + pick(4)) * 4;
    u32 value = (u32)rand_next(&state);
    m->task = (struct dev_task){ .kind = OP_FILL,
                                 .fill = { .address = address[m->to],
                                           .value = value,
                                           .bytes = bytes,
                                           .width = width,
                                           .rows = rows,
                                           .pitch = pitch } };
    for (u32 y = 0; y < rows; y++)
        for (u32 x = 0; x < width; x++) memcpy((u8 *)model[m->to] + y * pitch + x * bytes, &value, bytes);
}

/* A random one on given buffers; host: functions of the host may be among them. */
static void make(struct made *m, u32 to, u32 from, bool host)
{
    *m = (struct made){ .to = to, .from = from };
    u32 what = pick(host ? 8 : 7);
    if (what < 3) {
        make_launch(m);
    } else if (what < 6) {
        if (pick(3) == 0 && sources < COUNT_OF(source)) m->from = BUFFERS;
        make_copy(m);
    } else if (what == 6) {
        m->from = BUFFERS;
        make_fill(m);
    } else {
        m->from = BUFFERS;
        m->to = BUFFERS - 1 - pick(2);
        m->task = (struct dev_task){ .kind = OP_HOST,
                                     .host = { .call = host_function, .self = (void *)(uintptr_t)address[m->to] } };
        host_function(model[m->to]);
    }
    m->task.site = "operation";
}

static void two_buffers(u32 *to, u32 *from)
{
    *to = pick(BUFFERS);
    *from = (*to + 1 + pick(BUFFERS - 1)) % BUFFERS;
}

/* ---- what a program does ---- */

static void do_one(void)
{
    struct made m;
    u32 to, from, s = pick(STREAMS + 1);
    two_buffers(&to, &from);
    make(&m, to, from, true);
    before(stream[s], m.to, true);
    if (m.from < BUFFERS) before(stream[s], m.from, false);
    ok(dev_enqueue(stream[s], d, &m.task, &e), "enqueue");
    if (m.from < BUFFERS) after(s, m.from, false);
    after(s, m.to, true);
}

/* A value hands a buffer from one stream to another, instead of an event. */
static void do_value(void)
{
    struct made m;
    u32 to, from, s = pick(STREAMS), t = (s + 1 + pick(STREAMS - 1)) % STREAMS;
    if (flags == FLAGS) return;
    u64 at = flag + flags++ * 8;
    two_buffers(&to, &from);
    before(stream[s], to, true);
    before(stream[s], from, false);
    before(stream[t], from, false);
    make(&m, to, from, false);
    if (m.from < BUFFERS) before(stream[s], m.from, false);
    ok(dev_enqueue(stream[s], d, &m.task, &e), "enqueue");
    u32 bits = pick(2) ? 32 : 64;
    ok(ops->value_write(stream[s], at, bits, 5, "write", &e), "value_write");
    ok(ops->value_wait(stream[t], at, bits, pick(2) ? 5 : 4, OP_GEQ, "value wait", &e), "value_wait");
    make(&m, to, from, false);
    ok(dev_enqueue(stream[t], d, &m.task, &e), "enqueue");
    after(t, from, false);
    after(t, to, true);
}

/* A temporary of the stream: written, changed, read, freed. */
static void do_temporary(void)
{
    u32 to, from, s = pick(STREAMS);
    two_buffers(&to, &from);
    struct dev_stream *st = stream[s];
    struct dev_task t = { .kind = OP_ALLOC, .alloc = { .bytes = N * 4, .name = "temporary" }, .site = "alloc" };
    ok(dev_enqueue(st, d, &t, &e), "alloc");
    u64 temporary = t.alloc.address;
    before(st, to, true);
    before(st, from, false);
    t = (struct dev_task){
        .kind = OP_COPY,
        .copy = { .to.address = temporary, .from.address = address[from], .width = N * 4, .rows = 1, .slices = 1 },
        .site = "copy"
    };
    ok(dev_enqueue(st, d, &t, &e), "copy");
    struct params p = { temporary, address[from], 3, N };
    t = (struct dev_task){ .kind = OP_LAUNCH,
                           .launch = { .kernel = axpy, .grid = { N / 64, 1, 1 }, .block = { 64, 1, 1 }, .params = &p },
                           .site = "launch" };
    ok(dev_enqueue(st, d, &t, &e), "launch");
    t = (struct dev_task){
        .kind = OP_COPY,
        .copy = { .to.address = address[to], .from.address = temporary, .width = N * 4, .rows = 1, .slices = 1 },
        .site = "copy back"
    };
    ok(dev_enqueue(st, d, &t, &e), "copy back");
    ok(dev_enqueue(st, d, &(struct dev_task){ .kind = OP_FREE, .free.address = temporary, .site = "free" }, &e),
       "free");
    for (u32 i = 0; i < N; i++) model[to][i] = model[from][i] * 3 + model[from][i];
    after(s, from, false);
    after(s, to, true);
}

/* Nodes on pairs of buffers: a node depends on all that use one of its buffers. */
struct plan {
    struct made m[6];
    struct dev_node *node[6];
    u32 n;
    bool used[BUFFERS], written[BUFFERS];
};

static void plan_make(struct plan *p)
{
    *p = (struct plan){ .n = 2 + pick(4) };
    for (u32 i = 0; i < p->n; i++) {
        struct made *m = &p->m[i];
        u32 to, from;
        two_buffers(&to, &from);
        make(m, to, from, true);
        p->used[m->to] = p->written[m->to] = true;
        if (m->from < BUFFERS) p->used[m->from] = true;
    }
}

static bool share(const struct made *a, const struct made *b)
{
    return a->to == b->to || a->to == b->from || (a->from < BUFFERS && a->from == b->to);
}

static void launch_exec(struct dev_exec *x, const struct plan *p)
{
    u32 s = pick(STREAMS);
    for (u32 b = 0; b < BUFFERS; b++)
        if (p->used[b]) before(stream[s], b, p->written[b]);
    ok(ops->exec_launch(x, stream[s], "graph launch", &e), "exec_launch");
    for (u32 b = 0; b < BUFFERS; b++)
        if (p->used[b]) after(s, b, p->written[b]);
}

static void do_graph(void)
{
    struct plan p;
    struct dev_graph *g;
    if (execs == EXECS) return;
    plan_make(&p);
    ok(ops->graph_new(d, &g, &e), "graph_new");
    for (u32 i = 0; i < p.n; i++) {
        struct dev_node *dep[6];
        u32 deps = 0;
        for (u32 k = 0; k < i; k++)
            if (share(&p.m[k], &p.m[i])) dep[deps++] = p.node[k];
        if (!bad) ok(dev_graph_add(g, d, dep, deps, &p.m[i].task, &p.node[i], &e), "graph_add");
    }
    if (!bad) ok(ops->graph_instantiate(g, 0, &exec[execs], &e), "instantiate");
    if (bad) {
        ops->graph_delete(g);
        return;
    }
    launch_exec(exec[execs], &p);
    if (p.m[p.n - 1].task.kind == OP_LAUNCH && pick(2)) { /* once more, with another last node */
        struct made *last = &p.m[p.n - 1];
        for (u32 i = 0; i + 1 < p.n; i++) {
            struct made again = p.m[i];
            if (again.task.kind != OP_LAUNCH) goto done; /* the model of those is not kept */
        }
        for (u32 i = 0; i + 1 < p.n; i++)
            for (u32 k = 0; k < p.m[i].params.n; k++)
                model[p.m[i].to][k] = model[p.m[i].to][k] * p.m[i].params.a + model[p.m[i].from][k];
        make_launch(last);
        last->task.site = "changed";
        ok(dev_exec_set(exec[execs], d, p.node[p.n - 1], &last->task, &e), "exec_set");
        launch_exec(exec[execs], &p);
    }
done:
    execs++;
    ops->graph_delete(g);
}

static void do_capture(void)
{
    struct plan p;
    struct dev_graph *g = NULL;
    u32 s = pick(STREAMS), t = (s + 1 + pick(STREAMS - 1)) % STREAMS;
    if (execs == EXECS) return;
    plan_make(&p);
    ok(ops->capture_begin(stream[s], CAPTURE_RELAXED, &e), "capture_begin");
    struct dev_event *fork = mark(stream[s]);
    bool forked = fork && pick(2);
    if (forked) ok(ops->event_wait(stream[t], fork, false, "fork", &e), "fork");
    struct dev_event *last = NULL;
    for (u32 i = 0; i < p.n; i++) {
        struct dev_stream *st = forked && i % 2 ? stream[t] : stream[s];
        if (last) ok(ops->event_wait(st, last, false, "inside", &e), "inside");
        ok(dev_enqueue(st, d, &p.m[i].task, &e), "captured");
        last = mark(st);
    }
    if (last) ok(ops->event_wait(stream[s], last, false, "join", &e), "join");
    ok(ops->capture_end(stream[s], &g, &e), "capture_end");
    if (bad) return;
    ok(ops->graph_instantiate(g, 0, &exec[execs], &e), "instantiate");
    if (!bad) launch_exec(exec[execs++], &p);
    ops->graph_delete(g);
}

/* ---- one program ---- */

static void check(void)
{
    static u32 got[N];
    for (u32 b = 0; b < BUFFERS && !bad; b++) {
        if (!dev_read(d, address[b], got, sizeof got, &e)) ok(1, "read");
        for (u32 i = 0; i < N && !bad; i++) {
            if (got[i] == model[b][i]) continue;
            bad = 1;
            fprintf(stderr, "seed %" PRIu64 ": buffer %u, element %u is 0x%x, should be 0x%x\n", seed, b, i, got[i],
                    model[b][i]);
        }
    }
}

static void program(bool gpu, u64 number)
{
    e = (struct error){ 0 };
    seed = number;
    state = number * 7919;
    bad = 0;
    sources = events = execs = flags = 0;
    memset(use, 0, sizeof use);
    struct dev_options o = { .gpu = gpu, .checks = CHECK_ALL, .workers = 1 + (u32)number % 3 };
    if (!gpu && number % 4 == 3) o.seeded = true, o.seed = number;
    d = dev_new(&o, &e);
    if (!d) {
        fprintf(stderr, "seed %" PRIu64 ": %s\n", seed, e.text);
        UNIT(d);
        return;
    }
    ops = d->async;
    struct dev_module *m = dev_load(d, &(struct dev_part){ "axpy.ptx", STR(ptx) }, 1, &e);
    UNIT(m);
    axpy = m->ptx->func[0];
    for (u32 b = 0; b < BUFFERS; b++) {
        struct mem_object *x = dev_alloc(d, sizeof model[b], b + 2 < BUFFERS ? MEM_DEVICE : MEM_PINNED, NULL, NULL, &e);
        address[b] = x->base;
        for (u32 i = 0; i < N; i++) model[b][i] = (u32)rand_next(&state);
        UNIT(dev_write(d, address[b], model[b], sizeof model[b], &e));
    }
    static u64 zero[FLAGS];
    flag = dev_alloc(d, sizeof zero, MEM_DEVICE, "flags", NULL, &e)->base;
    UNIT(dev_write(d, flag, zero, sizeof zero, &e));
    for (u32 s = 0; s < STREAMS; s++)
        ok(ops->stream_new(d, pick(2) ? STREAM_NON_BLOCKING : STREAM_BLOCKING, -(s32)pick(3), &stream[s], &e),
           "stream");
    stream[STREAMS] = ops->stream_legacy(d);
    u32 n = OPS / 2 + pick(OPS / 2);
    for (u32 i = 0; i < n && !bad; i++) {
        u32 what = pick(16);
        if (what < 9)
            do_one();
        else if (what < 11)
            do_value();
        else if (what < 12)
            do_temporary();
        else if (what < 14)
            do_graph();
        else
            do_capture();
        if (pick(12) == 0) ok(ops->stream_synchronise(stream[pick(STREAMS)], &e), "stream_synchronise");
    }
    if (pick(2))
        ok(ops->synchronise(d, &e), "synchronise");
    else
        for (u32 s = 0; s <= STREAMS; s++) ok(ops->stream_synchronise(stream[s], &e), "stream_synchronise");
    check();
    if (!gpu && report_error_occurrences(d->report)) {
        struct text t = { 0 };
        report_text(d->report, (struct report_style){ 0 }, &t);
        fprintf(stderr, "seed %" PRIu64 ": a finding in a program without bugs:\n%s\n", seed, t.p);
        text_free(&t);
        bad = 1;
    }
    UNIT(!bad);
    for (u32 i = 0; i < execs; i++) ops->exec_delete(exec[i]);
    for (u32 i = 0; i < events; i++) ops->event_delete(event[i]);
    for (u32 s = 0; s < STREAMS; s++) ops->stream_delete(stream[s], &e);
    dev_delete(d);
}

int main(int argc, char **argv)
{
    u64 first = argc > 2 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 40;
    bool gpu = argc > 3 && !strcmp(argv[3], "gpu");
    /* holds the context of a real GPU, which takes half a second to make */
    struct device *held = gpu ? dev_new(&(struct dev_options){ .gpu = true }, &e) : NULL;
    UNIT(!gpu || held);
    for (u64 i = first; i < first + count; i++) {
        program(false, i);
        if (gpu) program(true, i);
    }
    dev_delete(held);
    return unit_done();
}
