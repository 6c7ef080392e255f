/* lockstep journal: what was measured and tested, over time. */
#include "journal/show.h"
#include "journal/exchange.h"
#include "journal/plot.h"
#include "journal/comparing.h"
#include <stdlib.h>

#define OPTIONS_journal OWN_ROWS
#include "cli/option_own.h"

enum { FILES_MOST = 1024 };
enum { FOR_SHOW = 1, FOR_CHECK = 2, FOR_MERGE = 4, FOR_PLOT = 8, FOR_FORMAT = 16 };
static const struct option_use uses[] = {
    { O_journal_AGAINST, FOR_CHECK, "check" },
    { O_journal_OUTPUT, FOR_MERGE | FOR_PLOT | FOR_FORMAT, "merge, plot and show --format" },
    { O_journal_KIND, FOR_PLOT, "plot" },
    { O_journal_ONLY, FOR_PLOT | FOR_FORMAT, "plot and show --format" },
    { O_journal_FORMAT, FOR_FORMAT, "show" },
    { O_journal_RATE, FOR_SHOW, "show" },
    { O_journal_THRESHOLD, FOR_CHECK, "check" },
    { O_journal_JSON, FOR_SHOW | FOR_CHECK, "show and check" },
    { O_journal_JUNIT, FOR_CHECK, "check" },
    { O_journal_MARKDOWN, FOR_CHECK, "check" },
};
struct journal_verb {
    const char *what, *against, *output, *path[FILES_MOST];
    u32 files;
    struct times_options times;
    u64 threshold; /* percent */
    const char *format, *only;
    enum plot_kind plot;
    double rate; /* of an hour of the device, in money; 0: not said */
    const struct row *given[COUNT_OF(uses)];
};

static bool take_option(void *self, const struct row *o, const char *value, struct error *e)
{
    struct journal_verb *j = self;
    for (u32 i = 0; i < COUNT_OF(uses); i++)
        if (uses[i].id == o->id) j->given[i] = o;
    switch ((enum own_option)o->id) {
    case OWN_AGAINST: j->against = value; return true;
    case OWN_OUTPUT: j->output = value; return true;
    case OWN_JSON: j->times.json = value; return true;
    case OWN_JUNIT: j->times.junit = value; return true;
    case OWN_MARKDOWN: j->times.markdown = value; return true;
    case OWN_FORMAT: j->format = value; return true;
    case OWN_ONLY: j->only = value; return true;
    case OWN_RATE:
        return (double_parse(str_of(value), &j->rate) && j->rate >= 0) ||
               error_set(e, ERR_INPUT, "--rate is the price of an hour, as in 2.5, not `%.40s`", value);
    case OWN_KIND:
        for (u32 i = 0; i < PLOT_KINDS; i++)
            if (!strcmp(value, plot_kind_name[i])) {
                j->plot = (enum plot_kind)i;
                return true;
            }
        return error_set(e, ERR_INPUT, "--kind is landscape, samples or roofline, not `%.40s`", value);
    case OWN_THRESHOLD: return option_number(o, value, 1000000, &j->threshold, e);
    }
    CHECK(!"an option of journal without its case");
}

static bool take_word(void *self, const char *word, struct error *e)
{
    struct journal_verb *j = self;
    if (!j->what) {
        if (strcmp(word, "show") && strcmp(word, "check") && strcmp(word, "merge") && strcmp(word, "plot"))
            return error_set(e, ERR_INPUT,
                             "journal takes one of show, check, merge and plot, and then files, not `%.40s`", word);
        j->what = word;
        return true;
    }
    if (j->files == FILES_MOST) return error_set(e, ERR_INPUT, "journal: at most %d files", FILES_MOST);
    j->path[j->files++] = word;
    return true;
}

static int check(struct arena *a, struct journal_verb *j, struct error *e)
{
    u32 n;
    if (!j->against || j->files != 1)
        return cli_error("journal check: one file, and --against FILE to hold it against");
    struct times_pair *pair = journals_paired(a, j->against, j->path[0], &n, e);
    if (!pair) return cli_error_value(e);
    if (!n) {
        cli_error("journal check: %s has no entry of times", j->against);
        return EXIT_NOTHING;
    }
    int code = times_judge(a, pair, n, &j->times);
    return times_report(pair, n, &j->times, e) ? code : cli_error_value(e);
}

/* The last entries of all files, those whose name has the words of --only. */
static bool last_entries(struct arena *a, const struct journal_verb *j, struct timed **out, u32 *n, struct error *e)
{
    VEC(struct timed) all = { 0 };
    for (u32 i = 0; i < j->files; i++) {
        struct timed *t;
        u32 some;
        if (!times_last(a, j->path[i], &t, &some, e)) return false;
        for (u32 k = 0; k < some; k++)
            if (!j->only || strstr(t[k].name, j->only)) VEC_PUSH(a, &all, t[k]);
    }
    *out = all.p;
    *n = all.n;
    return all.n || error_set(e, ERR_NOTHING, "journal: no entry of times%s%.60s", j->only ? " has a name with " : "",
                              j->only ? j->only : "");
}

static bool plot(struct arena *a, const struct journal_verb *j, struct error *e)
{
    struct timed *t;
    struct text out = { 0 };
    u32 n;
    bool ok = last_entries(a, j, &t, &n, e) && plot_svg(a, j->plot, t, n, &out, e) &&
              file_write(j->output ? j->output : "-", out.p, out.n, e);
    text_free(&out);
    return ok;
}

static bool show_as(struct arena *a, const struct journal_verb *j, struct error *e)
{
    struct timed *t;
    struct text out = { 0 };
    u32 n, kind = 0;
    while (kind < EXCHANGES && strcmp(j->format, exchange_name[kind])) kind++;
    if (kind == EXCHANGES) return error_set(e, ERR_INPUT, "--format is google or nvbench, not `%.40s`", j->format);
    if (!last_entries(a, j, &t, &n, e)) return false;
    exchange_write(a, (enum exchange)kind, t, n, &out);
    bool ok = file_write(j->output ? j->output : "-", out.p, out.n, e);
    text_free(&out);
    return ok;
}

/* Files of other tools become journals first. */
static bool merge(struct arena *a, struct journal_verb *j, struct error *e)
{
    char folder[64];
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.40s/lockstep.XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
    if (!mkdtemp(folder)) return error_set(e, ERR_SYSTEM, "no folder can be made in %s: set TMPDIR", folder);
    bool ok = true;
    for (u32 i = 0; ok && i < j->files; i++) {
        char *as = arena_printf(a, "%s/%u.journal", folder, i);
        bool is = false;
        ok = exchange_read(a, j->path[i], as, &is, e);
        if (is) j->path[i] = as;
    }
    ok = ok && journal_merge(a, j->path, j->files, j->output ? j->output : "-", e);
    folder_remove(folder);
    return ok;
}

static bool all_used(const struct journal_verb *j, struct error *e)
{
    u32 is = !strcmp(j->what, "check")   ? FOR_CHECK
             : !strcmp(j->what, "merge") ? FOR_MERGE
             : !strcmp(j->what, "plot")  ? FOR_PLOT
             : j->format                 ? FOR_FORMAT
                                         : FOR_SHOW;
    return options_used(uses, COUNT_OF(uses), j->given, is, is == FOR_FORMAT ? "show --format" : j->what, e);
}

int cmd_journal(int argc, char **argv)
{
    struct journal_verb j = { .threshold = 3 };
    struct error e = { 0 };
    struct arena mem = { 0 };
    struct parser p = { .verb = VERB_journal, .self = &j, .option = take_option, .word = take_word };
    int code = EXIT_CLEAN;
    if (!options_parse(&p, argc, argv, &e)) return e.code ? cli_error_value(&e) : EXIT_CLEAN;
    if (!j.files) return cli_error("journal: show, check, merge or plot, and files; lockstep journal --help shows how");
    if (!all_used(&j, &e)) return cli_error_value(&e);
    j.times.common = &p.common;
    j.times.judge = (lk_times_options){ .size = sizeof j.times.judge, .threshold = (double)j.threshold / 100 };
    bool ok = true;
    if (!strcmp(j.what, "check"))
        code = check(&mem, &j, &e);
    else if (!strcmp(j.what, "show"))
        ok = j.format ? show_as(&mem, &j, &e) : journal_show(&mem, j.path, j.files, j.times.json, j.rate, &code, &e);
    else
        ok = strcmp(j.what, "plot") ? merge(&mem, &j, &e) : plot(&mem, &j, &e);
    if (!ok) {
        cli_error_value(&e);
        code = e.code == ERR_NOTHING ? EXIT_NOTHING : EXIT_USAGE;
    }
    arena_free(&mem);
    return code;
}
