"""A RawKernel whose guard lets one element too many through, and another that adds up without an atomic."""
import cupy as cp

kernels = cp.RawModule(code=r"""
extern "C" __global__ void add(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = a[i] + 1;
}
extern "C" __global__ void total(const float *a, float *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) *sum += a[i];
}""")

x = cp.arange(1000, dtype=cp.float32)
out = cp.empty_like(x)
kernels.get_function("add")((4,), (256,), (x, out, 1000))
sum = cp.zeros(1, cp.float32)
kernels.get_function("total")((4,), (256,), (x, sum, 1000))
cp.cuda.Device().synchronize()
