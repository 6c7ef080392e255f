# by_contract.py PTX KERNEL N ELEMENTS: launches a kernel by the driver's interface, from Python.
import ctypes
import sys

cu = ctypes.CDLL("libcuda.so.1")


def ok(r):
    assert r == 0, r


path, kernel, n, elements = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
device, context, module, function = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
ok(cu.cuInit(0))
ok(cu.cuDeviceGet(ctypes.byref(device), 0))
ok(cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
ok(cu.cuCtxSetCurrent(context))
ok(cu.cuModuleLoad(ctypes.byref(module), path.encode()))
ok(cu.cuModuleGetFunction(ctypes.byref(function), module, kernel.encode()))
x, y, size = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_int(n)
ok(cu.cuMemAlloc_v2(ctypes.byref(x), ctypes.c_size_t(4 * elements)))
ok(cu.cuMemAlloc_v2(ctypes.byref(y), ctypes.c_size_t(4 * elements)))
ok(cu.cuMemsetD32_v2(x, 0, ctypes.c_size_t(elements)))
args = (ctypes.c_void_p * 3)(*(ctypes.addressof(a) for a in (x, y, size)))
ok(cu.cuLaunchKernel(function, (n + 31) // 32, 1, 1, 32, 1, 1, 0, None, args, None))
ok(cu.cuCtxSynchronize())
ok(cu.cuMemFree_v2(x))
ok(cu.cuMemFree_v2(y))
print("done")
