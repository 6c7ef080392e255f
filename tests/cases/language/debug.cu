// Unoptimised builds: locals in memory, calls not inlined, loads and stores that optimised code does not have.
// regen: -arch=sm_90 -G
#include <cooperative_groups.h>
#include <cuda/atomic>
namespace cg = cooperative_groups;

struct Padded { char c; double d; short s; };

extern "C" __global__ void tree(const int *in, int *out)
{
    __shared__ int s[77];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 77 + t];
    for (int n = 77; n > 1;) {
        int half = (n + 1) / 2;
        __syncthreads();
        if (t < n - half) s[t] += s[t + half];
        n = half;
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

extern "C" __global__ void warp_sum(const int *in, int *out)
{
    __shared__ volatile int s[64];
    int t = threadIdx.x, lane = t & 31;
    s[t] = in[blockIdx.x * 64 + t];
    for (int d = 16; d > 0; d /= 2) {
        __syncwarp();
        int v = lane < d ? s[t + d] : 0;
        __syncwarp();
        if (lane < d) s[t] = s[t] + v;
    }
    if (lane == 0) out[(blockIdx.x * 64 + t) / 32] = s[t];
}

extern "C" __global__ void padded_copies(int *out)
{
    __shared__ Padded s[40];
    Padded p;
    p.c = (char)threadIdx.x;
    p.d = 1;
    p.s = 2;
    Padded q = p, *at = &q;
    s[threadIdx.x] = *at;
    __syncthreads();
    Padded r = s[39 - threadIdx.x];
    out[(int)r.c] = (int)(r.c + r.d + r.s) - 3;
}

// A variable that is set in every branch before its use.
extern "C" __global__ void set_in_branches(const int *in, int *out)
{
    int i = blockIdx.x * 33 + threadIdx.x, v, unused;
    if (in[i] % 2) v = in[i];
    else if (in[i] % 3) v = in[i] * 1;
    else v = in[i] + 0;
    (void)&unused;
    out[i] = v;
}

__device__ int depth(int n) { int here[3]; here[n % 3] = n; return n == 0 ? 0 : here[n % 3] - (n - 1) + depth(n - 1); }

extern "C" __global__ void recursion(int *out) { out[threadIdx.x] = depth(threadIdx.x); }

extern "C" __global__ void release_acquire(int *data, int *flag, int *out)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
    if (blockIdx.x == 0) {
        *data = 42;
        f.store(1, cuda::memory_order_release);
    } else {
        while (f.load(cuda::memory_order_acquire) == 0) {}
        *out = *data;
    }
}

extern "C" __global__ void grid_sync(int *a, int *b)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    a[127 - i] = 127 - i;
    cg::this_grid().sync();
    b[i] = a[i];
}

extern "C" __global__ void last_block(const int *in, int *part, int *count, int *out)
{
    int sum = in[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x == 0) {
        part[blockIdx.x] = sum;
        __threadfence();
        if (atomicAdd(count, 1) == (int)gridDim.x - 1) {
            __threadfence();
            int all = 0;
            for (unsigned k = 0; k < gridDim.x; k++) all += part[k];
            *out = all;
        }
    }
}

extern "C" __global__ void heap(int *out)
{
    int *p = new int[5], sum = 0;
    for (int k = 0; k < 5; k++) p[k] = k;
    for (int k = 0; k < 5; k++) sum += p[k];
    delete[] p;
    out[threadIdx.x] = sum;
}

extern "C" __global__ void tiles(const int *in, int *out)
{
    __shared__ int s[64];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int t = threadIdx.x, i = blockIdx.x * 64;
    s[t] = in[i + t];
    tile.sync();
    out[i + (t ^ 15)] = s[t ^ 15];
}

extern "C" __global__ void guarded(const int *in, int *out, int n)
{
    int i = blockIdx.x * 40 + threadIdx.x;
    int left = i > 0 && i < n ? in[i - 1] + 1 : 0;
    if (i < n) out[i] = left;
}
