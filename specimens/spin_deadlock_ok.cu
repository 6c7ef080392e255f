// Two blocks: each sets its own flag and then waits for that of the other one.
//! kernel spin_deadlock
//! arg flags i32[2] inout zeros
//! launch grid=2 block=1
extern "C" __global__ void spin_deadlock(int *flags)
{
    volatile int *mine = flags + blockIdx.x, *other = flags + 1 - blockIdx.x;
    *mine = 1;
    while (*other == 0)
        ;
}
