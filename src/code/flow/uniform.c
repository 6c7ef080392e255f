/* Values that are uniform over a CTA, and the blocks that all its threads execute: a fixpoint. */
#include "flow/uniform.h"

/* The state of the fixpoint. Everything is uniform until shown otherwise. */
struct search {
    const struct lowered *l;
    u8 *reg; /* as in struct uniform */
    u8 *block;
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

static bool operand_uniform(const struct search *u, struct opnd o)
{
    return o.kind == O_REG ? u->reg[o.reg] : o.kind == O_SREG ? sreg_uniform(o.reg) : true;
}

static bool op_uniform(const struct search *u, const struct lop *o)
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
static u32 skip_marked(struct search *u, u32 b) { return forest_root(u->skip, b); }

static void mark(struct search *u, u32 b)
{
    u->block[b] = 0;
    u->skip[b] = above(u->l, b);
    u->changed = true;
}

/* The branch of that block diverges. */
static void mark_dependent(struct search *u, u32 from)
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
static void mark_reachable(struct search *u, u32 from)
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
static bool find_depths(struct search *u)
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

static void search(struct search *u, struct arena *a)
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
            if (leaves || !ends) /* a loop without an end has no post-dominators: all that is after the branch counts */
                mark_reachable(u, b);
            else
                mark_dependent(u, b);
        }
    } while (u->changed && !stop_asked());
}

struct uniform uniform_find(const struct lowered *l, struct arena *a)
{
    struct search u = { .l = l, .reg = NEW_ARRAY(a, u8, l->nreg + 1), .block = NEW_ARRAY(a, u8, l->nblock + 1) };
    memset(u.reg, 1, l->nreg);
    memset(u.block, 1, l->nblock);
    search(&u, a);
    return (struct uniform){ u.reg, u.block };
}
