# lockstep run --quiet
"""Sort, scan and histograms are kernels of CUB and Thrust, which CuPy brings compiled: with PTX for compute_120 alone."""
import cupy as cp
import numpy as np

v = cp.asarray(np.random.default_rng(0).permutation(3000).astype(np.int32))
print("sort", bool((cp.sort(v) == cp.arange(3000)).all()), bool((v[cp.argsort(v)] == cp.arange(3000)).all()))
print("scan", int(cp.cumsum(v)[-1]), bool((cp.cumsum(cp.ones(777, cp.int32)) == cp.arange(1, 778)).all()))
print("unique", cp.unique(v % 7).tolist(), cp.bincount(v % 4).tolist())
