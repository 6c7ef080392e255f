"""An index is kept in 32 bits: past 2,147,483,647 it is negative, and below any limit."""
import numpy as np
from numba import cuda, int32


@cuda.jit
def sample(x, stride, out):
    i = cuda.grid(1)
    at = int32(i * stride)
    if at < x.size:
        out[i] = x[at]


x = cuda.to_device(np.arange(1000, dtype=np.int32))
out = cuda.to_device(np.zeros(1024, np.int32))
sample[4, 256](x, 3_000_000, out)
cuda.synchronize()
