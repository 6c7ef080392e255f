// The index is computed in 32 bits, and 65536 * 65536 wraps to 0; 46341 * 46341 wraps to a negative number.
extern "C" __global__ void wrapped_bad(int *x, int row, int stride)
{
    x[row * stride + threadIdx.x] = 1;
}

extern "C" __global__ void wrapped_ok(int *x, int row, int stride, int n)
{
    long long i = (long long)row * stride + threadIdx.x;
    if (i < n)
        x[i] = 1;
}
