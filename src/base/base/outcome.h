/* What a run comes to: one place decides the ending, its word and the exit code from what was found, what was judged
 * wrong, what was judged at all and what was not done. Every verb fills a struct outcome, and every output (text, JSON,
 * JUnit, the page) takes its ending from it, so that no two of them can disagree. */
#ifndef BASE_OUTCOME_H
#define BASE_OUTCOME_H
#include "base/base.h"

/* In the order in which they win: the first that holds is the ending. */
enum ending {
    ENDING_FAILED,      /* something is wrong: an error was found, or what was judged is not right */
    ENDING_UNDONE,      /* a request was not carried out: a missing file, a lost report */
    ENDING_UNSUPPORTED, /* Lockstep does not support something that was reached */
    ENDING_NOTHING,     /* nothing was judged, or less than was requested: not a pass */
    ENDING_PASSED,
};

struct outcome {
    u64 errors;      /* findings that are errors, not suppressed */
    u64 notes;       /* findings that are notes, not suppressed */
    u64 failed;      /* judged and wrong, whether or not a finding says so: cases, comparisons */
    u64 judged;      /* judged, right or wrong: launches that were checked, cases with an oracle */
    u64 unjudged;    /* asked for and not judged, while nothing hindered it: a kernel of which no case could be run */
    u64 unsupported; /* cut short or refused because Lockstep does not support it */
    u64 undone;      /* asked for and not done */
    bool fail_on_notes;
    u32 error_code; /* --error-exitcode, which replaces the code of ENDING_FAILED; 0: none */
    int signal;     /* that stopped it, 0: none; the code is then 128 + signal, whatever else holds */
};

enum ending outcome_ending(const struct outcome *o);
/* "failed", "incomplete", "unsupported", "nothing judged", "passed". */
const char *ending_name(enum ending v);
/* 1, 2, 3, 4, 0. */
int ending_code(enum ending v);
int outcome_code(const struct outcome *o);
#endif
