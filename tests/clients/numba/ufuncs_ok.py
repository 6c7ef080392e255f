"""Functions over arrays that Numba makes kernels of."""
import math

import numpy as np
from numba import cuda, guvectorize, vectorize


@vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")
def hypotenuse(a, b):
    return math.sqrt(a * a + b * b)


@guvectorize(["void(float32[:,:], float32[:,:], float32[:,:])"], "(m,n),(n,p)->(m,p)", target="cuda")
def product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


@cuda.jit(device=True)
def polynomial(x, c0, c1, c2):
    return c0 + x * (c1 + x * c2)


@cuda.jit
def evaluate(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = polynomial(x[i], 1.0, 2.0, 3.0)


a = np.array([3, 5, 8], dtype=np.float32)
b = np.array([4, 12, 15], dtype=np.float32)
print("vectorize", hypotenuse(a, b).tolist())
grid = np.arange(100_000, dtype=np.float64)
print("broadcast", np.allclose(hypotenuse(grid, 1.0), np.hypot(grid, 1)))
m = np.arange(4 * 2 * 3, dtype=np.float32).reshape(4, 2, 3)
n = np.arange(4 * 3 * 2, dtype=np.float32).reshape(4, 3, 2)
print("guvectorize", np.array_equal(product(m, n), m @ n))
out = np.zeros(300)
evaluate[3, 128](np.arange(300.0), out)
print("device function", np.array_equal(out, 1 + 2 * np.arange(300.0) + 3 * np.arange(300.0) ** 2))
