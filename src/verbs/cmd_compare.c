/* lockstep compare: two files of the same kind, the one before and the one after a change, or two commands. */
#include "journal/comparing.h"

static const struct schema {
    const char *name;
    int (*compare)(const struct comparing *c);
} schemas[] = {
    { "lockstep-profile", compare_profiles },
};

static bool take_option(void *self, const struct row *o, const char *value, struct error *e)
{
    struct comparing *c = self;
    u64 n;
    switch (o->id) {
    case O_compare_NAME: c->run.name = value; return true;
    case O_compare_SAMPLES: c->run.samples = value; return true;
    case O_compare_FOR: return option_time(o, value, &c->run.seconds, e);
    case O_compare_JSON: c->times.json = value; return true;
    case O_compare_JUNIT: c->times.junit = value; return true;
    case O_compare_MARKDOWN: c->times.markdown = value; return true;
    case O_compare_JOURNAL: c->times.journal = value; return true;
    default: break;
    }
    if (!option_number(o, value, o->id == O_compare_SEED ? UINT64_MAX : 1000000, &n, e)) return false;
    if (o->id == O_compare_THRESHOLD)
        c->threshold = n * 10;
    else if (o->id == O_compare_SEED)
        c->times.judge.seed = n;
    else if (o->id == O_compare_PAIRS)
        c->run.least = (u32)n;
    else
        c->run.most = (u32)n;
    return true;
}

static bool take_word(void *self, const char *word, struct error *e)
{
    struct comparing *c = self;
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
enum compared { A_COMMAND, A_FILE, A_JOURNAL, A_KERNEL };
static const char *const kind_names[] = { "taken for a command", "a file of JSON", "a journal", "a kernel" };
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
            return cli_error("compare: %s is no profile: `lockstep profile --json FILE` writes one", c->path[k]);
    }
    return kind[0]->compare(c);
}

int cmd_compare(int argc, char **argv)
{
    int code = EXIT_CLEAN;
    struct comparing c = { .run = { .least = 10, .most = 60, .seconds = 120 } };
    struct error e = { 0 };
    struct arena mem = { 0 };
    struct parser p = { .verb = VERB_compare, .self = &c, .option = take_option, .word = take_word };
    if (!options_parse(&p, argc, argv, &e)) return e.code ? cli_error_value(&e) : EXIT_CLEAN;
    c.common = p.common;
    c.times.common = &c.common;
    if (!c.path[1])
        return cli_error(
            "compare: two files or commands are needed, BEFORE and AFTER; lockstep compare --help shows how");
    enum compared a = kind_of(c.path[0]), b = kind_of(c.path[1]);
    if (a != b) return cli_error("compare: %s is %s, and %s is %s", c.path[0], kind_names[a], c.path[1], kind_names[b]);
    if (!c.threshold) c.threshold = a == A_FILE || a == A_KERNEL ? 50 : 30;
    c.times.judge.size = sizeof c.times.judge;
    c.times.judge.threshold = (double)c.threshold / 1000;
    switch (a) {
    case A_FILE: code = compare_files(&c, &mem, &e); break;
    case A_KERNEL: code = compare_kernels(&mem, &c, &e); break;
    case A_JOURNAL: code = compare_journals(&mem, &c, &e); break;
    case A_COMMAND: code = compare_commands(&mem, &c, &e); break;
    }
    arena_free(&mem);
    return code;
}
