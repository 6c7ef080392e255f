// Clusters: distributed shared memory, barrier.cluster, special registers. Each *_bad has one mistake.
// regen: -arch=sm_90 -lineinfo
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// every CTA of a cluster writes into the memory of the next one, and reads what the one before it left
extern "C" __global__ void ring_ok(int *out)
{
    __shared__ int got[32];
    cg::cluster_group cl = cg::this_cluster();
    unsigned r = cl.block_rank(), n = cl.num_blocks();
    cl.sync();
    cl.map_shared_rank(got, (r + 1) % n)[threadIdx.x] = 100 * r + threadIdx.x;
    cl.sync();
    out[blockIdx.x * blockDim.x + threadIdx.x] = got[threadIdx.x];
}

// what the special registers say
extern "C" __global__ void registers_ok(unsigned *out)
{
    unsigned v[16], e;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(v[0]));
    asm("mov.u32 %0, %%clusterid.y;" : "=r"(v[1]));
    asm("mov.u32 %0, %%clusterid.z;" : "=r"(v[2]));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(v[3]));
    asm("mov.u32 %0, %%nclusterid.y;" : "=r"(v[4]));
    asm("mov.u32 %0, %%nclusterid.z;" : "=r"(v[5]));
    asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(v[6]));
    asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(v[7]));
    asm("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(v[8]));
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(v[9]));
    asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(v[10]));
    asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(v[11]));
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(v[12]));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(v[13]));
    asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(e));
    v[14] = e;
    v[15] = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    for (int k = 0; k < 16; k++) out[v[15] * 16 + k] = v[k];
}

// addresses: mapa and getctarank in both forms, isspacep, and an own address that another CTA uses
extern "C" __global__ void addresses_ok(unsigned *out)
{
    __shared__ unsigned word, where;
    __shared__ unsigned long long generic;
    cg::cluster_group cl = cg::this_cluster();
    unsigned r = cl.block_rank(), n = cl.num_blocks(), next = (r + 1) % n;
    unsigned own = (unsigned)__cvta_generic_to_shared(&word), other, back, rank, in_cta, in_cluster, read, read_generic;
    if (threadIdx.x == 0) {
        word = 1000 + r;
        where = own;
        generic = (unsigned long long)&word;
    }
    cl.sync();
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(own), "r"(next));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(back) : "r"(other), "r"(r));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(other));
    unsigned *p = cl.map_shared_rank(&word, next);
    asm volatile("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(in_cta) : "l"(p));
    asm volatile("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(in_cluster) : "l"(p));
    // what the next CTA says its own address is, is good here as well
    unsigned his = *cl.map_shared_rank(&where, next);
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(read) : "r"(his));
    read_generic = *(unsigned *)*cl.map_shared_rank(&generic, next);
    if (threadIdx.x == 0) {
        unsigned v[8] = { back == own, rank, cl.query_shared_rank(p), in_cta, in_cluster, read, read_generic, his == other };
        for (int k = 0; k < 8; k++) out[blockIdx.x * 8 + k] = v[k];
    }
    cl.sync();
}

// the two halves of the barrier, with work between them that nobody else sees; atomics on another CTA's memory
extern "C" __global__ void halves_ok(int *out)
{
    __shared__ int count;
    int own = 0;
    if (threadIdx.x == 0) count = 0;
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    for (int k = 0; k < 10; k++) own += k * threadIdx.x;
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    unsigned at = (unsigned)__cvta_generic_to_shared(&count), to;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(to) : "r"(at));
    asm volatile("red.relaxed.cluster.shared::cluster.add.s32 [%0], %1;" ::"r"(to), "r"(own) : "memory");
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (threadIdx.x == 0) out[blockIdx.x] = count;
}

// threads that have left do not count at the barrier
extern "C" __global__ void leaves_ok(int *out)
{
    __shared__ int s[64];
    cg::cluster_group cl = cg::this_cluster();
    if (threadIdx.x >= 48) return;
    s[threadIdx.x] = blockIdx.x;
    cl.sync();
    out[blockIdx.x * 64 + threadIdx.x] = cl.map_shared_rank(s, cl.block_rank() ^ 1)[threadIdx.x];
    cl.sync();
}

// the last barrier is missing: a CTA may be gone while another one reads its memory
extern "C" __global__ void exited_bad(int *out)
{
    __shared__ int s[32];
    cg::cluster_group cl = cg::this_cluster();
    s[threadIdx.x] = blockIdx.x;
    cl.sync();
    if (cl.block_rank() == 1) out[threadIdx.x] = cl.map_shared_rank(s, 0)[threadIdx.x];
}

// no barrier before the first access: the other CTA may not have started
extern "C" __global__ void early_bad(int *out)
{
    __shared__ int s[32];
    cg::cluster_group cl = cg::this_cluster();
    cl.map_shared_rank(s, cl.block_rank() ^ 1)[threadIdx.x] = blockIdx.x;
    cl.sync();
    out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
}

// the cluster has two CTAs
extern "C" __global__ void rank_bad(int *out)
{
    __shared__ int s[32];
    cg::cluster_group cl = cg::this_cluster();
    s[threadIdx.x] = blockIdx.x;
    cl.sync();
    out[blockIdx.x * 32 + threadIdx.x] = cl.map_shared_rank(s, 2)[threadIdx.x];
    cl.sync();
}

// past the end of the other CTA's array
extern "C" __global__ void bounds_bad(int *out)
{
    __shared__ int s[32], t[32];
    cg::cluster_group cl = cg::this_cluster();
    s[threadIdx.x] = t[threadIdx.x] = blockIdx.x;
    cl.sync();
    out[blockIdx.x * 32 + threadIdx.x] = cl.map_shared_rank(s, cl.block_rank() ^ 1)[threadIdx.x + 1] + t[threadIdx.x];
    cl.sync();
}

// nothing between the store and the read of another CTA: __syncthreads() orders one CTA only
extern "C" __global__ void race_bad(int *out)
{
    __shared__ int s[32];
    cg::cluster_group cl = cg::this_cluster();
    cl.sync();
    s[threadIdx.x] = blockIdx.x;
    __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = cl.map_shared_rank(s, cl.block_rank() ^ 1)[threadIdx.x];
    cl.sync();
}

// an arrival that releases nothing
extern "C" __global__ void relaxed_bad(int *out)
{
    __shared__ int s[32];
    cg::cluster_group cl = cg::this_cluster();
    cl.sync();
    s[threadIdx.x] = blockIdx.x;
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    out[blockIdx.x * 32 + threadIdx.x] = cl.map_shared_rank(s, cl.block_rank() ^ 1)[threadIdx.x];
    cl.sync();
}

// nobody has written the other CTA's array
extern "C" __global__ void unwritten_bad(int *out)
{
    __shared__ int s[64];
    cg::cluster_group cl = cg::this_cluster();
    s[threadIdx.x] = blockIdx.x;
    cl.sync();
    int v = cl.map_shared_rank(s, cl.block_rank() ^ 1)[threadIdx.x + 32];
    if (v > 0) out[blockIdx.x * 32 + threadIdx.x] = v;
    cl.sync();
}

// one CTA waits for a flag of the other one, which waits at the barrier
extern "C" __global__ void deadlock_bad(int *out)
{
    __shared__ volatile int flag;
    cg::cluster_group cl = cg::this_cluster();
    if (threadIdx.x == 0) flag = 0;
    cl.sync();
    if (cl.block_rank() == 1)
        while (!flag) {}
    cl.sync();
    if (cl.block_rank() == 0) *cl.map_shared_rank((int *)&flag, 1) = 1;
    cl.sync();
    out[blockIdx.x] = flag;
}

// arrives twice; waits without having arrived
extern "C" __global__ void turn_bad(int *out)
{
    if (blockIdx.x == 0) {
        asm volatile("barrier.cluster.arrive;" ::: "memory");
        asm volatile("barrier.cluster.arrive;" ::: "memory");
    }
    asm volatile("barrier.cluster.wait;" ::: "memory");
    out[blockIdx.x] = 1;
}
