/* Collecting findings into entries. entry.h says what an entry keeps; here is how findings become one. */
#include "report/entry.h"
#include "report/suppress.h"

struct report *report_new(void)
{
    struct report *r = base_alloc(sizeof *r);
    if (r) pthread_mutex_init(&r->lock, NULL);
    return r;
}

static void set_free(struct thread_set *s)
{
    for (u32 i = 0; s->piece && i < SET_PIECES; i++) base_free(s->piece[i]);
    base_free(s->piece);
}

void entry_free(struct entry *e)
{
    set_free(&e->who);
    set_free(&e->against);
    text_free(&e->also);
    again_free(e);
    base_free((void *)(uintptr_t)e->origin.site);
    base_free((void *)(uintptr_t)e->origin.by);
    arena_free(&e->mem);
    base_free(e);
}

static void empty(struct report *r)
{
    for (u32 b = 0; b < BUCKETS; b++)
        for (struct entry *e = r->bucket[b], *next; e; e = next) {
            next = e->next;
            entry_free(e);
        }
    memset(r->bucket, 0, sizeof r->bucket);
    memset(r->ticket, 0, sizeof r->ticket);
    r->last = NULL;
    __atomic_store_n(&r->entries, 0, __ATOMIC_RELAXED);
    r->errors = r->notes = r->suppressed = r->settled = r->kept = 0;
    r->occurrences = r->error_occurrences = r->dropped = 0;
}

void report_free(struct report *r)
{
    if (!r) return;
    empty(r);
    suppress_free(r->rules);
    pthread_mutex_destroy(&r->lock);
    base_free(r);
}

void report_checks(struct report *r, u32 on, const u64 *off)
{
    lock(&r->lock);
    r->checks_off = CHECK_ALL & ~on;
    for (u32 i = 0; i < KIND_WORDS; i++) r->kinds_off[i] = off ? off[i] : 0;
    unlock(&r->lock);
}

/* Without the lock: every launch says it, and nearly always the same. */
void report_ran(struct report *r, u32 checks)
{
    u32 new = checks & ~r->checks_off;
    if (unlikely(new & ~__atomic_load_n(&r->checks_ran, __ATOMIC_RELAXED)))
        __atomic_fetch_or(&r->checks_ran, new, __ATOMIC_RELAXED);
}

void report_launch(struct report *r, u32 number)
{
    if (likely(__atomic_load_n(&r->launch, __ATOMIC_RELAXED) == number)) return;
    lock(&r->lock);
    __atomic_store_n(&r->launch, number, __ATOMIC_RELAXED);
    unlock(&r->lock);
}

/* The launch that the calling thread works for; 0: that of the report. */
static _Thread_local u32 launch_here;

void report_launch_here(u32 number) { launch_here = number; }

/* The host's side of the launch that the calling thread works for; NULL: none. */
static _Thread_local const struct launch_origin *origin_here;

void report_origin_here(const struct launch_origin *o) { origin_here = o; }

static const char *text_kept(const char *text)
{
    char *copy = text ? base_need(strlen(text) + 1) : NULL;
    if (text) memcpy(copy, text, strlen(text) + 1);
    return copy;
}

static void origin_keep(struct entry *e)
{
    const struct launch_origin *o = e->f.from ? e->f.from : origin_here;
    e->f.from = NULL; /* it is copied, and may not live as long */
    if (!o || !(o->nth || o->by)) return;
    e->origin = *o;
    e->origin.site = text_kept(o->site);
    e->origin.by = text_kept(o->by);
    memcpy(e->grid, e->f.nctaid, sizeof e->grid);
    memcpy(e->block, e->f.ntid, sizeof e->block);
    e->launches = 1;
    e->running = origin_here;
    e->last = o->nth;
}

u32 report_launch_number(const struct report *r) { return launch_here ? launch_here : r->launch; }

void report_clear(struct report *r)
{
    lock(&r->lock);
    empty(r);
    unlock(&r->lock);
}

static u32 smallest_thread(const u32 *thread, u32 n)
{
    u32 best = 0;
    for (u32 i = 1; i < n; i++)
        if (thread[i] < thread[best]) best = i;
    return best;
}

static u64 cta_linear(const u32 cta[3], const u32 nctaid[3])
{
    return cta[0] + (u64)nctaid[0] * (cta[1] + (u64)nctaid[1] * cta[2]);
}

static u64 cta_of(const struct finding *f) { return cta_linear(f->cta, f->nctaid); }

static void represent(struct entry *e, const struct finding *f, u32 lane)
{
    entry_keep(e, f);
    e->first_cta = cta_of(f);
    e->first_lane = lane;
}

static void set_shape(struct thread_set *s, const struct occurrence *o)
{
    memcpy(s->nctaid, o->nctaid, sizeof s->nctaid);
    memcpy(s->ntid, o->ntid, sizeof s->ntid);
    s->threads = (u64)s->ntid[0] * s->ntid[1] * s->ntid[2];
    s->ctas = (u64)s->nctaid[0] * s->nctaid[1] * s->nctaid[2];
    s->piece = base_need(sizeof *s->piece * SET_PIECES);
}

/* Threads of one CTA of a launch shaped as `o` says. */
static void report_set_add(struct thread_set *s, const struct occurrence *o, const u32 cta[3], const u32 *thread, u32 n)
{
    if (!s->ntid[0]) set_shape(s, o);
    if (memcmp(s->nctaid, o->nctaid, sizeof s->nctaid) || memcmp(s->ntid, o->ntid, sizeof s->ntid) ||
        s->threads > SET_CTA_MOST) {
        s->partial = true;
        return;
    }
    u64 first = cta_linear(cta, o->nctaid) * s->threads;
    for (u32 i = 0; i < n; i++) {
        u64 at = first + thread[i];
        if (at >= SET_MOST || thread[i] >= s->threads) {
            s->partial = true;
            continue;
        }
        u64 **p = &s->piece[at / SET_PIECE];
        if (!*p) *p = base_need(SET_PIECE / 8);
        at %= SET_PIECE;
        (*p)[at / 64] |= 1ull << at % 64;
    }
}

/* Of a crowd of readers one is recorded. If the recorded reader is the writer itself, another one of the crowd
 * raced. */
static bool is_nameless(enum finding_kind kind, const struct occurrence *o)
{
    /* a thread can meet its own */
    bool copy = kind == F_async_early || kind == F_async_overwrite || kind == F_async_wait;
    return !copy && o->thread[0] == o->rival_thread && !memcmp(o->cta, o->rival_cta, sizeof o->cta);
}

static void tie_add(struct tie *t, const struct occurrence *o)
{
    t->same_cta |= o->crowd == CROWD_CTA;
    t->other_cta |= o->crowd == CROWD_GRID;
    if (o->thread[0] == o->rival_thread && !memcmp(o->cta, o->rival_cta, sizeof o->cta))
        return; /* one of a crowd has no name */

    bool same = !memcmp(o->cta, o->rival_cta, sizeof o->cta);
    s64 apart = (s64)o->rival_thread - (s64)o->thread[0];
    *(same ? o->thread[0] / 32 == o->rival_thread / 32 ? &t->same_warp : &t->same_cta : &t->other_cta) = true;
    t->varies |= t->count && apart != t->apart;
    t->apart = apart;
    t->count++;
}

static void range_add(struct entry *e, const struct occurrence *o)
{
    for (u32 i = 0; e->f.access && i < o->nlanes; i++) {
        s64 off = (s64)(o->addr[i] - o->object_base);
        if (!e->has_range) e->low = e->high = e->anchor = off;
        e->has_range = true;
        e->low = MIN_OF(e->low, off);
        e->high = MAX_OF(e->high, off);
        e->end = MAX_OF(e->end, (s64)((u64)off + e->f.width));
        u64 apart = off > e->anchor ? (u64)off - (u64)e->anchor : (u64)e->anchor - (u64)off;
        if (apart) e->step = gcd(e->step, apart);
    }
}

void entry_count(struct report *r, struct entry *e)
{
    e->suppressed = suppress_find(r->rules, &e->f);
    if (e->suppressed) e->suppressed->used++;
    ++*(e->suppressed ? &r->suppressed : finding_severity(e->f.kind) == SEV_ERROR ? &r->errors : &r->notes);
}

static struct entry *entry_get(struct report *r, const struct finding *f)
{
    u32 launch = f->launch ? f->launch : report_launch_number(r);
    u64 hash = finding_hash(f);
    if (r->last && r->last->hash == hash && r->last->launch == launch && same_cause(&r->last->f, f)) return r->last;
    struct entry **b = &r->bucket[hash % BUCKETS];
    for (struct entry *e = *b; e; e = e->next)
        if (e->hash == hash && e->launch == launch && same_cause(&e->f, f)) return r->last = e;
    if (r->entries == ENTRIES_MOST) return NULL;
    struct entry *e = base_need(sizeof *e);
    e->hash = hash;
    e->launch = launch;
    represent(e, f, smallest_thread(f->thread, f->nlanes));
    origin_keep(e);
    e->next = *b;
    *b = e;
    __atomic_store_n(&r->entries, r->entries + 1, __ATOMIC_RELAXED);
    entry_count(r, e);
    __atomic_store_n(&r->fresh, r->fresh + 1, __ATOMIC_RELAXED);
    return r->last = e;
}

static int by_text(const char *a, const char *b) { return a && b ? strcmp(a, b) : !!a - !!b; }

static int by_number(u64 a, u64 b) { return (a > b) - (a < b); }

static int by_place(const struct place *a, const struct place *b)
{
    int c = !!b - !!a; /* what has no place comes last */
    if (c || !a) return c;
    const struct place *x = a, *y = b;
    while (x->inlined_at) x = x->inlined_at;
    while (y->inlined_at) y = y->inlined_at;
    if ((c = by_text(x->file, y->file)) || (c = by_number(x->line, y->line)) || (c = by_number(x->col, y->col)) ||
        (c = by_text(a->file, b->file)) || (c = by_number(a->line, b->line)) || (c = by_number(a->col, b->col)))
        return c;
    return (c = by_text(a->ptx_file, b->ptx_file)) ? c : by_number(a->ptx_line, b->ptx_line);
}

static void occurrence_flip(struct occurrence *o)
{
    struct occurrence x = *o;
    memcpy(o->cta, x.rival_cta, sizeof o->cta);
    memcpy(o->rival_cta, x.cta, sizeof o->cta);
    o->thread[0] = x.rival_thread;
    o->addr[0] = x.rival_addr;
    o->rival_thread = x.thread[0];
    o->rival_addr = x.addr[0];
}

/* Below 0: the first thread comes before the second one. */
static int by_thread(const struct occurrence *o)
{
    int c = by_number(cta_linear(o->cta, o->nctaid), cta_linear(o->rival_cta, o->nctaid));
    return c ? c : by_number(o->thread[0], o->rival_thread);
}

/* Which side of a race was seen first is chance: the first side is the one further up in the source, and the write
 * where both are at one place. */
static int by_side(const struct finding *f)
{
    /* what is wrong is the read */
    if (f->kind == F_race_readonly && f->access && f->rival->access) return by_text(f->access, f->rival->access);
    int c = by_place(f->place, f->other);
    if (!c) c = -by_text(f->access, f->rival->access); /* "write" before "read" before "atomic" */
    return c ? c : by_number(f->width, f->rival->width);
}

static void finding_flip(struct finding *f, struct rival *back)
{
    const struct rival *v = f->rival;
    *back = (struct rival){ .cta = { f->cta[0], f->cta[1], f->cta[2] },
                            .thread = f->thread[0],
                            .access = f->access,
                            .width = f->width,
                            .addr = f->addr[0],
                            .how = f->how,
                            .value = f->value,
                            .crowd = v->crowd };
    const struct place *p = f->place;
    f->place = f->other;
    f->other = p;
    memcpy(f->cta, v->cta, sizeof f->cta);
    f->thread[0] = v->thread;
    f->access = v->access;
    f->width = v->width;
    f->addr[0] = v->addr;
    f->how = v->how;
    f->value = v->value;
    f->rival = back;
}

static struct occurrence occurrence_of(const struct finding *f)
{
    struct occurrence o = { .nlanes = f->nlanes,
                            .object_base = f->object ? f->object_base : 0,
                            .equal = f->equal,
                            .stored = f->stored,
                            .streams = f->streams };
    memcpy(o.nctaid, f->nctaid, sizeof o.nctaid);
    memcpy(o.ntid, f->ntid, sizeof o.ntid);
    memcpy(o.cta, f->cta, sizeof o.cta);
    memcpy(o.thread, f->thread, sizeof o.thread);
    memcpy(o.addr, f->addr, sizeof o.addr);
    if (f->rival) {
        memcpy(o.rival_cta, f->rival->cta, sizeof o.cta);
        o.rival_thread = f->rival->thread;
        o.rival_addr = f->rival->addr;
        o.crowd = f->rival->crowd;
    }
    return o;
}

/* Whether an occurrence comes before the one that the entry shows. */
static bool comes_first(const struct entry *e, const struct occurrence *o)
{
    const struct finding *f = &e->f;
    u32 lane = smallest_thread(o->thread, o->nlanes);
    int c = by_number(cta_linear(o->cta, o->nctaid), e->first_cta);
    if (!o->nlanes && !f->nlanes) return o->streams < f->streams;
    if (!o->nlanes || !f->nlanes) return o->nlanes;
    if (f->rival) { /* both threads by name come before one */
        struct occurrence shown = occurrence_of(f);
        bool named = !is_nameless(f->kind, o);
        if (named != !is_nameless(f->kind, &shown)) return named;
    }
    c = c ? c : by_number(o->thread[lane], f->thread[e->first_lane]);
    if (c || !f->rival) return c < 0;
    c = by_number(cta_linear(o->rival_cta, o->nctaid), cta_linear(f->rival->cta, f->nctaid));
    return (c ? c : by_number(o->rival_thread, f->rival->thread)) < 0;
}

/* Counts an occurrence into its entry; e NULL: there was no room for it. */
static void count_in(struct report *r, struct entry *e, enum finding_kind kind, const struct occurrence *o, u64 n)
{
    bool counts = !e || !e->suppressed;
    r->occurrences += counts ? n : 0;
    r->error_occurrences += counts && finding_severity(kind) == SEV_ERROR ? n : 0;
    if (!e) {
        r->dropped += n;
        return;
    }
    if (origin_here && origin_here->nth > e->last && e->origin.nth) {
        e->launches++;
        e->last = origin_here->nth;
    }
    e->values_vary |= o->equal && o->stored != e->f.stored;
    e->occurrences += n;
    if (o->nlanes && o->ntid[0]) {
        report_set_add(&e->who, o, o->cta, o->thread, o->nlanes);
        if (e->f.rival && !(is_nameless(kind, o) && e->f.access && str_is(str_of(e->f.access), "write")))
            report_set_add(&e->against, o, o->rival_cta, &o->rival_thread, 1);
        if (e->f.rival) tie_add(&e->tie, o);
    }
    range_add(e, o);
}

bool same_form(const struct index_form *a, const struct index_form *b)
{
    return a->known == b->known && a->open == b->open && !memcmp(a->step, b->step, sizeof a->step) &&
           !memcmp(a->cta_step, b->cta_step, sizeof a->cta_step);
}

void report_add(struct report *r, const struct finding *given)
{
    struct finding copy;
    struct rival back;
    const struct finding *f = given;
    CHECK(f->kind < F_COUNT && f->nlanes <= FINDING_LANES && (!f->rival || f->nlanes == 1));
    struct occurrence o = occurrence_of(f);
    int side = f->rival ? by_side(f) : 0;
    if (side > 0 || (f->rival && !side && by_thread(&o) > 0)) {
        copy = *f;
        finding_flip(&copy, &back);
        f = &copy;
        occurrence_flip(&o);
    }
    u64 n = f->joins ? 0 : f->once ? 1 : MAX_OF(f->nlanes, 1u);
    lock(&r->lock);
    if (is_off(r, f->kind) && !f->stops) {
        unlock(&r->lock);
        return;
    }
    u32 before = r->fresh;
    struct entry *e = entry_get(r, f);
    bool whole = r->fresh != before && e && !e->running;
    if (e) {
        e->form_varies |= !same_form(&e->f.form, &f->form);
        e->start_varies |= e->f.form.start != f->form.start;
        e->origin_low = e->origin_high ? MIN_OF(e->origin_low, f->origin_low) : f->origin_low;
        e->streams_vary |= e->f.streams != f->streams;
        e->hold |= f->hold;
        e->origin_high = MAX_OF(e->origin_high, f->origin_high);
    }
    for (u32 i = 0; e && i < INDEX_KINDS; i++)
        e->index_varies[i] |= e->f.index[i].holds != f->index[i].holds || e->f.index[i].shift != f->index[i].shift;
    if (e && comes_first(e, &o)) represent(e, f, smallest_thread(f->thread, f->nlanes));
    count_in(r, e, f->kind, &o, n);
    if (e && f->ticket) {
        r->ticket[f->ticket % TICKETS] = (struct ticket){ f->ticket, e, side > 0 };
        __atomic_store_n(&r->tickets, true, __ATOMIC_RELAXED);
    }
    unlock(&r->lock);
    if (whole) fresh_notify(r);
}

bool report_again(struct report *r, u64 ticket, const struct occurrence *given)
{
    struct occurrence o = *given;
    lock(&r->lock);
    const struct ticket *t = &r->ticket[ticket % TICKETS];
    struct entry *e = t->key == ticket && ticket ? t->entry : NULL;
    /* the same two instructions, at another shared array */
    if (e && e->f.object && same_text(e->f.space, "shared") && e->f.object_base != o.object_base) e = NULL;
    if (e && e->f.rival) {
        if (t->flipped)
            occurrence_flip(&o);
        else if (!by_side(&e->f) && by_thread(&o) > 0)
            occurrence_flip(&o);
    }
    bool known = e && !comes_first(e, &o);
    if (known) count_in(r, e, e->f.kind, &o, e->f.once ? 1 : MAX_OF(o.nlanes, 1u));
    unlock(&r->lock);
    return known;
}

static void set_join(struct thread_set *to, const struct thread_set *from)
{
    if (!from->ntid[0]) return; /* it is not about threads */
    bool same = !memcmp(to->nctaid, from->nctaid, sizeof to->nctaid) &&
                !memcmp(to->ntid, from->ntid, sizeof to->ntid) && to->piece && from->piece;
    to->partial |= from->partial || !same;
    for (u32 k = 0; same && k < SET_PIECES; k++) {
        if (from->piece[k] && !to->piece[k]) to->piece[k] = base_alloc(SET_PIECE / 8);
        to->partial |= from->piece[k] && !to->piece[k];
        for (u32 j = 0; from->piece[k] && to->piece[k] && j < SET_PIECE / 64; j++) to->piece[k][j] |= from->piece[k][j];
    }
}

void entry_join(struct entry *to, const struct entry *from)
{
    to->occurrences += from->occurrences;
    to->streams_vary |= from->streams_vary || (to->f.kind == from->f.kind && to->f.streams != from->f.streams);
    set_join(&to->who, &from->who);
    if (!from->has_range) return;
    u64 apart = from->anchor > to->anchor ? (u64)from->anchor - (u64)to->anchor : (u64)to->anchor - (u64)from->anchor;
    to->step = gcd(gcd(to->step, from->step), to->has_range ? apart : 0);
    to->low = to->has_range ? MIN_OF(to->low, from->low) : from->low;
    to->high = to->has_range ? MAX_OF(to->high, from->high) : from->high;
    to->end = to->has_range ? MAX_OF(to->end, from->end) : from->end;
    to->anchor = to->has_range ? to->anchor : from->anchor;
    to->has_range = true;
}

void report_take(struct report *r, struct report *from, enum finding_kind kind)
{
    lock(&r->lock);
    for (u32 b = 0; b < BUCKETS && !is_off(r, kind); b++)
        for (const struct entry *x = from->bucket[b]; x; x = x->next) {
            struct entry *e = x->f.kind == kind ? entry_get(r, &x->f) : NULL;
            if (!e) continue;
            bool fresh = !e->occurrences, counts = !e->suppressed;
            if (fresh) { /* the shape is the other's */
                struct occurrence o = occurrence_of(&x->f);
                set_shape(&e->who, &o);
            }
            entry_join(e, x);
            r->occurrences += counts ? x->occurrences : 0;
            r->error_occurrences += counts && finding_severity(kind) == SEV_ERROR ? x->occurrences : 0;
        }
    unlock(&r->lock);
}

/* Whether r has something of this kind at this place and in this launch already, whatever its cause. */
static bool is_known(const struct place_index *known, const struct finding *f, u32 launch)
{
    struct place_walk w;
    for (struct entry *e = place_index_first(known, f->kind, f->place, &w); e; e = place_index_next(known, &w))
        if (e->launch == launch && same_place(e->f.place, f->place) && same_place(e->f.other, f->other) &&
            same_text(e->f.kernel, f->kernel))
            return true;
    return false;
}

static void adopt(struct report *r, struct entry *x, const char *remark, u32 launch)
{
    struct entry **b = &r->bucket[x->hash % BUCKETS];
    if (remark) x->f.detail = arena_printf(&x->mem, "%s%s\n", x->f.detail ? x->f.detail : "", remark);
    x->launch = launch;
    x->next = *b;
    *b = x;
    __atomic_store_n(&r->entries, r->entries + 1, __ATOMIC_RELAXED);
    entry_count(r, x);
    __atomic_store_n(&r->fresh, r->fresh + 1, __ATOMIC_RELAXED);
    u64 all = x->suppressed ? 0 : entry_occurrences(x);
    r->occurrences += all;
    r->error_occurrences += finding_severity(x->f.kind) == SEV_ERROR ? all : 0;
}

/* r has an entry of the same kind, launch and cause. */
static bool is_known_cause(const struct report *r, const struct entry *x)
{
    const struct entry *e = r->bucket[x->hash % BUCKETS];
    while (e && !(e->hash == x->hash && e->launch == x->launch && same_cause(&e->f, &x->f))) e = e->next;
    return e != NULL;
}

/* own_launch: each finding keeps its launch; else all are of the launch that r is at. */
static void take_new(struct report *r, struct report *from, u32 checks, const char *remark, bool own_launch)
{
    struct entry *news = NULL;
    struct place_index known;
    lock(&r->lock);
    place_index_open(&known, r, NULL);
    for (u32 b = 0; b < BUCKETS; b++)
        for (struct entry **at = &from->bucket[b], *x; (x = *at);) {
            u32 check = finding_check(x->f.kind);
            bool has = own_launch && !x->f.place
                           ? is_known_cause(r, x)
                           : is_known(&known, &x->f, own_launch ? x->launch : report_launch_number(r));
            if ((check && (!(check & checks) || is_off(r, x->f.kind))) || has) {
                at = &x->next;
                continue;
            }
            *at = x->next;
            x->next = news;
            news = x;
        }
    place_index_close(&known);
    from->last = NULL;
    memset(from->ticket, 0, sizeof from->ticket);
    while (news) {
        struct entry *x = news;
        news = x->next;
        adopt(r, x, remark, own_launch ? x->launch : report_launch_number(r));
    }
    unlock(&r->lock);
}

void report_take_new(struct report *r, struct report *from, u32 checks, const char *remark)
{
    take_new(r, from, checks, remark, false);
}

void report_take_run(struct report *r, struct report *from, const char *remark)
{
    take_new(r, from, ~0u, remark, true);
}

/* The entry of r with the same cause as x; NULL: there is none. */
static struct entry *entry_like(const struct report *r, const struct entry *x)
{
    struct entry *e = r->bucket[x->hash % BUCKETS];
    while (e && !(e->hash == x->hash && e->launch == report_launch_number(r) && same_cause(&e->f, &x->f))) e = e->next;
    return e;
}

void report_release(struct report *r, struct report *from, u64 leave_out)
{
    lock(&r->lock);
    for (u32 b = 0; b < BUCKETS; b++)
        for (struct entry **at = &from->bucket[b], *x; (x = *at);) {
            struct entry *like = entry_like(r, x);
            bool out = x->hold & leave_out || is_off(r, x->f.kind);
            if (like && !out) {
                entry_join(like, x);
                set_join(&like->against, &x->against);
                r->occurrences += like->suppressed ? 0 : x->occurrences;
                r->error_occurrences += !like->suppressed && finding_severity(x->f.kind) == SEV_ERROR ? x->occurrences
                                                                                                      : 0;
            }
            if (out || like || r->entries >= ENTRIES_MOST) {
                at = &x->next;
                continue;
            }
            *at = x->next;
            adopt(r, x, NULL, report_launch_number(r));
        }
    unlock(&r->lock);
}

void report_tickets_end(struct report *r)
{
    if (likely(!__atomic_load_n(&r->tickets, __ATOMIC_RELAXED))) return;
    lock(&r->lock);
    memset(r->ticket, 0, sizeof r->ticket);
    __atomic_store_n(&r->tickets, false, __ATOMIC_RELAXED);
    unlock(&r->lock);
}

static u64 counted(const struct report *r, const void *field, size_t size)
{
    if (likely(!__atomic_load_n(&r->entries, __ATOMIC_RELAXED))) return 0; /* every launch asks */
    lock_t *l = (lock_t *)&r->lock; /* counting changes nothing that a caller can see */
    lock(l);
    report_settle((struct report *)r);
    u64 n = size == 4 ? *(const u32 *)field : *(const u64 *)field;
    unlock(l);
    return n;
}

u32 report_errors(const struct report *r) { return (u32)counted(r, &r->errors, 4); }
u32 report_notes(const struct report *r) { return (u32)counted(r, &r->notes, 4); }
u32 report_suppressed(const struct report *r) { return (u32)counted(r, &r->suppressed, 4); }
u64 report_occurrences(const struct report *r) { return counted(r, &r->occurrences, 8); }
u64 report_error_occurrences(const struct report *r) { return counted(r, &r->error_occurrences, 8); }

static int by_entry(const struct entry *x, const struct entry *y)
{
    const struct finding *a = &x->f, *b = &y->f;
    int c;
    if ((c = (int)finding_severity(a->kind) - (int)finding_severity(b->kind)) ||
        (c = by_number(x->launch, y->launch)) || (c = by_place(a->place, b->place)) ||
        (c = by_place(a->other, b->other)) || (c = (int)a->kind - (int)b->kind) ||
        (c = by_text(a->kernel, b->kernel)) || (c = by_text(a->object, b->object)) ||
        (c = by_text(a->access, b->access)) || (c = by_number(a->width, b->width)) || (c = by_text(a->call, b->call)) ||
        (c = by_text(a->cause, b->cause)))
        return c; /* before the keys, which are hashes of names of folders, too */
    return (c = by_number(a->cause_key, b->cause_key)) ? c : by_number(x->hash, y->hash);
}

void entries_sort(struct entry **v, struct entry **scratch, u32 n,
                  int (*by)(const struct entry *, const struct entry *))
{
    if (n < 2) return;
    u32 half = n / 2, i = 0, j = half, k = 0;
    entries_sort(v, scratch, half, by);
    entries_sort(v + half, scratch, n - half, by);
    while (i < half && j < n) scratch[k++] = by(v[i], v[j]) <= 0 ? v[i++] : v[j++];
    while (i < half) scratch[k++] = v[i++];
    while (j < n) scratch[k++] = v[j++];
    memcpy(v, scratch, sizeof *v * n);
}

struct entry **entries_sorted(struct report *r)
{
    struct entry **v = r->entries ? base_need(sizeof *v * r->entries * 2) : NULL;
    if (!v) return NULL;
    u32 n = 0;
    for (u32 b = 0; b < BUCKETS; b++)
        for (struct entry *e = r->bucket[b]; e; e = e->next) v[n++] = e;
    entries_sort(v, v + n, n, by_entry);
    return v;
}

struct entry **report_sorted(struct report *r)
{
    report_settle(r);
    return entries_sorted(r);
}

bool report_suppress(struct report *r, const char *name, struct str text, struct error *e)
{
    struct suppressions *s = suppress_read(name, text, e);
    if (!s) return false;
    lock(&r->lock);
    struct suppressions **tail = &r->rules;
    while (*tail) tail = &(*tail)->next;
    *tail = s;
    unlock(&r->lock);
    return true;
}

void report_rules(struct report *const *r, u32 n, struct text *out)
{
    struct reports all;
    reports_begin(&all, r, n);
    for (u32 i = 0; i < all.entries; i++)
        if (!all.v[i]->suppressed) suppress_line(&all.v[i]->f, out);
    reports_end(&all);
}

void report_unused(struct report *r, struct text *out)
{
    lock(&r->lock);
    for (const struct suppressions *f = r->rules; f; f = f->next)
        for (const struct suppression *s = f->first; s; s = s->next)
            if (!s->used) text_add(out, "%s:%u\n", f->name, s->at);
    unlock(&r->lock);
}
