// 64 KB of dynamic shared memory, and the host never asked for more than 48 KB.
//! kernel smem_opt_in
//! dim n = 128
//! arg y f32[n] out once
//! launch grid=1 block=n shared=65536
extern "C" __global__ void smem_opt_in(float *y)
{
    extern __shared__ float held[];
    int i = threadIdx.x;
    held[i] = i;
    held[16384 - 1 - i] = -i;
    __syncthreads();
    y[i] = held[i ^ 1] + held[16384 - 1 - (i ^ 1)];
}
