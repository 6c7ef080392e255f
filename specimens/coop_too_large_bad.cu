// A cooperative launch of 300 blocks of 1024 threads.
//! kernel coop_too_large
//! arg y i32[300 * 1024] out once
//! launch grid=300 block=1024 cooperative
extern "C" __global__ void coop_too_large(int *y)
{
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
