"""The number of blocks is rounded down: the last elements are never written."""
import numpy as np
from numba import cuda


@cuda.jit
def scale(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 2 * x[i]


x = cuda.to_device(np.arange(1000, dtype=np.float32))
out = cuda.device_array(1000, np.float32)
scale[1000 // 256, 256](x, out)
print(out.copy_to_host()[:3])
