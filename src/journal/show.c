/* lockstep journal show: tests by kernel, times by name. */
#include "journal/show.h"
#include <inttypes.h>

struct kernel_tests { /* cases of one kernel, as its source is */
    const char *file, *kernel, *source;
    u32 cases, passed, failed;
    double seconds;
    const char *first; /* what the last failure begins with */
};
struct shown {
    struct arena *a;
    VEC(struct kernel_tests) tests;
    VEC(struct timed) times; /* every entry */
    u32 edited, cut, entries;
    char where[300]; /* the first that was edited */
};

static void add_test(struct shown *s, const struct json_value *v)
{
    const char *file = json_string(v, "file"), *kernel = json_string(v, "kernel"), *source = json_string(v, "source");
    u32 k = 0;
    while (k < s->tests.n && (strcmp(s->tests.p[k].file, file) || strcmp(s->tests.p[k].kernel, kernel) ||
                              strcmp(s->tests.p[k].source, source)))
        k++;
    if (k == s->tests.n) {
        struct kernel_tests new = { .file = file, .kernel = kernel, .source = source, .first = "" };
        VEC_PUSH(s->a, &s->tests, new);
    }
    struct kernel_tests *t = &s->tests.p[k];
    const struct json_value *seconds = json_get(v, "seconds");
    const char *end = json_string(v, "end");
    t->cases++;
    t->passed += !strcmp(end, "passed");
    t->failed += !strcmp(end, "failed");
    if (!strcmp(end, "failed")) t->first = json_string(v, "first");
    if (seconds && seconds->kind == JSON_NUMBER) t->seconds += seconds->number;
}

static bool add_file(struct shown *s, const char *path, struct error *e)
{
    struct str text;
    struct journal_entry *x;
    if (!file_read(path, &text, e)) return false;
    u32 n = journal_entries(s->a, (struct str){ arena_str(s->a, text), text.n }, path, &x);
    base_free((void *)text.p);
    for (u32 i = 0; i < n; i++) {
        struct timed t;
        struct error wrong = { 0 };
        s->entries++;
        s->cut += x[i].state == JOURNAL_CUT;
        if (x[i].state == JOURNAL_EDITED && !s->edited++)
            snprintf(s->where, sizeof s->where, "%.250s:%u", path, x[i].number);
        if (x[i].state >= JOURNAL_CUT) continue;
        if (!strcmp(json_string(x[i].value, "entry"), "test"))
            add_test(s, x[i].value);
        else if (times_read(s->a, &x[i], path, &t, &wrong))
            VEC_PUSH(s->a, &s->times, t);
        else if (wrong.code)
            return error_set(e, wrong.code, "%s", wrong.text);
    }
    return true;
}

/* The entries of one name, in order: their medians. */
static lk_series medians_of(struct shown *s, u32 first, u32 *last)
{
    VEC(double) m = { 0 };
    for (u32 i = first; i < s->times.n; i++) {
        const struct timed *t = &s->times.p[i];
        if (strcmp(t->name, s->times.p[first].name)) continue;
        double x = lk_series_quantile(times_all(s->a, t), 0.5);
        VEC_PUSH(s->a, &m, x);
        *last = i;
    }
    return (lk_series){ m.p, m.n };
}

static bool is_first(const struct shown *s, u32 i)
{
    for (u32 k = 0; k < i; k++)
        if (!strcmp(s->times.p[k].name, s->times.p[i].name)) return false;
    return true;
}

static void put_times(struct shown *s, struct text *out)
{
    for (u32 i = 0; i < s->times.n; i++) {
        if (!is_first(s, i)) continue;
        u32 last = i;
        lk_series m = medians_of(s, i, &last);
        char now[40], began[40];
        times_text(m.sample[m.n - 1], s->times.p[last].unit, now, sizeof now);
        times_text(m.sample[0], s->times.p[i].unit, began, sizeof began);
        text_add(out, "  %-12s %s", now, s->times.p[i].name);
        if (m.n > 1)
            text_add(out, "  (%u entries; the first %s, %+.1f %%", m.n, began,
                     100 * (m.sample[m.n - 1] / m.sample[0] - 1));
        u32 change = lk_series_warmup(m, 0.03);
        if (m.n > 1 && change) text_add(out, "; the level changed at entry %u", change + 1);
        text_add(out, "%s\n", m.n > 1 ? ")" : "");
    }
}

static void put_tests(struct shown *s, struct text *out)
{
    for (u32 i = 0; i < s->tests.n; i++) {
        const struct kernel_tests *t = &s->tests.p[i];
        text_add(out, "  %-6s %s:%s, %u case%s, %u passed", t->failed ? "failed" : "passed", t->file, t->kernel,
                 t->cases, plural(t->cases), t->passed);
        if (t->failed) text_add(out, ", %u failed (%s)", t->failed, t->first);
        text_add(out, ", %.1f s, source %.8s\n", t->seconds, t->source);
    }
}

static void put_json(struct shown *s, struct text *out)
{
    struct json top = { out, false }, all = json_open(&top, NULL, '{');
    json_text(&all, "schema", "lockstep-journal");
    json_number(&all, "version", 1);
    json_number(&all, "entries", s->entries);
    json_number(&all, "edited", s->edited);
    json_number(&all, "cut", s->cut);
    struct json tests = json_open(&all, "tests", '[');
    for (u32 i = 0; i < s->tests.n; i++) {
        const struct kernel_tests *t = &s->tests.p[i];
        struct json one = json_open(&tests, NULL, '{');
        json_text(&one, "file", t->file);
        json_text(&one, "kernel", t->kernel);
        json_text(&one, "source", t->source);
        json_number(&one, "cases", t->cases);
        json_number(&one, "passed", t->passed);
        json_number(&one, "failed", t->failed);
        json_double(&one, "seconds", t->seconds);
        json_end(&one, '}');
    }
    json_end(&tests, ']');
    struct json times = json_open(&all, "times", '[');
    for (u32 i = 0; i < s->times.n; i++) {
        if (!is_first(s, i)) continue;
        u32 last = i;
        lk_series m = medians_of(s, i, &last);
        struct json one = json_open(&times, NULL, '{');
        json_text(&one, "name", s->times.p[i].name);
        json_text(&one, "unit", s->times.p[i].unit);
        struct json list = json_open(&one, "medians", '[');
        for (u32 k = 0; k < m.n; k++) json_double(&list, NULL, m.sample[k]);
        json_end(&list, ']');
        json_number(&one, "level_changed_at", lk_series_warmup(m, 0.03));
        json_end(&one, '}');
    }
    json_end(&times, ']');
    json_end(&all, '}');
    text_add(out, "\n");
}

bool journal_show(struct arena *a, const char *const *path, u32 n, const char *json, int *code, struct error *e)
{
    struct shown s = { .a = a };
    struct text out = { 0 };
    for (u32 i = 0; i < n; i++)
        if (!add_file(&s, path[i], e)) return false;
    *code = s.edited ? EXIT_USAGE : s.entries ? EXIT_CLEAN : EXIT_NOTHING;
    if (!json || strcmp(json, "-")) {
        if (s.tests.n) text_add(&out, "tests\n");
        put_tests(&s, &out);
        if (s.times.n) text_add(&out, "times\n");
        put_times(&s, &out);
        text_add(&out, "%u entr%s\n", s.entries, s.entries == 1 ? "y" : "ies");
        if (s.cut)
            text_add(&out, "%u line%s cut off: a run was stopped while it wrote\n", s.cut,
                     s.cut == 1 ? " is" : "s are");
        fwrite(out.p, 1, out.n, stdout);
        fflush(stdout);
        out.n = 0;
    }
    if (s.edited)
        error_set(e, ERR_INPUT, "%s: this entry was edited: its hash is another one (%u such)", s.where, s.edited);
    put_json(&s, &out);
    bool ok = !json || file_write(json, out.p, out.n, e);
    text_free(&out);
    return ok && !s.edited;
}
