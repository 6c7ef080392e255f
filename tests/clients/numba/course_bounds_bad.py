"""1,000 elements, 1,024 threads, and no `if`."""
import numpy as np
from numba import cuda


@cuda.jit
def scale(x, out):
    i = cuda.grid(1)
    out[i] = 2 * x[i]


n = 1000
x = cuda.to_device(np.arange(n, dtype=np.float32))
out = cuda.device_array(n, np.float32)
scale[4, 256](x, out)
cuda.synchronize()
