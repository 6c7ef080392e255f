// Blocks of a cooperative launch that work for each other: with grid.sync() between, or without; in a loop, at its end.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void reverse(float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i; // <-- race
    __syncthreads();
    if (i < n) y[i] = x[n - 1 - i]; // <-- race
}

extern "C" __global__ void reverse_ok(float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i;
    cg::this_grid().sync();
    if (i < n) y[i] = x[n - 1 - i];
}

extern "C" __global__ void smooth(float *x, float *y, int n, int turns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < turns; k++) {
        if (i > 0 && i < n - 1) y[i] = x[i - 1] + x[i] + x[i + 1]; // <-- race
        cg::this_grid().sync();
        if (i > 0 && i < n - 1) x[i] = y[i]; // <-- race
    }
}

extern "C" __global__ void smooth_ok(float *x, float *y, int n, int turns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < turns; k++) {
        if (i > 0 && i < n - 1) y[i] = x[i - 1] + x[i] + x[i + 1];
        cg::this_grid().sync();
        if (i > 0 && i < n - 1) x[i] = y[i];
        cg::this_grid().sync();
    }
}

extern "C" __global__ void total(const float *x, float *sum, float *share, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(sum, x[i]); // <-- race
    __syncthreads();
    if (i < n) share[i] = x[i] / *sum; // <-- race
}

extern "C" __global__ void total_ok(const float *x, float *sum, float *share, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(sum, x[i]);
    cg::this_grid().sync();
    if (i < n) share[i] = x[i] / *sum;
}
