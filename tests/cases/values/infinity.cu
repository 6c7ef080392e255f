// f16 ends at 65504.
//! kernel square
//! dim   n 1..1024
//! arg x  f16[n] in const(300)
//! arg y  f16[n] out once
//! launch grid=1 block=n
#include <cuda_fp16.h>
__global__ void square(const __half *x, __half *y)
{
    y[threadIdx.x] = __hmul(x[threadIdx.x], x[threadIdx.x]);
}
