/* Tests as JSON and as JUnit XML: every case with its verdict. docs/testing.md has the fields. */
#include "base/json.h"
#include "base/xml.h"
#include "lab/lab.h"
#include <lockstep_lab.h>

static const char *const ends[] = { "passed", "failed", "refused", "large", "empty", "unsupported" };

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
    json_bool(&o, "oracle", k->has_oracle);
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

char *lk_test_json(lk_test *const *tests, uint32_t n, lk_gpu *report)
{
    struct text out = { 0 };
    struct json top = { &out, false }, o = json_open(&top, NULL, '{');
    json_text(&o, "schema", "lockstep-test");
    json_number(&o, "version", 1);
    struct json files = json_open(&o, "files", '[');
    for (u32 t = 0; t < n; t++) {
        struct json file = json_open(&files, NULL, '{');
        json_text(&file, "file", lk_test_path(tests[t]));
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

static void junit_case(struct text *out, const char *file, const char *kernel, const lk_test_case *c)
{
    text_add(out, "    <testcase classname=\"");
    text_xml(out, file);
    text_add(out, ":");
    text_xml(out, kernel);
    text_add(out, "\" name=\"");
    text_xml(out, c->line);
    text_add(out, "\" time=\"%.3f\"", c->seconds);
    if (c->end == LK_TEST_FAILED) {
        text_add(out, ">\n      <failure message=\"");
        text_xml(out, c->first);
        text_add(out, "\"/>\n    </testcase>\n");
    } else {
        text_add(out, c->end == LK_TEST_PASSED ? "/>\n" : ">\n      <skipped/>\n    </testcase>\n");
    }
}

static void junit_suite(struct text *out, const lk_test *t, u32 i, const lk_test_kernel *k)
{
    lk_test_case c;
    text_add(out, "  <testsuite name=\"");
    text_xml(out, lk_test_path(t));
    text_add(out, ":");
    text_xml(out, k->name);
    text_add(out, "\" tests=\"%u\" failures=\"%u\" errors=\"0\" skipped=\"%u\">\n", k->cases, k->failed,
             k->cases - k->passed - k->failed);
    for (u32 n = 0; lk_test_case_at(t, i, n, &c); n++) junit_case(out, lk_test_path(t), k->name, &c);
    text_add(out, "  </testsuite>\n");
}

char *lk_test_junit(lk_test *const *tests, uint32_t n, lk_gpu *report)
{
    struct text out = { 0 };
    lk_test_kernel k;
    u32 cases = 0, failed = 0;
    for (u32 t = 0; t < n; t++)
        for (u32 i = 0; lk_test_kernel_at(tests[t], i, &k); i++) cases += k.cases, failed += k.failed;
    text_add(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"%u\" failures=\"%u\">\n", cases,
             failed);
    for (u32 t = 0; t < n; t++)
        for (u32 i = 0; lk_test_kernel_at(tests[t], i, &k); i++) junit_suite(&out, tests[t], i, &k);
    char *findings = lk_report_errors(report) ? lk_report_text(report, 0) : NULL;
    if (findings) {
        text_add(
            &out,
            "  <testsuite name=\"report\" tests=\"0\" failures=\"0\" errors=\"0\" skipped=\"0\">\n    <system-out>");
        text_xml(&out, findings);
        text_add(&out, "</system-out>\n  </testsuite>\n");
    }
    lk_text_free(findings);
    text_add(&out, "</testsuites>\n");
    return out.p;
}
