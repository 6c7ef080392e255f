// Blocks that stay and take work from a queue until it is empty; the last one to leave adds up what all have done.
extern "C" __global__ void persistent(int *next, int *left, const int *work, int *done, int *total, int n)
{
    __shared__ int item;
    int mine = 0;
    for (;;) {
        if (threadIdx.x == 0)
            item = atomicAdd(next, 1);
        __syncthreads();
        int i = item;
        __syncthreads();
        if (i >= n)
            break;
        mine += work[i] * (threadIdx.x + 1);
    }
    atomicAdd(&done[blockIdx.x], mine);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(left, 1) == gridDim.x - 1) {
        int s = 0;
        __threadfence();
        for (int b = 0; b < gridDim.x; b++)
            s += ((volatile int *)done)[b];
        *total = s;
    }
}
