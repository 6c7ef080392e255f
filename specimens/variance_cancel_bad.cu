// The variance as E[x^2] - mean^2, which cancels where the mean is large.
//! kernel variance
//! dim rows 1..64, cols 1..512
//! arg x f32[rows, cols] in
//! arg y f32[rows] out once
//! arg cols i32
//! launch grid=rows block=32
//! oracle y = var(x, -1)
static __device__ float warp_sum(float v)
{
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    return v;
}

extern "C" __global__ void variance(const float *x, float *y, int cols)
{
    const float *p = x + blockIdx.x * cols;
    float sum = 0;
    for (int i = threadIdx.x; i < cols; i += 32) sum += p[i];
    float mean = warp_sum(sum) / cols, square = 0;
    for (int i = threadIdx.x; i < cols; i += 32) square += p[i] * p[i];
    float var = warp_sum(square) / cols - mean * mean;
    if (threadIdx.x == 0) y[blockIdx.x] = var;
}
