/* lockstep journal show: tests by kernel, times by name. */
#include "journal/show.h"
#include "base/printable.h"
#include <inttypes.h>

struct kernel_tests { /* cases of one kernel, as its source is */
    const char *file, *kernel, *source;
    u32 cases, passed, failed;
    double seconds;
    const char *first; /* what the last failure begins with */
};
struct named { /* the entries of one name, in order */
    u32 first, last;
    VEC(double) medians;
};
struct shown_entry {
    struct arena *a;
    VEC(struct kernel_tests) tests;
    struct map test_of;                            /* a struct kernel_tests and one more, by file, kernel and source */
    VEC(struct timed) times;                       /* every entry */
    VEC(struct named *) names;                     /* of these, in the order of the first entries */
    struct map libraries;                          /* the last entry of a Python callable, by what it stands for */
    VEC(const struct json_value *) tried, counted; /* entries of tune, and of bench on the software GPU */
    u32 edited, cut, entries;
    char where[300]; /* the first that was edited */
};

static void add_test(struct shown_entry *s, const struct json_value *v)
{
    const char *file = json_string(v, "file"), *kernel = json_string(v, "kernel"), *source = json_string(v, "source");
    struct str key = str_of(arena_printf(s->a, "%zu %zu %s%s%s", strlen(file), strlen(kernel), file, kernel, source));
    size_t at = (size_t)(uintptr_t)map_get(&s->test_of, key);
    if (!at) {
        struct kernel_tests new = { .file = file, .kernel = kernel, .source = source, .first = "" };
        VEC_PUSH(s->a, &s->tests, new);
        at = s->tests.n;
        map_put(s->a, &s->test_of, key, (void *)(uintptr_t)at);
    }
    struct kernel_tests *t = &s->tests.p[at - 1];
    const struct json_value *seconds = json_get(v, "seconds");
    const char *end = json_string(v, "end");
    t->cases++;
    t->passed += !strcmp(end, "passed");
    t->failed += !strcmp(end, "failed");
    if (!strcmp(end, "failed")) t->first = json_string(v, "first");
    if (seconds && seconds->kind == JSON_NUMBER) t->seconds += seconds->number;
}

static bool add_file(struct shown_entry *s, const char *path, struct error *e)
{
    struct journal_entry *x;
    u32 n;
    if (!journal_load(s->a, path, &x, &n, e)) return false;
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
        else if (!strcmp(json_string(x[i].value, "entry"), "tune"))
            VEC_PUSH(s->a, &s->tried, x[i].value);
        else if (!strcmp(json_string(x[i].value, "entry"), "counts"))
            VEC_PUSH(s->a, &s->counted, x[i].value);
        else if (times_read(s->a, &x[i], path, &t, &wrong))
            VEC_PUSH(s->a, &s->times, t);
        else if (wrong.code)
            return error_set(e, wrong.code, "%s", wrong.text);
    }
    return true;
}

/* A callable, eager.py:softmax, has the name of a kernel, softmax<float>. "": it has none. */
static struct str name_of_callable(const char *kernel)
{
    const char *colon = strrchr(kernel, ':');
    return str_of(colon ? colon + 1 : "");
}

static struct str name_of_kernel(const char *kernel) { return (struct str){ kernel, (u32)strcspn(kernel, "<(") }; }

/* What an entry is of, but for who has computed it: work, case, mode and kernel. */
static struct str place_of(struct arena *a, const struct timed *t, struct str kernel)
{
    const char *mode = times_word(t, "mode"), *is = times_word(t, "case");
    return str_of(arena_printf(a, "%zu %zu %zu %s%s%s%.*s", strlen(t->work), strlen(mode), strlen(is), t->work, mode,
                               is, (int)kernel.n, kernel.p));
}

static bool is_callable(const struct timed *t) { return !strncmp(times_word(t, "binary"), "torch", 5); }

/* The names of all entries, and the callables among them. */
static void index_times(struct shown_entry *s)
{
    struct map known = { 0 };
    for (u32 i = 0; i < s->times.n; i++) {
        struct timed *t = &s->times.p[i];
        struct named *x = map_get(&known, str_of(t->name));
        if (!x) {
            x = NEW(s->a, struct named);
            x->first = i;
            map_put(s->a, &known, str_of(t->name), x);
            VEC_PUSH(s->a, &s->names, x);
        }
        x->last = i;
        VEC_PUSH(s->a, &x->medians, lk_series_quantile(times_all(s->a, t), 0.5));
        struct str name = name_of_callable(times_word(t, "kernel"));
        if (t->work[0] && name.n && is_callable(t)) map_put(s->a, &s->libraries, place_of(s->a, t, name), t);
    }
}

/* The last entry of a Python callable of that name on the same work, case and mode: the library that is to be beaten.
 */
static const struct timed *library_of(const struct shown_entry *s, const struct timed *t)
{
    struct str name = name_of_kernel(times_word(t, "kernel"));
    if (!t->work[0] || !name.n || is_callable(t)) return NULL;
    return map_get(&s->libraries, place_of(s->a, t, name));
}

/* The entry against that of the library: false where there is none. Processes are pairs in their order, as `compare`
 * starts them. */
static bool against_library(const struct shown_entry *s, const struct timed *t, const struct timed **other,
                            lk_judgement *j)
{
    *other = library_of(s, t);
    if (!*other) return false;
    lk_times pair = { t->name, (*other)->process, t->process, MIN_OF((*other)->processes, t->processes) };
    lk_times_judge(&pair, 1, NULL, j);
    return j->before > 0;
}

static void put_figures(const struct shown_entry *s, const struct timed *t, double median, struct text *out)
{
    double bytes = times_number(t, "bytes", 0), copy = times_number(t, "copy_ceiling", 0);
    const struct timed *other;
    lk_judgement j;
    if (bytes > 0 && median > 0) {
        text_add(out, "  %.3g GB/s", bytes / median * 1e-9);
        if (copy > 0) text_add(out, ", %.0f %% of a copy", 100 * bytes / median / copy);
    }
    if (against_library(s, t, &other, &j)) {
        text_add(out, "  %.2f of the time of %s", j.ratio, printable_in(s->a, times_word(other, "kernel")));
        if (j.low > 0) text_add(out, " (%.3f to %.3f)", j.low, j.high);
        text_add(out, ": %s", lk_verdict_name(j.verdict));
    }
}

static void put_tried(struct shown_entry *s, struct text *out)
{
    for (u32 i = 0; i < s->tried.n; i++) {
        const struct json_value *v = s->tried.p[i], *param = json_get(v, "parameters"), *m = json_get(v, "median");
        const struct json_value *best = json_get(v, "best"), *least = json_get(v, "least");
        char x[40] = "";
        bool is_timed = m && m->kind == JSON_NUMBER; /* else there is the model's time */
        if (is_timed || (least && least->kind == JSON_NUMBER))
            times_text(is_timed ? m->number : least->number, "s", x, sizeof x);
        text_add(out, "  %-9s %s", printable_in(s->a, json_string(v, "end")),
                 printable_in(s->a, json_string(v, "name")));
        for (u32 k = 0; param && param->kind == JSON_OBJECT && k < param->n; k++)
            text_add(out, " %s=%s", printable_in(s->a, param->key[k].p),
                     param->item[k].kind == JSON_TEXT ? printable_in(s->a, param->item[k].text.p) : "?");
        if (x[0]) text_add(out, "  %s%s", is_timed ? "" : "at least ", x);
        if (best && best->kind == JSON_BOOL && best->yes) text_add(out, ", the best");
        const char *why = printable_in(s->a, json_string(v, "why"));
        if (why[0]) text_add(out, ": %s", why);
        text_add(out, "\n");
    }
}

static void put_counted(struct shown_entry *s, struct text *out)
{
    for (u32 i = 0; i < s->counted.n; i++) {
        const struct json_value *v = s->counted.p[i];
        text_add(out, "  %s: %" PRIu64 " instructions, %" PRIu64 " sectors, %" PRIu64 " wavefronts\n",
                 printable_in(s->a, json_string(v, "name")), json_whole(v, "warp_instructions"),
                 json_whole(v, "sectors"), json_whole(v, "shared_passes"));
    }
}

static void put_cost(struct shown_entry *s, double rate, struct text *out)
{
    double all = 0;
    for (u32 i = 0; i < s->times.n; i++) {
        lk_series x = times_all(s->a, &s->times.p[i]);
        double batch = times_number(&s->times.p[i], "batch", 1), sum = 0;
        for (u32 k = 0; k < x.n; k++) sum += x.sample[k];
        all += sum * batch;
    }
    text_add(out, "%.3g s of the device in samples, %.3g at %g an hour\n", all, all / 3600 * rate, rate);
}

static void put_times(struct shown_entry *s, struct text *out)
{
    for (u32 n = 0; n < s->names.n; n++) {
        u32 i = s->names.p[n]->first, last = s->names.p[n]->last;
        lk_series m = { s->names.p[n]->medians.p, s->names.p[n]->medians.n };
        char now[40], began[40];
        times_text(m.sample[m.n - 1], s->times.p[last].unit, now, sizeof now);
        times_text(m.sample[0], s->times.p[i].unit, began, sizeof began);
        text_add(out, "  %-12s %s", printable_in(s->a, now), printable_in(s->a, s->times.p[i].name));
        if (m.n > 1)
            text_add(out, "  (%u entries; the first %s, %+.1f %%", m.n, printable_in(s->a, began),
                     100 * (m.sample[m.n - 1] / m.sample[0] - 1));
        u32 change = lk_series_warmup(m, 0.03);
        if (m.n > 1 && change) text_add(out, "; the level changed at entry %u", change + 1);
        text_add(out, "%s", m.n > 1 ? ")" : "");
        put_figures(s, &s->times.p[last], m.sample[m.n - 1], out);
        text_add(out, "\n");
    }
}

static void put_tests(struct shown_entry *s, struct text *out)
{
    for (u32 i = 0; i < s->tests.n; i++) {
        const struct kernel_tests *t = &s->tests.p[i];
        text_add(out, "  %-6s %s:%s, %u case%s, %u passed", t->failed ? "failed" : "passed",
                 printable_in(s->a, t->file), printable_in(s->a, t->kernel), t->cases, plural(t->cases), t->passed);
        if (t->failed) text_add(out, ", %u failed (%s)", t->failed, printable_in(s->a, t->first));
        text_add(out, ", %.1f s, source %.8s\n", t->seconds, printable_in(s->a, t->source));
    }
}

static void put_json_figures(const struct shown_entry *s, const struct timed *t, struct json *to)
{
    const struct timed *other;
    lk_judgement j;
    for (u32 k = 0; k < t->notes; k++)
        if (t->note[k].text)
            json_text(to, t->note[k].key, t->note[k].text);
        else
            json_double(to, t->note[k].key, t->note[k].number);
    if (!against_library(s, t, &other, &j)) return;
    struct json one = json_open(to, "library", '{');
    json_text(&one, "name", times_word(other, "kernel"));
    json_double(&one, "median", j.before);
    json_double(&one, "ratio", j.ratio);
    json_double(&one, "low", j.low);
    json_double(&one, "high", j.high);
    json_text(&one, "verdict", lk_verdict_name(j.verdict));
    json_end(&one, '}');
}

static void put_json(struct shown_entry *s, struct text *out)
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
    for (u32 n = 0; n < s->names.n; n++) {
        u32 i = s->names.p[n]->first, last = s->names.p[n]->last;
        lk_series m = { s->names.p[n]->medians.p, s->names.p[n]->medians.n };
        struct json one = json_open(&times, NULL, '{');
        json_text(&one, "name", s->times.p[i].name);
        json_text(&one, "unit", s->times.p[i].unit);
        struct json list = json_open(&one, "medians", '[');
        for (u32 k = 0; k < m.n; k++) json_double(&list, NULL, m.sample[k]);
        json_end(&list, ']');
        json_number(&one, "level_changed_at", lk_series_warmup(m, 0.03));
        put_json_figures(s, &s->times.p[last], &one);
        json_end(&one, '}');
    }
    json_end(&times, ']');
    json_end(&all, '}');
    text_add(out, "\n");
}

bool journal_show(struct arena *a, const char *const *path, u32 n, const char *json, double rate, int *code,
                  struct error *e)
{
    struct shown_entry s = { .a = a };
    struct text out = { 0 };
    for (u32 i = 0; i < n; i++)
        if (!add_file(&s, path[i], e)) return false;
    index_times(&s);
    *code = s.edited ? EXIT_USAGE : s.entries ? EXIT_CLEAN : EXIT_NOTHING;
    if (!json || strcmp(json, "-")) {
        if (s.tests.n) text_add(&out, "tests\n");
        put_tests(&s, &out);
        if (s.times.n) text_add(&out, "times\n");
        put_times(&s, &out);
        if (s.tried.n) text_add(&out, "configurations\n");
        put_tried(&s, &out);
        if (s.counted.n) text_add(&out, "counts\n");
        put_counted(&s, &out);
        if (rate > 0) put_cost(&s, rate, &out);
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
