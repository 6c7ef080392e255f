// A static shared array of 48 KB.
//! kernel smem_static_48k
//! dim n = 128
//! arg y f32[n] out once
//! launch grid=1 block=n
extern "C" __global__ void smem_static_48k(float *y)
{
    __shared__ float held[12288];
    int i = threadIdx.x;
    held[i] = i;
    held[12288 - 1 - i] = -i;
    __syncthreads();
    y[i] = held[i ^ 1] + held[12288 - 1 - (i ^ 1)];
}
