/* lockstep compare: two files of the same kind, the one before and the one after a change. */
#include "verbs/comparing.h"

static const struct schema {
    const char *name;
    int (*compare)(const struct comparing *c);
} schemas[] = {
    { "lockstep-profile", compare_profiles },
};

static bool take_option(void *self, const struct row *o, const char *value, struct error *e)
{
    struct comparing *c = self;
    u64 percent;
    if (!option_number(o, value, 1000000, &percent, e)) return false;
    c->threshold = percent * 10;
    return true;
}

static bool take_word(void *self, const char *word, struct error *e)
{
    struct comparing *c = self;
    u32 n = !c->path[0] ? 0 : !c->path[1] ? 1 : 2;
    if (n == 2) return error_set(e, ERR_INPUT, "compare: two files are compared, and `%.60s` is a third", word);
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
    struct comparing c = { .threshold = 50 };
    struct error e = { 0 };
    struct arena mem = { 0 };
    struct parser p = { .verb = VERB_compare, .self = &c, .option = take_option, .word = take_word };
    if (!options_parse(&p, argc, argv, &e)) return e.code ? cli_error_value(&e) : EXIT_CLEAN;
    c.common = p.common;
    if (!c.path[1])
        return cli_error("compare: two files are needed, BEFORE and AFTER; lockstep compare --help shows how");
    int code = compare_files(&c, &mem, &e);
    arena_free(&mem);
    return code;
}
