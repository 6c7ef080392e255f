# lockstep run --quiet
"""Arrays of CuPy as their users handle them: arithmetic, reductions, fusion, streams, pools."""
import cupy as cp
import numpy as np

x = cp.arange(1000, dtype=cp.float32)
y = 2 * x + 1
print("element-wise", np.array_equal(cp.asnumpy(y), 2 * np.arange(1000, dtype=np.float32) + 1))
print("reductions", float(y.sum()), float(y.max()), int(y.argmin()), float(y.reshape(10, 100).mean(axis=1)[3]))
print("where", int((y > 1000).sum()), cp.where(y > 1990, 1, 0)[-6:].tolist())


@cp.fuse()
def distance(a, b):
    return cp.sqrt(cp.square(a) + cp.square(b))


print("fusion", float(distance(cp.float32(3) * cp.ones(5, cp.float32), cp.float32(4) * cp.ones(5, cp.float32)).sum()))

squared = cp.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)", "squared")
length = cp.ReductionKernel("float32 x", "float32 y", "x * x", "a + b", "y = sqrt(a)", "0", "length")
print("kernels", float(squared(x, y)[:3].sum()), float(length(cp.asarray([3, 4], dtype=cp.float32))))

stream = cp.cuda.Stream(non_blocking=True)
with stream:
    z = cp.ones(500, cp.float32)
    z += 1
    event = stream.record()
stream.synchronize()
print("streams", event.done, float(z.sum()))
a = cp.arange(12).reshape(3, 4)
print("views", a[:, ::2].tolist(), a.T[1].tolist(), cp.concatenate([a, a])[5].tolist())
