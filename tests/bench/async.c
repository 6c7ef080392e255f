/* async: what asynchronous launches cost through the public interface, with all checks on.
 *
 *     async RESIDENT.ptx VECADD.ptx
 *
 * The call that enqueues an empty kernel, behind others and with nothing in flight. Enqueuing it and waiting for it.
 * A launch of a chain over two streams, with its event. 100,000 launches in flight:
 * memory and time of each. Two equal grids in two streams on two workers against one after the other. A synchronous
 * launch before the first stream and beside streams. A small launch on large buffers. Medians; exit 1 when a target is
 * missed. */
#include "figure.h"
#include "lockstep.h"
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 10000, FLIGHT = 100000, GRIDS = 15, ELEMENTS = 1 << 20 };
static double t[FLIGHT];
static lk_gpu *gpu;
static lk_module *module, *vectors;

static double now_us(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e6 + (double)at.tv_nsec / 1e3;
}

static void check(lk_status s, const char *what)
{
    if (s == LK_OK) return;
    fprintf(stderr, "async: %s: %s\n", what, lk_gpu_error(gpu));
    char *text = gpu ? lk_report_text(gpu, 0) : NULL;
    fprintf(stderr, "%s", text ? text : "");
    exit(2);
}

static lk_kernel *open_gpu(const char *path, uint32_t workers)
{
    lk_options o = { .size = sizeof o, .threads = workers };
    check(lk_gpu_create(&o, &gpu), "create");
    check(lk_module_load_file(gpu, path, &module), path);
    lk_kernel *k = lk_module_kernel(module, "empty");
    check(k ? LK_OK : LK_BAD_INPUT, "empty");
    return k;
}

static lk_stream *new_stream(void)
{
    lk_stream *s;
    check(lk_stream_create(gpu, LK_STREAM_NON_BLOCKING, 0, &s), "stream");
    return s;
}

static void synchronous(const char *path)
{
    lk_kernel *k = open_gpu(path, 1);
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 1 } };
    for (int streams = 0; streams < 2; streams++) {
        if (streams) new_stream();
        for (int i = -100; i < ROUNDS; i++) {
            double begin = now_us();
            check(lk_kernel_launch(k, &l, NULL), "empty");
            if (i >= 0) t[i] = now_us() - begin;
        }
        figure(streams ? "empty synchronous launch, a stream exists" : "empty synchronous launch, no stream", t, ROUNDS,
               streams ? 0 : 1.3);
    }
    lk_gpu_destroy(gpu);
}

static void one_stream(const char *path)
{
    lk_kernel *k = open_gpu(path, 2);
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 1 }, .stream = new_stream() };
    for (int i = -100; i < ROUNDS; i++) {
        double begin = now_us();
        check(lk_kernel_launch(k, &l, NULL), "empty");
        if (i >= 0) t[i] = now_us() - begin;
        if (i % 100 == 0) check(lk_stream_synchronise(l.stream), "synchronise");
    }
    figure("asynchronous issue, up to 100 in flight", t, ROUNDS, 2);
    for (int i = -100; i < ROUNDS; i++) {
        double begin = now_us();
        check(lk_kernel_launch(k, &l, NULL), "empty");
        check(lk_stream_synchronise(l.stream), "synchronise");
        if (i >= 0) t[i] = now_us() - begin;
    }
    figure("launch + synchronise", t, ROUNDS, 10);
    lk_gpu_destroy(gpu);
}

/* A chain of launches in one stream, and one that alternates between two streams, each launch after the one before by
 * an event. The time of a launch of the second chain holds the event's record and wait, so it is an upper bound for
 * them; the difference of the two is none, since launches of two streams are also enqueued and run differently. */
static void two_streams(const char *path)
{
    enum { CHAIN = 200 };
    lk_kernel *k = open_gpu(path, 2);
    lk_stream *s[2] = { new_stream(), new_stream() };
    lk_event *e[2];
    for (int i = 0; i < 2; i++) check(lk_event_create(gpu, 0, &e[i]), "event");
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 1 } };
    for (int events = 0; events < 2; events++) {
        for (int i = 0; i < ROUNDS / CHAIN; i++) {
            double begin = now_us();
            for (int j = 0; j < CHAIN; j++) {
                int at = events ? j & 1 : 0;
                l.stream = s[at];
                if (events && j) check(lk_stream_wait(s[at], e[at ^ 1]), "wait");
                check(lk_kernel_launch(k, &l, NULL), "empty");
                if (events) check(lk_event_record(e[at], s[at]), "record");
            }
            check(lk_gpu_synchronise(gpu), "synchronise");
            t[i] = (now_us() - begin) / CHAIN;
        }
        figure(events ? "a launch and its event, in a chain over two streams" : "a launch, in a chain of one stream", t,
               ROUNDS / CHAIN, events ? 5 : 0);
    }
    lk_gpu_destroy(gpu);
}

static void wait_for_gate(void *self)
{
    struct timespec pause = { 0, 200000 };
    while (!__atomic_load_n((int *)self, __ATOMIC_ACQUIRE)) nanosleep(&pause, NULL);
}

static void in_flight(const char *path)
{
    int open = 0;
    lk_kernel *k = open_gpu(path, 2);
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 1 }, .stream = new_stream() };
    check(lk_host_call(l.stream, wait_for_gate, &open), "host call");
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (int i = 0; i < FLIGHT; i++) {
        double begin = now_us();
        check(lk_kernel_launch(k, &l, NULL), "empty");
        t[i] = now_us() - begin;
    }
    size_t bytes = mallinfo2().uordblks + mallinfo2().hblkhd - before;
    figure("asynchronous issue, 100,000 in flight", t, FLIGHT, 2);
    double begin = now_us(), each = (double)bytes / FLIGHT;
    __atomic_store_n(&open, 1, __ATOMIC_RELEASE);
    check(lk_gpu_synchronise(gpu), "synchronise");
    printf("  %.0f bytes each (target 1000: %s); run in %.1f ms\n", each, each < 1000 ? "met" : "MISSED",
           (now_us() - begin) / 1e3);
    missed |= each >= 1000;
    lk_gpu_destroy(gpu);
}

static double two_grids(lk_kernel *k, lk_stream *const s[2], const void *const *args[2], int together)
{
    double begin = now_us();
    for (int i = 0; i < 2; i++) {
        lk_launch l = { .size = sizeof l,
                        .grid = { ELEMENTS / 256 },
                        .block = { 256 },
                        .args = args[i],
                        .arg_count = 4,
                        .stream = s[together ? i : 0] };
        check(lk_kernel_launch(k, &l, NULL), "vecadd");
    }
    check(lk_gpu_synchronise(gpu), "synchronise");
    return now_us() - begin;
}

static void side_by_side(const char *path, const char *vecadd)
{
    static double one[GRIDS], both[GRIDS];
    uint64_t at[6];
    int32_t n = ELEMENTS;
    open_gpu(path, 2);
    check(lk_module_load_file(gpu, vecadd, &vectors), vecadd);
    lk_kernel *k = lk_module_kernel(vectors, NULL);
    check(k ? LK_OK : LK_BAD_INPUT, "vecadd");
    for (int i = 0; i < 6; i++) {
        check(lk_memory_alloc(gpu, ELEMENTS * 4, LK_MEMORY_DEVICE, "x", &at[i]), "memory");
        check(lk_memory_fill(gpu, at[i], 0, ELEMENTS * 4), "fill");
    }
    const void *a[] = { &at[0], &at[1], &at[2], &n }, *b[] = { &at[3], &at[4], &at[5], &n };
    const void *const *args[2] = { a, b };
    lk_stream *s[2] = { new_stream(), new_stream() };
    for (int i = 0; i < GRIDS; i++) {
        one[i] = two_grids(k, s, args, 0);
        both[i] = two_grids(k, s, args, 1);
    }
    qsort(one, GRIDS, sizeof *one, ascending);
    qsort(both, GRIDS, sizeof *both, ascending);
    double ratio = both[GRIDS / 2] / one[GRIDS / 2];
    printf("two vector adds of 1M, two workers: %.2f ms in one stream, %.2f ms in two: %.3f (target 1.1: %s)\n",
           one[GRIDS / 2] / 1e3, both[GRIDS / 2] / 1e3, ratio, ratio <= 1.1 ? "met" : "MISSED");
    missed |= ratio > 1.1;
    lk_gpu_destroy(gpu);
}

/* A launch of one CTA, with another stream about, on buffers of 4 KB and of 256 MB: what it used is read out of the
 * cells of the race check, those that it touched. */
static void large_buffers(const char *path, const char *vecadd)
{
    enum { LAUNCHES = 300, LARGE = 256 << 20 };
    int32_t n = 256;
    open_gpu(path, 2);
    check(lk_module_load_file(gpu, vecadd, &vectors), vecadd);
    lk_kernel *k = lk_module_kernel(vectors, NULL);
    lk_stream *s = new_stream();
    new_stream();
    for (int large = 0; large < 2; large++) {
        uint64_t at[3];
        for (int i = 0; i < 3; i++) {
            check(lk_memory_alloc(gpu, large ? LARGE : 4096, LK_MEMORY_DEVICE, "x", &at[i]), "memory");
            check(lk_memory_fill(gpu, at[i], 0, 4096), "fill");
        }
        const void *args[] = { &at[0], &at[1], &at[2], &n };
        lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 256 }, .args = args, .arg_count = 4, .stream = s };
        for (int i = 0; i < LAUNCHES; i++) {
            double begin = now_us();
            check(lk_kernel_launch(k, &l, NULL), "vecadd");
            check(lk_stream_synchronise(s), "synchronise");
            t[i] = now_us() - begin;
        }
        figure(large ? "256 threads on three buffers of 256 MB" : "256 threads on three buffers of 4 KB", t, LAUNCHES,
               large ? 500 : 0);
    }
    lk_gpu_destroy(gpu);
}

int main(int argc, char **argv)
{
    if (argc != 3) return fputs("usage: async RESIDENT.ptx VECADD.ptx\n", stderr), 2;
    synchronous(argv[1]);
    one_stream(argv[1]);
    two_streams(argv[1]);
    in_flight(argv[1]);
    side_by_side(argv[1], argv[2]);
    large_buffers(argv[1], argv[2]);
    return missed;
}
