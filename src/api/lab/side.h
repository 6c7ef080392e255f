/* side.h: what a campaign and the processes that run its cases say to each other, over two pipes. Both are the same
 * program, so that structs go as they are: first a subject (subject_put), then a question and an answer for each case.
 */
#ifndef LOCKSTEP_SIDE_H
#define LOCKSTEP_SIDE_H
#include "lab/lab.h"

enum { SIDE_MARK = 0x6b63656c, SIDE_LINE_MOST = 1 << 20 };
struct question {
    u32 mark; /* SIDE_MARK: what else comes over the pipe is no question */
    u32 line; /* bytes of the case that follow, SIDE_LINE_MOST at most */
    u32 repeat;
    double cost_most, name_most;
    u64 budget;
    bool explain, tell, twice, has_only, has_likeness;
    enum oracle_label label;
    char only[300], likeness[LAB_LIKENESS], likeness_of[300], output[80];
    u32 excepts;
    char except[8][240];
};
struct answer {
    u32 mark; /* SIDE_MARK */
    bool ok;
    struct error e;
    struct lab_outcome outcome;
    struct report_brief first;
};
/* All that a process needs to know to open the same subject. */
void subject_put(struct text *to, const struct lab_subject *s);
void worker_first(struct lab_subject *s, struct report_brief *out);
#endif
