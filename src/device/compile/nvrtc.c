/* NVRTC: the compiler as a library. It compiles a kernel file in a few hundredths of a second, and knows no host
 * headers but the stand-ins that it is given here. */
#include "compile/compile.h"
#include <dlfcn.h>

enum { STAND_INS_MOST = 64 };

/* The part of NVRTC that is used, by its C interface. */
struct nvrtc {
    int (*version)(int *major, int *minor);
    int (*create)(void **program, const char *source, const char *name, int headers, const char *const *header,
                  const char *const *header_name);
    int (*destroy)(void **program);
    int (*compile)(void *program, int options, const char *const *option);
    int (*ptx_size)(void *program, size_t *bytes);
    int (*ptx)(void *program, char *to);
    int (*log_size)(void *program, size_t *bytes);
    int (*log)(void *program, char *to);
    int (*add_name)(void *program, const char *name);
    int (*lowered)(void *program, const char *name, const char **lowered);
};

/* Looks the functions up. The library is never closed: it keeps state of its own, and the next file wants it again. */
static void *nvrtc_open(const char *path, struct nvrtc *n, struct error *e)
{
    void *lib = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!lib) {
        error_set(e, ERR_SYSTEM, "cannot load %s: %s", path, dlerror());
        return NULL;
    }
    static const char *const name[] = {
        "nvrtcVersion",           "nvrtcCreateProgram",  "nvrtcDestroyProgram",    "nvrtcCompileProgram",
        "nvrtcGetPTXSize",        "nvrtcGetPTX",         "nvrtcGetProgramLogSize", "nvrtcGetProgramLog",
        "nvrtcAddNameExpression", "nvrtcGetLoweredName",
    };
    _Static_assert(sizeof *n == sizeof name, "one name for each function of struct nvrtc");
    for (u32 i = 0; i < COUNT_OF(name); i++) {
        void *f = dlsym(lib, name[i]);
        if (!f) {
            error_set(e, ERR_SYSTEM, "%s has no %s: it is no NVRTC that Lockstep knows", path, name[i]);
            return NULL;
        }
        memcpy((char *)n + i * sizeof f, &f, sizeof f);
    }
    return lib;
}

/* The newest architecture this NVRTC knows that is not newer than `arch`. */
static void find_older(void *lib, const char *arch, char out[16])
{
    int (*count)(int *), (*list)(int *), n = 0, arches[64];
    void *f = dlsym(lib, "nvrtcGetNumSupportedArchs"), *g = dlsym(lib, "nvrtcGetSupportedArchs");
    u32 best = 0, most = compile_arch_number(arch);
    if (!f || !g) return;
    memcpy(&count, &f, sizeof f);
    memcpy(&list, &g, sizeof g);
    if (count(&n) || n < 1 || n > 64 || list(arches)) return;
    for (int i = 0; i < n; i++)
        if ((u32)arches[i] <= most && (u32)arches[i] > best) best = (u32)arches[i];
    if (best) snprintf(out, 16, "sm_%u", best);
}

/* Appends what one of NVRTC's pairs "size, then bytes" yields, without its final zero. */
static void nvrtc_take(int (*size)(void *, size_t *), int (*get)(void *, char *), void *program, struct text *out)
{
    size_t n = 0;
    if (size(program, &n) || n < 2) return;
    char *p = base_alloc(n);
    if (p && !get(program, p)) text_put(out, p, strnlen(p, n));
    base_free(p);
}

static const char *folder_of(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? arena_str(a, (struct str){ path, (u32)MAX_OF(slash - path, 1) }) : ".";
}

static bool options_make(const struct compile_job *job, word_list *out, struct error *e)
{
    struct arena *a = job->mem;
    VEC_PUSH(a, out, arena_printf(a, "--gpu-architecture=compute_%s", job->arch + 3));
    if (!flags_translate(a, job->o, COMPILER_NVRTC, out, e)) return false;
    VEC_PUSH(a, out, arena_printf(a, "-I%s", folder_of(a, job->path)));
    for (u32 i = 0; i < job->toolkit->includes; i++)
        VEC_PUSH(a, out, arena_printf(a, "-I%s", job->toolkit->include[i]));
    return true;
}

/* The stand-ins, but for those of which the user has a file. */
static int stand_ins(const struct compile_job *job, const char **text, const char **name)
{
    word_list folders = { 0 }, files = { 0 };
    int n = 0;
    flags_paths(job->o, job->mem, &folders, &files);
    VEC_PUSH(job->mem, &folders, folder_of(job->mem, job->path));
    for (u32 i = 0; stand_in_name(i) && n < STAND_INS_MOST; i++) {
        bool own = false;
        for (u32 k = 0; k < folders.n && !own; k++)
            own = file_exists(arena_printf(job->mem, "%s/%s", folders.p[k], stand_in_name(i)));
        if (own) continue;
        text[n] = stand_in_text(i);
        name[n++] = stand_in_name(i);
    }
    return n;
}

static void take_names(const struct nvrtc *n, void *program, const struct compile_job *job, struct compile_log *log)
{
    for (u32 i = 0; i < job->o->names; i++) {
        const char *lowered = NULL, *instance = compile_instance(job->mem, job->o->name[i]);
        if (instance && !n->lowered(program, instance, &lowered) && lowered)
            log->lowered[i] = arena_str(job->mem, str_of(lowered));
    }
}

bool compile_nvrtc(const struct compile_job *job, struct compile_log *log, struct error *e)
{
    struct nvrtc n;
    void *lib = nvrtc_open(job->toolkit->nvrtc, &n, e);
    word_list option = { 0 };
    if (!lib || !options_make(job, &option, e)) return false;
    int major = 0, minor = 0;
    n.version(&major, &minor);
    snprintf(log->by, sizeof log->by, "nvrtc %d.%d", major, minor);
    log->lowered = NEW_ARRAY(job->mem, char *, job->o->names + 1);
    const char *text[STAND_INS_MOST], *name[STAND_INS_MOST];
    int headers = stand_ins(job, text, name);
    void *program = NULL;
    if (n.create(&program, job->source.p, job->path, headers, text, name))
        return error_set(e, ERR_SYSTEM, "%s refused to begin a program", job->toolkit->nvrtc);
    for (u32 i = 0; i < job->o->names; i++) {
        const char *instance = compile_instance(job->mem, job->o->name[i]);
        if (instance) n.add_name(program, instance);
    }
    bool ok = !n.compile(program, (int)option.n, option.p);
    if (ok) {
        nvrtc_take(n.ptx_size, n.ptx, program, &log->ptx);
        take_names(&n, program, job, log);
    }
    nvrtc_take(n.log_size, n.log, program, &log->messages);
    n.destroy(&program);
    if (!ok && log->messages.p && strstr(log->messages.p, "invalid value for --gpu-architecture")) {
        log->bad_arch = true;
        find_older(lib, job->arch, log->older);
    }
    return ok && log->ptx.n;
}
