"""The library of kernels as ops of PyTorch, with gradients: `lockstep.ops.softmax(x)`, `lockstep.ops.layernorm(x, g, b)`.

    ops.softmax, ops.layernorm, ops.rmsnorm, ops.gelu, ops.gelu_tanh, ops.matmul, ops.attention, ops.cross_entropy,
    ops.embedding, ops.conv2d, ...: an op for each `op` line of kernels/*.cu, as torch.ops.lockstep.NAME
    ops.load("my.cu"): the ops of a file of your own
    ops.softmax.function(): the same as a torch.autograd.Function

Tensors on the CPU run on the software GPU, under every check; on cuda they run there. A kernel is compiled when it is first
used, by nvcc or NVRTC; `lockstep compile --torch` makes a module that needs neither."""
from __future__ import annotations

import os
import re
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import _contract, _driver
from ._kernel import Kernel, find_file
from ._library import kernels_path, read_contract
from ._op import Op, Source, register


class _File(Source):
    """Kernels of a .cu file, compiled when they are used."""

    def __init__(self, path: str):
        self.file = path
        with open(path, encoding="utf-8", errors="replace") as f:
            self.text = f.read()
        self._kernels: Dict[str, Kernel] = {}

    def _kernel(self, name: str) -> Kernel:
        plain = name.split("<")[0]
        if plain not in self._kernels:
            self._kernels[plain] = Kernel(self.file, plain)
        return self._kernels[plain]

    def loaded(self, instance: str, flags: Sequence[str], device: int) -> Tuple[_driver.Module, str]:
        return self._kernel(instance).loaded(instance, flags, device)

    def software(self, kernel: str) -> Callable[..., Any]:
        return self._kernel(kernel)


_loaded: Dict[str, Dict[str, Op]] = {}


def load(path: str, namespace: Optional[str] = None) -> Dict[str, Op]:
    """The ops of a file, by name, as torch.ops.NAMESPACE.NAME; the namespace is the file's name unless one is given."""
    file, _ = find_file(path)
    ns = namespace or re.sub(r"\W", "_", os.path.splitext(os.path.basename(file))[0])
    key = f"{ns}:{os.path.abspath(file)}"
    if key not in _loaded:
        with open(file, encoding="utf-8", errors="replace") as f:
            contract = read_contract(f.read(), file)
        if not contract.ops:
            raise _contract.ContractError(f"{file} has no `op` line: //! op NAME(IN, ...) -> OUT, with its forward and backward lines")
        _loaded[key] = register(ns, contract, _File(file))
    return _loaded[key]


def _files() -> Dict[str, str]:
    """Every op of the library of kernels, and its file."""
    out = {}
    folder = kernels_path()
    for name in sorted(os.listdir(folder)):
        if name.endswith(".cu"):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                for op in re.findall(r"(?m)^//!\s*op\s+(\w+)\s*\(", f.read()):
                    out.setdefault(op, os.path.join(folder, name))
    return out


def names() -> List[str]:
    """The ops of the library of kernels."""
    return sorted(_files())


def __getattr__(name: str) -> Op:
    files = _files() if not name.startswith("_") else {}
    if name not in files:
        raise AttributeError(f"lockstep.ops has no {name}; there are {', '.join(files)}")
    return load(files[name], "lockstep")[name]
