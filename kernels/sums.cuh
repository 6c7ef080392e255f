// Sums and largest values over a warp and over a block; fast arithmetic.
#pragma once
#include <math.h>

// exp(x) by the unit for powers of two: within 2^-22 of it for every 1 that x is below 0.
__device__ inline float fast_exp(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504f));
    return y;
}

// 1 / x, within 2^-23 of it.
__device__ inline float fast_reciprocal(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ inline float warp_sum(float v)
{
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(~0u, v, step);
    return v;
}

__device__ inline float warp_max(float v)
{
    for (int step = 16; step > 0; step /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, step));
    return v;
}

// The sums of N values each over a block of whole warps, the same for every thread and in every run.
template <int N> __device__ void block_sums(float (&v)[N])
{
    __shared__ float part[N][32];
    int warps = blockDim.x / 32;
    for (int k = 0; k < N; k++) v[k] = warp_sum(v[k]);
    if (warps == 1) return;
    __syncthreads(); // the parts of the sums before may still be read
    for (int k = 0; k < N; k++)
        if (threadIdx.x % 32 == 0) part[k][threadIdx.x / 32] = v[k];
    __syncthreads();
    for (int k = 0; k < N; k++) v[k] = part[k][0];
    for (int w = 1; w < warps; w++)
        for (int k = 0; k < N; k++) v[k] += part[k][w];
}

__device__ inline float block_sum(float v)
{
    float sum[1] = { v };
    block_sums(sum);
    return sum[0];
}

// The largest over a block of whole warps, the same for every thread.
__device__ inline float block_max(float v)
{
    __shared__ float part[32];
    int warps = blockDim.x / 32;
    v = warp_max(v);
    if (warps == 1) return v;
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = part[0];
    for (int w = 1; w < warps; w++) v = fmaxf(v, part[w]);
    return v;
}
