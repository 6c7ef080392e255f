"""test, gradcheck, profile, bench and compare, over kernels and over functions."""
import numpy as np
import pytest
from conftest import TOP

import lockstep

SUM = """kernel row_sum
dim rows 1..64, cols 1..128
arg x f32[rows, cols] in view dense|rows
arg y f32[rows] out
launch grid=rows block=32
oracle y = sum(x, -1)
"""


def total(x):
    return x.sum(-1, dtype=np.float32)


def twice(x):
    return 2 * x.sum(-1, dtype=np.float32)


def test_file():
    good = lockstep.test(TOP + "/specimens/reduce_double_ok.cu", cases=6)
    assert good and good.kernels[0].passed == 6 and "VALIDATED row_sum" in str(good) and "<table>" in good._repr_html_()
    with pytest.raises(lockstep.FindingsError) as e:
        lockstep.test(TOP + "/specimens/reduce_double_bad.cu", cases=6)
    assert e.value.findings[0].kind == "result_factor" and e.value.findings[0].line and "looks like: y is 32 times the oracle" in str(e.value)
    with pytest.raises(lockstep.NothingRun):
        lockstep.test(TOP + "/tests/cases/demo/smooth.cu")


def test_function():
    good = lockstep.test(total, contract=SUM, cases=16, arrays="numpy")
    assert good and good.kernels[0].cases >= 12 and good.kernels[0].elements > 100
    with pytest.raises(lockstep.FindingsError) as e:
        lockstep.test(twice, contract=SUM, cases=16, arrays="numpy")
    assert e.value.findings[0].kind == "result_wrong" and "should be" in str(e.value) and "test_verbs.py" in str(e.value)
    bad = lockstep.test(lambda x: total(x)[:-1], contract=SUM, cases=4, arrays="numpy", check=False)
    assert not bad and "has shape" in str(bad)
    with pytest.raises(lockstep.BadInput, match="like="):
        lockstep.test(total)


def test_function_of_two():
    """One output that nothing can be said of is no pass; one that is not returned is said."""
    text = SUM.replace("launch", "arg z f32[rows] out\nlaunch") + "oracle z = sum(x, -1) * 1e30 * 1e30\n"
    two = lambda x: (total(x), total(x))  # noqa: E731
    one = lockstep.test(total, contract=text, cases=2, arrays="numpy")
    assert one and str(one).endswith("\n  not returned, and so not judged: z")
    with pytest.raises(lockstep.NothingRun, match="NOT JUDGED <lambda>: 2 cases ran, and none had an element of y, z that the oracle could judge"):
        lockstep.test(lambda x: (), contract=text, cases=2, arrays="numpy")
    with pytest.raises(lockstep.NothingRun, match="NOT JUDGED"):
        lockstep.test(two, contract=text, cases=1, arrays="numpy")
    assert not lockstep.test(two, contract=text, cases=1, arrays="numpy", check=False)
    assert not lockstep.TestResult([], [], "")


def test_values_of_the_contract_are_passed():
    def scaled(x, by):
        return (x * np.float32(by)).sum(-1, dtype=np.float32)

    text = SUM.replace("launch", "arg by f32 = 3\nlaunch").replace("sum(x, -1)", "sum(x, -1) * by")
    assert lockstep.test(scaled, contract=text, cases=6, arrays="numpy")


def test_progress(capsys):
    lockstep.test(total, contract=SUM, cases=3, arrays="numpy", progress=True)
    assert "test total [" in capsys.readouterr().err


def test_profile(toolkit):
    p = lockstep.profile("softmax.cu", np.ones((8, 64), np.float32))
    assert "softmax" in str(p) and p.data and "<html" in p.html and "<iframe" in p._repr_html_()
    with pytest.raises(lockstep.NothingRun):
        lockstep.profile(lambda: None)


def test_times():
    x = np.ones((64, 64), np.float32)
    t = lockstep.bench(total, x, repeat=12)
    assert len(t.seconds) == 12 and t.interval()[0] <= t.median <= t.interval()[1] and "us" in str(t)
    c = lockstep.compare(total, total, x, rounds=8)
    assert c.verdict in ("SAME", "UNCLEAR", "FASTER", "SLOWER") and c.low <= c.ratio <= c.high
    slow = lambda x: [total(x) for _ in range(40)]
    assert lockstep.compare(total, slow, np.ones((512, 512), np.float32), rounds=8).verdict == "SLOWER"


def test_times_of_the_software_gpu_are_refused(toolkit):
    with pytest.raises(lockstep.BadInput, match="says nothing of a GPU"):
        lockstep.bench("softmax.cu", np.ones((8, 64), np.float32))
    with pytest.raises(lockstep.BadInput, match="says nothing of a GPU"):
        lockstep.compare("softmax.cu", total, np.ones((8, 64), np.float32))


def test_known_good_ops():
    """PyTorch's own ops pass: the laboratory is right where they are."""
    torch = pytest.importorskip("torch", reason="torch is not here")
    F = torch.nn.functional

    def sdpa(q, k, v, scale, CAUSAL):
        mask = torch.ones(q.shape[1], k.shape[1], dtype=torch.bool).tril(k.shape[1] - q.shape[1]) if CAUSAL else None
        y = F.scaled_dot_product_attention(q.float(), k.float(), v.float(), attn_mask=mask, scale=scale)
        return torch.nan_to_num(y).to(q.dtype)

    assert lockstep.test(sdpa, like="attention.cu", cases=10)
    assert lockstep.gradcheck(sdpa, like="attention.cu", cases=8)
    assert lockstep.test(lambda x: torch.softmax(x.float(), -1).to(x.dtype), like="softmax.cu", cases=10)
    with pytest.raises(lockstep.FindingsError, match="result_wrong"):
        lockstep.test(lambda q, k, v, scale: F.scaled_dot_product_attention(q, k, v, scale=scale * 1.01), like="attention.cu", cases=6)


def test_gradients():
    torch = pytest.importorskip("torch", reason="torch is not here")

    def softmax(x):
        return torch.softmax(x, -1)

    def stopped(x):
        y = softmax(x)
        return y.detach() * x + (y - y * x).detach()  # the value is right, the gradient is not

    assert lockstep.gradcheck(softmax, like="softmax.cu", cases=6)
    with pytest.raises(lockstep.FindingsError) as e:
        lockstep.gradcheck(stopped, like="softmax.cu", cases=6)
    assert e.value.findings[0].kind == "gradient_wrong"


def test_gradients_of_a_file(toolkit):
    good = lockstep.gradcheck("softmax.cu", cases=3)
    assert good and [k.name.split("<")[0] for k in good.kernels] == ["softmax_backward"]
    with pytest.raises(lockstep.BadInput, match="has no backward kernel"):
        lockstep.gradcheck(TOP + "/specimens/reduce_double_ok.cu")
