/* lockstep compare: two files of the same kind, the one before and the one after a change, or two commands. */
#include "bench/compare_sides.h"

#define OPTIONS_compare OWN_ROWS
#include "cli/option_own.h"

static const struct schema {
    const char *name;
    int (*compare)(const struct comparing *c, struct arena *a, struct error *e);
} schemas[] = {
    { "lockstep-profile", compare_profiles },
};

enum { NUMBER_MOST = 1000000 };
enum { FOR_COMMANDS = 1, FOR_JOURNALS = 2, FOR_GPU = 4, FOR_COUNTS = 8 };
static const struct option_use uses[] = {
    { O_compare_SIZES, FOR_GPU, "kernels with --on gpu" },
    { O_compare_MODE, FOR_GPU, "kernels with --on gpu" },
    { O_compare_REPEAT, FOR_GPU, "kernels with --on gpu" },
    { O_compare_SAMPLES, FOR_COMMANDS, "commands" },
    { O_compare_FOR, FOR_COMMANDS, "commands" },
    { O_compare_MOST, FOR_COMMANDS, "commands" },
    { O_compare_NAME, FOR_COMMANDS, "commands" },
    { O_compare_PAIRS, FOR_COMMANDS | FOR_GPU, "commands, and kernels on a GPU" },
    { O_compare_JOURNAL, FOR_COMMANDS | FOR_GPU, "times of commands, and of kernels on a GPU" },
    { O_compare_SEED, FOR_COMMANDS | FOR_JOURNALS | FOR_GPU, "times" },
};

struct compare_verb {
    struct comparing c;
    struct sides_options sides; /* of --on gpu */
    struct arena mem;
    u64 repeat;
    const struct row *given[COUNT_OF(uses)];
};

static bool all_used(const struct compare_verb *v, u8 what, struct error *e)
{
    const char *are = what == FOR_JOURNALS ? "journals"
                      : what == FOR_GPU    ? "kernels on a GPU"
                      : what == FOR_COUNTS ? "counts of the software GPU"
                                           : "commands";
    return options_used(uses, COUNT_OF(uses), v->given, what, are, e);
}

static bool take_option(void *self, const struct row *o, const char *value, struct error *e)
{
    struct compare_verb *v = self;
    struct comparing *c = &v->c;
    for (u32 i = 0; i < COUNT_OF(uses); i++)
        if (uses[i].id == o->id) v->given[i] = o;
    u64 n = 0;
    switch ((enum own_option)o->id) {
    case OWN_ON: v->sides.on = value; return option_on(o, value, e);
    case OWN_SIZES: return sizes_read(&v->mem, value, &v->sides.sizes, e);
    case OWN_MODE:
        return (bench_mode_find(value, &v->sides.mode) && v->sides.mode <= BENCH_LAUNCH) ||
               error_set(e, ERR_INPUT, "compare: --mode is warm, cold, issue or launch, not `%.40s`", value);
    case OWN_LIST: v->sides.list = value; return true;
    case OWN_REPEAT: return option_number(o, value, 10000, &v->repeat, e);
    case OWN_NAME: c->run.name = value; return true;
    case OWN_SAMPLES: c->run.samples = value; return true;
    case OWN_FOR: return option_time(o, value, &c->run.seconds, e);
    case OWN_JSON: c->times.json = value; return true;
    case OWN_JUNIT: c->times.junit = value; return true;
    case OWN_MARKDOWN: c->times.markdown = value; return true;
    case OWN_JOURNAL: c->times.journal = value; return true;
    case OWN_THRESHOLD: return option_number(o, value, NUMBER_MOST, &n, e) && (c->threshold = n * 10, true);
    case OWN_SEED: return option_number(o, value, UINT64_MAX, &c->times.judge.seed, e);
    case OWN_PAIRS:
        if (!option_number(o, value, NUMBER_MOST, &n, e)) return false;
        c->run.least = (u32)n;
        return n || error_set(e, ERR_INPUT, "compare: --pairs 0: one pair at least is needed");
    case OWN_MOST: return option_number(o, value, NUMBER_MOST, &n, e) && (c->run.most = (u32)n, true);
    }
    CHECK(!"an option of compare without its case");
}

static bool take_word(void *self, const char *word, struct error *e)
{
    struct comparing *c = &((struct compare_verb *)self)->c;
    u32 n = !c->path[0] ? 0 : !c->path[1] ? 1 : 2;
    if (n == 2)
        return error_set(e, ERR_INPUT,
                         "compare: two files or commands are compared, and `%.60s` is a third; a command with spaces "
                         "is put in quotes",
                         word);
    c->path[n] = word;
    return true;
}

static const struct schema *schema_of(const struct json_value *v)
{
    const struct json_value *name = json_get(v, "schema");
    for (u32 k = 0; name && name->kind == JSON_TEXT && k < COUNT_OF(schemas); k++)
        if (str_is(name->text, schemas[k].name)) return &schemas[k];
    return NULL;
}

/* What a word of the command line names: entries of a journal begin a line each with `{"entry"`. */
enum compared { A_COMMAND, A_FILE, A_JOURNAL, A_KERNEL, A_CALLABLE };
static const char *const kind_names[] = { "taken for a command", "a file of JSON", "a journal", "a kernel",
                                          "a Python callable" };
static enum compared kind_of(const char *path)
{
    static const char begin[] = "{\"entry\"";
    char head[sizeof begin] = "";
    FILE *f = file_is_pipe(path) ? NULL : fopen(path, "rb");
    size_t n = f ? fread(head, 1, sizeof begin - 1, f) : 0;
    if (f) fclose(f);
    if (n == sizeof begin - 1 && !strcmp(head, begin)) return A_JOURNAL;
    size_t name = strlen(path);
    if (name > 8 && !strcmp(path + name - 8, ".journal")) return A_JOURNAL;
    if (is_kernel_file(path)) return A_KERNEL;
    if (is_python_side(path)) return A_CALLABLE;
    bool json = (n && head[0] == '{') || (name > 5 && !strcmp(path + name - 5, ".json"));
    return json ? A_FILE : A_COMMAND;
}

static int compare_files(struct comparing *c, struct arena *mem, struct error *e)
{
    const struct schema *kind[2];
    for (u32 k = 0; k < 2; k++) {
        struct str text;
        if (!file_read(c->path[k], &text, e)) return cli_error_value(e);
        c->file[k] = json_read(mem, text, c->path[k], e);
        base_free((void *)text.p);
        if (!c->file[k]) return cli_error_value(e);
        if (!(kind[k] = schema_of(c->file[k])))
            return cli_error("compare: %s is not a profile: `lockstep profile --json FILE` writes one", c->path[k]);
    }
    return kind[0]->compare(c, mem, e);
}

/* Kernels and callables on a GPU. */
static int compare_on_gpu(struct compare_verb *v, struct error *e)
{
    if (!all_used(v, FOR_GPU, e)) return cli_error_value(e);
    v->sides.how = (struct bench_how){ .processes = v->c.run.least ? v->c.run.least : 6, .samples = 10 };
    v->sides.repeat = v->repeat ? (u32)v->repeat : 1;
    v->sides.quiet = v->c.common.quiet;
    if (!v->c.threshold) v->c.threshold = 30;
    v->c.times.judge.threshold = (double)v->c.threshold / 1000;
    return compare_sides(&v->mem, &v->c, &v->sides, e);
}

static int compare_all(struct compare_verb *v, struct error *e)
{
    struct comparing *c = &v->c;
    c->times.judge.size = sizeof c->times.judge;
    if (v->sides.on && strcmp(v->sides.on, "sim")) return compare_on_gpu(v, e);
    enum compared a = kind_of(c->path[0]), b = kind_of(c->path[1]);
    if (a == A_CALLABLE || b == A_CALLABLE) return cli_error("compare: a Python callable is timed on a GPU: --on gpu");
    if (a != b)
        return cli_error("compare: %s is %s, and %s is %s", c->path[0], kind_names[a], c->path[1], kind_names[b]);
    u8 what = a == A_COMMAND ? FOR_COMMANDS : a == A_JOURNAL ? FOR_JOURNALS : FOR_COUNTS;
    if (!all_used(v, what, e)) return cli_error_value(e);
    if (!c->run.least) c->run.least = 10;
    if (!c->threshold) c->threshold = a == A_FILE || a == A_KERNEL ? 50 : 30;
    c->times.judge.threshold = (double)c->threshold / 1000;
    switch (a) {
    case A_FILE: return compare_files(c, &v->mem, e);
    case A_KERNEL: return compare_kernels(&v->mem, c, e);
    case A_JOURNAL: return compare_journals(&v->mem, c, e);
    default: return compare_commands(&v->mem, c, e);
    }
}

int cmd_compare(int argc, char **argv)
{
    struct compare_verb v = { .c.run = { .most = 60, .seconds = 120 } };
    struct error e = { 0 };
    struct parser p = { .verb = VERB_compare, .self = &v, .option = take_option, .word = take_word };
    if (!options_parse(&p, argc, argv, &e)) return e.code ? cli_error_value(&e) : EXIT_CLEAN;
    v.c.common = p.common;
    v.c.times.common = &v.c.common;
    if (v.sides.list && (v.c.path[0] || !v.sides.on || !strcmp(v.sides.on, "sim")))
        return cli_error("compare: --list has the pairs, which are timed with --on gpu; nothing else is named");
    if (!v.c.path[1] && !v.sides.list)
        return cli_error(
            "compare: two files or commands are needed, BEFORE and AFTER; lockstep compare --help shows how");
    int code = compare_all(&v, &e);
    arena_free(&v.mem);
    return code;
}
