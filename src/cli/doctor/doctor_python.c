/* Pythons and what is installed in them, asked of each by a small script that imports none of the packages; and what a
 * program or script would run in. */
#include "base/python.h"
#include "doctor/doctor.h"
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Prints lines with tabs: python VERSION MACHINE PREFIX EXECUTABLE; dist NAME VERSION; torch CUDA|cpu; tag NAME MACHINE
 * for a package of another machine; missing MODULE for what the script imports and is not there. */
static const char asks[] =
    "import re, platform, ast\n"
    "import importlib.util as u, importlib.metadata as m\n"
    "def p(*a): print(*a, sep='\\t')\n"
    "p('python', platform.python_version(), platform.machine(), sys.prefix, sys.executable)\n"
    "seen = set()\n"
    "names = re.compile(r'(numba|numba-cuda|cupy.*|torch|jax|jaxlib|jax-cuda.*-plugin|triton|pycuda|tinygrad)$')\n"
    "for d in m.distributions():\n"
    "    n = (d.metadata['Name'] or '').lower().replace('_', '-')\n"
    "    if n in seen or not names.match(n): continue\n"
    "    seen.add(n)\n"
    "    p('dist', n, d.version)\n"
    "    tags = re.findall(r'^Tag: \\S*_(x86_64|aarch64)$', d.read_text('WHEEL') or '', re.M)\n"
    "    if tags and platform.machine() not in tags: p('tag', n, tags[0])\n"
    "try:\n"
    "    f = u.find_spec('torch')\n"
    "    v = open(os.path.join(os.path.dirname(f.origin), 'version.py')).read() if f else ''\n"
    "    c = re.search(r'cuda[^=\\n]*=\\s*.([0-9.]+)', v)\n"
    "    if f: p('torch', c.group(1) if c else 'cpu')\n"
    "except Exception: pass\n"
    "if len(sys.argv) > 1:\n"
    "    folder_add(os.path.dirname(os.path.abspath(sys.argv[1])))\n"
    "    try: tree = ast.parse(open(sys.argv[1]).read())\n"
    "    except (OSError, SyntaxError, ValueError) as e: p('script', e); tree = ast.parse('')\n"
    "    top = set()\n"
    "    for x in ast.walk(tree):\n"
    "        if isinstance(x, ast.Import): top |= {a.name.split('.')[0] for a in x.names}\n"
    "        if isinstance(x, ast.ImportFrom) and not x.level and x.module: top.add(x.module.split('.')[0])\n"
    "    for t in sorted(top):\n"
    "        try: there = t in sys.builtin_module_names or u.find_spec(t) is not None\n"
    "        except (ImportError, ValueError): there = False\n"
    "        p('imports' if there else 'missing', t)\n";

enum { DISTS = 32 };
struct python {
    const char *version, *machine, *prefix, *path;
    const char *torch;                        /* "13.0", "cpu", NULL: none */
    const char *name[DISTS], *release[DISTS]; /* of packages */
    const char *other[DISTS];                 /* the machine that it was built for, if not this machine; else NULL */
    u32 dists;
    const char *missing; /* modules that the script imports and that are not there, ", " between; "": none */
    const char *script;  /* why it could not be read, NULL: it could */
};

static const char *field(struct doctor *d, const char **p)
{
    size_t n = strcspn(*p, "\t\n");
    const char *out = arena_str(&d->mem, (struct str){ *p, (u32)n });
    *p += n + ((*p)[n] == '\t');
    return out;
}

static void read_line(struct doctor *d, struct python *y, const char *p)
{
    const char *what = field(d, &p), *a = field(d, &p), *b = field(d, &p);
    if (!strcmp(what, "python")) {
        y->version = a;
        y->machine = b;
        y->prefix = field(d, &p);
        y->path = field(d, &p);
    } else if (!strcmp(what, "torch")) {
        y->torch = a;
    } else if (!strcmp(what, "dist") && y->dists < DISTS) {
        y->name[y->dists] = a;
        y->release[y->dists++] = b;
    } else if (!strcmp(what, "tag") && y->dists) {
        y->other[y->dists - 1] = b; /* the line after its dist */
    } else if (!strcmp(what, "missing")) {
        y->missing = arena_printf(&d->mem, "%s%s%s", y->missing, y->missing[0] ? ", " : "", a);
    } else if (!strcmp(what, "script")) {
        y->script = a;
    }
}

/* false: it does not run, and *why says so. */
static bool ask(struct doctor *d, const char *path, const char *script, struct python *y, const char **why)
{
    struct text t = { 0 };
    *y = (struct python){ .missing = "" };
    int code = python_run(path, asks, script, &t);
    for (const char *p = t.n ? t.p : ""; *p;) {
        size_t n = strcspn(p, "\n");
        read_line(d, y, p);
        p += n + (p[n] == '\n');
    }
    const char *last = t.n ? t.p : "";
    for (const char *p = last; (p = strchr(p, '\n')) && p[1]; p++) last = p + 1;
    *why = arena_printf(&d->mem, "exit %d: %.*s", code, (int)strcspn(last, "\n"), last);
    text_free(&t);
    return !code && y->version;
}

static const char *release_of(const struct python *y, const char *name)
{
    for (u32 i = 0; i < y->dists; i++)
        if (!strcmp(y->name[i], name)) return y->release[i];
    return NULL;
}

/* ---- packages ---- */

static const char install_numba[] = "pip install \"numba-cuda[cu13]\" (cu12 for CUDA 12).";
static const char install_cupy[] = "pip install cupy-cuda13x (cupy-cuda12x for CUDA 12), one of them only.";
static const char install_torch[] =
    "pip install torch --index-url https://download.pytorch.org/whl/cu130 (or cu128, cu126).";
static const char install_jax[] = "pip install \"jax[cuda13]\" (or cuda12).";

/* A build for CUDA `major` against the driver. */
static void built_for(struct doctor *d, const char *name, const char *text, u32 major)
{
    if (d->cuda && major > d->cuda / 100)
        doctor_add(d, "python", name, HEALTH_FAILS, "Update the driver, or install the build for its CUDA.",
                   "%s, for CUDA %u: the driver takes %u.%u and older", text, major, d->cuda / 100, d->cuda % 100);
    else
        doctor_add(d, "python", name, HEALTH_PASSES, "", "%s, for CUDA %u%s", text, major,
                   d->cuda ? "" : "; without a driver, under `lockstep run`");
}

static void look_at_numba(struct doctor *d, const struct python *y)
{
    const char *numba = release_of(y, "numba"), *cuda = release_of(y, "numba-cuda");
    if (cuda)
        doctor_add(d, "python", "numba", HEALTH_PASSES, "", "numba-cuda %s, numba %s", cuda, numba ? numba : "?");
    else if (numba)
        doctor_add(d, "python", "numba", HEALTH_FAILS, install_numba,
                   "numba %s without numba-cuda: its own numba.cuda is old, and knows no new GPU", numba);
    else
        doctor_add(d, "python", "numba", HEALTH_FAILS, install_numba, "not installed");
}

static void look_at_cupy(struct doctor *d, const struct python *y)
{
    u32 n = 0, last = 0;
    for (u32 i = 0; i < y->dists; i++)
        if (!strncmp(y->name[i], "cupy", 4)) {
            n++;
            last = i;
        }
    const char *cuda = n ? strstr(y->name[last], "cuda") : NULL;
    const char *text = n ? arena_printf(&d->mem, "%s %s", y->name[last], y->release[last]) : "";
    if (!n)
        doctor_add(d, "python", "cupy", HEALTH_FAILS, install_cupy, "not installed");
    else if (n > 1)
        doctor_add(d, "python", "cupy", HEALTH_FAILS, "pip uninstall all of them, and install one.",
                   "%u packages of CuPy at once, %s among them", n, text);
    else if (cuda && strtoul(cuda + 4, NULL, 10))
        built_for(d, "cupy", text, (u32)strtoul(cuda + 4, NULL, 10));
    else
        doctor_add(d, "python", "cupy", HEALTH_UNKNOWN, "", "%s, built here: for the CUDA that was there then", text);
}

static void look_at_torch(struct doctor *d, const struct python *y)
{
    const char *torch = release_of(y, "torch");
    if (!torch)
        doctor_add(d, "python", "torch", HEALTH_FAILS, install_torch, "not installed");
    else if (!y->torch)
        doctor_add(d, "python", "torch", HEALTH_UNKNOWN, "", "torch %s, whose version.py cannot be read", torch);
    else if (!strcmp(y->torch, "cpu"))
        doctor_add(d, "python", "torch", HEALTH_FAILS, install_torch, "torch %s, the build for processors only", torch);
    else
        built_for(d, "torch", arena_printf(&d->mem, "torch %s", torch), (u32)strtoul(y->torch, NULL, 10));
}

static void look_at_jax(struct doctor *d, const struct python *y)
{
    const char *jax = release_of(y, "jax");
    if (!jax) {
        doctor_add(d, "python", "jax", HEALTH_FAILS, install_jax, "not installed");
        return;
    }
    for (u32 i = 0; i < y->dists; i++)
        if (!strncmp(y->name[i], "jax-cuda", 8)) {
            built_for(d, "jax", arena_printf(&d->mem, "jax %s", jax), (u32)strtoul(y->name[i] + 8, NULL, 10));
            return;
        }
    doctor_add(d, "python", "jax", HEALTH_FAILS, install_jax, "jax %s, without its CUDA plugin: for processors only",
               jax);
}

/* Which GPUs PyTorch has kernels for can only be asked of itself, which takes seconds: only where there is a GPU. */
static void look_at_architectures(struct doctor *d, const struct python *y)
{
    if (!d->capability || !y->torch || !strcmp(y->torch, "cpu")) return;
    struct text t = { 0 };
    char want[16];
    snprintf(want, sizeof want, "sm_%u", d->capability);
    int code = python_run(y->path, "import torch; print(*torch.cuda.get_arch_list())\n", NULL, &t);
    bool same = t.n && strstr(t.p, want), family = false;
    for (u32 minor = 0; t.n && minor < d->capability % 10 && !same; minor++) { /* code of a lower minor runs, too */
        snprintf(want, sizeof want, "sm_%u", d->capability / 10 * 10 + minor);
        family |= strstr(t.p, want) != NULL;
    }
    if (code)
        doctor_add(d, "python", "torch for it", HEALTH_UNKNOWN, "Import it by hand: the message says more.",
                   "torch cannot be imported");
    else
        doctor_add(d, "python", "torch for it", same || family ? HEALTH_PASSES : HEALTH_FAILS,
                   same || family ? "" : "Install a PyTorch with kernels for this GPU: error 209 otherwise.",
                   "the GPU is sm_%u, and torch has %.*s", d->capability, t.n ? (int)strcspn(t.p, "\n") : 0,
                   t.n ? t.p : "");
    text_free(&t);
}

static void look_at_packages(struct doctor *d, const struct python *y)
{
    struct utsname u;
    bool known = !uname(&u), other = known && strcmp(u.machine, y->machine);
    doctor_add(d, "python", "python", other ? HEALTH_FAILS : HEALTH_PASSES,
               other ? "Install a Python for this machine: all of its packages are for the other one." : "",
               "%s, %s, %s", y->version, y->machine, y->path);
    look_at_numba(d, y);
    look_at_cupy(d, y);
    look_at_torch(d, y);
    look_at_architectures(d, y);
    look_at_jax(d, y);
    for (u32 i = 0; i < y->dists; i++)
        if (y->other[i])
            doctor_add(d, "python", y->name[i], HEALTH_FAILS, "pip install --force-reinstall it in this Python.",
                       "the package is for %s, and this Python for %s", y->other[i], y->machine);
}

/* ---- which Pythons ---- */

void doctor_pythons(struct doctor *d)
{
    static const char *const home[] = { "VIRTUAL_ENV", "CONDA_PREFIX" };
    const char *seen[8] = { 0 }, *why;
    u32 found = 0;
    for (u32 i = 0; i < 4; i++) {
        char path[1024];
        const char *at = i < 2 ? getenv(home[i]) : NULL;
        const char *name = i < 2    ? (at && *at ? arena_printf(&d->mem, "%s/bin/python3", at) : NULL)
                           : i == 2 ? "python3"
                                    : "python";
        struct python y;
        if (!name || !file_program(name, path, sizeof path)) continue;
        bool again = false;
        bool runs = ask(d, path, NULL, &y, &why);
        for (u32 k = 0; runs && k < found; k++) again |= !strcmp(seen[k], y.prefix);
        if (again) continue;
        if (!runs) {
            doctor_add(d, "python", "python", HEALTH_UNKNOWN, "It has to be Python 3.8 or newer.", "%s: %s", path, why);
            continue;
        }
        seen[found++] = y.prefix;
        look_at_packages(d, &y);
    }
    if (!found)
        doctor_add(d, "python", "python", HEALTH_UNKNOWN, "Only scripts need it.", "no python3 that runs is on PATH");
}

/* ---- a program ---- */

static void look_at_elf(struct doctor *d, const char *path)
{
    Elf64_Ehdr h = { 0 };
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(&h, 1, sizeof h, f) : 0;
    if (f) fclose(f);
    if (n < sizeof h || memcmp(h.e_ident, ELFMAG, SELFMAG)) {
        doctor_add(d, "program", "program", HEALTH_PASSES, "", "%s, a script", path);
        return;
    }
    const char *is = h.e_machine == EM_X86_64 ? "x86_64" : h.e_machine == EM_AARCH64 ? "aarch64" : "another machine";
    struct utsname u;
    bool fits = uname(&u) || !strcmp(u.machine, is);
    doctor_add(d, "program", "program", fits ? HEALTH_PASSES : HEALTH_FAILS,
               fits ? "" : "Build it for this machine: Exec format error otherwise.", "%s, for %s", path, is);
    char ldd[1024];
    struct text t = { 0 };
    char *argv[] = { ldd, (char *)path, NULL };
    if (!fits || !file_program("ldd", ldd, sizeof ldd) || process_run(argv, &t) || !t.n) {
        text_free(&t);
        return;
    }
    u32 missing = 0;
    for (const char *p = t.p; (p = strstr(p, " => not found")); p++) {
        const char *from = p;
        while (from > t.p && from[-1] != '\t' && from[-1] != '\n') from--;
        bool driver = !strncmp(from, "libcuda.so", 10);
        doctor_add(d, "program", "library", driver ? HEALTH_UNKNOWN : HEALTH_FAILS,
                   driver ? "`lockstep run` brings its own; a real GPU needs the driver."
                          : "Add its folder to LD_LIBRARY_PATH, or install its package.",
                   "%.*s is not found", (int)(p - from), from);
        missing++;
    }
    if (!missing) doctor_add(d, "program", "libraries", HEALTH_PASSES, "", "all are found");
    text_free(&t);
}

static bool is_python(const char *path)
{
    const char *slash = strrchr(path, '/');
    return !strncmp(slash ? slash + 1 : path, "python", 6);
}

static bool ends_in_py(const char *name)
{
    size_t n = strlen(name);
    return n > 3 && !strcmp(name + n - 3, ".py");
}

void doctor_program(struct doctor *d, char *const *argv)
{
    char path[1024];
    const char *script = ends_in_py(argv[0]) ? argv[0] : NULL, *why;
    struct python y;
    if (!file_program(script ? "python3" : argv[0], path, sizeof path)) {
        doctor_add(d, "program", "program", HEALTH_FAILS, "Give its path, or put its folder on PATH.",
                   "there is no program %s", script ? "python3" : argv[0]);
        return;
    }
    if (!is_python(path)) {
        look_at_elf(d, path);
        return;
    }
    for (u32 i = 1; !script && argv[i]; i++)
        if (ends_in_py(argv[i])) script = argv[i];
    if (!ask(d, path, script, &y, &why)) {
        doctor_add(d, "program", "python", HEALTH_FAILS, "It has to be Python 3.8 or newer.", "%s: %s", path, why);
        return;
    }
    look_at_packages(d, &y);
    if (!script) return;
    if (y.script)
        doctor_add(d, "program", "script", HEALTH_FAILS, "", "%s: %s", script, y.script);
    else if (y.missing[0])
        doctor_add(d, "program", "imports", HEALTH_FAILS,
                   arena_printf(&d->mem, "%s -m pip install what has them: in this Python, not in another.", y.path),
                   "%s imports %s, which this Python has not", script, y.missing);
    else
        doctor_add(d, "program", "imports", HEALTH_PASSES, "", "all that %s imports is there", script);
}
