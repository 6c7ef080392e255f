// regen: no
// modern_grids: the kernels of tests/cases/dynamic that launch kernels (dynamic parallelism), from a program: what they leave in memory. tests/facts/modern.sh runs it on a GPU and here.
#include "programs.h"
#include "../dynamic/grids.cu"

static void show(const char *what, const int *p, int n)
{
    TRY(cudaDeviceSynchronize());
    printf("%s:", what);
    for (int k = 0; k < n; k++) printf(" %d", p[k]);
    printf("\n");
}
static int *ints(int with)
{
    int *p;
    TRY(cudaMallocManaged(&p, 64 * sizeof *p));
    for (int k = 0; k < 64; k++) p[k] = with;
    return p;
}
static int orders(void)
{
    int *p = ints(0), *q = ints(0);
    fills<<<1, 64>>>(p), show("fills", p, 64);
    p = ints(0), then<<<1, 32>>>(p, q), show("then", q, 64);
    p = ints(0), streams<<<1, 1>>>(p), show("streams", p, 64);
    p = ints(-1), nest<<<1, 1>>>(p, 20), show("nest", p, 64);
    p = ints(0), loop<<<1, 1>>>(p, 100), show("loop", p, 1);
    return 0;
}
static int refusals(void)
{
    int *p = ints(0);
    refused<<<1, 1>>>(p), show("refused", p, 5);
    return 0;
}
// More levels than the programming guide allows: an H200 runs them all.
static int depth(void)
{
    int *p = ints(0);
    nest_deep<<<1, 1>>>(p, 30), show("nest_deep", p, 2);
    return 0;
}
PROGRAMS({ "orders_ok", orders }, { "refusals_ok", refusals }, { "depth_ask", depth })
