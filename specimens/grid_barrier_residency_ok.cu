// A grid barrier of our own, with as many blocks as fit on the card.
//! kernel grid_barrier_residency
//! arg arrived u32[1] inout zeros
//! arg y i32[264] out once
//! launch grid=264 block=1024
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
