// A tile of halves with rows of 64 + 1: rows are 130 bytes apart, and 16-byte copies need multiples of 16.
#include <cuda_pipeline.h>
//! kernel align_cp_async
//! arg x u16[64, 64] in
//! arg y u16[64, 64] out once
//! launch grid=1 block=128
extern "C" __global__ void align_cp_async(const unsigned short *x, unsigned short *y)
{
    __shared__ __align__(16) unsigned short tile[64][64 + 1];
    for (int i = threadIdx.x; i < 512; i += 128)
        __pipeline_memcpy_async(&tile[i / 8][i % 8 * 8], x + i * 8, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int i = threadIdx.x; i < 4096; i += 128)
        y[i] = tile[i / 64][i % 64];
}
