/* The campaign of one kernel: cases are made and run, here or by workers; failures are gathered by what they look like,
 * made smaller, named, and told once.
 *
 * Results are taken in the order in which the cases were made, however many workers there are: what is printed does not
 * depend on them. */
#include "lab/campaign.h"
#include <inttypes.h>
#include <math.h>
#include <poll.h>

enum { CASES = 64, ATTEMPTS = 8, FAILURES_MOST = 8, LIKENESS_LEAST = 20, PROPERTY_CASES = 4, ROUNDS = 3 };
#define LIKENESS_MOST 3e4 /* operations of the oracle of a case that is classified */

const char *lab_line(struct arena *mem, const struct contract_case *c)
{
    struct text t = { 0 };
    case_print(c, &t);
    const char *line = arena_str(mem, str_of(t.p));
    text_free(&t);
    return line;
}

/* ---- what became of a case ---- */

static struct failure *failure_of(struct lk_test *t, struct tested *k, const char *first, bool gpu)
{
    for (u32 i = 0; i < k->failure.n; i++)
        if (!strcmp(k->failure.p[i].first, first) && k->failure.p[i].gpu == gpu) return &k->failure.p[i];
    VEC_PUSH(&t->mem, &k->failure, ((struct failure){ .first = arena_str(&t->mem, str_of(first)), .gpu = gpu }));
    return &k->failure.p[k->failure.n - 1];
}

/* Contents that show different mistakes are kept apart. */
static u32 witness_class(const struct contract_case *c)
{
    static const char *const word[] = { "exact", "small", "offset" };
    const char *w = c->contentses ? c->contents[0].value : NULL;
    for (u32 i = 0; w && i < COUNT_OF(word); i++)
        if (!strcmp(w, word[i])) return i + 1;
    return w ? 4 : 0;
}

/* How clearly a case shows its mistake: by how many times it exceeds the bound, with enough elements and no size so
 * small that many mistakes come to the same. */
static double clarity(const struct lab_outcome *o)
{
    double r = 1 + log10(isfinite(o->ratio) && o->ratio > 1 ? fmin(o->ratio, 1e9) : 1);
    for (u32 i = 0; i < o->dims; i++)
        if (o->dim[i] < 5) r /= 20;
    if (o->elements < LIKENESS_LEAST) r /= 20;
    return o->cost > LIKENESS_MOST ? 1e-6 * r / o->cost : r;
}

static void note_failure(struct lk_test *t, struct tested *k, const struct contract_case *c,
                         const struct lab_outcome *o, bool gpu)
{
    struct failure *f = failure_of(t, k, o->first, gpu);
    u32 at = witness_class(c);
    double clear = clarity(o);
    if (!f->cases++) f->least = *c;
    if (clear <= f->clear[at]) return;
    f->likely[at] = *c;
    f->clear[at] = clear;
}

static void note_sizes(struct tested *k, const struct lab_outcome *o)
{
    bool fresh = !k->is.passed && !k->is.failed;
    for (u32 i = 0; i < o->dims; i++) {
        if (fresh || o->dim[i] < k->low[i]) k->low[i] = o->dim[i];
        if (fresh || o->dim[i] > k->high[i]) k->high[i] = o->dim[i];
    }
}

static void add_up(struct tested *k, const struct lab_outcome *o)
{
    k->is.passed += o->end == LAB_PASSED;
    k->is.failed += o->end == LAB_FAILED;
    k->is.refused += o->end == LAB_REFUSED;
    k->is.large += o->end == LAB_LARGE;
    k->is.empty += o->end == LAB_EMPTY;
    k->is.suspects += o->suspect[0] != 0;
    k->is.elements += o->elements;
    k->is.overflow += o->overflow;
    k->is.ill += o->ill;
}

/* Takes an outcome in. A suspect result is an error from the second case on. */
static bool take(struct lk_test *t, struct tested *k, const struct contract_case *c, struct lab_outcome *o, bool gpu,
                 bool known, double seconds, struct error *e)
{
    const char *line = lab_line(&t->mem, c);
    if (o->suspect[0] && !k->is.suspects) k->suspect = *c;
    if (o->suspect[0] && k->is.suspects && o->end == LAB_PASSED) {
        o->end = LAB_FAILED;
        snprintf(o->first, sizeof o->first, "result:%s", o->suspect);
    }
    if (o->end == LAB_PASSED || o->end == LAB_FAILED) note_sizes(k, o);
    add_up(k, o);
    if (o->end == LAB_FAILED) note_failure(t, k, c, o, gpu);
    if (o->end == LAB_LATER && !k->is.unsupported) k->is.unsupported = arena_str(&t->mem, str_of(o->why));
    if (o->end == LAB_REFUSED && !k->is.refusal) k->is.refusal = arena_str(&t->mem, str_of(o->why));
    if (o->end == LAB_PASSED && o->judged && (!k->is.closest || o->ratio > k->is.ratio)) {
        k->is.ratio = o->ratio;
        k->is.closest = line;
    }
    if (o->end == LAB_REFUSED || o->end == LAB_LARGE) return true;
    lk_test_case row = { .line = line, .end = (lk_test_end)o->end, .ratio = o->ratio, .elements = o->elements };
    row.first = o->first[0] ? arena_str(&t->mem, str_of(o->first)) : "";
    row.seconds = seconds;
    VEC_PUSH(&t->mem, &k->list, row);
    k->is.cases++;
    return known || journal_add(t, k, &row, o, e);
}

/* ---- running cases ---- */

struct pending {
    struct contract_case c;
    struct lab_outcome o;
    bool done, known; /* known: by the journal */
    double seconds;
};
struct running {
    struct lk_test *t;
    struct tested *k;
    struct lab_side side[JOBS_MOST];
    u32 sides;  /* 0: cases run in this process */
    u32 wanted; /* cases; UINT32_MAX: until the time is up */
    u32 tries, most, taken;
    bool over; /* no more cases are made */
    VEC(struct pending *) queue;
    struct lab_maker *maker;
    struct str corpus;
    struct lab_how how;
};

static bool seen_before(struct lk_test *t, struct tested *k, const struct contract_case *c)
{
    struct str line = str_of(lab_line(&t->mem, c));
    if (map_get(&k->seen, line)) return true;
    map_put(&t->mem, &k->seen, line, k);
    return false;
}

static bool time_is_up(const struct lk_test *t)
{
    return t->o->seconds > 0 && (double)(time_ns() - t->began) * 1e-9 >= t->o->seconds;
}

/* The next case: of the corpus, then made ones, those of this shard. false: there are no more, or e. */
static bool next_case(struct running *r, struct contract_case *c, struct error *e)
{
    const char *line;
    struct lk_test *t = r->t;
    if (t->o->only) {
        r->over = true;
        return r->tries++ == 0 && case_read(&t->mem, r->k->k, t->o->only, c, e);
    }
    while (corpus_next(&t->mem, &r->corpus, r->k->is.name, &line)) {
        struct error old = { 0 }; /* of a contract that has changed since */
        if (!case_read(&t->mem, r->k->k, line, c, &old)) continue;
        if (!seen_before(t, r->k, c)) return true;
    }
    while (r->tries < r->most && !time_is_up(t)) {
        u32 number = r->tries++;
        lab_maker_next(r->maker, c);
        if (t->o->shards > 1 && number % t->o->shards != t->o->shard) continue;
        if (!seen_before(t, r->k, c)) return true;
    }
    r->over = true;
    return false;
}

static bool take_ready(struct running *r, struct error *e)
{
    while (r->taken < r->queue.n && r->queue.p[r->taken]->done) {
        struct pending *p = r->queue.p[r->taken++];
        bool enough = r->k->is.cases >= r->wanted || r->k->is.unsupported;
        if (enough) r->over = true;
        if (!enough && !take(r->t, r->k, &p->c, &p->o, r->t->on_gpu, p->known, p->seconds, e)) return false;
    }
    if (r->k->is.cases >= r->wanted || r->k->is.unsupported) r->over = true;
    return true;
}

static struct pending *queue_case(struct running *r, const struct contract_case *c)
{
    struct pending *p = NEW(&r->t->mem, struct pending);
    p->c = *c;
    VEC_PUSH(&r->t->mem, &r->queue, p);
    const char *key = arena_printf(&r->t->mem, "%s %s", r->k->is.name, lab_line(&r->t->mem, c));
    const struct lab_outcome *known = map_get(&r->t->journal, str_of(key));
    if (!known) return p;
    p->o = *known;
    p->done = p->known = true;
    return p;
}

/* A case in this process; with --on both on the GPU, too. */
static bool run_here(struct running *r, struct pending *p, struct error *e)
{
    u64 began = time_ns();
    struct tested *k = r->k;
    struct lab_side *side = r->t->on_gpu ? &k->gpu : &k->here;
    if (!lab_ask(side, &p->c, &r->how, &p->o, NULL, e)) return false;
    p->seconds = (double)(time_ns() - began) * 1e-9;
    p->done = true;
    if (!r->t->on_both || p->o.end != LAB_PASSED) return true;
    struct lab_outcome there;
    if (!lab_ask(&k->gpu, &p->c, &r->how, &there, NULL, e)) return false;
    if (there.end == LAB_FAILED) {
        note_failure(r->t, k, &p->c, &there, true);
        p->o.end = LAB_FAILED;
        snprintf(p->o.first, sizeof p->o.first, "%s", there.first);
    }
    k->is.on_gpu += there.end == LAB_PASSED;
    k->is.differing += there.end == LAB_PASSED && there.hash != p->o.hash;
    return true;
}

/* Waits for an answer of any worker. */
static bool wait_any(struct running *r, struct error *e)
{
    struct pollfd p[JOBS_MOST];
    u32 which[JOBS_MOST], n = 0;
    for (u32 i = 0; i < r->sides; i++)
        if (r->side[i].began) which[n] = i, p[n++] = (struct pollfd){ .fd = r->side[i].from, .events = POLLIN };
    if (!n) return true;
    int ready = poll(p, n, 1000);
    for (u32 i = 0; i < n; i++) {
        struct lab_side *x = &r->side[which[i]];
        bool late = x->limit > 0 && (double)(time_ns() - x->began) * 1e-9 > x->limit;
        if (!(ready > 0 && p[i].revents) && !late) continue;
        struct pending *q = r->queue.p[x->number];
        q->seconds = (double)(time_ns() - x->began) * 1e-9;
        if (!lab_receive(x, &q->o, NULL, e)) return false;
        q->done = true;
    }
    return true;
}

static bool run_parallel(struct running *r, struct error *e)
{
    for (;;) {
        bool busy = false;
        for (u32 i = 0; i < r->sides; i++) {
            struct contract_case c;
            if (r->side[i].began) {
                busy = true;
                continue;
            }
            while (!r->over && next_case(r, &c, e)) {
                struct pending *p = queue_case(r, &c);
                if (p->done) continue;
                r->side[i].number = r->queue.n - 1;
                if (!lab_send(&r->side[i], &c, &r->how, e)) return false;
                busy = true;
                break;
            }
            if (e->code) return false;
        }
        if (!take_ready(r, e)) return false;
        if (!busy && r->over) return true;
        if (!wait_any(r, e) || !take_ready(r, e)) return false;
    }
}

static bool run_serial(struct running *r, struct error *e)
{
    struct contract_case c;
    while (!r->over && next_case(r, &c, e)) {
        struct pending *p = queue_case(r, &c);
        if (!p->done && !run_here(r, p, e)) return false;
        if (!take_ready(r, e)) return false;
    }
    return !e->code;
}

static bool run_cases(struct lk_test *t, struct tested *k, struct error *e)
{
    struct running *r = NEW(&t->mem, struct running);
    const lk_test_options *o = t->o;
    u32 jobs = o->jobs ? MIN_OF(o->jobs, (u32)JOBS_MOST) : 1;
    *r = (struct running){ .t = t, .k = k, .wanted = o->cases ? o->cases : CASES, .how = { .repeat = o->repeat } };
    r->most = ATTEMPTS * r->wanted + 16;
    if (o->seconds > 0) r->wanted = r->most = UINT32_MAX;
    r->maker = lab_maker_new(&t->mem, k->k, o->seed, o->seconds > 0 ? 8 * CASES : r->wanted);
    if (!o->only) corpus_read(t, t->read.file, &r->corpus);
    if (o->shards > 1 && o->shard) r->corpus.n = 0; /* the first shard has it */
    bool ok = true;
    if (jobs > 1 && !t->on_gpu && !t->on_both && !o->only)
        for (; ok && r->sides < jobs; r->sides++) {
            struct lab_side one = { .subject = &k->elsewhere, .command = o->command, .to = -1, .from = -1 };
            r->side[r->sides] = one;
            r->side[r->sides].limit = o->limit;
            ok = lab_side_start(&r->side[r->sides], e);
        }
    if (ok) ok = r->sides ? run_parallel(r, e) : run_serial(r, e);
    for (u32 i = 0; i < r->sides; i++) lab_side_end(&r->side[i]);
    return ok;
}

/* ---- telling ---- */

/* Whether an explanation holds for the other witnesses, too. */
static bool confirmed(struct lab_side *side, const struct failure *f, u32 but, const struct lab_outcome *x, bool *is,
                      struct error *e)
{
    struct lab_how ask = { .explain = true, .twice = true, .hints = { .only = x->likeness } };
    u32 yes = 0, no = 0;
    for (u32 i = 0; i < WITNESSES; i++) {
        struct lab_outcome o;
        if (i == but || f->clear[i] < 1) continue;
        if (!lab_ask(side, &f->likely[i], &ask, &o, NULL, e)) return false;
        if (o.cost > LIKENESS_MOST) continue;
        yes += o.likeness[0] != 0;
        no += !o.likeness[0];
    }
    *is = no ? false : yes || x->elements >= LIKENESS_LEAST;
    return true;
}

/* What a mistake looks like: named where the case shows it most clearly, and held against the others. */
static bool look(struct lk_test *t, struct failure *f, struct lab_side *side, struct lab_how *how, struct error *e)
{
    const char *except[ROUNDS];
    struct lab_how ask = { .explain = true, .twice = true, .hints = { .except = except } };
    u32 best = 0;
    for (u32 i = 1; i < WITNESSES; i++)
        if (f->clear[i] > f->clear[best]) best = i;
    if (strncmp(f->first, "result:", 7) || !(f->clear[best] > 0)) return true;
    while (ask.hints.n < ROUNDS) {
        struct lab_outcome o;
        bool is;
        if (!lab_ask(side, &f->likely[best], &ask, &o, NULL, e)) return false;
        if (!o.likeness[0]) return true;
        if (!confirmed(side, f, best, &o, &is, e)) return false;
        const char *words = arena_str(&t->mem, str_of(o.likeness));
        if (is) {
            how->likeness = words;
            how->label = o.label;
            how->likeness_of = lab_line(&t->mem, &f->likely[best]);
            return true;
        }
        except[ask.hints.n++] = words;
    }
    return true;
}

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

/* Makes the case of a failure smaller and puts what it finds into the report of the campaign. */
static bool tell_failure(struct lk_test *t, struct tested *k, struct failure *f, struct error *e)
{
    struct lab_how how = { .tell = true, .twice = true, .repeat = t->o->repeat };
    struct lab_side *side = f->gpu ? &k->gpu : &k->here;
    struct lab_outcome o;
    struct lab_told told;
    u32 tries;
    if (!t->o->only && !lab_shrink(side, k->k, &f->least, &how, f->first, &tries, e)) return false;
    f->line = lab_line(&t->mem, &f->least);
    if (!look(t, f, side, &how, e)) return false;
    if (how.likeness_of && !strcmp(how.likeness_of, f->line)) how.likeness_of = NULL;
    if (!lab_ask(side, &f->least, &how, &o, &told, e)) return false;
    f->kind = told.kind != F_COUNT ? finding_id(told.kind) : "intermittent";
    const char *remark = arena_printf(&t->mem, "  case: %s%s", f->line, f->gpu ? " --on gpu" : "");
    if (f->gpu)
        put_told(t, &told, remark);
    else
        report_take_run(t->report->device->report, k->subject.gpu->device->report, remark);
    return !t->o->keep || corpus_add(t, k, f->line, e);
}

/* One case that is suspect, and no second one: a note. */
static bool tell_suspect(struct lk_test *t, struct tested *k, struct error *e)
{
    struct lab_outcome o;
    if (k->is.suspects != 1 || k->is.failed || t->on_gpu) return true;
    if (!lab_run(&k->subject, &k->suspect, &(struct lab_how){ .tell = true }, &o, e)) return false;
    const char *remark = arena_printf(&t->mem, "  case: %s", lab_line(&t->mem, &k->suspect));
    report_take_run(t->report->device->report, k->subject.gpu->device->report, remark);
    return true;
}

/* ---- what is held against more runs ---- */

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

static bool hold_properties(struct lk_test *t, struct tested *k, struct error *e)
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

/* Two kernels on the same inputs: where there is an oracle, each has been judged by it; what is said here is by how
 * much they differ from each other. */
static bool hold_against(struct lk_test *t, struct tested *k, struct error *e)
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

bool campaign_run(struct lk_test *t, struct tested *k, struct error *e)
{
    bool ok = lab_properties_read(&t->read, k->k, e) && run_cases(t, k, e);
    u32 found = k->failure.n;
    for (u32 i = 0; ok && i < MIN_OF(found, (u32)FAILURES_MOST); i++) ok = tell_failure(t, k, &k->failure.p[i], e);
    ok = ok && tell_suspect(t, k, e) && hold_properties(t, k, e) && hold_against(t, k, e);
    k->is.failures = k->failure.n;
    shapes_of(t, k);
    lab_side_end(&k->gpu);
    lab_close(&k->subject);
    lab_close(&k->other);
    return ok;
}
