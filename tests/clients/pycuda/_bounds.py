"""SourceModule without `if (i < n)`."""
import numpy as np
import pycuda.autoinit
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void twice(float *out, const float *a)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    out[i] = 2 * a[i];
}
""")
a = gpuarray.to_gpu(np.arange(1000, dtype=np.float32))
out = gpuarray.empty(1000, np.float32)
module.get_function("twice")(out, a, block=(256, 1, 1), grid=(4, 1))
print(out.get()[:3])
