"""lockstep.trace and lockstep.bisect, and examples/gpt with its ten mistakes."""
import os
import shutil
import sys

import pytest

torch = pytest.importorskip("torch")
import lockstep  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "gpt"))
import gpt  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc: the planted kernels are compiled")


@needs_nvcc
@pytest.mark.parametrize("name", list(gpt.BUGS))
def test_each_mistake_is_named(name):
    answer = gpt.bisect(name, "cpu")
    place, _, words = gpt.BUGS[name]
    assert [v.names for v in answer.guilty] == [(place,)]
    assert words in str(answer.first)
    assert [v.right for v in answer.verdicts].count(True) == 2
    if name in gpt.PLANTED:  # lockstep.test names the kernel, and lines that the wrong one is among
        bad = [k for k in answer.first.kernels if not k.right]
        file, right, _ = gpt.PLANTED[name]
        with open(os.path.join(lockstep.kernels_path(), file)) as f:
            line = f.read().split(right)[0].count("\n") + 1
        assert bad and any(k.line.startswith(file + ":") for k in bad), str(answer)
        assert any(line in k.computed for k in bad) or any(k.line == f"{file}:{line}" or k.kind.startswith("bounds") for k in bad), str(answer)


def test_a_model_with_right_replacements_is_right():
    ids, _ = gpt.data("cpu")
    answer = lockstep.bisect(gpt.model("cpu"), {torch.nn.LayerNorm: gpt.Right, torch.nn.functional.gelu: torch.nn.functional.gelu}, (ids,))
    assert not answer.guilty and "every replacement that was called is right" in str(answer)
    assert [v.called for v in answer.verdicts] == [7, 2]


def test_what_is_not_called_is_said():
    ids, _ = gpt.data("cpu")
    answer = lockstep.bisect(gpt.model("cpu"), {torch.relu: torch.relu}, (ids,))
    assert not answer.verdicts[0].called and "was not called" in str(answer)
    with pytest.raises(LookupError, match="no module 'nowhere'"):
        lockstep.bisect(gpt.model("cpu"), {"nowhere": gpt.Right}, (ids,))


class Same(torch.nn.Linear):
    def __init__(self, old):
        super().__init__(old.in_features, old.out_features)


def test_a_pair_that_is_wrong_together():
    """Each is right alone; the second takes what the first leaves for a mistake of it."""

    class First(torch.nn.Linear):
        def __init__(self, old):
            super().__init__(4, 4)

        def forward(self, x):
            out = super().forward(x)
            out.marked = True
            return out

    class Second(torch.nn.Linear):
        def __init__(self, old):
            super().__init__(4, 4)

        def forward(self, x):
            return super().forward(x) * (2 if getattr(x, "marked", False) else 1)

    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
    answer = lockstep.bisect(model, {"0": First, "1": Second, "2": Same}, (torch.randn(3, 4),))
    assert [v.names for v in answer.guilty] == [("0", "1")]


def test_gradients_that_are_none_and_nan():
    class Cut(torch.nn.Linear):
        def __init__(self, old):
            super().__init__(4, 4)

        def forward(self, x):
            return torch.nn.functional.linear(x, self.weight.detach(), self.bias)

    class Odd(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, dy):
            return dy * float("nan")

    class Bad(torch.nn.Linear):
        def __init__(self, old):
            super().__init__(4, 4)

        def forward(self, x):
            return Odd.apply(super().forward(x))

    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
    answer = lockstep.bisect(model, {"0": Cut, "1": Bad}, (torch.randn(3, 4),))
    assert answer.verdicts[0].backward[0].why == "None" and answer.verdicts[1].backward[0].why == "NaN"
    assert not answer.verdicts[0].forward and not answer.verdicts[1].forward


def test_a_gradient_behind_a_normalisation():
    """The mean of the squares of what is normalised is the same for all inputs: no loss to find a wrong gradient by."""

    class Through(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sigmoid()

        @staticmethod
        def backward(ctx, dy):
            return dy

    class Wrong(torch.nn.Sigmoid):
        def __init__(self, old):
            super().__init__()

        def forward(self, x):
            return Through.apply(x)

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Sigmoid(), torch.nn.LayerNorm(8, elementwise_affine=False))
    answer = lockstep.bisect(model, {"1": Wrong}, (torch.randn(5, 8),))
    assert not answer.verdicts[0].forward and answer.verdicts[0].backward, str(answer)


def test_trace_names_the_first_nan():
    x = torch.tensor([[1.0, -1.0], [2.0, 3.0]], requires_grad=True)
    with lockstep.trace() as t:
        y = (x.t() * 2).log()  # the log of -2
        y.sum().backward()
    assert t.first_nan.name == "aten.log.default" and t.first_nan.line.startswith("test_bisect.py:")
    assert t.first_nan.inputs[0].least == -2 and t.first_nan.outputs[0].nans == 1
    product = t.named("aten.mul")[0]
    assert product.inputs[0].shape == (2, 2) and product.inputs[0].strides == (1, 2) and product.outputs[0].most == 6
    assert any("div" in c.name or "mul" in c.name for c in t.calls[t.calls.index(t.first_nan):])
    assert str(t).startswith("the first NaN: aten.log.default at test_bisect.py:")


def test_trace_of_a_nan_from_outside():
    with lockstep.trace() as t:
        torch.tensor([1.0, float("nan")]).exp()
    assert t.first_nan is None and "came in from outside" in str(t)


ROOT = """
//! op      root(x) -> y
//! forward root(x) -> y
//! kernel root
//! dim n 1..1000
//! arg x f32[n] in
//! arg y f32[n] out
//! arg n i32
//! launch grid=ceildiv(n, 64) block=64
extern "C" __global__ void root(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float r = i < n ? sqrtf(x[i]) : 0.0f;
    if (i < n) y[i] = r + 1;
}
"""


@needs_nvcc
def test_trace_names_the_line_of_a_kernel(tmp_path):
    (tmp_path / "root.cu").write_text(ROOT)
    from lockstep import ops

    root = ops.load(str(tmp_path / "root.cu"), "traced")["root"]
    with pytest.raises(lockstep.FindingsError), lockstep.trace() as t:
        assert root(torch.ones(4))[0] == 2
        root(torch.tensor([4.0, -4.0]))
    assert t.first_nan.kernels == ["root"] and t.first_nan.kernel_line == "root.cu:13", str(t)
    assert "where it begins at root.cu:13" in str(t)
