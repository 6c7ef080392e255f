"""An operator of a library that is done on the host, as PyTorch's own are (front/python/lockstep_torch.py), without the library: each case is an argument."""
import ctypes
import struct
import sys

cuda = ctypes.CDLL("libcuda.so.1")
context, N = ctypes.c_void_p(), 1024


def check(code):
    assert code == 0, code


def allocate(stream):
    at = ctypes.c_uint64()
    check(cuda.cuMemAllocAsync(ctypes.byref(at), ctypes.c_size_t(4 * N), stream))
    return at.value


def stream():
    s = ctypes.c_void_p()
    check(cuda.cuStreamCreate(ctypes.byref(s), 1))
    return s


check(cuda.cuInit(0))
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(cuda.cuCtxSetCurrent(context))
with open("/proc/self/maps") as maps:
    path = next(line.split(maxsplit=5)[5].strip() for line in maps if "/liblockstep.so" in line)
engine, waits = ctypes.PyDLL(path), ctypes.CDLL(path)
engine.lkpy_view.argtypes, engine.lkpy_view.restype = [ctypes.c_uint64], ctypes.c_uint64
engine.lkpy_operated.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint32]


def operate(name, where, reads=(), writes=(), value=1):
    """Waits for its turn, writes, and says so; every second element where a tensor is (address, 2)."""
    check(waits.lkpy_reach(where))
    words = []
    for written, tensors in ((0, reads), (1, writes)):
        for t in tensors:
            at, step = t if isinstance(t, tuple) else (t, 1)
            words += (written, at, 4 * N, 1, 4 * N, 1, 4 * N) if step == 1 else (written, at, 4, N // step, 4 * step, 1, 4 * N)
            view = (ctypes.c_uint32 * N).from_address(engine.lkpy_view(at))
            assert written or all(view[k] in (0, value - 1) for k in range(0, N, step)), "not in its turn"
            for k in range(0, N if written else 0, step):
                view[k] = value
    check(engine.lkpy_operated(where, name, struct.pack(f"={len(words)}Q", *words), len(words) // 7))


engine.lkpy_tensors()
how, first, second = sys.argv[1], stream(), stream()
x = allocate(first)
y = allocate(first)
if how == "ok":  # used at once in another stream, as tensors may be; an event orders the two operators
    event = ctypes.c_void_p()
    operate(b"fill_", second, writes=[x])
    check(cuda.cuEventCreate(ctypes.byref(event), 0))
    check(cuda.cuEventRecord(event, second))
    check(cuda.cuStreamWaitEvent(first, event, 0))
    operate(b"add", first, reads=[x], writes=[y], value=2)
    check(cuda.cuMemFreeAsync(ctypes.c_uint64(x), first))
elif how == "unordered":
    operate(b"fill_", second, writes=[x])
    operate(b"add", first, reads=[x], writes=[y], value=2)
elif how == "unwritten":
    operate(b"fill_", first, writes=[(x, 2)])
    operate(b"mul", first, reads=[(x, 2)], writes=[(y, 2)], value=2)
    operate(b"add", first, reads=[x], writes=[y], value=2)
elif how == "freed":
    operate(b"fill_", first, writes=[x])
    check(cuda.cuStreamSynchronize(first))
    operate(b"add", second, reads=[x], writes=[y], value=2)
    check(cuda.cuMemFreeAsync(ctypes.c_uint64(x), first))
elif how == "captured":
    check(cuda.cuStreamBeginCapture_v2(first, 2))
    print("captured:", waits.lkpy_reach(first))
host = (ctypes.c_uint32 * N)()
if how != "captured":
    check(cuda.cuMemcpyDtoHAsync_v2(host, ctypes.c_uint64(y), ctypes.c_size_t(4 * N), second if how == "freed" else first))
    check(cuda.cuCtxSynchronize())
    print(host[0], host[N - 2])
