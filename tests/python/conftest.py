"""Where the tests find the tree. The package is that of the checkout, unless tests/wheel has installed one."""
import os
import sys

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
if not os.environ.get("LOCKSTEP_INSTALLED"):
    sys.path.insert(0, os.path.join(TOP, "python"))


# What a wheel holds is tested where one is installed (tests/wheel).
collect_ignore = [] if os.environ.get("LOCKSTEP_INSTALLED") else ["test_installed.py"]


def pytest_terminal_summary(terminalreporter):
    """What was skipped, for tests/run, which counts it."""
    if os.environ.get("SKIPPED"):
        with open(os.environ["SKIPPED"], "a") as f:
            for report in terminalreporter.stats.get("skipped", []):
                reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
                print(report.nodeid + ": " + reason.removeprefix("Skipped: ").replace("\n", " "), file=f)


@pytest.fixture
def top():
    return TOP


@pytest.fixture
def toolkit():
    """Something that compiles .cu files."""
    import ctypes

    import lockstep._abi as abi
    from lockstep._library import library

    tool = abi.lk_tool(size=ctypes.sizeof(abi.lk_tool))
    i = 0
    while library().lk_tool_at(i, ctypes.byref(tool)):
        if tool.compiles and tool.path:
            return tool.path.decode()
        i += 1
    pytest.skip("no nvcc, NVRTC or clang is here")
