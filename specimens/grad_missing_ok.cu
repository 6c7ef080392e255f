// Both gradients of x * g.
//! kernel scale_backward
//! dim rows 1..64, cols 1..256
//! arg x f32[rows, cols] in
//! arg g f32[cols] in
//! arg dy f32[rows, cols] in
//! arg dx f32[rows, cols] out once
//! arg dg f32[cols] out once
//! arg rows i32
//! arg cols i32
//! launch grid=ceildiv(cols, 64) block=64
//! oracle dx, dg = grad(x * g, dy)
extern "C" __global__ void scale_backward(const float *x, const float *g, const float *dy, float *dx, float *dg, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float sum = 0;
    for (int row = 0; row < rows; row++) {
        dx[row * cols + col] = dy[row * cols + col] * g[col];
        sum += dy[row * cols + col] * x[row * cols + col];
    }
    dg[col] = sum;
}
