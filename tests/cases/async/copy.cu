// Asynchronous copies: groups, partial copies, cooperative groups, and an mbarrier as cuda::barrier uses it.
// regen: -arch=sm_90 -std=c++17 -diag-suppress 20054
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;

extern "C" __global__ void pipeline(const float *in, float *out, int tiles)     // two stages, 128 threads, 4 bytes each
{
    __shared__ float s[2][128];
    int t = threadIdx.x;
    unsigned at[2] = { (unsigned)__cvta_generic_to_shared(&s[0][t]), (unsigned)__cvta_generic_to_shared(&s[1][t]) };
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at[0]), "l"(in + t));
    asm volatile("cp.async.commit_group;");
    float sum = 0;
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at[(k + 1) & 1]), "l"(in + (k + 1) * 128 + t));
        asm volatile("cp.async.commit_group;");
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        sum += s[k & 1][127 - t];
        __syncthreads();
    }
    out[t] = sum;
}

extern "C" __global__ void late(const int *in, int *out)    // read before the wait: what was there; after it: the copy
{
    __shared__ int4 s[32];
    int t = threadIdx.x;
    s[t] = make_int4(-1, -1, -1, -1);
    unsigned at = (unsigned)__cvta_generic_to_shared(&s[t]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(in + 4 * t), "r"(t % 5 * 4) : "memory");
    int before = s[t].x;
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[t] = before * 1000 + s[t].x + s[t].y + s[t].z + s[t].w;
}

extern "C" __global__ void collective(const int *in, int *out)
{
    __shared__ int s[256];
    auto g = cg::this_thread_block();
    cg::memcpy_async(g, s, in, sizeof s);
    cg::wait(g);
    out[threadIdx.x] = s[255 - threadIdx.x];
}

extern "C" __global__ void phases(int *out)                 // a barrier object through three phases, split arrive and wait
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int s[96];
    int t = threadIdx.x;
    if (t == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    int v = t;
    for (int k = 0; k < 3; k++) {
        s[t] = v;
        auto token = bar.arrive();
        bar.wait(std::move(token));
        v = s[(t + 1) % 96] + k;
        bar.arrive_and_wait();
    }
    out[t] = v;
}

extern "C" __global__ void matrix(const short *in, int *out)    // ldmatrix x4, straight and transposed
{
    __shared__ __align__(16) short s[32 * 8];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += 32)
        s[i] = in[i];
    __syncwarp();
    unsigned at = (unsigned)__cvta_generic_to_shared(&s[t * 8]), a, b, c, d, e;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(e) : "r"(at));
    out[t] = a; out[32 + t] = b; out[64 + t] = c; out[96 + t] = d; out[128 + t] = e;
}
