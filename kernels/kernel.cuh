// What the kernels of this folder share: a block's walk along a row, 16 bytes at a time where addresses allow it, and
// sums over a warp and a block. All arithmetic is in f32, whatever the arrays hold.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>

// What a thread moves at once.
template <typename T> struct alignas(16) chunk {
    static constexpr int N = 16 / sizeof(T);
    T v[N];
};

template <typename T> __device__ bool in_chunks(const T *p) { return (size_t)p % sizeof(chunk<T>) == 0; }

// Calls f(i, x[i * stride]) for the elements of a row of n that fall to thread `me` of `all`.
template <typename T, typename F> __device__ void each(const T *x, int stride, int n, int me, int all, F f)
{
    constexpr int N = chunk<T>::N;
    for (int i = me * N; i < n; i += all * N)
        if (stride == 1 && i + N <= n && in_chunks(x)) {
            chunk<T> c = *(const chunk<T> *)(x + i);
            for (int k = 0; k < N; k++) f(i + k, float(c.v[k]));
        } else {
            for (int k = i; k < min(i + N, n); k++) f(k, float(x[(size_t)k * stride]));
        }
}

// y[i] = f(i) for the elements of a row of n that fall to thread `me` of `all`.
template <typename T, typename F> __device__ void write_each(T *y, int n, int me, int all, F f)
{
    constexpr int N = chunk<T>::N;
    for (int i = me * N; i < n; i += all * N)
        if (i + N <= n && in_chunks(y)) {
            chunk<T> c;
            for (int k = 0; k < N; k++) c.v[k] = T(f(i + k));
            *(chunk<T> *)(y + i) = c;
        } else {
            for (int k = i; k < min(i + N, n); k++) y[k] = T(f(k));
        }
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

// The sum over a block of whole warps, the same for every thread and in every run.
__device__ inline float block_sum(float v)
{
    __shared__ float part[32];
    int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    v = warp_sum(v);
    __syncthreads(); // the parts of the sum before may still be read
    if (lane == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    return warp_sum(lane < warps ? part[lane] : 0.0f);
}

// The largest over a block of whole warps, the same for every thread.
__device__ inline float block_max(float v)
{
    __shared__ float part[32];
    int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    v = warp_max(v);
    __syncthreads();
    if (lane == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    return warp_max(lane < warps ? part[lane] : -INFINITY);
}

// The sum over the threads of one column of a block of up to 32 x 32, the same for every thread of the column.
__device__ inline float column_sum(float v)
{
    __shared__ float part[32][32];
    float sum = 0;
    __syncthreads();
    part[threadIdx.y][threadIdx.x] = v;
    __syncthreads();
    for (int y = 0; y < blockDim.y; y++) sum += part[y][threadIdx.x];
    return sum;
}
