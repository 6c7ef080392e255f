/* The whole machine through the public interface: what the command line cannot say. Pointers inside structures,
 * memory that was freed, determinism under a seed, the same findings on any number of workers, arguments and limits,
 * statistics. */
#include "lockstep.h"
#include "unit.h"
#include <stdlib.h>

static lk_gpu *gpu;

static lk_kernel *open_kernel(uint32_t threads, uint32_t seeded, const char *file, const char *name)
{
    char path[4096];
    lk_options o = { .size = sizeof o, .threads = threads, .seeded = seeded, .seed = seeded };
    lk_module *m = NULL;
    UNIT_EQ(lk_gpu_create(&o, &gpu), LK_OK);
    snprintf(path, sizeof path, "%s/tests/cases/%s", getenv("TOP") ? getenv("TOP") : ".", file);
    if (!UNIT_EQ(lk_module_load_file(gpu, path, &m), LK_OK)) fprintf(stderr, "  %s\n", lk_gpu_error(gpu)), exit(1);
    lk_kernel *k = lk_module_kernel(m, name);
    if (!UNIT(k)) exit(1);
    return k;
}

static uint64_t buffer(const char *name, uint32_t floats)
{
    uint64_t at = 0;
    char type[32];
    snprintf(type, sizeof type, "f32[%u]", floats);
    UNIT_EQ(lk_memory_alloc(gpu, 4ull * floats, LK_MEMORY_DEVICE, name, &at), LK_OK);
    UNIT_EQ(lk_memory_describe(gpu, at, name, type, 4), LK_OK);
    UNIT_EQ(lk_memory_fill(gpu, at, 0, 4ull * floats), LK_OK);
    return at;
}

/* One launch of `k`; its report goes to *text when that is given (release with free). */
static lk_status launch(lk_kernel *k, uint32_t grid, uint32_t block, uint32_t count, const void *const *args,
                        char **text)
{
    lk_launch l = { .size = sizeof l, .grid = { grid }, .block = { block }, .args = args, .arg_count = count };
    lk_stats stats = { 0 };
    lk_report_clear(gpu);
    lk_status s = lk_kernel_launch(k, &l, &stats);
    if (s == LK_OK) UNIT_EQ(stats.ctas, grid);
    if (text) {
        char *t = lk_report_text(gpu, 0);
        *text = t ? strdup(t) : NULL;
        lk_text_free(t);
    }
    return s;
}

struct pair {
    uint64_t x;
    int32_t n;
    uint64_t y;
};

static void struct_pointers(void)
{
    lk_kernel *k = open_kernel(1, 1, "bounds/struct_pointer.ptx", "struct_pointer");
    struct pair p = { .x = buffer("x", 100), .n = 100, .y = buffer("y", 90) };
    const void *args[] = { &p };
    char *text;
    UNIT_EQ(launch(k, 1, 128, 1, args, &text), LK_FINDINGS);
    UNIT_EQ(lk_report_errors(gpu), 1);
    UNIT_HAS(text, "y");
    UNIT_HAS(text, "f32[90]");
    UNIT(text && !strstr(text, "f32[100]"));
    free(text);
    p.n = 90;
    UNIT_EQ(launch(k, 1, 128, 1, args, NULL), LK_OK);
    UNIT_EQ(lk_report_errors(gpu), 0);
    lk_gpu_destroy(gpu);
}

static void freed_memory(void)
{
    lk_kernel *k = open_kernel(1, 1, "bounds/struct_pointer.ptx", "struct_pointer");
    struct pair p = { .x = buffer("x", 64), .n = 64, .y = buffer("y", 64) };
    const void *args[] = { &p };
    char *text;
    UNIT_EQ(launch(k, 1, 64, 1, args, NULL), LK_OK);
    UNIT_EQ(lk_memory_free(gpu, p.y), LK_OK);
    UNIT_EQ(launch(k, 1, 64, 1, args, &text), LK_FINDINGS);
    UNIT_HAS(text, "freed");
    free(text);
    /* the place is not given out again at once */
    uint64_t z = buffer("z", 64);
    UNIT(z != p.y);
    UNIT_EQ(launch(k, 1, 64, 1, args, NULL), LK_FINDINGS);
    lk_report_clear(gpu);
    lk_memory_free(gpu, p.y);
    UNIT_EQ(lk_report_errors(gpu), 1);
    lk_gpu_destroy(gpu);
}

/* The report of a run of `kernel` that takes an array of 5000 zeros three times over. */
static char *report_of(uint32_t threads, uint32_t seeded, const char *file, const char *kernel, uint32_t grid,
                       uint32_t block)
{
    lk_kernel *k = open_kernel(threads, seeded, file, kernel);
    uint64_t a = buffer("a", 5000), b = buffer("b", 5000), c = buffer("c", 5000);
    const void *args[] = { &a, &b, &c };
    char *text;
    UNIT_EQ(launch(k, grid, block, lk_kernel_param_count(k), args, &text), LK_FINDINGS);
    lk_gpu_destroy(gpu);
    return text;
}

static void same_seed_same_report(void)
{
    for (uint32_t seed = 1; seed <= 3; seed++) {
        char *one = report_of(0, seed, "deadlock/lock_order.ptx", "ctas_bad", 2, 32);
        char *two = report_of(0, seed, "deadlock/lock_order.ptx", "ctas_bad", 2, 32);
        UNIT_EQ_STR(one, two);
        UNIT_HAS(one, "deadlock");
        free(one), free(two);
    }
}

static void any_workers_same_findings(void)
{
    uint32_t errors[3];
    static const uint32_t workers[] = { 1, 2, 4 };
    for (int i = 0; i < 3; i++) {
        lk_kernel *k = open_kernel(workers[i], 0, "bounds/guard.ptx", "guard_bad");
        uint64_t x = buffer("x", 10000), y = buffer("y", 9000);
        int32_t n = 10000;
        const void *args[] = { &x, &y, &n };
        char *text;
        UNIT_EQ(launch(k, 40, 256, 3, args, &text), LK_FINDINGS);
        UNIT_HAS(text, "f32[9000]");
        UNIT_HAS(text, "f32[10000]");
        errors[i] = lk_report_errors(gpu);
        free(text);
        lk_gpu_destroy(gpu);
    }
    UNIT_EQ(errors[0], errors[1]);
    UNIT_EQ(errors[0], errors[2]);
    UNIT_EQ(errors[0], 2);
}

static void arguments_and_limits(void)
{
    lk_kernel *k = open_kernel(1, 1, "bounds/guard.ptx", "guard_ok");
    uint64_t x = buffer("x", 256), y = buffer("y", 256);
    int32_t n = 256;
    const void *args[] = { &x, &y, &n };
    UNIT_EQ(launch(k, 1, 256, 2, args, NULL), LK_BAD_INPUT);
    UNIT(strlen(lk_gpu_error(gpu)) > 0);
    uint32_t bytes[] = { 8, 8, 8 };
    lk_launch l = {
        .size = sizeof l, .grid = { 1 }, .block = { 256 }, .args = args, .arg_bytes = bytes, .arg_count = 3
    };
    UNIT_EQ(lk_kernel_launch(k, &l, NULL), LK_BAD_INPUT);
    bytes[2] = 4;
    UNIT_EQ(lk_kernel_launch(k, &l, NULL), LK_OK);
    char *text;
    UNIT(launch(k, 1, 2048, 3, args, &text) != LK_OK); /* no block has more than 1024 threads */
    free(text);
    UNIT_EQ(launch(k, 1, 256, 3, args, NULL), LK_OK); /* and all is well again */
    lk_gpu_destroy(gpu);
}

int main(void)
{
    struct_pointers();
    freed_memory();
    same_seed_same_report();
    any_workers_same_findings();
    arguments_and_limits();
    return unit_done();
}
