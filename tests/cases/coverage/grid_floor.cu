// The kernel is right; the number of blocks was rounded down.
//! kernel scale
//! dim   n 1..100000
//! arg x  f16[n] in normal
//! arg y  f16[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 32) block=32
#include <cuda_fp16.h>
__global__ void scale(const __half *x, __half *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __hadd(x[i], x[i]);
}
