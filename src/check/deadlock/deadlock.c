/* Why no thread can go on: the report of a launch that came to a stop, by proof (a deadlock), by its budget, or from
 * outside.
 *
 * The report lists where all threads are (deadlock_text.c). Its cause is the first of these that is found: a lock whose
 * holder waits for another lock, has left, or is the waiter itself; CTAs that never started because the others fill the
 * device; CTAs that grid.sync() waits for; lanes that a warp operation waits for; threads that a barrier waits for; a
 * value that no thread is left to write. */
#include "sim/asked.h"
#include "units/cluster_barrier.h"
#include "sim/cluster.h"
#include "deadlock/deadlock_memory.h"
#include "deadlock/exited.h"
#include "sim/finding_place.h"
#include "sim/sim_run.h"
#include "sim/wait.h"
#include "units/wgmma.h"
#include "schedule/worker.h"
#include <inttypes.h>

struct waiter { /* a split of a stopped launch */
    struct cta *cta;
    struct warp *w;
    const struct split *s;
};
struct cause {                /* the explanation, while it is composed */
    enum waits_for waits_for; /* of the finding */
    struct waiter at;         /* the headline: whose wait is shown */
    struct waiter other;      /* a second place, s is NULL: none */
    const char *cause, *fix;  /* NULL: not found yet */
};

static const struct lowered *low_of(const struct split *s) { return s->fr->code->low; }

/* The lowest waiter in a state. */
static struct waiter first_in(const struct stopped *st, int state)
{
    for (u32 n = 0; n < st->ncta; n++)
        for (u32 k = 0; k < st->cta[n]->nwarps; k++) {
            struct warp *w = st->cta[n]->warp[k];
            const struct split *best = NULL;
            for (u32 j = 0; j < w->nsplit; j++)
                if (w->split[j].state == state &&
                    (!best || __builtin_ctz(w->split[j].mask) < __builtin_ctz(best->mask)))
                    best = &w->split[j];
            if (best) return (struct waiter){ st->cta[n], w, best };
        }
    return (struct waiter){ 0 };
}

static struct waiter waiter_of(const struct stopped *st, u64 cta, u32 thread)
{
    for (u32 n = 0; n < st->ncta; n++) {
        if (st->cta[n]->linear != cta) continue;
        struct warp *w = st->cta[n]->warp[thread / LANES];
        for (u32 j = 0; j < w->nsplit; j++)
            if (w->split[j].mask >> thread % LANES & 1) return (struct waiter){ st->cta[n], w, &w->split[j] };
    }
    return (struct waiter){ 0 };
}

/* ---- locks ---- */

/* a thread that spins on a lock, and who took it */
struct hold {
    struct waiter at;
    u32 thread;
    const struct read *lock;
    const struct writer *by;
};

static bool takes_lock(const struct lowered *l, u32 op)
{
    const struct lop *o = &l->op[op];
    if (o->kind != K_MEM || !lop_fetches(o) || o->site >= l->nsite) return false;
    u32 a = l->site[o->site].atom;
    return a == AT_CAS || a == AT_EXCH;
}

static bool spins_on_lock(const struct launch *l, struct waiter x, struct hold *h)
{
    if (!x.s || x.s->state != SPLIT_IDLE) return false;
    for (u32 k = 0; k < x.s->nreads; k++) {
        const struct read *r = &x.s->reads[k];
        u64 key = (u64)(uintptr_t)r->ptr;
        const struct writer *by = &l->writers[(key >> 2) * 0x9e3779b97f4a7c15u >> 54];
        if (!takes_lock(low_of(x.s), r->op) || by->addr != key || by->serial != l->serial || by->value != r->value)
            continue;
        *h = (struct hold){ x, x.w->id * LANES + r->lane, r, by };
        return true;
    }
    return false;
}

static const char *lock_name(struct stopped *st, const struct hold *h) { return describe_address(st, h->lock); }

static void lock_ended(struct stopped *st, const struct hold *h, struct waiter holder, struct cause *c)
{
    const char *who = describe_thread(st, h->by->cta, h->by->thread), *took = describe_place(st, h->by->low, h->by->op),
               *lock = lock_name(st, h);
    c->at = h->at;
    if (!holder.s) {
        c->cause = arena_printf(&st->mem, "%s took the lock %s at %s, and has left the kernel without giving it back",
                                who, lock, took);
        c->fix = "Give the lock back on every way out of the kernel.";
    } else {
        c->other = holder;
        c->cause = arena_printf(&st->mem, "%s took the lock %s at %s, and cannot give it back: it is %s", who, lock,
                                took, describe_split(st, holder.cta, holder.w, holder.s));
        c->fix = "Give the lock back before waiting for others.";
    }
}

static void lock_cycle(struct stopped *st, const struct hold *h, u32 n, struct cause *c)
{
    c->at = h[0].at;
    if (n == 1) {
        c->cause = arena_printf(&st->mem, "%s took the lock %s at %s, and waits for itself at %s",
                                describe_thread(st, h->by->cta, h->by->thread), lock_name(st, h),
                                describe_place(st, h->by->low, h->by->op),
                                describe_place(st, low_of(h->at.s), h->lock->op));
        c->fix = "Do not take a lock again that the thread already has.";
        return;
    }
    struct text t = { 0 };
    text_add(&t, "a cycle of %u locks:", n);
    for (u32 k = 0; k < n; k++) {
        const struct hold *mine = &h[(k + n - 1) % n]; /* the one before waits for what this one holds */
        text_add(&t, "\n%s took %s at %s, and waits for %s at %s",
                 describe_thread(st, h[k].at.cta->linear, h[k].thread), lock_name(st, mine),
                 describe_place(st, mine->by->low, mine->by->op), lock_name(st, &h[k]),
                 describe_place(st, low_of(h[k].at.s), h[k].lock->op));
    }
    c->cause = t.p ? arena_str(&st->mem, str_of(t.p)) : "a cycle of locks";
    c->fix = "Take the locks in the same order everywhere.";
    text_free(&t);
}

/* Follows lock, holder, the lock the holder waits for, and so on, until a thread comes a second time. */
static void explain_locks(struct stopped *st, struct cause *c)
{
    enum { LONGEST = 16 };
    struct hold h[LONGEST];
    struct waiter x = first_in(st, SPLIT_IDLE);
    for (u32 n = 0; n < LONGEST && spins_on_lock(st->l, x, &h[n]); n++) {
        for (u32 k = 0; k <= n; k++)
            if (h[k].at.cta->linear == h[n].by->cta && h[k].thread == h[n].by->thread) {
                lock_cycle(st, h + k, n + 1 - k, c);
                return;
            }
        struct hold next;
        x = waiter_of(st, h[n].by->cta, h[n].by->thread);
        if (!spins_on_lock(st->l, x, &next)) {
            lock_ended(st, &h[n], x, c);
            return;
        }
        next.thread = h[n].by->thread;
        if (n + 1 < LONGEST) h[n + 1] = next;
    }
}

/* ---- CTAs that never started ---- */

static void explain_residency(struct stopped *st, struct cause *c)
{
    const struct launch *l = st->l;
    struct waiter x = first_in(st, SPLIT_IDLE);
    u64 started = launch_started(l), left = l->total - started;
    if (!left || !x.s || !x.s->nreads) return;
    bool nobody;
    describe_writers(st, &x.s->reads[0], &nobody);
    if (nobody) return;
    c->at = x;
    c->cause = arena_printf(&st->mem,
                            "%u of %" PRIu64 " blocks fit on %s at once; %" PRIu64
                            " never started, and the others wait for %s at %s",
                            l->room.most, l->total, l->sim->card->title, left, left == 1 ? "it" : "them",
                            describe_address(st, &x.s->reads[0]));
    c->fix = arena_printf(
        &st->mem,
        "Launch at most %u blocks and let each do more work. A cooperative launch refuses a grid that does not fit.",
        l->room.most);
}

/* Those who are missing wait for a value: who writes it, or who holds up whoever would. */
static void explain_other(struct stopped *st, struct cause *c)
{
    if (!c->other.s || c->other.s->state != SPLIT_IDLE || !c->other.s->nreads) return;
    bool nobody, named;
    const char *fix = NULL, *outside = explain_operations(st, c->other.s->reads[0].addr, &named, &fix);
    const char *by = describe_writers(st, &c->other.s->reads[0], &nobody);
    bool others = outside && (named || (by && nobody)); /* no thread of this launch is to blame */
    if (others || by) c->cause = arena_printf(&st->mem, "%s; %s", c->cause, others ? outside : by);
    if (others && fix) c->fix = fix;
}

/* ---- warp operations ---- */

static void explain_warp(struct stopped *st, struct cause *c)
{
    struct waiter x = first_in(st, SPLIT_RENDEZVOUS);
    if (!x.s) return;
    u32 here = 0;
    for (u32 j = 0; j < x.w->nsplit; j++) {
        const struct split *t = &x.w->split[j];
        if (t->state == SPLIT_RENDEZVOUS && t->rdv == x.s->rdv && t->op == x.s->op) here |= t->mask;
    }
    u32 missing = x.s->rdv & x.w->live & ~here;
    for (u32 j = 0; j < x.w->nsplit; j++)
        if (x.w->split[j].mask & missing && (!c->other.s || x.w->split[j].state == SPLIT_RENDEZVOUS))
            c->other = (struct waiter){ x.cta, x.w, &x.w->split[j] };
    c->at = x;
    const char *in = st->l->total > 1
                         ? arena_printf(&st->mem, "in warp %u of %s, ", x.w->id, describe_cta(st, x.cta->linear))
                     : st->l->nwarps > 1 ? arena_printf(&st->mem, "in warp %u, ", x.w->id)
                                         : "";
    const char *who = arena_printf(&st->mem, "%s%s %s %s", in, describe_lanes(st, here),
                                   here & (here - 1) ? "are" : "is", describe_split(st, x.cta, x.w, x.s));
    bool many = missing & (missing - 1);
    if (c->other.s && c->other.s->state == SPLIT_RENDEZVOUS) {
        c->cause = arena_printf(&st->mem,
                                "%s, and %s %s: each waits for the other, and an operation completes only when all "
                                "lanes of its mask reach the same one",
                                who, describe_lanes(st, c->other.s->mask), describe_split(st, x.cta, x.w, c->other.s));
        c->fix = "Let all lanes of the mask reach the same call, or give each call only the lanes that reach it.";
    } else {
        c->cause = arena_printf(&st->mem, "%s; %s never arrive%s", who, describe_lanes(st, missing), many ? "" : "s");
        if (c->other.s)
            c->cause = arena_printf(&st->mem, "%s: %s %s", c->cause, many ? "they are" : "it is",
                                    describe_split(st, x.cta, x.w, c->other.s));
        c->fix =
            x.s->fr->code->low->op[x.s->op].flags & ISA_ALIGNED
                ? "Let the whole warp execute it, outside the branch: an .aligned operation has no mask that could "
                  "leave lanes out."
                : "Let every lane of the mask reach the call, or compute the mask from those that do.";
        explain_other(st, c);
    }
}

/* ---- barriers ---- */

static u32 thread_count(const struct cta_threads *c)
{
    u32 n = 0;
    for (u32 k = 0; k < MAX_WARPS; k++) n += (u32)__builtin_popcount(c->mask[k]);
    return n;
}

static void explain_barrier(struct stopped *st, struct cause *c)
{
    struct waiter x = first_in(st, SPLIT_AT(barrier));
    if (!x.s) return;
    const struct bar *b = &x.cta->bar[x.s->bar];
    struct cta_threads here = { 0 }, missing = { 0 }, gone = { 0 };
    for (u32 k = 0; k < x.cta->nwarps; k++)
        for (u32 j = 0; j < x.cta->warp[k]->nsplit; j++) {
            const struct split *s = &x.cta->warp[k]->split[j];
            if (s->state == SPLIT_AT(barrier) && s->bar == x.s->bar) {
                here.mask[k] |= s->mask;
                continue;
            }
            missing.mask[k] |= s->mask;
            if (!c->other.s) c->other = (struct waiter){ x.cta, x.cta->warp[k], s };
        }
    c->at = x;
    u32 arrived = thread_count(&here) + b->arrived_threads, left = thread_count(&missing);
    const char *who = describe_threads(st, &here),
               *in = st->l->total == 1 ? "" : arena_printf(&st->mem, " of %s", describe_cta(st, x.cta->linear));
    const char *rest = describe_absent(st, x.cta, x.s->bar, x.s->op, &gone);
    if (!rest) rest = "no other thread is left";
    if (b->expected) {
        c->cause = arena_printf(&st->mem, "barrier %u needs %u threads and has %u (%s%s); %s", x.s->bar, b->expected,
                                arrived, who, in, rest);
        c->fix = left ? "Let as many threads reach the barrier as its count says."
                      : arena_printf(&st->mem, "Give the barrier the count of those that reach it, %u%s.", arrived,
                                     thread_count(&gone) ? ", or let the others return after it" : "");
    } else {
        c->cause = arena_printf(&st->mem, "%s%s wait%s at barrier %u; %s", who, in, arrived == 1 ? "s" : "", x.s->bar,
                                rest);
        c->fix = "Let all threads of the block reach the barrier: what they wait for must be done before it.";
    }
    explain_other(st, c);
}

/* ---- the barrier of the cluster ---- */

static void explain_cluster(struct stopped *st, struct cause *c)
{
    struct waiter x = first_in(st, SPLIT_AT(cluster));
    if (!x.s) return;
    struct cta_threads here = { 0 };
    const struct cluster *of = x.cta->cluster;
    struct text t = { 0 };
    u32 waiting = 0;
    for (u32 k = 0; k < x.cta->nwarps; k++)
        for (u32 j = 0; j < x.cta->warp[k]->nsplit; j++)
            if (x.cta->warp[k]->split[j].state == SPLIT_AT(cluster)) here.mask[k] |= x.cta->warp[k]->split[j].mask;
    waiting = thread_count(&here);
    for (u32 n = 0; n < of->size; n++) {
        struct cta *y = of->cta[n];
        struct cta_threads late = { 0 };
        struct waiter first = { 0 };
        for (u32 k = 0; k < y->nwarps; k++)
            for (u32 j = 0; j < y->warp[k]->nsplit; j++) {
                const struct split *s = &y->warp[k]->split[j];
                late.mask[k] |= s->mask & ~cluster_arrived(y->warp[k]);
                if (!first.s && s->mask & ~cluster_arrived(y->warp[k])) first = (struct waiter){ y, y->warp[k], s };
            }
        if (!first.s) continue;
        if (!c->other.s) c->other = first;
        text_add(&t, "%s%s of %s %s not arrived: %s", t.n ? "; " : "", describe_threads(st, &late),
                 describe_cta(st, y->linear), thread_count(&late) == 1 ? "has" : "have",
                 describe_split(st, y, first.w, first.s));
    }
    c->at = x;
    c->cause = arena_printf(&st->mem, "%s of %s wait%s at the barrier of the cluster; %s", describe_threads(st, &here),
                            describe_cta(st, x.cta->linear), waiting == 1 ? "s" : "",
                            t.n ? t.p : "nobody is left to arrive");
    c->fix =
        "Let all threads of all blocks of the cluster reach the barrier: what they wait for must be done before it.";
    text_free(&t);
}

/* ---- the barrier of the grid ---- */

static bool waits_for_grid(const struct stopped *st, const struct split *s)
{
    const struct mem_object *o = st->l->workspace;
    return o && s->state == SPLIT_IDLE && s->nreads && s->reads[0].addr - o->base < o->size;
}

/* In grid.sync() thread 0 of each CTA spins, and its other threads wait at a barrier. */
static void explain_grid(struct stopped *st, struct cause *c)
{
    if (!st->l->grid_workspace) return; /* only grids that are resident as a whole have one: they are small */
    u32 *here = NEW_ARRAY(&st->mem, u32, st->l->total / 32 + 1), n = 0;
    struct cta *astray = NULL;
    for (u32 k = 0; k < st->ncta; k++) {
        struct cta *x = st->cta[k];
        bool waits = false;
        for (u32 w = 0; w < x->nwarps; w++)
            for (u32 j = 0; j < x->warp[w]->nsplit; j++)
                if (waits_for_grid(st, &x->warp[w]->split[j])) {
                    waits = true;
                    if (!c->at.s) c->at = (struct waiter){ x, x->warp[w], &x->warp[w]->split[j] };
                }
        if (waits) {
            here[x->linear / 32] |= 1u << x->linear % 32;
            n++;
        } else if (!astray)
            astray = x;
    }
    if (!n) return;
    u32 op = split_op(c->at.s);
    const char *ended = describe_exited_ctas(st, op), *at = describe_place(st, low_of(c->at.s), op);
    for (u32 k = 0; astray && k < astray->nwarps && !c->other.s; k++)
        if (astray->warp[k]->nsplit) c->other = (struct waiter){ astray, astray->warp[k], &astray->warp[k]->split[0] };
    const char *other = c->other.s ? arena_printf(&st->mem, "%s is %s", describe_cta(st, astray->linear),
                                                  describe_split(st, astray, c->other.w, c->other.s))
                                   : NULL;
    if (!ended && !other) {
        *c = (struct cause){ 0 };
        return;
    }
    c->cause = arena_printf(&st->mem, "%s %s in grid.sync() at %s for all %" PRIu64 " blocks; %s%s%s",
                            describe_ctas(st, here, (u32)st->l->total), n == 1 ? "waits" : "wait", at, st->l->total,
                            ended ? arena_printf(&st->mem, "%s without reaching it", ended) : "",
                            ended && other ? ", and " : "", other ? other : "");
    c->fix = ended ? "Let every block reach grid.sync(): guard the work before it, and return after the last one."
                   : "Let every block reach grid.sync() without waiting for those that are already there.";
}

/* ---- a value that no thread is left to write ---- */

/* The lowest thread that waits for an mbarrier of which some have arrived, and others have not, nor their bytes: others
 * may wait for what it would do next. */
static struct waiter first_short(const struct stopped *st)
{
    struct mbarrier_state m;
    for (u32 n = 0; n < st->ncta; n++)
        for (u32 k = 0; k < st->cta[n]->nwarps; k++)
            for (u32 j = 0; j < st->cta[n]->warp[k]->nsplit; j++) {
                const struct split *s = &st->cta[n]->warp[k]->split[j];
                if (s->state == SPLIT_IDLE && s->nreads && read_mbarrier(st, low_of(s), &s->reads[0], &m) &&
                    mbarrier_is_short(&m))
                    return (struct waiter){ st->cta[n], st->cta[n]->warp[k], s };
            }
    return (struct waiter){ 0 };
}

static void explain_spin(struct stopped *st, struct cause *c)
{
    struct waiter x = first_short(st);
    if (!x.s) x = first_in(st, SPLIT_IDLE);
    if (!x.s) return;
    c->at = x;
    if (!x.s->nreads) {
        c->cause = "the loop reads nothing that could change, so it never ends";
        c->fix = "Give the loop a way out that depends on something others write, read as volatile or atomically.";
        return;
    }
    bool nobody;
    const char *by = describe_writers(st, &x.s->reads[0], &nobody),
               *what = describe_read(st, low_of(x.s), &x.s->reads[0]);
    const char *ended = describe_exited_ctas(st, split_op(x.s));
    c->cause = arena_printf(&st->mem, "nobody is left to change %s: every other thread waits or has ended%s%s%s%s",
                            what, ended ? "; " : "", ended ? ended : "", by ? "; " : "", by ? by : "");
    bool named;
    const char *fix = NULL, *outside = NULL;
    if (x.s->reads[0].space != SP_SHARED) /* which operations of other streams, and the host, do not reach */
        outside = explain_operations(st, x.s->reads[0].addr, &named, &fix);
    if (outside) {
        c->cause = arena_printf(&st->mem, "nobody is left to change %s: %s", what, outside);
        c->fix = fix;
        return;
    }
    struct mbarrier_state m;
    if (read_mbarrier(st, low_of(x.s), &x.s->reads[0], &m)) {
        c->waits_for = m.arrived == m.expected && m.tx_expected != m.tx_arrived ? WAITS_FOR_BYTES : WAITS_FOR_PHASE;
        c->fix = advise_mbarrier(st, &m);
        return;
    }
    c->fix = nobody ? "Let a thread of the kernel write the value, before it waits itself."
                    : "Let the thread that writes the value get there without waiting for those that read it.";
}

/* ---- a warpgroup whose warps do not all come ---- */

static void explain_group(struct stopped *st, struct cause *c)
{
    struct waiter x = first_in(st, SPLIT_AT(group));
    if (!x.s) return;
    u32 behind = wgmma_behind(x.w), late = x.w->id / 4 * 4 + (behind ? (u32)__builtin_ctz(behind) : 0);
    c->at = x;
    c->cause = arena_printf(&st->mem,
                            "warp %u has waited for products that warp %u of its warpgroup has not waited for: a "
                            "product is one operation of all four warps",
                            x.w->id, late);
    c->fix = "Let all four warps of a warpgroup issue the same products and wait for them.";
}

/* ---- tensor memory that nobody frees ---- */

static void explain_tmem(struct stopped *st, struct cause *c)
{
    struct waiter x = first_in(st, SPLIT_AT(room));
    if (!x.s) return;
    c->at = x;
    c->cause =
        arena_printf(&st->mem,
                     "warp %u waits for columns of tensor memory, and nobody is left to free those that its block "
                     "has allocated",
                     x.w->id);
    c->fix = "Free tensor memory with tcgen05.dealloc before more is allocated than its 512 columns.";
}

/* ---- the report ---- */

static void sort_ctas(struct cta **v, u32 n)
{
    for (u32 gap = n / 2; gap; gap /= 2)
        for (u32 k = gap; k < n; k++)
            for (u32 j = k; j >= gap && v[j]->linear < v[j - gap]->linear; j -= gap) {
                struct cta *t = v[j];
                v[j] = v[j - gap];
                v[j - gap] = t;
            }
}

/* How far the launch came. */
static const char *far(struct stopped *st)
{
    u64 done = 0;
    if (!st->l->kernel || !st->l->total) return "while the kernel was still being prepared: no block has begun";
    for (u32 k = 0; k < st->l->nworkers; k++) done += st->l->worker[k].ctas;
    return arena_printf(&st->mem, "with %" PRIu64 " of %" PRIu64 " block%s done", done, st->l->total,
                        plural(st->l->total));
}

/* A split that says most of where the launch stands. */
static struct waiter first_of_all(struct stopped *st)
{
    static const u8 order[] = { SPLIT_RUN, SPLIT_SLEEP, SPLIT_IDLE, SPLIT_RENDEZVOUS };
    struct waiter x = { 0 };
    for (u32 k = 0; st->ncta && !x.s && k < COUNT_OF(order); k++) x = first_in(st, order[k]);
    for (int k = WAIT_none; st->ncta && !x.s && k < WAITS; k++) x = first_in(st, SPLIT_WAITS + k);
    return x;
}

/* A stop that no other explanation fits is still a deadlock. */
static void explain_rest(struct stopped *st, struct cause *c)
{
    c->at = first_of_all(st);
    c->cause = arena_printf(&st->mem, "every thread that is left waits, %s, and nothing that one waits for can come",
                            far(st));
}

/* A loop that does not look again at what it depends on. */
static void explain_loaded_once(struct stopped *st, struct cause *c)
{
    const struct waiter *at = c->at.s && c->at.s->state == SPLIT_IDLE ? &c->at : &c->other;
    bool idle = at->s && at->s->state == SPLIT_IDLE, reads = idle && at->s->nreads;
    struct loaded_once x;
    if (!idle || !(reads ? loaded_once_beside(st, at->s->reads[0].addr, &x) : loaded_once_before(st, at->s, &x)))
        return;
    const char *name = x.object ? x.object->name : "what it loads";
    c->cause = arena_printf(&st->mem, "%s; %s%s is loaded once at %s, in front of the loop, and not looked at again",
                            c->cause, name, reads ? ", which the host may write, too," : "", x.place);
    c->fix = arena_printf(&st->mem,
                          "Load %s as volatile, or with cuda::atomic_ref: of a plain variable the compiler "
                          "keeps the value that it has loaded, and while (!flag) becomes if (!flag) for (;;).",
                          x.object ? name : "the variable");
}

/* Who could end what the running threads wait for, if none of them does: an operation that is held up, or the host. */
static void explain_interrupted(struct stopped *st, struct cause *c)
{
    enum { MOST = 8 };
    struct read r[MOST];
    bool named = false;
    u32 n = polled_unwritten(st, r, MOST);
    c->cause = arena_printf(&st->mem, "the launch was interrupted, %s", far(st));
    for (u32 k = 0; k < n && !named; k++) {
        const char *fix = NULL, *outside = explain_operations(st, r[k].addr, &named, &fix);
        if (!outside || !(named || read_is_of_host(st, &r[k]))) continue;
        c->cause = arena_printf(&st->mem, "the launch was interrupted, %s; it waits for %s: %s", far(st),
                                describe_read(st, st->l->kernel, &r[k]), outside);
        c->fix = fix;
    }
}

static void explain_stopped(struct stopped *st, enum finding_kind kind, struct cause *c)
{
    c->at = first_of_all(st);
    if (kind == F_livelock)
        c->cause = arena_printf(
            &st->mem,
            "%" PRIu64 " warp instructions were executed, the budget of the launch, and threads were still running",
            st->l->in->budget);
    else if (kind == F_time_limit)
        c->cause = arena_printf(&st->mem, "%g second%s passed, the time limit of the launch, %s", st->l->in->time_limit,
                                st->l->in->time_limit == 1 ? " has" : "s have", far(st));
    else if (kind == F_wait_suspected) {
        bool reads = c->at.s && c->at.s->state == SPLIT_IDLE && c->at.s->nreads;
        bool named;
        const char *fix, *outside = reads ? explain_operations(st, c->at.s->reads[0].addr, &named, &fix) : NULL;
        c->cause = arena_printf(&st->mem, "for %u seconds every thread has waited%s%s%s%s", SUSPECT_SECONDS,
                                reads ? " for " : "",
                                reads ? describe_read(st, low_of(c->at.s), &c->at.s->reads[0]) : "",
                                outside ? "; " : ", and the host sleeps", outside ? outside : "");
        explain_loaded_once(st, c);
    } else if (c->at.s && c->at.s->state == SPLIT_IDLE && c->at.s->nreads && wait_for_host(st->l)) {
        c->cause = arena_printf(&st->mem, "interrupted while every thread waited for the host to write %s",
                                describe_read(st, low_of(c->at.s), &c->at.s->reads[0]));
        c->fix = "Let the host write it, from a thread that does not wait for the launch.";
    } else
        explain_interrupted(st, c);
}

/* All that wait are in one finding, which occurred once. */
static void add_everybody(struct stopped *st, struct finding *f)
{
    struct launch *l = st->l;
    f->launch = l->in->number; /* whoever finds that all stand still works for none of them */
    f->kernel = arena_str(&st->mem, l->in->kernel->name);
    memcpy(f->nctaid, l->in->grid, 12);
    memcpy(f->ntid, l->in->block, 12);
    f->once = true;
    for (u32 n = 0; n < st->ncta; n++)
        for (u32 k = 0; k < st->cta[n]->nwarps; k++) {
            u32 mask = 0;
            for (u32 j = 0; j < st->cta[n]->warp[k]->nsplit; j++) mask |= st->cta[n]->warp[k]->split[j].mask;
            if (!mask) continue;
            memcpy(f->cta, st->cta[n]->id, 12);
            for (f->nlanes = 0; mask; mask &= mask - 1) f->thread[f->nlanes++] = k * LANES + (u32)__builtin_ctz(mask);
            report_add(l->in->report, f);
            f->joins = true;
        }
}

static void report_stop(struct launch *l, enum finding_kind kind)
{
    struct stopped st = { .l = l };
    struct cause c = { 0 };
    for (struct cta *first = l->parked; first; first = first->next) st.ncta += l->per;
    st.cta = NEW_ARRAY(&st.mem, struct cta *, st.ncta + 1);
    st.ncta = 0;
    for (struct cta *first = l->parked; first; first = first->next)
        for (struct cta *x = first; x; x = cluster_next(x)) {
            bool any = false;
            for (u32 k = 0; k < x->nwarps; k++) any |= x->warp[k]->nsplit != 0;
            if (any) st.cta[st.ncta++] = x;
        }
    sort_ctas(st.cta, st.ncta);
    if (kind != F_deadlock) explain_stopped(&st, kind, &c);
    if (!c.at.s) explain_locks(&st, &c);
    if (!c.at.s) explain_residency(&st, &c);
    if (!c.at.s) explain_grid(&st, &c);
    if (!c.at.s) explain_warp(&st, &c);
    if (!c.at.s) explain_barrier(&st, &c);
    if (!c.at.s) explain_cluster(&st, &c);
    if (!c.at.s) explain_spin(&st, &c);
    if (!c.at.s) explain_group(&st, &c);
    if (!c.at.s) explain_tmem(&st, &c);
    if (!c.at.s && kind == F_deadlock) explain_rest(&st, &c);
    if (kind == F_deadlock) explain_loaded_once(&st, &c);
    if (c.at.s) {
        struct finding f = { .kind = kind, .cause = c.cause, .fix = c.fix, .waits_for = c.waits_for };
        f.detail = describe_all(&st);
        f.place = finding_place(&st.mem, low_of(c.at.s), split_op(c.at.s));
        if (l->in->op) f.cause_key = str_hash(str_of(c.cause)); /* of several launches of the kernel */
        bool same = c.other.s && !strcmp(describe_place(&st, low_of(c.at.s), split_op(c.at.s)),
                                         describe_place(&st, low_of(c.other.s), split_op(c.other.s)));
        if (c.other.s && !same) f.other = finding_place(&st.mem, low_of(c.other.s), split_op(c.other.s));
        add_everybody(&st, &f);
    } else { /* no CTA was resident just then: the launch did not end all the same */
        struct finding f = { .kind = kind, .cause = c.cause, .once = true };
        f.kernel = arena_str(&st.mem, l->in->kernel->name);
        memcpy(f.nctaid, l->in->grid, 12);
        memcpy(f.ntid, l->in->block, 12);
        report_add(l->in->report, &f);
    }
    arena_free(&st.mem);
}

void deadlock_report(struct launch *l)
{
    report_stop(l, F_deadlock);
    launch_stop(l, SIM_DEADLOCK);
}

void suspected_report(struct launch *l)
{
    l->suspected = true;
    report_stop(l, F_wait_suspected);
}

void busy_report(struct warp *w, const struct lowered *low, const struct read *polled)
{
    struct cta *c = w->cta;
    struct stopped st = { .l = c->launch, .cta = &c, .ncta = 1 };
    struct finding f = { .kind = F_wait_suspected, .once = true };
    f.cause = arena_printf(&st.mem,
                           "for %u seconds every loop that was looked at has read the same and changed nothing that "
                           "others see; this one waits for %s (it reads a clock or counts its rounds, so that nothing "
                           "is proved)",
                           SUSPECT_SECONDS, describe_read(&st, low, polled));
    f.fix = "Look at who should change it: an arrival that is missing, a count that is too large, a flag that nobody "
            "sets. Ctrl-C says where every thread stands.";
    finding_add_of(w, low, polled->op, &f, w->mask);
    arena_free(&st.mem);
}

void beats_report(struct warp *w, const struct lowered *low, const struct read *polled)
{
    struct cta *c = w->cta;
    struct stopped st = { .l = c->launch, .cta = &c, .ncta = 1, .runs = true };
    struct finding f = { .kind = F_wait_suspected, .once = true, .detail = describe_all(&st) };
    bool named;
    const char *fix = NULL, *outside = explain_operations(&st, polled->addr, &named, &fix);
    f.cause = arena_printf(&st.mem,
                           "for %u seconds this loop has read %s, and nothing else can run; what it writes does not "
                           "decide whether it ends%s%s",
                           SUSPECT_SECONDS, describe_read(&st, low, polled), outside ? "; " : "",
                           outside ? outside : "");
    f.fix = outside ? fix : "Look at who should change it. Ctrl-C says where every thread stands.";
    finding_add_of(w, low, polled->op, &f, w->mask);
    arena_free(&st.mem);
}

void stopped_report(struct launch *l)
{
    report_stop(l, l->stop == SIM_INTERRUPTED ? F_interrupted : l->stop == SIM_OVERDUE ? F_time_limit : F_livelock);
}

static void report_if_stopped(struct launch *l)
{
    if (l->stop == SIM_LIVELOCK || l->stop == SIM_INTERRUPTED || l->stop == SIM_OVERDUE) stopped_report(l);
}

const struct attachment attach_stopped = { .launch_over = report_if_stopped };
