"""Clocks around an array expression, which compiles its kernel and is not waited for; then a raw kernel."""
import time

import cupy as cp

x = cp.ones(1000, dtype=cp.float32)
t = time.time(); y = x * 2; took = time.time() - t
double = cp.RawKernel("""extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }""", "twice")
double((1,), (256,), (x,))
cp.cuda.Device().synchronize()
start = time.perf_counter()
for _ in range(10):
    double((1,), (256,), (x,))
took = time.perf_counter() - start
print(x[0])
