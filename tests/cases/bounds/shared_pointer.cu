// A generic pointer into shared memory, in a function that does not know where it points.
__device__ __noinline__ int sum(const int *p, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += p[i];
    return s;
}

extern "C" __global__ void shared_pointer(int *out, int n)      // n up to 32
{
    __shared__ int before[32], values[32], after[32];
    int t = threadIdx.x;
    before[t] = after[t] = 1000;
    values[t] = t;
    __syncthreads();
    out[t] = sum(values, n) + before[31 - t] - after[31 - t];
}
