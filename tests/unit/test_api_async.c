/* The asynchronous part of lockstep.h: streams, events, graphs, captures and memory, with what callers get wrong.
 * Errors of threads and many threads on one gpu are in test_api_threads.c. */
#include "unit.h"
#include <lockstep.h>
#include <stdbool.h>
#include <stdlib.h>

/* add  n to each element. wait  until *flag is not 0. */
static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry add(.param .u64 x, .param .u32 n)\n{\n"
    " .reg .b64 %rd<3>;\n .reg .b32 %r<7>;\n"
    " ld.param.u64 %rd1, [x];\n ld.param.u32 %r1, [n];\n mov.u32 %r2, %ctaid.x;\n mov.u32 %r5, %ntid.x;\n"
    " mov.u32 %r6, %tid.x;\n mad.lo.u32 %r2, %r2, %r5, %r6;\n mul.wide.u32 %rd2, %r2, 4;\n"
    " add.u64 %rd1, %rd1, %rd2;\n ld.global.u32 %r3, [%rd1];\n add.u32 %r4, %r3, %r1;\n"
    " st.global.u32 [%rd1], %r4;\n ret;\n}\n"
    ".visible .entry wait(.param .u64 flag)\n{\n"
    " .reg .b64 %rd;\n .reg .b32 %r;\n .reg .pred %p;\n ld.param.u64 %rd, [flag];\n"
    "again:\n ld.relaxed.sys.global.u32 %r, [%rd];\n setp.eq.u32 %p, %r, 0;\n @%p bra again;\n ret;\n}\n";

enum { N = 256 };

static lk_gpu *gpu;
static lk_module *module;
static lk_kernel *add, *wait_kernel;

static lk_gpu *gpu_new(void)
{
    lk_gpu *g = NULL;
    lk_options o = { .size = sizeof o, .threads = 2 };
    if (!UNIT(lk_gpu_create(&o, &g) == LK_OK)) fprintf(stderr, "%s\n", lk_gpu_error(NULL));
    return g;
}

static void open_all(void)
{
    gpu = gpu_new();
    UNIT(lk_module_load(gpu, "async.ptx", ptx, sizeof ptx - 1, &module) == LK_OK);
    add = lk_module_kernel(module, "add");
    wait_kernel = lk_module_kernel(module, "wait");
    UNIT(add && wait_kernel);
}

/* LK_OK, or the message. */
static void ok_at(lk_status s, int line)
{
    if (!unit_check(s == LK_OK, __FILE__, line, "LK_OK")) fprintf(stderr, "  %d: %s\n", (int)s, lk_gpu_error(gpu));
}
#define OK(call) ok_at(call, __LINE__)

/* An error with a sentence of its own. */
static void bad_at(lk_status s, lk_status want, const lk_gpu *of, const char *part, int line)
{
    unit_check(s == want, __FILE__, line, "the status");
    if (s != want) fprintf(stderr, "  is %d, should be %d\n", (int)s, (int)want);
    unit_has(lk_gpu_error(of), part, __FILE__, line, "the message");
}
#define BAD(call, part) bad_at(call, LK_BAD_INPUT, gpu, part, __LINE__)
#define NONE(call, part) bad_at(call, LK_BAD_INPUT, NULL, part, __LINE__)

static uint64_t memory(lk_memory_kind kind, uint64_t bytes)
{
    uint64_t at = 0;
    OK(lk_memory_alloc(gpu, bytes, kind, "x", &at));
    OK(lk_memory_fill(gpu, at, 0, bytes));
    return at;
}

static lk_stream *stream_new(void)
{
    lk_stream *s = NULL;
    OK(lk_stream_create(gpu, LK_STREAM_NON_BLOCKING, 0, &s));
    return s;
}

static lk_status launch_add(lk_stream *s, uint64_t x, uint32_t n)
{
    const void *args[] = { &x, &n };
    lk_launch l = { .size = sizeof l, .grid = { N / 64 }, .block = { 64 }, .args = args, .arg_count = 2, .stream = s };
    return lk_kernel_launch(add, &l, NULL);
}

static uint32_t value(uint64_t at)
{
    uint32_t v = 0;
    OK(lk_memory_read(gpu, at, &v, 4));
    return v;
}

/* ---- NULL ---- */

static void call_nothing(void *self) { (void)self; }

static void nulls(void)
{
    lk_stream *s = stream_new();
    lk_event *ev = NULL;
    lk_graph *g = NULL;
    lk_exec *x = NULL;
    uint64_t a, b;
    double ms;
    void *host;
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 1 } };
    lk_copy copy = { .size = sizeof copy, .width = 4 };
    lk_fill fill = { .size = sizeof fill, .width = 4 };
    lk_capture_status cs;
    lk_memory_info info = { .size = sizeof info };
    lk_node *none[1] = { NULL };
    OK(lk_event_create(gpu, 0, &ev));
    OK(lk_graph_create(gpu, &g));
    OK(lk_graph_instantiate(g, 0, &x));
    NONE(lk_gpu_create(NULL, NULL), "lk_gpu_create: no place for the gpu is given");
    NONE(lk_gpu_synchronise(NULL), "lk_gpu_synchronise: no gpu");
    NONE(lk_stream_create(NULL, 0, 0, &s), "no gpu");
    BAD(lk_stream_create(gpu, 0, 0, NULL), "no place for the stream");
    NONE(lk_stream_destroy(NULL), "no stream");
    UNIT(!lk_stream_legacy(NULL) && !lk_stream_per_thread(NULL));
    NONE(lk_stream_query(NULL), "no stream");
    NONE(lk_stream_synchronise(NULL), "no stream");
    NONE(lk_stream_wait(NULL, ev), "lk_stream_wait: no stream");
    BAD(lk_stream_wait(s, NULL), "lk_stream_wait: no event");
    BAD(lk_stream_wait_external(s, NULL), "lk_stream_wait_external: no event");
    NONE(lk_stream_wait_value(NULL, 0, 32, 0, LK_COMPARE_EQ), "no stream");
    NONE(lk_stream_write_value(NULL, 0, 32, 0), "no stream");
    NONE(lk_host_call(NULL, call_nothing, NULL), "no stream");
    BAD(lk_host_call(s, NULL, NULL), "no function");
    NONE(lk_event_create(NULL, 0, &ev), "no gpu");
    BAD(lk_event_create(gpu, 0, NULL), "no place for the event");
    lk_event_destroy(NULL);
    NONE(lk_event_record(NULL, s), "lk_event_record: no event");
    BAD(lk_event_record(ev, NULL), "lk_event_record: no stream");
    BAD(lk_event_record_external(ev, NULL), "lk_event_record_external: no stream");
    NONE(lk_event_query(NULL), "no event");
    NONE(lk_event_synchronise(NULL), "no event");
    NONE(lk_event_elapsed(NULL, ev, &ms), "no event");
    BAD(lk_event_elapsed(ev, NULL, &ms), "no event");
    BAD(lk_event_elapsed(ev, ev, NULL), "no place for the time");
    NONE(lk_stream_capture(NULL, LK_CAPTURE_GLOBAL), "no stream");
    NONE(lk_stream_capture_end(NULL, &g), "no stream");
    BAD(lk_stream_capture_end(s, NULL), "no place for the graph");
    NONE(lk_stream_capture_status(NULL, &cs), "no stream");
    BAD(lk_stream_capture_status(s, NULL), "no place for the status");
    NONE(lk_graph_create(NULL, &g), "no gpu");
    BAD(lk_graph_create(gpu, NULL), "no place for the graph");
    lk_graph_destroy(NULL);
    UNIT_EQ(lk_graph_node_count(NULL), 0);
    NONE(lk_graph_add_empty(NULL, NULL, 0, NULL), "lk_graph_add_empty: no graph");
    BAD(lk_graph_add_empty(g, NULL, 1, NULL), "lk_graph_add_empty: no list of nodes");
    BAD(lk_graph_add_empty(g, none, 1, NULL), "node 0 of 1 in the list is NULL");
    NONE(lk_graph_add_launch(NULL, NULL, 0, add, &l, NULL), "lk_graph_add_launch: no graph");
    BAD(lk_graph_add_launch(g, NULL, 0, NULL, &l, NULL), "lk_graph_add_launch: no kernel");
    BAD(lk_graph_add_launch(g, NULL, 0, add, NULL, NULL), "lk_graph_add_launch: no launch");
    BAD(lk_graph_add_launch(g, NULL, 0, add, &l, NULL), "add takes 2 arguments, 0 given");
    NONE(lk_graph_add_copy(NULL, NULL, 0, &copy, NULL), "no graph");
    BAD(lk_graph_add_copy(g, NULL, 0, NULL, NULL), "lk_graph_add_copy: no copy");
    BAD(lk_graph_add_copy(g, NULL, 0, &copy, NULL), "no memory to copy to");
    NONE(lk_graph_add_fill(NULL, NULL, 0, &fill, NULL), "no graph");
    BAD(lk_graph_add_fill(g, NULL, 0, NULL, NULL), "lk_graph_add_fill: no fill");
    NONE(lk_graph_add_host(NULL, NULL, 0, call_nothing, NULL, NULL), "no graph");
    BAD(lk_graph_add_host(g, NULL, 0, NULL, NULL, NULL), "lk_graph_add_host: no function");
    NONE(lk_graph_add_record(NULL, NULL, 0, ev, NULL), "lk_graph_add_record: no graph");
    BAD(lk_graph_add_record(g, NULL, 0, NULL, NULL), "lk_graph_add_record: no event");
    BAD(lk_graph_add_wait(g, NULL, 0, NULL, NULL), "lk_graph_add_wait: no event");
    BAD(lk_graph_add_child(g, NULL, 0, NULL, NULL), "no child graph");
    BAD(lk_graph_add_child(g, NULL, 0, g, NULL), "a node of itself");
    BAD(lk_graph_add_alloc(g, NULL, 0, 4, NULL, NULL, NULL), "no place for the address");
    NONE(lk_graph_add_free(NULL, NULL, 0, 4, NULL), "no graph");
    NONE(lk_graph_edge(NULL, NULL, NULL), "lk_graph_edge: no graph");
    BAD(lk_graph_edge(g, NULL, NULL), "lk_graph_edge: no node");
    BAD(lk_graph_edge_remove(g, NULL, NULL), "lk_graph_edge_remove: no node");
    NONE(lk_graph_instantiate(NULL, 0, &x), "no graph");
    BAD(lk_graph_instantiate(g, 0, NULL), "no place for the executable graph");
    lk_exec_destroy(NULL);
    NONE(lk_exec_launch(NULL, s), "no executable graph");
    BAD(lk_exec_launch(x, NULL), "no stream");
    NONE(lk_exec_update(NULL, g), "no executable graph");
    BAD(lk_exec_update(x, NULL), "no graph");
    NONE(lk_exec_set_launch(NULL, NULL, add, &l), "lk_exec_set_launch: no executable graph");
    BAD(lk_exec_set_launch(x, NULL, add, &l), "lk_exec_set_launch: no node");
    BAD(lk_exec_set_copy(x, NULL, &copy), "lk_exec_set_copy: no node");
    BAD(lk_exec_set_fill(x, NULL, &fill), "lk_exec_set_fill: no node");
    BAD(lk_exec_set_host(x, NULL, call_nothing, NULL), "lk_exec_set_host: no node");
    NONE(lk_memory_alloc(NULL, 4, LK_MEMORY_DEVICE, NULL, &a), "no gpu");
    BAD(lk_memory_alloc(gpu, 4, LK_MEMORY_DEVICE, NULL, NULL), "no place for the address");
    BAD(lk_memory_alloc(gpu, 4, LK_MEMORY_REGISTERED, NULL, &a), "there is no kind of memory to ask for");
    NONE(lk_memory_alloc_pitched(NULL, 4, 4, 0, NULL, &a, &b), "no gpu");
    BAD(lk_memory_alloc_pitched(gpu, 4, 4, 0, NULL, NULL, &b), "no place for the address");
    BAD(lk_memory_alloc_pitched(gpu, 4, 4, 0, NULL, &a, NULL), "no place for the pitch");
    NONE(lk_memory_free(NULL, 4), "no gpu");
    NONE(lk_memory_write(NULL, 0, &a, 8), "no gpu");
    BAD(lk_memory_write(gpu, 0, NULL, 8), "no memory to copy from");
    BAD(lk_memory_read(gpu, 0, NULL, 8), "no memory to copy to");
    NONE(lk_memory_output(NULL, 0, 8), "no gpu");
    NONE(lk_memory_fill(NULL, 0, 0, 8), "no gpu");
    NONE(lk_memory_describe(NULL, 0, NULL, NULL, 0), "no gpu");
    UNIT(!lk_memory_live(NULL) && !lk_memory_peak(NULL));
    NONE(lk_memory_copy(NULL, &copy), "no gpu");
    BAD(lk_memory_copy(gpu, NULL), "no copy");
    BAD(lk_memory_copy(gpu, &copy), "no memory to copy to");
    NONE(lk_memory_set(NULL, &fill), "no gpu");
    BAD(lk_memory_set(gpu, NULL), "no fill");
    NONE(lk_memory_write_async(NULL, 0, &a, 8), "lk_memory_write_async: no stream");
    BAD(lk_memory_write_async(s, 1, NULL, 8), "lk_memory_write_async: no memory to copy from");
    BAD(lk_memory_read_async(s, 1, NULL, 8), "lk_memory_read_async: no memory to copy to");
    BAD(lk_memory_copy_async(s, 0, 1, 8), "lk_memory_copy_async: no memory to copy to");
    NONE(lk_memory_fill_async(NULL, 0, 0, 8), "no stream");
    NONE(lk_memory_alloc_async(NULL, 8, NULL, NULL, &a), "no stream");
    BAD(lk_memory_alloc_async(s, 8, NULL, NULL, NULL), "no place for the address");
    NONE(lk_memory_free_async(NULL, 8), "no stream");
    NONE(lk_memory_host(NULL, 8, &host), "no gpu");
    BAD(lk_memory_host(gpu, 8, NULL), "no place for the pointer");
    NONE(lk_memory_register(NULL, &a, 8, NULL, &b), "no gpu");
    BAD(lk_memory_register(gpu, NULL, 8, NULL, &b), "no memory");
    BAD(lk_memory_register(gpu, &a, 8, NULL, NULL), "no place for the address");
    NONE(lk_memory_unregister(NULL, &a), "no gpu");
    BAD(lk_memory_unregister(gpu, NULL), "no memory");
    NONE(lk_memory_at(NULL, 8, NULL), "no place for it");
    bad_at(lk_memory_at(NULL, 8, &info), LK_NOTHING, NULL, "belongs to no allocation of any device", __LINE__);
    bad_at(lk_memory_at(gpu, 8, &info), LK_NOTHING, gpu, "belongs to no allocation of this device", __LINE__);
    NONE(lk_pool_create(NULL, 0, NULL), "no gpu");
    BAD(lk_pool_create(gpu, 0, NULL), "no place for the pool");
    NONE(lk_pool_destroy(NULL), "no pool");
    NONE(lk_pool_trim(NULL, 0), "no pool");
    NONE(lk_pool_threshold(NULL, 0), "no pool");
    lk_gpu_destroy(NULL);
    lk_module_unload(NULL);
    lk_thread_site(NULL);
    lk_exec_destroy(x);
    lk_graph_destroy(g);
    lk_event_destroy(ev);
    OK(lk_stream_destroy(s));
}

/* Values that are not of their enumeration, sizes of nothing, addresses of nobody. */
static void values(void)
{
    lk_stream *s = stream_new(), *other = NULL;
    lk_event *ev = NULL;
    lk_graph *g = NULL;
    uint64_t x = memory(LK_MEMORY_DEVICE, 4 * N), at = 1;
    lk_copy none = { .size = sizeof none };
    lk_fill fill = { .size = sizeof fill, .address = x, .bytes = 3, .width = 1 };
    BAD(lk_stream_create(gpu, 6, 0, &other), "a stream has no flags 0x6");
    BAD(lk_event_create(gpu, 8, &ev), "an event has no flags 0x8");
    OK(lk_graph_create(gpu, &g));
    lk_exec *exec = NULL;
    BAD(lk_graph_instantiate(g, 2, &exec), "an executable graph has no flags 0x2");
    BAD(lk_stream_wait_value(s, x, 16, 0, LK_COMPARE_EQ), "a value has 32 or 64 bits, not 16");
    BAD(lk_stream_wait_value(s, x + 4, 64, 0, LK_COMPARE_EQ), "a value of 64 bits lies at a multiple of 8");
    BAD(lk_stream_wait_value(s, x, 32, 0, (lk_compare)4), "there is no comparison 4");
    BAD(lk_stream_write_value(s, x + 2, 32, 0), "a value of 32 bits lies at a multiple of 4");
    BAD(lk_stream_write_value(s, 64, 32, 0), "0x40");
    BAD(lk_stream_capture(s, (lk_capture_mode)3), "there is no mode 3 of capture");
    OK(lk_memory_copy(gpu, &none));
    BAD(lk_memory_set(gpu, &fill), "values of 1, 2 or 4 bytes, not 3");
    fill.bytes = fill.width = 0;
    OK(lk_memory_set(gpu, &fill));
    OK(lk_memory_write_async(s, x, NULL, 0));
    OK(lk_memory_fill_async(s, x, 0, 0));
    OK(lk_memory_free_async(s, 0));
    OK(lk_memory_free(gpu, 0));
    BAD(lk_memory_alloc_async(s, 0, NULL, NULL, &at), "0 bytes");
    UNIT_EQ(at, 0);
    BAD(lk_memory_fill_async(s, x, 0, 4 * N + 1), "does not fit");
    BAD(lk_memory_read_async(s, x + 4, &at, 4 * N), "does not fit");
    BAD(lk_memory_copy_async(s, x, 64, 4), "0x40");
    BAD(lk_stream_destroy(lk_stream_legacy(gpu)), "a default stream lives as long as its gpu");
    BAD(lk_stream_destroy(lk_stream_per_thread(gpu)), "a default stream lives as long as its gpu");
    UNIT_EQ(lk_gpu_cuda_error(gpu), 1);
    UNIT_EQ(lk_graph_node_count(g), 0);
    lk_graph_destroy(g);
    OK(lk_stream_destroy(s));
    OK(lk_memory_free(gpu, x));
}

/* ---- order ---- */

static void two_streams(void)
{
    lk_stream *a = stream_new(), *b = stream_new();
    lk_event *ev = NULL, *start = NULL;
    uint64_t x = memory(LK_MEMORY_DEVICE, 4 * N);
    uint32_t in[N], out[N];
    double ms = -1;
    OK(lk_event_create(gpu, 0, &ev));
    OK(lk_event_create(gpu, 0, &start));
    OK(lk_event_query(ev)); /* never recorded */
    BAD(lk_event_elapsed(start, ev, &ms), "");
    for (uint32_t i = 0; i < N; i++) in[i] = i;
    for (uint32_t round = 0; round < 20; round++) {
        OK(lk_event_record(start, a));
        OK(lk_memory_write_async(a, x, in, sizeof in));
        OK(launch_add(a, x, round));
        OK(lk_event_record(ev, a));
        OK(lk_stream_wait(b, ev));
        OK(launch_add(b, x, 1000));
        OK(lk_memory_read_async(b, x, out, sizeof out));
        OK(lk_stream_synchronise(b));
        UNIT(out[0] == round + 1000 && out[N - 1] == N - 1 + round + 1000);
    }
    OK(lk_stream_query(b));
    OK(lk_event_synchronise(ev));
    OK(lk_event_query(ev));
    OK(lk_event_elapsed(start, ev, &ms));
    UNIT(ms >= 0);
    lk_event_destroy(start);
    lk_event_destroy(ev);
    OK(lk_stream_destroy(a));
    OK(lk_stream_destroy(b));
    OK(lk_memory_free(gpu, x));
    UNIT_EQ(lk_report_errors(gpu), 0);
}

static void set_word(void *self) { __atomic_store_n((uint32_t *)self, 1, __ATOMIC_RELEASE); }

/* A kernel that waits for the host: everything else goes on meanwhile, and the host can ask. */
static void in_flight(void)
{
    lk_stream *a = stream_new(), *b = stream_new();
    uint64_t flag = memory(LK_MEMORY_PINNED, 8), x = memory(LK_MEMORY_DEVICE, 4 * N);
    uint32_t *host = NULL, called = 0;
    const void *args[] = { &flag };
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 1 }, .args = args, .arg_count = 1, .stream = a };
    OK(lk_memory_host(gpu, flag, (void **)&host));
    __atomic_store_n(host, 0, __ATOMIC_RELEASE);
    OK(lk_kernel_launch(wait_kernel, &l, NULL));
    OK(lk_host_call(a, set_word, &called));
    UNIT_EQ(lk_stream_query(a), LK_NOT_READY);
    OK(launch_add(b, x, 7));
    OK(lk_stream_synchronise(b));
    UNIT_EQ(value(x), 7);
    char *text = lk_report_text(gpu, 0);
    UNIT(text != NULL);
    lk_text_free(text);
    UNIT(!__atomic_load_n(&called, __ATOMIC_ACQUIRE));
    __atomic_store_n(host, 1, __ATOMIC_RELEASE);
    OK(lk_gpu_synchronise(gpu));
    UNIT_EQ(called, 1);
    /* the same by operations: a value is waited for, another stream writes it */
    OK(lk_memory_fill(gpu, flag, 0, 8));
    OK(lk_stream_wait_value(a, flag, 32, 5, LK_COMPARE_GEQ));
    OK(launch_add(a, x, 1));
    UNIT_EQ(lk_stream_query(a), LK_NOT_READY);
    OK(lk_stream_write_value(b, flag, 32, 5));
    OK(lk_stream_synchronise(a));
    UNIT_EQ(value(x), 8);
    OK(lk_stream_destroy(a));
    OK(lk_stream_destroy(b));
    OK(lk_memory_free(gpu, flag));
    OK(lk_memory_free(gpu, x));
    UNIT_EQ(lk_report_errors(gpu), 0);
}

/* ---- capture and graphs ---- */

static void capture(void)
{
    lk_stream *a = stream_new(), *b = stream_new();
    lk_event *fork = NULL, *join = NULL;
    lk_graph *g = NULL;
    lk_exec *exec = NULL;
    lk_capture_status cs;
    uint64_t x = memory(LK_MEMORY_DEVICE, 4 * N), y = memory(LK_MEMORY_DEVICE, 4 * N), z;
    OK(lk_event_create(gpu, LK_EVENT_NO_TIMING, &fork));
    OK(lk_event_create(gpu, LK_EVENT_NO_TIMING, &join));
    BAD(lk_stream_capture_end(a, &g), "");
    UNIT(!g);
    OK(lk_stream_capture(a, LK_CAPTURE_THREAD_LOCAL));
    BAD(lk_stream_capture(a, LK_CAPTURE_THREAD_LOCAL), "");
    OK(lk_stream_capture_status(a, &cs));
    UNIT_EQ(cs, LK_CAPTURE_ACTIVE);
    OK(launch_add(a, x, 1));
    OK(lk_event_record(fork, a));
    OK(lk_stream_wait(b, fork));
    OK(launch_add(b, y, 2));
    OK(lk_event_record(join, b));
    OK(lk_stream_wait(a, join));
    OK(launch_add(a, x, 3));
    OK(lk_stream_capture_end(a, &g));
    OK(lk_stream_capture_status(a, &cs));
    UNIT_EQ(cs, LK_CAPTURE_NONE);
    UNIT_EQ(lk_graph_node_count(g), 3);
    UNIT_EQ(value(x), 0);
    OK(lk_graph_instantiate(g, 0, &exec));
    for (int i = 0; i < 5; i++) OK(lk_exec_launch(exec, i & 1 ? a : b));
    OK(lk_gpu_synchronise(gpu));
    UNIT(value(x) == 20 && value(y) == 10);
    lk_graph_destroy(g);
    lk_exec_destroy(exec);

    /* a branch that is not joined */
    OK(lk_stream_capture(a, LK_CAPTURE_RELAXED));
    OK(lk_event_record(fork, a));
    OK(lk_stream_wait(b, fork));
    OK(launch_add(b, y, 2));
    BAD(lk_stream_capture_end(a, &g), "joined");
    UNIT(!g && lk_gpu_cuda_error(gpu) == 904);
    /* synchronising breaks it */
    OK(lk_stream_capture(a, LK_CAPTURE_GLOBAL));
    BAD(lk_stream_synchronise(a), "captur");
    OK(lk_stream_capture_status(a, &cs));
    UNIT_EQ(cs, LK_CAPTURE_INVALIDATED);
    BAD(lk_stream_capture_end(a, &g), "captur");
    UNIT(!g);
    OK(lk_stream_capture_status(a, &cs));
    UNIT_EQ(cs, LK_CAPTURE_NONE);
    /* so does an allocation */
    OK(lk_stream_capture(a, LK_CAPTURE_GLOBAL));
    BAD(lk_memory_alloc(gpu, 4, LK_MEMORY_DEVICE, NULL, &z), "captur");
    BAD(lk_stream_capture_end(a, &g), "captur");
    OK(lk_stream_capture(a, LK_CAPTURE_RELAXED));
    OK(lk_memory_alloc(gpu, 4, LK_MEMORY_DEVICE, NULL, &z));
    OK(lk_stream_capture_end(a, &g));
    lk_graph_destroy(g);
    OK(lk_memory_free(gpu, z));
    lk_event_destroy(fork);
    lk_event_destroy(join);
    OK(lk_stream_destroy(a));
    OK(lk_stream_destroy(b));
    OK(lk_memory_free(gpu, x));
    OK(lk_memory_free(gpu, y));
    UNIT_EQ(lk_report_errors(gpu), 0);
}

/* What one call does to a capture: its status as CUDA numbers it, and whether the capture goes on. */
static void call_in_capture(lk_stream *s, const char *what, lk_status (*call)(uint64_t of), uint64_t of, uint32_t cuda)
{
    lk_graph *g = NULL;
    lk_capture_status cs;
    OK(lk_stream_capture(s, LK_CAPTURE_GLOBAL));
    lk_status status = call(of);
    uint32_t is = status ? lk_gpu_cuda_error(gpu) : 0;
    OK(lk_stream_capture_status(s, &cs));
    if (!UNIT_EQ(is, cuda) || !UNIT_EQ(cs, cuda == 900 ? LK_CAPTURE_INVALIDATED : LK_CAPTURE_ACTIVE))
        fprintf(stderr, "  %s\n", what);
    UNIT_EQ(lk_stream_capture_end(s, &g), cuda == 900 ? LK_BAD_INPUT : LK_OK);
    lk_graph_destroy(g);
}
static lk_stream *captured;
static lk_status call_free(uint64_t x) { return lk_memory_free(gpu, x); }
static lk_status call_free_async(uint64_t x) { return lk_memory_free_async(captured, x); }
static lk_status call_pool(uint64_t x)
{
    lk_pool *p;
    return lk_pool_create(gpu, x, &p);
}
static lk_status call_unload(uint64_t of) { return of ? lk_module_unload(module) : LK_OK; }
static lk_status call_register(uint64_t of)
{
    static uint32_t words[64];
    uint64_t at;
    return lk_memory_register(gpu, words, of, NULL, &at);
}
static lk_status call_write(uint64_t x) { return lk_memory_write(gpu, x, "four", 4); }
static lk_status call_copy(uint64_t x)
{
    lk_copy c = { .size = sizeof c, .to = { .address = x }, .from = { .address = x + 4 }, .width = 4 };
    return lk_memory_copy(gpu, &c);
}
static lk_status call_set(uint64_t x)
{
    lk_fill f = { .size = sizeof f, .address = x, .width = 4 };
    return lk_memory_set(gpu, &f);
}

/* As an H200 answers. */
static void calls_in_captures(void)
{
    uint64_t x = memory(LK_MEMORY_DEVICE, 64);
    captured = stream_new();
    call_in_capture(captured, "free", call_free, x, 900);
    call_in_capture(captured, "free in it of memory from outside", call_free_async, x, 1);
    call_in_capture(captured, "a pool", call_pool, 0, 900);
    call_in_capture(captured, "unload", call_unload, 1, 900);
    call_in_capture(captured, "register", call_register, 256, 900);
    call_in_capture(captured, "write", call_write, x, 0);
    call_in_capture(captured, "copy", call_copy, x, 0);
    call_in_capture(captured, "set", call_set, x, 0);
    OK(lk_stream_destroy(captured));
    OK(lk_memory_free(gpu, x)); /* nothing of that has freed it, or the module */
    UNIT(lk_module_kernel(module, "add") == add);
    UNIT_EQ(lk_report_errors(gpu), 0);
}

/* The memory of an allocation node that the graph does not free. */
static void allocations_that_stay(void)
{
    lk_stream *s = stream_new();
    lk_graph *g = NULL, *other = NULL;
    lk_exec *x = NULL, *y = NULL;
    lk_node *node = NULL;
    uint64_t at = 0;
    OK(lk_graph_create(gpu, &g));
    OK(lk_graph_add_alloc(g, NULL, 0, 4 * N, "kept", &at, &node));
    OK(lk_graph_instantiate(g, 0, &x));
    OK(lk_exec_launch(x, s));
    BAD(lk_exec_launch(x, s), "");
    UNIT_EQ(lk_gpu_cuda_error(gpu), 1);
    OK(lk_memory_free(gpu, at)); /* by a call without a stream, and it may be made again */
    OK(lk_exec_launch(x, s));
    OK(lk_memory_fill_async(s, at, 0, 4 * N));
    lk_exec_destroy(x);
    OK(lk_graph_instantiate(g, 0, &x)); /* another one finds it there */
    BAD(lk_exec_launch(x, s), "");
    OK(lk_graph_create(gpu, &other)); /* another graph frees it */
    OK(lk_graph_add_free(other, NULL, 0, at, &node));
    OK(lk_graph_instantiate(other, 0, &y));
    OK(lk_exec_launch(y, s));
    OK(lk_exec_launch(x, s));
    lk_exec_destroy(x);
    OK(lk_graph_instantiate(g, LK_GRAPH_AUTO_FREE, &x));
    for (int i = 0; i < 3; i++) OK(lk_exec_launch(x, s));
    OK(lk_memory_fill_async(s, at, 0, 4 * N));
    OK(launch_add(s, at, 1));
    OK(lk_gpu_synchronise(gpu));
    UNIT_EQ(value(at), 1);
    OK(lk_memory_free_async(s, at));
    OK(lk_gpu_synchronise(gpu));
    lk_exec_destroy(x);
    lk_exec_destroy(y);
    lk_graph_destroy(g);
    lk_graph_destroy(other);
    OK(lk_stream_destroy(s));
}

static void graphs(void)
{
    lk_stream *s = stream_new();
    lk_graph *g = NULL, *child = NULL, *other = NULL;
    lk_exec *exec = NULL;
    lk_event *ev = NULL;
    lk_node *launch, *copy, *fill, *host, *node, *both[2];
    uint64_t x = memory(LK_MEMORY_DEVICE, 4 * N), tmp = 0, pinned = memory(LK_MEMORY_PINNED, 4 * N);
    uint32_t n = 5, called = 0, called2 = 0, *out = NULL;
    const void *args[] = { &x, &n };
    lk_launch l = { .size = sizeof l, .grid = { N / 64 }, .block = { 64 }, .args = args, .arg_count = 2 };
    lk_fill f = { .size = sizeof f, .address = x, .value = 100, .bytes = 4, .width = N };
    lk_copy c = { .size = sizeof c, .from.address = x, .to.address = pinned, .width = 4 * N };
    OK(lk_memory_host(gpu, pinned, (void **)&out));
    OK(lk_event_create(gpu, 0, &ev));
    OK(lk_graph_create(gpu, &g));
    OK(lk_graph_add_fill(g, NULL, 0, &f, &fill));
    OK(lk_graph_add_launch(g, &fill, 1, add, &l, &launch));
    OK(lk_graph_add_copy(g, &launch, 1, &c, &copy));
    OK(lk_graph_add_host(g, &launch, 1, set_word, &called, &host));
    both[0] = copy;
    both[1] = host;
    OK(lk_graph_add_record(g, both, 2, ev, &node));
    OK(lk_graph_add_empty(g, &node, 1, NULL));
    UNIT_EQ(lk_graph_node_count(g), 6);
    OK(lk_graph_edge(g, fill, copy));
    OK(lk_graph_edge_remove(g, fill, copy));
    BAD(lk_graph_edge_remove(g, fill, node), "");
    OK(lk_graph_instantiate(g, 0, &exec));
    OK(lk_exec_launch(exec, s));
    OK(lk_event_synchronise(ev));
    OK(lk_stream_synchronise(s));
    UNIT(out[0] == 105 && out[N - 1] == 105 && called == 1);
    /* other arguments for one node each */
    n = 7;
    f.value = 200;
    OK(lk_exec_set_launch(exec, launch, add, &l));
    OK(lk_exec_set_fill(exec, fill, &f));
    OK(lk_exec_set_host(exec, host, set_word, &called2));
    c.width = 4;
    OK(lk_exec_set_copy(exec, copy, &c));
    BAD(lk_exec_set_copy(exec, launch, &c), "");
    out[N - 1] = 1;
    OK(lk_exec_launch(exec, s));
    OK(lk_stream_synchronise(s));
    UNIT(out[0] == 207 && out[N - 1] == 1 && called2 == 1);
    /* and for all of them, by a graph; one of another shape is refused, and changes nothing */
    OK(lk_exec_update(exec, g));
    OK(lk_graph_create(gpu, &other));
    OK(lk_graph_add_empty(other, NULL, 0, NULL));
    BAD(lk_exec_update(exec, other), "");
    UNIT_EQ(lk_gpu_cuda_error(gpu), 910);
    OK(lk_exec_launch(exec, s));
    OK(lk_stream_synchronise(s));
    UNIT(out[0] == 105 && out[N - 1] == 105);
    /* a cycle */
    OK(lk_graph_edge(g, node, fill));
    lk_exec *none = NULL;
    BAD(lk_graph_instantiate(g, 0, &none), "");
    UNIT(!none);
    OK(lk_graph_edge_remove(g, node, fill));
    /* the graph goes before what was made of it, and its module before both */
    lk_module *m = NULL;
    OK(lk_module_load(gpu, "again.ptx", ptx, sizeof ptx - 1, &m));
    OK(lk_graph_create(gpu, &child));
    OK(lk_graph_add_launch(child, NULL, 0, lk_module_kernel(m, "add"), &l, NULL));
    lk_exec_destroy(exec);
    OK(lk_graph_add_child(g, &copy, 1, child, NULL));
    OK(lk_graph_instantiate(g, 0, &exec));
    lk_graph_destroy(g);
    lk_graph_destroy(child);
    lk_module_unload(m);
    OK(lk_exec_launch(exec, s));
    lk_exec_destroy(exec);
    OK(lk_stream_synchronise(s));
    UNIT_EQ(value(x), 112);
    /* memory of the graph's own */
    lk_graph_destroy(other);
    OK(lk_graph_create(gpu, &g));
    OK(lk_graph_add_alloc(g, NULL, 0, 4 * N, "tmp", &tmp, &node));
    UNIT(tmp != 0);
    f.address = tmp;
    OK(lk_graph_add_fill(g, &node, 1, &f, &fill));
    c = (lk_copy){ .size = sizeof c, .from.address = tmp, .to.address = x, .width = 4 * N };
    OK(lk_graph_add_copy(g, &fill, 1, &c, &copy));
    OK(lk_graph_add_free(g, &copy, 1, tmp, NULL));
    OK(lk_graph_instantiate(g, 0, &exec));
    for (int i = 0; i < 3; i++) OK(lk_exec_launch(exec, s));
    OK(lk_stream_synchronise(s));
    UNIT_EQ(value(x), 200);
    lk_exec_destroy(exec);
    lk_graph_destroy(g);
    lk_event_destroy(ev);
    OK(lk_stream_destroy(s));
    OK(lk_memory_free(gpu, x));
    OK(lk_memory_free(gpu, pinned));
    UNIT_EQ(lk_report_errors(gpu), 0);
}

/* A struct whose size was forgotten is refused, and nothing of it is guessed. */
static void sizes_forgotten(void)
{
    lk_gpu *g = NULL;
    lk_options o = { .threads = 2 };
    uint64_t x = memory(LK_MEMORY_DEVICE, 4 * N);
    const uint32_t n = 1;
    const void *args[] = { &x, &n };
    NONE(lk_gpu_create(&o, &g), "lk_options.size is 0: set it to sizeof(lk_options)");
    o.size = 4;
    NONE(lk_gpu_create(&o, &g), "lk_options.size is 4");
    lk_launch l = { .grid = { 1 }, .block = { N }, .args = args, .arg_count = 2 };
    BAD(lk_kernel_launch(add, &l, NULL), "lk_launch.size is 0: set it to sizeof(lk_launch)");
    BAD(lk_memory_copy(gpu, &(lk_copy){ .to.address = x }), "lk_copy.size is 0");
    BAD(lk_memory_set(gpu, &(lk_fill){ .address = x }), "lk_fill.size is 0");
    OK(lk_memory_free(gpu, x));
}

/* lk_options.faults: what a GPU would end is an error of the call that waits, with the launch and its site. */
static void faults_told(bool faults)
{
    lk_options o = { .size = sizeof o, .threads = 2, .faults = faults };
    lk_gpu *g = NULL;
    lk_module *m = NULL;
    lk_stream *s = NULL;
    uint64_t far = 1ull << 44;
    const uint32_t n = 1;
    const void *args[] = { &far, &n };
    UNIT(lk_gpu_create(&o, &g) == LK_OK && lk_module_load(g, "async.ptx", ptx, sizeof ptx - 1, &m) == LK_OK);
    UNIT(lk_stream_create(g, 0, 0, &s) == LK_OK);
    lk_kernel *k = lk_module_kernel(m, "add");
    lk_launch l = { .size = sizeof l,
                    .grid = { 1 },
                    .block = { 32 },
                    .args = args,
                    .arg_count = 2,
                    .stream = s,
                    .site = "Vector.Add at Program.cs:41" };
    UNIT(lk_kernel_launch(k, &l, NULL) == LK_OK);
    lk_status status = lk_stream_synchronise(s);
    lk_error e = { .size = sizeof e };
    UNIT(status == (faults ? LK_SYSTEM : LK_OK));
    UNIT(lk_report_errors(g) > 0);
    if (faults) {
        UNIT(lk_gpu_last_error(g, &e) && e.cuda == 700 && !strcmp(e.launch, "add"));
        UNIT_HAS(e.message, "It is the error of add, from Vector.Add at Program.cs:41");
        UNIT(lk_kernel_launch(k, &l, NULL) == LK_SYSTEM);
        UNIT(lk_gpu_synchronise(g) == LK_SYSTEM);
    }
    lk_gpu_destroy(g);
}

int main(void)
{
    open_all();
    sizes_forgotten();
    faults_told(true);
    faults_told(false);
    nulls();
    values();
    two_streams();
    in_flight();
    capture();
    calls_in_captures();
    allocations_that_stay();
    graphs();
    char *text = lk_report_text(gpu, 0);
    if (lk_report_errors(gpu)) fprintf(stderr, "%s", text);
    lk_text_free(text);
    lk_module_unload(module);
    lk_gpu_destroy(gpu);
    return unit_done();
}
