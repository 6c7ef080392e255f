"""What wrong results look like: the mistake that two arrays, as they should be and as they are, point to."""
from __future__ import annotations

from typing import Any


def _close(torch: Any, a: Any, b: Any, loose: float = 1e-3) -> bool:
    scale = float(a.abs().max()) if a.numel() else 0.0
    return a.shape == b.shape and bool(((a - b).abs() <= loose * (scale or 1.0)).all())


def _scaled(torch: Any, a: Any, b: Any) -> str:
    """All elements by one factor."""
    big = a.abs() > 1e-3 * a.abs().max()
    if not bool(big.any()):
        return ""
    ratio = b[big] / a[big]
    factor = float(ratio.median())
    if not bool(((ratio - factor).abs() <= 1e-2 * abs(factor)).all()) or abs(factor - 1) < 1e-3:
        return ""
    return f"scale: every element is {factor:.4g} times what it should be"


def _unreduced(a: Any, b: Any) -> str:
    """A sum over rows that has one of them in it: far smaller, and not in proportion."""
    if a.dim() == 1 and a.numel() > 8 and float(b.abs().mean()) < 0.5 * float(a.abs().mean()):
        return "not reduced: far smaller than the sum over all rows, as of one of them"
    return ""


def _moved(torch: Any, a: Any, b: Any) -> str:
    """The same elements in another place."""
    if a.dim() >= 2 and a.shape[-1] == a.shape[-2] and _close(torch, a.transpose(-1, -2), b):
        return "transposed: rows and columns of the last two dimensions are exchanged"
    if a.dim() >= 2 and _close(torch, a.transpose(-1, -2).reshape(a.shape), b):
        return "transposed: the bytes are those of the other order of the last two dimensions"
    for dim in range(a.dim()):
        for by in (1, -1):
            if a.shape[dim] > 2 and _close(torch, torch.roll(a, by, dim).narrow(dim, 1, a.shape[dim] - 2), b.narrow(dim, 1, a.shape[dim] - 2)):
                return f"off by one along dimension {dim}"
    if a.numel() > 1 and _close(torch, a.flatten().sort()[0], b.flatten().sort()[0], 1e-5):
        return "permuted: the right numbers in other places"
    return ""


def _where(torch: Any, a: Any, b: Any) -> str:
    """Which elements are wrong."""
    wrong = (a - b).abs() > 1e-4 * (float(a.abs().max()) or 1.0)
    n, all_ = int(wrong.sum()), wrong.numel()
    if not n:
        return "rounding: small differences everywhere, as of a constant such as eps"
    at = wrong.nonzero()
    first, last = at.min(0)[0].tolist(), at.max(0)[0].tolist()
    if a.dim() >= 2 and n <= max(a.shape[-1], a.shape[-2]) * max(1, all_ // (a.shape[-1] * a.shape[-2])) and a.shape[-1] == a.shape[-2]:
        offset = (at[:, -1] - at[:, -2]).unique().tolist()
        if len(offset) == 1:
            return f"a diagonal: elements with column - row = {offset[0]} are wrong, as of a mask that is off by one"
    return f"{n} of {all_} elements are wrong, from {first} to {last}"


def describe(want: Any, got: Any) -> str:
    """In words; "" for what is right."""
    import torch

    if want.shape != got.shape:
        return f"shape {tuple(got.shape)}, not {tuple(want.shape)}"
    if not want.numel() or not want.is_floating_point():
        return ""
    a, b = want.detach().double().cpu(), got.detach().double().cpu()
    if bool(torch.isnan(b).any()):
        return f"{int(torch.isnan(b).sum())} of {b.numel()} elements are NaN"
    if not bool(b.any()) and bool(a.any()):
        return "zeros: nothing was written, or added to"
    return _scaled(torch, a, b) or _unreduced(a, b) or _moved(torch, a, b) or _where(torch, a, b)
