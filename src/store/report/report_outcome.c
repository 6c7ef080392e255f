/* What a report comes to: its findings, and what whoever ran has said beside them (base/outcome.h). */
#include "report/entry.h"

void report_conclude(struct report *r, const struct outcome *facts, const char *why)
{
    lock(&r->lock);
    snprintf(r->why, sizeof r->why, "%s", why ? why : "");
    r->facts = *facts;
    r->concluded = true;
    unlock(&r->lock);
}

void report_fail_on_notes(struct report *r, bool on)
{
    lock(&r->lock);
    r->fail_on_notes = on;
    unlock(&r->lock);
}

struct outcome report_outcome(struct report *const *r, u32 n)
{
    struct outcome o = { 0 };
    for (u32 i = 0; i < n; i++) {
        o.errors += report_errors(r[i]);
        o.notes += report_notes(r[i]);
        lock(&r[i]->lock);
        o.failed += r[i]->facts.failed;
        o.judged += r[i]->concluded ? r[i]->facts.judged : r[i]->checks_ran != 0;
        o.unsupported += r[i]->facts.unsupported;
        o.undone += r[i]->facts.undone;
        o.unjudged += r[i]->facts.unjudged;
        o.fail_on_notes |= r[i]->fail_on_notes;
        unlock(&r[i]->lock);
    }
    return o;
}

void report_why(struct report *const *r, u32 n, struct text *out)
{
    for (u32 i = 0; i < n && !out->n; i++) {
        lock(&r[i]->lock);
        text_add(out, "%s", r[i]->why);
        unlock(&r[i]->lock);
    }
}
