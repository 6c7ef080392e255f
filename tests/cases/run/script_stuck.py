"""A kernel that waits for the host, which waits for the kernel: `bad`; a thread writes the word meanwhile: `ok`. Python
has a handler for SIGINT, which only notes the signal."""
import ctypes
import sys
import threading
import time

PTX = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry await(.param .u64 flag)
{
    .reg .pred %p<1>;
    .reg .b32 %r<1>;
    .reg .b64 %d<1>;
    ld.param.u64 %d0, [flag];
again:
    ld.volatile.global.u32 %r0, [%d0];
    setp.eq.u32 %p0, %r0, 0;
    @%p0 bra again;
    ret;
}
"""
cuda = ctypes.CDLL("libcuda.so.1")
context, module, kernel, flag = (ctypes.c_void_p() for _ in range(4))
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuModuleLoadData(ctypes.byref(module), PTX)
cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"await")
cuda.cuMemHostAlloc(ctypes.byref(flag), ctypes.c_size_t(4), 2)
word = ctypes.cast(flag, ctypes.POINTER(ctypes.c_uint32))
word[0] = 0
table = (ctypes.c_void_p * 1)(ctypes.addressof(flag))
assert cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, table, None) == 0


def later():
    time.sleep(2)
    word[0] = 1


if sys.argv[1] == "ok":
    threading.Thread(target=later).start()
print("waiting", flush=True)
print(cuda.cuCtxSynchronize())
