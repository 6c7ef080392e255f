"""test, gradcheck, profile, bench and compare: over kernels by the command and the library, over any callable by cases of a
contract."""
from __future__ import annotations

import html
import inspect
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from . import _cases, _contract
from ._gpu import Gpu
from ._kernel import Kernel, find_file
from ._library import command_path, library, read_contract, text
from .errors import BadInput, Finding, FindingsError, NothingRun, by_status, read_report

Subject = Union[str, Kernel, Callable[..., Any]]


class Progress:
    """A line on standard error that is written over: on a terminal, or in a notebook."""

    def __init__(self, title: str, total: int, shown: Optional[bool]):
        self.title, self.total, self.done = title, total, 0
        self.shown = (sys.stderr.isatty() or "ipykernel" in sys.modules) if shown is None else shown
        self.last = 0.0

    def step(self, n: int = 1) -> None:
        self.done += n
        now = time.monotonic()
        if self.shown and (now - self.last > 0.1 or self.done >= self.total):
            self.last = now
            width = 24
            full = width * self.done // max(self.total, 1)
            end = "\n" if self.done >= self.total else ""
            print(f"\r{self.title} [{'#' * full}{'.' * (width - full)}] {self.done}/{self.total}", end=end, file=sys.stderr, flush=True)


@dataclass
class KernelResult:
    """What became of one kernel or function."""

    name: str
    cases: int
    passed: int
    failed: int
    elements: int = 0
    ratio: float = 0.0  # the largest difference of those that passed, over its bound
    failures: List[Dict[str, Any]] = field(default_factory=list)
    lines: List[str] = field(default_factory=list)
    data: Dict[str, Any] = field(default_factory=dict, repr=False)
    unjudged: str = ""  # what no case had an element of that could be judged; "": nothing


@dataclass
class TestResult:
    """The verdict of test or gradcheck. True where everything passed."""

    __test__ = False  # no test of pytest's
    kernels: List[KernelResult]
    findings: List[Finding]
    text: str

    def __bool__(self) -> bool:
        return bool(self.kernels) and all(not k.failed and k.cases and not k.unjudged for k in self.kernels)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{html.escape(k.name)}</td><td>{'FAILED' if k.failed else 'passed'}</td><td>{k.cases}</td><td>{k.failed}</td><td>{k.elements}</td><td>{k.ratio:.2g}</td></tr>" for k in self.kernels)
        return ("<table><tr><th>kernel</th><th></th><th>cases</th><th>failed</th><th>elements</th><th>closest to its bound</th></tr>" + rows + "</table>"
                + "".join(f"<pre style='white-space:pre-wrap'>{html.escape(f.text)}</pre>" for f in self.findings))


def _target(what: Union[str, Kernel]) -> Tuple[str, Optional[str]]:
    if isinstance(what, Kernel):
        return what.file, what.contract.plain
    return find_file(what)


def _words(options: Dict[str, Any]) -> List[str]:
    """cases=8, no_check="race", config={"T": "f16"} as options of the command."""
    out = []
    for name, value in options.items():
        word = "--" + name.replace("_", "-")
        if value is True:
            out.append(word)
        elif isinstance(value, dict):
            out += [word, ",".join(f"{k}={v}" for k, v in value.items())]
        elif value is not None and value is not False:
            out += [word, str(value)]
    return out


def _run(words: Sequence[str], fine: Sequence[int] = (0, 1)) -> Tuple[int, str, str, str]:
    """The command: exit code, standard output, standard error, the JSON that it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.json")
        done = subprocess.run([command_path(), *words, "--json", path, "--color", "never"], capture_output=True, text=True)
        document = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
    if done.returncode not in fine or not document:
        raise by_status(done.returncode or 2, (done.stderr or done.stdout).strip().replace("lockstep: ", "", 1))
    return done.returncode, done.stdout, done.stderr, document


# ---- test ----


def test(what: Subject, *, like: Union[str, Kernel, None] = None, contract: Optional[str] = None, cases: int = 64, seed: int = 0, progress: Optional[bool] = None,
         check: bool = True, **options: Any) -> TestResult:
    """Is it right? `what` is a kernel or its file: `lockstep test` with these options (`config={"T": "f16"}`, `jobs=4`, `on="gpu"`).
    Or a function of arrays: it is called on cases of the contract of `like`, a kernel that computes the same, or of the text
    `contract`, and its results are held against the oracle, each element with its bound. Findings are raised as FindingsError;
    with `check=False` they are in the result."""
    result = _test_file(what, cases, seed, options) if isinstance(what, (str, Kernel)) else _test_callable(what, like, contract, cases, seed, progress, options)
    if check and not result:
        if result.findings:
            raise FindingsError(result.text, result.findings)
        raise NothingRun(result.text or "no case was run")
    return result


def _test_file(what: Union[str, Kernel], cases: int, seed: int, options: Dict[str, Any]) -> TestResult:
    file, name = _target(what)
    _, out, err, document = _run(["test", file + (f":{name}" if name else ""), "--cases", str(cases), "--seed", str(seed), *_words(options)])
    data = json.loads(document)
    kernels = [KernelResult(k["name"], k["cases"], k["passed"], k["failed"], k["elements"], k["ratio"] or 0.0, k["failures"], [c["case"] for c in k["list"]], k)
               for f in data["files"] for k in f["kernels"]]
    return TestResult(kernels, read_report(json.dumps(data["report"]), out), out.strip() + ("\n" + err.strip() if err.strip() else ""))


def _contract_of(like: Union[str, Kernel, None], contract: Optional[str]) -> Tuple[_contract.Kernel, str]:
    if isinstance(like, Kernel):
        return like.contract, like.source
    if like is not None:
        k = Kernel(like)
        return k.contract, k.source
    if contract is None:
        raise BadInput("a function is tested by the contract of a kernel that computes the same: like='softmax.cu', or contract='...' with the //! lines")
    try:
        return read_contract(contract).kernel(), contract
    except _contract.ContractError as e:
        raise BadInput(str(e)) from None


def _style(f: Callable[..., Any], options: Dict[str, Any]) -> Tuple[str, str]:
    """With which arrays a function is called: those of PyTorch where that is loaded, else NumPy's."""
    device = options.pop("device", "cpu")
    arrays = options.pop("arrays", "torch" if "torch" in sys.modules else "numpy")
    if options:
        raise BadInput(f"{', '.join(options)}: a function is tested with device= and arrays= alone")
    return arrays, device


def _accepted(f: Callable[..., Any]) -> Optional[set]:
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return set()
    if any(p.kind == p.VAR_KEYWORD for p in parameters):
        return None
    return {p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}


def _named(f: Callable[..., Any], k: _contract.Kernel, case: _cases.Case) -> Dict[str, Any]:
    """Values, configs and sizes that the function has parameters for."""
    numbers: Dict[str, Any] = {**case.dims, **case.values, **{ch.name: int(case.chosen[ch.name]) for ch in k.choices if not ch.is_type}}
    takes, arrays = _accepted(f), {a.name for a in k.args if a.kind == "array"}
    return {n: v for n, v in numbers.items() if n not in arrays and takes is not None and n in takes}


def _as_double(x: Any) -> Any:
    import numpy as np

    if hasattr(x, "detach"):
        return x.detach().cpu().double().numpy()
    return np.asarray(x, dtype=np.float64)


def _judge(name: str, got: Any, want: _cases.Expected) -> Tuple[int, float, Optional[str]]:
    """Elements that were judged, the largest difference over its bound, and what is wrong."""
    import numpy as np

    if tuple(got.shape) != tuple(want.value.shape):
        return 0, math.inf, f"{name} has shape {list(got.shape)}, and the contract says {list(want.value.shape)}"
    known = want.unknown == 0
    with np.errstate(all="ignore"):
        same = (got == want.value) | (np.isnan(got) & np.isnan(want.value))
        off = np.where(same, 0.0, np.abs(got - want.value))
        off = np.where(np.isnan(off) & known, np.inf, off)
        over = np.where(off == 0, 0.0, off / np.where(want.bound > 0, want.bound, 1e-300))
        over = np.where(np.isinf(want.bound) & np.isfinite(got), 0.0, over)
    over = np.where(known, over, 0.0)
    if not known.any():
        return 0, 0.0, None
    worst = np.unravel_index(int(np.argmax(over)), over.shape)
    ratio = float(over[worst])
    if ratio <= 1:
        return int(known.sum()), ratio, None
    wrong = int((over > 1).sum())
    index = "".join(f"[{i}]" for i in worst)
    return int(known.sum()), ratio, (f"{name}{index} is {got[worst]:.9g} and should be {want.value[worst]:.9g}, within {want.bound[worst]:.3g}; {wrong} of {over.size} elements are wrong")


def _finding(kind: str, f: Callable[..., Any], cause: str, line: str, title: str) -> Finding:
    name = getattr(f, "__name__", type(f).__name__)
    code = getattr(f, "__code__", None)
    said = f"error[{kind}]: {title}\n  = function: {name}" + (f" ({os.path.basename(code.co_filename)}:{code.co_firstlineno})" if code else "") + f"\n  = cause: {cause}\n  = case: {line}"
    return Finding(kind, "error", title, said, code.co_filename if code else "", code.co_firstlineno if code else 0, name, {"cause": cause, "case": line})


def _cases_of(k: _contract.Kernel, source: str, cases: int, seed: int, progress: Optional[bool], title: str) -> Iterator[_cases.Case]:
    lines = _cases.case_lines(k, source, cases, seed)
    bar, maker = Progress(title, len(lines), progress), _cases.Maker(k, source)
    try:
        for line in lines:
            case = maker.make(line)
            bar.step()
            if case is not None and not case.is_empty:
                yield case
    finally:
        maker.close()


def _smaller(found: Dict[str, Tuple[int, str, str]], key: str, line: str, cause: str, size: int) -> None:
    """Of cases that fail alike, the one with the smallest arrays is told."""
    if key not in found or size < found[key][0]:
        found[key] = (size, line, cause)


def _told(f: Callable[..., Any], name: str, counts: List[int], ratio: float, found: Dict[str, Tuple[int, str, str]], lines: List[str], kind: str, title: str, unjudged: str = "") -> TestResult:
    cases, failed, elements = counts
    findings = [_finding(kind, f, cause, line, title) for _, line, cause in found.values()]
    result = KernelResult(name, cases, cases - failed, failed, elements, ratio, [{"kind": kind, "case": line} for _, line, _ in found.values()], lines, unjudged="" if failed else unjudged)
    head = f"FAILED {name}: {failed} of {cases} cases" if failed else f"VALIDATED {name}: {cases} cases; {elements} elements within bounds, the closest at {ratio:.2g} of it"
    if result.unjudged:
        head = f"NOT JUDGED {name}: {cases} cases ran, and none had an element of {unjudged} that the oracle could judge"
    if not cases:
        head = f"{name}: no case was run"
    return TestResult([result], findings, "\n".join([head, *(x.text for x in findings)]))


def _test_callable(f: Callable[..., Any], like: Union[str, Kernel, None], contract: Optional[str], cases: int, seed: int, progress: Optional[bool], options: Dict[str, Any]) -> TestResult:
    k, source = _contract_of(like, contract)
    style, device = _style(f, dict(options))
    texts = _cases.oracle_texts(k)
    if not texts:
        raise BadInput(f"the contract of {k.plain} has no oracle line: nothing says what is right")
    name = getattr(f, "__name__", type(f).__name__)
    counts, ratio, found, lines = [0, 0, 0], 0.0, {}, []  # type: ignore[var-annotated]
    judged: Dict[str, int] = {}
    missing: Dict[str, bool] = {}
    for case in _cases_of(k, source, cases, seed, progress, f"test {name}"):
        outs = [a.name for a in k.args if a.written]
        want = _cases.expected(k, case, texts, case.types)
        got = f(*[case.object(n, style, device) for n in case.inputs(k)], **_named(f, k, case))
        got = got if isinstance(got, (tuple, list)) else (got,)
        counts[0] += 1
        lines.append(case.line)
        bad = False
        for at, out in enumerate(outs):
            if out not in want:
                continue
            if at >= len(got):  # a known-good function may compute less than the kernel
                missing[out] = True
                continue
            n, over, wrong = _judge(out, _as_double(got[at]), want[out])
            counts[2] += n
            if want[out].value.size:
                judged[out] = judged.get(out, 0) + n
            if wrong:
                bad = True
                _smaller(found, out, case.line, wrong, sum(math.prod(s) for s in case.shapes.values()))
            else:
                ratio = max(ratio, over)
        counts[1] += bad
    unjudged = ", ".join(out for out, n in judged.items() if not n)
    if counts[0] and not judged and missing:
        unjudged = ", ".join(missing)
    result = _told(f, name, counts, ratio, found, lines, "result_wrong", "results are not those of the oracle", unjudged)
    if missing:
        result.text += f"\n  not returned, and so not judged: {', '.join(missing)}"
    return result


# ---- gradients ----


def gradcheck(what: Subject, *, like: Union[str, Kernel, None] = None, contract: Optional[str] = None, cases: int = 32, seed: int = 0, wider: float = 4.0,
              progress: Optional[bool] = None, check: bool = True, **options: Any) -> TestResult:
    """Are its gradients right? A file: the backward kernels of its ops, by `test`. A function of tensors (a custom op, a known-good
    one): called on cases of a forward kernel's contract, differentiated by PyTorch, and held against the gradient of the oracle,
    which has a bound of its own for every element; `wider` widens it for what is rounded between forward and backward. Cases in f16
    and bf16 are left out: what is saved is rounded to them."""
    if isinstance(what, (str, Kernel)):
        return _gradcheck_file(what, cases, seed, check, options)
    import torch

    k, source = _contract_of(like, contract)
    style, device = _style(what, {"arrays": "torch", **options})
    texts, name = _cases.oracle_texts(k), getattr(what, "__name__", type(what).__name__)
    out = next(a.name for a in k.args if a.written)
    counts, ratio, found, lines = [0, 0, 0], 0.0, {}, []  # type: ignore[var-annotated]
    for case in _cases_of(k, source, cases, seed, progress, f"gradcheck {name}"):
        floats = [n for n in case.inputs(k) if case.types[n] in ("f32", "f16", "bf16", "f64")]
        if re.search(r"=(inf|nan|huge|denormal)\b", case.line) or any(case.types[n] in ("f16", "bf16") for n in floats):
            continue  # nothing is known of gradients there; halves round what is saved between, which the oracle's text does not say
        inputs = {n: case.object(n, "torch", device) for n in case.inputs(k)}
        for n in floats:
            inputs[n].requires_grad_()
        y = what(*inputs.values(), **_named(what, k, case))
        y = y[0] if isinstance(y, (tuple, list)) else y
        dy = torch.randn(y.shape, generator=torch.Generator().manual_seed(seed + counts[0])).to(y.dtype).to(device)
        grads = torch.autograd.grad(y, [inputs[n] for n in floats], dy, allow_unused=True)
        raw = dy.detach().cpu().contiguous().view({2: torch.int16, 4: torch.int32, 8: torch.int64}[dy.element_size()]).numpy()
        names = ", ".join(f"lk_d_{n}" for n in floats)
        want = _cases.expected(k, case, [*texts, f"{names} = grad({out}, lk_dy, {', '.join(floats)})"], {f"lk_d_{n}": case.types[n] for n in floats},
                               {"lk_dy": (case.types[out], raw.view(f"uint{8 * dy.element_size()}"))}, wider)
        counts[0] += 1
        lines.append(case.line)
        bad = False
        for n, g in zip(floats, grads):
            if g is None:
                over, wrong, judged = math.inf, f"there is no gradient of {n}", 0
            else:
                judged, over, wrong = _judge("d" + n, _as_double(g), want[f"lk_d_{n}"])
            counts[2] += judged
            if wrong:
                bad = True
                _smaller(found, n, case.line, wrong, sum(math.prod(s) for s in case.shapes.values()))
            else:
                ratio = max(ratio, over)
        counts[1] += bad
    result = _told(what, name, counts, ratio, found, lines, "gradient_wrong", "a gradient is not that of the oracle", "" if counts[2] else "any gradient")
    if check and not result:
        raise FindingsError(result.text, result.findings) if result.findings else NothingRun(result.text)
    return result


def _gradcheck_file(what: Union[str, Kernel], cases: int, seed: int, check: bool, options: Dict[str, Any]) -> TestResult:
    file, _ = _target(what)
    with open(file, encoding="utf-8", errors="replace") as f:
        parsed = read_contract(f.read(), file)
    names = list(dict.fromkeys(c.name for o in parsed.ops for c in o.backward)) or [k.plain for k in parsed.kernels if "backward" in k.plain]
    if not names:
        raise BadInput(f"{file} has no backward kernel: //! backward NAME(...) -> ... in an op says which it is")
    parts = [_test_file(f"{file}:{n}", cases, seed, options) for n in names]
    result = TestResult([k for p in parts for k in p.kernels], [x for p in parts for x in p.findings], "\n".join(p.text for p in parts))
    if check and not result:
        raise FindingsError(result.text, result.findings) if result.findings else NothingRun(result.text)
    return result


# ---- counts ----


@dataclass
class Profile:
    """What launches did, counted exactly (docs/reference/profile.md): `data` is the JSON, `text` the table, `html` a page."""

    data: Dict[str, Any]
    text: str
    html: str = field(repr=False, default="")

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<iframe srcdoc=\"{html.escape(self.html)}\" style='width:100%;height:600px;border:0'></iframe>"


def profile(what: Subject, *arrays: Any, **named: Any) -> Profile:
    """How is it fast, without a GPU: a kernel (or any function that launches kernels of the package) called with these arrays on a
    software GPU that counts. A file without arrays: one launch with the sizes that its contract proposes."""
    if isinstance(what, str) and not arrays:
        file, name = _target(what)
        _, out, _, document = _run(["profile", file + (f":{name}" if name else ""), *_words(named)])
        return Profile(json.loads(document), out.strip(), _page(document))
    call = Kernel(what) if isinstance(what, str) else what
    gpu = Gpu(profile=True, seed=0)
    try:
        with gpu:
            call(*arrays, **named)
        if not gpu.launches:
            raise NothingRun("nothing was launched on the software GPU")
        document = gpu.profile_json()
        return Profile(json.loads(document), gpu.profile_text().strip(), _page(document))
    finally:
        gpu.close()


def _page(document: str) -> str:
    data = document.encode()
    return text(library().lk_page(data, len(data)))


# ---- times ----


@dataclass
class Timing:
    """Seconds of single calls, in the order they were made, after those that warm up."""

    name: str
    seconds: List[float]
    device: str

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def interval(self, level: float = 0.95) -> Tuple[float, float]:
        """Of the median, by the binomial distribution: no shape of the samples is assumed."""
        n, ordered = len(self.seconds), sorted(self.seconds)
        k, tail = 0, 0.5**n
        while tail + math.comb(n, k + 1) * 0.5**n <= (1 - level) / 2 and k < n // 2:
            k += 1
            tail += math.comb(n, k) * 0.5**n
        return ordered[k], ordered[n - 1 - k]

    def __str__(self) -> str:
        low, high = self.interval()
        return f"{self.name}: {1e6 * self.median:.2f} us, the median of {len(self.seconds)} calls on {self.device} ({1e6 * low:.2f} to {1e6 * high:.2f} at 95 %)"

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(str(self))}</code>"


def _on_cuda(arrays: Sequence[Any]) -> bool:
    return any(getattr(a, "is_cuda", False) for a in arrays)


def _timer(call: Callable[[], Any], cuda: bool) -> Callable[[], float]:
    if not cuda:

        def host() -> float:
            began = time.perf_counter()
            call()
            return time.perf_counter() - began

        return host
    import torch

    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def device() -> float:
        begin.record()
        call()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3

    return device


def _named_call(what: Subject) -> Tuple[Callable[..., Any], str]:
    call = Kernel(what) if isinstance(what, str) else what
    return call, getattr(call, "name", None) or getattr(call, "__name__", type(call).__name__)


def bench(what: Subject, *arrays: Any, repeat: int = 50, warm: int = 5, seconds: float = 5.0, **named: Any) -> Any:
    """How long does it take? A file or kernel without arrays: `lockstep bench`, which reports exact counts on the software GPU and
    times on a real one. With arrays: single calls are timed, by events in the stream where they lie on a GPU. A kernel of the
    package on arrays of the host runs on the software GPU, whose time says nothing of a GPU: that is refused; use profile."""
    call, name = _named_call(what)
    if repeat < 1:
        raise BadInput(f"repeat is {repeat}; one call at least is timed")
    if isinstance(call, Kernel) and not arrays:
        return _bench_file(call, {"repeat": None, **named})
    cuda = _on_cuda(arrays)
    if isinstance(call, Kernel) and not cuda:
        raise BadInput("these arrays lie in memory of the host: the time of the software GPU says nothing of a GPU; profile() counts what it does")
    one = _timer(lambda: call(*arrays, **named), cuda)
    for _ in range(warm):
        one()
    began, samples = time.monotonic(), []
    while len(samples) < repeat and (time.monotonic() - began < seconds or len(samples) < 6):
        samples.append(one())
    return Timing(name, samples, "cuda" if cuda else "the host")


def _bench_file(k: Kernel, options: Dict[str, Any]) -> Dict[str, Any]:
    _, _, _, document = _run(["bench", f"{k.file}:{k.contract.plain}", *_words(options)])
    return json.loads(document)


@dataclass
class Comparison:
    """FASTER, SAME, SLOWER or UNCLEAR: the second against the first, by the interval of the ratio of their medians."""

    verdict: str
    ratio: float
    low: float
    high: float
    threshold: float
    first: Timing
    second: Timing

    def __bool__(self) -> bool:
        return self.verdict in ("FASTER", "SAME")

    def __str__(self) -> str:
        return f"{self.verdict}: {self.second.name} takes {self.ratio:.3f} of the time of {self.first.name} ({self.low:.3f} to {self.high:.3f} at 95 %, threshold {100 * self.threshold:g} %)"

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(str(self))}</code>"


def compare(first: Subject, second: Subject, *arrays: Any, rounds: int = 20, threshold: float = 0.03, seed: int = 0, **named: Any) -> Comparison:
    """Is the second slower than the first? Both are called on the same arrays, in turns (ABBA), in this process. One interval decides:
    that of the ratio of medians, by a bootstrap over rounds. For whole programs, several processes and journals: `lockstep
    compare`."""
    import random

    (a, name_a), (b, name_b) = _named_call(first), _named_call(second)
    cuda = _on_cuda(arrays)
    if not cuda and (isinstance(a, Kernel) or isinstance(b, Kernel)):
        raise BadInput("these arrays lie in memory of the host: the time of the software GPU says nothing of a GPU; profile() counts what it does")
    one, two = _timer(lambda: a(*arrays, **named), cuda), _timer(lambda: b(*arrays, **named), cuda)
    for _ in range(5):
        one(), two()
    pairs: List[Tuple[Tuple[float, float], Tuple[float, float]]] = []
    for _ in range(max(rounds, 6)):
        w, x, y, z = one(), two(), two(), one()
        pairs.append(((w, z), (x, y)))
    middle = lambda some: statistics.median(s for _, p in some for s in p) / statistics.median(s for p, _ in some for s in p)
    chance = random.Random(seed)
    ratios = sorted(middle([pairs[chance.randrange(len(pairs))] for _ in pairs]) for _ in range(1000))
    low, high = ratios[25], ratios[974]
    verdict = "SLOWER" if low > 1 + threshold else "FASTER" if high < 1 - threshold else "SAME" if low >= 1 - threshold and high <= 1 + threshold else "UNCLEAR"
    where = "cuda" if cuda else "the host"
    return Comparison(verdict, middle(pairs), low, high, threshold, Timing(name_a, [s for p, _ in pairs for s in p], where), Timing(name_b, [s for _, p in pairs for s in p], where))
