/* What a campaign tells: each way to fail once, on the smallest case that shows it, with what it looks like; and what
 * is held against more runs of cases that passed: properties, another kernel. */
#include "lab/campaign.h"
#include <inttypes.h>
#include <math.h>
#include <unistd.h>

enum { PROPERTY_CASES = 4 };

static void put_told(struct lk_test *t, const struct lab_told *told, const char *remark)
{
    struct place p = { .file = told->file, .line = told->line, .col = told->column };
    struct text detail = { 0 };
    text_add(&detail, "%s%s\n", told->detail, remark);
    struct finding f = { .kind = told->kind,
                         .place = &p,
                         .kernel = told->kernel,
                         .cause = told->cause[0] ? told->cause : NULL,
                         .detail = detail.p };
    report_add(t->report->device->report, &f);
    text_free(&detail);
}

/* The launch of the first failure as a recording, as a C program. */
static bool record_failure(struct lk_test *t, struct tested *k, struct failure *f, struct error *e)
{
    const lk_test_options *o = t->o;
    struct lab_outcome out;
    if ((!o->record && !o->emit) || t->recorded) return true;
    const char *path = o->record ? o->record : arena_printf(&t->mem, "%s.recording", o->emit);
    t->recorded = true;
    if (!lab_run(&k->subject, &f->least, &(struct lab_how){ .plain = true, .record = path }, &out, e)) return false;
    if (!o->emit) return true;
    lk_recording *r;
    if (lk_recording_open(path, &r) != LK_OK) return error_set(e, ERR_SYSTEM, "%.500s", lk_gpu_error(NULL));
    char *program = lk_recording_c(r);
    bool ok = program ? file_write(o->emit, program, strlen(program), e)
                      : error_set(e, ERR_UNSUPPORTED, "a launch with a cluster of its own cannot be written as C");
    lk_text_free(program);
    lk_recording_close(r);
    if (!o->record) unlink(path);
    return ok;
}

bool tell_failure(struct lk_test *t, struct tested *k, struct failure *f, struct error *e)
{
    struct lab_how how = { .tell = true, .twice = true, .repeat = t->o->repeat };
    struct lab_side *side = f->gpu ? &k->gpu : &k->here;
    struct lab_outcome o;
    struct lab_told told;
    u32 tries;
    bool quick = t->o->fail_fast || !strncmp(f->first, "livelock", 8); /* each try of that would take long */
    if (!t->o->only && !quick && !lab_shrink(side, k->k, &f->least, &how, f->first, &tries, e)) return false;
    f->line = lab_line(&t->mem, &f->least);
    if (!quick && !likeness_find(t, k, f, side, &how, e)) return false;
    if (how.likeness_of && !strcmp(how.likeness_of, f->line)) how.likeness_of = NULL;
    if (!lab_ask(side, &f->least, &how, &o, &told, e)) return false;
    f->kind = told.kind != F_COUNT ? finding_id(told.kind) : "intermittent";
    const char *remark = arena_printf(&t->mem, "  case: %s%s", f->line, f->gpu ? " --on gpu" : "");
    if (f->gpu)
        put_told(t, &told, remark);
    else
        report_take_run(t->report->device->report, k->subject.gpu->device->report, remark);
    return (!t->o->keep || corpus_add(t, k, f->line, e)) && record_failure(t, k, f, e);
}

bool tell_suspect(struct lk_test *t, struct tested *k, struct error *e)
{
    struct lab_outcome o;
    if (k->is.suspects != 1 || k->is.failed || t->on_gpu) return true;
    if (!lab_run(&k->subject, &k->suspect, &(struct lab_how){ .tell = true }, &o, e)) return false;
    const char *remark = arena_printf(&t->mem, "  case: %s", lab_line(&t->mem, &k->suspect));
    report_take_run(t->report->device->report, k->subject.gpu->device->report, remark);
    return true;
}

/* A failure that was told already: it is only counted. */
static void count_told(struct lk_test *t, struct tested *k, const char *first, const char *kind, const char *line)
{
    struct failure *f = failure_of(t, k, first, false);
    f->cases++;
    f->kind = kind;
    f->line = line;
    k->is.failed++;
    k->is.passed -= k->is.passed > 0;
    const char *remark = arena_printf(&t->mem, "  case: %s", line);
    report_take_run(t->report->device->report, k->subject.gpu->device->report, remark);
}

bool hold_properties(struct lk_test *t, struct tested *k, struct error *e)
{
    u32 tried = 0;
    for (u32 i = 0; i < k->list.n && tried < PROPERTY_CASES && k->k->properties.list.n && !t->on_gpu; i++) {
        struct contract_case c;
        char broken[LAB_FIRST];
        if (k->list.p[i].end != LK_TEST_PASSED || !case_read(&t->mem, k->k, k->list.p[i].line, &c, e)) continue;
        if (c.layouts || (c.contentses && witness_class(&c) == 4)) continue;
        tried++;
        if (!lab_properties(&k->subject, &c, broken, sizeof broken, &k->is.properties, e)) return false;
        if (!broken[0]) continue;
        count_told(t, k, broken, "property_broken", k->list.p[i].line);
        return true;
    }
    return true;
}

struct difference {
    double most, at_a, at_b;
    u64 index, count, elements;
    u32 argument;
};

static void compare_outputs(const struct lab_kept *a, const struct lab_kept *b, double within, struct difference *d)
{
    for (u32 i = 0; i < a->n && i < b->n; i++) {
        const struct scalar *type = a->type[i];
        u64 n = 1;
        for (u32 x = 0; x < a->shape[i].rank; x++) n *= a->shape[i].dim[x];
        for (u64 x = 0; type && x < n; x++) {
            const u8 *p = a->data[i].after + x * type->bytes, *q = b->data[i].after + x * type->bytes;
            double v = scalar_load(type, p), w = scalar_load(type, q), off = fabs(v - w);
            d->elements++;
            if (!memcmp(p, q, type->bytes) || (isnan(v) && isnan(w))) continue;
            if (isnan(off)) off = INFINITY;
            if (off > within * fmax(fabs(v), fabs(w))) d->count++;
            if (off <= d->most && d->most > 0) continue;
            d->most = off;
            d->at_a = v;
            d->at_b = w;
            d->index = x;
            d->argument = i;
        }
    }
}

bool hold_against(struct lk_test *t, struct tested *k, struct error *e)
{
    struct lab_kept a = { 0 }, b = { 0 };
    bool ok = true, forward;
    const char *judged = lab_oracles(&t->read, k->k, &forward) ? "" : NULL;
    for (u32 i = 0; ok && t->o->against && i < k->list.n; i++) {
        struct contract_case c;
        struct lab_outcome x, y;
        struct difference d = { 0 };
        if (k->list.p[i].end != LK_TEST_PASSED || !case_read(&t->mem, k->k, k->list.p[i].line, &c, e)) continue;
        ok = lab_run(&k->other, &c, &(struct lab_how){ .keep = &b }, &y, e) &&
             lab_run(&k->subject, &c, &(struct lab_how){ .keep = &a, .plain = true }, &x, e);
        if (!ok) break;
        bool fails = y.end == LAB_FAILED;
        if (!fails) compare_outputs(&a, &b, t->o->within, &d);
        if (d.most > k->is.difference) k->is.difference = d.most;
        k->is.compared++;
        if (!fails && (!d.count || (judged && !(t->o->within > 0)))) continue;
        char cause[400];
        if (fails)
            snprintf(cause, sizeof cause, "%.200s fails on a case that %.60s passes: %s", t->o->against, k->is.name,
                     y.first);
        else
            snprintf(cause, sizeof cause,
                     "%" PRIu64 " of %" PRIu64
                     " elements differ from those of %.200s; the largest difference is %.3g: %s[%" PRIu64
                     "] is %.9g, and %.9g there",
                     d.count, d.elements, t->o->against, d.most, k->k->args.p[d.argument].name, d.index, d.at_a,
                     d.at_b);
        lk_report_clear(k->subject.gpu);
        lab_found(&k->subject, F_results_differ, k->subject.contract->bound.kernel->at, 0, cause, NULL);
        count_told(t, k, "against", "results_differ", k->list.p[i].line);
        break;
    }
    lab_kept_free(&a);
    lab_kept_free(&b);
    return ok;
}
