"""ReductionKernel: its last 32 threads add without a barrier, which no GPU since sm_70 allows."""
import numpy as np
import pycuda.autoinit
from pycuda import gpuarray
from pycuda.reduction import ReductionKernel

x = gpuarray.to_gpu(np.arange(1000, dtype=np.float32))
y = gpuarray.to_gpu(np.ones(1000, dtype=np.float32))
dot = ReductionKernel(np.float32, "0", "a + b", "x[i] * y[i]", "float *x, float *y")
print(dot(x, y).get())
