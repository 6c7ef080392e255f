/* Asynchronous copies (cp.async) and mbarriers.
 *
 * A copy is checked when it is issued and done as late as the program allows: at the wait that covers its group, at
 * an mbarrier arrive that follows it, or when its thread leaves. So code that reads the destination too early reads
 * what was there.
 *
 * An mbarrier is one 64-bit word in shared memory, opaque to the program (9.7.13.15.1). Here:
 *   bits 0..19 arrivals still expected in this phase, 20..39 arrivals of a phase, 40..63 number of the phase.
 * A state token is the word itself; a wait succeeds when the phase of the word is no longer that of the token. */
#include "sim/async.h"
#include "sim/explain_access.h"
#include "sim/finding_place.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
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
    u32 op, group, origin;
    u8 lane, bytes, given;
};
struct copies {           /* of a warp; groups are counted lane by lane */
    u32 committed[LANES]; /* groups so far */
    u32 waits[LANES];     /* groups that the last wait left in flight, plus one; 0: there was none */
    u32 waited[LANES];    /* groups committed when it was executed */
    u32 n, cap;
    struct copy c[];
};

void async_reset(struct warp *w)
{
    w->copies->n = 0;
    memset(w->copies->committed, 0, sizeof w->copies->committed);
    memset(w->copies->waits, 0, sizeof w->copies->waits);
}

bool async_flight(const struct warp *w, u32 lane, const char *at, struct async_flight *out)
{
    const struct copies *s = w->copies;
    for (u32 k = s ? s->n : 0; k-- > 0;) {
        const struct copy *c = &s->c[k];
        if (c->lane != lane || at < c->to || at >= c->to + c->bytes) continue;
        bool committed = c->group < s->committed[lane], since = s->waits[lane] && s->waited[lane] > c->group;
        *out = (struct async_flight){ .group = c->group + 1,
                                      .committed = committed,
                                      .newer = committed ? s->committed[lane] - c->group - 1 : 0,
                                      .waited = committed && since,
                                      .wait = since ? s->waits[lane] - 1 : 0 };
        return true;
    }
    return false;
}

static struct copies *copies_of(struct warp *w, u32 more)
{
    struct copies *s = w->copies;
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
    return w->copies = t;
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

/* Does the copies of the lanes in mask that belong to groups before `keep` newest ones; keep < 0: all. */
static void complete(struct warp *w, u32 mask, s64 keep)
{
    struct copies *s = w->copies;
    u32 left = 0;
    if (!s) return;
    for (u32 k = 0; k < s->n; k++) {
        const struct copy c = s->c[k];
        bool due = mask >> c.lane & 1 && (keep < 0 || (s64)c.group < (s64)s->committed[c.lane] - keep);
        if (!due) {
            s->c[left++] = c;
            continue;
        }
        if (c.given) memcpy(c.to, c.from, c.given);
        memset(c.to + c.given, 0, c.bytes - c.given);
        if (w->init_shared) copy_taints(w, &c);
        if (observed(w->cta->launch)) observe_copied(w->cta->launch, w, c.lane, c.to, c.bytes);
    }
    s->n = left;
}

bool async_covers(const struct cta *c, const char *at, u32 bytes)
{
    for (u32 n = 0; n < c->nwarps; n++) {
        const struct copies *s = c->warp[n]->copies;
        for (u32 k = 0; s && k < s->n; k++)
            if (at < s->c[k].to + s->c[k].bytes && at + bytes > s->c[k].to) return true;
    }
    return false;
}

static void unfinished(struct warp *w, const struct lowered *low, u32 op, u32 lanes, u32 bytes)
{
    char cause[160];
    struct finding f = { .kind = F_async_unfinished, .cause = cause };
    snprintf(cause, sizeof cause,
             "the thread left with copies of %u bytes that were started here and that it had not waited for", bytes);
    finding_add_of(w, low, op, &f, lanes); /* the lanes may leave from another function than the copy's */
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

void async_exit(struct warp *w, u32 mask)
{
    const struct copies *s = w->copies;
    if (!s->n || !(w->cta->launch->in->checks & CHECK_ASYNC)) return;
    struct arena mem = { 0 };
    struct pending_site *v = NEW_ARRAY(&mem, struct pending_site, s->n);
    u32 n = 0, sites = 0;
    for (u32 k = 0; k < s->n; k++)
        if (mask >> s->c[k].lane & 1)
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
        unfinished(w, v[k].low, v[k].op, v[k].lanes, v[k].bytes);
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
        init_before(&to, R);
        from.mask = to.ok;
        init_before(&from, R);
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
        if (given[l] && !(from.ok >> l & 1)) {
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
                                      raw ? origin_of_memory(&from, l) : 0,
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
    struct copies *s = w->copies;
    u32 mask = active_lanes(w, R, i);
    for (u32 m = s ? mask : 0; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        s->waits[l] = pending < 0 ? 1 : (u32)pending + 1;
        s->waited[l] = s->committed[l];
    }
    complete(w, mask, pending);
    return 0;
}

int run_cp_wait(char *restrict R, const struct insn *i, struct warp *w)
{
    return copy_wait(R, i, w, w->code->low->op[i->op].off);
}

int run_cp_wait_all(char *restrict R, const struct insn *i, struct warp *w) { return copy_wait(R, i, w, -1); }

/* ---- mbarriers ---- */

#define MB_COUNT 0xfffffu
static u32 mb_pending(u64 b) { return (u32)b & MB_COUNT; }
static u32 mb_expected(u64 b) { return (u32)(b >> 20) & MB_COUNT; }
static u64 mb_make(u32 pending, u32 expected, u64 phase)
{
    return (pending & MB_COUNT) | (u64)(expected & MB_COUNT) << 20 | phase << 40;
}

struct mbarrier_word async_mbarrier(u64 word)
{
    return (struct mbarrier_word){ word >> 40, mb_expected(word) - mb_pending(word), mb_expected(word) };
}

/* Where the valid mbarriers of a CTA lie. Any 8 bytes could be the word of an mbarrier, so the word itself cannot say.
 */
struct mbarriers {
    u32 n, cap;
    struct mbarrier_at {
        u64 at, word;
    } of[]; /* its address, and what its operations have left there */
};

static struct mbarrier_at *mb_known(const struct cta *c, u64 at)
{
    for (u32 k = 0; c->mbarriers && k < c->mbarriers->n; k++)
        if (c->mbarriers->of[k].at == at) return &c->mbarriers->of[k];
    return NULL;
}

static void mb_remember(struct cta *c, u64 at, u64 word)
{
    struct mbarriers *t = c->mbarriers;
    if (!t || t->n == t->cap) {
        u32 cap = t ? 2 * t->cap : 16;
        struct mbarriers *more = base_realloc(t, sizeof *t + cap * sizeof *t->of);
        if (!more) return;
        if (!t) more->n = 0;
        more->cap = cap;
        c->mbarriers = t = more;
    }
    t->of[t->n++] = (struct mbarrier_at){ at, word };
}

static void mb_forget(struct cta *c, u64 at)
{
    struct mbarriers *t = c->mbarriers;
    for (u32 k = 0; t && k < t->n; k++)
        if (t->of[k].at == at) t->of[k--] = t->of[--t->n];
}

void async_begin(struct cta *c)
{
    if (c->mbarriers) c->mbarriers->n = 0;
}

static void mb_misused(const struct access *a, u32 lane, const char *cause, const char *fix)
{
    struct warp *w = a->warp;
    struct finding f = {
        .kind = F_mbarrier_misuse, .access = "atomic", .space = "shared", .width = 8, .cause = cause, .fix = fix
    };
    struct arena mem = { 0 };
    const struct provenance *r = &a->site->prov;
    memcpy(f.addr, a->addr, sizeof f.addr);
    if (r->kind == FROM_VAR) {
        f.object = plain_name(&mem, r->var->name);
        f.object_base = r->var->offset;
        f.object_size = r->var->size;
        f.element_size = 8;
    }
    if (w->cta->launch->in->checks & CHECK_ASYNC) finding_add(w, a->insn->op, &f, 1u << lane);
    arena_free(&mem);
}

/* Before the operation is done to the word b; one that was overwritten is as it was again, so that one mistake is
 * reported once. */
static u64 mb_check(const struct access *a, u32 lane, u32 flags, u64 b, u32 count)
{
    struct cta *c = a->warp->cta;
    u64 at = a->addr[lane];
    struct mbarrier_at *known = mb_known(c, at);
    char text[200];
    if (a->space[lane] != SP_SHARED) return b;
    if (!(flags & ISA_MBAR_INIT) && known && known->word != b) {
        mb_misused(a, lane, "an ordinary store has overwritten it since: its phase and its arrivals are lost",
                   "Keep other data out of its 8 bytes until mbarrier.inval; an index that runs out of the array "
                   "beside it, and a union, are the usual ways there.");
        b = known->word;
    }
    if (flags & ISA_MBAR_INIT) {
        if (known)
            mb_misused(
                a, lane,
                "it is initialised already, and valid until mbarrier.inval: whoever waits there loses the phase",
                "Let one thread initialise it, once; before initialising it again, mbarrier.inval behind a barrier.");
        else
            mb_remember(c, at, b);
        if (!count)
            mb_misused(a, lane, "its count is 0: no arrival can complete a phase",
                       "Give it the number of arrivals of a phase.");
    } else if (!known) {
        mb_misused(a, lane, "nobody has initialised an mbarrier there",
                   "Initialise it by one thread with the number of arrivals of a phase, and pass a barrier before "
                   "anybody uses it.");
        mb_remember(c, at, b); /* once is enough */
    } else if (flags & ISA_MBAR_INVAL)
        mb_forget(c, at);
    else if (flags & ISA_MBAR_ARRIVE && count > mb_pending(b)) {
        snprintf(text, sizeof text, "%u arrival%s at once, and the phase expects only %u more of its %u", count,
                 count == 1 ? "" : "s", mb_pending(b), mb_expected(b));
        mb_misused(a, lane, text, "Initialise it with the number of all arrivals of a phase.");
    }
    return b;
}

/* The operation has left this there. */
static void mb_keep(const struct cta *c, u64 at, u64 word)
{
    struct mbarrier_at *known = mb_known(c, at);
    if (known) known->word = word;
}

static u64 mb_arrive(u64 b, u32 count, bool drop)
{
    u32 expected = mb_expected(b) - (drop ? count : 0), pending = mb_pending(b);
    if (count >= pending) return mb_make(expected, expected, (b >> 40) + 1);
    return mb_make(pending - count, expected, b >> 40);
}

static void put_state(const struct warp *w, char *R, const struct insn *i, const struct lop *o, u32 mask, const u64 *v)
{
    (void)w;
    if (lop_dst(o, 0)->kind != O_REG) return;
    for (u32 l = 0; l < LANES; l++)
        if (mask >> l & 1) memcpy(SLOT(R, i->d) + 8 * l, &v[l], 8);
}

static void put_truth(char *R, const struct insn *i, u32 mask, u32 bits)
{
    u32 *p = (u32 *)(void *)SLOT(R, i->d);
    *p = (*p & ~mask) | (bits & mask);
}

/* What an operation leaves of the word b of an mbarrier; x is its operand, 1 where it has none. Those that wait say
 * whether the phase is complete. */
typedef u64 mb_op(u64 b, u64 x, const struct lop *o, bool *complete);

/* Does it at the address of each lane. */
static int mbarrier(char *restrict R, const struct insn *i, struct warp *w, mb_op *op)
{
    const struct lop *o = &w->code->low->op[i->op];
    struct access a = {
        .site = &w->code->low->site[i->site], .insn = i, .warp = w, .mask = active_lanes(w, R, i), .bytes = 8
    };
    u64 state[LANES];
    u32 truth = 0;
    if (!a.mask) return 0;
    if (o->flags & ISA_MBAR_COPIES) complete(w, a.mask, -1);
    access_addresses(&a, R);
    access_check(&a);
    if (w->code->watch & WATCH_INIT) init_define(&a, a.ok); /* opaque to the program */
    for (u32 l = 0; l < LANES; l++) {
        state[l] = 0;
        if (!(a.ok >> l & 1)) continue;
        u64 *p = (u64 *)(void *)a.ptr[l], b = __atomic_load_n(p, __ATOMIC_ACQUIRE), now = b;
        u64 x = lop_src(o, 1)->kind == O_NONE
                    ? 1
                    : lane_value(w, w->code, R, i->b, CLS_AT(i, 2), o->flags & ISA_MBAR_STATE ? 8 : 4, l);
        u64 word = b;
        state[l] = now = b = mb_check(&a, l, o->flags, word, o->flags & ISA_MBAR_COPIES ? 1 : (u32)x);
        bool complete = false;
        now = op(b, x, o, &complete);
        truth |= (u32)complete << l;
        if (now != b || o->flags & ISA_MBAR_INIT) mb_keep(w->cta, a.addr[l], now);
        if (now != word) {
            __atomic_store_n(p, now, __ATOMIC_RELEASE);
            w->changed = 1;
        } else if (w->probe)
            wait_probe_read(w, i->op, l, a.space[l], a.addr[l], a.ptr[l], 8, b);
    }
    if (o->flags & ISA_MBAR_WAIT) {
        put_truth(R, i, a.mask, truth);
        /* The wait failed, and hardware would suspend the thread: its loop gives way at once, also when it reads a
         * clock and so is never idle. */
        if (a.mask & ~truth && !w->probe) {
            w->fuel = 0;
            w->next_fuel = FUEL_MAX;
        }
    } else
        put_state(w, R, i, o, a.mask, state);
    if (w->code->watch) observe_access(w->cta->launch, &a);
    return 0;
}

/* Each operation on an mbarrier: its handler is mbarrier() with what it does to the word. */
#define MBARRIER(id)                                                                                              \
    static mb_op word_##id;                                                                                       \
    int run_##id(char *restrict R, const struct insn *i, struct warp *w) { return mbarrier(R, i, w, word_##id); } \
    static u64 word_##id(u64 b, u64 x, const struct lop *o, bool *complete)
#define UNUSED(x) (void)(x)

MBARRIER(mbar_init)
{
    UNUSED(b), UNUSED(o), UNUSED(complete);
    return mb_make((u32)x, (u32)x, 0);
}

MBARRIER(mbar_inval)
{
    UNUSED(b), UNUSED(x), UNUSED(o), UNUSED(complete);
    return 0;
}

MBARRIER(mbar_arrive)
{
    UNUSED(o), UNUSED(complete);
    return mb_arrive(b, (u32)x, false);
}

MBARRIER(mbar_drop)
{
    UNUSED(o), UNUSED(complete);
    return mb_arrive(b, (u32)x, true);
}

/* The copies are complete by then. Without .noinc the arrival that it adds is the one it makes. */
MBARRIER(cp_mbar)
{
    UNUSED(x), UNUSED(complete);
    return o->aux & MBAR_NOINC ? mb_arrive(b, 1, false) : b;
}

/* x is the state that an arrival returned: its phase is over when the word is in another one. */
MBARRIER(mbar_wait)
{
    UNUSED(o);
    *complete = b >> 40 != x >> 40;
    return b;
}

/* x is the parity of the phase. */
MBARRIER(mbar_parity)
{
    UNUSED(o);
    *complete = (b >> 40 & 1) != (x & 1);
    return b;
}

int run_mbar_pending(char *restrict R, const struct insn *i, struct warp *w)
{
    u32 m = active_lanes(w, R, i);
    for (u32 l = 0; l < LANES; l++) {
        if (!(m >> l & 1)) continue;
        u32 n = mb_pending(lane_value(w, w->code, R, i->a, CLS_AT(i, 1), 8, l));
        memcpy(SLOT(R, i->d) + 4 * l, &n, 4);
    }
    return 0;
}
