/* Finding and opening the CUDA driver's library. */
#include "gpu/driver.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

/* Where distributions, containers, WSL and NixOS put it. */
static const char *const folders[] = {
#if defined __x86_64__
    "/usr/lib/x86_64-linux-gnu",
    "/lib/x86_64-linux-gnu",
#elif defined __aarch64__
    "/usr/lib/aarch64-linux-gnu",
    "/lib/aarch64-linux-gnu",
#endif
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/lib",
    "/usr/lib64/nvidia",
    "/usr/local/cuda/compat",
};

/* One library; *why keeps what a file that is there had to say. */
static bool try_path(struct driver *c, const char *path, char *why, size_t size)
{
    if (access(path, R_OK)) return false;
    /* a kernel that is loaded at its first launch would wait for one that runs and does not end: a ring */
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!lib) {
        const char *text = dlerror();
        snprintf(why, size, "%s", text ? text : path);
        return false;
    }
    const char *missing = dlsym(lib, "lk_version") ? "a driver; it is Lockstep's own" : NULL;
#define X(field, name, params)                   \
    {                                            \
        void *f = dlsym(lib, name);              \
        memcpy(&c->field, &f, sizeof f);         \
        missing = f || missing ? missing : name; \
    }
    CU_FUNCTIONS(X)
#undef X
#define X(field, name, params)           \
    {                                    \
        void *f = dlsym(lib, name);      \
        memcpy(&c->field, &f, sizeof f); \
    }
    CU_ASYNC_FUNCTIONS(X)
#undef X
    if (missing) {
        snprintf(why, size, "%s has no %s", path, missing);
        dlclose(lib);
        return false;
    }
    c->library = lib;
    snprintf(c->path, sizeof c->path, "%s", path);
    return true;
}

static bool try_list(struct driver *c, const char *list, char *why, size_t size)
{
    while (list && *list) {
        size_t n = strcspn(list, ":");
        char path[512];
        if (n && list[0] == '/' && n < 480) {
            snprintf(path, sizeof path, "%.*s/libcuda.so.1", (int)n, list);
            if (try_path(c, path, why, size)) return true;
        }
        list += n + (list[n] == ':');
    }
    return false;
}

bool driver_open(struct driver *c, struct error *e)
{
    char why[200] = "", path[512];
    const char *given = getenv("LOCKSTEP_LIBCUDA");
    if (given && given[0])
        return try_path(c, given, why, sizeof why) ||
               error_set(e, ERR_INPUT, "no GPU here: LOCKSTEP_LIBCUDA names %.200s, %s", given,
                         why[0] ? why : "and there is no such file");
    for (u32 i = 0; i < COUNT_OF(folders); i++) {
        snprintf(path, sizeof path, "%s/libcuda.so.1", folders[i]);
        if (try_path(c, path, why, sizeof why)) return true;
    }
    if (try_list(c, getenv("LD_LIBRARY_PATH"), why, sizeof why)) return true;
    return error_set(
        e, ERR_INPUT,
        "no GPU here: NVIDIA's driver library libcuda.so.1 is not in %s, %s, %s, %s or LD_LIBRARY_PATH%s%s%s",
        folders[0], "/usr/lib64", "/usr/local/nvidia/lib64", "/usr/lib/wsl/lib", why[0] ? " (" : "", why,
        why[0] ? ")" : "");
}

/* The library stays: threads of the driver may still run in it, above all after a kernel that faulted. */
void driver_close(struct driver *c) { c->library = NULL; }

const char *driver_error(const struct driver *c, cu_result code, char *out, size_t size)
{
    const char *name = NULL, *text = NULL;
    if (c->error_name(code, &name) || !name) name = "CUDA error";
    if (c->error_text(code, &text) || !text) text = "the driver has no text for it";
    snprintf(out, size, "%s (%d): %s", name, code, text);
    return out;
}
