"""Files of n of something, for the verbs that read them (tests/bench/scaling). Each function writes them into a folder, and gives the words of the command."""
import hashlib, json, os, struct

PTX = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [x];\nst.global.u32 [%rd1], 1;\nret;\n}\n"


def put(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    return path


def entries(folder, name, list):
    out = []
    for x in list:
        s = json.dumps(x, separators=(",", ":"))[:-1]
        out.append(s + ',"hash":"' + hashlib.blake2b(s.encode(), digest_size=16).hexdigest() + '"}\n')
    return put(folder, name, "".join(out))


def times(name, **more):
    return dict({"entry": "times", "name": name, "time": "", "command": [], "work": "", "device": "", "unit": "s"}, **more, processes=[[1.0]] * 3, median=1.0)


def show_names(folder, n):
    """names in a journal, shown"""
    return ["journal", "show", entries(folder, "j", (times("n%d" % i) for i in range(n)))]


def show_tests(folder, n):
    """kernels in a journal of tests, shown"""
    return ["journal", "show", entries(folder, "j", ({"entry": "test", "file": "f", "kernel": "k%d" % i, "source": "s", "end": "passed"} for i in range(n)))]


def show_callables(folder, n):
    """kernels beside a callable of PyTorch each, shown"""
    of = lambda i, **notes: times("n%d%d" % (i, len(notes)), work="w", notes=dict(notes, mode="warm"))
    return ["journal", "show", entries(folder, "j", (x for i in range(n) for x in (of(i, kernel="k%d" % i), of(i, kernel="e.py:k%d" % i, binary="torch"))))]


def check(folder, n):
    """names in two journals, held against each other"""
    j = entries(folder, "j", (times("n%d" % i) for i in range(n)))
    return ["journal", "check", j, "--against", j]


def cut(folder, n):
    """lines that were cut off, each before a whole one of its name"""
    j = entries(folder, "j", (times("n%d" % i) for i in range(n)))
    with open(j) as f:
        whole = f.read()
    put(folder, "j", "".join(l[:60] + "\n" for l in whole.splitlines()) + whole)
    return ["journal", "check", j, "--against", j]


def shards(folder, n):
    """shards in a journal, merged"""
    return ["journal", "merge", entries(folder, "j", ({"entry": "test", "shard": "%d/%d" % (i + 1, n), "time": "%d" % i} for i in range(n))), "-o", os.path.join(folder, "merged")]


def google(folder, n):
    """benchmarks of Google Benchmark, taken in"""
    if os.path.exists(os.path.join(folder, "taken")):
        os.remove(os.path.join(folder, "taken"))
    return ["journal", "merge", put(folder, "g.json", json.dumps({"benchmarks": [{"name": "b%d" % i, "real_time": 1.0, "time_unit": "s"} for i in range(n)]})), "-o", os.path.join(folder, "taken")]


def profile_lines(folder, n):
    """lines of a kernel in two profiles, compared"""
    def profile(name, shift):
        lines = [{"file": "a.cu", "line": i + 1 + shift, "source": "x%d;" % i, "cost_permille": 20, "warp_instructions": 10} for i in range(n)]
        return put(folder, name, json.dumps({"schema": "lockstep-profile", "version": 1, "devices": [{"kernels": [{"name": "k", "plain": "k", "counts": {"warp_instructions": 1}, "lines": lines}]}]}))
    return ["compare", profile("p1.json", 0), profile("p2.json", 5)]


def profile_kernels(folder, n):
    """kernels in two profiles, compared"""
    p = put(folder, "p.json", json.dumps({"schema": "lockstep-profile", "version": 1, "devices": [{"kernels": [{"name": "k%d" % i, "plain": "k%d" % i, "counts": {"warp_instructions": 1}, "lines": []} for i in range(n)]}]}))
    return ["compare", p, p]


def recording(folder, list):
    name = lambda z: struct.pack("<Q", len(z)) + z
    p = b"".join(name(z) for z in (b"h200", b"k", b"k", b"", PTX.encode())) + struct.pack("<9IQIIQQIQQI", 1, 1, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 8, 0x7000000000, len(list))
    for address, size, runs in list:
        p += struct.pack("<QQII", address, size, 0, 4) + name(b"o") + name(b"") + name(b"") + struct.pack("<I", len(runs)) + b"".join(struct.pack("<QQ", *r) for r in runs) + bytes(size)
    h = 14695981039346656037
    for b in p:
        h = ((h ^ b) * 0x100000001b3) & 0xffffffffffffffff
    return put(folder, "x.rec", b"lockrec\n" + struct.pack("<IIQQQ", 1, 0, len(p), len(p), h) + p)


def objects(folder, n):
    """objects in a recording"""
    return ["replay", "--quiet", recording(folder, [(0x7000000000 + 512 * i, 8, []) for i in range(n)])]


def undefined_runs(folder, n):
    """pieces of an object in a recording that are not defined"""
    return ["replay", "--quiet", recording(folder, [(0x7000000000, 2 * n + 64, [(2 * i + 8, 2 * i + 9) for i in range(n)])])]


def gradient(folder, n):
    """steps, one in the other, whose gradient is evaluated and its bound explained (ten of them a call)"""
    y = "x"
    for _ in range(n // 10):
        y = "t(%s)" % y
    return ["test", "--evaluate", "def s(x) = tanh(x * 0.5 + 1); def t(x) = %s; y = %s; dx = grad(y, dy, x)" % ("s(" * 10 + "x" + ")" * 10, y), "x=f32[2]=iota", "dy=f32[2]=ones"]


FILES = [(show_names, 8000), (show_tests, 8000), (show_callables, 1000), (check, 1000), (cut, 1000), (shards, 8000), (google, 8000), (profile_lines, 8000), (profile_kernels, 8000), (objects, 5000), (undefined_runs, 25000), (gradient, 200)]
