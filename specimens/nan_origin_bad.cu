// Normalises rows by their sum; a row of zeros gives 0/0.
//! kernel nan_origin
//! dim rows = 4
//! arg x f32[rows, 32] in zeros
//! arg y f32[rows, 32] out once
//! launch grid=rows block=32
extern "C" __global__ void nan_origin(const float *x, float *y)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    float sum = x[i];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    y[i] = x[i] / sum;
}
