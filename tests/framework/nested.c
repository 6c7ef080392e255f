/* Kernels that launch kernels. */
#include "suite.h"

static void children(int n)
{
    int32_t x[32] = { 0 }, want[32];
    uint64_t d = buffer(128, x);
    lk_kernel *k = kernel_of("nested", "parent");
    if (!k) return;
    OK(LAUNCH(k, 1, 1, B(d), I(n)));
    for (int i = 0; i < 32; i++) want[i] = n * i + n * (n - 1) / 2;
    same(d, want, 128);
}

static void deep(int depth)
{
    int32_t x = 0;
    uint64_t d = buffer(4, &x);
    lk_kernel *k = kernel_of("nested", "grand");
    if (!k) return;
    OK(LAUNCH(k, 1, 1, B(d), I(depth)));
    same(d, &(int32_t){ depth }, 4);
}

static void by_every_thread(int unused)
{
    int32_t x[32 * 8] = { 0 };
    uint64_t d = buffer(sizeof x, x);
    lk_kernel *k = kernel_of("nested", "many");
    (void)unused;
    if (!k) return;
    OK(LAUNCH(k, 8, 8, B(d)));
    for (int t = 0; t < 8; t++)
        for (int i = 0; i < 32; i++) x[32 * t + i] = t + i;
    same(d, x, sizeof x);
}

static void in_a_stream(int unused)
{
    int32_t x[32] = { 0 };
    uint64_t d = buffer(128, x);
    lk_kernel *k = kernel_of("nested", "parent"), *child = kernel_of("nested", "child");
    lk_stream *s = stream_of(0);
    (void)unused;
    if (!k || !child) return;
    OK(LAUNCH_IN(s, k, 1, 1, B(d), I(1)));
    OK(LAUNCH_IN(s, child, 32, 32, B(d), I(100))); /* behind the children of the launch before it */
    OK(lk_stream_synchronise(s));
    for (int i = 0; i < 32; i++) x[i] = 2 * i + 100;
    same(d, x, 128);
}

const struct test nested_tests[] = { { "children_1", children, 1 },
                                     { "children_3", children, 3 },
                                     { "depth_2", deep, 2 },
                                     { "depth_5", deep, 5 },
                                     { "by_every_thread", by_every_thread, 0 },
                                     { "in_a_stream", in_a_stream, 0 },
                                     { 0 } };
