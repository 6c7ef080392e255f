"""Oracles of functions.cu, and functions that misbehave. Lists and NumPy arrays serve both."""
import os, signal, sys, time

U = 2.0**-24


def recur(x, a, n):
    """y[i] = a y[i-1] + x[i], and how far floats may be off: two roundings a step, which shrink with a."""
    values, bounds = [], []
    for row in x:
        y = error = 0.0
        values.append([])
        bounds.append([])
        for v in row:
            error = abs(a) * error + 2 * U * (abs(a * y) + abs(a * y + v)) + 1e-37
            y = a * y + v
            values[-1].append(y)
            bounds[-1].append(error)
    return {"y": values, "y.bound": bounds}


def recur_alone(x, a):
    print("what a function prints is no output of the command")
    return recur(x, a, 0)["y"]


def longest(x):
    best = now = 0
    for v in x:
        assert isinstance(v, int) or v.dtype == "int64"
        now = now + 1 if v > 0 else 0
        best = max(best, now)
    return [best]


def raises(x, n):
    if n > 5:
        raise ValueError("no more than 5")
    return recur(x, 0.5, n)


def wrong_shape(x): return [row[:-1] for row in recur(x, 0.5, 0)["y"]]
def short(x): return recur(x, 0.5, 0)["y"][0]
def long(x): return recur(x, 0.5, 0)["y"] * 2
def nothing(x): return None
def other_name(x): return {"z": 1}
def nan(x): return {"y": [[float("nan") for _ in row] for row in x], "y.bound": 1e-6}
def nan_bound(x): return dict(recur(x, 0.5, 0), **{"y.bound": float("nan")})
def below(x): return dict(recur(x, 0.5, 0), **{"y.bound": -1.0})
def leaves(x): sys.exit(3)
def leaves_now(x): os._exit(3)
def crashes(x): os.kill(os.getpid(), signal.SIGSEGV)
def hangs(x): time.sleep(1000)
def closes(x): os.close(3); time.sleep(1000)
def writes(x): os.write(3, b"nonsense" * 8); time.sleep(1000)
def much(x): os.write(3, bytes([0x6f, 0x6c, 0x6b, 0x31, 3, 0, 0, 0]) + b"\xff" * 8); time.sleep(1000)
def cut(x): os.write(3, bytes([0x6f, 0x6c, 0x6b, 0x31, 3, 0, 0, 0, 200, 0, 0, 0, 0, 0, 0, 0])); os._exit(0)
def endless(x): return endless(x)
def asks(x, w): return x


no_function = 5
