// For the overhead figures: an empty kernel, and a cooperative one whose threads all hold 64 values across a barrier of
// the grid.
extern "C" __global__ void empty(void)
{
}

extern "C" __global__ void resident(unsigned *count, const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v[64];
#pragma unroll
    for (int k = 0; k < 64; k++)
        v[k] = in[(i + k) & 1023];
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        while (*(volatile unsigned *)count < gridDim.x)
            ;
    }
    __syncthreads();
    int s = 0;
#pragma unroll
    for (int k = 0; k < 64; k++)
        s = s * 3 + v[k];
    out[i] = s;
}
