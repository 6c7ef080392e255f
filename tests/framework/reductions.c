/* Reductions, scans, histograms, sorting: many threads to one result. */
#include "suite.h"

static int32_t *input(int n, uint32_t seed)
{
    int32_t *x = room(4u * (unsigned)n);
    numbers(x, n, seed);
    return x;
}

static void sum_atomic(int n)
{
    int32_t *x = input(n, 1), sum = 0, zero = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    uint64_t d = buffer(4u * (unsigned)n, x), out = buffer(4, &zero);
    OK(LAUNCH(job("sum_atomic"), (uint32_t)n, 128, B(d), B(out), I(n)));
    same(out, &sum, 4);
}

/* A sum for each block, then a launch over these. */
static void sum_in_two_steps(int n)
{
    int32_t *x = input(n, 2), sum = 0, blocks = (n + 255) / 256;
    for (int i = 0; i < n; i++) sum += x[i];
    uint64_t d = buffer(4u * (unsigned)n, x), part = buffer(4u * (unsigned)blocks, NULL), out = buffer(4, NULL);
    OK(LAUNCH(job("sum_shared"), (uint32_t)n, 256, B(d), B(part), I(n)));
    OK(LAUNCH(job("sum_shared"), (uint32_t)blocks, 256, B(part), B(out), I(blocks)));
    same(out, &sum, 4);
}

static void sum_shuffle(int n)
{
    float *x = room(4u * (unsigned)n), sum = 0, zero = 0;
    floats(x, n, 3);
    for (int i = 0; i < n; i++) sum += x[i];
    uint64_t d = buffer(4u * (unsigned)n, x), out = buffer(4, &zero);
    OK(LAUNCH(job("sum_shuffle"), (uint32_t)n, 64, B(d), B(out), I(n)));
    same(out, &sum, 4);
}

static void sum_double(int unused)
{
    double x[1000], sum = 0, zero = 0;
    (void)unused;
    for (int i = 0; i < 1000; i++) sum += x[i] = i * 0.5;
    uint64_t d = buffer(sizeof x, x), out = buffer(8, &zero);
    OK(LAUNCH(job("sum_double"), 1000, 128, B(d), B(out), I(1000)));
    same(out, &sum, 8);
}

static void extremes(int n)
{
    int32_t *x = input(n, 4), least = INT32_MAX, most = INT32_MIN;
    uint64_t d = buffer(4u * (unsigned)n, x), dl = buffer(4, &least), dm = buffer(4, &most);
    for (int i = 0; i < n; i++) {
        if (x[i] < least) least = x[i];
        if (x[i] > most) most = x[i];
    }
    OK(LAUNCH(job("extremes"), (uint32_t)n, 96, B(d), B(dl), B(dm), I(n)));
    same(dl, &least, 4);
    same(dm, &most, 4);
}

static void count_positive(int n)
{
    int32_t *x = input(n, 5);
    uint32_t count = 0;
    uint64_t d = buffer(4u * (unsigned)n, x), out = buffer(4, &count);
    for (int i = 0; i < n; i++) count += x[i] > 0;
    OK(LAUNCH(job("count_positive"), (uint32_t)n, 64, B(d), B(out), I(n)));
    same(out, &count, 4);
}

static void histogram(int n)
{
    uint8_t *x = room((unsigned)n);
    uint32_t bins[256] = { 0 };
    uint64_t out = buffer(sizeof bins, bins);
    for (int i = 0; i < n; i++) bins[x[i] = (uint8_t)(i * i % 251)]++;
    uint64_t d = buffer((unsigned)n, x);
    OK(LAUNCH(job("histogram"), 512, 128, B(d), B(out), I(n)));
    same(out, bins, sizeof bins);
}

static void scan(int n)
{
    int32_t *x = input(n, 6), *want = room(4u * (unsigned)n), sum = 0;
    for (int i = 0; i < n; i++) want[i] = sum += x[i];
    uint64_t d = buffer(4u * (unsigned)n, x);
    OK(LAUNCH(job("scan"), 256, 256, B(d), I(n)));
    same(d, want, 4u * (unsigned)n);
}

static int by_value(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void sort(int n)
{
    int32_t *x = input(n, 7);
    uint64_t d = buffer(4u * (unsigned)n, x);
    OK(LAUNCH(job("sort"), (uint32_t)n, (uint32_t)n, B(d)));
    qsort(x, (size_t)n, 4, by_value);
    same(d, x, 4u * (unsigned)n);
}

static void cooperative(int n)
{
    int32_t *x = input(n, 8), sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    uint64_t d = buffer(4u * (unsigned)n, x), part = buffer(4 * 4 * 64, NULL), out = buffer(4, NULL);
    lk_value v[] = { B(d), B(part), B(out), I(n) };
    lk_launch l = { .size = sizeof l, .grid = { 4 }, .block = { 64 }, .cooperative = 1, .values = v, .arg_count = 4 };
    OK(lk_kernel_launch(job("grid_sum"), &l, NULL));
    same(out, &sum, 4);
}

const struct test reduction_tests[] = { { "sum_atomic_1", sum_atomic, 1 },
                                        { "sum_atomic_1000", sum_atomic, 1000 },
                                        { "sum_two_steps_300", sum_in_two_steps, 300 },
                                        { "sum_two_steps_10000", sum_in_two_steps, 10000 },
                                        { "sum_shuffle_64", sum_shuffle, 64 },
                                        { "sum_shuffle_1001", sum_shuffle, 1001 },
                                        { "sum_double", sum_double, 0 },
                                        { "extremes", extremes, 1234 },
                                        { "count_positive", count_positive, 999 },
                                        { "histogram", histogram, 5000 },
                                        { "scan_100", scan, 100 },
                                        { "scan_256", scan, 256 },
                                        { "sort_64", sort, 64 },
                                        { "sort_512", sort, 512 },
                                        { "cooperative", cooperative, 3000 },
                                        { 0 } };
