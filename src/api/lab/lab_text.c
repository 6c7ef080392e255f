/* Tests as JSON and as JUnit XML: every case with its verdict. docs/lab/testing.md has the fields. A kernel that was
 * not judged, and a file that could not be tested, are errors there: neither is a yes. */
#include "base/json.h"
#include "base/outcome.h"
#include "base/xml.h"
#include "lab/lab.h"
#include <inttypes.h>
#include <lockstep_lab.h>

static const char *const ends[] = { "passed", "failed", "refused", "large", "empty", "unsupported" };

static const char *verdict_of(const lk_test_kernel *k)
{
    struct outcome o = { .judged = k->status != LK_NOTHING, .unsupported = k->status == LK_UNSUPPORTED };
    o.failed = k->status == LK_FINDINGS;
    return ending_name(outcome_ending(&o));
}

/* Why a kernel has no verdict, in a sentence; NULL: it has one. */
static const char *unjudged_text(const lk_test_kernel *k, char *to, size_t size)
{
    if (k->left_out || (k->status != LK_NOTHING && k->status != LK_UNSUPPORTED)) return NULL;
    if (k->status == LK_UNSUPPORTED)
        snprintf(to, size, "unsupported: %.400s", k->unsupported);
    else if (k->unchecked && k->passed)
        snprintf(to, size, "nothing judged: every check is off");
    else if (k->unjudged)
        snprintf(to, size, "nothing judged: no case had an element of %.60s that the oracle could judge", k->unjudged);
    else
        snprintf(to, size,
                 "nothing judged: no case could be run (%u refused, %u too large, %u with an empty grid)%s%.300s",
                 k->refused, k->large, k->empty, k->refusal ? "; " : "", k->refusal ? k->refusal : "");
    return to;
}

static void json_cases(struct json *k, const lk_test *t, u32 i)
{
    struct json list = json_open(k, "list", '[');
    lk_test_case c;
    for (u32 n = 0; lk_test_case_at(t, i, n, &c); n++) {
        struct json o = json_open(&list, NULL, '{');
        json_text(&o, "case", c.line);
        json_text(&o, "end", ends[c.end]);
        if (c.first[0]) json_text(&o, "first", c.first);
        json_double(&o, "ratio", c.ratio);
        json_number(&o, "elements", c.elements);
        json_end(&o, '}');
    }
    json_end(&list, ']');
    list = json_open(k, "failures", '[');
    lk_test_failure f;
    for (u32 n = 0; lk_test_failure_at(t, i, n, &f); n++) {
        struct json o = json_open(&list, NULL, '{');
        json_text(&o, "kind", f.kind);
        json_text(&o, "first", f.first);
        json_text(&o, "case", f.line);
        json_number(&o, "cases", f.cases);
        json_end(&o, '}');
    }
    json_end(&list, ']');
}

static void json_coverage(struct json *kernel, const lk_test_kernel *k)
{
    struct json o = json_open(kernel, "coverage", '{');
    json_number(&o, "lines", k->lines);
    json_number(&o, "lines_reached", k->lines_reached);
    json_text(&o, "lines_missing", k->lines_missing);
    json_number(&o, "ways", k->ways);
    json_number(&o, "ways_taken", k->ways_taken);
    json_text(&o, "branches_one_way", k->branches_one_way);
    json_number(&o, "corners", k->corners);
    json_number(&o, "corners_reached", k->corners_reached);
    json_text(&o, "corners_missing", k->corners_missing);
    json_end(&o, '}');
}

static void json_kernel(struct json *list, const lk_test *t, u32 i, const lk_test_kernel *k)
{
    struct json o = json_open(list, NULL, '{');
    json_text(&o, "name", k->name);
    json_number(&o, "line", k->line);
    json_text(&o, "verdict", verdict_of(k));
    json_bool(&o, "oracle", k->has_oracle);
    json_bool(&o, "oracle_off", k->oracle_off);
    json_text(&o, "unjudged", k->unjudged);
    json_number(&o, "suppressed", k->suppressed);
    json_number(&o, "cases", k->cases);
    json_number(&o, "passed", k->passed);
    json_number(&o, "failed", k->failed);
    json_number(&o, "refused", k->refused);
    json_number(&o, "large", k->large);
    json_number(&o, "smaller", k->smaller);
    json_bool(&o, "left_out", k->left_out);
    json_number(&o, "empty", k->empty);
    json_number(&o, "suspects", k->suspects);
    json_number(&o, "elements", k->elements);
    json_number(&o, "overflow", k->overflow);
    json_number(&o, "ill_conditioned", k->ill);
    json_number(&o, "on_gpu", k->on_gpu);
    json_number(&o, "other_bytes_on_gpu", k->differing);
    json_double(&o, "ratio", k->ratio);
    json_double(&o, "tolerance", k->tolerance);
    json_text(&o, "shapes", k->shapes);
    json_text(&o, "closest", k->closest);
    json_text(&o, "unsupported", k->unsupported);
    json_coverage(&o, k);
    json_cases(&o, t, i);
    json_end(&o, '}');
}

/* Whether each of the list is a test. */
bool lab_are_tests(lk_test *const *tests, u32 n, const char *function)
{
    bool are = tests || !n;
    if (!are) host_missing_in(NULL, function, "list of tests");
    for (u32 i = 0; are && i < n; i++) {
        struct host_call call;
        are = host_enter(&call, function, &(struct host_use)USE(TEST, tests[i]), 1);
        host_leave(&call);
    }
    return are;
}

char *lk_test_json(lk_test *const *tests, uint32_t n, lk_gpu *report)
{
    HOST_CALL(NULL, USE(GPU, report));
    if (!lab_are_tests(tests, n, __func__)) return NULL;
    struct text out = { 0 };
    struct json top = { &out, false }, o = json_open(&top, NULL, '{');
    json_text(&o, "schema", "lockstep-test");
    json_number(&o, "version", 1);
    struct outcome outcome = report_outcome(&report->device->report, 1);
    json_text(&o, "verdict", ending_name(outcome_ending(&outcome)));
    struct json files = json_open(&o, "files", '[');
    for (u32 t = 0; t < n; t++) {
        struct json file = json_open(&files, NULL, '{');
        json_text(&file, "file", lk_test_path(tests[t]));
        if (lk_test_why(tests[t])[0]) json_text(&file, "not_tested", lk_test_why(tests[t]));
        struct json list = json_open(&file, "kernels", '[');
        lk_test_kernel k;
        for (u32 i = 0; lk_test_kernel_at(tests[t], i, &k); i++) json_kernel(&list, tests[t], i, &k);
        json_end(&list, ']');
        json_end(&file, '}');
    }
    json_end(&files, ']');
    char *findings = lk_report_json(report);
    json_key(&o, "report");
    size_t length = findings ? strlen(findings) : 0;
    while (length && findings[length - 1] == '\n') length--;
    text_put(&out, findings ? findings : "null", findings ? length : 4);
    lk_text_free(findings);
    json_end(&o, '}');
    text_add(&out, "\n");
    return out.p;
}

static void junit_name(struct text *out, const char *file, const char *kernel, const char *name)
{
    text_add(out, "    <testcase classname=\"");
    text_xml_line(out, file);
    if (kernel) text_add(out, ":");
    if (kernel) text_xml_line(out, kernel);
    text_add(out, "\" name=\"");
    text_xml_line(out, name);
    text_add(out, "\"");
}

static bool is_suppressed(const lk_test *t, u32 kernel, const char *first)
{
    lk_test_failure f;
    for (u32 n = 0; lk_test_failure_at(t, kernel, n, &f); n++)
        if (!strcmp(f.first, first)) return f.suppressed;
    return false;
}

static void junit_case(struct text *out, const lk_test *t, u32 kernel, const char *name, const lk_test_case *c)
{
    junit_name(out, lk_test_path(t), name, c->line);
    text_add(out, " time=\"%.3f\"", c->seconds);
    if (c->end == LK_TEST_FAILED && is_suppressed(t, kernel, c->first)) {
        text_add(out, ">\n      <skipped message=\"suppressed: ");
        text_xml_line(out, c->first);
        text_add(out, "\"/>\n    </testcase>\n");
    } else if (c->end == LK_TEST_FAILED) {
        text_add(out, ">\n      <failure message=\"");
        text_xml_line(out, c->first);
        text_add(out, "\"/>\n    </testcase>\n");
    } else {
        text_add(out, c->end == LK_TEST_PASSED ? "/>\n" : ">\n      <skipped/>\n    </testcase>\n");
    }
}

/* What is no case: the test case "judged", with the reason why there is no verdict. */
static void junit_error(struct text *out, const char *file, const char *kernel, const char *why)
{
    junit_name(out, file, kernel, "judged");
    text_add(out, " time=\"0\">\n      <error message=\"");
    text_xml_line(out, why);
    text_add(out, "\"/>\n    </testcase>\n");
}

struct junit_sum {
    u32 tests, failures, errors;
};

static void junit_suite(struct text *out, const lk_test *t, u32 i, const lk_test_kernel *k, struct junit_sum *sum)
{
    lk_test_case c;
    char why[600];
    const char *unjudged = unjudged_text(k, why, sizeof why);
    u32 failed = k->failed - MIN_OF(k->suppressed, k->failed), tests = k->cases + (unjudged != NULL);
    text_add(out, "  <testsuite name=\"");
    text_xml_line(out, lk_test_path(t));
    text_add(out, ":");
    text_xml_line(out, k->name);
    text_add(out, "\" tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\">\n", tests, failed, unjudged != NULL,
             k->cases - k->passed - failed);
    for (u32 n = 0; lk_test_case_at(t, i, n, &c); n++) junit_case(out, t, i, k->name, &c);
    if (unjudged) junit_error(out, lk_test_path(t), k->name, unjudged);
    text_add(out, "  </testsuite>\n");
    sum->tests += tests;
    sum->failures += failed;
    sum->errors += unjudged != NULL;
}

/* The report, with the findings that fail: a case of its own where no case of a kernel has failed for them. */
static void junit_report(struct text *out, lk_gpu *report, struct junit_sum *sum)
{
    struct outcome o = report_outcome(&report->device->report, 1);
    bool fails = (o.errors || (o.notes && o.fail_on_notes)) && !sum->failures;
    char *findings = o.errors || fails ? lk_report_text(report, 0) : NULL;
    if (!findings) return;
    sum->tests += fails;
    sum->failures += fails;
    text_add(out, "  <testsuite name=\"report\" tests=\"%u\" failures=\"%u\" errors=\"0\" skipped=\"0\">\n", fails,
             fails);
    if (fails) {
        junit_name(out, "report", NULL, "findings");
        text_add(out,
                 " time=\"0\">\n      <failure message=\"%" PRIu64 " errors, %" PRIu64 " notes\"/>\n    </testcase>\n",
                 o.errors, o.notes);
    }
    text_add(out, "    <system-out>");
    text_xml(out, findings);
    text_add(out, "</system-out>\n  </testsuite>\n");
    lk_text_free(findings);
}

char *lk_test_junit(lk_test *const *tests, uint32_t n, lk_gpu *report)
{
    HOST_CALL(NULL, USE(GPU, report));
    if (!lab_are_tests(tests, n, __func__)) return NULL;
    struct text body = { 0 }, out = { 0 };
    struct junit_sum sum = { 0 };
    lk_test_kernel k;
    text_add(&body, "%s", "");
    for (u32 t = 0; t < n; t++) {
        for (u32 i = 0; lk_test_kernel_at(tests[t], i, &k); i++) junit_suite(&body, tests[t], i, &k, &sum);
        if (!lk_test_why(tests[t])[0]) continue;
        text_add(&body, "  <testsuite name=\"");
        text_xml_line(&body, lk_test_path(tests[t]));
        text_add(&body, "\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n");
        junit_error(&body, lk_test_path(tests[t]), NULL, lk_test_why(tests[t]));
        text_add(&body, "  </testsuite>\n");
        sum.tests++;
        sum.errors++;
    }
    junit_report(&body, report, &sum);
    text_add(&out,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"%u\" failures=\"%u\" errors=\"%u\">\n",
             sum.tests, sum.failures, sum.errors);
    text_put(&out, body.p, body.n);
    text_add(&out, "</testsuites>\n");
    text_free(&body);
    return out.p;
}
