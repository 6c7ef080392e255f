// The index is computed in 32 bits, and 46341 * 46341 = 2147488281 wraps to a negative number.
extern "C" __global__ void wrapped_bad(int *x, int row, int stride)
{
    int t = threadIdx.x;
    x[row * stride + t] = 1;
}

extern "C" __global__ void wrapped_ok(int *x, int row, int stride, int n)
{
    long long i = (long long)row * stride + threadIdx.x;
    if (i < n)
        x[i] = 1;
}
