"""Views of every kind, each used by its shape: slices, steps, backwards, columns, transposed arrays, tuples of arrays, a view of another type."""
import numpy as np
from numba import cuda


@cuda.jit
def double(values):
    i = cuda.grid(1)
    if i < values.size:
        values[i] *= 2


@cuda.jit
def add(m, pair):
    i, j = cuda.grid(2)
    if i < m.shape[0] and j < m.shape[1]:
        pair[0][i, j] += m[i, j]
        pair[1][i, j] = -m[i, j]


x = cuda.to_device(np.arange(1000, dtype=np.float32))
for view in (x[:100], x[::2], x[::-1], x[3:997:7], x[5:5]):
    double[8, 128](view)
m = cuda.to_device(np.ones((30, 50), np.float32))
one, two = (cuda.to_device(np.zeros((50, 30), np.float32)) for _ in range(2))
add[(4, 2), (16, 16)](cuda.to_device(np.ones((50, 30), np.float32, order="F")), (one, two))
double[1, 64](m[:, 3])
double[1, 64](m[4])
double[1, 64](m[4].view(np.int32))
print(x.copy_to_host()[:8], one.copy_to_host().sum(), two.copy_to_host().sum(), m.copy_to_host().sum(dtype=float))


@cuda.jit("void(float32[:], int64)")
def halve(numbers, n):
    i = cuda.grid(1)
    if i < n:
        numbers[i] /= 2


halve[1, 128](x[:100], 100)
