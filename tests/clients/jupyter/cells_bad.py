# A kernel without a guard is in the first cell and launched in the second: that one shows the finding, with the source of the first; the third measures a launch that nobody waited for.
from _notebook import show

show(
    """import numpy as np, time
from numba import cuda

@cuda.jit
def scale(x, out):
    i = cuda.grid(1)
    out[i] = 2 * x[i]""",
    """x = cuda.to_device(np.arange(1000, dtype=np.float32))
out = cuda.device_array_like(x)
scale[4, 256](x, out)
out.copy_to_host()[:3]""",
    """begin = time.perf_counter()
scale[1, 256](x, out)
seconds = time.perf_counter() - begin""",
    """cuda.synchronize()
"the end\"""",
)
