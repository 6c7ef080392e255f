// Launches that are recorded: a wrong stride, rows of 130 bytes, a missing barrier.
// regen: -arch=sm_80 -std=c++17

// `pitch` is in elements, from a row to the next; a caller that gives the bytes of all rows reaches far too far.
extern "C" __global__ void scale_rows(float *x, int rows, int cols, int pitch, float by)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (row < rows && col < cols) x[(long long)row * pitch + col] *= by;
}

// Eight halves at a time: rows of 64 halves are 128 bytes apart, padded ones 130.
extern "C" __global__ void sum_rows(const unsigned short *x, unsigned *sums, int rows, int pitch)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    unsigned sum = 0;
    for (int i = 0; i < 64; i += 8) {
        uint4 v = *(const uint4 *)(x + row * pitch + i);
        sum += (v.x & 0xffff) + (v.x >> 16) + (v.y & 0xffff) + (v.y >> 16) + (v.z & 0xffff) + (v.z >> 16) + (v.w & 0xffff) +
               (v.w >> 16);
    }
    sums[row] = sum;
}

extern "C" __global__ void flip(const int *x, int *y, int n)
{
    __shared__ int tile[1024];
    int i = threadIdx.x, at = blockIdx.x * blockDim.x + i;
    tile[i] = at < n ? x[at] : 0;
    // __syncthreads() belongs here
    if (at < n) y[at] = tile[blockDim.x - 1 - i];
}
