// Running sums of rows. A block takes a row, and from it as many elements at a time as it has threads; what was summed
// before is carried on. The gradient is the running sum from the other end.
#include "kernel.cuh"

//! op       cumsum(x) -> y
//! forward  cumsum(x) -> y
//! backward cumsum_backward(dy) -> dx
//! oracle   y = cumsum(x, -1)

// The sum of v over this thread and those before it in a block of whole warps; *all is that over the block.
__device__ inline float block_scan(float v, float *all)
{
    __shared__ float part[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int step = 1; step < 32; step *= 2) {
        float before = __shfl_up_sync(~0u, v, step);
        if (lane >= step) v += before;
    }
    __syncthreads(); // the parts of the scan before may still be read
    if (lane == 31) part[warp] = v;
    __syncthreads();
    float before = 0;
    *all = 0;
    for (int i = 0; i < warps; i++) {
        if (i < warp) before += part[i];
        *all += part[i];
    }
    return before + v;
}

//! kernel cumsum<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 40, cols 0..1073741824 = 300
//! dim    threads 32..1024 step 32 = 32
//! arg x     T[rows, cols] in view dense|rows|offset|broadcast
//! arg ldx   i64 = x.stride0
//! arg step  i64 = x.stride1
//! arg y     T[rows, cols] out once
//! arg cols  i32
//! launch grid=rows block=threads
//! oracle y = cumsum(x, -1)
template <typename T> __global__ void cumsum(const T *x, long long ldx, long long step, T *y, int cols)
{
    float before = 0, all;
    x += blockIdx.x * ldx;
    y += blockIdx.x * (long long)cols;
    for (int first = 0; first < cols; first += blockDim.x, before += all) {
        int i = first + threadIdx.x;
        float sum = block_scan(i < cols ? float(x[i * step]) : 0.0f, &all);
        if (i < cols) y[i] = T(before + sum);
    }
}

//! kernel cumsum_backward<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 40, cols 0..1073741824 = 300
//! dim    threads 32..1024 step 32 = 32
//! arg dy    T[rows, cols] in view dense|rows|offset|broadcast
//! arg lddy  i64 = dy.stride0
//! arg step  i64 = dy.stride1
//! arg dx    T[rows, cols] out once
//! arg cols  i32
//! launch grid=rows block=threads
//! oracle dx = flip(cumsum(flip(dy, -1), -1), -1)
template <typename T> __global__ void cumsum_backward(const T *dy, long long lddy, long long step, T *dx, int cols)
{
    float behind = 0, all;
    dy += blockIdx.x * lddy;
    dx += blockIdx.x * (long long)cols;
    for (int first = 0; first < cols; first += blockDim.x, behind += all) {
        int i = cols - 1 - first - (int)threadIdx.x;
        float sum = block_scan(i >= 0 ? float(dy[i * step]) : 0.0f, &all);
        if (i >= 0) dx[i] = T(behind + sum);
    }
}
