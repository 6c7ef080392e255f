// Softmax over the rows of a matrix, one warp a row.
__device__ static float row_max(const float *p, int cols, int lane)
{
    float m = -1e30f;
    for (int i = lane; i < cols; i += 32)
        m = fmaxf(m, p[i]);
    for (int d = 16; d; d >>= 1)
        m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    return m;
}

extern "C" __global__ void softmax(const float *in, float *out, int rows, int cols)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const float *p = in + row * cols;
    float *q = out + row * cols, m = row_max(p, cols, lane), s = 0;
    for (int i = lane; i < cols; i += 32)
        s += __expf(p[i] - m);
    for (int d = 16; d; d >>= 1)
        s += __shfl_xor_sync(~0u, s, d);
    float r = 1.f / s;
    for (int i = lane; i < cols; i += 32)
        q[i] = __expf(p[i] - m) * r;
}

// The same in fast arithmetic and in f64; counts the elements of each row that agree to 2^-20.
extern "C" __global__ void softmax_agrees(const float *in, int *good, int rows, int cols)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const float *p = in + row * cols;
    float m = row_max(p, cols, lane), s = 0;
    double exact = 0;
    for (int i = lane; i < cols; i += 32)
        s += __expf(p[i] - m), exact += exp((double)p[i] - m);
    for (int d = 16; d; d >>= 1)
        s += __shfl_xor_sync(~0u, s, d), exact += __shfl_xor_sync(~0u, exact, d);
    int n = 0;
    for (int i = lane; i < cols; i += 32)
        n += fabs(__expf(p[i] - m) / s - exp((double)p[i] - m) / exact) < 1. / (1 << 20);
    for (int d = 16; d; d >>= 1)
        n += __shfl_xor_sync(~0u, n, d);
    if (lane == 0)
        good[row] = n;
}
