"""`lockstep compile --torch`: a module that compiles nothing when it is imported. What needs PyTorch is skipped without it; that the
files are the same when made again needs a compiler alone."""
import filecmp
import os
import subprocess
import sys

import pytest
from conftest import TOP

import lockstep

DEVICE = os.environ.get("LOCKSTEP_TEST_DEVICE", "cpu")


def make(folder, file=TOP + "/kernels/softmax.cu", arch="sm_80,sm_90", more=(), toolkit=True):
    env = dict(os.environ, LOCKSTEP_PYTHON=sys.executable, **({} if toolkit else {"LOCKSTEP_TOOLKIT": "none"}))
    names = [file, ":softmax<float>", ":softmax_backward<float>"] if file.endswith("softmax.cu") else [file]
    return subprocess.run([lockstep.command_path(), "compile", *names, "--torch", str(folder), "--arch", arch, *more], env=env, capture_output=True, text=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ops")
    done = make(folder)
    if done.returncode == 3:
        pytest.skip("no compiler is here")
    assert done.returncode == 0, done.stderr
    return folder


def test_same_when_made_again(made, tmp_path):
    assert make(tmp_path, arch="sm_90,sm_80", more=["--fresh"]).returncode == 0
    names = sorted(os.listdir(made / "softmax"))
    assert names == sorted(os.listdir(tmp_path / "softmax")) and "kernels.fatbin" in names
    assert filecmp.cmpfiles(made / "softmax", tmp_path / "softmax", names, shallow=False)[1:] == ([], [])


def test_images(made):
    done = subprocess.run([lockstep.command_path(), "inspect", str(made / "softmax" / "kernels.fatbin")], capture_output=True, text=True)
    rows = [line.split()[1:3] for line in done.stdout.splitlines() if line.strip()[:1].isdigit() and "sm_" in line][:3]
    assert rows in ([["cubin", "sm_80"], ["cubin", "sm_90"], ["PTX", "sm_90"]], [["PTX", "sm_80"], ["PTX", "sm_90"]]), done.stdout


def test_refused(tmp_path):
    (tmp_path / "none.cu").write_text("//! kernel k\n//! arg x f32[1] in\n//! launch grid=1 block=1\n__global__ void k(const float *x) {}\n")
    done = make(tmp_path, str(tmp_path / "none.cu"))
    assert done.returncode == 2 and "has no `op` line" in done.stderr
    done = make(tmp_path, arch="sm_x")
    assert done.returncode == 2 and "architectures belong here" in done.stderr
    done = make(tmp_path, more=["-o", "x.ptx"])
    assert done.returncode == 2 and "without -o" in done.stderr
    source = tmp_path / "softmax.cu"  # no .ptx beside it, nothing in the cache
    source.write_text(open(TOP + "/kernels/softmax.cu").read())
    done = make(tmp_path / "o", str(source), toolkit=False)
    assert done.returncode == 3 and "nvcc" in done.stderr and not os.path.exists(tmp_path / "o" / "softmax"), done.stderr


USE = """
import sys
sys.path.insert(0, sys.argv[1])
import torch, softmax
assert not any(name.split(".")[0] == "lockstep" for name in sys.modules)  # neither a compiler nor the library
device = sys.argv[2]
x = torch.randn(5, 37, generator=torch.Generator().manual_seed(1))
a, b = x.to(device).requires_grad_(), x.clone().requires_grad_()
dy = torch.arange(185.0).reshape(5, 37) / 100
y, want = softmax.softmax(a), torch.softmax(b, -1)
torch.testing.assert_close(y.detach().cpu(), want.detach(), rtol=1e-5, atol=1e-6)
torch.testing.assert_close(torch.autograd.grad(y, a, dy.to(device))[0].cpu(), torch.autograd.grad(want, b, dy)[0], rtol=1e-4, atol=1e-6)
if "opcheck" in sys.argv:
    print(sorted(set(torch.library.opcheck(softmax.softmax.op, (a,)).values())))
print("good", y.device.type)
"""


def use(made, *words, command=()):
    pytest.importorskip("torch", reason="torch is not here")
    env = dict(os.environ, LOCKSTEP_TOOLKIT="none", PATH="/usr/bin:/bin")
    if not env.get("LOCKSTEP_INSTALLED"):
        env["PYTHONPATH"] = TOP + "/python"
    script = made / "use.py"
    script.write_text(USE)
    return subprocess.run([*command, sys.executable, str(script), str(made), *words], env=env, capture_output=True, text=True)


def test_used_without_a_compiler(made):
    done = use(made, DEVICE, "opcheck")
    assert done.returncode == 0 and done.stdout.splitlines() == ["['SUCCESS']", f"good {DEVICE}"], done.stdout + done.stderr


def test_used_under_run(made):
    """On `cuda` without a GPU: the module's fatbin is loaded by Lockstep's driver, and the launches are checked."""
    torch = pytest.importorskip("torch", reason="torch is not here")
    if torch.version.cuda is None:
        pytest.skip("a PyTorch without CUDA")
    if DEVICE != "cpu":
        pytest.skip("there is a GPU")
    done = use(made, "cuda", command=[lockstep.command_path(), "run", "--"])
    assert done.returncode == 0 and "good cuda" in done.stdout, done.stdout + done.stderr
    assert "4 launches" in done.stderr or "2 launches of 2 kernels" in done.stderr, done.stderr
