"""A matrix product in tiles whose size autotune chooses, and one over tensor descriptors."""
import time

import numpy as np
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from _arrays import Array, synchronize, zeros


def timed(call, quantiles=None):
    """What autotune asks how long a call takes; Triton's own needs torch."""
    start = time.perf_counter()
    call()
    synchronize()
    took = time.perf_counter() - start
    return [took] * len(quantiles) if quantiles else took


@triton.autotune(
    configs=[triton.Config({"BM": 32, "BN": 32}, num_warps=2), triton.Config({"BM": 64, "BN": 32}, num_warps=4)],
    key=["m", "n", "k"],
    do_bench=timed,
)
@triton.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, k, BK):
        l = at + tl.arange(0, BK)
        x = tl.load(a + i[:, None] * k + l[None, :], mask=(i[:, None] < m) & (l[None, :] < k), other=0.0)
        y = tl.load(b + l[:, None] * n + j[None, :], mask=(l[:, None] < k) & (j[None, :] < n), other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + i[:, None] * n + j[None, :], total, mask=(i[:, None] < m) & (j[None, :] < n))


@triton.jit
def described(a, b, c, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, k, BK):
        total = tl.dot(a.load([i, at]), b.load([at, j]), total)
    c.store([i, j], total.to(tl.float16))


rng = np.random.default_rng(0)
a, b = Array(rng.integers(-3, 4, (70, 50)).astype(np.float16)), Array(rng.integers(-3, 4, (50, 40)).astype(np.float16))
c = zeros((70, 40))
matmul[lambda meta: (triton.cdiv(70, meta["BM"]), triton.cdiv(40, meta["BN"]))](a, b, c, 70, 40, 50, BK=32)
print("matrix product", np.array_equal(c.get(), a.host.astype(np.float32) @ b.host.astype(np.float32)))
print("autotuned", matmul.best_config.kwargs in ({"BM": 32, "BN": 32}, {"BM": 64, "BN": 32}))

a, b = Array(rng.integers(-3, 4, (128, 64)).astype(np.float16)), Array(rng.integers(-3, 4, (64, 64)).astype(np.float16))
c = zeros((128, 64), np.float16)
described[(2, 1)](
    TensorDescriptor.from_tensor(a, [64, 64]), TensorDescriptor.from_tensor(b, [64, 64]), TensorDescriptor.from_tensor(c, [64, 64]),
    64, BM=64, BN=64, BK=64)
print("descriptors", np.array_equal(c.get(), (a.host.astype(np.float32) @ b.host.astype(np.float32)).astype(np.float16)))
