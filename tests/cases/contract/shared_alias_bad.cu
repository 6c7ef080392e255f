// Dynamic shared memory carved into two parts; the second begins 128 bytes before the first ends.
//! kernel blur
//! dim    blocks 1..64
//! arg x  f32[blocks * 64] in iota
//! arg y  f32[blocks * 64] out once
//! shared row  f32[64]
//! shared mean f32[64] at 128
//! launch grid=blocks block=64
__global__ void blur(const float *x, float *y)
{
    extern __shared__ float carved[];
    float *row = carved, *mean = carved + 32;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = x[i];
    __syncthreads();
    float v = (row[t] + row[t ^ 1]) / 2;
    __syncthreads();
    mean[t] = v;
    __syncthreads();
    y[i] = mean[63 - t] + row[t];
}
