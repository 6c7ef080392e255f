// Dynamic shared memory carved into two parts: `after` begins 128 bytes before `before` ends.
//! kernel shared_alias
//! dim n = 64
//! arg x f32[n] in iota
//! arg y f32[n] out once
//! shared before f32[64]
//! shared after f32[64] at 128
//! launch grid=1 block=n
extern "C" __global__ void shared_alias(const float *x, float *y)
{
    extern __shared__ float carved[];
    float *before = carved, *after = carved + 32;
    int i = threadIdx.x;
    before[i] = x[i];
    __syncthreads();
    after[i] = 2 * before[i ^ 1];
    __syncthreads();
    y[i] = after[i ^ 1] - before[i];
}
