"""Uninitialised elements, and operators that may take it: the scores of a cache whose end is not filled yet are computed and
then masked. Of these operators it goes on, element by element, to what they make; any other that reads it, a kernel or a
copy to the host is where it is a finding. lockstep_torch.py has the rest."""

RUNS = 1 << 14  # pieces of a result that may stay undefined

_ELEMENTS = {"add", "sub", "rsub", "mul", "div", "neg", "_to_copy", "clone", "copy"}


def rule(operator):
    """How an operator carries on what is undefined: rule(torch, args, masks), both by argument, gives the mask of its
    result; None: whatever it reads has to be defined."""
    if operator.outs or len(operator.returns) != 1:
        return None
    base = operator.name.partition("::")[2].partition(".")[0].rstrip("_")
    if base in _ELEMENTS:
        return _elements
    return {"bmm": _product, "mm": _product, "where": _where, "masked_fill": _masked_fill, "cat": _cat,
            "index_select": _index_select, "tril": _triangle, "triu": _triangle}.get(base)


def _elements(torch, operator, args, masks):
    return _either(torch, *masks)


def _either(torch, *masks):
    known = None
    for m in masks:
        if m is not None:
            known = m if known is None else torch.logical_or(known, m)
    return known


def _product(torch, operator, args, masks):
    x, y = masks[0], masks[1]
    return _either(torch, None if x is None else x.any(-1, keepdim=True), None if y is None else y.any(-2, keepdim=True))


def _of(torch, mask, x):
    return mask if mask is not None else torch.zeros(x.size() if isinstance(x, torch.Tensor) else (), dtype=torch.bool)


def _where(torch, operator, args, masks):
    condition, x, y = args[:3]
    return _either(torch, torch.where(condition.bool(), _of(torch, masks[1], x), _of(torch, masks[2], y)), masks[0])


def _masked_fill(torch, operator, args, masks):
    x, mask, value = args[:3]
    return _either(torch, torch.where(mask, _of(torch, masks[2], value), _of(torch, masks[0], x)), masks[1])


def _cat(torch, operator, args, masks):
    parts = [_of(torch, m, x) for x, m in zip(args[0], masks[0]) if x.numel() or x.dim() != 1]
    return torch.cat(parts, args[1] if len(args) > 1 else 0)


def _index_select(torch, operator, args, masks):
    return None if masks[2] is not None else torch.index_select(masks[0], args[1], args[2])


def _triangle(torch, operator, args, masks):
    return getattr(torch, "tril" if "tril" in operator.name else "triu")(masks[0], *args[1:])


def extent(t):
    """The bytes from the first element to the last."""
    return (1 + sum(st * (n - 1) for st, n in zip(t.stride(), t.size()))) * t.element_size() if t.numel() else 0


def read_of(operator, args):
    """The arguments that it reads: what a copy overwrites is not one."""
    return args if operator.reads else (None, *args[1:])


class Undefined:
    """What is undefined of the arguments of one call."""

    def __init__(self, torch, engine, operator):
        self.torch, self.undefined, self.operator = torch, engine, operator
        self.mask = None

    def of(self, t):
        """The undefined elements of a tensor of the device; None: there is none."""
        torch, size = self.torch, t.element_size()
        if not t.is_cuda or not t.numel():
            return None
        reach = extent(t)
        if not self.undefined(t.data_ptr(), reach, None):
            return None
        bytes_ = torch.zeros(reach, dtype=torch.uint8)
        self.undefined(t.data_ptr(), reach, bytes_.data_ptr())
        strides = [st * size for st in t.stride()]
        mask = bytes_.as_strided([*t.size(), size], [*strides, 1]).any(-1)
        return mask if mask.any() else None

    def look(self, given, args):
        """given: the arguments as they came; args: as the CPU has them. False: all is defined, or has to be."""
        torch = self.torch
        masks = [[self.of(v) if isinstance(v, torch.Tensor) else None for v in a] if isinstance(a, (list, tuple)) else
                 self.of(a) if isinstance(a, torch.Tensor) else None for a in read_of(self.operator, given)]
        known = [x for m in masks for x in (m if isinstance(m, list) else [m]) if x is not None]
        if not known or any(x.all() for x in known):  # of a tensor that is wholly uninitialised no part can be meant
            return False
        self.mask = self.operator.rule(torch, self.operator, args, masks + [None] * (3 - len(masks)))
        return self.mask is not None

    def parts(self, t, out):
        """The undefined elements of a result of the device, as parts that were written. False: too many pieces."""
        torch, size = self.torch, t.element_size()
        at = self.mask.expand(t.size()).nonzero()
        if not len(at):
            return True
        places = ((at * torch.tensor(t.stride(), dtype=torch.int64)).sum(1) * size + t.data_ptr()).sort().values
        first = torch.cat([torch.tensor([True]), places[1:] != places[:-1] + size]).nonzero()[:, 0].tolist()
        if len(first) > RUNS:
            return False
        places, ends = places.tolist(), first[1:] + [len(places)]
        for a, b in zip(first, ends):
            n = (b - a) * size
            out.append((3, places[a], n, 1, n, 1, n))
        return True
