// R1: what counts as strong. A compare-and-swap that fails is a strong read, and a strong access beside a weak one is a race.
extern "C" __global__ void strong_bad(int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) *flag = 1;
    else out[0] = atomicCAS(flag, 7, 8);
}

extern "C" __global__ void strong_ok(int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) atomicExch(flag, 1);
    else if (blockIdx.x == 1) out[0] = atomicCAS(flag, 7, 8);
    else out[1] = *(volatile int *)flag;
}
