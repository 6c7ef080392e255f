"""The first tutorials: vector add, a fused softmax, a layer norm with its reduction."""
import numpy as np
import triton
import triton.language as tl

from _arrays import Array, zeros


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def softmax(out, x, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + i, e / tl.sum(e, axis=0), mask=i < columns)


@triton.jit
def layer_norm(out, x, weight, bias, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    square = tl.zeros((BLOCK,), dtype=tl.float32)
    for at in range(0, columns, BLOCK):
        i = at + tl.arange(0, BLOCK)
        v = tl.load(x + row * columns + i, mask=i < columns, other=0.0)
        total += v
        square += v * v
    mean = tl.sum(total, axis=0) / columns
    scale = 1 / tl.sqrt(tl.sum(square, axis=0) / columns - mean * mean + eps)
    for at in range(0, columns, BLOCK):
        i = at + tl.arange(0, BLOCK)
        mask = i < columns
        v = (tl.load(x + row * columns + i, mask=mask) - mean) * scale
        tl.store(out + row * columns + i, v * tl.load(weight + i, mask=mask) + tl.load(bias + i, mask=mask), mask=mask)


@triton.jit
def count(x, bins, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(bins + tl.load(x + i, mask=i < n), 1, mask=i < n)


rng = np.random.default_rng(0)
n = 1000
x, y, out = Array(rng.random(n, np.float32)), Array(rng.random(n, np.float32)), zeros(n)
add[(triton.cdiv(n, 256),)](x, y, out, n, BLOCK=256)
print("vector add", np.array_equal(out.get(), x.host + y.host))

m = Array(rng.standard_normal((7, 100), np.float32))
out = zeros((7, 100))
softmax[(7,)](out, m, 100, 100, BLOCK=128)
e = np.exp(m.host - m.host.max(1, keepdims=True))
print("softmax", np.allclose(out.get(), e / e.sum(1, keepdims=True), atol=1e-6))

weight, bias = Array(rng.random(100, np.float32)), Array(rng.random(100, np.float32))
layer_norm[(7,)](out, m, weight, bias, 100, 1e-5, BLOCK=64)
want = (m.host - m.host.mean(1, keepdims=True)) / np.sqrt(m.host.var(1, keepdims=True) + 1e-5) * weight.host + bias.host
print("layer norm", np.allclose(out.get(), want, atol=1e-5))

v, bins = Array(rng.integers(0, 16, n).astype(np.int32)), zeros(16, np.int32)
count[(4,)](v, bins, n, BLOCK=256)
print("atomics", np.array_equal(bins.get(), np.bincount(v.host, minlength=16)))
