"""A software GPU with its report, from Python: options, modules, launches, counts."""
from __future__ import annotations

import ctypes as c
import os
import re
import threading
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import _abi, _fork
from ._contract import BYTES, Bound
from ._library import library, text, words
from .errors import FindingsError, Finding, LockstepError, NothingRun, by_status, read_report

_KINDS = {"i8": 2, "u8": 3, "i16": 4, "u16": 5, "i32": 6, "u32": 7, "i64": 8, "u64": 9, "f32": 10, "f64": 11}  # lk_value_kind
_BUFFER, _STRUCT = 1, 12
_now = threading.local()
_usual: Optional["Gpu"] = None
_lock = _fork.lock(_fork.FIRST)


class Gpu:
    """A software GPU. The package has one of its own; `with lockstep.Gpu(device="l4", seed=1):` makes this thread's launches
    use another. `strict=False` lets a launch with findings go through: they are in `findings` then."""

    def __init__(self, device: Optional[str] = None, seed: Optional[int] = None, threads: int = 0, check: Optional[str] = None, no_check: Optional[str] = None,
                 profile: bool = False, time_limit: float = 0.0, budget: int = 0, strict: bool = True):
        self._handle = c.c_void_p()
        options = _abi.lk_options(size=c.sizeof(_abi.lk_options), device=device and device.encode(), threads=threads, seeded=seed is not None, seed=seed or 0,
                                  check=check and check.encode(), no_check=no_check and no_check.encode(), profile=profile, time_limit=time_limit, budget=budget)
        status = library().lk_gpu_create(c.byref(options), c.byref(self._handle))
        if status:
            raise by_status(status, self.error(None))
        self.strict, self.findings, self.launches = strict, [], 0  # type: bool, List[Finding], int
        self._modules: Dict[Any, Any] = {}
        self._lock = _fork.lock(_fork.INNER)

    def __enter__(self) -> "Gpu":
        self._before = getattr(_now, "gpu", None)
        _now.gpu = self
        return self

    def __exit__(self, *_: Any) -> None:
        _now.gpu = self._before

    def close(self) -> None:
        if self._handle:
            library().lk_gpu_destroy(self._handle)
            self._handle = c.c_void_p()

    def error(self, handle: Any = ...) -> str:
        said = library().lk_gpu_error(self._handle if handle is ... else handle)
        return (said or b"").decode(errors="replace")

    def _do(self, status: int) -> None:
        if status:
            raise by_status(status, self.error())

    def is_checking(self) -> bool:
        """Whether its launches are checked at all: with every check off none of them says anything."""

        class Outcome(c.Structure):  # lk_outcome
            _fields_ = [("size", c.c_size_t), *((n, c.c_uint64) for n in ("failed", "judged", "unjudged", "unsupported", "undone")), ("why", c.c_char_p), ("launched", c.c_uint64)]

        return library().lk_report_conclude(self._handle, c.byref(Outcome(size=c.sizeof(Outcome), launched=1))) != NothingRun.status

    @property
    def title(self) -> str:
        """The card: "NVIDIA H200"."""
        return library().lk_gpu_title(self._handle).decode()

    def report(self) -> str:
        """What has been found since the last launch of the package, as text."""
        with self._lock:
            return text(library().lk_report_text(self._handle, 0))

    def profile_json(self) -> str:
        with self._lock:
            return text(library().lk_profile_json(self._handle))

    def profile_text(self) -> str:
        with self._lock:
            return text(library().lk_profile_text(self._handle, 0, 0))

    def page(self) -> str:
        """The report, and what was counted, as a page for a browser."""
        with self._lock:
            return text(library().lk_report_html(self._handle))

    # ---- modules ----

    def compile(self, path: str, name: str, flags: Sequence[str], arch: Optional[str] = None) -> Tuple[Any, Any]:
        """Module and kernel of a .cu or .ptx file."""
        stamp = os.stat(path).st_mtime_ns if os.path.exists(path) else 0
        key = (os.path.abspath(path), name, tuple(flags), arch, stamp)
        with self._lock:
            if key not in self._modules:
                flag, names, module = words(list(flags)), words([name]), c.c_void_p()
                options = _abi.lk_compile(size=c.sizeof(_abi.lk_compile), flag=c.addressof(flag), flags=len(flags), own=len(flags), name=c.addressof(names), names=1,
                                          gather=1, arch=arch and arch.encode())
                status = library().lk_module_compile(self._handle, path.encode(), c.byref(options), c.byref(module))
                if status:
                    log = (library().lk_gpu_log(self._handle) or b"").decode(errors="replace")
                    raise by_status(status, self.error() + ("\n" + log if log and log not in self.error() else ""))
                self._modules[key] = self._kernel(module, name)
            return self._modules[key]

    def load(self, file: str, ptx: bytes, name: str) -> Tuple[Any, Any]:
        """Module and kernel of a text of PTX."""
        key = (file, name, hash(ptx))
        with self._lock:
            if key not in self._modules:
                module = c.c_void_p()
                self._do(library().lk_module_load(self._handle, file.encode(), ptx, len(ptx), c.byref(module)))
                self._modules[key] = self._kernel(module, name)
            return self._modules[key]

    def _kernel(self, module: Any, name: str) -> Tuple[Any, Any]:
        kernel = library().lk_module_kernel(module, name.encode())
        if not kernel:
            raise by_status(2, self.error())
        return module, c.c_void_p(kernel)

    # ---- launches ----

    def _contract(self, bound: Bound, file: str, source: str, kernel: Any) -> Any:
        data, contract = source.encode(), c.c_void_p()
        choices = (_abi.lk_choice * (len(bound.chosen) + 1))(*[(n.encode(), v.encode()) for n, v in bound.chosen.items()])
        self._do(library().lk_contract_read_with(self._handle, file.encode(), data, len(data), choices, len(bound.chosen), c.byref(contract)))
        try:
            for name, word in bound.words.items():
                if word != "dense":
                    self._do(library().lk_contract_layout(contract, name.encode(), word.encode()))
            dims = (_abi.lk_dim * (len(bound.dims) + 1))(*[(n.encode(), v) for n, v in bound.dims.items()])
            self._do(library().lk_contract_bind(contract, kernel, dims, len(bound.dims)))
        except LockstepError:
            library().lk_contract_free(contract)
            raise
        return contract

    def _value(self, kind: str, data: bytes, keep: List[Any]) -> Any:
        if kind in _KINDS:
            return _abi.lk_value(_KINDS[kind], 0, int.from_bytes(data.ljust(8, b"\0"), "little"))
        held = c.create_string_buffer(data, len(data))
        keep.append(held)
        return _abi.lk_value(_STRUCT, len(data), c.addressof(held))

    def launch(self, bound: Bound, file: str, source: str, kernel: Any, arrays: Dict[str, Any], site: str = "") -> None:
        """Runs it. `arrays` has an array of NumPy for each that is passed, laid out as the contract has it, which holds the
        results afterwards; None is a null pointer."""
        with self._lock:
            contract = self._contract(bound, file, source, kernel)
            taken: List[int] = []
            try:
                self._launch(bound, kernel, contract, arrays, site, taken)
            finally:
                for address in taken:
                    library().lk_memory_free(self._handle, address)
                library().lk_contract_free(contract)
                self._collect()

    def _take(self, bound: Bound, name: str, array: Any, taken: List[int]) -> int:
        address, a = c.c_uint64(), bound.kernel.argument(name)
        assert a is not None
        kind = bound.types[name]
        self._do(library().lk_memory_alloc(self._handle, max(array.nbytes, 1), 0, name.encode(), c.byref(address)))
        taken.append(address.value)
        shape = ",".join(map(str, bound.shapes[name]))
        self._do(library().lk_memory_describe(self._handle, address.value, name.encode(), f"{kind}[{shape}]".encode(), BYTES[kind]))
        if a.is_read and array.nbytes:
            self._do(library().lk_memory_write(self._handle, address.value, array.ctypes.data, array.nbytes))
        return address.value

    def _launch(self, bound: Bound, kernel: Any, contract: Any, arrays: Dict[str, Any], site: str, taken: List[int]) -> None:
        keep: List[Any] = []
        values = (_abi.lk_value * (len(bound.kernel.args) + 1))()
        where: Dict[str, int] = {}
        for i, a in enumerate(bound.kernel.args):
            if a.kind == "value":
                values[i] = self._value(bound.types[a.name], bound.values[a.name], keep)
            elif a.kind == "bytes":
                values[i] = self._value("", bound.values[a.name], keep)
            elif a.kind == "array" and arrays.get(a.name) is not None:
                same = next((n for n in where if arrays[n] is arrays[a.name]), None)
                where[a.name] = where[same] if same else self._take(bound, a.name, arrays[a.name], taken)
                values[i] = _abi.lk_value(_BUFFER, 0, where[a.name])
        self.launches += 1
        launch = _abi.lk_launch(size=c.sizeof(_abi.lk_launch), arg_count=len(bound.kernel.args), values=c.addressof(values), shared_bytes=bound.shared,
                                shared_optin=bound.shared, cooperative=bound.kernel.cooperative, contract=contract, site=site.encode(), nth=1 if site else 0)
        launch.grid[:], launch.block[:] = bound.grid, bound.block
        if bound.kernel.cluster:
            launch.cluster[:] = bound.cluster
        status = library().lk_kernel_launch(kernel, c.byref(launch), None)
        if status not in (0, 1):
            raise by_status(status, self.error())
        for name, address in where.items():
            a = bound.kernel.argument(name)
            if a is not None and a.written and arrays[name].nbytes:
                self._do(library().lk_memory_read(self._handle, address, arrays[name].ctypes.data, arrays[name].nbytes))

    def _collect(self) -> None:
        """Takes the report: errors are raised, unless this gpu is not strict; notes are kept."""
        lib = library()
        errors, notes = lib.lk_report_errors(self._handle), lib.lk_report_notes(self._handle)
        if not errors and not notes:
            return
        said = self.report()
        found = read_report(text(lib.lk_report_json(self._handle)), said)
        lib.lk_report_clear(self._handle)
        self.findings += found
        if errors and self.strict:
            raise FindingsError(re.sub(r"\n+\Z", "", said), found)


def current() -> Gpu:
    """The gpu of this thread's `with`, else the package's own."""
    global _usual
    gpu = getattr(_now, "gpu", None)
    if gpu is not None:
        return gpu
    with _lock:
        if _usual is None:
            _usual = Gpu()
    return _usual
