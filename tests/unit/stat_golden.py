#!/usr/bin/env python3
"""Writes stat_golden.h: what SciPy says of samples, for tests/unit/test_stat.c.

    python3 tests/unit/stat_golden.py > tests/unit/stat_golden.h      (needs numpy and scipy)

Cliff's delta and the shift of Hodges and Lehmann, which SciPy has not, are computed here by their definitions, over all
pairs.
"""
import numpy as np
import scipy
from scipy import stats

rng = np.random.default_rng(20261118)


def cliff(a, b):
    d = np.sign(b[:, None] - a[None, :]).astype(float)  # rows: b
    n, m, delta = len(a), len(b), d.mean()
    if abs(delta) == 1:
        return delta, delta, delta
    of_a = ((d.mean(axis=0) - delta) ** 2).sum()
    of_b = ((d.mean(axis=1) - delta) ** 2).sum()
    s2 = (m * m * of_a + n * n * of_b - ((d - delta) ** 2).sum()) / (n * m * (n - 1) * (m - 1))
    s2 = max(s2, (1 - delta**2) / (n * m - 1))
    z = stats.norm.isf(0.025)
    root = z * np.sqrt(s2) * np.sqrt((1 - delta**2) ** 2 + z * z * s2)
    below = 1 - delta**2 + z * z * s2
    return delta, (delta - delta**3 - root) / below, (delta - delta**3 + root) / below


def pairs():
    yield rng.lognormal(0, 0.1, 7), rng.lognormal(0.1, 0.1, 5)
    yield rng.lognormal(0, 0.1, 40), rng.lognormal(0.02, 0.1, 60)
    yield np.round(rng.lognormal(0, 0.1, 50), 2), np.round(rng.lognormal(0.03, 0.1, 33), 2)  # ties
    yield rng.integers(1, 5, 30).astype(float), rng.integers(1, 6, 20).astype(float)  # many
    yield np.array([1.0, 2, 3]), np.array([4.0, 5, 6, 7])  # apart
    yield rng.pareto(1.5, 101) + 1, rng.pareto(1.5, 101) + 1  # heavy tails


def row(x):
    words, lines = ["%r," % float(v) for v in x], [""]
    for w in words:
        if len(lines[-1]) + len(w) > 100:
            lines.append("")
        lines[-1] += " " + w
    return "{" + "\n       ".join(lines)[:-1] + " }"


print("/* Made by stat_golden.py with SciPy %s: do not edit. */" % scipy.__version__)
print("enum { GOLDEN_MOST = 101 };")
print("static const struct golden_pair {\n    u32 n, m;\n    double a[GOLDEN_MOST], b[GOLDEN_MOST];")
print("    double u, p, delta, low, high, shift, median, p95;\n} golden_pairs[] = {")
for a, b in pairs():
    t = stats.mannwhitneyu(b, a, use_continuity=True, alternative="two-sided", method="asymptotic")
    delta, low, high = cliff(a, b)
    shift = np.median((b[:, None] - a[None, :]).ravel())
    rest = (t.statistic, t.pvalue, delta, low, high, shift, np.median(a), np.quantile(a, 0.95))
    print("    { %d, %d,\n      %s,\n      %s,\n     %s },"
          % (len(a), len(b), row(a), row(b), row(rest)[1:-2]))
print("};")
print("static const struct {\n    double t, df, tail;\n} golden_student[] = {")
for df in (1, 2, 4, 9, 30, 200):
    for t in (-3.0, -0.5, 0.0, 0.1, 1.0, 2.262, 5.0, 12.0):
        print("    { %r, %d, %r }," % (t, df, float(stats.t.sf(t, df))))
print("};")
print("static const struct {\n    double p, df, t;\n} golden_point[] = { /* df 0: normal */")
for df in (0, 1, 4, 5, 9, 19, 100):
    for p in (0.25, 0.05, 0.025, 0.005, 0.0005, 0.9):
        print("    { %r, %d, %r }," % (p, df, float(stats.t.isf(p, df) if df else stats.norm.isf(p))))
print("};")
