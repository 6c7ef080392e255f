// A product with a sparse matrix: where its rows begin is `offsets(entries)`. One takes the first entry of the next row, too.

//! kernel spmv
//! dim rows 1..100000 = 60, cols 1..100000 = 50, entries 0..1000000 = 300
//! arg offsets i32[rows + 1] in offsets(entries)
//! arg column i32[entries] in index(cols)
//! arg value f32[entries] in
//! arg x f32[cols] in
//! arg y f32[rows] out once
//! arg rows i32
//! launch grid=ceildiv(rows, 128) block=128
//! oracle row = sum(unsqueeze(offsets[1:], 0) <= unsqueeze(iota(entries), 1), -1)
//! oracle y = reshape(scatter_add(reshape(value * reshape(gather(reshape(x, cols, 1), column), entries), entries, 1), row, rows), rows)
extern "C" __global__ void spmv(const int *offsets, const int *column, const float *value, const float *x, float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int i = offsets[row]; i < offsets[row + 1]; i++) sum += value[i] * x[column[i]];
    y[row] = sum;
}

//! kernel spmv_bad
//! dim rows 1..100000 = 60, cols 1..100000 = 50, entries 0..1000000 = 300
//! arg offsets i32[rows + 1] in offsets(entries)
//! arg column i32[entries] in index(cols)
//! arg value f32[entries] in
//! arg x f32[cols] in
//! arg y f32[rows] out once
//! arg rows i32
//! launch grid=ceildiv(rows, 128) block=128
//! oracle row = sum(unsqueeze(offsets[1:], 0) <= unsqueeze(iota(entries), 1), -1)
//! oracle y = reshape(scatter_add(reshape(value * reshape(gather(reshape(x, cols, 1), column), entries), entries, 1), row, rows), rows)
extern "C" __global__ void spmv_bad(const int *offsets, const int *column, const float *value, const float *x, float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int i = offsets[row]; i <= offsets[row + 1]; i++) sum += value[i] * x[column[i]];
    y[row] = sum;
}
