/* Finding a CUDA compiler, and what goes with it.
 *
 * They are looked for where people have them: the folder that the environment names, the one that nvcc on PATH lies
 * in, /usr/local/cuda*, a conda or Python environment. pip puts each part into a folder of its own below
 * site-packages/nvidia: the library into cuda_nvrtc/lib (CUDA 12) or cu13/lib, headers into cuda_runtime/include,
 * cuda_cccl/include, curand/include or cu13/include. */
#include "compile/compile.h"
#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const compiler_name[COMPILER_COUNT] = { "any", "nvrtc", "nvcc", "clang" };

/* The last match of a pattern: with version numbers in names that is the newest one, near enough. */
static bool last_match(const char *pattern, char *out, size_t size)
{
    glob_t g = { 0 };
    bool found = !glob(pattern, 0, NULL, &g) && g.gl_pathc && strlen(g.gl_pathv[g.gl_pathc - 1]) < size;
    if (found) snprintf(out, size, "%s", g.gl_pathv[g.gl_pathc - 1]);
    globfree(&g);
    return found;
}

static void add_include(struct toolkit *t, const char *folder)
{
    struct stat st;
    if (t->includes == TOOLKIT_HEADERS || strlen(folder) >= sizeof t->include[0] || stat(folder, &st) ||
        !S_ISDIR(st.st_mode))
        return;
    for (u32 i = 0; i < t->includes; i++)
        if (!strcmp(t->include[i], folder)) return;
    snprintf(t->include[t->includes++], sizeof t->include[0], "%s", folder);
}

/* Headers, and those of the CUDA C++ Core Libraries, which lie in a folder of their own since CUDA 13. */
static void add_headers(struct toolkit *t, const char *folder)
{
    char path[2100];
    add_include(t, folder);
    snprintf(path, sizeof path, "%s/cccl", folder);
    add_include(t, path);
}

/* Takes folder/name when it can be run and nothing was found before. */
static void take_program(const char *folder, const char *name, char *out, size_t size)
{
    if (!out[0] && (snprintf(out, size, "%s/%s", folder, name) >= (int)size || access(out, X_OK))) out[0] = 0;
}

/* Tries one toolkit folder; what was found before stays. */
static void look_in(struct toolkit *t, const char *folder)
{
    static const char *const lib[] = { "lib64", "lib", "targets/*/lib" };
    char path[2048];
    struct stat st;
    if (!folder || !folder[0] || strlen(folder) > 900 || stat(folder, &st)) return;
    for (u32 i = 0; i < COUNT_OF(lib) && !t->nvrtc[0]; i++) {
        snprintf(path, sizeof path, "%s/%s/libnvrtc.so.[0-9]*", folder, lib[i]);
        last_match(path, t->nvrtc, sizeof t->nvrtc);
    }
    snprintf(path, sizeof path, "%s/bin", folder);
    take_program(path, "nvcc", t->nvcc, sizeof t->nvcc);
    take_program(path, "ptxas", t->ptxas, sizeof t->ptxas);
    char headers[1024];
    snprintf(path, sizeof path, "%s/include/cuda_runtime.h", folder);
    bool plain = file_exists(path);
    snprintf(path, sizeof path, "%s/targets/*/include/cuda_runtime.h", folder);
    if (!t->includes && (plain || last_match(path, headers, sizeof headers))) {
        if (plain)
            snprintf(headers, sizeof headers, "%s/include", folder);
        else
            *strrchr(headers, '/') = 0;
        add_headers(t, headers);
        snprintf(t->root, sizeof t->root, "%s", folder);
    }
}

/* The folder above bin/nvcc for the first nvcc on PATH. */
static void look_on_path(struct toolkit *t)
{
    char nvcc[1024], real[4096];
    if (!file_program("nvcc", nvcc, sizeof nvcc)) return;
    if (!t->nvcc[0]) snprintf(t->nvcc, sizeof t->nvcc, "%s", nvcc);
    /* a link in /usr/bin leads to the toolkit's own folder */
    if (realpath(nvcc, real) && strlen(real) > 9) {
        real[strlen(real) - 9] = 0; /* "/bin/nvcc" */
        look_in(t, real);
    }
}

/* One site-packages/nvidia, by the library found in it: its headers lie beside. */
static void take_python(struct toolkit *t, const char *library)
{
    static const char *const parts[] = { "cu13", "cuda_runtime", "cuda_cccl", "curand", "cuda_nvcc" };
    char path[2048], nvidia[1024];
    snprintf(t->nvrtc, sizeof t->nvrtc, "%s", library);
    snprintf(nvidia, sizeof nvidia, "%s", library);
    for (u32 i = 0; i < 3; i++) /* nvidia/PART/lib/libnvrtc.so.N */
        if (strrchr(nvidia, '/')) *strrchr(nvidia, '/') = 0;
    for (u32 i = 0; i < COUNT_OF(parts); i++) {
        snprintf(path, sizeof path, "%s/%s/include", nvidia, parts[i]);
        add_headers(t, path);
        snprintf(path, sizeof path, "%s/%s/bin", nvidia, parts[i]);
        take_program(path, "ptxas", t->ptxas, sizeof t->ptxas);
        take_program(path, "nvcc", t->nvcc, sizeof t->nvcc);
    }
}

/* pip install nvidia-cuda-nvrtc leaves the library in the site-packages of some Python. */
static void look_in_python(struct toolkit *t, const char *only)
{
    static const char *const roots[][2] = {
        { "VIRTUAL_ENV", "" },  { "CONDA_PREFIX", "" }, { "HOME", "/.local" }, { "HOME", "/.pyenv/versions/*" },
        { NULL, "/usr/local" }, { NULL, "/usr" },
    };
    static const char *const folders[] = { "cu13", "cuda_nvrtc", "*" };
    for (u32 i = 0; i < (only ? 1 : COUNT_OF(roots)) && !t->nvrtc[0]; i++) {
        const char *root = only ? only : roots[i][0] ? getenv(roots[i][0]) : "";
        if (!root || (!only && roots[i][0] && !root[0]) || strlen(root) > 600) continue;
        for (u32 k = 0; k < COUNT_OF(folders) && !t->nvrtc[0]; k++) {
            char pattern[2048], library[1024];
            snprintf(pattern, sizeof pattern, "%s%s/lib/python3*/*-packages/nvidia/%s/lib/libnvrtc.so.[0-9]*", root,
                     only ? "" : roots[i][1], folders[k]);
            if (last_match(pattern, library, sizeof library)) take_python(t, library);
        }
    }
}

/* A library that only the loader knows: where it lies. */
static void look_by_name(struct toolkit *t)
{
    static const char *const names[] = { "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2" };
    for (u32 i = 0; i < COUNT_OF(names) && !t->nvrtc[0]; i++) {
        void *lib = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
        void *function = lib ? dlsym(lib, "nvrtcVersion") : NULL;
        Dl_info info;
        if (function && dladdr(function, &info) && info.dli_fname && strlen(info.dli_fname) < sizeof t->nvrtc)
            snprintf(t->nvrtc, sizeof t->nvrtc, "%s", info.dli_fname);
        if (lib) dlclose(lib);
    }
}

static void look_for_clang(struct toolkit *t)
{
    char pattern[64];
    if (file_program("clang", t->clang, sizeof t->clang)) return;
    for (u32 v = 22; v >= 11 && !t->clang[0]; v--) {
        snprintf(pattern, sizeof pattern, "clang-%u", v);
        file_program(pattern, t->clang, sizeof t->clang);
    }
}

void toolkit_find(struct toolkit *t)
{
    memset(t, 0, sizeof *t);
    const char *only = getenv("LOCKSTEP_TOOLKIT");
    if (only && only[0]) {
        if (!strcmp(only, "none")) return;
        look_in(t, only);
        look_in_python(t, only); /* the folder of a virtual environment */
        look_for_clang(t);
        return;
    }
    look_in(t, getenv("CUDA_HOME"));
    look_in(t, getenv("CUDA_PATH"));
    look_on_path(t);
    look_in(t, "/usr/local/cuda");
    char newest[1024];
    if ((!t->nvrtc[0] || !t->nvcc[0]) && last_match("/usr/local/cuda-*", newest, sizeof newest)) look_in(t, newest);
    look_in(t, "/opt/cuda");
    look_in(t, getenv("CONDA_PREFIX"));
    look_in(t, "/usr/lib/nvidia-cuda-toolkit");
    look_in_python(t, NULL);
    look_by_name(t);
    look_for_clang(t);
}

bool toolkit_has(const struct toolkit *t, enum compiler c)
{
    switch (c) {
    case COMPILER_NVRTC: return t->nvrtc[0];
    case COMPILER_NVCC: return t->nvcc[0];
    case COMPILER_CLANG: return t->clang[0] && t->root[0];
    default: return t->nvrtc[0] || t->nvcc[0] || (t->clang[0] && t->root[0]);
    }
}

static void identity_of(const char *path, struct hash *h)
{
    struct stat st = { 0 };
    char real[4096];
    hash_add_text(h, path);
    if (!path[0] || !realpath(path, real) || stat(real, &st)) return;
    hash_add_text(h, real);
    hash_add(h, &st.st_size, sizeof st.st_size);
    hash_add(h, &st.st_mtim, sizeof st.st_mtim);
}

void toolkit_identity(const struct toolkit *t, struct hash *h)
{
    char path[1100];
    identity_of(t->nvrtc, h);
    identity_of(t->nvcc, h);
    identity_of(t->clang, h);
    /* nvcc is a driver, perhaps after a script: these do the work */
    snprintf(path, sizeof path, "%s/nvvm/bin/cicc", t->root);
    identity_of(path, h);
    snprintf(path, sizeof path, "%s/bin/cudafe++", t->root);
    identity_of(path, h);
    for (u32 i = 0; i < t->includes; i++) hash_add_text(h, t->include[i]);
}
