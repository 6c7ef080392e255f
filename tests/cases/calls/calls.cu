// Calls that lead nowhere, and calls that never end.
typedef int (*op)(int);
__device__ __noinline__ int twice(int x) { return x * 2; }
__device__ __noinline__ int thrice(int x) { return x * 3; }
__device__ op table[3] = {twice, thrice};           // the third is null

extern "C" __global__ void through_table(int *out, int which)
{
    out[threadIdx.x] = table[(threadIdx.x + which) % 3](threadIdx.x);
}

__device__ __noinline__ int deep(int n, int *p)
{
    int here[4] = {n, n + 1, n + 2, n + 3};
    return n == 0 ? *p : deep(n - 1, &here[n & 3]) + here[*p & 3];
}

extern "C" __global__ void recursive(int *out, int depth)
{
    int zero = 0;
    out[threadIdx.x] = deep(depth, &zero);
}
