// 227 KB of dynamic shared memory: all that a block can have on an H200.
//! kernel smem_too_big
//! dim n = 128
//! arg y f32[n] out once
//! launch grid=1 block=n shared=232448
extern "C" __global__ void smem_too_big(float *y)
{
    extern __shared__ float held[];
    int i = threadIdx.x;
    held[i] = i;
    held[58112 - 1 - i] = -i;
    __syncthreads();
    y[i] = held[i ^ 1] + held[58112 - 1 - (i ^ 1)];
}
