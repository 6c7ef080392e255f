"""What CuPy passes to a raw kernel, against what the kernel takes. A RawKernel is handed addresses and values as they
are: of an array of float64 for a `float *` every element is read as two, of a Python float, which is a double, for a
`float` the first four bytes are read, and an array that is not contiguous is read as if it were. The types are those of
the kernel's text; what cannot be read there for certain (a template, a type of the user's) is not judged.
sitecustomize.py imports this together with CuPy. docs/inside/python.md"""

import os
import re
import struct
import sys

# Kind and bytes of what a parameter may be; bytes alone (char, bool, void) may be anything.
_TYPES = {
    "float": "f4", "double": "f8",
    "short": "i2", "unsigned short": "u2", "int16_t": "i2", "uint16_t": "u2",
    "int": "i4", "signed": "i4", "signed int": "i4", "int32_t": "i4",
    "unsigned": "u4", "unsigned int": "u4", "uint": "u4", "uint32_t": "u4",
    "long": "i8", "long int": "i8", "long long": "i8", "long long int": "i8", "int64_t": "i8", "ptrdiff_t": "i8",
    "unsigned long": "u8", "unsigned long long": "u8", "unsigned long long int": "u8", "uint64_t": "u8", "size_t": "u8",
}  # fmt: skip
_QUALIFIERS = {"const", "volatile", "__restrict__", "__restrict", "restrict", "__grid_constant__"}
_NAMES = {"f4": "float32", "f8": "float64", "i2": "int16", "u2": "uint16", "i4": "int32", "u4": "uint32", "i8": "int64", "u8": "uint64"}
_TYPE, _STRIDES = 0, 1  # of lkpy_found (engine/cu_python.c)
views = None  # lockstep_views.py


class _Parameter:
    def __init__(self, text):
        words = [w for w in text.replace("*", " * ").replace("[]", " * ").split() if w not in _QUALIFIERS]
        self.pointer = words.count("*")
        words = [w for w in words if w != "*"]
        known = " ".join(words[:-1])
        self.type = _TYPES.get(known)  # None: not known
        self.name = words[-1] if self.type else ""
        self.text = " ".join(text.split())


def parameters(code, name):
    """Those of the kernel of this name in a text, or None: it is not there, or cannot be read for certain."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", " ", code, flags=re.DOTALL)
    found = list(re.finditer(r"__global__\b[^;{}]*?\b" + re.escape(name) + r"\s*\(([^(){};]*)\)", code))
    if len(found) != 1 or re.search(r"template\s*<[^;{}]*$", code[: found[0].start()]):
        return None
    if "<" in found[0][1] or "#" in found[0][1] or re.search(r"^\s*#\s*define\s+(float|double|int|long|short)\b", code, re.M):
        return None
    return [_Parameter(p) for p in found[0][1].split(",")] if found[0][1].strip() else []


def _ordinal(number, p):
    return f"argument {number}, {p.name}," if p.name else f"argument {number}"


def _array(number, p, value, name):
    """What is wrong with an array: the cause and the fix, or None."""
    given = value.dtype
    if p.pointer != 1 or p.type is None or given.itemsize == 1 or given.kind not in "fiuc" or not value.size:
        return None
    kind, size = p.type[0], int(p.type[1])
    if given.kind == "c" and kind == "f" and given.itemsize == 2 * size:
        return None
    if given.itemsize == size and not (given.kind in "iu" and kind == "f"):
        return None
    takes = f"an element has {given.itemsize} bytes, and {size} are taken for one" if given.itemsize != size else "the same bytes mean other numbers"
    cause = f"{_ordinal(number, p)} is an array of {given}, and {name} takes it as `{p.text}`: {takes}."
    fix = f"Make the array with dtype={_NAMES[p.type]}, or convert it: .astype({_NAMES[p.type]!r}); or let the kernel take what it is."
    return cause, fix


def _value(number, p, value, name):
    """The same for a number."""
    if p.pointer or p.type is None or isinstance(value, bool):
        return None
    kind, size = p.type[0], int(p.type[1])
    typed = hasattr(value, "dtype")  # numpy.float64 is a float, too
    if isinstance(value, int) and not typed:
        what, given, bytes_ = "a Python int, which is passed as an int64", "i8", value.to_bytes(8, "little", signed=value < 0) if -(2**63) <= value < 2**64 else None
    elif isinstance(value, float) and not typed:
        what, given, bytes_ = "a Python float, which is passed as a double", "f8", struct.pack("<d", value)
    elif hasattr(value, "dtype") and getattr(value, "shape", None) == () and hasattr(value, "tobytes"):
        what, given, bytes_ = f"a {value.dtype}", value.dtype.kind + str(value.dtype.itemsize), value.tobytes()
    else:
        return None
    if bytes_ is None or given[0] not in "fiu":
        return None
    value = value.item() if typed else value
    if len(bytes_) < size:
        gets = f"{size} bytes are read, and {len(bytes_)} were given"
    else:
        form = {"f4": "f", "f8": "d", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q"}[p.type]
        got = struct.unpack("<" + form, bytes_[:size])[0]
        if got == value or (kind in "iu" and given[0] in "iu" and (got - int(value)) % 2 ** (8 * size) == 0 and -(2 ** (8 * size - 1)) <= int(value) < 2 ** (8 * size)):
            return None
        if got != got and value != value:
            return None
        gets = f"the first {size} bytes of it are {got!r}, not {value!r}" if size < len(bytes_) else f"its bytes are {got!r} there, not {value!r}"
    cause = f"{_ordinal(number, p)} is {what}, and {name} takes it as `{p.text}`: {gets}."
    return cause, f"Pass numpy.{_NAMES[p.type]}(...), which has the size and the kind of the parameter."


def _strides(number, p, value, args, name):
    """An array whose elements do not lie one after the other in the order of its indices, and no argument that says
    how they do. One that was made in Fortran's order, and is no view, is meant so."""
    if p.pointer != 1 or value.flags.c_contiguous or not value.size or (value.flags.f_contiguous and value.base is None):
        return None
    steps = {s // value.itemsize for s in value.strides} | set(value.strides)
    told = {int(a) for a in args if isinstance(a, int) or getattr(getattr(a, "dtype", None), "kind", "") in "iu" and getattr(a, "shape", None) == () and not hasattr(a, "data_ptr") and hasattr(a, "tobytes")}
    if (steps - {0, 1, value.itemsize} - set(value.shape) - {value.size}) & told:
        return None
    elements = ", ".join(str(s // value.itemsize) for s in value.strides)
    cause = f"{_ordinal(number, p)} is a view of shape {value.shape} whose neighbours lie {elements} elements apart, and {name} takes the address alone, as `{p.text}`."
    return cause, "Pass cupy.ascontiguousarray(...) of it; or pass the strides, too, and let the kernel use them."


def _tell(which, name, cause, fix):
    views.engine().lkpy_found(which, name.encode(), (cause[0].upper() + cause[1:]).encode(), fix.encode())


_read = {}  # parameters by text and name


def _takes(code, name, args):
    """The parameters of the kernel that takes these arguments; None: not known."""
    if not isinstance(code, str) or not isinstance(args, (tuple, list)) or not re.fullmatch(r"\w+", name or ""):
        return None
    if (code, name) not in _read:
        _read[code, name] = parameters(code, name)
    takes = _read[code, name]
    return takes if takes and len(takes) == len(args) else None


def _passed(takes, args, ndarray, noted):
    """The arrays among the arguments, as Lockstep is told of them: not those whose strides were noted, where each byte
    between their elements would be noted again."""
    names = [p.name for p in takes] if takes else [""] * len(args)
    text = ""
    for number, (name, value) in enumerate(zip(names, args), 1):
        if number not in noted and isinstance(value, ndarray) and value.size and hasattr(value, "data"):
            text += views.line(name, value.dtype, value.itemsize, value.data.ptr, value.shape, value.strides)
    return text


def check(takes, name, args, ndarray):
    """Tells Lockstep what is wrong with the arguments of a launch; the numbers of those whose strides are."""
    noted = set()
    for number, (p, value) in enumerate(zip(takes, args), 1):
        if isinstance(value, ndarray):
            wrong = _array(number, p, value, name)
            view = wrong or _strides(number, p, value, args, name)
            if view:
                _tell(_TYPE if wrong else _STRIDES, name, *view)
                noted |= set() if wrong else {number}
        else:
            wrong = _value(number, p, value, name)
            if wrong:
                _tell(_TYPE, name, *wrong)
    return noted


def _is_users(frame):
    file = frame.f_code.co_filename
    return "/site-packages/" not in file and "/dist-packages/" not in file


def _lines(code, frame):
    """The kernel's text with the line of the script that it begins in, if it is written there: reports, and messages of
    the compiler, then name the script. Otherwise the text as it is."""
    try:
        file = os.path.abspath(frame.f_code.co_filename)
        if not isinstance(code, str) or not _is_users(frame) or "#line" in code or not os.path.isfile(file):
            return code
        with open(file, encoding="utf-8") as opened:
            script = opened.read()
        at = script.find(code)
        if at < 0 or script.find(code, at + 1) >= 0 or '"' in file or "\\" in file or not code.strip():
            return code
        return f'#line {script.count(chr(10), 0, at) + 1} "{file}"\n{code}'
    except Exception:
        return code


def install(cupy, told):
    """cupy.RawKernel and cupy.RawModule as ever, and what their kernels are given is looked at."""
    global views
    kernel, module, ndarray = cupy.RawKernel, cupy.RawModule, cupy.ndarray
    views = told

    def looked(code, name, args, frame, launch):
        text = ""
        try:
            if _is_users(frame):
                takes = _takes(code, name, args)
                noted = check(takes, name, args, ndarray) if takes else set()
                text = _passed(takes, args, ndarray, noted)
        except Exception:  # the script goes on, whatever was not understood
            pass
        if not text or not views.engine():
            return launch()
        with views.passed(text):
            return launch()

    class RawKernel(kernel):
        __doc__, __module__ = kernel.__doc__, kernel.__module__

        def __init__(self, code, name, *args, **options):
            plain = options.get("jitify") or not isinstance(code, str)
            super().__init__(code if plain else _lines(code, sys._getframe(1)), name, *args, **options)
            self._text = code

        code = property(lambda self: self._text)

        def __call__(self, grid, block, args, **options):
            launch = lambda: kernel.__call__(self, grid, block, args, **options)
            return looked(self.code, self.name, args, sys._getframe(1), launch)

    class Function:
        """A kernel of a module: the one that CuPy has made, which does not know its text."""

        __slots__ = ("_it", "_code", "_name")
        __class__ = property(lambda self: RawKernel)

        def __init__(self, it, code, name):
            for key, value in (("_it", it), ("_code", code), ("_name", name)):
                object.__setattr__(self, key, value)

        def __call__(self, grid, block, args, **options):
            launch = lambda: self._it(grid, block, args, **options)
            return looked(self._code, self._name, args, sys._getframe(1), launch)

        def __getattr__(self, name):
            return getattr(self._it, name)

        def __setattr__(self, name, value):
            setattr(self._it, name, value)

        def __repr__(self):
            return repr(self._it)

    class RawModule(module):
        __doc__, __module__ = module.__doc__, module.__module__

        def __init__(self, *args, **options):
            self._text = options.get("code", args[0] if args else None)
            if isinstance(self._text, str) and not options.get("jitify"):
                code = _lines(self._text, sys._getframe(1))
                args, options = (args and (code, *args[1:]), options if args else {**options, "code": code})
            super().__init__(*args, **options)

        code = property(lambda self: self._text)

        def get_function(self, name):
            it = module.get_function(self, name)
            return Function(it, self.code, name) if isinstance(self.code, str) else it

    cupy.RawKernel, cupy.RawModule = RawKernel, RawModule
