/* What a kernel may write, and what orders its threads, from its code before it runs.
 *
 * Memory that a launch cannot write needs no cells: a load from it races with nothing. Which objects those are follows
 * from the provenance of the addresses of its stores (flow/provenance.c). One store of unknown provenance, and all
 * memory has cells.
 *
 * A kernel is simple when its only synchronisations are barriers of the whole CTA and of whole warps, and no thread
 * can miss one: none of them stands where control flow may diverge. For that, a fixpoint finds the values that are
 * uniform over a CTA, and the blocks that all its threads execute. */
#include "race/race_kernel.h"
#include "flow/analyses.h"
#include "explain/race_advice.h"
#include "sim/barrier.h"

/* The state of the fixpoint. Everything is uniform until shown otherwise. */
struct uniform {
    const struct lowered *l;
    u8 *reg;      /* by register: it has the same value in all threads of the CTA */
    u8 *block;    /* by block: all threads of the CTA execute it */
    u32 *depth;   /* by block: in the tree of post-dominators; 0: the exit */
    u32 *skip;    /* union-find: the block itself, or, if not all threads execute it, one above it in the tree */
    u8 *reached;  /* by block: a branch at which threads leave leads to it */
    u32 *stack;   /* blocks that are to be visited */
    bool changed; /* in this round */
};

/* The special register has the same value in all threads of a CTA. */
static bool sreg_uniform(u32 id)
{
    switch (id) {
    case SR_NTID:
    case SR_CTAID:
    case SR_NCTAID:
    case SR_GRIDID:
    case SR_NWARPID:
    case SR_DYNAMIC_SMEM_SIZE:
    case SR_TOTAL_SMEM_SIZE:
    case SR_DYN_SHARED:
    case SR_LOCAL_BASE: return true;
    default: return false;
    }
}

static bool operand_uniform(const struct uniform *u, struct opnd o)
{
    return o.kind == O_REG ? u->reg[o.reg] : o.kind == O_SREG ? sreg_uniform(o.reg) : true;
}

static bool op_uniform(const struct uniform *u, const struct lop *o)
{
    if (o->kind == K_MEM) {
        if (!lop_is_load(o) || (u->l->site[o->site].space != SP_CONST && u->l->site[o->site].space != SP_PARAM))
            return false;
    } else if (o->kind != K_LANE && o->kind != K_CMP && o->kind != K_PRED &&
               !(o->kind == K_WARP && o->shape == SHAPE_MOVE))
        return false;
    for (u32 k = 0; k < o->nsrc; k++)
        if (!operand_uniform(u, *lop_src(o, k))) return false;
    return operand_uniform(u, o->guard);
}

/* ---- blocks that not all threads execute ----
 *
 * A branch diverges: the blocks between it and the block where its paths meet again, its immediate post-dominator, are
 * not executed by all threads. They are the blocks that are control dependent on it, and those that are so on these
 * (Ferrante, Ottenstein, Warren): on the way from a successor up the tree of post-dominators to that of the branch.
 * Blocks that are marked are skipped on such ways, so that each is visited once, however many branches there are. */

/* The block above in the tree of post-dominators; nblock: the exit. */
static u32 above(const struct lowered *l, u32 b) { return l->block[b].ipdom == NONE ? l->nblock : l->block[b].ipdom; }

/* The first block from b on, up the tree, that is not marked; nblock: none. */
static u32 skip_marked(struct uniform *u, u32 b) { return forest_root(u->skip, b); }

static void mark(struct uniform *u, u32 b)
{
    u->block[b] = 0;
    u->skip[b] = above(u->l, b);
    u->changed = true;
}

/* The branch of that block diverges. */
static void mark_dependent(struct uniform *u, u32 from)
{
    const struct lowered *l = u->l;
    u32 n = 0;
    for (u32 at = from;; at = u->stack[--n]) {
        u32 least = u->depth[above(l, at)];
        for (u32 k = 0; k < l->block[at].nsucc; k++)
            for (u32 b = skip_marked(u, l->block[at].succ[k]); u->depth[b] > least; b = skip_marked(u, b)) {
                mark(u, b);
                u->stack[n++] = b;
            }
        if (!n) return;
    }
}

/* Some threads leave at the end of that block: they do not meet the others again. */
static void mark_reachable(struct uniform *u, u32 from)
{
    const struct lowered *l = u->l;
    u32 n = 0;
    for (u32 at = from;; at = u->stack[--n]) {
        for (u32 k = 0; k < l->block[at].nsucc; k++) {
            u32 b = l->block[at].succ[k];
            if (u->reached[b]) continue;
            u->reached[b] = 1;
            if (u->block[b]) mark(u, b);
            u->stack[n++] = b;
        }
        if (!n) return;
    }
}

/* The depths in the tree of post-dominators. true: every block has a way to the exit, so that the tree says which are
 * control dependent. */
static bool find_depths(struct uniform *u)
{
    const struct lowered *l = u->l;
    u32 n = 0, count = 0;
    for (u32 b = 0; b < l->nblock; b++) { /* backwards from the exit */
        if (l->block[b].nsucc) continue;
        u->reached[b] = 1;
        u->stack[n++] = b;
    }
    while (n) {
        const struct block *b = &l->block[u->stack[--n]];
        count++;
        for (u32 k = 0; k < b->npred; k++) {
            if (u->reached[b->pred[k]]) continue;
            u->reached[b->pred[k]] = 1;
            u->stack[n++] = b->pred[k];
        }
    }
    memset(u->reached, 0, l->nblock);
    if (count != l->nblock) return false;
    for (u32 b = 0; b < l->nblock; b++) {
        u32 at = b;
        for (; at != l->nblock && !u->depth[at]; at = above(l, at)) u->stack[n++] = at;
        for (u32 depth = u->depth[at]; n;) u->depth[u->stack[--n]] = ++depth;
    }
    return true;
}

static void find_uniform(struct uniform *u, struct arena *a)
{
    const struct lowered *l = u->l;
    u->stack = NEW_ARRAY(a, u32, l->nblock + 1);
    u->depth = NEW_ARRAY(a, u32, l->nblock + 1);
    u->skip = NEW_ARRAY(a, u32, l->nblock + 1);
    u->reached = NEW_ARRAY(a, u8, l->nblock + 1);
    u8 *spread = NEW_ARRAY(a, u8, l->nblock + 1); /* by block: its branch diverges, and that is done */
    for (u32 b = 0; b <= l->nblock; b++) u->skip[b] = b;
    bool ends = find_depths(u);
    do {
        u->changed = false;
        for (u32 b = 0; b < l->nblock; b++) {
            const struct block *bl = &l->block[b];
            for (u32 k = bl->first; k < bl->end; k++) {
                const struct lop *o = &l->op[k];
                if (o->dead) continue;
                bool same = u->block[b] && op_uniform(u, o);
                EACH_DEF (r, o) {
                    if (!u->reg[r] || same) continue;
                    u->reg[r] = 0;
                    u->changed = true;
                }
            }
            if (bl->end == bl->first) continue;
            const struct lop *t = &l->op[bl->end - 1];
            bool leaves = (bl->term == TERM_EXIT || bl->term == TERM_RET) && t->guard.kind != O_NONE;
            if (bl->nsucc < 2 && !leaves) continue;
            bool same = operand_uniform(u, t->guard) && (bl->term != TERM_BRX || operand_uniform(u, *lop_src(t, 0)));
            if (same || spread[b]) continue;
            spread[b] = 1;
            if (leaves ||
                !ends) /* a loop without an end has no post-dominators: all that is behind the branch counts */
                mark_reachable(u, b);
            else
                mark_dependent(u, b);
        }
    } while (u->changed && !stop_asked());
}

/* The registers that some operation reads. */
static u8 *find_used(const struct lowered *l)
{
    u8 *used = base_need(l->nreg + 1);
    for (u32 k = 0; k < l->nop; k++)
        EACH_USE (r, &l->op[k]) used[r] = 1;
    return used;
}

static bool atom_reads(const struct lop *o, const u8 *used)
{
    EACH_DEF (r, o) {
        if (used[r]) return true;
    }
    return false;
}

bool race_atom_reads(const struct race_launch *launch, const struct lowered *l, const struct lop *o)
{
    return l->serial != launch->kernel->serial || atom_reads(o, launch->kernel->used);
}

/* A volatile access to memory that threads share. */
static bool is_volatile(const struct site *s) { return s->sem == SEM_VOLATILE && s->space != SP_LOCAL; }

/* whole: by block, as uniform.block; used: as race_kernel.used. */
static bool is_simple(const struct lowered *l, const u8 *whole, const u8 *used)
{
    for (u32 b = 0; b < l->nblock; b++)
        if (l->block[b].term == TERM_CLUSTER) return false;
    for (u32 b = 0; b < l->nblock; b++)
        for (u32 k = l->block[b].first; k < l->block[b].end; k++) {
            const struct lop *o = &l->op[k];
            if (o->dead) continue;
            if (o->flags & ISA_BARRIER && (lop_src(o, 1)->kind != O_NONE || (o->aux & 15) == BAR_ARRIVE || !whole[b]))
                return false;
            const struct opnd *members = lop_src(o, SRC_MEMBERS);
            if (o->flags & ISA_WARP_BARRIER &&
                (members->kind != O_CONST || (u32)members->value != ALL_LANES || !whole[b]))
                return false;
            if (o->flags & (ISA_FENCE | ISA_MBARRIER) || lop_is_wgmma(o)) return false;
            if (o->kind == K_MEM && o->flags & ISA_ACCESS) {
                u32 sem = l->site[o->site].sem;
                /* A strong read orders its thread after the write it has read. Volatile accesses are looked at one by
                 * one (race_volatile.c). */
                bool reads = (lop_is_load(o) && sem != SEM_WEAK) || (lop_fetches(o) && atom_reads(o, used));
                if (reads || is_volatile(&l->site[o->site]) || sem == SEM_ACQUIRE || sem == SEM_RELEASE ||
                    sem == SEM_ACQ_REL)
                    return false;
            }
        }
    return true;
}

static bool is_scoped(const struct lowered *l)
{
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        if (o->dead) continue;
        if (o->flags & ISA_FENCE) {
            if ((o->aux & 3) < SCOPE_GPU) return true;
        } else if (o->flags & ISA_MBARRIER)
            return true;
        else if (o->kind == K_MEM && o->site < l->nsite && l->site[o->site].scope < SCOPE_GPU &&
                 (l->site[o->site].sem != SEM_WEAK || lop_is_atomic(o)))
            return true;
    }
    return false;
}

static bool is_repeating(const struct lowered *l)
{
    bool ordering = false, relaxed = false;
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        if (o->kind != K_MEM || !(o->flags & ISA_ACCESS)) continue;
        u32 sem = l->site[o->site].sem;
        if (sem == SEM_ACQUIRE || sem == SEM_RELEASE || sem == SEM_ACQ_REL)
            ordering = true;
        else if (sem != SEM_WEAK || lop_is_atomic(o))
            relaxed = true;
    }
    return ordering && relaxed;
}

/* Some function of the program, which the kernel may call, has a volatile access. */
static bool program_has_volatile(const struct ptx_module *m)
{
    for (const struct ptx_module *p = m->first ? m->first : m; p; p = p->next)
        for (u32 k = 0; k < p->nfunc; k++)
            for (u32 i = 0; i < p->func[k]->ninsn; i++) {
                const struct ptx_opcode *o = p->func[k]->insn[i].op;
                for (u32 n = 0; o && n < o->nmod; n++)
                    if (str_is(o->mod[n], "volatile")) return true;
            }
    return false;
}

bool race_updates(const struct race_launch *launch, u32 site)
{
    return launch->kernel->serial % FUNCS == site >> SITE_FUNCTION && launch->kernel->update[site & SITE_OPERATION];
}

/* The access may go to global memory. */
static bool is_global(const struct site *s)
{
    return s->space != SP_SHARED && s->space != SP_LOCAL && s->space != SP_CALL && s->space != SP_PARAM &&
           s->space != SP_CONST;
}

/* Adds the object that one access to global memory can get to. */
static void reach_add(struct reach *k, const struct site *s)
{
    if (s->prov.kind == FROM_PARAM) {
        for (u32 n = 0; n < k->nparam; n++)
            if (k->param[n] == s->prov.off) return;
        k->param[k->nparam++] = s->prov.off;
    } else if (s->prov.kind == FROM_VAR) {
        if (s->prov.var->space != SP_GLOBAL) return;
        for (u32 n = 0; n < k->nvar; n++)
            if (k->var[n] == s->prov.var) return;
        k->var[k->nvar++] = s->prov.var;
    } else
        k->anywhere = true;
}

static void reach_open(struct reach *k, u32 sites)
{
    k->param = base_need(sizeof *k->param * (sites + 1));
    k->var = base_need(sizeof *k->var * (sites + 1));
}

static void reach_free(struct reach *k)
{
    base_free(k->param);
    base_free(k->var);
}

static bool writes(const struct lop *o) { return o->kind == K_MEM && (o->flags & ISA_HOW) != ISA_READS; }

struct race_kernel *race_kernel_of(struct race *r, struct lowered *l)
{
    struct race_kernel **bucket = &r->kernel[l->serial % RACE_KERNELS];
    for (struct race_kernel *k = *bucket; k; k = k->next)
        if (k->serial == l->serial) return k;
    struct arena tmp = { 0 };
    struct uniform u = { .l = l, .reg = NEW_ARRAY(&tmp, u8, l->nreg + 1), .block = NEW_ARRAY(&tmp, u8, l->nblock + 1) };
    struct race_kernel *k = base_need(sizeof *k);
    memset(u.reg, 1, l->nreg);
    memset(u.block, 1, l->nblock);
    find_uniform(&u, &tmp);
    k->serial = l->serial;
    k->name = base_need(256);
    name_plain(l->func->name, k->name, 256);
    k->used = find_used(l);
    k->update = race_update_loads(l);
    k->simple = !stop_asked() && is_simple(l, u.block, k->used); /* a search that was stopped has shown nothing */
    k->polls = code_polls(l);
    k->scoped = is_scoped(l);
    k->repeats = is_repeating(l);
    bool calls = false;
    for (u32 n = 0; n < l->nsite; n++) k->has_volatile |= is_volatile(&l->site[n]);
    for (u32 n = 0; n < l->ncall; n++) k->simple &= l->call[n].builtin < BI_RUNTIME; /* it may launch kernels */
    for (u32 n = 0; n < l->ncall; n++)
        if (!l->call[n].builtin) {
            k->simple = false;
            k->written.anywhere = k->read.anywhere = k->scoped = k->repeats = true;
            calls = true;
        }
    if (calls && !k->has_volatile) k->has_volatile = program_has_volatile(l->func->module);
    reach_open(&k->written, l->nsite);
    reach_open(&k->read, l->nsite);
    for (u32 n = 0; n < l->nop; n++) {
        const struct lop *o = &l->op[n];
        if (o->dead || o->kind != K_MEM || o->site >= l->nsite || !is_global(&l->site[o->site])) continue;
        k->stores += writes(o);
        if (writes(o)) reach_add(&k->written, &l->site[o->site]);
    }
    for (u32 n = 0; n < l->nsite; n++) /* an asynchronous copy has two sites */
        if (!l->op[l->site[n].op].dead && is_global(&l->site[n])) reach_add(&k->read, &l->site[n]);
    arena_free(&tmp);
    k->next = *bucket;
    return *bucket = k;
}

/* What is asked of a kernel at every launch is kept with its code, where it is found without a lock. */
enum { FACTS_KNOWN = 1, FACT_SIMPLE = 2, FACT_POLLS = 4 };

/* FACT_* of a kernel, launched or not; 0: it cannot run. */
static u32 kernel_facts(struct race *r, struct sim *s, struct ptx_func *kernel)
{
    struct lowered *low = __atomic_load_n(&kernel->decoded, __ATOMIC_ACQUIRE);
    u32 facts = low ? __atomic_load_n(&low->facts, __ATOMIC_RELAXED) : 0;
    if (likely(facts)) return facts;
    struct error e;
    error_none(&e);
    low = sim_lowered(s, kernel, &e);
    if (!low) return 0;
    lock(&r->lock);
    const struct race_kernel *k = race_kernel_of(r, low);
    unlock(&r->lock);
    facts = FACTS_KNOWN | (k->simple ? FACT_SIMPLE : 0) | (k->polls ? FACT_POLLS : 0);
    if (!stop_asked()) __atomic_store_n(&low->facts, facts, __ATOMIC_RELAXED);
    return facts;
}

bool race_kernel_alone(struct race *r, struct sim *s, struct ptx_func *kernel)
{
    return (kernel_facts(r, s, kernel) & (FACT_SIMPLE | FACT_POLLS)) == FACT_SIMPLE;
}

bool race_kernel_polls(struct race *r, struct sim *s, struct ptx_func *kernel)
{
    return kernel_facts(r, s, kernel) & FACT_POLLS;
}

void race_kernels_free(struct race *r)
{
    for (u32 i = 0; i < RACE_KERNELS; i++)
        for (struct race_kernel *k = r->kernel[i], *next; k; k = next) {
            next = k->next;
            base_free(k->name);
            reach_free(&k->written);
            reach_free(&k->read);
            base_free(k->used);
            base_free(k->update);
            base_free(k);
        }
}
