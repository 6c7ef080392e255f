# CUDA's runtime 11.8 is linked into the modules of this CuPy. sort was compiled into one of them, the other kernels come from NVRTC 11.8.
import cupy as cp, numpy as np

h = np.random.default_rng(0).integers(0, 1000, 3000).astype(np.int32)
x = cp.asarray(h)
print("runtime", cp.cuda.runtime.runtimeGetVersion())
print("sort", (cp.asnumpy(cp.sort(x)) == np.sort(h)).all())
print("sum", int(cp.sum(x * 2 + 1)) == int((h.astype(np.int64) * 2 + 1).sum()))
add = cp.RawKernel(r'''
extern "C" __global__ void add(int *p, int n, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += by;
}''', 'add')
add((12,), (256,), (x, np.int32(3000), np.int32(3)))
print("add", (cp.asnumpy(x) == h + 3).all())
