/* lockstep profile: a launch or a program, counted. It takes all that `launch` and `run` take, and decides by its first
 * word which of the two is meant. */
#include "launcher/run_script.h"
#include "verbs/profiling.h"
#include "verbs/run_source.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define OPTIONS_profile OWN_ROWS
#include "cli/option_own.h"

/* Whether what stands after this option belongs to it. */
static bool takes_word(const char *word)
{
    bool takes = false;
    for (u32 i = 0; i < row_count; i++) {
        const struct row *o = &rows[i];
        bool ours = o->verb == VERB_run || o->verb == VERB_launch || o->verb == VERB_profile || o->verb == VERB_all;
        if (o->kind == ROW_OPTION && ours && !strcmp(o->name, word)) takes |= o->operand && !operand_optional(o);
    }
    return takes;
}

/* The first word that is neither an option nor what belongs to one; argc: there is none. */
static int first_word(int argc, char **argv)
{
    int i = 1;
    while (i < argc && argv[i][0] == '-' && strcmp(argv[i], "--")) i += 1 + takes_word(argv[i]);
    return i < argc ? i + !strcmp(argv[i], "--") : argc;
}

/* Whether a word of a source is `main`: such a .cu file is a program. */
static bool has_main(const char *path)
{
    struct str text;
    bool found = false;
    if (!file_read_if(path, &text)) return false;
    for (u32 i = 0; i + 4 < text.n && !found; i++)
        found = !memcmp(text.p + i, "main", 4) && (text.p[i + 4] == '(' || text.p[i + 4] == ' ') && i &&
                (text.p[i - 1] == ' ' || text.p[i - 1] == '\n');
    base_free((void *)text.p);
    return found;
}

/* FILE.ptx and FILE.cu without main are files of kernels, with or without :KERNEL after them. */
static bool is_kernel(const char *word)
{
    size_t n = strlen(word);
    if (strstr(word, ".ptx:") || strstr(word, ".cu:") || str_ends((struct str){ word, (u32)n }, ".ptx")) return true;
    return str_ends((struct str){ word, (u32)n }, ".cu") && !has_main(word);
}

/* ---- options of its own ---- */

/* The value of an option that is written as one word or as two; *words: how many. NULL: it is another option. */
static const char *value_at(int argc, char **argv, int i, const char *name, int *words)
{
    size_t n = strlen(name);
    if (strncmp(argv[i], name, n) != 0 || (argv[i][n] && argv[i][n] != '=')) return NULL;
    *words = argv[i][n] ? 1 : 2;
    return argv[i][n] ? argv[i] + n + 1 : i + 1 < argc ? argv[i + 1] : "";
}

static bool on_take(struct profiling *p, const char *value, struct error *e)
{
    p->on_gpu = !strcmp(value, "gpu");
    return p->on_gpu || !strcmp(value, "sim") ||
           error_set(e, ERR_INPUT, "profile --on %.40s: sim or gpu belongs here; with gpu the same is measured by ncu",
                     value);
}

/* Takes the option at argv[i], if it is one of profile alone: how many words, 0: it is not one. -1: e says what is
 * wrong. */
static int own_option(struct profiling *p, int argc, char **argv, int i, struct error *e)
{
    for (const struct row *o = NULL; (o = row_next(o, ROW_OPTION, VERB_profile));) {
        int words = 1;
        const char *value = o->operand ? value_at(argc, argv, i, o->name, &words) : NULL;
        if (!value && strcmp(argv[i], o->name)) continue;
        switch ((enum own_option)o->id) {
        case OWN_LINES: return p->lines = true;
        case OWN_TIMELINE: return p->timeline = true;
        case OWN_IMPORT: return hardware_read(&p->hardware, value, e) ? words : -1;
        case OWN_JOURNAL: return pictures_read(&p->pictures, value, e) ? words : -1;
        case OWN_ON: return on_take(p, value, e) ? words : -1;
        case OWN_JSON:
        case OWN_HTML: return 0; /* of launch and run */
        }
    }
    return 0;
}

/* ---- the same on a GPU ---- */

/* Options of a launch that are not for the GPU: where its report goes, and which card the software GPU is. */
static bool is_for_us(int argc, char **argv, int i, int *words)
{
    static const char *const ours[] = { "--json", "--sarif", "--junit", "--html", "--device" };
    for (u32 k = 0; k < COUNT_OF(ours); k++)
        if (value_at(argc, argv, i, ours[k], words)) return true;
    return false;
}

static bool launch_measured(struct profiling *p, int argc, char **argv, struct error *e)
{
    static char self[4096];
    char **command = base_need(sizeof *command * ((size_t)argc + 6));
    int n = 0, words;
    ssize_t got = readlink("/proc/self/exe", self, sizeof self - 1);
    if (got <= 0) error_set(e, ERR_SYSTEM, "cannot find the folder of lockstep: %s", strerror(errno));
    self[MAX_OF(got, 0)] = 0;
    command[n++] = self;
    command[n++] = (char[]){ "launch" };
    command[n++] = (char[]){ "--on" };
    command[n++] = (char[]){ "gpu" };
    for (int i = 1; i < argc; i++) {
        if (is_for_us(argc, argv, i, &words))
            i += words - 1;
        else
            command[n++] = argv[i];
    }
    command[n] = NULL;
    bool ok = !e->code && hardware_measure(&p->hardware, command, p->verbose, e);
    base_free(command);
    return ok;
}

static bool program_measured(struct profiling *p, char **program, struct error *e)
{
    char built[4096], scratch[] = "/tmp/lockstep-ncu.XXXXXX", *name = program[0];
    bool is_source = run_source_is(name), made = is_source && mkdtemp(scratch);
    if (is_source && !run_source_build(name, NULL, scratch, p->verbose, built, sizeof built, e)) return false;
    if (is_source) program[0] = built;
    char **script = run_script_command(program, e);
    bool ok = !e->code && hardware_measure(&p->hardware, script ? script : program, p->verbose, e);
    program[0] = name;
    base_free(script);
    if (made) folder_remove(scratch);
    return ok;
}

static bool own_options(struct profiling *p, int *argc, char **argv, int *first, bool all, struct error *e)
{
    int n = 1;
    for (int i = 1; i < *argc; i++) {
        int words = i < *first || all ? own_option(p, *argc, argv, i, e) : 0;
        if (words < 0) return false;
        if (i < *first || all) p->verbose |= !strcmp(argv[i], "--verbose");
        if (i < *first) *first -= words;
        if (words)
            i += words - 1;
        else
            argv[n++] = argv[i];
    }
    argv[ *argc = n] = NULL;
    return true;
}

int cmd_profile(int argc, char **argv)
{
    struct profiling p = { 0 };
    struct error e = { 0 };
    int first = first_word(argc, argv);
    if (first >= argc)
        return cli_error("profile: no program and no kernel is given; lockstep profile --help shows how");
    bool run = !strcmp(argv[first], "run"), launch = !strcmp(argv[first], "launch");
    if (run || launch) {
        memmove(argv + first, argv + first + 1, (size_t)(argc - first) * sizeof *argv);
        argc--;
    }
    launch |= !run && first < argc && is_kernel(argv[first]);
    bool ok = own_options(&p, &argc, argv, &first, launch, &e);
    if (ok && p.on_gpu && first < argc)
        ok = launch ? launch_measured(&p, argc, argv, &e) : program_measured(&p, argv + first, &e);
    int code = ok ? (launch ? launch_profiled : run_profiled)(argc, argv, &p) : cli_error_value(&e);
    hardware_free(&p.hardware);
    text_free(&p.pictures);
    return code;
}
