// Layer normalisation of rows: y = (x - m) r g + b, with m the mean of the row and r = 1 / sqrt(variance + eps), which
// are kept for the way back. A block takes a row; the variance is that of the differences from the mean, since
// mean(x^2) - m^2 loses everything where the mean is large.
#include "columns.cuh"

//! op       layernorm(x, g, b) -> y
//! forward  layernorm(x, g, b) -> y, m, r
//! backward layernorm_backward(dy, x, g, m, r) -> dx
//! backward layernorm_backward_weights(dy, x, m, r) -> dg, db
//! oracle   y = layernorm(x, g, b, 1e-5)

//! kernel layernorm<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 40, cols 0..1073741824 = 300
//! dim    threads 32..512 step 32 = 32
//! arg x     T[rows, cols] in view dense|rows|offset|broadcast(0)
//! arg ldx   i64 = x.stride0
//! arg g     T[cols] in
//! arg b     T[cols] in
//! arg y     T[rows, cols] out once
//! arg m     f32[rows] out once
//! arg r     f32[rows] out once
//! arg cols  i32
//! arg eps   f32 = 0.00001
//! launch grid=rows block=threads
//! oracle y = layernorm(x, g, b, eps); m = mean(x, -1); r = rsqrt(var(x, -1) + eps)
template <typename T>
__global__ void __launch_bounds__(512)
    layernorm(const T *x, long long ldx, const T *g, const T *b, T *y, float *m, float *r, int cols, float eps)
{
    x += blockIdx.x * ldx;
    y += blockIdx.x * (long long)cols;
    auto path = along(y, cols);
    kept_row<T> row(x, path);
    float sum = 0, squares = 0;
    each(
        path, [&](int, float v) { sum += v; }, row);
    float mean = block_sum(sum) / cols;
    each(
        path, [&](int, float v) { squares += (v - mean) * (v - mean); }, row);
    float rstd = rsqrtf(block_sum(squares) / cols + eps);
    write_each(
        path, y, [&](int, float x, float g, float b) { return (x - mean) * rstd * g + b; }, row, g, b);
    if (threadIdx.x == 0) {
        m[blockIdx.x] = mean;
        r[blockIdx.x] = rstd;
    }
}

// With h = (x - m) r and w = dy g: dx = (w - mean(w) - h mean(w h)) r.
//! kernel layernorm_backward<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 40, cols 0..1073741824 = 300
//! dim    threads 32..512 step 32 = 32
//! arg dy    T[rows, cols] in view dense|rows|offset|broadcast
//! arg lddy  i64 = dy.stride0
//! arg step  i32 = dy.stride1
//! arg x     T[rows, cols] in
//! arg g     T[cols] in
//! arg m     f32[rows] in
//! arg r     f32[rows] in uniform(0.5, 2)
//! arg dx    T[rows, cols] out once
//! arg cols  i32
//! launch grid=rows block=threads
//! oracle h = (x - unsqueeze(m, -1)) * unsqueeze(r, -1); w = dy * g
//! oracle dx = (w - mean(w, -1, keep) - h * mean(w * h, -1, keep)) * unsqueeze(r, -1)
template <typename T>
__global__ void __launch_bounds__(512) layernorm_backward(const T *dy, long long lddy, int step, const T *x, const T *g,
                                                          const float *m, const float *r, T *dx, int cols)
{
    dy += blockIdx.x * lddy;
    x += blockIdx.x * (long long)cols;
    dx += blockIdx.x * (long long)cols;
    auto path = along(dx, cols);
    kept_row<T> dys(strided<T>(dy, step), path), xs(x, path);
    float mean = m[blockIdx.x], rstd = r[blockIdx.x], sum = 0, products = 0;
    auto add = [&](int, float dy, float x, float g) {
        sum += dy * g;
        products += dy * g * (x - mean) * rstd;
    };
    each(path, add, dys, xs, g);
    sum = block_sum(sum) / cols;
    products = block_sum(products) / cols;
    auto gradient = [&](int, float dy, float x, float g) {
        return (dy * g - sum - (x - mean) * rstd * products) * rstd;
    };
    write_each(path, dx, gradient, dys, xs, g);
}

// Added to dg and db: dg = sum over rows of dy h, db = sum of dy. A block takes 128 columns and one of `parts` parts of
// the rows; with one part every element is added to once, so that the result is the same in every run.
//! kernel layernorm_backward_weights<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647, cols 0..1073741824, parts 1..65535 = 1
//! arg dy    T[rows, cols] in view dense|rows|offset|broadcast
//! arg lddy  i64 = dy.stride0
//! arg step  i32 = dy.stride1
//! arg x     T[rows, cols] in
//! arg m     f32[rows] in
//! arg r     f32[rows] in uniform(0.5, 2)
//! arg dg    f32[cols] inout normal
//! arg db    f32[cols] inout normal
//! arg rows  i32
//! arg cols  i32
//! launch grid=ceildiv(cols, 128),parts block=32,8
//! oracle h = (x - unsqueeze(m, -1)) * unsqueeze(r, -1)
//! oracle dg = sum(concat(unsqueeze(dg, 0), dy * h, 0), 0); db = sum(concat(unsqueeze(db, 0), dy, 0), 0)
template <typename T>
__global__ void layernorm_backward_weights(const T *dy, long long lddy, int step, const T *x, const float *m,
                                           const float *r, float *dg, float *db, int rows, int cols)
{
    auto sum_up = [&](auto columns) {
        float sum[4] = {}, products[4] = {};
#pragma unroll 4
        for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < rows; row += gridDim.y * blockDim.y) {
            auto d = columns.load(strided<T>(dy + row * lddy, step));
            auto v = columns.load(strided<T>(x + row * (long long)cols, 1));
            float mean = m[row], rstd = r[row];
            for (int k = 0; k < 4; k++) {
                sum[k] += float(d.get(k));
                products[k] += float(d.get(k)) * (float(v.get(k)) - mean) * rstd;
            }
        }
        add_columns(db, sum, columns);
        add_columns(dg, products, columns);
    };
    if (in_fours(strided<T>(dy, step), lddy, cols) && in_fours(strided<T>(x, 1), cols, cols))
        sum_up(four_columns<true>(blockIdx.x, threadIdx.x, 32, cols));
    else
        sum_up(four_columns<false>(blockIdx.x, threadIdx.x, 32, cols));
}
