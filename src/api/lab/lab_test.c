/* Testing a file: the public interface of lockstep_lab.h, over campaigns of its kernels (lab_campaign.c). */
#include "lab/campaign.h"

#define GPU_LIMIT 60 /* seconds of a case on a GPU */

/* What one kernel is tested with: the software GPU here, workers, a GPU in a worker. */
static bool open_kernel(struct lk_test *t, const struct contract_kernel *k, u32 block, struct error *e)
{
    const lk_test_options *o = t->o;
    bool forward;
    struct tested one = { .k = k, .is = { .name = k->name, .line = 1, .tolerance = k->tolerance, .shapes = "" } };
    for (const char *p = t->text.p; p < k->at; p++) one.is.line += *p == '\n';
    one.is.has_oracle = lab_oracles(&t->read, k, &forward) != NULL;
    one.subject = (struct lab_subject){ .path = t->read.file, .text = t->text, .block = block, .kernel = k->name };
    one.subject.budget = o->budget;
    one.subject.options = o->gpu ? *o->gpu : (lk_options){ 0 };
    one.subject.options.size = sizeof one.subject.options;
    one.subject.options.seeded = 1;
    one.subject.options.seed = o->seed;
    one.subject.options.on = NULL;
    one.subject.options.time_limit = o->limit;
    one.subject.compile = o->compile;
    one.subject.command = o->command;
    one.subject.limit = o->limit;
    one.elsewhere = one.other = one.subject;
    bool ok = against_open(t, &one, e);
    VEC_PUSH(&t->mem, &t->kernel, one);
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
    if (t->kernel.n) return config_known(t, e) && journal_read(t, e);
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
    *t = (struct lk_test){ .mem = mem, .o = options ? options : &usual, .report = report, .began = time_ns() };
    *test = NULL;
    bool ok = open_file(t, path, &e) && oracles_known(t, &e);
    for (u32 i = 0; ok && i < t->kernel.n; i++) {
        ok = campaign_run(t, &t->kernel.p[i], &e);
        if (!t->kernel.p[i].is.failed || !t->o->fail_fast) continue;
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
