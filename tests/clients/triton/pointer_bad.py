"""Rows are found by the wrong stride: that of the other matrix."""
import numpy as np
import triton
import triton.language as tl

from _arrays import Array, synchronize, zeros


@triton.jit
def copy(x, out, x_stride, out_stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * out_stride + i, mask=i < columns)
    tl.store(out + row * out_stride + i, v, mask=i < columns)


x, out = Array(np.ones((8, 100), np.float32)), zeros((8, 128))
copy[(8,)](x, out, 100, 128, 100, BLOCK=128)
synchronize()
