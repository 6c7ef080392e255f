// Scales 1000 elements with blocks of 256, and nobody asks whether there is an element left for the thread.
//! kernel bounds_guard
//! dim n 1..100000 = 1000
//! arg x f32[n] in
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 256) block=256
extern "C" __global__ void bounds_guard(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i];
}
