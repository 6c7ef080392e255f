/* Kernels of several streams that hand data to each other while they run, on the software GPU with the race check: by a
 * flag of their own, by one that a copy or a value of a stream writes, through a value that a stream waits for, through
 * the host. None of that is a race; without the flag it is one. */
#include "device/dev_async.h"
#include "device/dev_memory.h"
#include <unistd.h>
#include "unit.h"

/* give  writes data[t], then sets *flag with a release. It reads *flag first, so it is not simple.
 * take  waits for *flag with an acquire, then copies data[t] to out[t].
 * look  reads *flag, relaxed, and copies data[t] to out[t] whatever it was.
 * add  adds one to data[t].
 * stay  writes data[t], releases *flag, and waits for *out. */
#define KERNEL(name, body)                                                                                   \
    ".visible .entry " name "(.param .u64 data, .param .u64 flag, .param .u64 out)\n{\n"                     \
    ".reg .u64 %rd<7>; .reg .u32 %r<6>; .reg .pred %p<3>;\n"                                                 \
    "ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [flag]; ld.param.u64 %rd3, [out]; mov.u32 %r1, %tid.x;\n" \
    "mul.wide.u32 %rd4, %r1, 4; add.u64 %rd5, %rd1, %rd4; add.u64 %rd6, %rd3, %rd4; mov.u32 %r2, 1;\n"       \
    "setp.ne.u32 %p1, %r1, 0;\n" body "ret;\n}\n"
static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n" KERNEL(
    "give", "ld.relaxed.gpu.global.u32 %r3, [%rd2]; st.global.u32 [%rd5], %r1; bar.sync 0;\n"
            "@!%p1 st.release.gpu.global.u32 [%rd2], %r2;\n")
    KERNEL("take", "@%p1 bra met;\nagain: ld.acquire.gpu.global.u32 %r3, [%rd2]; setp.eq.u32 %p2, %r3, 0;\n"
                   "@%p2 bra again;\nmet: bar.sync 0; ld.global.u32 %r4, [%rd5]; st.global.u32 [%rd6], %r4;\n")
        KERNEL("look", "ld.relaxed.gpu.global.u32 %r3, [%rd2]; ld.global.u32 %r4, [%rd5];\n"
                       "st.global.u32 [%rd6], %r4;\n")
            KERNEL("add", "ld.global.u32 %r4, [%rd5]; add.u32 %r4, %r4, 1; st.global.u32 [%rd5], %r4;\n")
                KERNEL("stay", "st.global.u32 [%rd5], %r1; bar.sync 0; @!%p1 st.release.gpu.global.u32 [%rd2], %r2;\n"
                               "again: ld.acquire.sys.global.u32 %r3, [%rd3]; setp.eq.u32 %p2, %r3, 0;\n"
                               "@%p2 bra again;\n");

static struct device *d;
static struct dev_module *module;
static const struct dev_async_ops *ops;
static struct dev_stream *x, *y;
static u64 data, flag, out, stop;
static struct error e;

static u64 memory(u64 bytes, enum mem_kind kind)
{
    struct mem_object *o = dev_alloc(d, bytes, kind, "x", NULL, &e);
    UNIT(o && dev_fill(d, o->base, 0, bytes, &e));
    return o->base;
}

static void open_all(u32 workers)
{
    e = (struct error){ 0 };
    d = dev_new(&(struct dev_options){ .workers = workers, .checks = CHECK_ALL }, &e);
    UNIT(d != NULL);
    ops = d->async;
    struct dev_part part = { "signals.ptx", { text, sizeof text - 1 } };
    module = dev_load(d, &part, 1, &e);
    if (!UNIT(module != NULL)) fprintf(stderr, "%s\n%s\n", e.text, e.excerpt);
    UNIT_EQ(ops->stream_new(d, STREAM_NON_BLOCKING, 0, &x, &e), OP_OK);
    UNIT_EQ(ops->stream_new(d, STREAM_NON_BLOCKING, 0, &y, &e), OP_OK);
    data = memory(256, MEM_DEVICE);
    flag = memory(4, MEM_DEVICE);
    out = memory(256, MEM_DEVICE);
    stop = memory(256, MEM_PINNED);
}

/* race: there is a race_stream, and nothing else. */
static void close_all(bool race)
{
    struct text t = { 0 };
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    report_text(d->report, (struct report_style){ 0 }, &t);
    bool found = t.p && strstr(t.p, "[race_stream]");
    if (!UNIT(race ? found : !report_errors(d->report))) fprintf(stderr, "%s\n", t.p);
    text_free(&t);
    dev_delete(d);
}

static void launch(struct dev_stream *st, const char *name, u64 to)
{
    u64 params[3] = { data, flag, to };
    struct dev_task t = { .kind = OP_LAUNCH,
                          .launch = { .kernel = ptx_kernel(module->ptx, str_of(name)),
                                      .grid = { 1, 1, 1 },
                                      .block = { 64, 1, 1 },
                                      .params = params },
                          .site = name };
    UNIT_EQ(dev_enqueue(st, d, &t, &e), OP_OK);
}

static void copy_flag(struct dev_stream *st)
{
    u32 one = 1;
    struct dev_task t = { .kind = OP_COPY,
                          .copy = { { .address = flag }, { .host = &one }, 4, 1, 1 },
                          .site = "the flag" };
    UNIT_EQ(dev_enqueue(st, d, &t, &e), OP_OK);
}

static void test_flags(u32 workers)
{
    open_all(workers); /* a flag of their own, either one first */
    launch(x, "give", out);
    launch(y, "take", out);
    close_all(false);
    open_all(workers);
    launch(y, "take", out);
    launch(x, "give", out);
    close_all(false);
    open_all(workers); /* nobody waits for the flag */
    launch(x, "give", out);
    launch(y, "look", out);
    close_all(true);
}

static void test_outside(u32 workers)
{
    open_all(workers); /* a copy behind the kernel that writes the data */
    launch(y, "take", out);
    launch(x, "add", out);
    copy_flag(x);
    close_all(false);
    open_all(workers); /* a written value */
    launch(y, "take", out);
    launch(x, "add", out);
    UNIT_EQ(ops->value_write(x, flag, 32, 1, "the value", &e), OP_OK);
    close_all(false);
    open_all(workers); /* a stream waits for a value that a kernel in flight releases, and starts another one */
    launch(x, "stay", stop);
    UNIT_EQ(ops->value_wait(y, flag, 32, 1, OP_EQ, "the wait", &e), OP_OK);
    launch(y, "add", out);
    UNIT_EQ(ops->stream_synchronise(y, &e), OP_OK);
    __atomic_store_n((u32 *)mem_view(mem_find(d->mem, stop), stop), 1, __ATOMIC_RELEASE);
    close_all(false);
#ifndef __SANITIZE_THREAD__ /* a program with a race: two threads of ours then use its bytes at once */
    open_all(workers);      /* the same without the wait */
    launch(x, "stay", stop);
    for (u32 k = 0, seen = 0; k < 1000 && !seen; k++) {
        usleep(1000);
        UNIT(dev_read(d, data + 4, &seen, 4, &e));
    }
    launch(y, "add", out);
    UNIT_EQ(ops->stream_synchronise(y, &e), OP_OK);
    __atomic_store_n((u32 *)mem_view(mem_find(d->mem, stop), stop), 1, __ATOMIC_RELEASE);
    close_all(true);
#endif
}

int main(void)
{
    for (u32 workers = 1; workers <= 2; workers++) {
        test_flags(workers);
        test_outside(workers);
    }
    return unit_done();
}
