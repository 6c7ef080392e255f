/* lockstep journal: what was measured and tested, over time. */
#include "journal/show.h"
#include "journal/comparing.h"

enum { FILES_MOST = 1024 };
struct journal_verb {
    const char *what, *against, *output, *path[FILES_MOST];
    u32 files;
    struct times_options times;
    u64 threshold; /* percent */
};

static bool take_option(void *self, const struct row *o, const char *value, struct error *e)
{
    struct journal_verb *j = self;
    switch (o->id) {
    case O_journal_AGAINST: j->against = value; return true;
    case O_journal_OUTPUT: j->output = value; return true;
    case O_journal_JSON: j->times.json = value; return true;
    case O_journal_JUNIT: j->times.junit = value; return true;
    case O_journal_MARKDOWN: j->times.markdown = value; return true;
    default: return option_number(o, value, 1000000, &j->threshold, e);
    }
}

static bool take_word(void *self, const char *word, struct error *e)
{
    struct journal_verb *j = self;
    if (!j->what) {
        if (strcmp(word, "show") && strcmp(word, "check") && strcmp(word, "merge"))
            return error_set(e, ERR_INPUT, "journal takes one of show, check and merge, and then files, not `%.40s`",
                             word);
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

int cmd_journal(int argc, char **argv)
{
    struct journal_verb j = { .threshold = 3 };
    struct error e = { 0 };
    struct arena mem = { 0 };
    struct parser p = { .verb = VERB_journal, .self = &j, .option = take_option, .word = take_word };
    int code = EXIT_CLEAN;
    if (!options_parse(&p, argc, argv, &e)) return e.code ? cli_error_value(&e) : EXIT_CLEAN;
    if (!j.files) return cli_error("journal: show, check or merge, and files; lockstep journal --help shows how");
    j.times.common = &p.common;
    j.times.judge = (lk_times_options){ .size = sizeof j.times.judge, .threshold = (double)j.threshold / 100 };
    if (!strcmp(j.what, "check"))
        code = check(&mem, &j, &e);
    else if (!strcmp(j.what, "show")) {
        if (!journal_show(&mem, j.path, j.files, j.times.json, &code, &e)) code = cli_error_value(&e);
    } else if (!journal_merge(&mem, j.path, j.files, j.output ? j.output : "-", &e)) {
        cli_error_value(&e);
        code = e.code == ERR_NOTHING ? EXIT_NOTHING : EXIT_USAGE;
    }
    arena_free(&mem);
    return code;
}
