// A pointer may stand behind the last element; it may not be followed there.
extern "C" __global__ void one_past_bad(int *x, int n)
{
    for (int *p = x + threadIdx.x, *end = x + n; p <= end; p += blockDim.x)
        *p = 1;
}

extern "C" __global__ void one_past_ok(int *x, int n)
{
    for (int *p = x + n - 1 - threadIdx.x; p >= x; p -= blockDim.x)
        *p = p == x + n - 1 ? 2 : 1;
}
