"""Arguments of raw kernels that are not what the parameters are: no error comes of it, only wrong numbers."""
import cupy as cp

scale = cp.RawKernel(r"""
extern "C" __global__ void scale(const float *x, float *y, float f, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = f * x[i];
}""", "scale")

x = cp.ones(1000)  # float64
y = cp.zeros(1000, dtype=cp.float32)
scale((4,), (256,), (x, y, cp.float32(2), 1000))
scale((4,), (256,), (y, y, 2.0, 1000))
a = cp.arange(32 * 64, dtype=cp.float32).reshape(32, 64)
z = cp.zeros(32 * 64, dtype=cp.float32)
scale((8,), (256,), (a.T, z, cp.float32(2), 2048))
scale((4,), (256,), (a[:, ::2], z, cp.float32(2), 1024))
