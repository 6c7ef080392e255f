"""Mistakes that a wrong operator is held against, on the inputs that it had: what the right one gives with this mistake in it
is what the wrong one gives."""
from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, List, Optional, Sequence, Tuple


def _near(torch: Any, a: Any, b: Any) -> float:
    if not isinstance(a, torch.Tensor) or a.shape != b.shape:
        return float("inf")
    return float((a.double() - b.double()).abs().max()) / (float(b.double().abs().max()) or 1.0)


def _module(function: Callable[..., Any]) -> Any:
    return getattr(function, "__self__", None)


@contextlib.contextmanager
def _with(module: Any, name: str, value: Any) -> Iterator[None]:
    """The module with another parameter or attribute, for one call."""
    import torch

    own = module._parameters.pop(name, None) if name in getattr(module, "_parameters", {}) else None
    old = None if own is not None else getattr(module, name)
    object.__setattr__(module, name, value)
    try:
        yield
    finally:
        if own is not None:
            module.__dict__.pop(name, None)
            module._parameters[name] = own
        else:
            setattr(module, name, old)
    assert isinstance(module, torch.nn.Module)


def _argument_mistakes(torch: Any, original: Any, args: Sequence[Any]) -> Iterator[Tuple[str, Callable[[], Any]]]:
    for k, a in enumerate(args):
        if not isinstance(a, torch.Tensor) or not a.is_floating_point():
            continue
        if not a.is_contiguous():
            flat = a.as_strided((a.numel(),), (1,), a.storage_offset()) if a.untyped_storage().nbytes() // a.element_size() - a.storage_offset() >= a.numel() else None
            order = sorted(range(a.dim()), key=lambda d: -a.stride(d))
            laid = a.permute(order).reshape(a.shape)
            for read in (laid, None if flat is None else flat.reshape(a.shape)):
                if read is not None:
                    yield (f"missing contiguous: argument {k} is a view, strides {tuple(a.stride())}, and is read as if it were dense",
                           lambda k=k, read=read: original(*args[:k], read, *args[k + 1:]))


def _module_mistakes(torch: Any, module: Any, original: Any, args: Sequence[Any]) -> Iterator[Tuple[str, Callable[[], Any]]]:
    def put(name: str, value: Any) -> Callable[[], Any]:
        def call() -> Any:
            with _with(module, name, value):
                return original(*args)

        return call

    for name, p in list(module.named_parameters(recurse=False)):
        if p.dim() == 2:
            yield f"transposed weight: {name} is read in the other order", put(name, p.detach().t().reshape(p.shape))
        elif p.dim() == 1 and args and isinstance(args[0], torch.Tensor) and args[0].shape[-1] == p.numel():
            n = args[0].numel() // p.numel()
            yield (f"expanded read flat: {name}, of {p.numel()} elements, is read by the number of the row, not of the column",
                   put(name, p.detach().repeat_interleave(n).view(args[0].shape)))
    if isinstance(getattr(module, "eps", None), float):
        for eps in (0.0, *(10.0 ** -k for k in range(1, 13))):
            if eps != module.eps:
                yield f"eps: {eps:g}, not {module.eps:g}", put("eps", eps)


def _factor(torch: Any, original: Any, args: Sequence[Any], got: Any) -> str:
    """An argument that enters times a factor."""
    for k, a in enumerate(args):
        if not isinstance(a, torch.Tensor) or not a.is_floating_point():
            continue
        at = lambda s: _near(torch, original(*args[:k], a * s, *args[k + 1:]), got)
        s = min((2.0 ** (j / 4) for j in range(-24, 25)), key=at)
        step = 2.0 ** 0.125
        for _ in range(24):
            s = min((s / step, s, s * step), key=at)
            step = step ** 0.6
        if at(s) < 1e-4 and abs(s - 1) > 1e-3:
            return f"scale: as if argument {k} were {s:.4g} times what it is (a size of its own under the root, perhaps)"
    return ""


def _uses(torch: Any, function: Any, args: Sequence[Any], k: int, at: Tuple[int, ...]) -> List[List[bool]]:
    """Of each dimension of an argument: whether one element of the result changes with what lies at each place along it."""
    a, out = args[k], []
    value = lambda given: (lambda r: float((r[0] if isinstance(r, tuple) else r)[at]))(function(*args[:k], given, *args[k + 1:]))
    was = value(a)
    torch.manual_seed(7)
    noise = torch.randn(a.shape).to(a.device, a.dtype) + 0.5
    for dim in range(a.dim()):
        column = []
        for place in range(a.shape[dim]):
            other = a.clone()
            other.select(dim, place).add_(noise.select(dim, place))
            now = value(other)
            column.append(now != was and abs(now - was) > 1e-6 * max(abs(now), abs(was)))
        out.append(column)
    return out


def _dependencies(torch: Any, original: Any, new: Any, args: Sequence[Any], shape: Sequence[int]) -> str:
    """What one element of the result is made of, in the one and in the other: the elements of an argument are changed, place
    by place along each dimension."""
    at = tuple(n // 2 for n in shape)
    for k, a in enumerate(args):
        if not isinstance(a, torch.Tensor) or not a.is_floating_point() or sum(a.shape) > 400:
            continue
        for dim, (want, got) in enumerate(zip(_uses(torch, original, args, k, at), _uses(torch, new, args, k, at))):
            more = [i for i, (w, g) in enumerate(zip(want, got)) if g and not w]
            less = [i for i, (w, g) in enumerate(zip(want, got)) if w and not g]
            if bool(more) == bool(less):
                continue
            first, last = (more or less)[0], (more or less)[-1]
            if more and first == last:
                return f"mask off by one: element {at} of the result also depends on [{first}] of dimension {dim} of argument {k}"
            if less and last == a.shape[dim] - 1:
                return (f"reduction: element {at} of the result does not depend on [{first}..{last}] of dimension {dim} of "
                        f"argument {k}, of {a.shape[dim]}: what is over a power of two is left out")
            return f"{'too much' if more else 'too little'}: [{first}..{last}] of dimension {dim} of argument {k} for element {at} of the result"
    return ""


def name(original: Callable[..., Any], new: Callable[..., Any], args: Sequence[Any], got: Any) -> str:
    """The mistake; "": none of those that are known."""
    import torch

    module = _module(original)
    tries: List[Tuple[str, Callable[[], Any]]] = list(_argument_mistakes(torch, original, args))
    if isinstance(module, torch.nn.Module):
        tries += _module_mistakes(torch, module, original, args)
    with torch.no_grad():
        found: Optional[str] = None
        for text, call in tries:
            try:
                if _near(torch, call(), got) < 1e-4:
                    found = text
                    break
            except (RuntimeError, TypeError, ValueError):  # the original does not take such an argument
                continue
        if found:
            return found
        return _factor(torch, original, args, got) or _dependencies(torch, original, new, args, got.shape)
