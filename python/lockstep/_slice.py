"""From a wrong element to lines of the kernel: the case is run once more with a trace (docs/use/trace.md), and the value that was
stored there is followed back, register by register, to what it was computed from. Values that come through shared memory or
from other lanes are followed to the stores and the exchanges of the same warp."""
from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Set, Tuple

from ._library import command_path

_REGISTER = re.compile(r"(%[a-zA-Z]+\d+)=")
_MOST = 200_000  # rows of a trace that are looked at


@dataclass
class Row:
    """One instruction of one warp."""

    cta: str
    warp: str
    places: List[Tuple[str, int]]  # its line, then where it was inlined, the innermost first
    text: str
    writes: List[str]
    reads: List[str]
    told: str  # the values


@dataclass
class Slice:
    """Lines of the kernel's own file."""

    stored: int = 0  # the line that stores the element
    lines: List[int] = field(default_factory=list)  # what it was computed from, the nearest first


def _places(text: str) -> List[Tuple[str, int]]:
    """"kernel.cuh:148 (in f, called at :79)": a line without a file is one of the same."""
    out: List[Tuple[str, int]] = []
    for file, line in re.findall(r"([\w.+-]*):(\d+)", text):
        out.append((file or (out[-1][0] if out else ""), int(line)))
    return out


def read(trace: str) -> List[Row]:
    rows = []
    for line in trace.splitlines():
        cell = line.split("\t")
        if line.startswith("#") or len(cell) < 7:
            continue
        told = cell[6]
        left, _, right = told.partition("<-")
        if "<-" not in told and cell[5].split(" ")[0].startswith(("st", "red", "bar")):
            left, right = "", told
        rows.append(Row(cell[0], cell[1], _places(cell[3]), cell[5], _REGISTER.findall(left), _REGISTER.findall(right), told))
    return rows


def _stores(rows: List[Row], array: str, offset: Optional[int]) -> List[int]:
    """Rows that store to the array, and to this byte of it where that can be told."""
    out = []
    for i, r in enumerate(rows):
        if not re.match(r"(@\S+ )?(st|red|atom)\.(?!shared|local)", r.text):
            continue
        at = [int(x, 16) for x in re.findall(rf"\b{re.escape(array)}\+0x([0-9a-f]+)", r.told)]
        step = re.search(rf"\b{re.escape(array)}\+0x([0-9a-f]+)\+(\d+)\*lane", r.told)
        if not at:
            continue
        near = offset is None or any(a <= offset < a + 16 for a in at) or bool(step and int(step.group(1), 16) <= offset < int(step.group(1), 16) + 32 * int(step.group(2)))
        if near:
            out.append(i)
    return out


def backward(rows: List[Row], array: str, offset: Optional[int], file: str) -> Slice:
    """The lines of `file` that the element was computed by."""
    found = _stores(rows, array, offset) or _stores(rows, array, None)
    if not found:
        return Slice()
    last = found[-1]
    own = lambda r: [line for name, line in r.places if name == file]
    out = Slice(next(iter(own(rows[last])), 0))
    needed: Set[str] = set(rows[last].reads)
    shared = False
    seen: Dict[int, None] = {line: None for line in own(rows[last])}
    for r in reversed(rows[max(0, last - _MOST):last]):
        if (r.cta, r.warp) != (rows[last].cta, rows[last].warp):
            continue
        takes = bool(needed & set(r.writes)) or (shared and re.match(r"(@\S+ )?st\.shared", r.text) is not None)
        takes = takes or re.match(r"@\S+ bra", r.text) is not None  # whether it came there at all
        if not takes:
            continue
        needed -= set(r.writes)
        needed |= set(r.reads)
        shared = shared or ".shared" in r.text
        for line in own(r):
            seen.setdefault(line)
    out.lines = list(seen)
    return out


def of_case(file: str, kernel: str, case: str, array: str, offset: Optional[int], seconds: float = 60) -> Slice:
    """`kernel` is the instance, "layernorm<float>". Empty where the case cannot be traced."""
    words = [command_path(), "launch", f"{file}:{kernel}", "--case", case, "--trace", "-", "--quiet"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return Slice()
    return backward(read(done.stdout), array, offset, os.path.basename(file))
