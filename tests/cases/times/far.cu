// The same, and every thread has a run of 16: neighbours read 64 bytes apart.
//! kernel twice
//! dim n 1..100000 = 4096
//! arg x f32[n] in normal
//! arg y f32[n] out
//! arg n i32 = n
//! oracle y = 2 * x
//! launch grid=ceildiv(n, 256) block=256
extern "C" __global__ void twice(const float *x, float *y, int n)
{
    int from = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    for (int i = from; i < from + 16 && i < n; i++) y[i] = 2 * x[i];
}
