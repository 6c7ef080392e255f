// A block of 2048 threads.
//! kernel threads_2048
//! arg y i32[2048] out once
//! launch grid=1 block=2048
extern "C" __global__ void threads_2048(int *y)
{
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
