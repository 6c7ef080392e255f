/* times.h: times in journals, and the judgement over two sides of them.
 *
 * An entry of the kind `times` holds every sample of every process, the work that was done, and where. What can be
 * computed from these (the median) is computed on reading: an entry that says otherwise is refused. */
#ifndef LOCKSTEP_JOURNAL_TIMES_H
#define LOCKSTEP_JOURNAL_TIMES_H
#include "base/journal.h"
#include "cli/cli.h"
#include <lockstep_times.h>

/* What an entry says beside its samples: the clock, the binary, bytes of the work. Text, or else a number. */
struct timed_note {
    const char *key, *text;
    double number;
};
enum { TIMED_NOTES = 16 };
struct timed {
    const char *name;   /* what the entries of several journals have in common */
    const char *work;   /* what was done: sizes, types; two that differ are not compared. "" */
    const char *device; /* "" */
    const char *time;   /* when; "": now */
    const char *const *command;
    u32 words;
    const char *unit; /* "s" */
    lk_series *process;
    u32 processes;
    u32 line; /* of the journal */
    struct timed_note note[TIMED_NOTES];
    u32 notes;
};
void times_note(struct timed *t, const char *key, const char *text, double number);
double times_number(const struct timed *t, const char *key, double none); /* of a note */
const char *times_word(const struct timed *t, const char *key);           /* "": it has none */
/* Every sample, one process after the other. */
lk_series times_all(struct arena *a, const struct timed *t);
bool times_append(const char *path, const struct timed *t, struct error *e);
/* The entry as it stands in a journal. false: the entry holds no times (e is unchanged), or its hash is wrong. */
bool times_read(struct arena *a, const struct journal_entry *x, const char *path, struct timed *out, struct error *e);
/* The last entry of each name, in the order of the first ones. */
bool times_last(struct arena *a, const char *path, struct timed **out, u32 *n, struct error *e);

struct times_pair {
    struct timed side[2];
    lk_judgement judged;
    bool interleaved; /* both sides ran in one run, in turns */
};
struct times_options {
    lk_times_options judge;
    const char *json, *junit, *markdown, *journal;
    bool silent; /* the verdicts are told to people elsewhere */
    const struct common *common;
};
/* Judges all of them together. The exit code of the worst verdict: SLOWER before INVALID before NOT-RUN before UNCLEAR.
 */
int times_judge(struct arena *a, struct times_pair *pair, u32 n, const struct times_options *o);
/* The verdicts, for people, and where `o` says so as files. */
bool times_report(struct times_pair *pair, u32 n, const struct times_options *o, struct error *e);
void times_text(double x, const char *unit, char *out, size_t size); /* "12.3 us" for 1.23e-5 s */

/* What else compares (counted.h) goes the same ways out. */
enum { TIMES_TOLD, TIMES_JSON, TIMES_JUNIT, TIMES_MARKDOWN, TIMES_FORMS };
bool times_alone(const struct times_options *o); /* standard output is a file's: nothing else goes there */
/* TIMES_TOLD to standard output, the others where `o` wants them. Frees the texts. */
bool times_write(struct text out[TIMES_FORMS], const struct times_options *o, struct error *e);
void times_junit_open(struct text *out, u32 n, u32 bad);
void times_junit_case(struct text *out, const char *name, const char *failure); /* NULL: it passed */

/* Two commands in turns (times_run.c). */
struct times_run {
    const char *command[2];
    const char *name;    /* of the second in journals, of the first with `before` after it; NULL: the commands */
    const char *samples; /* the word after which a sample stands in a line of output; NULL: a process is one */
    u32 least, most;     /* pairs of processes */
    double seconds;      /* what runs then is ended, and its pair not counted */
    lk_times_options judge;
    bool quiet;
};
/* false: a command failed, or has no samples: e has it, with the code for the exit. */
bool times_run(struct arena *a, const struct times_run *r, struct times_pair *out, struct error *e);
#endif
