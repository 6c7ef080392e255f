/* Testing a file: every contract of it, over many cases; failures are gathered by what they look like, made smaller,
 * and told once. */
#include "lab/lab.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>

enum { CASES = 64, ATTEMPTS = 8, FAILURES_MOST = 8, LIKENESS_LEAST = 20, WITNESSES = 3 };
#define LIKENESS_MOST 2e5 /* operations of the oracle of a case that is classified */

struct failure {
    const char *first;
    struct contract_case least;             /* the smallest that was seen */
    struct contract_case likely[WITNESSES]; /* those in which the mistake stands out most, clearest first */
    double clear[WITNESSES];                /* how much it does */
    u64 elements[WITNESSES];                /* that were judged there */
    u32 likelies;
    u32 cases;
    const char *kind, *line;
};
struct tested { /* a kernel */
    lk_test_kernel is;
    VEC(lk_test_case) list;
    VEC(struct failure) failure;
    struct lab_subject subject;
    const struct contract_kernel *k;             /* with the usual choices */
    s64 low[CONTRACT_DIMS], high[CONTRACT_DIMS]; /* of each dim, that cases had */
    struct contract_case suspect;                /* the first that was */
};
struct lk_test {
    struct arena mem;
    struct contract read; /* with the usual choices */
    struct str text;
    VEC(struct tested) kernel;
    const lk_test_options *o;
    lk_gpu *report;
};

static const char *line_of(struct arena *mem, const struct contract_case *c)
{
    struct text t = { 0 };
    case_print(c, &t);
    const char *line = arena_str(mem, str_of(t.p));
    text_free(&t);
    return line;
}

/* ---- one case ---- */

static struct failure *failure_of(struct lk_test *t, struct tested *k, const char *first)
{
    for (u32 i = 0; i < k->failure.n; i++)
        if (!strcmp(k->failure.p[i].first, first)) return &k->failure.p[i];
    VEC_PUSH(&t->mem, &k->failure, (struct failure){ .first = arena_str(&t->mem, str_of(first)) });
    return &k->failure.p[k->failure.n - 1];
}

/* How clearly a case shows its mistake: by how many times it exceeds the bound, and enough elements to tell one mistake
 * from another. */
static double clarity(const struct lab_outcome *o)
{
    double r = isfinite(o->ratio) ? o->ratio : 1;
    return o->cost > LIKENESS_MOST ? 1e-9 / o->cost : o->elements < LIKENESS_LEAST ? 1e-3 : r;
}

static void note_failure(struct lk_test *t, struct tested *k, const struct contract_case *c,
                         const struct lab_outcome *o)
{
    struct failure *f = failure_of(t, k, o->first);
    double clear = clarity(o);
    u32 at = f->likelies;
    if (!f->cases) f->least = *c;
    f->cases++;
    while (at && clear > f->clear[at - 1]) at--;
    if (at == WITNESSES) return;
    f->likelies = MIN_OF(f->likelies + 1, (u32)WITNESSES);
    for (u32 i = f->likelies; i-- > at + 1;) {
        f->likely[i] = f->likely[i - 1];
        f->clear[i] = f->clear[i - 1];
        f->elements[i] = f->elements[i - 1];
    }
    f->likely[at] = *c;
    f->clear[at] = clear;
    f->elements[at] = o->elements;
}

static void note_sizes(struct tested *k)
{
    const struct bound *b = &k->subject.contract->bound;
    if (!b->kernel) return;
    for (u32 i = 0; i < b->kernel->dims.n; i++) {
        s64 v = b->value[i].i;
        bool fresh = k->low[i] == 0 && k->high[i] == 0 && !k->is.passed && !k->is.failed;
        if (fresh || v < k->low[i]) k->low[i] = v;
        if (fresh || v > k->high[i]) k->high[i] = v;
    }
}

static void count(struct lk_test *t, struct tested *k, const struct contract_case *c, const struct lab_outcome *o,
                  double seconds)
{
    const char *line = line_of(&t->mem, c);
    lk_test_case row = { .line = line, .end = (lk_test_end)o->end, .ratio = o->ratio, .elements = o->elements };
    row.first = o->first[0] ? arena_str(&t->mem, str_of(o->first)) : "";
    row.seconds = seconds;
    if (o->end == LAB_PASSED || o->end == LAB_FAILED) note_sizes(k);
    k->is.passed += o->end == LAB_PASSED;
    k->is.failed += o->end == LAB_FAILED;
    k->is.refused += o->end == LAB_REFUSED;
    k->is.large += o->end == LAB_LARGE;
    k->is.empty += o->end == LAB_EMPTY;
    k->is.suspects += o->suspect;
    k->is.elements += o->elements;
    k->is.overflow += o->overflow;
    k->is.ill += o->ill;
    if (o->end == LAB_PASSED && o->judged && (!k->is.closest || o->ratio > k->is.ratio)) {
        k->is.ratio = o->ratio;
        k->is.closest = line;
    }
    if (o->end == LAB_REFUSED || o->end == LAB_LARGE) return;
    VEC_PUSH(&t->mem, &k->list, row);
    k->is.cases++;
}

static bool run_case(struct lk_test *t, struct tested *k, const struct contract_case *c, struct error *e)
{
    struct lab_outcome o;
    u64 began = time_ns();
    struct lab_how how = { .twice = k->is.suspects > 0 };
    if (!lab_run(&k->subject, c, &how, &o, e)) return false;
    count(t, k, c, &o, (double)(time_ns() - began) * 1e-9);
    if (o.end == LAB_FAILED) note_failure(t, k, c, &o);
    if (o.suspect && k->is.suspects == 1) k->suspect = *c;
    if (o.end == LAB_REFUSED && !k->is.refusal) k->is.refusal = arena_str(&t->mem, str_of(o.why));
    if (o.end == LAB_LATER) k->is.unsupported = arena_str(&t->mem, str_of(o.why));
    return true;
}

/* ---- a kernel ---- */

static bool seen_before(struct lk_test *t, struct map *seen, const struct contract_case *c)
{
    struct str line = str_of(line_of(&t->mem, c));
    if (map_get(seen, line)) return true;
    map_put(&t->mem, seen, line, seen);
    return false;
}

static bool run_made(struct lk_test *t, struct tested *k, struct error *e)
{
    u32 wanted = t->o->cases ? t->o->cases : CASES;
    struct lab_maker *m = lab_maker_new(&t->mem, k->k, t->o->seed, wanted);
    struct map seen = { 0 };
    for (u32 tries = 0; k->is.cases < wanted && tries < ATTEMPTS * wanted + 16 && !k->is.unsupported; tries++) {
        struct contract_case c;
        lab_maker_next(m, &c);
        if (!seen_before(t, &seen, &c) && !run_case(t, k, &c, e)) return false;
    }
    return true;
}

static bool run_only(struct lk_test *t, struct tested *k, struct error *e)
{
    struct contract_case c;
    return case_read(&t->mem, k->k, t->o->only, &c, e) && run_case(t, k, &c, e);
}

/* Whether two explanations are one, whatever the sizes in them. */
static bool same_words(const char *a, const char *b)
{
    for (;; a++, b++) {
        bool number = isdigit((unsigned char)*a) && isdigit((unsigned char)*b);
        while (number && isdigit((unsigned char)a[1])) a++;
        while (number && isdigit((unsigned char)b[1])) b++;
        if (!number && *a != *b) return false;
        if (!*a) return true;
    }
}

/* What a mistake looks like, on cases that are large enough to tell one mistake from another. Small outputs fit many by
 * chance: two cases must then say the same. */
static bool look(struct lk_test *t, struct tested *k, struct failure *f, struct lab_how *how, struct error *e)
{
    struct lab_outcome o[WITNESSES];
    struct lab_how ask = { .explain = true, .twice = k->is.suspects > 1 };
    if (strncmp(f->first, "result:", 7)) return true;
    for (u32 i = 0; i < f->likelies; i++) {
        u32 agree = f->elements[i] >= LIKENESS_LEAST;
        if (!lab_run(&k->subject, &f->likely[i], &ask, &o[i], e)) return false;
        for (u32 x = 0; x < i; x++) agree += o[i].likeness[0] && same_words(o[x].likeness, o[i].likeness);
        if (!o[i].likeness[0] || !agree) continue;
        how->likeness = arena_str(&t->mem, str_of(o[i].likeness));
        how->label = (enum oracle_label)o[i].label;
        how->likeness_of = line_of(&t->mem, &f->likely[i]);
        return true;
    }
    return true;
}

/* Makes the case of a failure smaller and puts what it finds into the report of the campaign. */
static bool tell_failure(struct lk_test *t, struct tested *k, struct failure *f, struct error *e)
{
    struct lab_how how = { .tell = true, .twice = k->is.suspects > 1 };
    struct lab_outcome o;
    struct report_brief b;
    u32 tries;
    if (!t->o->only && !lab_shrink(&k->subject, &t->mem, &f->least, f->first, &tries, e)) return false;
    f->line = line_of(&t->mem, &f->least);
    if (!look(t, k, f, &how, e)) return false;
    if (how.likeness_of && !strcmp(how.likeness_of, f->line)) how.likeness_of = NULL;
    if (!lab_run(&k->subject, &f->least, &how, &o, e)) return false;
    f->kind = report_first(k->subject.gpu->device->report, &b) ? finding_id(b.kind) : "intermittent";
    const char *remark = arena_printf(&t->mem, "  case: %s", f->line);
    report_take_run(t->report->device->report, k->subject.gpu->device->report, remark);
    return true;
}

/* One case that is suspect, and no second one: a note. */
static bool tell_suspect(struct lk_test *t, struct tested *k, struct error *e)
{
    struct lab_outcome o;
    if (k->is.suspects != 1 || k->is.failed) return true;
    if (!lab_run(&k->subject, &k->suspect, &(struct lab_how){ .tell = true }, &o, e)) return false;
    const char *remark = arena_printf(&t->mem, "  case: %s", line_of(&t->mem, &k->suspect));
    report_take_run(t->report->device->report, k->subject.gpu->device->report, remark);
    return true;
}

static void shapes_of(struct lk_test *t, struct tested *k)
{
    const char *s = "";
    for (u32 i = 0; i < k->k->dims.n && k->is.passed + k->is.failed; i++) {
        const char *name = k->k->dims.p[i].name;
        s = k->low[i] == k->high[i]
                ? arena_printf(&t->mem, "%s%s%s %" PRId64, s, i ? ", " : "", name, k->low[i])
                : arena_printf(&t->mem, "%s%s%s %" PRId64 "..%" PRId64, s, i ? ", " : "", name, k->low[i], k->high[i]);
    }
    k->is.shapes = s;
}

static bool test_kernel(struct lk_test *t, struct tested *k, struct error *e)
{
    bool ok = t->o->only ? run_only(t, k, e) : run_made(t, k, e);
    for (u32 i = 0; ok && i < MIN_OF(k->failure.n, (u32)FAILURES_MOST); i++)
        ok = tell_failure(t, k, &k->failure.p[i], e);
    ok = ok && tell_suspect(t, k, e);
    k->is.failures = k->failure.n;
    shapes_of(t, k);
    lab_close(&k->subject);
    return ok;
}

/* ---- a file ---- */

static bool open_file(struct lk_test *t, const char *path, struct error *e)
{
    struct str text;
    if (!file_read(path, &text, e)) return false;
    t->text = (struct str){ arena_str(&t->mem, text), text.n };
    base_free((void *)text.p);
    const char *name = arena_str(&t->mem, str_of(path));
    if (!contract_parse(&t->mem, name, t->text, &t->read, e)) return false;
    for (u32 i = 0; i < t->read.kernels.n; i++) {
        const struct contract_kernel *k = &t->read.kernels.p[i];
        size_t n = strcspn(k->name, "<");
        const char *asked = t->o->kernel;
        if (asked && strcmp(k->name, asked) && (strlen(asked) != n || strncmp(k->name, asked, n))) continue;
        struct tested one = { .k = k, .is = { .name = k->name, .line = 1, .tolerance = k->tolerance, .shapes = "" } };
        for (const char *p = t->text.p; p < k->at; p++) one.is.line += *p == '\n';
        one.is.has_oracle = k->oracles.list.n > 0;
        one.subject = (struct lab_subject){ .path = name, .text = t->text, .block = i, .kernel = k->name };
        one.subject.options = t->o->gpu ? *t->o->gpu : (lk_options){ 0 };
        one.subject.options.size = sizeof one.subject.options;
        one.subject.options.seeded = 1;
        one.subject.options.seed = t->o->seed;
        one.subject.compile = t->o->compile;
        VEC_PUSH(&t->mem, &t->kernel, one);
    }
    if (t->kernel.n) return true;
    return error_set(
        e, ERR_NOTHING,
        t->o->kernel
            ? "%.200s has no contract for %.60s"
            : "%.200s has no contract: a block of lines that begins with //! kernel NAME, lockstep-contract(5)",
        path, t->o->kernel ? t->o->kernel : "");
}

static lk_status status_of(const struct lk_test *t)
{
    u32 ran = 0, stopped = 0, failed = 0;
    for (u32 i = 0; i < t->kernel.n; i++) {
        ran += t->kernel.p[i].is.passed + t->kernel.p[i].is.failed;
        failed += t->kernel.p[i].is.failed;
        stopped += t->kernel.p[i].is.unsupported != NULL;
    }
    return failed ? LK_FINDINGS : stopped ? LK_UNSUPPORTED : ran ? LK_OK : LK_NOTHING;
}

lk_status lk_test_file(lk_gpu *report, const char *path, const lk_test_options *options, lk_test **test)
{
    static const lk_test_options usual = { .size = sizeof usual };
    if (!report || !path || !test) return HOST_MISSING(report, !report ? "gpu" : !path ? "path" : "place for the test");
    struct error *host = host_begin(report), e = { 0 };
    struct arena mem = { 0 };
    struct lk_test *t = NEW(&mem, struct lk_test);
    *t = (struct lk_test){ .mem = mem, .o = options ? options : &usual, .report = report };
    *test = NULL;
    bool ok = open_file(t, path, &e);
    for (u32 i = 0; ok && i < t->kernel.n; i++) ok = test_kernel(t, &t->kernel.p[i], &e);
    if (!ok) {
        for (u32 i = 0; i < t->kernel.n; i++) lab_close(&t->kernel.p[i].subject);
        lk_test_free(t);
        host_begin(report);
        *host = e;
        return host_failed(report);
    }
    *test = t;
    return status_of(t);
}

void lk_test_free(lk_test *test)
{
    if (!test) return;
    struct arena mem = test->mem; /* the test itself lies in it */
    arena_free(&mem);
}

const char *lk_test_path(const lk_test *test) { return test ? test->read.file : ""; }

int lk_test_kernel_at(const lk_test *test, uint32_t i, lk_test_kernel *out)
{
    if (!test || i >= test->kernel.n) return 0;
    *out = test->kernel.p[i].is;
    return 1;
}

int lk_test_case_at(const lk_test *test, uint32_t kernel, uint32_t i, lk_test_case *out)
{
    if (!test || kernel >= test->kernel.n || i >= test->kernel.p[kernel].list.n) return 0;
    *out = test->kernel.p[kernel].list.p[i];
    return 1;
}

int lk_test_failure_at(const lk_test *test, uint32_t kernel, uint32_t i, lk_test_failure *out)
{
    if (!test || kernel >= test->kernel.n || i >= test->kernel.p[kernel].failure.n) return 0;
    const struct failure *f = &test->kernel.p[kernel].failure.p[i];
    *out = (lk_test_failure){
        .first = f->first, .kind = f->kind ? f->kind : f->first, .line = f->line ? f->line : "", .cases = f->cases
    };
    return 1;
}
