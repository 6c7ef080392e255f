/* run_files.h: the files for machines that `lockstep run` writes: what the processes have left, each in a file of its
 * own, and in every one of them how the run ended. A run in which no process has left a report has files, too. */
#ifndef LOCKSTEP_RUN_FILES_H
#define LOCKSTEP_RUN_FILES_H
#include "cli/ending.h"
#include "cli/reporting.h"
#include "launcher/run_report.h"

struct run_files {
    struct run_report *report;
    const struct reporting *to;
    const struct told_ending *ending;
    bool profiled; /* --json is the profile */
    /* puts more into a profile, as what a GPU has measured; NULL: nothing. `self` is for both functions */
    void (*join)(void *self, struct text *json);
    void (*unwritten)(void *self, const struct error *e); /* says that a file could not be written */
    void *self;
};
/* Those that are files, or the one that is standard output. false: one could not be written, which was said. */
bool run_files_write(const struct run_files *f, bool standard_output);
#endif
