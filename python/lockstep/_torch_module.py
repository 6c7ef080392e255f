"""`lockstep compile FILE --torch FOLDER`: a Python module with the ops of a file for PyTorch.

FOLDER/NAME/__init__.py registers them when it is imported; the machine code lies beside it in fatbins, one image for each
architecture and PTX for newer ones, and for the software GPU. Nothing of it depends on time or place: made again, it is the same."""
from __future__ import annotations

import argparse
import ctypes as c
import itertools
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import _abi, _contract
from ._gpu import Gpu
from ._library import contract_json, library, words
from .errors import BadInput, LockstepError, Unsupported, by_status

_FILES = ("_contract.py", "_driver.py", "_op.py")  # what the module carries along
_PTX, _CUBIN = 1, 2
_FLAGS = 0x11  # 64 bits, Linux


def _tool(name: str) -> str:
    tool, i = _abi.lk_tool(size=c.sizeof(_abi.lk_tool)), 0
    while library().lk_tool_at(i, c.byref(tool)):
        if tool.name.decode() == name:
            return tool.path.decode()
        i += 1
    return ""


def _arch(word: str) -> Tuple[int, str]:
    m = re.fullmatch(r"(?:sm_|compute_)?(\d{2,3})([af]?)", word)
    if not m:
        raise BadInput(f"--arch {word}: architectures belong here, as in sm_80,sm_90a")
    return int(m.group(1)), m.group(2)


def image(kind: int, arch: Tuple[int, str], data: bytes, version: Tuple[int, int]) -> bytes:
    """One image of a fatbin (src/store/image/fatbin.c reads them), not packed."""
    data += b"\0" * (-len(data) % 8 or (8 if kind == _PTX else 0))
    flags = _FLAGS | {"": 0, "a": 1 << 20, "f": 1 << 21}[arch[1]]
    return struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, 64, len(data), 0, 0, version[1], version[0], arch[0], 0, 0, flags, 0, 0) + data


def fatbin(images: Sequence[bytes]) -> bytes:
    body = b"".join(images)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


class _Compiled:
    """One set of flags: PTX for each architecture, and the names of its kernels."""

    def __init__(self, path: str, names: List[str], flags: List[str], arch: str, options: argparse.Namespace, gpu: Gpu):
        module, flag, name = c.c_void_p(), words(flags + options.flag), words(names)
        compiler = (options.compiler or "").encode() or None
        asked = _abi.lk_compile(size=c.sizeof(_abi.lk_compile), flag=c.addressof(flag), flags=len(flags + options.flag), own=len(flags), name=c.addressof(name), names=len(names),
                                arch=arch.encode(), compiler=compiler, fresh=options.fresh)
        status = library().lk_module_compile(gpu._handle, path.encode(), c.byref(asked), c.byref(module))
        if status:
            said = gpu.error()
            if status == 2 and not any(_tool(t) for t in ("nvrtc", "nvcc", "clang")):
                raise Unsupported(f"{said.splitlines()[0]}")
            raise by_status(status, (library().lk_gpu_log(gpu._handle) or b"").decode(errors="replace").strip() or said)
        self.arch = library().lk_module_arch(module).decode()
        self.ptx: bytes = library().lk_module_ptx(module, None)
        self.entries = []
        for n in names:
            k = library().lk_module_kernel(module, n.encode())
            if not k:
                raise BadInput(gpu.error())
            self.entries.append(library().lk_kernel_name(k).decode())
        library().lk_module_unload(module)


_GAP = rb"(?:,|\r?\n\s*\.b8\s+)"  # between two bytes of debug information
_HASH = re.compile(_GAP.join(b"%d" % byte for byte in b"_INTERNAL_") + _GAP + _GAP.join([rb"\d+"] * 8))


def _strip(ptx: bytes) -> bytes:
    """Without what depends on this machine: what a line is in stays, where the file lay goes; nvcc hashes the path of the file that it
    compiles into names of its own (_INTERNAL_e996eed2_...), which debug information spells byte by byte."""
    ptx = re.sub(rb'(?m)^(\s*\.file\s+\d+\s+")(?:[^"]*/)?([^"/]+")(?:,[^\n]*)?$', rb"\1\2", ptx)
    ptx = re.sub(rb"_INTERNAL_[0-9a-f]{8}_", b"_INTERNAL_00000000_", ptx)
    return _HASH.sub(lambda m: m.group()[: _end(m.group())] + re.sub(rb"\d+", b"48", m.group()[_end(m.group()):]).replace(b".b48", b".b8"), ptx)


def _end(found: bytes) -> int:
    """Where the eight bytes of the hash begin."""
    return [m.start() for m in re.finditer(rb"(?<!\.b)\b\d+", found)][10]


def _assemble(ptxas: str, ptx: bytes, arch: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.cubin")
        with open(source, "wb") as f:
            f.write(ptx)
        done = subprocess.run([ptxas, "-arch=" + arch, "k.ptx", "-o", "k.cubin"], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise BadInput(f"ptxas refuses the PTX for {arch}: {(done.stderr or done.stdout).strip().splitlines()[0]}")
        with open(out, "rb") as f:
            return f.read()


def _instances(contract: _contract.Contract, kernels: Sequence[str], only: Sequence[str]) -> Dict[Tuple[str, ...], List[str]]:
    """Every instance that the types and configs of these kernels make, by the flags that it needs."""
    groups: Dict[Tuple[str, ...], List[str]] = {}
    for name in kernels:
        k = contract.kernel(name)
        for values in itertools.product(*[ch.values for ch in k.choices]):
            instance, flags = k.instance(dict(zip([ch.name for ch in k.choices], values)))
            if only and instance not in only and k.plain not in only:
                continue
            group = groups.setdefault(tuple(flags), [])
            if instance not in group:
                group.append(instance)
    return groups


MODULE = '''"""Ops of {file} for PyTorch: {ops}.

Made by `lockstep compile --torch`: do not edit. Importing it compiles nothing: the machine code for {archs} lies beside this
file. Tensors on the CPU run on Lockstep's software GPU, where the package lockstep is installed."""
import os as _os

from ._op import module as _module

_TABLE = {{{table}
}}
_FOLDER = _os.path.dirname(_os.path.abspath(__file__))
with open(_os.path.join(_FOLDER, {source!r}), encoding="utf-8") as _f:
    _ops = _module({name!r}, _FOLDER, {source!r}, _f.read(), _TABLE)
{lines}
__all__ = [{all}]
'''


def build(path: str, folder: str, archs: Sequence[str], only: Sequence[str], options: argparse.Namespace) -> str:
    """Writes the module; its folder."""
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read()
    said = contract_json(text, os.path.basename(path))
    contract = _contract.from_json(said)
    if not contract.ops:
        raise BadInput(f"{path} has no `op` line: //! op NAME(IN, ...) -> OUT, with its forward and backward lines, says what the ops are")
    name = re.sub(r"\W", "_", os.path.splitext(os.path.basename(path))[0])
    used = list(dict.fromkeys(call.name for o in contract.ops for call in o.forward + o.backward))
    gpu, ptxas = Gpu(threads=1), _tool("ptxas")
    table: Dict[str, Tuple[str, str]] = {}
    into = os.path.join(folder, name)
    fresh = tempfile.mkdtemp(prefix=".lockstep-", dir=folder)
    try:
        for number, (flags, names) in enumerate(_instances(contract, used, only).items()):
            file = f"kernels{number or ''}.fatbin"
            images = []
            for arch in archs:
                made = _Compiled(path, names, list(flags), arch, options, gpu)
                version = tuple(map(int, re.search(rb"(?m)^\.version\s+(\d+)\.(\d+)", made.ptx).groups()))  # type: ignore[union-attr]
                ptx = _strip(made.ptx)
                if ptxas:
                    images.append(image(_CUBIN, _arch(made.arch), _assemble(ptxas, ptx, made.arch), (1, 7)))
                if arch == archs[-1] or not ptxas:
                    images.append(image(_PTX, _arch(made.arch), ptx, version))  # type: ignore[arg-type]
                for n, e in zip(names, made.entries):
                    table[" ".join([n, *flags])] = (file, e)
            with open(os.path.join(fresh, file), "wb") as f:
                f.write(fatbin(images))
        _write(fresh, path, text, said, name, contract, table, archs)
        shutil.rmtree(into, ignore_errors=True)
        os.chmod(fresh, 0o755)
        os.rename(fresh, into)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        gpu.close()
    if not ptxas and not options.quiet:
        print("lockstep: there is no ptxas here: the fatbin holds PTX alone, which the driver compiles when it is loaded", file=sys.stderr)
    return into


def _write(folder: str, path: str, text: str, said: Dict[str, Any], name: str, contract: _contract.Contract, table: Dict[str, Tuple[str, str]], archs: Sequence[str]) -> None:
    own = os.path.dirname(os.path.abspath(__file__))
    for file in _FILES:
        shutil.copyfile(os.path.join(own, file), os.path.join(folder, file))
    source = os.path.basename(path)
    lines = "\n".join(line if re.match(r"\s*//", line) else "" for line in text.splitlines()).rstrip()  # the contract, at its lines
    with open(os.path.join(folder, source), "w", encoding="utf-8") as f:
        f.write(text if source.endswith(".ptx") else lines + "\n")
    with open(os.path.join(folder, "contract.json"), "w", encoding="utf-8") as f:
        json.dump(said, f, indent=1)
    ops = [o.call.name for o in contract.ops]
    rows = "".join(f"\n    {k!r}: {v!r}," for k, v in table.items())
    module = MODULE.format(file=source, ops=", ".join(ops), archs=", ".join(archs), table=rows, source=source, name=name, lines="\n".join(f"{n} = _ops[{n!r}]" for n in ops), all=", ".join(map(repr, ops)))
    with open(os.path.join(folder, "__init__.py"), "w", encoding="utf-8") as f:
        f.write(module)


def command(arguments: List[str]) -> int:
    a = argparse.ArgumentParser(prog="lockstep compile --torch")
    a.add_argument("--torch"), a.add_argument("--arch", default="sm_90"), a.add_argument("--compiler"), a.add_argument("--flag", action="append", default=[])
    a.add_argument("--fresh", action="store_true"), a.add_argument("--quiet", action="store_true"), a.add_argument("file"), a.add_argument("kernel", nargs="*")
    o = a.parse_args(arguments)
    try:
        archs = [f"sm_{n}{s}" for n, s in sorted(dict.fromkeys(map(_arch, o.arch.split(","))))]
        if not os.path.exists(o.file):
            raise BadInput(f"{o.file} is not there")
        os.makedirs(o.torch, exist_ok=True)
        made = build(o.file, o.torch, archs, o.kernel, o)
    except (LockstepError, _contract.ContractError, OSError) as e:
        print(f"lockstep: {e}", file=sys.stderr)
        return getattr(e, "status", 2)
    if not o.quiet:
        print(f"{made}: {', '.join(archs)}")
    return 0
