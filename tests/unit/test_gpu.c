/* A real GPU's side of dev_async.h, without one: what dev_gpu*.c ask of the driver, on a stand-in that writes its calls
 * down (stub_driver.c), and what they make of its answers. */
#include "gpu/dev_gpu.h"
#include "device/dev_memory.h"
#include "queue/graph.h"
#include "api/host.h"
#include "unit.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry k(.param .u64 p, .param .u32 n) { ret; }\n"
                          ".visible .entry big(.param .u64 p, .param .u32 n) { ret; }\n";
static const struct dev_async_ops *const gpu = &dev_gpu_async;
static struct device *d;
static struct ptx_func *kernel, *big;
static struct error e;
static const char *(*called)(void);
static void (*fail)(const char *name, int code);
static void (*busy)(int times);

static struct error *fresh(void)
{
    e = (struct error){ 0 };
    return &e;
}

static void stub_open(const struct device *of)
{
    void *lib = of->gpu->cu.library, *f = dlsym(lib, "stub_text"), *g = dlsym(lib, "stub_fail"),
         *h = dlsym(lib, "stub_busy");
    memcpy(&called, &f, sizeof f);
    memcpy(&fail, &g, sizeof g);
    memcpy(&busy, &h, sizeof h);
}

static void open_gpu(void)
{
    char path[4096] = "";
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 40);
    UNIT(n > 0);
    snprintf(strrchr(path, '/'), 40, "/stub_driver.so");
    setenv("LOCKSTEP_LIBCUDA", path, 1);
    UNIT(!dev_new(&(struct dev_options){ .gpu = true, .ordinal = 1, .checks = CHECK_ALL }, fresh()));
    UNIT_HAS(e.text, "no GPU 1 here: there is 1");
    d = dev_new(&(struct dev_options){ .gpu = true, .checks = CHECK_ALL }, fresh());
    if (!UNIT(d)) {
        fprintf(stderr, "%s\n", e.text);
        exit(1);
    }
    stub_open(d);
    struct dev_module *m = dev_load(d, &(struct dev_part){ "k.ptx", STR(ptx) }, 1, fresh());
    UNIT(m);
    /* kernels are there before the first one runs: a GPU that is asked for one later waits for those that run */
    UNIT_EQ_STR(called(), "cuModuleGetFunction 9 k\ncuFuncSetAttribute 11 14 1\ncuFuncLoad 11\n"
                          "cuModuleGetFunction 9 big\ncuFuncSetAttribute 11 14 1\ncuFuncLoad 11\n");
    kernel = m->ptx->func[0];
    big = m->ptx->func[1];
}

struct params {
    u64 p;
    u32 n;
};

static struct dev_task launch_task(struct ptx_func *k, const struct params *p)
{
    return (struct dev_task){ .kind = OP_LAUNCH,
                              .launch = { .kernel = k, .grid = { 2, 1, 1 }, .block = { 32, 1, 1 }, .params = p } };
}

static u32 enqueue(struct dev_stream *st, struct dev_task t) { return dev_enqueue(st, d, &t, fresh()); }

static struct dev_stream *stream_of(u32 flags, s32 priority)
{
    struct dev_stream *st = NULL;
    UNIT_EQ(gpu->stream_new(d, flags, priority, &st, fresh()), 0);
    return st;
}

static void test_launches(void)
{
    struct params p = { 0, 7 };
    struct dev_stream *st = stream_of(STREAM_NON_BLOCKING, -3);
    UNIT_EQ_STR(called(), "cuStreamCreateWithPriority 1 -3\n");
    UNIT_EQ(enqueue(st, launch_task(kernel, &p)), 0);
    UNIT_EQ_STR(called(), "cuLaunchKernel 11 2x1x1 32x1x1 0 in 16: 7\n");
    UNIT_EQ(enqueue(gpu->stream_legacy(d), launch_task(kernel, &p)), 0);
    UNIT_EQ(enqueue(gpu->stream_per_thread(d), launch_task(kernel, &p)), 0);
    UNIT_EQ_STR(called(), "cuLaunchKernel 11 2x1x1 32x1x1 0 in 1: 7\ncuLaunchKernel 11 2x1x1 32x1x1 0 in 2: 7\n");
    struct dev_task t = launch_task(kernel, &p);
    t.launch.cooperative = true;
    UNIT_EQ(enqueue(st, t), 0);
    t.programmatic = true;
    UNIT_EQ(enqueue(st, t), 0);
    UNIT_EQ_STR(
        called(),
        "cuLaunchCooperativeKernel 11 2x1x1 32x1x1 0 in 16: 7\ncuLaunchKernelEx 11 2 attributes (6) in 16: 7\n");
    t = launch_task(big, &p);
    t.launch.shared_bytes = t.launch.shared_consent = 60000;
    UNIT_EQ(enqueue(st, t), 0);
    UNIT_EQ(enqueue(st, t), 0); /* the attribute is set once */
    UNIT_EQ_STR(called(),
                "cuFuncSetAttribute 11 8 60000\n"
                "cuLaunchKernel 11 2x1x1 32x1x1 60000 in 16: 7\ncuLaunchKernel 11 2x1x1 32x1x1 60000 in 16: 7\n");
    t = launch_task(kernel, &p);
    t.launch.block[0] = 2048;
    UNIT_EQ(enqueue(st, t), DEV_REFUSED_LAUNCH);
    UNIT_EQ_STR(called(), "");
    fail("cuLaunchKernel", 701);
    UNIT_EQ(enqueue(st, launch_task(kernel, &p)), 701);
    UNIT_HAS(e.text, "cuLaunchKernel: CUDA_ERROR_OTHER (701)");
    called();
    UNIT_EQ(gpu->stream_delete(gpu->stream_legacy(d), fresh()), OP_INVALID_HANDLE);
    UNIT_EQ(gpu->stream_delete(st, fresh()), 0);
    UNIT_EQ_STR(called(), "cuStreamDestroy_v2 16\n");
}

static void test_copies(void)
{
    struct dev_stream *st = stream_of(0, 0);
    u8 host[400], back[400];
    for (u32 i = 0; i < sizeof host; i++) host[i] = (u8)(i * 7);
    u64 a = dev_alloc(d, 400, MEM_DEVICE, "a", NULL, fresh())->base;
    u64 b = dev_alloc(d, 400, MEM_DEVICE, "b", NULL, fresh())->base;
    called();
    struct dev_copy in = { .to.address = a, .from.host = host, .width = 400, .rows = 1, .slices = 1 };
    struct dev_copy on = { .to.address = b, .from.address = a, .width = 20, .rows = 5, .slices = 4 };
    struct dev_copy out = { .to.host = back, .from.address = b, .width = 400, .rows = 1, .slices = 1 };
    memset(back, 0, sizeof back);
    UNIT_EQ(enqueue(st, (struct dev_task){ .kind = OP_COPY, .copy = in }), 0);
    UNIT_EQ(enqueue(st, (struct dev_task){ .kind = OP_COPY, .copy = on }), 0); /* rows without gaps are one */
    UNIT_EQ(enqueue(st, (struct dev_task){ .kind = OP_COPY, .copy = out }), 0);
    UNIT_EQ_STR(called(), "cuMemcpyHtoDAsync_v2 400 in 17\ncuMemcpyAsync 400 in 17\ncuMemcpyDtoHAsync_v2 400 in 17\n");
    UNIT(!memcmp(host, back, sizeof host));

    /* 8 bytes of every 20, in 5 rows; then the same for slices, with and without a gap of no whole row */
    struct dev_copy rows = {
        .to = { .host = back, .pitch = 10 }, .from = { .address = a, .pitch = 20 }, .width = 8, .rows = 5, .slices = 1
    };
    UNIT_EQ(enqueue(st, (struct dev_task){ .kind = OP_COPY, .copy = rows }), 0);
    UNIT(!memcmp(back + 40, host + 80, 8));
    rows.slices = 3;
    rows.to.slice = 60;
    UNIT_EQ(enqueue(st, (struct dev_task){ .kind = OP_COPY, .copy = rows }), 0);
    UNIT(!memcmp(back + 2 * 60 + 40, host + 2 * 100 + 80, 8));
    rows.to.slice = 65;
    UNIT_EQ(enqueue(st, (struct dev_task){ .kind = OP_COPY, .copy = rows }), 0);
    UNIT(!memcmp(back + 2 * 65 + 40, host + 2 * 100 + 80, 8));
    UNIT_EQ_STR(called(),
                "cuMemcpy2DAsync_v2 8 x 5 in 17\ncuMemcpy3DAsync_v2 8 x 5 x 3 in 17\n"
                "cuMemcpy2DAsync_v2 8 x 5 in 17\ncuMemcpy2DAsync_v2 8 x 5 in 17\ncuMemcpy2DAsync_v2 8 x 5 in 17\n");
    in.width = 401;
    UNIT_EQ(enqueue(st, (struct dev_task){ .kind = OP_COPY, .copy = in }), OP_INVALID_VALUE);
    UNIT_HAS(e.text, "does not fit");

    struct dev_fill f = { .address = a, .value = 0x1234, .bytes = 2, .width = 5, .rows = 4, .pitch = 20 };
    UNIT_EQ(enqueue(st, (struct dev_task){ .kind = OP_FILL, .fill = f }), 0);
    UNIT_EQ(dev_read(d, a, back, 80, fresh()), true);
    UNIT(back[60] == 0x34 && back[69] == 0x12 && back[70] == host[70]);
    f = (struct dev_fill){ .address = a, .value = 0x01020304, .bytes = 4, .width = 5, .rows = 4 };
    UNIT_EQ(enqueue(st, (struct dev_task){ .kind = OP_FILL, .fill = f }), 0);
    f = (struct dev_fill){
        .address = a, .value = 9, .bytes = 1, .width = 3, .rows = 2, .pitch = 5, .slices = 2, .slice = 50
    };
    UNIT_EQ(enqueue(st, (struct dev_task){ .kind = OP_FILL, .fill = f }), 0);
    UNIT_EQ_STR(called(), "cuMemsetD2D16Async 20 4660 5 x 4 in 17\ncuMemsetD32Async 16909060 20 in 17\n"
                          "cuMemsetD2D8Async 5 9 3 x 2 in 17\ncuMemsetD2D8Async 5 9 3 x 2 in 17\n");
    UNIT_EQ(gpu->stream_delete(st, fresh()), 0);
    UNIT(dev_free(d, a, NULL) && dev_free(d, b, NULL));
    called();
}

static void test_memory(void)
{
    struct dev_stream *st = stream_of(0, 0);
    struct dev_pool *pool;
    u64 before = d->ops->live(d);
    UNIT_EQ(gpu->pool_new(d, 1 << 20, MEM_POOL, &pool, fresh()), 0);
    UNIT_EQ(gpu->pool_threshold(pool, 4096, fresh()), 0);
    UNIT_EQ(gpu->pool_trim(pool, 100, fresh()), 0);
    called();
    struct dev_task t = { .kind = OP_ALLOC, .alloc = { .bytes = 100, .name = "x" }, .site = "here" };
    UNIT_EQ(dev_enqueue(st, d, &t, fresh()), 0);
    u64 x = t.alloc.address;
    t = (struct dev_task){ .kind = OP_ALLOC, .alloc = { .bytes = 200, .pool = pool } };
    UNIT_EQ(dev_enqueue(st, d, &t, fresh()), 0);
    u64 y = t.alloc.address;
    UNIT_EQ_STR(called(), "cuMemAllocAsync 100 in 18\ncuMemAllocFromPoolAsync 200 from 160 in 18\n");
    struct mem_object *o = gpu_find(d, x + 99);
    UNIT(o && o->base == x && o->kind == MEM_POOL && !strcmp(o->name, "x") && !strcmp(o->alloc_site, "here"));
    UNIT_EQ(d->ops->live(d), before + 300);
    fail("cuMemFreeAsync", 1);
    UNIT_EQ(enqueue(st, (struct dev_task){ .kind = OP_FREE, .free.address = x }), 1);
    UNIT_EQ(gpu_find(d, x)->state, MEM_LIVE); /* it was not freed */
    UNIT_EQ(enqueue(st, (struct dev_task){ .kind = OP_FREE, .free.address = x }), 0);
    UNIT_EQ(gpu_find(d, x)->state, MEM_FREED);
    u64 errors = report_error_occurrences(d->report);
    called();
    UNIT_EQ(enqueue(st, (struct dev_task){ .kind = OP_FREE, .free.address = x }), OP_INVALID_VALUE); /* twice */
    UNIT_EQ(enqueue(st, (struct dev_task){ .kind = OP_FREE, .free.address = y + 8 }), OP_INVALID_VALUE);
    UNIT_EQ(report_error_occurrences(d->report), errors + 2);
    UNIT_EQ_STR(called(), "");
    UNIT(dev_free(d, y, NULL)); /* the synchronous free takes it, too */
    UNIT_EQ_STR(called(), "cuMemFree_v2 \n");
    UNIT_EQ(d->ops->live(d), before);
    UNIT(dev_usage(d, MEM_POOL).peak >= 300);
    UNIT_EQ(gpu->pool_delete(pool, fresh()), 0);

    static char own[8192];
    UNIT_EQ(dev_register(d, own, 100, "own", NULL, &o, fresh()), 0);
    UNIT(gpu_find(d, (u64)(uintptr_t)own + 5)->kind == MEM_REGISTERED);
    UNIT_EQ(dev_unregister(d, own, NULL, fresh()), 0);
    fail("cuMemHostUnregister", 713);
    UNIT_EQ(dev_unregister(d, own, NULL, fresh()), 713);
    UNIT_EQ(gpu->stream_delete(st, fresh()), 0);

    /* addresses that are used again: the freed objects there are forgotten, the live ones stay */
    struct gpu *g = d->gpu;
    for (u32 i = 0; i < 4; i++) UNIT(gpu_enter(g, 0x1000 + i * 0x100, 0x100, MEM_DEVICE, false, NULL, NULL));
    gpu_leave(g, gpu_find(d, 0x1100), NULL);
    gpu_leave(g, gpu_find(d, 0x1200), NULL);
    UNIT_EQ(gpu_find(d, 0x1180)->state, MEM_FREED);
    UNIT(gpu_enter(g, 0x1180, 0x20, MEM_DEVICE, false, "new", NULL));
    UNIT_EQ_STR(gpu_find(d, 0x1190)->name, "new");
    UNIT(!gpu_find(d, 0x1110) || gpu_find(d, 0x1110)->state == MEM_LIVE); /* the old one is gone as a whole */
    UNIT_EQ(gpu_find(d, 0x1250)->state, MEM_FREED);
    UNIT_EQ(gpu_find(d, 0x1000)->state, MEM_LIVE);
    UNIT_EQ(gpu_find(d, 0x1310)->state, MEM_LIVE);
    for (u64 at = 0x1000; at < 0x1400; at += 0x10) {
        struct mem_object *x2 = gpu_find(d, at);
        if (x2 && x2->state == MEM_LIVE) gpu_leave(g, x2, NULL);
    }
    called();
}

static void host_function(void *self) { ++*(int *)self; }

static void test_order(void)
{
    struct dev_stream *st = stream_of(0, 0), *other = stream_of(0, 0);
    struct dev_event *a, *b;
    int count = 0;
    double ms = 0;
    u64 flag = dev_alloc(d, 16, MEM_PINNED, NULL, NULL, fresh())->base;
    called();
    UNIT_EQ(gpu->event_new(d, EVENT_DEFAULT, &a, fresh()), 0);
    UNIT_EQ(gpu->event_new(d, EVENT_NO_TIMING, &b, fresh()), 0);
    UNIT_EQ(gpu->event_record(a, st, false, NULL, fresh()), 0);
    UNIT_EQ(gpu->event_wait(other, a, false, NULL, fresh()), 0);
    UNIT_EQ(gpu->event_record(b, st, true, NULL, fresh()), 0);
    UNIT_EQ(gpu->event_wait(other, b, true, NULL, fresh()), 0);
    UNIT_EQ(gpu->event_elapsed(a, b, &ms, fresh()), 0);
    UNIT(ms == 1.5);
    UNIT_EQ(enqueue(st, (struct dev_task){ .kind = OP_HOST, .host = { .call = host_function, .self = &count } }), 0);
    UNIT_EQ(count, 1);
    UNIT_EQ(gpu->value_wait(st, flag, 32, 7, OP_EQ, NULL, fresh()), 0);
    UNIT_EQ(gpu->value_wait(st, flag, 64, 8, OP_NOR, NULL, fresh()), 0);
    UNIT_EQ(gpu->value_write(st, flag, 32, 9, NULL, fresh()), 0);
    UNIT_EQ(gpu->value_write(st, flag + 8, 64, 10, NULL, fresh()), 0);
    UNIT_EQ_STR(called(), "cuEventCreate 0\ncuEventCreate 2\ncuEventRecordWithFlags 32 in 19, 0\n"
                          "cuStreamWaitEvent 20 for 32, 0\ncuEventRecordWithFlags 33 in 19, 1\n"
                          "cuStreamWaitEvent 20 for 33, 1\ncuEventElapsedTime 32 33\ncuLaunchHostFunc 19\n"
                          "cuStreamWaitValue32_v2 19 7, 1\ncuStreamWaitValue64_v2 19 8, 3\n"
                          "cuStreamWriteValue32_v2 19 9, 0\ncuStreamWriteValue64_v2 19 10, 0\n");
    busy(1);
    UNIT_EQ(gpu->stream_query(st, fresh()), OP_NOT_READY);
    UNIT_EQ(gpu->stream_query(st, fresh()), 0);
    busy(1);
    UNIT_EQ(gpu->event_query(a, fresh()), OP_NOT_READY);
    busy(100);
    UNIT_EQ(gpu->stream_synchronise(st, fresh()), 0);
    busy(100);
    UNIT_EQ(gpu->event_synchronise(a, fresh()), 0);
    busy(5);
    UNIT_EQ(gpu->synchronise(d, fresh()), 0);
    UNIT_EQ_STR(called(), "cuCtxSynchronize \n");
    busy(1000000000);
    d->interrupt = 1;
    UNIT_EQ(gpu->stream_synchronise(st, fresh()), OP_NOT_READY);
    UNIT_HAS(e.text, "interrupted");
    UNIT_EQ(d->interrupt, 0);
    busy(0);
    gpu->event_delete(a);
    gpu->event_delete(b);
    UNIT_EQ(gpu->stream_delete(other, fresh()), 0);
    UNIT_EQ(gpu->stream_delete(st, fresh()), 0);
    called();
}

static void test_graphs(void)
{
    struct params p = { 0, 7 }, q = { 0, 8 };
    struct dev_stream *st = stream_of(0, 0);
    struct dev_graph *g, *child;
    struct dev_node *n[8];
    struct dev_event *ev;
    struct dev_exec *x;
    u64 a = dev_alloc(d, 400, MEM_DEVICE, "a", NULL, fresh())->base, live = d->ops->live(d);
    UNIT_EQ(gpu->event_new(d, 0, &ev, fresh()), 0);
    UNIT_EQ(gpu->graph_new(d, &child, fresh()), 0);
    UNIT_EQ(gpu->graph_new(d, &g, fresh()), 0);
    called();
    struct dev_task t = { .kind = OP_ALLOC, .alloc.bytes = 100 };
    UNIT_EQ(dev_graph_add(g, d, NULL, 0, &t, &n[0], fresh()), 0);
    u64 inside = t.alloc.address;
    UNIT(gpu_find(d, inside + 50));
    t = launch_task(kernel, &p);
    UNIT_EQ(dev_graph_add(g, d, n, 1, &t, &n[1], fresh()), 0);
    t.programmatic = t.launch.cooperative = true;
    UNIT_EQ(dev_graph_add(g, d, n, 2, &t, &n[2], fresh()), 0);
    t = (struct dev_task){ .kind = OP_COPY,
                           .copy = { .to.address = a, .from.address = inside, .width = 4, .rows = 1, .slices = 1 } };
    UNIT_EQ(dev_graph_add(g, d, &n[2], 1, &t, &n[3], fresh()), 0);
    t = (struct dev_task){ .kind = OP_FILL,
                           .fill = { .address = a, .value = 3, .bytes = 2, .width = 8, .rows = 2, .pitch = 32 } };
    UNIT_EQ(dev_graph_add(g, d, &n[3], 1, &t, &n[4], fresh()), 0);
    int count = 0;
    t = (struct dev_task){ .kind = OP_HOST, .host = { .call = host_function, .self = &count } };
    UNIT_EQ(dev_graph_add(g, d, NULL, 0, &t, &n[5], fresh()), 0);
    t = (struct dev_task){ .kind = OP_FREE, .free.address = inside };
    UNIT_EQ(dev_graph_add(g, d, &n[4], 2, &t, NULL, fresh()), 0);
    UNIT_EQ(gpu->graph_add_event(g, NULL, 0, ev, true, &n[6], fresh()), 0);
    UNIT_EQ(gpu->graph_add_event(g, &n[6], 1, ev, false, NULL, fresh()), 0);
    UNIT_EQ(gpu->graph_add_child(g, NULL, 0, child, &n[7], fresh()), 0);
    UNIT_EQ(gpu->graph_edge(g, n[7], n[0], false, fresh()), 0);
    UNIT_EQ(gpu->graph_edge(g, n[7], n[0], true, fresh()), 0);
    UNIT_EQ_STR(called(), "cuGraphAddNode_v2 49 alloc 100\n"
                          "cuGraphAddNode_v2 49 kernel 11 2x32 0: 7 after 64\n"
                          "cuGraphAddNode_v2 49 kernel 11 2x32 0: 7 after 64 after 65'\n"
                          "cuGraphKernelNodeSetAttribute 66 2\n"
                          "cuGraphAddNode_v2 49 copy 4 to 4, 4 x 1 x 1 after 66\n"
                          "cuGraphAddNode_v2 49 fill 3 of 2, 8 x 2, 32 after 67\n"
                          "cuGraphAddNode_v2 49 host\n"
                          "cuGraphAddNode_v2 49 free after 68 after 69\n"
                          "cuGraphAddNode_v2 49 wait 34\n"
                          "cuGraphAddNode_v2 49 record 34 after 71\n"
                          "cuGraphAddNode_v2 49 graph 48\n"
                          "cuGraphAddDependencies_v2 49 73 to 64, 1\n"
                          "cuGraphRemoveDependencies_v2 49 73 to 64, 1\n");
    UNIT_EQ(gpu->graph_nodes(g), 10);
    UNIT_EQ(gpu->graph_instantiate(g, GRAPH_AUTO_FREE, &x, fresh()), 0);
    UNIT_EQ(gpu->exec_launch(x, st, NULL, fresh()), 0);
    t = launch_task(kernel, &q);
    UNIT_EQ(dev_exec_set(x, d, n[1], &t, fresh()), 0);
    UNIT_EQ(dev_exec_set(x, d, n[3], &t, fresh()), OP_INVALID_VALUE); /* a copy */
    UNIT_EQ(gpu->exec_update(x, g, fresh()), 0);
    fail("cuGraphExecUpdate_v2", 910);
    UNIT_EQ(gpu->exec_update(x, g, fresh()), OP_GRAPH_UPDATE_FAILURE);
    UNIT_HAS(e.text, "other nodes or edges");
    UNIT_EQ_STR(called(), "cuGraphInstantiateWithFlags 49 1\ncuGraphLaunch 128 in 21\n"
                          "cuGraphExecNodeSetParams 128 65 kernel 11 2x32 0: 8\n"
                          "cuGraphExecUpdate_v2 128 49\ncuGraphExecUpdate_v2 128 49\n");
    gpu->graph_delete(g);
    UNIT_EQ(gpu_find(d, inside)->state, MEM_LIVE); /* the executable graph still has it */
    UNIT_EQ(d->ops->live(d), live + 100);
    gpu->exec_delete(x);
    UNIT_EQ(d->ops->live(d), live);
    gpu->graph_delete(child);
    called();

    enum capture_status status;
    u64 id = 0;
    UNIT_EQ(gpu->capture_begin(st, CAPTURE_RELAXED, fresh()), 0);
    UNIT_EQ(gpu->capture_status(st, &status, &id, fresh()), 0);
    UNIT(status == CAPTURE_ACTIVE && id == 5);
    t = (struct dev_task){ .kind = OP_ALLOC, .alloc.bytes = 64 };
    UNIT_EQ(dev_enqueue(st, d, &t, fresh()), 0);
    UNIT_EQ(enqueue(st, (struct dev_task){ .kind = OP_FREE, .free.address = t.alloc.address }), 0);
    UNIT_EQ(gpu_find(d, t.alloc.address)->state, MEM_LIVE); /* each launch of the graph allocates it again */
    UNIT_EQ(gpu->synchronise(d, fresh()), 0);               /* streams are not asked in a capture: the driver answers */
    UNIT_EQ(gpu->capture_end(st, &g, fresh()), 0);
    UNIT_EQ_STR(called(), "cuStreamBeginCapture_v2 21 2\ncuMemAllocAsync 64 in 21\ncuMemFreeAsync in 21\n"
                          "cuCtxSynchronize \ncuStreamEndCapture 21\n");
    gpu->graph_delete(g);
    gpu->event_delete(ev);
    UNIT_EQ(gpu->stream_delete(st, fresh()), 0);
    UNIT(dev_free(d, a, NULL));
    called();
}

static char *report_of(void)
{
    struct text t = { 0 };
    report_text(d->report, (struct report_style){ 0 }, &t);
    return t.p;
}

static void test_faults(void)
{
    struct params p = { 0, 7 };
    struct dev_stream *st = stream_of(0, 0);
    UNIT_EQ(enqueue(st, launch_task(kernel, &p)), 0);
    fail("cuStreamQuery", 700);
    UNIT_EQ(gpu->stream_synchronise(st, fresh()), 700);
    UNIT_HAS(e.text, "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    char *text = report_of();
    UNIT_HAS(text, "gpu_fault");
    UNIT_HAS(text, "k was launched last in its stream");
    free(text);
    fail("cuCtxSynchronize", 700);
    UNIT_EQ(gpu->synchronise(d, fresh()), 700);
    dev_unload(d, d->modules); /* a stream does not name a kernel that is gone */
    UNIT(!st->last);
    fail("cuStreamQuery", 719);
    UNIT_EQ(gpu->stream_query(st, fresh()), 719);
    text = report_of();
    UNIT_HAS(text, "any launch before may be to blame");
    free(text);
}

/* Through the public interface: a launch that is equal to the thread's last one takes a short way, and all that may
 * have changed since sends it the long way. */
static lk_status launched(lk_kernel *k, lk_launch *l)
{
    called();
    return lk_kernel_launch(k, l, NULL);
}

static void test_repeats(void)
{
    lk_gpu *g;
    lk_module *m;
    lk_stream *s, *t;
    UNIT_EQ(lk_gpu_create(&(lk_options){ .size = sizeof(lk_options), .on = "gpu" }, &g), LK_OK);
    stub_open(g->device);
    UNIT_EQ(lk_module_load(g, "k.ptx", ptx, sizeof ptx - 1, &m), LK_OK);
    UNIT_EQ(lk_stream_create(g, LK_STREAM_NON_BLOCKING, 0, &s), LK_OK);
    UNIT_EQ(lk_stream_create(g, 0, 0, &t), LK_OK);
    lk_kernel *k = lk_module_kernel_at(m, 0);
    u64 p = 0;
    u32 n = 3;
    const void *args[] = { &p, &n };
    lk_launch l = { .size = sizeof l, .grid = { 2 }, .block = { 32 }, .args = args, .arg_count = 2, .stream = s };
    UNIT_EQ(launched(k, &l), LK_OK);
    UNIT_HAS(called(), "2x1x1 32x1x1 0 in ");
    n = 4;
    UNIT_EQ(launched(k, &l), LK_OK);
    UNIT_HAS(called(), "2x1x1 32x1x1 0 in ");
    UNIT_EQ(launched(k, &l), LK_OK);
    UNIT_HAS(called(), ": 4\n"); /* the arguments are those of this launch */
    l.grid[0] = 3;
    l.grid[1] = 2;
    UNIT_EQ(launched(k, &l), LK_OK);
    UNIT_HAS(called(), "3x2x1 32x1x1 0 in ");
    l.block[0] = 2048; /* more than the card allows: never short */
    UNIT_EQ(launched(k, &l), LK_FINDINGS);
    UNIT_EQ_STR(called(), "");
    l.block[0] = 32;
    args[1] = NULL;
    UNIT_EQ(launched(k, &l), LK_BAD_INPUT);
    UNIT_HAS(lk_gpu_error(g), "argument 1: no pointer to its value is given");
    args[1] = &n;
    l.arg_count = 1;
    UNIT_EQ(launched(k, &l), LK_BAD_INPUT);
    l.arg_count = 2;
    UNIT_EQ(launched(k, &l), LK_OK);
    fail("cuLaunchKernel", 400); /* the context of the thread has changed: made again with its own */
    UNIT_EQ(launched(k, &l), LK_OK);
    UNIT_HAS(called(), ": 4\n");
    fail("cuLaunchKernel", 999);
    lk_status status = launched(k, &l);
    UNIT(status == LK_OK);                /* the stand-in fails once, and the long way comes after the short one */
    UNIT_EQ(lk_stream_destroy(t), LK_OK); /* a later stream may have its address */
    UNIT_EQ(lk_stream_create(g, 0, 0, &t), LK_OK);
    UNIT_EQ(launched(k, &l), LK_OK);
    l.stream = t;
    UNIT_EQ(launched(k, &l), LK_OK);
    UNIT_EQ(launched(k, &l), LK_OK);
    lk_gpu_destroy(g);
}

/* A fault that the driver reports at a later call: which launch it may be, and how to record it. */
static void test_suspects(void)
{
    lk_gpu *g;
    lk_module *m;
    lk_stream *s;
    lk_error err = { .size = sizeof err };
    lk_options o = { .size = sizeof o, .on = "gpu", .keep = 4 };
    UNIT_EQ(lk_gpu_create(&o, &g), LK_OK);
    stub_open(g->device);
    UNIT_EQ(lk_module_load(g, "k.ptx", ptx, sizeof ptx - 1, &m), LK_OK);
    UNIT_EQ(lk_stream_create(g, 0, 0, &s), LK_OK);
    lk_value v[] = { { 0 }, lk_value_u32(3) };
    lk_launch l = { .size = sizeof l, .grid = { 2 }, .block = { 32 }, .values = v, .arg_count = 2, .stream = s };
    for (u32 i = 0; i < 3; i++) UNIT_EQ(lk_kernel_launch(lk_module_kernel(m, i == 1 ? "big" : "k"), &l, NULL), LK_OK);
    fail("cuStreamQuery", 700);
    UNIT_EQ(lk_stream_synchronise(s), LK_SYSTEM);
    UNIT(lk_gpu_last_error(g, &err));
    UNIT_EQ(err.cuda, 700);
    UNIT_EQ_STR(err.launch, "k");
    UNIT_EQ_STR(err.record, "LOCKSTEP_RECORD=k:2");
    UNIT_HAS(err.message, "to record launch 2 of k before it runs: LOCKSTEP_RECORD=k:2");
    UNIT_HAS(err.suspects, "big<<<(2, 1, 1), (32, 1, 1)>>>, LOCKSTEP_RECORD=big:1");
    UNIT_EQ(err.lasting, LK_CUDA_STICKY);
    lk_gpu_destroy(g);
    o.keep = 0; /* nothing is known of the launches */
    UNIT_EQ(lk_gpu_create(&o, &g), LK_OK);
    stub_open(g->device);
    UNIT_EQ(lk_stream_create(g, 0, 0, &s), LK_OK);
    fail("cuStreamQuery", 716);
    UNIT_EQ(lk_stream_synchronise(s), LK_SYSTEM);
    UNIT(lk_gpu_last_error(g, &err));
    UNIT_EQ_STR(err.launch, "");
    UNIT_EQ_STR(err.record, "");
    UNIT_HAS(err.message, "lk_options.keep = 8");
    lk_gpu_destroy(g);
}

int main(void)
{
    open_gpu();
    test_launches();
    test_copies();
    test_memory();
    test_order();
    test_graphs();
    test_faults();
    dev_delete(d); /* with a stream that was not deleted */
    test_repeats();
    test_suspects();
    return unit_done();
}
