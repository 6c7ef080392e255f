// A copy that nobody waits for.
#include <cuda_pipeline.h>
extern "C" __global__ void unfinished_bad(const float *x, float *y)
{
    __shared__ float next[64];
    __pipeline_memcpy_async(&next[threadIdx.x], &x[threadIdx.x], 4);
    __pipeline_commit();
    y[threadIdx.x] = threadIdx.x;
}
extern "C" __global__ void unfinished_ok(const float *x, float *y)
{
    __shared__ float next[64];
    __pipeline_memcpy_async(&next[threadIdx.x], &x[threadIdx.x], 4);
    __pipeline_commit();
    y[threadIdx.x] = threadIdx.x;
    __pipeline_wait_prior(0);
}
