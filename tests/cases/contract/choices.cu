//! kernel scale<T,BLOCK>
//! type   T f32|f16|bf16
//! config BLOCK 128 {64, 128, 256}
//! dim    rows 0..4096, cols 1..8192
//! arg x  T[rows, cols] in normal view dense|rows|offset|broadcast(0)
//! arg y  T[rows, cols] out once
//! arg ld i32 = x.stride0
//! arg cols i32
//! launch grid=rows block=BLOCK
//! accumulate f32
//! tolerance 4x
//! property rows_independent
//! flops 2 * rows * cols
//! threshold 3%
//! oracle y = x * 2
#include <cuda_fp16.h>
#include <cuda_bf16.h>
template <class T, int BLOCK> __global__ void scale(const T *x, T *y, int ld, int cols)
{
    for (int c = threadIdx.x; c < cols; c += BLOCK)
        y[blockIdx.x * cols + c] = (T)((float)x[blockIdx.x * ld + c] * 2.f);
}
template __global__ void scale<float, 128>(const float *, float *, int, int); // the usual one, for the PTX beside it

//! op   doubled(x) -> y
//! forward scale(x) -> y
//! oracle y = x + x
