/* overhead: what a launch costs apart from the kernel, through the public interface.
 *
 *     overhead RESIDENT.ptx
 *
 * An empty kernel on one thread, many times: launch and return. A grid of a million empty CTAs: time and memory. A
 * cooperative grid of 8,448 warps (all an H200 holds) with 64 live registers each: memory. Every figure of memory is
 * the peak of a process of its own. Exit 1 when something ran wrong or a target is missed. */
#include "lockstep.h"
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LAUNCHES = 20000, WARPS = 8448, BLOCK = 256, GRID = WARPS * 32 / BLOCK, INPUTS = 1024 };

static lk_gpu *gpu;
static lk_module *module;

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void check(lk_status s, const char *what)
{
    if (s == LK_OK) return;
    fprintf(stderr, "overhead: %s: %s\n", what, lk_gpu_error(gpu));
    char *text = gpu ? lk_report_text(gpu, 0) : NULL;
    fprintf(stderr, "%s", text ? text : "");
    exit(2);
}

static lk_kernel *open_kernel(const char *path, const char *name)
{
    lk_options o = { .size = sizeof o, .threads = 1 };
    check(lk_gpu_create(&o, &gpu), "create");
    check(lk_module_load_file(gpu, path, &module), path);
    lk_kernel *k = lk_module_kernel(module, name);
    check(k ? LK_OK : LK_BAD_INPUT, name);
    return k;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void empty_launches(const char *path)
{
    static double t[LAUNCHES];
    lk_kernel *k = open_kernel(path, "empty");
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 1 } };
    for (int i = -100; i < LAUNCHES; i++) {
        double begin = now_us();
        check(lk_kernel_launch(k, &l, NULL), "empty");
        if (i >= 0) t[i] = now_us() - begin;
    }
    qsort(t, LAUNCHES, sizeof *t, ascending);
    double median = t[LAUNCHES / 2];
    printf("empty kernel, 1 thread: launch + return median %.2f us, min %.2f, p99 %.2f (%d launches; target < 5: %s)\n",
           median, t[0], t[LAUNCHES * 99 / 100], LAUNCHES, median < 5 ? "met" : "MISSED");
    exit(median < 5 ? 0 : 1);
}

static void million(const char *path)
{
    lk_kernel *k = open_kernel(path, "empty");
    lk_launch l = { .size = sizeof l, .grid = { 1000000 }, .block = { 32 } };
    lk_stats stats = { 0 };
    double begin = now_us();
    check(lk_kernel_launch(k, &l, &stats), "a million CTAs");
    printf("a million empty CTAs of 32: %.1f ms, one worker", (now_us() - begin) / 1e3);
    exit(stats.ctas == 1000000 ? 0 : 2);
}

static void resident(const char *path)
{
    lk_kernel *k = open_kernel(path, "resident");
    uint64_t count, in, out;
    static int32_t x[INPUTS], y[GRID * BLOCK];
    for (int i = 0; i < INPUTS; i++) x[i] = i * 7 % 101;
    check(lk_memory_alloc(gpu, 4, LK_MEMORY_DEVICE, "count", &count), "count");
    check(lk_memory_alloc(gpu, sizeof x, LK_MEMORY_DEVICE, "in", &in), "in");
    check(lk_memory_alloc(gpu, sizeof y, LK_MEMORY_DEVICE, "out", &out), "out");
    check(lk_memory_fill(gpu, count, 0, 4), "count");
    check(lk_memory_write(gpu, in, x, sizeof x), "in");
    const void *args[] = { &count, &in, &out };
    lk_launch l = {
        .size = sizeof l, .grid = { GRID }, .block = { BLOCK }, .cooperative = 1, .args = args, .arg_count = 3
    };
    double begin = now_us();
    check(lk_kernel_launch(k, &l, NULL), "resident");
    double took = (now_us() - begin) / 1e3;
    check(lk_memory_read(gpu, out, y, sizeof y), "out");
    for (int i = 0; i < GRID * BLOCK; i++) {
        uint32_t s = 0;
        for (int j = 0; j < 64; j++) s = s * 3 + (uint32_t)x[(i + j) & (INPUTS - 1)];
        if ((uint32_t)y[i] != s) {
            fprintf(stderr, "overhead: resident: out[%d] is %d, should be %d\n", i, y[i], (int32_t)s);
            exit(2);
        }
    }
    printf("%d resident warps, 64 live registers: %.1f ms, one worker", WARPS, took);
    exit(0);
}

/* Runs `body` in a process of its own and prints its peak memory behind its line; the base is what a small one takes.
 */
static int measured(void (*body)(const char *), const char *path, double limit_mb)
{
    int status = 0;
    struct rusage use;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        body(path);
        exit(0);
    }
    if (pid < 0 || wait4(pid, &status, 0, &use) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) == 2) {
        puts("overhead: failed");
        return 1;
    }
    double mb = (double)use.ru_maxrss / 1024;
    if (limit_mb > 0) printf(", peak %.0f MB (target < %.0f: %s)\n", mb, limit_mb, mb < limit_mb ? "met" : "MISSED");
    fflush(stdout);
    return WEXITSTATUS(status) != 0 || (limit_mb > 0 && mb >= limit_mb);
}

int main(int argc, char **argv)
{
    if (argc != 2) return fputs("usage: overhead RESIDENT.ptx\n", stderr), 2;
    return measured(empty_launches, argv[1], 0) | measured(million, argv[1], 100) | measured(resident, argv[1], 1500);
}
