/* Why two accesses race, and what would help.
 *
 * Four things are said apart, since a barrier helps with the first only: accesses that lack an order; an update made
 * of a load and a store, where order would not help, and an atomic does; data that is handed over with a flag, or
 * guarded by a lock, where a release or an acquire is missing. They are told from the code: what the store depends
 * on, and which strong accesses lie around the two.
 *
 * How the two threads stand to each other is known when all occurrences are: those sentences are joint ones
 * (finding.h), and what is said here goes before them. */
#include "race/race_advice.h"
#include "sim/explain_index.h"
#include "code/lower.h"
#include <inttypes.h>

struct side {
    const struct lowered *l;
    u32 op;
}; /* one access of the two; l is NULL: not known */

static struct side mine(const struct telling *x) { return (struct side){ x->t->warp->code->low, x->t->op_index }; }
static struct side his(const struct telling *x) { return (struct side){ x->old_low, x->old_op }; }
static bool is_weak(struct side s, u32 name)
{
    const struct site *z = site_at(s.l, s.op);
    return z && z->name == name && z->sem == SEM_WEAK;
}

static bool same_root(const struct root *a, const struct root *b)
{
    return a->kind == b->kind && (a->kind == ROOT_PARAM ? a->off == b->off : a->kind == ROOT_VAR && a->var == b->var);
}

static const char *at_line(struct telling *x, struct side s)
{
    struct text t = { 0 };
    place_brief(found_place(&x->mem, s.l, s.op), &t);
    const char *z = t.p ? arena_str(&x->mem, str_of(t.p)) : "?";
    text_free(&t);
    return z;
}

/* ---- a load, a change, a store ---- */

static bool same_operand(const struct opnd *a, const struct opnd *b)
{
    return a->kind == b->kind && a->reg == b->reg && a->value == b->value && a->comp == b->comp;
}

static bool same_address(const struct lowered *l, u32 a, u32 b)
{
    const struct lop *p = &l->op[a], *q = &l->op[b];
    const struct site *s = site_at(l, a), *t = site_at(l, b);
    if (!s || !t || s->space != t->space || s->width != t->width || s->vec != 1 || t->vec != 1) return false;
    return same_operand(&p->a, &q->a) && p->off == q->off && (p->a.kind != O_REG || l->ndef[p->a.reg] == 1);
}

/* Does the store at `to`, or whether it is reached, depend on what the load at `from` gave? Followed backwards
 * through what lies between. */
static bool depends(const struct lowered *l, u32 from, u32 to)
{
    u64 *want = base_alloc(8 * (l->words + 1));
    u32 r[16], n;
    bool hit = false;
    if (!want) return false;
    if (l->op[to].d.kind == O_REG) want[l->op[to].d.reg >> 6] |= 1ull << (l->op[to].d.reg & 63);
    for (u32 k = to; k-- > from && !hit;) {
        const struct lop *o = &l->op[k];
        bool wanted = o->kind == K_CTRL && o->guard.kind == O_REG;
        n = lop_defs(o, l, r);
        for (u32 j = 0; j < n; j++) wanted |= want[r[j] >> 6] >> (r[j] & 63) & 1;
        if (!wanted) continue;
        hit = k == from;
        n = lop_uses(o, l, r);
        for (u32 j = 0; j < n; j++) want[r[j] >> 6] |= 1ull << (r[j] & 63);
    }
    base_free(want);
    return hit;
}

/* Something that may order lies between the two operations: then they are no simple update. */
static bool is_parted(const struct lowered *l, u32 from, u32 to)
{
    for (u32 k = from + 1; k < to; k++) {
        const struct site *s = site_at(l, k);
        u32 name = l->op[k].name;
        if (l->op[k].kind == K_WARP || name == N_fence || name == N_membar || (s && s->name != N_ld && s->name != N_st))
            return true;
    }
    for (u32 b = 0; b < l->nblock; b++)
        if (l->block[b].end > from && l->block[b].end <= to &&
            (l->block[b].term == TERM_BAR || l->block[b].term == TERM_WARP || l->block[b].term == TERM_CALL))
            return true;
    return false;
}

/* The load of the update that a store ends: x = x + 1, or if (v > x) x = v. NONE: it is none. */
static u32 update_load(struct side s)
{
    enum { FAR = 64 };
    if (!is_weak(s, N_st) || s.l->site[s.l->op[s.op].site].vec != 1) return NONE;
    for (u32 k = s.op, n = 0; k-- > 0 && n < FAR; n++)
        if (is_weak((struct side){ s.l, k }, N_ld) && same_address(s.l, k, s.op) && depends(s.l, k, s.op))
            return is_parted(s.l, k, s.op) ? NONE : k;
    return NONE;
}

u8 *race_update_loads(const struct lowered *l)
{
    u8 *is = base_need(l->nop + 1);
    for (u32 k = 0; k < l->nop; k++) {
        u32 load = l->op[k].kind == KX_DEAD ? NONE : update_load((struct side){ l, k });
        if (load != NONE) is[load] = 1;
    }
    return is;
}

static const char *atomic_for(struct side s)
{
    const struct opnd *d = &s.l->op[s.op].d;
    for (u32 k = s.op; d->kind == O_REG && k-- > 0;) {
        u32 r[8], n = lop_defs(&s.l->op[k], s.l, r);
        bool defines = false;
        for (u32 j = 0; j < n; j++) defines |= r[j] == d->reg;
        if (!defines) continue;
        switch (s.l->op[k].name) {
        case N_add:
        case N_fadd:
        case N_fma:
        case N_mad_lo: return "atomicAdd";
        case N_sub:
        case N_fsub: return "atomicAdd of the negative";
        case N_min: return "atomicMin";
        case N_max: return "atomicMax";
        case N_and: return "atomicAnd";
        case N_or: return "atomicOr";
        case N_xor: return "atomicXor";
        default: return NULL;
        }
    }
    return NULL;
}

bool race_is_echo(const struct telling *x)
{
    struct side a = mine(x), b = his(x);
    return b.l == a.l && b.op == a.op && update_load(a) != NONE;
}

/* Some other load of the same object, at another address: it may be what raced. */
static bool is_read_elsewhere(const struct lowered *l, u32 load)
{
    const struct root *r = &l->site[l->op[load].site].root;
    for (u32 k = 0; k < l->nop; k++)
        if (is_weak((struct side){ l, k }, N_ld) && same_root(&l->site[l->op[k].site].root, r) &&
            !same_address(l, k, load))
            return true;
    return false;
}

/* A loop over all elements that goes on by the threads of a block, though all blocks take part: they do each other's
 * work. */
static bool tell_stride(struct telling *x)
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

static bool is_dynamic(struct side s)
{
    const struct root *r = &s.l->site[s.l->op[s.op].site].root;
    return r->kind == ROOT_VAR && !r->var->size;
}

/* Two stores into dynamic shared memory that begin less apart than their threads write, and not as near as
 * neighbours: parts of it that overlap. */
static bool tell_parts(struct telling *x)
{
    struct side a = mine(x), b = his(x);
    s64 apart;
    if (x->t->space != SPACE_SHARED || !a.l || a.l != b.l || a.op == b.op || !is_weak(a, N_st) || !is_weak(b, N_st) ||
        !is_dynamic(a) || !is_dynamic(b) ||
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
                              at_line(x, a.op < b.op ? a : b), at_line(x, a.op < b.op ? b : a), far, threads, width,
                              step * threads);
    x->f.order = "nothing that helps: each part needs room of its own";
    x->f.fix = arena_printf(&x->mem,
                            "Let the second part begin %" PRIu64 " bytes behind the first, not %" PRIu64
                            ", and give the launch the memory for both.",
                            step * threads, far);
    return true;
}

static bool tell_update(struct telling *x)
{
    struct side a = mine(x), b = his(x), st = is_weak(a, N_st) ? a : b, other = is_weak(a, N_st) ? b : a;
    u32 load = st.l && st.l == other.l ? update_load(st) : NONE;
    if (load == NONE || (other.op != load && other.op != st.op) || (x->self && is_read_elsewhere(st.l, load)))
        return false;
    const char *atomic = atomic_for(st);
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

/* Strong, and not in shared memory, where barriers are the usual way. */
static bool is_strong(const struct site *s)
{
    return s && s->space != SP_SHARED && (s->sem != SEM_WEAK || s->name == N_atom || s->name == N_red);
}
static u32 block_of(const struct lowered *l, u32 op)
{
    for (u32 b = 0; b < l->nblock; b++)
        if (op >= l->block[b].first && op < l->block[b].end) return b;
    return NONE;
}

static bool dominates(const struct lowered *l, u32 a, u32 b)
{
    a = block_of(l, a);
    b = block_of(l, b);
    for (u32 n = 0; b != NONE && b != a && n < l->nblock; n++) b = l->block[b].idom;
    return a != NONE && b == a;
}

/* A barrier in the text between the two. */
static bool barrier_between(const struct lowered *l, u32 from, u32 to)
{
    for (u32 k = from + 1; k < to; k++)
        if (l->op[k].name == N_bar && l->op[k].kind != KX_DEAD) return true;
    return false;
}

/* Whoever does b has passed a, or has met at a barrier behind it one who may have: one thread acts for its block. */
static bool passed(const struct lowered *l, u32 a, u32 b)
{
    if (dominates(l, a, b)) return true;
    for (u32 k = a + 1; k < b; k++)
        if (l->op[k].name == N_bar && l->op[k].kind != KX_DEAD && dominates(l, k, b)) return true;
    return false;
}

static bool fenced(const struct lowered *l, u32 from, u32 to)
{
    for (u32 k = from + 1; k < to; k++)
        if ((l->op[k].name == N_fence || l->op[k].name == N_membar) && passed(l, k, to)) return true;
    return false;
}

/* The strong read before the reader's access that it has to pass: the last one. */
static u32 flag_read(struct side s)
{
    for (u32 k = s.op; k-- > 0;) {
        const struct site *z = site_at(s.l, k);
        if (is_strong(z) && z->name != N_st && z->name != N_red && dominates(s.l, k, s.op)) return k;
    }
    return NONE;
}

/* The strong write to the same object as that flag: behind the writer's access, or else the last one before it. */
static u32 flag_write(struct side s, const struct root *flag)
{
    u32 before = NONE;
    for (u32 k = 0; k < s.l->nop; k++) {
        const struct site *z = site_at(s.l, k);
        if (!is_strong(z) || z->name == N_ld || !same_root(&z->root, flag)) continue;
        if (k > s.op) return k;
        before = k;
    }
    return before;
}

/* ---- under a lock ---- */

/* The atomic that takes a lock around an access: the last exchange that it has to pass. */
static u32 lock_taken(struct side s)
{
    for (u32 k = s.op; s.l && k-- > 0;) {
        const struct site *z = site_at(s.l, k);
        if (z && z->name == N_atom && (z->atom == AT_CAS || z->atom == AT_EXCH) && passed(s.l, k, s.op)) return k;
    }
    return NONE;
}

static u32 lock_given(struct side s, u32 taken)
{
    for (u32 k = s.op + 1; k < s.l->nop; k++) {
        const struct site *z = site_at(s.l, k);
        if (z && z->name != N_ld && same_root(&z->root, &s.l->site[s.l->op[taken].site].root)) return k;
    }
    return NONE;
}

static bool tell_lock(struct telling *x)
{
    struct side a = mine(x), b = his(x);
    u32 taken = lock_taken(a), given = taken == NONE ? NONE : lock_given(a, taken);
    if (given == NONE || lock_taken(b) != taken || a.l != b.l) return false;
    const struct site *t = site_at(a.l, taken), *g = site_at(a.l, given);
    u32 last = a.op > b.op ? a.op : b.op, first = a.op < b.op ? a.op : b.op;
    bool acquired = t->sem == SEM_ACQUIRE || t->sem == SEM_ACQ_REL || fenced(a.l, taken, first), strong = is_strong(g),
         released = strong && (g->sem == SEM_RELEASE || g->sem == SEM_ACQ_REL || fenced(a.l, last, given));
    const char *from = at_line(x, (struct side){ a.l, taken }), *to = at_line(x, (struct side){ a.l, given });
    /* not on every way */
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

static bool tell_publish(struct telling *x)
{
    struct side a = mine(x), b = his(x), w = is_weak(a, N_st) ? a : b, r = is_weak(a, N_st) ? b : a;
    if (x->t->space != SPACE_GLOBAL || !is_weak(w, N_st) || !is_weak(r, N_ld)) return false;
    u32 got = flag_read(r), set = got == NONE ? NONE : flag_write(w, &r.l->site[r.l->op[got].site].root);
    if (set == NONE) return false;
    bool early = set < w.op;
    u32 sem = site_at(w.l, set)->sem, read = site_at(r.l, got)->sem;
    bool released = !early && (sem == SEM_RELEASE || sem == SEM_ACQ_REL || fenced(w.l, w.op, set)),
         acquired = read == SEM_ACQUIRE || read == SEM_ACQ_REL || fenced(r.l, got, r.op);
    if (released && acquired) return false;
    const char *at = at_line(x, (struct side){ w.l, set }), *from = at_line(x, (struct side){ r.l, got });
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

/* A barrier between two accesses that every way to the second passes; NONE: there is none. */
static u32 barrier_in_pass(const struct lowered *l, u32 from, u32 to)
{
    for (u32 b = 0; b < l->nblock; b++)
        if (l->block[b].term == TERM_BAR && l->block[b].end - 1 > from && l->block[b].end - 1 < to &&
            dominates(l, l->block[b].end - 1, to))
            return l->block[b].end - 1;
    return NONE;
}

static bool in_one_loop(const struct lowered *l, u32 a, u32 b)
{
    u32 x = block_of(l, a), y = block_of(l, b);
    for (u32 n = 0; x != NONE && y != NONE && n < l->nloop; n++)
        if (l->loop[n].head <= x && x <= l->loop[n].last && l->loop[n].head <= y && y <= l->loop[n].last) return true;
    return false;
}

/* A barrier is there, and orders the two in each pass of a loop, but not the second in one pass with the first in the
 * next. */
static bool tell_around(struct telling *x)
{
    struct side a = mine(x), b = his(x), first = a.op < b.op ? a : b, second = a.op < b.op ? b : a;
    if (x->t->space != SPACE_SHARED || !a.l || a.l != b.l || x->self || !in_one_loop(a.l, a.op, b.op)) return false;
    u32 bar = barrier_in_pass(a.l, first.op, second.op);
    if (bar == NONE) return false;
    const char *last = at_line(x, second);
    x->f.cause = arena_printf(&x->mem,
                              "the barrier at %s orders the two within one pass of the loop, but nothing orders the "
                              "access at %s with that at %s in the next pass: a thread may be a pass ahead",
                              at_line(x, (struct side){ a.l, bar }), last, at_line(x, first));
    x->f.order = arena_printf(&x->mem, "a __syncthreads() behind %s, before the next pass begins", last);
    x->f.fix = "Put a second __syncthreads() at the end of the loop's body, where all threads of the block come by, or "
               "use two buffers in turn.";
    return true;
}

static bool one_statement(struct telling *x, struct side a, struct side b)
{
    const struct place *p = found_place(&x->mem, a.l, a.op), *q = found_place(&x->mem, b.l, b.op);
    return p->file && q->file && p->line == q->line && p->col == q->col && !p->inlined_at && !q->inlined_at &&
           !strcmp(p->file, q->file);
}

/* Both in one statement, s[t] += s[t + o]: whether the barrier belongs into it or behind it, the order of its
 * accesses in the code tells. */
static bool tell_statement(struct telling *x)
{
    struct side a = mine(x), b = his(x), w = is_weak(a, N_st) ? a : b, r = is_weak(a, N_st) ? b : a;
    if (x->t->space != SPACE_SHARED || x->self || !a.l || a.l != b.l || !is_weak(w, N_st) || !is_weak(r, N_ld) ||
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

/* No barrier in the loop at all. */
static bool tell_in_loop(struct telling *x)
{
    struct side a = mine(x), b = his(x);
    if (x->t->space != SPACE_SHARED || !a.l || a.l != b.l || !in_one_loop(a.l, a.op, b.op)) return false;
    for (u32 n = 0; n < a.l->nblock; n++)
        if ((a.l->block[n].term == TERM_BAR || a.l->block[n].term == TERM_WARP) &&
            in_one_loop(a.l, a.op, a.l->block[n].first))
            return false;
    x->f.fix = "Put __syncthreads() into the loop, behind the accesses of each pass and outside of branches, so that "
               "all threads of the block come by (__syncwarp() where only lanes of one warp share the data).";
    return true;
}

/* ---- all together ---- */

/* Several threads run one store: no order makes all of them right. */
static bool tell_same_store(struct telling *x)
{
    struct side a = mine(x), b = his(x);
    if (a.l != b.l || a.op != b.op || !is_weak(a, N_st)) return false;
    x->f.form = formula_at(x->t->warp, x->t->op_index, x->lane, &x->f);
    x->f.joint_cause.gap = GAP_STAYS;
    x->f.joint_fix.gap = GAP_OWN;
    x->f.order = "nothing that helps: an order only decides which value stays";
    return true;
}

static bool tell_strong(struct telling *x)
{
    if (!(x->old->op & x->me->op & OP_STRONG)) return false;
    x->f.cause = "both are strong, but they differ in size, so neither is atomic with respect to the other";
    x->f.order = "accesses of one size on both sides";
    x->f.fix = "Use the same type on both sides, or parts of it that do not overlap.";
    return true;
}

/* R5c: a flag that goes past the first cache, or data behind one. */
static bool tell_uncached(struct telling *x)
{
    struct side a = mine(x), b = his(x);
    const struct site *s = site_at(a.l, a.op), *z = site_at(b.l, b.op);
    u32 flag = NONE;
    for (u32 k = a.l ? a.l->nsite : 0; k-- > 0;) {
        if (a.l->site[k].name == N_atom) {
            flag = NONE;
            break;
        } /* that may have ordered them, too (R5a) */
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
            at_line(x, (struct side){ a.l, flag }));
    else
        return false;
    x->f.order = "a volatile flag, or relaxed atomics on it, in place of .cg, .cv and .wt";
    x->f.fix = "Declare the flag volatile, or use cuda::atomic_ref (release and acquire make the fences unnecessary).";
    return true;
}

bool race_advise(struct telling *x)
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
        if (tell_uncached(x)) break;
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
        if (tell_strong(x)) break;
        if (tell_lock(x)) return true;
        return !tell_stride(x) && !tell_parts(x) && !tell_update(x) && !tell_same_store(x) && !tell_around(x) &&
               !tell_statement(x) && !tell_in_loop(x) && tell_publish(x);
    }
    return false;
}
