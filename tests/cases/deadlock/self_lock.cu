// A lock taken twice by the same thread, and one that is never given back.
__device__ static void lock(int *l) { while (atomicCAS(l, 0, 1) != 0) ; }

extern "C" __global__ void twice_bad(int *l)
{
    lock(l);
    lock(l);
    atomicExch(l, 0);
}

extern "C" __global__ void kept_bad(int *l, int *n)
{
    lock(l);
    __threadfence();
    if (++*(volatile int *)n == 3)
        return;                             // with the lock
    __threadfence();
    atomicExch(l, 0);
}
