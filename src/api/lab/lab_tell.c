/* What a campaign tells: each way to fail once, on the smallest case that shows it, with what it looks like; and what
 * is held against more runs of cases that passed: properties, another kernel. */
#include "lab/campaign.h"
#include <inttypes.h>
#include <math.h>
#include <unistd.h>

enum { PROPERTY_CASES = 4 };

static void put_first(struct lk_test *t, const struct report_brief *first, const char *remark)
{
    struct place p = { .file = first->file, .line = first->line, .col = first->column };
    struct text detail = { 0 };
    text_add(&detail, "%s%s\n", first->detail, remark);
    struct finding f = { .kind = first->kind,
                         .place = &p,
                         .kernel = first->kernel,
                         .cause = first->cause[0] ? first->cause : NULL,
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
    struct report_brief first;
    u32 tries;
    bool quick = t->o->fail_fast || !strncmp(f->first, "livelock", 8); /* each try of that would take long */
    if (!t->o->only && !quick && !lab_shrink(side, k->k, &f->least, &how, f->first, &tries, e)) return false;
    f->line = lab_line(&t->mem, &f->least);
    if (!quick && !likeness_find(t, k, f, side, &how, e)) return false;
    if (how.likeness_of && !strcmp(how.likeness_of, f->line)) how.likeness_of = NULL;
    if (!lab_ask(side, &f->least, &how, &o, &first, e)) return false;
    f->kind = first.kind != F_COUNT ? finding_id(first.kind) : "intermittent";
    const char *remark = arena_printf(&t->mem, "  case: %s%s", f->line, f->gpu ? " --on gpu" : "");
    if (f->gpu)
        put_first(t, &first, remark);
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

void count_failure(struct lk_test *t, struct tested *k, const char *first, const char *kind, const char *line)
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
        count_failure(t, k, broken, "property_broken", k->list.p[i].line);
        return true;
    }
    return true;
}
