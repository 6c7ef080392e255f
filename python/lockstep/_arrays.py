"""Arrays of NumPy, PyTorch and CuPy, and of anything that has DLPack or `__cuda_array_interface__`, seen alike: an address, a
shape, strides in elements, the type by Lockstep's name, and where it lies. Nothing is imported that the caller does not use."""
from __future__ import annotations

import operator
import sys
from dataclasses import dataclass
from typing import Any, Callable, Optional, Sequence, Tuple

from ._contract import BYTES, Layout, dense
from .errors import BadInput, LockstepError

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
        raise BadInput(f"{name} has strides {list(strides)} in bytes, which are not multiples of its element", name)
    return tuple(s // size for s in strides)


def _numpy(name: str, a: Any) -> Array:
    if hasattr(a, "mask") and hasattr(a, "filled"):
        raise BadInput(f"{name} is a masked array, and a kernel sees no mask: pass {name}.filled(...)", name)
    if a.dtype.byteorder not in "=|" and a.dtype.newbyteorder("=") != a.dtype:
        raise BadInput(f"{name} has the byte order {a.dtype.byteorder}; that of the machine belongs here", name)
    return Array(name, a, "numpy", a.ctypes.data, tuple(a.shape), _strides(name, a.shape, a.strides, a.itemsize), _type(name, a.dtype.name))


def _whole(value: Any) -> int:
    """A whole number, of Python or of NumPy; TypeError where it is not one."""
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)


def _described(name: str, said: Any, key: str, what: str, read: Callable[[Any], Any]) -> Any:
    """One entry of `__cuda_array_interface__`, which may be anything."""
    try:
        return read(said[key])
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        given = repr(said.get(key))[:60] if isinstance(said, dict) and key in said else "nothing"
        raise BadInput(f"{name} says in __cuda_array_interface__ that its {key} is {given}; {what} belongs there", name) from None


def _typestr(code: str) -> str:
    """float32 of <f4."""
    order, kind, size = code[0], code[1], int(code[2:])
    if order == (">" if sys.byteorder == "little" else "<") or order not in "<>|=":
        raise ValueError
    if order == "|" and size > 1:
        raise ValueError
    return {"f": f"float{8 * size}", "b": "bool" if size == 1 else "", "i": f"int{8 * size}", "u": f"uint{8 * size}"}.get(kind, code)


def _interface(name: str, a: Any) -> Array:
    i = a.__cuda_array_interface__
    kind = _described(name, i, "typestr", "a type in the machine's byte order, as <f4,", _typestr)
    if str(getattr(a, "dtype", "")).endswith("bfloat16"):
        kind = "bfloat16"
    kind = _type(name, kind)
    shape = _described(name, i, "shape", "a tuple of sizes", lambda s: tuple(_whole(n) for n in s))
    address = _described(name, i, "data", "a tuple of an address and whether it is read-only", lambda d: _whole(d[0]))
    if any(n < 0 for n in shape) or address < 0 or address >> 64:
        raise BadInput(f"{name} says in __cuda_array_interface__ that it lies at {address}, with the shape {list(shape)}", name)
    if not address and 0 not in shape:
        raise BadInput(f"{name} is at the address 0, and has {list(shape)} elements", name)
    if i.get("mask") is not None:
        raise BadInput(f"{name} is a masked array, and a kernel sees no mask", name)
    strides = dense(shape)
    if i.get("strides") is not None:
        said = _described(name, i, "strides", "a tuple of bytes, one for each size,", lambda s: tuple(_whole(n) for n in s))
        if len(said) != len(shape):
            raise BadInput(f"{name} has {len(shape)} sizes and {len(said)} strides in __cuda_array_interface__", name)
        strides = _strides(name, shape, said, BYTES[kind])
    if any(s < 0 for n, s in zip(shape, strides) if n > 1):
        raise BadInput(f"{name} has the strides {list(strides)}: none may be negative", name)
    device = getattr(a, "device", None)
    return Array(name, a, "cupy", address, shape, strides, kind, int(getattr(device, "id", 0) or 0))


def _dlpack(name: str, a: Any) -> Array:
    """By DLPack: what it gives is anything until somebody has taken it."""
    torch = sys.modules.get("torch")
    try:
        host = tuple(a.__dlpack_device__())[0] == 1
        if host:
            import numpy as np

            made: Any = np.from_dlpack(a)
        elif torch is not None:
            made = torch.from_dlpack(a)
        else:
            raise BadInput(f"{name} is a {type(a).__name__} on a GPU, and PyTorch, which could take it, is not imported", name)
    except LockstepError:
        raise
    except Exception as error:
        raise BadInput(f"{name} is a {type(a).__name__} whose DLPack cannot be read: {type(error).__name__}: {error}", name) from None
    return _numpy(name, made) if host else _torch(name, made)


def view(name: str, a: Any) -> Array:
    """What an object is, or BadInput with its name."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(a, torch.Tensor):
        return _torch(name, a)
    if numpy is not None and isinstance(a, (numpy.ndarray, numpy.generic)):
        masked = sys.modules.get("numpy.ma")  # numpy.ma itself would import it, in the middle of a call
        return _numpy(name, a if masked is not None and isinstance(a, masked.MaskedArray) else numpy.asarray(a))
    if hasattr(a, "__cuda_array_interface__"):
        return _interface(name, a)
    if hasattr(a, "__dlpack__"):
        return _dlpack(name, a)
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
        try:
            import cupy
        except ImportError:
            raise BadInput(f"{name} is made here, beside an array of a GPU that is neither one of PyTorch nor of CuPy: pass {name}, or install CuPy", name) from None

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
