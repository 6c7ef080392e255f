/* Memory of every kind: unified, pinned, registered, pitched, of streams and pools; copies and fills. */
#include "suite.h"

static uint64_t alloc(uint64_t bytes, lk_memory_kind kind)
{
    uint64_t at = 0;
    OK(lk_memory_alloc(gpu, bytes, kind, "x", &at));
    return at;
}

static int32_t *host_of(uint64_t at)
{
    void *p = NULL;
    OK(lk_memory_host(gpu, at, &p));
    return p;
}

/* The host writes, a launch works, the host reads: pinned or managed, with one wait. */
static void shared_with_host(int kind)
{
    uint64_t at = alloc(400, (lk_memory_kind)kind);
    int32_t *x = host_of(at);
    if (!x) return;
    for (int i = 0; i < 100; i++) x[i] = i;
    OK(LAUNCH(job("increment"), 100, 32, B(at), I(100)));
    int wrong = 0;
    for (int i = 0; i < 100; i++) wrong += x[i] != i + 1;
    CHECK(!wrong);
    OK(lk_memory_free(gpu, at));
}

static void shared_in_stream(int kind)
{
    uint64_t at = alloc(400, (lk_memory_kind)kind);
    int32_t *x = host_of(at);
    lk_stream *s = stream_of(0);
    if (!x) return;
    for (int i = 0; i < 100; i++) x[i] = 2 * i;
    for (int round = 0; round < 3; round++) {
        OK(LAUNCH_IN(s, job("increment"), 100, 32, B(at), I(100)));
        OK(lk_stream_synchronise(s));
        x[7] += 100; /* between launches the memory is the host's */
    }
    CHECK(x[7] == 14 + 3 + 300 && x[8] == 16 + 3 && x[99] == 198 + 3);
    OK(lk_memory_free(gpu, at));
}

static void managed_reads_and_writes(int unused)
{
    int32_t in[50], out[50];
    uint64_t at = alloc(200, LK_MEMORY_MANAGED);
    (void)unused;
    numbers(in, 50, 1);
    OK(lk_memory_write(gpu, at, in, 200));
    OK(LAUNCH(job("math::deep::negate"), 50, 32, B(at), I(50)));
    OK(lk_memory_read(gpu, at, out, 200));
    int wrong = 0;
    for (int i = 0; i < 50; i++) wrong += out[i] != -in[i];
    CHECK(!wrong);
    OK(lk_memory_free(gpu, at));
}

static void registered(int unused)
{
    int32_t *x = aligned_alloc(4096, 4096);
    uint64_t at = 0;
    (void)unused;
    if (!x) abort();
    for (int i = 0; i < 1024; i++) x[i] = i;
    OK(lk_memory_register(gpu, x, 4096, "x", &at));
    OK(LAUNCH(job("increment"), 1000, 128, B(at), I(1000)));
    CHECK(x[0] == 1 && x[999] == 1000 && x[1000] == 1000);
    OK(lk_memory_unregister(gpu, x));
    int32_t seven[32] = { 7, 7, 7 };
    uint64_t d = buffer(sizeof seven, seven); /* the memory is the host's alone again, and can be copied to and from */
    OK(lk_memory_read(gpu, d, x, sizeof seven));
    CHECK(x[2] == 7 && x[3] == 0 && x[32] == 33);
    OK(lk_memory_write(gpu, d, x + 32, sizeof seven));
    same(d, x + 32, sizeof seven);
    free(x);
}

static void copied(int bytes)
{
    uint8_t *a = room((unsigned)bytes + 64), *b = room((unsigned)bytes + 64);
    for (int i = 0; i < bytes; i++) a[i] = (uint8_t)(i * 13 + i / 256);
    uint64_t from = buffer((unsigned)bytes, a), to = buffer((unsigned)bytes, NULL);
    lk_copy c = { .size = sizeof c, .to = { .address = to }, .from = { .address = from }, .width = (unsigned)bytes };
    OK(lk_memory_copy(gpu, &c));
    OK(lk_memory_read(gpu, to, b, (unsigned)bytes));
    CHECK(!memcmp(a, b, (unsigned)bytes));
}

/* A part in the middle of another, by rows, and by rows of slices. */
static void part_copied(int slices)
{
    enum { W = 12, H = 10, D = 3 };
    uint8_t a[W * H * D], b[W * H * D] = { 0 };
    for (int i = 0; i < W * H * D; i++) a[i] = (uint8_t)i;
    uint64_t d = buffer(sizeof a, a);
    lk_copy c = { .size = sizeof c,
                  .to = { .host = b, .pitch = W, .slice = W * H },
                  .from = { .address = d + 2 * W + 3, .pitch = W, .slice = W * H },
                  .width = 5,
                  .rows = 4,
                  .slices = (unsigned)slices };
    OK(lk_memory_copy(gpu, &c));
    int wrong = 0;
    for (int z = 0; z < slices; z++)
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 5; x++) wrong += b[(z * H + y) * W + x] != a[(z * H + y + 2) * W + x + 3];
    CHECK(!wrong && !b[5]);
}

static void filled(int bytes)
{
    uint8_t want[240];
    uint32_t value = 0xa1b2c3d4u, n = 240u / (unsigned)bytes;
    for (unsigned i = 0; i < 240; i += (unsigned)bytes) memcpy(want + i, &value, (size_t)bytes);
    uint64_t d = buffer(240, NULL);
    if (bytes == 1)
        value &= 255;
    else if (bytes == 2)
        value &= 65535;
    lk_fill f = { .size = sizeof f, .address = d, .value = value, .bytes = (unsigned)bytes, .width = n };
    OK(lk_memory_set(gpu, &f));
    same(d, want, 240);
}

static void filled_rows(int unused)
{
    uint8_t want[100];
    (void)unused;
    memset(want, 0, sizeof want);
    for (int y = 0; y < 5; y++) memset(want + 20 * y + 3, 9, 6);
    uint64_t d = buffer(100, NULL);
    OK(lk_memory_fill(gpu, d, 0, 100));
    lk_fill f = { .size = sizeof f, .address = d + 3, .value = 9, .bytes = 1, .width = 6, .rows = 5, .pitch = 20 };
    OK(lk_memory_set(gpu, &f));
    same(d, want, 100);
}

static void in_streams(int pool)
{
    lk_stream *s = stream_of(0);
    lk_pool *p = NULL;
    uint64_t a = 0;
    int32_t in[64], out[64];
    numbers(in, 64, 2);
    if (pool) OK(lk_pool_create(gpu, 0, &p));
    OK(lk_memory_alloc_async(s, 256, p, "a", &a));
    OK(lk_memory_write_async(s, a, in, 256));
    OK(LAUNCH_IN(s, job("multiply"), 64, 64, B(a), I(64), I(3)));
    OK(lk_memory_read_async(s, a, out, 256));
    OK(lk_memory_free_async(s, a));
    OK(lk_stream_synchronise(s));
    int wrong = 0;
    for (int i = 0; i < 64; i++) wrong += out[i] != 3 * in[i];
    CHECK(!wrong);
    if (pool) OK(lk_pool_destroy(p));
}

static void what_is_where(int unused)
{
    uint64_t d = alloc(1000, LK_MEMORY_DEVICE);
    lk_memory_info info = { .size = sizeof info };
    (void)unused;
    OK(lk_memory_at(gpu, d + 999, &info));
    CHECK(info.gpu == gpu && info.kind == LK_MEMORY_DEVICE && info.base == d && info.bytes == 1000 && !info.freed);
    CHECK(!strcmp(info.name, "x"));
    uint64_t id = info.id;
    OK(lk_memory_free(gpu, d));
    uint64_t m = alloc(64, LK_MEMORY_MANAGED), p = alloc(64, LK_MEMORY_PINNED);
    OK(lk_memory_at(NULL, m, &info));
    CHECK(info.kind == LK_MEMORY_MANAGED && info.id != id);
    OK(lk_memory_at(NULL, p, &info));
    CHECK(info.kind == LK_MEMORY_PINNED);
    OK(lk_memory_free(gpu, m));
    OK(lk_memory_free(gpu, p));
}

static void live_and_peak(int unused)
{
    (void)unused;
    CHECK(lk_memory_live(gpu) == 0);
    uint64_t a = alloc(1 << 20, LK_MEMORY_DEVICE), b = alloc(1 << 20, LK_MEMORY_DEVICE);
    uint64_t both = lk_memory_live(gpu);
    CHECK(both >= 2 << 20);
    OK(lk_memory_free(gpu, a));
    CHECK(lk_memory_live(gpu) < both && lk_memory_peak(gpu) >= both);
    OK(lk_memory_free(gpu, b));
}

/* An empty array of a framework: it has an address, and nothing to read or write there. */
static void empty(int kind)
{
    uint64_t at = alloc(0, (lk_memory_kind)kind);
    CHECK(at);
    OK(LAUNCH(job("increment"), 32, 32, B(at), I(0)));
    OK(lk_memory_free(gpu, at));
}

static void used_again(int unused)
{
    (void)unused;
    for (int i = 0; i < 50; i++) {
        uint64_t a = alloc(10000, LK_MEMORY_DEVICE);
        OK(lk_memory_fill(gpu, a, i, 10000));
        OK(lk_memory_free(gpu, a));
    }
    CHECK(lk_memory_peak(gpu) < 500000);
}

/* ---- over time ---- */

static void usage_by_kind(int unused)
{
    lk_memory_use u = { .size = sizeof u };
    uint64_t d = alloc(1000, LK_MEMORY_DEVICE), p = alloc(200, LK_MEMORY_PINNED), m = alloc(30, LK_MEMORY_MANAGED);
    (void)unused;
    OK(lk_memory_usage(gpu, &u));
    CHECK(u.device == 1000 && u.pinned == 200 && u.managed == 30 && u.used == 1230 && u.peak >= 1230);
    OK(lk_memory_free(gpu, d));
    OK(lk_memory_free(gpu, p));
    OK(lk_memory_free(gpu, m));
    OK(lk_memory_usage(gpu, &u));
    CHECK(u.used == 0 && u.peak >= 1230);
}

static void snapshots(int unused)
{
    lk_memory_site before[8], after[8], more[8];
    uint64_t a[6];
    (void)unused;
    lk_thread_site("load at model.c:10");
    a[0] = alloc(1 << 16, LK_MEMORY_DEVICE);
    uint32_t n = lk_memory_snapshot(gpu, before, 8);
    CHECK(n == 1 && !strcmp(before[0].site, "load at model.c:10") && before[0].bytes == 1 << 16 &&
          before[0].count == 1);
    lk_thread_site("step at train.c:77");
    for (int i = 1; i < 6; i++) a[i] = alloc(100, LK_MEMORY_DEVICE);
    uint32_t m = lk_memory_snapshot(gpu, after, 8), k = lk_memory_growth(before, n, after, m, more, 8);
    CHECK(m == 2 && k == 1 && !strcmp(more[0].site, "step at train.c:77") && more[0].bytes == 500 &&
          more[0].count == 5);
    CHECK(lk_memory_snapshot(gpu, NULL, 0) == 2);
    for (int i = 0; i < 6; i++) OK(lk_memory_free(gpu, a[i]));
    lk_thread_site(NULL);
    CHECK(lk_memory_snapshot(gpu, after, 8) == 0);
}

static void iterations(int leaks)
{
    uint64_t kept[8], work;
    char *text = NULL;
    for (int i = 0; i < 8; i++) {
        lk_thread_site("history at train.c:30");
        kept[i] = leaks || !i ? alloc(64, LK_MEMORY_DEVICE) : 0;
        lk_thread_site("work at train.c:31");
        work = alloc(1000, LK_MEMORY_DEVICE);
        OK(lk_memory_free(gpu, work));
        lk_text_free(text);
        OK(lk_memory_iteration(gpu, &text));
        CHECK(i >= 4 || !text);
    }
    CHECK(leaks ? text && strstr(text,
                                 "history at train.c:30 holds 512 bytes in 8 allocations after 8 iterations: 64 bytes")
                : !text);
    CHECK(!text || !strstr(text, "work at"));
    lk_text_free(text);
    for (int i = 0; i < 8; i++)
        if (kept[i]) OK(lk_memory_free(gpu, kept[i]));
    lk_thread_site(NULL);
}

static void spans(int kind)
{
    uint64_t at = alloc(400, (lk_memory_kind)kind);
    lk_stream *s = stream_of(0);
    void *p = NULL;
    OK(lk_memory_span(gpu, at, 400, LK_SPAN_REFUSE, &p)); /* nothing runs */
    if (CHECK(p)) memset(p, 0, 400);
    OK(LAUNCH_IN(s, job("increment"), 100, 32, B(at), I(100)));
    OK(lk_memory_span(gpu, at, 400, LK_SPAN_WAIT, &p));
    CHECK(p && ((int32_t *)p)[99] == 1);
    CHECK(lk_memory_span(gpu, at, 401, LK_SPAN_WAIT, &p) == LK_BAD_INPUT && !p);
    OK(lk_memory_free(gpu, at));
}

/* Work that waits for the host keeps the span back, until it is done. */
static void span_refused(int unused)
{
    uint64_t at = alloc(400, LK_MEMORY_MANAGED), zero = 0, flag = buffer(8, &zero);
    lk_stream *s = stream_of(LK_STREAM_NON_BLOCKING), *other = stream_of(LK_STREAM_NON_BLOCKING);
    void *p = NULL;
    (void)unused;
    OK(lk_stream_wait_value(s, flag, 32, 1, LK_COMPARE_GEQ));
    ANSWERS(lk_memory_span(gpu, at, 400, LK_SPAN_REFUSE, &p), LK_NOT_READY, "in flight");
    CHECK(!p);
    OK(lk_stream_write_value(other, flag, 32, 1));
    OK(lk_stream_synchronise(s));
    OK(lk_stream_synchronise(other));
    OK(lk_memory_span(gpu, at, 400, LK_SPAN_REFUSE, &p));
    CHECK(p);
    OK(lk_memory_free(gpu, at));
}

static void span_of_device(int unused)
{
    void *p = NULL;
    (void)unused;
    REFUSED(lk_memory_span(gpu, buffer(16, NULL), 16, LK_SPAN_WAIT, &p), "no pointer");
    REFUSED(lk_memory_span(gpu, buffer(16, NULL), 16, (lk_span)7, &p), "lk_span");
}

const struct test memory_tests[] = { { "managed", shared_with_host, LK_MEMORY_MANAGED },
                                     { "pinned", shared_with_host, LK_MEMORY_PINNED },
                                     { "managed_in_stream", shared_in_stream, LK_MEMORY_MANAGED },
                                     { "pinned_in_stream", shared_in_stream, LK_MEMORY_PINNED },
                                     { "managed_by_copies", managed_reads_and_writes, 0 },
                                     { "registered", registered, 0 },
                                     { "copy_1", copied, 1 },
                                     { "copy_4097", copied, 4097 },
                                     { "copy_1000000", copied, 1000000 },
                                     { "copy_rows", part_copied, 1 },
                                     { "copy_slices", part_copied, 3 },
                                     { "fill_8", filled, 1 },
                                     { "fill_16", filled, 2 },
                                     { "fill_32", filled, 4 },
                                     { "fill_rows", filled_rows, 0 },
                                     { "in_stream", in_streams, 0 },
                                     { "in_pool", in_streams, 1 },
                                     { "what_is_where", what_is_where, 0 },
                                     { "live_and_peak", live_and_peak, 0 },
                                     { "used_again", used_again, 0 },
                                     { "usage_by_kind", usage_by_kind, 0 },
                                     { "snapshots", snapshots, 0 },
                                     { "iterations", iterations, 0 },
                                     { "iterations_leak", iterations, 1 },
                                     { "span_managed", spans, LK_MEMORY_MANAGED },
                                     { "span_pinned", spans, LK_MEMORY_PINNED },
                                     { "span_refused", span_refused, 0 },
                                     { "span_of_device", span_of_device, 0 },
                                     { "empty", empty, LK_MEMORY_DEVICE },
                                     { "empty_managed", empty, LK_MEMORY_MANAGED },
                                     { 0 } };
