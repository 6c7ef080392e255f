// An element a thread: neighbours read neighbours.
//! kernel twice
//! dim n 1..100000 = 4096
//! arg x f32[n] in normal
//! arg y f32[n] out
//! arg n i32 = n
//! oracle y = 2 * x
//! launch grid=ceildiv(n, 256) block=256
extern "C" __global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
