"""lockstep.kernel("softmax.cu"): a kernel of a file, callable on arrays by its contract."""
from __future__ import annotations

import inspect
import os
import struct
import sys
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import _arrays, _contract, _driver, _library
from ._arrays import Array
from ._contract import Bound, ContractError, Layout
from ._gpu import Gpu, current
from .errors import BadInput


def strides_of(word: str, shape: Sequence[int]) -> Tuple[int, ...]:
    """The strides that the library gives an array in this layout (src/lang/contract/bind.c, lay_out)."""
    strides = list(_contract.dense(shape))
    name, _, amount = word.rstrip(")").partition("(")
    if name == "broadcast":
        return tuple(0 if amount in ("all", str(i)) else s for i, s in enumerate(strides))
    if name == "rows":
        step = shape[-1] + int(amount)
        for i in reversed(range(len(shape) - 1)):
            strides[i] = step
            step *= max(shape[i], 1)
    return tuple(strides)


def _caller() -> str:
    """The line of the script that calls the kernel, for reports."""
    frame = inspect.currentframe()
    own = os.path.dirname(os.path.abspath(__file__))
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(own):
        frame = frame.f_back
    return f"{frame.f_code.co_name} ({os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno})" if frame else ""


def find_file(path: str) -> Tuple[str, Optional[str]]:
    """FILE, FILE:KERNEL, or the name of a file of the library of kernels."""
    if not isinstance(path, (str, os.PathLike)):
        raise BadInput(f"a kernel is named by the path of its file, and this is a {type(path).__name__}")
    path = os.fspath(path)
    file, kernel = path, None
    if not os.path.exists(path) and ":" in path:
        file, _, kernel = path.rpartition(":")
    if not os.path.exists(file):
        own = os.path.join(_library.kernels_path(), os.path.basename(file))
        if file and os.path.dirname(file) in ("", "kernels") and os.path.exists(own):
            return own, kernel
        raise BadInput(f"{file} is not there" if file else "no file is named")
    if os.path.isdir(file):
        raise BadInput(f"{file} is a folder; a .cu or .ptx file belongs here")
    return file, kernel


def _words(flags: Sequence[str]) -> List[str]:
    """Words for the compiler."""
    if isinstance(flags, (str, bytes)) or not all(isinstance(f, str) and "\0" not in f for f in flags):
        raise BadInput(f"flags is {repr(flags)[:60]}; a sequence of words for the compiler belongs here, as in ['-DTILE=16']", "flags")
    return list(flags)


class Kernel:
    """A kernel of a .cu or .ptx file. Called with its input arrays in the order of the contract, it returns its outputs;
    sizes, values, choices (`CAUSAL=1`) and outputs of the caller's own go by name. Arrays of the host run on the software
    GPU, under every check; arrays on a GPU run there, in the current stream."""

    def __init__(self, path: str, kernel: Optional[str] = None, contract: Optional[str] = None, flags: Sequence[str] = ()):
        self.file, named = find_file(path)
        with open(contract or self.file, encoding="utf-8", errors="replace") as f:
            self.source = f.read()
        try:
            parsed = _library.read_contract(self.source, contract or self.file)
            if not parsed.kernels:
                raise ContractError(f"{self.file} has no contract: //! lines that say how its kernels are called")
            self.contract = parsed.kernel(kernel or named or self._usual(parsed))
        except ContractError as e:
            raise BadInput(str(e), e.argument) from None
        self.contract_file, self.flags, self.ops = contract or self.file, _words(flags), parsed.ops
        self._modules: Dict[Any, Tuple[_driver.Module, str]] = {}

    @staticmethod
    def _usual(parsed: _contract.Contract) -> Optional[str]:
        """The kernel that a file is called by: its only one, the forward of its only op, or the first, where the others are
        named after it."""
        if len(parsed.kernels) == 1:
            return None
        if len(parsed.ops) == 1 and len(parsed.ops[0].forward) == 1:
            return parsed.ops[0].forward[0].name
        first = parsed.kernels[0].plain
        return first if all(k.plain.startswith(first) for k in parsed.kernels) else None

    @property
    def name(self) -> str:
        return self.contract.plain

    def __repr__(self) -> str:
        ins = [a.name for a in self.contract.args if a.is_read]
        outs = [a.name for a in self.contract.args if a.written]
        return f"<lockstep kernel {self.name}({', '.join(ins)}) -> {', '.join(outs)} of {os.path.basename(self.file)}>"

    @property
    def signature(self) -> str:
        """The call with all that can be given by name."""
        k = self.contract
        free = [a.name for a in k.args if a.kind == "value" and a.value and a.value[0] == "number"]
        names = [a.name for a in k.args if a.is_read] + [f"{n}=" for n in [c.name for c in k.choices] + [d.name for d in k.dims] + free]
        return f"{self.name}({', '.join(names)})"

    # ---- a call ----

    def _sort(self, arrays: Sequence[Any], named: Dict[str, Any]) -> Tuple[Dict[str, Array], Dict[str, Any], Dict[str, None]]:
        k = self.contract
        ins = [a for a in k.args if a.is_read]
        if len(arrays) > len(ins):
            raise BadInput(f"{self.name} takes {len(ins)} arrays ({', '.join(a.name for a in ins)}), and {len(arrays)} were given")
        objects = {a.name: o for a, o in zip(ins, arrays)}
        given: Dict[str, Any] = {}
        sizes = {d.name for d in k.dims} | {c.name for c in k.choices}
        for name, value in named.items():
            a = k.argument(name)
            if a is not None and a.kind == "array" and not (name in sizes and not hasattr(value, "shape")):
                if name in objects:
                    raise BadInput(f"{name} is given twice", name)
                objects[name] = value
            else:
                given[name] = value
        null: Dict[str, None] = {}
        for a in k.args:
            if a.kind == "array" and a.optional and objects.get(a.name, ...) is None:
                null[a.name] = objects.pop(a.name)
            elif a.is_read and a.name not in objects:
                raise BadInput(f"{a.name} is missing: {self.signature}", a.name)
        return {n: _arrays.view(n, o) for n, o in objects.items()}, given, null

    def _one_place(self, arrays: Dict[str, Array]) -> Optional[Array]:
        first = next(iter(arrays.values()), None)
        for a in arrays.values():
            if first is not None and a.cuda != first.cuda:
                raise BadInput(f"{a.name} lies in {a.where}, and {first.name} in {first.where}", a.name)
        return first

    def bind(self, arrays: Dict[str, Layout], **given: Any) -> Bound:
        """Sizes, types and launch of a call, without calling."""
        try:
            return _contract.bind(self.contract, arrays, given)
        except ContractError as e:
            raise BadInput(str(e), e.argument) from None

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        passed, given, null = self._sort(arrays, named)
        first = self._one_place(passed)
        bound = self.bind({n: a.layout for n, a in passed.items()}, **given)
        for a in self.contract.args:
            if a.kind == "array" and a.name not in passed and a.name not in null:
                passed[a.name] = _arrays.empty(a.name, first, bound.shapes[a.name], bound.types[a.name])
        self._apart(passed)
        self._may_write(passed)
        if bound.is_empty:
            self._fill_empty(passed)
        elif first is not None and first.cuda is not None:
            self._on_gpu(bound, passed)
        else:
            self._on_software(bound, passed, current())
        self._written(passed)
        outs = [passed[a.name].object for a in self.contract.args if a.written and a.name in passed]
        return outs[0] if len(outs) == 1 else tuple(outs)

    def _may_write(self, passed: Dict[str, Array]) -> None:
        for a in self.contract.args:
            if a.written and a.name in passed and passed[a.name].library == "numpy" and not passed[a.name].object.flags.writeable:
                raise BadInput(f"{a.name} is read-only, and the kernel writes it", a.name)

    def _written(self, passed: Dict[str, Array]) -> None:
        """Autograd knows what was changed after it had been saved, and that a plain call has no gradient."""
        torch = sys.modules.get("torch")
        tensors = [a for a in passed.values() if a.library == "torch"]
        if torch is None or not tensors:
            return
        for a in self.contract.args:
            if a.written and a.name in passed and passed[a.name].library == "torch":
                torch.autograd.graph.increment_version(passed[a.name].object)
        asks = [a.name for a in tensors if a.object.requires_grad]
        if asks and torch.is_grad_enabled() and not torch._C._dispatch_tls_is_dispatch_key_excluded(torch._C.DispatchKey.AutogradCPU):
            import warnings

            warnings.warn(f"{self.name}: {asks[0]} requires a gradient, and this call passes none on: lockstep.ops.load makes an op "
                          f"with one of a file with an `op` line; {asks[0]}.detach() says that none is wanted", stacklevel=3)

    def _apart(self, passed: Dict[str, Array]) -> None:
        """Two arrays share memory, one of them is written, and the contract does not say alias."""
        for a in self.contract.args:
            if not a.written or a.name not in passed or not passed[a.name].bytes:
                continue
            one = passed[a.name]
            for other in passed.values():
                b = self.contract.argument(other.name)
                if other.name == a.name or not other.bytes or other.address + other.bytes <= one.address or one.address + one.bytes <= other.address:
                    continue
                if b is not None and a.alias != other.name and b.alias != a.name:
                    raise BadInput(f"{a.name} is written, and shares memory with {other.name}", a.name)

    def _fill_empty(self, passed: Dict[str, Array]) -> None:
        if self.contract.empty == "zeros":
            for a in self.contract.args:
                if a.written and a.name in passed and 0 not in passed[a.name].shape:
                    passed[a.name].object[...] = 0

    def _on_software(self, bound: Bound, passed: Dict[str, Array], gpu: Gpu) -> None:
        import numpy as np

        staged: Dict[str, Any] = {}
        back: List[Tuple[Any, Any]] = []
        layouts: Dict[str, Layout] = {}
        shared: Dict[int, Any] = {}
        for name, a in passed.items():
            raw, word = _arrays.raw(a), bound.words.get(name, "dense")
            strides = a.strides if self.contract.argument(name).stride else strides_of(word, a.shape)  # type: ignore[union-attr]
            layouts[name] = Layout(a.shape, strides, a.type)
            if raw.flags.c_contiguous and raw.flags.writeable and word == "dense":
                staged[name] = shared.setdefault(a.address, raw)
                continue
            extent = (sum((d - 1) * s for d, s in zip(a.shape, strides)) + 1) if 0 not in a.shape else 0
            if extent and tuple(strides) == tuple(a.strides):  # with what lies between its elements, which a wrong kernel reads
                staged[name] = np.lib.stride_tricks.as_strided(raw, (extent,), (raw.itemsize,)).copy()
            else:
                staged[name] = np.zeros(extent, raw.dtype)
            laid = np.lib.stride_tricks.as_strided(staged[name], a.shape, [s * raw.itemsize for s in strides])
            laid[...] = raw
            if self.contract.argument(name).written:  # type: ignore[union-attr]
                back.append((raw, laid))
        bound = self.bind(layouts, **self._again(bound))
        kernel = self._kernel(gpu, bound)
        gpu.launch(bound, self.contract_file, self.source, kernel, staged, _caller())
        for raw, laid in back:
            raw[...] = laid

    def _kernel(self, gpu: Gpu, bound: Bound) -> Any:
        name, flags = bound.instance
        return gpu.compile(self.file, name, flags + self.flags)[1]

    def _again(self, bound: Bound) -> Dict[str, Any]:
        k = self.contract
        free = [a.name for a in k.args if a.kind == "value" and a.value and a.name not in bound.dims and not list(_contract.names_in(a.value))]
        return {**bound.dims, **bound.chosen, **{n: bound.numbers[n] for n in free}}

    def _on_gpu(self, bound: Bound, passed: Dict[str, Array]) -> None:
        first = next(iter(passed.values()))
        assert first.cuda is not None
        for a in self.contract.args:
            if a.kind == "array" and a.name in passed:
                align = int(_contract.evaluate(a.align, bound.numbers)) if a.align else _contract.BYTES[bound.types[a.name]]
                if passed[a.name].address % align:
                    raise BadInput(f"{a.name} begins at an address that is not a multiple of {align}, as the contract asks for", a.name)
        stream = self._stream(first, passed)
        module, entry = self._module(bound, first)
        f = module.function(entry, first.cuda, bound.shared)
        arguments = [struct.pack("<Q", passed[a.name].address if a.name in passed else 0) if a.kind in ("array", "null") else bound.values[a.name]
                     for a in self.contract.args]
        _driver.launch(f, bound.grid, bound.block, bound.shared, stream, arguments, bound.cluster if self.contract.cluster else None, self.contract.cooperative)

    def _stream(self, first: Array, passed: Dict[str, Array]) -> int:
        if first.library == "torch":
            torch = sys.modules["torch"]
            stream = torch.cuda.current_stream(first.cuda)
            for a in passed.values():  # the allocator keeps what another stream has allocated until this launch is done
                a.object.record_stream(stream)
            return int(stream.cuda_stream)
        if first.library == "cupy":
            import cupy

            return int(cupy.cuda.get_current_stream().ptr)
        return 0

    def _module(self, bound: Bound, first: Array) -> Tuple[_driver.Module, str]:
        assert first.cuda is not None
        return self.loaded(*bound.instance, first.cuda)

    def loaded(self, name: str, flags: Sequence[str], device: int) -> Tuple[_driver.Module, str]:
        """An instance on a GPU: its module, and what it is called there."""
        arch = _arch(device)
        key = (name, tuple(flags), arch)
        if key not in self._modules:
            lib, gpu = _library.library(), current()
            module, kernel = gpu.compile(self.file, name, [*flags, *self.flags], None if self.file.endswith(".ptx") else arch)
            self._modules[key] = (_driver.Module(lib.lk_module_ptx(module, None)), lib.lk_kernel_name(kernel).decode())
        return self._modules[key]


class PackedKernel(Kernel):
    """A kernel whose PTX is there already: `ptx` gives the text and the name for an instance. For modules that `lockstep
    compile --torch` writes, on the software GPU."""

    def __init__(self, file: str, text: str, kernel: str, ptx: Callable[[str, Sequence[str]], Tuple[bytes, str]]):
        self.file = self.contract_file = file
        self.source, self.flags, self._ptx = text, [], ptx
        parsed = _library.read_contract(text, file)
        self.contract, self.ops = parsed.kernel(kernel), parsed.ops
        self._modules = {}

    def _kernel(self, gpu: Gpu, bound: Bound) -> Any:
        text, entry = self._ptx(*bound.instance)
        return gpu.load(self.file, text, entry)[1]


def _arch(device: int) -> str:
    import ctypes

    major, minor = ctypes.c_int(), ctypes.c_int()
    _driver.call("cuDeviceGetAttribute", ctypes.byref(major), 75, device)
    _driver.call("cuDeviceGetAttribute", ctypes.byref(minor), 76, device)
    return f"sm_{major.value}{minor.value}"


def kernel(path: str, name: Optional[str] = None, *, contract: Optional[str] = None, flags: Sequence[str] = ()) -> Kernel:
    """A kernel of a .cu or .ptx file by its contract: `kernel("softmax.cu")`, `kernel("softmax.cu:softmax_backward")`.
    A file that is not there is looked for in the library of kernels that comes with the package. `contract` names a file
    with the //! lines, where the source has none; `flags` go to the compiler."""
    return Kernel(path, name, contract, flags)
