"""Cases for a function of Python: lines, arrays and oracles come from the library, as `lockstep test` has them; only the side that
computes is a callable. A stub of PTX stands for the kernel of the contract, so that nothing is compiled."""
from __future__ import annotations

import ctypes as c
import json
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import _abi, _contract
from ._gpu import Gpu
from ._library import command_path, library
from .errors import BadInput, by_status

# half a unit in the last place, and the smallest number
_ROUND = {"f16": (2.0**-11, 2.0**-24), "bf16": (2.0**-8, 2.0**-133), "f32": (2.0**-24, 2.0**-149), "f64": (2.0**-53, 0.0)}


def stub(k: _contract.Kernel, types: Dict[str, str]) -> str:
    """PTX with the parameters of a contract, which does nothing."""
    params = []
    for i, a in enumerate(k.args):
        kind = types[a.name]
        if a.kind == "bytes":
            params.append(f".param .align 8 .b8 p{i}[{len(a.raw)}]")
        elif a.kind == "value":
            letter = "f" if kind in ("f32", "f64") else "b" if kind[0] in "fb" else "s" if kind[0] == "i" else "u"
            params.append(f".param .{letter}{max(_contract.BYTES[kind], 2) * 8} p{i}")
        else:
            params.append(f".param .u64 p{i}")
    return f".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry {k.plain}({', '.join(params)})\n{{ ret; }}\n"


def block_text(text: str, k: _contract.Kernel) -> str:
    """The lines of one kernel alone, without its template arguments: choices then reach nobody but the contract."""
    out, inside = [], False
    bare = "//!" not in text
    for line in text.splitlines():
        if not bare and not re.match(r"\s*//!", line):
            inside = inside and re.match(r"\s*(//|$)", line) is not None  # a block ends where the source goes on
            continue
        body = re.sub(r"^\s*(//!)?", "", line).strip()
        word, _, rest = body.partition(" ")
        if word in ("kernel", "op"):
            inside = word == "kernel" and rest.split("#")[0].strip() == k.name
            if inside:
                out.append(f"//! kernel {k.plain}")
        elif inside and word != "compile":
            out.append("//! " + body)
    return "\n".join(out) + "\n"


def case_lines(k: _contract.Kernel, text: str, cases: int, seed: int) -> List[str]:
    """The lines that `lockstep test` makes for a contract."""
    types = {a.name: {ch.name: ch.values[0] for ch in k.choices}.get(a.type, a.type) for a in k.args}
    quiet = "\n".join(line for line in block_text(text, k).splitlines() if not re.match(r"//! (oracle|property|accumulate|tolerance|flops)\b", line))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stub.ptx")
        with open(path, "w", encoding="utf-8") as f:
            f.write(quiet + "\n" + stub(k, types))
        done = subprocess.run([command_path(), "test", path, "--check", "none", "--cases", str(cases), "--seed", str(seed), "--json", "-", "--quiet"], capture_output=True, text=True)
        if done.returncode not in (0, 1, 4) or not done.stdout:  # 4: nothing is judged here
            raise by_status(done.returncode, done.stderr.strip().replace("lockstep: ", "", 1))
    return [c_["case"] for f in json.loads(done.stdout)["files"] for kk in f["kernels"] for c_ in kk["list"]]


@dataclass
class Case:
    """One case with its arrays: `arrays` as NumPy arrays of unsigned integers, laid out as the case says."""

    line: str
    chosen: Dict[str, str]
    dims: Dict[str, int]
    types: Dict[str, str]
    arrays: Dict[str, Any]
    shapes: Dict[str, Tuple[int, ...]]
    values: Dict[str, float]
    is_empty: bool

    def object(self, name: str, library_: str, device: str = "cpu") -> Any:
        """An input as an array of NumPy or PyTorch, with the strides of the case."""
        raw, kind = self.arrays[name], self.types[name]
        import numpy as np

        from ._arrays import _DTYPES

        if library_ == "numpy":
            try:
                return raw.view(_DTYPES[kind])
            except TypeError:
                import ml_dtypes

                return raw.view(getattr(ml_dtypes, _DTYPES[kind]))
        import torch

        flat = np.lib.stride_tricks.as_strided(raw, (extent(raw),), (raw.itemsize,)).copy()
        wide = {1: np.uint8, 2: np.int16, 4: np.int32, 8: np.int64}[raw.itemsize]
        memory = torch.from_numpy(flat.view(wide)).view(getattr(torch, _DTYPES[kind])).to(device)
        return memory.as_strided(raw.shape, [s // raw.itemsize for s in raw.strides])

    def inputs(self, k: _contract.Kernel) -> List[str]:
        return [a.name for a in k.args if a.is_read]


def extent(raw: Any) -> int:
    """Elements from the first to the last."""
    if 0 in raw.shape:
        return 0
    return sum((d - 1) * s // raw.itemsize for d, s in zip(raw.shape, raw.strides)) + 1


class Maker:
    """Cases of one kernel's contract, from their lines."""

    def __init__(self, k: _contract.Kernel, text: str):
        self.k, self.text = k, block_text(text, k)
        self.gpu = Gpu(threads=1)

    def close(self) -> None:
        self.gpu.close()

    def _choices(self, line: str) -> Dict[str, str]:
        given = dict(w.split("=", 1) for w in line.split() if "=" in w)
        return {ch.name: given.get(ch.name, ch.values[0]) for ch in self.k.choices}

    def make(self, line: str) -> Optional[Case]:
        """None: the contract refuses it."""
        import numpy as np

        lib, gpu, k = library(), self.gpu, self.k
        chosen = self._choices(line)
        types = {a.name: chosen.get(a.type, a.type) for a in k.args}
        _, kernel = gpu.load("stub.ptx", stub(k, types).encode(), k.plain)
        contract, text = c.c_void_p(), self.text.encode()
        status = lib.lk_contract_read_case(gpu._handle, b"contract", text, len(text), k.plain.encode(), line.encode(), c.byref(contract))
        if status:
            raise by_status(status, gpu.error())
        try:
            if lib.lk_contract_bind(contract, kernel, None, 0):
                return None
            dims = {w.split("=")[0]: int(w.split("=")[1]) for w in lib.lk_contract_dims(contract).decode().split(", ") if w}
            arrays: Dict[str, Any] = {}
            values: Dict[str, float] = {}
            shapes: Dict[str, Tuple[int, ...]] = {}
            for i, a in enumerate(k.args):
                got = _abi.lk_argument()
                lib.lk_contract_argument(contract, i, c.byref(got))
                if a.kind == "array":
                    size = _contract.BYTES[types[a.name]]
                    shapes[a.name] = tuple(got.dim[: got.rank])
                    memory = np.zeros(max(got.bytes // size, 1), f"uint{8 * size}")
                    if got.filled and got.bytes:
                        lib.lk_contract_fill(contract, i, 0, memory.ctypes.data)
                    arrays[a.name] = np.lib.stride_tricks.as_strided(memory, shapes[a.name], [s * size for s in got.stride[: got.rank]])
                elif a.kind == "value":
                    data = c.create_string_buffer(8)
                    lib.lk_contract_fill(contract, i, 0, data)
                    values[a.name] = unpack(types[a.name], data.raw)
            return Case(line, chosen, dims, types, arrays, shapes, values, bool(lib.lk_contract_is_empty(contract)))
        finally:
            lib.lk_contract_free(contract)


def unpack(kind: str, data: bytes) -> float:
    import struct

    if kind == "bf16":
        return struct.unpack("<f", b"\0\0" + data[:2])[0]
    letter = _contract.PACKED.get(kind) or _contract.PACKED["u" + kind[1:]]
    return struct.unpack_from("<" + letter, data)[0]


@dataclass
class Expected:
    """What a correct function gives: the value of each element, how far it may be off, and whether nothing is known of it."""

    value: Any
    bound: Any
    unknown: Any


def expected(k: _contract.Kernel, case: Case, texts: Sequence[str], types: Dict[str, str], more: Optional[Dict[str, Tuple[str, Any]]] = None, wider: float = 1.0) -> Dict[str, Expected]:
    """The oracle's outputs. `more` are further arrays, {name: (type, dense array of unsigned integers)}; `types` those of outputs."""
    import numpy as np

    lib = library()
    keep: List[Any] = []
    names: List[Any] = []

    def add(name: str, kind: Optional[str] = None, data: Any = None, value: float = 0.0) -> None:
        n = _abi.lk_oracle_name(name=name.encode(), value=value)
        if kind is not None:
            dense = np.ascontiguousarray(data)
            keep.append(dense)
            n.type, n.rank, n.data = kind.encode(), dense.ndim, dense.ctypes.data
            n.dim[: dense.ndim] = dense.shape
        names.append(n)

    for a in k.args:
        if a.kind == "array" and (a.is_read or a.name in (more or {})):
            add(a.name, case.types[a.name], case.arrays[a.name])
    for name, (kind, data) in (more or {}).items():
        if not any(n.name.decode() == name for n in names):
            add(name, kind, data)
    numbers: Dict[str, float] = {**{n: float(v) for n, v in case.dims.items()}, **{n: float(v) for n, v in case.values.items()}}
    numbers.update({ch.name: float(case.chosen[ch.name]) for ch in k.choices if not ch.is_type})
    for name, v in numbers.items():
        if not any(n.name.decode() == name for n in names):
            add(name, value=v)
    oracle = lib.lk_oracle_new((_abi.lk_oracle_name * len(names))(*names), len(names))
    if not oracle:
        raise BadInput("the oracle cannot be made of these arrays")
    try:
        if k.accumulate and lib.lk_oracle_accumulate(oracle, k.accumulate.encode()):
            raise BadInput(lib.lk_oracle_error(oracle).decode())
        for text in texts:
            if lib.lk_oracle_read(oracle, text.encode()):
                raise BadInput(f"oracle {text}: {lib.lk_oracle_error(oracle).decode()}")
        if lib.lk_oracle_evaluate(oracle):
            raise BadInput(lib.lk_oracle_error(oracle).decode())
        out: Dict[str, Expected] = {}
        result, i = _abi.lk_oracle_result(), 0
        while lib.lk_oracle_output(oracle, i, c.byref(result)):
            shape = tuple(result.dim[: result.rank])
            at = lambda p, kind: np.ctypeslib.as_array((kind * max(result.count, 1)).from_address(p))[: result.count].reshape(shape).copy()
            value, worst, unknown = at(result.value, c.c_double), at(result.worst, c.c_double), at(result.unknown, c.c_uint8)
            name = result.name.decode()
            unit, least = _ROUND.get(types.get(name, "f32"), (0.0, 0.0))
            with np.errstate(all="ignore"):
                bound = wider * k.tolerance * worst + unit * (abs(value) + worst) + least
            out[name] = Expected(value, bound, unknown)
            i += 1
        return out
    finally:
        lib.lk_oracle_free(oracle)


def oracle_texts(k: _contract.Kernel) -> List[str]:
    """The oracle lines as texts; a bare word is that operation of the inputs."""
    out = []
    for text in k.oracles:
        if re.match(r"(?:[\w\s,]+=\s*)?(?:python|library)\s+\S+:\S+", text):
            raise BadInput(f"the oracle of {k.plain} is a function ({text}): test it by `lockstep test`")
        if re.fullmatch(r"\w+", text):
            ins = ", ".join(a.name for a in k.args if a.kind == "array" and a.flow == "in")
            text = f"{next(a.name for a in k.args if a.written)} = {text}({ins})"
        elif "=" not in re.sub(r"[<>=!]=", "", text.split("(")[0]):
            text = f"{next(a.name for a in k.args if a.written)} = {text}"
        out.append(text)
    return out
