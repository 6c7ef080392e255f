// The first thread looks one to the left.
extern "C" __global__ void negative_bad(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] - x[i - 1];
}

extern "C" __global__ void negative_ok(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = i > 0 ? x[i] - x[i - 1] : x[i];
}
