/* The campaign of one kernel: cases are made and run, here or by workers; failures are gathered by what they look like.
 * lab_tell.c then makes them smaller, names them, and tells each once.
 *
 * A case whose oracle would take too long is not launched, but made smaller until it fits. Results are taken in the
 * order in which the cases were made, however many workers there are: what is printed does not depend on them. */
#include "lab/campaign.h"
#include <inttypes.h>
#include <math.h>
#include <poll.h>

enum { CASES = 64, ATTEMPTS = 8, FAILURES_MOST = 8, SMALLER_MOST = 200, BUDGET_MADE = 2000000, FLOOR = 5 };
enum { MUCH = 8 };                              /* so many times less work makes another case the one to begin with */
#define TELLING_LEAST 3e8                       /* work that telling may take in any case: a second or two */
enum { PATIENCE = 300000000, JOBS_USUAL = 16 }; /* ns before other processes help; so many at most, unless asked for */
#define COST_MADE 5e5 /* operations of the oracle of a case that is made: a quarter of a second, with the launch */

const char *lab_line(struct arena *mem, const struct contract_case *c)
{
    struct text t = { 0 };
    case_print(c, &t);
    const char *line = arena_str(mem, str_of(t.p));
    text_free(&t);
    return line;
}

/* ---- what became of a case ---- */

struct failure *failure_of(struct lk_test *t, struct tested *k, const char *first, bool gpu)
{
    for (u32 i = 0; i < k->failure.n; i++)
        if (!strcmp(k->failure.p[i].first, first) && k->failure.p[i].gpu == gpu) return &k->failure.p[i];
    VEC_PUSH(&t->mem, &k->failure, ((struct failure){ .first = arena_str(&t->mem, str_of(first)), .gpu = gpu }));
    return &k->failure.p[k->failure.n - 1];
}

static void note_failure(struct lk_test *t, struct tested *k, const struct contract_case *c,
                         const struct lab_outcome *o, bool gpu)
{
    struct failure *f = failure_of(t, k, o->first, gpu);
    u32 at = witness_class(c);
    double clear = likeness_clarity(c, o);
    double work = lab_work(o);
    if (!f->cases++ || work * MUCH < f->work) { /* the first one is the plainest, unless it takes long to try */
        f->least = *c;
        f->work = work;
    }
    if (f->clear[at] > 0 && at != WITNESS_REPEATED) { /* the one of the two that is less clear */
        const struct contract_case *less = clear > f->clear[at] ? &f->likely[at] : c;
        double of = fmin(clear, f->clear[at]);
        if (of > f->clear[WITNESS_SECOND]) {
            f->likely[WITNESS_SECOND] = *less;
            f->clear[WITNESS_SECOND] = of;
        }
    }
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
    k->is.discarded += o->end == LAB_DISCARDED;
    k->work += lab_work(o);
    k->is.suspects += o->suspect[0] != 0;
    k->is.elements += o->elements;
    k->is.overflow += o->overflow;
    k->is.ill += o->ill;
    k->outputs |= o->outputs;
    k->judged |= o->seen;
}

/* Takes an outcome in. A suspect result is an error from the second case on. */
static bool take(struct lk_test *t, struct tested *k, const struct contract_case *c, struct lab_outcome *o, bool gpu,
                 bool known, double seconds, struct error *e)
{
    struct lab_cover before = { 0 };
    const char *line = lab_line(&t->mem, c);
    if (o->suspect[0] && !k->is.suspects) k->suspect = *c;
    if (o->noted && !k->any_noted) k->noted = *c, k->any_noted = true;
    if (o->suspect[0] && k->is.suspects && o->end == LAB_PASSED) {
        o->end = LAB_FAILED;
        snprintf(o->first, sizeof o->first, "result:%s", o->suspect);
    }
    if (o->end == LAB_PASSED || o->end == LAB_FAILED) note_sizes(k, o);
    add_up(k, o);
    if (o->unseen[0] && !k->unseen) k->unseen = arena_str(&t->mem, str_of(o->unseen));
    memcpy(before.points, k->cover.points, sizeof before.points);
    lab_cover_merge(&k->cover, &o->cover);
    corners_note(k, c, o);
    if (o->end == LAB_FAILED) note_failure(t, k, c, o, gpu);
    k->endless |= o->end == LAB_FAILED && !strncmp(o->first, "livelock", 8);
    if (o->end == LAB_LATER && !k->is.unsupported) k->is.unsupported = arena_str(&t->mem, str_of(o->why));
    if (o->end == LAB_REFUSED && !k->is.refusal) k->is.refusal = arena_str(&t->mem, str_of(o->why));
    if (o->end == LAB_PASSED && o->judged && (!k->is.closest || o->ratio > k->is.ratio)) {
        k->is.ratio = o->ratio;
        k->is.closest = line;
    }
    if (o->end == LAB_REFUSED || o->end == LAB_LARGE || o->end == LAB_DISCARDED) return true;
    lk_test_case row = { .line = line, .end = (lk_test_end)o->end, .ratio = o->ratio, .elements = o->elements };
    row.first = o->first[0] ? arena_str(&t->mem, str_of(o->first)) : "";
    row.seconds = seconds;
    VEC_PUSH(&t->mem, &k->list, row);
    k->is.cases++;
    return known || journal_add(t, k, &row, o, &before, e);
}

/* ---- running cases ---- */

struct pending {
    struct contract_case c;
    struct lab_outcome o;
    bool done, known; /* known: by the journal */
    double seconds;
    bool dear;                  /* it was too large for its oracle, and is made smaller */
    struct contract_case asked; /* as it was made first */
    struct contract_case large; /* the smallest that still was */
    struct lab_outcome sizes;   /* of that */
    u32 skip, tries;            /* which dim is made smaller; of how many attempts */
    bool last;                  /* it cannot be made smaller, and is run to its end, or to the end of patience */
};
struct running {
    struct lk_test *t;
    struct tested *k;
    struct lab_side side[JOBS_MOST];
    u32 sides;  /* 0: cases run in this process */
    u32 wanted; /* cases; UINT32_MAX: until the time is up */
    u32 tries, most, taken;
    u32 made;  /* cases that differ, those of other shards with them */
    bool over; /* no more cases are made */
    VEC(struct pending *) queue;
    struct lab_maker *maker;
    u32 example; /* of the contract, that comes next */
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

/* The corpus is run by the first shard; the others know of it, so that no case is made twice. */
static bool is_first(const struct lk_test *t) { return t->o->shards <= 1 || !t->o->shard; }

/* The next case: of the corpus, then made ones, of which every shard has its own: with the same number of cases they
 * have together what one campaign of that many would have. false: there are no more, or e. */
static bool next_case(struct running *r, struct contract_case *c, struct error *e)
{
    const char *line;
    struct lk_test *t = r->t;
    if (t->o->only) {
        r->over = true;
        return r->tries++ == 0 && case_read(&t->mem, r->k->k, t->o->only, c, e);
    }
    while (r->example < r->k->k->examples.list.n) {
        const struct contract_text *x = &r->k->k->examples.list.p[r->example++];
        struct error wrong = { 0 };
        if (!case_read(&t->mem, r->k->k, x->text, c, &wrong))
            return error_at(e, ERR_INPUT, t->read.file, t->text, x->at, "%s", wrong.text);
        if (!seen_before(t, r->k, c) && is_first(t)) return true;
    }
    while (corpus_next(&t->mem, &r->corpus, r->k->is.name, &line)) {
        struct error old = { 0 }; /* of a contract that has changed since */
        if (!case_read(&t->mem, r->k->k, line, c, &old)) continue;
        if (!seen_before(t, r->k, c) && is_first(t)) return true;
    }
    while (r->tries < r->most && !time_is_up(t)) {
        r->tries++;
        lab_maker_next(r->maker, r->queue.n, c);
        if (seen_before(t, r->k, c)) continue;
        u32 number = r->made++;
        if (t->o->shards <= 1 || number % t->o->shards == t->o->shard) return true;
    }
    r->over = true;
    return false;
}

bool is_stopped(const struct lk_test *t) { return __atomic_load_n(&t->report->device->interrupt, __ATOMIC_RELAXED); }

static void show_progress(struct lk_test *t, const char *kernel, u32 cases, u32 most, u32 failed)
{
    lock(&t->report->lock);
    struct host_testing *to = &t->report->testing;
    snprintf(to->kernel, sizeof to->kernel, "%s", kernel);
    to->cases = cases;
    to->most = most;
    to->failed = failed;
    unlock(&t->report->lock);
}

static bool is_enough(const struct running *r)
{
    const lk_test_kernel *k = &r->k->is;
    return is_stopped(r->t) || k->cases >= r->wanted || k->unsupported || r->k->endless ||
           (k->failed && r->t->o->fail_fast);
}

static bool take_ready(struct running *r, struct error *e)
{
    while (r->taken < r->queue.n && r->queue.p[r->taken]->done && !is_enough(r)) {
        struct pending *p = r->queue.p[r->taken++];
        bool again = p->dear && !p->last && p->o.end != LAB_LARGE && seen_before(r->t, r->k, &p->c);
        if (again) continue; /* what it was made smaller to has been run before */
        r->k->is.smaller += p->dear && p->o.end != LAB_LARGE;
        bool ran = p->o.end == LAB_PASSED || p->o.end == LAB_FAILED;
        if (ran && lab_cover_fresh(&r->k->cover, &p->o.cover, NULL)) {
            bool alone = r->t->o->shards <=
                         1; /* shards share the cases of one campaign, and know nothing of each other */
            if (alone) lab_maker_reached(&r->t->mem, r->maker, &p->c, &p->o, r->taken - 1);
            r->k->is.reaching++;
        }
        if (!take(r->t, r->k, &p->c, &p->o, r->t->on_gpu, p->known, p->seconds, e)) return false;
    }
    if (is_enough(r)) r->over = true;
    const lk_test_kernel *k = &r->k->is;
    show_progress(r->t, k->name, k->cases, r->wanted < UINT32_MAX ? r->wanted : 0, k->failed);
    return true;
}

/* What the journal has of it. */
static void look_up(struct running *r, struct pending *p)
{
    const char *key = arena_printf(&r->t->mem, "%s %s", r->k->is.name, lab_line(&r->t->mem, &p->c));
    const struct lab_outcome *known = map_get(&r->t->journal, str_of(key));
    if (!known) return;
    p->o = *known;
    p->done = p->known = true;
}

static struct pending *queue_case(struct running *r, const struct contract_case *c)
{
    struct pending *p = NEW(&r->t->mem, struct pending);
    p->c = p->asked = *c;
    VEC_PUSH(&r->t->mem, &r->queue, p);
    look_up(r, p);
    return p;
}

/* ---- cases that are too dear ---- */

/* The dim that a case is about: the only one whose size it gives. It stays as it is as long as others can be made
 * smaller, for an end of a range is to be reached. k->dims.n: there is none. */
static u32 subject_of(const struct contract_kernel *k, const struct pending *p)
{
    u32 at = 0;
    while (at < k->dims.n && (p->asked.dims != 1 || strcmp(p->asked.dim[0].name, k->dims.p[at].name))) at++;
    return at;
}

/* Half the size of a dim, as its range has it; the same where it stays. */
static s64 half_of(const struct contract_kernel *k, const struct pending *p, u32 i, s64 floor)
{
    s64 is = p->sizes.dim[i], less = is > floor ? lab_size_fitted(&k->dims.p[i], MAX_OF(is / 2, floor)) : is;
    return lab_size_varies(&k->dims.p[i]) && less < is ? less : is;
}

static bool set_size(const struct contract_kernel *k, struct contract_case *c, u32 at, s64 value)
{
    u32 d = 0;
    while (d < c->dims && strcmp(c->dim[d].name, k->dims.p[at].name)) d++;
    if (d == CONTRACT_DIMS) return false;
    if (d == c->dims) c->dims++;
    c->dim[d] = (struct dim_value){ k->dims.p[at].name, value };
    return true;
}

/* The largest dim that can be halved and is not in `taken`; n: there is none. */
static u32 largest(const struct contract_kernel *k, const struct pending *p, const bool *taken, s64 floor)
{
    u32 n = MIN_OF(p->sizes.dims, k->dims.n), at = n;
    for (u32 i = 0; i < n; i++)
        if (!taken[i] && half_of(k, p, i, floor) < p->sizes.dim[i] && (at == n || p->sizes.dim[i] > p->sizes.dim[at]))
            at = i;
    return at;
}

/* Halves one dim of the case that was too large: the largest, then the next one, last the one that it is about. false:
 * there are no more. */
static bool halve(const struct contract_kernel *k, struct pending *p)
{
    static const s64 floors[] = { FLOOR, 1 };
    u32 n = MIN_OF(p->sizes.dims, k->dims.n), kept = subject_of(k, p), round = 0;
    for (u32 pass = 0; pass <= COUNT_OF(floors); pass++) {
        bool taken[CONTRACT_DIMS] = { 0 }, all = pass >= COUNT_OF(floors);
        s64 floor = all ? 1 : floors[pass];
        if (!all && kept == k->dims.n) continue;
        if (kept < n) taken[kept] = !all;
        for (u32 at; (at = largest(k, p, taken, floor)) < n; taken[at] = true) {
            if (round++ < p->skip) continue;
            p->c = p->large;
            return set_size(k, &p->c, at, half_of(k, p, at, floor));
        }
    }
    return false;
}

/* Halves all dims, the one that the case is about where there is no other: of a case that takes too many instructions,
 * which may have no end. */
static bool halve_all(const struct contract_kernel *k, struct pending *p)
{
    struct contract_case c = p->large;
    u32 n = MIN_OF(p->sizes.dims, k->dims.n), kept = subject_of(k, p);
    bool any = false;
    for (u32 i = 0; i < n; i++) {
        s64 less = half_of(k, p, i, kept < n ? FLOOR : 1);
        if (i != kept && less < p->sizes.dim[i]) any |= set_size(k, &c, i, less);
    }
    for (u32 i = 0; i < n && !any; i++) {
        s64 less = half_of(k, p, i, 1);
        if (less < p->sizes.dim[i]) any = set_size(k, &c, i, less);
    }
    if (any) p->c = c;
    return any && !p->skip; /* refused: there is only one way */
}

/* A case that has spent its budget, and with sizes of half took so little that no usual growth explains it. */
static bool is_endless_maybe(const struct running *r, const struct pending *p)
{
    if (!p->sizes.spent || p->last || p->o.end != LAB_PASSED || !p->o.cover.steps) return false;
    return ldexp((double)p->o.cover.steps, (int)p->sizes.dims + 2) < (double)r->how.budget;
}

/* An outcome has come. One that is too dear is tried again, smaller: true, p->c is the case to run. */
static bool try_smaller(struct running *r, struct pending *p)
{
    bool large = p->o.end == LAB_LARGE;
    if (is_endless_maybe(r, p)) {
        p->c = p->large;
        return p->last = true;
    }
    if (p->last) return false;
    if (r->t->o->only || (!large && !(p->dear && p->o.end == LAB_REFUSED))) return false;
    if (large) {
        p->large = p->c;
        p->sizes = p->o;
        p->skip = 0;
    } else {
        p->skip++; /* the contract has no case with that dim smaller */
    }
    p->dear = true;
    bool there = p->tries++ < SMALLER_MOST && (p->sizes.spent ? halve_all(r->k->k, p) : halve(r->k->k, p));
    if (there) look_up(r, p);
    if (there && !p->done) return true;
    if (there) return false;
    p->c = p->large;
    p->o = p->sizes;
    if (!p->o.spent) return false;
    return p->last = true; /* is there an end to it? */
}

/* How a case is run: the last attempt at one that does not end has all the instructions that a launch may have. */
static struct lab_how how_of(const struct running *r, const struct pending *p)
{
    struct lab_how how = r->how;
    if (p->last) how.budget = 0;
    return how;
}

/* A case in this process; with --on both on the GPU, too. */
static bool run_here(struct running *r, struct pending *p, struct error *e)
{
    u64 began = time_ns();
    struct tested *k = r->k;
    struct lab_side *side = r->t->on_gpu ? &k->gpu : &k->here;
    do {
        struct lab_how how = how_of(r, p);
        bool ran = lab_ask(side, &p->c, &how, &p->o, NULL, e);
        if (is_stopped(r->t)) return r->over = true; /* what became of it is not known */
        if (!ran) return false;
        __atomic_store_n(&r->t->report->under, k->subject.gpu, __ATOMIC_RELEASE);
    } while (try_smaller(r, p));
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
        if (!try_smaller(r, q)) {
            q->done = true;
            continue;
        }
        struct lab_how how = how_of(r, q);
        if (!lab_send(x, &q->c, &how, e)) return false;
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
            while (!r->over && r->queue.n < r->taken + REACHED_LATER && next_case(r, &c, e)) {
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
        if (r->over && (!busy || is_enough(r))) return true;
        if (!wait_any(r, e) || !take_ready(r, e)) return false;
    }
}

/* Cases in this process; where others could help, only until that is worth their start: most campaigns are short. */
static bool run_serial(struct running *r, bool alone, struct error *e)
{
    struct contract_case c;
    u64 began = time_ns();
    while (!r->over && (alone || time_ns() - began < PATIENCE) && next_case(r, &c, e)) {
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
    u32 jobs = o->jobs ? MIN_OF(o->jobs, (u32)JOBS_MOST) : o->command ? MIN_OF((u32)cpu_count(), (u32)JOBS_USUAL) : 1;
    *r = (struct running){ .t = t, .k = k, .wanted = o->cases ? o->cases : CASES, .how = { .repeat = o->repeat } };
    u64 all = (u64)r->wanted * MAX_OF(o->shards, 1u); /* of all shards */
    r->most = (u32)MIN_OF(ATTEMPTS * all + 16, (u64)UINT32_MAX - 1);
    if (o->seconds > 0) r->wanted = r->most = UINT32_MAX;
    if (!o->only) r->how.cost_most = COST_MADE;
    if (!o->only) r->how.budget = o->budget ? o->budget / 100 + 1 : BUDGET_MADE;
    r->maker = lab_maker_new(&t->mem, k->k, o->seed, o->seconds > 0 ? 8 * CASES : (u32)MIN_OF(all, (u64)UINT32_MAX));
    if (o->config) lab_maker_pin(r->maker, o->config);
    if (!o->only) corpus_read(t, t->read.file, &r->corpus);
    bool several = jobs > 1 && !t->on_gpu && !t->on_both && !o->only;
    bool ok = (several && o->jobs) || run_serial(r, !several, e);
    for (; ok && several && !r->over && r->sides < jobs; r->sides++) {
        struct lab_side one = { .subject = &k->elsewhere, .command = o->command, .to = -1, .from = -1 };
        r->side[r->sides] = one;
        r->side[r->sides].limit = o->jobs ? o->limit : 0; /* a launch has its own */
        ok = lab_side_start(&r->side[r->sides], e);
    }
    if (ok && r->sides) ok = run_parallel(r, e);
    if (is_stopped(t)) { /* a side that was asked has gone, or a compiler */
        *e = (struct error){ 0 };
        k->is.stopped = ok = true;
    }
    for (u32 i = 0; i < r->sides; i++) lab_side_end(&r->side[i]);
    return ok;
}

/* "n 1..2049 of 1..5000": of each dim, the sizes that cases had; and the range where all passed and they are not its
 * ends. */
static void shapes_of(struct lk_test *t, struct tested *k)
{
    struct text s = { 0 };
    text_add(&s, "%s", "");
    for (u32 i = 0; i < k->k->dims.n && k->is.passed + k->is.failed; i++) {
        const struct contract_dim *d = &k->k->dims.p[i];
        const struct expr *low = d->low, *high = d->high;
        text_add(&s, "%s%s %" PRId64, i ? ", " : "", d->name, k->low[i]);
        if (k->low[i] != k->high[i]) text_add(&s, "..%" PRId64, k->high[i]);
        bool ends = !k->is.failed && low && high && low->op == EX_NUMBER && high->op == EX_NUMBER && lab_size_varies(d);
        if (ends && (!k->least[i] || !k->most[i]) && low->value.i != high->value.i)
            text_add(&s, " of %" PRId64 "..%" PRId64, low->value.i, high->value.i);
    }
    k->is.shapes = arena_str(&t->mem, str_of(s.p));
    text_free(&s);
}

/* What the kernel comes to. A failure whose findings are suppressed is known, and does not count. */
static void status_of(const struct lk_test *t, struct tested *k)
{
    lk_test_kernel *is = &k->is;
    for (u32 i = 0; i < k->failure.n; i++)
        if (k->failure.p[i].suppressed) is->suppressed += k->failure.p[i].cases;
    bool judges = is->has_oracle && !is->oracle_off, ran = is->passed + is->failed > 0;
    is->unjudged = judges && ran && (!is->elements || k->outputs & ~k->judged) ? k->unseen ? k->unseen : "any output"
                                                                               : NULL;
    is->unchecked = !judges && !is->compared && !is->properties && !t->on_gpu && !t->on_both &&
                    !lab_checks(&k->subject);
    is->status = is->failed > is->suppressed                            ? LK_FINDINGS
                 : is->unsupported                                      ? LK_UNSUPPORTED
                 : !ran || is->unjudged || is->unchecked || is->stopped ? LK_NOTHING
                                                                        : LK_OK;
}

bool campaign_run(struct lk_test *t, struct tested *k, struct error *e)
{
    show_progress(t, k->is.name, 0, 0, 0);
    bool ok = lab_properties_read(&t->read, k->k, e) && run_cases(t, k, e);
    u32 found = k->failure.n;
    k->here.most = k->gpu.most = fmax(2 * k->work, TELLING_LEAST);
    k->here.work = k->gpu.work = 0;
    for (u32 i = 0; ok && i < MIN_OF(found, (u32)FAILURES_MOST); i++) ok = tell_failure(t, k, &k->failure.p[i], e);
    bool over = k->is.stopped || (t->o->fail_fast && k->is.failed);
    k->here.most = k->gpu.most = 0;
    ok = ok && tell_suspect(t, k, e) && (over || (hold_properties(t, k, e) && hold_against(t, k, e)));
    k->is.failures = k->failure.n;
    status_of(t, k);
    shapes_of(t, k);
    lab_cover_sum(&t->mem, &k->cover, &k->is);
    corners_sum(t, k);
    __atomic_store_n(&t->report->under, NULL, __ATOMIC_RELEASE);
    show_progress(t, "", 0, 0, 0);
    lab_side_end(&k->gpu);
    lab_close(&k->subject);
    lab_close(&k->other);
    return ok;
}
