"""lockstep.trace(): what each operator of PyTorch took and gave, and the first that made a NaN.

    with lockstep.trace() as t:
        loss = model(x).sum()
        loss.backward()
    print(t)            # the first NaN, if there is one, and a table
    t.first_nan         # the call that made it: its operator, its line, its kernel, the kernel's line

It works on every device. Under `lockstep run` a call has the kernels that it launched, and the first that made a NaN is run
once more, with every store of its kernels looked at, to learn the line where it begins; so it is for kernels of the package on
the software GPU, which raise it as an error. What a C++ extension does without an operator of its own is not in the list."""
from __future__ import annotations

import json
import os
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Iterator, List, Optional, Tuple

from .errors import LockstepError


_EMPTY = ("aten.empty", "aten.new_empty", "aten.resize_")  # what they give has no values yet


@dataclass
class TensorFacts:
    """A tensor as it was at a moment."""

    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    dtype: str
    device: str
    least: Optional[float] = None  # of the numbers that are no NaN; None: there are none
    most: Optional[float] = None
    nans: int = 0
    infinities: int = 0
    undefined: int = 0  # elements that were never written, which are in none of these; known under `lockstep run` only

    def __str__(self) -> str:
        shape = "x".join(map(str, self.shape)) or "scalar"
        values = "" if self.least is None else f" {self.least:.4g}..{self.most:.4g}"
        bad = (f" {self.nans} NaN" if self.nans else "") + (f" {self.infinities} inf" if self.infinities else "") + (f" {self.undefined} undefined" if self.undefined else "")
        return f"{self.dtype}[{shape}]{'' if self.is_dense else ' strides ' + str(self.strides)}{values}{bad}"

    @property
    def is_dense(self) -> bool:
        want = 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides)):
            if size != 1 and stride != want:
                return False
            want *= size
        return True


@dataclass
class Call:
    """One call of an operator."""

    number: int
    name: str
    line: str  # of the script: "train.py:12"; "": none, as in autograd's threads
    inputs: List[TensorFacts]
    outputs: List[TensorFacts] = field(default_factory=list)
    seconds: float = 0.0
    memory: int = 0  # bytes that the device has more than before
    kernels: List[str] = field(default_factory=list)  # that were launched, under `lockstep run`
    backward: bool = False
    kernel_line: str = ""  # of the kernel that made the first NaN: where it begins, "softmax.cu:33"; "": not known
    raised: bool = False  # it ended with an error that says so

    @property
    def made_nan(self) -> bool:
        return self.raised or any(t.nans for t in self.outputs) and not any(t.nans for t in self.inputs)

    def __str__(self) -> str:
        where = f" at {self.line}" if self.line else " in the backward pass" if self.backward else ""
        kernels = f" [{', '.join(self.kernels)}]" if self.kernels else ""
        ins, outs = "; ".join(map(str, self.inputs)), "; ".join(map(str, self.outputs))
        return f"{self.number:4} {self.name}{where}{kernels}  ({ins}) -> {outs}  {self.seconds * 1e3:.3f} ms, {self.memory:+} bytes"


def _facts(torch: Any, t: Any) -> TensorFacts:
    shape = tuple(int(n) for n in t.shape)
    strides = tuple(t.stride()) if t.layout == torch.strided else ()
    facts = TensorFacts(shape, strides, str(t.dtype).replace("torch.", ""), str(t.device))
    if t.device.type == "meta" or t.layout != torch.strided or not t.numel() or t.is_complex():
        return facts
    values, dispatch = t.detach(), getattr(torch, "_lockstep", None)
    if t.is_cuda and hasattr(dispatch, "defined"):  # the program reads nothing by this: there is nothing to be found
        values = dispatch.defined(values)
        if values is None:
            return facts
        facts.undefined = t.numel() - values.numel()
    if values.is_floating_point():
        values = values.float() if values.element_size() < 4 else values
        odd, infinite = torch.isnan(values), torch.isinf(values)
        facts.nans, facts.infinities = int(odd.sum()), int(infinite.sum())
        values = values[~(odd | infinite)] if facts.nans or facts.infinities else values
    if values.numel():
        values = values.to(torch.uint8) if values.dtype == torch.bool else values
        facts.least, facts.most = float(values.min()), float(values.max())
    return facts


def _tensors(torch: Any, value: Any) -> Iterator[Any]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from _tensors(torch, v)
    elif isinstance(value, dict):
        for v in value.values():
            yield from _tensors(torch, v)


def _line() -> str:
    """The line of the script that is under way in this thread."""
    frame, own = sys._getframe(1), os.path.dirname(os.path.abspath(__file__))
    while frame is not None:
        file = frame.f_code.co_filename
        packaged = "/site-packages/" in file or "/dist-packages/" in file or "/lib/python3" in file or file.startswith("<")
        if not packaged and not os.path.abspath(file).startswith(own):
            return f"{os.path.basename(file)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


class Trace:
    """The calls of all operators inside of a `with`. values=False leaves out what costs a pass over each tensor."""

    def __init__(self, values: bool = True, most: int = 100_000):
        self.calls: List[Call] = []
        self.values, self.most, self.left_out = values, most, 0
        self._mode: Any = None
        self._lock = threading.Lock()
        self._busy = threading.local()

    # ---- what is seen ----

    def seen(self, name: str, call: Any, args: Any, kwargs: Any) -> Any:
        """Calls, and notes it."""
        import torch

        if getattr(self._busy, "now", False) or len(self.calls) >= self.most:
            self.left_out += not getattr(self._busy, "now", False)
            return call(*args, **kwargs)
        device = next((t.device for t in _tensors(torch, (args, kwargs)) if t.device.type == "cuda"), None)
        before = torch.cuda.memory_allocated(device) if device is not None else 0
        record = Call(0, name, _line(), self._look(torch, (args, kwargs)))
        record.backward = not record.line and threading.current_thread() is not threading.main_thread()
        launched = _launched()
        start = time.perf_counter()
        try:
            result = call(*args, **kwargs)
        except LockstepError as error:
            self._raised(record, error)
            raise
        if device is not None:
            torch.cuda.synchronize(device)
        record.seconds = time.perf_counter() - start
        record.kernels = _launched(launched)
        record.memory = torch.cuda.memory_allocated(device) - before if device is not None else 0
        record.outputs = self._look(torch, result, values=not name.startswith(_EMPTY))
        if record.made_nan and record.kernels and self.first_nan is None:
            record.kernel_line = self._again(torch, call, args, kwargs, device)
        self._add(record)
        return result

    def _add(self, record: Call) -> None:
        with self._lock:
            record.number = len(self.calls) + 1
            self.calls.append(record)

    def _raised(self, record: Call, error: LockstepError) -> None:
        """An error of a kernel of the package: it is the NaN that is looked for, or another."""
        nan = next((f for f in getattr(error, "findings", ()) if f.kind == "value_nan"), None)
        if nan is not None:
            record.raised, record.kernels, record.kernel_line = True, [nan.kernel], _begins(nan.fields)
            self._add(record)

    def _again(self, torch: Any, call: Any, args: Any, kwargs: Any, device: Any) -> str:
        """Under `lockstep run`: the operator once more, to learn where its NaN begins."""
        schema = getattr(call, "_schema", None)
        if schema is None or schema.is_mutable or not hasattr(getattr(torch, "_lockstep", None), "watched"):
            return ""
        self._busy.now = True
        try:
            with torch.no_grad(), torch._lockstep.watched() as report:
                call(*args, **kwargs)
                torch.cuda.synchronize(device)
            found = json.loads(report()).get("findings", [])
        finally:
            self._busy.now = False
        return next((_begins(f) for f in reversed(found) if f["id"] == "value_nan"), "")

    def _look(self, torch: Any, value: Any, values: bool = True) -> List[TensorFacts]:
        self._busy.now = True
        try:
            with torch.no_grad(), torch.utils._python_dispatch._disable_current_modes():
                if self.values and values:
                    return [_facts(torch, t) for t in _tensors(torch, value)]
                return [TensorFacts(tuple(t.shape), tuple(t.stride()), str(t.dtype)[6:], str(t.device)) for t in _tensors(torch, value)]
        finally:
            self._busy.now = False

    # ---- with ----

    def __enter__(self) -> "Trace":
        import torch
        from torch.utils._python_dispatch import TorchDispatchMode

        trace = self

        class Mode(TorchDispatchMode):
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                return trace.seen(str(func), func, args, kwargs or {})

        self._mode = Mode()
        self._mode.__enter__()
        return self

    def __exit__(self, *what: Any) -> None:
        self._mode.__exit__(*what)

    # ---- what was seen ----

    @property
    def first_nan(self) -> Optional[Call]:
        """The first call whose inputs had no NaN, and an output had one."""
        return next((c for c in self.calls if c.made_nan), None)

    def named(self, part: str) -> List[Call]:
        """The calls of operators whose names have this in them."""
        return [c for c in self.calls if part in c.name]

    def __str__(self) -> str:
        nan, lines = self.first_nan, []
        if nan is not None:
            where = f" at {nan.line}" if nan.line else " in the backward pass"
            kernel = f", kernel {nan.kernels[-1]}" if nan.kernels else ""
            kernel += f", where it begins at {nan.kernel_line}" if nan.kernel_line else ""
            gave = "an error in place of results" if nan.raised else f"{sum(t.nans for t in nan.outputs)} in what it gave"
            lines.append(f"the first NaN: {nan.name}{where}{kernel}, call {nan.number}: inputs without one, {gave}")
        elif any(t.nans for c in self.calls for t in c.inputs):
            bad = next(c for c in self.calls if any(t.nans for t in c.inputs))
            lines.append(f"the first NaN came in from outside, to {bad.name}" + (f" at {bad.line}" if bad.line else ""))
        lines += [str(c) for c in self.calls]
        if self.left_out:
            lines.append(f"{self.left_out} more calls are not in this list")
        return "\n".join(lines)


def _begins(finding: Any) -> str:
    """Where a NaN begins, as the report has it: "softmax.cu:33"."""
    place = finding.get("origin") or finding.get("place") or {}
    return f"{os.path.basename(place['file'])}:{place['line']}" if place.get("file") else ""


def _launched(since: Optional[int] = None) -> Any:
    """Under `lockstep run`: how many launches there were, or the kernels of those since then."""
    torch = sys.modules.get("torch")
    dispatch = getattr(torch, "_lockstep", None)
    if dispatch is None:
        return 0 if since is None else []
    return dispatch.launched(since)


def trace(values: bool = True, most: int = 100_000) -> Trace:
    """`with lockstep.trace() as t:` notes every operator that PyTorch does inside, in all threads of autograd."""
    return Trace(values, most)
