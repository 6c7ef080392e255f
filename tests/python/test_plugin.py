"""The pytest plugin: findings of any library's launches fail the test that made them."""
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import TOP
from test_kernel import HERE

import lockstep

TEST = '''
import ctypes, struct
import pytest
from lockstep import _driver

PTX = open("scale.ptx", "rb").read()

def launch(n, room):
    """As a library does it: memory and a launch through the driver."""
    _driver.context(0)
    x, y = ctypes.c_uint64(), ctypes.c_uint64()
    _driver.call("cuMemAlloc_v2", ctypes.byref(x), ctypes.c_size_t(4 * room))
    _driver.call("cuMemAlloc_v2", ctypes.byref(y), ctypes.c_size_t(4 * room))
    _driver.call("cuMemsetD32_v2", x, 0x3f800000, ctypes.c_size_t(room))
    f = _driver.Module(PTX).function("scale", 0)
    _driver.launch(f, ((n + 31) // 32, 1, 1), (32, 1, 1), 0, 0, [struct.pack("<Q", x.value), struct.pack("<Q", y.value), struct.pack("<f", 2), struct.pack("<i", n)])
    _driver.call("cuCtxSynchronize")
    _driver.call("cuMemFree_v2", x)
    _driver.call("cuMemFree_v2", y)

def test_good():
    launch(64, 64)

@pytest.mark.parametrize("n", [100])
def test_bad(n):
    launch(n, 64)

def test_good_again():
    launch(32, 32)

def test_own_failure():
    assert 1 == 2
'''


def test_option(tmp_path):
    (tmp_path / "scale.ptx").write_text(open(HERE + "/scale.ptx").read().replace("//!", "//"))
    (tmp_path / "test_x.py").write_text(TEST)
    env = dict(os.environ)
    plugin = []
    if not env.get("LOCKSTEP_INSTALLED"):
        env["PYTHONPATH"] = os.path.join(TOP, "python")
        plugin = ["-p", "lockstep.pytest_plugin"]
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *plugin, "--lockstep", "-q", "test_x.py"], cwd=tmp_path, env=env, capture_output=True, text=True)
    text = done.stdout
    assert done.returncode == 1, text + done.stderr
    assert re.search(r"2 failed, 2 passed", text), text + done.stderr
    assert "error[bounds]: access outside the allocation" in text and "FAILED test_x.py::test_bad[100] - lockstep.errors.FindingsError" in text, text
    assert "test_good" not in "".join(re.findall("(?m)^FAILED.*$", text))


@pytest.fixture
def scale():
    return lockstep.kernel(HERE + "/unguarded.ptx")


@lockstep.kernel_test
def test_decorated(scale):
    assert scale(np.ones(64, np.float32))[63] == 2


def test_decorated_findings(scale):
    @lockstep.kernel_test(device="l4", seed=3)
    def body():
        scale(np.ones(100, np.float32))

    with pytest.raises(lockstep.FindingsError) as e:
        body()
    assert e.value.findings[0].kind == "bounds"

    @lockstep.kernel_test
    def nothing():
        pass

    with pytest.raises(AssertionError, match="launched nothing"):
        nothing()

    @lockstep.kernel_test(no_check="all")
    def unchecked():
        scale(np.ones(64, np.float32))

    with pytest.raises(AssertionError, match="every check is off"):
        unchecked()
