// Two blocks: each waits for the flag of the other one before it sets its own.
//! kernel spin_deadlock
//! arg flags i32[2] inout zeros
//! launch grid=2 block=1
extern "C" __global__ void spin_deadlock(int *flags)
{
    volatile int *mine = flags + blockIdx.x, *other = flags + 1 - blockIdx.x;
    while (*other == 0)
        ;
    *mine = 1;
}
