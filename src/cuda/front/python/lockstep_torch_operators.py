"""What is known of PyTorch's operators before they are called, and what does those that the CPU has otherwise, or not at
all. lockstep_torch.py has the rest."""

import re

# Operators without a kernel: they make memory, or say what memory means.
KEPT = {
    "aten::as_strided", "aten::_reshape_alias", "aten::view", "aten::view_as_real", "aten::view_as_complex",
    "aten::unfold", "aten::_nested_view_from_buffer", "aten::empty.memory_format", "aten::empty_strided",
    "aten::resize_", "aten::set_", "aten::set_.source_Storage", "aten::set_.source_Storage_storage_offset",
    "aten::set_.source_Tensor", "aten::is_set_to", "aten::record_stream", "aten::_local_scalar_dense",
    "aten::_efficientzerotensor", "aten::_use_cudnn_ctc_loss", "aten::_use_cudnn_ctc_loss.Tensor",
    "aten::_use_miopen_ctc_loss", "aten::_use_miopen_ctc_loss.Tensor", "aten::_fused_sdp_choice",
}
# Those that PyTorch does for every device by others, of which CUDA's have no CPU kernel: done as a whole.
WHOLE = ("aten::convolution", "aten::copy_")
# Tensors that are no array of numbers: the keys at which PyTorch has their operators.
KINDS = {"SparseCUDA": "sparse", "SparseCsrCUDA": "sparse", "NestedTensorCUDA": "nested", "QuantizedCUDA": "quantised"}
# Those that CUDA has for halves and the CPU has not: done in f32.
WIDE = re.compile(r"aten::(avg_pool3d|_upsample_\w+_aa|multi_margin_loss|multilabel_margin_loss)")
# Where indices may be in memory of the host.
_HOST_INDICES = ("aten::index", "aten::_index_put_impl_", "aten::index_put")

# Those that change a tensor and take what was in it; of others what they change is not looked at.
_READERS = re.compile(r"aten::(_fused_|_foreach_(?!zero_|copy_)|_amp_|addc?mm_|addc(mul|div)_|add_|sub_|mul_|div_|pow_|lerp_|"
                      r"clamp|neg_|abs_|exp_|log_$|sqrt_|rsqrt_|reciprocal_|relu_|sigmoid_|tanh_|gelu_|baddbmm_|addmv_|addr_|"
                      r"index_add_|scatter_add_|cumsum_|cumprod_|sin_|cos_|square_|erf_|floor_|ceil_|round_)")

# Those that add beta times their first argument, which a beta of 0 leaves unread.
_ADDS_TO = re.compile(r"aten::_?(addmm|addmv|addbmm|baddbmm|addr)(_|$|\.)")


class Operator:
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
        self.reads = self.name != "aten::copy_"  # of uninitialised values, a copy makes as many
        self.host_indices = self.name.startswith(_HOST_INDICES)
        tags = torch.Tag
        self.may_tell = bool({tags.data_dependent_output, tags.dynamic_output_shape} & set(op.tags))
        self.rule = None  # how it carries on what is undefined
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


def kind_of(torch, t):
    """What a tensor is that is no array of numbers, or ""."""
    return "quantised" if t.is_quantized else "nested" if t.is_nested else "" if t.layout == torch.strided else "sparse"


def refusal(kind, what):
    return (f"lockstep: {what}: {kind} tensors on \"cuda\" are not done here; keep them on the CPU, or use dense ones "
            "(docs/use/torch.md)")


def replaced(torch):
    """(name, overload) of all that is replaced."""
    for name in torch._C._dispatch_get_registrations_for_dispatch_key("CUDA"):
        if name.startswith("aten::") and name not in KEPT:
            yield name
    yield from WHOLE


def overload_of(torch, name):
    base, _, overload = name[6:].partition(".")
    return getattr(getattr(torch.ops.aten, base), overload or "default")


class Replacements:
    """What does an operator: a part of the dispatch, which has torch, generator() and current(). do_NAME is for those that
    the CPU has otherwise, or not at all, in the place of aten::NAME."""

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
