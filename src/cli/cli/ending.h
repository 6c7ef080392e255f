/* ending.h: how a run ended, put into the files that machines read. A report says what was found; a run in which
 * nothing was found may still be none that passed (nothing was checked, a report was lost, a process was killed), and
 * no file that is written of it may look as if it had. */
#ifndef CLI_ENDING_H
#define CLI_ENDING_H
#include "base/outcome.h"

struct told_ending {
    struct outcome outcome;
    int code;        /* that the command exits with */
    struct text why; /* sentences without a full stop, a line each; empty: it passed */
};
/* Each takes a report that report/ has written (report_json or counts_json, report_junit, report_sarif) and changes it:
 * JSON gets a key `ending`, JUnit the test case `ending`, SARIF the invocation and a result. */
void ending_into_json(const struct told_ending *t, struct text *report);
void ending_into_junit(const struct told_ending *t, struct text *report);
void ending_into_sarif(const struct told_ending *t, struct text *report);
#endif
