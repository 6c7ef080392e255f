"""pytest: `pytest --lockstep` runs the tests under `lockstep run`, so that every launch of every library in them is checked; a
finding fails the test that made it, with its text. `@lockstep.kernel_test` does the same for the launches of the package in one
test, without an option."""
from __future__ import annotations

import os
import re
import sys
from typing import Any, Generator, List

import pytest

from ._library import command_path, is_loaded, library, under_run
from .errors import Finding, FindingsError


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("lockstep", "a checked GPU in software")
    group.addoption("--lockstep", action="store_true", help="run the tests under `lockstep run`: every launch is checked, findings are failures")
    group.addoption("--lockstep-fail-on", choices=["error", "note"], default="error", help="what fails a test: errors (default), or notes, too")
    group.addoption("--lockstep-option", action="append", default=[], metavar="WORD", help="an option of `lockstep run`, as often as wanted: --lockstep-option=--no-check=race")


def _same_python() -> List[str]:
    """pytest as it was started. `-m pytest` takes modules from the current folder before Python's own: only where it was asked for so."""
    if os.path.basename(sys.argv[0]) == "__main__.py" and not getattr(sys.flags, "safe_path", False):
        return [sys.executable, "-m", "pytest"]
    if sys.version_info >= (3, 11):
        return [sys.executable, "-P", "-m", "pytest"]
    return [sys.executable, "-c", "import sys\ndel sys.path[0]\nimport pytest\nsys.exit(pytest.main())"]


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: Any) -> None:
    """Once more from the beginning, under `lockstep run`."""
    if not config.getoption("lockstep") or under_run() or config.getoption("help", False):
        return
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.stop_global_capturing()
    command = command_path()
    fail_on = ["--fail-on", config.getoption("lockstep_fail_on")]
    arguments = [command, "run", *fail_on, *config.getoption("lockstep_option"), "--", *_same_python(), *config.invocation_params.args]
    os.environ["LOCKSTEP_CELLS"] = "1"  # findings are kept for who asks (src/cuda/engine/cu_report.c)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvp(command, arguments)
    except OSError as e:
        raise pytest.UsageError(f"{command}: {e.strerror}") from None


def engine_said() -> str:
    """What `lockstep run` has found since it was asked the last time."""
    if not is_loaded():  # nobody has asked for a GPU yet
        return ""
    import ctypes

    lib = library()
    lib.lkpy_cell.argtypes, lib.lkpy_cell.restype = [], ctypes.c_char_p
    return (lib.lkpy_cell() or b"").decode(errors="replace").strip()


def findings_of(text: str) -> List[Finding]:
    """The entries of a report that is there as text alone."""
    found = []
    for entry in re.split(r"(?m)^(?=(?:error|note)\[\w+\]: )", text)[1:]:
        m = re.match(r"(error|note)\[(\w+)\]: (.*)", entry)
        place = re.search(r"(?m)^ *--> (.*?):(\d+)", entry)
        kernel = re.search(r"(?m)^ *= kernel: (.*)", entry)
        assert m
        found.append(Finding(m.group(2), m.group(1), m.group(3), entry.strip(), place.group(1) if place else "", int(place.group(2)) if place else 0, kernel.group(1) if kernel else ""))
    return found


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: Any) -> Generator[None, Any, None]:
    watched = item.config.getoption("lockstep") and under_run()
    if watched:
        before = engine_said()
        if before:
            item.add_report_section("setup", "lockstep", before)
    outcome = yield
    if not watched:
        return
    text = engine_said()
    found = findings_of(text)
    notes_fail = item.config.getoption("lockstep_fail_on") == "note"
    if outcome.excinfo is None and any(f.severity == "error" or notes_fail for f in found):
        outcome.force_exception(FindingsError(text, found))
    elif text:
        item.add_report_section("call", "lockstep", text)


def pytest_report_header(config: Any) -> str:
    return "lockstep: every launch is checked" if config.getoption("lockstep") else ""
