// Words that many threads read, row by row at several offsets, and that one thread writes then. With `wait` a barrier
// lies between.
extern "C" __global__ void by_block(int *out, int wait)
{
    __shared__ int s[320];
    int t = threadIdx.x, sum = 0;
    for (int i = t; i < 320; i += blockDim.x) s[i] = 1;
    __syncthreads();
    for (int k = 0; k < 48; k++) sum += s[t + k];
    if (wait) __syncthreads();
    if (t == 200) s[133] = 2;
    out[blockIdx.x * blockDim.x + t] = sum;
}

extern "C" __global__ void by_warp(int *out, int wait)
{
    __shared__ int s[96];
    int t = threadIdx.x, sum = 0;
    for (int i = t; i < 96; i += 32) s[i] = 1;
    __syncwarp();
    for (int k = 0; k < 48; k++) sum += s[t + k];
    if (wait) __syncwarp();
    if (t == 9) s[37] = 2;
    out[t] = sum;
}

// Rows of 16 threads, read and written where they begin in the middle of a sector; one more thread writes a word that
// another block reads.
extern "C" __global__ void by_grid(int *a, int *out, int wait)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int k = 0; k < 24; k++) sum += a[threadIdx.x + k];
    out[t + 3] = sum;
    out[t + 3] += 1;
    if (!wait && t == 70) a[12] = 2;
}

// A stride and missing lanes: each thread that is left writes its own word, or two of them the same.
extern "C" __global__ void strides(int *a, int same)
{
    int t = threadIdx.x;
    if (t % 5) a[3 * (same && t == 7 ? 6 : t)] = t;
    __syncthreads();
    if (t % 3) a[3 * t] += 1;
}
