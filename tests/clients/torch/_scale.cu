// The kernels of _custom.py: one forgets its bounds check.
__global__ void scale(const float *x, float *out, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * x[i];
}

__global__ void scale_unguarded(const float *x, float *out, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = factor * x[i];
}

void launch_scale(const float *x, float *out, float factor, int n, bool guard, cudaStream_t stream)
{
    int grid = (n + 255) / 256;
    if (guard) scale<<<grid, 256, 0, stream>>>(x, out, factor, n);
    else scale_unguarded<<<grid, 256, 0, stream>>>(x, out, factor);
}
// regen: no
