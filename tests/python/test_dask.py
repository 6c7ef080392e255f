"""Campaigns on Dask: a real scheduler, workers that are processes, one of which is killed half way."""
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from conftest import TOP

pytest.importorskip("distributed", reason="dask and distributed are not here")

import lockstep  # noqa: E402

FILE = "specimens/reduce_double_ok.cu"


def env():
    e = dict(os.environ, LOCKSTEP_PYTHON=sys.executable)
    if not e.get("LOCKSTEP_INSTALLED"):
        e["PYTHONPATH"] = TOP + "/python"
    return e


@pytest.fixture
def scheduler(tmp_path):
    """A scheduler and three workers without nannies: one that is killed stays dead."""
    file = tmp_path / "scheduler.json"
    started = [subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)], stderr=subprocess.DEVNULL)]
    for _ in range(1800):  # a machine that does much else takes its time
        if started[0].poll() is not None or (file.exists() and file.stat().st_size):
            break
        time.sleep(0.1)
    address = json.loads(file.read_text())["address"]
    for _ in range(3):
        started.append(subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path)], env=env(), stderr=subprocess.DEVNULL))
    from distributed import Client

    with Client(address) as client:
        client.wait_for_workers(3, timeout=300)
    yield address, started[1:]
    for p in started:
        if p.poll() is None:
            p.kill()
    for p in started:
        p.wait(20)


def cases(text):
    """file: [case lines] of a report in JSON"""
    return sorted(c["case"] for k in text["kernels"] for c in k["list"])


def test_one_worker_killed(scheduler, tmp_path):
    address, workers = scheduler
    alone = tmp_path / "alone.json"
    assert subprocess.run([lockstep.command_path(), "test", FILE, "--cases", "48", "--json", str(alone), "--quiet"], cwd=TOP).returncode == 0
    want = cases(json.loads(alone.read_text())["files"][0])
    from lockstep import _campaign

    killed = []

    def said(text):
        if not killed and text.startswith("2 of "):
            workers[0].send_signal(signal.SIGKILL)
            killed.append(workers[0].wait(20))

    os.chdir(TOP)
    out = _campaign.campaign([FILE], address, [], 48, 12, said)
    assert killed == [-signal.SIGKILL] and out.code == 0 and not out.missing
    kernels = out.kernels()
    assert [k["cases"] for k in kernels.values()] == [48]
    assert sorted(c["case"] for k in kernels.values() for c in k["list"]) == want  # nothing lost, nothing twice
    assert len(out.journal().splitlines()) == 48
    assert len({r["pid"] for r in out.results.values()}) >= 2


def test_exit_codes_count():
    """A shard that has written its report and ends with an error all the same has not passed."""
    from lockstep import _campaign

    def campaign(*codes):
        out = _campaign.Campaign(len(codes))
        for i, code in enumerate(codes):
            out.take({"shard": i, "code": code, "text": "", "json": '{"verdict":"passed","files":[]}', "journal": ""})
        return out

    assert campaign(0, 0).code == 0 and campaign(0, 2).code == 2 and campaign(-9, 0).code == 2


def test_command(scheduler, tmp_path):
    address, _ = scheduler
    done = subprocess.run([lockstep.command_path(), "test", "specimens/reduce_double_bad.cu", "--dask", address, "--cases", "16", "--journal", str(tmp_path / "j")], cwd=TOP, env=env(), capture_output=True, text=True)
    assert done.returncode == 1 and re.match(r"FAILED row_sum: 16 of 16 cases in \d+ shards\n  result_factor in 16 cases, the smallest: ", done.stdout), done.stdout + done.stderr
    assert done.stdout.count("error[result_factor]") == 1 and len((tmp_path / "j").read_text().splitlines()) == 16
    done = subprocess.run([lockstep.command_path(), "test", FILE, "--dask", address, "--shard", "1/2"], cwd=TOP, env=env(), capture_output=True, text=True)
    assert done.returncode == 2 and "--shard does not go with --dask" in done.stderr


def test_verdicts(scheduler, tmp_path):
    """What is not right alone is not right in shards: a failure that does not come again, and nothing judged."""
    address, _ = scheduler
    for kernel, words, code, verdict, first in (
        ("flaky", [], 1, "failed", "FAILED flaky: 16 of 16 cases"),
        ("unjudged", [], 4, "nothing judged", "NOT JUDGED unjudged: 16 cases"),
        ("wrong", ["--no-check", "oracle"], 0, "passed", "CHECKED wrong: 16 cases"),
        ("wrong", ["--error-exitcode", "42"], 42, "failed", "FAILED wrong: 16 of 16 cases"),
        ("right", ["--no-check", "all"], 4, "nothing judged", "NOT JUDGED right: 16 cases"),
        ("right", ["tests/cases/endings/none.cu"], 4, "nothing judged", "PASSED right: 16 cases"),
    ):
        out = tmp_path / "out.json"
        done = subprocess.run([lockstep.command_path(), "test", f"tests/cases/endings/twice.cu:{kernel}", "--dask", address, "--cases", "16", "--json", str(out), *words], cwd=TOP, env=env(), capture_output=True, text=True)
        assert (done.returncode, json.loads(out.read_text())["verdict"]) == (code, verdict), done.stdout + done.stderr
        assert done.stdout.startswith(first), done.stdout
    for to in ("/dev/full", str(tmp_path / "no" / "file")):
        for option in ("--json", "--journal"):
            done = subprocess.run([lockstep.command_path(), "test", FILE, "--dask", address, "--cases", "8", option, to], cwd=TOP, env=env(), capture_output=True, text=True)
            assert done.returncode == 2 and "lockstep: cannot write " in done.stderr and "Traceback" not in done.stderr, done.stderr
    done = subprocess.run([lockstep.command_path(), "test", FILE, "--dask", address, "--html", str(tmp_path / "p.html")], cwd=TOP, env=env(), capture_output=True, text=True)
    assert done.returncode == 2 and "--html does not go with --dask" in done.stderr


def test_nobody_there():
    done = subprocess.run([lockstep.command_path(), "test", FILE, "--dask", "tcp://127.0.0.1:1"], cwd=TOP, env=env(), capture_output=True, text=True, timeout=100)
    assert done.returncode == 2 and "there is no scheduler at tcp://127.0.0.1:1" in done.stderr
