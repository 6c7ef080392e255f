// Two blocks take two locks in the same order.
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
    int *first = locks, *second = locks + 1;
    take(first);
    atomicAdd(met, 1);
    take(second);
    *count += 1;
    give(second);
    give(first);
}
