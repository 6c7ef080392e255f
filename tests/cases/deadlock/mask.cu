// Masks that name a lane which never comes, which is not the caller, or which has left.
extern "C" __global__ void absent_bad(int *out, volatile int *flag)     // lane 7 waits elsewhere for ever
{
    int t = threadIdx.x;
    if (t == 7)
        while (*flag == 0)
            ;
    __syncwarp();
    if (t == 0)
        *flag = 1;
    out[t] = t;
}

extern "C" __global__ void shuffle_bad(int *out)        // half the lanes shuffle with a full mask, the others at a barrier
{
    int t = threadIdx.x, v = t;
    if (t < 16)
        v = __shfl_xor_sync(~0u, v, 1);
    else
        __syncwarp();
    out[t] = v;
}

extern "C" __global__ void outside_bad(int *out)        // lanes 16..31 are not in their own mask
{
    out[threadIdx.x] = __shfl_sync(0x0000ffff, threadIdx.x, 3);
}

extern "C" __global__ void mask_ok(int *out)            // lanes that have left do not count
{
    int t = threadIdx.x;
    if (t >= 20)
        return;
    __syncwarp();
    out[t] = __shfl_sync(~0u, t, 3) + __popc(__ballot_sync(0x000fffff, 1));
}

extern "C" __global__ void branch_bad(int *out, int n)  // the mask was computed for another branch
{
    int t = threadIdx.x, v = t;
    if (t < n)
        v = __shfl_sync(0x000000ff, t, 3);
    out[t] = v;
}
