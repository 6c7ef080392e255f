"""Every text that the command reads, holding what a terminal, a table or a page would obey: foreign.py LOCKSTEP FOLDER. Prints a line for each command; "bad" where
such a byte came out, "silent" where the text did not come out at all, so that nothing was tested."""
import hashlib, json, os, re, struct, subprocess, sys

lockstep, folder = sys.argv[1:3]
here = os.path.dirname(os.path.abspath(__file__))
os.chdir(folder)
WORD = "MARKED"
EVIL = "\x1b]0;" + WORD + "\x07\x1b[31m\x9b31m\u202eE\u2066V\u200f\u061c|`c`<img src=x onerror=alert(1)>@team [x](javascript:1) https://e.x www.e.x\\|\r\nVALIDATED"
LINE = EVIL.replace("\r\n", " ")  # where a newline would end the text
RAW = LINE.encode() + b"\xff\xc3"
# controls but the end of a line and a tab, C1 controls, marks of direction, and bytes that are no UTF-8
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffd]")
OWN = re.compile("\x1b\\[(1;31|1;36|1;34|1|33|0)m")  # colours of the command's own


def put(name, data):
    with open(name, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    return name


def look(what, data, own=False, said=True):
    text = data.decode("utf-8", "replace")
    if own:
        text = OWN.sub("", text)
    wrong = HIDDEN.search(text)
    forged = re.search("(?m)^VALIDATED", text)
    state = "bad: " + repr(text[max(0, wrong.start() - 60):wrong.end() + 20]) if wrong else "bad: a line of its own" if forged else "ok" if not said or WORD in text else "silent: " + text[:300]
    print("%-44s %s" % (what, state), flush=True)
    return text


def run(what, *words, own=False, said=True, files=(), env=None):
    done = subprocess.run([os.fsencode(w) if isinstance(w, str) else w for w in (lockstep,) + words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, env=dict(os.environ, **(env or {})))
    text = look(what, done.stdout, own, said)
    if done.returncode < 0:
        print("%-44s bad: signal %d" % (what, -done.returncode))
    for name in files:
        if os.path.exists(name):
            with open(name, "rb") as f:
                look("  " + os.path.splitext(name)[1], f.read(), said=name not in ("x.sarif", "x.json") or what == "launch filed")
            os.remove(name)
        else:
            print("  %-42s bad: not written" % name)
    return text


def cells(what, text):
    """Each row of a table has as many bars as its head, and nothing in it is more than text."""
    rows = [l for l in text.split("\n") if l.startswith("|")]
    wrong = [r for r in rows if r.count("|") != rows[0].count("|") or re.search(r"<(?!/?code>)|`|@|\]\(|https:|www\.|\\", r)]
    print("%-44s %s" % (what, "bad: " + wrong[0][:300] if wrong or len(rows) < 3 or len(rows) != len(text.strip().split("\n")) else "ok"))


# ---- journals ----

def entry(x):
    s = json.dumps(x, separators=(",", ":"))[:-1]
    return s + ',"hash":"' + hashlib.blake2b(s.encode(), digest_size=16).hexdigest() + '"}\n'


def times(m, **more):
    d = {"entry": "times", "name": EVIL, "time": EVIL, "command": [EVIL], "work": EVIL, "device": EVIL, "unit": EVIL, "notes": {EVIL: EVIL, "kernel": EVIL, "mode": EVIL}}
    d.update(more)
    d["processes"] = [[m * (1 + 0.001 * i)] for i in range(12)]
    v = [p[0] for p in d["processes"]]
    d["median"] = (v[5] + v[6]) / 2
    return d


put("a.journal", entry(times(1.0)) + entry(times(1.1, name=EVIL + "2")))
put("b.journal", entry(times(2.0)) + entry(times(2.1, name=EVIL + "2")))
put("c.journal", entry(times(2.0, work="other")) + entry(times(2.1, name=EVIL + "2")))
put("t.journal", "".join(map(entry, [{"entry": "test", "file": EVIL, "kernel": EVIL, "source": EVIL, "end": "failed", "first": EVIL, "seconds": 1, "shard": EVIL},
                                     {"entry": "tune", "name": EVIL, "end": EVIL, "why": EVIL, "parameters": {EVIL: EVIL}}, {"entry": "counts", "name": EVIL, "warp_instructions": 5}])))
put("edited.journal", entry(times(1.0)).replace('"median":1', '"median":2'))
put("old.journal", json.dumps(times(1.0)) + "\n")
run("journal show", "journal", "show", "t.journal", "a.journal")
run("journal show --json -", "journal", "show", "t.journal", "a.journal", "--json", "-")
run("journal show of an edited one", "journal", "show", "edited.journal", said=False)
run("journal check", "journal", "check", "b.journal", "--against", "a.journal", "--markdown", "x.md", "--json", "x.json", "--junit", "x.xml", files=("x.md", "x.json", "x.xml"))
run("journal check of old ones", "journal", "check", "old.journal", "--against", "edited.journal")
run("journal merge", "journal", "merge", "a.journal", "t.journal", "-o", "m.journal", said=False)
run("journal plot", "journal", "plot", "a.journal", "b.journal", "-o", "x.svg", said=False)
if os.path.exists("x.svg"):
    look("  .svg", open("x.svg", "rb").read(), said=False)
for pair in ("a b", "a c", "a old", "edited b"):
    run("compare " + pair, "compare", *[n + ".journal" for n in pair.split()])
cells("  as a table", run("compare --markdown -", "compare", "a.journal", "b.journal", "--markdown", "-"))
cells("  as a table", run("compare of other work", "compare", "a.journal", "c.journal", "--markdown", "-"))
run("compare --color always", "compare", "a.journal", "b.journal", "--color", "always", own=True)
os.makedirs("d", exist_ok=True)
named = put("d/" + LINE.replace("/", ":")[:90] + ".journal", "no journal\n")
run("a file of that name", "journal", "show", named)

# ---- JSON of other tools ----
put("google.json", json.dumps({"context": {"date": EVIL, "host_name": EVIL}, "benchmarks": [{"name": EVIL, "run_name": EVIL, "real_time": 1 + i, "time_unit": EVIL} for i in range(9)]}))
put("nv.json", json.dumps({"devices": [{"name": EVIL}], "benchmarks": [{"name": EVIL, "states": [{"name": EVIL, "summaries": [
    {"tag": "nv/cold/time/gpu/mean", "data": [{"name": "value", "value": "1.5"}]}, {"tag": "nv/json/bin:nv/cold/sample_times", "data": [{"name": "filename", "value": EVIL}]}]}]}]}))
for name in ("google", "nv"):
    run("journal merge of " + name, "journal", "merge", name + ".json", "-o", name + ".journal", said=False)
    run("  shown", "journal", "show", name + ".journal", said=os.path.exists(name + ".journal"))
put("broken.json", '{"benchmarks": [{"' + LINE + '\x1b": }')
run("JSON that is none", "journal", "merge", "broken.json", "-o", "n.journal", said=False)

# ---- a recording ----


def name(z):
    b = z.encode()
    return struct.pack("<Q", len(b)) + b


def recording(path, ptx, entry="k", card="h200", plain=EVIL):
    p = name(card) + name(entry) + name(plain) + name(EVIL) + name(ptx)
    p += struct.pack("<9I", 1, 1, 0, 1, 1, 0, 1, 1, 0) + struct.pack("<QIIQQ", 0, 0, 0, 0, 0)
    p += struct.pack("<I", 1) + struct.pack("<Q", 8) + struct.pack("<Q", 0x7000000000)
    p += struct.pack("<I", 1) + struct.pack("<QQII", 0x7000000000, 4, 0, 4) + name(EVIL) + name(EVIL) + name(EVIL) + struct.pack("<I", 0) + b"\0\0\0\0"
    h = 14695981039346656037
    for b in p:
        h = ((h ^ b) * 0x100000001b3) & (2**64 - 1)
    put(path, b"lockrec\n" + struct.pack("<IIQQQ", 1, 0, len(p), len(p), h) + p)


PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x)
{
 .reg .b64 %%rd<3>; .reg .b32 %%r<3>;
 .loc 1 3 0
 ld.param.u64 %%rd1, [x];
 st.global.u32 [%%rd1+%d], 1; // %s
 ret;
}
.file 1 "%s"
"""
put("src.cu", b"// 1\n// 2\nx[1] = 1; // " + RAW + b"\n// 4\n")
put("src.ptx", (PTX % (8, LINE.replace("\\", "/"), "src.cu")))
octal = "".join("\\%03o" % b if b < 32 or b > 126 or b in b'"\\' else chr(b) for b in LINE.encode())
put("filed.ptx", PTX % (8, "", octal))
recording("x.rec", open("src.ptx").read())
recording("card.rec", open("src.ptx").read(), card=EVIL)
recording("entry.rec", open("src.ptx").read(), entry=EVIL)
run("replay", "replay", "x.rec")
run("replay --color always", "replay", "x.rec", "--color", "always", own=True)
run("replay on a card of that name", "replay", "card.rec")
run("replay of a kernel of that name", "replay", "entry.rec")
run("replay --emit-c", "replay", "x.rec", "--emit-c", "x.c", said=False)
look("  .c", open("x.c", "rb").read())

# ---- lines of source, files of #line, findings ----
launch = ("--grid", "1", "--block", "1", "u32[1]")
for what in ("src", "filed"):
    run("launch " + what, "launch", what + ".ptx", *launch, "--json", "x.json", "--sarif", "x.sarif", "--junit", "x.xml", "--html", "x.html", files=("x.json", "x.sarif", "x.xml", "x.html"))
    run("  --color always", "launch", what + ".ptx", *launch, "--color", "always", own=True)
    run("  --json -", "launch", what + ".ptx", *launch, "--json", "-")
    run("profile " + what, "profile", what + ".ptx", *launch, "--lines", said=what == "filed")
    run("  --color always", "profile", what + ".ptx", *launch, "--color", "always", own=True, said=what == "filed")
    run("  --print-suppressions", "launch", what + ".ptx", *launch, "--print-suppressions", said=True)
run("--trace -", "launch", "src.ptx", *launch, "--trace", "-", said=False)
run("inspect", "inspect", "src.ptx", said=False)
put("bad.ptx", open("src.ptx").read().replace("st.global", LINE))
run("PTX that is none", "launch", "bad.ptx", *launch, said=False)
put("call.ptx", open("src.ptx").read().replace(".entry k(", ".entry k\u202e("))
run("a kernel of that name", "launch", "call.ptx", *launch, said=False)

# ---- profiles ----


def mark(v):
    return {k: mark(x) for k, x in v.items()} if isinstance(v, dict) else [mark(x) for x in v] if isinstance(v, list) else v


subprocess.run([lockstep, "profile", "src.ptx", *launch, "--json", "p.json", "--quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
p = json.load(open("p.json"))
for q, more in (("p1.json", 0), ("p2.json", 100)):
    for d in p["devices"]:
        for k in d["kernels"]:
            k["name"] = k["plain"] = EVIL
            for l in k["lines"]:
                l["file"] = l["source"] = EVIL
                l["warp_instructions"] += more
                for i in l["instructions"]:
                    i["ptx"] = EVIL
    put(q, json.dumps(p))
run("compare of profiles", "compare", "p1.json", "p2.json", "--markdown", "x.md", "--json", "x.json", "--junit", "x.xml", files=("x.json", "x.xml"))
cells("  as a table", run("compare of profiles --markdown -", "compare", "p1.json", "p2.json", "--markdown", "-"))

# ---- contracts, suppressions, tables of ncu, words ----
for n, text in enumerate(("kernel " + LINE, "kernel k\n//! dim " + LINE, "kernel k\n//! dim n 1..4\n//! arg x f32[n] in\n//! oracle y = " + LINE, "kernel k\n//! launch grid=" + LINE, "kernel k\n//! arg x " + LINE)):
    put("c%d.cu" % n, "//! " + text + "\n" + '__global__ void k(float *x) {}\n')
    run("contract %d" % n, "test", "c%d.cu" % n, said=False)
    run("  launch", "launch", "c%d.cu" % n, said=False)
for n, rule in enumerate((LINE, "bounds kernel=" + LINE, "bounds at=" + LINE + ":1", "<ValgrindOutput><record><kind>" + LINE + "</kind></record></ValgrindOutput>")):
    put("s%d" % n, rule.encode() + b"\xff\n")
    run("suppression %d" % n, "launch", "src.ptx", *launch, "--suppress", "s%d" % n, said=False)
put("ncu.csv", '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n"0","%s","%s","%s","1"\n' % ((LINE,) * 3))
run("ncu's table", "profile", "src.ptx", *launch, "--import", "ncu.csv", said=False)
for words in ((RAW,), ("launch", RAW), ("launch", "src.ptx:" + LINE), ("launch", "src.ptx", RAW), ("launch", "--" + LINE), ("launch", "src.ptx", "--check", LINE), ("launch", "src.ptx", "--device", LINE), ("launch", "src.ptx", "--grid", RAW), ("test", RAW), ("test", "--evaluate", LINE),
              ("replay", RAW), ("profile", RAW), ("compare", RAW, RAW), ("compare", "--for", LINE), ("journal", RAW), ("journal", "show", RAW), ("inspect", RAW), ("compile", RAW), ("explain", RAW), ("isa", RAW), ("device", RAW), ("cache", RAW), ("doctor", "--", RAW), ("tune", RAW), ("bench", RAW), ("ring", RAW), ("help", RAW), ("run", RAW)):
    run("words: " + " ".join("X" if isinstance(w, bytes) or WORD in w else w for w in words), *words, said=False)
put("log", b"CUDA error: an illegal memory access " + RAW + b"\nerror 700 " + RAW + b"\n")
run("explain of a log", "explain", "log", said=False)
for variable in ("LOCKSTEP_LIBCUDA", "LOCKSTEP_TOOLKIT", "TMPDIR", "LOCKSTEP_DEVICES", "XDG_CACHE_HOME", "TERM"):
    run("doctor, " + variable, "doctor", said=False, env={variable: "/" + LINE})
