/* A worker: a process that is started for nothing but to run cases (lab_side.c starts it). It has called no driver, and
 * its parent's driver is none of its business: CUDA refuses to work in a process that was merely forked. */
#include "lab/side.h"
#include <signal.h>
#include <unistd.h>

/* ---- the subject as bytes: what subject_put writes is read in the same order ---- */

#define NO_STRING UINT64_MAX /* in place of a length: a null pointer */
enum { LIST_MOST = 1 << 16 };

static void put_number(struct text *to, u64 v) { text_put(to, (const char *)&v, sizeof v); }
static void put_string(struct text *to, const char *z)
{
    put_number(to, z ? strlen(z) : NO_STRING);
    if (z) text_put(to, z, strlen(z));
}
static void put_list(struct text *to, const char *const *list, u32 n)
{
    put_number(to, n);
    for (u32 i = 0; i < n; i++) put_string(to, list[i]);
}

void subject_put(struct text *to, const struct lab_subject *s)
{
    const lk_options *o = &s->options;
    const lk_compile usual = { 0 }, *c = s->compile ? s->compile : &usual;
    put_number(to, s->text.n);
    text_put(to, s->text.p, s->text.n);
    const char *const word[] = { s->path,     s->kernel, s->other,   s->other_kernel, o->device,   o->check,
                                 o->no_check, o->on,     o->managed, c->arch,         c->compiler, s->command };
    put_list(to, word, COUNT_OF(word));
    put_list(to, c->flag, c->flags);
    put_list(to, c->name, c->names);
    put_list(to, c->link, c->links);
    const u64 number[] = { s->block,    s->budget,  o->threads,  o->seeded, o->seed, o->budget,
                           o->any_arch, o->profile, o->assemble, c->fresh,  c->own,  c->gather };
    for (u32 i = 0; i < COUNT_OF(number); i++) put_number(to, number[i]);
    text_put(to, (const char *)&o->time_limit, sizeof o->time_limit);
    text_put(to, (const char *)&s->limit, sizeof s->limit);
}

struct reading {
    struct arena *mem;
    int in;
    bool broken;
};

static u64 get_number(struct reading *r)
{
    u64 v = 0;
    if (!r->broken) r->broken = !file_get(r->in, &v, sizeof v);
    return r->broken ? 0 : v;
}
static const char *get_string(struct reading *r, u32 *length)
{
    u64 n = get_number(r);
    if (r->broken || n == NO_STRING) return NULL;
    struct text t = { 0 };
    char piece[4096];
    r->broken = n >= UINT32_MAX;
    for (u64 left = n, part; !r->broken && left; left -= part) { /* no more memory than has come */
        part = MIN_OF(left, (u64)sizeof piece);
        r->broken = !file_get(r->in, piece, part);
        text_put(&t, piece, part);
    }
    const char *z = arena_str(r->mem, (struct str){ t.n ? t.p : "", r->broken ? 0 : (u32)n });
    text_free(&t);
    if (length) *length = r->broken ? 0 : (u32)n;
    return z;
}
/* A list of n strings; `needed`: none of them is a null pointer. */
static const char **get_list(struct reading *r, u32 *n, bool needed)
{
    u64 count = get_number(r);
    *n = 0;
    r->broken |= count > LIST_MOST;
    const char **list = NEW_ARRAY(r->mem, const char *, (r->broken ? 0 : count) + 1);
    while (!r->broken && *n < count) {
        list[*n] = get_string(r, NULL);
        r->broken |= needed && !list[*n];
        ++*n;
    }
    return list;
}

static bool subject_get(struct reading *r, struct lab_subject *s, lk_compile *c)
{
    u32 words;
    lk_options *o = &s->options;
    s->text.p = get_string(r, &s->text.n);
    const char **word = get_list(r, &words, false);
    if (r->broken || words != 12 || !s->text.p || !word[0] || !word[1]) return false;
    s->path = word[0], s->kernel = word[1], s->other = word[2], s->other_kernel = word[3];
    *o = (lk_options){ .size = sizeof *o, .device = word[4], .check = word[5], .no_check = word[6], .on = word[7] };
    o->managed = word[8];
    *c = (lk_compile){ .size = sizeof *c, .arch = word[9], .compiler = word[10] };
    c->flag = get_list(r, &c->flags, true);
    c->name = get_list(r, &c->names, true);
    c->link = get_list(r, &c->links, true);
    s->block = (u32)get_number(r);
    s->budget = get_number(r);
    o->threads = (u32)get_number(r);
    o->seeded = (u32)get_number(r);
    o->seed = get_number(r);
    o->budget = get_number(r);
    o->any_arch = (u32)get_number(r);
    o->profile = (u32)get_number(r);
    o->assemble = (u32)get_number(r);
    c->fresh = (u32)get_number(r);
    c->own = (u32)get_number(r);
    c->gather = (u32)get_number(r);
    s->compile = c;
    s->command = word[11];
    return !r->broken && file_get(r->in, &o->time_limit, sizeof o->time_limit) &&
           file_get(r->in, &s->limit, sizeof s->limit);
}

/* ---- cases ---- */

void worker_first(struct lab_subject *s, struct report_brief *out)
{
    if (!s->gpu || !report_first(s->gpu->device->report, out)) *out = (struct report_brief){ .kind = F_COUNT };
}

static void how_of(struct question *q, struct lab_how *how, const char **except)
{
    q->only[sizeof q->only - 1] = q->likeness[sizeof q->likeness - 1] = 0;
    q->likeness_of[sizeof q->likeness_of - 1] = q->output[sizeof q->output - 1] = 0;
    for (u32 i = 0; i < q->excepts; i++) q->except[i][sizeof q->except[i] - 1] = 0;
    *how = (struct lab_how){
        .explain = q->explain, .tell = q->tell, .twice = q->twice, .label = q->label, .repeat = q->repeat
    };
    how->cost_most = q->cost_most;
    how->budget = q->budget;
    if (q->has_likeness) {
        how->likeness = q->likeness;
        how->likeness_of = q->likeness_of[0] ? q->likeness_of : NULL;
    }
    how->hints.only = q->has_only ? q->only : NULL;
    for (u32 i = 0; i < q->excepts; i++) except[i] = q->except[i];
    how->hints.output = q->output[0] ? q->output : NULL;
    how->hints.except = except;
    how->hints.n = q->excepts;
    how->hints.most = q->name_most;
}

static bool answer_one(struct lab_subject *s, const struct contract_kernel *k, int in, int out)
{
    struct question q;
    struct arena mem = { 0 };
    struct answer *a = NEW(&mem, struct answer);
    struct contract_case c;
    struct lab_how how;
    const char *except[COUNT_OF(q.except)];
    bool there = file_get(in, &q, sizeof q) && q.mark == SIDE_MARK && q.line <= SIDE_LINE_MOST &&
                 q.excepts <= COUNT_OF(q.except);
    char *line = arena_alloc(&mem, there ? q.line + 1 : 1, 1);
    there = there && file_get(in, line, q.line);
    if (there) {
        a->mark = SIDE_MARK;
        how_of(&q, &how, except);
        a->ok = case_read(&mem, k, line, &c, &a->e) && lab_run_repeated(s, &c, &how, &a->outcome, &a->e);
        if (a->ok) worker_first(s, &a->first);
        there = file_put(out, a, sizeof *a);
    }
    arena_free(&mem);
    return there;
}

lk_status lk_test_serve(int in, int out)
{
    struct arena mem = { 0 };
    struct contract read;
    struct error e = { 0 };
    struct reading r = { .mem = &mem, .in = in };
    struct lab_subject s = { 0 };
    lk_compile compile;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN); /* of a terminal: the campaign ends its workers itself */
    bool ok = subject_get(&r, &s, &compile) && contract_parse(&mem, s.path, s.text, &read, &e) &&
              s.block < read.kernels.n;
    while (ok && answer_one(&s, &read.kernels.p[s.block], in, out)) continue;
    lab_close(&s);
    arena_free(&mem);
    return ok ? LK_OK : LK_BAD_INPUT;
}
