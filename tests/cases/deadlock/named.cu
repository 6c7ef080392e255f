// Named barriers that do not add up.
__device__ static void bar_sync(int id, int n) { asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(n) : "memory"); }

extern "C" __global__ void count_bad(int *out)          // 96 are expected, 64 come
{
    bar_sync(1, 96);
    out[threadIdx.x] = 1;
}

extern "C" __global__ void crossed_bad(int *out)        // each half waits for the other at another barrier
{
    bar_sync(threadIdx.x < 32 ? 1 : 2, 64);
    out[threadIdx.x] = 1;
}

extern "C" __global__ void named_ok(int *out)
{
    bar_sync(threadIdx.x < 32 ? 1 : 2, 32);
    bar_sync(3, 64);
    out[threadIdx.x] = 1;
}
