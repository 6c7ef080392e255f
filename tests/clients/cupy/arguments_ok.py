"""The same as it should be; a kernel that is told the strides; a kernel of a module."""
import cupy as cp
import numpy as np

module = cp.RawModule(code=r"""
extern "C" __global__ void scale(const float *x, float *y, float f, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = f * x[i];
}
extern "C" __global__ void column(const float *x, float *y, int step, int n)
{
    int i = threadIdx.x;
    if (i < n) y[i] = x[i * step];
}""")
scale, column = module.get_function("scale"), module.get_function("column")
a = cp.arange(32 * 64, dtype=cp.float32).reshape(32, 64)
z = cp.zeros(32 * 64, dtype=cp.float32)
scale((8,), (256,), (cp.ascontiguousarray(a.T), z, cp.float32(2), 2048))
print(bool((z.reshape(64, 32) == 2 * a.T).all()), isinstance(scale, cp.RawKernel), scale.num_regs > 0)
column((1,), (32,), (a[:, 3], z, 64, 32))
scale((8,), (256,), (a, z, np.float32(0.5), np.int32(2048)))
print(float(z[5]))
