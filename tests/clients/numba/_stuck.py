"""A kernel waits for a flag that nobody sets, while the threads of OpenBLAS wait for work."""
import numpy as np
from numba import cuda

np.dot(np.ones((300, 300)), np.ones((300, 300)))


@cuda.jit
def wait(flag):
    while cuda.atomic.add(flag, 0, 0) == 0:
        pass


flag = cuda.to_device(np.zeros(1, dtype=np.int32))
wait[1, 1](flag)
cuda.synchronize()
print("over")
