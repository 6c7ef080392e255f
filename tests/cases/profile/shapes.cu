// Launches of a wrong shape: too few blocks, few warps that fit, many threads without work. What is wrong is the launch, so that one kernel serves for
// each pair of twins.
extern "C" __global__ void scale(const float *__restrict__ x, float *__restrict__ y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = 2 * x[i] + 1;
}

extern "C" __global__ void one_each(const float *__restrict__ x, float *__restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i] + 1;
}

extern "C" __global__ void staged(const float *__restrict__ x, float *__restrict__ y)
{
    extern __shared__ float stage[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    stage[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = stage[blockDim.x - 1 - threadIdx.x];
}
