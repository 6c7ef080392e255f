// Constant memory can be read through any pointer, and written through none.
__constant__ int table[16] = {1, 2, 3, 4};
__device__ int ram[16] = {5, 6, 7, 8};
__device__ __noinline__ void put(int *p, int v) { *p = v; }
__device__ __noinline__ int get(const int *p) { return *p; }

extern "C" __global__ void constant_bad(int *out)
{
    put((int *)table + threadIdx.x, 9);
    out[threadIdx.x] = get(table + threadIdx.x);
}

extern "C" __global__ void constant_ok(int *out)
{
    put(ram + threadIdx.x, 9);
    out[threadIdx.x] = get((threadIdx.x & 1 ? table : ram) + threadIdx.x);
}

extern "C" __global__ void constant_over(int *out, int shift)
{
    out[threadIdx.x] = table[threadIdx.x + shift];
}
