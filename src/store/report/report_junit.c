/* The report as JUnit XML, for continuous integration: the checks are the test cases, the same ones in every run, so
 * that a history of them means something. An error of a check is a failure of its case; notes go to its output, unless
 * notes fail, too (--fail-on note); a check that did not look at anything is skipped, not passed. The case "run" has
 * what belongs to no check, and says no wherever the ending of the report does (base/outcome.h). */
#include "base/xml.h"
#include "report/entry.h"
#include <inttypes.h>

/* Text between tags or in an attribute, line by line: what XML 1.0 has no place for is spelled out as in the text
 * report. */
static void put_escaped(struct text *out, const char *text)
{
    struct text clean = { 0 };
    for (const char *p = text ? text : ""; *p;) {
        u32 n = (u32)strcspn(p, "\n");
        printable((struct str){ p, n }, &clean);
        text_add(&clean, p[n] ? "\n" : "");
        p += n + (p[n] != 0);
    }
    if (clean.p) text_xml(out, clean.p);
    text_free(&clean);
}

static void put_place(struct text *out, const struct finding *f)
{
    struct text t = { 0 };
    if (!f->place) return;
    place_brief(f->place, &t);
    put_escaped(out, t.p);
    text_add(out, ": ");
    text_free(&t);
}

static void put_failure(struct text *out, const struct entry *e)
{
    struct text body = { 0 };
    text_add(out, "      <failure type=\"%s\" message=\"", finding_id(e->f.kind));
    if (e->launch) text_add(out, "launch %u: ", e->launch);
    put_place(out, &e->f);
    put_escaped(out, finding_title(e->f.kind));
    text_add(out, "\">");
    report_entry_text(e, &body);
    put_escaped(out, body.p);
    text_add(out, "</failure>\n");
    text_free(&body);
}

static bool belongs(const struct entry *e, u32 bit, enum severity s)
{
    return !e->suppressed && (u32)finding_check(e->f.kind) == bit && finding_severity(e->f.kind) == s;
}

struct tell { /* what is told */
    const struct outcome *outcome;
    const char *why; /* beside the findings; "": nobody has said */
    struct entry **v;
    u32 n;
};

static bool fails(const struct tell *t, u32 i, u32 bit)
{
    return belongs(t->v[i], bit, SEV_ERROR) || (t->outcome->fail_on_notes && belongs(t->v[i], bit, SEV_NOTE));
}

/* Judged wrong, and no finding says so. */
static bool is_hidden_failure(const struct outcome *o)
{
    struct outcome without = *o;
    without.failed = 0;
    return o->failed && outcome_ending(&without) != ENDING_FAILED;
}

/* Neither passed nor failed. */
static bool is_broken(const struct outcome *o)
{
    enum ending x = outcome_ending(o);
    return x != ENDING_PASSED && x != ENDING_FAILED;
}

/* The ending, where no finding says it. */
static void put_ending(struct text *out, const struct tell *t)
{
    const struct outcome *o = t->outcome;
    const char *name = ending_name(outcome_ending(o));
    if (is_hidden_failure(o))
        text_add(out, "      <failure type=\"failed\" message=\"%" PRIu64 " of %" PRIu64 " judged wrong\"/>\n",
                 o->failed, o->judged);
    else if (is_broken(o)) {
        text_add(out, "      <error type=\"%s\" message=\"", name);
        put_escaped(out, t->why[0] ? t->why : name);
        text_add(out, "\"/>\n");
    }
}

static void put_case(struct text *out, const char *suite, const char *name, const struct tell *t, u32 bit, bool ran)
{
    u32 n = t->n;
    struct entry **v = t->v;
    text_add(out, "    <testcase classname=\"");
    put_escaped(out, suite);
    text_add(out, "\" name=\"%s\" time=\"0\">\n", name);
    if (!ran) text_add(out, "      <skipped/>\n");
    if (!bit) put_ending(out, t);
    for (u32 i = 0; i < n; i++)
        if (fails(t, i, bit)) put_failure(out, v[i]);
    for (u32 i = 0; i < n; i++)
        if (!t->outcome->fail_on_notes && belongs(v[i], bit, SEV_NOTE)) {
            struct text body = { 0 };
            text_add(out, "      <system-out>");
            report_entry_text(v[i], &body);
            put_escaped(out, body.p);
            text_add(out, "</system-out>\n");
            text_free(&body);
        }
    text_add(out, "    </testcase>\n");
}

struct tally {
    u32 tests, failing, skipped;
};

static bool any_fails(const struct tell *t, u32 bit)
{
    bool any = !bit && is_hidden_failure(t->outcome);
    for (u32 i = 0; i < t->n; i++) any |= fails(t, i, bit);
    return any;
}

static struct tally count(u32 ran, const struct tell *tell)
{
    struct tally t = { 0 };
    for (u32 c = 0; c <= CHECK_COUNT; c++) {
        u32 bit = c < CHECK_COUNT ? 1u << c : CHECK_ALWAYS;
        bool failing = any_fails(tell, bit);
        t.tests++;
        t.failing += failing;
        t.skipped += bit && !(ran & bit) && !failing;
    }
    return t;
}

void report_junit(struct report *const *r, u32 reports, const char *suite, struct text *out)
{
    struct reports all;
    struct outcome outcome = report_outcome(r, reports);
    struct text why = { 0 };
    report_why(r, reports, &why);
    reports_begin(&all, r, reports);
    struct tell tell = { &outcome, why.n ? why.p : "", all.v, all.entries };
    struct tally t = count(all.checks_ran, &tell);
    u32 broken = is_broken(&outcome);
    text_add(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"%u\" failures=\"%u\" errors=\"%u\" "
        "skipped=\"%u\">\n  <testsuite name=\"lockstep\" tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\" "
        "time=\"0\">\n",
        t.tests, t.failing, broken, t.skipped, t.tests, t.failing, broken, t.skipped);
    put_case(out, suite, "run", &tell, CHECK_ALWAYS, true);
    for (u32 c = 0; c < CHECK_COUNT; c++)
        put_case(out, suite, check_name(c), &tell, 1u << c, any_fails(&tell, 1u << c) || all.checks_ran & 1u << c);
    text_add(out, "  </testsuite>\n</testsuites>\n");
    text_free(&why);
    reports_end(&all);
}
