"""What a wheel holds, where tests/wheel has installed one."""
import os
import subprocess
import sys

import numpy as np
import pytest

import lockstep


def test_kernels_without_a_compiler():
    if not os.path.exists(lockstep.kernels_path() + "/softmax.ptx"):
        pytest.skip("the wheel was made without a compiler: its kernels have no PTX")
    x = np.ones((3, 5), np.float32)
    assert np.allclose(lockstep.kernel("softmax.cu")(x), 0.2)
    assert np.allclose(lockstep.kernel("softmax.cu")(x.astype(np.float16)), 0.2, atol=1e-3)


def test_same_engine_under_run(tmp_path):
    """Under `lockstep run python` the package's library is the one behind the driver."""
    script = tmp_path / "s.py"
    script.write_text("import ctypes, lockstep\nctypes.CDLL('libcuda.so.1').cuInit(0)\nfrom lockstep._library import library\nlibrary()\n"
                      "maps = {l.split()[-1] for l in open('/proc/self/maps') if '/liblockstep.so' in l}\nprint(len(maps), lockstep.under_run())\n")
    done = subprocess.run(["lockstep", "run", sys.executable, str(script)], capture_output=True, text=True)
    assert done.stdout.split() == ["1", "True"], done.stdout + done.stderr


def test_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "lockstep", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == subprocess.run(["lockstep", "--version"], capture_output=True, text=True).stdout
