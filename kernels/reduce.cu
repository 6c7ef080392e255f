// Sums of rows and of columns, times a factor (1 for a sum, 1 / n for a mean), and the largest of rows with its index.
#include "columns.cuh"

//! op       sum_rows(x) -> y
//! forward  sum_rows(x) -> y
//! backward sum_rows_backward(dy) -> dx
//! oracle   y = scale * sum(x, -1)

//! op       sum_columns(x) -> y
//! forward  sum_columns(x) -> y
//! backward sum_columns_backward(dy) -> dx
//! oracle   y = scale * sum(x, 0)

//! op       max_rows(x) -> y, index
//! forward  max_rows(x) -> y, index
//! backward max_rows_backward(dy, index) -> dx
//! oracle   y = max(x, -1); index = argmax(x, -1)

// A block takes a row.
//! kernel sum_rows<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 40, cols 0..1073741824 = 300
//! dim    threads 32..512 step 32 = 32
//! arg x     T[rows, cols] in view dense|rows|offset|broadcast
//! arg ldx   i64 = x.stride0
//! arg step  i32 = x.stride1
//! arg y     T[rows] out once
//! arg cols  i32
//! arg scale f32 = 0.25
//! launch grid=rows block=threads
//! oracle y = scale * sum(x, -1)
template <typename T>
__global__ void __launch_bounds__(512) sum_rows(const T *x, long long ldx, int step, T *y, int cols, float scale)
{
    float sum = 0;
    x += blockIdx.x * ldx;
    auto path = along(x, cols);
    each(
        path, [&](int, float v) { sum += v; }, kept_row<T>(strided<T>(x, step), path));
    sum = block_sum(sum);
    if (threadIdx.x == 0) y[blockIdx.x] = T(sum * scale);
}

//! kernel sum_rows_backward<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 40, cols 0..1073741824 = 300
//! dim    threads 32..1024 step 32 = 32
//! arg dy    T[rows] in view dense|offset|broadcast(0)
//! arg step  i64 = dy.stride0
//! arg dx    T[rows, cols] out once
//! arg cols  i32
//! arg scale f32 = 0.25
//! launch grid=rows block=threads
//! oracle dx = broadcast(unsqueeze(dy * scale, -1), rows, cols)
template <typename T> __global__ void sum_rows_backward(const T *dy, long long step, T *dx, int cols, float scale)
{
    float v = float(dy[blockIdx.x * step]) * scale;
    dx += blockIdx.x * (long long)cols;
    write_each(along(dx, cols), dx, [&](int) { return v; });
}

// A block takes 32 columns: a few threads have 16 bytes each, and those below share the rows.
//! kernel sum_columns<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647, cols 0..1073741824, height 1..32 = 8
//! arg x     T[rows, cols] in view dense|rows|offset|broadcast
//! arg ldx   i64 = x.stride0
//! arg step  i64 = x.stride1
//! arg y     T[cols] out once
//! arg rows  i32
//! arg cols  i32
//! arg scale f32 = 0.25
//! launch grid=ceildiv(cols, 32) block=32,height
//! oracle y = scale * sum(x, 0)
template <typename T>
__global__ void __launch_bounds__(1024)
    sum_columns(const T *x, long long ldx, long long step, T *y, int rows, int cols, float scale)
{
    auto sum_up = [&](auto columns) {
        float sum[columns.N] = {};
        auto add = [&](int, auto c) {
            for (int k = 0; k < columns.N; k++) sum[k] += float(c.get(k));
        };
        each_row<8>(columns.row, rows, columns.rows, add,
                    [&](int row) { return columns.load(strided<T>(x + row * ldx, step)); });
        column_sums(columns, sum, [&](int col, float sum) { y[col] = T(sum * scale); });
    };
    with_columns<T, 32>(blockIdx.x, cols, in_chunks(strided<T>(x, step), ldx, cols), sum_up);
}

//! kernel sum_columns_backward<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 40, cols 0..1073741824 = 300
//! dim    threads 32..1024 step 32 = 32
//! arg dy    T[cols] in view dense|offset|broadcast(0)
//! arg step  i64 = dy.stride0
//! arg dx    T[rows, cols] out once
//! arg cols  i32
//! arg scale f32 = 0.25
//! launch grid=rows block=threads
//! oracle dx = broadcast(dy * scale, rows, cols)
template <typename T> __global__ void sum_columns_backward(const T *dy, long long step, T *dx, int cols, float scale)
{
    dx += blockIdx.x * (long long)cols;
    write_each(
        along(dx, cols), dx, [&](int, float v) { return v * scale; }, strided<T>(dy, step));
}

// The index is that of the first where several are largest. NaN is passed over.
//! kernel max_rows<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 40, cols 1..1073741824 = 300
//! dim    threads 32..512 step 32 = 32
//! arg x     T[rows, cols] in normal view dense|rows|offset|broadcast(0)
//! arg ldx   i64 = x.stride0
//! arg y     T[rows] out once
//! arg index i32[rows] out once
//! arg cols  i32
//! launch grid=rows block=threads
//! oracle same = x == max(x, -1, keep)
//! oracle y = max(x, -1); index = min(where(same, iota(cols), cols), -1)
template <typename T>
__global__ void __launch_bounds__(512) max_rows(const T *x, long long ldx, T *y, int *index, int cols)
{
    __shared__ int first;
    float most = -INFINITY;
    x += blockIdx.x * ldx;
    if (threadIdx.x == 0) first = cols;
    auto path = along(x, cols);
    kept_row<T> row(x, path);
    each(
        path, [&](int, float v) { most = fmaxf(most, v); }, row);
    most = block_max(most);
    auto look = [&](int i, float v) {
        if (v == most) atomicMin(&first, i);
    };
    each(path, look, row);
    __syncthreads();
    if (threadIdx.x == 0) {
        y[blockIdx.x] = T(most);
        index[blockIdx.x] = first;
    }
}

//! kernel max_rows_backward<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 40, cols 1..1073741824 = 300
//! dim    threads 32..1024 step 32 = 32
//! arg dy    T[rows] in view dense|offset|broadcast(0)
//! arg step  i64 = dy.stride0
//! arg index i32[rows] in index(cols)
//! arg dx    T[rows, cols] out once
//! arg cols  i32
//! launch grid=rows block=threads
//! oracle dx = where(iota(cols) == unsqueeze(index, -1), unsqueeze(dy, -1), 0)
template <typename T> __global__ void max_rows_backward(const T *dy, long long step, const int *index, T *dx, int cols)
{
    float v = float(dy[blockIdx.x * step]);
    int place = index[blockIdx.x];
    dx += blockIdx.x * (long long)cols;
    write_each(along(dx, cols), dx, [&](int i) { return i == place ? v : 0.0f; });
}
