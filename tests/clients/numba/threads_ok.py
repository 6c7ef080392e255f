"""What threads do together: reductions in shared memory, atomics, warp shuffles and votes, a grid that waits for itself."""
import numpy as np
from numba import cuda, float32, int32


@cuda.jit
def block_sum(x, out):
    part = cuda.shared.array(256, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    half = 128
    while half:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@cuda.jit
def dynamic(x, out):
    part = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    cuda.syncthreads()
    out[t] = part[cuda.blockDim.x - 1 - t]


@cuda.jit
def histogram(x, bins, largest, first):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(bins, x[i] % bins.size, 1)
        cuda.atomic.max(largest, 0, x[i])
        if cuda.atomic.cas(first, 0, -1, i) == -1:
            cuda.atomic.add(first, 1, 1)


@cuda.jit
def warp_sum(x, out):
    value = x[cuda.grid(1)]
    for lane in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xffffffff, value, lane)
    odd = cuda.ballot_sync(0xffffffff, x[cuda.grid(1)] % 2 == 1)
    if cuda.laneid == 0:
        out[cuda.grid(1) // 32, 0] = value
        out[cuda.grid(1) // 32, 1] = cuda.popc(odd)


@cuda.jit
def rows(m):
    """Each row is made of the one before it, by other threads."""
    grid = cuda.cg.this_grid()
    column = cuda.grid(1)
    for row in range(1, m.shape[0]):
        m[row, column] = m[row - 1, m.shape[1] - 1 - column] + 1
        grid.sync()


@cuda.jit
def grid_alone(out):
    """A grid that nobody waits for: the launch is an ordinary one."""
    cuda.cg.this_grid()
    out[0] = 7


@cuda.jit
def own(x, out):
    """Local memory and a loop over it."""
    line = cuda.local.array(8, int32)
    t = cuda.grid(1)
    for k in range(8):
        line[k] = x[t] + k
    total = 0
    for k in range(8):
        total += line[(k + t) % 8]
    out[t] = total


x = np.arange(1000, dtype=np.float32)
part = cuda.device_array(4, np.float32)
block_sum[4, 256](x, part)
print("reduction", part.copy_to_host().sum() == x.sum())

out = cuda.device_array(64, np.float32)
dynamic[1, 64, 0, 64 * 4](x[:64].copy(), out)
print("dynamic shared memory", np.array_equal(out.copy_to_host(), x[63::-1]))

v = np.random.default_rng(2).integers(0, 1000, 4096).astype(np.int32)
bins, largest, first = np.zeros(16, np.int32), np.zeros(1, np.int32), np.array([-1, 0], np.int32)
histogram[16, 256](v, bins, largest, first)
print("atomics", np.array_equal(bins, np.bincount(v % 16, minlength=16)), largest[0] == v.max(), first[1])

w = np.arange(128, dtype=np.int32)
sums = np.zeros((4, 2), np.int32)
warp_sum[2, 64](w, sums)
print("shuffles", np.array_equal(sums[:, 0], w.reshape(4, 32).sum(1)), sums[:, 1].tolist())

m = np.zeros((8, 256), np.int32)
rows[8, 32](m)
print("grid sync", m[7].min(), m[7].max())
one = cuda.to_device(np.zeros(1, np.int32))
grid_alone[1, 1](one)
print("grid", one.copy_to_host())

o = np.zeros(64, np.int32)
own[2, 32](np.arange(64, dtype=np.int32), o)
print("local", np.array_equal(o, 8 * np.arange(64) + 28))


@cuda.reduce
def total(a, b):
    return a + b


print("cuda.reduce", total(np.arange(5000, dtype=np.float64)) == 5000 * 4999 / 2)
