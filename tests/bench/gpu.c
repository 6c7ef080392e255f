/* gpu: what Lockstep costs over a real GPU's driver, on a machine that has one.
 *
 *     gpu
 *
 * The same work through Lockstep and through raw calls of the same driver, in one process, in turns: the issue of a
 * launch, launch and wait, graph launch and wait, both directions of copies at once. Medians and their difference or
 * ratio; exit 1 when a target is missed, 4 when there is no GPU. */
#include "gpu/dev_gpu.h"
#include "api/host.h"
#include <stdlib.h>

enum { LAUNCHES = 40000, BATCH = 100, WAITS = 4000, NODES = 20, COPIES = 12, COPY = 256 << 20 };
static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry none(.param .u64 p, .param .u32 n, .param .f32 a, .param .u64 q)\n"
                          "{ ret; }\n";
static double ours[LAUNCHES], raw[LAUNCHES];
static int missed;

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double *t, u32 n, double q)
{
    qsort(t, n, sizeof *t, ascending);
    return t[(u32)((n - 1) * q)];
}

/* Both medians, and what is held against the target: their difference in ns, or their ratio. */
static void figure(const char *what, u32 n, double most_ns, double most_ratio)
{
    double a = quantile(ours, n, 0.5), b = quantile(raw, n, 0.5);
    printf("%-44s ours %8.3f us (p99 %8.3f)  raw %8.3f us (p99 %8.3f)", what, a / 1e3, quantile(ours, n, 0.99) / 1e3,
           b / 1e3, quantile(raw, n, 0.99) / 1e3);
    bool met = most_ns > 0 ? a - b <= most_ns : a <= b * most_ratio;
    if (most_ns > 0) printf("  %+6.0f ns (target %g: %s)", a - b, most_ns, met ? "met" : "MISSED");
    if (most_ratio > 0) printf("  %.3fx (target %g: %s)", a / b, most_ratio, met ? "met" : "MISSED");
    printf("\n");
    missed |= (most_ns > 0 || most_ratio > 0) && !met;
}

static const struct error raw_error = { .text = "a raw call" };
static void must(u32 status, const struct error *e)
{
    if (!status) return;
    fprintf(stderr, "gpu: status %u: %s\n", status, e->text);
    exit(1);
}

struct bench {
    lk_gpu *gpu;
    lk_kernel *kernel;
    lk_stream *stream;
    struct device *d; /* the same below the public interface */
    const struct driver *cu;
    cu_function function;
    cu_stream raw;
    struct { /* the parameter block */
        u64 p;
        u32 n;
        float a;
        u64 q;
    } params;
    void *param[4];
    lk_launch launch;
};

/* The call of the interface has worked. */
static void done(const struct bench *b, lk_status status)
{
    if (status == LK_OK) return;
    fprintf(stderr, "gpu: status %d: %s\n", (int)status, lk_gpu_error(b->gpu));
    exit(status == LK_BAD_INPUT && !b->gpu ? 4 : 1);
}

static lk_launch launch_of(struct bench *b)
{
    return (lk_launch){ .size = sizeof(lk_launch),
                        .grid = { 1, 1, 1 },
                        .block = { 32, 1, 1 },
                        .args = (const void *const *)b->param,
                        .arg_count = 4,
                        .stream = b->stream };
}

static void open_bench(struct bench *b)
{
    lk_module *m;
    done(b, lk_gpu_create(&(lk_options){ .size = sizeof(lk_options), .on = "gpu" }, &b->gpu));
    done(b, lk_module_load(b->gpu, "none.ptx", ptx, sizeof ptx - 1, &m));
    done(b, lk_stream_create(b->gpu, LK_STREAM_NON_BLOCKING, 0, &b->stream));
    b->kernel = lk_module_kernel_at(m, 0);
    b->d = b->gpu->device;
    b->cu = &b->d->gpu->cu;
    b->raw = b->stream->dev->handle;
    must((u32)b->cu->function(&b->function, m->dev->handle, "none"), &raw_error);
    b->params.n = 1;
    b->param[0] = &b->params.p;
    b->param[1] = &b->params.n;
    b->param[2] = &b->params.a;
    b->param[3] = &b->params.q;
    b->launch = launch_of(b);
    printf("%s, %s\n", lk_gpu_title(b->gpu), b->cu->path);
}

static void launch_ours(struct bench *b) { done(b, lk_kernel_launch(b->kernel, &b->launch, NULL)); }

static void launch_dev(struct bench *b)
{
    struct error e;
    e.code = ERR_NONE;
    struct dev_task t = {
        .kind = OP_LAUNCH,
        .launch = { .kernel = b->kernel->func, .grid = { 1, 1, 1 }, .block = { 32, 1, 1 }, .params = &b->params }
    };
    must(dev_enqueue(b->stream->dev, b->d, &t, &e), &e);
}

static void launch_raw(struct bench *b)
{
    must((u32)b->cu->launch(b->function, 1, 1, 1, 32, 1, 1, 0, b->raw, b->param, NULL), &raw_error);
}

static void wait_ours(struct bench *b) { done(b, lk_stream_synchronise(b->stream)); }

static void wait_raw(struct bench *b) { must((u32)b->cu->stream_sync(b->raw), &raw_error); }

static double timed(void (*f)(struct bench *b), struct bench *b)
{
    u64 start = time_ns();
    f(b);
    return (double)(time_ns() - start);
}

static void set_current(struct bench *b) { b->cu->set_current(b->d->gpu->context); }
static void query(struct bench *b) { b->cu->query(b->raw); }
static void nothing(struct bench *b) { (void)b; }

/* One against the other, in turns; what is in flight is waited for between batches. */
static void compare(const char *what, struct bench *b, u32 n, void (*f)(struct bench *b), void (*g)(struct bench *b),
                    double most_ns, double most_ratio)
{
    for (u32 i = 0; i < n; i++) {
        bool first = i % 2; /* neither is always the second */
        if (first) ours[i] = timed(f, b);
        raw[i] = timed(g, b);
        if (!first) ours[i] = timed(f, b);
        if (i % BATCH == BATCH - 1) wait_raw(b);
    }
    wait_raw(b);
    figure(what, n, most_ns, most_ratio);
}

static void both_ours(struct bench *b)
{
    launch_ours(b);
    wait_ours(b);
}
static void both_raw(struct bench *b)
{
    launch_raw(b);
    wait_raw(b);
}

static lk_exec *exec;
static cu_exec exec_raw;
static void graph_ours(struct bench *b)
{
    done(b, lk_exec_launch(exec, b->stream));
    wait_ours(b);
}
static void graph_raw(struct bench *b)
{
    must((u32)b->cu->exec_launch(exec_raw, b->raw), &raw_error);
    wait_raw(b);
}

static void graphs(struct bench *b, u32 nodes)
{
    lk_graph *g;
    lk_node *node[NODES];
    lk_launch l = launch_of(b);
    done(b, lk_graph_create(b->gpu, &g));
    for (u32 i = 0; i < nodes; i++)
        done(b, lk_graph_add_launch(g, i ? &node[i - 1] : NULL, i > 0, b->kernel, &l, &node[i]));
    done(b, lk_graph_instantiate(g, 0, &exec));
    cu_graph captured;
    must((u32)b->cu->capture_begin(b->raw, 2), &raw_error);
    for (u32 i = 0; i < nodes; i++) launch_raw(b);
    must((u32)b->cu->capture_end(b->raw, &captured), &raw_error);
    must((u32)b->cu->instantiate(&exec_raw, captured, 0), &raw_error);
    char what[60];
    snprintf(what, sizeof what, "graph of %u kernel%s, launch + wait", nodes, nodes > 1 ? "s" : "");
    for (u32 i = 0; i < 20; i++) {
        graph_ours(b);
        graph_raw(b);
    }
    compare(what, b, WAITS, graph_ours, graph_raw, 0, 1.05);
    lk_exec_destroy(exec);
    lk_graph_destroy(g);
    b->cu->exec_delete(exec_raw);
    b->cu->graph_delete(captured);
}

static lk_stream *in, *out;
static u64 device_in, device_out;
static void *host_in, *host_out;

static void copies_ours(struct bench *b)
{
    done(b, lk_memory_write_async(in, device_in, host_in, COPY));
    done(b, lk_memory_read_async(out, device_out, host_out, COPY));
    done(b, lk_stream_synchronise(in));
    done(b, lk_stream_synchronise(out));
}

static void copies_raw(struct bench *b)
{
    must((u32)b->cu->copy_in(device_in, host_in, COPY, in->dev->handle), &raw_error);
    must((u32)b->cu->copy_out(host_out, device_out, COPY, out->dev->handle), &raw_error);
    must((u32)b->cu->stream_sync(in->dev->handle), &raw_error);
    must((u32)b->cu->stream_sync(out->dev->handle), &raw_error);
}

static void copy_in_alone(struct bench *b)
{
    must((u32)b->cu->copy_in(device_in, host_in, COPY, in->dev->handle), &raw_error);
    must((u32)b->cu->stream_sync(in->dev->handle), &raw_error);
}

static void copies(struct bench *b)
{
    u64 pinned[2];
    done(b, lk_stream_create(b->gpu, LK_STREAM_NON_BLOCKING, 0, &in));
    done(b, lk_stream_create(b->gpu, LK_STREAM_NON_BLOCKING, 0, &out));
    done(b, lk_memory_alloc(b->gpu, COPY, LK_MEMORY_DEVICE, NULL, &device_in));
    done(b, lk_memory_alloc(b->gpu, COPY, LK_MEMORY_DEVICE, NULL, &device_out));
    done(b, lk_memory_alloc(b->gpu, COPY, LK_MEMORY_PINNED, NULL, &pinned[0]));
    done(b, lk_memory_alloc(b->gpu, COPY, LK_MEMORY_PINNED, NULL, &pinned[1]));
    done(b, lk_memory_host(b->gpu, pinned[0], &host_in));
    done(b, lk_memory_host(b->gpu, pinned[1], &host_out));
    memset(host_in, 3, COPY);
    memset(host_out, 4, COPY);
    copies_raw(b);
    for (u32 i = 0; i < COPIES; i++) {
        ours[i] = timed(copies_ours, b);
        raw[i] = timed(copies_raw, b);
    }
    double a = quantile(ours, COPIES, 0.5), r = quantile(raw, COPIES, 0.5);
    for (u32 i = 0; i < 3; i++) raw[i] = timed(copy_in_alone, b);
    double alone = quantile(raw, 3, 0.5);
    bool met = r / a >= 0.95;
    printf("%-44s ours %8.1f GB/s  raw %8.1f GB/s  %.3fx (target 0.95: %s); one direction alone %.1f\n",
           "copies of 256 MB, both directions", 2.0 * COPY / a, 2.0 * COPY / r, r / a, met ? "met" : "MISSED",
           (double)COPY / alone);
    missed |= !met;
}

int main(void)
{
    struct bench b = { 0 };
    open_bench(&b);
    for (u32 i = 0; i < 2 * BATCH; i++) {
        launch_ours(&b);
        launch_dev(&b);
        launch_raw(&b);
        if (i % BATCH == 0) wait_raw(&b);
    }
    wait_raw(&b);
    compare("cuCtxSetCurrent; the clock itself", &b, WAITS, set_current, nothing, 0, 0);
    compare("cuStreamQuery of an idle stream; the clock", &b, WAITS, query, nothing, 0, 0);
    compare("launch, issue", &b, LAUNCHES, launch_ours, launch_raw, 100, 0);
    compare("the same below the public interface", &b, LAUNCHES, launch_dev, launch_raw, 100, 0);
    b.gpu->keep = 8; /* lk_options.keep: of each stream the last eight */
    launch_forget();
    compare("launch, issue, the last operations kept", &b, LAUNCHES, launch_ours, launch_raw, 0, 0);
    b.gpu->keep = 0;
    launch_forget();
    compare("launch + wait", &b, WAITS, both_ours, both_raw, 0, 1.05);
    graphs(&b, 1);
    graphs(&b, NODES);
    copies(&b);
    lk_gpu_destroy(b.gpu);
    return missed;
}
