#!/usr/bin/env python3
"""Writes data/*.bin: the inputs of the kernels here and the results they must give, by plain Python with every f32
rounding made exactly (fractions). Run it after changing a case; it knows nothing of Lockstep."""
import math
import os
import struct
from fractions import Fraction

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def put(name, fmt, values):
    os.makedirs(HERE, exist_ok=True)
    with open(os.path.join(HERE, name + ".bin"), "wb") as f:
        f.write(struct.pack("<%d%s" % (len(values), fmt), *values))


def s32(x):
    return ((x & M32) ^ (1 << 31)) - (1 << 31)


def s64(x):
    return ((x & M64) ^ (1 << 63)) - (1 << 63)


def f32(x):
    """The f32 nearest to a rational number, ties to even (normal range)."""
    x = Fraction(x)
    if x == 0:
        return 0.0
    e = math.frexp(float(abs(x)))[1] - 24
    return float(Fraction(round(x / Fraction(2) ** e)) * Fraction(2) ** e)


def cdiv(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


class Lcg:
    def __init__(self, seed):
        self.x = seed

    def __call__(self, n):
        self.x = (self.x * 6364136223846793005 + 1442695040888963407) & M64
        return (self.x >> 33) % n


def matmul():
    r = Lcg(1)
    for name, m, n, k in (("matmul16", 48, 32, 48), ("matmul32", 32, 64, 64)):
        a = [r(17) - 8 for _ in range(m * k)]
        b = [r(17) - 8 for _ in range(k * n)]
        put(name + ".a", "f", a)
        put(name + ".b", "f", b)
        put(name + ".c", "f", [sum(a[i * k + t] * b[t * n + j] for t in range(k)) for i in range(m) for j in range(n)])


def histogram():
    r = Lcg(2)
    x = [(r(256) * r(256)) >> 8 for _ in range(3000)]
    put("histogram.in", "B", x)
    put("histogram.bins", "I", [sum(v >> 4 == b for v in x) for b in range(16)])


def mandelbrot():
    def escape(x, y, limit):
        cx, cy = f32(Fraction(3 * x, 64) - 2), f32(Fraction(2 * y, 64) - 1)
        zx = zy = 0.0
        k = 0
        while k < limit:
            yy = f32(Fraction(zy) * Fraction(zy))
            if f32(Fraction(zx) ** 2 + Fraction(yy)) >= 4:
                break
            t = f32(Fraction(f32(Fraction(zx) ** 2 - Fraction(yy))) + Fraction(cx))
            zy = f32(Fraction(f32(2 * Fraction(zx))) * Fraction(zy) + Fraction(cy))
            zx = t
            k += 1
        return k
    put("mandelbrot.out", "B", [escape(x, y, 100) for y in range(64) for x in range(64)])


def scan():
    r = Lcg(3)
    x = [r(2001) - 1000 for _ in range(256)]
    put("scan.in", "i", x)
    put("scan.inclusive", "i", [sum(x[:i + 1]) for i in range(256)])
    put("scan.exclusive", "i", [sum(x[:i]) for i in range(256)])


def collatz():
    def steps(x):
        n = 0
        while x != 1:
            x = 3 * x + 1 if x & 1 else x // 2
            n += 1
        return n
    put("collatz.out", "I", [steps(i + 1) for i in range(1000)])


def shuffles():
    r = Lcg(4)
    x = [r(100001) - 50000 for _ in range(1000)]
    put("reduce.in", "i", x)
    put("reduce.sum", "i", [sum(x)])
    y = x[:128]
    put("reduce_xor.in", "i", y)
    for name, f in (("sum", sum), ("low", min), ("high", max)):
        put("reduce_xor." + name, "i", [f(y[i // 32 * 32:i // 32 * 32 + 32]) for i in range(128)])
    lanes = range(32)
    put("shuffles.out", "i", [10 * v for row in (
        [i - 3 if i >= 3 else i for i in lanes], [i + 3 if i + 3 < 32 else i for i in lanes],
        [i * 7 % 32 for i in lanes], [i - 1 if i % 8 else i for i in lanes],
        [i + 1 if i % 8 != 7 else i for i in lanes], [i // 8 * 8 + 5 for i in lanes]) for v in row])


def grid():
    a = list(range(256))
    for _ in range(5):
        a = [a[i] + a[i - 1] for i in range(256)]
    put("grid_barrier.out", "i", a)
    put("grid_sync.a", "i", [(i + 1) % 256 * 2 for i in range(256)])
    put("grid_sync.sums", "i", [255 * 256] * 8)


def recursion():
    fib = [0, 1]
    while len(fib) < 16:
        fib.append(fib[-1] + fib[-2])
    put("recursion.fib", "i", [fib[i % 16] for i in range(64)])
    ack = [lambda n: n + 1, lambda n: n + 2, lambda n: 2 * n + 3]
    put("recursion.ack", "i", [ack[i // 6](i % 6) for i in range(18)])

    def even(n, a):
        f = [a[(i + 1) % 4] + i for i in range(4)]
        return f[0] if n == 0 else odd(n - 1, f) + f[n % 4]

    def odd(n, a):
        f = [v ^ n for v in a]
        return f[1] if n == 0 else even(n - 1, f) - f[n % 4]
    put("recursion.mutual", "i", [even(t % 12, [1, 2, 3, 4]) for t in range(40)])


def calls():
    ops = [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b,
           lambda a, b: sum(i * b for i in range(int(math.fmod(a, 8))))]
    put("calls.divergent", "i", [ops[t % 4](t, 7) for t in range(96)])
    put("calls.third", "i", [ops[3](t, 7) for t in range(96)])

    def nested(t):
        f = ops[t // 2 % 4] if t & 1 else ops[3 - t // 2 % 4]
        return f(f(t, 3), 3)
    put("calls.nested", "i", [nested(t) for t in range(96)])


def constants():
    powers, shorts, table, text = [3 ** i for i in range(8)], [-1, 2, -3], [1, 2, 4, 8, 255], b"lockstep"
    put("constants.out", "i", [powers[t % 8] + (-10 if t % 2 == 0 else 16) + shorts[t % 3] + table[t % 5] + text[t % 8]
                               for t in range(64)])


def memory():
    put("shared_dynamic.out", "i", [95 - t if (95 - t) % 3 == 0 else -1 for t in range(96)])
    r = Lcg(5)
    x = [r(2000) - 1000 for _ in range(8 * 40)]
    put("sort8.in", "i", x)
    put("sort8.out", "i", [v for t in range(40) for v in sorted(x[8 * t:8 * t + 8])])

    def walk(t):
        at = total = 0
        for _ in range(50):
            total += at
            at = (at * 5 + t) % 32
        return total
    put("walk.out", "i", [walk(t) for t in range(33)])
    put("stencil.out", "f", [(i - 1 if i else 0) + 10 * i + (100 * (i + 1) if i < 499 else 0) for i in range(500)])
    for n, order in (("row", 0), ("col", 1)):
        cell = {}
        for a in range(5):
            for b in range(7):
                cell[a * 7 + b if order == 0 else b * 5 + a] = (a * 10 + b + 3) * 0.25
        put("struct_param." + n, "f", [cell[i] for i in range(35)])
    put("struct_param.pick", "i", [(t * 7 % 20) * 11 for t in range(32)])
    put("transpose.out", "i", [y * 40 + x for x in range(40) for y in range(50)])


def flow():
    r = Lcg(6)
    x = [r(10) - 1 for _ in range(64)]
    put("switch.in", "i", x)

    def case(t, v):
        if v == 2:
            return sum(i * i for i in range(t))
        return {0: t * 3, 1: t ^ 0x55, 3: t + 1000, 4: t + 1000, 5: t << 4, 6: -6, 7: t // 3}.get(v, 12345)
    put("switch.out", "i", [case(t, v) for t, v in enumerate(x)])

    def table(t, v):
        v = min(v & 7, 4)
        return [t + 100, 2 * t, max(7, (t + 6) // 7 * 7), t * t, 0][v]
    put("jump_table.out", "i", [table(t, v) for t, v in enumerate(x)])

    put("trips.out", "i", [sum(i * 10 + j for i in range(t % 7) for j in range((t + i) % 5 + 1)) for t in range(64)])

    def jumps(t):
        s = 0
        for i in range(20):
            if i == t:
                continue
            if i * t % 11 == 10:
                break
            j = 0
            while j <= i % 4:
                if j * i > 25:
                    return s
                s += j + 1
                j += 1
            if s > 200:
                return -s
            s += i
        return s
    put("jumps.out", "i", [jumps(t) for t in range(64)])

    def two_entries(t, n):
        i = s = 0
        middle = t & 1
        while True:
            if not middle:
                s += 3
                if s > 100 + t:
                    break
            middle = 0
            s += t + 1
            i += 1
            if i >= n:
                break
        return s * 100 + i
    put("two_entries.out", "i", [two_entries(t, 30) for t in range(32)])

    def nest(v):
        out = 0
        if v & 1:
            out += 1
            if v & 2:
                out += 2
                while v & 4:
                    out += 4
                    if v & 8:
                        while True:
                            out += 8
                            v -= 16
                            if v <= 32:
                                break
                    if out > 60:
                        break
                    v ^= out & 4
            elif v & 8:
                out *= 100
        elif v & 4:
            out = (7 if v > 40 else 6) if v > 20 else 5
        return out
    put("nest.out", "i", [nest(v) for v in range(96)])


def warps():
    x = [i * i % 47 for i in range(64)]
    put("tiles.in", "i", x)
    put("tiles16.out", "i", [sum(x[i // 16 * 16:i // 16 * 16 + 16]) for i in range(64)])

    def halves(base):
        v = x[base:base + 32]
        low = [sum(v[:16])] * 16
        high = dict(zip(range(16, 32), v[16:]))
        for _ in range(3):
            high = {i: high[min(i + 1, 31)] + 1 for i in high}
        return low + [high[i] for i in range(16, 32)]
    put("halves.out", "i", halves(0) + halves(32))
    rank = [-1] * 32
    for n, t in enumerate(range(0, 32, 3)):
        rank[t] = 5 + n
    put("coalesced.rank", "i", rank)

    y = [i * 3 % 32 for i in range(32)]
    put("votes.in", "i", y)
    lanes = range(32)
    match = [sum(1 << j for j in lanes if y[j] % 5 == y[i] % 5) for i in lanes]
    xor = 0
    for v in y:
        xor ^= v
    put("votes.out", "I", [sum(1 << j for j in lanes if y[j] & 1)] * 32 + [0] * 32 + [1] * 32 + match + [0] * 32
        + [0xfffff if i < 20 else sum(1 << j for j in lanes if j >= 20 and j & 4) for i in lanes]
        + [sum(y)] * 32 + [max(y) ^ xor] * 32)
    r = Lcg(7)
    z = [0, 1, M32, 0x80000000] + [(r(1 << 16) << 16 | r(1 << 16)) >> r(32) for _ in range(28)]
    put("bits.in", "I", z)

    def perm(v):
        b = [v >> 8 * i & 255 for i in range(4)] + [0x44, 0x33, 0x22, 0x11]
        return b[0] | b[4] << 8 | b[1] << 16 | b[5] << 24
    put("bits.out", "I", [(bin(v).count("1") + 100 * (32 - v.bit_length()) + 10000 * ((v & -v).bit_length())) & M32
                          for v in z] + [int("{:032b}".format(v)[::-1], 2) for v in z] + [perm(v) for v in z]
        + [((0x80000001 << 32 | v) << (t & 31) >> 32) & M32 for t, v in enumerate(z)])


def barriers():
    put("named.out", "i", [r * 100 + 63 - i for r in range(5) for i in range(64)])
    put("per_warp.out", "i", [(t ^ 32) + t // 64 for t in range(256)])
    put("reduced.out", "i", [32 * 100 + 10 + 1] * 96)
    s = [t + (t + 40) for t in range(40)]
    put("early_return.out", "i", [s[39 - t] + (t + 1 if t % 8 != 7 else t) for t in range(40)])


def shapes():
    for name, (gx, gy, gz), (bx, by, bz) in (("7x5", (3, 2, 1), (7, 5, 1)), ("8x8x4", (1, 1, 2), (8, 8, 4)),
                                             ("45", (4, 1, 1), (45, 1, 1)), ("16x16", (2, 3, 1), (16, 16, 1))):
        put("shapes." + name, "i", [c * 100000 + b * 10000 + a * 1000 + z * 100 + y * 10 + x
                                    for c in range(gz) for b in range(gy) for a in range(gx)
                                    for z in range(bz) for y in range(by) for x in range(bx)])
    put("lanes.7x5x2", "i", [t % 32 * 101 + 100000 for t in range(70)])
    put("tile_2d.out", "i", [(x * 16 + y) - (y * 16 + (x + 1) % 16) + ((y + 15) % 16 * 16 + x)
                             for y in range(16) for x in range(16)])


def numbers():
    r = Lcg(8)
    a = [1.0, -0.5, 1e16, -3.7, 2.5, 0.1, 1e308, 5e-324, 123456.789, -2.0, 7.0, 1.0 / 3] + \
        [(r(1 << 30) - (1 << 29)) / (1 + r(1 << 20)) for _ in range(20)]
    b = [3.0, -0.5, 3.0, 1.9, -1e-3, 0.2, 10.0, 2.0, 1e-300, 1e18, -7.0, 3.0] + \
        [(r(1 << 30) - (1 << 29)) / (1 + r(1 << 10)) for _ in range(20)]
    def fma(x, y, z):
        try:
            return float(Fraction(x) * Fraction(y) + Fraction(z))
        except OverflowError:
            return math.inf if (x < 0) == (y < 0) else -math.inf
    def single(x):
        try:
            return struct.unpack("<f", struct.pack("<f", x))[0]
        except OverflowError:
            return math.copysign(math.inf, x)
    rows = [[f(x, y) for x, y in zip(a, b)] for f in (
        lambda x, y: x + y, lambda x, y: x * y, lambda x, y: fma(x, y, -x), lambda x, y: x / y,
        lambda x, y: math.sqrt(abs(x)), lambda x, y: min(x, y) - max(x, y), lambda x, y: single(x),
        lambda x, y: float(math.floor(x)) + float(math.trunc(y)) + float(round(x)) + float(math.ceil(y)))]
    put("float64.x", "d", a)
    put("float64.y", "d", b)
    put("float64.out", "d", [v for row in rows for v in row])
    clamp = lambda x: max(-(1 << 63), min((1 << 63) - 1, int(x)))
    put("float64.flags", "i", [s32((x < y) | (x == y) << 1 | (x != y) << 2 | (s32(clamp(y)) << 4)) for x, y in zip(a, b)])

    a = [0, 1, -1, (1 << 63) - 1, -(1 << 63), 1 << 32, -(1 << 32), 10 ** 18, 123456789, -7]
    b = [1, -1, 2, 3, 7, -(1 << 31), (1 << 32) + 1, 10 ** 9 + 7, -987654321012, 2]
    a += [s64(r(1 << 31) << 33 | r(1 << 31) << 2 | r(4)) >> r(50) for _ in range(22)]
    b += [(s64(r(1 << 31) << 33 | r(1 << 31) << 2 | r(4)) >> r(50)) or 5 for _ in range(22)]
    rows = [[] for _ in range(11)]
    for x, y in zip(a, b):
        u, v, n = x & M64, y & M64, y & 63
        short = ((x & 0xffff) ^ 0x8000) - 0x8000
        for row, z in zip(rows, (x * y, cdiv(x, y), x - cdiv(x, y) * y, u // v, u % v, x * y >> 64, u * v >> 64,
                                 (x << n) ^ (x >> n) ^ (u >> n), bin(u).count("1") * 100 + 64 - u.bit_length(),
                                 s32(x) * s32(y) + short + (y & 255), int(u < v) if x < y else 2 + (u > v))):
            row.append(s64(z))
    put("int64.x", "q", a)
    put("int64.y", "q", b)
    put("int64.out", "q", [v for row in rows for v in row])

    u8, s8 = [r(256) for _ in range(50)], [r(256) - 128 for _ in range(50)]
    u16, s16 = [r(65536) for _ in range(50)], [r(65536) - 32768 for _ in range(50)]
    put("narrow.u8", "B", u8)
    put("narrow.s8", "b", s8)
    put("narrow.u16", "H", u16)
    put("narrow.s16", "h", s16)
    put("narrow.o8", "B", [(x * 3 + y) & 255 for x, y in zip(u8, s8)])
    put("narrow.o16", "H", [(x - y * 2) & 65535 for x, y in zip(u16, s16)])
    put("narrow.o32", "i", [s32(a * b + c * d) for a, b, c, d in zip(u8, s8, u16, s16)])

    q = list(range(160))
    four = lambda f: [v for i in range(0, 160, 4) for v in f(*q[i:i + 4])]
    put("vectors.a", "f", four(lambda x, y, z, w: (w, z, y, x)))
    put("vectors.b", "i", four(lambda x, y, z, w: (x + y, y - z, z * w, w ^ x)))
    put("vectors.c", "d", [v for i in range(0, 80, 2) for v in (i + 1, 2 * i)])
    put("vectors.din", "B", q)
    put("vectors.d", "B", four(lambda x, y, z, w: (w, x, y, z)))


def remainder():
    def row(t, shift):
        u, i = (t + shift) & M32, t - shift
        return [u % 3, u // 7, i - cdiv(i, 10) * 10, cdiv(i, 6), (u * 2654435761 & M32) >> 20]
    for shift in (0, 50):
        put("remainder.%d" % shift, "i", [v for t in range(96) for v in row(t, shift)])


def inline():
    def one(t):
        x = t * 3 - 20
        y = (5 + x if x > 10 else 5 - x) * 3 + 1 + sum(range(t % 9 + 1))
        a = (x * 1000 & M32) >> 4 & 255
        xs, n = x & M32, a * 77777 & M32
        b = (xs & t) | (xs & a) | (t & a)
        byte = [xs >> 8 * i & 255 for i in range(4)] + [n >> 8 * i & 255 for i in range(4)]
        c = byte[5] | byte[1] << 8 | byte[7] << 16 | byte[3] << 24
        return [s32(y), s32(a), s32(b), s32(c)]
    put("inline_ptx.in", "i", [t * 3 - 20 for t in range(32)])
    put("inline_ptx.out", "i", [v for t in range(32) for v in one(t)])


def softmax():
    r = Lcg(9)
    put("softmax.in", "f", [(r(2000) - 1000) / 128 for _ in range(9 * 100)])
    put("softmax.steps", "f", [200 * i for i in range(256)])
    put("softmax.onehot", "f", [1.0 if c == 63 else 0.0 for _ in range(4) for c in range(64)])
    put("softmax.flat", "f", [1 / 64] * 256)


def ordered():
    put("producer.out", "i", [i * i for i in range(50)])
    put("chain.out", "i", [63 - b + t for b in range(64) for t in range(32)])
    put("ticket.order", "i", [3 * i for i in range(96)])


if __name__ == "__main__":
    for step in (matmul, histogram, mandelbrot, scan, collatz, shuffles, grid, recursion, calls, constants, memory, flow,
                 warps, barriers, shapes, numbers, remainder, inline, softmax, ordered):
        step()
