// RMS normalisation with an epsilon of 1e-6 where 1e-5 is meant.
//! kernel rmsnorm
//! dim rows 1..64, cols 1..512
//! arg x f32[rows, cols] in
//! arg g f32[cols] in uniform(0.5, 1.5)
//! arg y f32[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=32
//! oracle y = x * rsqrt(mean(x*x, -1, keep) + 1e-5) * g
static __device__ float warp_sum(float v)
{
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    return v;
}

extern "C" __global__ void rmsnorm(const float *x, const float *g, float *y, int cols)
{
    float sum = 0;
    for (int i = threadIdx.x; i < cols; i += 32) sum += x[blockIdx.x * cols + i] * x[blockIdx.x * cols + i];
    float r = rsqrtf(warp_sum(sum) / cols + 1e-6f);
    for (int i = threadIdx.x; i < cols; i += 32) y[blockIdx.x * cols + i] = x[blockIdx.x * cols + i] * r * g[i];
}
