"""Arrays of NumPy, PyTorch and CuPy, and of anything that has DLPack or `__cuda_array_interface__`, seen alike: an address, a
shape, strides in elements, the type by Lockstep's name, and where it lies. Nothing is imported that the caller does not use."""
from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Optional, Sequence, Tuple

from ._contract import BYTES, Layout, dense
from .errors import BadInput

_NAMES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
          "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "bool": "bool", "bool_": "bool", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}
_DTYPES = {v: k for k, v in _NAMES.items() if k != "bool_"}


@dataclass
class Array:
    """One array of a call."""

    name: str
    object: Any
    library: str  # "numpy", "torch", "cupy"
    address: int
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]  # elements
    type: str
    cuda: Optional[int] = None  # the number of the GPU; None: memory of the host

    @property
    def layout(self) -> Layout:
        return Layout(self.shape, self.strides, self.type, self.address % 16 == 0)

    @property
    def bytes(self) -> int:
        """From the first element to the last."""
        if 0 in self.shape:
            return 0
        return (sum((d - 1) * s for d, s in zip(self.shape, self.strides)) + 1) * BYTES[self.type]

    @property
    def where(self) -> str:
        return "memory of the host" if self.cuda is None else f"GPU {self.cuda}"


def _type(name: str, dtype: str) -> str:
    if dtype not in _NAMES:
        raise BadInput(f"{name} is an array of {dtype}, which no contract has", name)
    return _NAMES[dtype]


def _torch(name: str, t: Any) -> Array:
    if t.layout is not sys.modules["torch"].strided:
        raise BadInput(f"{name} is a tensor of layout {t.layout}; a strided one belongs here", name)
    if t.device.type not in ("cpu", "cuda"):
        raise BadInput(f"{name} is a tensor on {t.device}; cpu or cuda belongs here", name)
    if t.is_neg() or t.is_conj():  # a view whose memory holds the numbers as they were before
        raise BadInput(f"{name} is negated or conjugated only when it is read: pass {name}.resolve_conj().resolve_neg()", name)
    return Array(name, t, "torch", t.data_ptr(), tuple(t.shape), tuple(t.stride()), _type(name, str(t.dtype).replace("torch.", "")),
                 t.device.index if t.device.type == "cuda" else None)


def _strides(name: str, shape: Sequence[int], strides: Sequence[int], size: int) -> Tuple[int, ...]:
    if any(d > 1 and s % size for d, s in zip(shape, strides)):
        raise BadInput(f"{name} has strides {list(strides)} in bytes, which are no multiples of its element", name)
    return tuple(s // size for s in strides)


def _numpy(name: str, a: Any) -> Array:
    if hasattr(a, "mask") and hasattr(a, "filled"):
        raise BadInput(f"{name} is a masked array, and a kernel sees no mask: pass {name}.filled(...)", name)
    if a.dtype.byteorder not in "=|" and a.dtype.newbyteorder("=") != a.dtype:
        raise BadInput(f"{name} has the byte order {a.dtype.byteorder}; that of the machine belongs here", name)
    return Array(name, a, "numpy", a.ctypes.data, tuple(a.shape), _strides(name, a.shape, a.strides, a.itemsize), _type(name, a.dtype.name))


def _interface(name: str, a: Any) -> Array:
    i = a.__cuda_array_interface__
    kinds = {"f2": "float16", "f4": "float32", "f8": "float64", "b1": "bool"}
    code = i["typestr"].lstrip("<|=")
    kind = kinds.get(code) or {"i": "int", "u": "uint"}.get(code[0], code[0]) + str(8 * int(code[1:]))
    if str(getattr(a, "dtype", "")).endswith("bfloat16"):
        kind = "bfloat16"
    kind = _type(name, kind)
    shape = tuple(i["shape"])
    strides = tuple(s // BYTES[kind] for s in i["strides"]) if i.get("strides") else dense(shape)
    device = getattr(a, "device", None)
    return Array(name, a, "cupy", i["data"][0], shape, strides, kind, int(getattr(device, "id", 0) or 0))


def view(name: str, a: Any) -> Array:
    """What an object is, or BadInput with its name."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(a, torch.Tensor):
        return _torch(name, a)
    if numpy is not None and isinstance(a, (numpy.ndarray, numpy.generic)):
        return _numpy(name, a if isinstance(a, numpy.ma.MaskedArray) else numpy.asarray(a))
    if hasattr(a, "__cuda_array_interface__"):
        return _interface(name, a)
    if hasattr(a, "__dlpack__"):
        if a.__dlpack_device__()[0] == 1:
            import numpy as np

            return _numpy(name, np.from_dlpack(a))
        if torch is not None:
            return _torch(name, torch.from_dlpack(a))
    raise BadInput(f"{name} is a {type(a).__name__}; an array of NumPy, PyTorch or CuPy belongs here, or one with DLPack", name)


def empty(name: str, like: Optional[Array], shape: Sequence[int], kind: str, zeros: bool = False) -> Array:
    """A new dense array beside `like`, of its library and on its device."""
    library = like.library if like else "numpy"
    if library == "torch":
        torch = sys.modules["torch"]
        assert like is not None
        make = torch.zeros if zeros else torch.empty
        return _torch(name, make(tuple(shape), dtype=getattr(torch, _DTYPES[kind]), device=like.object.device))
    if library == "cupy":
        import cupy

        assert like is not None
        with cupy.cuda.Device(like.cuda):
            return _interface(name, (cupy.zeros if zeros else cupy.empty)(tuple(shape), dtype=_DTYPES[kind]))
    import numpy

    try:
        dtype = numpy.dtype(_DTYPES[kind])
    except TypeError:
        try:
            import ml_dtypes
        except ImportError:
            raise BadInput(f"{name} is an array of {kind}, which NumPy has with the package ml_dtypes only", name) from None
        dtype = numpy.dtype(getattr(ml_dtypes, _DTYPES[kind]))
    return _numpy(name, (numpy.zeros if zeros else numpy.empty)(tuple(shape), dtype))


def raw(a: Array) -> Any:
    """An array of the host as one of NumPy over the same memory, of unsigned integers as wide as its elements."""
    import numpy

    wide = f"uint{8 * BYTES[a.type]}"
    if a.library == "torch":
        torch = sys.modules["torch"]
        return a.object.detach().view(getattr(torch, {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}[BYTES[a.type]])).numpy().view(wide)
    return numpy.asarray(a.object).view(wide)
