"""As much of CuPy as lockstep_cupy.py touches, over the driver interface: kernels are not compiled and not launched."""
import ctypes


class cuda:
    set_allocator = set_pinned_memory_allocator = staticmethod(lambda _: None)


class _dtype:
    def __init__(self, name):
        self.name, self.kind, self.itemsize = name, name[0].replace("b", "?"), int(name.lstrip("floatuincmpexb")) // 8

    def __str__(self):
        return self.name


class _flags:
    def __init__(self, c, f):
        self.c_contiguous, self.f_contiguous = c, f


class ndarray:
    def __init__(self, shape, dtype, strides=None, base=None):
        self.shape, self.dtype, self.base, self.itemsize, self.size = shape, _dtype(dtype), base, _dtype(dtype).itemsize, 1
        dense = []
        for n in reversed(shape):
            dense.insert(0, self.size * self.itemsize)
            self.size *= n
        self.strides = strides or tuple(dense)
        self.flags = _flags(list(self.strides) == dense, sorted(self.strides) == list(self.strides))


class RawKernel:
    def __init__(self, code, name):
        self._code, self.name = code, name

    code = property(lambda self: self._code)

    def __call__(self, grid, block, args, shared_mem=0):
        return len(args)


class RawModule:
    def __init__(self, code):
        self._code = code

    code = property(lambda self: self._code)

    def get_function(self, name):
        return RawKernel(None, name)


_driver, _context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
assert _driver.cuInit(0) == 0
assert _driver.cuDevicePrimaryCtxRetain(ctypes.byref(_context), 0) == 0
assert _driver.cuCtxSetCurrent(_context) == 0
assert _driver.cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(64)) == 0
