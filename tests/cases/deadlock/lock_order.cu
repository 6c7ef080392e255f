// Two locks, taken in opposite order. Each holder shows its first lock and waits until the other has one too.
__device__ static void lock(int *l) { while (atomicCAS(l, 0, 1) != 0) ; __threadfence(); }
__device__ static void unlock(int *l) { __threadfence(); atomicExch(l, 0); }
__device__ static void transfer(int *first, int *second, int *money, int *here, int wait)
{
    lock(first);
    if (wait) {
        atomicAdd(here, 1);
        while (*(volatile int *)here < 2)
            ;
    }
    lock(second);
    *(volatile int *)money += 1;
    unlock(second);
    unlock(first);
}

extern "C" __global__ void ctas_bad(int *locks, int *money, int *here)       // two blocks
{
    if (threadIdx.x == 0)
        transfer(locks + blockIdx.x, locks + 1 - blockIdx.x, money, here, 1);
}

extern "C" __global__ void warps_bad(int *locks, int *money, int *here)      // two warps of one block
{
    int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0)
        transfer(locks + warp, locks + 1 - warp, money, here, 1);
}

extern "C" __global__ void lock_order_ok(int *locks, int *money, int *here)  // the same order everywhere
{
    transfer(locks, locks + 1, money, here, 0);
}
