"""Memory of the GPU in notebooks: where a cell that is run again leaves more of it each time, the cell says so, with the
variable that holds it. sitecustomize.py hands this to lockstep_views.py where a kernel of IPython runs. docs/inside/python.md"""

import sys

_AGAIN = 2  # times in a row that a cell must have left more, to be spoken of
_DEPTH = 4  # lists in lists, and objects in objects, that are looked into


def _blocks(value, seen, depth=0):
    """{address: bytes} of the device memory that an object holds."""
    if depth > _DEPTH or id(value) in seen or isinstance(value, (str, bytes, int, float, type(None), type(sys))):
        return {}
    seen.add(id(value))
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        out = {}
        if value.is_cuda:
            storage = value.untyped_storage()
            out[storage.data_ptr()] = storage.nbytes()
        if value.grad_fn is not None:  # what the way back keeps is seen where a tensor of it is
            out.update(_graph(value.grad_fn, seen))
        return {**out, **(_blocks(value.grad, seen, depth + 1) if value.is_leaf and value.grad is not None else {})}
    about = getattr(type(value), "__cuda_array_interface__", None)
    if about is not None:
        told = value.__cuda_array_interface__
        base = getattr(value, "base", None)
        if base is not None and base is not value:
            return _blocks(base, seen, depth + 1)
        count = 1
        for n in told["shape"]:
            count *= n
        return {told["data"][0]: count * int("".join(c for c in told["typestr"][2:] if c.isdigit()) or 1)}
    if isinstance(value, dict):
        inside = list(value.values())
    elif isinstance(value, (list, tuple, set, frozenset)):
        inside = list(value)
    elif torch is not None and isinstance(value, torch.nn.Module):
        inside = [*value.parameters(), *value.buffers()]
    else:
        inside = list(vars(value).values()) if hasattr(value, "__dict__") and not isinstance(value, type) else []
    out = {}
    for x in inside[:100000]:
        out.update(_blocks(x, seen, depth + 1))
    return out


def _graph(node, seen, most=10000):
    """What the nodes of an autograd graph have saved."""
    out, todo = {}, [node]
    while todo and most:
        n = todo.pop()
        if n is None or id(n) in seen:
            continue
        seen.add(id(n))
        most -= 1
        for name in dir(n):
            if name.startswith("_saved_"):
                try:
                    out.update(_blocks(getattr(n, name), seen, _DEPTH))
                except RuntimeError:  # given back by the way back
                    pass
        todo += [f for f, _ in n.next_functions]
    return out


def _size(n):
    for unit in ("bytes", "KB", "MB"):
        if n < 1000 or unit == "MB":
            return f"{n:.1f} {unit}".replace(".0 ", " ") if unit != "bytes" else f"{n} bytes"
        n /= 1000


class Memory:
    """What lives after each cell, and in whose hands."""

    def __init__(self, shell, live):
        self.shell, self.live = shell, live  # live(): bytes of all devices
        self.before = None
        self.grown = {}  # text of a cell -> how much it left, of its last runs in a row
        self.held = {}  # variable -> bytes

    def holders(self):
        """{variable: bytes}; Out, which keeps the values of cells, is one."""
        out, hidden = {}, getattr(self.shell, "user_ns_hidden", {})
        for name, value in list(self.shell.user_ns.items()):
            if (name.startswith("_") or name in hidden) and name != "Out":
                continue
            blocks = _blocks(value, set())
            if blocks:
                out[name] = sum(blocks.values())
        return out

    def ended(self, text):
        """A cell has ended. What it has to say, or ""."""
        live = self.live()
        by, self.before = live - (live if self.before is None else self.before), live
        row = self.grown.get(text, []) + [by] if by > 0 else []
        self.grown[text] = row
        held = self.holders() if by > 0 else self.held
        more = sorted(((held[n] - self.held.get(n, 0), n) for n in held), reverse=True)
        self.held = held
        if len(row) < _AGAIN:
            return ""
        names = [f"{n} ({_size(held[n])}, {_size(d)} more)" for d, n in more if d > 0][:3]
        where = "held by " + ", ".join(names) if names else "no variable of the notebook holds it: a library, or an object that they lead to"
        return f"lockstep: memory of the GPU grows each time this cell runs: by {_size(by)}, {_size(sum(row))} in {len(row)} runs; {where}\n"
