// Many readers of what others write, ordered by more than barriers of a CTA: the whole grid goes over an array, and behind grid.sync() writes it.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

static __device__ void next_round(float *x, int i, float v) { cg::this_grid().sync(); x[i] = v; cg::this_grid().sync(); }

// Every thread reads every element, all lanes of a warp the same.
extern "C" __global__ void all_pairs(float *x, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        float s = 0;
        for (int j = 0; j < n; j++) s += x[j];
        next_round(x, i, s / n);
    }
}

// Every warp reads every element, lanes side by side.
extern "C" __global__ void sweep(float *x, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        float s = 0;
        for (int j = threadIdx.x % 32; j < n; j += 32) s += x[j];
        next_round(x, i, s / n);
    }
}

// Every thread reads some elements, anywhere: no two elements have the same readers.
extern "C" __global__ void gather(float *x, int n, int degree, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        float s = 0;
        unsigned h = i * 2654435761u + r;
        for (int j = 0; j < degree; j++) {
            h = h * 1664525u + 1013904223u;
            s += x[(h >> 8) & (n - 1)];
        }
        next_round(x, i, s / degree);
    }
}

// A table in shared memory that every warp reads all of, in a kernel with a fence.
extern "C" __global__ void table(const float *x, float *out, unsigned *count)
{
    __shared__ float t[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    t[threadIdx.x] = x[i];
    __syncthreads();
    float s = 0;
    for (int r = 0; r < 8; r++)
        for (int j = 0; j < 256; j++) s += t[j] * r;
    __syncthreads();
    t[threadIdx.x] = s;
    __syncthreads();
    out[i] = t[255 - threadIdx.x];
    __threadfence();
    if (threadIdx.x == 0) atomicAdd(count, 1u);
}
