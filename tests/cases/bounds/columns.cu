// Two-dimensional indices of arrays whose dimensions nobody told: one guard is missing, two are, rows and columns are
// the wrong way round.
extern "C" __global__ void columns_rows_bad(unsigned char *image, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w) image[y * w + x] = 255 - image[y * w + x];
}
extern "C" __global__ void columns_rows_ok(unsigned char *image, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) image[y * w + x] = 255 - image[y * w + x];
}
extern "C" __global__ void columns_transpose_bad(const float *in, float *out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[x * n + y] = in[y * n + x];
}
template <bool SWAPPED> __device__ inline void tile(const float *in, float *out, int w)
{
    __shared__ float t[8][32];
    int x = threadIdx.x, y = threadIdx.y;
    if (SWAPPED)
        t[x][y] = in[y * w + x];
    else
        t[y][x] = in[y * w + x];
    __syncthreads();
    out[y * w + x] = t[y][x];
}
extern "C" __global__ void columns_swapped_bad(const float *in, float *out, int w) { tile<true>(in, out, w); }
extern "C" __global__ void columns_swapped_ok(const float *in, float *out, int w) { tile<false>(in, out, w); }
