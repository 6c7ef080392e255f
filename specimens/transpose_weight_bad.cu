// The weight is read as if it were transposed.
//! kernel linear
//! dim rows 1..64, n 1..128
//! arg x f32[rows, n] in normal
//! arg w f32[n, n] in normal
//! arg y f32[rows, n] out once
//! arg rows i32
//! arg n i32
//! launch grid=ceildiv(n, 64),rows block=64
//! oracle y = x @ T(w)
extern "C" __global__ void linear(const float *x, const float *w, float *y, int rows, int n)
{
    int row = blockIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += x[row * n + k] * w[k * n + col];
    y[row * n + col] = sum;
}
