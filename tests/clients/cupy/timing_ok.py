"""The same behind a first call, and with a wait inside what is measured."""
import time
import timeit

import cupy as cp

x = cp.ones(1000, dtype=cp.float32)
y = x * 2
cp.cuda.Device().synchronize()
t = time.time()
y = x * 2
cp.cuda.Device().synchronize()
took = time.time() - t
timeit.timeit("z = x * 2; cp.cuda.Stream.null.synchronize()", globals=globals(), number=10)
print(y[0])
