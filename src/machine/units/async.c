/* Asynchronous copies of one lane (cp.async).
 *
 * A copy is checked when it is issued and done as late as the program allows: at the wait that covers its group, or
 * when somebody waits for the phase of an mbarrier that counts it (cp.async.mbarrier.arrive, which is a flight). So
 * code that reads the destination too early reads what was there. A warp copies 512 bytes with one instruction, so
 * these copies have a short record of their own; larger ones are flights (flight.h). */
#include "units/async.h"
#include "sim/asked.h"
#include "units/attachments.h"
#include "units/flight.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "units/mbarrier.h"
#include "sim/observe.h"
#include "sim/planes.h"
#include "sim/sim_run.h"
#include "sim/wait.h"
#include <stdlib.h>

/* ---- copies ---- */

/* addr: of from; low, op: where it was issued; given: bytes to read, the rest is zero */
struct copy {
    char *to;
    const char *from;
    u64 addr;
    struct lowered *low;
    u32 op, group, origin, number; /* number: of its warp's copies */
    u8 lane, bytes, given;
};
struct copies {           /* of a warp; groups are counted lane by lane */
    u32 committed[LANES]; /* groups so far */
    u32 waits[LANES];     /* groups that the last wait left in flight, plus one; 0: there was none */
    u32 waited[LANES];    /* groups committed when it was executed */
    u32 issued;           /* copies so far */
    u32 counted[LANES];   /* those with a smaller number are counted by an mbarrier */
    u32 n, cap;
    struct copy c[];
};

static struct copies *copies_in(const struct warp *w) { return w->attached[AT_copies]; }

/* A warp starts: it has no copies. */
static void async_reset(struct warp *w)
{
    struct copies *s = copies_in(w);
    s->n = 0;
    memset(s->committed, 0, sizeof s->committed);
    memset(s->waits, 0, sizeof s->waits);
    memset(s->counted, 0, sizeof s->counted);
    s->issued = 0;
}

bool async_flight(const struct warp *w, u32 lane, const char *at, struct async_flight *out)
{
    const struct copies *s = copies_in(w);
    for (u32 k = s ? s->n : 0; k-- > 0;) {
        const struct copy *c = &s->c[k];
        if (c->lane != lane || at < c->to || at >= c->to + c->bytes) continue;
        bool committed = c->group < s->committed[lane], since = s->waits[lane] && s->waited[lane] > c->group;
        *out = (struct async_flight){ .group = c->group + 1,
                                      .committed = committed,
                                      .newer = committed ? s->committed[lane] - c->group - 1 : 0,
                                      .waited = committed && since,
                                      .wait = since ? s->waits[lane] - 1 : 0,
                                      .counted = c->number < s->counted[lane] };
        return true;
    }
    return false;
}

static struct copies *copies_of(struct warp *w, u32 more)
{
    struct copies *s = copies_in(w);
    if (s && s->n + more <= s->cap) return s;
    u32 cap = s ? 2 * s->cap + more : 64 + more;
    struct copies *t = base_realloc(s, sizeof *t + cap * sizeof *t->c);
    if (!t) {
        launch_fail(w->cta->launch, SIM_UNSUPPORTED, ERR_MEMORY, NULL, 0,
                    "no memory for asynchronous copies in flight");
        return NULL;
    }
    if (!s) memset(t, 0, sizeof *t);
    t->cap = cap;
    attach_warp(w, AT_copies, t);
    return t;
}

/* What is undefined there is so here. */
static void copy_taints(struct warp *w, const struct copy *c)
{
    u64 to = (u64)(c->to - w->shared);
    shadow_define(w->init_shared, to, c->bytes);
    if (!c->given) return; /* a zero fill: its source is no memory of anybody's, and has no shadow */
    if (shadow_defined(w->init_global, c->addr, c->given)) return;
    for (u32 k = 0; k < c->given; k += 4) {
        u32 n = MIN_OF(4u, c->given - k);
        struct taint t = shadow_read(w->init_global, c->addr + k, n);
        if (t.undef && !t.origin) t.origin = c->origin;
        shadow_write(w->init_shared, to + k, n, t);
    }
}

/* Does the copies of the lanes in mask with a number below `before`, of groups before the `keep` newest ones. */
static void complete(struct warp *w, u32 mask, s64 keep, u32 before)
{
    struct copies *s = copies_in(w);
    u32 left = 0;
    if (!s) return;
    for (u32 k = 0; k < s->n; k++) {
        const struct copy c = s->c[k];
        bool due = mask >> c.lane & 1 && c.number < before &&
                   (keep < 0 || (s64)c.group < (s64)s->committed[c.lane] - keep);
        if (!due) {
            s->c[left++] = c;
            continue;
        }
        if (c.given) memcpy(c.to, c.from, c.given);
        memset(c.to + c.given, 0, c.bytes - c.given);
        if (w->init_shared) copy_taints(w, &c);
        ATTACH_EACH(w->cta->has, async_wrote, w->cta, c.to, c.bytes);
        if (observed(w->cta->launch)) observe_copied(w->cta->launch, w, c.lane, c.to, c.bytes);
    }
    s->n = left;
}

void async_complete(struct warp *w, u32 mask, s64 keep) { complete(w, mask, keep, ~0u); }

/* The copies of a lane that an mbarrier counts are done, and the arrival that waited for them is made. */
static void counted_done(struct flight *f)
{
    complete(f->warp, 1u << f->lane, -1, (u32)(uintptr_t)f->act_self);
    mbarrier_arrived(f->mbarrier_cta, f->mbarrier);
}

void async_count(struct warp *w, const struct insn *i, u32 lane, char *mbarrier, u64 at)
{
    struct flight *f = flight_new(w, i, lane, FLIGHT_MBARRIER);
    if (!f) return;
    struct copies *s = copies_in(w);
    if (s) s->counted[lane] = s->issued;
    f->mbarrier = mbarrier;
    f->mbarrier_at = at;
    f->act = counted_done;
    f->act_self = (void *)(uintptr_t)(s ? s->issued : 0);
    flight_issue(f);
}

bool async_covers(const struct cta *c, const char *at, u32 bytes)
{
    for (u32 n = 0; n < c->nwarps; n++) {
        const struct copies *s = copies_in(c->warp[n]);
        for (u32 k = 0; s && k < s->n; k++)
            if (at < s->c[k].to + s->c[k].bytes && at + bytes > s->c[k].to) return true;
    }
    return false;
}

/* Copies of one instruction that are in flight when lanes leave. */
struct pending_site {
    const struct lowered *low;
    u32 op, first, lanes, bytes; /* first: its place among the copies */
};

static int by_site(const void *a, const void *b)
{
    const struct pending_site *x = a, *y = b;
    if (x->low != y->low) return (uintptr_t)x->low < (uintptr_t)y->low ? -1 : 1;
    if (x->op != y->op) return x->op < y->op ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static int by_first(const void *a, const void *b)
{
    const struct pending_site *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Lanes leave: their copies complete. */
static void async_exit(struct warp *w, u32 mask)
{
    const struct copies *s = copies_in(w);
    if (!s->n || !(w->cta->launch->in->checks & CHECK_ASYNC)) return;
    struct arena mem = { 0 };
    struct pending_site *v = NEW_ARRAY(&mem, struct pending_site, s->n);
    u32 n = 0, sites = 0;
    for (u32 k = 0; k < s->n; k++)
        if (mask >> s->c[k].lane & 1 && s->c[k].number >= s->counted[s->c[k].lane])
            v[n++] = (struct pending_site){ s->c[k].low, s->c[k].op, k, 1u << s->c[k].lane, s->c[k].bytes };
    qsort(v, n, sizeof *v, by_site);
    for (u32 k = 0; k < n; k++) {
        if (sites && v[sites - 1].low == v[k].low && v[sites - 1].op == v[k].op)
            v[sites - 1].lanes |= v[k].lanes;
        else
            v[sites++] = v[k];
    }
    qsort(v, sites, sizeof *v, by_first);
    for (u32 k = 0; k < sites && !launch_interrupted(w->cta->launch); k++)
        asked->copies_unfinished(w, v[k].low, v[k].op, v[k].lanes, v[k].bytes);
    arena_free(&mem);
    /* no thread can wait for these copies any more: they stay in flight until the CTA ends, and reads of their bytes
     * are reported */
}

/* Checks the sources, lanes that read the same number of bytes together: bytes that are filled with zeros are not read,
 * and may lie past the end. */
static void copy_sources(struct access *from, const u32 *given)
{
    u32 all = from->mask, ok = 0;
    for (u32 todo = all; todo; todo &= ~from->mask) {
        from->bytes = given[__builtin_ctz(todo)];
        from->mask = 0;
        for (u32 l = 0; l < LANES; l++)
            if (todo >> l & 1 && given[l] == from->bytes) from->mask |= 1u << l;
        access_check(from);
        ok |= from->ok;
        if (from->warp->code->watch) observe_access(from->warp->cta->launch, from);
    }
    from->mask = all;
    from->ok = ok;
}

int run_cp_async(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct lop *o = &w->code->low->op[i->op];
    struct access to = { .site = &w->code->low->site[i->site], .insn = i, .warp = w, .mask = active_lanes(w, R, i) },
                  from;
    if (!to.mask) return 0;
    to.bytes = o->aux;
    from = to;
    from.site = to.site + 1;
    access_addresses(&to, R);
    access_addresses(&from, R);
    access_check(&to);
    if (w->code->watch & WATCH_INIT && w->planes) {
        asked->init_before(&to, R);
        from.mask = to.ok;
        asked->init_before(&from, R);
    }
    u32 given[LANES];
    from.mask = from.ok = 0;
    for (u32 l = 0; l < LANES; l++) {
        u32 n = lop_src(o, 2)->kind == O_NONE ? to.bytes : (u32)lane_value(w, w->code, R, i->c, CLS_AT(i, 3), 4, l);
        given[l] = n < to.bytes ? n : to.bytes;
        if (to.ok >> l & 1 && given[l]) from.mask |= 1u << l;
    }
    copy_sources(&from, given);
    struct copies *s = copies_of(w, LANES);
    for (u32 l = 0; s && l < LANES; l++) {
        if (!(to.ok >> l & 1)) continue;
        if (given[l] && !(from.ok >> l & 1)) { /* reported; that nothing comes is its consequence */
            if (w->init_shared) asked->init_define(&to, 1u << l);
            to.ok &= ~(1u << l);
            continue;
        } /* nothing is under way there */
        bool raw = w->init_shared && given[l] && !shadow_defined(w->init_global, from.addr[l], given[l]);
        s->c[s->n++] = (struct copy){ to.ptr[l],
                                      from.ptr[l],
                                      from.addr[l],
                                      w->code->low,
                                      i->op,
                                      s->committed[l],
                                      raw ? asked->origin_of_memory(&from, l, false) : 0,
                                      s->issued++,
                                      (u8)l,
                                      (u8)to.bytes,
                                      (u8)given[l] };
    }
    w->changed = 1;
    if (w->code->watch) observe_access(w->cta->launch, &to);
    return 0;
}

int run_cp_commit(char *restrict R, const struct insn *i, struct warp *w)
{
    struct copies *s = copies_of(w, 0);
    u32 m = active_lanes(w, R, i);
    for (u32 l = 0; s && l < LANES; l++) s->committed[l] += m >> l & 1;
    return 0;
}

/* Waits until at most `pending` committed groups of each thread are under way; -1: until every copy is complete. */
static int copy_wait(char *restrict R, const struct insn *i, struct warp *w, s64 pending)
{
    struct copies *s = copies_in(w);
    u32 mask = active_lanes(w, R, i);
    EACH_SET (l, s ? mask : 0) {
        s->waits[l] = pending < 0 ? 1 : (u32)pending + 1;
        s->waited[l] = s->committed[l];
    }
    async_complete(w, mask, pending);
    return 0;
}

int run_cp_wait(char *restrict R, const struct insn *i, struct warp *w)
{
    return copy_wait(R, i, w, w->code->low->op[i->op].off);
}

int run_cp_wait_all(char *restrict R, const struct insn *i, struct warp *w) { return copy_wait(R, i, w, -1); }

const struct attachment attach_copies = { .warp_begin = async_reset, .leave = async_exit };
