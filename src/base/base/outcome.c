/* The table of endings, and which of them holds. */
#include "base/outcome.h"

static const struct {
    const char *name;
    int code;
} endings[] = {
    [ENDING_FAILED] = { "failed", 1 },           [ENDING_UNDONE] = { "incomplete", 2 },
    [ENDING_UNSUPPORTED] = { "unsupported", 3 }, [ENDING_NOTHING] = { "nothing judged", 4 },
    [ENDING_PASSED] = { "passed", 0 },
};

const char *ending_name(enum ending v) { return endings[v].name; }

int ending_code(enum ending v) { return endings[v].code; }

enum ending outcome_ending(const struct outcome *o)
{
    return o->errors || o->failed || (o->notes && o->fail_on_notes) ? ENDING_FAILED
           : o->undone                                              ? ENDING_UNDONE
           : o->unsupported                                         ? ENDING_UNSUPPORTED
           : !o->judged || o->unjudged                              ? ENDING_NOTHING
                                                                    : ENDING_PASSED;
}

int outcome_code(const struct outcome *o)
{
    enum ending v = outcome_ending(o);
    if (o->signal) return 128 + o->signal;
    return v == ENDING_FAILED && o->error_code ? (int)o->error_code : ending_code(v);
}
