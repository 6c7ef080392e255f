// A long sum of products in float.
//! kernel dot
//! dim rows 1..64, n 1..1024
//! arg x f16[rows, n] in
//! arg y f16[rows, n] in
//! arg z f32[rows] out once
//! arg n i32
//! launch grid=rows block=1
//! oracle z = einsum("rn,rn->r", x, y)
#include <cuda_fp16.h>

extern "C" __global__ void dot(const __half *x, const __half *y, float *z, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++) sum += __half2float(x[blockIdx.x * n + i]) * __half2float(y[blockIdx.x * n + i]);
    z[blockIdx.x] = sum;
}
