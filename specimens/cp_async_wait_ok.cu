// Two tiles on their way in two groups, and both are waited for before they are used.
//! kernel cp_async_wait
//! arg x f32[2, 128] in uniform(0, 1)
//! arg y f32[128] out once
//! launch grid=1 block=128
#include <cuda_pipeline.h>
extern "C" __global__ void cp_async_wait(const float *x, float *y)
{
    __shared__ float tile[2][128];
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        __pipeline_memcpy_async(&tile[k][t], &x[k * 128 + t], 4);
        __pipeline_commit();
    }
    __pipeline_wait_prior(0);
    __syncthreads();
    y[t] = tile[0][127 - t] + tile[1][127 - t];
    __syncthreads();
    __pipeline_wait_prior(0);
}
