// Passes on what it gets, through shared memory.
//! kernel reverse
//! dim   n 1..1024
//! arg x  f32[n] in normal
//! arg y  f32[n] out once
//! launch grid=1 block=n
__global__ void reverse(const float *x, float *y)
{
    __shared__ float s[1024];
    s[threadIdx.x] = x[threadIdx.x] * 2;
    __syncthreads();
    y[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
