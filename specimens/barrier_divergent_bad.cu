// The barrier stands inside the branch of the first 80 threads: the third warp is split by it, the fourth never comes.
//! kernel barrier_divergent
//! dim n = 128
//! arg x f32[n] in iota
//! arg y f32[n] out once
//! launch grid=1 block=n
extern "C" __global__ void barrier_divergent(const float *x, float *y)
{
    __shared__ float held[128];
    int i = threadIdx.x;
    held[i] = 0;
    if (i < 80) {
        held[i] = x[i];
        __syncthreads();
    }
    y[i] = held[i];
}
