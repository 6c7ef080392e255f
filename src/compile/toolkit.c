/* Finding a CUDA compiler and running it.
 *
 * NVRTC is a library and compiles a kernel file in a tenth of a second, but knows no host headers. nvcc takes any file and
 * needs a host compiler. Both are looked for where people have them: the folder that the environment names, the one that nvcc
 * on PATH lies in, /usr/local/cuda*, a conda or Python environment (pip puts libnvrtc into site-packages/nvidia). */
#include "compile/compile.h"
#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The last match of a pattern: with version numbers in names that is the newest one, near enough. */
static bool last_match(const char *pattern, char *out, size_t size)
{
    glob_t g = { 0 };
    bool found = !glob(pattern, 0, NULL, &g) && g.gl_pathc && strlen(g.gl_pathv[g.gl_pathc - 1]) < size;
    if (found)
        snprintf(out, size, "%s", g.gl_pathv[g.gl_pathc - 1]);
    globfree(&g);
    return found;
}

/* Tries one toolkit folder; what was found before stays. */
static void look_in(struct toolkit *t, const char *folder)
{
    static const char *const lib[] = { "lib64", "lib", "targets/*/lib" };
    char path[2048];
    if (!folder || !folder[0] || strlen(folder) > 900)
        return;
    for (u32 i = 0; i < COUNT_OF(lib) && !t->nvrtc[0]; i++) {
        snprintf(path, sizeof path, "%s/%s/libnvrtc.so.[0-9]*", folder, lib[i]);
        last_match(path, t->nvrtc, sizeof t->nvrtc);
    }
    snprintf(path, sizeof path, "%s/bin/nvcc", folder);
    if (!t->nvcc[0] && !access(path, X_OK))
        snprintf(t->nvcc, sizeof t->nvcc, "%s/bin/nvcc", folder);
    snprintf(path, sizeof path, "%s/include/cuda_runtime.h", folder);
    if (!t->include[0] && !access(path, R_OK))
        snprintf(t->include, sizeof t->include, "%s/include", folder);
}

/* The folder above bin/nvcc for the first nvcc on PATH. */
static void look_on_path(struct toolkit *t)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t n = strcspn(path, ":");
        char nvcc[1024], real[4096];
        if (n && n < 900) {
            snprintf(nvcc, sizeof nvcc, "%.*s/nvcc", (int)n, path);
            if (!access(nvcc, X_OK)) {
                if (!t->nvcc[0])
                    snprintf(t->nvcc, sizeof t->nvcc, "%s", nvcc);
                /* a link in /usr/bin leads to the toolkit's own folder */
                if (realpath(nvcc, real) && strlen(real) > 9) {
                    real[strlen(real) - 9] = 0;     /* "/bin/nvcc" */
                    look_in(t, real);
                }
                return;
            }
        }
        path += n;
        path += *path == ':';
    }
}

/* pip install nvidia-cuda-nvrtc-cu12 leaves the library in the site-packages of some Python. */
static void look_in_python(struct toolkit *t)
{
    static const char *const roots[][2] = {
        { "VIRTUAL_ENV", "" }, { "CONDA_PREFIX", "" }, { "HOME", "/.local" }, { "HOME", "/.pyenv/versions/*" }, { NULL, "/usr/local" }, { NULL, "/usr" },
    };
    for (u32 i = 0; i < COUNT_OF(roots) && !t->nvrtc[0]; i++) {
        const char *root = roots[i][0] ? getenv(roots[i][0]) : "";
        if (!root || (roots[i][0] && !root[0]) || strlen(root) > 600)
            continue;
        char pattern[2048];
        snprintf(pattern, sizeof pattern, "%s%s/lib/python3*/*-packages/nvidia/*/lib/libnvrtc.so.[0-9]*", root, roots[i][1]);
        last_match(pattern, t->nvrtc, sizeof t->nvrtc);
    }
}

void toolkit_find(struct toolkit *t)
{
    *t = (struct toolkit){ 0 };
    const char *only = getenv("LOCKSTEP_TOOLKIT");
    if (only && only[0]) {
        if (strcmp(only, "none"))
            look_in(t, only);
        return;
    }
    look_in(t, getenv("CUDA_HOME"));
    look_in(t, getenv("CUDA_PATH"));
    look_on_path(t);
    look_in(t, "/usr/local/cuda");
    char newest[1024];
    if ((!t->nvrtc[0] || !t->nvcc[0]) && last_match("/usr/local/cuda-*", newest, sizeof newest))
        look_in(t, newest);
    look_in(t, "/opt/cuda");
    look_in(t, getenv("CONDA_PREFIX"));
    look_in(t, "/usr/lib/nvidia-cuda-toolkit");
    if (!t->nvrtc[0])
        look_in_python(t);
    static const char *const names[] = { "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2" };
    for (u32 i = 0; i < COUNT_OF(names) && !t->nvrtc[0]; i++) {
        void *lib = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
        if (lib) {
            snprintf(t->nvrtc, sizeof t->nvrtc, "%s", names[i]);
            dlclose(lib);
        }
    }
}

static void identity_of(const char *path, struct text *out)
{
    struct stat st = { 0 };
    if (path[0] && stat(path, &st))
        st = (struct stat){ 0 };
    text_add(out, "%s %lld %lld\n", path, (long long)st.st_size, (long long)st.st_mtime);
}

void toolkit_identity(const struct toolkit *t, struct text *out)
{
    identity_of(t->nvrtc, out);
    identity_of(t->nvcc, out);
    text_add(out, "%s\n", t->include);
}

void compile_log_free(struct compile_log *log)
{
    text_free(&log->ptx);
    text_free(&log->messages);
}

/* The part of NVRTC that is used, by its C interface. */
struct nvrtc {
    int (*version)(int *major, int *minor);
    int (*create)(void **program, const char *source, const char *name, int headers, const char *const *header, const char *const *header_name);
    int (*destroy)(void **program);
    int (*compile)(void *program, int options, const char *const *option);
    int (*ptx_size)(void *program, size_t *bytes);
    int (*ptx)(void *program, char *to);
    int (*log_size)(void *program, size_t *bytes);
    int (*log)(void *program, char *to);
};

/* Looks the functions up. The library is never closed: it keeps state of its own, and the next file wants it again. */
static bool nvrtc_open(const char *path, struct nvrtc *n, struct error *e)
{
    void *lib = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!lib)
        return error_set(e, ERR_SYSTEM, "cannot load %s: %s", path, dlerror());
    static const char *const name[] = {
        "nvrtcVersion", "nvrtcCreateProgram", "nvrtcDestroyProgram", "nvrtcCompileProgram",
        "nvrtcGetPTXSize", "nvrtcGetPTX", "nvrtcGetProgramLogSize", "nvrtcGetProgramLog",
    };
    _Static_assert(sizeof *n == sizeof name, "one name for each function of struct nvrtc");
    for (u32 i = 0; i < COUNT_OF(name); i++) {
        void *f = dlsym(lib, name[i]);
        if (!f)
            return error_set(e, ERR_SYSTEM, "%s has no %s: it is no NVRTC that Lockstep knows", path, name[i]);
        memcpy((char *)n + i * sizeof f, &f, sizeof f);
    }
    return true;
}

/* Appends what one of NVRTC's pairs "size, then bytes" yields, without its final zero. */
static void nvrtc_take(int (*size)(void *, size_t *), int (*get)(void *, char *), void *program, struct text *out)
{
    size_t n = 0;
    if (size(program, &n) || n < 2)
        return;
    char *p = base_alloc(n);
    if (p && !get(program, p))
        text_put(out, p, strnlen(p, n));
    base_free(p);
}

bool toolkit_nvrtc(const struct toolkit *t, const char *path, struct str source, const char *arch, struct compile_log *log, struct error *e)
{
    struct nvrtc n;
    if (!nvrtc_open(t->nvrtc, &n, e))
        return false;
    int major = 0, minor = 0;
    n.version(&major, &minor);
    snprintf(log->by, sizeof log->by, "nvrtc %d.%d", major, minor);
    void *program = NULL;
    if (n.create(&program, source.p, path, 0, NULL, NULL))
        return error_set(e, ERR_SYSTEM, "%s refused to begin a program", t->nvrtc);
    char arch_option[64], here[1100], headers[1100], cccl[1100];
    const char *slash = strrchr(path, '/');
    const char *digits = strchr(arch, '_');
    snprintf(arch_option, sizeof arch_option, "--gpu-architecture=compute_%s", digits ? digits + 1 : arch);
    snprintf(here, sizeof here, "-I%.*s", slash ? (int)MIN_OF(slash - path + 1, 1000) : 1, slash ? path : ".");
    const char *option[8] = { arch_option, "--generate-line-info", "--std=c++17", here };
    int options = 4;
    if (t->include[0]) {
        snprintf(headers, sizeof headers, "-I%s", t->include);
        snprintf(cccl, sizeof cccl, "-I%s/cccl", t->include);
        option[options++] = headers;
        option[options++] = cccl;
    }
    bool ok = !n.compile(program, options, option);
    if (ok)
        nvrtc_take(n.ptx_size, n.ptx, program, &log->ptx);
    nvrtc_take(n.log_size, n.log, program, &log->messages);
    n.destroy(&program);
    return ok && log->ptx.n;
}

bool toolkit_nvcc(const struct toolkit *t, const char *path, const char *arch, struct compile_log *log, struct error *e)
{
    snprintf(log->by, sizeof log->by, "nvcc");
    const char *tmp = getenv("TMPDIR");
    char out[1024], arch_option[64];
    if (snprintf(out, sizeof out, "%s/lockstep-XXXXXX.ptx", tmp && tmp[0] ? tmp : "/tmp") >= (int)sizeof out)
        return error_set(e, ERR_SYSTEM, "TMPDIR is too long");
    int fd = mkstemps(out, 4);
    if (fd < 0)
        return error_set(e, ERR_SYSTEM, "cannot write in %s; set TMPDIR to a folder that can be written", tmp && tmp[0] ? tmp : "/tmp");
    close(fd);
    snprintf(arch_option, sizeof arch_option, "-arch=%s", arch);
    char *argv[] = { (char *)t->nvcc, "-ptx", "-lineinfo", "-std=c++17", arch_option, (char *)path, "-o", out, NULL };
    int status = process_run(argv, &log->messages);
    bool ok = false;
    struct str ptx;
    if (status < 0)
        error_set(e, ERR_SYSTEM, "cannot start %s", t->nvcc);
    else if (status == 0 && file_read(out, &ptx, e)) {
        text_put(&log->ptx, ptx.p, ptx.n);
        base_free((void *)ptx.p);
        ok = log->ptx.n > 0;
    }
    unlink(out);
    return ok;
}
