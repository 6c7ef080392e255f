// Two blocks of 1024 threads.
//! kernel threads_2048
//! arg y i32[2048] out once
//! launch grid=2 block=1024
extern "C" __global__ void threads_2048(int *y)
{
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
