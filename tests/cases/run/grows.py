# grows.py PTX: each step allocates an array by the driver's interface, launches a kernel, and forgets the array.
import ctypes
import sys

cu = ctypes.CDLL("libcuda.so.1")


def ok(r):
    assert r == 0, r


def step(function):
    x = ctypes.c_uint64()
    ok(cu.cuMemAlloc_v2(ctypes.byref(x), ctypes.c_size_t(4096)))
    ok(cu.cuMemsetD32_v2(x, 0, ctypes.c_size_t(1024)))
    n = ctypes.c_int(1024)
    args = (ctypes.c_void_p * 2)(ctypes.addressof(x), ctypes.addressof(n))
    ok(cu.cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, None, args, None))


device, context, module, function = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
ok(cu.cuInit(0))
ok(cu.cuDeviceGet(ctypes.byref(device), 0))
ok(cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
ok(cu.cuCtxSetCurrent(context))
ok(cu.cuModuleLoad(ctypes.byref(module), sys.argv[1].encode()))
ok(cu.cuModuleGetFunction(ctypes.byref(function), module, b"scale"))
for _ in range(6):
    step(function)
ok(cu.cuCtxSynchronize())
