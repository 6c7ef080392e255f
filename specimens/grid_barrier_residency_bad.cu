// A grid barrier of our own, with 300 blocks of 1024 threads: 264 of them fit on the card, and wait for those that do not.
//! kernel grid_barrier_residency
//! arg arrived u32[1] inout zeros
//! arg y i32[300] out once
//! launch grid=300 block=1024
extern "C" __global__ void grid_barrier_residency(unsigned *arrived, int *y)
{
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (*(volatile unsigned *)arrived < gridDim.x)
            ;
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        y[blockIdx.x] = 1;
}
