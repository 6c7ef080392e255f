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

// A sum over the block as everybody writes it: one warp finishes it, in a few instructions. No advice.
extern "C" __global__ void barrier_sum(const float *__restrict__ x, float *__restrict__ y)
{
    __shared__ float part[8];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float v = x[i];
    for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);
    if (t % 32 == 0) part[t / 32] = v;
    __syncthreads();
    if (t < 8) {
        v = part[t];
        for (int o = 4; o; o /= 2) v += __shfl_xor_sync(0xff, v, o);
        if (t == 0) part[0] = v;
    }
    __syncthreads();
    y[i] = x[i] / part[0];
}
