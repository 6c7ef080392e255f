/* Advice: why two accesses race, and what would order them.
 *
 * Four situations need different advice, since a barrier helps with the first only:
 *   - two accesses that nothing orders,
 *   - an update made of a load and a store, where an atomic helps and an order does not,
 *   - data handed over with a flag, without a release or an acquire,
 *   - data guarded by a lock, without a release or an acquire.
 * The code of the kernel tells which it is: what the store depends on, and which strong accesses lie around the two.
 * Each advise_* function looks for one situation; it returns false, and leaves the finding as it is, where the code
 * does not show it. race_advise asks them in turn.
 *
 * Whether the two threads share a warp, a CTA or neither is known only when all occurrences are. The sentences that
 * depend on it are joint ones (finding.h); the texts set here take precedence over them. */
#include "race/race_advice.h"
#include "sim/explain_index.h"
#include "sim/finding_place.h"
#include <inttypes.h>

/* One access of the two, in the code. */
struct side {
    const struct lowered *l; /* its function; NULL: not known */
    u32 op;                  /* its operation there */
};

static struct side current_side(const struct draft *x)
{
    return (struct side){ x->t->warp->code->low, x->t->op_index };
}
static struct side prior_side(const struct draft *x) { return (struct side){ x->old_low, x->old_op }; }
static bool is_weak_load(struct side s)
{
    const struct site *z = site_at(s.l, s.op);
    return z && site_is_load(z) && z->sem == SEM_WEAK;
}
static bool is_weak_store(struct side s)
{
    const struct site *z = site_at(s.l, s.op);
    return z && site_is_store(z) && z->sem == SEM_WEAK;
}

static bool same_provenance(const struct provenance *a, const struct provenance *b)
{
    return a->kind == b->kind && (a->kind == FROM_PARAM ? a->off == b->off : a->kind == FROM_VAR && a->var == b->var);
}

/* The source line of an access, as the text of a finding names it. */
static const char *line_text(struct draft *x, struct side s)
{
    struct text t = { 0 };
    place_brief(finding_place(&x->mem, s.l, s.op), &t);
    const char *z = t.p ? arena_str(&x->mem, str_of(t.p)) : "?";
    text_free(&t);
    return z;
}

/* The basic block of an operation. */
static u32 block_of(const struct lowered *l, u32 op)
{
    for (u32 b = 0; b < l->nblock; b++)
        if (op >= l->block[b].first && op < l->block[b].end) return b;
    return NONE;
}

/* Every path to b passes a. */
static bool dominates(const struct lowered *l, u32 a, u32 b)
{
    a = block_of(l, a);
    b = block_of(l, b);
    for (u32 n = 0; b != NONE && b != a && n < l->nblock; n++) b = l->block[b].idom;
    return a != NONE && b == a;
}

/* ---- a load, a change, a store ---- */

static bool same_operand(const struct opnd *a, const struct opnd *b)
{
    return a->kind == b->kind && a->reg == b->reg && a->value == b->value && a->comp == b->comp;
}

/* Both operations, of one function, access the same address by the same operand. */
static bool same_address(const struct lowered *l, u32 a, u32 b)
{
    const struct lop *p = &l->op[a], *q = &l->op[b];
    const struct site *s = site_at(l, a), *t = site_at(l, b);
    if (!s || !t || s->space != t->space || s->width != t->width || s->vec != 1 || t->vec != 1) return false;
    const struct opnd *at = lop_src(p, SRC_ADDRESS);
    return same_operand(at, lop_src(q, SRC_ADDRESS)) && p->off == q->off &&
           (at->kind != O_REG || l->ndef[at->reg] == 1);
}

/* The value stored at `to`, or whether `to` is reached, depends on the value loaded at `from`. Follows definitions
 * backwards through the operations between the two. */
static bool store_depends_on(const struct lowered *l, u32 from, u32 to)
{
    u64 *want = base_alloc(8 * (l->words + 1));
    const struct opnd *data = lop_src(&l->op[to], SRC_DATA);
    bool hit = false;
    if (!want) return false;
    if (data->kind == O_REG) want[data->reg >> 6] |= 1ull << (data->reg & 63);
    for (u32 k = to; k-- > from && !hit;) {
        const struct lop *o = &l->op[k];
        bool wanted = o->kind == K_CTRL && o->guard.kind == O_REG;
        EACH_DEF (r, o) wanted |= want[r >> 6] >> (r & 63) & 1;
        if (!wanted) continue;
        hit = k == from;
        EACH_USE (r, o) want[r >> 6] |= 1ull << (r & 63);
    }
    base_free(want);
    return hit;
}

/* An operation that may synchronise lies between the two, so they are no simple update. */
static bool may_synchronise_between(const struct lowered *l, u32 from, u32 to)
{
    for (u32 k = from + 1; k < to; k++) {
        const struct site *s = site_at(l, k);
        if (l->op[k].kind == K_WARP || l->op[k].flags & ISA_FENCE || (s && site_is_atomic(s))) return true;
    }
    for (u32 b = 0; b < l->nblock; b++)
        if (l->block[b].end > from && l->block[b].end <= to &&
            (l->block[b].term == TERM_BAR || l->block[b].term == TERM_WARP || l->block[b].term == TERM_CALL))
            return true;
    return false;
}

/* The load of the update that the store s ends: x = x + 1, or if (v > x) x = v. NONE: s ends no update. */
static u32 update_load(struct side s)
{
    enum { FAR = 64 };
    if (!is_weak_store(s) || s.l->site[s.l->op[s.op].site].vec != 1) return NONE;
    for (u32 k = s.op, n = 0; k-- > 0 && n < FAR; n++)
        if (is_weak_load((struct side){ s.l, k }) && same_address(s.l, k, s.op) && store_depends_on(s.l, k, s.op))
            return may_synchronise_between(s.l, k, s.op) ? NONE : k;
    return NONE;
}

u8 *race_update_loads(const struct lowered *l)
{
    u8 *is = base_need(l->nop + 1);
    for (u32 k = 0; k < l->nop; k++) {
        u32 load = l->op[k].dead ? NONE : update_load((struct side){ l, k });
        if (load != NONE) is[load] = 1;
    }
    return is;
}

/* The atomic that does what the update ended by the store s does; NULL: none is known. */
static const char *atomic_replacing(struct side s)
{
    const struct opnd *d = lop_src(&s.l->op[s.op], SRC_DATA);
    for (u32 k = s.op; d->kind == O_REG && k-- > 0;) {
        bool defines = false;
        EACH_DEF (r, &s.l->op[k]) defines |= r == d->reg;
        if (!defines) continue;
        switch (s.l->op[k].shape) {
        case SHAPE_ADD:
        case SHAPE_FADD:
        case SHAPE_FMA:
        case SHAPE_MAD: return "atomicAdd";
        case SHAPE_SUB:
        case SHAPE_FSUB: return "atomicAdd of the negative";
        case SHAPE_MIN: return "atomicMin";
        case SHAPE_MAX: return "atomicMax";
        case SHAPE_AND: return "atomicAnd";
        case SHAPE_OR: return "atomicOr";
        case SHAPE_XOR: return "atomicXor";
        default: return NULL;
        }
    }
    return NULL;
}

const struct place *race_update_load(struct draft *x)
{
    struct side a = current_side(x), b = prior_side(x);
    u32 load = b.l == a.l && b.op == a.op ? update_load(a) : NONE;
    return load == NONE ? NULL : finding_place(&x->mem, a.l, load);
}

/* The function also loads from the same object at another address: that load may be the one that raced. */
static bool object_read_elsewhere(const struct lowered *l, u32 load)
{
    const struct provenance *r = &l->site[l->op[load].site].prov;
    for (u32 k = 0; k < l->nop; k++)
        if (is_weak_load((struct side){ l, k }) && same_provenance(&l->site[l->op[k].site].prov, r) &&
            !same_address(l, k, load))
            return true;
    return false;
}

/* A grid-stride loop whose step is the block size instead of the grid size: blocks take each other's elements. */
static bool advise_grid_stride(struct draft *x)
{
    const struct sim_launch *in = x->t->warp->cta->launch->in;
    struct index_form form = formula_at(x->t->warp, x->t->op_index, x->lane, &x->f);
    s64 block = in->block[0], all = block * in->grid[0];
    if (!form.known || !form.open || form.step[0] != 1 || form.cta_step[0] != block || form.loop != block ||
        all == block)
        return false;
    x->f.cause = arena_printf(&x->mem,
                              "the loop begins at the global thread number and goes on by %" PRId64
                              ", the threads of a block, though the %u blocks have %" PRId64
                              ": several threads take the same element",
                              block, in->grid[0], all);
    x->f.order = "nothing that helps: each element is to be taken by one thread";
    x->f.fix = arena_printf(&x->mem, "Go on by gridDim.x * blockDim.x, %" PRId64 ", in the loop, not by blockDim.x.",
                            all);
    return true;
}

/* The access goes to dynamic shared memory. */
static bool is_dynamic_shared(struct side s)
{
    const struct provenance *r = &s.l->site[s.l->op[s.op].site].prov;
    return r->kind == FROM_VAR && !r->var->size;
}

/* Two stores into arrays that share dynamic shared memory and overlap: the arrays begin less bytes apart than the
 * threads of a block write. Distances below a quarter of that look like neighbours in one array, and are left alone. */
static bool advise_overlap(struct draft *x)
{
    struct side a = current_side(x), b = prior_side(x);
    s64 apart;
    if (x->t->space != SPACE_SHARED || !a.l || a.l != b.l || a.op == b.op || !is_weak_store(a) || !is_weak_store(b) ||
        !is_dynamic_shared(a) || !is_dynamic_shared(b) ||
        !formula_apart(x->t->warp, MIN_OF(a.op, b.op), MAX_OF(a.op, b.op), &apart) || !apart)
        return false;
    struct index_form form = formula_at(x->t->warp, a.op, x->lane, &(struct finding){ .element_size = 1 });
    u64 far = (u64)(apart < 0 ? -apart : apart), step = (u64)form.step[0],
        threads = x->t->warp->cta->launch->in->block[0], width = a.l->site[a.l->op[a.op].site].width;
    if (!form.known || form.step[0] <= 0 || form.step[1] || form.step[2] || far % step || far >= step * threads ||
        far * 4 < step * threads)
        return false;
    x->f.cause = arena_printf(&x->mem,
                              "what the stores at %s and %s write begins %" PRIu64 " bytes apart, and %" PRIu64
                              " threads write %" PRIu64 " bytes each, %" PRIu64 " in all: the two parts overlap",
                              line_text(x, a.op < b.op ? a : b), line_text(x, a.op < b.op ? b : a), far, threads, width,
                              step * threads);
    x->f.order = "nothing that helps: each part needs room of its own";
    x->f.fix = arena_printf(&x->mem,
                            "Let the second part begin %" PRIu64 " bytes behind the first, not %" PRIu64
                            ", and give the launch the memory for both.",
                            step * threads, far);
    return true;
}

/* A load, a change and a store by several threads: an atomic is needed, no barrier. */
static bool advise_update(struct draft *x)
{
    struct side a = current_side(x), b = prior_side(x), st = is_weak_store(a) ? a : b, other = is_weak_store(a) ? b : a;
    u32 load = st.l && st.l == other.l ? update_load(st) : NONE;
    if (load == NONE || (other.op != load && other.op != st.op) || (x->self && object_read_elsewhere(st.l, load)))
        return false;
    if (other.op == st.op && !dominates(st.l, load, st.op)) return false; /* a condition may have spared the load */
    const char *atomic = atomic_replacing(st);
    x->f.cause = "lost updates: the value is read, changed and written back in separate steps, and several threads do "
                 "so at the same address; of two that read the same value, one update is lost";
    x->f.order = "no barrier helps, since the steps of one thread must not be parted: one atomic instead of the load "
                 "and the store";
    x->f.fix = atomic ? arena_printf(&x->mem,
                                     "Use %s, or give each thread an element of its own and add them up afterwards.",
                                     atomic)
                      : "Use an atomic (atomicMax, atomicMin, atomicAdd, or a loop around atomicCAS), or give each "
                        "thread an element of its own and combine them afterwards.";
    return true;
}

/* ---- data and a flag ---- */

/* A strong access that may be a flag. Shared memory does not count: barriers are the usual way there. */
static bool is_strong(const struct site *s)
{
    return s && s->space != SP_SHARED && (s->sem != SEM_WEAK || site_is_atomic(s));
}
/* A barrier stands between the two in the text. */
static bool barrier_between(const struct lowered *l, u32 from, u32 to)
{
    for (u32 k = from + 1; k < to; k++)
        if (l->op[k].flags & ISA_BARRIER && !l->op[k].dead) return true;
    return false;
}

/* A thread that reaches b has passed a itself, or a barrier behind a at which it met the thread that passed a: one
 * thread acts for its block. */
static bool must_pass(const struct lowered *l, u32 a, u32 b)
{
    if (dominates(l, a, b)) return true;
    for (u32 k = a + 1; k < b; k++)
        if (l->op[k].flags & ISA_BARRIER && !l->op[k].dead && dominates(l, k, b)) return true;
    return false;
}

/* A fence stands between the two, and whoever reaches `to` has passed it. */
static bool fence_between(const struct lowered *l, u32 from, u32 to)
{
    for (u32 k = from + 1; k < to; k++)
        if (l->op[k].flags & ISA_FENCE && must_pass(l, k, to)) return true;
    return false;
}

/* The flag that the reader waits for: the last strong read that dominates its access. NONE: there is none. */
static u32 find_flag_read(struct side s)
{
    for (u32 k = s.op; k-- > 0;) {
        const struct site *z = site_at(s.l, k);
        if (is_strong(z) && (site_is_load(z) || site_fetches(z)) && dominates(s.l, k, s.op)) return k;
    }
    return NONE;
}

/* The write that sets the flag: the first strong write to its object behind the writer's access, or else the last one
 * before it. NONE: there is none. */
static u32 find_flag_write(struct side s, const struct provenance *flag)
{
    u32 before = NONE;
    for (u32 k = 0; k < s.l->nop; k++) {
        const struct site *z = site_at(s.l, k);
        if (!is_strong(z) || site_is_load(z) || !same_provenance(&z->prov, flag)) continue;
        if (k > s.op) return k;
        before = k;
    }
    return before;
}

/* ---- under a lock ---- */

/* The atomic that takes the lock around an access: the last exchange or compare-and-swap that must be passed before
 * it. NONE: there is none. */
static u32 find_lock_take(struct side s)
{
    for (u32 k = s.op; s.l && k-- > 0;) {
        const struct site *z = site_at(s.l, k);
        if (z && site_fetches(z) && (z->atom == AT_CAS || z->atom == AT_EXCH) && must_pass(s.l, k, s.op)) return k;
    }
    return NONE;
}

/* The first write behind the access to the object of the lock: it gives the lock back. NONE: there is none. */
static u32 find_lock_release(struct side s, u32 taken)
{
    for (u32 k = s.op + 1; k < s.l->nop; k++) {
        const struct site *z = site_at(s.l, k);
        if (z && !site_is_load(z) && same_provenance(&z->prov, &s.l->site[s.l->op[taken].site].prov)) return k;
    }
    return NONE;
}

/* Both are under one lock. What is missing: an acquire, a release, a barrier before one thread gives it back for its
 * block, or the choice of one lock for both. */
static bool advise_lock(struct draft *x)
{
    struct side a = current_side(x), b = prior_side(x);
    u32 taken = find_lock_take(a), given = taken == NONE ? NONE : find_lock_release(a, taken);
    if (given == NONE || find_lock_take(b) != taken || a.l != b.l) return false;
    const struct site *t = site_at(a.l, taken), *g = site_at(a.l, given);
    u32 last = a.op > b.op ? a.op : b.op, first = a.op < b.op ? a.op : b.op;
    bool acquired = t->sem == SEM_ACQUIRE || t->sem == SEM_ACQ_REL || fence_between(a.l, taken, first),
         strong = is_strong(g),
         released = strong && (g->sem == SEM_RELEASE || g->sem == SEM_ACQ_REL || fence_between(a.l, last, given));
    const char *from = line_text(x, (struct side){ a.l, taken }), *to = line_text(x, (struct side){ a.l, given });
    /* the clocks say that one of the two is missing: it is not on every path */
    if (acquired && released && (x->missing == MISSING_ACQUIRE || x->missing == MISSING_RELEASE)) return false;
    if (acquired && released && !dominates(a.l, taken, a.op) && !barrier_between(a.l, last, given)) {
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
        &x->mem, "%s%s%s", acquired ? "" : "Put __threadfence() behind the loop that takes the lock.",
        acquired || released ? "" : " ",
        released ? ""
        : strong ? "Put __threadfence() before the lock is given back."
                 : "Give the lock back with __threadfence() and atomicExch(lock, 0), not with a plain store.");
    return true;
}

/* The data is written before a flag is set, and read after the flag is seen, without a release or an acquire. */
static bool advise_flag(struct draft *x)
{
    struct side a = current_side(x), b = prior_side(x), w = is_weak_store(a) ? a : b, r = is_weak_store(a) ? b : a;
    if (x->t->space != SPACE_GLOBAL || !is_weak_store(w) || !is_weak_load(r)) return false;
    u32 got = find_flag_read(r), set = got == NONE ? NONE : find_flag_write(w, &r.l->site[r.l->op[got].site].prov);
    if (set == NONE) return false;
    bool early = set < w.op;
    u32 sem = site_at(w.l, set)->sem, read = site_at(r.l, got)->sem;
    bool released = !early && (sem == SEM_RELEASE || sem == SEM_ACQ_REL || fence_between(w.l, w.op, set)),
         acquired = read == SEM_ACQUIRE || read == SEM_ACQ_REL || fence_between(r.l, got, r.op);
    if (released && acquired) return false;
    const char *at = line_text(x, (struct side){ w.l, set }), *from = line_text(x, (struct side){ r.l, got });
    const char *first =
        early ? arena_printf(&x->mem, "the flag is set at %s before the data is written", at)
        : released
            ? arena_printf(&x->mem, "the flag is set at %s with a release", at)
            : arena_printf(&x->mem, "the flag is set at %s without a release, so the data may be seen after it", at);
    x->f.cause = arena_printf(&x->mem, "data handed over with a flag: %s; it is read at %s %s", first, from,
                              acquired ? "with an acquire" : "without an acquire, so the data may be read before it");
    x->f.order = arena_printf(&x->mem, "%s%s%s",
                              released ? ""
                              : early  ? "the data written first, then the flag, with a release"
                                       : "a release between the data and the flag",
                              released || acquired ? "" : ", and ",
                              acquired ? "" : "an acquire between the flag and the data");
    const char *writer =
        released ? ""
        : early  ? "Write the data first, then __threadfence(), then set the flag."
                 : "Put __threadfence() before the flag is set, or store it with cuda::memory_order_release.";
    x->f.fix = arena_printf(&x->mem, "%s%s%s", writer, released || acquired ? "" : " ",
                            acquired ? ""
                                     : "Put __threadfence() after the loop that waits for the flag, or load it with "
                                       "cuda::memory_order_acquire (cuda::atomic_ref).");
    return true;
}

/* ---- around a loop ---- */

/* A barrier between two accesses that dominates the second; NONE: there is none. */
static u32 barrier_in_pass(const struct lowered *l, u32 from, u32 to)
{
    for (u32 b = 0; b < l->nblock; b++)
        if (l->block[b].term == TERM_BAR && l->block[b].end - 1 > from && l->block[b].end - 1 < to &&
            dominates(l, l->block[b].end - 1, to))
            return l->block[b].end - 1;
    return NONE;
}

/* Some loop contains both operations. */
static bool in_one_loop(const struct lowered *l, u32 a, u32 b)
{
    u32 x = block_of(l, a), y = block_of(l, b);
    for (u32 n = 0; x != NONE && y != NONE && n < l->nloop; n++)
        if (l->loop[n].head <= x && x <= l->loop[n].last && l->loop[n].head <= y && y <= l->loop[n].last) return true;
    return false;
}

/* A loop-carried race: a barrier orders the two within each pass of a loop, but not the second access of one pass with
 * the first of the next. */
static bool advise_loop_carried(struct draft *x)
{
    struct side a = current_side(x), b = prior_side(x), first = a.op < b.op ? a : b, second = a.op < b.op ? b : a;
    if (x->t->space != SPACE_SHARED || !a.l || a.l != b.l || x->self || !in_one_loop(a.l, a.op, b.op)) return false;
    u32 bar = barrier_in_pass(a.l, first.op, second.op);
    if (bar == NONE) return false;
    const char *last = line_text(x, second);
    x->f.cause = arena_printf(&x->mem,
                              "the barrier at %s orders the two within one pass of the loop, but nothing orders the "
                              "access at %s with that at %s in the next pass: a thread may be a pass ahead",
                              line_text(x, (struct side){ a.l, bar }), last, line_text(x, first));
    x->f.order = arena_printf(&x->mem, "a __syncthreads() behind %s, before the next pass begins", last);
    x->f.fix = "Put a second __syncthreads() at the end of the loop's body, where all threads of the block come by, or "
               "use two buffers in turn.";
    return true;
}

/* Both are in the same column of the same source line, and not inlined. */
static bool one_statement(struct draft *x, struct side a, struct side b)
{
    const struct place *p = finding_place(&x->mem, a.l, a.op), *q = finding_place(&x->mem, b.l, b.op);
    return p->file && q->file && p->line == q->line && p->col == q->col && !p->inlined_at && !q->inlined_at &&
           !strcmp(p->file, q->file);
}

/* Both accesses are in one statement, as in s[t] += s[t + o]. The order of the two in the code tells whether the
 * barrier belongs into the statement or behind it. */
static bool advise_statement(struct draft *x)
{
    struct side a = current_side(x), b = prior_side(x), w = is_weak_store(a) ? a : b, r = is_weak_store(a) ? b : a;
    if (x->t->space != SPACE_SHARED || x->self || !a.l || a.l != b.l || !is_weak_store(w) || !is_weak_load(r) ||
        !one_statement(x, a, b))
        return false;
    x->f.joint_fix = in_one_loop(a.l, a.op, b.op)
                         ? (struct joint){ "Read into a variable, pass ", GAP_BARRIER,
                                           " and then write, with another one behind that before the next pass; "
                                           "outside of branches, where all threads come by." }
                     : r.op < w.op ? (struct joint){ "Split the statement: read into a variable, pass ", GAP_BARRIER,
                                                     ", then write, where all threads come by." }
                                   : (struct joint){ "Put ", GAP_BARRIER,
                                                     " behind this statement, in the loop if there is one, and outside "
                                                     "of branches, so that all threads come by." };
    return true;
}

/* Both accesses are in one loop that has no barrier at all. */
static bool advise_loop(struct draft *x)
{
    struct side a = current_side(x), b = prior_side(x);
    if (x->t->space != SPACE_SHARED || !a.l || a.l != b.l || !in_one_loop(a.l, a.op, b.op)) return false;
    for (u32 n = 0; n < a.l->nblock; n++)
        if ((a.l->block[n].term == TERM_BAR || a.l->block[n].term == TERM_WARP) &&
            in_one_loop(a.l, a.op, a.l->block[n].first))
            return false;
    x->f.fix = "Put __syncthreads() into the loop, behind the accesses of each pass and outside of branches, so that "
               "all threads of the block come by (__syncwarp() where only lanes of one warp share the data).";
    return true;
}

/* ---- other causes, and the choice ---- */

/* Several threads execute one store to one address: an order would only decide which value stays. */
static bool advise_same_store(struct draft *x)
{
    struct side a = current_side(x), b = prior_side(x);
    if (a.l != b.l || a.op != b.op || !is_weak_store(a)) return false;
    x->f.form = formula_at(x->t->warp, x->t->op_index, x->lane, &x->f);
    x->f.joint_cause.gap = GAP_STAYS;
    x->f.joint_fix.gap = GAP_OWN;
    x->f.order = "nothing that helps: an order only decides which value stays";
    return true;
}

/* Two strong accesses of different sizes. */
static bool advise_strong_sizes(struct draft *x)
{
    if (!(x->old->op & x->me->op & OP_STRONG)) return false;
    x->f.cause = "both are strong, but they differ in size, so neither is atomic with respect to the other";
    x->f.order = "accesses of one size on both sides";
    x->f.fix = "Use the same type on both sides, or parts of it that do not overlap.";
    return true;
}

/* R5c: a flag accessed past the first cache (.cg, .cv, .wt), or data guarded by one. */
static bool advise_uncached(struct draft *x)
{
    struct side a = current_side(x), b = prior_side(x);
    const struct site *s = site_at(a.l, a.op), *z = site_at(b.l, b.op);
    u32 flag = NONE;
    for (u32 k = a.l ? a.l->nsite : 0; k-- > 0;) {
        if (site_fetches(&a.l->site[k])) {
            flag = NONE; /* the atomic may have ordered them instead (R5a) */
            break;
        }
        if (a.l->site[k].flags & SITE_FLAG) flag = a.l->site[k].op;
    }
    if (s && z && s->flags & z->flags & SITE_UNCACHED)
        x->f.cause = "both go past the first cache (.cg, .cv, .wt), as old code does with flags; to today's GPUs that "
                     "is as good as volatile, to the memory model it is plain";
    else if (flag != NONE)
        x->f.cause = arena_printf(
            &x->mem,
            "a flag lies between the two that goes past the first cache (.cg, .cv, .wt), at %s; to today's GPUs that "
            "is as good as volatile, to the memory model it is plain, and orders nothing",
            line_text(x, (struct side){ a.l, flag }));
    else
        return false;
    x->f.order = "a volatile flag, or relaxed atomics on it, in place of .cg, .cv and .wt";
    x->f.fix = "Declare the flag volatile, or use cuda::atomic_ref (release and acquire make the fences unnecessary).";
    return true;
}

bool race_advise(struct draft *x)
{
    struct finding *f = &x->f;
    f->joint_cause.gap = GAP_APART;
    f->joint_order.gap = GAP_BETWEEN;
    switch (f->kind) {
    case F_race_scope:
        f->cause = "the two are in different CTAs, and the scope of at least one of them is the CTA";
        f->order = "scope .gpu on both sides";
        break;
    case F_order_weak:
        f->cause = "what lies between the two orders them on today's GPUs, but not by the memory model";
        if (advise_uncached(x)) break;
        if (x->old_linear == x->t->warp->cta->linear && word_warp(x->old->a) != (u32)x->t->w->key >> 14)
            f->order = "a __syncwarp() beside the shuffle, vote or match by which lanes tell each other, or a fence "
                       "behind the atomic that reads what was released";
        break;
    case F_race_same_value: f->cause = "both write the same constant"; break;
    case F_race_readonly:
        f->cause = "a read-only load may come from a cache that does not see what this launch writes, ordered or not";
        f->order = "a plain load in place of the read-only one, or a launch of its own";
        break;
    case F_race_lanes:
        f->cause = "lanes of one store write different values to one address: which one stays is not defined";
        f->order = "nothing: one lane should store, or an atomic combine the values";
        break;
    case F_async_early:
    case F_async_wait: break; /* race_report.c knows the copy */
    case F_async_overwrite:
        f->cause = "an asynchronous copy into these bytes was in flight";
        f->order = "cp.async.wait_group by the thread that copies, before the second";
        break;
    default:
        f->joint_fix.gap = GAP_REPAIR;
        if (advise_strong_sizes(x)) break;
        if (advise_lock(x)) return true;
        return !advise_grid_stride(x) && !advise_overlap(x) && !advise_update(x) && !advise_same_store(x) &&
               !advise_loop_carried(x) && !advise_statement(x) && !advise_loop(x) && advise_flag(x);
    }
    return false;
}
