# The same runtime, and a kernel without its guard.
import cupy as cp, numpy as np

h = np.random.default_rng(0).integers(0, 1000, 3000).astype(np.int32)
x = cp.asarray(h)
print("runtime", cp.cuda.runtime.runtimeGetVersion())
add = cp.RawKernel(r'''
extern "C" __global__ void add(int *p, int n, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] += by;
}''', 'add')
add((12,), (256,), (x, np.int32(3000), np.int32(3)))
print("add", (cp.asnumpy(x) == h + 3).all())
