/* What can be done with a report, for every verb that makes one: the options that say so, and doing it. */
#ifndef LOCKSTEP_REPORTING_H
#define LOCKSTEP_REPORTING_H
#include "cli/option.h"
#include <lockstep.h>

enum { REPORTING_RULES = 16 };
struct reporting {
    const char *json, *sarif, *junit, *html; /* files, "-" for standard output; NULL: not wanted */
    const char *suppress[REPORTING_RULES];   /* files of rules */
    u32 suppressions;
    bool print_rules;   /* --print-suppressions */
    u32 most;           /* --max-findings, 0: all */
    bool fail_on_notes; /* --fail-on note */
    u32 error_code;     /* --error-exitcode: instead of EXIT_FINDINGS */
    bool ready;         /* the files may be written: no input file is among them */
    bool written;       /* they are */
    int machine;        /* where standard output went before people's text was sent to standard error; 0: it was not */
};

/* Takes an option of REPORT_OPTIONS, the `which`-th of them (0: --json). */
bool reporting_option(struct reporting *o, u32 which, const struct row *opt, const char *text, struct error *e);
/* Before anything is printed. A report that goes to standard output is alone there: all that is for people goes to
 * standard error instead. No file that is written may be one of the `n` that are read. */
bool reporting_streams(struct reporting *o, const char *const *reads, u32 n, struct error *e);
/* Writes one of the files. */
bool reporting_put(const struct reporting *o, const char *path, const char *text, size_t bytes, struct error *e);
/* Before the run: reads the suppressions. */
bool reporting_begin(const struct reporting *o, lk_gpu *gpu, struct error *e);
/* Prints the report, when it has anything, and writes the files; `name` is what ran, `clean` the line for a report
 * with nothing in it. */
bool reporting_write(struct reporting *o, lk_gpu *gpu, const char *name, const char *clean, const struct common *c,
                     struct error *e);
/* The files alone: once more where what was found later has changed the ending. */
bool reporting_files(struct reporting *o, lk_gpu *gpu, const char *name, struct error *e);
/* Where a verb ends with `code` and nothing was written: the files say so, too, with `why`, so that no file of an
 * earlier run is taken for this one's. What cannot be written was said. */
void reporting_refused(struct reporting *o, int code, const char *name, const char *why);
/* Before the report is written: what decides beside its findings. The exit code, but for --error-exitcode. */
int reporting_conclude(lk_gpu *gpu, lk_outcome *outcome);
/* The exit code for a report with errors. */
static inline int reporting_code(const struct reporting *o) { return o->error_code ? (int)o->error_code : 1; }
#endif
