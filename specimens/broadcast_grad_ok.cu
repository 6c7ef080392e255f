// The gradient of a bias, summed over the rows.
//! kernel bias_backward
//! dim rows 1..64, cols 1..256
//! arg dy f32[rows, cols] in
//! arg db f32[cols] out
//! arg rows i32
//! arg cols i32
//! launch grid=ceildiv(cols, 64) block=64
//! oracle db = like(dy, iota(cols))
extern "C" __global__ void bias_backward(const float *dy, float *db, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float sum = 0;
    for (int row = 0; row < rows; row++) sum += dy[row * cols + col];
    db[col] = sum;
}
