"""The first lessons: vector add, arrays on the device, streams, events, pinned and mapped memory, a matrix product in tiles."""
import math

import numpy as np
from numba import cuda, float32


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def saxpy(a, x, y):
    start, step = cuda.grid(1), cuda.gridsize(1)
    for i in range(start, x.size, step):
        y[i] = a * x[i] + y[i]


@cuda.jit
def lengths(some, none, out):
    out[0], out[1] = len(some), len(none)


TILE = 16


@cuda.jit
def matmul(a, b, c):
    sa = cuda.shared.array((TILE, TILE), float32)
    sb = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for t in range(math.ceil(a.shape[1] / TILE)):
        sa[ty, tx] = a[y, tx + t * TILE] if y < a.shape[0] and tx + t * TILE < a.shape[1] else 0
        sb[ty, tx] = b[ty + t * TILE, x] if x < b.shape[1] and ty + t * TILE < b.shape[0] else 0
        cuda.syncthreads()
        for k in range(TILE):
            total += sa[ty, k] * sb[k, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


n = 1000
x, y = np.arange(n, dtype=np.float32), np.ones(n, dtype=np.float32)
out = np.zeros_like(x)
add[(n + 255) // 256, 256](x, y, out)  # arrays of the host are copied there and back
print("vector add", np.array_equal(out, x + y))

dx, dy = cuda.to_device(x), cuda.to_device(y)
saxpy[2, 64](np.float32(2), dx, dy)
print("saxpy", np.array_equal(dy.copy_to_host(), 2 * x + 1))

stream = cuda.stream()
begin, end = cuda.event(), cuda.event()
with cuda.pinned(x, out):
    sx = cuda.to_device(x, stream=stream)
    so = cuda.device_array_like(sx, stream=stream)
    begin.record(stream)
    add[(n + 255) // 256, 256, stream](sx, sx, so)
    end.record(stream)
    so.copy_to_host(out, stream=stream)
    stream.synchronize()
print("stream", np.array_equal(out, x + x), begin.elapsed_time(end) >= 0)

mapped = cuda.mapped_array(n, dtype=np.float32)
mapped[:] = 3
add[(n + 255) // 256, 256](dx, mapped, mapped)
cuda.synchronize()
print("mapped", np.array_equal(mapped, x + 3))

rng = np.random.default_rng(1)
a, b = rng.integers(0, 4, (40, 50)).astype(np.float32), rng.integers(0, 4, (50, 33)).astype(np.float32)
c = cuda.device_array((40, 33), np.float32)
matmul[(3, 3), (TILE, TILE)](a, b, c)
print("matrix product", np.array_equal(c.copy_to_host(), a @ b))
view = dx[100:200]
add[1, 128](view, view, dy[:100])
print("views", np.array_equal(dy[:100].copy_to_host(), 2 * x[100:200]))
counts = cuda.device_array(2, np.int64)
lengths[1, 1](((), (), ()), (), counts)
print("empty tuples", counts.copy_to_host())
