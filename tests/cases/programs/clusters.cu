// regen: no
// Programs with clusters: a reduction and a histogram through distributed shared memory, their twins with a barrier missing, and what the
// runtime answers to questions about clusters and to launches that cannot be. An H200 prints the same where nothing is found.
#include "programs.h"
#include <cooperative_groups.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

enum { BLOCK = 128, CLUSTER = 4, BLOCKS = 16, N = BLOCK * BLOCKS, BINS = 256 };
enum how { RIGHT, NO_FIRST, NO_MIDDLE, NO_LAST };

// The sum of each cluster: every CTA reduces its part, and the one of rank 0 reads the others' sums.
template <how H> __global__ void reduce(const float *in, float *out)
{
    __shared__ float part[BLOCK];
    cg::cluster_group cl = cg::this_cluster();
    unsigned t = threadIdx.x;
    part[t] = in[blockIdx.x * BLOCK + t];
    __syncthreads();
    for (unsigned w = BLOCK / 2; w; w /= 2) {
        if (t < w) part[t] += part[t + w];
        __syncthreads();
    }
    if (H != NO_MIDDLE) cl.sync();
    if (cl.block_rank() == 0 && t == 0) {
        float sum = 0;
        for (unsigned r = 0; r < cl.num_blocks(); r++) sum += *cl.map_shared_rank(part, r);
        out[blockIdx.x / cl.num_blocks()] = sum;
    }
    if (H != NO_LAST) cl.sync();
}

// A histogram whose bins are spread over the CTAs of a cluster.
template <how H> __global__ void histogram(const unsigned *in, unsigned *bins, int n)
{
    extern __shared__ unsigned mine[];
    cg::cluster_group cl = cg::this_cluster();
    unsigned each = BINS / cl.num_blocks();
    for (unsigned k = threadIdx.x; k < each; k += blockDim.x) mine[k] = 0;
    if (H != NO_FIRST) cl.sync();
    for (int k = cg::this_grid().thread_rank(); k < n; k += cg::this_grid().size()) {
        unsigned b = in[k] % BINS;
        atomicAdd(cl.map_shared_rank(mine, b / each) + b % each, 1);
    }
    cl.sync();
    for (unsigned k = threadIdx.x; k < each; k += blockDim.x) atomicAdd(&bins[cl.block_rank() * each + k], mine[k]);
}

struct launch {
    cudaLaunchConfig_t x = {};
    cudaLaunchAttribute a[4];
    launch(unsigned grid, unsigned block, unsigned cluster, size_t shared = 0)
    {
        x.gridDim = grid;
        x.blockDim = block;
        x.dynamicSmemBytes = shared;
        x.attrs = a;
        if (cluster) {
            a[0].id = cudaLaunchAttributeClusterDimension;
            a[0].val.clusterDim.x = cluster;
            a[0].val.clusterDim.y = a[0].val.clusterDim.z = 1;
            x.numAttrs = 1;
        }
    }
    void and_also(cudaLaunchAttributeID id)
    {
        a[x.numAttrs].id = id;
        a[x.numAttrs].val.cooperative = 1;
        if (id == cudaLaunchAttributeProgrammaticStreamSerialization) a[x.numAttrs].val.programmaticStreamSerializationAllowed = 1;
        x.numAttrs++;
    }
};

template <how H> static int reduce_main()
{
    float *in, *out, h[N], sum[BLOCKS / CLUSTER];
    for (int k = 0; k < N; k++) h[k] = k % 7;
    TRY(cudaMalloc(&in, sizeof h)); TRY(cudaMalloc(&out, sizeof sum));
    TRY(cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice));
    launch l(BLOCKS, BLOCK, CLUSTER);
    TRY(cudaLaunchKernelEx(&l.x, reduce<H>, (const float *)in, out));
    TRY(cudaMemcpy(sum, out, sizeof sum, cudaMemcpyDeviceToHost));
    if (H == RIGHT) printf("%g %g %g %g\n", sum[0], sum[1], sum[2], sum[3]);
    TRY(cudaFree(in)); TRY(cudaFree(out));
    return 0;
}

template <how H> static int histogram_main()
{
    enum { MANY = 5000 };
    unsigned *in, *bins, *h = (unsigned *)malloc(MANY * 4), got[BINS], want[BINS] = {0}, x = 1;
    for (int k = 0; k < MANY; k++) want[(h[k] = x = x * 1664525 + 1013904223) % BINS]++;
    TRY(cudaMalloc(&in, MANY * 4)); TRY(cudaMalloc(&bins, sizeof got));
    TRY(cudaMemcpy(in, h, MANY * 4, cudaMemcpyHostToDevice)); TRY(cudaMemset(bins, 0, sizeof got));
    for (unsigned c : {8u, 2u, 1u}) {
        launch l(8, BLOCK, c, BINS / c * 4);
        TRY(cudaLaunchKernelEx(&l.x, histogram<H>, (const unsigned *)in, bins, (int)MANY));
        if (H != RIGHT) break;
    }
    TRY(cudaMemcpy(got, bins, sizeof got, cudaMemcpyDeviceToHost));
    int same = 1;
    for (int k = 0; k < BINS; k++) same &= got[k] == (H == RIGHT ? 3 : 1) * want[k];
    if (H == RIGHT) printf("%s\n", same ? "as counted by the host" : "WRONG");
    TRY(cudaFree(in)); TRY(cudaFree(bins));
    free(h);
    return 0;
}

__global__ void who(unsigned *out)
{
    unsigned explicitly;
    asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(explicitly));
    cudaGridDependencySynchronize();
    cg::cluster_group cl = cg::this_cluster();
    if (threadIdx.x == 0) out[blockIdx.x] = 1000 * explicitly + 100 * cl.num_blocks() + 10 * cl.block_rank() + cl.block_index().x;
    cl.sync();
}
__global__ void __cluster_dims__(2, 1, 1) pairs(unsigned *out) { out[blockIdx.x] = cg::this_cluster().num_blocks() * 10 + cg::this_cluster().block_rank(); }

static void said(const char *what, cudaError_t e)
{
    cudaGetLastError();
    cudaError_t later = cudaDeviceSynchronize();
    printf("%s: %s%s%s\n", what, cudaGetErrorName(e), later ? ", " : "", later ? cudaGetErrorName(later) : "");
}

static int limits()
{
    unsigned *out;
    TRY(cudaMalloc(&out, 4096));
    auto go = [&](const char *what, void (*f)(unsigned *), unsigned grid, unsigned cluster) {
        launch l(grid, 32, cluster);
        said(what, cudaLaunchKernelEx(&l.x, f, out));
    };
    go("8", who, 16, 8);
    go("16 without leave", who, 16, 16);
    TRY(cudaFuncSetAttribute(who, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    go("16", who, 16, 16);
    go("32", who, 32, 32);
    go("3 of 4", who, 4, 3);
    go("not a multiple", who, 5, 2);
    go("required", pairs, 4, 0);
    go("required and asked", pairs, 4, 2);
    go("required, another asked", pairs, 4, 4);
    go("required, none", pairs, 4, 1);
    go("required, not a multiple", pairs, 3, 0);
    launch l(4, 32, 2);
    l.a[0].val.clusterDim.y = 0;
    said("no y", cudaLaunchKernelEx(&l.x, who, out));
    cudaFuncAttributes a;
    TRY(cudaFuncGetAttributes(&a, pairs));
    printf("pairs: %d %d %d, set %d, any %d\n", a.requiredClusterWidth, a.requiredClusterHeight, a.requiredClusterDepth,
           a.clusterDimMustBeSet, a.nonPortableClusterSizeAllowed);
    TRY(cudaFuncGetAttributes(&a, who));
    printf("who: %d %d %d, set %d, any %d\n", a.requiredClusterWidth, a.requiredClusterHeight, a.requiredClusterDepth, a.clusterDimMustBeSet,
           a.nonPortableClusterSizeAllowed);
    TRY(cudaFree(out));
    return 0;
}

static int occupancy()
{
    for (unsigned block : {32u, 512u, 1024u})
        for (unsigned c : {1u, 2u, 4u, 8u}) {
            int n = -1, most = -1;
            launch l(96, block, c);
            cudaError_t e = cudaOccupancyMaxActiveClusters(&n, who, &l.x), f = cudaOccupancyMaxPotentialClusterSize(&most, who, &l.x);
            printf("%u x %u: %s %d, %s %d\n", c, block, cudaGetErrorName(e), n, cudaGetErrorName(f), most);
        }
    return 0;
}

// clusters in a graph, in a cooperative launch, behind a launch that they depend on
static int ways()
{
    unsigned *out, h[8];
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t e;
    cudaGraphNode_t node;
    TRY(cudaMalloc(&out, 32)); TRY(cudaStreamCreate(&s));
    auto show = [&](const char *what) {
        TRY(cudaStreamSynchronize(s));
        TRY(cudaMemcpy(h, out, 32, cudaMemcpyDeviceToHost));
        printf("%s:", what);
        for (unsigned v : h) printf(" %u", v);
        printf("\n");
    };
    TRY(cudaGraphCreate(&g, 0));
    void *args[] = {&out};
    cudaKernelNodeParams p = {};
    p.func = (void *)who; p.gridDim = dim3(8); p.blockDim = dim3(32); p.kernelParams = args;
    TRY(cudaGraphAddKernelNode(&node, g, nullptr, 0, &p));
    cudaKernelNodeAttrValue v = {};
    v.clusterDim.x = 4; v.clusterDim.y = v.clusterDim.z = 1;
    TRY(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &v));
    TRY(cudaGraphInstantiate(&e, g, 0));
    TRY(cudaGraphLaunch(e, s));
    show("graph");
    TRY(cudaGraphExecDestroy(e)); TRY(cudaGraphDestroy(g));
    TRY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    launch c(8, 32, 2);
    c.x.stream = s;
    TRY(cudaLaunchKernelEx(&c.x, who, out));
    TRY(cudaStreamEndCapture(s, &g));
    TRY(cudaGraphInstantiate(&e, g, 0));
    TRY(cudaGraphLaunch(e, s));
    show("capture");
    TRY(cudaGraphExecDestroy(e)); TRY(cudaGraphDestroy(g));
    launch o(8, 32, 8);
    o.and_also(cudaLaunchAttributeCooperative);
    o.x.stream = s;
    TRY(cudaLaunchKernelEx(&o.x, who, out));
    show("cooperative");
    launch d(8, 32, 4);
    d.and_also(cudaLaunchAttributeProgrammaticStreamSerialization);
    d.x.stream = s;
    TRY(cudaLaunchKernelEx(&c.x, who, out));
    TRY(cudaLaunchKernelEx(&d.x, who, out));
    show("dependent");
    who<<<8, 32, 0, s>>>(out);
    show("none");
    TRY(cudaStreamDestroy(s)); TRY(cudaFree(out));
    return 0;
}

PROGRAMS({"reduce_ok", reduce_main<RIGHT>}, {"reduce_sync_bad", reduce_main<NO_MIDDLE>}, {"reduce_exit_bad", reduce_main<NO_LAST>},
         {"histogram_ok", histogram_main<RIGHT>}, {"histogram_early_bad", histogram_main<NO_FIRST>}, {"limits_ok", limits},
         {"occupancy_ok", occupancy}, {"ways_ok", ways})
