// A cooperative launch of as many blocks of 1024 threads as fit on an H200.
//! kernel coop_too_large
//! arg y i32[264 * 1024] out once
//! launch grid=264 block=1024 cooperative
extern "C" __global__ void coop_too_large(int *y)
{
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
