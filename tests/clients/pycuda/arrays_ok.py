"""PyCUDA as its tutorial has it: SourceModule, gpuarray, ElementwiseKernel, a stream with pinned memory."""
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel

module = SourceModule("""
__global__ void add(float *out, const float *a, const float *b, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) out[i] = a[i] + b[i];
}
""")
add = module.get_function("add")
a = np.arange(1000, dtype=np.float32)
b = np.ones(1000, dtype=np.float32)
out = np.zeros_like(a)
add(drv.Out(out), drv.In(a), drv.In(b), np.int32(1000), block=(256, 1, 1), grid=(4, 1))
print("SourceModule", np.array_equal(out, a + b))

x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
print("gpuarray", np.array_equal((2 * x + y).get(), 2 * a + b))

line = ElementwiseKernel("float f, float *x, float *y, float *z", "z[i] = f * x[i] + y[i]", "line")
z = gpuarray.empty_like(x)
line(3, x, y, z)
print("ElementwiseKernel", np.array_equal(z.get(), 3 * a + b))

stream = drv.Stream()
pinned = drv.pagelocked_empty(1000, np.float32)
pinned[:] = a
memory = drv.mem_alloc(pinned.nbytes)
drv.memcpy_htod_async(memory, pinned, stream)
add(memory, memory, y, np.int32(1000), block=(256, 1, 1), grid=(4, 1), stream=stream)
drv.memcpy_dtoh_async(pinned, memory, stream)
stream.synchronize()
print("Stream", np.array_equal(pinned, a + b))
