"""A kernel that launches another one: PyCUDA links it with libcudadevrt by the driver's linker."""
import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda.compiler import DynamicSourceModule

module = DynamicSourceModule(
    """
__global__ void inner(int *a) { a[threadIdx.x] = 2 * threadIdx.x; }
__global__ void outer(int *a) { if (threadIdx.x == 0) inner<<<1, 32>>>(a); }
"""
)
a = drv.mem_alloc(128)
module.get_function("outer")(a, block=(32, 1, 1), grid=(1, 1))
host = np.zeros(32, np.int32)
drv.memcpy_dtoh(host, a)
print("dynamic", np.array_equal(host, 2 * np.arange(32)))
a.free()
