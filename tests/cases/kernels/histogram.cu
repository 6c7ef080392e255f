// 16 bins over the high halves of bytes: atomics in shared memory then one add a bin, or global atomics alone.
extern "C" __global__ void histogram_shared(const unsigned char *in, int n, unsigned *bins)
{
    __shared__ unsigned local[16];
    if (threadIdx.x < 16)
        local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[in[i] >> 4], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

extern "C" __global__ void histogram_global(const unsigned char *in, int n, unsigned *bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[in[i] >> 4], 1);
}
