// Block 0 makes, block 1 takes, through a ring of four slots with a flag each; then a chain through all blocks.
extern "C" __global__ void producer(volatile int *slot, volatile int *full, int *out, int n)
{
    if (threadIdx.x != 0)
        return;
    for (int i = 0; i < n; i++) {
        int k = i % 4;
        if (blockIdx.x == 0) {
            while (full[k])
                ;
            __threadfence();
            slot[k] = i * i;
            __threadfence();
            full[k] = 1;
        } else {
            while (!full[k])
                ;
            __threadfence();
            out[i] = slot[k];
            __threadfence();
            full[k] = 0;
        }
    }
}

// Block k waits for block k + 1: blocks must not have to finish in order.
extern "C" __global__ void chain(volatile int *done, int *out)
{
    if (threadIdx.x == 0 && blockIdx.x + 1 < gridDim.x)
        while (!done[blockIdx.x + 1])
            ;
    __threadfence();
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x + 1 < gridDim.x ?
        ((volatile int *)out)[(blockIdx.x + 1) * blockDim.x + threadIdx.x] + 1 : threadIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        done[blockIdx.x] = 1;
}
