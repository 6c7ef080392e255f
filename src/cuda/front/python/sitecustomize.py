"""Python under `lockstep run` imports this when it starts (PYTHONPATH). It changes what clients would hide from a
checker: Numba's kernels get line information, and CuPy's arrays are allocations of their own, in place of parts of a
pool (`lockstep run --keep-pools` leaves them). A sitecustomize of the user's own is run afterwards. docs/inside/python.md"""

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import warnings


def _numba(module):
    """numba.cuda.jit compiles with lineinfo unless told otherwise. Its debug switch would change the code. Who did
    not ask for lines is not warned of functions without a file, as Numba makes them for ufuncs."""
    real = module.jit
    warnings.filterwarnings("ignore", message="Could not find source for function")

    @functools.wraps(real)
    def jit(*args, **options):
        config = getattr(sys.modules.get("numba.core"), "config", None)
        if not options.get("debug") and not getattr(config, "CUDA_DEBUGINFO_DEFAULT", 0):
            options.setdefault("lineinfo", True)
        return real(*args, **options)

    module.jit = jit


def _numba_flags(module):
    """Code with lines does not link with what NVRTC makes for link-time optimisation, as for cuda.bfloat16: Numba says
    what is to be done where versions of debugging information differ ("warn", 2) otherwise than NVRTC ("error", 1)."""
    real = module.DIBuilder._set_module_flags

    def flags(self):
        number = self._const_int
        self._const_int = lambda value, *rest: number(1 if value == 2 else value, *rest)
        try:
            real(self)
        finally:
            del self._const_int

    module.DIBuilder._set_module_flags = flags

    variable = module.DIBuilder._var_type

    def var_type(self, lltype, size, datamodel=None):
        """Numba divides by the size of a tuple's elements, which is 0 for tuples of empty tuples: an empty struct then."""
        try:
            return variable(self, lltype, size, datamodel)
        except ZeroDivisionError:
            return variable(self, module.ir.LiteralStructType([]), 0, None)

    module.DIBuilder._var_type = var_type

    end = module.DIBuilder.finalize

    def finalize(self):
        """A call without a line, as Numba makes them of NRT_decref, is no valid code where caller and callee have
        debugging information, as they do when LTO puts them into one module: it gets the line of what is beside it."""
        end(self)
        for function in self.module.functions:
            if "dbg" not in function.metadata:
                continue
            code = [instruction for block in function.blocks for instruction in block.instructions]
            place = next((i.metadata["dbg"] for i in code if "dbg" in i.metadata), None)
            for instruction in code:
                place = instruction.metadata.get("dbg", place)
                if place is not None and instruction.opname == "call" and "dbg" not in instruction.metadata:
                    instruction.set_metadata("dbg", place)

    module.DIBuilder.finalize = finalize


@functools.lru_cache(maxsize=None)
def _beside(name):
    """A module of this folder, which is not in sys.path. Its code has no file, so that reports leave its frames out. It
    finds others by the same function, `beside`."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py"), encoding="utf-8") as file:
        text = file.read()
    module = type(sys)(name)
    module.beside = _beside
    exec(compile(text, "<lockstep>", "exec"), module.__dict__)
    return module


def _cupy(module):
    """Arguments of raw kernels are looked at. Without pools, in the documented way."""
    _beside("lockstep_cupy").install(module, _beside("lockstep_views"))
    if not os.environ.get("LOCKSTEP_KEEP_POOLS"):
        module.cuda.set_allocator(None)
        module.cuda.set_pinned_memory_allocator(None)
        _cupy_captures(module)


def _cupy_captures(module):
    """Arrays that are made and dropped while a stream is captured are used by the graph later. With a pool their memory
    stays where it is; without one it would be freed before the graph runs. So captures have the pool."""
    from cupy.cuda import stream

    streams = next(c for c in stream.Stream.__mro__ if "begin_capture" in vars(c))
    begin, end = streams.begin_capture, streams.end_capture
    before = []  # the allocators of captures that have begun and not ended

    @functools.wraps(begin)
    def begin_capture(self, *args, **options):
        begin(self, *args, **options)
        before.append(module.cuda.get_allocator())
        module.cuda.set_allocator(module.get_default_memory_pool().malloc)

    @functools.wraps(end)
    def end_capture(self):
        try:
            return end(self)
        finally:
            if before:
                module.cuda.set_allocator(before.pop())

    streams.begin_capture, streams.end_capture = begin_capture, end_capture


def _numba_arrays(module):
    """Kernels say what arrays they are given, and under which names."""
    _beside("lockstep_views").numba(module)


def _torch(module):
    """PyTorch's own operators are done by its CPU kernels; functions of C++ extensions say what tensors they are given."""
    _beside("lockstep_torch").install(module, _beside("lockstep_views"))
    _beside("lockstep_views").torch(module)


def _inductor(module):
    """Trees of graphs ask a pool for the state of its blocks, which the allocator without a pool does not know."""
    if not os.environ.get("LOCKSTEP_KEEP_POOLS"):
        module.triton.cudagraph_trees = False


def _cells(module):
    """Cells of notebooks have a number and a text."""
    _beside("lockstep_views").cells(module, lambda: _beside("lockstep_cells"))


def _pycuda(module):
    """PyCUDA makes the folder of its cache only where nobody names one."""
    if os.environ.get("PYCUDA_CACHE_DIR"):
        os.makedirs(os.environ["PYCUDA_CACHE_DIR"], exist_ok=True)


def _runtime(module):
    """cuda.bindings.runtime has a CUDA runtime inside that cannot be taken over. The few functions of it that cuda.core
    calls are asked of the driver instead; the codes and the numbers of attributes are the same in both interfaces."""
    from cuda.bindings import driver

    def done(answer):
        code, *rest = answer
        code = module.cudaError_t(int(code))
        return (code, *rest) if code == module.cudaError_t.cudaSuccess else (code, *[None for _ in rest])

    def begun():
        """As the runtime does: the primary context of the first device, where the thread has none."""
        driver.cuInit(0)
        code, context = driver.cuCtxGetCurrent()
        if int(code) == 0 and int(context) == 0:
            code, context = driver.cuDevicePrimaryCtxRetain(0)
            if int(code) == 0:
                driver.cuCtxSetCurrent(context)

    def synchronize():
        begun()
        return done(driver.cuCtxSynchronize())

    def current():
        begun()
        code, device = driver.cuCtxGetDevice()
        return done((code, int(device)))

    def count():
        driver.cuInit(0)
        return done(driver.cuDeviceGetCount())

    def attribute(which, device):
        driver.cuInit(0)
        return done(driver.cuDeviceGetAttribute(driver.CUdevice_attribute(int(which)), device))

    def bus(length, device):
        driver.cuInit(0)
        return done(driver.cuDeviceGetPCIBusId(length, device))

    module.cudaDeviceSynchronize = synchronize
    module.cudaGetDevice = current
    module.cudaGetDeviceCount = count
    module.cudaDeviceGetAttribute = attribute
    module.cudaDeviceGetPCIBusId = bus


_CLIENTS = {
    "numba.cuda.decorators": _numba,
    "numba_cuda_mlir.cuda": _numba,
    "numba.cuda.debuginfo": _numba_flags,
    "numba.cuda.dispatcher": _numba_arrays,
    "torch": _torch,
    "torch._inductor.config": _inductor,
    "IPython.core.compilerop": _cells,
    "cuda.bindings.runtime": _runtime,
    "cupy": _cupy,
    "pycuda.compiler": _pycuda,
}


class _Loader(importlib.abc.Loader):
    """The client's own loader, and then what is changed."""

    def __init__(self, real, change):
        self.real, self.change = real, change

    def create_module(self, spec):
        return self.real.create_module(spec)

    def exec_module(self, module):
        self.real.exec_module(module)
        try:
            self.change(module)
        except Exception as error:  # a release that is made otherwise: it works, unchanged
            print(f"lockstep: {module.__name__} stays as it is: {error}", file=sys.stderr)

    def __getattr__(self, name):  # what else is asked of a loader: source, resources
        return getattr(self.real, name)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds clients as the other finders do, and puts _Loader in front."""

    def find_spec(self, name, path=None, target=None):
        change = _CLIENTS.get(name)
        if not change:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec and spec.loader:
                spec.loader = _Loader(spec.loader, change)
                return spec
        return None


def _other():
    """The sitecustomize that Python would have found without this one."""
    here = os.path.dirname(os.path.abspath(__file__))
    path = [p for p in sys.path if os.path.abspath(p or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    sys.path[:] = path
    if spec and spec.loader:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


sys.meta_path.insert(0, _Finder())
_other()
