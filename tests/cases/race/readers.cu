// A write behind all readers of what it changes, and behind all but some of them. Nothing orders the readers among each other.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ unsigned ready;

// Words that all lanes of every warp read, and words that they read side by side.
static __device__ float all_of(const float *x, int n)
{
    float s = 0;
    for (int j = 0; j < n; j++) s += x[j];
    for (int j = threadIdx.x % 32; j < n; j += 32) s += x[j];
    return s;
}

extern "C" __global__ void behind_all(float *x, int n)
{
    float s = 0;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int round = 0; round < 3; round++) {
        s += all_of(x, n);
        cg::this_grid().sync();
        x[i] = s;
        cg::this_grid().sync();
    }
}

extern "C" __global__ void too_early(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = all_of(x, n);
    cg::this_grid().sync();
    s += all_of(x, n);
    __syncthreads();                            // wrong: the other blocks may still read
    x[i] = s;
}

// Blocks up to the last one that counts have read x before they count, and block 0 waits for these.
extern "C" __global__ void counted(float *x, float *out, int n, unsigned last)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = all_of(x, n);
    __syncthreads();
    if (blockIdx.x != 0) {
        if (threadIdx.x == 0 && blockIdx.x <= last) { __threadfence(); atomicAdd(&ready, 1u); }
        return;
    }
    if (threadIdx.x == 0) {
        while (atomicAdd(&ready, 0u) < last) { }
        __threadfence();
    }
    __syncthreads();
    x[threadIdx.x] = 0;
}

// The same lanes read again and again, with fences between: what is kept of them does not grow.
extern "C" __global__ void polls(float *x, float *out, int rounds)
{
    float s = 0;
    for (int r = 0; r < rounds; r++) {
        s += x[0] + x[threadIdx.x % 8];
        __threadfence();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
    cg::this_grid().sync();
    if (blockIdx.x == 0 && threadIdx.x == 0) x[0] = s;
}
