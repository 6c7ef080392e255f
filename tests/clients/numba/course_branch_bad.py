"""A barrier that only some threads reach."""
import numpy as np
from numba import cuda, float32


@cuda.jit
def turn(x, out):
    part = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < x.size:
        part[t] = x[t]
        cuda.syncthreads()
        out[t] = part[x.size - 1 - t]


x = cuda.to_device(np.arange(50, dtype=np.float32))
out = cuda.device_array(50, np.float32)
turn[1, 64](x, out)
cuda.synchronize()
