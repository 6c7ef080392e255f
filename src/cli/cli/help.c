/* lockstep help: the table as text for a terminal. */
#include "cli/cli.h"
#include <lockstep.h>

#define OPTIONS_help OWN_ROWS
#include "cli/option_own.h"

enum { TERM_COLUMN = 24 };

static void term(FILE *f, const char *name, const char *operand, const char *text)
{
    u32 n = (u32)fprintf(f, "  %s%s%s", name, operand ? " " : "", operand ? operand : "");
    if (n >= TERM_COLUMN) {
        fputc('\n', f);
        n = 0;
    }
    fprintf(f, "%*s", (int)(TERM_COLUMN - n), "");
    cli_wrapped(f, text, TERM_COLUMN, TERM_COLUMN);
}

void help_start(FILE *f)
{
    fputs("Lockstep, a checked GPU: runs CUDA kernels and programs on this processor, and checks every access.\n"
          "  lockstep run ./app            a CUDA program as it is; also FILE.cu or SCRIPT.py\n"
          "  lockstep launch FILE.cu       one kernel; without arguments it shows a command line to start from\n"
          "  lockstep explain 700          what an error or a finding means, its causes, what to do\n"
          "  lockstep doctor               what is on this machine, and what is missing\n"
          "  lockstep --help               all verbs; lockstep VERB --help has the options of one\n",
          f);
}

void help_verbs(FILE *f)
{
    cli_wrapped(
        f, "Lockstep, a checked GPU: runs CUDA kernels on this processor, 32 lanes at a time, and checks every access.",
        0, 0);
    fputc('\n', f);
    for (u32 i = 0; i < row_count; i++)
        if (rows[i].kind == ROW_VERB)
            fprintf(f, "  lockstep %s%s%s\n      %s\n", rows[i].name, rows[i].operand[0] ? " " : "", rows[i].operand,
                    rows[i].summary);
    fputs("\nExit codes:\n", f);
    for (const struct row *r = NULL; (r = row_next(r, ROW_EXIT, VERB_all));) term(f, r->name, NULL, r->text);
    fputs("\nEnvironment:\n", f);
    for (const struct row *r = NULL; (r = row_next(r, ROW_VARIABLE, VERB_all));) term(f, r->name, NULL, r->text);
    fputs("\nlockstep VERB --help lists the options of a verb, man lockstep has all of it.\n", f);
}

/* The rows of a verb in the order of the table; lists are set apart from paragraphs. */
void help_verb(FILE *f, const struct row *verb)
{
    fprintf(f, "lockstep %s%s%s\n\n", verb->name, verb->operand[0] ? " " : "", verb->operand);
    cli_wrapped(f, verb->text, 0, 0);
    enum row_kind last = ROW_VERB;
    for (u32 i = 0; i < row_count; i++) {
        const struct row *r = &rows[i];
        if (r->verb != verb->verb || r->kind == ROW_VERB) continue;
        if (r->kind == ROW_EXAMPLE) {
            fprintf(f, "%s  %s\n      %s\n", last == ROW_EXAMPLE ? "" : "\nExamples:\n", r->name, r->text);
        } else if (r->kind == ROW_TITLE) {
            fprintf(f, "\n%s:\n", r->name);
        } else {
            if (last != r->kind && last != ROW_TITLE) fputc('\n', f);
            if (r->kind == ROW_TEXT)
                cli_wrapped(f, r->text, 0, 0);
            else
                term(f, r->name, r->operand, r->text);
        }
        last = r->kind;
    }
    fputs("\nAlways:\n", f);
    for (const struct row *r = NULL; (r = row_next(r, ROW_OPTION, VERB_all));) term(f, r->name, r->operand, r->text);
}

/* ---- the verbs that tell about the others ---- */

struct help {
    const char *name;
    bool man;
};

static bool help_option(void *self, const struct row *o, const char *value, struct error *e)
{
    struct help *h = self;
    (void)value, (void)e;
    switch ((enum own_option)o->id) {
    case OWN_MAN: return h->man = true;
    }
    CHECK(!"an option of help without its case");
}

static bool help_word(void *self, const char *word, struct error *e)
{
    struct help *h = self;
    if (h->name) return error_set(e, ERR_INPUT, "help takes one verb: lockstep help %.40s", h->name);
    h->name = word;
    return true;
}

int cmd_help(int argc, char **argv)
{
    struct help h = { 0 };
    struct error e = { 0 };
    struct parser p = { .verb = VERB_help, .self = &h, .option = help_option, .word = help_word };
    if (!options_parse(&p, argc, argv, &e)) return cli_error_value(&e);
    if (h.man) {
        struct text t = { 0 };
        man_write(&t);
        fwrite(t.p, 1, t.n, stdout);
        text_free(&t);
        return EXIT_CLEAN;
    }
    const struct row *v = h.name ? verb_find(h.name) : NULL;
    if (h.name && !v) return cli_unknown_verb(h.name);
    if (v)
        help_verb(stdout, v);
    else
        help_verbs(stdout);
    return EXIT_CLEAN;
}

int cmd_version(int argc, char **argv)
{
    struct error e = { 0 };
    struct parser p = { .verb = VERB_version };
    if (!options_parse(&p, argc, argv, &e)) return cli_error_value(&e);
    printf("lockstep %s\n", lk_version());
    return EXIT_CLEAN;
}
