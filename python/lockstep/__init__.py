"""Lockstep: a checked GPU in software, from Python.

    import lockstep
    softmax = lockstep.kernel("softmax.cu")      # callable on NumPy, PyTorch and CuPy arrays, by its contract
    lockstep.test("softmax.cu")                  # against the oracle of its contract, over many cases

docs/use/python.md has the rest; every verb is that of the command, `lockstep --help`."""
from ._gpu import Gpu
from ._kernel import Kernel, kernel
from ._library import command_path, include_path, kernels_path, library_path, under_run
from ._testing import kernel_test
from ._verbs import Comparison, Profile, TestResult, Timing, bench, compare, gradcheck, profile, test
from .bisect import Bisection, bisect
from .trace import Trace, trace
from .errors import BadInput, Finding, FindingsError, LockstepError, NothingRun, SystemFailure, Unsupported

__version__ = "0.2.0"
__all__ = ["BadInput", "Bisection", "Comparison", "Finding", "FindingsError", "Gpu", "Kernel", "LockstepError", "NothingRun", "Profile", "SystemFailure", "TestResult", "Timing", "Trace", "Unsupported",
           "bench", "bisect", "compare", "gradcheck", "profile", "test", "trace",
           "command_path", "include_path", "kernel", "kernel_test", "kernels_path", "library_path", "under_run"]
