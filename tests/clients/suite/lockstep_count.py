"""A plugin of pytest for tests/clients/suites: one line for each test in the file $COUNT_RESULTS as soon as it has ended, so that a process
that dies loses nothing. A test that the file already names is left out; one that began and did not end is written down as `died`."""
import os
import re
import signal
import time

import pytest

# What a closed library says that finds no GPU: such a test asks for what is not here, and is `vendor` in place of `failed`.
VENDOR = re.compile("CUBLAS_STATUS_|CUSOLVER_STATUS_|CUSPARSE_STATUS_|CURAND_STATUS_|CUFFT_[A-Z]+_[A-Z]|CUDNN_STATUS_|NCCL_ERROR_|CUTENSOR_STATUS_")
RESULTS = os.environ["COUNT_RESULTS"]
LIMIT = int(os.environ.get("COUNT_LIMIT", "120"))
begun = {}


def write(outcome, name, seconds, why):
    """A line: outcome, test, seconds, the first line of the reason."""
    with open(RESULTS, "a") as f:
        f.write("\t".join([outcome, line_of(name), f"{seconds:.1f}", line_of(why)[:300]]) + "\n")


def line_of(text):
    """Parameters of tests, and so their names, may have lines and tabs."""
    return " ".join(text.split())


def seen():
    """The tests that the file names, with their last outcome."""
    names = {}
    if os.path.exists(RESULTS):
        with open(RESULTS) as f:
            for line in f:
                outcome, name = line.split("\t")[:2]
                names[name] = outcome
    return names


def pytest_collection_modifyitems(config, items):
    names = seen()
    for name, outcome in names.items():
        if outcome == "began":
            write("died", name, 0, f"it did not end in {LIMIT} s, or its process died")
    left = [i for i in items if line_of(i.nodeid) not in names]
    every = int(os.environ.get("COUNT_EVERY", "1"))
    if every > 1:
        left = [i for n, i in enumerate(items) if n % every == 0 and line_of(i.nodeid) not in names]
    config.hook.pytest_deselected(items=[i for i in items if i not in set(left)])
    items[:] = left


def pytest_collectreport(report):
    if report.failed:
        write("uncollected", report.nodeid, 0, str(report.longrepr).strip().split("\n")[-1])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    begun[item.nodeid] = time.monotonic()
    write("began", item.nodeid, 0, "")
    # The signal's own action ends the process, whoever holds the interpreter's lock.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(LIMIT)
    try:
        return (yield)
    finally:
        signal.alarm(0)


def pytest_runtest_logreport(report):
    if not hasattr(pytest_runtest_logreport, "worst"):
        pytest_runtest_logreport.worst = {}
    worst = pytest_runtest_logreport.worst
    why = ""
    if report.skipped and isinstance(report.longrepr, tuple):
        why = report.longrepr[2]
    elif report.failed:
        why = getattr(getattr(report.longrepr, "reprcrash", None), "message", str(report.longrepr))
    outcome = "xfailed" if hasattr(report, "wasxfail") and report.skipped else report.outcome
    if outcome == "failed" and VENDOR.search(str(report.longrepr)):
        outcome = "vendor"
    old = worst.get(report.nodeid)
    if old is None or (old[0] == "passed" and outcome != "passed"):
        worst[report.nodeid] = (outcome, why)
    if report.when == "teardown":
        outcome, why = worst.pop(report.nodeid)
        write(outcome, report.nodeid, time.monotonic() - begun.get(report.nodeid, time.monotonic()), why)


def pytest_addoption(parser):
    # numba-cuda's own conftest.py, which is not in its package, has this option and this fixture.
    parser.addoption("--dump-failed-filechecks", action="store_true")


@pytest.fixture(scope="class")
def initialize_from_pytest_config(request):
    request.cls._dump_failed_filechecks = False
