"""More shared memory than there is, and more threads than a block may have."""
import numpy as np
from numba import cuda, float32


@cuda.jit
def much(x):
    part = cuda.shared.array(100_000, float32)
    part[cuda.threadIdx.x] = x[cuda.threadIdx.x]
    x[cuda.threadIdx.x] = part[cuda.threadIdx.x] + 1


@cuda.jit
def dynamic(x):
    part = cuda.shared.array(0, float32)
    part[cuda.threadIdx.x] = x[cuda.threadIdx.x]
    x[cuda.threadIdx.x] = part[cuda.threadIdx.x] + 1


@cuda.jit
def one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


x = cuda.to_device(np.zeros(2048, dtype=np.float32))
for name, launch in (
    ("much", lambda: much[1, 64](x)),
    ("dynamic", lambda: dynamic[1, 64, 0, 300_000](x)),
    ("2048 threads", lambda: one[1, 2048](x)),
):
    try:
        launch()
        cuda.synchronize()
        print(name, "no error")
    except Exception as error:
        lines = [line for line in str(error).splitlines() if "shared" in line or "ERROR" in line]
        print(f"{name}: {type(error).__name__}: {lines[-1].strip()[:160]}")
