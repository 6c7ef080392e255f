// The bound of the loop is the longest row of the block; shorter rows only pass the barrier.
//! kernel barrier_private_bound
//! dim n = 64
//! arg lengths i32[n] in iota
//! arg y i32[n] out once
//! launch grid=1 block=n
extern "C" __global__ void barrier_private_bound(const int *lengths, int *y)
{
    __shared__ int held[2][64];
    int i = threadIdx.x, sum = 0, mine = lengths[i] / 16;
    __shared__ int longest;
    if (i == 0)
        longest = 0;
    __syncthreads();
    atomicMax(&longest, mine);
    __syncthreads();
    for (int step = 0, steps = longest; step < steps; step++) {
        held[step & 1][i] = step;
        __syncthreads();
        if (step < mine)
            sum += held[step & 1][i ^ 1];
    }
    y[i] = sum;
}
