/* Many threads on one gpu of lockstep.h, several gpus, and handles that end in every order. Clean under ThreadSanitizer
 * (`make tsan`), and without leaks. */
#include "unit.h"
#include <lockstep.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

/* add  n to each element. spin  until *flag is not 0, or somebody ends it. */
static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry add(.param .u64 x, .param .u32 n)\n{\n"
    " .reg .b64 %rd<3>;\n .reg .b32 %r<7>;\n"
    " ld.param.u64 %rd1, [x];\n ld.param.u32 %r1, [n];\n mov.u32 %r2, %tid.x;\n mul.wide.u32 %rd2, %r2, 4;\n"
    " add.u64 %rd1, %rd1, %rd2;\n ld.global.u32 %r3, [%rd1];\n add.u32 %r4, %r3, %r1;\n"
    " st.global.u32 [%rd1], %r4;\n ret;\n}\n"
    ".visible .entry spin(.param .u64 flag)\n{\n"
    " .reg .b64 %rd;\n .reg .b32 %r;\n .reg .pred %p;\n ld.param.u64 %rd, [flag];\n"
    "again:\n ld.relaxed.sys.global.u32 %r, [%rd];\n setp.eq.u32 %p, %r, 0;\n @%p bra again;\n ret;\n}\n";

enum { N = 64, THREADS = 6, ROUNDS = 12 };

static lk_gpu *gpu_new(uint32_t workers)
{
    lk_gpu *g = NULL;
    lk_options o = { .size = sizeof o, .threads = workers };
    UNIT(lk_gpu_create(&o, &g) == LK_OK);
    return g;
}

static void ok_at(lk_status s, const lk_gpu *gpu, int line)
{
    if (!unit_check(s == LK_OK, __FILE__, line, "LK_OK")) fprintf(stderr, "  %d: %s\n", (int)s, lk_gpu_error(gpu));
}
#define OK(call) ok_at(call, gpu, __LINE__)

static lk_status launch(lk_kernel *k, lk_stream *s, uint64_t x, uint32_t n)
{
    const void *args[] = { &x, &n };
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { N }, .args = args, .stream = s };
    l.arg_count = lk_kernel_param_count(k);
    return lk_kernel_launch(k, &l, NULL);
}

/* ---- errors ---- */

static lk_gpu *shared;

static void *other_errors(void *self)
{
    (void)self;
    UNIT_EQ_STR(lk_gpu_error(shared), ""); /* the first thread's error is not mine */
    UNIT_EQ(lk_gpu_cuda_error(shared), 0);
    UNIT(lk_memory_fill(shared, 64, 0, 4) == LK_BAD_INPUT);
    UNIT_HAS(lk_gpu_error(shared), "0x40");
    return NULL;
}

static void errors(void)
{
    pthread_t t;
    uint64_t at;
    shared = gpu_new(1);
    lk_gpu *gone = shared;
    UNIT_EQ_STR(lk_gpu_error(shared), "");
    UNIT(lk_memory_alloc(shared, 4, (lk_memory_kind)77, NULL, &at) == LK_BAD_INPUT);
    UNIT_HAS(lk_gpu_error(shared), "77");
    pthread_create(&t, NULL, other_errors, NULL);
    pthread_join(t, NULL);
    UNIT_HAS(lk_gpu_error(shared), "77"); /* nor is the second thread's mine */
    lk_gpu_destroy(shared);
    UNIT_HAS(lk_gpu_error(gone), "77");
    /* one after the other, perhaps at the same address: none has the errors of those before it */
    for (int i = 0; i < 20; i++) {
        lk_gpu *g = gpu_new(1);
        UNIT_EQ_STR(lk_gpu_error(g), "");
        UNIT(lk_memory_read(g, 64, &at, 4) == LK_BAD_INPUT);
        UNIT_HAS(lk_gpu_error(g), "0x40");
        lk_gpu_destroy(g);
    }
}

/* ---- one gpu, many threads ---- */

static lk_kernel *add;

static void *work(void *self)
{
    lk_gpu *gpu = shared;
    uint32_t me = (uint32_t)(uintptr_t)self, in[N], out[N];
    lk_stream *s = NULL, *own = lk_stream_per_thread(gpu);
    lk_event *ev = NULL;
    uint64_t x = 0, tmp = 0;
    UNIT(own && own == lk_stream_per_thread(gpu));
    OK(lk_stream_create(gpu, LK_STREAM_NON_BLOCKING, 0, &s));
    OK(lk_event_create(gpu, 0, &ev));
    OK(lk_memory_alloc(gpu, sizeof in, LK_MEMORY_DEVICE, "x", &x));
    for (uint32_t i = 0; i < N; i++) in[i] = i * me;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        OK(lk_memory_write_async(s, x, in, sizeof in));
        OK(launch(add, s, x, round));
        OK(lk_event_record(ev, s));
        OK(lk_stream_wait(own, ev));
        OK(launch(add, own, x, me));
        OK(lk_memory_read_async(own, x, out, sizeof out));
        OK(lk_stream_synchronise(own));
        UNIT(out[0] == round + me && out[N - 1] == (N - 1) * me + round + me);
        OK(lk_memory_alloc_async(s, 4 * N, NULL, "tmp", &tmp));
        OK(lk_memory_fill_async(s, tmp, (int)me, 4 * N));
        OK(lk_memory_read_async(s, tmp, out, sizeof out));
        OK(lk_memory_free_async(s, tmp));
        OK(lk_stream_synchronise(s));
        UNIT_EQ(out[N / 2], me * 0x01010101u);
        /* code and errors come and go meanwhile */
        lk_module *m = NULL;
        if (round % 4 == 0) {
            OK(lk_module_load(gpu, "mine.ptx", ptx, sizeof ptx - 1, &m));
            OK(launch(lk_module_kernel(m, "add"), s, x, 1));
            lk_module_unload(m); /* waits */
        }
        UNIT(lk_memory_fill(gpu, 4096 + me, 0, 4) == LK_BAD_INPUT);
        char text[32];
        snprintf(text, sizeof text, "0x%x", 4096 + me);
        UNIT_HAS(lk_gpu_error(gpu), text);
        /* the report, while others launch */
        UNIT_EQ(lk_report_errors(gpu), 0);
        char *report = lk_report_json(gpu);
        UNIT(report != NULL);
        lk_text_free(report);
        lk_progress p = { .size = sizeof p };
        lk_gpu_progress(gpu, &p);
        /* a graph of its own */
        if (round % 3 == 0) {
            lk_graph *g = NULL;
            lk_exec *exec = NULL;
            OK(lk_memory_fill_async(s, x, 0, sizeof in));
            OK(lk_stream_capture(s, LK_CAPTURE_THREAD_LOCAL));
            OK(launch(add, s, x, 3));
            OK(launch(add, s, x, 4));
            OK(lk_stream_capture_end(s, &g));
            OK(lk_graph_instantiate(g, 0, &exec));
            OK(lk_exec_launch(exec, s));
            OK(lk_exec_launch(exec, s));
            lk_graph_destroy(g);
            lk_exec_destroy(exec);
            OK(lk_memory_read_async(s, x, out, sizeof out));
            OK(lk_stream_synchronise(s));
            UNIT(out[0] == 14 && out[N - 1] == 14);
        }
        if (round % 5 == 0) UNIT(launch(add, NULL, x, 1) == LK_OK); /* and a launch that waits */
    }
    lk_event_destroy(ev);
    OK(lk_memory_free(gpu, x));
    OK(lk_stream_destroy(s));
    return NULL;
}

static void many(uint32_t workers)
{
    pthread_t t[THREADS];
    lk_module *m = NULL;
    lk_gpu *gpu = shared = gpu_new(workers);
    OK(lk_module_load(gpu, "shared.ptx", ptx, sizeof ptx - 1, &m));
    add = lk_module_kernel(m, "add");
    uint64_t before = lk_memory_live(gpu);
    for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, work, (void *)(i + 1));
    for (uint32_t i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
    OK(lk_gpu_synchronise(gpu)); /* not earlier: it would break the captures of the others */
    UNIT_EQ(lk_memory_live(gpu), before);
    UNIT(lk_memory_peak(gpu) >= 4 * N);
    char *text = lk_report_text(gpu, 0);
    if (!UNIT_EQ(lk_report_errors(gpu), 0)) fprintf(stderr, "%s", text);
    lk_text_free(text);
    lk_module_unload(m);
    lk_gpu_destroy(gpu);
}

/* ---- interrupts ---- */

static void interrupted(void)
{
    lk_gpu *gpu = gpu_new(2);
    lk_module *m = NULL;
    lk_stream *s[3];
    uint64_t flag = 0, x = 0;
    void *host = NULL;
    OK(lk_module_load(gpu, "spin.ptx", ptx, sizeof ptx - 1, &m));
    OK(lk_memory_alloc(gpu, 8, LK_MEMORY_PINNED, "flag", &flag));
    OK(lk_memory_alloc(gpu, 4 * N, LK_MEMORY_DEVICE, "x", &x));
    OK(lk_memory_fill(gpu, x, 0, 4 * N));
    OK(lk_memory_host(gpu, flag, &host));
    __atomic_store_n((uint32_t *)host, 0, __ATOMIC_RELEASE);
    for (int i = 0; i < 3; i++) {
        OK(lk_stream_create(gpu, LK_STREAM_NON_BLOCKING, 0, &s[i]));
        OK(launch(lk_module_kernel(m, "spin"), s[i], flag, 0));
        UNIT_EQ(lk_stream_query(s[i]), LK_NOT_READY);
    }
    lk_progress p = { .size = sizeof p };
    UNIT(lk_gpu_progress(gpu, &p) && p.ctas == 3 && p.ctas_done == 0);
    lk_gpu_interrupt(gpu);
    for (int i = 0; i < 3; i++) {
        lk_status status = lk_stream_synchronise(s[i]);
        UNIT(status == LK_FINDINGS || status == LK_OK);
    }
    UNIT(lk_report_errors(gpu) + lk_report_notes(gpu) > 0);
    /* what comes later is not interrupted */
    uint32_t v = 0;
    OK(launch(lk_module_kernel(m, "add"), s[0], x, 9));
    OK(lk_memory_read_async(s[0], x, &v, 4));
    OK(lk_stream_synchronise(s[0]));
    UNIT_EQ(v, 9);
    lk_gpu_destroy(gpu);
}

/* ---- several gpus ---- */

#define REFUSED(call, part) (UNIT((call) == LK_BAD_INPUT), UNIT_HAS(lk_gpu_error(gpu), part))

static void several(void)
{
    lk_gpu *gpu = gpu_new(1), *second = gpu_new(1);
    lk_module *m = NULL;
    lk_stream *s = NULL, *t = NULL;
    lk_event *ev = NULL, *ev2 = NULL;
    lk_graph *g = NULL, *g2 = NULL;
    lk_exec *exec = NULL;
    lk_pool *pool = NULL;
    uint64_t x = 0, y = 0, z = 0;
    uint32_t in[N], out[N];
    double ms;
    OK(lk_module_load(gpu, "one.ptx", ptx, sizeof ptx - 1, &m));
    lk_kernel *k = lk_module_kernel(m, "add");
    OK(lk_stream_create(gpu, 0, 0, &s));
    OK(lk_event_create(gpu, 0, &ev));
    OK(lk_graph_create(gpu, &g));
    OK(lk_graph_instantiate(g, 0, &exec));
    OK(lk_memory_alloc(gpu, sizeof in, LK_MEMORY_DEVICE, "x", &x));
    UNIT(lk_stream_create(second, 0, 0, &t) == LK_OK && lk_event_create(second, 0, &ev2) == LK_OK &&
         lk_graph_create(second, &g2) == LK_OK && lk_pool_create(second, 0, &pool) == LK_OK);
    UNIT(lk_memory_alloc(second, sizeof in, LK_MEMORY_DEVICE, "y", &y) == LK_OK);
    /* handles of one on the other */
    REFUSED(launch(k, t, x, 1), "different gpus");
    REFUSED(lk_event_record(ev, t), "different gpus");
    REFUSED(lk_event_elapsed(ev, ev2, &ms), "different gpus");
    REFUSED(lk_exec_launch(exec, t), "different gpus");
    REFUSED(lk_exec_update(exec, g2), "different gpus");
    REFUSED(lk_graph_add_child(g, NULL, 0, g2, NULL), "different gpus");
    REFUSED(lk_graph_add_record(g, NULL, 0, ev2, NULL), "different gpus");
    REFUSED(lk_memory_alloc_async(s, 4, pool, NULL, &z), "different gpus");
    OK(lk_stream_wait(s, ev2)); /* never recorded */
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 1 } };
    UNIT(lk_graph_add_launch(g2, NULL, 0, k, &l, NULL) == LK_BAD_INPUT);
    UNIT_HAS(lk_gpu_error(second), "add was loaded on another gpu");
    REFUSED(lk_memory_write(gpu, y, in, 4), "0x");
    REFUSED(lk_memory_read_async(s, y, out, 4), "");
    lk_copy wrong = { .size = sizeof wrong, .from.host = in, .to.address = x, .width = 4, .stream = t };
    REFUSED(lk_memory_copy(gpu, &wrong), "the stream belongs to another gpu");
    /* whose memory it is */
    lk_memory_info info = { .size = sizeof info };
    OK(lk_memory_at(NULL, y + 4, &info));
    UNIT(info.gpu == second && info.base == y && info.bytes == sizeof in && info.kind == LK_MEMORY_DEVICE);
    UNIT_EQ_STR(info.name, "y");
    UNIT_EQ(lk_memory_at(gpu, y, &info), LK_NOTHING);
    /* a copy from the one to the other */
    for (uint32_t i = 0; i < N; i++) in[i] = i;
    OK(lk_memory_write(gpu, x, in, sizeof in));
    lk_copy c = { .size = sizeof c, .from.address = x, .to = { .gpu = second, .address = y }, .width = sizeof in };
    OK(lk_memory_copy(gpu, &c));
    UNIT(lk_memory_read(second, y, out, sizeof out) == LK_OK && !memcmp(in, out, sizeof in));
    c = (lk_copy){
        .size = sizeof c, .from = { .gpu = second, .address = y }, .to.address = x, .width = 4, .stream = s
    };
    OK(lk_memory_copy(gpu, &c));
    OK(lk_stream_synchronise(s));
    /* the second goes with everything that is left of it, the first after it */
    lk_gpu_destroy(second);
    OK(lk_memory_read(gpu, x, out, 4));
    lk_gpu_destroy(gpu);
}

/* ---- work of several threads ---- */

struct enqueuer { /* a thread that launches once in a stream of its own */
    lk_gpu *gpu;
    lk_kernel *kernel;
    uint64_t x;
    bool waits; /* for what it has enqueued */
};

static void *enqueue_once(void *self)
{
    const struct enqueuer *q = self;
    lk_gpu *gpu = q->gpu;
    lk_stream *s = NULL;
    OK(lk_stream_create(gpu, LK_STREAM_NON_BLOCKING, 0, &s));
    OK(launch(q->kernel, s, q->x, 1));
    if (q->waits) OK(lk_stream_synchronise(s));
    return NULL;
}

/* Two threads one after the other: that the first one has ended orders nothing on the gpu, that it has waited does. */
static void unordered_threads(bool waits)
{
    lk_gpu *gpu = gpu_new(1);
    lk_module *m = NULL;
    struct enqueuer q = { .gpu = gpu, .waits = waits };
    OK(lk_module_load(gpu, "threads.ptx", ptx, sizeof ptx - 1, &m));
    q.kernel = lk_module_kernel(m, "add");
    OK(lk_memory_alloc(gpu, 4 * N, LK_MEMORY_DEVICE, "x", &q.x));
    OK(lk_memory_fill(gpu, q.x, 0, 4 * N));
    for (int i = 0; i < 2; i++) {
        pthread_t t;
        UNIT(!pthread_create(&t, NULL, enqueue_once, &q));
        pthread_join(t, NULL);
    }
    OK(lk_gpu_synchronise(gpu));
    char *text = lk_report_text(gpu, 0);
    UNIT_EQ(strstr(text, "[race_stream]") != NULL, !waits);
    UNIT_EQ(lk_report_errors(gpu), waits ? 0 : 1);
    lk_text_free(text);
    lk_gpu_destroy(gpu);
}

/* ---- events of another gpu ---- */

enum { RING = 3 };
struct part { /* a gpu of several, with what it works on */
    lk_gpu *gpu;
    lk_module *module;
    lk_stream *stream;
    lk_event *event;
    uint64_t x;
};

static struct part part_new(uint32_t workers, int seed)
{
    struct part p = { 0 };
    lk_options o = { .size = sizeof o, .threads = workers, .seeded = seed >= 0, .seed = (uint64_t)seed };
    UNIT(lk_gpu_create(&o, &p.gpu) == LK_OK);
    lk_gpu *gpu = p.gpu;
    OK(lk_module_load(gpu, "part.ptx", ptx, sizeof ptx - 1, &p.module));
    OK(lk_stream_create(gpu, LK_STREAM_NON_BLOCKING, 0, &p.stream));
    OK(lk_event_create(gpu, 0, &p.event));
    OK(lk_memory_alloc(gpu, 4 * N, LK_MEMORY_DEVICE, "x", &p.x));
    OK(lk_memory_fill(gpu, p.x, 0, 4 * N));
    return p;
}

static void part_copy(const struct part *to, const struct part *from)
{
    lk_gpu *gpu = to->gpu;
    lk_copy c = { .size = sizeof c, .to.address = to->x, .width = 4 * N, .stream = to->stream };
    c.from = (lk_end){ .gpu = from->gpu, .address = from->x };
    OK(lk_memory_copy(gpu, &c));
}

/* Each of three gpus takes what the one before has and adds to it, round and round; only events order them. */
static void ring(uint32_t workers, int seed)
{
    struct part p[RING];
    uint32_t out[N], turns = 0;
    for (uint32_t k = 0; k < RING; k++) p[k] = part_new(workers, seed);
    for (uint32_t round = 0; round < 4; round++)
        for (uint32_t k = 0; k < RING; k++, turns++) {
            const struct part *me = &p[k], *before = &p[(k + RING - 1) % RING];
            lk_gpu *gpu = me->gpu;
            OK(lk_stream_wait(me->stream, before->event));
            part_copy(me, before);
            OK(launch(lk_module_kernel(me->module, "add"), me->stream, me->x, 1));
            OK(lk_event_record(me->event, me->stream));
        }
    lk_gpu *gpu = p[RING - 1].gpu;
    OK(lk_stream_synchronise(p[RING - 1].stream));
    OK(lk_memory_read(gpu, p[RING - 1].x, out, sizeof out));
    UNIT(out[0] == turns && out[N - 1] == turns);
    for (uint32_t k = 0; k < RING; k++) {
        gpu = p[k].gpu;
        OK(lk_gpu_synchronise(gpu));
        if (!UNIT(!lk_report_errors(gpu))) {
            char *text = lk_report_text(gpu, 0);
            fprintf(stderr, "%s\n", text);
            lk_text_free(text);
        }
    }
    for (uint32_t k = 0; k < RING; k++) lk_gpu_destroy(p[k].gpu);
}

/* A stream waits while the kernel of another gpu does; the wait binds to the latest record of its call. */
static void waits_elsewhere(void)
{
    struct part a = part_new(2, -1), b = part_new(1, -1);
    lk_gpu *gpu = a.gpu;
    uint64_t flag = 0;
    void *host = NULL;
    lk_graph *g = NULL;
    lk_capture_status cs;
    uint32_t out[N];
    OK(lk_memory_alloc(gpu, 4, LK_MEMORY_PINNED, "flag", &flag));
    OK(lk_memory_host(gpu, flag, &host));
    *(volatile uint32_t *)host = 0;
    OK(launch(lk_module_kernel(a.module, "spin"), a.stream, flag, 0));
    OK(launch(lk_module_kernel(a.module, "add"), a.stream, a.x, 7));
    OK(lk_event_record(a.event, a.stream));
    gpu = b.gpu;
    OK(lk_stream_wait(b.stream, a.event));
    part_copy(&b, &a);
    for (int i = 0; i < 20; i++) UNIT_EQ(lk_stream_query(b.stream), LK_NOT_READY);
    /* a capture has no place for it */
    lk_stream *c = NULL;
    OK(lk_stream_create(gpu, 0, 0, &c));
    OK(lk_stream_capture(c, LK_CAPTURE_RELAXED));
    UNIT_EQ(lk_stream_wait(c, a.event), LK_BAD_INPUT);
    UNIT_EQ(lk_gpu_cuda_error(gpu), 905);
    OK(lk_stream_capture_status(c, &cs));
    UNIT_EQ(cs, LK_CAPTURE_INVALIDATED);
    UNIT_EQ(lk_stream_capture_end(c, &g), LK_BAD_INPUT);
    *(volatile uint32_t *)host = 1;
    OK(lk_stream_synchronise(b.stream));
    OK(lk_memory_read(gpu, b.x, out, sizeof out));
    UNIT(out[0] == 7 && out[N - 1] == 7);
    /* the other gpu goes with the wait in flight: it ends its work first */
    *(volatile uint32_t *)host = 0;
    gpu = a.gpu;
    OK(launch(lk_module_kernel(a.module, "spin"), a.stream, flag, 0));
    OK(lk_event_record(a.event, a.stream));
    gpu = b.gpu;
    OK(lk_stream_wait(b.stream, a.event));
    OK(launch(lk_module_kernel(b.module, "add"), b.stream, b.x, 1));
    *(volatile uint32_t *)host = 1;
    lk_gpu_destroy(a.gpu);
    OK(lk_stream_synchronise(b.stream));
    OK(lk_memory_read(gpu, b.x, out, 4));
    UNIT_EQ(out[0], 8);
    UNIT_EQ(lk_report_errors(gpu), 0);
    lk_gpu_destroy(b.gpu);
}

/* ---- ends ---- */

/* Everything is left, with work in flight: the gpu waits and ends it all. */
static void left(void)
{
    lk_gpu *gpu = gpu_new(2);
    lk_module *m = NULL;
    lk_stream *s = NULL;
    lk_event *ev = NULL;
    lk_graph *g = NULL;
    lk_exec *exec = NULL;
    lk_pool *pool = NULL;
    uint64_t x = 0, tmp = 0;
    OK(lk_module_load(gpu, "left.ptx", ptx, sizeof ptx - 1, &m));
    OK(lk_stream_create(gpu, 0, -3, &s));
    OK(lk_event_create(gpu, 0, &ev));
    OK(lk_pool_create(gpu, 1 << 20, &pool));
    OK(lk_memory_alloc(gpu, 4 * N, LK_MEMORY_MANAGED, "x", &x));
    OK(lk_memory_fill(gpu, x, 0, 4 * N));
    OK(lk_memory_alloc_async(s, 4 * N, pool, "tmp", &tmp));
    OK(lk_memory_fill_async(s, tmp, 1, 4 * N));
    OK(lk_stream_capture(s, LK_CAPTURE_RELAXED));
    for (uint32_t i = 0; i < 8; i++) OK(launch(lk_module_kernel(m, "add"), s, tmp, i));
    OK(lk_stream_capture_end(s, &g));
    OK(lk_graph_instantiate(g, 0, &exec));
    for (uint32_t i = 0; i < 8; i++) OK(lk_exec_launch(exec, s));
    OK(lk_event_record(ev, s));
    for (uint32_t i = 0; i < 50; i++) OK(launch(lk_module_kernel(m, "add"), s, x, i));
    lk_gpu_destroy(gpu);
}

/* Handles go while their work is in flight, in the worst order. */
static void early(void)
{
    lk_gpu *gpu = gpu_new(2);
    lk_module *m = NULL;
    uint64_t x = 0;
    uint32_t v = 0;
    OK(lk_module_load(gpu, "early.ptx", ptx, sizeof ptx - 1, &m));
    OK(lk_memory_alloc(gpu, 4 * N, LK_MEMORY_DEVICE, "x", &x));
    OK(lk_memory_fill(gpu, x, 0, 4 * N));
    for (int round = 0; round < 10; round++) {
        lk_stream *s = NULL;
        lk_event *ev = NULL;
        lk_graph *g = NULL;
        lk_exec *exec = NULL;
        OK(lk_stream_create(gpu, 0, 0, &s)); /* blocking: all are in the order of the legacy stream below */
        OK(lk_event_create(gpu, 0, &ev));
        OK(lk_stream_capture(s, LK_CAPTURE_RELAXED));
        OK(launch(lk_module_kernel(m, "add"), s, x, 1));
        OK(lk_stream_capture_end(s, &g));
        OK(lk_graph_instantiate(g, 0, &exec));
        OK(lk_exec_launch(exec, s));
        OK(lk_event_record(ev, s));
        OK(lk_stream_wait(lk_stream_legacy(gpu), ev));
        lk_graph_destroy(g);
        lk_event_destroy(ev);
        lk_exec_destroy(exec);
        OK(lk_stream_destroy(s));
        OK(launch(lk_module_kernel(m, "add"), lk_stream_legacy(gpu), x, 100));
    }
    lk_module_unload(m); /* waits for all of them */
    OK(lk_memory_read(gpu, x, &v, 4));
    UNIT_EQ(v, 1010);
    UNIT_EQ(lk_report_errors(gpu), 0);
    lk_gpu_destroy(gpu);
}

/* A module goes while its kernel is in a capture: the graph still has the code. */
static void unloaded(void)
{
    lk_gpu *gpu = gpu_new(1);
    lk_stream *s = NULL;
    lk_graph *g = NULL;
    lk_exec *exec = NULL;
    uint64_t x = 0;
    uint32_t v = 0;
    OK(lk_stream_create(gpu, LK_STREAM_NON_BLOCKING, 0, &s));
    OK(lk_memory_alloc(gpu, 4 * N, LK_MEMORY_DEVICE, "x", &x));
    OK(lk_memory_fill(gpu, x, 0, 4 * N));
    for (int broken = 0; broken < 2; broken++) {
        lk_module *m = NULL;
        OK(lk_module_load(gpu, "unloaded.ptx", ptx, sizeof ptx - 1, &m));
        OK(lk_stream_capture(s, LK_CAPTURE_RELAXED));
        OK(launch(lk_module_kernel(m, "add"), s, x, 5));
        lk_module_unload(m);
        if (broken) {
            UNIT(lk_stream_synchronise(s) == LK_BAD_INPUT);
            UNIT(lk_stream_capture_end(s, &g) == LK_BAD_INPUT && !g);
            continue;
        }
        OK(lk_stream_capture_end(s, &g));
        OK(lk_graph_instantiate(g, 0, &exec));
        lk_graph_destroy(g);
        OK(lk_exec_launch(exec, s));
        lk_exec_destroy(exec);
        OK(lk_stream_synchronise(s));
        OK(lk_memory_read(gpu, x, &v, 4));
        UNIT_EQ(v, 5);
    }
    /* a capture that nobody ends */
    lk_module *m = NULL;
    OK(lk_module_load(gpu, "unloaded.ptx", ptx, sizeof ptx - 1, &m));
    OK(lk_stream_capture(s, LK_CAPTURE_RELAXED));
    OK(launch(lk_module_kernel(m, "add"), s, x, 5));
    lk_module_unload(m);
    lk_gpu_destroy(gpu);
}

int main(void)
{
    errors();
    many(1);
    many(2);
    interrupted();
    several();
    unordered_threads(false);
    unordered_threads(true);
    waits_elsewhere();
    for (int seed = -1; seed < 4; seed++) ring(seed < 0 ? 2 : 1, seed);
    left();
    early();
    unloaded();
    return unit_done();
}
