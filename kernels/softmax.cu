// Softmax of rows: y = exp(x - max) / sum(exp(x - max)). A block takes a row, and reads it three times: the largest
// element, the sum, the result. The second and third time it comes from a cache.
#include "kernel.cuh"

//! op       softmax(x) -> y
//! forward  softmax(x) -> y
//! backward softmax_backward(dy, y) -> dx
//! oracle   y = softmax(x, -1)

//! kernel softmax<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 40, cols 0..1073741824 = 300
//! dim    threads 32..1024 step 32 = 32
//! arg x     T[rows, cols] in view dense|rows|offset|broadcast(0)
//! arg ldx   i64 = x.stride0
//! arg y     T[rows, cols] out once
//! arg cols  i32
//! launch grid=rows block=threads
//! oracle y = softmax(x, -1)
template <typename T> __global__ void softmax(const T *x, long long ldx, T *y, int cols)
{
    x += blockIdx.x * ldx;
    y += blockIdx.x * (long long)cols;
    float most = -INFINITY, sum = 0;
    each(x, 1, cols, threadIdx.x, blockDim.x, [&](int, float v) { most = fmaxf(most, v); });
    most = block_max(most);
    each(x, 1, cols, threadIdx.x, blockDim.x, [&](int, float v) { sum += expf(v - most); });
    float scale = 1 / block_sum(sum);
    write_each(y, cols, threadIdx.x, blockDim.x, [&](int i) { return expf(float(x[i]) - most) * scale; });
}

// From the result: dx = y (dy - sum(dy y)). The strides of dy may be 0, as those of sum().backward() are.
//! kernel softmax_backward<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 40, cols 0..1073741824 = 300
//! dim    threads 32..1024 step 32 = 32
//! arg dy    T[rows, cols] in view dense|rows|offset|broadcast
//! arg lddy  i64 = dy.stride0
//! arg step  i32 = dy.stride1
//! arg y     T[rows, cols] in uniform
//! arg dx    T[rows, cols] out once
//! arg cols  i32
//! launch grid=rows block=threads
//! oracle dx = y * (dy - sum(dy * y, -1, keep))
template <typename T>
__global__ void softmax_backward(const T *dy, long long lddy, int step, const T *y, T *dx, int cols)
{
    dy += blockIdx.x * lddy;
    y += blockIdx.x * (long long)cols;
    dx += blockIdx.x * (long long)cols;
    float sum = 0;
    each(dy, step, cols, threadIdx.x, blockDim.x, [&](int i, float v) { sum += v * float(y[i]); });
    sum = block_sum(sum);
    write_each(dx, cols, threadIdx.x, blockDim.x,
               [&](int i) { return float(y[i]) * (float(dy[(size_t)i * step]) - sum); });
}
