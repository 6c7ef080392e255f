// One lane that writes for its warp, and one that works for it.
extern "C" __global__ void leader_ok(const float *x, float *y)
{
    float a = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int k = 16; k; k >>= 1) a += __shfl_xor_sync(~0u, a, k);
    if (threadIdx.x % 32 == 0) y[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = a;
}

extern "C" __global__ void leader_bad(const float *x, float *y)
{
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x % 32 == 0) {
        float a = 0;
        for (int i = 0; i < 32; i++) a += x[first + i];
        y[first / 32] = a;
    }
}
