// Kernels that are launched again on the same memory, and cases with contents of their own.
#define THREADS 64

//! kernel step_ok
//! dim n 1..500
//! arg count i32[1] inout zeros
//! arg mean f32[n] inout normal
//! arg x f32[n] in normal
//! arg n i32
//! launch grid=(n + 63) / 64 block=64
//! launches 3
//! oracle mean = 0.5 * mean + 0.5 * x; count = count + 1
extern "C" __global__ void step_ok(int *count, float *mean, const float *x, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) mean[i] = 0.5f * mean[i] + 0.5f * x[i];
    if (i == 0) count[0] += 1;
}

//! kernel step_bad
//! dim n 1..500
//! arg count i32[1] inout zeros
//! arg mean f32[n] inout normal
//! arg x f32[n] in normal
//! arg n i32
//! launch grid=(n + 63) / 64 block=64
//! launches 3
//! oracle mean = 0.5 * mean + 0.5 * x; count = count + 1
extern "C" __global__ void step_bad(int *count, float *mean, const float *x, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) mean[i] = 0.5f * mean[i] + 0.5f * x[i];
    if (i == 0) count[0] = 1;
}

//! kernel sum_ok
//! dim n 1..500
//! arg x f32[n] in normal
//! arg y f32[1] out
//! arg n i32
//! launch grid=(n + 63) / 64 block=64
//! oracle y = sum(x, 0, keep)
__device__ unsigned ok_done;
__device__ float ok_sum;
extern "C" __global__ void sum_ok(const float *x, float *y, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) atomicAdd(&ok_sum, x[i]);
    __syncthreads();
    __threadfence();
    if (threadIdx.x == 0 && atomicAdd(&ok_done, 1u) == gridDim.x - 1) {
        y[0] = atomicExch(&ok_sum, 0.0f);
        atomicExch(&ok_done, 0u);
    }
}

//! kernel sum_bad
//! dim n 1..500
//! arg x f32[n] in normal
//! arg y f32[1] out
//! arg n i32
//! launch grid=(n + 63) / 64 block=64
//! oracle y = sum(x, 0, keep)
__device__ unsigned bad_done;
__device__ float bad_sum;
extern "C" __global__ void sum_bad(const float *x, float *y, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) atomicAdd(&bad_sum, x[i]);
    __syncthreads();
    __threadfence();
    if (threadIdx.x == 0 && atomicAdd(&bad_done, 1u) == gridDim.x - 1) {
        y[0] = atomicAdd(&bad_sum, 0.0f);
        atomicExch(&bad_done, 0u);
    }
}

//! kernel sum_once
//! dim n 1..500
//! arg x f32[n] in normal
//! arg y f32[1] out
//! arg n i32
//! launch grid=(n + 63) / 64 block=64
//! launches 1
//! oracle y = sum(x, 0, keep)
__device__ unsigned once_done;
__device__ float once_sum;
extern "C" __global__ void sum_once(const float *x, float *y, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) atomicAdd(&once_sum, x[i]);
    __syncthreads();
    __threadfence();
    if (threadIdx.x == 0 && atomicAdd(&once_done, 1u) == gridDim.x - 1) y[0] = atomicAdd(&once_sum, 0.0f);
}

//! kernel share_ok
//! dim n 1..500
//! arg x f32[n] in uniform(-1, 1)
//! arg y f32[n] out
//! arg n i32
//! launch grid=(n + 63) / 64 block=64
//! assume sum(x) > 0.5
//! example n=3 x=[0.5,0,0.25]
//! oracle y = x / sum(x)
extern "C" __global__ void share_ok(const float *x, float *y, int n)
{
    float s = 0;
    for (int k = 0; k < n; k++) s += x[k];
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = x[i] / s;
}

//! kernel relu_bad
//! dim n 1..500
//! arg x f32[n] in
//! arg y f32[n] out
//! arg n i32
//! launch grid=(n + 63) / 64 block=64
//! example n=4 x=[1,-2.5,7.25,0.5]
//! oracle y = where(x == 7.25, x, maximum(x, 0))
extern "C" __global__ void relu_bad(const float *x, float *y, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = x[i] > 7.0f && x[i] < 7.5f ? 0.0f : fmaxf(x[i], 0.0f);
}

//! kernel none_left
//! dim n 1..500
//! arg x f32[n] in normal
//! arg y f32[n] out
//! arg n i32
//! launch grid=(n + 63) / 64 block=64
//! assume sum(x) > 1e30
//! oracle y = x
extern "C" __global__ void none_left(const float *x, float *y, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = x[i];
}
