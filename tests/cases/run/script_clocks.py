"""Clocks of Python around launches: each way of measuring is an argument; those in capitals are right."""
import ctypes
import sys
import time
import timeit
from time import monotonic_ns, perf_counter

PTX = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry NAME(.param .u64 at)
{
    .reg .b32 %r<2>;
    .reg .b64 %d<4>;
    ld.param.u64 %d0, [at];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d1, %r1, 4;
    add.u64 %d0, %d0, %d1;
    st.global.u32 [%d0], %r1;
    ret;
}
"""
cuda = ctypes.CDLL("libcuda.so.1")
context, at = ctypes.c_void_p(), ctypes.c_uint64()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(4 * 64))
table = (ctypes.c_void_p * 1)(ctypes.addressof(at))
kernels = {}


def launch(name):
    """Loads at the first call, as Numba and CuPy do."""
    if name not in kernels:
        module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
        cuda.cuModuleLoadData(ctypes.byref(module), PTX.replace(b"NAME", name.encode()))
        cuda.cuModuleGetFunction(ctypes.byref(kernel), module, name.encode())
        kernels[name] = kernel
    assert cuda.cuLaunchKernel(kernels[name], 1, 1, 1, 64, 1, 1, 0, None, table, None) == 0


def wait():
    assert cuda.cuCtxSynchronize() == 0


class Timer:
    def __enter__(self):
        self.start = perf_counter()

    def __exit__(self, *_):
        self.took = perf_counter() - self.start


def warm(name):
    launch(name)
    wait()
    return name


def first():
    start = time.time()
    launch("first")
    wait()
    return time.time() - start


def plain():
    kernel = warm("plain")
    start = time.time()
    launch(kernel)
    return time.time() - start


def line():
    kernel = warm("line")
    t = perf_counter(); launch(kernel); return perf_counter() - t  # fmt: skip


def nanoseconds():
    kernel = warm("nanoseconds")
    for _ in range(3):
        start = monotonic_ns()
        launch(kernel)
        print(monotonic_ns() > start)
    wait()


def context_manager():
    kernel = warm("context_manager")
    with Timer():
        launch(kernel)


def loop():
    kernel = warm("loop")
    timeit.timeit(lambda: launch(kernel), number=3)


def WAITS():
    kernel = warm("WAITS")
    start = time.time()
    launch(kernel)
    wait()
    return time.time() - start


def KNOWS():
    """The time of the launch, and then that of the kernel."""
    kernel = warm("KNOWS")
    start = perf_counter()
    launch(kernel)
    launched = perf_counter()
    wait()
    return launched, perf_counter() - start


def SLEEPS():
    """Python reads the clock in order to sleep: no measurement."""
    kernel = warm("SLEEPS")
    perf_counter()
    launch(kernel)
    time.sleep(0.001)
    wait()


def LIMIT():
    """A loop for so long measures no kernel."""
    kernel = warm("LIMIT")
    end = time.monotonic() + 0.01
    while time.monotonic() < end:
        launch(kernel)


def OTHERS():
    """One clock before, another one behind; and each call of a function reads its clock once."""
    kernel = warm("OTHERS")

    def log():
        print(time.time() > 0)
        launch(kernel)

    log()
    log()
    time.time()
    launch(kernel)
    perf_counter()


for which in sys.argv[1:]:
    print("==", which, flush=True)
    globals()[which]()
    wait()
