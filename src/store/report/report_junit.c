/* The report as JUnit XML, for continuous integration: the checks are the test cases, the same ones in every run, so
 * that a history of them means something. An error of a check is a failure of its case; notes go to its output; a
 * check that did not look at anything is skipped, not passed. */
#include "base/xml.h"
#include "report/entry.h"

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

static void put_case(struct text *out, const char *suite, const char *name, struct entry **v, u32 n, u32 bit, bool ran)
{
    text_add(out, "    <testcase classname=\"");
    put_escaped(out, suite);
    text_add(out, "\" name=\"%s\" time=\"0\">\n", name);
    if (!ran) text_add(out, "      <skipped/>\n");
    for (u32 i = 0; i < n; i++)
        if (belongs(v[i], bit, SEV_ERROR)) put_failure(out, v[i]);
    for (u32 i = 0; i < n; i++)
        if (belongs(v[i], bit, SEV_NOTE)) {
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

static struct tally count(u32 ran, struct entry **v, u32 n)
{
    struct tally t = { 0 };
    for (u32 c = 0; c <= CHECK_COUNT; c++) {
        u32 bit = c < CHECK_COUNT ? 1u << c : CHECK_ALWAYS;
        bool fails = false;
        for (u32 i = 0; i < n; i++) fails |= belongs(v[i], bit, SEV_ERROR);
        t.tests++;
        t.failing += fails;
        t.skipped += bit && !(ran & bit) && !fails;
    }
    return t;
}

void report_junit(struct report *const *r, u32 reports, const char *suite, struct text *out)
{
    struct reports all;
    reports_begin(&all, r, reports);
    struct entry **v = all.v;
    u32 n = all.entries;
    struct tally t = count(all.checks_ran, v, n);
    text_add(out,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"%u\" failures=\"%u\" skipped=\"%u\">\n  "
             "<testsuite name=\"lockstep\" "
             "tests=\"%u\" failures=\"%u\" errors=\"0\" skipped=\"%u\" time=\"0\">\n",
             t.tests, t.failing, t.skipped, t.tests, t.failing, t.skipped);
    put_case(out, suite, "run", v, n, CHECK_ALWAYS, true);
    for (u32 c = 0; c < CHECK_COUNT; c++) {
        bool fails = false;
        for (u32 i = 0; i < n; i++) fails |= belongs(v[i], 1u << c, SEV_ERROR);
        put_case(out, suite, check_name(c), v, n, 1u << c, fails || all.checks_ran & 1u << c);
    }
    text_add(out, "  </testsuite>\n</testsuites>\n");
    reports_end(&all);
}
