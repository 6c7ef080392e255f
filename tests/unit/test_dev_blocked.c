/* Whether a launch that waits is called a deadlock (device/dev_blocked.c): never while a thread of the program can
 * still act, whenever it comes, and always when none can.
 *
 *   test_dev_blocked [ROUNDS [WORKERS]]  ROUNDS of each scenario, with WORKERS or a few numbers of them */
#include "device/dev_async.h"
#include "device/dev_memory.h"
#include "unit.h"
#include <stdlib.h>

/* await  waits until *flag is not 0, then sets *out.
 * tell  sets *told, waits until *flag is not 0, then sets *out.
 * set  sets *flag. */
static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".visible .entry await(.param .u64 flag, .param .u64 out)\n{\n"
                           ".reg .u64 %rd<3>; .reg .u32 %r<3>; .reg .pred %p;\n"
                           "ld.param.u64 %rd1, [flag]; ld.param.u64 %rd2, [out];\n"
                           "again:\nld.relaxed.sys.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p, %r1, 0;\n@%p bra again;\n"
                           "mov.u32 %r2, 1;\nst.relaxed.gpu.global.u32 [%rd2], %r2;\nret;\n}\n"
                           ".visible .entry tell(.param .u64 told, .param .u64 flag, .param .u64 out)\n{\n"
                           ".reg .u64 %rd<4>; .reg .u32 %r<3>; .reg .pred %p;\n"
                           "ld.param.u64 %rd3, [told]; ld.param.u64 %rd1, [flag]; ld.param.u64 %rd2, [out];\n"
                           "mov.u32 %r2, 1;\nst.relaxed.sys.global.u32 [%rd3], %r2;\n"
                           "again:\nld.relaxed.sys.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p, %r1, 0;\n@%p bra again;\n"
                           "st.relaxed.gpu.global.u32 [%rd2], %r2;\nret;\n}\n"
                           ".visible .entry set(.param .u64 flag)\n{\n.reg .u64 %rd; .reg .u32 %r;\n"
                           "ld.param.u64 %rd, [flag]; mov.u32 %r, 1; st.relaxed.sys.global.u32 [%rd], %r;\nret;\n}\n";

static struct device *d;
static struct dev_module *module;
static const struct dev_async_ops *ops;
static struct error e;
static u64 random_state = 1;

static void open_all(u32 workers)
{
    e = (struct error){ 0 };
    d = dev_new(&(struct dev_options){ .workers = workers, .checks = CHECK_ALL & ~(CHECK_RACE | CHECK_ASYNC) }, &e);
    UNIT(d != NULL);
    ops = d->async;
    struct dev_part part = { "still.ptx", { text, sizeof text - 1 } };
    module = dev_load(d, &part, 1, &e);
    if (!UNIT(module != NULL)) fprintf(stderr, "%s\n%s\n", e.text, e.excerpt);
}

static void close_all(void)
{
    if (report_errors(d->report)) {
        struct text t = { 0 };
        report_text(d->report, (struct report_style){ 0 }, &t);
        fprintf(stderr, "%s\n", t.p);
        text_free(&t);
    }
    UNIT_EQ(report_errors(d->report), 0);
    dev_delete(d);
}

static u64 memory(enum mem_kind kind)
{
    struct mem_object *o = dev_alloc(d, 4, kind, "x", NULL, &e);
    UNIT(o && dev_fill(d, o->base, 0, 4, &e));
    return o->base;
}
static u32 *view(u64 at) { return mem_view(mem_find(d->mem, at), at); }

static struct dev_stream *stream(void)
{
    struct error mine = { 0 };
    struct dev_stream *st = NULL;
    UNIT_EQ(ops->stream_new(d, STREAM_NON_BLOCKING, 0, &st, &mine), OP_OK);
    return st;
}

static struct dev_task kernel(const char *name, const u64 *params)
{
    return (struct dev_task){ .kind = OP_LAUNCH,
                              .launch = { .kernel = ptx_kernel(module->ptx, str_of(name)),
                                          .grid = { 1, 1, 1 },
                                          .block = { 1, 1, 1 },
                                          .params = params },
                              .site = name };
}
static void launch(struct dev_stream *st, const char *name, const u64 *params)
{
    struct error mine = { 0 };
    struct dev_task t = kernel(name, params);
    UNIT_EQ(dev_enqueue(st, d, &t, &mine), OP_OK);
}

/* ---- what the other thread does ---- */

enum way { BY_COPY, BY_KERNEL, BY_CALL, BY_FILL, WAYS };
struct other {
    pthread_t thread, second;
    u64 flag;      /* what it sets */
    u32 sleep_us;  /* before it does */
    enum way way;  /* how it does */
    u64 stop;      /* a flag in pinned memory that ends its first call; 0: it makes none */
    u32 has_begun; /* atomic */
};

static void set_flag(struct other *o)
{
    struct error mine = { 0 };
    struct sim_result r;
    u32 one = 1;
    u64 params[] = { o->flag };
    struct dev_task copy = { .kind = OP_COPY,
                             .copy = { { .address = o->flag }, { .host = &one }, 4, 1, 1 },
                             .site = "copy in" };
    if (o->way == BY_FILL) {
        UNIT(dev_fill(d, o->flag, 1, 4, &mine));
    } else if (o->way == BY_CALL) {
        struct dev_launch l = kernel("set", params).launch;
        UNIT_EQ(dev_launch(d, &l, &r, &mine), DEV_RAN);
    } else {
        struct dev_stream *st = stream();
        if (o->way == BY_KERNEL)
            launch(st, "set", params);
        else
            UNIT_EQ(dev_enqueue(st, d, &copy, &mine), OP_OK);
        UNIT_EQ(ops->stream_synchronise(st, &mine), OP_OK);
        UNIT_EQ(ops->stream_delete(st, &mine), OP_OK);
    }
}

static void *sets(void *of)
{
    struct other *o = of;
    if (o->sleep_us) thread_sleep_us(o->sleep_us);
    set_flag(o);
    return NULL;
}

/* Ends, and leaves the work to a thread that it has started. */
static void *passes_on(void *of)
{
    struct other *o = of;
    if (o->sleep_us) thread_sleep_us(o->sleep_us);
    UNIT(!pthread_create(&o->second, NULL, sets, o));
    return NULL;
}

/* A host function: the thread that it starts has the name of the thread that runs it. */
static void starts(void *of)
{
    struct other *o = of;
    UNIT(!pthread_create(&o->thread, NULL, sets, o));
}

/* Is in a synchronous launch when the streams come into being, and acts some time after it. */
static void *calls_first(void *of)
{
    struct other *o = of;
    struct error mine = { 0 };
    struct sim_result r;
    u64 params[] = { o->stop, o->stop };
    struct dev_launch l = kernel("await", params).launch;
    __atomic_store_n(&o->has_begun, 1, __ATOMIC_RELEASE);
    UNIT_EQ(dev_launch(d, &l, &r, &mine), DEV_RAN);
    UNIT_EQ(r.end, SIM_DONE);
    return sets(o);
}

/* ---- scenarios ---- */

static struct other other(u64 flag, u32 most_us)
{
    u64 n = rand_next(&random_state);
    return (struct other){ .flag = flag, .sleep_us = (u32)((n >> 8) % most_us), .way = (enum way)(n % WAYS) };
}

static void clear(u64 flag, u64 out) { UNIT(dev_fill(d, flag, 0, 4, &e) && dev_fill(d, out, 0, 4, &e)); }

/* The host waits for a kernel, and another thread sets the flag: it is new, or one that a new one has started. */
static void new_thread(u64 flag, u64 out, void *(*does)(void *))
{
    struct dev_stream *x = stream();
    struct other o = other(flag, 1500);
    UNIT(!pthread_create(&o.thread, NULL, does, &o));
    launch(x, "await", (u64[]){ flag, out });
    UNIT_EQ(ops->stream_synchronise(x, &e), OP_OK);
    pthread_join(o.thread, NULL);
    if (does == passes_on) pthread_join(o.second, NULL);
    UNIT_EQ(ops->stream_delete(x, &e), OP_OK);
    clear(flag, out);
}

static void thread_of_host_function(u64 flag, u64 out)
{
    struct dev_stream *x = stream(), *y = stream();
    struct other o = other(flag, 20000);
    struct dev_task host = { .kind = OP_HOST, .host = { .call = starts, .self = &o } };
    launch(x, "await", (u64[]){ flag, out });
    UNIT_EQ(dev_enqueue(y, d, &host, &e), OP_OK);
    UNIT_EQ(ops->stream_synchronise(x, &e), OP_OK);
    UNIT_EQ(ops->stream_synchronise(y, &e), OP_OK);
    pthread_join(o.thread, NULL);
    UNIT_EQ(ops->stream_delete(x, &e), OP_OK);
    UNIT_EQ(ops->stream_delete(y, &e), OP_OK);
    clear(flag, out);
}

/* The kernel writes what a stream waits for, and that stream has the kernel that it waits for. */
static void value_waits(u64 flag, u64 out, u64 told)
{
    struct dev_stream *x = stream(), *y = stream();
    UNIT_EQ(ops->value_wait(y, told, 32, 1, OP_EQ, "the wait", &e), OP_OK);
    launch(y, "set", (u64[]){ flag });
    thread_sleep_us(1500); /* by now it is looked at seldom */
    launch(x, "tell", (u64[]){ told, flag, out });
    UNIT_EQ(ops->stream_synchronise(x, &e), OP_OK);
    UNIT_EQ(ops->stream_synchronise(y, &e), OP_OK);
    UNIT_EQ(ops->stream_delete(x, &e), OP_OK);
    UNIT_EQ(ops->stream_delete(y, &e), OP_OK);
    clear(flag, out);
    UNIT(dev_fill(d, told, 0, 4, &e));
}

/* A thread is in a synchronous launch when the first stream is made. */
static void streams_come_late(u32 workers)
{
    open_all(workers);
    u64 flag = memory(MEM_DEVICE), out = memory(MEM_DEVICE), stop = memory(MEM_PINNED);
    struct other o = { .flag = flag, .sleep_us = 20000, .way = BY_COPY, .stop = stop };
    UNIT(!pthread_create(&o.thread, NULL, calls_first, &o));
    while (!__atomic_load_n(&o.has_begun, __ATOMIC_ACQUIRE)) thread_sleep_us(100);
    thread_sleep_us(2000);
    struct dev_stream *x = stream();
    launch(x, "await", (u64[]){ flag, out });
    __atomic_store_n(view(stop), 1, __ATOMIC_RELEASE);
    UNIT_EQ(ops->stream_synchronise(x, &e), OP_OK);
    pthread_join(o.thread, NULL);
    close_all();
}

/* The host is in a synchronous launch; another thread makes the first stream, or acts without one. */
static void without_streams(u32 workers)
{
    open_all(workers);
    u64 flag = memory(MEM_DEVICE), out = memory(MEM_DEVICE);
    struct other o = other(flag, 5000);
    struct sim_result r;
    struct dev_launch l = kernel("await", (u64[]){ flag, out }).launch;
    if (o.way == BY_CALL) o.way = BY_KERNEL; /* behind the launch that waits: a deadlock */
    UNIT(!pthread_create(&o.thread, NULL, sets, &o));
    UNIT_EQ(dev_launch(d, &l, &r, &e), DEV_RAN);
    UNIT_EQ(r.end, SIM_DONE);
    pthread_join(o.thread, NULL);
    close_all();
}

static void *waits_for(void *st)
{
    struct error mine = { 0 };
    UNIT_EQ(ops->stream_synchronise(st, &mine), DEV_LAUNCH_FAILED);
    return NULL;
}

/* Nobody can act: one thread, or two that both wait. */
static void deadlock(u32 workers, bool two)
{
    open_all(workers);
    u64 flag = memory(MEM_DEVICE), out = memory(MEM_DEVICE);
    struct dev_stream *x = stream(), *y = stream();
    pthread_t t;
    launch(x, "await", (u64[]){ flag, out });
    if (two) launch(y, "await", (u64[]){ flag, out });
    if (two) UNIT(!pthread_create(&t, NULL, waits_for, y));
    UNIT_EQ(ops->stream_synchronise(x, &e), DEV_LAUNCH_FAILED);
    if (two) pthread_join(t, NULL);
    UNIT_EQ(report_errors(d->report), 1 + two); /* each names its stream */
    e = (struct error){ 0 };
    struct sim_result r;
    struct dev_launch l = kernel("await", (u64[]){ flag, out }).launch;
    UNIT_EQ(dev_launch(d, &l, &r, &e), DEV_RAN); /* on this thread */
    UNIT_EQ(r.end, SIM_DEADLOCK);
    report_clear(d->report);
    close_all();
}

int main(int argc, char **argv)
{
    static const u32 some[] = { 1, 2, 4, 16 };
    u32 rounds = argc > 1 ? (u32)atoi(argv[1]) : 12, only = argc > 2 ? (u32)atoi(argv[2]) : 0;
    for (u32 k = 0; k < (only ? 1 : 4); k++) {
        u32 workers = only ? only : some[k];
        open_all(workers);
        u64 flag = memory(MEM_DEVICE), out = memory(MEM_DEVICE), told = memory(MEM_DEVICE);
        for (u32 i = 0; i < rounds; i++) {
            new_thread(flag, out, sets);
            new_thread(flag, out, passes_on);
            value_waits(flag, out, told);
            if (i % 4 == 0) thread_of_host_function(flag, out);
        }
        close_all();
        for (u32 i = 0; i <= rounds / 4; i++) {
            streams_come_late(workers);
            without_streams(workers);
            deadlock(workers, false);
            deadlock(workers, true);
        }
    }
    return unit_done();
}
