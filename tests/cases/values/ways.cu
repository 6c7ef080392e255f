// The ways an odd value takes from where it begins to where it is stored, one kernel each. Launched without a contract: --check values.
#include <cuda_fp16.h>
__device__ __noinline__ float through(float x, int depth)
{
    return depth ? through(x, depth - 1) * 0.5f : x;
}
__global__ void shuffled(const float *x, float *y)
{
    float v = threadIdx.x == 5 ? logf(x[threadIdx.x] - 10.0f) : x[threadIdx.x];
    for (int step = 16; step; step /= 2)
        v = fmaxf(v, 0.0f) + __shfl_xor_sync(0xffffffff, v, step) * 0 + (v - v);
    y[threadIdx.x] = v;
}
__global__ void called(const float *x, float *y, int depth)
{
    y[threadIdx.x] = through(sqrtf(x[threadIdx.x] - 2.5f), depth);
}
__global__ void exchanged(const float *x, float *y)
{
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x] / (threadIdx.x == 40 ? 0.0f : 1.0f);
    __syncthreads();
    y[threadIdx.x] = s[63 - threadIdx.x] - s[63 - threadIdx.x];
}
__global__ void summed(const float *x, float *y)
{
    atomicAdd(&y[threadIdx.x % 4], x[threadIdx.x] * 1e38f);
}
__global__ void packed(const float *x, __half2 *y)
{
    float2 v = make_float2(x[2 * threadIdx.x], x[2 * threadIdx.x + 1] * (threadIdx.x == 9 ? 1e6f : 1.0f));
    y[threadIdx.x] = __floats2half2_rn(v.x, v.y);
}
__global__ void doubled(const double *x, double *y)
{
    double v = x[threadIdx.x];
    y[threadIdx.x] = threadIdx.x & 1 ? v : fma(v, 1e308, v * 1e308) - exp(v * 1e4);
}
//! kernel in_place
//! arg x f32[32] inout iota
//! launch grid=1 block=32
__global__ void in_place(float *x)
{
    x[threadIdx.x] = 1.0f / (x[threadIdx.x] - 1.0f);
}
__global__ void unstored(const float *x, float *y)
{
    float v = x[threadIdx.x] / (float)(threadIdx.x & 1);
    y[threadIdx.x] = isfinite(v) ? v : 0.0f;
}
