"""Lockstep's library and its command: where they are, and the functions of lockstep.h and lockstep_lab.h with their types."""
from __future__ import annotations

import ctypes
import json
import os
import threading
from typing import Any, Dict, List, Optional

from . import _abi, _contract, _fork

_HERE = os.path.dirname(os.path.abspath(__file__))
# a wheel has both in _bin; a checkout has them in build, two folders up from the package
_PLACES = [os.path.join(_HERE, "_bin"), os.path.join(os.path.dirname(os.path.dirname(_HERE)), "build")]
_lock = _fork.lock(_fork.LAST)
_library: Optional[ctypes.CDLL] = None


def _loaded() -> Optional[str]:
    """The library that the process has already: under `lockstep run` it is the one behind the driver, and stays the only
    one."""
    try:
        with open("/proc/thread-self/maps") as maps:  # /proc/self has none once the first thread has ended
            return next((line.split(maxsplit=5)[5].strip() for line in maps if "/liblockstep.so" in line), None)
    except OSError:
        return None


def is_loaded() -> bool:
    return _loaded() is not None


def library_path() -> str:
    asked = os.environ.get("LOCKSTEP_LIBRARY")
    if asked:
        return asked
    here = _loaded()
    if here:
        return here
    front = _front_folder()
    folders = ([os.path.dirname(front)] if front else []) + _PLACES
    for folder in folders:
        for name in ("liblockstep.so.0", "liblockstep.so"):
            if os.path.exists(os.path.join(folder, name)):
                return os.path.join(folder, name)
    return "liblockstep.so.0"


def _front_folder() -> Optional[str]:
    """Under `lockstep run`: the folder of the drop-in libraries, whose engine is the one to use."""
    for word in os.environ.get("LD_AUDIT", "").split(":"):
        if os.path.basename(word) == "lockstep-front.so":
            return os.path.dirname(os.path.realpath(word))
    return None


def under_run() -> bool:
    """Whether this process was started by `lockstep run`."""
    return _front_folder() is not None


def command_path() -> str:
    """The lockstep command: LOCKSTEP_COMMAND, the wheel's own, that of the checkout, or the one on PATH."""
    asked = os.environ.get("LOCKSTEP_COMMAND")
    if asked:
        return asked
    for folder in _PLACES:
        path = os.path.join(folder, "lockstep")
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return "lockstep"


def include_path() -> str:
    """The folder of lockstep.h."""
    own = os.path.join(_HERE, "_include")
    return own if os.path.isdir(own) else os.path.join(os.path.dirname(os.path.dirname(_HERE)), "include")


def kernels_path() -> str:
    """The folder of the library of kernels (softmax.cu, ...)."""
    own = os.path.join(_HERE, "_kernels")
    return own if os.path.isdir(own) else os.path.join(os.path.dirname(os.path.dirname(_HERE)), "kernels")


def library() -> Any:
    """The library, loaded once, every function with its types."""
    global _library
    with _lock:
        if _library is None:
            path = library_path()
            try:
                lib = ctypes.CDLL(path)
            except OSError as e:
                raise ImportError(f"Lockstep's library cannot be loaded: {e}; LOCKSTEP_LIBRARY names another one") from None
            for name, (result, arguments) in _abi.FUNCTIONS.items():
                f = getattr(lib, name)
                f.restype, f.argtypes = result, arguments
            _library = lib
    return _library


def text(address: Optional[int]) -> str:
    """A text that the library has made, which is released here."""
    if not address:
        return ""
    try:
        return ctypes.string_at(address).decode(errors="replace")
    finally:
        library().lk_text_free(address)


def contract_json(said: str, file: str = "contract") -> Dict[str, Any]:
    """What the //! lines of a text say (lk_contract_json)."""
    data, out = said.encode(), ctypes.c_void_p()
    if library().lk_contract_json(file.encode(), data, len(data), ctypes.byref(out)):
        raise _contract.ContractError((library().lk_gpu_error(None) or b"").decode(errors="replace"))
    return json.loads(text(out.value))


def read_contract(said: str, file: str = "contract") -> _contract.Contract:
    """The blocks of a text."""
    return _contract.from_json(contract_json(said, file))


def words(items: List[str]) -> Any:
    """An array of texts for the library."""
    return (ctypes.c_char_p * (len(items) + 1))(*[i.encode() for i in items], None)
