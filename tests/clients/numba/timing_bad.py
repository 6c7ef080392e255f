"""Clocks around launches: the first call compiles, and no call waits for its kernel."""
import time

import numpy as np
from numba import cuda


@cuda.jit
def increment(d):
    i = cuda.grid(1)
    if i < d.size:
        d[i] += 1


data = cuda.to_device(np.ones(1000, np.float32))
start = time.time()
increment[4, 256](data)
first = time.time() - start
start = time.time()
increment[4, 256](data)
second = time.time() - start
print(data.copy_to_host()[0])
