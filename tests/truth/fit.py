#!/usr/bin/env python3
"""fit.py FOLDER > src/generated/mufu_rom.c: finds the tables of the special function unit in what tests/truth/fetch wrote into FOLDER.

The unit interpolates: c0 + k1 x + k2 s(x), all of it integers, in one of 51 to 128 segments; x has 17 bits, s is x squared by a
folded array multiplier whose columns below 19 are not built (Oberman and Siu, "A high-performance area-efficient multifunction
interpolator", 2005, describe its like). What comes out is cut off, never rounded, so that every result of the GPU says: here the
sum lies in this interval. A linear programme finds a point that all intervals of a segment agree with, and the integers near it
are tried: there is one k1 and one k2, and c0 lies in a range of which every member gives the same results.
Needs numpy and scipy; takes a few minutes."""
import sys

import numpy as np
from scipy.optimize import linprog

RAW = sys.argv[1]
X = np.arange(1 << 17, dtype=np.int64)


def squares():
    """The columns from 19 on of x * x, where x[i] x[j] + x[j] x[i] is one bit in column i + j + 1."""
    bit = [X >> i & 1 for i in range(17)]
    s = sum(bit[i] << 2 * i for i in range(17) if 2 * i >= 19)
    return (s + sum((bit[i] & bit[j]) << i + j + 1 for i in range(17) for j in range(i + 1, 17) if i + j + 1 >= 19)) >> 19


S = squares()


def load(form, first, step=1):
    return np.fromfile(f"{RAW}/{form}.{first:x}.{'0x%x' % step if step > 31 else step}", np.uint32).astype(np.int64)


def fixed(bits, unit, least=1):
    """Results as intervals [low, low + width) in units of 2^-unit, none narrower than `least`."""
    exponent, mantissa = bits >> 23, np.where(bits, bits & 0x7fffff | 1 << 23, 0)
    shift = exponent - 127 - 23 + unit
    low = np.where(shift >= 0, mantissa << np.maximum(shift, 0), mantissa >> np.maximum(-shift, 0))
    return low, np.maximum(np.where(shift >= 0, 1 << np.maximum(shift, 0), 1), least)


def centre(low, width, x, s):
    """A point in the middle of what all intervals allow, by a linear programme that grows by the constraints it breaks."""
    scale = width.max().astype(float)
    o, w, x, s = low / scale, width / scale, x / 2.0**17, s / 2.0**15
    line = (o[-1] - o[0]) / (x[-1] - x[0])
    rest = o - o[0] - line * x
    chosen = set(np.linspace(0, len(o) - 1, 200).astype(int).tolist())
    for _ in range(60):
        i = np.array(sorted(chosen))
        one = np.ones(len(i))
        a = np.vstack([np.c_[-one, -x[i], -s[i], w[i]], np.c_[one, x[i], s[i], w[i]]])
        b = np.r_[-rest[i], rest[i] + w[i]]
        p = linprog([0, 0, 0, -1], A_ub=a, b_ub=b, bounds=[(None, None)] * 3 + [(None, .5)], method="highs",
                    options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}).x
        g = (p[0] + p[1] * x + p[2] * s - rest) / w
        if min(g.min(), 1 - g.max()) >= p[3] - 1e-7:
            break
        chosen |= set(np.argsort(g)[:30].tolist()) | set(np.argsort(-g)[:30].tolist())
    return (p[1] + line) * scale / 2.0**17, p[2] * scale / 2.0**15


def segment(name, low, width, x):
    """k1, k2 and the range of c0."""
    s = S[x]
    near1, near2 = centre(low, width, x, s)
    for d2 in (0, 1, -1, 2, -2, 3, -3):
        for d1 in (0, 1, -1, 2, -2, 3, -3):
            k1, k2 = round(near1) + d1, round(near2) + d2
            rest = low - k1 * x - k2 * s
            least, most = int(rest.max()), int((rest + width).min())
            if least < most:
                return k1, k2, least, most
    sys.exit(f"{name}: no integers fit near {near1}, {near2}")


def grid(rows):
    """The coarsest power of two, and an offset, that some c0 of every row is a multiple of."""
    for bits in range(20, -1, -1):
        m = 1 << bits
        count = np.zeros(2 * m + 1, int)
        for _, _, least, most in rows:
            if most - least < m:
                count[least % m] += 1
                count[least % m + most - least] -= 1
            else:
                count[0] += 1
                count[m] -= 1
        count = np.cumsum(count)
        fit = np.flatnonzero(count[:m] + count[m:2 * m] == len(rows))
        if len(fit):
            return m, int(fit[0])
    return 1, 0


def emit(name, unit, what, rows, exponent=0):
    """`exponent`: what the result has for one beside its mantissa when that of the argument is 0, biases and all."""
    m, offset = grid(rows)
    print(f"\n/* {what} */\nconst struct mufu_row mufu_{name}[{len(rows)}] = {{")
    text = []
    for k1, k2, least, most in rows:
        c0 = least + (offset - least) % m
        assert least <= c0 < most
        assert all(v % unit == 0 for v in (c0, k1, k2))
        c0 += exponent << 40
        text.append(f"{{ {c0 // unit}, {k1 // unit}, {k2 // unit} }},")
    for i in range(0, len(text), 4):
        print("    " + " ".join(text[i:i + 4]))
    print("};")


def array(name, values):
    print(f"\nconst {name} = {{")
    for i in range(0, len(values), 24):
        print("    " + " ".join(f"{v}," for v in values[i:i + 24]))
    print("};")


def plain(form, binades, bits, drop_first=False):
    """Forms whose result's bits are the sum shifted right by 17: the first binade's least exponent is taken off."""
    rows, n = [], 1 << 23 - bits
    for first in binades:
        a = load(form, first)
        a = (a - (a.min() & ~0x7fffff)) << 17
        for i in range(1 << bits):
            skip = drop_first and i == 0 and first == binades[0]
            x = X[::(1 << 17) // n]
            rows.append(segment(f"{form} {i}", a[i * n + skip:(i + 1) * n], np.full(n - skip, 1 << 17), x[skip:]))
    return rows


def turns(form, first, step, count):
    """What MUFU.SIN sees of an input: the fraction of a turn, in units of 2^-25."""
    x = (first + np.arange(count, dtype=np.int64) * step).astype(np.uint32).view(np.float32).astype(np.float64)
    product = np.abs(x * np.float64(np.float32(0.15915493667)))
    t = product.astype(np.float32)
    t = np.where(t.astype(np.float64) > product, np.nextafter(t, np.float32(0)), t).astype(np.float64)
    return np.floor(t * 2.0**25).astype(np.int64) & (1 << 25) - 1


def sine():
    quarter, value = 1 << 23, np.full(1 << 23, -1, np.int64)
    for form, ahead in (("sin.approx.ftz.f32", 0), ("cos.approx.ftz.f32", 1)):
        for first in (0x3e800000, 0x3f000000, 0x3f800000, 0x40000000):
            a = load(form, first)
            t = turns(form, first, 1, len(a))
            value[np.where((t >> 23) + ahead & 1, ~t, t) & quarter - 1] = a & 0x7fffffff
    # close to 0: from the sample of small arguments
    for e in range(-25, -2):
        a = load("sin.approx.ftz.f32", e + 127 << 23, 31)
        value[turns("sin", e + 127 << 23, 31, len(a)) & quarter - 1] = a
    known = np.flatnonzero(value >= 0)
    low, width = fixed(value, 41, 16)
    width[value == 0x3f800000] = 1 << 30
    return [segment(f"sin {i}", low[k], width[k], k & 0x1ffff) for i in range(64) for k in [known[known >> 17 == i]]]


# binade -> how many bits of the mantissa name the segment
TANH = {-8: 0, -7: 0, -6: 0, -5: 1, -4: 1, -3: 2, -2: 2, -1: 2, 0: 3, 1: 4, 2: 3}


def tanh():
    rows = []
    for e, bits in TANH.items():
        step = 1 if e in (-1, 0) else 31
        a = load("tanh.approx.f32", e + 127 << 23, step)
        m = np.arange(len(a), dtype=np.int64) * step
        low, width = fixed(a, 41)
        for i in range(1 << bits):
            k = np.flatnonzero(m >> 23 - bits == i)
            rows.append(segment(f"tanh {e} {i}", low[k], width[k], (m[k] >> 6 - bits) & 0x1ffff))
    return rows


def main():
    print("/* The tables of an H200's special function unit, found by tests/truth/fit.py from its results; words_mufu.h says how they are used.\n"
          " * The units are 2^-17 of the last bit of the result where nothing else is said. */\n#include \"isa/mufu.h\"")
    array("u16 mufu_square[4096]", S[::32])
    array("u8 mufu_square_low[64]", [S[n >> 3 << 14 | (n & 7) << 2] - S[n >> 3 << 14] for n in range(64)])
    emit("rcp", 1, "1 / m, m in [1, 2): 128 segments", plain("rcp.approx.ftz.f32", [0x3f800000], 7), 253)
    emit("rsqrt", 1, "1 / sqrt(m): 64 segments for m in [1, 2), then 64 for [2, 4)", plain("rsqrt.approx.ftz.f32", [0x3f800000, 0x40000000], 6, True), 190)
    emit("sqrt", 1, "sqrt(m): 64 segments for m in [1, 2), then 64 for [2, 4)", plain("sqrt.approx.ftz.f32", [0x3f800000, 0x40000000], 6), 63)
    emit("ex2", 1, "2^x, x in [0, 1): 64 segments", plain("ex2.approx.ftz.f32", [0x3f800000], 6), 127)
    emit("lg2", 1, "log2(m), m in [1, 2), in units of 2^-40: 64 segments", plain("lg2.approx.ftz.f32", [0x40000000], 6))
    emit("sin", 16, "the sine over a quarter of a turn, in units of 2^-37: 64 segments", sine())
    emit("tanh", 4, "tanh, in units of 2^-39: 1, 1, 1, 2, 2, 4, 4, 4, 8, 16, 8 segments for the binades from 2^-8 to 2^2", tanh())


main()
