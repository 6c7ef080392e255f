"""No bounds check: reported at the line of the script."""
import numpy as np
from numba_cuda_mlir import cuda


@cuda.jit
def double(a):
    i = cuda.grid(1)
    a[i] = 2 * i


a = cuda.to_device(np.zeros(60, np.int32))
double[1, 64](a)
a.copy_to_host()
