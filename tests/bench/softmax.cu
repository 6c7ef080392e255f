// Softmax over rows, one warp a row.
extern "C" __global__ void softmax(const float *in, float *out, int cols)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    const float *p = in + row * cols;
    float *q = out + row * cols, m = -1e30f, s = 0;
    for (int i = lane; i < cols; i += 32)
        m = fmaxf(m, p[i]);
    for (int d = 16; d; d >>= 1)
        m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    for (int i = lane; i < cols; i += 32)
        s += __expf(p[i] - m);
    for (int d = 16; d; d >>= 1)
        s += __shfl_xor_sync(~0u, s, d);
    float r = 1.f / s;
    for (int i = lane; i < cols; i += 32)
        q[i] = __expf(p[i] - m) * r;
}
