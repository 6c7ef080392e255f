"""Arrays that a client says it passes (lkpy_views), as Numba, CuPy and PyTorch do: each case is an argument."""
import ctypes
import sys

PTX = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry take(.param .u64 x, .param .u32 n, .param .u32 step)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %d<4>;
    ld.param.u64 %d0, [x];
    ld.param.u32 %r0, [n];
    ld.param.u32 %r1, [step];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mad.lo.s32 %r5, %r3, %r4, %r2;
    setp.ge.s32 %p0, %r5, %r0;
    @%p0 bra done;
    mul.wide.s32 %d1, %r5, %r1;
    add.s64 %d2, %d0, %d1;
    ld.global.b32 %r6, [%d2];
done:
    ret;
}
.visible .entry both(.param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %d<6>;
    ld.param.u64 %d0, [x];
    ld.param.u64 %d1, [y];
    ld.param.u32 %r0, [n];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mad.lo.s32 %r5, %r3, %r4, %r2;
    setp.ge.s32 %p0, %r5, %r0;
    @%p0 bra done;
    mul.wide.s32 %d2, %r5, 4;
    add.s64 %d3, %d0, %d2;
    ld.global.b32 %r6, [%d3];
    add.s64 %d4, %d1, %d2;
    st.global.b32 [%d4], %r6;
done:
    ret;
}
.visible .entry fill(.param .u64 c)
{
    .reg .b32 %r<10>;
    .reg .b64 %d<4>;
    ld.param.u64 %d0, [c];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mad.lo.s32 %r3, %r1, %r2, %r0;
    mov.u32 %r4, %tid.y;
    mov.u32 %r5, %ctaid.y;
    mov.u32 %r6, %ntid.y;
    mad.lo.s32 %r7, %r5, %r6, %r4;
    mad.lo.s32 %r8, %r3, 40, %r7;
    mul.wide.s32 %d1, %r8, 4;
    add.s64 %d2, %d0, %d1;
    st.global.b32 [%d2], %r3;
    ret;
}
"""
cuda = ctypes.CDLL("libcuda.so.1")
context, module = ctypes.c_void_p(), ctypes.c_void_p()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuModuleLoadData(ctypes.byref(module), PTX)
with open("/proc/self/maps") as maps:
    lockstep = ctypes.PyDLL(next(line.split(maxsplit=5)[5].strip() for line in maps if "/liblockstep.so" in line))
lockstep.lkpy_views.argtypes, lockstep.lkpy_views.restype = [ctypes.c_char_p], None


def alloc(elements):
    at = ctypes.c_uint64()
    cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(4 * elements))
    cuda.cuMemsetD32_v2(at, 7, ctypes.c_size_t(elements))
    return at.value


def view(name, address, shape, strides, alone=""):
    numbers = " ".join(map(str, (*shape, *strides)))
    return f"{alone}{name}\tfloat32\t4 {address:x} {len(shape)} {numbers}\n"


def launch(name, views, grid, block, *args):
    kernel = ctypes.c_void_p()
    cuda.cuModuleGetFunction(ctypes.byref(kernel), module, name.encode())
    values = [ctypes.c_uint64(a) if a > 2**32 else ctypes.c_uint32(a) for a in args]
    table = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
    text = "".join(views).encode()
    lockstep.lkpy_views(text)
    assert cuda.cuLaunchKernel(kernel, *grid, 1, *block, 1, 0, None, table, None) == 0
    lockstep.lkpy_views(None)
    assert cuda.cuCtxSynchronize() == 0


x, y, matrix = alloc(1000), alloc(1000), alloc(2000)
if sys.argv[1] == "slice":  # x[100:200], of which 128 are read
    launch("take", [view("x", x + 400, (100,), (4,))], (1, 1), (128, 1), x + 400, 128, 4)
if sys.argv[1] == "step":  # x[::2], read as if it were x
    launch("take", [view("x", x, (500,), (8,))], (4, 1), (128, 1), x, 500, 4)
if sys.argv[1] == "column":  # a[:, 0], read as if it were a row
    launch("take", [view("x", x, (100,), (40,))], (1, 1), (128, 1), x, 100, 4)
if sys.argv[1] == "before":  # x[10:], from x[9] on
    launch("take", [view("x", x + 40, (990,), (4,))], (1, 1), (32, 1), x + 40, 2, -4)
if sys.argv[1] == "shape":  # C[i, j] without a guard
    launch("fill", [view("C", matrix, (50, 40), (160, 4))], (4, 3), (16, 16), matrix)
if sys.argv[1] == "transposed":  # b.t() beside an array that lies otherwise; the strides of a matrix, and no pitch
    launch("both", [view("", x, (20, 50), (4, 80), "!"), view("", y, (20, 50), (200, 4), "!")], (4, 1), (256, 1), x, y, 1000)
    launch("take", [view("", x, (100,), (40,), "!")], (1, 1), (128, 1), x, 100, 4)
if sys.argv[1] == "OK":
    launch("take", [view("x", x + 400, (100,), (4,))], (1, 1), (128, 1), x + 400, 100, 4)
    launch("take", [view("x", x, (500,), (8,))], (4, 1), (128, 1), x, 500, 8)
    launch("take", [view("x", x + 3996, (1000,), (-4,))], (4, 1), (256, 1), x + 3996, 1000, -4)
    launch("take", [view("x", x, (998, 3), (4, 4))], (4, 1), (256, 1), x, 1000, 4)  # a sliding window
    launch("take", [view("x", x, (20, 50), (4, 80))], (4, 1), (256, 1), x, 1000, 4)  # transposed, and Numba knows
    launch("take", [view("x", x, (50, 3), (0, 4))], (1, 1), (32, 1), x, 3, 4)  # broadcast
    # each element for itself, in arrays that lie alike; a kernel that is told the stride; a scalar; what is not passed
    launch("both", [view("", x, (20, 50), (4, 80), "!"), view("", y, (20, 50), (4, 80), "!")], (4, 1), (256, 1), x, y, 1000)
    launch("take", [view("", x, (100,), (40,), "!")], (1, 1), (128, 1), x, 100, 40)
    launch("take", [view("x", x, (), ())], (1, 1), (1, 1), x, 1, 4)
    launch("take", [view("z", matrix, (3,), (4,)), "rubbish\n", "a\tb\t4 zz 1 2 3"], (4, 1), (256, 1), x, 1000, 4)
    print("OK")
