"""PyTorch's own operators on "cuda" tensors, without a GPU. Their kernels are machine code without PTX, so each operator
that PyTorch has for CUDA is replaced, at the CUDA dispatch key, by its CPU kernel over the same bytes: memory of the
device is memory of the process (run/cu_operator.c). An operator waits for its turn in the current stream, and is then an
operation of that stream: the checks know what it read and wrote. The key is what every thread, autograd's among them,
and compiled code come by; a dispatch mode is of one thread. sitecustomize.py imports this. docs/torch.md"""

import ctypes
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


class _Operator:
    """What is known of an operator before it is called."""

    def __init__(self, op, torch):
        schema = op._schema
        self.op, self.name = op, schema.name + ("." + schema.overload_name if schema.overload_name else "")
        self.label = self.name.encode()
        self.written = [bool(a.alias_info and a.alias_info.is_write) for a in schema.arguments]
        self.place = {a.name: k for k, a in enumerate(schema.arguments)}
        self.generator = self.place.get("generator")
        self.outs = {a.name for a in schema.arguments if a.is_out}
        self.returns = [self._source(r, schema.arguments) for r in schema.returns]
        self.reads_written = bool(_READERS.match(self.name)) and not self.outs
        self.reads = self.name != "aten::copy_"  # of values that nobody wrote, a copy makes as many
        self.host_indices = self.name.startswith(_HOST_INDICES)
        tags = torch.Tag
        self.tells = bool({tags.data_dependent_output, tags.dynamic_output_shape} & set(op.tags))
        self.random = tags.nondeterministic_seeded in op.tags
        self.call = None  # what does it on CPU tensors; found when it is first needed

    @staticmethod
    def _source(result, arguments):
        """The argument that a result is; None: it is new."""
        if not (result.alias_info and result.alias_info.is_write):
            return None
        names = result.alias_info.before_set
        return next((a.name for a in arguments if a.alias_info and a.alias_info.before_set == names), None)


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
        self.storage = torch._C._construct_storage_from_data_pointer
        self.stream = torch._C._cuda_getCurrentRawStream
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
        self.launches = engine.lkpy_launched
        self.view, self.operated, self.reach = engine.lkpy_view, engine.lkpy_operated, waits.lkpy_reach

    def launched(self, since):
        """For lockstep.trace: how many launches there were (since None), or the kernels of those since then."""
        if not self.reach:
            return 0 if since is None else []
        names = ctypes.create_string_buffer(2000)
        count = self.launches(since or 0, names, len(names))
        return count if since is None else names.value.decode(errors="replace").split()

    def turn(self, operator, device):
        """Waits until all before it in the current stream of the device is done. The stream."""
        stream = self.stream(device)
        code = self.reach(stream)
        if code == 900:
            raise RuntimeError(f"lockstep: {operator.name} cannot be captured: a graph of CUDA has kernels, and this one is "
                               "done by a CPU kernel here. Run without torch.cuda.graph (mode=\"default\" of torch.compile).")
        if code:
            raise self.torch.AcceleratorError(f"CUDA error: {code}: an earlier launch has failed, as lockstep's report says")
        return stream

    def current(self):
        return self.torch._C._cuda_getDevice()

    # ---- tensors ----

    def alias(self, t):
        """A CPU tensor over the bytes of a CUDA tensor."""
        storage = t.untyped_storage()
        at, dtype = storage.data_ptr(), t.dtype
        view = self.view(at) if at else 0
        if not view:
            return self.torch.empty_strided(t.size(), t.stride(), dtype=dtype, device=self.cpu)
        a = self.torch.empty(0, dtype=dtype, device=self.cpu)
        a.set_(self.storage(view, self.cpu, storage.nbytes()), t.storage_offset(), t.size(), t.stride())
        if dtype.is_complex and t.is_conj():
            a = self.torch._conj(a)
        if t.is_neg():
            a = self.torch._neg_view(a)
        return a

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
        storage = result.untyped_storage().data_ptr()
        source = known.get(storage) if storage else None
        if source is not None:  # it is an argument's memory
            return source.as_strided(result.size(), result.stride(), result.storage_offset())
        if result.layout != self.torch.strided:
            raise NotImplementedError("lockstep: a result that is not strided")
        new = self.torch.empty_strided(result.size(), _strides(result), dtype=result.dtype, device=device)
        if result.numel():
            self.alias(new).copy_(result.resolve_conj().resolve_neg())
            self.parts(new, 1, parts)
        return new

    # ---- random numbers ----

    def generator(self, given, device):
        """A generator of the CPU in the state that the device's is in. That one counts on, so that seeds, states that
        are kept and put back (checkpoints) and forks mean what they mean on a GPU."""
        if given is None or given.device.type != "cuda":
            self.torch.cuda._lazy_init()
            given = self.torch.cuda.default_generators[device]
        with self.lock:
            seed, offset = given.initial_seed(), given.get_offset()
            given.set_offset(offset + 4)
        mixed = (seed * 0x9E3779B97F4A7C15 + offset * 0xD1B54A32D192ED03 + 0x2545F4914F6CDD1D) & (2**64 - 1)
        mixed = (mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9 & (2**64 - 1)
        g = self.torch.Generator(device=self.cpu)
        g.manual_seed((mixed ^ (mixed >> 32)) & (2**63 - 1))
        return g

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
        return _Work(self, operator, args, kwargs).run(call)


class _Work:
    """One call of an operator."""

    def __init__(self, dispatch, operator, args, kwargs):
        self.d, self.operator = dispatch, operator
        self.args, self.kwargs = args, kwargs
        self.device = None
        self.given, self.known = [], {}  # (tensor, alias, written); tensors by the address of their alias's storage
        self.host = None

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
        a = self.d.alias(t)
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
            given = self.args[o.generator] if o.generator < len(args) else self.kwargs.get("generator")
            g = d.generator(given, self.device.index)
            if o.generator < len(args):
                args[o.generator] = g
            else:
                kwargs["generator"] = g
        return args, kwargs

    def run(self, call):
        d, o = self.d, self.operator
        args, kwargs = self.ready()
        stream = d.turn(o, self.device.index)
        try:
            result = call(*args, **kwargs)
        except RuntimeError as error:
            if "resiz" not in str(error) or not any(w for _, _, w in self.given):
                raise
            args, kwargs = self.apart(args, kwargs)
            result = call(*args, **kwargs)
        parts = []
        for t, _, written in self.given:
            if o.reads_written if written else o.reads:
                d.parts(t, 0, parts)
        self.settle(parts)
        answer = self.up(result, parts)
        words = [w for p in parts for w in p]
        code = d.operated(stream, o.label, struct.pack(f"={len(words)}Q", *words), len(parts))
        if code:
            raise d.torch.AcceleratorError(f"CUDA error: {code} in {o.name}")
        if o.tells:  # its caller has waited for it, as for a copy to the host
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
                results[k] = d.made(r, self.device, self.known, parts)
            elif isinstance(r, (list, tuple)):
                results[k] = [d.made(x, self.device, self.known, parts) if isinstance(x, d.Tensor) else x for x in r]
        return tuple(results) if many else results[0]


def _kernel(dispatch, operator):
    def kernel(*args, **kwargs):
        return dispatch.do(operator, args, kwargs)

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
    # What PyTorch would choose on a GPU and has no CPU kernel: cuDNN, fused attention.
    torch.backends.cudnn.enabled = False
    for name in ("flash", "mem_efficient", "cudnn"):
        getattr(torch.backends.cuda, f"enable_{name}_sdp")(False)
    torch.cuda._lazy_call(dispatch.open)
    torch._lockstep = dispatch
