/* Streams and events: order, waits, time, functions of the host. */
#include "suite.h"

/* Launches of one stream run in their order. */
static void order(int launches)
{
    int32_t x[32] = { 0 }, want = 0;
    lk_stream *s = stream_of(0);
    uint64_t d = buffer(sizeof x, x);
    for (int i = 0; i < launches; i++) {
        OK(LAUNCH_IN(s, job("increment"), 32, 32, B(d), I(32)));
        OK(LAUNCH_IN(s, job("multiply"), 32, 32, B(d), I(32), I(2)));
        want = (want + 1) * 2;
    }
    OK(lk_stream_synchronise(s));
    for (int i = 0; i < 32; i++) x[i] = want;
    same(d, x, sizeof x);
}

static void many_streams(int n)
{
    lk_stream *s[16];
    uint64_t d[16];
    int32_t x[64], want[64];
    numbers(x, 64, 1);
    for (int i = 0; i < n; i++) s[i] = stream_of(i % 2 ? LK_STREAM_NON_BLOCKING : 0), d[i] = buffer(256, NULL);
    for (int i = 0; i < n; i++) {
        OK(lk_memory_write_async(s[i], d[i], x, 256));
        OK(LAUNCH_IN(s[i], job("multiply"), 64, 32, B(d[i]), I(64), I(i + 1)));
    }
    OK(lk_gpu_synchronise(gpu));
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 64; k++) want[k] = x[k] * (i + 1);
        same(d[i], want, 256);
    }
}

/* The second stream waits for the first by an event. */
static void waits(int chain)
{
    lk_stream *a = stream_of(LK_STREAM_NON_BLOCKING), *b = stream_of(LK_STREAM_NON_BLOCKING);
    int32_t x[1] = { 0 };
    uint64_t d = buffer(4, x);
    for (int i = 0; i < chain; i++) {
        lk_event *e = event_of();
        OK(LAUNCH_IN(a, job("busy"), 1, 1, B(d), I(1000)));
        OK(lk_event_record(e, a));
        OK(lk_stream_wait(b, e));
        OK(LAUNCH_IN(b, job("increment"), 1, 1, B(d), I(1)));
        lk_event *back = event_of();
        OK(lk_event_record(back, b));
        OK(lk_stream_wait(a, back));
        uint32_t v = (uint32_t)x[0];
        for (int k = 0; k < 1000; k++) v = v * 5 + 1;
        x[0] = (int32_t)(v + 1);
    }
    OK(lk_stream_synchronise(b));
    OK(lk_stream_synchronise(a));
    same(d, x, 4);
}

static void elapsed(int unused)
{
    lk_stream *s = stream_of(0);
    lk_event *from = event_of(), *to = event_of();
    int32_t x = 0;
    double ms = -1;
    uint64_t d = buffer(4, &x);
    (void)unused;
    OK(lk_event_record(from, s));
    OK(LAUNCH_IN(s, job("busy"), 1, 1, B(d), I(10000)));
    OK(lk_event_record(to, s));
    OK(lk_event_synchronise(to));
    OK(lk_event_query(from));
    OK(lk_event_elapsed(from, to, &ms));
    CHECK(ms > 0 && ms < 60000);
}

static void called(void *self) { ++*(volatile int *)self; }

static void host_functions(int n)
{
    volatile int count = 0;
    lk_stream *s = stream_of(0);
    for (int i = 0; i < n; i++) OK(lk_host_call(s, called, (void *)(uintptr_t)&count));
    OK(lk_stream_synchronise(s));
    CHECK(count == n);
}

static void default_streams(int per_thread)
{
    int32_t x[16] = { 0 }, want[16];
    lk_stream *s = per_thread ? lk_stream_per_thread(gpu) : lk_stream_legacy(gpu);
    uint64_t d = buffer(sizeof x, x);
    if (!CHECK(s)) return;
    OK(LAUNCH_IN(s, job("increment"), 16, 16, B(d), I(16)));
    OK(lk_stream_synchronise(s));
    for (int i = 0; i < 16; i++) want[i] = 1;
    same(d, want, sizeof want);
}

/* Work of the legacy default stream is behind that of blocking streams. */
static void legacy_is_a_barrier(int unused)
{
    int32_t x[16] = { 0 }, want[16];
    lk_stream *s = stream_of(0), *legacy = lk_stream_legacy(gpu);
    uint64_t d = buffer(sizeof x, x);
    (void)unused;
    OK(LAUNCH_IN(s, job("increment"), 16, 16, B(d), I(16)));
    OK(LAUNCH_IN(legacy, job("multiply"), 16, 16, B(d), I(16), I(10)));
    OK(LAUNCH_IN(s, job("increment"), 16, 16, B(d), I(16)));
    OK(lk_stream_synchronise(s));
    for (int i = 0; i < 16; i++) want[i] = 11;
    same(d, want, sizeof want);
}

static void values_in_memory(int bits)
{
    lk_stream *a = stream_of(LK_STREAM_NON_BLOCKING), *b = stream_of(LK_STREAM_NON_BLOCKING);
    uint64_t zero = 0, flag = buffer(8, &zero), d = buffer(4, &zero);
    int32_t want = 1;
    lk_kernel *increment = job("increment"); /* a driver that loads a module waits for all streams */
    OK(lk_stream_wait_value(b, flag, (uint32_t)bits, 5, LK_COMPARE_GEQ));
    OK(LAUNCH_IN(b, increment, 1, 1, B(d), I(1)));
    OK(lk_stream_write_value(a, flag, (uint32_t)bits, 5));
    OK(lk_stream_synchronise(a));
    OK(lk_stream_synchronise(b));
    same(d, &want, 4);
}

static void query(int unused)
{
    lk_stream *s = stream_of(0);
    lk_event *e = event_of();
    (void)unused;
    OK(lk_stream_query(s));
    OK(lk_event_query(e)); /* never recorded */
    OK(lk_event_record(e, s));
    OK(lk_stream_synchronise(s));
    OK(lk_stream_query(s));
    OK(lk_event_query(e));
}

static void ended_early(int unused)
{
    int32_t zero = 0, want = 1;
    uint64_t d = buffer(4, &zero);
    lk_stream *s = NULL;
    lk_event *e = NULL;
    (void)unused;
    OK(lk_stream_create(gpu, 0, -2, &s));
    OK(lk_event_create(gpu, LK_EVENT_NO_TIMING, &e));
    OK(LAUNCH_IN(s, job("increment"), 1, 1, B(d), I(1)));
    OK(lk_event_record(e, s));
    OK(lk_stream_destroy(s)); /* its work goes on */
    OK(lk_event_synchronise(e));
    OK(lk_event_destroy(e));
    same(d, &want, 4);
}

/* A gpu of its own, whose operations are timed. */
static void timed(int streamed)
{
    lk_options o = { .size = sizeof o, .on = on, .threads = 1, .time = 1 };
    lk_gpu *g = NULL;
    lk_module *m = NULL;
    lk_stream *s = NULL;
    char path[700];
    uint64_t at = 0;
    if (!OK(lk_gpu_create(&o, &g))) return;
    snprintf(path, sizeof path, "%s/jobs.ptx", folder);
    OK(lk_module_load_file(g, path, &m));
    OK(lk_stream_create(g, 0, 0, &s));
    OK(lk_memory_alloc(g, 1 << 20, LK_MEMORY_DEVICE, "x", &at));
    OK(lk_memory_write(g, at, room(1 << 20), 1 << 20));
    lk_range_push("step");
    for (int i = 0; i < 3; i++) {
        lk_range_push("forward");
        OK(LAUNCH_IN(streamed ? s : NULL, lk_module_kernel(m, "increment"), 1000, 128, B(at), I(1000)));
        lk_range_pop();
    }
    OK(lk_memory_fill_async(s, at, 0, 4096));
    lk_range_pop();
    lk_range_pop(); /* one too many is nothing */
    OK(lk_stream_synchronise(s));
    lk_timing t = { .size = sizeof t };
    int rows = 0, launches = 0, copies = 0, fills = 0;
    for (uint32_t i = 0; lk_time_at(g, i, &t); i++, rows++) {
        CHECK(t.count && t.total_us >= t.most_us * 0.999 && t.most_us >= t.least_us && t.least_us >= 0);
        launches += !strcmp(t.name, "increment") && !strcmp(t.range, "step/forward") && t.count == 3;
        copies += !strcmp(t.name, "copy to the device") && t.bytes == 1 << 20 && !*t.range;
        fills += !strcmp(t.name, "fill") && t.bytes == 4096 && !strcmp(t.range, "step");
    }
    CHECK(rows == 3 && launches == 1 && copies == 1 && fills == 1);
    char *text = lk_time_text(g);
    CHECK(text && strstr(text, on_gpu ? "times of the device" : "times of this processor") && strstr(text, "GB/s"));
    lk_text_free(text);
    OK(lk_gpu_destroy(g));
    CHECK(!lk_time_text(gpu)); /* nobody asked for it there */
}

static void stats(int unused)
{
    int32_t zero = 0;
    uint64_t d = buffer(4, &zero);
    lk_value v[] = { B(d), I(100000) };
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 1 }, .values = v, .arg_count = 2 };
    lk_stats st = { 0 };
    (void)unused;
    OK(lk_kernel_launch(job("busy"), &l, &st));
    CHECK(st.ctas == 1 && st.nanoseconds > 1000 && st.nanoseconds < 60000000000ull);
}

const struct test stream_tests[] = { { "order_1", order, 1 },
                                     { "order_8", order, 8 },
                                     { "two", many_streams, 2 },
                                     { "sixteen", many_streams, 16 },
                                     { "wait_1", waits, 1 },
                                     { "wait_5", waits, 5 },
                                     { "elapsed", elapsed, 0 },
                                     { "host_call_1", host_functions, 1 },
                                     { "host_call_20", host_functions, 20 },
                                     { "legacy", default_streams, 0 },
                                     { "per_thread", default_streams, 1 },
                                     { "legacy_is_a_barrier", legacy_is_a_barrier, 0 },
                                     { "value_32", values_in_memory, 32 },
                                     { "value_64", values_in_memory, 64 },
                                     { "query", query, 0 },
                                     { "ended_early", ended_early, 0 },
                                     { "timed", timed, 0 },
                                     { "timed_in_stream", timed, 1 },
                                     { "stats", stats, 0 },
                                     { 0 } };
