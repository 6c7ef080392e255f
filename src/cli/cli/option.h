/* The table of option.def, for those who read it: the parser, the help, the man page, the completion. */
#ifndef LOCKSTEP_OPTION_H
#define LOCKSTEP_OPTION_H
#include "base/base.h"

enum verb_id {
    VERB_all, /* rows that hold for every verb */
#define VERB(verb, ...) VERB_##verb,
#include "cli/option_rows.h"
    VERB_COUNT
};

enum option_id { /* O_launch_GRID: what a verb switches on */
#define OPTION(verb, ID, ...) O_##verb##_##ID,
#include "cli/option_rows.h"
                 OPTION_COUNT
};

#define VERB(verb, ...) \
    int cmd_##verb(int argc, char **argv); /* argv[0] is the verb's name; the result is the exit code */
#include "cli/option_rows.h"

enum row_kind {
    ROW_VERB,
    ROW_OPTION,
    ROW_TITLE,
    ROW_TERM,
    ROW_TEXT,
    ROW_EXAMPLE,
    ROW_VARIABLE,
    ROW_OWN_VARIABLE,
    ROW_EXIT
};
struct row {
    enum row_kind kind;
    enum verb_id verb;
    u32 id; /* option: enum option_id; exit: the code */
    /* verb "launch", option "--grid", term, variable, the line of an example, the text of a title */
    const char *name;
    const char *operand;               /* verb: the synopsis; option and variable: what follows, NULL: nothing */
    const char *summary;               /* verb: one line */
    const char *text;                  /* the sentence; verb: its paragraph */
    int (*run)(int argc, char **argv); /* verb */
};
extern const struct row rows[];
extern const u32 row_count;

/* The row of a verb, NULL: none has this name. */
const struct row *verb_find(const char *name);
/* Rows of one kind and verb in order: pass NULL first; NULL: no more. */
const struct row *row_next(const struct row *after, enum row_kind kind, enum verb_id verb);
/* Whether the operand of an option may be left out: all of it stands in brackets. */
static inline bool operand_optional(const struct row *o)
{
    return o->operand && o->operand[0] == '[' && !strchr(o->operand, ']')[1];
}

/* What every verb understands. */
struct common {
    enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color;
    bool quiet, verbose;
};
struct parser { /* who gets what stands on the command line, in its order */
    enum verb_id verb;
    void *self;
    bool (*option)(void *self, const struct row *o, const char *value, struct error *e); /* value NULL: none given */
    bool (*word)(void *self, const char *word, struct error *e); /* what is no option; NULL: the verb takes none */
    /* At --, after which the next of several things begins; NULL: -- ends the options. */
    bool (*next)(void *self, struct error *e);
    bool stops;           /* the first word that is no option, or --, ends them: `rest` is what follows */
    char **rest;          /* filled in: the words after the options, NULL at the end; NULL: there are none */
    struct common common; /* filled in */
};
/* Goes through argv[1...]. Options are --name value, --name=value, -X value and -Xvalue. */
bool options_parse(struct parser *p, int argc, char **argv, struct error *e);
/* A value of --on: sim, gpu, or gpu:N. */
bool option_on(const struct row *o, const char *value, struct error *e);
/* All of `s` as a decimal number up to `most`. */
bool option_whole(const char *s, u64 most, u64 *out);
/* The same for the value of an option, with the error said. */
bool option_number(const struct row *o, const char *value, u64 most, u64 *out, struct error *e);
/* One at least. */
bool option_count(const struct row *o, const char *value, u64 most, u64 *out, struct error *e);
/* Seconds from "90s", "10m", "2h" or "1.5". */
bool option_time(const struct row *o, const char *value, double *out, struct error *e);
/* What an option is of use for, where a verb does several things: bits of the verb's own, and words for them. One that
 * does not apply to the mode that was chosen is refused: nobody is to wait for a file that is not written. */
struct option_use {
    u32 id;
    u32 is_for;
    const char *what;
};
/* `given`: the rows of the options that were given, each at the place of its use. `is`, `are`: what is to be done. */
bool options_used(const struct option_use *use, u32 n, const struct row *const *given, u32 is, const char *are,
                  struct error *e);
/* Whether no variable of the environment is misspelt: one whose name is nearly that of one of ours would have no
 * effect, and nothing would say so. */
bool variables_known(struct error *e);
/* Whether an option's file may be written: it is none of the n that are read, under whatever name. */
bool option_output(const char *option, const char *file, const char *const *reads, u32 n, struct error *e);

/* help.c: where to begin, in a few lines; all verbs; one of them. */
void help_start(FILE *f);
void help_verbs(FILE *f);
void help_verb(FILE *f, const struct row *verb);
/* man.c and complete.c: into t. */
void man_write(struct text *t);
void complete_bash(struct text *t);
void complete_zsh(struct text *t);
#endif
