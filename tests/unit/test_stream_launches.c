/* Streams over the software GPU: bodies of operations that start launches (sim_start), whose end ends the operation. */
#include "device/dev_parts.h"
#include "queue/graph.h"
#include "queue/op.h"
#include "mem/shadow.h"
#include "sim/sim.h"
#include "unit.h"

/* ping  adds one to *a whenever it is even, or odd, `n` times: two of them need each other.
 * beat  counts in *count until *stop is set.
 * add  one to each of the elements.
 * await  waits until *flag is not 0, then sets *out.
 * set  sets *flag. */
static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry ping(.param .u64 a, .param .u64 mine, .param .u64 n)\n{\n"
    ".reg .u64 %rd; .reg .u32 %r<6>; .reg .pred %p;\n"
    "ld.param.u64 %rd, [a]; ld.param.u32 %r1, [mine]; ld.param.u32 %r2, [n];\n"
    "turn:\nld.relaxed.gpu.global.u32 %r3, [%rd];\nand.b32 %r4, %r3, 1;\nsetp.ne.u32 %p, %r4, %r1;\n@%p bra turn;\n"
    "add.u32 %r3, %r3, 1;\nst.relaxed.gpu.global.u32 [%rd], %r3;\nsub.u32 %r2, %r2, 1;\n"
    "setp.ne.u32 %p, %r2, 0;\n@%p bra turn;\nret;\n}\n"
    ".visible .entry beat(.param .u64 count, .param .u64 stop)\n{\n"
    ".reg .u64 %rd<3>; .reg .u32 %r<6>; .reg .pred %p;\n"
    "ld.param.u64 %rd1, [count]; ld.param.u64 %rd2, [stop]; mov.u32 %r1, 0;\n"
    "again:\nadd.u32 %r1, %r1, 1;\nst.relaxed.gpu.global.u32 [%rd1], %r1;\nld.relaxed.sys.global.u32 %r2, [%rd2];\n"
    "setp.eq.u32 %p, %r2, 0;\n@%p bra again;\nret;\n}\n"
    ".visible .entry add(.param .u64 a)\n{\n"
    ".reg .u64 %rd<3>; .reg .u32 %r<6>;\n"
    "ld.param.u64 %rd1, [a]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "mad.lo.u32 %r1, %r1, %r2, %r3; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;\n"
    "ld.global.u32 %r4, [%rd1]; add.u32 %r4, %r4, 1; st.global.u32 [%rd1], %r4;\nret;\n}\n"
    ".visible .entry await(.param .u64 flag, .param .u64 out)\n{\n"
    ".reg .u64 %rd<3>; .reg .u32 %r<3>; .reg .pred %p;\n"
    "ld.param.u64 %rd1, [flag]; ld.param.u64 %rd2, [out];\n"
    "again:\nld.relaxed.gpu.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p, %r1, 0;\n@%p bra again;\n"
    "mov.u32 %r2, 1;\nst.relaxed.gpu.global.u32 [%rd2], %r2;\nret;\n}\n"
    ".visible .entry set(.param .u64 flag)\n{\n.reg .u64 %rd; .reg .u32 %r;\n"
    "ld.param.u64 %rd, [flag]; mov.u32 %r, 1; st.relaxed.gpu.global.u32 [%rd], %r;\nret;\n}\n";

static struct mem *mem;
static struct sim *sim;
static struct report *report;
static struct ptx_module *module;
static struct streams *s;

static bool may_change(void *self) { return streams_may_change(self, false); }

static void open_all(u32 workers)
{
    struct error e = { 0 };
    mem = mem_new(&e);
    report = report_new();
    module = ptx_parse("streams.ptx", (struct str){ text, sizeof text - 1 }, &e);
    UNIT(mem && module);
    sim = sim_new(mem, card_default(), workers, &dev_parts);
    s = streams_new(&(struct streams_options){ .closed = true });
    sim_outside(sim, may_change, s);
}

static void close_all(void)
{
    streams_delete(s);
    sim_forget(module);
    sim_delete(sim);
    ptx_free(module);
    report_free(report);
    mem_delete(mem);
}

static u64 memory(u64 bytes, enum mem_kind kind)
{
    struct error e = { 0 };
    struct mem_object *o = mem_alloc(mem, bytes, 0, kind, "x", NULL, &e);
    UNIT(o != NULL);
    memset(mem_view(o, o->base), 0, bytes);
    shadow_define(mem_shadow(mem), o->base, bytes);
    return o->base;
}
static u32 *view(u64 at) { return mem_view(mem_find(mem, at), at); }
static u32 value(u64 at) { return __atomic_load_n(view(at), __ATOMIC_ACQUIRE); }

/* ---- a launch as an operation ---- */

struct kernel { /* what to launch; lives as long as the operations */
    const char *name;
    u32 ctas, threads;
    u64 params[3];
    int end; /* of the last launch, a SIM_* */
};
struct flight { /* one launch of it */
    struct kernel *kernel;
    struct op *op;
    struct launch *launch; /* atomic: the end may come before sim_start has returned */
};

static void ended(void *of)
{
    struct flight *f = of;
    struct launch *l;
    while (!(l = __atomic_load_n(&f->launch, __ATOMIC_ACQUIRE))) cpu_relax();
    struct sim_result r = { 0 };
    struct error e = { 0 };
    sim_wait(l, &r, &e);
    f->kernel->end = r.end;
    op_done(f->op, r.end == SIM_DONE ? OP_OK : 719);
    base_free(f);
}

static u32 start(struct op *op, void *data)
{
    struct kernel *k = data;
    struct flight *f = base_need(sizeof *f);
    *f = (struct flight){ .kernel = k, .op = op };
    struct sim_launch in = { .kernel = ptx_kernel(module, (struct str){ k->name, (u32)strlen(k->name) }),
                             .grid = { k->ctas, 1, 1 },
                             .block = { k->threads, 1, 1 },
                             .params = k->params,
                             .checks = CHECK_ALL & ~(CHECK_RACE | CHECK_ASYNC),
                             .report = report,
                             .priority = stream_priority(op_stream(op)),
                             .done = ended,
                             .done_self = f };
    struct error e = { 0 };
    struct launch *l = sim_start(sim, &in, &e);
    CHECK(l);
    __atomic_store_n(&f->launch, l, __ATOMIC_RELEASE);
    return OP_LATER;
}

static struct op_spec spec_of(struct kernel *k)
{
    return (struct op_spec){ .kind = OP_LAUNCH, .run = start, .data = k };
}

static struct op *launch(struct stream *st, struct kernel *k)
{
    struct op_spec spec = spec_of(k);
    struct op *op;
    UNIT_EQ(op_enqueue(st, &spec, &op), OP_OK);
    return op;
}

/* Copies one word on the thread of copies. */
struct copy {
    u32 *to;
    u32 value;
};
static u32 copy_word(struct op *op, void *data)
{
    (void)op;
    const struct copy *c = data;
    __atomic_store_n(c->to, c->value, __ATOMIC_RELEASE);
    return OP_OK;
}

/* ---- tests ---- */

/* Two kernels of two streams hand a flag to each other; a third waits for a copy of another stream. */
static void handing_over(u32 workers)
{
    open_all(workers);
    struct stream *x = stream_new(s, STREAM_NON_BLOCKING, 0), *y = stream_new(s, STREAM_NON_BLOCKING, 0);
    u64 at = memory(4, MEM_DEVICE), flag = memory(4, MEM_DEVICE), out = memory(4, MEM_DEVICE);
    struct kernel even = { "ping", 1, 1, { at, 0, 50 }, -1 }, odd = { "ping", 1, 1, { at, 1, 50 }, -1 };
    struct kernel await = { "await", 1, 1, { flag, out }, -1 };
    op_release(launch(x, &odd));
    op_release(launch(y, &even));
    UNIT_EQ(streams_synchronise(s), OP_OK);
    UNIT_EQ(value(at), 100);
    op_release(launch(x, &await));
    struct copy c = { view(flag), 7 };
    struct op_spec spec = { .kind = OP_COPY, .run = copy_word, .data = &c };
    UNIT_EQ(op_enqueue(y, &spec, NULL), OP_OK);
    UNIT_EQ(stream_synchronise(x), OP_OK);
    UNIT_EQ(await.end, SIM_DONE);
    UNIT_EQ(value(out), 1);
    close_all();
}

/* A persistent kernel, other work that comes and goes, and an operation of another stream that ends it. */
static void persistent(u32 workers)
{
    open_all(workers);
    struct stream *x = stream_new(s, STREAM_NON_BLOCKING, 0), *y = stream_new(s, STREAM_NON_BLOCKING, 0);
    u64 count = memory(4, MEM_DEVICE), stop = memory(4, MEM_PINNED), a = memory(4 * 256, MEM_DEVICE);
    struct kernel beat = { "beat", 1, 1, { count, stop }, -1 }, add = { "add", 4, 64, { a }, -1 };
    op_release(launch(x, &beat));
    for (int i = 0; i < 20; i++) op_release(launch(y, &add));
    UNIT_EQ(stream_synchronise(y), OP_OK);
    UNIT_EQ(stream_query(x), OP_NOT_READY);
    struct op_spec write = { .kind = OP_VALUE_WRITE, .address = view(stop), .value = 1, .bits = 32 };
    UNIT_EQ(op_enqueue(y, &write, NULL), OP_OK);
    UNIT_EQ(streams_synchronise(s), OP_OK);
    UNIT(value(count) > 0);
    for (u32 i = 0; i < 256; i++) UNIT_EQ(value(a + 4 * i), 20);
    close_all();
}

/* Launches in many streams, ordered by events where they share an array, and a graph of them. */
static void many(u32 workers)
{
    enum { STREAMS = 8, ROUNDS = 60 };
    open_all(workers);
    struct stream *st[STREAMS];
    struct event *e = event_new(s, EVENT_NO_TIMING);
    u64 shared = memory(4 * 64, MEM_DEVICE);
    struct kernel all = { "add", 1, 64, { shared }, -1 }, own[STREAMS];
    for (u32 i = 0; i < STREAMS; i++) {
        st[i] = stream_new(s, STREAM_NON_BLOCKING, -(s32)(i % 3));
        own[i] = (struct kernel){ "add", 2, 32, { memory(4 * 64, MEM_DEVICE) }, -1 };
    }
    for (u32 r = 0; r < ROUNDS; r++)
        for (u32 i = 0; i < STREAMS; i++) {
            op_release(launch(st[i], &own[i]));
            event_wait(st[i], e, 0); /* the one before that changes the shared array */
            op_release(launch(st[i], &all));
            event_record(e, st[i], 0);
        }
    UNIT_EQ(streams_synchronise(s), OP_OK);
    for (u32 k = 0; k < 64; k++) UNIT_EQ(value(shared + 4 * k), ROUNDS * STREAMS);
    for (u32 i = 0; i < STREAMS; i++) UNIT_EQ(value(own[i].params[0] + 4 * 63), ROUNDS);
    struct graph *g;
    struct graph_exec *x;
    UNIT_EQ(capture_begin(st[0], CAPTURE_GLOBAL), OP_OK);
    struct op_spec spec = spec_of(&all);
    op_enqueue(st[0], &spec, NULL);
    event_record(e, st[0], 0);
    event_wait(st[1], e, 0);
    spec = spec_of(&own[1]);
    op_enqueue(st[1], &spec, NULL);
    spec = spec_of(&all);
    op_enqueue(st[0], &spec, NULL);
    event_record(e, st[1], 0);
    event_wait(st[0], e, 0);
    UNIT_EQ(capture_end(st[0], &g), OP_OK);
    UNIT_EQ(graph_instantiate(g, 0, &x, NULL), OP_OK);
    graph_delete(g);
    for (u32 i = 0; i < 20; i++) UNIT_EQ(graph_launch(x, st[i % 2], 0, NULL), OP_OK);
    graph_exec_delete(x);
    UNIT_EQ(streams_synchronise(s), OP_OK);
    UNIT_EQ(value(shared), ROUNDS * STREAMS + 40);
    UNIT_EQ(value(own[1].params[0]), ROUNDS + 20);
    event_delete(e);
    close_all();
}

/* A of stream 1 waits for what B of stream 2 sets; B is queued behind A in the legacy stream; the host waits for B. */
static void deadlock(u32 workers)
{
    open_all(workers);
    struct stream *x = stream_new(s, STREAM_BLOCKING, 0), *y = stream_new(s, STREAM_BLOCKING, 0);
    u64 flag = memory(4, MEM_DEVICE), out = memory(4, MEM_DEVICE), other = memory(4 * 32, MEM_DEVICE);
    struct kernel a = { "await", 1, 1, { flag, out }, -1 }, b = { "set", 1, 1, { flag }, -1 };
    struct kernel between = { "add", 1, 32, { other }, -1 };
    struct op *o[3] = { launch(x, &a), launch(stream_legacy(s), &between), launch(y, &b) }, *path[3];
    enum op_reason why[3];
    UNIT_EQ(op_path(o[0], o[2], path, why, 3), 3);
    for (int i = 0; i < 3; i++) op_release(path[i]);
    UNIT(why[1] == OP_BY_LEGACY && why[2] == OP_BY_LEGACY);
    thread_sleep_us(20000);
    UNIT_EQ(op_state(o[0]), OP_RUNNING); /* the host is awake, and could still act */
    UNIT_EQ(stream_synchronise(y), OP_OK);
    UNIT_EQ(a.end, SIM_DEADLOCK); /* now nobody can */
    UNIT_EQ(value(flag), 1);      /* what is behind goes on */
    UNIT_EQ(stream_synchronise(x), 719);
    for (int i = 0; i < 3; i++) op_release(o[i]);
    close_all();
    /* The same in streams that take no part in the legacy order: no deadlock. */
    open_all(workers);
    x = stream_new(s, STREAM_NON_BLOCKING, 0);
    y = stream_new(s, STREAM_NON_BLOCKING, 0);
    flag = memory(4, MEM_DEVICE);
    out = memory(4, MEM_DEVICE);
    a = (struct kernel){ "await", 1, 1, { flag, out }, -1 };
    b = (struct kernel){ "set", 1, 1, { flag }, -1 };
    op_release(launch(x, &a));
    op_release(launch(y, &b));
    UNIT_EQ(streams_synchronise(s), OP_OK);
    UNIT_EQ(a.end, SIM_DONE);
    close_all();
}

int main(void)
{
    for (u32 workers = 1; workers <= 3; workers++) {
        handing_over(workers);
        persistent(workers);
        many(workers);
        deadlock(workers);
    }
    return unit_done();
}
