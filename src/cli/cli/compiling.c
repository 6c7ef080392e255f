/* The options of compilers, and loading a kernel file with them. */
#include "cli/compiling.h"
#include "cli/cli.h"
#include "cli/watch.h"

#define OPTIONS_compile OWN_ROWS
#define OWN_GROUP_COMPILER
#include "cli/option_own.h"

bool compiling_option(struct arena *a, struct compiling *c, u32 which, const char *value, struct error *e)
{
    const char *flag = NULL;
    u64 n;
    switch ((enum own_option)(which + O_compile_COMPILER)) {
    case OWN_COMPILER:
        c->o.compiler = value;
        return !strcmp(value, "nvrtc") || !strcmp(value, "nvcc") || !strcmp(value, "clang") ||
               error_set(e, ERR_INPUT, "--compiler %.60s: nvrtc, nvcc or clang belongs here", value);
    case OWN_ARCH: c->o.arch = value; return true;
    case OWN_FRESH: c->o.fresh = 1; return true;
    case OWN_LINK: VEC_PUSH(a, &c->link, value); return true;
    case OWN_INCLUDE: flag = arena_printf(a, "-I%s", value); break;
    case OWN_DEFINE: flag = arena_printf(a, "-D%s", value); break;
    case OWN_UNDEFINE: flag = arena_printf(a, "-U%s", value); break;
    case OWN_STD: flag = arena_printf(a, "-std=%s", value); break;
    case OWN_DEBUG: flag = "-G"; break;
    case OWN_OPTIMISE: flag = arena_printf(a, "-O%s", value); break;
    case OWN_FAST_MATH: flag = "--use_fast_math"; break;
    case OWN_REGISTERS:
        if (!option_whole(value, 255, &n))
            return error_set(e, ERR_INPUT, "--maxrregcount %.60s: a whole number from 0 to 255 belongs here", value);
        flag = arena_printf(a, "-maxrregcount=%s", value);
        break;
    case OWN_FLAG: flag = value; break;
    }
    VEC_PUSH(a, &c->flag, flag);
    return true;
}

bool compiling_target(struct arena *a, const char *verb, const char *text, const char **path, const char **kernel,
                      struct error *e)
{
    static const char *const ends[] = { ".ptx", ".cu" };
    for (u32 i = 0; i < COUNT_OF(ends); i++) {
        size_t n = strlen(ends[i]);
        for (const char *p = strstr(text, ends[i]); p; p = strstr(p + 1, ends[i])) {
            if (p[n] && p[n] != ':') continue;
            if (p[n] == ':' && !p[n + 1])
                return error_set(e, ERR_INPUT, "%.200s: after the colon comes the name of a kernel", text);
            *path = arena_str(a, (struct str){ text, (u32)(p + n - text) });
            *kernel = p[n] ? p + n + 1 : NULL;
            return !file_is_pipe(*path) ||
                   error_set(e, ERR_INPUT, "%.200s is a pipe, and is read more than once: save it as a file", *path);
        }
    }
    static const char *const images[] = { ".cubin", ".fatbin", ".so", ".a", ".o" };
    for (u32 i = 0; i < COUNT_OF(images); i++) {
        const char *p = strstr(text, images[i]);
        if (p && (!p[strlen(images[i])] || p[strlen(images[i])] == ':'))
            return error_set(e, ERR_INPUT,
                             "%s takes a .ptx or .cu file; lockstep inspect %.*s lists the images in this one, and "
                             "--ptx N -o FILE.ptx takes PTX out of it",
                             verb, (int)MIN_OF(p + strlen(images[i]) - text, 200l), text);
    }
    return error_set(e, ERR_INPUT, "%s takes a .ptx or .cu file first, as in lockstep %s saxpy.%s; `%.100s` is neither",
                     verb, verb, strcmp(verb, "launch") ? "cu" : "ptx", text);
}

void compiling_own(struct arena *a, struct compiling *c, const char *words)
{
    struct compiling with = { .o = c->o };
    with.link.p = c->link.p, with.link.n = c->link.n;
    for (const char *p = words; *(p += strspn(p, " \t"));) {
        size_t n = strcspn(p, " \t");
        VEC_PUSH(a, &with.flag, arena_str(a, (struct str){ p, (u32)n }));
        p += n;
    }
    with.o.own = with.flag.n;
    for (u32 i = 0; i < c->flag.n; i++) VEC_PUSH(a, &with.flag, c->flag.p[i]);
    *c = with;
}

static bool same_word(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

bool compiling_same(const struct compiling *a, const struct compiling *b)
{
    bool same = same_word(a->o.compiler, b->o.compiler) && same_word(a->o.arch, b->o.arch) &&
                a->o.fresh == b->o.fresh && a->o.own == b->o.own && a->flag.n == b->flag.n && a->link.n == b->link.n;
    for (u32 i = 0; same && i < a->flag.n; i++) same = !strcmp(a->flag.p[i], b->flag.p[i]);
    for (u32 i = 0; same && i < a->link.n; i++) same = !strcmp(a->link.p[i], b->link.p[i]);
    return same;
}

lk_status compiling_load(const struct compiling *c, const struct common *common, lk_gpu *gpu, const char *path,
                         const char *const *name, u32 names, lk_module **module)
{
    lk_compile o = c->o;
    o.size = sizeof o;
    o.flag = c->flag.p;
    o.flags = c->flag.n;
    o.link = c->link.p;
    o.links = c->link.n;
    o.name = name;
    o.names = names;
    struct watch watch;
    watch_compiler_begin(&watch, common, gpu, path);
    lk_status status = lk_module_compile(gpu, path, &o, module);
    watch_compiler_end(&watch);
    return status;
}

int compiling_failed(lk_gpu *gpu, const char *path, lk_status status)
{
    const char *log = lk_gpu_log(gpu);
    u32 errors = 0;
    for (const char *p = log; (p = strstr(p, ": error: ")); p++) errors++;
    if (errors < 2) return cli_error_status(status, lk_gpu_error(gpu));
    fflush(stdout);
    fputs(log, stderr);
    return cli_error("%s has %u errors", path, errors);
}
