/* Advice where data is handed over from thread to thread: by a flag, a counter or a lock whose release or acquire is
 * missing. Each advise_* function returns false, and leaves the finding as it is, where the code does not show that. */
#include "explain/race_handover.h"
#include "explain/race_code.h"

/* A strong access that may be a flag. Shared memory does not count: barriers are the usual way there. */
static bool is_strong(const struct site *s)
{
    return s && s->space != SP_SHARED && (s->sem != SEM_WEAK || site_is_atomic(s));
}

/* ---- data and a flag ---- */

/* The flag that the reader waits for: the last strong read that dominates its access. One thread may do an atomic for
 * its block, which all then meet at a barrier. Where the data is volatile itself, a volatile read counts only if a loop
 * polls it. NONE: there is none. */
static u32 find_flag_read(struct side s)
{
    bool volatile_data = site_at(s.l, s.op)->sem == SEM_VOLATILE;
    for (u32 k = s.op; k-- > 0;) {
        const struct site *z = site_at(s.l, k);
        if (!is_strong(z) || !(site_is_load(z) || site_fetches(z))) continue;
        if (!code_dominates(s.l, k, s.op) && !(site_fetches(z) && code_must_pass(s.l, k, s.op))) continue;
        if (!volatile_data || z->sem != SEM_VOLATILE || z->flags & SITE_POLLED) return k;
    }
    return NONE;
}

/* An atomic that leaves the value as it is, atomicAdd(p, 0), is a way to read it. */
static bool only_reads(const struct lop *o, const struct site *z)
{
    if (!site_fetches(z) || (z->atom != AT_ADD && z->atom != AT_OR && z->atom != AT_XOR)) return false;
    const struct opnd *d = lop_src(o, SRC_DATA);
    return d->kind == O_CONST && !d->value && !d->reg && !d->comp;
}

/* The write that sets the flag: the first strong write to its object after the writer's access, or else the last one
 * before it. NONE: there is none. */
static u32 find_flag_write(struct side s, const struct provenance *flag)
{
    u32 before = NONE;
    for (u32 k = 0; k < s.l->nop; k++) {
        const struct site *z = site_at(s.l, k);
        if (!is_strong(z) || site_is_load(z) || only_reads(&s.l->op[k], z) || !code_same_object(&z->prov, flag))
            continue;
        if (k > s.op) return k;
        before = k;
    }
    return before;
}

/* ---- a flag that is not looked at again ---- */

/* A way out of the block is a loop of one block that has no way out. */
static bool leads_into_circle(const struct lowered *l, const struct block *at)
{
    for (u32 k = 0; k < at->nsucc; k++) {
        const struct block *to = at->succ[k] < l->nblock ? &l->block[at->succ[k]] : NULL;
        if (to && to->nsucc == 1 && to->succ[0] == at->succ[k]) return true;
    }
    return false;
}

/* A branch on the value of this load leads into a loop that does nothing: the compiler has moved the load of a plain
 * variable out of the loop that waits for it. */
static bool is_waited_for_blindly(const struct lowered *l, u32 load)
{
    const struct site *s = site_at(l, load);
    const struct opnd *d = s && site_is_load(s) && s->sem == SEM_WEAK ? lop_dst(&l->op[load], 0) : NULL;
    if (!d || d->kind != O_REG) return false;
    for (u32 b = code_block(l, load); b < l->nblock; b++) {
        const struct block *at = &l->block[b];
        const struct lop *end = at->end > at->first ? &l->op[at->end - 1] : NULL;
        if (!end || !leads_into_circle(l, at) || at->nsucc != 2 || end->guard.kind != O_REG ||
            !code_dominates(l, load, at->end - 1))
            continue;
        bool decides = false;
        for (u32 k = load + 1; k < at->end; k++) {
            bool sets = false, uses = false;
            EACH_DEF (r, &l->op[k]) sets |= r == end->guard.reg;
            EACH_USE (r, &l->op[k]) uses |= r == d->reg;
            decides |= l->op[k].kind == K_CMP && sets && uses;
        }
        if (decides) return true;
    }
    return false;
}

/* Either access is such a load, or reads after such a load: it is the flag, or the data that the flag hands over. */
bool advise_blind(struct draft *x)
{
    struct side a = code_current(x), b = code_prior(x), r = code_is_load(a) ? a : b;
    u32 at = NONE;
    if (x->t->space != SPACE_GLOBAL || !r.l || !code_is_load(r)) return false;
    for (u32 k = r.op + 1; k-- > 0 && at == NONE;)
        if (site_at(r.l, k) && code_dominates(r.l, k, r.op) && is_waited_for_blindly(r.l, k)) at = k;
    if (at == NONE) return false;
    const char *from = code_line(x, (struct side){ r.l, at });
    x->f.cause = arena_printf(&x->mem,
                              "the loop that waits for the flag does not look at it again: a plain variable is loaded "
                              "once, at %s, and if it was not set by then, the loop never ends%s",
                              from, at == r.op ? "" : "; nothing else hands over what is read here");
    x->f.order = "a volatile or atomic flag, with a release where it is set and an acquire after the loop";
    x->f.fix = "Declare the flag volatile, or load it with cuda::atomic_ref (memory_order_acquire); __threadfence() "
               "before it is set, and after the loop.";
    return true;
}

/* ---- under a lock ---- */

/* The atomic that takes the lock around an access: the last exchange or compare-and-swap that must be passed before
 * it. NONE: there is none. */
static u32 find_lock_take(struct side s)
{
    for (u32 k = s.op; s.l && k-- > 0;) {
        const struct site *z = site_at(s.l, k);
        if (z && site_fetches(z) && (z->atom == AT_CAS || z->atom == AT_EXCH) && code_must_pass(s.l, k, s.op)) return k;
    }
    return NONE;
}

/* The first write after the access to the object of the lock: it gives the lock back. NONE: there is none. */
static u32 find_lock_release(struct side s, u32 taken)
{
    for (u32 k = s.op + 1; k < s.l->nop; k++) {
        const struct site *z = site_at(s.l, k);
        if (z && !site_is_load(z) && code_same_object(&z->prov, &s.l->site[s.l->op[taken].site].prov)) return k;
    }
    return NONE;
}

/* Both are under one lock. What is missing: an acquire, a release, a barrier before one thread gives it back for its
 * block, or the choice of one lock for both. */
bool advise_lock(struct draft *x)
{
    struct side a = code_current(x), b = code_prior(x);
    u32 taken = find_lock_take(a), given = taken == NONE ? NONE : find_lock_release(a, taken);
    if (given == NONE || find_lock_take(b) != taken || a.l != b.l) return false;
    const struct site *t = site_at(a.l, taken), *g = site_at(a.l, given);
    u32 last = a.op > b.op ? a.op : b.op, first = a.op < b.op ? a.op : b.op;
    bool acquired = t->sem == SEM_ACQUIRE || t->sem == SEM_ACQ_REL || code_fence_between(a.l, taken, first),
         strong = is_strong(g),
         released = strong && (g->sem == SEM_RELEASE || g->sem == SEM_ACQ_REL || code_fence_between(a.l, last, given));
    const char *from = code_line(x, (struct side){ a.l, taken }), *to = code_line(x, (struct side){ a.l, given });
    /* the clocks say that one of the two is missing: it is not on every path */
    if (acquired && released && (x->missing == MISSING_ACQUIRE || x->missing == MISSING_RELEASE)) return false;
    if (acquired && released && !code_dominates(a.l, taken, a.op) && !code_barrier_between(a.l, last, given)) {
        x->f.cause = arena_printf(&x->mem,
                                  "both are under a lock that one thread takes for its block at %s, and gives back at "
                                  "%s without waiting for the others: no barrier lies between their accesses and that",
                                  from, to);
        x->f.order = "a __syncthreads() before the lock is given back";
        x->f.fix = "Put __syncthreads() between the accesses and the fence with which the lock is given back.";
        return true;
    }
    if (acquired && released) {
        x->f.cause = arena_printf(&x->mem,
                                  "both are under a lock taken at %s and given back at %s, with fences, and yet not "
                                  "ordered: the two threads took different locks, or its scope is too narrow",
                                  from, to);
        x->f.order = "one lock for all threads that touch this element";
        x->f.fix = "Choose the lock by the element that it guards, not by the thread or the block that takes it.";
        return true;
    }
    x->f.cause = arena_printf(
        &x->mem, "both are under a lock, but it hands nothing over: it is taken at %s%s, and given back at %s%s", from,
        acquired ? "" : " without an acquire", to,
        released ? ""
        : strong ? " without a release"
                 : " with a plain store");
    x->f.order = arena_printf(&x->mem, "%s%s%s", acquired ? "" : "an acquire where the lock is taken",
                              acquired || released ? "" : ", and ", released ? "" : "a release where it is given back");
    x->f.fix = arena_printf(
        &x->mem, "%s%s%s", acquired ? "" : "Put __threadfence() after the loop that takes the lock.",
        acquired || released ? "" : " ",
        released ? ""
        : strong ? "Put __threadfence() before the lock is given back."
                 : "Give the lock back with __threadfence() and atomicExch(lock, 0), not with a plain store.");
    return true;
}

/* The lock itself races: it is taken with an atomic, and given back with a plain store of a constant. */
bool advise_unlock(struct draft *x)
{
    struct side a = code_current(x), b = code_prior(x), w = code_is_store(a) ? a : b, t = code_is_store(a) ? b : a;
    const struct site *z = t.l ? site_at(t.l, t.op) : NULL;
    if (!w.l || w.l != t.l || !code_is_store(w) || !z || !site_fetches(z) || (z->atom != AT_CAS && z->atom != AT_EXCH))
        return false;
    const struct lop *o = &t.l->op[t.op];
    bool constants = lop_src(o, SRC_DATA)->kind == O_CONST &&
                     (z->atom != AT_CAS || lop_src(o, SRC_DATA + 1)->kind == O_CONST);
    u32 taken = find_lock_take(w);
    if (!constants || taken != t.op || !code_same_object(&site_at(w.l, w.op)->prov, &z->prov) ||
        lop_data(&w.l->op[w.op], 0)->kind != O_CONST)
        return false;
    x->f.cause =
        arena_printf(&x->mem,
                     "this is a lock, taken at %s with an atomic and given back at %s with a plain store, which "
                     "releases nothing: what was done under it may be seen later",
                     code_line(x, t), code_line(x, w));
    x->f.order = "an atomic, after a release, where the lock is given back";
    x->f.fix = "Give the lock back with __threadfence() and atomicExch(lock, 0), not with a plain store.";
    return true;
}

/* ---- one thread tells for its block ---- */

/* The way of a thread from one access to another, in the text: straight on, or, in a loop, on to its end and from its
 * beginning (then `again` is the loop's first operation; else NONE, and `end` is `to`). */
struct way {
    u32 from, to;
    u32 end, again;
};

/* A barrier lies on the way, after the operation k on its first leg. */
static bool barrier_behind(const struct lowered *l, const struct way *y, u32 k)
{
    return code_barrier_between(l, k, y->end) ||
           (y->again != NONE && y->again < y->to && /* may be a barrier itself */
            (l->op[y->again].flags & ISA_BARRIER || code_barrier_between(l, y->again, y->to)));
}

/* The release with which one thread of a block tells others what its block has done: NONE: there is none, or a barrier
 * lies in front of it. */
static u32 find_arrival(const struct lowered *l, const struct way *y)
{
    for (u32 k = y->from + 1; k < y->end; k++) {
        const struct site *z = site_at(l, k);
        if (!is_strong(z) || site_is_load(z) || !code_by_one_thread(l, k)) continue;
        bool releases = z->sem == SEM_RELEASE || z->sem == SEM_ACQ_REL || code_fence_between(l, y->from, k);
        if (!releases) continue;
        return code_barrier_between(l, y->from, k) || !barrier_behind(l, y, k) ? NONE : k;
    }
    return NONE;
}

/* The arrival after a write on one of the two ways between the accesses; *write: the operation that writes. */
static u32 arrival_between(const struct lowered *l, u32 first, u32 last, u32 *write)
{
    struct way straight = { first, last, last, NONE }, around = { .from = last, .to = first };
    const struct site *w = site_at(l, first), *z = site_at(l, last);
    u32 at = w && !site_is_load(w) ? find_arrival(l, &straight) : NONE;
    *write = first;
    if (at != NONE || !z || site_is_load(z) || !code_common_loop(l, first, last, &around.again, &around.end)) return at;
    *write = last;
    return find_arrival(l, &around);
}

/* Both sides are right but for a barrier: one thread releases for its block before the others have done their work. */
bool advise_arrival(struct draft *x)
{
    struct side a = code_current(x), b = code_prior(x);
    u32 first = MIN_OF(a.op, b.op), last = MAX_OF(a.op, b.op);
    if (x->t->space != SPACE_GLOBAL || !a.l || a.l != b.l || first == last || x->self || x->other_launch ||
        x->old_linear == x->t->warp->cta->linear)
        return false;
    u32 at = arrival_between(a.l, first, last, &first);
    if (at == NONE) return false;
    const char *from = code_line(x, (struct side){ a.l, first }), *to = code_line(x, (struct side){ a.l, at });
    x->f.cause = arena_printf(&x->mem,
                              "one thread of the block tells the other blocks at %s that the work is done, and no "
                              "barrier lies between the writes at %s and that: the other threads of its block may not "
                              "have written yet, and its release covers its own writes only",
                              to, from);
    x->f.order = arena_printf(&x->mem, "a __syncthreads() between %s and %s", from, to);
    x->f.fix = arena_printf(&x->mem,
                            "Put __syncthreads() in front of the fence or the release at %s, where all threads of the "
                            "block reach it.",
                            to);
    return true;
}

/* What hands the data over, for the text. */
struct handover {
    const char *at, *from; /* the lines that set and read the flag */
    bool early;            /* the flag is set before the data is written */
    bool released, acquired;
    bool counter; /* the flag is a counter, which one atomic counts up and reads */
};

/* A counter that blocks count up: the last one goes on. */
static void describe_counter(struct draft *x, const struct handover *h)
{
    x->f.cause = arena_printf(
        &x->mem, "data handed over with a counter: the atomic at %s counts %s%s%s", h->at,
        h->released ? "" : "with no fence between the data and it, so the data may be seen after the count",
        h->released || h->acquired ? "" : ", and ",
        h->acquired ? "" : "with no fence after it, so the data may be read before the count is");
    x->f.order = arena_printf(&x->mem, "%s%s%s", h->released ? "" : "a fence between the data and the atomic",
                              h->released || h->acquired ? "" : ", and ",
                              h->acquired ? "" : "a fence between the atomic and the reads");
    x->f.fix = arena_printf(&x->mem, "%s%s%s.",
                            h->released ? "Put __threadfence() after the atomic at "
                                        : "Put __threadfence() between the data and the atomic at ",
                            h->at, h->released || h->acquired ? "" : ", and another one after the atomic");
}

static void describe_flag(struct draft *x, const struct handover *h)
{
    const char *first =
        h->early ? arena_printf(&x->mem, "the flag is set at %s before the data is written", h->at)
        : h->released
            ? arena_printf(&x->mem, "the flag is set at %s with a release", h->at)
            : arena_printf(&x->mem, "the flag is set at %s without a release, so the data may be seen after it", h->at);
    x->f.cause = arena_printf(&x->mem, "data handed over with a flag: %s; it is read at %s %s", first, h->from,
                              h->acquired ? "with an acquire"
                                          : "without an acquire, so the data may be read before it");
    x->f.order = arena_printf(&x->mem, "%s%s%s",
                              h->released ? ""
                              : h->early  ? "the data written first, then the flag, with a release"
                                          : "a release between the data and the flag",
                              h->released || h->acquired ? "" : ", and ",
                              h->acquired ? "" : "an acquire between the flag and the data");
    const char *writer =
        h->released ? ""
        : h->early  ? "Write the data first, then __threadfence(), then set the flag."
                    : "Put __threadfence() before the flag is set, or store it with cuda::memory_order_release.";
    x->f.fix = arena_printf(&x->mem, "%s%s%s", writer, h->released || h->acquired ? "" : " ",
                            h->acquired ? ""
                                        : "Put __threadfence() after the loop that waits for the flag, or load it with "
                                          "cuda::memory_order_acquire (cuda::atomic_ref).");
}

/* The data is written before a flag is set, and read after the flag is seen, without a release or an acquire. */
bool advise_flag(struct draft *x)
{
    struct side a = code_current(x), b = code_prior(x), w = code_is_store(a) ? a : b, r = code_is_store(a) ? b : a;
    if (x->t->space != SPACE_GLOBAL || !code_is_store(w) || !code_is_load(r)) return false;
    u32 got = find_flag_read(r), set = got == NONE ? NONE : find_flag_write(w, &r.l->site[r.l->op[got].site].prov);
    if (set == NONE) return false;
    const struct site *s = site_at(w.l, set), *z = site_at(r.l, got);
    struct handover h = { code_line(x, (struct side){ w.l, set }), code_line(x, (struct side){ r.l, got }),
                          .early = set < w.op,
                          .acquired = z->sem == SEM_ACQUIRE || z->sem == SEM_ACQ_REL ||
                                      code_fence_between(r.l, got, r.op) };
    h.released = !h.early && (s->sem == SEM_RELEASE || s->sem == SEM_ACQ_REL || code_fence_between(w.l, w.op, set));
    h.counter = set == got && w.l == r.l && !h.early && s->atom != AT_CAS && s->atom != AT_EXCH;
    if ((h.released && h.acquired) || (h.early && !code_dominates(r.l, got, r.op))) return false;
    if (h.counter)
        describe_counter(x, &h);
    else
        describe_flag(x, &h);
    return true;
}
