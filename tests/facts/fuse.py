#!/usr/bin/env python3
"""fuse.py LOCKSTEP [FIRST] [COUNT] [f32|f64]: which products ptxas makes part of sums, and whether Lockstep does the same (src/code/lower/fuse.c). Random blocks of mul, add and sub without a rounding
modifier are compiled by ptxas; nvdisasm shows what was multiplied, added and fused, which is computed here, exactly and rounded once for each operation; Lockstep runs the same PTX, and its bits
are compared. Needs ptxas and nvdisasm (PATH, or NVDISASM), no GPU. Prints the blocks that differ, and a count."""
import os, random, re, subprocess, sys, tempfile
from fractions import Fraction

INPUTS, ROOM = 6, 64


def block(rnd):
    """Operations (name, register, left, right) and the registers that are stored: every sum, and some products."""
    ops, products, sums, kinds = [], [], [], ["mul"] * rnd.randint(1, 6) + ["sum"] * rnd.randint(1, 6)
    rnd.shuffle(kinds)
    for reg, kind in enumerate(kinds, 10):
        if kind == "mul":
            pool = list(range(INPUTS)) + [s for s in sums if rnd.random() < 0.3]
            ops.append(("mul", reg, rnd.choice(pool), rnd.choice(pool)))
            products.append(reg)
        else:
            pool = products * 3 + list(range(INPUTS)) + sums
            ops.append((rnd.choice(["add", "sub"]), reg, rnd.choice(pool), rnd.choice(pool)))
            sums.append(reg)
    return ops, sums + [p for p in products if rnd.random() < 0.15]


def text(name, ops, stored, kind, width):
    lines = [f".visible .entry {name}(.param .u64 p)", "{", f" .reg .b64 %p; .reg .{kind} %a<40>;", " ld.param.u64 %p,[p];"]
    lines += [f" ld.global.{kind} %a{i},[%p+{i * width}];" for i in range(INPUTS)]
    lines += [f" {op}.{kind} %a{r},%a{x},%a{y};" for op, r, x, y in ops]
    lines += [f" st.global.{kind} [%p+{r * width}],%a{r};" for r in stored]
    return "\n".join(lines + [" ret;", "}", ""])


def rounded(x, kind):
    if kind == "f64" or not x: return Fraction(float(x))
    scale = Fraction(1)
    while abs(x) * scale >= 1 << 24: scale /= 2
    while abs(x) * scale < 1 << 23: scale *= 2
    return Fraction(round(x * scale)) / scale  # round: ties to even


def computed(code, inputs, kind, width):
    """What the code of one kernel stores, by its offset."""
    reg, out = {}, {}
    for line in code.splitlines():
        found = re.match(r"\s*/\*[0-9a-f]+\*/\s+(\w+)\S*\s+(.*?)\s*;", line)
        if not found: continue
        op, args = found.group(1), [a.strip().replace(".reuse", "") for a in found.group(2).split(",")]
        value = lambda a: -reg[a[1:]] if a[0] == "-" else reg[a]
        at = re.search(r"\.64(?:\+(0x[0-9a-f]+))?\]", found.group(2))
        if op == "LDG": reg[args[0]] = inputs[int(at.group(1) or "0", 16) // width]
        elif op == "STG": out[int(at.group(1) or "0", 16) // width] = value(args[1])
        elif op in ("FMUL", "DMUL"): reg[args[0]] = rounded(value(args[1]) * value(args[2]), kind)
        elif op in ("FADD", "DADD"): reg[args[0]] = rounded(value(args[1]) + value(args[2]), kind)
        elif op in ("FFMA", "DFMA"): reg[args[0]] = rounded(value(args[1]) * value(args[2]) + value(args[3]), kind)
    return out


def main():
    lockstep, first, count = sys.argv[1], int((sys.argv + ["0"])[2] if len(sys.argv) > 2 else 0), int(sys.argv[3]) if len(sys.argv) > 3 else 200
    kind = "f64" if "f64" in sys.argv else "f32"
    width = 8 if kind == "f64" else 4
    rnd = random.Random(first)
    inputs = [rounded(Fraction(rnd.uniform(0.5, 2)), kind) for _ in range(INPUTS)]
    blocks = [block(random.Random(first + n)) for n in range(count)]
    blocks = [b for b in blocks if len({tuple(sorted(o[2:])) for o in b[0] if o[0] == "mul"}) == sum(o[0] == "mul" for o in b[0])]  # no compiler leaves the same product twice
    made = tempfile.mkdtemp()
    with open(f"{made}/k.ptx", "w") as f:
        f.write(".version 8.0\n.target sm_90\n.address_size 64\n" + "".join(text(f"k{n}", *b, kind, width) for n, b in enumerate(blocks)))
    subprocess.run(["ptxas", "-arch=sm_90", "-o", f"{made}/k.cubin", f"{made}/k.ptx"], check=True)
    code = subprocess.run([os.environ.get("NVDISASM", "nvdisasm"), "-c", f"{made}/k.cubin"], check=True, capture_output=True, text=True).stdout
    code = {m.group(1): m.group(2) for m in re.finditer(r"\.text\.(k\d+):(.*?)(?=//-+ \.|\Z)", code, re.S)}
    with open(f"{made}/in.bin", "wb") as f:
        import struct
        f.write(struct.pack(f"<{INPUTS}" + ("d" if kind == "f64" else "f"), *map(float, inputs)) + bytes((ROOM - INPUTS) * width))
    differ = 0
    for n, (ops, stored) in enumerate(blocks):
        want = computed(code[f"k{n}"], inputs, kind, width)
        subprocess.run([lockstep, "launch", f"{made}/k.ptx:k{n}", "--grid", "1", "--block", "1", "--no-check", "values", f"p={kind}[{ROOM}]=@{made}/in.bin", "--save", f"p={made}/out.bin"], check=True, stdout=subprocess.DEVNULL)
        got = struct.unpack(f"<{ROOM}" + ("d" if kind == "f64" else "f"), open(f"{made}/out.bin", "rb").read())
        wrong = [r for r in stored if Fraction(got[r]) != want[r]]
        if wrong:
            differ += 1
            print(f"k{n}: {ops}, stored {stored}: {', '.join(f'%a{r} is {got[r]!r}, ptxas has {float(want[r])!r}' for r in wrong)}")
    print(f"{len(blocks)} blocks of {kind}, {differ} differ")
    return differ > 0


sys.exit(main())
