"""lockstep.kernel on arrays of NumPy: results, what is refused and by which name, findings as exceptions."""
import os

import numpy as np
import pytest

import lockstep

HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.fixture
def scale():
    return lockstep.kernel(HERE + "/scale.ptx")


@pytest.fixture
def unguarded():
    return lockstep.kernel(HERE + "/unguarded.ptx")


def test_result(scale):
    x = np.arange(100, dtype=np.float32)
    assert np.array_equal(scale(x), 2 * x)
    assert np.array_equal(scale(x, by=3), 3 * x)
    out = np.empty(100, np.float32)
    assert scale(x, y=out) is out and out[99] == 198


def test_views(scale):
    x = np.arange(101, dtype=np.float32)
    assert np.array_equal(scale(x[1:]), 2 * x[1:])
    read_only = x.copy()
    read_only.flags.writeable = False
    assert np.array_equal(scale(read_only), 2 * x)


def test_interface(scale):
    class Other:
        def __init__(self, a):
            self.a = a

        def __dlpack__(self, **options):
            return self.a.__dlpack__()

        def __dlpack_device__(self):
            return self.a.__dlpack_device__()

    assert scale(Other(np.ones(5, np.float32))).tolist() == [2] * 5


@pytest.mark.parametrize("what, said", [
    ({"typestr": ">f4"}, "typestr is '>f4'"), ({"typestr": "zz"}, "typestr is 'zz'"), ({"typestr": ""}, "typestr is ''"), ({"typestr": 4}, "typestr is 4"),
    ({"shape": None}, "shape is None"), ({"shape": (1.5,)}, "shape is (1.5,)"), ({"shape": (-5,)}, "the shape [-5]"), ({"strides": (6,)}, "not multiples of its element"),
    ({"strides": (-4,)}, "none may be negative"), ({"strides": (4, 4)}, "1 sizes and 2 strides"), ({"data": ("x", False)}, "data is ('x', False)"), ({"data": None}, "data is None"),
    ({"data": (0, False)}, "at the address 0"), ({"data": (-1, False)}, "lies at -1"), ({"mask": object()}, "a masked array"), (None, "typestr is nothing"),
])
def test_bad_interface(scale, what, said):
    """What an object says of itself may be anything: one error of the package, by the name of the argument."""
    x = np.ones(100, np.float32)

    class Other:
        __cuda_array_interface__ = {} if what is None else {"shape": (100,), "typestr": "<f4", "data": (x.ctypes.data, False), "version": 3, **what}

    with pytest.raises(lockstep.BadInput) as e:
        scale(Other())
    assert said in str(e.value) and e.value.argument == "x"


def test_bad_dlpack(scale):
    class Other:
        def __init__(self, device, made):
            self.device, self.made = device, made

        def __dlpack__(self, **options):
            return self.made

        def __dlpack_device__(self):
            return self.device

    for other in (Other((1, 0), 5), Other((), 5), Other(None, None), Other((1, 0), None)):
        with pytest.raises(lockstep.BadInput) as e:
            scale(other)
        assert "DLPack cannot be read" in str(e.value) and e.value.argument == "x"


@pytest.mark.parametrize("flags", ["-DX=1", [5], ["-DX=\0"], [None]])
def test_bad_flags(flags):
    with pytest.raises(lockstep.BadInput) as e:
        lockstep.kernel(HERE + "/scale.ptx", flags=flags)
    assert e.value.argument == "flags"


@pytest.mark.parametrize("size", [float("nan"), float("inf"), "5", 4.5, None, [3]])
def test_bad_size(scale, size):
    with pytest.raises(lockstep.BadInput) as e:
        scale(np.ones(5, np.float32), n=size)
    assert "a whole number belongs here" in str(e.value) and e.value.argument == "n"


@pytest.mark.parametrize("make, said", [
    (lambda x: (x.astype(np.float64),), "x is an array of f64"),
    (lambda x: (x.reshape(10, 10),), "x has 2 dimensions"),
    (lambda x: (x[::2],), "x has strides [2] for shape [50], and the contract takes dense|offset"),
    (lambda x: ([1.0],), "x is a list"),
    (lambda x: (x, x), "takes 1 arrays (x), and 2 were given"),
    (lambda x: (), "x is missing"),
])
def test_refused(scale, make, said):
    with pytest.raises(lockstep.BadInput) as e:
        scale(*make(np.ones(100, np.float32)))
    assert said in str(e.value) and (e.value.argument == "x" or "takes 1" in said) and isinstance(e.value, lockstep.LockstepError)


def test_refused_by_name(scale):
    x = np.ones(100, np.float32)
    for named, said in (({"y": np.empty(99, np.float32)}, "y has shape [99], and the contract says [100]"), ({"y": x}, "y is written, and shares memory with x"),
                        ({"n": 5000}, "n is 5000, and the contract allows 1..4096"), ({"z": 1}, "z is neither a size nor a value"), ({"by": "two"}, "by")):
        with pytest.raises(lockstep.BadInput) as e:
            scale(x, **named)
        assert said in str(e.value)


def test_findings(unguarded):
    with pytest.raises(lockstep.FindingsError) as e:
        unguarded(np.ones(100, np.float32))
    found = e.value.findings
    assert [f.kind for f in found][:1] == ["bounds"] and found[0].severity == "error" and found[0].kernel == "scale"
    assert "error[bounds]" in str(e.value) and found[0].text in e.value.report and "<pre" in e.value._repr_html_()
    assert "test_kernel.py" in e.value.report


def test_not_strict(unguarded):
    with lockstep.Gpu(strict=False, seed=1) as gpu:
        y = unguarded(np.ones(100, np.float32))
    assert (y == 2).all() and {f.kind for f in gpu.findings} == {"bounds"}
    gpu.close()
    with lockstep.Gpu(check="race") as gpu:
        unguarded(np.ones(100, np.float32))
    assert not gpu.findings


def test_softmax(toolkit):
    softmax, backward = lockstep.kernel("softmax.cu"), lockstep.kernel("softmax.cu:softmax_backward")
    x = np.random.default_rng(1).standard_normal((5, 37)).astype(np.float32)
    e = np.exp(x - x.max(1, keepdims=True))
    y = softmax(x)
    assert np.allclose(y, e / e.sum(1, keepdims=True), atol=1e-6)
    assert np.array_equal(softmax(x[:, :30]), softmax(x[:, :30].copy()))
    assert np.array_equal(softmax(np.broadcast_to(x[0], (4, 37)))[3], y[0])
    ones = np.broadcast_to(np.float32(1), (5, 37))  # as the gradient of a sum
    assert np.array_equal(backward(ones, y), backward(ones.copy(), y))
    columns = np.broadcast_to(x[:, :1], (5, 37))
    assert np.array_equal(backward(columns, y), backward(columns.copy(), y))
    assert softmax(np.empty((0, 4), np.float32)).shape == (0, 4)
    assert softmax(x.astype(np.float16)).dtype == np.float16


def test_several_outputs(toolkit):
    x = np.random.default_rng(2).standard_normal((6, 20)).astype(np.float32)
    y, m, r = lockstep.kernel("layernorm.cu")(x, np.ones(20, np.float32), np.zeros(20, np.float32), eps=1e-3)
    assert np.allclose(m, x.mean(1), atol=1e-6) and np.allclose(r, 1 / np.sqrt(x.var(1) + 1e-3), rtol=1e-5) and y.shape == x.shape
    dg, db = np.zeros(20, np.float32), np.zeros(20, np.float32)
    out = lockstep.kernel("layernorm.cu:layernorm_backward_weights")(np.ones_like(x), x, m, r, dg, db)
    assert out[0] is dg and np.allclose(db, 6)


def test_sizes_that_no_array_has(toolkit):
    conv = lockstep.kernel("conv2d.cu")
    rng = np.random.default_rng(3)
    x, f = rng.standard_normal((2, 4, 9, 7)).astype(np.float32), rng.standard_normal((6, 2, 3, 2)).astype(np.float32)
    y = conv(x, f, stride=1, pad=0)
    assert y.shape == (2, 6, 7, 6)
    assert np.allclose(y[1, 5, 2, 3], (x[1, 2:4, 2:5, 3:5] * f[5]).sum(), rtol=1e-4)


def test_no_contract(tmp_path):
    (tmp_path / "k.ptx").write_text(open(HERE + "/scale.ptx").read().replace("//!", "//"))
    with pytest.raises(lockstep.BadInput, match="has no contract"):
        lockstep.kernel(str(tmp_path / "k.ptx"))
    with pytest.raises(lockstep.BadInput, match="is not there"):
        lockstep.kernel("nothing.cu")


def test_odd_arrays(scale):
    x = np.arange(8, dtype=np.float32)
    with pytest.raises(lockstep.BadInput, match="masked array"):
        scale(np.ma.array(x, mask=x > 3))
    y = np.zeros(8, np.float32)
    y.setflags(write=False)
    with pytest.raises(lockstep.BadInput, match="y is read-only"):
        scale(x, y=y)


@pytest.mark.parametrize("path, said", [("", "no file is named"), (os.path.dirname(os.path.abspath(__file__)), "is a folder"), (None, "NoneType"), (3, "int")])
def test_no_file(path, said):
    with pytest.raises(lockstep.BadInput, match=said):
        lockstep.kernel(path)


def test_path(scale):
    import pathlib

    x = np.arange(4, dtype=np.float32)
    assert (lockstep.kernel(pathlib.Path(scale.file))(x) == scale(x)).all()
    with pytest.raises(lockstep.BadInput, match="one call at least"):
        lockstep.bench(np.sum, x, repeat=0)


def test_autograd(scale):
    torch = pytest.importorskip("torch")
    x, y = torch.arange(4.0), torch.zeros(4)
    w = torch.ones(4, requires_grad=True)
    z = w * y  # y is saved
    scale(x, y=y)
    with pytest.raises(RuntimeError, match="inplace operation"):
        z.sum().backward()
    with pytest.warns(UserWarning, match="x requires a gradient"):
        scale(x.requires_grad_())
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scale(x.detach())
        with torch.no_grad():
            scale(x)
    turned = torch.complex(x.detach(), x.detach()).conj().imag
    assert turned.is_neg()
    with pytest.raises(lockstep.BadInput, match="resolve_neg"):
        scale(turned)
