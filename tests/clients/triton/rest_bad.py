"""The number of programs is rounded down: the last elements are never written."""
import ctypes

import numpy as np
import triton
import triton.language as tl

from _arrays import Array, check, cuda


@triton.jit
def scale(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


class Empty(Array):
    """Memory of the device that holds nothing yet."""

    def __init__(self, n):
        self.host = np.empty(n, np.float32)
        self.dtype, self.at = self.host.dtype, ctypes.c_uint64()
        check(cuda.cuMemAlloc_v2(ctypes.byref(self.at), ctypes.c_size_t(self.host.nbytes)))


x, out = Array(np.arange(1000, dtype=np.float32)), Empty(1000)
scale[(1000 // 256,)](x, out, 1000, BLOCK=256)
print(out.get()[:3])
