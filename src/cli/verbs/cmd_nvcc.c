/* lockstep nvcc: nvcc, with what a program needs to run on Lockstep.
 *
 * A build system calls it in place of nvcc (NVCC='lockstep nvcc'). Nothing that was asked for is taken away, except
 * that `native` becomes the architecture of the default device. What is added: PTX for each virtual architecture whose
 * machine code alone is asked for, for Lockstep executes PTX; line information; the shared runtime, which can be
 * replaced when the program starts. A cubin (--cubin) gets the PTX after its own sections. */
#include "verbs/keep.h"
#include "verbs/nvcc.h"
#include <errno.h>
#include <lockstep.h>
#include <stdlib.h>
#include <unistd.h>

enum { CODES_MOST = 64, CODE_BYTES = 32 };
enum { NATIVE = 90 }; /* of h200, the default device */

struct nvcc_request {                     /* what the command line has already */
    char gencode[CODES_MOST][CODE_BYTES]; /* virtual architectures of -gencode: "compute_90a" */
    bool has_ptx[CODES_MOST];             /* with code=compute_90a, too */
    u32 gencodes;                         /* how many */
    const char *arch;                     /* of -arch, or NULL */
    bool code, code_ptx;                  /* -code is there; it has a compute_ among its values */
    bool lines, runtime, lto;             /* -lineinfo or -G; -cudart; -dlto */
    bool one_image;                       /* the output holds a single image, or is not one: nothing may be added */
    bool verbose;                         /* --verbose */
};

static bool is_any(const char *word, const char *const *among)
{
    for (; *among; among++)
        if (!strcmp(word, *among)) return true;
    return false;
}

/* Copies the name at p, of letters, digits and _, and returns what is after it. */
static const char *name_at(const char *p, char out[CODE_BYTES])
{
    size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyz_0123456789");
    snprintf(out, CODE_BYTES, "%.*s", (int)MIN_OF(n, (size_t)CODE_BYTES - 1), p);
    return p + n;
}

/* arch=compute_90,code=[sm_90,compute_90] */
static void read_gencode(struct nvcc_request *a, const char *value)
{
    char arch[CODE_BYTES], code[CODE_BYTES];
    const char *at = strstr(value, "arch="), *codes = strstr(value, "code=");
    if (!at || !codes) return;
    name_at(at + 5, arch);
    u32 k = 0;
    while (k < a->gencodes && strcmp(a->gencode[k], arch)) k++;
    if (k == CODES_MOST) return;
    if (k == a->gencodes) snprintf(a->gencode[a->gencodes++], CODE_BYTES, "%s", arch);
    for (const char *p = codes + 5; *p;) {
        const char *end = name_at(p, code);
        if (!strcmp(code, arch)) a->has_ptx[k] = true;
        p = end + (*end != 0);
    }
}

static void read_word(struct nvcc_request *a, const char *word, const char *next)
{
    static const char *const lines[] = { "-lineinfo", "--generate-line-info", "-G", "--device-debug", NULL };
    static const char *const one[] = { "-cubin",    "--cubin",         "-ptx",     "--ptx",
                                       "-optix-ir", "--optix-ir",      "-ltoir",   "--ltoir",
                                       "-E",        "--preprocess",    "-M",       "-MM",
                                       "-V",        "--version",       "-arch-ls", "--list-gpu-arch",
                                       "-code-ls",  "--list-gpu-code", NULL };
    static const char *const lto[] = { "-dlto", "--dlink-time-opt", NULL };
    static const char *const verbose[] = { "--verbose", "-v", NULL };
    const char *value;
    bool took;
    a->lines |= is_any(word, lines);
    a->one_image |= is_any(word, one);
    a->lto |= is_any(word, lto);
    a->verbose |= is_any(word, verbose);
    if (keep_value(word, next, "--cudart", "-cudart", &took)) a->runtime = true;
    if ((value = keep_value(word, next, "--generate-code", "-gencode", &took))) read_gencode(a, value);
    if ((value = keep_value(word, next, "--gpu-architecture", "-arch", &took))) a->arch = value;
    if ((value = keep_value(word, next, "--gpu-code", "-code", &took))) {
        a->code = true;
        a->code_ptx |= strstr(value, "compute_") != NULL;
    }
}

/* What nvcc takes from the environment, too. */
static void read_variable(struct nvcc_request *a, struct arena *mem, const char *name)
{
    char *rest = getenv(name) ? arena_str(mem, str_of(getenv(name))) : NULL, *word;
    for (char *next = rest ? strtok_r(NULL, " ", &rest) : NULL; (word = next);) {
        next = strtok_r(NULL, " ", &rest);
        read_word(a, word, next);
    }
}

static void add_ptx(struct arena *mem, const struct nvcc_request *a, word_list *out)
{
    for (u32 k = 0; k < a->gencodes; k++)
        if (!a->has_ptx[k] && !strncmp(a->gencode[k], "compute_", 8)) {
            VEC_PUSH(mem, out, "-gencode");
            VEC_PUSH(mem, out, arena_printf(mem, "arch=%s,code=%s", a->gencode[k], a->gencode[k]));
        }
    /* all and all-major make PTX for the newest architecture only */
    if (a->arch && !strncmp(a->arch, "all", 3)) {
        VEC_PUSH(mem, out, "-gencode");
        VEC_PUSH(mem, out, arena_printf(mem, "arch=compute_%u,code=compute_%u", NATIVE, NATIVE));
    }
    /* -arch=sm_90 alone makes PTX; with -code only what that names is made */
    if (a->code && !a->code_ptx && a->arch && !strncmp(a->arch, "compute_", 8))
        VEC_PUSH(mem, out, arena_printf(mem, "-code=%s", a->arch));
}

bool nvcc_words(struct arena *mem, int argc, char **argv, word_list *out, word_list *added)
{
    struct nvcc_request a = { 0 };
    for (int i = 1; i < argc; i++) read_word(&a, argv[i], argv[i + 1]);
    read_variable(&a, mem, "NVCC_PREPEND_FLAGS");
    read_variable(&a, mem, "NVCC_APPEND_FLAGS");
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *equals = strchr(word, '=');
        bool took;
        const char *arch = keep_value(word, argv[i + 1], "--gpu-architecture", "-arch", &took);
        if (arch && !strcmp(arch, "native")) {
            word = arena_printf(mem, "%.*s=sm_%u", (int)(equals ? equals - word : (long)strlen(word)), word, NATIVE);
            VEC_PUSH(mem, added, arena_printf(mem, "%s for %s", word, arch));
            i += took;
        }
        VEC_PUSH(mem, out, word);
    }
    u32 before = out->n;
    if (!a.one_image) {
        if (!a.lto) add_ptx(mem, &a, out);
        if (!a.lines) VEC_PUSH(mem, out, "-lineinfo");
        if (!a.runtime) VEC_PUSH(mem, out, "-cudart=shared");
    }
    for (u32 i = before; i < out->n; i++) VEC_PUSH(mem, added, out->p[i]);
    if (a.lto && !a.one_image)
        fputs("lockstep: -dlto makes no PTX, and Lockstep runs nothing else: leave it out of this build\n", stderr);
    return a.verbose;
}

bool nvcc_find(char path[1024])
{
    lk_tool t = { .size = sizeof t };
    for (u32 i = 0; lk_tool_at(i, &t); i++)
        if (!strcmp(t.name, "nvcc") && t.path[0]) return snprintf(path, 1024, "%s", t.path) < 1024;
    return false;
}

/* CMAKE_CUDA_COMPILER_LAUNCHER="lockstep;nvcc" puts these words before the compiler's path: that is the one to run. */
static bool is_compiler(const char *word)
{
    const char *slash = strrchr(word, '/');
    return slash && !strcmp(slash, "/nvcc") && !access(word, X_OK);
}

/* ---- nvcc --cubin ---- */

static bool is_cubin_asked(const char *word) { return !strcmp(word, "-cubin") || !strcmp(word, "--cubin"); }

static bool is_source(const char *word)
{
    static const char *const end[] = { ".cu", ".cc", ".cpp", ".cxx", ".c", ".ptx" };
    const char *dot = strrchr(word, '.');
    for (u32 i = 0; word[0] != '-' && dot && i < COUNT_OF(end); i++)
        if (!strcmp(dot, end[i])) return true;
    return false;
}

/* nvcc has made a cubin of the one source in `words`: it is called again for the PTX, with lines, which is added.
 */
static int cubin_keep(struct arena *mem, const word_list *words)
{
    static const char *const with_value[] = { "-o", "--output-file" };
    word_list again = { 0 };
    const char *source = NULL, *output = NULL, *value;
    char made[] = "/tmp/lockstep-XXXXXX.ptx";
    struct nvcc_request a = { 0 };
    u32 sources = 0;
    for (u32 i = 0; i + 1 < words->n; i++) {
        bool took = false;
        read_word(&a, words->p[i], words->p[i + 1]);
        if ((value = keep_value(words->p[i], words->p[i + 1], with_value[1], with_value[0], &took))) {
            output = value;
            i += took;
            continue;
        }
        if (i && is_source(words->p[i])) {
            source = words->p[i];
            sources++;
        }
        VEC_PUSH(mem, &again, is_cubin_asked(words->p[i]) ? "-ptx" : words->p[i]);
    }
    if (sources != 1) return EXIT_CLEAN; /* several cubins, or none: they stay as they are */
    if (!output) {
        const char *slash = strrchr(source, '/'), *base = slash ? slash + 1 : source;
        output = arena_printf(mem, "%.*s.cubin", (int)(strrchr(base, '.') - base), base);
    }
    int fd = mkstemps(made, 4);
    if (fd < 0) return cli_error("cannot make a file in /tmp: %s", strerror(errno));
    close(fd);
    if (!a.lines) VEC_PUSH(mem, &again, "-lineinfo");
    VEC_PUSH(mem, &again, "-o");
    VEC_PUSH(mem, &again, made);
    VEC_PUSH(mem, &again, NULL);
    int code = keep_run((char *const *)again.p);
    const char *const ptx[] = { made };
    if (!code && file_is_regular(output) && !keep_add(output, ptx, 1)) code = EXIT_USAGE;
    unlink(made);
    return code;
}

int cmd_nvcc(int argc, char **argv)
{
    struct arena mem = { 0 };
    word_list words = { 0 }, added = { 0 };
    char path[1024];
    bool given = argc > 1 && is_compiler(argv[1]);
    if (given) {
        snprintf(path, sizeof path, "%s", argv[1]);
        argc--, argv++;
    } else if (!nvcc_find(path))
        return cli_error("no nvcc is here: it comes with a CUDA toolkit; put it on PATH or set CUDA_HOME");
    VEC_PUSH(&mem, &words, path);
    if (nvcc_words(&mem, argc, argv, &words, &added)) {
        fputs("lockstep: added to nvcc:", stderr);
        for (u32 i = 0; i < added.n; i++) fprintf(stderr, " %s", added.p[i]);
        fputs(added.n ? "\n" : " nothing\n", stderr);
    }
    VEC_PUSH(&mem, &words, NULL);
    bool cubin = false;
    for (u32 i = 0; i + 1 < words.n; i++) cubin |= is_cubin_asked(words.p[i]);
    fflush(NULL);
    int code = -1;
    if (cubin && !(code = keep_run((char *const *)words.p))) code = cubin_keep(&mem, &words);
    if (!cubin) execv(path, (char *const *)words.p);
    if (code < 0) code = cli_error("cannot run %.200s: %s", path, strerror(errno));
    arena_free(&mem);
    return code;
}
