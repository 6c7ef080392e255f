// volatile, fences of three scopes, nanosleep, clocks.
extern "C" __global__ void order(volatile int *flag, int *data, int *out)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        __nanosleep(1000);
        data[0] = 42;
        __threadfence();
        *flag = 1;
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (*flag == 0)
            __nanosleep(100);
        __threadfence_system();
        out[0] = ((volatile int *)data)[0];
    }
    __threadfence_block();
}

extern "C" __global__ void clocks(int *out)     // properties only: they do not stand still and do not run back
{
    long long a = clock64();
    unsigned long long g, h;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g));
    int s = threadIdx.x;
    for (int i = 0; i < 100; i++)
        s = s * 3 + __shfl_xor_sync(~0u, s, 1);
    __nanosleep(2000);
    long long b = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(h));
    out[threadIdx.x] = (b > a) + 10 * (h >= g + 1000) + (s == 1 ? 100 : 0);
}
