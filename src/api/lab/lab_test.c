/* Testing a file: the public interface of lockstep_lab.h, over campaigns of its kernels (lab_campaign.c). */
#include "lab/campaign.h"

#define GPU_LIMIT 60 /* seconds of a case on a GPU */

/* What one kernel is tested with: the software GPU here, workers, a GPU in a worker. */
static bool open_kernel(struct lk_test *t, const struct contract_kernel *k, u32 block, struct error *e)
{
    const lk_test_options *o = t->o;
    bool forward;
    struct tested *one = NEW(&t->mem, struct tested); /* half a MiB: no thread's stack need have it */
    one->k = k;
    one->is = (lk_test_kernel){ .name = k->name, .line = 1, .tolerance = k->tolerance, .shapes = "" };
    for (const char *p = t->text.p; p < k->at; p++) one->is.line += *p == '\n';
    one->is.has_oracle = lab_oracles(&t->read, k, &forward) != NULL;
    one->is.status = LK_NOTHING;
    one->subject = (struct lab_subject){ .path = t->read.file, .text = t->text, .block = block, .kernel = k->name };
    one->subject.budget = o->budget;
    one->subject.options = o->gpu ? *o->gpu : (lk_options){ 0 };
    one->subject.options.size = sizeof one->subject.options;
    one->subject.options.seeded = 1;
    one->subject.options.seed = o->seed;
    one->subject.options.on = NULL;
    one->subject.options.time_limit = o->limit;
    one->subject.compile = o->compile;
    one->subject.command = o->command;
    one->subject.limit = o->limit;
    one->is.oracle_off = one->is.has_oracle && !lab_judges(&one->subject);
    one->elsewhere = one->other = one->subject;
    bool ok = against_open(t, one, e);
    VEC_PUSH(&t->mem, &t->kernel, *one);
    return ok;
}

/* Sides point at the subjects, which have their places now. */
static void open_sides(struct lk_test *t)
{
    for (u32 i = 0; i < t->kernel.n; i++) {
        struct tested *k = &t->kernel.p[i];
        k->here = (struct lab_side){ .subject = &k->subject, .to = -1, .from = -1 };
        k->gpu = (struct lab_side){ .subject = &k->elsewhere, .command = t->o->command, .to = -1, .from = -1 };
        if (!t->on_gpu && !t->on_both) continue;
        k->elsewhere.options.on = t->o->gpu->on;
        k->elsewhere.options.seeded = 0;
        k->gpu.limit = t->o->limit > 0 ? t->o->limit : GPU_LIMIT;
    }
}

static void hash_file(struct lk_test *t)
{
    struct hash h;
    hash_begin(&h);
    hash_add(&h, t->text.p, t->text.n);
    const lk_compile *c = t->o->compile;
    for (u32 i = 0; c && i < c->flags; i++) hash_add_text(&h, c->flag[i]);
    hash_end(&h, t->hash);
}

/* Each choice of the command line must be one that a kernel of the file has; the others keep their own. */
static bool config_known(struct lk_test *t, struct error *e)
{
    struct str rest = str_of(t->o->config ? t->o->config : ""), name, value;
    struct choice_value given[CONTRACT_CHOICES];
    struct contract ignored;
    u32 n = 0;
    while (lab_config_next(&rest, &name, &value)) {
        if (n == CONTRACT_CHOICES) return error_set(e, ERR_INPUT, "--config has more than %d values", CONTRACT_CHOICES);
        given[n++] = (struct choice_value){ arena_str(&t->mem, name), arena_str(&t->mem, value) };
    }
    return contract_parse_with(&t->mem, t->read.file, t->text, given, n, &ignored, e);
}

static bool no_such_kernel(struct lk_test *t, const char *path, struct error *e)
{
    const char **name = NEW_ARRAY(&t->mem, const char *, t->read.kernels.n + 1);
    for (u32 i = 0; i < t->read.kernels.n; i++) {
        const char *is = t->read.kernels.p[i].name;
        name[i] = arena_str(&t->mem, (struct str){ is, (u32)strcspn(is, "<") });
    }
    return error_set(e, ERR_NOTHING, "%.200s has no contract for %.60s%s", path, t->o->kernel,
                     str_hint(&t->mem, str_of(t->o->kernel), name, t->read.kernels.n));
}

static bool open_file(struct lk_test *t, const char *path, struct error *e)
{
    struct str text;
    const char *on = t->o->gpu ? t->o->gpu->on : NULL;
    if (!file_read(path, &text, e)) return false;
    t->text = (struct str){ arena_str(&t->mem, text), text.n };
    base_free((void *)text.p);
    t->on_both = t->o->both;
    t->on_gpu = on && strcmp(on, "sim") && !t->on_both;
    if (!contract_parse(&t->mem, arena_str(&t->mem, str_of(path)), t->text, &t->read, e)) return false;
    hash_file(t);
    for (u32 i = 0; i < t->read.kernels.n; i++) {
        const struct contract_kernel *k = &t->read.kernels.p[i];
        size_t n = strcspn(k->name, "<");
        const char *asked = t->o->kernel;
        if (asked && strcmp(k->name, asked) && (strlen(asked) != n || strncmp(k->name, asked, n))) continue;
        if (!open_kernel(t, k, i, e)) return false;
    }
    open_sides(t);
    if (t->kernel.n) return config_known(t, e) && corpus_known(t, e) && journal_read(t, e);
    if (t->o->kernel) return no_such_kernel(t, path, e);
    return error_set(e, ERR_NOTHING,
                     "%.200s has no contract: a block of lines that begins with //! kernel NAME, lockstep-contract(5)",
                     path);
}

/* Reads every oracle for the usual sizes, so that one that cannot be read is known before any kernel has been tested.
 */
static bool oracles_known(struct lk_test *t, struct error *e)
{
    struct arena mem = { 0 };
    for (u32 i = 0; i < t->kernel.n && !t->o->config && !t->o->only && !e->code; i++) {
        struct lk_contract usual = { .read = t->read };
        struct lab_subject s = { .contract = &usual };
        struct error refused = { 0 }; /* the campaign says so */
        double cost;
        if (contract_bind(&mem, &usual.read, t->kernel.p[i].k, NULL, 0, &usual.bound, &refused)) lab_cost(&s, &cost, e);
    }
    arena_free(&mem);
    return !e->code;
}

/* What tests come to beside the findings of the report. */
static lk_outcome outcome_of(lk_test *const *tests, u32 n, bool sharded)
{
    lk_outcome o = { .size = sizeof o };
    for (u32 i = 0; i < n; i++) {
        const struct lk_test *t = tests[i];
        bool undone = t->undone != NULL;
        o.unjudged += undone && t->undone_status == LK_NOTHING;
        o.unsupported += undone && t->undone_status == LK_UNSUPPORTED;
        o.undone += undone && t->undone_status != LK_NOTHING && t->undone_status != LK_UNSUPPORTED;
        if (undone && !o.why) o.why = t->undone;
        for (u32 k = 0; k < t->kernel.n; k++) {
            const lk_test_kernel *is = &t->kernel.p[k].is;
            bool ran = is->passed + is->failed > 0;
            if (is->left_out) continue;
            o.undone += is->stopped;
            if (is->stopped && !o.why) o.why = "it was interrupted";
            o.failed += is->failed - MIN_OF(is->suppressed, is->failed);
            o.judged += is->status == LK_NOTHING ? 0 : is->passed + is->failed;
            o.unsupported += is->unsupported != NULL;
            o.unjudged += is->status == LK_NOTHING && !is->stopped && (ran || !sharded);
            if (is->unsupported && !o.why) o.why = is->unsupported;
        }
    }
    return o;
}

static u32 test_ended(struct handle *h)
{
    lk_test *t = (lk_test *)h;
    arena_free(&t->mem);
    handle_free(t, sizeof *t);
    return 0;
}

static struct lk_test *test_open(lk_gpu *report)
{
    struct lk_test *t = handle_new(sizeof *t);
    if (!t) return NULL;
    t->handle.end = test_ended;
    handle_open(&t->handle, NULL, HANDLE_TEST);
    t->report = report;
    return t;
}

lk_status lk_test_conclude(lk_test *const *tests, uint32_t n, uint32_t sharded, lk_gpu *report)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, report));
    if (!lab_are_tests(tests, n, __func__)) return LK_BAD_INPUT;
    lk_outcome o = outcome_of(tests, n, sharded);
    return lk_report_conclude(report, &o);
}

uint32_t lk_test_disbelieved(const lk_test *test)
{
    HOST_CALL(0, USE(TEST, test));
    return test->disbelieved;
}

lk_status lk_test_undone(lk_gpu *report, const char *path, lk_status status, const char *why, lk_test **test)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, report));
    if (!path || !test) return HOST_MISSING(report, !path ? "path" : "place for the test");
    struct lk_test *t = *test = test_open(report);
    if (!t) return host_refuse(report, "no memory for a test");
    t->undone_status = status;
    t->undone_path = arena_str(&t->mem, str_of(path));
    t->undone = arena_str(&t->mem, str_of(why ? why : "it could not be tested"));
    return LK_OK;
}

const char *lk_test_why(const lk_test *test)
{
    HOST_CALL("", USE(TEST, test));
    return test->undone ? test->undone : "";
}

lk_status lk_test_file(lk_gpu *report, const char *path, const lk_test_options *options, lk_test **test)
{
    static const lk_test_options usual = { .size = sizeof usual };
    HOST_CALL(LK_BAD_INPUT, USE(GPU, report));
    if (!path || !test) return HOST_MISSING(report, !path ? "path" : "place for the test");
    struct error *host = host_begin(report), e = { 0 };
    struct lk_test *t = *test = NULL;
    if (!(t = test_open(report))) return host_refuse(report, "no memory for a test");
    t->options = usual;
    if (options) memcpy(&t->options, options, MIN_OF(options->size, sizeof *options));
    t->o = &t->options;
    t->began = time_ns();
    bool ok = open_file(t, path, &e) && oracles_known(t, &e);
    for (u32 i = 0; ok && i < t->kernel.n; i++) {
        ok = campaign_run(t, &t->kernel.p[i], &e);
        if (!is_stopped(t) && (!t->kernel.p[i].is.failed || !t->o->fail_fast)) continue;
        while (++i < t->kernel.n) t->kernel.p[i].is.left_out = 1;
    }
    if (!ok) {
        for (u32 i = 0; i < t->kernel.n; i++) {
            lab_side_end(&t->kernel.p[i].gpu);
            lab_close(&t->kernel.p[i].subject);
            lab_close(&t->kernel.p[i].other);
        }
        lk_test_free(t);
        host_begin(report);
        *host = e;
        return host_failed(report);
    }
    *test = t;
    lk_outcome o = outcome_of(test, 1, t->o->shards > 1);
    return o.failed ? LK_FINDINGS : o.unsupported ? LK_UNSUPPORTED : o.judged && !o.unjudged ? LK_OK : LK_NOTHING;
}

void lk_test_free(lk_test *test)
{
    HOST_CALL(/* nothing */, USE_IF(TEST, test));
    u32 none;
    if (test) host_destroy(&call, &test->handle, __func__, &none);
}

const char *lk_test_path(const lk_test *test)
{
    HOST_CALL("", USE(TEST, test));
    return test->undone_path ? test->undone_path : test->read.file;
}

int lk_test_kernel_at(const lk_test *test, uint32_t i, lk_test_kernel *out)
{
    HOST_CALL(0, USE(TEST, test));
    if (!out) HOST_MISSING(NULL, "place for the kernel");
    if (!out || i >= test->kernel.n) return 0;
    *out = test->kernel.p[i].is;
    return 1;
}

int lk_test_case_at(const lk_test *test, uint32_t kernel, uint32_t i, lk_test_case *out)
{
    HOST_CALL(0, USE(TEST, test));
    if (!out) HOST_MISSING(NULL, "place for the case");
    if (!out || kernel >= test->kernel.n || i >= test->kernel.p[kernel].list.n) return 0;
    *out = test->kernel.p[kernel].list.p[i];
    return 1;
}

int lk_test_failure_at(const lk_test *test, uint32_t kernel, uint32_t i, lk_test_failure *out)
{
    HOST_CALL(0, USE(TEST, test));
    if (!out) HOST_MISSING(NULL, "place for the failure");
    if (!out || kernel >= test->kernel.n || i >= test->kernel.p[kernel].failure.n) return 0;
    const struct failure *f = &test->kernel.p[kernel].failure.p[i];
    *out = (lk_test_failure){ .first = f->first,
                              .kind = f->kind ? f->kind : f->first,
                              .line = f->line ? f->line : "",
                              .cases = f->cases,
                              .suppressed = f->suppressed };
    return 1;
}
