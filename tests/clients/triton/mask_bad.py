"""The last program reaches past the arrays: the masks are forgotten."""
import numpy as np
import triton
import triton.language as tl

from _arrays import Array, synchronize, zeros


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x + i) + tl.load(y + i)
    tl.store(out + i, total)


n = 1000
x, y, out = Array(np.ones(n, np.float32)), Array(np.ones(n, np.float32)), zeros(n)
add[(triton.cdiv(n, 256),)](x, y, out, n, BLOCK=256)
synchronize()
