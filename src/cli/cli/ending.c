/* The texts are changed where their writers put fixed words: the end of an object, of a list, the counts of a suite. */
#include "cli/ending.h"
#include "base/json.h"
#include "base/xml.h"
#include <stdlib.h>

/* "failed" also where the program itself has failed, which no finding says. */
static const char *word_of(const struct told_ending *t) { return ending_name(outcome_ending(&t->outcome)); }

static bool is_yes(const struct told_ending *t) { return !t->code; }

/* Whether the findings say all of it. */
static bool is_told(const struct told_ending *t)
{
    const struct outcome *o = &t->outcome;
    return is_yes(t) || (o->errors && !o->failed && !o->undone && !o->unsupported && !o->signal);
}

/* Where the last `what` begins; NULL: it is not there. */
static char *last_of(const struct text *t, const char *what)
{
    char *found = NULL;
    for (char *p = t->p; p && (p = strstr(p, what)); p++) found = p;
    return found;
}

/* Puts `what` in front of `at`, which points into t. */
static void insert(struct text *t, const char *at, const struct text *what)
{
    struct text all = { 0 };
    size_t before = (size_t)(at - t->p);
    text_put(&all, t->p, before);
    text_put(&all, what->p ? what->p : "", what->n);
    text_put(&all, t->p + before, t->n - before);
    text_free(t);
    *t = all;
}

/* Takes out what begins with `first`, up to what begins with `next` after it, and puts `what` there. */
static void replace(struct text *t, const char *first, const char *next, const char *what)
{
    char *from = t->p ? strstr(t->p, first) : NULL, *to = from ? strstr(from + strlen(first), next) : NULL;
    if (!to) return;
    struct text all = { 0 };
    text_put(&all, t->p, (size_t)(from - t->p));
    text_add(&all, "%s", what);
    text_put(&all, to, t->n - (size_t)(to - t->p));
    text_free(t);
    *t = all;
}

/* The i-th line of why; false: there is none. */
static bool line_at(const struct told_ending *t, u32 i, char *out, size_t size)
{
    const char *p = t->why.p ? t->why.p : "";
    for (; i && *p; i--) {
        p += strcspn(p, "\n");
        p += *p != 0;
    }
    snprintf(out, size, "%.*s", (int)MIN_OF(strcspn(p, "\n"), size - 1), p);
    return out[0] != 0;
}

void ending_into_json(const struct told_ending *t, struct text *report)
{
    char line[600], verdict[60];
    snprintf(verdict, sizeof verdict, "\"verdict\":\"%s\"", is_yes(t) ? ending_name(ENDING_PASSED) : word_of(t));
    replace(report, "\"verdict\":", ",\"errors\"", verdict); /* that of the findings of this process alone */
    char *end = last_of(report, "}");
    struct text words = { 0 };
    if (!end) return;
    struct json j = { &words, true }, o = json_open(&j, "ending", '{');
    json_text(&o, "word", word_of(t));
    json_number(&o, "exit", (u32)t->code);
    struct json why = json_open(&o, "why", '[');
    for (u32 i = 0; line_at(t, i, line, sizeof line); i++) json_text(&why, NULL, line);
    json_end(&why, ']');
    json_end(&o, '}');
    insert(report, end, &words);
    text_free(&words);
}

/* Adds to the number of an attribute, wherever it stands in the heads of the suites. */
static void count_up(struct text *report, const char *name)
{
    struct text all = { 0 };
    const char *p = report->p, *heads = strstr(p, "<testcase"), *at;
    while ((at = strstr(p, name)) && heads && at < heads) {
        char *end;
        at += strlen(name);
        u64 n = strtoull(at, &end, 10);
        text_put(&all, p, (size_t)(at - p));
        text_add(&all, "%llu", (unsigned long long)n + 1);
        p = end;
    }
    text_put(&all, p, strlen(p));
    text_free(report);
    *report = all;
}

/* A test case that every file contains, so that its history can be followed. */
void ending_into_junit(const struct told_ending *t, struct text *report)
{
    struct text words = { 0 };
    const char *first = report->p ? strstr(report->p, "<testcase") : NULL, *name = " classname=\"";
    const char *class = first ? strstr(first, name) : NULL;
    if (!class || !last_of(report, "  </testsuite>")) return;
    class += strlen(name);
    text_add(&words, "    <testcase classname=\"%.*s\" name=\"ending\" time=\"0\">\n", (int)strcspn(class, "\""),
             class);
    if (!is_told(t)) {
        text_add(&words, "      <failure type=\"%s\" message=\"exit code %d\">", word_of(t), t->code);
        text_xml(&words, t->why.p ? t->why.p : "");
        text_add(&words, "</failure>\n");
    }
    text_add(&words, "    </testcase>\n");
    insert(report, last_of(report, "  </testsuite>"), &words);
    text_free(&words);
    count_up(report, " tests=\"");
    if (!is_told(t)) count_up(report, " failures=\"");
}

/* {"text": ...}: braces would be placeholders, and are doubled (section 3.11.5 of the standard). */
static void put_message(struct json *j, const char *line)
{
    struct text t = { 0 };
    for (; *line; line++) text_add(&t, *line == '{' || *line == '}' ? "%c%c" : "%c", *line, *line);
    struct json o = json_open(j, "message", '{');
    json_text(&o, "text", t.p ? t.p : "");
    json_end(&o, '}');
    text_free(&t);
}

/* A level and a message for each line of why. */
static void put_lines(const struct told_ending *t, const char *rule, struct json *list)
{
    char line[600];
    for (u32 i = 0; line_at(t, i, line, sizeof line); i++) {
        struct json o = json_open(list, NULL, '{');
        if (rule) json_text(&o, "ruleId", rule);
        json_text(&o, "level", "error");
        put_message(&o, line);
        json_end(&o, '}');
    }
}

static void put_invocation(const struct told_ending *t, struct text *out)
{
    struct json j = { out, true }, list = json_open(&j, "invocations", '['), o = json_open(&list, NULL, '{');
    json_bool(&o, "executionSuccessful", is_yes(t));
    json_number(&o, "exitCode", (u32)t->code);
    json_text(&o, "exitCodeDescription", word_of(t));
    struct json notes = json_open(&o, "toolExecutionNotifications", '[');
    put_lines(t, NULL, &notes);
    json_end(&notes, ']');
    json_end(&o, '}');
    json_end(&list, ']');
}

void ending_into_sarif(const struct told_ending *t, struct text *report)
{
    struct text words = { 0 }, more = { 0 };
    replace(report, "\"invocations\":", "\"results\":", "");
    char *at = last_of(report, "],\"columnKind\"");
    if (!at) return;
    put_invocation(t, &words);
    insert(report, at + 1, &words);
    text_free(&words);
    const char *before = at = last_of(report, "],\"invocations\"");
    while (before > report->p && strchr(" \n", before[-1])) before--;
    struct json results = { &more, before > report->p && before[-1] != '[' };
    if (!is_told(t)) put_lines(t, "ending", &results);
    if (more.n) insert(report, at, &more);
    text_free(&more);
}
