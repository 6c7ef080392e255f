"""Scales an array on the GPU, with nothing but Python: 1000 floats take 4000 bytes, and 1000 are allocated."""
import ctypes

cuda = ctypes.CDLL("libcuda.so.1")
context, module, scale, values = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
count = ctypes.c_int(1000)

assert cuda.cuInit(0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0
assert cuda.cuModuleLoad(ctypes.byref(module), b"scale.ptx") == 0
assert cuda.cuModuleGetFunction(ctypes.byref(scale), module, b"scale") == 0

assert cuda.cuMemAlloc_v2(ctypes.byref(values), ctypes.c_size_t(count.value)) == 0
assert cuda.cuMemsetD8_v2(values, 0, ctypes.c_size_t(count.value)) == 0
arguments = (ctypes.c_void_p * 2)(ctypes.addressof(values), ctypes.addressof(count))
assert cuda.cuLaunchKernel(scale, 4, 1, 1, 256, 1, 1, 0, None, arguments, None) == 0
assert cuda.cuCtxSynchronize() == 0

assert cuda.cuMemFree_v2(values) == 0
assert cuda.cuModuleUnload(module) == 0
print("done")
