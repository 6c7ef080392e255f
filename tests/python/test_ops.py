"""lockstep.ops: the library of kernels as ops of PyTorch. On the CPU they run on the software GPU; LOCKSTEP_TEST_DEVICE=cuda puts
them on a GPU (tests/python-on-gpu)."""
import os

import pytest

torch = pytest.importorskip("torch", reason="torch is not here")
F = torch.nn.functional

from lockstep import ops  # noqa: E402

DEVICE = os.environ.get("LOCKSTEP_TEST_DEVICE", "cpu")
pytestmark = pytest.mark.usefixtures("toolkit")


def make(*shape, grad=True, dtype=torch.float32, seed=0, positive=False):
    g = torch.Generator().manual_seed(seed + sum(shape))
    t = torch.randn(*shape, generator=g) if not positive else torch.rand(*shape, generator=g) + 0.5
    return t.to(dtype).to(DEVICE).requires_grad_(grad)


def ids(n, below):
    return torch.arange(n, device=DEVICE) * 7 % below


def attention(q, k, v, scale=0.25, CAUSAL=0):
    mask = torch.ones(q.shape[1], k.shape[1], dtype=torch.bool, device=q.device).tril(k.shape[1] - q.shape[1]) if CAUSAL else None
    return F.scaled_dot_product_attention(q, k, v, scale=scale, attn_mask=mask)


# name: inputs, keyword arguments, the same by PyTorch
OPS = {
    "softmax": (lambda: (make(5, 37),), {}, lambda x: torch.softmax(x, -1)),
    "layernorm": (lambda: (make(5, 37), make(37, positive=True), make(37, seed=1)), {"eps": 1e-4}, lambda x, g, b: F.layer_norm(x, (37,), g, b, 1e-4)),
    "rmsnorm": (lambda: (make(5, 37), make(37, positive=True)), {}, lambda x, g: F.rms_norm(x, (37,), g, 1e-5)),
    "gelu": (lambda: (make(203),), {}, F.gelu),
    "gelu_tanh": (lambda: (make(203),), {}, lambda x: F.gelu(x, approximate="tanh")),
    "matmul": (lambda: (make(2, 11, 7), make(2, 7, 5)), {}, torch.matmul),
    "attention": (lambda: (make(2, 6, 8), make(2, 9, 8, seed=1), make(2, 9, 8, seed=2)), {"scale": 0.3, "CAUSAL": 1}, lambda q, k, v: attention(q, k, v, 0.3, 1)),
    "cross_entropy": (lambda: (make(6, 10), ids(6, 10)), {}, lambda x, t: F.cross_entropy(x, t, reduction="none")),
    "embedding": (lambda: (make(11, 5), ids(9, 11)), {}, lambda w, i: F.embedding(i, w)),
    "conv2d": (lambda: (make(2, 4, 7, 6), make(6, 2, 3, 2)), {"stride": 2, "pad": 1}, lambda x, w: F.conv2d(x, w, stride=2, padding=1, groups=2)),
    "sum_rows": (lambda: (make(5, 37),), {"scale": 1.0}, lambda x: x.sum(-1)),
    "sum_columns": (lambda: (make(5, 37),), {"scale": 1.0}, lambda x: x.sum(0)),
    "max_rows": (lambda: (make(5, 37),), {}, lambda x: x.max(-1).values),
    "cumsum": (lambda: (make(5, 37),), {}, lambda x: x.cumsum(-1)),
    "topk": (lambda: (make(5, 37),), {"k": 4}, lambda x: x.topk(4, -1).values),
    "transpose": (lambda: (make(2, 5, 37),), {}, lambda x: x.transpose(1, 2).contiguous()),
    "add": (lambda: (make(2, 3, 4, 5), make(2, 1, 4, 5, grad=False).expand(2, 3, 4, 5)), {}, lambda a, b: a + b),
    "mul": (lambda: (make(2, 3, 4, 5), make(2, 1, 4, 5, grad=False).expand(2, 3, 4, 5)), {}, lambda a, b: a * b),
}


def first(y):
    return y[0] if isinstance(y, tuple) else y


def test_every_op_is_here():
    assert sorted(OPS) == ops.names()


@pytest.mark.parametrize("name", OPS)
def test_values_and_gradients(name):
    inputs, named, torchs = OPS[name]
    ours, theirs = inputs(), [t.detach().clone().requires_grad_(t.requires_grad) for t in inputs()]
    y, want = first(getattr(ops, name)(*ours, **named)), torchs(*theirs)
    torch.testing.assert_close(y, want.to(y.dtype), rtol=1e-4, atol=1e-5)
    dy = make(*want.shape, grad=False, seed=5)
    y.backward(dy)
    want.backward(dy)
    for a, b in zip(ours, theirs):
        if a.requires_grad:
            torch.testing.assert_close(a.grad, b.grad, rtol=1e-4, atol=1e-5)
            assert a.grad.dtype == a.dtype


@pytest.mark.parametrize("name", OPS)
def test_opcheck(name):
    inputs, named, _ = OPS[name]
    op = getattr(ops, name)
    checked = torch.library.opcheck(op.op, inputs(), {k: v for k, v in named.items()})
    assert set(checked.values()) == {"SUCCESS"}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16] if DEVICE == "cpu" else [torch.bfloat16])
def test_half(dtype):
    x, g = make(4, 33, dtype=dtype), make(33, dtype=dtype, positive=True)
    y = ops.rmsnorm(x, g)
    y.sum().backward()
    assert y.dtype == x.grad.dtype == g.grad.dtype == dtype
    torch.testing.assert_close(y.float(), F.rms_norm(x.float(), (33,), g.float(), 1e-5), rtol=0.02, atol=0.02)


@pytest.mark.parametrize("name", OPS)
def test_gradient_of_a_sum(name):
    """dy has strides of 0."""
    inputs, named, torchs = OPS[name]
    ours, theirs = inputs(), [t.detach().clone().requires_grad_(t.requires_grad) for t in inputs()]
    first(getattr(ops, name)(*ours, **named)).sum().backward()
    torchs(*theirs).sum().backward()
    for a, b in zip(ours, theirs):
        if a.requires_grad:
            torch.testing.assert_close(a.grad, b.grad, rtol=1e-4, atol=1e-5)


def test_transposed_gradient():
    """A dy that the contract does not take as it lies is copied."""
    x = make(5, 37)
    y = ops.softmax(x)
    dy = make(37, 5, grad=False).t()
    torch.testing.assert_close(torch.autograd.grad(y, x, dy)[0], torch.autograd.grad(torch.softmax(x, -1), x, dy)[0], rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(ops.softmax(make(37, 5).t()), torch.softmax(make(37, 5).t(), -1), rtol=1e-4, atol=1e-6)


def test_saved_input_changed():
    x, g = make(5, 37), make(37)
    scaled = x * 1
    y = ops.rmsnorm(scaled, g)
    scaled.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    y = ops.softmax(x)
    y.detach().add_(1)  # the output is saved, too
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_double_backward_is_refused():
    x = make(5, 37)
    g, = torch.autograd.grad(ops.softmax(x).pow(2).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        g.sum().backward()


def test_saved_statistics_have_no_gradient():
    x, g, b = make(5, 37), make(37), make(37)
    y, m, r = ops.layernorm.op(x, g, b)
    assert y.requires_grad and not m.requires_grad and not r.requires_grad


def test_gradient_that_nobody_computes():
    a, b = make(2, 3, 4, 5), make(2, 3, 4, 5)
    with pytest.raises(RuntimeError, match="has no gradient for b"):
        ops.add(a, b).sum().backward()


def test_only_what_is_asked_for():
    x, g, b = make(5, 37, grad=False), make(37), make(37)
    ops.layernorm(x, g, b).sum().backward()
    assert x.grad is None and g.grad is not None


def test_refused():
    with pytest.raises(Exception, match="x has 1 dimensions, and the contract says 2"):
        ops.softmax(make(5))
    with pytest.raises(Exception, match="g is an array of f64, and the contract says f32"):
        ops.rmsnorm(make(5, 37), make(37, dtype=torch.float64))
    with pytest.raises(Exception, match="g has shape .36., and the contract says .37."):
        ops.rmsnorm(make(5, 37), make(36))
    with pytest.raises(AttributeError, match="lockstep.ops has no sofmax"):
        ops.sofmax


def test_autograd_function():
    f = ops.softmax.function()
    x = make(5, 37)
    y = f.apply(x)
    dy = make(5, 37, grad=False, seed=3)
    torch.testing.assert_close(torch.autograd.grad(y, x, dy)[0], torch.autograd.grad(torch.softmax(x, -1), x, dy)[0], rtol=1e-4, atol=1e-6)
    y, m, r = ops.layernorm.function().apply(make(5, 37), make(37), make(37))
    assert not m.requires_grad and y.requires_grad
    g, = torch.autograd.grad(f.apply(x).pow(2).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


def test_compiled():
    """torch.compile sees one op, and its gradient."""
    f = torch.compile(lambda x, g: ops.rmsnorm(x * 2, g).sum(), backend="aot_eager", fullgraph=True, dynamic=True)
    for rows in (5, 6):
        x, g = make(rows, 37), make(37)
        f(x, g).backward()
        want = x.detach().clone().requires_grad_()
        F.rms_norm(want * 2, (37,), g.detach(), 1e-5).sum().backward()
        torch.testing.assert_close(x.grad, want.grad, rtol=1e-4, atol=1e-5)


def test_empty():
    x = make(0, 37)
    y = ops.softmax(x)
    assert y.shape == (0, 37)
    y.sum().backward()
    assert x.grad.shape == (0, 37)
