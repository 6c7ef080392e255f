"""Threads of several blocks count in one cell without an atomic."""
import numpy as np
from numba import cuda


@cuda.jit
def count(x, counter):
    i = cuda.grid(1)
    if i < x.size and x[i] > 0:
        counter[0] += 1


x = cuda.to_device(np.ones(1000, dtype=np.float32))
counter = cuda.to_device(np.zeros(1, np.int32))
count[4, 256](x, counter)
print("counted")
