"""Ops of PyTorch from contracts: a custom op for each `op` block, with fake tensors and the backward kernels as its gradient.

Each forward and backward kernel is an op of its own (`ns::softmax`, `ns::softmax_backward`), so that torch.compile and
torch.library.opcheck see through. Inputs that a kernel does not take as they lie are copied; what the kernel saves is saved by
PyTorch, which notices when it is changed; launches are in the current stream, and memory of other streams is kept until they are
done. A gradient of the gradient is refused: the backward kernels have none.

This file imports of Lockstep what lies beside it only: modules that `lockstep compile --torch` writes carry a copy of it."""
from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch

from . import _contract, _driver

_NAMES = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64", torch.int8: "i8", torch.int16: "i16", torch.int32: "i32",
          torch.int64: "i64", torch.uint8: "u8", torch.bool: "bool", torch.float8_e4m3fn: "e4m3", torch.float8_e5m2: "e5m2"}
_DTYPES = {v: k for k, v in _NAMES.items()}


class Source:
    """Where the compiled kernels come from. `file` and `text` are the contract's."""

    file: str
    text: str

    def loaded(self, instance: str, flags: Sequence[str], device: int) -> Tuple[_driver.Module, str]:
        """On a GPU: the module and what the kernel is called there."""
        raise NotImplementedError

    def software(self, kernel: str) -> Callable[..., Any]:
        """On the software GPU: the kernel as a function of arrays."""
        raise NotImplementedError


def _reads(k: _contract.Kernel, n: int) -> List[_contract.Argument]:
    ins = [a for a in k.args if a.kind == "array" and a.flow == "in"]
    return ins if len(ins) == n else [a for a in k.args if a.is_read]


def _plain_dims(k: _contract.Kernel, arrays: Sequence[str]) -> set:
    return {x[1] for a in k.args if a.name in arrays for x in a.shape if x[0] == "name"}


def _shape_names(k: _contract.Kernel, arrays: Sequence[str]) -> set:
    return {n for a in k.args if a.name in arrays for x in a.shape for n in _contract.names_in(x)}


def _told(k: _contract.Kernel) -> set:
    """Sizes that mean something to the kernel: those it is told, and those that shapes or other sizes are made of. The others
    only shape the launch."""
    names = {n for a in k.args if a.value for n in _contract.names_in(a.value)}
    names |= {n for a in k.args for x in a.shape for n in _contract.names_in(x)}
    return names | {n for d in k.dims if d.value for n in _contract.names_in(d.value)}


@dataclass
class Parameter:
    """A size, value or config that a caller of the op may give."""

    name: str
    kind: str  # "int", "float", "SymInt"
    default: Any


@dataclass
class Step:
    """One kernel of an op, as an op of its own."""

    kernel: _contract.Kernel
    ins: List[str]  # what the op calls them
    outs: List[str]
    parameters: List[Parameter]
    source: Source
    op: Any = None
    reads: List[_contract.Argument] = field(default_factory=list)
    writes: List[_contract.Argument] = field(default_factory=list)

    # ---- what it does with tensors ----

    def _taken(self, a: _contract.Argument, t: torch.Tensor) -> torch.Tensor:
        """The tensor as the contract takes it: itself, or a dense copy."""
        layout = _layout(t)
        if a.stride or _contract.layout_word(a, layout) is not None:
            return t
        t = t.contiguous()
        return t if t.data_ptr() % 16 == 0 or "offset" in a.layouts else t.clone()

    def run(self, *tensors: torch.Tensor, **given: Any) -> Tuple[torch.Tensor, ...]:
        k = self.kernel
        device = tensors[0].device
        for a, t in zip(self.reads, tensors):
            if t.device != device:
                raise ValueError(f"{a.name} is on {t.device}, and {self.reads[0].name} on {device}")
        named = {a.name: self._taken(a, t) for a, t in zip(self.reads, tensors)}
        given = {n: (int(v) if isinstance(v, (bool, torch.SymInt)) else v) for n, v in given.items() if v is not None}
        bound = _contract.bind(k, {n: _layout(t) for n, t in named.items()}, given)
        outs = []
        for a in self.writes:
            make = torch.zeros if a.flow == "inout" or bound.is_empty and k.empty == "zeros" else torch.empty
            named[a.name] = make(bound.shapes[a.name], dtype=_DTYPES[bound.types[a.name]], device=device)
            outs.append(named[a.name])
        if not bound.is_empty:
            (self._software if device.type == "cpu" else self._launch)(bound, named, given)
        return tuple(outs)

    def _software(self, bound: _contract.Bound, named: Dict[str, torch.Tensor], given: Dict[str, Any]) -> None:
        self.source.software(self.kernel.name)(**named, **given)

    def _launch(self, bound: _contract.Bound, named: Dict[str, torch.Tensor], given: Dict[str, Any]) -> None:
        k = self.kernel
        device = next(iter(named.values())).device.index
        instance, flags = bound.instance
        with torch.cuda.device(device):
            stream = torch.cuda.current_stream(device)
            for t in named.values():  # freed while another stream has it: kept until this launch is done
                t.record_stream(stream)
            module, entry = self.source.loaded(instance, flags, device)
            f = module.function(entry, device, bound.shared)
            arguments = [struct.pack("<Q", named[a.name].data_ptr() if a.name in named else 0) if a.kind in ("array", "null") else bound.values[a.name] for a in k.args]
            _driver.launch(f, bound.grid, bound.block, bound.shared, stream.cuda_stream, arguments, bound.cluster if k.cluster else None, k.cooperative)

    def fake(self, *tensors: torch.Tensor, **given: Any) -> Tuple[torch.Tensor, ...]:
        """Shapes and types alone. Sizes may be symbols: nothing is rounded to a number here."""
        k = self.kernel
        named = {a.name: _contract.Layout(tuple(t.shape), (), _NAMES[t.dtype]) for a, t in zip(self.reads, tensors)}
        given = {n: v for n, v in given.items() if v is not None}
        chosen = _contract.choose(k, named, given)
        dims = {d.name for d in k.dims}
        values: Dict[str, Any] = {c.name: int(chosen[c.name]) for c in k.choices if not c.is_type}
        values.update({n: v for n, v in given.items() if n in dims})
        for a in self.reads:
            if len(a.shape) != len(named[a.name].shape):
                raise _contract.ContractError(f"{a.name} has {len(named[a.name].shape)} dimensions, and the contract says {len(a.shape)}", a.name)
        _contract._solve(k, named, values, dims)
        for d in k.dims:
            if d.name not in values and d.value is not None:
                values[d.name] = _contract.evaluate(d.value, values)
        out = []
        for a in self.writes:
            kind = chosen.get(a.type, a.type)
            out.append(tensors[0].new_empty([_contract.evaluate(x, values) for x in a.shape], dtype=_DTYPES[kind]))
        return tuple(out)


def _layout(t: torch.Tensor) -> _contract.Layout:
    if t.dtype not in _NAMES:
        raise TypeError(f"a tensor of {t.dtype} is taken by no contract")
    return _contract.Layout(tuple(t.shape), tuple(t.stride()), _NAMES[t.dtype], t.data_ptr() % 16 == 0)


def _parameters(k: _contract.Kernel, ins: Sequence[str], backward: bool) -> List[Parameter]:
    """A forward kernel has parameters for what no array says. A backward kernel gets the sizes of the forward that none of its
    arrays has alone in a dimension."""
    out = []
    told, known = _told(k), _plain_dims(k, ins) if backward else _shape_names(k, ins)
    for d in k.dims:
        if d.name not in told or d.name in known:
            continue
        constant = d.value is not None and not list(_contract.names_in(d.value))
        if backward:
            out.append(Parameter(d.name, "SymInt", None))
        elif constant:
            out.append(Parameter(d.name, "SymInt", int(_contract.evaluate(d.value, {}))))  # type: ignore[arg-type]
    for a in k.args:
        if a.kind == "value" and a.value and not list(_contract.names_in(a.value)) and a.name not in {d.name for d in k.dims}:
            v = _contract.evaluate(a.value, {})
            out.append(Parameter(a.name, "float" if a.type[:1] in "f" or a.type[:2] == "bf" or a.type in {c.name for c in k.choices} else "int", v))
    for c in k.choices:
        if not c.is_type:
            out.append(Parameter(c.name, "int", int(c.values[0])))
    return out


def _schema(s: Step) -> str:
    words = [f"Tensor {n}" for n in s.ins]
    if s.parameters:
        words.append("*")
    for p in s.parameters:
        words.append(f"{p.kind}{'' if p.default is not None else '?'} {_free(p.name, s.ins)}={p.default}")
    outs = ", ".join(["Tensor"] * len(s.outs))
    return f"({', '.join(words)}) -> {outs if len(s.outs) == 1 else '(' + outs + ')'}"


def _free(name: str, ins: Sequence[str]) -> str:
    return name + "_" if name in ins else name


def _define(ns: str, name: str, s: Step) -> None:
    """Registers one kernel."""
    back = {_free(p.name, s.ins): p.name for p in s.parameters}

    def split(args: Sequence[Any], named: Dict[str, Any]) -> Tuple[List[Any], Dict[str, Any]]:
        given = {back[n]: v for n, v in named.items() if n in back}
        return [*args, *(named[n] for n in s.ins[len(args):])], given

    def real(*args: Any, **named: Any) -> Any:
        tensors, given = split(args, named)
        out = s.run(*tensors, **given)
        return out[0] if len(out) == 1 else out

    def fake(*args: Any, **named: Any) -> Any:
        tensors, given = split(args, named)
        out = s.fake(*tensors, **given)
        return out[0] if len(out) == 1 else out

    s.op = torch.library.custom_op(f"{ns}::{name}", real, mutates_args=(), schema=_schema(s))
    s.op.register_fake(fake)


class Op:
    """An op of a contract: called with its inputs, it returns its outputs; what its kernels save stays inside."""

    def __init__(self, ns: str, contract: _contract.Contract, block: _contract.Op, source: Source):
        self.name, self.ns, self.block = block.call.name, ns, block
        if len(block.forward) != 1:
            raise _contract.ContractError(f"the op {self.name} has {len(block.forward)} forward kernels: one is supported")
        self.forward = self._step(contract, block.forward[0], source, False)
        self.backward = [self._step(contract, c, source, True) for c in block.backward]
        _define(ns, self.name, self.forward)
        for s in self.backward:
            _define(ns, f"{self.name}__{s.kernel.plain}", s)
        if self.backward:
            self.forward.op.register_autograd(self._gradient, setup_context=self._save)
        self.op = getattr(getattr(torch.ops, ns), self.name).default
        self.__doc__ = f"{ns}::{self.name}{_schema(self.forward)}"

    @staticmethod
    def _step(contract: _contract.Contract, call: _contract.Call, source: Source, backward: bool) -> Step:
        k = contract.kernel(call.name)
        reads, writes = _reads(k, len(call.ins)), [a for a in k.args if a.written]
        if len(reads) != len(call.ins) or len(writes) != len(call.outs):
            raise _contract.ContractError(f"{call.name} takes {len(reads)} arrays and writes {len(writes)}, and the op line has {len(call.ins)} and {len(call.outs)}")
        return Step(k, call.ins, call.outs, _parameters(k, [a.name for a in reads], backward), source, None, reads, writes)

    def __repr__(self) -> str:
        return f"<op {self.__doc__}>"

    def __call__(self, *args: torch.Tensor, **named: Any) -> Any:
        out = self.op(*args, **{_free(n, self.forward.ins): v for n, v in named.items()})
        outs = dict(zip(self.forward.outs, (out,) if len(self.forward.outs) == 1 else out))
        wanted = [outs[n] for n in self.block.call.outs]
        return wanted[0] if len(wanted) == 1 else tuple(wanted)

    # ---- the way back ----

    def _saved(self) -> List[str]:
        used = {n for s in self.backward for n in s.ins}
        return [n for n in self.forward.ins + self.forward.outs if n in used]

    def _save(self, ctx: Any, inputs: Tuple[Any, ...], output: Any, keyword_only_inputs: Optional[Dict[str, Any]] = None) -> None:
        f = self.forward
        outs = (output,) if len(f.outs) == 1 else output
        have = {**dict(zip(f.ins, inputs)), **dict(zip(f.outs, outs))}
        ctx.save_for_backward(*[have[n] for n in self._saved()])
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*[have[n] for n in f.outs if n not in self.block.call.outs])
        back = {_free(p.name, f.ins): p.name for p in f.parameters}
        ctx.given = {back[n]: v for n, v in (keyword_only_inputs or {}).items()}
        ctx.types = [t.dtype for t in inputs[: len(f.ins)]]
        ctx.shapes = [tuple(t.shape) for t in inputs[: len(f.ins)]]
        ctx.sizes = self._sizes(inputs, ctx.given)

    def _sizes(self, inputs: Sequence[torch.Tensor], given: Dict[str, Any]) -> Dict[str, Any]:
        """The sizes of the forward kernel, which may be symbols."""
        k = self.forward.kernel
        named = {a.name: _contract.Layout(tuple(t.shape), (), _NAMES[t.dtype]) for a, t in zip(self.forward.reads, inputs)}
        dims = {d.name for d in k.dims}
        values: Dict[str, Any] = {n: v for n, v in given.items() if n in dims}
        _contract._solve(k, named, values, dims)
        for d in k.dims:
            if d.name not in values and d.value is not None:
                values[d.name] = _contract.evaluate(d.value, values)
        return values

    def _sizes_of(self, s: Step, shapes: Sequence[Sequence[Any]]) -> Dict[str, Any]:
        """A gradient has the shape of its input: sizes of a backward kernel that follow from that."""
        out = {}
        for name, a in zip(s.outs, s.writes):
            if name[1:] in self.forward.ins:
                out.update({x[1]: n for x, n in zip(a.shape, shapes[self.forward.ins.index(name[1:])]) if x[0] == "name"})
        return out

    def _needed(self, wanted: set) -> List[Step]:
        """The kernels that compute these gradients, and what they need of each other; of two that compute the same, the first."""
        chosen: List[Step] = []
        have: set = set()
        want, found = set(wanted), True
        while found:
            found = False
            for s in self.backward:
                if s not in chosen and (want - have) & set(s.outs):
                    chosen.append(s)
                    have |= set(s.outs)
                    want |= set(s.ins)
                    found = True
        return [s for s in self.backward if s in chosen]

    def _gradient(self, ctx: Any, *grads: Optional[torch.Tensor]) -> Tuple[Any, ...]:
        f = self.forward
        given = dict(zip(f.outs, grads))
        have: Dict[str, Any] = dict(zip(self._saved(), ctx.saved_tensors))
        for n in self.block.call.outs:
            g = given.get(n)
            if g is None:
                if not any("d" + n in s.ins for s in self.backward):
                    continue
                raise RuntimeError(f"{self.ns}::{self.name}: the gradient of {n} is missing")
            have["d" + n] = g
        wanted = {"d" + n for i, n in enumerate(f.ins) if ctx.needs_input_grad[i]}
        for s in self._needed(wanted):
            named = {}
            sizes = {**ctx.sizes, **ctx.given, **self._sizes_of(s, ctx.shapes)}
            for p in s.parameters:
                if p.name in sizes:
                    named[_free(p.name, s.ins)] = sizes[p.name]
            out = s.op(*[have[n] for n in s.ins], **named)
            have.update(zip(s.outs, (out,) if len(s.outs) == 1 else out))
        result = []
        for i, n in enumerate(f.ins):
            g = have.get("d" + n) if ctx.needs_input_grad[i] else None
            if g is None and ctx.needs_input_grad[i]:
                raise RuntimeError(f"{self.ns}::{self.name} has no gradient for {n}: no backward line computes d{n}")
            result.append(g.to(ctx.types[i]) if g is not None else None)
        return tuple(result)

    # ---- the same as torch.autograd.Function ----

    def function(self) -> Any:
        """A torch.autograd.Function over the same kernels, for who wants one: `f.apply(x, ...)`, values as keyword arguments of
        this call."""
        op = self

        class Function(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, *inputs: torch.Tensor) -> Any:
                outs = op.forward.run(*[t.detach() for t in inputs[: len(op.forward.ins)]])
                op._save(ctx, inputs, outs if len(outs) > 1 else outs[0], {})
                return outs if len(outs) > 1 else outs[0]

            @staticmethod
            @torch.autograd.function.once_differentiable
            def backward(ctx: Any, *grads: Any) -> Any:
                return op._gradient(ctx, *[g if n in op.block.call.outs else None for n, g in zip(op.forward.outs, grads)])

        Function.__name__ = op.name
        return Function


def register(ns: str, contract: _contract.Contract, source: Source) -> Dict[str, Op]:
    """All ops of a contract, in the namespace `ns` of torch.ops."""
    return {o.call.name: Op(ns, contract, o, source) for o in contract.ops}


# ---- modules that `lockstep compile --torch` writes ----


class Packed(Source):
    """Kernels in fatbins beside the module; the software GPU takes the PTX that they hold."""

    def __init__(self, folder: str, file: str, text: str, table: Dict[str, Tuple[str, str]]):
        self.folder, self.file, self.text, self.table = folder, file, text, table
        self._modules: Dict[str, _driver.Module] = {}

    def _image(self, fatbin: str) -> bytes:
        with open(f"{self.folder}/{fatbin}", "rb") as f:
            return f.read()

    def _entry(self, instance: str, flags: Sequence[str]) -> Tuple[str, str]:
        key = " ".join([instance, *flags])
        if key not in self.table:
            raise RuntimeError(f"{key} is not among the kernels that were compiled: {', '.join(self.table)}")
        return self.table[key]

    def loaded(self, instance: str, flags: Sequence[str], device: int) -> Tuple[_driver.Module, str]:
        fatbin, entry = self._entry(instance, flags)
        if fatbin not in self._modules:
            self._modules[fatbin] = _driver.Module(self._image(fatbin))
        return self._modules[fatbin], entry

    def software(self, kernel: str) -> Callable[..., Any]:
        try:
            from lockstep._kernel import PackedKernel
        except ImportError:
            raise RuntimeError("tensors on the CPU run on Lockstep's software GPU: pip install lockstep, or move them to cuda") from None
        return PackedKernel(self.file, self.text, kernel, lambda instance, flags: (_ptx_of(self._image(self._entry(instance, flags)[0])), self._entry(instance, flags)[1]))


def _ptx_of(fatbin: bytes) -> bytes:
    """The PTX in a fatbin as this package writes it: not packed."""
    at = 16
    while at < len(fatbin):
        kind, _, header, size = struct.unpack_from("<HHIQ", fatbin, at)
        if kind == 1:
            return fatbin[at + header:at + header + size].rstrip(b"\0")
        at += header + size
    raise RuntimeError("the fatbin holds no PTX")


def module(name: str, folder: str, file: str, text: str, table: Dict[str, Tuple[str, str]]) -> Dict[str, Op]:
    """What a written module calls when it is imported."""
    return register(name, _contract.read(text, file), Packed(folder, file, text, table))
