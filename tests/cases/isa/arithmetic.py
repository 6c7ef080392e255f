#!/usr/bin/env python3
"""Writes the arithmetic cases here: NAME.ptx, one store for each opcode, and data/NAME.{a,b,c,out}.bin, 64 lanes of operands as raw
bits and the results they must give. The reference is written from the PTX manual in exact rationals, and where an H200
does otherwise from that; it knows nothing of Lockstep. Run it after changing a case."""
import os
import random
import struct
from fractions import Fraction as F

HERE = os.path.dirname(os.path.abspath(__file__))
LANES = 64
REG = {1: "%h", 2: "%h", 4: "%r", 8: "%d"}
SIZE = {"f16": 2, "bf16": 2, "f16x2": 4, "bf16x2": 4, "f32": 4, "tf32": 4, "f64": 8, "f32x2": 8, "u16x2": 4, "s16x2": 4,
        "e4m3x2": 2, "e5m2x2": 2, "e2m3x2": 2, "e3m2x2": 2, "ue8m0x2": 2, "e4m3x4": 4, "e5m2x4": 4, "e2m3x4": 4, "e3m2x4": 4, "e2m1x4": 2}
# cases of instructions that an H200 has not: the device, and the head of the text
NEWER = {"newer": ("b200", ".version 8.8\n.target sm_100a")}


def size(t): return SIZE[t] if t in SIZE else int(t[1:]) // 8
def uns(x, n): return x & ((1 << n) - 1)
def sgn(x, n): x = uns(x, n); return x - (1 << n) if x >> (n - 1) else x
def val(x, t): return sgn(x, int(t[1:])) if t[0] == "s" else uns(x, int(t[1:]))
def bounds(t): n = int(t[1:]); return (-(1 << n - 1), (1 << n - 1) - 1) if t[0] == "s" else (0, (1 << n) - 1)
def clamp(x, t): lo, hi = bounds(t); return max(lo, min(hi, x))


# ---- floats: (exponent bits, mantissa bits); a value is a Fraction, or "nan", "inf", "-inf", "-0" ----
FMT = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52), "tf32": (8, 10), "e5m2": (5, 2), "e4m3": (4, 3)}
NAN = {"f16": 0x7fff, "bf16": 0x7fff, "f32": 0x7fffffff, "tf32": 0x7fffe000, "e5m2": 0x7f, "e4m3": 0x7f}


def dec(x, t):
    eb, mb = FMT[t]
    s, e, m = x >> (eb + mb) & 1, x >> mb & ((1 << eb) - 1), x & ((1 << mb) - 1)
    if t == "e4m3" and e == 15 and m == 7: return "nan"
    if t != "e4m3" and e == (1 << eb) - 1: return "nan" if m else "-inf" if s else "inf"
    v = F(m + (1 << mb if e else 0)) * F(2) ** (max(e, 1) - (1 << eb - 1) + 1 - mb)
    return "-0" if s and v == 0 else -v if s else v


def enc(v, t, mode="rn", satfinite=False):
    eb, mb = FMT[t]
    shift = 13 if t == "tf32" else 0
    top = ((1 << eb) - 1 << mb) - 1 if t != "e4m3" else 0x7e
    if v == "nan": return NAN[t]
    if v == "-0": return 1 << (eb + mb + shift)
    if v in ("inf", "-inf"):
        return (((v == "-inf") << (eb + mb)) | (top if satfinite else top + 1)) << shift
    s, v = v < 0, abs(v)
    if v == 0: return 0
    e = v.numerator.bit_length() - v.denominator.bit_length()
    if F(2) ** e > v: e -= 1
    low = 2 - (1 << eb - 1)
    e = max(e, low)
    q = v / F(2) ** (e - mb)
    n = q.numerator // q.denominator
    rest = q - n
    up = {"rn": rest > F(1, 2) or (rest == F(1, 2) and n & 1), "rna": rest >= F(1, 2), "rz": False, "rm": s and rest > 0, "rp": not s and rest > 0}[mode]
    r = ((e - low) << mb) + n + up
    if r > top:
        r = top if satfinite or mode == "rz" or (mode == "rm" and not s) or (mode == "rp" and s) else top + 1
    return (r | s << (eb + mb)) << shift


def num(v): return F(0) if v == "-0" else v
def special(*v): return any(x in ("nan", "inf", "-inf") for x in v if isinstance(x, str))
def neg(v): return {"nan": "nan", "inf": "-inf", "-inf": "inf", "-0": F(0)}[v] if isinstance(v, str) else ("-0" if v == 0 else -v)
def negative(v): return isinstance(v, str) and v[0] == "-" or not isinstance(v, str) and v < 0


def add(a, b, mode="rn"):
    if special(a, b):
        if "nan" in (a, b) or {a, b} == {"inf", "-inf"}: return "nan"
        return a if isinstance(a, str) and a != "-0" else b
    if a == "-0" and b == "-0": return "-0"
    s = num(a) + num(b)
    if s == 0 and (num(a) != 0 or (a == "-0") != (b == "-0")): return "-0" if mode == "rm" else F(0)
    return s


def mul(a, b):
    if special(a, b):
        if "nan" in (a, b) or num(a) == 0 or num(b) == 0: return "nan"
        return "-inf" if negative(a) != negative(b) else "inf"
    p = num(a) * num(b)
    return "-0" if p == 0 and negative(a) != negative(b) else p


def fma(a, b, c, mode="rn"):
    return add(mul(a, b), c, mode)


def div(a, b):
    if "nan" in (a, b): return "nan"
    s = negative(a) != negative(b)
    if special(a): return "nan" if special(b) else "-inf" if s else "inf"
    if special(b): return "-0" if s else F(0)
    if num(b) == 0: return "nan" if num(a) == 0 else "-inf" if s else "inf"
    q = num(a) / num(b)
    return "-0" if q == 0 and s else q


def flush(v, t): return v if special(v) or num(v) == 0 or abs(num(v)) >= F(2) ** (2 - (1 << FMT[t][0] - 1)) else ("-0" if v < 0 else F(0))
def sat(v): return F(0) if v == "nan" or negative(v) else F(1) if v == "inf" or num(v) > 1 else num(v)
def relu(v): return v if v == "nan" else F(0) if negative(v) else v


def order(a, b, pick):
    if a == "nan": return b
    if b == "nan": return a
    key = lambda v: (F(10) ** 400 if v == "inf" else -F(10) ** 400 if v == "-inf" else num(v), v != "-0")
    return pick(a, b, key=key)


def to_int(v, t, how):
    if v == "nan": return 1 << 63 if size(t) == 8 else 0
    if v in ("inf", "-inf"): return bounds(t)[v == "inf"]
    v = num(v)
    n = v.numerator // v.denominator
    if how == "rzi" and v < 0 and n != v: n += 1
    if how == "rpi" and n != v: n += 1
    if how == "rni": n = round(v)
    return clamp(n, t)


CASES = {}


def case(name): CASES[name] = []; return CASES[name]
def op(c, text, types, f): c.append((text, types, f))


# ---- integers ----
c = case("integer")
for t in "u16 u32 u64 s16 s32 s64".split():
    n = int(t[1:])
    op(c, "sad." + t, [t] * 4, lambda a, b, z, t=t: val(z, t) + abs(val(a, t) - val(b, t)))
    op(c, "mul.hi." + t, [t] * 3, lambda a, b, t=t, n=n: val(a, t) * val(b, t) >> n)
for t in ("u32", "s32"):
    w = lambda x, t=t: sgn(x, 24) if t[0] == "s" else uns(x, 24)
    op(c, "mul24.lo." + t, [t] * 3, lambda a, b, w=w: w(a) * w(b))
    op(c, "mul24.hi." + t, [t] * 3, lambda a, b, w=w: w(a) * w(b) >> 16)
    op(c, "mad24.hi." + t, [t] * 4, lambda a, b, z, w=w: (w(a) * w(b) >> 16) + z)
    for u in ("u32", "s32"):
        part = lambda x, k, n, t: val(x >> n * k, t[0] + str(n))
        op(c, "dp4a.%s.%s" % (t, u), ["s32", t, u, "s32"], lambda a, b, z, t=t, u=u: z + sum(part(a, k, 8, t) * part(b, k, 8, u) for k in range(4)))
        for h in (0, 2):
            op(c, "dp2a.%s.%s.%s" % ("hi" if h else "lo", t, u), ["s32", t, u, "s32"],
               lambda a, b, z, t=t, u=u, h=h: z + sum(part(a, k, 16, t) * part(b, h + k, 8, u) for k in range(2)))
    for mode in ("clamp", "wrap"):
        def szext(a, b, t=t, mode=mode):
            if mode == "clamp" and b >= 32: return a
            b &= 31
            return val(a & ((1 << b) - 1), t[0] + str(b)) if b else 0
        op(c, "szext.%s.%s" % (mode, t), [t, t, "u32"], szext)
op(c, "mad24.hi.sat.s32", ["s32"] * 4, lambda a, b, z: clamp((sgn(a, 24) * sgn(b, 24) >> 16) + sgn(z, 32), "s32"))
op(c, "mad.hi.sat.s32", ["s32"] * 4, lambda a, b, z: clamp((sgn(a, 32) * sgn(b, 32) >> 32) + sgn(z, 32), "s32"))
op(c, "bmsk.clamp.b32", ["b32"] * 3, lambda a, b: ((1 << min(b, 32)) - 1) << min(a, 32))
op(c, "bmsk.wrap.b32", ["b32"] * 3, lambda a, b: ((1 << (b & 31)) - 1) << (a & 31))


def fns(m, base, off):
    off = sgn(off, 32)
    if off == -1 << 31: return 0                # the manual does not say; an H200 does
    if off == 0: return base if base < 32 and m >> base & 1 else -1
    if base >= 32: return -1
    bits = [k for k in (range(base, 32) if off > 0 else range(base, -1, -1)) if m >> k & 1]
    return bits[abs(off) - 1] if abs(off) <= len(bits) else -1


op(c, "fns.b32", ["b32", "b32", "u32", "s32"], fns)
for t in "b16 b32 b64".split(): op(c, "cnot." + t, [t] * 2, lambda a: a == 0)
for kind, pick in (("min", min), ("max", max)):
    two = lambda a, b, t, f=pick, r=False: sum(uns(max(f(val(a >> k, t), val(b >> k, t)), 0) if r else f(val(a >> k, t), val(b >> k, t)), 16) << k for k in (0, 16))
    op(c, kind + ".u16x2", ["u16x2"] * 3, lambda a, b, two=two: two(a, b, "u16"))
    op(c, kind + ".s16x2", ["s16x2"] * 3, lambda a, b, two=two: two(a, b, "s16"))
    op(c, kind + ".relu.s16x2", ["s16x2"] * 3, lambda a, b, two=two: two(a, b, "s16", r=True))
    op(c, kind + ".relu.s32", ["s32"] * 3, lambda a, b, f=pick: max(0, f(sgn(a, 32), sgn(b, 32))))
op(c, "add.u16x2", ["u16x2"] * 3, lambda a, b: uns(a + b, 16) | uns((a >> 16) + (b >> 16), 16) << 16)
byte = lambda a, b, k: (b << 32 | a) >> 8 * k & 255
word = lambda a, b, ks: sum(byte(a, b, k) << 8 * i for i, k in enumerate(ks))
for mode, ks in (("f4e", lambda n: [n, n + 1, n + 2, n + 3]), ("b4e", lambda n: [n, (n - 1) & 7, (n - 2) & 7, (n - 3) & 7]), ("rc8", lambda n: [n] * 4),
                 ("ecl", lambda n: [n, max(n, 1), max(n, 2), 3]), ("ecr", lambda n: [0, min(n, 1), min(n, 2), n]), ("rc16", lambda n: [0, 1, 0, 1] if n % 2 == 0 else [2, 3, 2, 3])):
    op(c, "prmt.b32." + mode, ["b32"] * 4, lambda a, b, z, ks=ks: word(a, b, ks(z & 3)))
for t in "b16 u32 s64 f32 f64".split():
    op(c, "slct.%s.s32" % t, [t, t, t, "s32"], lambda a, b, z: a if sgn(z, 32) >= 0 else b)
    op(c, "slct.%s.f32" % t, [t, t, t, "f32"], lambda a, b, z: b if z & 0x7fffffff > 0x7f800000 or (z >> 31 and z & 0x7fffffff) else a)
for kind, f in (("lt", lambda a, b: a < b), ("ne", lambda a, b: a != b), ("ge", lambda a, b: a >= b)):
    op(c, "set.%s.u32.s16" % kind, ["u32", "s16", "s16"], lambda a, b, f=f: -f(sgn(a, 16), sgn(b, 16)))
    op(c, "set.%s.f32.u64" % kind, ["f32", "u64", "u64"], lambda a, b, f=f: 0x3f800000 * f(a, b))

# the carry: two instructions each, .cc into the other
c = case("carry")
for t in ("u32", "u64"):
    n = int(t[1:])
    m = (1 << n) - 1
    for first, second, f in (("add.cc", "addc", lambda a, b, z, n, m: (a + b >> n) + b + z), ("sub.cc", "subc", lambda a, b, z, n, m: b - z - (a < b)),
                             ("mad.lo.cc", "madc.hi", lambda a, b, z, n, m: (a * b >> n) + z + ((a * b & m) + z >> n)),
                             ("mad.hi.cc", "madc.lo", lambda a, b, z, n, m: a * b + z + ((a * b >> n) + z >> n))):
        op(c, "%s.%s;%s.%s" % (first, t, second, t), [t] * 4, lambda a, b, z, f=f, n=n, m=m: f(a, b, z, n, m))
    op(c, "add.cc.%s;addc.cc.%s;addc.%s" % (t, t, t), [t] * 4, lambda a, b, z, n=n: (b + z + (a + b >> n) >> n) + z + z)

# ---- f32 and f64 ----
c = case("rounding")
for t in ("f32", "f64"):
    d = lambda x, t=t: dec(x, t)
    for mode in ("rn", "rz", "rm", "rp"):
        ftz = ("", ".ftz", ".sat", ".ftz.sat") if t == "f32" else ("",)
        for m in ftz:
            def wrap(f, t=t, mode=mode, m=m):
                def g(*x):
                    v = [dec(y, t) for y in x]
                    if "ftz" in m: v = [flush(y, t) for y in v]
                    v = f(*v)
                    if special(v) or v == "-0": r = v
                    else: r = dec(enc(v, t, mode), t)
                    if v != "-0" and not special(v) and num(v) != 0 and r == 0 and v < 0: r = "-0"
                    if "ftz" in m: r = flush(r, t)
                    if "sat" in m: r = sat(r)
                    return None if t == "f64" and r == "nan" else enc(r, t)
                return g
            op(c, "add.%s%s.%s" % (mode, m, t), [t] * 3, wrap(lambda a, b, mode=mode: add(a, b, mode)))
            op(c, "sub.%s%s.%s" % (mode, m, t), [t] * 3, wrap(lambda a, b, mode=mode: add(a, "nan" if b == "nan" else neg(b), mode)))
            op(c, "mul.%s%s.%s" % (mode, m, t), [t] * 3, wrap(mul))
            op(c, "fma.%s%s.%s" % (mode, m, t), [t] * 4, wrap(lambda a, b, z, mode=mode: fma(a, b, z, mode)))
            if "sat" not in m: op(c, "div.%s%s.%s" % (mode, m, t), [t] * 3, wrap(div))
for kind, pick in (("min", min), ("max", max)):
    for nan in ("", ".NaN"):
        def mm(a, b, pick=pick, nan=nan):
            x, y = dec(a, "f32"), dec(b, "f32")
            s = (a ^ b) & 0x80000000
            if nan and "nan" in (x, y): return 0x7fffffff
            r = order("nan" if x == "nan" else dec(a & 0x7fffffff, "f32"), "nan" if y == "nan" else dec(b & 0x7fffffff, "f32"), pick)
            return 0x7fffffff if r == "nan" else enc(r, "f32") | s
        op(c, kind + nan + ".xorsign.abs.f32", ["f32"] * 3, mm)
op(c, "copysign.f32", ["f32"] * 3, lambda a, b: (a & 1 << 31) | (b & (1 << 31) - 1))

# ---- halves ----
c = case("half")
for t in ("f16", "bf16"):
    h = t == "f16"
    for m in ("", ".ftz", ".sat", ".ftz.sat", ".relu", ".ftz.relu"):
        if not h and m not in ("", ".relu"): continue

        def one(f, t=t, m=m):
            def g(*x):
                v = [dec(y, t) for y in x]
                if "ftz" in m: v = [flush(y, t) for y in v]
                v = f(*v)
                s = negative(v)
                if "sat" in m: v = sat(v)
                if "relu" in m: v = relu(v)
                r = enc(v, t)
                if "ftz" in m and not r & 0x7c00: r &= 0x8000
                return r
            return g

        def both(f): return lambda *x: f(*[y & 0xffff for y in x]) | f(*[y >> 16 for y in x]) << 16
        for name, n, f in (("add", 2, add), ("sub", 2, lambda a, b: add(a, neg(b))), ("mul", 2, mul), ("fma.rn", 3, fma)):
            if n == 2 and ("relu" in m): continue
            op(c, "%s%s.%s" % (name, m, t), [t] * (n + 1), one(f))
            op(c, "%s%s.%sx2" % (name, m, t), [t + "x2"] * (n + 1), both(one(f)))
    for kind, pick in (("min", min), ("max", max)):
        for nan in ("", ".NaN"):
            f = lambda a, b, pick=pick, nan=nan, t=t: enc("nan" if nan and "nan" in (dec(a, t), dec(b, t)) else order(dec(a, t), dec(b, t), pick), t)
            op(c, "%s%s.%s" % (kind, nan, t), [t] * 3, f)
            op(c, "%s%s.%sx2" % (kind, nan, t), [t + "x2"] * 3, lambda a, b, f=f: f(a & 0xffff, b & 0xffff) | f(a >> 16, b >> 16) << 16)
    cmp = {"lt": lambda x, y: x < y, "gtu": lambda x, y: x > y}
    for kind in cmp:
        def less(a, b, kind=kind, t=t):
            x, y = dec(a, t), dec(b, t)
            if "nan" in (x, y): return kind == "gtu"
            key = lambda v: F(10) ** 400 if v == "inf" else -F(10) ** 400 if v == "-inf" else num(v)
            return cmp[kind](key(x), key(y))
        op(c, "set.%s.u32.%s" % (kind, t), ["u32", t, t], lambda a, b, f=less: -f(a, b))
        one_ = 0x3c00 if h else 0x3f80
        op(c, "set.%s.%sx2.%sx2" % (kind, t, t), ["b32", t + "x2", t + "x2"], lambda a, b, f=less, k=one_: k * f(a & 0xffff, b & 0xffff) | k * f(a >> 16, b >> 16) << 16)

# ---- conversions ----
c = case("convert")
for d in ("u8", "s8", "s16", "u32", "s64"):
    for s in ("s8", "u16", "s32", "u64"):
        lo, hi = bounds(s)
        if bounds(d)[0] <= lo and hi <= bounds(d)[1]: continue
        op(c, "cvt.sat.%s.%s" % (d, s), [d, s], lambda a, d=d, s=s: clamp(val(a, s), d))
    for s in ("f32", "f64", "f16", "bf16"):
        if s == "bf16" and d in ("u8", "s8"): continue
        for how in ("rni", "rzi", "rmi", "rpi"):
            op(c, "cvt.%s.%s.%s" % (how, d, s), [d, s], lambda a, d=d, s=s, how=how: to_int(dec(a, s), d, how))
for mode in ("rn", "rz", "rm", "rp"):
    for s in ("s32", "u32", "u64", "s64"):
        for d in ("f32", "f64", "f16", "bf16"):
            op(c, "cvt.%s.%s.%s" % (mode, d, s), [d, s], lambda a, d=d, s=s, mode=mode: enc(F(val(a, s)), d, mode))
    for d, s in (("f32", "f64"), ("f16", "f32"), ("f16", "f64"), ("bf16", "f32"), ("bf16", "f64"), ("f16", "bf16"), ("bf16", "f16")):
        op(c, "cvt.%s.%s.%s" % (mode, d, s), [d, s], lambda a, d=d, s=s, mode=mode: enc(dec(a, s), d, mode))
# NaNs here are as an H200 makes them: bf16 is moved as it is, tf32 loses its low bits
op(c, "cvt.f32.f16", ["f32", "f16"], lambda a: enc(dec(a, "f16"), "f32"))
op(c, "cvt.f32.bf16", ["f32", "bf16"], lambda a: a << 16)
for mode in ("rn", "rz"):
    for d in ("f16", "bf16"):
        for m in ("", ".relu", ".satfinite", ".relu.satfinite"):
            f = lambda a, d=d, m=m, mode=mode: enc(relu(dec(a, "f32")) if "relu" in m else dec(a, "f32"), d, mode, "satfinite" in m)
            op(c, "cvt.%s%s.%sx2.f32" % (mode, m, d), [d + "x2", "f32", "f32"], lambda a, b, f=f: f(b) | f(a) << 16)
    op(c, "cvt.%s.tf32.f32" % mode, ["tf32", "f32"], lambda a, mode=mode: enc(dec(a, "f32"), "tf32", mode))
op(c, "cvt.rna.tf32.f32", ["tf32", "f32"], lambda a: a & 0xffffe000 if dec(a, "f32") == "nan" else enc(dec(a, "f32"), "tf32", "rna"))
for d in ("e4m3", "e5m2"):
    for m in ("", ".relu"):
        f = lambda v, d=d, m=m: enc(relu(v) if m else v, d, "rn", True)
        op(c, "cvt.rn.satfinite%s.%sx2.f32" % (m, d), [d + "x2", "f32", "f32"], lambda a, b, f=f: f(dec(b, "f32")) | f(dec(a, "f32")) << 8)
        op(c, "cvt.rn.satfinite%s.%sx2.f16x2" % (m, d), [d + "x2", "f16x2"], lambda a, f=f: f(dec(a & 0xffff, "f16")) | f(dec(a >> 16, "f16")) << 8)
        op(c, "cvt.rn%s.f16x2.%sx2" % (m, d), ["f16x2", d + "x2"],
           lambda a, d=d, m=m: sum(enc(relu(dec(a >> k & 255, d)) if m else dec(a >> k & 255, d), "f16") << 2 * k for k in (0, 8)))
for t, n in (("u16", 16), ("s16", 16)):
    op(c, "cvt.pack.sat.%s.s32" % t, ["u32", "s32", "s32"], lambda a, b, t=t: uns(clamp(sgn(b, 32), t), 16) | uns(clamp(sgn(a, 32), t), 16) << 16)
for t in ("u8", "s8", "u4", "s4", "u2", "s2"):
    n = int(t[1:])
    op(c, "cvt.pack.sat.%s.s32.b32" % t, ["b32", "s32", "s32", "b32"],
       lambda a, b, z, t=t, n=n: uns(clamp(sgn(b, 32), t), n) | uns(clamp(sgn(a, 32), t), n) << n | z << 2 * n)

# ---- video ----
c = case("video")
SUB = {"b0": (0, 8), "b1": (8, 8), "b2": (16, 8), "b3": (24, 8), "h0": (0, 16), "h1": (16, 16), "": (0, 32)}
sel = lambda x, s, t: val(x >> SUB[s][0], t[0] + str(SUB[s][1]))
VOP = {"vadd": lambda a, b: a + b, "vsub": lambda a, b: a - b, "vabsdiff": lambda a, b: abs(a - b), "vmin": min, "vmax": max}
# As ptxas makes them for sm_90, and an H200 computes: no upper bound for all of an unsigned d, no lower one for a part of d, and the upper half
# of d gets that of the result (docs/measured/truth.md).
vsat = lambda t, dt: max(t, 0) if dt == "u32" else clamp(t, dt)
vsat_part = lambda t, dt, n: min(t if 0 <= t < 1 << 32 else (1 << 32) - 1, (1 << n - (dt == "s32")) - 1)


def vsecond(name, t, z, dt, sec):
    """the second operation: .min and .max compare 64 bits, by the sign of d; sums come cut to 32 bits and extended by their sign"""
    if sec == "add": return t + z
    t = sgn(t, 32) if name in ("vadd", "vsub") else t
    less = t < sgn(z, 32) if dt == "s32" else uns(t, 64) < uns(z, 32)
    return t if less == (sec == "min") else z


i = 0
for name, f in VOP.items():
    for dt in ("u32", "s32"):
        for at in ("u32", "s32"):
            for bt in ("u32", "s32"):
                i += 1
                sa, sb, sd = (list(SUB)[k % 7] for k in (i, i // 2 + 3, i // 3))
                for st in ("", ".sat"):
                    def scalar(a, b, z, f=f, dt=dt, at=at, bt=bt, sa=sa, sb=sb, sd=sd, st=st):
                        pos, n = SUB[sd]
                        t = f(sel(a, sa, at), sel(b, sb, bt))
                        ones = (1 << n) - 1
                        if st: t = vsat_part(t, dt, n) if sd else vsat(t, dt)
                        if sd != "h1": t <<= pos
                        return (z & ~(ones << pos)) | (t & ones << pos) if sd else t
                    dot = lambda s: "." + s if s else ""
                    op(c, "%s.%s.%s.%s%s @%s@%s@%s" % (name, dt, at, bt, st, dot(sd), dot(sa), dot(sb)), [dt, at, bt] + ["u32"] * bool(sd),
                       scalar if sd else lambda a, b, g=scalar: g(a, b, 0))
                    for sec in ("add", "min", "max"):
                        op(c, "%s.%s.%s.%s%s.%s @@%s@%s" % (name, dt, at, bt, st, sec, dot(sa), dot(sb)), [dt, at, bt, dt],
                           lambda a, b, z, name=name, f=f, sec=sec, dt=dt, at=at, bt=bt, sa=sa, sb=sb, st=st:
                           vsecond(name, vsat(f(sel(a, sa, at), sel(b, sb, bt)), dt) if st else f(sel(a, sa, at), sel(b, sb, bt)), z, dt, sec))
VOP2 = dict(VOP, vavrg=lambda a, b: (a + b + (a + b >= 0)) >> 1)
for n in (2, 4):
    w = 32 // n
    for name, f in VOP2.items():
        for dt, at, bt in (("u32", "u32", "u32"), ("s32", "s32", "s32"), ("s32", "u32", "s32"), ("u32", "s32", "u32")):
            for m in ("", ".sat", ".add"):
                def simd(a, b, z, f=f, dt=dt, at=at, bt=bt, m=m, n=n, w=w):
                    r = 0 if m != ".add" else z
                    for k in range(n):
                        t = f(val(a >> w * k, at[0] + str(w)), val(b >> w * k, bt[0] + str(w)))
                        if m == ".sat": t = clamp(t, dt[0] + str(w))
                        r = r + t if m == ".add" else r | uns(t, w) << w * k
                    return r
                op(c, "%s%d.%s.%s.%s%s" % (name, n, dt, at, bt, m), [dt, at, bt, "u32"], simd)
mad = lambda a, b, z, sh=0: sgn(a, 32) * sgn(b, 32) + sgn(z, 32) >> sh
op(c, "vmad.s32.s32.s32", ["s32"] * 4, mad)
op(c, "vmad.s32.s32.s32.sat.shr7", ["s32"] * 4, lambda a, b, z: clamp(mad(a, b, z, 7), "s32"))
op(c, "vmad.s32.s32.s32.shr15", ["s32"] * 4, lambda a, b, z: mad(a, b, z, 15))
op(c, "vmad.u32.u32.u32.po.sat", ["u32"] * 4, lambda a, b, z: clamp(mad(a, b, z) + 1, "u32"))


# ---- sm_100: pairs of f32, mixed types, f6, f4, powers of two, random bits; and what else has no row in a case above ----
c = case("newer")
REL = {"add": lambda mode: lambda a, b: add(a, b, mode), "sub": lambda mode: lambda a, b: add(a, "nan" if b == "nan" else neg(b), mode),
       "mul": lambda mode: mul, "fma": lambda mode: lambda a, b, z: fma(a, b, z, mode)}


def rounded(v, mode):
    """bits of an f32"""
    r = enc(v, "f32", mode)
    return r | 1 << 31 if not special(v) and v != "-0" and v < 0 else r


for mode in ("rn", "rz", "rm", "rp"):
    for name in REL:
        n, f = 3 if name == "fma" else 2, REL[name](mode)
        def two(*x, f=f, mode=mode): return sum(rounded(f(*[dec(y >> k & 0xffffffff, "f32") for y in x]), mode) << k for k in (0, 32))
        op(c, "%s.%s.f32x2" % (name, mode), ["f32x2"] * (n + 1), two)
    for t in ("f16", "bf16"):
        for name in ("add", "sub", "fma"):
            types = ["f32"] + ([t, t, "f32"] if name == "fma" else [t, "f32"])
            def mixed(*x, f=REL[name](mode), types=types, mode=mode): return rounded(f(*[dec(y, u) for y, u in zip(x, types[1:])]), mode)
            op(c, "%s.%s.f32.%s" % (name, mode, t), types, mixed)

# every value of a small format without infinities, in order, as its bits: what is nearest can be looked up
SMALL = {"e4m3": (4, 3, 0x7e, 0x7f), "e5m2": (5, 2, 0x7b, 0x7f), "e2m3": (2, 3, 0x1f, 0x1f), "e3m2": (3, 2, 0x1f, 0x1f), "e2m1": (2, 1, 7, 7)}


def magnitude(u, t):
    eb, mb = SMALL[t][:2]
    e, m = u >> mb, u & (1 << mb) - 1
    return F(m + (1 << mb if e else 0)) * F(2) ** (max(e, 1) - (1 << eb - 1) + 1 - mb)


def small(v, t, bits=None, with_relu=False):
    """to the nearest even; with 16 random bits: up when they carry out of what is cut off"""
    eb, mb, top, nan = SMALL[t]
    if v == "nan": return nan
    sign = negative(v) << (eb + mb)
    if with_relu and negative(v): return 0
    x = F(10) ** 40 if v in ("inf", "-inf") else abs(num(v))
    if x >= magnitude(top, t): return top | sign
    lo = max(u for u in range(top + 1) if magnitude(u, t) <= x)
    part = (x - magnitude(lo, t)) / (magnitude(lo + 1, t) - magnitude(lo, t))
    if bits is not None: up = int(part * 65536) + bits >= 65536
    else: up = part > F(1, 2) or part == F(1, 2) and lo & 1
    return lo + up | sign


def relus(): return (("", False), (".relu", True))


for t in ("e2m3", "e3m2"):
    for m, r in relus():
        op(c, "cvt.rn.satfinite%s.%sx2.f32" % (m, t), [t + "x2", "f32", "f32"], lambda a, b, t=t, r=r: small(dec(b, "f32"), t, None, r) | small(dec(a, "f32"), t, None, r) << 8)
    sign = sum(SMALL[t][:2])
    def widen(u, t=t, sign=sign): return enc(magnitude(u & (1 << sign) - 1, t), "f16") | (u >> sign & 1) << 15
    op(c, "cvt.rn.f16x2.%sx2" % t, ["f16x2", t + "x2"], lambda a, f=widen: f(a & 63) | f(a >> 8 & 63) << 16)
for m, r in relus():
    op(c, "{ .reg .b8 t; cvt.rn.satfinite%s.e2m1x2.f32 t, $1, $2; mov.b16 $d, {t, t}; }" % m, ["u16", "f32", "f32"],
       lambda a, b, r=r: 257 * (small(dec(b, "f32"), "e2m1", None, r) | small(dec(a, "f32"), "e2m1", None, r) << 4))
op(c, "{ .reg .b8 t, u; mov.b16 {t, u}, $1; cvt.rn.f16x2.e2m1x2 $d, u; }", ["f16x2", "u16"],
   lambda a: enc(magnitude(a >> 8 & 7, "e2m1"), "f16") | (a >> 11 & 1) << 15 | (enc(magnitude(a >> 12 & 7, "e2m1"), "f16") | (a >> 15 & 1) << 15) << 16)


def power(v, mode):
    if v == "nan": return 255
    if v in ("inf", "-inf"): return 254
    x = abs(num(v))
    e = -128
    while e < 127 and F(2) ** (e + 1) <= x: e += 1
    if mode == "rp" and x > F(2) ** e: e += 1
    return max(0, min(254, e + 127))


for mode in ("rz", "rp"):
    op(c, "cvt.%s.satfinite.ue8m0x2.f32" % mode, ["ue8m0x2", "f32", "f32"], lambda a, b, mode=mode: power(dec(b, "f32"), mode) | power(dec(a, "f32"), mode) << 8)
    op(c, "cvt.%s.satfinite.ue8m0x2.bf16x2" % mode, ["ue8m0x2", "bf16x2"], lambda a, mode=mode: power(dec(a & 0xffff, "bf16"), mode) | power(dec(a >> 16, "bf16"), mode) << 8)
power2 = lambda u: 0x7fff if u == 255 else enc(F(2) ** (u - 127), "bf16")
op(c, "cvt.rn.bf16x2.ue8m0x2", ["bf16x2", "ue8m0x2"], lambda a: power2(a & 255) | power2(a >> 8) << 16)


def chance(v, t, bits, with_relu=False):
    """f16 or bf16 by 16 random bits"""
    if v == "nan": return 0x7fff
    if with_relu and negative(v): return 0
    s = negative(v) << 15
    if v in ("inf", "-inf"): return enc("inf", t) | s
    x = abs(num(v))
    lo = enc(x, t, "rz")
    if lo + 1 >= enc("inf", t): return (enc("inf", t) - (x <= dec(enc("inf", t) - 1, t))) | s
    part = (x - dec(lo, t)) / (dec(lo + 1, t) - dec(lo, t))
    return lo + (int(part * 65536) + bits >= 65536) | s


for m, r in relus():
    op(c, "cvt.rs%s.bf16x2.f32" % m, ["bf16x2", "f32", "f32", "u32"], lambda a, b, z, r=r: chance(dec(b, "f32"), "bf16", z & 0xffff, r) | chance(dec(a, "f32"), "bf16", z >> 16, r) << 16)
    op(c, "cvt.rs%s.f16x2.f32" % m, ["f16x2", "f32", "f32", "u32"], lambda a, b, z, r=r: chance(dec(b, "f32"), "f16", (z & 0x1fff) << 3, r) | chance(dec(a, "f32"), "f16", (z >> 16 & 0x1fff) << 3, r) << 16)
    for t in SMALL:
        w = 4 if t == "e2m1" else 8
        def four(a, b, z, t=t, r=r, w=w):
            hi, lo = (z >> 24 << 8 | z >> 8 & 255, (z >> 16 & 255) << 8 | z & 255) if w == 4 else (z >> 16, z & 0xffff)
            x, y = dec(a, "f32"), dec(b, "f32")
            return small(x, t, hi, r) << 3 * w | small(y, t, hi, r) << 2 * w | small(y, t, lo, r) << w | small(x, t, lo, r)
        op(c, "cvt.rs%s.satfinite.%sx4.f32 $d, {$1, $2, $2, $1}, $3;" % (m, t), [t + "x4", "f32", "f32", "u32"], four)
for t in ("f32", "f64"):
    for kind, f in (("finite", lambda v: not special(v)), ("infinite", lambda v: v in ("inf", "-inf")), ("number", lambda v: v != "nan"), ("notanumber", lambda v: v == "nan"),
                    ("normal", lambda v, t=t: not special(v) and flush(v, t) == v), ("subnormal", lambda v, t=t: not special(v) and flush(v, t) != v)):
        op(c, "testp.%s.%s %%p, $1; selp.u32 $d, 1, 0, %%p;" % (kind, t), ["u32", t], lambda a, t=t, f=f: int(f(dec(a, t))))
for t in ("f16", "bf16"):
    for m, r in relus():
        def oob(a, b, z, t=t, r=r):
            if 0x7ff7 in (a & 0x7fff, b & 0x7fff): return 0
            v = fma(dec(a, t), dec(b, t), dec(z, t))
            return enc(relu(v) if r else v, t)
        op(c, "fma.rn.oob%s.%s" % (m, t), [t] * 4, oob)
        op(c, "fma.rn.oob%s.%sx2" % (m, t), [t + "x2"] * 4, lambda a, b, z, f=oob: f(a & 0xffff, b & 0xffff, z & 0xffff) | f(a >> 16, b >> 16, z >> 16) << 16)
for kind, pick in (("min", min), ("max", max)):
    for m in ("", ".ftz", ".NaN", ".abs", ".ftz.NaN.abs"):
        def three(*x, pick=pick, m=m):
            v = [dec(y & 0x7fffffff if "abs" in m else y, "f32") for y in x]
            v = [flush(y, "f32") for y in v] if "ftz" in m else v
            return enc("nan" if "NaN" in m and "nan" in v else order(order(v[0], v[1], pick), v[2], pick), "f32")
        op(c, kind + m + ".f32", ["f32"] * 4, three)
op(c, "{ .reg .b8 t<4>; mov.b32 {t0, t1, t2, t3}, $1; mov.b32 $d, {t3, t2, t1, t0}; }", ["u32", "u32"], lambda a: int.from_bytes(a.to_bytes(4, "little"), "big"))
op(c, "{ .reg .b128 q; .reg .b64 t; mov.b128 q, {$1, $2}; mov.b128 {t, $d}, q; xor.b64 $d, $d, t; }", ["u64", "u64", "u64"], lambda a, b: a ^ b)


# ---- files ----
def operands(name):
    rng = random.Random(name)
    ints = [0, 1, 2, 31, 32, 33, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 63, (1 << 63) - 1, (1 << 64) - 1]
    f32 = [0, 1 << 31, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 1, 0x7fffff, 0x80000001, 0x800000, 0x7f7fffff, 0x4f000000, 0x47ffefff, 0x33000000]
    f64 = [0, 1 << 63, 0x3ff0000000000000, 0xbff8000000000000, 0x7ff0000000000000, 0x3690000000000000, 0x47efffffe0000000, 0x47efffffffffffff, 0x3810000000000000]
    near = lambda: (rng.choice([0x3f, 0x40, 0xbf, 0xc0]) << 24) | rng.getrandbits(24)
    out = []
    for k in range(LANES):
        if name == "rounding": x = rng.choice(f64 + [rng.getrandbits(52) | rng.choice([0x3ff, 0x400, 0xbff]) << 52]) if k % 2 else rng.choice(f32 + [near(), near()]) * (1 + (1 << 32))
        elif name == "half": x = rng.getrandbits(64) if k % 4 else rng.choice([0, 0x8000, 0x3c00, 0x7c00, 0xfc00, 0x7e00, 1, 0x3ff, 0x400, 0x7bff]) * 0x1000100010001
        elif name in ("convert", "newer"): x = [rng.choice(f32 + [near()]) * (1 + (1 << 32)), rng.choice(f64), rng.choice(ints), rng.getrandbits(64), rng.getrandbits(rng.randint(1, 64)),
                                     rng.getrandbits(16) * 0x1000100010001, (rng.randint(0x3f000000, 0x4f800000) | rng.getrandbits(1) << 31) * (1 + (1 << 32)),
                                     0x3ff0000000000000 + rng.getrandbits(58)][k % 8]
        else: x = rng.choice(ints + [rng.getrandbits(64), rng.getrandbits(64), rng.getrandbits(32) * (1 + (1 << 32)), rng.randint(0, 40)])
        out.append(x & (1 << 64) - 1)
    return out


def write(name, ops):
    a, b, z = operands(name), operands(name), operands(name)
    rng = random.Random(1 + len(name))
    rng.shuffle(b), rng.shuffle(z)
    # f64 NaNs are not settled yet: lanes that make one get other numbers
    for k in range(LANES):
        if any(f(*[uns(x[k], 8 * size(t)) for x, t in zip((a, b, z), types[1:])]) is None for text, types, f in ops): a[k] = b[k] = z[k] = 0x3ff8000000000001
    body, out = [], []
    for n, (text, types, f) in enumerate(ops):
        sel = text.split(" @")[1].split("@") if " @" in text else ["", "", ""]
        text = text.split(" @")[0]
        reg = [REG[size(t)] for t in types]
        srcs = ["%s%d" % (r, k + 1) for k, r in enumerate(reg[1:])]
        d = reg[0] + "0"
        srcs = [s + (sel[k + 1] if k < 2 else "") for k, s in enumerate(srcs)]
        if "$" in text:                         # written out
            for k, r in enumerate([d] + srcs): text = text.replace("$%d" % k if k else "$d", r)
            body.append("    " + text)
        elif ";" in text:                       # a chain on the carry: (a, b[, c]), then (b, c[, ...])
            parts = text.split(";")
            last = len(parts) - 1
            for k, p in enumerate(parts):
                x = srcs if p.startswith("mad") else [srcs[0], srcs[1]] if k == 0 else [srcs[1], srcs[2]] if k == 1 else [srcs[2], srcs[2]]
                body.append("    %s %s, %s;" % (p, d if k == last else reg[0] + "7", ", ".join(x)))
        else: body.append("    %s %s%s, %s;" % (text, d, sel[0], ", ".join(srcs)))
        w = size(types[0])
        conv = {1: ("s16" if types[0] == "s8" else "u16", "%h0"), 2: ("u16", "%h0"), 4: ("u32", "%r0")}.get(w)
        if conv: body.append("    cvt.u64.%s %%d0, %s;" % (("u8" if w == 1 else conv[0]), conv[1]))
        body.append("    st.global.u64 [%%d6+%d], %%d0;" % (n * 8 * LANES))
        for k in range(LANES):
            args = [uns(x[k], 8 * size(t)) for x, t in zip((a, b, z), types[1:])]
            out.append(f(*args))
    head = """// Written by arithmetic.py: one store for each opcode.
%s
.address_size 64
.visible .entry %s(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 po)
{
%s    .reg .b16 %%h<8>;
    .reg .b32 %%r<9>;
    .reg .b64 %%d<12>;
    ld.param.u64 %%d8, [pa];
    ld.param.u64 %%d9, [pb];
    ld.param.u64 %%d10, [pc];
    ld.param.u64 %%d6, [po];
    mov.u32 %%r8, %%tid.x;
    mul.wide.u32 %%d11, %%r8, 8;
    add.u64 %%d8, %%d8, %%d11;
    add.u64 %%d9, %%d9, %%d11;
    add.u64 %%d10, %%d10, %%d11;
    add.u64 %%d6, %%d6, %%d11;
    ld.global.u64 %%d1, [%%d8];
    ld.global.u64 %%d2, [%%d9];
    ld.global.u64 %%d3, [%%d10];
""" % (NEWER.get(name, ("", ".version 8.6\n.target sm_90"))[1], name, "    .reg .pred %p;\n" if name in NEWER else "")
    for k in (1, 2, 3): head += "    cvt.u32.u64 %%r%d, %%d%d;\n    cvt.u16.u64 %%h%d, %%d%d;\n" % (k, k, k, k)
    with open(os.path.join(HERE, name + ".ptx"), "w") as f: f.write(head + "\n".join(body) + "\n    ret;\n}\n")
    put = lambda part, v: open(os.path.join(HERE, "data", "%s.%s.bin" % (name, part)), "wb").write(struct.pack("<%dQ" % len(v), *[uns(x, 64) for x in v]))
    mask = []
    for n, (text, types, f) in enumerate(ops): mask += [(1 << 8 * size(types[0])) - 1] * LANES
    put("a", a), put("b", b), put("c", z), put("out", [uns(v, 64) & m for v, m in zip(out, mask)])
    with open(os.path.join(HERE, name + ".case"), "w") as f:
        f.write("# %d opcodes over 64 lanes, against exact rationals (arithmetic.py)\n" % len(ops))
        f.write("run: launch %s.ptx%s --quiet --grid 1 --block 64 a=u64[64]=@data/%s.a.bin b=u64[64]=@data/%s.b.bin c=u64[64]=@data/%s.c.bin out=u64[%d,64]=uninit --expect out=data/%s.out.bin\n"
                % (name, " --device " + NEWER[name][0] if name in NEWER else "", name, name, name, len(ops), name))


if __name__ == "__main__":
    os.makedirs(os.path.join(HERE, "data"), exist_ok=True)
    for name, ops in CASES.items(): write(name, ops)
