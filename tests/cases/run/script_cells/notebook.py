"""Runs cells of a notebook as IPython does; the bug, if it is wanted, is a launch of 128 threads for 100 elements. kernel: as
the kernel of a notebook, whose cells have outputs of their own."""
import io
import sys

import IPython
from IPython.core.compilerop import CachingCompiler

CELLS = [
    '''import ctypes
PTX = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry fill(.param .u64 x)
{
    .reg .b32 %r<2>;
    .reg .b64 %d<4>;
    ld.param.u64 %d0, [x];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d1, %r1, 4;
    add.u64 %d2, %d0, %d1;
    st.global.u32 [%d2], %r1;
    ret;
}
"""
cuda = ctypes.CDLL("libcuda.so.1")
context, module, kernel, data = (ctypes.c_void_p() for _ in range(4))
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuModuleLoadData(ctypes.byref(module), PTX)
cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"fill")''',
    '''# memory
cuda.cuMemAlloc_v2(ctypes.byref(data), ctypes.c_size_t(400))''',
    '''def launch(threads):
    table = (ctypes.c_void_p * 1)(ctypes.addressof(data))
    return cuda.cuLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, None, table, None)
launch(int(sys.argv[1]))''',
    '''import time
begin = time.perf_counter()
launch(100)
print(time.perf_counter() > begin)
cuda.cuCtxSynchronize()''',
]


class Shell:
    """What a notebook's kernel has: cells print into their own output."""

    kernel = True
    ended = []

    @property
    def events(self):
        return self

    def register(self, event, function):
        assert event == "post_run_cell"
        self.ended.append(function)


class Output(io.StringIO):
    def flush(self):
        for line in self.getvalue().splitlines():
            print("  out |", line, flush=True)
        self.seek(0)
        self.truncate()


scope = {"sys": sys}
compiler = CachingCompiler()
if "kernel" in sys.argv:
    IPython.SHELL = Shell()
for number, text in enumerate(CELLS[: 3 if sys.argv[1] == "100" else 4], 1):
    if "kernel" in sys.argv:
        print(f"cell {number}", flush=True)
    exec(compile(text, compiler.cache(text, number), "exec"), scope)
    terminal, sys.stderr = sys.stderr, Output()
    for end in Shell.ended:
        end(None)
    sys.stderr = terminal
