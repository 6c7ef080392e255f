"""The threads of a reduction do not wait for each other."""
import numpy as np
from numba import cuda, float32


@cuda.jit
def total(x, out):
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    half = 128
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        half //= 2
    if t == 0:
        out[0] = part[0]


x = cuda.to_device(np.arange(256, dtype=np.float32))
out = cuda.device_array(1, np.float32)
total[1, 256](x, out)
cuda.synchronize()
