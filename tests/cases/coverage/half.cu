// Tiles of 16 x 16; the bad one skips every second column of tiles, as a loop that steps twice does.
//! kernel half_bad
//! dim   rows 1..1024, cols 1..1024
//! arg x  f32[rows, cols] in iota
//! arg y  f32[rows, cols] out
//! arg rows i32
//! arg cols i32
//! launch grid=1,ceildiv(rows, 16) block=16,16

//! kernel half_ok
//! dim   rows 1..1024, cols 1..1024
//! arg x  f32[rows, cols] in iota
//! arg y  f32[rows, cols] out once
//! arg rows i32
//! arg cols i32
//! launch grid=1,ceildiv(rows, 16) block=16,16
template <int STEP> __device__ void copy(const float *x, float *y, int rows, int cols)
{
    int row = blockIdx.y * 16 + threadIdx.y;
    for (int tile = 0; tile * 16 < cols; tile += STEP) {
        int col = tile * 16 + threadIdx.x;
        if (row < rows && col < cols)
            y[row * cols + col] = x[row * cols + col];
    }
}

extern "C" __global__ void half_bad(const float *x, float *y, int rows, int cols) { copy<2>(x, y, rows, cols); }
extern "C" __global__ void half_ok(const float *x, float *y, int rows, int cols) { copy<1>(x, y, rows, cols); }
