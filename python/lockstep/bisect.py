"""lockstep.bisect(model, replacements, inputs): which of the operators that were put into a model changes its results.

    answer = lockstep.bisect(model, {"blocks.0.norm": MyLayerNorm(...), F.gelu: my_gelu}, (x,))
    print(answer)       # the op, forward or backward, by how much, what it looks like

The model runs as it is first, then with truly one replacement at a time: its results and, after `loss(output).backward()`,
its gradients are compared with those of the model as it is. That a replacement was called is counted.
How far results may differ is measured: the output of the original at that place is changed by as much as rounding changes
it, and what comes of that at the end, times `slack`, is allowed. Where all are right alone and wrong together, pairs are
tried. What is named is run alone on the inputs that it had in the model, and its results are classified. Kernels with a
contract that it launches there (lockstep.ops, ops.load) are handed to lockstep.test: the answer is a line of the kernel then."""
from __future__ import annotations

import contextlib
import fnmatch
import itertools
import os
import re
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _cases, _contract, _slice, suspects
from ._library import read_contract
from ._verbs import test
from .classify import describe
from .errors import LockstepError

Key = Union[str, Callable[..., Any]]


@dataclass
class Change:
    """One result that is otherwise than it should be."""

    what: str  # "output", "gradient of blocks.0.norm.weight"
    why: str  # "None", "NaN", "stale", "not reduced", "shape", "beyond its bound"
    error: float = 0.0
    bound: float = 0.0
    looks: str = ""  # like which mistake

    def __str__(self) -> str:
        by = f": {self.error:.3g}, allowed {self.bound:.3g}" if self.why == "beyond its bound" else ""
        return f"{self.what} is {self.why}{by}" + (f"; {self.looks}" if self.looks else "")


@dataclass
class KernelVerdict:
    """What lockstep.test says of a kernel that a replacement launches."""

    kernel: str
    right: bool
    line: str = ""  # "layernorm.cu:46": where the wrong element is stored, or the access that is wrong
    computed: List[int] = field(default_factory=list)  # lines that the wrong element is computed by, the nearest first
    kind: str = ""  # of the finding: "result_factor"
    cause: str = ""
    case: str = ""  # for lockstep test --case
    text: str = ""  # the whole answer

    def __str__(self) -> str:
        if self.right:
            return f"its kernel {self.kernel} is right by itself"
        lines = f", computed in lines {', '.join(map(str, sorted(self.computed)))}" if self.computed else ""
        return f"its kernel {self.kernel} is wrong at {self.line}{lines}: {self.kind}" + (f", {self.cause}" if self.cause else "") + (f"; case {self.case}" if self.case else "")


@dataclass
class Verdict:
    """One replacement, or several at once."""

    names: Tuple[str, ...]
    called: int = 0  # how often the replacement was, in the forward pass
    forward: List[Change] = field(default_factory=list)
    backward: List[Change] = field(default_factory=list)
    alone: List[Change] = field(default_factory=list)  # on the inputs that it had in the model
    error: str = ""  # an exception
    kernels: List["KernelVerdict"] = field(default_factory=list)  # of those that it launches: what lockstep.test says

    @property
    def line(self) -> str:
        """Of the kernel that is wrong, "layernorm.cu:41"; "": no kernel of a contract is."""
        return next((k.line for k in self.kernels if k.line), "")

    @property
    def right(self) -> bool:
        return not (self.forward or self.backward or self.error) and self.called > 0

    @property
    def looks(self) -> str:
        """The mistake that its results look like; "": none that is known."""
        return next((c.looks for c in (*self.alone, *self.forward, *self.backward) if c.looks), "")

    def __str__(self) -> str:
        name = " and ".join(self.names)
        tested = [f"  {k}" for k in self.kernels]
        if self.error:
            return "\n".join([f"{name}: {self.error}", *(f"  alone: {c}" for c in self.alone[:4]), *tested])
        if not self.called:
            return f"{name}: was not called; the model does not use what it replaces"
        if self.right:
            return f"{name}: right, called {self.called} times"
        where = "forward" if self.forward else "backward"
        lines = [f"{name}: wrong in the {where} pass, called {self.called} times"]
        lines += [f"  {c}" for c in (self.forward or self.backward)[:4]]
        lines += [f"  alone: {c}" for c in self.alone[:4]]
        return "\n".join(lines + tested)


@dataclass
class Bisection:
    verdicts: List[Verdict]
    noise: float  # by how much the model differs from itself

    @property
    def guilty(self) -> List[Verdict]:
        return [v for v in self.verdicts if not v.right and (v.called or v.error)]

    @property
    def first(self) -> Optional[Verdict]:
        return next(iter(self.guilty), None)

    def __str__(self) -> str:
        head = f"the model as it is differs from itself by {self.noise:.3g}"
        tail = [] if self.guilty else ["every replacement that was called is right"]
        return "\n".join([head, *map(str, self.verdicts), *tail])


class _Swap:
    """Replacements that are in the model inside of a `with`, and how often they and the originals were called."""

    def __init__(self, model: Any, chosen: Mapping[Key, Any]):
        self.model, self.chosen = model, chosen
        self.called = 0
        self.stack = contextlib.ExitStack()
        self.inputs: List[Tuple[Any, Any, Callable[..., Any], Callable[..., Any]]] = []  # of the first call
        self.launched: List[Tuple[str, str, Dict[str, str], Dict[str, str]]] = []  # kernels with contracts (_op.launched)

    def _new(self, original: Callable[..., Any], new: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.called += 1
            if len(self.inputs) < 4:
                self.inputs.append((_copy(args), _copy(kwargs), original, new))
            return new(*args, **kwargs)

        return call

    def _modules(self, key: Any) -> Iterator[Tuple[str, Any]]:
        for name, module in self.model.named_modules():
            if fnmatch.fnmatchcase(name, key) if isinstance(key, str) else type(module) is key:
                yield name, module

    def _function(self, key: Any, new: Any) -> None:
        from torch.overrides import TorchFunctionMode

        wrapped = self._new(key, new)

        class Mode(TorchFunctionMode):
            def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                if func is key:
                    return wrapped(*args, **(kwargs or {}))
                return func(*args, **(kwargs or {}))

        self.stack.enter_context(Mode())

    def _module(self, module: Any, new: Any) -> None:
        import torch

        old = module.forward  # a bound method: the module's own
        made = new(module) if isinstance(new, type) or getattr(new, "takes_module", False) else new
        if isinstance(made, torch.nn.Module):
            shared = dict(module.named_parameters())
            for name, p in list(made.named_parameters()):
                if name in shared and shared[name].shape == p.shape:
                    parent, _, leaf = name.rpartition(".")
                    setattr(made.get_submodule(parent) if parent else made, leaf, shared[name])
        module.forward = self._new(old, made)
        self.stack.callback(lambda: module.__dict__.pop("forward", None))

    def __enter__(self) -> "_Swap":
        import torch

        for key, new in self.chosen.items():
            if isinstance(key, str) or (isinstance(key, type) and issubclass(key, torch.nn.Module)):
                found = list(self._modules(key))
                if not found:
                    raise LookupError(f"the model has no module {key!r}: " + ", ".join(n for n, _ in self.model.named_modules() if n))
                for _, module in found:
                    self._module(module, new)
            else:
                self._function(key, new)
        from . import _op

        _op.launched = []
        self.stack.callback(setattr, _op, "launched", None)
        return self

    def __exit__(self, *what: Any) -> None:
        from . import _op

        self.launched = _op.launched or []
        self.stack.close()


def _copy(value: Any) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        return value.detach().clone() if value.is_contiguous() else value.detach()
    if isinstance(value, (list, tuple)):
        return type(value)(_copy(v) for v in value)
    if isinstance(value, dict):
        return {k: _copy(v) for k, v in value.items()}
    return value


def _named(key: Key) -> str:
    return key if isinstance(key, str) else getattr(key, "__name__", str(key))


class _Run:
    """The model once: its outputs and its gradients."""

    def __init__(self, model: Any, inputs: Sequence[Any], loss: Callable[[Any], Any], scale: float, seed: int):
        import torch

        torch.manual_seed(seed)
        self.outputs: Dict[str, Any] = {}
        self.gradients: Dict[str, Any] = {}
        model.zero_grad(set_to_none=True)
        given = [x.detach().clone().requires_grad_(x.is_floating_point()) if isinstance(x, torch.Tensor) else x for x in inputs]
        result = model(*given)
        for k, t in enumerate([result] if isinstance(result, torch.Tensor) else [t for t in result if isinstance(t, torch.Tensor)]):
            self.outputs["output" if not k else f"output {k}"] = t.detach().clone()
        (loss(result) * scale).backward()
        for name, p in model.named_parameters():
            if p.requires_grad:
                self.gradients[name] = None if p.grad is None else p.grad.detach().clone()
        for k, x in enumerate(given):
            if isinstance(x, torch.Tensor) and x.requires_grad:
                self.gradients[f"input {k}"] = None if x.grad is None else x.grad.detach().clone()
        model.zero_grad(set_to_none=True)


def _distance(a: Any, b: Any) -> float:
    """The largest difference, by the largest number of the first."""
    import torch

    if a.shape != b.shape:
        return float("inf")
    a, b = a.double(), b.double()
    if torch.isnan(b).any() and not torch.isnan(a).any():
        return float("inf")
    largest = float(a.abs().max()) if a.numel() else 0.0
    return float((a - b).abs().max()) / (largest or 1.0) if a.numel() else 0.0


def _compare(want: Mapping[str, Any], got: Mapping[str, Any], bound: Mapping[str, float], kind: str,
             before: Optional[Mapping[str, Any]] = None) -> List[Change]:
    import torch

    changes = []
    for name, a in want.items():
        b, what = got.get(name), name if kind == "output" else f"the gradient of {name}"
        if a is None and b is None:
            continue
        if b is None:
            changes.append(Change(what, "None"))
        elif a is None:
            changes.append(Change(what, "there, and was None"))
        elif a.shape != b.shape:
            changes.append(Change(what, f"of shape {tuple(b.shape)}, not {tuple(a.shape)}"))
        elif torch.isnan(b).any() and not torch.isnan(a).any():
            changes.append(Change(what, "NaN", looks=f"{int(torch.isnan(b).sum())} of {b.numel()} elements"))
        elif _distance(a, b) > bound.get(name, 0.0):
            old = before.get(name) if before else None
            stale = old is not None and _distance(old, b) <= bound.get(name, 0.0)
            changes.append(Change(what, "stale: that of the run before" if stale else "beyond its bound", _distance(a, b),
                                  bound.get(name, 0.0), "stale gradient" if stale else describe(a, b)))
    return changes


def _rounded(original: Callable[..., Any]) -> Callable[..., Any]:
    """The original, with a result that is otherwise by rounding, and so is the gradient that comes back through it."""
    import torch

    def shake(t: Any) -> Any:
        if not isinstance(t, torch.Tensor) or not t.is_floating_point():
            return t
        eps = torch.finfo(t.dtype).eps
        noise = 1 + eps * (torch.randint(0, 2, t.shape, generator=torch.Generator().manual_seed(1)).to(t.device, t.dtype) * 2 - 1)
        return t * noise

    def call(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        return tuple(map(shake, result)) if isinstance(result, tuple) else shake(result)

    return call


def _weighed(out: Any) -> Any:
    """A loss that depends on every element in its own way. The mean of squares would not do: after a normalisation it does not
    change, and then no gradient says anything."""
    import torch

    t = out if isinstance(out, torch.Tensor) else next(x for x in out if isinstance(x, torch.Tensor))
    return (t.float() * torch.randn(t.shape, generator=torch.Generator().manual_seed(7)).to(t.device)).mean()


class _Bisect:
    def __init__(self, model: Any, replacements: Mapping[Key, Any], inputs: Sequence[Any], loss: Optional[Callable[[Any], Any]],
                 slack: float, bound: Optional[float], seed: int, cases: int):
        import torch

        self.cases = cases
        self.model, self.replacements = model, dict(replacements)
        self.inputs = inputs if isinstance(inputs, (list, tuple)) else (inputs,)
        self.loss = loss or _weighed
        self.slack, self.bound, self.seed = slack, bound, seed
        self.base = self.run(1.0)
        self.doubled = self.run(2.0)
        again = self.run(1.0)
        self.noise = max((_distance(a, again.outputs[n]) for n, a in self.base.outputs.items()), default=0.0)
        self.noises = {n: _distance(a, getattr(again, kind)[n]) for kind in ("outputs", "gradients")
                       for n, a in getattr(self.base, kind).items() if a is not None and getattr(again, kind)[n] is not None}

    def run(self, scale: float) -> _Run:
        return _Run(self.model, self.inputs, self.loss, scale, self.seed)

    def bounds(self, keys: Sequence[Key]) -> Dict[str, float]:
        """What rounding at these places comes to at the end."""
        import torch

        if self.bound is not None:
            return {n: self.bound for n in (*self.base.outputs, *self.base.gradients)}
        shaken: Dict[Key, Any] = {}
        for k in keys:
            if callable(k) and not isinstance(k, type):
                shaken[k] = _rounded(k)
            else:
                factory: Any = lambda module: _rounded(type(module).forward.__get__(module))
                factory.takes_module = True
                shaken[k] = factory
        with _Swap(self.model, shaken):
            moved = self.run(1.0)
        out: Dict[str, float] = {}
        for kind in ("outputs", "gradients"):
            for n, a in getattr(self.base, kind).items():
                b = getattr(moved, kind).get(n)
                eps = torch.finfo(a.dtype).eps if a is not None and a.is_floating_point() else 0.0
                by = _distance(a, b) if a is not None and b is not None else 0.0
                out[n] = self.slack * max(by, eps, 4 * self.noises.get(n, 0.0))
        return out

    def judge(self, keys: Sequence[Key]) -> Verdict:
        v = Verdict(tuple(_named(k) for k in keys))
        swap = _Swap(self.model, {k: self.replacements[k] for k in keys})
        try:
            bounds = self.bounds(keys)
            with swap:
                got = self.run(1.0)
                v.called = swap.called
                twice = self.run(2.0)
        except LookupError:
            raise
        except Exception as error:  # of the replacement
            v.error = _error(error, swap.launched)
            v.called = swap.called
            v.kernels = self.kernels(swap)
            return v
        v.forward = _compare(self.base.outputs, got.outputs, bounds, "output")
        v.backward = _compare(self.base.gradients, got.gradients, bounds, "gradient")
        if not v.backward:
            v.backward = _compare(self.doubled.gradients, twice.gradients, bounds, "gradient", got.gradients)
        if not v.right and len(keys) == 1:
            v.alone, v.kernels = self.alone(swap), self.kernels(swap)
        return v

    @staticmethod
    def told(file: str, name: str, result: Any) -> KernelVerdict:
        """A verdict of lockstep.test in a line: a wrong element is followed to the lines that compute it."""
        first = next((f for f in result.findings if f.severity == "error" and not f.kind.startswith("result")), None)
        first = first or next((f for f in result.findings if f.severity == "error"), None)
        if first is None:
            return KernelVerdict(name, True, text=result.text)
        verdict = KernelVerdict(name, False, kind=first.kind, cause=str(first.fields.get("cause") or ""), text=result.text)
        case = re.search(r"(?m)^\W*case: (.*)$", str(first.fields.get("detail") or "") + "\n" + first.text)
        verdict.case = case.group(1).strip() if case else ""
        element = re.match(r"(\w+)\[([\d,]*)\] is ", verdict.cause)
        if element and verdict.case:
            kernel = first.fields["kernel"]
            part = _slice.of_case(file, kernel, verdict.case, element.group(1), _offset(file, kernel, verdict.case, *element.groups()))
            nearest = part.stored or next(iter(part.lines), 0)
            verdict.line, verdict.computed = (f"{os.path.basename(file)}:{nearest}" if nearest else ""), part.lines
        if not verdict.line and first.file:
            verdict.line = _own(first, [(file,)])
        return verdict

    def kernels(self, swap: _Swap) -> List[KernelVerdict]:
        """What lockstep.test says of the kernels that the replacement launches, each by itself."""
        out: List[KernelVerdict] = []
        for file, kernel, chosen, _ in swap.launched:
            name = f"{os.path.basename(file)}:{kernel}"
            if not os.path.exists(file) or any(k.kernel == name for k in out):
                continue
            try:
                result = test(f"{file}:{kernel}", cases=self.cases, config=chosen or None, check=False)
            except LockstepError as error:
                out.append(KernelVerdict(name, True, text=f"lockstep test could not be run: {error}"))
                continue
            out.append(self.told(file, name, result))
        return out

    def alone(self, swap: _Swap) -> List[Change]:
        """What is named, on the inputs that it had in the model: values and gradients."""
        import torch

        changes: List[Change] = []
        for args, kwargs, original, new in swap.inputs[:1]:
            sides = []
            for function in (original, new):
                given = [a.detach().clone().requires_grad_(a.is_floating_point()) if isinstance(a, torch.Tensor) and a.is_contiguous()
                         else a.detach().requires_grad_(a.is_floating_point()) if isinstance(a, torch.Tensor) else a for a in args]
                try:
                    out = function(*given, **kwargs)
                    out = out[0] if isinstance(out, tuple) else out
                    torch.manual_seed(self.seed)
                    weight = torch.randn(out.shape).to(out.device, out.dtype)
                    (out * weight).sum().backward()
                except Exception as error:
                    changes.append(Change("alone", _error(error)))
                    return changes
                grads = {f"argument {k}": a.grad.clone() for k, a in enumerate(given)
                         if isinstance(a, torch.Tensor) and a.grad is not None}
                sides.append(({"output": out.detach().clone()}, grads))
            eps = 64 * torch.finfo(sides[0][0]["output"].dtype).eps if sides[0][0]["output"].is_floating_point() else 0.0
            changes += _compare(sides[0][0], sides[1][0], {"output": eps}, "output")
            if changes and not kwargs:
                try:
                    known = suspects.name(original, new, [a.detach() if isinstance(a, torch.Tensor) else a for a in args], sides[1][0]["output"])
                except Exception as error:  # it is a guess, and the answer is there without it
                    known = f"(no mistake could be tried: {_error(error)})"
                changes[0].looks = known or changes[0].looks
            changes += _compare(sides[0][1], sides[1][1], {n: eps for n in sides[0][1]}, "gradient")
        return changes


def _own(finding: Any, launched: Sequence[Any]) -> str:
    """The line of a finding, in the file of its kernel where a header's was inlined there."""
    files = {os.path.basename(x[0]) for x in launched}
    place = finding.fields.get("place") or {}
    while place:
        if os.path.basename(place.get("file") or "") in files:
            return f"{os.path.basename(place['file'])}:{place['line']}"
        place = place.get("inlined_at") or {}
    return f"{os.path.basename(finding.file)}:{finding.line}"


def _expanded(finding: Any, launched: Sequence[Any]) -> str:
    """An access past the end of an array that is expanded, with strides of 0: it is read as if it were dense."""
    access = finding.fields.get("access") or {}
    name = (access.get("object") or finding.fields.get("object") or {}).get("name") or ""
    word = next((words.get(name, "") for _, kernel, _, words in reversed(launched) if finding.kernel.split("::")[-1] == kernel), "")
    if finding.kind.startswith("bounds") and word.startswith("broadcast"):
        return f"; expanded read flat: {name} is expanded ({word}: strides of 0), and is read as if it had all its elements"
    return ""


def _offset(file: str, kernel: str, case: str, array: str, index: str) -> Optional[int]:
    """The byte of an element in its array; None: it cannot be told."""
    with open(file, encoding="utf-8") as f:
        text = f.read()
    k = read_contract(text, file).kernel(kernel.split("<")[0])
    maker = _cases.Maker(k, text)
    try:
        made = maker.make(case)
    except LockstepError:
        made = None
    finally:
        maker.close()
    if made is None or array not in made.shapes:
        return None
    at = 0
    for n, i in zip(made.shapes[array], index.split(",")):
        at = at * n + int(i or 0)
    return at * _contract.BYTES[made.types[array]]


def _error(error: BaseException, launched: Sequence[Any] = ()) -> str:
    first = next((f for f in getattr(error, "findings", ()) if f.severity == "error"), None)
    if first is not None:
        return f"{first.kind} at {_own(first, launched)}, {first.fields.get('cause') or first.title}" + _expanded(first, launched)
    text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if "invalid gradient" in text and "expected shape" in text:
        return f"a gradient is not reduced: {text}"
    return f"{type(error).__name__}: {text}"


def bisect(model: Any, replacements: Mapping[Key, Any], inputs: Any, *, loss: Optional[Callable[[Any], Any]] = None,
           slack: float = 64.0, bound: Optional[float] = None, seed: int = 0, cases: int = 64) -> Bisection:
    """replacements: what is replaced -> what by. A key is the name of a module ("blocks.*.norm" for several), a class of
    modules, or a function such as F.gelu; a value is called as the original is, a class of modules is made from the module
    that it replaces and shares its parameters. loss: of the output, for the gradients; unless given, a mean
    with a weight of its own for each element.
    cases: with how many a kernel of what is wrong is tested."""
    work = _Bisect(model, replacements, inputs, loss, slack, bound, seed, cases)
    verdicts = [work.judge([k]) for k in work.replacements]
    good = [k for k, v in zip(work.replacements, verdicts) if v.right]
    if len(good) > 1 and not any(v.called and not v.right for v in verdicts):
        together = work.judge(good)
        if not together.right:
            pairs = [work.judge(list(p)) for p in itertools.combinations(good, 2)]
            wrong = [v for v in pairs if not v.right]
            verdicts += wrong or [together]
    return Bisection(verdicts, work.noise)
