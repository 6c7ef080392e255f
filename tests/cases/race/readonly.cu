// R9: ld.global.nc may come from a cache that does not see what this launch writes, however well it is ordered.
extern "C" __global__ void readonly_bad(int *x, int *out)
{
    int t = threadIdx.x;
    x[t] = t;
    __syncthreads();
    out[t] = __ldg(x + (t ^ 1));
}

extern "C" __global__ void readonly_ok(int *x, const int *before, int *out)
{
    int t = threadIdx.x;
    x[t] = t;
    __syncthreads();
    out[t] = x[t ^ 1] + __ldg(before + t);
}
