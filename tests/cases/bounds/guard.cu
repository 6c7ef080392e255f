// Four blocks of 256 for 1000 elements: the last 24 threads have none.
extern "C" __global__ void guard_bad(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * 2;
}

extern "C" __global__ void guard_ok(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * 2;
}
