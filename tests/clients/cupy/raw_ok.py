"""Kernels in CUDA C++ from CuPy: RawKernel, and a RawModule with a template and a constant."""
import cupy as cp
import numpy as np

add = cp.RawKernel(r"""
extern "C" __global__ void add(const float *a, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}""", "add")
module = cp.RawModule(code=r"""
__constant__ float factor[4];
template <typename T> __global__ void scale(T *x, int n)
{
    __shared__ T tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) tile[threadIdx.x] = x[i];
    __syncthreads();
    if (i < n) x[i] = tile[threadIdx.x] * T(factor[i % 4]);
}
""", options=("-std=c++17",), name_expressions=("scale<float>", "scale<double>"))

n = 1000
x, y = cp.arange(n, dtype=cp.float32), cp.ones(n, dtype=cp.float32)
out = cp.empty_like(x)
add((4,), (256,), (x, y, out, n))
print("RawKernel", np.array_equal(out.get(), np.arange(n, dtype=np.float32) + 1))
factor = cp.ndarray(4, cp.float32, module.get_global("factor"))
factor[...] = cp.asarray([1, 2, 3, 4], cp.float32)
for dtype, name in ((cp.float32, "scale<float>"), (cp.float64, "scale<double>")):
    z = cp.ones(n, dtype)
    module.get_function(name)((8,), (128,), (z, n))
    print(name, z[:5].tolist())
