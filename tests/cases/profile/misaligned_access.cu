// Rows of 129 words: every warp begins in the middle of a sector, and moves one more than its bytes fill. The twin's rows are 160 words long, a
// multiple of 32 bytes.
extern "C" __global__ void misaligned_bad(const float *__restrict__ x, float *__restrict__ y)
{
    const float *row = x + (blockIdx.x * 2 + 1) * 129;
    y[blockIdx.x * 128 + threadIdx.x] = 2 * row[threadIdx.x]; // <-- misaligned_access
}

extern "C" __global__ void misaligned_ok(const float *__restrict__ x, float *__restrict__ y)
{
    const float *row = x + (blockIdx.x * 2 + 1) * 160;
    y[blockIdx.x * 128 + threadIdx.x] = 2 * row[threadIdx.x];
}
