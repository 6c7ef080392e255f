/* lockstep test FILE...: what the command line says of it. */
#ifndef LOCKSTEP_TESTING_H
#define LOCKSTEP_TESTING_H
#include "cli/compiling.h"
#include "cli/reporting.h"
#include <lockstep_lab.h>

struct testing {
    VEC(const char *) file; /* FILE, FILE:KERNEL, or a folder */
    u32 bare;               /* files of folders that have no contract */
    lk_test_options o;
    lk_options gpu;
    struct compiling compiling;
    struct reporting reporting;
    bool list;     /* --list: every case with its verdict */
    bool coverage; /* --coverage: what of kernel and contract was reached */
};
/* Takes an option of a campaign, of the compiler or of the report. */
bool testing_option(struct arena *a, struct testing *t, const struct row *o, const char *value, struct error *e);
/* Tests the files, prints, writes the reports; the exit code. */
int testing_run(struct arena *a, struct testing *t, const struct common *common);
/* test_types.c: whether the contracts of a file have the element types of its source. */
bool testing_types(const char *path, struct error *e);
#endif
