"""Sums under a lock: every thread of a program loads the sum, and one of them stores it."""
import numpy as np
import triton
import triton.language as tl

from _arrays import Array, zeros


@triton.jit
def total(x, out, lock, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.sum(tl.load(x + i, mask=i < n, other=0.0), axis=0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(out, tl.load(out) + s)
    tl.atomic_xchg(lock, 0)


@triton.jit
def first(x, out, lock, count, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.sum(tl.load(x + i, mask=i < n, other=0.0), axis=0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        s += tl.load(out)
    tl.store(out, s)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def columns(x, out, lock, count, rows, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    group = tl.program_id(0) % GROUPS
    v = tl.load(x + tl.program_id(0) * BLOCK + i)
    while tl.atomic_cas(lock + group, 0, 1) == 1:
        pass
    if tl.load(count + group) == 0:
        tl.atomic_xchg(count + group, 1)
    else:
        v += tl.load(out + group * BLOCK + i)
    tl.store(out + group * BLOCK + i, v)
    tl.debug_barrier()
    tl.atomic_xchg(lock + group, 0)


@triton.jit
def persistent(x, out, lock, n, STEP: tl.constexpr, BLOCK: tl.constexpr):
    for block in range(tl.program_id(0), n // BLOCK, STEP):
        s = tl.sum(tl.load(x + block * BLOCK + tl.arange(0, BLOCK)), axis=0)
        while tl.atomic_cas(lock, 0, 1) == 1:
            pass
        tl.store(out, tl.load(out) + s)
        tl.atomic_xchg(lock, 0)


rng = np.random.default_rng(0)
x = Array(rng.integers(0, 9, 1024).astype(np.float32))
out, lock, count = zeros(1), zeros(1, np.int32), zeros(1, np.int32)
total[(4,)](x, out, lock, 1024, BLOCK=256)
print("total", out.get()[0] == x.host.sum())
out = zeros(1)
first[(4,)](x, out, lock, count, 1024, BLOCK=256)
print("first", out.get()[0] == x.host.sum())
for block in (32, 256):  # 32: fewer elements than threads: several threads have the same one
    out, locks, counts = zeros(2 * block), zeros(2, np.int32), zeros(2, np.int32)
    columns[(4,)](x, out, locks, counts, 4, GROUPS=2, BLOCK=block)
    print("columns", np.array_equal(out.get().reshape(2, block).sum(0), x.host[:4 * block].reshape(4, block).sum(0)))
out = zeros(1)
persistent[(2,)](x, out, lock, 1024, STEP=2, BLOCK=256)
print("persistent", out.get()[0] == x.host.sum())
