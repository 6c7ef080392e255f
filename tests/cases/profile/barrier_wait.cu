// One warp of eight does the work between two barriers. In the twin, all of them do.
extern "C" __global__ void barrier_bad(const float *__restrict__ x, float *__restrict__ y)
{
    __shared__ float part[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    part[threadIdx.x] = x[i];
    __syncthreads();
    if (threadIdx.x < 32)
        for (int k = 0; k < 8; k++) part[k * 32 + threadIdx.x] = sqrtf(part[k * 32 + threadIdx.x]) + 1;
    __syncthreads(); // <-- barrier_wait
    y[i] = part[255 - threadIdx.x];
}

extern "C" __global__ void barrier_ok(const float *__restrict__ x, float *__restrict__ y)
{
    __shared__ float part[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    part[threadIdx.x] = x[i];
    __syncthreads();
    part[threadIdx.x] = sqrtf(part[threadIdx.x]) + 1;
    __syncthreads();
    y[i] = part[255 - threadIdx.x];
}
