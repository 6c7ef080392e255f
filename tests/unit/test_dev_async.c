/* Asynchronous work of the software GPU (device/dev_async.h), with real kernels: on one worker, on two, and under
 * seeds.
 */
#include "device/dev_async.h"
#include "device/dev_memory.h"
#include "unit.h"

/* ping  adds one to *a whenever it is even, or odd, `n` times: two of them need each other.
 * beat  counts in *count until *stop is set.
 * add  `by` to each of the elements.
 * await  waits until *flag is not 0, then sets *out.
 * set  sets *flag.
 * serve  answers the host: while *request is not 2^32 - 1, stores request + 1 to *answer when request has changed.
 * first  triggers, waits for *go, and sets *data.
 * second  sets *started, waits for the launch in front, and copies *data to *out.
 * grid  every CTA counts in *count and waits until all n have. */
static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry first(.param .u64 go, .param .u64 data)\n{\n"
    ".reg .u64 %rd<3>; .reg .u32 %r; .reg .pred %p;\n"
    "ld.param.u64 %rd1, [go]; ld.param.u64 %rd2, [data];\ngriddepcontrol.launch_dependents;\n"
    "again:\nld.relaxed.sys.global.u32 %r, [%rd1];\nsetp.eq.u32 %p, %r, 0;\n@%p bra again;\n"
    "st.global.u32 [%rd2], 5;\nret;\n}\n"
    ".visible .entry second(.param .u64 started, .param .u64 data, .param .u64 out)\n{\n"
    ".reg .u64 %rd<4>; .reg .u32 %r; .reg .pred %p;\n"
    "ld.param.u64 %rd1, [started]; ld.param.u64 %rd2, [data]; ld.param.u64 %rd3, [out];\n"
    "st.relaxed.sys.global.u32 [%rd1], 1;\ngriddepcontrol.wait;\n"
    "ld.global.u32 %r, [%rd2];\nst.global.u32 [%rd3], %r;\nret;\n}\n"
    ".visible .entry ping(.param .u64 a, .param .u64 mine, .param .u64 n)\n{\n"
    ".reg .u64 %rd; .reg .u32 %r<6>; .reg .pred %p;\n"
    "ld.param.u64 %rd, [a]; ld.param.u32 %r1, [mine]; ld.param.u32 %r2, [n];\n"
    "turn:\nld.relaxed.gpu.global.u32 %r3, [%rd];\nand.b32 %r4, %r3, 1;\nsetp.ne.u32 %p, %r4, %r1;\n@%p bra turn;\n"
    "add.u32 %r3, %r3, 1;\nst.relaxed.gpu.global.u32 [%rd], %r3;\nsub.u32 %r2, %r2, 1;\n"
    "setp.ne.u32 %p, %r2, 0;\n@%p bra turn;\nret;\n}\n"
    ".visible .entry beat(.param .u64 count, .param .u64 stop)\n{\n"
    ".reg .u64 %rd<3>; .reg .u32 %r<6>; .reg .pred %p;\n"
    "ld.param.u64 %rd1, [count]; ld.param.u64 %rd2, [stop]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd0, %r1, 4;\n"
    "add.u64 %rd1, %rd1, %rd0; mov.u32 %r1, 0;\n"
    "again:\nadd.u32 %r1, %r1, 1;\nst.relaxed.gpu.global.u32 [%rd1], %r1;\nld.relaxed.sys.global.u32 %r2, [%rd2];\n"
    "setp.eq.u32 %p, %r2, 0;\n@%p bra again;\nret;\n}\n"
    ".visible .entry add(.param .u64 a, .param .u64 by)\n{\n"
    ".reg .u64 %rd<3>; .reg .u32 %r<6>;\n"
    "ld.param.u64 %rd1, [a]; ld.param.u32 %r5, [by]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, "
    "%tid.x;\n"
    "mad.lo.u32 %r1, %r1, %r2, %r3; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;\n"
    "ld.global.u32 %r4, [%rd1]; add.u32 %r4, %r4, %r5; st.global.u32 [%rd1], %r4;\nret;\n}\n"
    ".visible .entry await(.param .u64 flag, .param .u64 out)\n{\n"
    ".reg .u64 %rd<3>; .reg .u32 %r<3>; .reg .pred %p;\n"
    "ld.param.u64 %rd1, [flag]; ld.param.u64 %rd2, [out];\n"
    "again:\nld.relaxed.gpu.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p, %r1, 0;\n@%p bra again;\n"
    "mov.u32 %r2, 1;\nst.relaxed.gpu.global.u32 [%rd2], %r2;\nret;\n}\n"
    ".visible .entry set(.param .u64 flag)\n{\n.reg .u64 %rd; .reg .u32 %r;\n"
    "ld.param.u64 %rd, [flag]; mov.u32 %r, 1; st.relaxed.gpu.global.u32 [%rd], %r;\nret;\n}\n"
    ".visible .entry serve(.param .u64 request, .param .u64 answer)\n{\n"
    ".reg .u64 %rd<3>; .reg .u32 %r<5>; .reg .pred %p;\n"
    "ld.param.u64 %rd1, [request]; ld.param.u64 %rd2, [answer]; mov.u32 %r2, 0;\n"
    "again:\nld.acquire.sys.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p, %r1, %r2;\n@%p bra again;\n"
    "mov.u32 %r2, %r1; setp.eq.u32 %p, %r1, 0xffffffff; @%p bra done;\n"
    "add.u32 %r3, %r1, 1; st.release.sys.global.u32 [%rd2], %r3;\nbra again;\n"
    "done:\nret;\n}\n"
    ".visible .entry grid(.param .u64 count, .param .u64 n)\n{\n"
    ".reg .u64 %rd; .reg .u32 %r<4>; .reg .pred %p;\n"
    "ld.param.u64 %rd, [count]; ld.param.u32 %r1, [n]; atom.global.add.u32 %r2, [%rd], 1;\n"
    "again:\nld.relaxed.gpu.global.u32 %r2, [%rd];\nsetp.lt.u32 %p, %r2, %r1;\n@%p bra again;\nret;\n}\n";

static struct device *d;
static struct dev_module *module;
static const struct dev_async_ops *ops;
static struct error e;
enum { WITHOUT_RACES = CHECK_ALL & ~(CHECK_RACE | CHECK_ASYNC) };

static void open_with(u32 workers, s64 seed, u32 checks)
{
    e = (struct error){ 0 };
    struct dev_options o = { .workers = workers, .checks = checks, .seeded = seed >= 0, .seed = (u64)seed };
    d = dev_new(&o, &e);
    UNIT(d != NULL);
    ops = d->async;
    struct dev_part part = { "async.ptx", { text, sizeof text - 1 } };
    module = dev_load(d, &part, 1, &e);
    if (!UNIT(module != NULL)) fprintf(stderr, "%s\n%s\n", e.text, e.excerpt);
}
static void open_all(u32 workers, s64 seed) { open_with(workers, seed, WITHOUT_RACES); }

static void close_all(u32 errors)
{
    if (report_errors(d->report) != errors) {
        struct text t = { 0 };
        report_text(d->report, (struct report_style){ 0 }, &t);
        fprintf(stderr, "%s\n", t.p);
        text_free(&t);
    }
    UNIT_EQ(report_errors(d->report), errors);
    dev_delete(d);
}

static u64 memory(u64 bytes, enum mem_kind kind)
{
    struct mem_object *o = dev_alloc(d, bytes, kind, "x", NULL, &e);
    UNIT(o && dev_fill(d, o->base, 0, bytes, &e));
    return o->base;
}
static u32 *view(u64 at) { return mem_view(mem_find(d->mem, at), at); }
static u32 value(u64 at)
{
    u32 out = 0;
    UNIT(dev_read(d, at, &out, 4, &e));
    return out;
}

static struct dev_stream *stream(u32 flags)
{
    struct dev_stream *st = NULL;
    UNIT_EQ(ops->stream_new(d, flags, 0, &st, &e), OP_OK);
    return st;
}

static struct dev_task kernel(const char *name, u32 ctas, u32 threads, const u64 *params)
{
    return (struct dev_task){ .kind = OP_LAUNCH,
                              .launch = { .kernel = ptx_kernel(module->ptx, str_of(name)),
                                          .grid = { ctas, 1, 1 },
                                          .block = { threads, 1, 1 },
                                          .params = params },
                              .site = name };
}
static u32 launch(struct dev_stream *st, const char *name, u32 ctas, u32 threads, const u64 *params)
{
    struct dev_task t = kernel(name, ctas, threads, params);
    return dev_enqueue(st, d, &t, &e);
}
#define PARAMS(...) ((const u64[]){ __VA_ARGS__ })

static struct dev_task copy_in(u64 to, void *from, u64 bytes)
{
    return (struct dev_task){ .kind = OP_COPY,
                              .copy = { { .address = to }, { .host = from }, bytes, 1, 1 },
                              .site = "copy in" };
}
static struct dev_task copy_out(void *to, u64 from, u64 bytes)
{
    return (struct dev_task){ .kind = OP_COPY,
                              .copy = { { .host = to }, { .address = from }, bytes, 1, 1 },
                              .site = "copy out" };
}

/* ---- kernels that need each other ---- */

/* Two kernels of two streams hand a flag to each other; a third waits for a copy of another stream. */
static void handing_over(u32 workers, s64 seed, u32 checks)
{
    open_with(workers, seed, checks);
    struct dev_stream *x = stream(STREAM_NON_BLOCKING), *y = stream(STREAM_NON_BLOCKING);
    u64 at = memory(4, MEM_DEVICE), flag = memory(4, MEM_DEVICE), out = memory(4, MEM_DEVICE);
    UNIT_EQ(launch(x, "ping", 1, 1, PARAMS(at, 1, 50)), OP_OK);
    UNIT_EQ(launch(y, "ping", 1, 1, PARAMS(at, 0, 50)), OP_OK);
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    UNIT_EQ(value(at), 100);
    u32 seven = 7;
    UNIT_EQ(launch(x, "await", 1, 1, PARAMS(flag, out)), OP_OK);
    struct dev_task t = copy_in(flag, &seven, 4);
    UNIT_EQ(dev_enqueue(y, d, &t, &e), OP_OK);
    seven = 0; /* the bytes of pageable memory were taken in the call */
    UNIT_EQ(ops->stream_synchronise(x, &e), OP_OK);
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    UNIT_EQ(value(out), 1);
    UNIT_EQ(value(flag), 7);
    close_all(0);
}

/* Two grids of 60 % of the device whose CTAs wait for each other, enqueued together, and one behind a persistent kernel
 * of 10 %. */
#ifndef UNIT_SANITIZED
static void whole_grids(u32 workers, s64 seed)
{
    open_all(workers, seed);
    struct dev_stream *x = stream(STREAM_NON_BLOCKING), *y = stream(STREAM_NON_BLOCKING),
                      *z = stream(STREAM_NON_BLOCKING);
    u64 a = memory(4, MEM_DEVICE), b = memory(4, MEM_DEVICE), count = memory(4096, MEM_DEVICE),
        stop = memory(4, MEM_PINNED);
    enum { SHARED = 45000 }; /* a few CTAs fill a multiprocessor */
    u32 most = sim_resident_per_sm(d->card, ptx_kernel(module->ptx, STR("grid")), 1, SHARED) * d->card->sms,
        n = most * 6 / 10;
    struct dev_task p = kernel("grid", n, 1, PARAMS(a, n)), q = kernel("grid", n, 1, PARAMS(b, n));
    p.launch.cooperative = q.launch.cooperative = true;
    p.launch.shared_bytes = q.launch.shared_bytes = SHARED;
    UNIT_EQ(dev_enqueue(x, d, &p, &e), OP_OK);
    UNIT_EQ(dev_enqueue(y, d, &q, &e), OP_OK);
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    UNIT(value(a) == n && value(b) == n);
    struct dev_task beat = kernel("beat", most / 10, 1, PARAMS(count, stop));
    beat.launch.shared_bytes = SHARED;
    UNIT_EQ(dev_enqueue(z, d, &beat, &e), OP_OK);
    q = kernel("grid", n, 1, PARAMS(b, 2 * n));
    q.launch.cooperative = true;
    q.launch.shared_bytes = SHARED;
    UNIT_EQ(dev_enqueue(x, d, &q, &e), OP_OK);
    UNIT_EQ(ops->stream_synchronise(x, &e), OP_OK);
    UNIT_EQ(ops->stream_query(z, &e), OP_NOT_READY);
    e = (struct error){ 0 };
    __atomic_store_n(view(stop), 1, __ATOMIC_RELEASE);
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    UNIT_EQ(value(b), 2 * n);
    close_all(0);
}
#endif

/* The second launch starts when the first one has triggered, and its wait lasts until the first one is done. */
static void dependent(u32 workers, s64 seed, u32 checks)
{
    open_with(workers, seed, checks);
#ifdef __SANITIZE_THREAD__
    const u32 firsts = 1, seconds = 1; /* all CTAs store the same value in one place, which is a race of ours, too */
#else
    const u32 firsts = 3, seconds = 2;
#endif
    struct dev_stream *x = stream(STREAM_NON_BLOCKING);
    u64 go = memory(4, MEM_PINNED), started = memory(4, MEM_PINNED), data = memory(4, MEM_DEVICE),
        out = memory(4, MEM_DEVICE), never = memory(4, MEM_DEVICE);
    for (u32 round = 0; round < 3; round++) {
        __atomic_store_n(view(go), seed >= 0, __ATOMIC_RELEASE);
        __atomic_store_n(view(started), 0, __ATOMIC_RELEASE);
        UNIT_EQ(launch(x, "first", firsts, 32, PARAMS(go, data)), OP_OK);
        struct dev_task t = kernel("second", seconds, 64, PARAMS(started, data, out));
        t.programmatic = true;
        UNIT_EQ(dev_enqueue(x, d, &t, &e), OP_OK);
        while (seed < 0 && !__atomic_load_n(view(started), __ATOMIC_ACQUIRE)) cpu_relax();
        if (seed < 0) UNIT_EQ(ops->stream_query(x, &e), OP_NOT_READY);
        e = (struct error){ 0 };
        __atomic_store_n(view(go), 1, __ATOMIC_RELEASE);
        UNIT_EQ(ops->stream_synchronise(x, &e), OP_OK);
        UNIT_EQ(value(out), 5);
        UNIT(dev_fill(d, data, 0, 4, &e) && dev_fill(d, out, 0, 4, &e));
    }
    /* the first one waits for ever: that is proved beside a second one that waits for it */
    UNIT_EQ(launch(x, "first", 1, 1, PARAMS(never, data)), OP_OK);
    struct dev_task t = kernel("second", 1, 1, PARAMS(started, data, out));
    t.programmatic = true;
    UNIT_EQ(dev_enqueue(x, d, &t, &e), OP_OK);
    UNIT_EQ(ops->stream_synchronise(x, &e), DEV_LAUNCH_FAILED);
    close_all(2);
}

/* ---- a kernel and the host ---- */

/* A persistent kernel answers the host through pinned memory while kernels and copies come and go. */
static void persistent(u32 workers, u32 checks)
{
    open_with(workers, -1, checks);
    struct dev_stream *x = stream(STREAM_NON_BLOCKING), *y = stream(STREAM_NON_BLOCKING);
    u64 request = memory(4, MEM_PINNED), answer = memory(4, MEM_PINNED), a = memory(4 * 256, MEM_DEVICE);
    UNIT_EQ(launch(x, "serve", 1, 1, PARAMS(request, answer)), OP_OK);
    u32 got[256];
    for (u32 i = 1; i <= 20; i++) {
        UNIT_EQ(launch(y, "add", 4, 64, PARAMS(a, 1)), OP_OK);
        __atomic_store_n(view(request), i * 10, __ATOMIC_RELEASE);
        while (__atomic_load_n(view(answer), __ATOMIC_ACQUIRE) != i * 10 + 1) cpu_relax();
        struct dev_task t = copy_out(got, a, sizeof got);
        UNIT_EQ(dev_enqueue(y, d, &t, &e), OP_OK); /* pageable: done when it returns */
        UNIT_EQ(got[255], i);
    }
    UNIT_EQ(ops->stream_query(x, &e), OP_NOT_READY);
    e = (struct error){ 0 };
    __atomic_store_n(view(request), UINT32_MAX, __ATOMIC_RELEASE);
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    close_all(0);
}

/* Two CTAs that only write heartbeats, and a copy and a kernel that must still run; a value write ends it. */
static void heartbeats(u32 workers, s64 seed, u32 checks)
{
    open_with(workers, seed, checks);
    struct dev_stream *x = stream(STREAM_NON_BLOCKING), *y = stream(STREAM_NON_BLOCKING);
    u64 count = memory(8, MEM_DEVICE), stop = memory(4, MEM_DEVICE), a = memory(4 * 64, MEM_DEVICE);
    UNIT_EQ(launch(x, "beat", 2, 1, PARAMS(count, stop)), OP_OK);
    u32 in[64];
    for (u32 i = 0; i < 64; i++) in[i] = i;
    struct dev_task t = copy_in(a, in, sizeof in);
    UNIT_EQ(dev_enqueue(y, d, &t, &e), OP_OK);
    UNIT_EQ(launch(y, "add", 1, 64, PARAMS(a, 5)), OP_OK);
    UNIT_EQ(ops->stream_synchronise(y, &e), OP_OK);
    UNIT_EQ(ops->value_write(y, stop, 32, 1, "stop", &e), OP_OK);
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    UNIT(value(count) > 0 && value(count + 4) > 0);
    for (u32 i = 0; i < 64; i++) UNIT_EQ(value(a + 4 * i), i + 5);
    close_all(0);
}

/* ---- synchronous calls beside streams ---- */

static void counted(void *of) { __atomic_add_fetch((u32 *)of, 1, __ATOMIC_ACQ_REL); }

/* A synchronous launch is in the legacy stream: after blocking streams, not after the others. */
static void synchronous(u32 workers, s64 seed)
{
    open_all(workers, seed);
    struct dev_stream *x = stream(STREAM_BLOCKING), *y = stream(STREAM_NON_BLOCKING);
    u64 a = memory(4 * 64, MEM_DEVICE), flag = memory(4, MEM_DEVICE), out = memory(4, MEM_DEVICE);
    struct sim_result r;
    UNIT_EQ(launch(y, "await", 1, 1, PARAMS(flag, out)), OP_OK); /* for ever, until the last call */
    for (u32 i = 0; i < 10; i++) UNIT_EQ(launch(x, "add", 1, 64, PARAMS(a, 1)), OP_OK);
    u64 params[] = { a, 10 };
    struct dev_launch l = kernel("add", 1, 64, params).launch;
    UNIT_EQ(dev_launch(d, &l, &r, &e), DEV_RAN);
    UNIT(r.end == SIM_DONE && r.ctas == 1);
    UNIT_EQ(value(a), 20);
    u32 called = 0;
    struct dev_task host = { .kind = OP_HOST, .host = { .call = counted, .self = &called } };
    UNIT_EQ(dev_enqueue(x, d, &host, &e), OP_OK);
    UNIT_EQ(ops->stream_synchronise(x, &e), OP_OK);
    UNIT_EQ(called, 1);
    UNIT_EQ(ops->stream_query(y, &e), OP_NOT_READY);
    e = (struct error){ 0 };
    u64 set[] = { flag };
    l = kernel("set", 1, 1, set).launch;
    UNIT_EQ(dev_launch(d, &l, &r, &e), DEV_RAN);
    UNIT_EQ(ops->stream_synchronise(y, &e), OP_OK);
    UNIT_EQ(value(out), 1);
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    UNIT_EQ(dev_launch(d, &l, &r, &e), DEV_RAN); /* nothing in flight: on this thread */
    UNIT_EQ(r.end, SIM_DONE);
    close_all(0);
}

/* ---- memory in stream order ---- */

static void allocations(u32 workers, s64 seed)
{
    open_all(workers, seed);
    struct dev_stream *x = stream(STREAM_NON_BLOCKING);
    u64 live = mem_usage(d->mem, MEM_POOL).live;
    struct dev_task t = { .kind = OP_ALLOC, .alloc = { .bytes = 256, .name = "buffer" } };
    UNIT_EQ(dev_enqueue(x, d, &t, &e), OP_OK);
    u64 a = t.alloc.address;
    UNIT(a != 0);
    t = (struct dev_task){ .kind = OP_FILL, .fill = { .address = a, .value = 7, .bytes = 4, .width = 64, .rows = 1 } };
    UNIT_EQ(dev_enqueue(x, d, &t, &e), OP_OK);
    UNIT_EQ(launch(x, "add", 1, 64, PARAMS(a, 1)), OP_OK);
    u32 got[64];
    t = copy_out(got, a, sizeof got);
    UNIT_EQ(dev_enqueue(x, d, &t, &e), OP_OK);
    for (u32 i = 0; i < 64; i++) UNIT_EQ(got[i], 8);
    t = (struct dev_task){ .kind = OP_FREE, .free = { a } };
    UNIT_EQ(dev_enqueue(x, d, &t, &e), OP_OK);
    UNIT_EQ(ops->stream_synchronise(x, &e), OP_OK);
    UNIT_EQ(mem_usage(d->mem, MEM_POOL).live, live);
    close_all(0);
}

/* Copies in two and three dimensions, and what is refused. */
static void boxes(void)
{
    open_all(1, -1);
    struct dev_stream *x = stream(STREAM_NON_BLOCKING);
    u64 a = memory(4096, MEM_DEVICE), b = memory(4096, MEM_DEVICE);
    u8 in[4 * 3 * 2], out[4 * 3 * 2] = { 0 };
    for (u32 i = 0; i < sizeof in; i++) in[i] = (u8)(i + 1);
    struct dev_task t = { .kind = OP_COPY,
                          .copy = { { .address = a, .pitch = 16, .slice = 64 }, { .host = in }, 4, 3, 2 } };
    UNIT_EQ(dev_enqueue(x, d, &t, &e), OP_OK);
    t.copy = (struct dev_copy){
        { .address = b, .pitch = 32, .slice = 128 }, { .address = a, .pitch = 16, .slice = 64 }, 4, 3, 2
    };
    UNIT_EQ(dev_enqueue(x, d, &t, &e), OP_OK);
    t.copy = (struct dev_copy){ { .host = out }, { .address = b, .pitch = 32, .slice = 128 }, 4, 3, 2 };
    UNIT_EQ(dev_enqueue(x, d, &t, &e), OP_OK);
    UNIT(!memcmp(in, out, sizeof in));
    t.copy = (struct dev_copy){ { .address = b, .pitch = 2 }, { .address = a }, 4, 3, 1 };
    UNIT_EQ(dev_enqueue(x, d, &t, &e), OP_INVALID_VALUE);
    UNIT(e.code == ERR_INPUT);
    e = (struct error){ 0 };
    t.copy = (struct dev_copy){ { .address = b, .pitch = 2048 }, { .address = a }, 4, 3, 1 };
    UNIT_EQ(dev_enqueue(x, d, &t, &e), OP_INVALID_VALUE);
    UNIT(e.code == ERR_INPUT);
    e = (struct error){ 0 };
    UNIT_EQ(launch(x, "add", 1, 2048, PARAMS(a, 1)), DEV_REFUSED_LAUNCH);
    UNIT(e.code == ERR_NONE);
    UNIT_EQ(ops->value_write(x, a + 2, 32, 1, NULL, &e), OP_INVALID_VALUE);
    e = (struct error){ 0 };
    close_all(1);
}

/* ---- standing still ---- */

static void has_finding(const char *part)
{
    struct text t = { 0 };
    report_text(d->report, (struct report_style){ 0 }, &t);
    UNIT_HAS(t.p ? t.p : "", part);
    text_free(&t);
}

/* A of one stream waits for what B of another one sets; B is queued behind A in the legacy stream; the host waits for
 * B. */
static void deadlocks(u32 workers, s64 seed)
{
    open_all(workers, seed);
    struct dev_stream *x = stream(STREAM_BLOCKING), *y = stream(STREAM_BLOCKING), *z = stream(STREAM_NON_BLOCKING);
    u64 flag = memory(4, MEM_DEVICE), out = memory(4, MEM_DEVICE), other = memory(4 * 32, MEM_DEVICE);
    UNIT_EQ(launch(x, "await", 1, 1, PARAMS(flag, out)), OP_OK);
    UNIT_EQ(launch(ops->stream_legacy(d), "add", 1, 32, PARAMS(other, 1)), OP_OK);
    UNIT_EQ(launch(y, "set", 1, 1, PARAMS(flag)), OP_OK);
    thread_sleep_us(20000);
    UNIT_EQ(ops->stream_query(x, &e), OP_NOT_READY); /* the host is awake, and could still act */
    e = (struct error){ 0 };
    UNIT_EQ(ops->stream_synchronise(y, &e), OP_OK);
    UNIT_EQ(value(flag), 1); /* what is behind goes on */
    UNIT_EQ(ops->stream_synchronise(x, &e), DEV_LAUNCH_FAILED);
    e = (struct error){ 0 };
    has_finding("kernel set of stream 2 is queued behind kernel add of the legacy default stream, which is queued "
                "behind kernel await of stream 1, which waits for what writes x; the host waits for kernel set of "
                "stream 2");
    /* the host waits for the only kernel: a deadlock; with a copy of another stream on its way it is none */
    UNIT(dev_fill(d, flag, 0, 4, &e));
    UNIT_EQ(launch(z, "await", 1, 1, PARAMS(flag, out)), OP_OK);
    UNIT_EQ(ops->stream_synchronise(z, &e), DEV_LAUNCH_FAILED);
    e = (struct error){ 0 };
    has_finding("nothing that can still run writes x; the host waits for kernel await of stream 3");
    UNIT_EQ(launch(z, "await", 1, 1, PARAMS(flag, out)), OP_OK);
    u32 one = 1;
    struct dev_task t = copy_in(flag, &one, 4);
    UNIT_EQ(dev_enqueue(stream(STREAM_NON_BLOCKING), d, &t, &e), OP_OK);
    UNIT_EQ(ops->stream_synchronise(z, &e), OP_OK);
    close_all(2);
}

static void *writes_late(void *of)
{
    const u64 *at = of;
    u32 one = 1;
    struct error mine = { 0 };
    struct dev_task t = copy_in(at[0], &one, 4);
    struct dev_stream *st = NULL;
    thread_sleep_us(150000);
    UNIT_EQ(ops->stream_new(d, STREAM_NON_BLOCKING, 0, &st, &mine), OP_OK);
    UNIT_EQ(dev_enqueue(st, d, &t, &mine), OP_OK);
    UNIT_EQ(ops->stream_synchronise(st, &mine), OP_OK);
    return NULL;
}

/* A thread that has never called may still write: no deadlock, whatever the others wait for. */
static void other_thread(u32 workers)
{
    open_all(workers, -1);
    struct dev_stream *x = stream(STREAM_NON_BLOCKING);
    u64 at[] = { memory(4, MEM_DEVICE), memory(4, MEM_DEVICE) };
    pthread_t thread;
    UNIT(!pthread_create(&thread, NULL, writes_late, at));
    UNIT_EQ(launch(x, "await", 1, 1, at), OP_OK);
    UNIT_EQ(ops->stream_synchronise(x, &e), OP_OK);
    UNIT_EQ(value(at[1]), 1);
    pthread_join(thread, NULL);
    close_all(0);
}

/* A synchronous launch, on the thread that calls; made_first: that thread makes a stream before, so that the launch
 * still acts at once, and the streams are there when the other thread comes. */
struct server {
    u64 param[2]; /* request and answer, pinned */
    bool made_first;
};
static void *serves(void *of)
{
    const struct server *s = of;
    struct error mine = { 0 };
    struct sim_result r;
    struct dev_stream *st = NULL;
    struct dev_task t = kernel("serve", 1, 1, s->param);
    if (s->made_first) UNIT_EQ(ops->stream_new(d, STREAM_NON_BLOCKING, 0, &st, &mine), OP_OK);
    UNIT_EQ(dev_launch(d, &t.launch, &r, &mine), DEV_RAN);
    return NULL;
}

/* What another thread enqueues while a synchronous launch runs: in a blocking stream it comes behind the launch, in
 * another one beside it. */
static void beside_synchronous(u32 workers, u32 checks, bool made_first)
{
    open_with(workers, -1, checks);
    struct server s = { { memory(4, MEM_PINNED), memory(4, MEM_PINNED) }, made_first };
    u64 x = memory(4, MEM_DEVICE), y = memory(4, MEM_DEVICE);
    pthread_t thread;
    UNIT(!pthread_create(&thread, NULL, serves, &s));
    __atomic_store_n(view(s.param[0]), 5, __ATOMIC_RELEASE);
    while (__atomic_load_n(view(s.param[1]), __ATOMIC_ACQUIRE) != 6) thread_sleep_us(100); /* it runs */
    struct dev_stream *blocking = stream(STREAM_BLOCKING), *other = stream(STREAM_NON_BLOCKING);
    struct dev_task t = { .kind = OP_FILL, .fill = { .address = x, .value = 7, .bytes = 4, .width = 1, .rows = 1 } };
    UNIT_EQ(dev_enqueue(blocking, d, &t, &e), OP_OK);
    t.fill.address = y;
    UNIT_EQ(dev_enqueue(other, d, &t, &e), OP_OK);
    UNIT_EQ(ops->stream_synchronise(other, &e), OP_OK);
    thread_sleep_us(2000);
    UNIT_EQ(*view(y), 7);
    UNIT_EQ(ops->stream_query(blocking, &e), OP_NOT_READY);
    __atomic_store_n(view(s.param[0]), UINT32_MAX, __ATOMIC_RELEASE);
    UNIT_EQ(ops->stream_synchronise(blocking, &e), OP_OK);
    UNIT_EQ(*view(x), 7);
    pthread_join(thread, NULL);
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    UNIT_EQ(value(x), 7);
    close_all(0);
}

/* ---- operations that nothing orders ---- */

/* A kernel writes, another stream's kernel or copy uses it: with the event nothing is found, without it race_stream. */
static void unordered(u32 workers, s64 seed, bool event)
{
    open_with(workers, seed, CHECK_ALL);
    struct dev_stream *x = stream(STREAM_NON_BLOCKING), *y = stream(STREAM_NON_BLOCKING);
    struct dev_event *ev;
    UNIT_EQ(ops->event_new(d, EVENT_NO_TIMING, &ev, &e), OP_OK);
    u64 a = memory(4 * 64, MEM_DEVICE), b = memory(4 * 64, MEM_DEVICE), pinned = memory(4 * 64, MEM_PINNED);
    UNIT_EQ(launch(x, "add", 1, 64, PARAMS(a, 1)), OP_OK);
    if (event) UNIT_EQ(ops->event_record(ev, x, false, "record", &e), OP_OK);
    if (event) UNIT_EQ(ops->event_wait(y, ev, false, "wait", &e), OP_OK);
    struct dev_task t = { .kind = OP_COPY,
                          .copy = { { .address = pinned }, { .address = a }, 256, 1, 1 },
                          .site = "the copy out" };
    UNIT_EQ(dev_enqueue(y, d, &t, &e), OP_OK);
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    if (!event) has_finding("the copy out");
    /* two streams that add to two arrays: nothing in common */
    UNIT_EQ(launch(x, "add", 1, 64, PARAMS(a, 1)), OP_OK);
    UNIT_EQ(launch(y, "add", 1, 64, PARAMS(b, 1)), OP_OK);
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    ops->event_delete(ev);
    close_all(!event);
}

/* Memory of one stream used by another, before its allocation or after its free. */
static void unordered_memory(u32 workers, s64 seed, bool late)
{
    open_with(workers, seed, CHECK_ALL);
    struct dev_stream *x = stream(STREAM_NON_BLOCKING), *y = stream(STREAM_NON_BLOCKING);
    struct dev_task t = { .kind = OP_ALLOC, .alloc = { .bytes = 256, .name = "buffer" }, .site = "the allocation" };
    UNIT_EQ(dev_enqueue(x, d, &t, &e), OP_OK);
    u64 a = t.alloc.address;
    if (late) UNIT_EQ(ops->stream_synchronise(x, &e), OP_OK);
    t = (struct dev_task){ .kind = OP_FILL,
                           .fill = { .address = a, .value = 1, .bytes = 4, .width = 64, .rows = 1 },
                           .site = "the fill" };
    UNIT_EQ(dev_enqueue(y, d, &t, &e), OP_OK);
    if (!late) UNIT_EQ(ops->stream_synchronise(y, &e), OP_OK);
    t = (struct dev_task){ .kind = OP_FREE, .free = { a }, .site = "the free" };
    UNIT_EQ(dev_enqueue(x, d, &t, &e), OP_OK);
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    has_finding(late ? "the free" : "the allocation");
    close_all(1);
}

/* ---- graphs ---- */

static void graphs(u32 workers, s64 seed)
{
    open_all(workers, seed);
    struct dev_stream *x = stream(STREAM_NON_BLOCKING), *y = stream(STREAM_NON_BLOCKING);
    u64 a = memory(4 * 64, MEM_DEVICE), b = memory(4 * 64, MEM_DEVICE);
    struct dev_event *ev;
    struct dev_graph *g;
    struct dev_exec *exec;
    UNIT_EQ(ops->event_new(d, EVENT_NO_TIMING, &ev, &e), OP_OK);
    UNIT_EQ(ops->capture_begin(x, CAPTURE_GLOBAL, &e), OP_OK);
    UNIT_EQ(launch(x, "add", 1, 64, PARAMS(a, 1)), OP_OK);
    UNIT_EQ(ops->event_record(ev, x, false, NULL, &e), OP_OK);
    UNIT_EQ(ops->event_wait(y, ev, false, NULL, &e), OP_OK);
    struct dev_task t = { .kind = OP_COPY, .copy = { { .address = b }, { .address = a }, 256, 1, 1 } };
    UNIT_EQ(dev_enqueue(y, d, &t, &e), OP_OK);
    UNIT_EQ(launch(y, "add", 2, 32, PARAMS(b, 100)), OP_OK);
    UNIT_EQ(ops->event_record(ev, y, false, NULL, &e), OP_OK);
    UNIT_EQ(ops->event_wait(x, ev, false, NULL, &e), OP_OK);
    UNIT_EQ(ops->capture_end(x, &g, &e), OP_OK);
    UNIT_EQ(ops->graph_nodes(g), 3);
    UNIT_EQ(ops->graph_instantiate(g, 0, &exec, &e), OP_OK);
    UNIT_EQ(value(a), 0); /* nothing has run */
    for (u32 i = 0; i < 20; i++) UNIT_EQ(ops->exec_launch(exec, i % 2 ? x : y, "graph", &e), OP_OK);
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    UNIT_EQ(value(a), 20);
    UNIT_EQ(value(b + 4 * 63), 120);
    ops->graph_delete(g);
    /* built by hand, with other arguments for one node */
    struct dev_node *n[3];
    struct dev_exec *other;
    UNIT_EQ(ops->graph_new(d, &g, &e), OP_OK);
    struct dev_task one = kernel("add", 1, 64, PARAMS(a, 1000)), two = kernel("add", 1, 64, PARAMS(a, 2000));
    UNIT_EQ(dev_graph_add(g, d, NULL, 0, &one, &n[0], &e), OP_OK);
    UNIT_EQ(dev_graph_add(g, d, n, 1, &t, &n[1], &e), OP_OK);
    UNIT_EQ(ops->graph_instantiate(g, 0, &other, &e), OP_OK);
    UNIT_EQ(ops->exec_launch(other, x, NULL, &e), OP_OK);
    UNIT_EQ(dev_exec_set(other, d, n[0], &two, &e), OP_OK);
    UNIT_EQ(ops->exec_launch(other, x, NULL, &e), OP_OK);
    UNIT_EQ(ops->stream_synchronise(x, &e), OP_OK);
    UNIT_EQ(value(b), 20 + 3000);
    UNIT_EQ(ops->exec_update(other, g, &e), OP_OK);
    ops->graph_delete(g);
    ops->exec_delete(exec);
    ops->exec_delete(other);
    ops->event_delete(ev);
    close_all(0);
}

int main(void)
{
    boxes();
    for (u32 k = 0; k < 5; k++) {
        u32 workers = k < 3 ? k + 1 : 1;
        s64 seed = k < 3 ? -1 : (s64)k;
        handing_over(workers, seed, WITHOUT_RACES);
        handing_over(workers, seed, CHECK_ALL);
        heartbeats(workers, seed, CHECK_ALL);
        if (seed < 0) persistent(workers, CHECK_ALL);
        unordered(workers, seed, true);
#ifndef __SANITIZE_THREAD__ /* a program with a race: two threads of ours then use its bytes at once */
        unordered(workers, seed, false);
#endif
        unordered_memory(workers, seed, true);
        unordered_memory(workers, seed, false);
#ifndef UNIT_SANITIZED
        whole_grids(workers, seed); /* hundreds of CTAs that poll, minutes under a sanitizer */
#endif
        heartbeats(workers, seed, WITHOUT_RACES);
        synchronous(workers, seed);
        dependent(workers, seed, WITHOUT_RACES);
        allocations(workers, seed);
        graphs(workers, seed);
        deadlocks(workers, seed);
        if (seed < 0) other_thread(workers);
        for (u32 with = 0; seed < 0 && with < 4; with++)
            beside_synchronous(workers, with & 1 ? CHECK_ALL : WITHOUT_RACES, with & 2);
        if (seed < 0) persistent(workers, WITHOUT_RACES);
    }
    return unit_done();
}
