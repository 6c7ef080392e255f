// Root mean square normalisation of rows: y = x r g with r = 1 / sqrt(mean(x^2) + eps), which is kept for the way back.
// A block takes a row.
#include "columns.cuh"

//! op       rmsnorm(x, g) -> y
//! forward  rmsnorm(x, g) -> y, r
//! backward rmsnorm_backward(dy, x, g, r) -> dx
//! backward rmsnorm_backward_weights(dy, x, r) -> dg
//! oracle   y = rmsnorm(x, g, 1e-5)

//! kernel rmsnorm<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 40, cols 0..1073741824 = 300
//! dim    threads 32..512 step 32 = 32
//! arg x     T[rows, cols] in view dense|rows|offset|broadcast(0)
//! arg ldx   i64 = x.stride0
//! arg g     T[cols] in
//! arg y     T[rows, cols] out once
//! arg r     f32[rows] out once
//! arg cols  i32
//! arg eps   f32 = 0.00001
//! launch grid=rows block=threads
//! oracle y = rmsnorm(x, g, eps); r = rsqrt(mean(x * x, -1) + eps)
template <typename T>
__global__ void __launch_bounds__(512)
    rmsnorm(const T *x, long long ldx, const T *g, T *y, float *r, int cols, float eps)
{
    x += blockIdx.x * ldx;
    y += blockIdx.x * (long long)cols;
    auto normalise = [&](auto path) {
        kept_row<T> row(x, path);
        float squares = 0;
        each(
            path, [&](int, float v) { squares += v * v; }, row);
        float scale = rsqrtf(block_sum(squares) / cols + eps);
        write_each(
            path, y, [&](int, float x, float g) { return x * scale * g; }, row, g);
        if (threadIdx.x == 0) r[blockIdx.x] = scale;
    };
    with_path(normalise, y, cols, strided<T>(x, 1), strided<T>(g, 1));
}

// With h = x r and w = dy g: dx = (w - h mean(w h)) r.
//! kernel rmsnorm_backward<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 40, cols 0..1073741824 = 300
//! dim    threads 32..512 step 32 = 32
//! arg dy    T[rows, cols] in view dense|rows|offset|broadcast
//! arg lddy  i64 = dy.stride0
//! arg step  i32 = dy.stride1
//! arg x     T[rows, cols] in
//! arg g     T[cols] in
//! arg r     f32[rows] in uniform(0.5, 2)
//! arg dx    T[rows, cols] out once
//! arg cols  i32
//! launch grid=rows block=threads
//! oracle h = x * unsqueeze(r, -1); w = dy * g
//! oracle dx = (w - h * mean(w * h, -1, keep)) * unsqueeze(r, -1)
template <typename T>
__global__ void __maxnreg__(80)
    rmsnorm_backward(const T *dy, long long lddy, int step, const T *x, const T *g, const float *r, T *dx, int cols)
{
    dy += blockIdx.x * lddy;
    x += blockIdx.x * (long long)cols;
    dx += blockIdx.x * (long long)cols;
    auto differentiate = [&](auto path) {
        kept_row<T> dys(strided<T>(dy, step), path), xs(x, path), gs(g, path);
        float scale = r[blockIdx.x], products = 0;
        each(
            path, [&](int, float dy, float x, float g) { products += dy * g * (x * scale); }, dys, xs, gs);
        products = block_sum(products) / cols;
        auto gradient = [&](int, float dy, float x, float g) { return (dy * g - x * scale * products) * scale; };
        write_each(path, dx, gradient, dys, xs, gs);
    };
    with_path(differentiate, dx, cols, strided<T>(dy, step), strided<T>(x, 1), strided<T>(g, 1));
}

// Added to dg: the sum over rows of dy x r. A block takes 128 columns and one of `parts` parts of the rows; with one
// part every element is added to once, so that the result is the same in every run.
//! kernel rmsnorm_backward_weights<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647, cols 0..1073741824, parts 1..65535 = 1
//! arg dy    T[rows, cols] in view dense|rows|offset|broadcast
//! arg lddy  i64 = dy.stride0
//! arg step  i32 = dy.stride1
//! arg x     T[rows, cols] in
//! arg r     f32[rows] in uniform(0.5, 2)
//! arg dg    f32[cols] inout normal
//! arg rows  i32
//! arg cols  i32
//! launch grid=ceildiv(cols, 128),parts block=32,8
//! oracle dg = sum(concat(unsqueeze(dg, 0), dy * x * unsqueeze(r, -1), 0), 0)
template <typename T>
__global__ void rmsnorm_backward_weights(const T *dy, long long lddy, int step, const T *x, const float *r, float *dg,
                                         int rows, int cols)
{
    auto sum_up = [&](auto columns) {
        float products[columns.N] = {};
        auto add = [&](int, auto d, auto v, float scale) {
            for (int k = 0; k < columns.N; k++) products[k] += float(d.get(k)) * float(v.get(k)) * scale;
        };
        each_row<4>(
            blockIdx.y * columns.rows + columns.row, rows, gridDim.y * columns.rows, add,
            [&](int row) { return columns.load(strided<T>(dy + row * lddy, step)); },
            [&](int row) { return columns.load(strided<T>(x + row * (long long)cols, 1)); },
            [&](int row) { return r[row]; });
        column_sums(columns, products, [&](int col, float sum) { atomicAdd(&dg[col], sum); });
    };
    bool neighbours = in_chunks(strided<T>(dy, step), lddy, cols) && in_chunks(strided<T>(x, 1), cols, cols);
    with_columns<T, 128>(blockIdx.x, cols, neighbours, sum_up);
}
