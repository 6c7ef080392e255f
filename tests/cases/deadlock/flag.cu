// A flag that nobody sets, and one that a later block sets.
extern "C" __global__ void flag_bad(volatile int *flag, int *out)
{
    while (flag[blockIdx.x] == 0)
        __nanosleep(50);
    out[blockIdx.x] = 1;
}

extern "C" __global__ void flag_ok(volatile int *flag, int *out)
{
    if (blockIdx.x == gridDim.x - 1)
        *flag = 1;
    while (*flag == 0)
        __nanosleep(50);
    out[blockIdx.x] = 1;
}

extern "C" __global__ void busy_bad(volatile int *flag, volatile int *beat)    // it counts while it waits: no proof, a budget
{
    while (*flag == 0)
        *beat += 1;
}
