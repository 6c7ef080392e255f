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

/* A case that failed in the campaign, and has passed since: its verdict stays what it was. */
static void tell_gone(struct tested *k, const struct failure *f)
{
    struct text cause = { 0 };
    text_add(
        &cause,
        "%u case%s failed (%.60s), and the smallest passed when it was run again: what decides it is not in the case "
        "(the order of threads, uninitialised memory, a random number, the time)",
        f->cases, plural(f->cases), f->first);
    lk_report_clear(k->subject.gpu);
    lab_found(&k->subject, F_intermittent, k->subject.contract->bound.kernel->at, 0, cause.p, NULL);
    text_free(&cause);
}

/* Whether all that was told since a rule keeps out. */
static bool all_suppressed(const struct lk_test *t, u32 errors, u32 suppressed)
{
    return lk_report_errors(t->report) == errors && lk_report_suppressed(t->report) > suppressed;
}

/* What a thread out of bounds was launched by: too many blocks may be the contract's mistake, not the kernel's. */
static const char *shape_remark(struct lk_test *t, const struct tested *k, enum finding_kind kind)
{
    lk_launch l = { .size = sizeof l };
    if (finding_check(kind) != CHECK_BOUNDS || !k->subject.contract) return "";
    lk_contract_shape(k->subject.contract, &l);
    return arena_printf(&t->mem,
                        "\n  launch: grid %u,%u,%u, block %u,%u,%u, by the launch line of the contract: threads that "
                        "are too many may be that line's mistake",
                        l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2]);
}

bool tell_failure(struct lk_test *t, struct tested *k, struct failure *f, struct error *e)
{
    struct lab_how how = { .tell = true, .twice = true, .repeat = t->o->repeat };
    struct lab_side *side = f->gpu ? &k->gpu : &k->here;
    struct lab_outcome o;
    struct report_brief first;
    u32 tries, errors = lk_report_errors(t->report), suppressed = lk_report_suppressed(t->report);
    bool quick = t->o->fail_fast || k->is.stopped ||
                 !strncmp(f->first, "livelock", 8); /* each try of that would take long */
    if (!t->o->only && !quick && !lab_shrink(side, k->k, &f->least, &how, f->first, &tries, e)) return false;
    f->line = lab_line(&t->mem, &f->least);
    side->tired &= !quick;
    if (!quick && !likeness_find(t, k, f, side, &how, e)) return false;
    if (how.likeness_of && !strcmp(how.likeness_of, f->line)) how.likeness_of = NULL;
    if (!lab_ask(side, &f->least, &how, &o, &first, e)) return false;
    bool gone = first.kind == F_COUNT;
    f->kind = finding_id(gone ? F_intermittent : first.kind);
    const char *remark = arena_printf(&t->mem, "  case: %s%s%s%s", f->line, f->gpu ? " --on gpu" : "",
                                      gone ? "" : shape_remark(t, k, first.kind),
                                      side->tired ? "\n  cut short: the search for a smaller case and for a name was "
                                                    "ended at twice the work of the cases"
                                                  : "");
    side->tired = false;
    if (gone && !k->subject.gpu && !lab_run(&k->subject, &f->least, &(struct lab_how){ .plain = true }, &o, e))
        return false;
    if (gone) tell_gone(k, f);
    if (f->gpu && !gone)
        put_first(t, &first, remark);
    else
        report_take_run(t->report->device->report, k->subject.gpu->device->report, remark);
    f->suppressed = all_suppressed(t, errors, suppressed);
    return (!t->o->keep || corpus_add(t, k, f->line, e)) && record_failure(t, k, f, e);
}

static bool tell_note(struct lk_test *t, struct tested *k, const struct contract_case *c, struct error *e)
{
    struct lab_outcome o;
    if (!lab_run(&k->subject, c, &(struct lab_how){ .tell = true }, &o, e)) return false;
    const char *remark = arena_printf(&t->mem, "  case: %s", lab_line(&t->mem, c));
    report_take_run(t->report->device->report, k->subject.gpu->device->report, remark);
    return true;
}

bool tell_suspect(struct lk_test *t, struct tested *k, struct error *e)
{
    if (k->is.failed || t->on_gpu) return true;
    return (k->is.suspects != 1 || tell_note(t, k, &k->suspect, e)) && (!k->any_noted || tell_note(t, k, &k->noted, e));
}

void count_failure(struct lk_test *t, struct tested *k, const char *first, const char *kind, const char *line)
{
    struct failure *f = failure_of(t, k, first, false);
    u32 errors = lk_report_errors(t->report), suppressed = lk_report_suppressed(t->report);
    f->cases++;
    f->kind = kind;
    f->line = line;
    k->is.failed++;
    k->is.passed -= k->is.passed > 0;
    for (u32 i = 0; i < k->list.n; i++)
        if (!strcmp(k->list.p[i].line, line) && k->list.p[i].end == LK_TEST_PASSED) {
            k->list.p[i].end = LK_TEST_FAILED;
            k->list.p[i].first = f->first;
        }
    const char *remark = arena_printf(&t->mem, "  case: %s", line);
    report_take_run(t->report->device->report, k->subject.gpu->device->report, remark);
    f->suppressed = all_suppressed(t, errors, suppressed);
}

bool hold_properties(struct lk_test *t, struct tested *k, struct error *e)
{
    u32 tried = 0;
    if (!lab_judges(&k->subject)) return true; /* they belong to the same check */
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
