// The barrier stands behind the branch, where all threads pass.
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
    }
    __syncthreads();
    y[i] = held[127 - i];
}
