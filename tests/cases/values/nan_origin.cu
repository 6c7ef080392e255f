// The mean of each row. The bad one divides by the number of positive elements, which is 0 for some rows: 0 / 0.
//! kernel mean_bad
//! dim   rows 1..1024, cols 1..64 = 3
//! arg x  f32[rows, cols] in normal
//! arg y  f32[rows] out once
//! arg rows i32
//! arg cols i32
//! launch grid=ceildiv(rows, 64) block=64

//! kernel mean_ok
//! dim   rows 1..1024, cols 1..64 = 3
//! arg x  f32[rows, cols] in normal
//! arg y  f32[rows] out once
//! arg rows i32
//! arg cols i32
//! launch grid=ceildiv(rows, 64) block=64
__device__ float mean(const float *x, int cols, float least)
{
    float sum = 0, count = least;
    for (int i = 0; i < cols; i++)
        if (x[i] > 0) {
            sum += x[i];
            count++;
        }
    float inverse = sum / count;
    return inverse * 2 + 1;
}

extern "C" __global__ void mean_bad(const float *x, float *y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows)
        y[row] = mean(x + row * cols, cols, 0);
}

extern "C" __global__ void mean_ok(const float *x, float *y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows)
        y[row] = mean(x + row * cols, cols, 1e-6f);
}
