/* mbarriers: the word (mbarrier.h), what each operation does to it, and what is wrong with how it is used.
 *
 * Any 8 bytes could be the word of an mbarrier, so the word itself cannot say whether it is one: each CTA keeps a list
 * of those in its shared memory. */
#include "units/mbarrier.h"
#include "sim/asked.h"
#include "units/attachments.h"
#include "units/async.h"
#include "sim/cluster.h"
#include "sim/finding_place.h"
#include "units/flight.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/observe.h"
#include "sim/planes.h"
#include "sim/sim_run.h"
#include "sim/wait.h"

/* The CTA of the cluster in whose shared memory a byte lies. */
static struct cta *home_of(struct cta *c, const char *at)
{
    for (u32 k = 0; k < c->cluster->size; k++) {
        struct cta *x = c->cluster->cta[k];
        if (at >= x->shared && at < x->shared + c->launch->shared_total) return x;
    }
    return c;
}

static u64 make_word(u32 pending, u32 expected, s32 tx, u32 phase)
{
    return (pending & MBARRIER_MOST) | (u64)(expected & MBARRIER_MOST) << 20 | ((u64)(u32)tx & 0x1fffff) << 40 |
           (u64)(phase & 7) << 61;
}

/* ---- which there are ---- */

struct mbarriers {
    u32 n, cap; /* how many; room for how many */
    struct mbarrier_at {
        const char *at;  /* where its word is */
        u64 word;        /* what its operations have left there */
        u64 phase;       /* its number */
        u64 expected_tx; /* bytes announced in this phase */
        u64 arrived_tx;  /* bytes that have come in this phase */
        bool unfenced;   /* no fence has come since mbarrier.init, which was this one: */
        u32 op, thread;
        const struct lowered *low;
    } of[];
};

static struct mbarriers *mbarriers_of(const struct cta *c) { return c->attached[AT_mbarriers]; }

static struct mbarrier_at *find(const struct cta *c, const char *at)
{
    struct mbarriers *t = mbarriers_of(c);
    for (u32 k = 0; t && k < t->n; k++)
        if (t->of[k].at == at) return &t->of[k];
    return NULL;
}

static void remember(struct cta *c, const char *at, u64 word)
{
    struct mbarriers *t = mbarriers_of(c);
    if (!t || t->n == t->cap) {
        u32 cap = t ? 2 * t->cap : 16;
        struct mbarriers *more = base_realloc(t, sizeof *t + cap * sizeof *t->of);
        if (!more) return;
        if (!t) more->n = 0;
        more->cap = cap;
        attach_cta(c, AT_mbarriers, t = more);
    }
    t->of[t->n++] = (struct mbarrier_at){ .at = at, .word = word };
}

static void forget(struct cta *c, const char *at)
{
    struct mbarriers *t = mbarriers_of(c);
    for (u32 k = 0; t && k < t->n; k++)
        if (t->of[k].at == at) t->of[k--] = t->of[--t->n];
}

/* An operation has left this word there. */
static void keep(struct mbarrier_at *m, u64 word)
{
    if (!m) return;
    if (mbarrier_phase(m->word) != mbarrier_phase(word)) {
        m->phase++;
        m->expected_tx = m->arrived_tx = 0;
    }
    m->word = word;
}

static void mbarrier_begin(struct cta *c) { mbarriers_of(c)->n = 0; }

/* fence.mbarrier_init and fence.proxy.async: of any thread, as in check/proxy.c. */
static void mbarrier_fence(struct warp *w, const struct lop *o)
{
    struct mbarriers *t = mbarriers_of(w->cta);
    if (!(o->aux & (FENCE_ASYNC | FENCE_MBARRIER))) return;
    for (u32 k = 0; k < t->n; k++) t->of[k].unfenced = false;
}
const struct attachment attach_mbarriers = { .cta_begin = mbarrier_begin, .fence = mbarrier_fence };

bool mbarrier_known(const struct cta *c, const char *at) { return find(home_of((struct cta *)c, at), at) != NULL; }

struct mbarrier_state mbarrier_state(const struct cta *c, const char *at, u64 word)
{
    const struct mbarrier_at *m = find(home_of((struct cta *)c, at), at);
    return (struct mbarrier_state){ m ? m->phase : mbarrier_phase(word),
                                    mbarrier_expected(word) - mbarrier_pending(word), mbarrier_expected(word),
                                    m ? m->expected_tx : 0, m ? m->arrived_tx : 0 };
}

/* ---- what operations do to the word ---- */

/* The word, when its phase is complete that of the next one. */
static u64 word_settled(u32 pending, u32 expected, s32 tx, u32 phase)
{
    return !pending && !tx ? make_word(expected, expected, 0, phase + 1) : make_word(pending, expected, tx, phase);
}

static u64 word_arrived(u64 b, u32 count, bool drop)
{
    u32 pending = mbarrier_pending(b), expected = mbarrier_expected(b) - (drop ? count : 0);
    return word_settled(count >= pending ? 0 : pending - count, expected, mbarrier_tx(b), mbarrier_phase(b));
}

/* expect_tx does not complete a phase: it is followed by an arrival or by bytes. */
static u64 word_expecting(u64 b, s64 bytes)
{
    return make_word(mbarrier_pending(b), mbarrier_expected(b), (s32)(mbarrier_tx(b) + bytes), mbarrier_phase(b));
}

static u64 word_came(u64 b, s64 bytes)
{
    return word_settled(mbarrier_pending(b), mbarrier_expected(b), (s32)(mbarrier_tx(b) - bytes), mbarrier_phase(b));
}

void mbarrier_bytes_came(struct cta *c, char *at, u32 bytes)
{
    struct mbarrier_at *m = find(c, at);
    u64 *p = (u64 *)(void *)at, b = __atomic_load_n(p, __ATOMIC_ACQUIRE);
    if (m) m->arrived_tx += bytes;
    u64 now = word_came(b, bytes);
    keep(m, now);
    __atomic_store_n(p, now, __ATOMIC_RELEASE);
}

void mbarrier_arrived(struct cta *c, char *at)
{
    u64 *p = (u64 *)(void *)at, now = word_arrived(__atomic_load_n(p, __ATOMIC_ACQUIRE), 1, false);
    keep(find(c, at), now);
    __atomic_store_n(p, now, __ATOMIC_RELEASE);
}

/* ---- what is wrong with them ---- */

static void misused_by(const struct access *a, u32 lane, const char *cause, const char *fix, u64 key)
{
    struct warp *w = a->warp;
    struct finding f = { .kind = F_mbarrier_misuse,
                         .access = "atomic",
                         .space = "shared",
                         .width = 8,
                         .cause_key = key,
                         .cause = cause,
                         .fix = fix };
    struct arena mem = { 0 };
    const struct provenance *r = &a->site->prov;
    memcpy(f.addr, a->addr, sizeof f.addr);
    if (r->kind == FROM_VAR) {
        f.object = name_of_variable(&mem, r->var->name);
        f.object_base = r->var->offset;
        f.object_size = r->var->size;
        f.element_size = 8;
    }
    if (w->cta->launch->in->checks & CHECK_ASYNC) finding_add(w, a->insn->op, &f, 1u << lane);
    arena_free(&mem);
}

static void misused(const struct access *a, u32 lane, const char *cause, const char *fix)
{
    misused_by(a, lane, cause, fix, 0);
}

/* What an operation is given: arrivals, or the count of init; bytes of the tx-count. */
struct given {
    u32 count;
    s64 bytes;
};

static void check_init(const struct access *a, u32 lane, const struct mbarrier_at *known, u32 count)
{
    char text[120];
    if (known)
        misused(a, lane,
                "it is initialised already, and valid until mbarrier.inval: whoever waits there loses the phase",
                "Let one thread initialise it, once; before initialising it again, mbarrier.inval after a barrier.");
    if (!count)
        misused(a, lane, "its count is 0: no arrival can complete a phase",
                "Give it the number of arrivals of a phase.");
    if (count > MBARRIER_MOST) {
        snprintf(text, sizeof text, "its count is %u, and an mbarrier counts to 2^20 - 1 = %u", count, MBARRIER_MOST);
        misused(a, lane, text, "Give it the number of arrivals of a phase.");
    }
}

static void check_count(const struct access *a, u32 lane, const struct lop *o, u64 b, struct given x)
{
    char text[200];
    s64 tx = mbarrier_tx(b) + x.bytes;
    if (o->flags & ISA_MBAR_ARRIVE && !mbarrier_pending(b) && mbarrier_tx(b) > 0) {
        snprintf(text, sizeof text,
                 "the phase has had its %u arrival%s, and %d bytes that were announced have not come: whoever arrives "
                 "now has not waited for the phase",
                 mbarrier_expected(b), plural(mbarrier_expected(b)), mbarrier_tx(b));
        misused_by(a, lane, text,
                   "Wait for the phase, by its parity, before the next arrival; and let as many threads arrive, and "
                   "announce bytes, as the mbarrier was initialised with.",
                   MBARRIER_EARLY_ARRIVAL);
    } else if (o->flags & ISA_MBAR_ARRIVE && x.count > mbarrier_pending(b)) {
        snprintf(text, sizeof text, "%u arrival%s at once, and the phase expects only %u more of its %u", x.count,
                 plural(x.count), mbarrier_pending(b), mbarrier_expected(b));
        misused(a, lane, text, "Initialise it with the number of all arrivals of a phase.");
    } else if (o->aux & MBAR_NO_COMPLETE && x.count == mbarrier_pending(b) && !tx) {
        snprintf(text, sizeof text, "arrive.noComplete with %u arrival%s completes the phase, which expects no more",
                 x.count, plural(x.count));
        misused(a, lane, text, "Use mbarrier.arrive without .noComplete for the arrival that completes a phase.");
    }
    if (tx > MBARRIER_MOST || tx < -MBARRIER_MOST) {
        snprintf(text, sizeof text, "its tx-count becomes %lld bytes, and it counts to 2^20 - 1 = %u either way",
                 (long long)tx, MBARRIER_MOST);
        misused(a, lane, text, "Announce the bytes of one phase only: copies of 1 MB and more need several phases.");
    }
}

/* Called before the operation changes the word b; restores an overwritten mbarrier, so that a mistake is reported once.
 */
static u64 check(const struct access *a, u32 lane, const struct lop *o, u64 b, struct given x)
{
    const char *at = a->ptr[lane];
    struct cta *c = home_of(a->warp->cta, at);
    const struct mbarrier_at *known = find(c, at);
    u32 flags = o->flags;
    if (a->space[lane] != SP_SHARED) return b;
    if (!(flags & ISA_MBAR_INIT) && known && known->word != b) {
        misused(a, lane, "an ordinary store has overwritten it since: its phase and its arrivals are lost",
                "Keep other data out of its 8 bytes until mbarrier.inval; an index that runs out of the array "
                "beside it, and a union, are the usual ways there.");
        b = known->word;
    }
    if (flags & ISA_MBAR_INIT) {
        check_init(a, lane, known, x.count);
        if (!known) remember(c, at, b);
    } else if (!known) {
        misused(a, lane, "there is no initialised mbarrier there",
                "Initialise it by one thread with the number of arrivals of a phase, and pass a barrier before "
                "anybody uses it.");
        if (!(flags & ISA_MBAR_INVAL)) remember(c, at, b); /* once is enough; none is there after inval */
    } else if (flags & ISA_MBAR_INVAL)
        forget(c, at);
    else
        check_count(a, lane, o, b, x);
    return b;
}

void mbarrier_signalled(const struct flight *f)
{
    struct mbarrier_at *m = find(f->mbarrier_cta, f->mbarrier);
    if (likely(!m || !m->unfenced)) return;
    for (u32 k = 0; k < mbarriers_of(f->mbarrier_cta)->n; k++) /* once is enough */
        mbarriers_of(f->mbarrier_cta)->of[k].unfenced = false;
    asked->mbarrier_unfenced(f, m->low, m->op, m->thread);
}

/* ---- the instructions ---- */

static void put_state(char *R, const struct insn *i, const struct lop *o, u32 mask, const u64 *v)
{
    if (lop_dst(o, 0)->kind != O_REG) return;
    for (u32 l = 0; l < LANES; l++)
        if (mask >> l & 1) memcpy(SLOT(R, i->d) + 8 * l, &v[l], 8);
}

static void put_truth(char *R, const struct insn *i, u32 mask, u32 bits)
{
    u32 *p = (u32 *)(void *)SLOT(R, i->d);
    *p = (*p & ~mask) | (bits & mask);
}

/* What the operand x of an operation says; an arrival without one is one. */
static struct given given_by(const struct lop *o, bool has, u64 x)
{
    bool bytes = o->aux & (MBAR_EXPECT | MBAR_BYTES);
    return (struct given){ .count = has && !bytes && !(o->flags & ISA_MBAR_COPIES) ? (u32)x : 1,
                           .bytes = o->aux & MBAR_EXPECT  ? (s64)(u32)x
                                    : o->aux & MBAR_BYTES ? -(s64)(u32)x
                                                          : 0 };
}

/* What an operation leaves of the word b of an mbarrier; x is its operand. Those that wait say whether the phase is
 * complete. */
typedef u64 mbarrier_op(u64 b, u64 x, struct given g, const struct lop *o, bool *complete);

/* A lane has initialised it. */
static void made(struct mbarrier_at *m, const struct warp *w, u32 op, u32 lane)
{
    m->phase = m->expected_tx = m->arrived_tx = 0;
    m->unfenced = true;
    m->op = op;
    m->low = w->code->low;
    m->thread = w->id * LANES + lane;
}

/* Does it at the address of each lane. */
static int mbarrier(char *restrict R, const struct insn *i, struct warp *w, mbarrier_op *op)
{
    const struct lop *o = &w->code->low->op[i->op];
    struct access a = {
        .site = &w->code->low->site[i->site], .insn = i, .warp = w, .mask = active_lanes(w, R, i), .bytes = 8
    };
    u64 state[LANES];
    u32 truth = 0;
    if (!a.mask) return 0;
    access_addresses(&a, R);
    access_check(&a);
    if (w->code->watch & WATCH_INIT) asked->init_define(&a, a.ok); /* opaque to the program */
    for (u32 l = 0; l < LANES; l++) {
        state[l] = 0;
        if (!(a.ok >> l & 1)) continue;
        u64 *p = (u64 *)(void *)a.ptr[l], word = __atomic_load_n(p, __ATOMIC_ACQUIRE), now;
        bool has = lop_src(o, 1)->kind != O_NONE, complete = false;
        u64 x = has ? lane_value(w, w->code, R, i->b, CLS_AT(i, 2), o->flags & ISA_MBAR_STATE ? 8 : 4, l) : 1;
        struct given g = given_by(o, has, x);
        u64 b = state[l] = check(&a, l, o, word, g);
        struct mbarrier_at *known = find(home_of(w->cta, a.ptr[l]), a.ptr[l]);
        now = op(b, x, g, o, &complete);
        truth |= (u32)complete << l;
        if (known && g.bytes > 0) known->expected_tx += (u64)g.bytes;
        if (known && g.bytes < 0) known->arrived_tx += (u64)-g.bytes;
        if (now != b || o->flags & ISA_MBAR_INIT) keep(known, now);
        if (known && o->flags & ISA_MBAR_INIT) made(known, w, i->op, l);
        if (now != word) {
            __atomic_store_n(p, now, __ATOMIC_RELEASE);
            w->changed = 1;
        } else if (w->probe)
            wait_probe_read(w, i->op, l, a.space[l], a.addr[l], a.ptr[l], 8, b);
        if (o->flags & ISA_MBAR_COPIES) async_count(w, i, l, a.ptr[l], a.addr[l]);
    }
    if (o->flags & ISA_MBAR_WAIT) {
        put_truth(R, i, a.mask, truth);
        /* The wait failed: the bytes that it waits for have had time to come. */
        EACH_SET (l, a.ok & ~truth)
            if (flights_land_at(w->cta, a.ptr[l], &w->met)) w->changed = 1;
        /* Hardware would suspend the thread: its loop gives way at once, also when it ends by a clock and so is never
         * idle. */
        if (a.mask & ~truth && !w->probe) {
            w->fuel = 0;
            w->loops.next_fuel = FUEL_MAX;
        }
    } else
        put_state(R, i, o, a.mask, state);
    if (w->code->watch) observe_access(w->cta->launch, &a);
    return 0;
}

/* Each operation on an mbarrier: its handler is mbarrier() with what it does to the word. */
#define MBARRIER(id)                                                                                              \
    static mbarrier_op word_##id;                                                                                 \
    int run_##id(char *restrict R, const struct insn *i, struct warp *w) { return mbarrier(R, i, w, word_##id); } \
    static u64 word_##id(u64 b, u64 x, struct given g, const struct lop *o, bool *complete)
#define UNUSED(x) (void)(x)

MBARRIER(mbar_init)
{
    UNUSED(b), UNUSED(x), UNUSED(o), UNUSED(complete);
    return make_word(g.count, g.count, 0, 0);
}

MBARRIER(mbar_inval)
{
    UNUSED(b), UNUSED(x), UNUSED(g), UNUSED(o), UNUSED(complete);
    return 0;
}

/* arrive and arrive_drop, with expect_tx or without */
MBARRIER(mbar_arrive)
{
    UNUSED(x), UNUSED(complete);
    return word_arrived(word_expecting(b, g.bytes), g.count, o->flags & ISA_MBAR_DROP);
}

MBARRIER(mbar_expect)
{
    UNUSED(x), UNUSED(o), UNUSED(complete);
    return word_expecting(b, g.bytes);
}

MBARRIER(mbar_bytes)
{
    UNUSED(x), UNUSED(o), UNUSED(complete);
    return word_came(b, -g.bytes);
}

/* The arrival comes with the copies (async_count). Without .noinc the phase expects one more for it. */
MBARRIER(cp_mbar)
{
    UNUSED(x), UNUSED(g), UNUSED(complete);
    return o->aux & MBAR_NOINC
               ? b
               : make_word(mbarrier_pending(b) + 1, mbarrier_expected(b), mbarrier_tx(b), mbarrier_phase(b));
}

/* x is the state that an arrival returned: its phase is over when the word is in another one. */
MBARRIER(mbar_wait)
{
    UNUSED(g), UNUSED(o);
    *complete = mbarrier_phase(b) != mbarrier_phase(x);
    return b;
}

/* x is the parity of the phase. */
MBARRIER(mbar_parity)
{
    UNUSED(g), UNUSED(o);
    *complete = (mbarrier_phase(b) & 1) != (x & 1);
    return b;
}

int run_mbar_pending(char *restrict R, const struct insn *i, struct warp *w)
{
    u32 m = active_lanes(w, R, i);
    for (u32 l = 0; l < LANES; l++) {
        if (!(m >> l & 1)) continue;
        u32 n = mbarrier_pending(lane_value(w, w->code, R, i->a, CLS_AT(i, 1), 8, l));
        memcpy(SLOT(R, i->d) + 4 * l, &n, 4);
    }
    return 0;
}
