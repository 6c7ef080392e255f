"""A result of what was never set, by a kernel of CuPy's own."""
import cupy as cp

never_set = cp.empty(100, dtype=cp.float32)
never_set += 1
never_set.get()
