"""The exercises of course_*_bad.py, solved."""
import numpy as np
from numba import cuda, float32, int64


@cuda.jit
def scale(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 2 * x[i]


@cuda.jit
def total(x, out):
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    cuda.syncthreads()
    half = 128
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[0] = part[0]


@cuda.jit
def shift(x, out):
    part = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < x.size:
        part[t] = x[t]
    cuda.syncthreads()
    if t < x.size:
        out[t] = part[x.size - 1 - t]


@cuda.jit
def count(x, counter):
    i = cuda.grid(1)
    if i < x.size and x[i] > 0:
        cuda.atomic.add(counter, 0, 1)


@cuda.jit
def sample(x, stride, out):
    i = cuda.grid(1)
    at = int64(i * stride)
    if at < x.size:
        out[i] = x[at]


n = 1000
x = cuda.to_device(np.arange(n, dtype=np.float32))
out = cuda.device_array(n, np.float32)
scale[4, 256](x, out)
print(out.copy_to_host()[-1])
one = cuda.device_array(1, np.float32)
total[1, 256](x, one)
print(one.copy_to_host())
few = cuda.to_device(np.arange(50, dtype=np.float32))
turned = cuda.device_array(50, np.float32)
shift[1, 64](few, turned)
print(turned.copy_to_host()[:3])
counter = cuda.to_device(np.zeros(1, np.int32))
count[4, 256](x, counter)
print(counter.copy_to_host())
out = cuda.to_device(np.zeros(1024, np.int32))
sample[4, 256](cuda.to_device(np.arange(1000, dtype=np.int32)), 3_000_000, out)
print(out.copy_to_host().any())
