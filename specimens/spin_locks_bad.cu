// Two blocks take two locks in opposite order; a flag makes sure that both have the first one.
//! kernel spin_locks
//! arg locks i32[2] inout zeros
//! arg met i32[1] inout zeros
//! arg count i32[1] inout zeros
//! launch grid=2 block=1
static __device__ void take(int *lock)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
}

static __device__ void give(int *lock)
{
    __threadfence();
    atomicExch(lock, 0);
}

extern "C" __global__ void spin_locks(int *locks, int *met, int *count)
{
    int *first = locks + blockIdx.x, *second = locks + 1 - blockIdx.x;
    take(first);
    atomicAdd(met, 1);
    while (*(volatile int *)met < 2)
        ;
    take(second);
    *count += 1;
    give(second);
    give(first);
}
