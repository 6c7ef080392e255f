// Layer normalisation of rows: y = (x - m) r g + b, with m the mean of the row and r = 1 / sqrt(variance + eps), which
// are kept for the way back. A block takes a row; the variance is that of the differences from the mean, since
// mean(x^2) - m^2 loses everything where the mean is large.
#include "columns.cuh"

// The mean of a row and the sum of squares of the differences from it, with one exchange between warps: each has both
// for its own elements, and what its mean differs by is added.
struct mean_and_squares {
    float mean, squares;
};
template <typename P, typename R> __device__ mean_and_squares moments(P p, const R &row)
{
    __shared__ mean_and_squares part[16];
    __shared__ float share[16];
    float sum = 0, mine = 0, squares = 0;
    int warp = threadIdx.x / 32;
    auto add = [&](int, float v) { sum += v, mine += 1; };
    each(p, add, row);
    mine = warp_sum(mine);
    float mean = warp_sum(sum) / (p.n ? fmaxf(mine, 1) : 0);
    each(
        p, [&](int, float v) { squares += (v - mean) * (v - mean); }, row);
    squares = warp_sum(squares);
    if (blockDim.x == 32) return { mean, squares };
    if (threadIdx.x % 32 == 0) {
        part[warp] = { mean, squares };
        share[warp] = mine / p.n;
    }
    __syncthreads();
    mean = squares = 0;
    for (int w = 0; w < blockDim.x / 32; w++) mean += share[w] * part[w].mean;
    for (int w = 0; w < blockDim.x / 32; w++) {
        float apart = part[w].mean - mean;
        squares += part[w].squares + share[w] * p.n * apart * apart;
    }
    return { mean, squares };
}

//! op       layernorm(x, g, b) -> y
//! forward  layernorm(x, g, b) -> y, m, r
//! backward layernorm_backward(dy, x, g, m, r) -> dx
//! backward layernorm_backward_weights(dy, x, m, r) -> dg, db
//! oracle   y = layernorm(x, g, b, 1e-5)

//! kernel layernorm<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 32, cols 0..1073741824 = 300
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
    auto normalise = [&](auto path) {
        kept_row<T> row(x, path);
        auto of_row = moments(path, row);
        float mean = of_row.mean, rstd = rsqrtf(of_row.squares / cols + eps);
        write_each(
            path, y, [&](int, float x, float g, float b) { return (x - mean) * rstd * g + b; }, row, g, b);
        if (threadIdx.x == 0) {
            m[blockIdx.x] = mean;
            r[blockIdx.x] = rstd;
        }
    };
    with_path(normalise, y, cols, strided<T>(x, 1), strided<T>(g, 1), strided<T>(b, 1));
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
__global__ void __maxnreg__(80) layernorm_backward(const T *dy, long long lddy, int step, const T *x, const T *g,
                                                          const float *m, const float *r, T *dx, int cols)
{
    dy += blockIdx.x * lddy;
    x += blockIdx.x * (long long)cols;
    dx += blockIdx.x * (long long)cols;
    auto differentiate = [&](auto path) {
        kept_row<T> dys(strided<T>(dy, step), path), xs(x, path), gs(g, path);
        float mean = m[blockIdx.x], rstd = r[blockIdx.x], sums[2] = {};
        auto add = [&](int, float dy, float x, float g) {
            sums[0] += dy * g;
            sums[1] += dy * g * (x - mean) * rstd;
        };
        each(path, add, dys, xs, gs);
        block_sums(sums);
        float sum = sums[0] / cols, products = sums[1] / cols;
        auto gradient = [&](int, float dy, float x, float g) {
            return (dy * g - sum - (x - mean) * rstd * products) * rstd;
        };
        write_each(path, dx, gradient, dys, xs, gs);
    };
    with_path(differentiate, dx, cols, strided<T>(dy, step), strided<T>(x, 1), strided<T>(g, 1));
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
        float sum[columns.N] = {}, products[columns.N] = {};
        auto add = [&](int, auto d, auto v, float mean, float rstd) {
            for (int k = 0; k < columns.N; k++) {
                sum[k] += float(d.get(k));
                products[k] += float(d.get(k)) * (float(v.get(k)) - mean) * rstd;
            }
        };
        each_row<4>(
            blockIdx.y * columns.rows + columns.row, rows, gridDim.y * columns.rows, add,
            [&](int row) { return columns.load(strided<T>(dy + row * lddy, step)); },
            [&](int row) { return columns.load(strided<T>(x + row * (long long)cols, 1)); },
            [&](int row) { return m[row]; }, [&](int row) { return r[row]; });
        column_sums(columns, sum, [&](int col, float sum) { atomicAdd(&db[col], sum); });
        column_sums(columns, products, [&](int col, float sum) { atomicAdd(&dg[col], sum); });
    };
    bool neighbours = in_chunks(strided<T>(dy, step), lddy, cols) && in_chunks(strided<T>(x, 1), cols, cols);
    with_columns<T, 128>(blockIdx.x, cols, neighbours, sum_up);
}
