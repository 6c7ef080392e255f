"""PyTorch's own operators on "cuda" tensors, without a GPU. Their kernels are machine code without PTX, so each operator
that PyTorch has for CUDA is replaced, at the CUDA dispatch key, by its CPU kernel over the same bytes: memory of the
device is memory of the process (run/cu_operator.c). An operator waits for its turn in the current stream, and is then an
operation of that stream: the checks know what it read and wrote. The key is what every thread, autograd's among them,
and compiled code come by; a dispatch mode is of one thread. sitecustomize.py imports this. docs/torch.md"""

import collections
import contextlib
import ctypes
import functools
import itertools
import re
import struct
import sys
import threading

# Operators without a kernel: they make memory, or say what memory means.
_KEPT = {
    "aten::as_strided", "aten::_reshape_alias", "aten::view", "aten::view_as_real", "aten::view_as_complex",
    "aten::unfold", "aten::_nested_view_from_buffer", "aten::empty.memory_format", "aten::empty_strided",
    "aten::resize_", "aten::set_", "aten::set_.source_Storage", "aten::set_.source_Storage_storage_offset",
    "aten::set_.source_Tensor", "aten::is_set_to", "aten::record_stream", "aten::_local_scalar_dense",
    "aten::_efficientzerotensor", "aten::_use_cudnn_ctc_loss", "aten::_use_cudnn_ctc_loss.Tensor",
    "aten::_use_miopen_ctc_loss", "aten::_use_miopen_ctc_loss.Tensor", "aten::_fused_sdp_choice",
}
# Those that PyTorch does for every device by others, of which CUDA's have no CPU kernel: done as a whole.
_WHOLE = ("aten::convolution", "aten::copy_")
# Tensors that are no array of numbers: the keys at which PyTorch has their operators.
_KINDS = {"SparseCUDA": "sparse", "SparseCsrCUDA": "sparse", "NestedTensorCUDA": "nested", "QuantizedCUDA": "quantised"}
# Those that CUDA has for halves and the CPU has not: done in f32.
_WIDE = re.compile(r"aten::(avg_pool3d|_upsample_\w+_aa|multi_margin_loss|multilabel_margin_loss)")
# Where indices may be in memory of the host.
_HOST_INDICES = ("aten::index", "aten::_index_put_impl_", "aten::index_put")


def _strides(t):
    """Those of a tensor, where they leave no gap; else those of a contiguous one."""
    if t.is_contiguous():
        return t.stride()
    reach = 1
    for stride, size in sorted((st, n) for st, n in zip(t.stride(), t.size()) if n != 1):
        if stride != reach:
            return t.contiguous().stride()
        reach *= size
    return t.stride()


# Those that change a tensor and take what was in it; of others what they change is not looked at.
_READERS = re.compile(r"aten::(_fused_|_foreach_(?!zero_|copy_)|_amp_|addc?mm_|addc(mul|div)_|add_|sub_|mul_|div_|pow_|lerp_|"
                      r"clamp|neg_|abs_|exp_|log_$|sqrt_|rsqrt_|reciprocal_|relu_|sigmoid_|tanh_|gelu_|baddbmm_|addmv_|addr_|"
                      r"index_add_|scatter_add_|cumsum_|cumprod_|sin_|cos_|square_|erf_|floor_|ceil_|round_)")

# Those that add beta times their first argument, which a beta of 0 leaves unread.
_ADDS_TO = re.compile(r"aten::_?(addmm|addmv|addbmm|baddbmm|addr)(_|$|\.)")


class _Operator:
    """What is known of an operator before it is called."""

    def __init__(self, op, torch):
        schema = op._schema
        self.op, self.name = op, schema.name + ("." + schema.overload_name if schema.overload_name else "")
        self.label = self.name.encode()
        self.label_backward = self.label + b" of a backward pass"  # in autograd's thread, which has no line
        self.written = [bool(a.alias_info and a.alias_info.is_write) for a in schema.arguments]
        self.place = {a.name: k for k, a in enumerate(schema.arguments)}
        self.generator = self.place.get("generator")
        self.outs = {a.name for a in schema.arguments if a.is_out}
        self.returns = [self._source(r, schema.arguments) for r in schema.returns]
        self.reads_written = bool(_READERS.match(self.name)) and not self.outs
        self.beta = self.place.get("beta") if _ADDS_TO.match(self.name) else None
        self.reads = self.name != "aten::copy_"  # of values that nobody wrote, a copy makes as many
        self.host_indices = self.name.startswith(_HOST_INDICES)
        tags = torch.Tag
        self.may_tell = bool({tags.data_dependent_output, tags.dynamic_output_shape} & set(op.tags))
        self.random = tags.nondeterministic_seeded in op.tags
        self.call = None  # what does it on CPU tensors; found when it is first needed

    def unread(self, args, kwargs):
        """The argument that it takes nothing of: beta times it is added, and beta is 0 (mv, bmm)."""
        if self.beta is None or (args[self.beta] if self.beta < len(args) else kwargs.get("beta", 1)) != 0:
            return None
        return args[0] if args else kwargs["self"]

    def tells(self, args, kwargs):
        """Whether the host learns something by it, as by a copy to the host, and so waits."""
        if not self.may_tell:
            return False
        if self.name.startswith("aten::index."):  # a mask does, positions do not
            indices = args[1] if len(args) > 1 else kwargs["indices"]
            return any(i is not None and i.dtype.itemsize == 1 for i in indices)
        return not (self.name == "aten::repeat_interleave.Tensor" and kwargs.get("output_size") is not None)

    @staticmethod
    def _source(result, arguments):
        """The argument that a result is; None: it is new."""
        if not (result.alias_info and result.alias_info.is_write):
            return None
        names = result.alias_info.before_set
        return next((a.name for a in arguments if a.alias_info and a.alias_info.before_set == names), None)


def _mixed(seed, offset):
    mixed = (seed * 0x9E3779B97F4A7C15 + offset * 0xD1B54A32D192ED03 + 0x2545F4914F6CDD1D) & (2**64 - 1)
    mixed = (mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9 & (2**64 - 1)
    return (mixed ^ (mixed >> 32)) & (2**63 - 1)


class _Dispatch:
    def __init__(self, torch, views):
        self.torch, self.views = torch, views
        self.cpu = torch.device("cpu")
        self.reach = self.operated = self.view = None
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
        self.view, self.operated, self.reach = engine.lkpy_view, engine.lkpy_operated, waits.lkpy_reach

    def launched(self, since):
        """For lockstep.trace: how many launches there were (since None), or the kernels of those since then."""
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

    def label(self, operator):
        return operator.label if self.backward() == -1 else operator.label_backward

    def current(self):
        return self.torch._C._cuda_getDevice()

    # ---- tensors ----

    def alias(self, t):
        """A CPU tensor over the bytes of a CUDA tensor."""
        return self.over(_Place(t), t)

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
        place, a = _Place(t), self.torch.empty(0, dtype=t.dtype, device=self.cpu)
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
        kind = _kind(self.torch, result)
        if kind:
            raise NotImplementedError(_refusal(kind, "a result"))
        storage = result.untyped_storage().data_ptr()
        source = known.get(storage) if storage else None
        if source is not None:  # it is an argument's memory
            return source.as_strided(result.size(), result.stride(), result.storage_offset())
        new = self.torch.empty_strided(result.size(), _strides(result), dtype=result.dtype, device=device)
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
        return _mixed(seed, offset)

    # ---- operators that the CPU has otherwise, or not at all ----

    def do_native_dropout(self, x, p, train):
        """The CPU's takes its numbers from the default generator."""
        torch = self.torch
        if not train or p == 0:
            return x.clone(), torch.ones_like(x, dtype=torch.bool)
        if p == 1:
            return torch.zeros_like(x), torch.zeros_like(x, dtype=torch.bool)
        mask = torch.empty_like(x, dtype=torch.bool).bernoulli_(1 - p, generator=self.generator(None, self.current()))
        return x * mask * (1 / (1 - p)), mask

    def do__fused_dropout(self, x, p, generator=None):
        mask = self.torch.empty_like(x, dtype=self.torch.uint8).bernoulli_(p, generator=generator)
        return x * mask * (1 / p), mask

    def do__masked_scale(self, x, mask, scale):
        return x * mask * scale

    def do__softmax(self, x, dim, half_to_float):
        return self.torch.ops.aten._softmax(x.float() if half_to_float else x, dim, False)

    def do__log_softmax(self, x, dim, half_to_float):
        return self.torch.ops.aten._log_softmax(x.float() if half_to_float else x, dim, False)

    def do__softmax_out(self, x, dim, half_to_float, *, out):
        return self.torch.ops.aten._softmax.out(x.float() if half_to_float else x, dim, False, out=out)

    def do__log_softmax_out(self, x, dim, half_to_float, *, out):
        return self.torch.ops.aten._log_softmax.out(x.float() if half_to_float else x, dim, False, out=out)

    def do__softmax_backward_data(self, grad, output, dim, input_dtype):
        return self.torch.ops.aten._softmax_backward_data(grad, output, dim, grad.dtype).to(input_dtype)

    def do__log_softmax_backward_data(self, grad, output, dim, input_dtype):
        return self.torch.ops.aten._log_softmax_backward_data(grad, output, dim, grad.dtype).to(input_dtype)

    def do__thnn_fused_lstm_cell(self, gates_in, gates_hidden, cx, bias_in=None, bias_hidden=None):
        gates = gates_in + gates_hidden
        if bias_in is not None:
            gates = gates + bias_in + bias_hidden
        i, f, g, o = gates.chunk(4, 1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        cy = f * cx + i * g
        return o * cy.tanh(), cy, self.torch.cat([i, f, g, o], 1)

    def do__thnn_fused_lstm_cell_backward_impl(self, grad_hy, grad_cy, cx, cy, workspace, has_bias):
        torch = self.torch
        if grad_hy is None and grad_cy is None:
            return None, None, None
        i, f, g, o = workspace.chunk(4, 1)
        t = cy.tanh()
        hy = torch.zeros_like(cy) if grad_hy is None else grad_hy
        gc = hy * o * (1 - t * t) + (0 if grad_cy is None else grad_cy)
        gates = torch.cat([gc * g * i * (1 - i), gc * cx * f * (1 - f), gc * i * (1 - g * g), hy * t * o * (1 - o)], 1)
        return gates, gc * f, gates.sum(0) if has_bias else None

    def do__thnn_fused_gru_cell(self, gates_in, gates_hidden, hx, bias_in=None, bias_hidden=None):
        if bias_in is not None:
            gates_in, gates_hidden = gates_in + bias_in, gates_hidden + bias_hidden
        ri, zi, ni = gates_in.chunk(3, 1)
        rh, zh, nh = gates_hidden.chunk(3, 1)
        r, z = (ri + rh).sigmoid(), (zi + zh).sigmoid()
        n = (ni + r * nh).tanh()
        return n + z * (hx - n), self.torch.cat([r, z, n, hx, nh], 1)

    def do__thnn_fused_gru_cell_backward(self, grad, workspace, has_bias):
        r, z, n, hx, nh = workspace.chunk(5, 1)
        gn = grad * (1 - z) * (1 - n * n)
        gz, gr = grad * (hx - n) * z * (1 - z), gn * nh * r * (1 - r)
        gi, gh = self.torch.cat([gr, gz, gn], 1), self.torch.cat([gr, gz, gn * r], 1)
        return gi, gh, grad * z, gi.sum(0) if has_bias else None, gh.sum(0) if has_bias else None

    # ---- what does an operator ----

    def found(self, operator):
        """The function for CPU tensors: the CPU kernel, what PyTorch has for all devices, or its decomposition."""
        torch, op = self.torch, operator.op
        special = getattr(self, "do_" + operator.name[6:].replace(".", "_"), None)
        if special:
            return special
        has = torch._C._dispatch_has_kernel_for_dispatch_key
        if any(has(operator.name, key) for key in ("CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd",
                                                   "CompositeExplicitAutogradNonFunctional")):
            return op._op
        from torch._decomp import decomposition_table

        if op in decomposition_table:
            return decomposition_table[op]
        return None

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
            return _Captured(self, operator, args, kwargs).make(call)
        return _Work(self, operator, args, kwargs).run(call)

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
        # make_graphed_callables tries backward passes on gradients that nobody wrote
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


def _kind(torch, t):
    """What a tensor is that is no array of numbers, or ""."""
    return "quantised" if t.is_quantized else "nested" if t.is_nested else "" if t.layout == torch.strided else "sparse"


def _refusal(kind, what):
    return (f"lockstep: {what}: {kind} tensors on \"cuda\" are not done here; keep them on the CPU, or use dense ones "
            "(docs/torch.md)")


class _Place:
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


class _Work:
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
        kind = _kind(self.d.torch, t)
        if kind:
            raise NotImplementedError(_refusal(kind, self.operator.name))
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
            if "not implemented for" in str(error) and _WIDE.match(self.operator.name):
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
        result = self.called(call, args, kwargs)
        parts = self.read()
        self.settle(parts)
        answer = self.up(result, parts)
        words = [w for p in parts for w in p]
        code = d.operated(stream, d.label(o), struct.pack(f"={len(words)}Q", *words), len(parts))
        if code:
            raise d.torch.AcceleratorError(f"CUDA error: {code} in {o.name}")
        if o.tells(self.args, self.kwargs):  # its caller has waited for it, as for a copy to the host
            d.torch.cuda.current_stream(self.device).synchronize()
        return answer

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


class _Captured(_Work):
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
        self.call, self.places = call, [(_Place(t), written) for t, _, written in self.given]
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
        first = self.drawn.popleft() if self.drawn else _mixed(id(self), self.runs)
        self.runs += 1

        def seeds():
            for k in itertools.count():
                self.asked = True
                yield _mixed(first, k)

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
        new = self.d.torch.empty_strided(result.size(), _strides(result), dtype=result.dtype, device=device)
        self.d.parts(new, 1, parts)
        self.fresh.append(_Place(new))
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


def _kernel(dispatch, operator):
    def kernel(*args, **kwargs):
        return dispatch.do(operator, args, kwargs)

    return kernel


def _refused(kind, name):
    def kernel(*args, **kwargs):
        raise NotImplementedError(_refusal(kind, name))

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


def _operators(torch, dispatch):
    """(name, overload) of all that is replaced."""
    for name in torch._C._dispatch_get_registrations_for_dispatch_key("CUDA"):
        if name.startswith("aten::") and name not in _KEPT:
            yield name
    yield from _WHOLE


def _overload(torch, name):
    base, _, overload = name[6:].partition(".")
    return getattr(getattr(torch.ops.aten, base), overload or "default")


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
    for name in _operators(torch, dispatch):
        op = _overload(torch, name)
        operator = _Operator(op, torch)
        make = _copy if name == "aten::copy_" else _kernel
        library.impl(op, make(dispatch, operator), "CUDA", allow_override=True)
    for key, kind in _KINDS.items():
        for name in torch._C._dispatch_get_registrations_for_dispatch_key(key):
            if name.startswith("aten::"):
                library.impl(_overload(torch, name), _refused(kind, name), key, allow_override=True)
    # What PyTorch would choose on a GPU and has no CPU kernel: cuDNN, fused attention.
    torch.backends.cudnn.enabled = False
    for name in ("flash", "mem_efficient", "cudnn"):
        getattr(torch.backends.cuda, f"enable_{name}_sdp")(False)
    dispatch.graphs(torch.cuda.CUDAGraph)
    _profiler(torch.autograd.profiler)
    torch.cuda._lazy_call(dispatch.open)
    torch._lockstep = dispatch
