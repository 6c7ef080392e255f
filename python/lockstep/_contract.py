"""The `//!` lines of a kernel (lockstep-contract(5)), read in Python: which arrays it takes, what sizes follow from their
shapes, how it is launched. The library reads them, too (lk_contract_read), and holds a launch against them; here sizes are
solved from shapes, which the library need not do. This file imports nothing of Lockstep: modules that
`lockstep compile --torch` writes carry a copy of it."""
from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

Number = Union[int, float]

BYTES = {"i8": 1, "u8": 1, "b8": 1, "bool": 1, "e4m3": 1, "e5m2": 1, "i16": 2, "u16": 2, "b16": 2, "f16": 2, "bf16": 2,
         "i32": 4, "u32": 4, "b32": 4, "f32": 4, "i64": 8, "u64": 8, "b64": 8, "f64": 8}
# what the compiler calls a type: as a template argument, as a word behind -D
COMPILED = {"f32": ("float", "float"), "f64": ("double", "double"), "f16": ("__half", "__half"),
            "bf16": ("__nv_bfloat16", "__nv_bfloat16"), "e4m3": ("__nv_fp8_e4m3",) * 2, "e5m2": ("__nv_fp8_e5m2",) * 2,
            "i8": ("signed char", "int8_t"), "i16": ("short", "int16_t"), "i32": ("int", "int"),
            "i64": ("long long", "int64_t"), "u8": ("unsigned char", "uint8_t"), "u16": ("unsigned short", "uint16_t"),
            "u32": ("unsigned int", "unsigned"), "u64": ("unsigned long long", "uint64_t"), "bool": ("bool", "bool")}
PACKED = {"i8": "b", "u8": "B", "bool": "?", "i16": "h", "u16": "H", "f16": "e", "i32": "i", "u32": "I", "f32": "f",
          "i64": "q", "u64": "Q", "f64": "d"}
LINES = ("kernel", "op", "type", "config", "dim", "arg", "launch", "shared", "require", "oracle", "accumulate", "tolerance",
         "property", "flops", "threshold", "empty", "compile", "forward", "backward")


class ContractError(ValueError):
    """What a call gets wrong, or a contract. `argument` is the name of the array or value that it is about, or None."""

    def __init__(self, text: str, argument: Optional[str] = None):
        super().__init__(text)
        self.argument = argument


# ---- expressions ----

_TOKEN = re.compile(r"\s*(?:(0[xX][0-9a-fA-F]+)|((?:\d+\.(?!\.)\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?)|([A-Za-z_]\w*(?:\.stride\d|\.[xyz]\b)?)"
                    r"|(\|\||&&|==|!=|<=|>=|<<|>>|\.\.|[-+*/%<>()?:,!~|^&\[\]={}]))")
_BINDS = {"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7, "<<": 8, ">>": 8,
          "+": 9, "-": 9, "*": 10, "/": 10, "%": 10}


class Tokens:
    """A line being read."""

    def __init__(self, text: str):
        self.text, self.list, at = text, [], 0
        text = text.rstrip()
        while at < len(text):
            m = _TOKEN.match(text, at)
            if not m:
                raise ContractError(f"this cannot be read: {text[at:].strip()!r}")
            self.list.append(m.group().strip())
            at = m.end()
        self.i = 0

    def peek(self) -> str:
        return self.list[self.i] if self.i < len(self.list) else ""

    def next(self) -> str:
        self.i += 1
        return self.list[self.i - 1] if self.i <= len(self.list) else ""

    def take(self, word: str) -> bool:
        if self.peek() != word:
            return False
        self.i += 1
        return True

    def need(self, word: str) -> None:
        if not self.take(word):
            raise ContractError(f"in {self.text!r} a {word} is missing before {self.peek()!r}")


Expr = Tuple[Any, ...]


def _operand(t: Tokens) -> Expr:
    word = t.next()
    if word in ("-", "!", "~", "+"):
        return ("unary", word, parse(t, 11))
    if word == "(":
        x = parse(t)
        t.need(")")
        return x
    if re.match(r"0[xX]", word):
        return ("number", int(word, 16))
    if word[:1].isdigit() or word[:1] == ".":
        return ("number", float(word) if re.search(r"[.eE]", word) else int(word))
    if not re.match(r"[A-Za-z_]", word):
        raise ContractError(f"in {t.text!r} a number or a name is missing before {word!r}")
    if not t.take("("):
        return ("name", word)
    operands = [parse(t)]
    while t.take(","):
        operands.append(parse(t))
    t.need(")")
    return ("call", word, *operands)


def parse(t: Tokens, binds: int = 0) -> Expr:
    left = _operand(t)
    while _BINDS.get(t.peek(), 0) > binds:
        op = t.next()
        left = ("binary", op, left, parse(t, _BINDS[op]))
    if not binds and t.take("?"):
        then = parse(t)
        t.need(":")
        left = ("ternary", left, then, parse(t))
    return left


def expression(text: str) -> Expr:
    t = Tokens(text)
    x = parse(t)
    if t.peek():
        raise ContractError(f"in {text!r} nothing belongs behind the value: {t.peek()!r}")
    return x


def names_in(x: Expr) -> Iterator[str]:
    if x[0] == "name":
        yield x[1]
    for kid in x[1:]:
        if isinstance(kid, tuple):
            yield from names_in(kid)


class _Unknown(KeyError):
    """A name that has no value yet."""


def _divide(a: int, b: int) -> int:
    if a >= 0 and b > 0:  # also of symbols, whose comparisons cannot be compared
        return a // b
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def _call(name: str, v: List[Number]) -> Number:
    if name in ("ceildiv", "roundup"):
        if v[0] < 0 or v[1] <= 0:
            raise ContractError(f"{name} takes a from 0 on and b from 1 on")
        n = -(-v[0] // v[1])
        return n if name == "ceildiv" else n * v[1]
    if name in ("min", "max", "abs", "sqrt", "float"):
        return {"min": min, "max": max, "abs": abs, "sqrt": math.sqrt, "float": float}[name](*v)
    if name in ("pow2", "log2"):
        n = max(int(v[0]) - 1, 0).bit_length()
        return n if name == "log2" else 1 << n
    raise ContractError(f"there is no function {name}")


def _binary(op: str, a: Number, b: Number) -> Number:
    if op in ("/", "%") and not b:
        raise ContractError("division by zero")
    if op == "/":
        return a / b if isinstance(a, float) or isinstance(b, float) else _divide(a, b)
    if op == "%":
        return a - _divide(a, b) * b
    done = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "<<": lambda: a << b, ">>": lambda: a >> b,
            "|": lambda: a | b, "^": lambda: a ^ b, "&": lambda: a & b, "==": lambda: int(a == b), "!=": lambda: int(a != b),
            "<": lambda: int(a < b), "<=": lambda: int(a <= b), ">": lambda: int(a > b), ">=": lambda: int(a >= b)}
    return done[op]()


def evaluate(x: Expr, values: Dict[str, Number]) -> Number:
    kind = x[0]
    if kind == "number":
        return x[1]
    if kind == "name":
        if x[1] not in values:
            raise _Unknown(x[1])
        return values[x[1]]
    if kind == "unary":
        v = evaluate(x[2], values)
        return {"-": lambda: -v, "+": lambda: v, "!": lambda: int(not v), "~": lambda: ~v}[x[1]]()
    if kind == "ternary":
        return evaluate(x[2] if evaluate(x[1], values) else x[3], values)
    if kind == "call":
        return _call(x[1], [evaluate(k, values) for k in x[2:]])
    if x[1] in ("||", "&&"):
        left = bool(evaluate(x[2], values))
        return int(left if left == (x[1] == "||") else bool(evaluate(x[3], values)))
    return _binary(x[1], evaluate(x[2], values), evaluate(x[3], values))


# ---- blocks ----


@dataclass
class Dim:
    name: str
    low: Optional[Expr] = None
    high: Optional[Expr] = None
    step: Optional[Expr] = None
    value: Optional[Expr] = None


@dataclass
class Choice:
    """A type or a config: what is decided before the kernel is compiled."""

    name: str
    is_type: bool
    values: List[str]


@dataclass
class Argument:
    name: str
    kind: str  # "value", "array", "bytes", "null"
    type: str = ""  # as written: T, where a choice decides
    value: Optional[Expr] = None
    shape: List[Expr] = field(default_factory=list)
    stride: Optional[List[Expr]] = None
    flow: str = "in"
    once: bool = False
    partial: bool = False
    optional: bool = False
    align: Optional[Expr] = None
    alias: str = ""
    layouts: Tuple[str, ...] = ("dense",)
    broadcasts: Tuple[Any, ...] = ()  # dimensions, and "all"
    raw: bytes = b""
    index: Optional[Expr] = None  # contents: whole numbers below this

    @property
    def written(self) -> bool:
        return self.kind == "array" and self.flow != "in"

    @property
    def is_read(self) -> bool:
        return self.kind == "array" and self.flow != "out"


@dataclass
class Call:
    """softmax(x) -> y"""

    name: str
    ins: List[str]
    outs: List[str]


@dataclass
class Kernel:
    name: str  # as written, template arguments with their names
    choices: List[Choice] = field(default_factory=list)
    dims: List[Dim] = field(default_factory=list)
    args: List[Argument] = field(default_factory=list)
    grid: List[Expr] = field(default_factory=list)
    block: List[Expr] = field(default_factory=list)
    cluster: List[Expr] = field(default_factory=list)
    shared: Optional[Expr] = None
    parts: List[Tuple[str, str, List[Expr], Optional[Expr]]] = field(default_factory=list)
    cooperative: bool = False
    requires: List[Tuple[Expr, str]] = field(default_factory=list)
    oracles: List[str] = field(default_factory=list)
    accumulate: str = ""
    tolerance: float = 1.0
    empty: str = "nothing"
    flags: str = ""

    @property
    def plain(self) -> str:
        return self.name.split("<")[0]

    def argument(self, name: str) -> Optional[Argument]:
        return next((a for a in self.args if a.name == name), None)

    def instance(self, chosen: Dict[str, str]) -> Tuple[str, List[str]]:
        """The kernel's name with its template arguments, and the flags for the compiler."""
        name, flags = self.name, self.flags.split()
        for c in self.choices:
            word = COMPILED[chosen[c.name]][0] if c.is_type else chosen[c.name]
            head, angle, rest = name.partition("<")
            new = re.sub(rf"\b{re.escape(c.name)}\b", word, rest, count=1)
            if angle and new != rest:
                name = head + angle + new
            else:
                flags.append(f"-D{c.name}={COMPILED[chosen[c.name]][1] if c.is_type else chosen[c.name]}")
        return name, flags


@dataclass
class Op:
    call: Call
    forward: List[Call] = field(default_factory=list)
    backward: List[Call] = field(default_factory=list)
    oracles: List[str] = field(default_factory=list)


@dataclass
class Contract:
    file: str
    kernels: List[Kernel] = field(default_factory=list)
    ops: List[Op] = field(default_factory=list)

    def kernel(self, name: Optional[str] = None) -> Kernel:
        if name is None and len(self.kernels) == 1:
            return self.kernels[0]
        found = [k for k in self.kernels if name in (k.name, k.plain)]
        if found:
            return found[0]
        has = ", ".join(k.plain for k in self.kernels) or "no contract"
        raise ContractError(f"{self.file} has {has}" + (f", and no {name}" if name else ": name one of them"))

    def op(self, name: str) -> Op:
        for o in self.ops:
            if o.call.name == name:
                return o
        raise ContractError(f"{self.file} has no op {name}")


def _list(t: Tokens, end: str) -> List[Expr]:
    out = [parse(t)]
    while t.take(","):
        out.append(parse(t))
    if end:
        t.need(end)
    return out


def _read_dim(k: Kernel, t: Tokens) -> None:
    while True:
        d = Dim(t.next())
        if t.peek() not in ("", ",", "=", "step"):
            d.low = parse(t)
            t.need("..")
            d.high = parse(t)
        if t.take("step"):
            d.step = parse(t)
        if t.take("="):
            d.value = parse(t)
        k.dims.append(d)
        if not t.take(","):
            return


def _read_view(a: Argument, t: Tokens) -> None:
    layouts: List[str] = []
    broadcasts: List[Any] = []
    while True:
        word = t.next()
        layouts.append(word)
        if word == "broadcast":
            if t.take("("):
                d = t.next()
                broadcasts.append(d if d == "all" else int(d))
                t.need(")")
            else:
                broadcasts += [*range(len(a.shape)), "all"]
        if not t.take("|"):
            break
    a.layouts, a.broadcasts = tuple(layouts), tuple(broadcasts)


def _read_attribute(a: Argument, t: Tokens) -> None:
    word = t.next()
    if word in ("in", "out", "inout"):
        a.flow = word
    elif word in ("once", "partial", "optional"):
        setattr(a, word, True)
    elif word == "align":
        a.align = parse(t)
    elif word == "alias":
        a.alias = t.next()
    elif word == "stride":
        t.need("[")
        a.stride = _list(t, "]")
    elif word == "view":
        _read_view(a, t)
    elif t.take("("):  # contents: only what keeps an index legal is of interest to a caller
        operands = _list(t, ")")
        a.index = operands[0] if word == "index" else None


def _read_arg(k: Kernel, rest: str) -> None:
    name, _, rest = rest.partition(" ")
    rest = rest.strip()
    if re.match(r"bytes\b", rest):
        k.args.append(Argument(name, "bytes", raw=bytes.fromhex(rest.split("=", 1)[1])))
        return
    if rest == "null":
        k.args.append(Argument(name, "null"))
        return
    t = Tokens(re.sub(r'file\(".*?"\)', "none", rest))
    a = Argument(name, "value", type=t.next())
    if t.take("["):
        a.kind, a.shape = "array", _list(t, "]")
        while t.peek():
            _read_attribute(a, t)
    else:
        a.value = parse(t) if t.take("=") else ("name", name)
    k.args.append(a)


def _read_launch(k: Kernel, t: Tokens) -> None:
    while t.peek():
        word = t.next()
        if word == "cooperative":
            k.cooperative = True
            continue
        t.need("=")
        if word == "shared":
            k.shared = parse(t)
        else:
            setattr(k, word, _list(t, ""))


def _read_choice(k: Kernel, word: str, t: Tokens) -> None:
    while True:
        name, values = t.next(), []
        if word == "type":
            values.append(t.next())
            while t.take("|"):
                values.append(t.next())
        else:
            values.append(str(evaluate(parse(t), {})))
            if t.take("{"):
                values += [v for v in map(str, (evaluate(x, {}) for x in _list(t, "}"))) if v not in values]
        k.choices.append(Choice(name, word == "type", values))
        if not t.take(","):
            return


def _read_call(text: str) -> Call:
    m = re.fullmatch(r"\s*(\w+)\s*\(([^)]*)\)\s*->\s*(.*?)\s*", text)
    if not m:
        raise ContractError(f"{text.strip()!r} is not NAME(IN, ...) -> OUT, ...")
    return Call(m.group(1), [w.strip() for w in m.group(2).split(",")], [w.strip() for w in m.group(3).split(",")])


def _read_part(k: Kernel, rest: str) -> None:
    name, _, rest = rest.partition(" ")
    t = Tokens(rest)
    kind = t.next()
    shape = _list(t, "]") if t.take("[") else []
    k.parts.append((name, kind, shape, parse(t) if t.take("at") else None))


def _read_line(c: Contract, k: Optional[Kernel], op: Optional[Op], word: str, rest: str) -> None:
    if word in ("forward", "backward") and op:
        getattr(op, word).append(_read_call(rest))
    elif word == "oracle":
        (k or op).oracles.append(rest)  # type: ignore[union-attr]
    elif k is None:
        raise ContractError(f"`{word}` belongs behind a kernel line")
    elif word in ("type", "config"):
        _read_choice(k, word, Tokens(rest))
    elif word == "dim":
        _read_dim(k, Tokens(rest))
    elif word == "arg":
        _read_arg(k, rest)
    elif word == "launch":
        _read_launch(k, Tokens(rest))
    elif word == "shared":
        _read_part(k, rest)
    elif word == "require":
        k.requires.append((expression(rest), rest))
    elif word == "empty":
        k.empty = rest
    elif word == "compile":
        k.flags += (" " if k.flags else "") + rest
    elif word == "accumulate":
        k.accumulate = rest
    elif word == "tolerance":
        k.tolerance = float(rest.rstrip("x"))


def read(text: str, file: str = "contract") -> Contract:
    """The blocks of a file. Lines that only the laboratory's C code reads are left to it."""
    c = Contract(file)
    k: Optional[Kernel] = None
    op: Optional[Op] = None
    bare = "//!" not in text and re.match(r"\s*(?:#.*\n\s*)*kernel\b", text) is not None
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        m = re.match(r"\s*//!\s?(.*)", line)
        if not m and not (bare and line.strip()):
            inside = inside and (not line.strip() or line.lstrip().startswith("//"))
            continue
        body = (m.group(1) if m else line).split("#", 1)[0].strip()
        word, _, rest = body.partition(" ")
        rest = rest.strip()
        if word not in LINES or (not inside and word not in ("kernel", "op")):
            continue
        try:
            if word == "kernel":
                k, op, inside = Kernel(re.sub(r"\s+", "", rest)), None, True
                c.kernels.append(k)
            elif word == "op":
                if not re.match(r"\w+\s*\(", rest):
                    continue
                k, op, inside = None, Op(_read_call(rest)), True
                c.ops.append(op)
            else:
                _read_line(c, k, op, word, rest)
        except ContractError as e:
            raise ContractError(f"{file}:{number}: {e}", e.argument) from None
    return c


# ---- a call ----


@dataclass
class Layout:
    """How an array that somebody passes lies in memory: shape and strides in elements, its type, whether its address is a
    multiple of 16."""

    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    type: str
    aligned: bool = True


@dataclass
class Bound:
    """A call whose every number is known."""

    kernel: Kernel
    chosen: Dict[str, str]
    dims: Dict[str, int]
    shapes: Dict[str, Tuple[int, ...]]  # of every array
    types: Dict[str, str]  # of every array and value
    words: Dict[str, str]  # the layout of every array that is passed: "dense", "rows(2)"
    values: Dict[str, bytes]  # of everything that is no array
    grid: Tuple[int, int, int]
    block: Tuple[int, int, int]
    cluster: Tuple[int, int, int]
    shared: int
    numbers: Dict[str, Number]

    @property
    def is_empty(self) -> bool:
        return 0 in self.grid

    @property
    def instance(self) -> Tuple[str, List[str]]:
        return self.kernel.instance(self.chosen)


def dense(shape: Sequence[int]) -> Tuple[int, ...]:
    out, n = [], 1
    for d in reversed(shape):
        out.append(n)
        n *= max(d, 1)
    return tuple(reversed(out))


def pack(kind: str, value: Number, name: str) -> bytes:
    """A value as the kernel gets it."""
    if kind == "bf16":
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        return struct.pack("<H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)
    letter = PACKED.get(kind) or PACKED.get("u" + kind[1:] if kind[:1] == "b" else kind)
    if not letter:
        raise ContractError(f"{name}: a value of type {kind} cannot be passed", name)
    try:
        return struct.pack("<" + letter, float(value) if kind[0] == "f" else value)
    except (struct.error, OverflowError, TypeError, ValueError) as e:
        raise ContractError(f"{name} is {value!r}, which is no value of {kind}: {e}", name) from None


def layout_word(a: Argument, l: Layout) -> Optional[str]:
    """The layout of an array in the words of `view`, where the contract takes it; None: it does not."""
    shape, strides = l.shape, l.strides
    wide = [i for i, d in enumerate(shape) if d > 1]
    plain = dense(shape)
    if 0 in shape or all(strides[i] == plain[i] for i in wide):
        if l.aligned or "offset" in a.layouts or 0 in shape:
            return "dense"
        return None
    still = [i for i in wide if strides[i] == 0]
    if still:
        if len(still) == len(wide) and "all" in a.broadcasts and len(wide) > 1:
            return "broadcast(all)"
        rest = [i for i in wide if i not in still]
        if len(still) == 1 and still[0] in a.broadcasts and all(strides[i] == dense([shape[j] for j in rest])[n] for n, i in enumerate(rest)):
            return f"broadcast({still[0]})"
        if len(still) == 1 and still[0] in a.broadcasts and all(strides[i] == plain[i] for i in rest):
            return f"broadcast({still[0]})"
        return None
    if "rows" in a.layouts and len(shape) > 1 and (strides[-1] == 1 or shape[-1] == 1):
        step = next((strides[i] // math.prod(max(d, 1) for d in shape[i + 1:-1]) for i in reversed(wide) if i < len(shape) - 1), shape[-1])
        want = [step * math.prod(max(d, 1) for d in shape[i + 1:-1]) for i in range(len(shape) - 1)]
        if step >= shape[-1] and all(strides[i] == want[i] for i in wide if i < len(shape) - 1):
            return f"rows({step - shape[-1]})"
    return None


def _taken(a: Argument) -> str:
    words = [w for w in a.layouts if w != "broadcast"]
    return "|".join(words + [f"broadcast({d})" for d in a.broadcasts])


def _solve(k: Kernel, arrays: Dict[str, Layout], values: Dict[str, Number], dims: set) -> None:
    """Sizes from shapes: a dimension that is one dim alone, then products with one unknown."""
    facts = [(a, i, x) for a in k.args if a.name in arrays for i, x in enumerate(a.shape)]
    for a, i, x in facts:
        if x[0] == "name" and x[1] in dims and x[1] not in values:
            values[x[1]] = arrays[a.name].shape[i]
    for _ in k.dims:
        for a, i, x in facts:
            unknown = {n for n in names_in(x) if n not in values}
            if len(unknown) == 1 and x[0] == "binary" and x[1] == "*":
                left, right = x[2], x[3]
                if right[0] == "name" and right[1] in unknown:
                    left, right = right, left
                if left[0] != "name" or left[1] not in unknown or left[1] in names_in(right):
                    continue
                by = evaluate(right, values)
                if by and arrays[a.name].shape[i] % by == 0:
                    values[left[1]] = arrays[a.name].shape[i] // by


def _settle_dims(k: Kernel, values: Dict[str, Number], given: Dict[str, int]) -> Dict[str, int]:
    for d in k.dims:
        try:
            if d.name not in values:
                if d.value is None:
                    raise ContractError(f"the size {d.name} follows from no array: pass {d.name}=", d.name)
                values[d.name] = evaluate(d.value, values)
            low = evaluate(d.low, values) if d.low else 1
            high = evaluate(d.high, values) if d.high else (1 << 32) - 1
            step = evaluate(d.step, values) if d.step else 1
        except _Unknown as e:
            raise ContractError(f"the size {d.name} depends on {e.args[0]}, which is not known: pass {e.args[0]}=", d.name) from None
        v = values[d.name]
        if not isinstance(v, int) or not low <= v <= high:
            raise ContractError(f"{d.name} is {v}, and the contract allows {low}..{high}", d.name)
        if v % step:
            raise ContractError(f"{d.name} is {v}, and the contract asks for multiples of {step}", d.name)
    return {d.name: int(values[d.name]) for d in k.dims}


def choose(k: Kernel, arrays: Dict[str, Layout], given: Dict[str, Any]) -> Dict[str, str]:
    """Types from the arrays, configs from the caller, the first of each otherwise."""
    chosen: Dict[str, str] = {}
    for c in k.choices:
        if c.name in given:
            chosen[c.name] = str(given[c.name])
        elif c.is_type:
            of = next((a for a in k.args if a.kind == "array" and a.type == c.name and a.name in arrays), None)
            chosen[c.name] = arrays[of.name].type if of else c.values[0]
            if of and chosen[c.name] not in c.values:
                raise ContractError(f"{of.name} is an array of {chosen[c.name]}, and the contract takes {', '.join(c.values)}", of.name)
        else:
            chosen[c.name] = c.values[0]
        if chosen[c.name] not in c.values:
            raise ContractError(f"{c.name} is {chosen[c.name]}, and the contract has {', '.join(c.values)}", c.name)
    return chosen


def _check_array(a: Argument, l: Layout, kind: str, values: Dict[str, Number], words: Dict[str, str]) -> Tuple[int, ...]:
    if not (l.type == kind or (kind[:1] == "b" and kind[1:].isdigit() and BYTES.get(l.type) == BYTES[kind])):
        raise ContractError(f"{a.name} is an array of {l.type}, and the contract says {kind}", a.name)
    if len(l.shape) != len(a.shape):
        raise ContractError(f"{a.name} has {len(l.shape)} dimensions, and the contract says {len(a.shape)}", a.name)
    want = tuple(int(evaluate(x, values)) for x in a.shape)
    if l.shape != want:
        raise ContractError(f"{a.name} has shape {list(l.shape)}, and the contract says {list(want)}", a.name)
    if a.stride:
        strides = tuple(int(evaluate(x, values)) for x in a.stride)
        if any(d > 1 and s != w for d, s, w in zip(l.shape, l.strides, strides)):
            raise ContractError(f"{a.name} has strides {list(l.strides)}, and the contract says {list(strides)}", a.name)
        words[a.name] = "dense"
        return want
    word = layout_word(a, l)
    if word is None and all(d <= 1 or s == w for d, s, w in zip(l.shape, l.strides, dense(l.shape))):
        raise ContractError(f"{a.name} begins at an address that is no multiple of 16, and the contract takes {_taken(a)}: pass a copy", a.name)
    if word is None:
        raise ContractError(f"{a.name} has strides {list(l.strides)} for shape {list(l.shape)}, and the contract takes {_taken(a)}: pass a contiguous copy", a.name)
    words[a.name] = word
    return want


def _triple(x: List[Expr], values: Dict[str, Number], what: str) -> Tuple[int, int, int]:
    out = [1, 1, 1]
    for i, e in enumerate(x):
        v = evaluate(e, values)
        if not isinstance(v, int) or v < 0:
            raise ContractError(f"{what} is {v}; a whole number from 0 on belongs there")
        out[i] = v
    return (out[0], out[1], out[2])


def _launch(k: Kernel, values: Dict[str, Number]) -> Tuple[Tuple[int, int, int], Tuple[int, int, int], Tuple[int, int, int], int]:
    if not k.grid or not k.block:
        raise ContractError(f"the contract of {k.plain} has no grid or no block in its launch line")
    grid, block = _triple(k.grid, values, "the grid"), _triple(k.block, values, "the block")
    cluster = _triple(k.cluster, values, "the cluster") if k.cluster else (1, 1, 1)
    for i, letter in enumerate("xyz"):
        values["grid." + letter], values["block." + letter] = grid[i], block[i]
    end = most = 0
    for _, kind, shape, at in k.parts:
        size = BYTES[kind]
        begin = int(evaluate(at, values)) if at else -(-end // size) * size
        end = begin + size * math.prod(int(evaluate(x, values)) for x in shape)
        most = max(most, end)
    return grid, block, cluster, int(evaluate(k.shared, values)) if k.shared else most


def bind(k: Kernel, arrays: Dict[str, Layout], given: Optional[Dict[str, Any]] = None) -> Bound:
    """Every number of a call: `arrays` are those that are passed, by name; `given` are sizes, choices and values of the
    caller. An output that is not passed gets its shape here."""
    given = dict(given or {})
    chosen = choose(k, arrays, given)
    types = {a.name: chosen.get(a.type, a.type) for a in k.args}
    dims = {d.name for d in k.dims}
    free = {a.name for a in k.args if a.kind == "value" and a.name not in dims and a.value and not any(True for _ in names_in(a.value))}
    known = dims | free | {c.name for c in k.choices}
    for name in given:
        if name not in known:
            tied = k.argument(name)
            why = "follows from the arrays" if tied and tied.kind == "value" else "is neither a size nor a value nor a choice of the contract"
            raise ContractError(f"{name} {why}", name)
    values: Dict[str, Number] = {c.name: int(chosen[c.name]) for c in k.choices if not c.is_type}
    values.update({n: int(v) for n, v in given.items() if n in dims})
    for a in k.args:  # sizes are solved from shapes: their number is asked for first
        if a.name in arrays and len(arrays[a.name].shape) != len(a.shape):
            _check_array(a, arrays[a.name], types[a.name], {}, {})
    _solve(k, arrays, values, dims)
    sizes = _settle_dims(k, values, given)
    shapes: Dict[str, Tuple[int, ...]] = {}
    words: Dict[str, str] = {}
    packed: Dict[str, bytes] = {}
    for a in k.args:
        if a.kind == "array":
            l = arrays.get(a.name)
            shapes[a.name] = _check_array(a, l, types[a.name], values, words) if l else tuple(int(evaluate(x, values)) for x in a.shape)
            strides = l.strides if l else dense(shapes[a.name])
            for i, s in enumerate(strides):
                values[f"{a.name}.stride{i}"] = s if shapes[a.name][i] > 1 else dense(shapes[a.name])[i]
        elif a.kind == "value":
            v = given[a.name] if a.name in free and a.name in given else evaluate(a.value, values)  # type: ignore[arg-type]
            packed[a.name] = pack(types[a.name], v, a.name)
            if a.name not in dims:
                values[a.name] = v
        else:
            packed[a.name] = a.raw if a.kind == "bytes" else bytes(8)
    grid, block, cluster, shared = _launch(k, values)
    for x, text in k.requires:
        if not evaluate(x, values):
            raise ContractError(f"{text} does not hold for " + ", ".join(f"{n}={v}" for n, v in sizes.items()))
    if 0 in grid and k.empty == "launch":
        raise ContractError("the contract says `empty launch`, and the grid has no blocks")
    return Bound(k, chosen, sizes, shapes, types, words, packed, grid, block, cluster, shared, values)
