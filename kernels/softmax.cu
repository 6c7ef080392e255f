// Softmax of rows: y = exp(x - max) / sum(exp(x - max)). A block takes a row, and goes along it three times: for the
// largest element, the sum, the result.
#include "kernel.cuh"

//! op       softmax(x) -> y
//! forward  softmax(x) -> y
//! backward softmax_backward(dy, y) -> dx
//! oracle   y = softmax(x, -1)

//! kernel softmax<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 40, cols 0..1073741824 = 300
//! dim    threads 32..512 step 32 = 32
//! arg x     T[rows, cols] in view dense|rows|offset|broadcast(0)
//! arg ldx   i64 = x.stride0
//! arg y     T[rows, cols] out once
//! arg cols  i32
//! launch grid=rows block=threads
//! oracle y = softmax(x, -1)
template <typename T> __global__ void __launch_bounds__(512) softmax(const T *x, long long ldx, T *y, int cols)
{
    x += blockIdx.x * ldx;
    y += blockIdx.x * (long long)cols;
    auto path = along(y, cols);
    kept_row<T> row(x, path);
    float most = -INFINITY, sum = 0;
    each(
        path, [&](int, float v) { most = fmaxf(most, v); }, row);
    most = block_max(most);
    each(
        path, [&](int, float v) { sum += fast_exp(v - most); }, row);
    float scale = 1 / block_sum(sum);
    write_each(
        path, y, [&](int, float v) { return fast_exp(v - most) * scale; }, row);
}

// From the result: dx = y (dy - sum(dy y)). The strides of dy may be 0, as those of sum().backward() are.
//! kernel softmax_backward<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 40, cols 0..1073741824 = 300
//! dim    threads 32..512 step 32 = 32
//! arg dy    T[rows, cols] in view dense|rows|offset|broadcast
//! arg lddy  i64 = dy.stride0
//! arg step  i32 = dy.stride1
//! arg y     T[rows, cols] in uniform
//! arg dx    T[rows, cols] out once
//! arg cols  i32
//! launch grid=rows block=threads
//! oracle dx = y * (dy - sum(dy * y, -1, keep))
template <typename T>
__global__ void __launch_bounds__(512)
    softmax_backward(const T *dy, long long lddy, int step, const T *y, T *dx, int cols)
{
    dy += blockIdx.x * lddy;
    y += blockIdx.x * (long long)cols;
    dx += blockIdx.x * (long long)cols;
    auto path = along(dx, cols);
    kept_row<T> dys(strided<T>(dy, step), path), ys(y, path);
    float sum = 0;
    each(
        path, [&](int, float dy, float y) { sum += dy * y; }, dys, ys);
    sum = block_sum(sum);
    write_each(
        path, dx, [&](int, float dy, float y) { return y * (dy - sum); }, dys, ys);
}
