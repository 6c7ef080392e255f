// How an index came to lie outside: one thread too many, all of them, a neighbour, a value from memory. Given one element more, each is right.

extern "C" __global__ void guard_le(float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i <= n) y[i] = i;
}

extern "C" __global__ void guard_wide(float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < (n + 7) / 8 * 8) y[i] = i;
}

extern "C" __global__ void loop_le(const float *x, float *y, int n)
{
    float s = 0; for (int j = 0; j <= n; j++) s += x[j]; y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

extern "C" __global__ void stencil(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] + x[i + 1];
}

extern "C" __global__ void stencil_left(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] - x[i - 1];
}

extern "C" __global__ void shared_right(const float *x, float *y)
{
    __shared__ float s[128]; int t = threadIdx.x; s[t] = x[t]; __syncthreads(); y[t] = s[t + 1];
}

extern "C" __global__ void gather(const float *x, const int *idx, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[idx[i]];
}

extern "C" __global__ void stride_loop(const float *x, float *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i <= n; i += gridDim.x * blockDim.x) y[i] = x[i];
}

extern "C" __global__ void rows(const float *x, float *y, int w, int h)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y; if (c < w) y[r * w + c] = x[(r + 1) * w + c];
}

extern "C" __global__ void part_filled(const float *x, float *y, int n)         // tiles of 32, and 95 elements
{
    __shared__ float s[32];
    float v = 0;
#pragma unroll 1
    for (int m = 0; m < (n + 31) / 32; m++) {
        s[threadIdx.x] = x[m * 32 + threadIdx.x];
        __syncthreads();
        v += s[31 - threadIdx.x];
        __syncthreads();
    }
    y[threadIdx.x] = v;
}

extern "C" __global__ void right_column(const float *x, float *y, int w, int h)         // the next row's first element, but for the last row
{
    int c = threadIdx.x, r = blockIdx.y;
    if (c < w && r < h) y[r * w + c] = x[r * w + c + 1];
}

extern "C" __global__ void row_le(const float *x, float *y, int w, int h)               // a column too many in every row
{
    int r = threadIdx.x;
    float s = 0;
    if (r >= h) return;
#pragma unroll 1
    for (int c = 0; c <= w; c++) s += x[r * w + c];
    y[r] = s;
}
