"""The same without the mistakes, with views and arrays of the host."""
import numpy as np
from numba import cuda, float32


@cuda.jit
def differences(x, out):
    i = cuda.grid(1)
    if i + 1 < x.size:
        out[i] = x[i + 1] - x[i]


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < min(a.size, b.size):
        c[i] = a[i] + b[i]


@cuda.jit
def fill(a):
    r, c = cuda.grid(2)
    if r < a.shape[0] and c < a.shape[1]:
        a[r, c] = 1


@cuda.jit
def accumulate(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] += x[i]


@cuda.jit
def reverse(x):
    s = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    s[i] = x[i]
    cuda.syncthreads()
    x[i] = s[63 - i]


@cuda.jit
def raised(x, v):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += v


ones = cuda.to_device(np.ones(1000, np.float32))
fewer = cuda.to_device(np.ones(900, np.float32))
out = cuda.device_array(1000, np.float32)
differences[4, 256](ones, out)
add[4, 256](ones, fewer, out)
matrix = cuda.device_array((30, 16), np.float32)
fill[(2, 1), (16, 16)](matrix)
sums = cuda.to_device(np.zeros(1000, np.float32))
accumulate[4, 256](ones, sums)
print(sums.copy_to_host().sum())
reversed = cuda.to_device(np.arange(64, dtype=np.float32))
reverse[1, 64](reversed)
a, b = cuda.stream(), cuda.stream()
shared = cuda.to_device(np.zeros(1000, np.float32))
raised[4, 256, a](shared, 1)
event = cuda.event()
event.record(a)
event.wait(b)
raised[4, 256, b](shared, 2)
cuda.synchronize()
print(matrix.copy_to_host().sum(), reversed.copy_to_host()[0], shared.copy_to_host()[999])
host = np.arange(1000, dtype=np.float32)
raised[4, 256](host, 1)
every = cuda.to_device(np.arange(20, dtype=np.float32))[::2]
raised[1, 32](every, 1)
print(host[:3], every.copy_to_host())
