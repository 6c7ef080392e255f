// Two inputs and a result that must not be one of them.
//! kernel add
//! dim   n 1..4096
//! arg a  f32[n] in iota
//! arg b  f32[n] in ones
//! arg y  f32[n] out
//! arg n  i32
//! launch grid=ceildiv(n, 128) block=128
__global__ void add(const float *a, const float *b, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a[i] + b[i];
}
