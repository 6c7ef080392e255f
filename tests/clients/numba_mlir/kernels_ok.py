"""Numba-CUDA-MLIR: an array, shared memory, an atomic; results as NumPy's."""
import numpy as np
from numba_cuda_mlir import cuda


@cuda.jit
def double(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = 2 * i


a = cuda.to_device(np.zeros(1000, np.int32))
double[8, 128](a)
print("array", np.array_equal(a.copy_to_host(), 2 * np.arange(1000)))


@cuda.jit
def total(a, out):
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(out, 0, a[i])


out = cuda.to_device(np.zeros(1, np.int32))
total[8, 128](a, out)
print("atomic", out.copy_to_host()[0] == 999000)
