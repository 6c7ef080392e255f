"""PyTorch's own operators on "cuda" tensors, without a GPU. Their kernels are machine code without PTX, so each operator
that PyTorch has for CUDA is replaced, at the CUDA dispatch key, by its CPU kernel over the same bytes: memory of the
device is memory of the process (engine/cu_operator.c). An operator waits for its turn in the current stream, and is then an
operation of that stream: the checks know what it read and wrote. The key is what every thread, autograd's among them,
and compiled code reach it; a dispatch mode is of one thread. sitecustomize.py loads this, and gives it
`beside`, which loads its other parts. docs/use/torch.md"""

import contextlib
import ctypes
import functools
import struct
import sys
import threading

operators, calls = beside("lockstep_torch_operators"), beside("lockstep_torch_calls")
undefined = beside("lockstep_torch_undefined")


class _Dispatch(operators.Replacements):
    def __init__(self, torch, views):
        self.torch, self.views = torch, views
        self.cpu = torch.device("cpu")
        self.reach = self.operated = self.view = self.undefined = None
        self.refused = set()
        self.native_copy = None
        self.libraries = []
        self.launches = None
        self.generators = {}
        self.lock = threading.Lock()
        self.captures = {}  # by number: the operators of graphs
        self.captured = 0  # how many there were
        self.random = []  # those of the graph that is captured that take random numbers
        self.inside = threading.local()  # .seeds: of an operator of a graph, as it is tried or done
        self.storage = torch._C._construct_storage_from_data_pointer
        self.stream = torch._C._cuda_getCurrentRawStream
        self.backward = torch._C._current_graph_task_id
        self.Tensor = torch.Tensor

    # ---- the engine ----

    def open(self):
        if self.reach:
            return
        engine = self.views.engine()
        if not engine:
            raise RuntimeError("lockstep: there is no GPU in this process")
        waits = ctypes.CDLL(engine._name)  # without the interpreter's lock
        waits.lkpy_reach.argtypes, waits.lkpy_reach.restype = [ctypes.c_void_p], ctypes.c_int
        engine.lkpy_view.argtypes, engine.lkpy_view.restype = [ctypes.c_uint64], ctypes.c_uint64
        engine.lkpy_operated.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint32]
        engine.lkpy_operated.restype = ctypes.c_int
        engine.lkpy_undefined.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p]
        engine.lkpy_undefined.restype = ctypes.c_int
        engine.lkpy_tensors.argtypes, engine.lkpy_tensors.restype = [], None
        engine.lkpy_tensors()
        engine.lkpy_launched.argtypes = [ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint32]
        engine.lkpy_launched.restype = ctypes.c_uint64
        self.does = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p)(self.replayed)
        engine.lkpy_captured.argtypes = [*engine.lkpy_operated.argtypes, type(self.does), ctypes.c_uint64]
        engine.lkpy_captured.restype = ctypes.c_int
        engine.lkpy_gone.argtypes, engine.lkpy_gone.restype = [], ctypes.c_uint64
        self.capture, self.gone = engine.lkpy_captured, engine.lkpy_gone
        self.launches = engine.lkpy_launched
        self.undefined = engine.lkpy_undefined
        self.view, self.operated, self.reach = engine.lkpy_view, engine.lkpy_operated, waits.lkpy_reach

    def launched(self, since):
        """For lockstep.trace: the number of launches (since None), or the kernels launched since that number."""
        if not self.reach:
            return 0 if since is None else []
        names = ctypes.create_string_buffer(2000)
        count = self.launches(since or 0, names, len(names))
        return count if since is None else names.value.decode(errors="replace").split()

    @contextlib.contextmanager
    def watched(self):
        """For lockstep.trace: launches inside are looked at for where a NaN begins. Gives a function: the report as JSON."""
        self.open()
        engine = self.views.engine()
        engine.lkpy_values.argtypes, engine.lkpy_values.restype = [ctypes.c_int], None
        engine.lkpy_report.argtypes, engine.lkpy_report.restype = [], ctypes.c_char_p
        engine.lkpy_values(1)
        try:
            yield lambda: engine.lkpy_report().decode(errors="replace")
        finally:
            engine.lkpy_values(0)

    def turn(self, operator, device):
        """Waits until all before it in the current stream of the device is done. The stream."""
        stream = self.stream(device)
        code = self.reach(stream)
        if code:
            raise self.torch.AcceleratorError(f"CUDA error: {code}: an earlier launch has failed, as lockstep's report says")
        return stream

    def carried(self, operator, given, args, kwargs):
        """What is undefined of an operator's arguments and goes on to its result; None: nothing is, or it is a finding."""
        if operator.rule is None or not any(self.has_undefined(v) for v in undefined.read_of(operator, given)):
            return None
        if any(isinstance(v, self.Tensor) for v in kwargs.values()):
            return None
        u = undefined.Undefined(self.torch, self.undefined, operator)
        return u if u.look(given, args) else None

    def has_undefined(self, v):
        """Whether there is something undefined between its first element and its last."""
        if isinstance(v, self.Tensor):
            reach = v.is_cuda and (v.nbytes if v.is_contiguous() else undefined.extent(v))
            return reach and self.undefined(v.data_ptr(), reach, None)
        return isinstance(v, (list, tuple)) and any(self.has_undefined(x) for x in v)

    def defined(self, t):
        """The elements of a CUDA tensor that somebody has written, as a CPU tensor, for who looks at it from outside: no use of them
        by the program. None: they cannot be looked at now."""
        if self.reach(self.stream(t.device.index)):
            return None
        mask = undefined.Undefined(self.torch, self.undefined, None).of(t)
        values = self.alias(t)
        return values if mask is None else values[~mask.bool()]  # any() of bytes is bytes

    def label(self, operator):
        return operator.label if self.backward() == -1 else operator.label_backward

    def current(self):
        return self.torch._C._cuda_getDevice()

    # ---- tensors ----

    def alias(self, t):
        """A CPU tensor over the bytes of a CUDA tensor."""
        return self.over(calls.Place(t), t)

    def over(self, place, waiting=None):
        at, torch = place.at, self.torch
        view = self.view(at) if at else 0
        if at and not view and waiting is not None:  # memory of a graph, which may be on its way
            self.reach(self.stream(waiting.device.index))
            view = self.view(at)
        if not view:
            return torch.empty_strided(place.size, place.strides, dtype=place.dtype, device=self.cpu)
        a = torch.empty(0, dtype=place.dtype, device=self.cpu)
        a.set_(self.storage(view, self.cpu, place.bytes), place.offset, place.size, place.strides)
        return place.marked(torch, a)

    def stand_in(self, t):
        """A CPU tensor like a CUDA tensor, which the operators of a graph are tried on when it is made."""
        place, a = calls.Place(t), self.torch.empty(0, dtype=t.dtype, device=self.cpu)
        reach = 1 + sum(st * (n - 1) for st, n in zip(place.strides, place.size)) if t.numel() else 0
        a.set_(self.torch.zeros(reach, dtype=t.dtype, device=self.cpu).untyped_storage(), 0, place.size, place.strides)
        return place.marked(self.torch, a)

    def parts(self, t, written, out):
        """The bytes of a tensor as rows and slices of rows."""
        size, n = t.element_size(), t.numel()
        if not n:
            return
        at = t.data_ptr()
        if t.is_contiguous():
            out.append((written, at, n * size, 1, n * size, 1, n * size))
            return
        dims = sorted((st * size, k) for k, st in zip(t.size(), t.stride()) if k > 1 and st)
        width = size
        while dims and dims[0][0] <= width:  # without a gap
            stride, k = dims.pop(0)
            width = max(width, stride * (k - 1) + width)
        rows, pitch = (dims[0][1], dims[0][0]) if dims else (1, width)
        slices, slice_ = (dims[1][1], dims[1][0]) if len(dims) > 1 else (1, rows * pitch)
        starts = [at]
        for stride, k in dims[2:]:
            starts = [s + i * stride for s in starts for i in range(k)]
            if len(starts) > 4096:  # more pieces than are worth it: what is read is left out, what is written is one
                whole = sum(st * (k - 1) for st, k in dims) + width
                out.extend([(1, at, whole, 1, whole, 1, whole)] if written else [])
                return
        out.extend((written, s, width, rows, pitch, slices, slice_) for s in starts)

    def made(self, result, device, known, parts):
        """A CPU tensor that an operator has made, as one of the device."""
        kind = operators.kind_of(self.torch, result)
        if kind:
            raise NotImplementedError(operators.refusal(kind, "a result"))
        storage = result.untyped_storage().data_ptr()
        source = known.get(storage) if storage else None
        if source is not None:  # it is an argument's memory
            return source.as_strided(result.size(), result.stride(), result.storage_offset())
        new = self.torch.empty_strided(result.size(), calls.strides_of(result), dtype=result.dtype, device=device)
        if result.numel():
            self.alias(new).copy_(result.resolve_conj().resolve_neg())
            self.parts(new, 1, parts)
        return new

    # ---- random numbers ----

    def generator(self, given, device):
        """A generator of the CPU in the state that the device's is in. That one counts on, so that seeds, states that
        are kept and put back (checkpoints) and forks mean what they mean on a GPU."""
        g = self.torch.Generator(device=self.cpu)
        seeds = getattr(self.inside, "seeds", None)
        g.manual_seed(self.seed(given, device) if seeds is None else next(seeds))
        return g

    def seed(self, given, device):
        if given is None or given.device.type != "cuda":
            self.torch.cuda._lazy_init()
            given = self.torch.cuda.default_generators[device]
        with self.lock:
            seed, offset = given.initial_seed(), given.get_offset()
            given.set_offset(offset + 4)
        return calls.mixed(seed, offset)

    # ---- what does an operator ----

    def refuse(self, operator):
        text = (f"lockstep: {operator.name} cannot be done here: its CUDA kernel has no PTX, and PyTorch has neither a CPU "
                "kernel for it nor a decomposition")
        if operator.name not in self.refused:
            self.refused.add(operator.name)
            print(text, file=sys.stderr, flush=True)
        raise NotImplementedError(text)

    def do(self, operator, args, kwargs):
        call = operator.call
        if call is None:
            call = operator.call = self.found(operator)
            if call is None:
                self.refuse(operator)
        self.open()
        if self.torch._C._cuda_isCurrentStreamCapturing():
            return calls.Captured(self, operator, args, kwargs).make(call)
        return calls.Work(self, operator, args, kwargs).run(call)

    # ---- graphs ----

    def graphs(self, kind):
        """What torch.cuda.CUDAGraph does besides: a host function may ask nothing of CUDA, so that what its operators draw
        is drawn where a replay is asked for."""
        begin, replay = kind.capture_begin, kind.replay

        @functools.wraps(begin)
        def capture_begin(graph, *args, **options):
            begin(graph, *args, **options)
            graph._lockstep_random = self.random = []

        @functools.wraps(replay)
        def replay_(graph):
            for work in getattr(graph, "_lockstep_random", ()):
                work.drawn.append(self.seed(work.given_to, work.device.index))
            replay(graph)

        kind.capture_begin, kind.replay = capture_begin, replay_
        # make_graphed_callables tries backward passes on gradients that are uninitialised
        module, real = sys.modules[kind.__module__], self.torch
        module.torch = type(sys)("torch")
        module.torch.__dict__.update(real.__dict__, empty_like=real.zeros_like)
        module.torch.__getattr__ = lambda name: getattr(real, name)

    def keep(self, work, stream, parts):
        """An operator becomes a host function of the graph that the stream is captured for."""
        while True:
            number = self.gone()
            if not number:
                break
            self.captures.pop(number, None)
        with self.lock:
            self.captured += 1
            number = self.captured
        self.captures[number] = work
        words = [w for p in parts for w in p]
        return self.capture(stream, self.label(work.operator), struct.pack(f"={len(words)}Q", *words), len(parts), self.does, number)

    def replayed(self, number):
        """The engine calls it, in its thread of host functions, when the graph runs. A status of CUDA."""
        work = self.captures.get(number)
        try:
            work.again()
            return 0
        except Exception as error:
            print(f"lockstep: {work.operator.name} of a graph, captured at {work.line}: {error}", file=sys.stderr, flush=True)
            return 710  # as an assertion of the device


def _kernel(dispatch, operator):
    def kernel(*args, **kwargs):
        return dispatch.do(operator, args, kwargs)

    return kernel


def _refused(kind, name):
    def kernel(*args, **kwargs):
        raise NotImplementedError(operators.refusal(kind, name))

    return kernel


def _copy(dispatch, operator):
    """copy_: what is a copy of bytes stays one (cudaMemcpyAsync), as are all between the host and the device, which
    PyTorch makes of such and of copies on the device."""
    native = dispatch.native_copy
    keys = dispatch.torch._C.DispatchKeySet(dispatch.torch._C.DispatchKey.CUDA)

    def kernel(self, src, non_blocking=False):
        same = (self.is_cuda and src.is_cuda and self.device == src.device)
        plain = same and self.dtype == src.dtype and self.is_contiguous() and src.is_contiguous() and \
            self.size() == src.size() and self.is_conj() == src.is_conj() and self.is_neg() == src.is_neg()
        if plain or not same:
            return native.call_boxed(keys, self, src, non_blocking)
        return dispatch.do(operator, (self, src, non_blocking), {})

    return kernel


def _profiler(module):
    """CUPTI, which records what a GPU does, wants a driver of NVIDIA's, and ends the process without one."""
    kind, said = module.profile, []
    begin = kind.__init__

    @functools.wraps(begin)
    def __init__(self, *args, **options):
        if options.get("use_device") == "cuda" or options.get("use_cuda"):
            if not said:
                said.append(print("lockstep: torch.profiler has no kernels of the GPU here, only operators and their time on "
                                  "the CPU; `lockstep profile` counts what kernels do", file=sys.stderr, flush=True))
            options = {**{k: v for k, v in options.items() if k != "use_cuda"}, "use_device": None, "use_cpu": True}
        begin(self, *args, **options)

    kind.__init__ = __init__


def install(torch, views):
    if not torch.backends.cuda.is_built():
        return
    dispatch = _Dispatch(torch, views)
    dispatch.native_copy = torch.library.get_kernel("aten::copy_", "CUDA")
    library = torch.library.Library("aten", "IMPL")
    dispatch.libraries.append(library)
    for name in operators.replaced(torch):
        op = operators.overload_of(torch, name)
        operator = operators.Operator(op, torch)
        operator.rule = undefined.rule(operator)
        make = _copy if name == "aten::copy_" else _kernel
        library.impl(op, make(dispatch, operator), "CUDA", allow_override=True)
    for key, kind in operators.KINDS.items():
        for name in torch._C._dispatch_get_registrations_for_dispatch_key(key):
            if name.startswith("aten::"):
                library.impl(operators.overload_of(torch, name), _refused(kind, name), key, allow_override=True)
    # What PyTorch would choose on a GPU and has no CPU kernel: cuDNN, fused attention.
    torch.backends.cudnn.enabled = False
    for name in ("flash", "mem_efficient", "cudnn"):
        getattr(torch.backends.cuda, f"enable_{name}_sdp")(False)
    dispatch.graphs(torch.cuda.CUDAGraph)
    _profiler(torch.autograd.profiler)
    torch.cuda._lazy_call(dispatch.open)
    torch._lockstep = dispatch
