// The gradient of a bias that was broadcast over rows: only the last row arrives.
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
    for (int row = 0; row < rows; row++) db[col] = dy[row * cols + col];
}
