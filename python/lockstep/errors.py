"""What goes wrong, as exceptions that hold the report."""
from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional


def printable(text: str) -> str:
    """Text of others on its way to a terminal: what would move its cursor or turn its direction around is written out, as the command does."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


@dataclass(frozen=True)
class Finding:
    """One entry of a report (docs/reference/report.md): a bug of a kernel or of its call."""

    kind: str
    severity: str  # "error" or "note"
    title: str
    text: str  # as the report prints it
    file: str = ""
    line: int = 0
    kernel: str = ""  # as in the source; fields["kernel"] is its name in the module
    fields: Dict[str, Any] = field(default_factory=dict, hash=False, compare=False)  # all that the JSON has

    def __str__(self) -> str:
        return self.text


class LockstepError(Exception):
    """Anything that Lockstep has to say against a call. `status` is the exit code that the command would have."""

    status = 2

    def _repr_html_(self) -> str:
        return f"<pre style='white-space:pre-wrap'>{html.escape(str(self))}</pre>"


class BadInput(LockstepError, ValueError):
    """An argument, a file or a contract that cannot be used. `argument` is the name of the argument, or None."""

    status = 2

    def __init__(self, text: str, argument: Optional[str] = None):
        super().__init__(text)
        self.argument = argument


class Unsupported(LockstepError):
    """Something that Lockstep does not support was reached; the text names it."""

    status = 3


class NothingRun(LockstepError):
    """Nothing was checked or run."""

    status = 4


class SystemFailure(LockstepError, RuntimeError):
    """Memory, a file or a process could not be had."""

    status = 6


class FindingsError(LockstepError):
    """A launch or a test with findings: `findings` as objects, `report` as the text of all of them."""

    status = 1

    def __init__(self, report: str, findings: List[Finding]):
        super().__init__(report)
        self.report, self.findings = report, findings

    def _repr_html_(self) -> str:
        return f"<pre style='white-space:pre-wrap;border-left:3px solid #b00;padding-left:.6em'>{html.escape(self.report)}</pre>"


def by_status(status: int, text: str) -> LockstepError:
    kind = {2: BadInput, 3: Unsupported, 4: NothingRun}.get(status, SystemFailure)
    return kind(text or f"status {status}")


def read_report(document: str, text: str) -> List[Finding]:
    """The findings of a report, from its JSON (lk_report_json, `--json`) and its text, which have the same order."""
    entries = json.loads(document).get("findings", [])
    texts = [t.strip() for t in re.split(r"(?m)^(?=(?:error|note)\[\w+\]: )", text)[1:]]
    if texts:  # after the last one comes the sum
        texts[-1] = re.sub(r"\n\n\d+ findings?: .*\Z", "", texts[-1], flags=re.S)
    texts += [""] * (len(entries) - len(texts))
    return [_finding(f, t) for f, t in zip(entries, texts)]


def _finding(f: Dict[str, Any], text: str) -> Finding:
    place = f.get("place") or {}
    return Finding(kind=f["id"], severity=f["severity"], title=f["title"], text=text or f["title"], file=place.get("file") or "", line=int(place.get("line") or 0),
                   kernel=f.get("kernel_in_source") or "", fields=f)
