"""The arrays that a script passes to a kernel, told to Lockstep before the launch: the name of the parameter, the type
of the elements, shape and strides (check/views.h). Numba's kernels are told where Numba makes their arguments; tensors of
PyTorch where a C++ extension is called; CuPy's raw kernels by lockstep_cupy.py. sitecustomize.py imports this."""

import ctypes
import functools
import importlib.machinery
import os
import sys
import threading


_library = None
_cells = []  # that were compiled before Lockstep's library came


def engine():
    """Lockstep's library; ctypes finds it by its path. None: not loaded yet, since the program has not used a GPU."""
    global _library
    if _library:
        return _library
    with open("/proc/thread-self/maps") as maps:  # /proc/self has none once the first thread has ended
        path = next((line.split(maxsplit=5)[5].strip() for line in maps if "/liblockstep.so" in line), None)
    if not path:
        return None
    try:
        library = ctypes.PyDLL(path)
    except OSError:  # its file was replaced since
        return None
    library.lkpy_found.argtypes, library.lkpy_found.restype = [ctypes.c_int] + [ctypes.c_char_p] * 3, None
    library.lkpy_script.argtypes, library.lkpy_script.restype = [ctypes.c_char_p] * 3, None
    library.lkpy_live.argtypes, library.lkpy_live.restype = [], ctypes.c_uint64
    library.lkpy_cell.argtypes, library.lkpy_cell.restype = [], ctypes.c_char_p
    library.lkpy_views.argtypes, library.lkpy_views.restype = [ctypes.c_char_p], None
    while _cells:
        library.lkpy_script(*_cells.pop(0))
    _library = library
    return library


def line(name, kind, itemsize, address, shape, strides, alone=False):
    """One array. alone: the kernel is given the address, and nothing else of it."""
    numbers = " ".join(map(str, (*shape, *strides)))
    return f"{'!' if alone else ''}{name}\t{kind}\t{itemsize} {address:x} {len(shape)} {numbers}\n"


_now = threading.local()  # passed: the text that is told; names, text: of Numba's parameters, of its arrays so far


class passed:
    """What is passed to the launches of this thread inside of a `with`: the text of all arrays."""

    def __init__(self, text):
        self.text = text.encode()

    def __enter__(self):
        self.before, _now.passed = getattr(_now, "passed", None), self.text
        engine().lkpy_views(self.text)

    def __exit__(self, *_):
        _now.passed = self.before
        engine().lkpy_views(self.before)


# ---- Numba ----

_NUMBA_TYPE = 2  # of lkpy_found (engine/cu_python.c)

def _names(kernel, caller):
    """Of the parameters of a kernel. One that comes out of the cache does not know its function; its dispatcher does."""
    function = getattr(kernel, "py_func", None) or getattr(caller.f_locals.get("self"), "py_func", None)
    code = getattr(function, "__code__", None)
    return list(code.co_varnames[: code.co_argcount]) if code else []


def _number(value):
    return int(getattr(value, "value", value) or 0)


def _numba_array(name, ty, arguments):
    """As Numba passes it: two words of its own, the number of elements, their size, the address, shape, strides."""
    n = ty.ndim
    if len(arguments) != 5 + 2 * n:
        return ""
    words = [_number(a) for a in arguments]
    if not words[2] or not words[4]:
        return ""
    return line(name, str(ty.dtype).replace(" ", ""), words[3], words[4], words[5 : 5 + n], words[5 + n :])


_NUMBERS = {f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)} | {"float16", "float32", "float64"}


def _numba_type(name, ty, val, kernel):
    """A kernel that was compiled for a signature is passed arrays as they are, whatever their type is."""
    given, takes = str(getattr(val, "dtype", "")), str(ty.dtype)
    if given == takes or not {given, takes} <= _NUMBERS:
        return
    size, taken = val.dtype.itemsize, int(takes.lstrip("uintfloa")) // 8
    why = "the same bytes mean other numbers" if size == taken else f"an element has {size} bytes, and {taken} are taken for one"
    cause = f"{name or 'An argument'} is an array of {given}, and the kernel was compiled for {ty.dtype}: {why}."
    fix = f"Convert it (.astype({takes!r})), or leave the signature out of @cuda.jit, so that Numba compiles the kernel for what it is given."
    engine().lkpy_found(_NUMBA_TYPE, kernel.encode(), cause.encode(), fix.encode())


def numba(module):
    """numba.cuda.dispatcher: the kernels say what they pass."""
    kernels = module._Kernel
    launch, prepare = kernels.launch, kernels._prepare_args

    @functools.wraps(launch)
    def told_launch(self, *args, **options):
        if not engine():
            return launch(self, *args, **options)
        before = dict(vars(_now))
        _now.names, _now.text = iter(_names(self, sys._getframe(1))), b""
        try:
            return launch(self, *args, **options)
        finally:
            engine().lkpy_views(None)
            vars(_now).clear()
            vars(_now).update(before)

    @functools.wraps(prepare)
    def told_prepare(self, ty, val, stream, retr, kernelargs):
        names = getattr(_now, "names", None)
        if names is None:
            return prepare(self, ty, val, stream, retr, kernelargs)
        at, name = len(kernelargs), next(names, "")
        if hasattr(ty, "ndim") and hasattr(ty, "layout"):
            answer = prepare(self, ty, val, stream, retr, kernelargs)
            _numba_type(name, ty, val, getattr(getattr(self, "py_func", None), "__name__", None) or "kernel")
            _now.text += _numba_array(name, ty, kernelargs[at:]).encode()
            engine().lkpy_views(_now.text)
            return answer
        count = len(val) if isinstance(val, tuple) else 0
        _now.names = iter([f"{name}[{k}]" if name else "" for k in range(count)])
        try:
            return prepare(self, ty, val, stream, retr, kernelargs)
        finally:
            _now.names = names

    kernels.launch, kernels._prepare_args = told_launch, told_prepare


# ---- PyTorch ----


def _tensors(values, kind):
    for value in values:
        if isinstance(value, kind):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value, kind)


def _tensor_lines(values, kind):
    text = ""
    for t in _tensors(values, kind):
        try:
            if not t.is_cuda or t.layout is not sys.modules["torch"].strided or not t.numel():
                continue
            size = t.element_size()
            strides = [s * size for s in t.stride()]
            text += line("", str(t.dtype).replace("torch.", ""), size, t.data_ptr(), t.shape, strides, alone=True)
        except Exception:  # a tensor without memory, or of another kind: nothing is told of it
            continue
    return text


def _told(function, kind):
    """A function of an extension, which says what tensors it is given."""

    @functools.wraps(function, assigned=("__name__", "__qualname__", "__doc__", "__module__"))
    def call(*args, **options):
        text = _tensor_lines((*args, *options.values()), kind)
        if not text or not engine():
            return function(*args, **options)
        with passed(text):
            return function(*args, **options)

    return call


def _extension(module):
    """The functions of an extension that take tensors, by what pybind11 writes about them."""
    torch = sys.modules.get("torch")
    kind = getattr(torch, "Tensor", None)
    file = getattr(module, "__file__", None) or ""
    if kind is None or "/site-packages/torch/" in file or "/dist-packages/torch/" in file:
        return
    for name, value in list(vars(module).items()):
        if type(value) is type(len) and "Tensor" in (value.__doc__ or ""):
            setattr(module, name, _told(value, kind))


def torch(module):
    """Extensions that are imported from now on, and operators of users' own libraries (torch.ops.mine.op)."""
    loader = importlib.machinery.ExtensionFileLoader
    real = loader.exec_module

    @functools.wraps(real)
    def exec_module(self, loaded):
        real(self, loaded)
        try:
            _extension(loaded)
        except Exception:  # it works, untold
            pass

    loader.exec_module = exec_module
    for kind in ("OpOverload", "OpOverloadPacket"):
        operators = getattr(getattr(module, "_ops", None), kind, None)
        if operators is not None:
            operators.__call__ = _operator(operators.__call__, module)


def _operator(call, module):
    @functools.wraps(call)
    def told(self, /, *args, **options):
        name = str(getattr(self, "_qualified_op_name", None) or getattr(self, "name", lambda: "aten::")())
        if name.startswith(("aten::", "prim", "profiler::", "inductor::", "quantized::", "c10d::", "_c10d")):
            return call(self, *args, **options)
        text = _tensor_lines((*args, *options.values()), module.Tensor)
        if not text or not engine():
            return call(self, *args, **options)
        with passed(text):
            return call(self, *args, **options)

    return told


# ---- notebooks ----


def _shown(memory, result):
    """A cell has ended: what was found in it is printed there. The terminal of `lockstep run` has it as well."""
    if not engine():
        return
    text = engine().lkpy_cell().decode(errors="replace")
    try:
        text += memory.ended(getattr(getattr(result, "info", None), "raw_cell", ""))
    except Exception:  # the variables of a notebook are anything
        pass
    if text:
        print(text, end="", file=sys.stderr, flush=True)


@functools.lru_cache(maxsize=None)
def _kernel(cells_of_memory):
    """Where cells are shown elsewhere than the terminal (ipykernel), they show what is found in them."""
    shell = sys.modules["IPython"].get_ipython()
    if hasattr(shell, "kernel"):
        os.environ["LOCKSTEP_CELLS"] = "1"  # before there is a GPU
        memory = cells_of_memory().Memory(shell, lambda: engine().lkpy_live())
        shell.events.register("post_run_cell", lambda result=None: _shown(memory, result))


def cells(module, cells_of_memory):
    """IPython.core.compilerop: each cell that is compiled is told with its number and its text, since the file that it
    is said to be in is not one. cells_of_memory: gives lockstep_cells.py, which only the kernel of a notebook needs."""
    compiler = module.CachingCompiler
    real = compiler.cache

    @functools.wraps(real)
    def cache(self, transformed_code, number=0, raw_code=None):
        name = real(self, transformed_code, number, raw_code)
        try:
            _cells.append((name.encode(), f"cell [{number}]".encode(), transformed_code.encode()))
            _kernel(cells_of_memory)
            if engine():
                while _cells:
                    engine().lkpy_script(*_cells.pop(0))
        except Exception:  # a cell that cannot be told of is compiled all the same
            pass
        return name

    compiler.cache = cache
