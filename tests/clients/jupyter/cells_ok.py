# The same with a guard: cells show what they print, and nothing else.
from _notebook import show

show(
    """import numpy as np
from numba import cuda

@cuda.jit
def scale(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 2 * x[i]""",
    """x = cuda.to_device(np.arange(1000, dtype=np.float32))
out = cuda.device_array_like(x)
scale[4, 256](x, out)
out.copy_to_host()[:3]""",
)
