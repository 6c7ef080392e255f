// Threads without an element leave, and the others wait at a full barrier, which does not count those who left.
//! kernel barrier_early_return
//! dim n 1..128 = 64
//! arg x f32[n] in iota
//! arg y f32[n] out once
//! arg n i32
//! launch grid=1 block=128
extern "C" __global__ void barrier_early_return(const float *x, float *y, int n)
{
    __shared__ float held[128];
    int i = threadIdx.x;
    if (i >= n)
        return;
    held[i] = x[i];
    __syncthreads();
    y[i] = held[n - 1 - i];
}
