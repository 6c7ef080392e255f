/* nvcc and clang: compilers that are run as a child process, with their files in a folder of their own that is
 * removed afterwards.
 *
 * A template that is asked for by name is instantiated by a second file that includes the first: a variable that
 * holds the address of scale<float> makes the compiler emit the kernel, and the variable's initialiser in the PTX
 * says what it is called there.
 *
 * nvcc hands its command lines to a shell, in double quotes: a file, folder or definition with a $ or a backquote in it
 * would be acted upon. Such a path is reached through a link with a plain name in the workshop folder, such a
 * definition stands in a file there, and what the compiler says of the links is turned back (put_back). gcc and clang
 * take a name that begins with @ for a file of options, so names of files never begin that way. */
#include "compile/compile.h"
#include <stdlib.h>
#include <unistd.h>

enum { LINKS_MOST = 64 };

struct workshop {      /* a folder for the files of one compilation */
    char folder[1024]; /* its path, which a shell leaves alone */
    struct link {      /* a path that a shell would act upon */
        const char *plain, *real;
    } link[LINKS_MOST];
    u32 links;
};

/* Whether a shell leaves this alone inside double quotes. */
static bool is_plain(const char *text) { return !text[strcspn(text, "$`\\\"\n\r")]; }

static bool workshop_open(struct workshop *w, struct error *e)
{
    const char *tmp = getenv("TMPDIR");
    tmp = tmp && tmp[0] && is_plain(tmp) ? tmp : "/tmp";
    w->links = 0;
    if (snprintf(w->folder, sizeof w->folder, "%s/lockstep-XXXXXX", tmp) >= (int)sizeof w->folder - 64 ||
        !mkdtemp(w->folder))
        return error_set(e, ERR_SYSTEM, "cannot make a folder in %.200s; set TMPDIR to one that can be written", tmp);
    return true;
}

static const char *in_workshop(const struct workshop *w, struct arena *a, const char *name)
{
    return arena_printf(a, "%s/%s", w->folder, name);
}

static void workshop_close(const struct workshop *w) { folder_remove(w->folder); }

/* A name that no compiler takes for an option or, after an @, for a file of options. */
static const char *as_name(struct arena *a, const char *path)
{
    return path[0] == '@' || path[0] == '-' ? arena_printf(a, "./%s", path) : path;
}

/* The folder under a name that a shell leaves alone; NULL: e says why there is none. */
static const char *plain_folder(struct workshop *w, struct arena *a, const char *path, struct error *e)
{
    char real[4096];
    if (!realpath(path, real)) return path; /* the compiler says what is wrong with it */
    if (is_plain(real) && is_plain(path)) return path;
    for (u32 i = 0; i < w->links; i++)
        if (!strcmp(w->link[i].real, real)) return w->link[i].plain;
    const char *plain = arena_printf(a, "%s/link%u", w->folder, w->links);
    if (w->links == LINKS_MOST || symlink(real, plain)) {
        error_set(e, ERR_SYSTEM, "cannot make the link %s to %.200s", plain, real);
        return NULL;
    }
    w->link[w->links++] = (struct link){ plain, arena_str(a, str_of(real)) };
    return plain;
}

/* The source under such a name. It is a copy: nvcc follows links. */
static const char *plain_source(struct workshop *w, const struct compile_job *job, struct error *e)
{
    char real[4096];
    if (!realpath(job->path, real) || (is_plain(real) && is_plain(job->path))) return as_name(job->mem, job->path);
    const char *plain = in_workshop(w, job->mem, "source.cu");
    if (!file_write(plain, job->source.p, job->source.n, e)) return NULL;
    w->link[w->links++] = (struct link){ plain, arena_str(job->mem, str_of(real)) };
    return plain;
}

/* Turns the names of links back into what they stand for. A path with quotes would break the line it stands in. */
static void put_back(const struct workshop *w, struct text *t)
{
    for (u32 i = 0; i < w->links; i++) {
        size_t n = strlen(w->link[i].plain);
        if (!t->p || !strstr(t->p, w->link[i].plain) || strpbrk(w->link[i].real, "\"\\\n")) continue;
        struct text out = { 0 };
        const char *from = t->p;
        for (const char *at; (at = strstr(from, w->link[i].plain)); from = at + n) {
            text_put(&out, from, (size_t)(at - from));
            text_put(&out, w->link[i].real, strlen(w->link[i].real));
        }
        text_put(&out, from, strlen(from));
        text_free(t);
        *t = out;
    }
}

static bool any_instance(const struct compile_job *job)
{
    for (u32 i = 0; i < job->o->names; i++)
        if (compile_instance(job->mem, job->o->name[i])) return true;
    return false;
}

/* What is compiled: the source, or a file that includes it and instantiates what is asked for. */
static const char *file_to_compile(const struct compile_job *job, const char *source, const struct workshop *w,
                                   struct error *e)
{
    if (!any_instance(job)) return source;
    char real[4096];
    if (!realpath(source, real)) {
        error_set(e, ERR_INPUT, "cannot open %s", job->path);
        return NULL;
    }
    struct text t = { 0 };
    text_add(&t, "#include \"%s\"\n", real);
    for (u32 i = 0; i < job->o->names; i++) {
        const char *instance = compile_instance(job->mem, job->o->name[i]);
        if (instance) text_add(&t, "__device__ void *lockstep_name_%u = (void *)&%s;\n", i, instance);
    }
    const char *file = in_workshop(w, job->mem, NAMES_FILE);
    bool ok = file_write(file, t.p, t.n, e);
    text_free(&t);
    return ok ? file : NULL;
}

/* Reads the names from the initialisers of those variables and cuts the variables out of the PTX. */
static void take_names(const struct compile_job *job, struct compile_log *log)
{
    for (u32 i = 0; i < job->o->names; i++) {
        const char *mark = arena_printf(job->mem, " lockstep_name_%u = ", i);
        char *at = log->ptx.p ? strstr(log->ptx.p, mark) : NULL;
        if (!at) continue;
        const char *name = at + strlen(mark);
        name += strncmp(name, "generic(", 8) ? 0 : 8;
        log->lowered[i] = arena_str(job->mem, (struct str){ name, (u32)strcspn(name, ";) \n") });
        while (at > log->ptx.p && at[-1] != '\n') at--;
        char *end = strchr(at, '\n');
        if (end) memset(at, ' ', (size_t)(end - at)); /* the lines of the PTX keep their numbers */
    }
}

static bool run(const struct compile_job *job, const struct workshop *w, word_list *word, struct compile_log *log,
                struct error *e)
{
    const char *out = in_workshop(w, job->mem, "out.ptx");
    VEC_PUSH(job->mem, word, "-o");
    VEC_PUSH(job->mem, word, out);
    VEC_PUSH(job->mem, word, NULL);
    log->lowered = NEW_ARRAY(job->mem, char *, job->o->names + 1);
    int status = process_run_in((char *const *)word->p, w->folder, &log->messages);
    struct str ptx;
    put_back(w, &log->messages);
    if (status < 0) return error_set(e, ERR_SYSTEM, "cannot start %s", word->p[0]);
    if (status || !file_read(out, &ptx, e)) return false;
    text_put(&log->ptx, ptx.p, ptx.n);
    base_free((void *)ptx.p);
    put_back(w, &log->ptx);
    take_names(job, log);
    return log->ptx.n > 0;
}

/* The first "release 13.0" or "version 14.0" of what `command --version` prints. */
static void version_of(const char *command, const char *word, const char *name, char *out, size_t size)
{
    char *argv[] = { (char *)command, "--version", NULL };
    struct text t = { 0 };
    const char *at = process_run(argv, &t) == 0 && t.p ? strstr(t.p, word) : NULL;
    const char *from = at ? at + strlen(word) : "";
    snprintf(out, size, "%s%s%.*s", name, *from ? " " : "", (int)MIN_OF(strspn(from, "0123456789."), (size_t)20), from);
    text_free(&t);
}

/* The newest sm_ or compute_ number in a list that is not newer than `arch`. */
static void older_from_list(char *const argv[], const char *arch, char out[16])
{
    struct text t = { 0 };
    u32 best = 0, most = compile_arch_number(arch);
    if (process_run(argv, &t) == 0 && t.p)
        for (const char *p = strchr(t.p, '_'); p; p = strchr(p + 1, '_')) {
            u32 n = (u32)strtoul(p + 1, NULL, 10);
            best = n <= most && n > best ? n : best;
        }
    if (best) snprintf(out, 16, "sm_%u", best);
    text_free(&t);
}

/* A definition as a line of a file. */
static void add_definition(struct text *t, const char *word)
{
    size_t name = strcspn(word + 2, "(="), head = strcspn(word + 2, "=");
    text_add(t, "#undef %.*s\n", (int)name, word + 2);
    if (word[1] == 'D')
        text_add(t, "#define %.*s %s\n", (int)head, word + 2, word[2 + head] ? word + 2 + head + 1 : "1");
}

static bool is_definition(const char *word) { return word[0] == '-' && (word[1] == 'D' || word[1] == 'U'); }

/* The option and the path in a word of flags.c's table; NULL: it has none. */
static const char *path_in(const char *word)
{
    static const char *const options[] = { "-I", "-isystem=", "--pre-include=" };
    for (u32 i = 0; i < COUNT_OF(options); i++)
        if (!strncmp(word, options[i], strlen(options[i]))) return word + strlen(options[i]);
    return NULL;
}

/* The flags in words that a shell leaves alone. If one definition has to go to a file, all go: their order counts. */
static bool plain_flags(const struct compile_job *job, struct workshop *w, const word_list *flags, word_list *out,
                        struct error *e)
{
    struct arena *a = job->mem;
    bool file = false, ok = true;
    for (u32 i = 0; i < flags->n; i++) file |= is_definition(flags->p[i]) && !is_plain(flags->p[i]);
    struct text lines = { 0 };
    for (u32 i = 0; ok && i < flags->n; i++) {
        const char *word = flags->p[i], *path = path_in(word);
        if (file && is_definition(word)) {
            add_definition(&lines, word);
        } else if (path && path[0]) {
            const char *plain = plain_folder(w, a, path, e);
            ok = plain != NULL;
            if (ok) VEC_PUSH(a, out, arena_printf(a, "%.*s%s", (int)(path - word), word, plain));
        } else if (!is_plain(word) && !is_definition(word)) {
            ok = error_set(e, ERR_INPUT,
                           "the flag %.200s has characters that the shell which nvcc calls would act upon", word);
        } else {
            VEC_PUSH(a, out, word);
        }
    }
    const char *name = in_workshop(w, a, "definitions.h");
    if (ok && file) {
        ok = file_write(name, lines.p, lines.n, e);
        VEC_PUSH(a, out, arena_printf(a, "--pre-include=%s", name));
    }
    text_free(&lines);
    return ok;
}

bool compile_nvcc(const struct compile_job *job, struct compile_log *log, struct error *e)
{
    struct workshop w;
    struct arena *a = job->mem;
    const char *nvcc = job->toolkit->nvcc;
    version_of(nvcc, "release ", "nvcc", log->by, sizeof log->by);
    if (!workshop_open(&w, e)) return false;
    word_list word = { 0 };
    VEC_PUSH(a, &word, nvcc);
    VEC_PUSH(a, &word, "-ptx");
    VEC_PUSH(a, &word, arena_printf(a, "-arch=%s", job->arch));
    const char *source = plain_source(&w, job, e), *file = source ? file_to_compile(job, source, &w, e) : NULL;
    word_list flags = { 0 };
    bool ok = file && flags_translate(a, job->o, COMPILER_NVCC, &flags, e) && plain_flags(job, &w, &flags, &word, e);
    if (ok && source != job->path) { /* what the source includes lies beside it, not beside the copy of it */
        char *beside = arena_str(a, str_of(job->path)), *slash = strrchr(beside, '/');
        if (slash) slash[1] = 0;
        const char *folder = plain_folder(&w, a, slash ? beside : ".", e);
        ok = folder != NULL;
        if (ok) VEC_PUSH(a, &word, arena_printf(a, "-I%s", folder));
    }
    if (ok) {
        VEC_PUSH(a, &word, file);
        ok = run(job, &w, &word, log, e);
    }
    workshop_close(&w);
    if (!ok && log->messages.p && strstr(log->messages.p, "Unsupported gpu architecture")) {
        char *argv[] = { (char *)nvcc, "--list-gpu-arch", NULL };
        log->bad_arch = true;
        older_from_list(argv, job->arch, log->older);
    }
    return ok;
}

/* Clang's own wrapper of the toolkit's headers names things that toolkits since CUDA 12 no longer have; two small
 * files put them back for clangs that do not know it yet. */
static bool bridge_make(const struct workshop *w, struct arena *a, struct error *e)
{
    static const char driver[] = "#include_next <cuda.h>\n"
                                 "#if CUDA_VERSION >= 12000 && __clang_major__ < 17\n"
                                 "template <class T, int dimension, int mode> struct texture;\n"
                                 "#endif\n";
    static const char textures[] = "#if __has_include_next(<texture_fetch_functions.h>)\n"
                                   "#include_next <texture_fetch_functions.h>\n"
                                   "#endif\n";
    return folder_make(in_workshop(w, a, "bridge"), e) &&
           file_write(in_workshop(w, a, "bridge/cuda.h"), driver, sizeof driver - 1, e) &&
           file_write(in_workshop(w, a, "bridge/texture_fetch_functions.h"), textures, sizeof textures - 1, e);
}

bool compile_clang(const struct compile_job *job, struct compile_log *log, struct error *e)
{
    struct workshop w;
    struct arena *a = job->mem;
    const struct toolkit *t = job->toolkit;
    version_of(t->clang, "version ", "clang", log->by, sizeof log->by);
    if (!workshop_open(&w, e)) return false;
    const char *const start[] = {
        t->clang,  "-x", "cuda", "--cuda-device-only", "-S", "-Wno-unknown-cuda-version", "-fno-color-diagnostics",
        "-isystem"
    };
    word_list word = { 0 };
    for (u32 i = 0; i < COUNT_OF(start); i++) VEC_PUSH(a, &word, start[i]);
    VEC_PUSH(a, &word, in_workshop(&w, a, "bridge"));
    VEC_PUSH(a, &word, arena_printf(a, "--cuda-gpu-arch=%s", job->arch));
    VEC_PUSH(a, &word, arena_printf(a, "--cuda-path=%s", t->root));
    const char *file = bridge_make(&w, a, e) ? file_to_compile(job, as_name(a, job->path), &w, e) : NULL;
    bool ok = file && flags_translate(a, job->o, COMPILER_CLANG, &word, e);
    for (u32 i = 0; ok && i < t->includes; i++) {
        VEC_PUSH(a, &word, "-idirafter");
        VEC_PUSH(a, &word, t->include[i]);
    }
    if (ok) {
        VEC_PUSH(a, &word, file);
        ok = run(job, &w, &word, log, e);
    }
    workshop_close(&w);
    if (!ok && log->messages.p && strstr(log->messages.p, "unsupported CUDA gpu architecture")) {
        char *argv[] = { (char *)t->clang, "--print-supported-cpus", "--target=nvptx64", NULL };
        log->bad_arch = true;
        older_from_list(argv, job->arch, log->older);
    }
    return ok;
}
