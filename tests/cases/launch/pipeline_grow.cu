// A kernel with a contract, to be launched behind itself.
//! kernel grow
//! dim n 1..64
//! arg x f32[n] in iota
//! arg y f32[n] out
//! arg n i32
//! launch grid=ceildiv(n, 32) block=32
extern "C" __global__ void grow(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1;
}
