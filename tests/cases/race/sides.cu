// R10: both places, both threads, both values, and what would order them.
extern "C" __global__ void sides_bad(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = 100 + t;
    out[t] = s[63 - t];
    __syncthreads();
    s[t] = 0;
}

extern "C" __global__ void sides_ok(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = 100 + t;
    __syncthreads();
    out[t] = s[63 - t];
    __syncthreads();
    s[t] = 0;
}
