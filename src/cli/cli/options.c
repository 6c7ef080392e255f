/* Reading a command line against the table: which words are options, what belongs to them, and what was probably
 * meant. */
#include "cli/cli.h"
#include <math.h>

#define OPTIONS_all OWN_ROWS
#include "cli/option_own.h"

const struct row rows[] = {
#define VERB(verb, synopsis, summary, about) { ROW_VERB, VERB_##verb, 0, #verb, synopsis, summary, about, cmd_##verb },
#define OPTION(verb, ID, name, operand, text) \
    { ROW_OPTION, VERB_##verb, O_##verb##_##ID, name, operand, NULL, text, NULL },
#define TITLE(verb, text) { ROW_TITLE, VERB_##verb, 0, text, NULL, NULL, NULL, NULL },
#define TERM(verb, name, text) { ROW_TERM, VERB_##verb, 0, name, NULL, NULL, text, NULL },
#define TEXT(verb, text) { ROW_TEXT, VERB_##verb, 0, NULL, NULL, NULL, text, NULL },
#define EXAMPLE(verb, line, text) { ROW_EXAMPLE, VERB_##verb, 0, line, NULL, NULL, text, NULL },
#define VARIABLE(name, operand, text) { ROW_VARIABLE, VERB_all, 0, name, operand, NULL, text, NULL },
#define OWN_VARIABLE(name, operand, text) { ROW_OWN_VARIABLE, VERB_all, 0, name, operand, NULL, text, NULL },
#define EXIT(code, text) { ROW_EXIT, VERB_all, code, #code, NULL, NULL, text, NULL },
#include "cli/option_rows.h"
};
const u32 row_count = COUNT_OF(rows);

const struct row *verb_find(const char *name)
{
    for (u32 i = 0; i < row_count; i++)
        if (rows[i].kind == ROW_VERB && !strcmp(rows[i].name, name)) return &rows[i];
    return NULL;
}

const struct row *row_next(const struct row *after, enum row_kind kind, enum verb_id verb)
{
    for (const struct row *r = after ? after + 1 : rows; r < rows + row_count; r++)
        if (r->kind == kind && r->verb == verb) return r;
    return NULL;
}

bool option_whole(const char *s, u64 most, u64 *out) { return whole_parse(s, most, out); }

bool option_on(const struct row *o, const char *value, struct error *e)
{
    u64 n;
    bool gpu = !strcmp(value, "gpu") || (!strncmp(value, "gpu:", 4) && option_whole(value + 4, 9999999, &n));
    return gpu || !strcmp(value, "sim") ||
           error_set(e, ERR_INPUT, "%s: --on is sim or gpu, not `%.40s`", row_next(NULL, ROW_VERB, o->verb)->name,
                     value);
}

static bool option_from(const struct row *o, const char *value, u64 least, u64 most, u64 *out, struct error *e)
{
    return (option_whole(value, most, out) && *out >= least) ||
           error_set(e, ERR_INPUT, "%s %.60s: a whole number from %llu to %llu belongs here", o->name, value,
                     (unsigned long long)least, (unsigned long long)most);
}

bool option_number(const struct row *o, const char *value, u64 most, u64 *out, struct error *e)
{
    return option_from(o, value, 0, most, out, e);
}

bool option_count(const struct row *o, const char *value, u64 most, u64 *out, struct error *e)
{
    return option_from(o, value, 1, most, out, e);
}

bool option_time(const struct row *o, const char *value, double *out, struct error *e)
{
    char *end;
    *out = double_read(value, &end);
    double unit = *end == 'm' ? 60 : *end == 'h' ? 3600 : 1;
    if (end != value && (*end == 's' || *end == 'm' || *end == 'h')) end++;
    *out *= unit;
    return (end != value && !*end && *out > 0 && isfinite(*out)) ||
           error_set(e, ERR_INPUT, "%s %.60s: a time belongs here, as in 90s, 10m or 2h", o->name, value);
}

/* -I is written -Ifolder as well. */
static bool is_letter(const struct row *o) { return o->name[1] != '-' && !o->name[2]; }

static bool belongs(const struct row *o, enum verb_id verb)
{
    return o->kind == ROW_OPTION && (o->verb == verb || o->verb == VERB_all);
}

/* The option that `word` begins with, and what stands joined to it; NULL: e has the nearest one. */
static const struct row *find(enum verb_id verb, const char *word, const char **joined, struct error *e)
{
    const char *names[OPTION_COUNT], *equals = strchr(word, '=');
    struct str name = { word, equals ? (u32)(equals - word) : (u32)strlen(word) };
    u32 n = 0;
    *joined = equals ? equals + 1 : NULL;
    for (u32 i = 0; i < row_count; i++) {
        const struct row *o = &rows[i];
        if (!belongs(o, verb)) continue;
        names[n++] = o->name;
        if (str_is(name, o->name)) return o;
        if (is_letter(o) && word[1] == o->name[1] && word[2]) {
            *joined = word + 2;
            return o;
        }
    }
    const struct row *v = row_next(NULL, ROW_VERB, verb);
    char given[64];
    snprintf(given, sizeof given, "%.*s", (int)MIN_OF(name.n, 63), name.p);
    const char *near = str_nearest(str_of(given), names, n);
    if (near)
        error_set(e, ERR_INPUT, "%s has no option %s; did you mean %s? lockstep %s --help lists them", v->name, given,
                  near, v->name);
    else
        error_set(e, ERR_INPUT, "%s has no option %s; lockstep %s --help lists them", v->name, given, v->name);
    return NULL;
}

static bool common_option(struct common *c, const struct row *o, const char *value, struct error *e)
{
    switch ((enum own_option)o->id) {
    case OWN_QUIET: c->quiet = true; return true;
    case OWN_VERBOSE: c->verbose = true; return true;
    case OWN_HELP: return true;
    case OWN_COLOR: break;
    }
    static const char *const when[] = { "auto", "always", "never" };
    for (u32 i = 0; i < COUNT_OF(when); i++)
        if (!strcmp(value, when[i])) {
            c->color = (enum color_when)i;
            return true;
        }
    return error_set(e, ERR_INPUT, "--color %.60s: auto, always or never belongs here", value);
}

/* Whether this word is an option where another one's value belongs. What is handed on to a compiler may look like
 * ours. */
static bool is_option(const struct parser *p, const struct row *o, const char *word)
{
    bool any = false;
    for (u32 i = 0; i < row_count && !any; i++)
        any = belongs(&rows[i], p->verb) && !strncmp(word, "--", 2) && !strcmp(rows[i].name, word);
    return any && strcmp(o->operand, "WORD");
}

/* One option, at argv[*i]; moves on over the value when that is a word of its own. */
static bool parse_option(struct parser *p, int argc, char **argv, int *i, struct error *e)
{
    const char *value;
    const struct row *o = find(p->verb, argv[*i], &value, e);
    u64 number;
    if (!o) return false;
    bool more = *i + 1 < argc;
    if (!value && o->operand && more && (!operand_optional(o) || option_whole(argv[*i + 1], UINT64_MAX, &number)))
        value = argv[++*i];
    if (value && o->operand && is_option(p, o, value))
        return error_set(e, ERR_INPUT, "%s needs something after it: %s %s; %s is an option itself", o->name, o->name,
                         o->operand, value);
    if (o->operand && !operand_optional(o) && (!value || !value[0]))
        return error_set(e, ERR_INPUT, "%s needs something after it: %s %s", o->name, o->name, o->operand);
    if (!o->operand && value) return error_set(e, ERR_INPUT, "%s takes no value", o->name);
    return o->verb == VERB_all ? common_option(&p->common, o, value, e) : p->option(p->self, o, value, e);
}

bool options_parse(struct parser *p, int argc, char **argv, struct error *e)
{
    bool open = true; /* options are still recognised: no -- yet */
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        bool ends = !strcmp(word, "--");
        if (p->stops && (ends || word[0] != '-')) {
            p->rest = argv + i + ends;
            return true;
        }
        if (open && ends) {
            if (p->next && !p->next(p->self, e)) return false;
            open = p->next != NULL;
            continue;
        }
        if (open && word[0] == '-' && word[1]) {
            if (!parse_option(p, argc, argv, &i, e)) return false;
            continue;
        }
        if (!p->word) return error_set(e, ERR_INPUT, "%s takes no argument, and `%.60s` was given", argv[0], word);
        if (!p->word(p->self, word, e)) return false;
    }
    return true;
}

bool options_used(const struct option_use *use, u32 n, const struct row *const *given, u32 is, const char *are,
                  struct error *e)
{
    for (u32 i = 0; i < n; i++)
        if (given[i] && !(use[i].is_for & is))
            return error_set(e, ERR_INPUT, "%s is for %s, not for %s", given[i]->name, use[i].what, are);
    return true;
}

bool option_output(const char *option, const char *file, const char *const *reads, u32 n, struct error *e)
{
    for (u32 i = 0; i < n; i++)
        if (reads[i] && file_same(file, reads[i]))
            return error_set(e, ERR_INPUT, "%s %.200s would overwrite %.200s%s; write to another file", option, file,
                             strcmp(file, reads[i]) ? reads[i] : "what is read here",
                             strcmp(file, reads[i]) ? ", which is read here" : "");
    return true;
}

static bool variable_is(const char *name, size_t n)
{
    for (u32 i = 0; i < row_count; i++)
        if ((rows[i].kind == ROW_VARIABLE || rows[i].kind == ROW_OWN_VARIABLE) && strlen(rows[i].name) == n &&
            !strncmp(rows[i].name, name, n))
            return true;
    return false;
}

/* The row that `name` without LOCKSTEP_ is nearly: one letter off, or two of a long name; NULL: there is none. */
static const struct row *variable_near(const char *name)
{
    const size_t prefix = strlen("LOCKSTEP_");
    u32 most = strlen(name) < 6 ? 1 : 2;
    for (u32 i = 0; i < row_count; i++)
        if (rows[i].kind == ROW_VARIABLE && !strncmp(rows[i].name, "LOCKSTEP_", prefix) &&
            str_distance(name, rows[i].name + prefix) <= most)
            return &rows[i];
    return NULL;
}

bool variables_known(struct error *e)
{
    extern char **environ;
    for (char **v = environ; v && *v; v++) {
        char name[64];
        size_t n = strcspn(*v, "=");
        if (strncmp(*v, "LOCKSTEP_", strlen("LOCKSTEP_")) || variable_is(*v, n)) continue;
        snprintf(name, sizeof name, "%.*s", (int)MIN_OF(n, sizeof name - 1), *v);
        const struct row *near = variable_near(name + strlen("LOCKSTEP_"));
        if (near)
            return error_set(e, ERR_INPUT, "nothing reads the variable %s of the environment; did you mean %s?", name,
                             near->name);
    }
    return true;
}
