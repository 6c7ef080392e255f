"""Python over the driver interface: reports name lines of the script, its functions and variables."""
import ctypes
import sys

PTX = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry fill(.param .u64 at, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<5>;
    .reg .b64 %d<4>;
    ld.param.u64 %d0, [at];
    ld.param.u32 %r0, [n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    setp.ge.u32 %p, %r1, %r0;
    @%p ret;
    mul.wide.u32 %d1, %r1, 4;
    add.u64 %d0, %d0, %d1;
    st.global.u32 [%d0], %r1;
    ret;
}
"""
cuda = ctypes.CDLL("libcuda.so.1")  # gives up the interpreter's lock while it calls


def check(code):
    assert code == 0, code


def allocate(n):
    at = ctypes.c_uint64()
    failed = cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(4 * n))
    check(failed)
    return at


def launch(context, kernel, at, n):
    check(cuda.cuCtxSetCurrent(context))
    words = [at, ctypes.c_uint32(n)]
    table = (ctypes.c_void_p * 2)(*(ctypes.addressof(w) for w in words))
    check(cuda.cuLaunchKernel(kernel, 4, 1, 1, 64, 1, 1, 0, None, table, None))
    check(cuda.cuCtxSynchronize())


def main():
    context, module, kernel = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuInit(0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(cuda.cuCtxSetCurrent(context))
    check(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
    check(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"fill"))
    numbers = allocate(200)
    launch(context, kernel, numbers, int(sys.argv[1]))
    if len(sys.argv) > 2:
        import threading

        threads = [threading.Thread(target=launch, args=(context, kernel, numbers, 200)) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    print("done")


main()
