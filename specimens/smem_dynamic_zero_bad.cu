// An extern shared array is used, and the launch gives no bytes for it.
//! kernel smem_dynamic_zero
//! dim n = 128
//! arg y f32[n] out once
//! launch grid=1 block=n
extern "C" __global__ void smem_dynamic_zero(float *y)
{
    extern __shared__ float held[];
    int i = threadIdx.x;
    held[i] = i;
    held[256 - 1 - i] = -i;
    __syncthreads();
    y[i] = held[i ^ 1] + held[256 - 1 - (i ^ 1)];
}
