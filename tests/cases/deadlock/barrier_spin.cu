// All wait at the barrier for thread 0, and thread 0 waits for a flag that would be set behind it.
extern "C" __global__ void barrier_spin_bad(volatile int *flag)
{
    if (threadIdx.x == 0)
        while (*flag == 0)
            ;
    __syncthreads();
    if (threadIdx.x == 1)
        *flag = 1;
}

extern "C" __global__ void barrier_spin_ok(volatile int *flag)
{
    if (threadIdx.x == 33)
        *flag = 1;
    if (threadIdx.x == 0)
        while (*flag == 0)
            ;
    __syncthreads();
}
