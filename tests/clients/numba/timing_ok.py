"""Clocks as they should be read: behind a call that compiles and a wait; a copy to the host waits, too."""
import time

import numpy as np
from numba import cuda


@cuda.jit
def increment(d):
    i = cuda.grid(1)
    if i < d.size:
        d[i] += 1


data = cuda.to_device(np.ones(1000, np.float32))
increment[4, 256](data)
cuda.synchronize()
start = time.perf_counter()
for _ in range(5):
    increment[4, 256](data)
cuda.synchronize()
took = time.perf_counter() - start
start = time.time()
increment[4, 256](data)
host = data.copy_to_host()
took = time.time() - start
print(host[0])
