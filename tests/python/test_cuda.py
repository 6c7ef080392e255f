"""lockstep.kernel on tensors of CUDA and arrays of CuPy: on a real GPU, or under `lockstep run`."""
import os

import pytest

torch = pytest.importorskip("torch", reason="torch is not here")
if os.environ.get("LOCKSTEP_TEST_DEVICE") != "cuda":
    pytest.skip("there is no GPU: tests/python-on-gpu runs this", allow_module_level=True)

import numpy as np  # noqa: E402

import lockstep  # noqa: E402
from lockstep import ops  # noqa: E402

pytestmark = pytest.mark.usefixtures("toolkit")


def test_kernel_on_tensors():
    softmax = lockstep.kernel("softmax.cu")
    x = torch.randn(64, 1000, device="cuda")
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        y = softmax(x.to(dtype))
        assert y.is_cuda and y.dtype == dtype
        torch.testing.assert_close(y.float(), torch.softmax(x.to(dtype).float(), -1), rtol=2e-2 if dtype != torch.float32 else 1e-5, atol=1e-6 if dtype == torch.float32 else 1e-3)
    torch.testing.assert_close(softmax(x[:, :500]), torch.softmax(x[:, :500], -1), rtol=1e-5, atol=1e-6)


def test_same_as_software():
    """A kernel without expf of its own: the same bytes on both."""
    t = lockstep.kernel("transpose.cu")
    x = torch.randn(2, 33, 65)
    assert torch.equal(t(x), t(x.cuda()).cpu())


def test_refused():
    softmax, backward = lockstep.kernel("softmax.cu"), lockstep.kernel("softmax.cu:softmax_backward")
    x = torch.randn(8, 16, device="cuda")
    with pytest.raises(lockstep.BadInput, match="y lies in memory of the host, and dy in GPU 0") as e:
        backward(x, x.cpu())
    assert e.value.argument == "y"
    with pytest.raises(lockstep.BadInput, match="x has strides"):
        softmax(x.t())


def test_current_stream():
    """A launch is in the current stream: behind the work that makes its input, and before what reads its output."""
    softmax, stream = lockstep.kernel("softmax.cu"), torch.cuda.Stream()
    x = torch.randn(512, 1024, device="cuda")
    for turn in range(4):  # in the first all is compiled and loaded, which waits for the device
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(200_000_000)
            doubled = x * 2
            y, z = softmax(doubled), ops.softmax(doubled)
            del doubled  # its memory goes to whoever asks next, in the same stream
            other = torch.full_like(x, 7)
        assert turn == 0 or not stream.query()
        torch.cuda.current_stream().wait_stream(stream)
        want = torch.softmax(x * 2, -1)
        torch.testing.assert_close(y, want, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(z, want, rtol=1e-5, atol=1e-6)
        del other


def test_memory_of_another_stream():
    """What was allocated in one stream and is used in another is not given out again before the launch is done."""
    stream = torch.cuda.Stream()
    ops.softmax(torch.ones(4, 4, device="cuda"))  # compiled
    for _ in range(3):
        x = torch.ones(1024, 1024, device="cuda")
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(50_000_000)
            y = ops.softmax(x)
        del x
        torch.full((1024, 1024), float("nan"), device="cuda")  # would take the memory of x
        torch.cuda.synchronize()
        assert torch.allclose(y, torch.full_like(y, 1 / 1024))


def test_gradients_against_pytorch_in_double():
    x = torch.randn(17, 130, device="cuda", requires_grad=True)
    dy = torch.randn(17, 130, device="cuda")
    g, = torch.autograd.grad(ops.softmax(x), x, dy)
    d = x.detach().double().requires_grad_()
    want, = torch.autograd.grad(torch.softmax(d, -1), d, dy.double())
    assert (g - want).abs().max() < 1e-6


def test_graph():
    """Ops go into a CUDA graph."""
    x, g = torch.randn(64, 128, device="cuda"), torch.ones(128, device="cuda")
    ops.rmsnorm(x, g)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = ops.rmsnorm(x, g)
    x.copy_(torch.randn(64, 128, device="cuda") * 3)
    graph.replay()
    torch.testing.assert_close(y, torch.nn.functional.rms_norm(x, (128,), g, 1e-5), rtol=1e-5, atol=1e-5)


def test_cupy():
    cupy = pytest.importorskip("cupy", reason="cupy is not here")
    x = cupy.random.standard_normal((16, 100), dtype=cupy.float32)
    y = lockstep.kernel("softmax.cu")(x)
    assert isinstance(y, cupy.ndarray)
    e = np.exp(x.get() - x.get().max(1, keepdims=True))
    assert np.allclose(y.get(), e / e.sum(1, keepdims=True), atol=1e-6)


def test_compiled_by_inductor():
    f = torch.compile(lambda x: ops.gelu_tanh(x.reshape(-1) * 2).sum(), fullgraph=True)
    x = torch.randn(8, 100, device="cuda", requires_grad=True)
    f(x).backward()
    want = x.detach().clone().requires_grad_()
    torch.nn.functional.gelu(want * 2, approximate="tanh").sum().backward()
    torch.testing.assert_close(x.grad, want.grad, rtol=1e-4, atol=1e-5)
