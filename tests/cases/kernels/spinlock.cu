// A spin lock that all the lanes of a warp take. The unlock lies behind the loop: a machine that lets the lanes join
// before it runs for ever; from sm_70 on it ends.
__device__ static void lock(int *l)
{
    while (atomicCAS(l, 0, 1) != 0)
        ;
    __threadfence();
}
__device__ static void unlock(int *l)
{
    __threadfence();
    atomicExch(l, 0);
}

extern "C" __global__ void spinlock(int *l, int *counter)
{
    lock(l);
    *(volatile int *)counter += 1;
    unlock(l);
}

// The other idiom: try, and leave the loop from inside.
extern "C" __global__ void trylock(int *l, int *counter)
{
    bool done = false;
    while (!done)
        if (atomicCAS(l, 0, 1) == 0) {
            __threadfence();
            *(volatile int *)counter += threadIdx.x;
            unlock(l);
            done = true;
        }
}

// A ticket lock: whoever draws a number waits until it is called. Writes down the order that came out.
extern "C" __global__ void ticket(int *next, int *serving, int *order)
{
    int mine = atomicAdd(next, 1);
    while (*(volatile int *)serving != mine)
        ;
    __threadfence();
    order[mine] = mine * 3;
    __threadfence();
    atomicAdd(serving, 1);
}
