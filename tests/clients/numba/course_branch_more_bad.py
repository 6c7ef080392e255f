"""The same, where the other threads of the warp wait at another barrier."""
import numpy as np
from numba import cuda, float32


@cuda.jit
def both(x, out):
    part = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    if t % 2 == 0:
        cuda.syncthreads()
        out[t] = part[63 - t]
    else:
        part[t] = 2 * x[t]
        cuda.syncthreads()


x = cuda.to_device(np.arange(64, dtype=np.float32))
out = cuda.device_array(64, np.float32)
both[1, 64](x, out)
cuda.synchronize()
