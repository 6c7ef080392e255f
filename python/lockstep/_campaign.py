"""`lockstep test FILE... --dask ADDRESS`: the shards of a campaign on the workers of a Dask scheduler.

A shard is a part of the cases by their numbers (`--shard I/N`), so what it computes depends on nothing but its number. A worker
that dies takes its shard along; the scheduler gives it to another one, from its beginning. Only a shard that has ended hands in its
result, and each number is taken once: nothing is lost, and nothing counts twice. Workers need the package, not the files: these go
along."""
from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from .errors import BadInput, LockstepError, NothingRun, Unsupported, printable

_SENT = (".cu", ".cuh", ".h", ".hpp", ".ptx", ".cases", ".py")
_MOST = 4 << 20  # bytes of one file that goes along
_REFUSED = {"--shard": "each shard has its own", "--jobs": "the workers are the processes", "--junit": "it is written by shards of their own", "--sarif": "it is written by shards of their own", "--html": "it is written by shards of their own",
            "--keep": "workers keep nothing", "--resume": "a campaign on Dask has no beginning to go on from", "--record": "record the case it names with launch", "--emit-c": "record the case it names with launch"}


def path_of(word: str) -> str:
    """Of FILE or FILE:KERNEL."""
    return word if os.path.exists(word) or ":" not in word else word.rpartition(":")[0]


def gather(words: Sequence[str]) -> Dict[str, bytes]:
    """The files to test, and what lies beside them: headers, PTX, Python functions."""
    out: Dict[str, bytes] = {}
    files = [path_of(word) for word in words]
    for file in files:
        folder = os.path.dirname(file)
        for name in sorted(os.listdir(folder or ".")):
            path = os.path.join(folder, name)
            if (path == file or name.endswith(_SENT) and (not name.endswith(".cu") or path in files)) and os.path.isfile(path) and os.path.getsize(path) <= _MOST:
                with open(path, "rb") as f:
                    out[path] = f.read()
        if file not in out:
            raise BadInput(f"{file} is not there, or has more than {_MOST >> 20} MiB")
    return out


def run_shard(number: int, shards: int, files: Sequence[str], sent: Dict[str, bytes], options: Sequence[str]) -> Dict[str, Any]:
    """On a worker: one shard, in a folder of its own. Its exit code, its report and its journal. This function travels as code, since
    the scheduler reads it, too, and need not have the package."""
    import os
    import subprocess
    import tempfile

    from lockstep._library import command_path

    with tempfile.TemporaryDirectory(prefix="lockstep-shard-") as folder:
        for path, data in sent.items():
            to = os.path.join(folder, path.lstrip("/").replace("../", "up/"))
            os.makedirs(os.path.dirname(to), exist_ok=True)
            with open(to, "wb") as f:
                f.write(data)
        names = [path.lstrip("/").replace("../", "up/") for path in files]
        done = subprocess.run([command_path(), "test", *names, *options, "--shard", f"{number + 1}/{shards}", "--json", "report.json", "--journal", "journal"], cwd=folder, capture_output=True, text=True)
        read = lambda name: open(os.path.join(folder, name), encoding="utf-8").read() if os.path.exists(os.path.join(folder, name)) else ""
        return {"shard": number, "code": done.returncode, "text": done.stdout + done.stderr, "json": read("report.json"), "journal": read("journal"), "worker": os.uname().nodename, "pid": os.getpid()}


def _verdict(result: Dict[str, Any]) -> str:
    """Of one shard: what its report says, but for a shard whose exit code says that more went wrong after it was written."""
    said = json.loads(result["json"]).get("verdict", "incomplete") if result["json"] else "incomplete"
    return "incomplete" if said == "passed" and result["code"] else said


@dataclass
class Campaign:
    """What came of all shards."""

    shards: int
    results: Dict[int, Dict[str, Any]] = field(default_factory=dict)

    def take(self, result: Dict[str, Any]) -> None:
        if result["shard"] in self.results:
            raise RuntimeError(f"shard {result['shard'] + 1} has come twice")
        self.results[result["shard"]] = result

    @property
    def missing(self) -> List[int]:
        return [i for i in range(self.shards) if i not in self.results]

    @property
    def verdict(self) -> str:
        """Of all shards together, by the order of src/base/base/outcome.h. A kernel that no shard has judged is no yes."""
        verdicts = [_verdict(r) for r in self.results.values()]
        for worst in ("failed", "incomplete", "unsupported"):
            if worst in verdicts:
                return worst
        return "passed" if "passed" in verdicts and not self.unjudged() else "nothing judged"

    @property
    def code(self) -> int:
        own = next((r["code"] for r in self.results.values() if r["code"] not in range(5)), 0)  # --error-exitcode, or a shard that a signal has ended
        return {"failed": own or 1, "incomplete": 2, "unsupported": 3, "nothing judged": 4, "passed": 0}[self.verdict]

    def unjudged(self) -> List[str]:
        """Kernels of which no shard had a case, whose oracle could judge no element of an output in any, or of which nothing was checked."""
        return [name for (_, name), k in self.kernels().items() if not k["passed"] + k["failed"] or (k["judges"] and not k["elements"]) or k["verdicts"] == ["nothing judged"]]

    def reports(self) -> List[Dict[str, Any]]:
        return [json.loads(r["json"]) for _, r in sorted(self.results.items()) if r["json"]]

    def kernels(self) -> Dict[Tuple[str, str], Dict[str, Any]]:
        """Cases by file and kernel, all shards together; a case that two shards have ran is an error of ours."""
        out: Dict[Tuple[str, str], Dict[str, Any]] = {}
        for report in self.reports():
            for file in report["files"]:
                for k in file["kernels"]:
                    sum_ = out.setdefault((file["file"], k["name"]), {"cases": 0, "passed": 0, "failed": 0, "refused": 0, "elements": 0, "judges": False, "verdicts": [], "list": [], "failures": {}})
                    for key in ("cases", "passed", "failed", "refused", "elements"):
                        sum_[key] += k[key]
                    sum_["judges"] |= k["oracle"] and not k["oracle_off"]
                    sum_["verdicts"] = sorted({*sum_["verdicts"], k["verdict"]})
                    sum_["list"] += k["list"]
                    for f in k["failures"]:
                        of = sum_["failures"].setdefault(f["first"], {"kind": f["kind"], "case": f["case"], "cases": 0})
                        of["cases"] += f["cases"]
        return out

    def journal(self) -> str:
        return "".join(r["journal"] for _, r in sorted(self.results.items()))

    def text(self) -> str:
        lines = []
        unjudged = self.unjudged()
        for (file, name), k in self.kernels().items():
            if k["failed"]:
                lines.append(f"FAILED {name}: {k['failed']} of {k['cases']} cases in {self.shards} shards")
                lines += [f"  {f['kind']} in {f['cases']} case{'s' * (f['cases'] > 1)}, the smallest: {f['case']}" for f in k["failures"].values()]
            elif name in unjudged:
                why = "no element that the oracle could judge" if k["judges"] else "nothing that checks them"
                lines.append(f"NOT JUDGED {name}: {k['passed']} cases in {self.shards} shards, and {why}" + (f"; {k['refused']} refused" if k["refused"] else ""))
            else:
                judged = f"{k['elements']} elements within bounds" if k["judges"] else "no result was judged"
                lines.append(f"{'PASSED' if k['judges'] else 'CHECKED'} {name}: {k['passed']} cases in {self.shards} shards, {judged}" + (f"; {k['refused']} refused" if k["refused"] else ""))
        seen = set()
        for report, r in ((json.loads(r["json"]), r) for _, r in sorted(self.results.items()) if r["json"] and json.loads(r["json"])["verdict"] == "failed"):
            kinds = tuple(sorted((f["id"], f.get("kernel")) for f in report["report"]["findings"]))
            if kinds not in seen:
                seen.add(kinds)
                lines += ["", r["text"][r["text"].find("error["):].strip()] if "error[" in r["text"] else []
        worse = ("incomplete", "unsupported") if unjudged else ("incomplete", "unsupported", "nothing judged")
        lines += [r["text"].strip() for r in self.results.values() if _verdict(r) in worse][:1]
        return "\n".join(lines)


def campaign(files: Sequence[str], address: str, options: Sequence[str] = (), cases: int = 64, shards: Optional[int] = None, said: Optional[Callable[[str], None]] = None) -> Campaign:
    """Runs a campaign on the scheduler at `address` (`tcp://HOST:8786`, `local:4` for four workers here)."""
    try:
        from distributed import Client, LocalCluster, as_completed
    except ImportError:
        raise Unsupported("a campaign on Dask needs dask and distributed: pip install 'dask[distributed]'") from None
    cluster = LocalCluster(n_workers=int(address.partition(":")[2] or 2), threads_per_worker=1, dashboard_address=None) if address.split(":")[0] == "local" else None
    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    code = cloudpickle.dumps(run_shard)
    work = lambda code, *words: __import__("pickle").loads(code)(*words)  # noqa: E731: a function of a module would be sought there by its name
    sent, lost = gather(files), ""
    try:
        with Client(cluster or address, timeout="30s") as client:
            workers = len(client.scheduler_info()["workers"])
            if not workers:
                raise NothingRun(f"the scheduler at {address} has no workers")
            n = min(shards or max(4 * workers, 8), cases)
            out = Campaign(n)
            # the first C % N shards have a case more
            futures = [client.submit(work, code, i, n, list(files), sent, [*options, "--cases", str(cases // n + (i < cases % n))], key=f"lockstep-{os.getpid()}-{id(out)}-{i}", retries=2) for i in range(n)]
            for future, result in as_completed(futures, with_results=True, raise_errors=False):
                if isinstance(result, dict):
                    out.take(result)
                else:  # what went wrong on the worker
                    lost = str(result[1] if isinstance(result, tuple) else result)
                if said:
                    said(f"{len(out.results)} of {n} shards, {workers} workers")
    except OSError as e:
        raise BadInput(f"there is no scheduler at {address}: {e}") from None
    finally:
        if cluster is not None:
            cluster.close()
    if out.missing:
        raise LockstepError(f"shards {', '.join(str(i + 1) for i in out.missing)} of {out.shards} are missing: nothing is said of their cases" + (f"; the last was lost to: {lost}" if lost else ""))
    return out


def _split(arguments: Sequence[str]) -> Tuple[List[str], List[str], Dict[str, str]]:
    """Files, options that go to every shard, and those that are for here."""
    own = {"--dask": "", "--cases": "64", "--journal": "", "--json": ""}
    files: List[str] = []
    options: List[str] = []
    words = list(arguments)
    flags = {"--list", "--coverage", "--quiet", "--verbose", "--fail-fast", "-G", "--use_fast_math", "--fresh"}
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if name in _REFUSED:
            raise BadInput(f"{name} does not go with --dask: {_REFUSED[name]}")
        if not word.startswith("-"):
            files.append(word)
        elif name in own:
            own[name] = value if equals else words.pop(0)
        else:
            options.append(word)
            if not equals and name not in flags and not (word[:2] in ("-I", "-D", "-U", "-O") and len(word) > 2) and words:
                options.append(words.pop(0))
    return files, options, own


def command(arguments: List[str]) -> int:
    """The verb, as the command hands it over."""
    try:
        files, options, own = _split(arguments)
        if not files:
            raise BadInput("say which file to test, as in lockstep test softmax.cu --dask local:4")
        quiet = "--quiet" in options
        said = (lambda text: print("\r" + text, end="", file=sys.stderr, flush=True)) if sys.stderr.isatty() and not quiet else None
        out = campaign(files, own["--dask"], options, int(own["--cases"]), None, said)
        if said:
            print(file=sys.stderr)
        if own["--journal"]:
            with open(own["--journal"], "a", encoding="utf-8") as f:
                f.write(out.journal())
        if own["--json"]:
            merged = {"schema": "lockstep-campaign", "version": 1, "verdict": out.verdict, "shards": out.shards, "kernels": [{"file": f, "name": k, **{n: v for n, v in s.items() if n != "failures"}, "failures": list(s["failures"].values())} for (f, k), s in out.kernels().items()]}
            text = json.dumps(merged) + "\n"
            if own["--json"] == "-":
                sys.stdout.write(text)
                return out.code
            with open(own["--json"], "w", encoding="utf-8") as f:
                f.write(text)
        print(printable(out.text()), flush=True)
        return out.code
    except OSError as e:
        print(f"lockstep: cannot write {printable(e.filename) if e.filename else 'what came of it'}: {e.strerror}", file=sys.stderr)
        sys.stdout = open(os.devnull, "w")  # Python would write its buffer again when it exits
        return 2
    except LockstepError as e:
        print(f"lockstep: {printable(str(e))}", file=sys.stderr)
        return e.status
    except ValueError as e:
        print(f"lockstep: {printable(str(e))}", file=sys.stderr)
        return 2
