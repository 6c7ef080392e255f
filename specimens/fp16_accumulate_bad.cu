// A long sum of products is kept in half.
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
    __half sum = 0.0f;
    for (int i = 0; i < n; i++) sum = __hfma(x[blockIdx.x * n + i], y[blockIdx.x * n + i], sum);
    z[blockIdx.x] = __half2float(sum);
}
