"""The quick start of quick.c from Python, by ctypes: LOCKSTEP_LIBRARY=build/liblockstep.so python3 examples/quick.py [sim|gpu]"""
import ctypes as c
import os
import sys
from lockstep_abi import lk_launch, lk_options, lk_value

lib = c.CDLL(os.environ.get("LOCKSTEP_LIBRARY", "liblockstep.so.0"))
P = c.c_void_p
lib.lk_gpu_error.restype, lib.lk_gpu_error.argtypes = c.c_char_p, [P]
lib.lk_module_kernel.restype, lib.lk_module_kernel.argtypes = P, [P, c.c_char_p]
lib.lk_module_load.argtypes = [P, c.c_char_p, c.c_char_p, c.c_size_t, P]
lib.lk_memory_alloc.argtypes = [P, c.c_uint64, c.c_int, c.c_char_p, P]
lib.lk_memory_write.argtypes = lib.lk_memory_read.argtypes = [P, c.c_uint64, P, c.c_uint64]
lib.lk_kernel_launch.argtypes = [P, P, P]
lib.lk_gpu_destroy.argtypes = [P]
BUFFER, I64, F32 = 1, 8, 10  # lk_value_kind

PTX = b""".version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 x, .param .f32 by)
{
 .reg .b64 %d<3>; .reg .b32 %r; .reg .f32 %f<3>;
 ld.param.u64 %d1, [x]; ld.param.f32 %f1, [by]; mov.u32 %r, %tid.x; mul.wide.u32 %d2, %r, 4;
 add.u64 %d1, %d1, %d2; ld.global.f32 %f2, [%d1]; mul.f32 %f2, %f2, %f1; st.global.f32 [%d1], %f2; ret;
}
"""


def value(kind, bits):
    return lk_value(kind, 0, bits)


def f32(x):
    return value(F32, c.c_uint32.from_buffer_copy(c.c_float(x)).value)


gpu, module, x = P(), P(), c.c_uint64()
options = lk_options(size=c.sizeof(lk_options), on=sys.argv[1].encode() if len(sys.argv) > 1 else b"sim")
if lib.lk_gpu_create(c.byref(options), c.byref(gpu)):
    sys.exit(lib.lk_gpu_error(None).decode())
if lib.lk_module_load(gpu, b"quick.ptx", PTX, len(PTX), c.byref(module)):
    sys.exit(lib.lk_gpu_error(gpu).decode())
data = (c.c_float * 4)(1, 2, 3, 4)
lib.lk_memory_alloc(gpu, c.sizeof(data), 0, b"x", c.byref(x))
lib.lk_memory_write(gpu, x, data, c.sizeof(data))
kernel = lib.lk_module_kernel(module, b"scale")
for by in (f32(3), value(I64, 3)):  # the second is refused, by its number
    values = (lk_value * 2)(value(BUFFER, x.value), by)
    launch = lk_launch(size=c.sizeof(lk_launch), arg_count=2, values=c.addressof(values))
    launch.grid[0], launch.block[0] = 1, 4
    if lib.lk_kernel_launch(kernel, c.byref(launch), None):
        print(lib.lk_gpu_error(gpu).decode())
lib.lk_memory_read(gpu, x, data, c.sizeof(data))
print(*("%g" % v for v in data))
sys.exit(lib.lk_gpu_destroy(gpu))
