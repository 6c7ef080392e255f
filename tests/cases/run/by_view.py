# by_view.py PTX STRIDE ELEMENTS: launches twice_rows of by_view.cu for 4 rows of 8 whose input has this stride, in an allocation of so many elements.
import ctypes
import sys

cu = ctypes.CDLL("libcuda.so.1")


def ok(r):
    assert r == 0, r


path, stride, elements = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
device, context, module, function = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
ok(cu.cuInit(0))
ok(cu.cuDeviceGet(ctypes.byref(device), 0))
ok(cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
ok(cu.cuCtxSetCurrent(context))
ok(cu.cuModuleLoad(ctypes.byref(module), path.encode()))
ok(cu.cuModuleGetFunction(ctypes.byref(function), module, b"twice_rows"))
x, y = ctypes.c_uint64(), ctypes.c_uint64()
ok(cu.cuMemAlloc_v2(ctypes.byref(x), ctypes.c_size_t(4 * elements)))
ok(cu.cuMemAlloc_v2(ctypes.byref(y), ctypes.c_size_t(4 * 32)))
ok(cu.cuMemsetD32_v2(x, 0, ctypes.c_size_t(elements)))
given = [x, y, ctypes.c_int(4), ctypes.c_int(8), ctypes.c_longlong(stride)]
args = (ctypes.c_void_p * 5)(*map(ctypes.addressof, given))
ok(cu.cuLaunchKernel(function, 4, 1, 1, 32, 1, 1, 0, None, args, None))
ok(cu.cuCtxSynchronize())
ok(cu.cuMemFree_v2(x))
ok(cu.cuMemFree_v2(y))
print("done")
