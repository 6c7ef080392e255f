"""Calls of PyTorch's operators: their tensors become CPU tensors over the same bytes, the CPU kernel runs, and what is new
becomes a tensor of the device; in a stream that is captured, whenever the graph runs. lockstep_torch.py has the rest."""

import collections
import itertools
import struct
import sys

operators = beside("lockstep_torch_operators")


def strides_of(t):
    """Those of a tensor, where they leave no gap; else those of a contiguous one."""
    if t.is_contiguous():
        return t.stride()
    reach = 1
    for stride, size in sorted((st, n) for st, n in zip(t.stride(), t.size()) if n != 1):
        if stride != reach:
            return t.contiguous().stride()
        reach *= size
    return t.stride()


def mixed(seed, offset):
    mixed = (seed * 0x9E3779B97F4A7C15 + offset * 0xD1B54A32D192ED03 + 0x2545F4914F6CDD1D) & (2**64 - 1)
    mixed = (mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9 & (2**64 - 1)
    return (mixed ^ (mixed >> 32)) & (2**63 - 1)


class Place:
    """Where a tensor lies, and how it is read."""

    def __init__(self, t):
        storage = t.untyped_storage()
        self.at, self.bytes, self.dtype = storage.data_ptr(), storage.nbytes(), t.dtype
        self.offset, self.size, self.strides = t.storage_offset(), t.size(), t.stride()
        self.conj, self.neg = t.dtype.is_complex and t.is_conj(), t.is_neg()

    def marked(self, torch, a):
        if self.conj:
            a = torch._conj(a)
        return torch._neg_view(a) if self.neg else a


class Work:
    """One call of an operator."""

    def __init__(self, dispatch, operator, args, kwargs):
        self.d, self.operator = dispatch, operator
        self.args, self.kwargs = args, kwargs
        self.device = None
        self.given, self.known = [], {}  # (tensor, alias, written); tensors by the address of their alias's storage
        self.host = None
        self.alias, self.made = dispatch.alias, dispatch.made

    def down_tensor(self, t, written):
        if t.device.type != "cuda":
            if t.device.type == "cpu" and t.dim() and self.host is None:
                self.host = t
            return t
        if self.device is None:
            self.device = t.device
        elif t.device != self.device:
            raise RuntimeError(f"Expected all tensors to be on the same device, but found at least two devices, "
                               f"{self.device} and {t.device}!")
        for other, alias, was in self.given:
            if other is t and was == written:
                return alias
        kind = operators.kind_of(self.d.torch, t)
        if kind:
            raise NotImplementedError(operators.refusal(kind, self.operator.name))
        a = self.alias(t)
        self.given.append((t, a, written))
        at = a.untyped_storage().data_ptr()
        if at:
            self.known[at] = t
        return a

    def down(self, value, written):
        d = self.d
        if isinstance(value, d.Tensor):
            return self.down_tensor(value, written)
        if isinstance(value, (list, tuple)) and value and any(isinstance(v, d.Tensor) for v in value):
            return [self.down(v, written) for v in value]
        if isinstance(value, d.torch.device) and value.type == "cuda":
            self.device = self.device or d.torch.device("cuda", d.torch.cuda.current_device()
                                                        if value.index is None else value.index)
            return d.cpu
        return value

    def ready(self):
        """The arguments for the CPU."""
        o, d = self.operator, self.d
        args = [self.down(v, o.written[k]) for k, v in enumerate(self.args)]
        kwargs = {k: self.down(v, o.written[o.place[k]]) for k, v in self.kwargs.items()}
        if self.device is None:
            self.device = d.torch.device("cuda", d.torch.cuda.current_device())
        if self.host is not None and self.given and not o.host_indices:
            raise RuntimeError("Expected all tensors to be on the same device, but found at least two devices, "
                               f"{self.device} and cpu! ({o.name})")
        if o.generator is not None:
            g = self.generator()
            if o.generator < len(args):
                args[o.generator] = g
            else:
                kwargs["generator"] = g
        return args, kwargs

    def given_generator(self):
        at = self.operator.generator
        return self.args[at] if at < len(self.args) else self.kwargs.get("generator")

    def generator(self):
        return self.d.generator(self.given_generator(), self.device.index)

    def called(self, call, args, kwargs):
        try:
            return call(*args, **kwargs)
        except RuntimeError as error:
            if "Unable to cast" in str(error):  # a number in the place of a tensor: another overload takes it
                return self.operator.op.overloadpacket(*args, **kwargs)
            if "not implemented for" in str(error) and operators.WIDE.match(self.operator.name):
                return self.widened(call, args, kwargs)
            if "resiz" not in str(error) or not any(w for _, _, w in self.given):
                raise
            args, kwargs = self.apart(args, kwargs)
            return call(*args, **kwargs)

    def widened(self, call, args, kwargs):
        torch = self.d.torch
        halves = (torch.float16, torch.bfloat16)
        is_half = lambda v: isinstance(v, torch.Tensor) and v.dtype in halves
        given = [v for v in (*args, *kwargs.values()) if is_half(v)]
        if not given or any(w for _, _, w in self.given):
            raise NotImplementedError(f"lockstep: {self.operator.name} cannot be done here for {[v.dtype for v in given]}")
        wide = lambda v: v.float() if is_half(v) else v
        narrow = lambda v: v.to(given[0].dtype) if isinstance(v, torch.Tensor) and v.dtype == torch.float32 else v
        result = call(*[wide(v) for v in args], **{k: wide(v) for k, v in kwargs.items()})
        return tuple(narrow(v) for v in result) if isinstance(result, tuple) else narrow(result)

    def read(self):
        parts, unread = [], self.operator.unread(self.args, self.kwargs)
        for t, _, written in self.given:
            if t is not unread and (self.operator.reads_written if written else self.operator.reads):
                self.d.parts(t, 0, parts)
        return parts

    def run(self, call):
        d, o = self.d, self.operator
        args, kwargs = self.ready()
        stream = d.turn(o, self.device.index)
        carried = d.carried(o, self.args, args, kwargs)
        result = self.called(call, args, kwargs)
        parts = self.read()
        self.settle(parts)
        answer = self.up(result, parts)
        if carried is not None:
            self.carry(carried, answer, parts)
        words = [w for p in parts for w in p]
        code = d.operated(stream, d.label(o), struct.pack(f"={len(words)}Q", *words), len(parts))
        if code:
            raise d.torch.AcceleratorError(f"CUDA error: {code} in {o.name}")
        if o.tells(self.args, self.kwargs):  # its caller has waited for it, as for a copy to the host
            d.torch.cuda.current_stream(self.device).synchronize()
        return answer

    def carry(self, carried, answer, parts):
        """What is undefined of the arguments is so of the result, and no finding yet."""
        n, reads = len(parts), []
        for t, _, written in self.given:
            if not written or self.operator.reads:
                self.d.parts(t, 0, reads)
        if carried.parts(answer, parts):
            parts[:] = [(2, *p[1:]) for p in reads] + [p for k, p in enumerate(parts) if p[0] or k >= n]

    def apart(self, args, kwargs):
        """What is written gets memory of its own, which the CPU's kernel may resize."""
        new = {}
        for k, (t, a, written) in enumerate(self.given):
            if written:
                new[id(a)] = a.clone() if a.numel() else self.d.torch.empty(0, dtype=a.dtype, device=self.d.cpu)
                self.given[k] = (t, new[id(a)], written)
        swap = lambda v: [swap(x) for x in v] if isinstance(v, list) else new.get(id(v), v)
        return [swap(v) for v in args], {k: swap(v) for k, v in kwargs.items()}

    def settle(self, parts):
        """What was written, in the device's tensors: those that were resized, or had memory of their own."""
        d = self.d
        for t, a, written in self.given:
            if not written:
                continue
            if t.size() != a.size():
                t.resize_(a.size())
            if a.numel() and a.data_ptr() != d.view(t.data_ptr()):
                d.alias(t).copy_(a)
            d.parts(t, 1, parts)

    def up(self, result, parts):
        """The results, as tensors of the device."""
        o, d = self.operator, self.d
        if result is None:
            return None
        many = len(o.returns) > 1
        results = list(result) if many else [result]
        for k, r in enumerate(results):
            source = o.returns[k]
            if source is not None:
                at = o.place[source]
                results[k] = self.args[at] if at < len(self.args) else self.kwargs[source]
            elif isinstance(r, d.Tensor):  # None stays
                results[k] = self.made(r, self.device, self.known, parts)
            elif isinstance(r, (list, tuple)):
                results[k] = [self.made(x, self.device, self.known, parts) if isinstance(x, d.Tensor) else x for x in r]
        return tuple(results) if many else results[0]


class Captured(Work):
    """One call of an operator in a stream that is captured: tried on stand-ins, for the shapes of its results, and done
    whenever the graph runs."""

    def __init__(self, dispatch, operator, args, kwargs):
        super().__init__(dispatch, operator, args, kwargs)
        self.alias, self.made = dispatch.stand_in, self.new
        self.drawn, self.runs, self.asked = collections.deque(), 0, False  # seeds of replays; whether it takes any
        self.fresh = []  # for each tensor that it makes, in their order: where it lies; None: in an argument's memory

    def make(self, call):
        d, o = self.d, self.operator
        if o.tells(self.args, self.kwargs):
            raise RuntimeError(f"lockstep: {o.name} cannot be captured: the host waits for what it says, which CUDA refuses, too "
                               "(operation not permitted when stream is capturing)")
        self.line = _line()
        args, kwargs, given, result = self.inside(self.tried, call)
        stream = d.stream(self.device.index)
        parts = self.read()
        self.settle(parts)
        answer = self.up(result, parts)
        self.call, self.places = call, [(Place(t), written) for t, _, written in self.given]
        places = {id(a): k for k, (_, a, _) in enumerate(given)}
        seeds = {id(v) for v in (*args, *kwargs.values()) if isinstance(v, d.torch.Generator)}
        self.given_to = self.given_generator() if o.generator is not None else None
        if self.asked:
            d.random.append(self)
        mark = lambda v: [mark(x) for x in v] if isinstance(v, list) else _Given(places[id(v)]) if id(v) in places else \
            _SEED if id(v) in seeds else v
        self.later = [mark(v) for v in args], {k: mark(v) for k, v in kwargs.items()}
        self.given, self.known, self.args, self.kwargs = [], {}, (), {}  # a graph keeps no tensors
        code = d.keep(self, stream, parts)
        if code:
            raise d.torch.AcceleratorError(f"CUDA error: {code} in {o.name}, which is captured")
        return answer

    def tried(self, call):
        args, kwargs = self.ready()
        return args, kwargs, list(self.given), self.called(call, args, kwargs)

    def inside(self, function, *args):
        """Calls it with this operator's random numbers: those of the replay, or others where there is none of PyTorch's."""
        first = self.drawn.popleft() if self.drawn else mixed(id(self), self.runs)
        self.runs += 1

        def seeds():
            for k in itertools.count():
                self.asked = True
                yield mixed(first, k)

        self.d.inside.seeds = seeds()
        try:
            return function(*args)
        finally:
            self.d.inside.seeds = None

    def new(self, result, device, known, parts):
        """A tensor of the device for a result."""
        storage = result.untyped_storage().data_ptr()
        if storage and storage in known:
            self.fresh.append(None)
            return self.d.made(result, device, known, parts)
        new = self.d.torch.empty_strided(result.size(), strides_of(result), dtype=result.dtype, device=device)
        self.d.parts(new, 1, parts)
        self.fresh.append(Place(new))
        return new

    def settle(self, parts):
        for t, a, written in self.given:
            if written:
                if t.size() != a.size():
                    t.resize_(a.size())
                self.d.parts(t, 1, parts)

    def again(self):
        self.inside(self.do)

    def do(self):
        d = self.d
        aliases = [d.over(place) for place, _ in self.places]
        self.given = [(place, a, written) for (place, written), a in zip(self.places, aliases)]
        seed = d.generator(None, self.device.index) if self.operator.generator is not None else None
        fill = lambda v: [fill(x) for x in v] if isinstance(v, list) else aliases[v.k] if isinstance(v, _Given) else \
            seed if v is _SEED else v
        args, kwargs = self.later
        result = self.called(self.call, [fill(v) for v in args], {k: fill(v) for k, v in kwargs.items()})
        for place, a, written in self.given:
            if written and a.numel() and a.untyped_storage().data_ptr() != d.view(place.at):
                d.over(place).copy_(a)
        self.given = []
        fresh = iter(self.fresh)
        for r, source in zip(result if len(self.operator.returns) > 1 else [result], self.operator.returns):
            if source is None:
                for x in r if isinstance(r, (list, tuple)) else [r]:
                    if isinstance(x, d.Tensor):
                        place = next(fresh)
                        if place and x.numel():
                            d.over(place).copy_(x.resolve_conj().resolve_neg())


def _line():
    """The script's line."""
    frame = sys._getframe()
    while frame.f_back and (frame.f_code.co_filename.startswith("<") or "site-packages" in frame.f_code.co_filename):
        frame = frame.f_back
    return f"{frame.f_code.co_filename.rsplit('/', 1)[-1]}:{frame.f_lineno}"


class _Given:
    """In the place of a tensor that an operator of a graph is given: which of them."""

    def __init__(self, k):
        self.k = k


_SEED = object()  # in the place of its generator
