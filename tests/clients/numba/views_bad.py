"""What is passed to a kernel, and what it takes for it: a slice that is left, a guard of two dimensions that is missing, arrays of the host that Numba copies, three dimensions."""
import numpy as np
from numba import cuda


@cuda.jit
def double(values):
    i = cuda.grid(1)
    if i < 128:
        values[i] = 2


@cuda.jit
def product(A, B, C):
    i, j = cuda.grid(2)
    s = 0.0
    for k in range(A.shape[1]):
        s += A[i, k] * B[k, j]
    C[i, j] = s


@cuda.jit
def copy(source, target):
    place = cuda.grid(1)
    target[place] = source[place]


@cuda.jit
def fill(volume):
    i, j, k = cuda.grid(3)
    volume[i, j, k] = i + j + k


x = cuda.to_device(np.zeros(1000, np.float32))
double[1, 128](x[100:200])
double[1, 128](x[::2][:100])
product[(2, 2), (16, 8)](*(cuda.to_device(np.ones(s, np.float32)) for s in ((20, 6), (6, 10), (20, 10))))
copy[1, 128](np.arange(100), np.zeros(100, np.int64))
fill[(2, 2, 2), (4, 4, 4)](cuda.device_array((5, 6, 7)))


@cuda.jit("void(float32[:])")
def halve(numbers):
    i = cuda.grid(1)
    if i < numbers.size:
        numbers[i] /= 2


halve[1, 128](cuda.to_device(np.ones(100)))
