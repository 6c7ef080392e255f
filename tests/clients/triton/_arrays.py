"""Arrays of the GPU for Triton without torch: anything with data_ptr() and dtype is an argument."""
import ctypes

import numpy as np

cuda = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()


def check(code):
    assert code == 0, f"the driver answers {code}"


check(cuda.cuInit(0))
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(cuda.cuCtxSetCurrent(context))


class Array:
    """A copy of an array of NumPy on the device."""

    def __init__(self, host):
        self.host = np.ascontiguousarray(host)
        self.shape, self.dtype, self.at = self.host.shape, self.host.dtype, ctypes.c_uint64()
        self.strides = [s // self.host.itemsize for s in self.host.strides]
        check(cuda.cuMemAlloc_v2(ctypes.byref(self.at), ctypes.c_size_t(self.host.nbytes)))
        check(cuda.cuMemcpyHtoD_v2(self.at, self.host.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(self.host.nbytes)))

    def data_ptr(self):
        return self.at.value

    def stride(self, k=None):
        return self.strides if k is None else self.strides[k]

    def dim(self):
        return len(self.shape)

    def get(self):
        out = np.empty_like(self.host)
        check(cuda.cuMemcpyDtoH_v2(out.ctypes.data_as(ctypes.c_void_p), self.at, ctypes.c_size_t(out.nbytes)))
        return out


def zeros(shape, dtype=np.float32):
    return Array(np.zeros(shape, dtype))


def synchronize():
    check(cuda.cuCtxSynchronize())
