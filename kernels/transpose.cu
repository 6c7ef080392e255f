// The transpose of each matrix of a batch, through a tile of shared memory, so that both reading and writing run along
// rows, four elements at a time. A row of the tile is 4 bytes longer than it needs to be: its columns lie in different
// banks. The gradient of a transpose is the transpose of the gradient.
#include "columns.cuh"

constexpr int TILE = 64;

//! op       transpose(x) -> y
//! forward  transpose(x) -> y
//! backward transpose(dy) -> dx
//! oracle   y = T(x)

//! kernel transpose<T>
//! type   T f32|f16|bf16
//! dim    batch 0..65535 = 2, rows 0..4194240 = 40, cols 0..1073741824 = 72, height 1..64 = 8
//! arg x     T[batch, rows, cols] in view dense|rows|offset|broadcast
//! arg x0    i64 = x.stride0
//! arg x1    i64 = x.stride1
//! arg x2    i64 = x.stride2
//! arg y     T[batch, cols, rows] out once
//! arg rows  i32
//! arg cols  i32
//! launch grid=ceildiv(cols, 64),ceildiv(rows, 64),batch block=16,height
//! oracle y = transpose(x, 0, 2, 1)
template <typename T>
__global__ void transpose(const T *x, long long x0, long long x1, long long x2, T *y, int rows, int cols)
{
    __shared__ T tile[TILE][TILE + 4 / sizeof(T)];
    int row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    x += blockIdx.z * x0;
    y += blockIdx.z * (long long)rows * cols;
    auto read = [&](auto columns) {
#pragma unroll 4
        for (int i = threadIdx.y; i < min(TILE, rows - row); i += blockDim.y) {
            auto c = columns.load(strided<T>(x + (row + i) * x1, x2));
            for (int k = 0; k < 4; k++) tile[i][columns.at(k) - col] = c.get(k);
        }
    };
    auto write = [&](auto columns) {
#pragma unroll 4
        for (int i = threadIdx.y; i < min(TILE, cols - col); i += blockDim.y) {
            chunk<T, 4> c;
            for (int k = 0; k < 4; k++) c.set(k, tile[columns.at(k) - row][i]);
            columns.store(y + (col + i) * (long long)rows, c);
        }
    };
    if (in_fours(strided<T>(x, x2), x1, cols))
        read(four_columns<true>(blockIdx.x, threadIdx.x, 16, cols));
    else
        read(four_columns<false>(blockIdx.x, threadIdx.x, 16, cols));
    __syncthreads();
    if (in_fours(strided<T>(y, 1), rows, rows))
        write(four_columns<true>(blockIdx.y, threadIdx.x, 16, rows));
    else
        write(four_columns<false>(blockIdx.y, threadIdx.x, 16, rows));
}
