// The transpose of each matrix of a batch, through a tile of shared memory, so that both reading and writing run along
// rows. A row of the tile has one element more than it needs: its columns lie in different banks. The gradient of a
// transpose is the transpose of the gradient.
#include "kernel.cuh"

//! op       transpose(x) -> y
//! forward  transpose(x) -> y
//! backward transpose(dy) -> dx
//! oracle   y = T(x)

//! kernel transpose<T>
//! type   T f32|f16|bf16
//! dim    batch 0..65535 = 2, rows 0..2097120 = 40, cols 0..1073741824 = 72, height 1..32 = 8
//! arg x     T[batch, rows, cols] in view dense|rows|offset|broadcast
//! arg x0    i64 = x.stride0
//! arg x1    i64 = x.stride1
//! arg x2    i64 = x.stride2
//! arg y     T[batch, cols, rows] out once
//! arg rows  i32
//! arg cols  i32
//! launch grid=ceildiv(cols, 32),ceildiv(rows, 32),batch block=32,height
//! oracle y = transpose(x, 0, 2, 1)
template <typename T>
__global__ void transpose(const T *x, long long x0, long long x1, long long x2, T *y, int rows, int cols)
{
    __shared__ T tile[32][33];
    int row = blockIdx.y * 32, col = blockIdx.x * 32;
    x += blockIdx.z * x0;
    y += blockIdx.z * (long long)rows * cols;
    for (int i = threadIdx.y; i < 32; i += blockDim.y)
        if (row + i < rows && col + threadIdx.x < cols)
            tile[i][threadIdx.x] = x[(row + i) * x1 + (col + threadIdx.x) * x2];
    __syncthreads();
    for (int i = threadIdx.y; i < 32; i += blockDim.y)
        if (col + i < cols && row + threadIdx.x < rows)
            y[(col + i) * (long long)rows + row + threadIdx.x] = tile[threadIdx.x][i];
}
