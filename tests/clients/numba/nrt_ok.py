"""Arrays that a kernel allocates itself, by Numba's own runtime: it is CUDA C that NVRTC compiles, linked with the kernel's code and its lines."""
import os

os.environ["NUMBA_CUDA_ENABLE_NRT"] = "1"
import numpy as np
from numba import cuda


@cuda.jit
def copies(x, out):
    y = x.copy()
    for i in range(len(y)):
        out[i] = y[i] + y.sum()


x = np.arange(5.0)
out = np.zeros(5)
copies[1, 1](x, out)
print(np.array_equal(out, x + x.sum()))
