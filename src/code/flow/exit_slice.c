/* What decides how a round of a loop goes on: the registers that its exits, its accesses and its synchronisations
 * depend on (sim/wait.c: a round that leaves them as they were, and changes no memory, repeats itself).
 *
 * A branch inside the loop counts only if its ways meet something else first: an access, a synchronisation, an exit,
 * an operation that sets one of these registers. So the loops of libcu++ are seen through,
 *
 *     while (!try_wait(...)) if (tries++ >= 16) sleep, by how long the clock says that it has waited;
 *
 * whose counter and clock choose between ways that all lead back to the wait. */
#include "flow/analyses.h"

enum { NOWHERE = NONE }; /* a way that leads to nothing yet */

struct slice {
    const struct lowered *l;
    u32 head, last;
    u64 *regs;    /* the registers, a bit set */
    bool *seen;   /* by block from the head on: something in it counts */
    bool *chosen; /* by block: its branch counts */
    u32 *next;    /* by block: the first block on the ways out of its beginning in which something counts */
    bool change;  /* in this round */
};

static bool has(const struct slice *s, u32 r) { return s->regs[r >> 6] >> (r & 63) & 1; }

static void add_uses(struct slice *s, u32 block, const struct lop *o)
{
    s->seen[block - s->head] = true;
    EACH_USE (r, o) {
        s->change |= !has(s, r);
        s->regs[r >> 6] |= 1ull << (r & 63);
    }
}

static bool is_clock(const struct lop *o)
{
    const struct ptx_insn *i = o->src;
    return o->kind == K_WARP && i && i->narg == 2 && i->arg[1].kind == OP_SREG && i->arg[1].sreg->id >= SR_CLOCK &&
           i->arg[1].sreg->id <= SR_GLOBALTIMER_HI;
}

/* The operation counts whatever it sets. Branches are looked at by themselves; how long a thread sleeps changes
 * nothing. */
static bool counts(const struct block *b, const struct lowered *l, u32 op)
{
    const struct lop *o = &l->op[op];
    bool ends = op + 1 == b->end;
    if (o->dead || is_clock(o) || (ends && b->term == TERM_SLEEP)) return false;
    if (ends && (b->term == TERM_BRA || b->term == TERM_BRX || b->term == TERM_FALL) && o->kind == K_CTRL) return false;
    return o->kind == K_MEM || o->kind == K_WARP || o->kind == K_CTRL;
}

static bool is_inside(const struct slice *s, u32 block) { return block >= s->head && block <= s->last; }

static bool leaves(const struct slice *s, const struct block *b)
{
    bool yes = false;
    for (u32 k = 0; k < b->nsucc; k++) yes |= !is_inside(s, b->succ[k]);
    return yes;
}

static void choose(struct slice *s, u32 block)
{
    const struct block *b = &s->l->block[block];
    s->chosen[block - s->head] = s->change = true;
    if (b->end > b->first) add_uses(s, block, &s->l->op[b->end - 1]);
    s->seen[block - s->head] = true;
}

static void begin(struct slice *s)
{
    for (u32 n = s->head; n <= s->last; n++) {
        const struct block *b = &s->l->block[n];
        for (u32 k = b->first; k < b->end; k++)
            if (counts(b, s->l, k)) add_uses(s, n, &s->l->op[k]);
        if (leaves(s, b)) choose(s, n);
    }
}

static void follow_registers(struct slice *s)
{
    for (u32 n = s->head; n <= s->last; n++)
        for (u32 k = s->l->block[n].first; k < s->l->block[n].end; k++) {
            const struct lop *o = &s->l->op[k];
            bool sets = false;
            EACH_DEF (r, o) sets |= has(s, r);
            if (sets && !o->dead) add_uses(s, n, o);
        }
}

/* What the ways out of the end of a block meet first; *several: not all the same. */
static u32 behind(const struct slice *s, const struct block *b, bool *several)
{
    u32 all = NOWHERE;
    *several = false;
    for (u32 k = 0; k < b->nsucc; k++) {
        u32 to = b->succ[k], at = to == s->head || !is_inside(s, to) ? to : s->next[to - s->head];
        if (all == NOWHERE) all = at;
        *several |= at != NOWHERE && at != all;
    }
    return all;
}

/* Chooses the branches whose ways meet different things. */
static void follow_branches(struct slice *s)
{
    bool again = true, several;
    for (u32 n = s->head; n <= s->last; n++) s->next[n - s->head] = s->seen[n - s->head] ? n : NOWHERE;
    while (again) {
        again = false;
        for (u32 n = s->last + 1; n-- > s->head;) {
            if (s->seen[n - s->head]) continue;
            u32 at = behind(s, &s->l->block[n], &several);
            if (several) at = n; /* it is chosen below */
            again |= at != s->next[n - s->head] && s->next[n - s->head] != n;
            if (s->next[n - s->head] != n) s->next[n - s->head] = at;
        }
    }
    for (u32 n = s->head; n <= s->last; n++) {
        if (s->chosen[n - s->head]) continue;
        behind(s, &s->l->block[n], &several);
        if (several) choose(s, n);
    }
}

/* A clock is read in the loop, and what it says counts. What functions read is not known. */
static bool reads_clock(const struct slice *s)
{
    for (u32 n = s->head; n <= s->last; n++) {
        const struct block *b = &s->l->block[n];
        if (b->term == TERM_CALL) return true;
        for (u32 k = b->first; k < b->end; k++) {
            if (!is_clock(&s->l->op[k])) continue;
            EACH_DEF (r, &s->l->op[k]) {
                if (has(s, r)) return true;
            }
        }
    }
    return false;
}

void exit_slice_find(struct lowered *l, struct loop *lp, u64 *regs)
{
    struct arena tmp = { 0 };
    u32 n = lp->last - lp->head + 1;
    struct slice s = { .l = l,
                       .head = lp->head,
                       .last = lp->last,
                       .regs = regs,
                       .seen = NEW_ARRAY(&tmp, bool, n),
                       .chosen = NEW_ARRAY(&tmp, bool, n),
                       .next = NEW_ARRAY(&tmp, u32, n) };
    begin(&s);
    do {
        s.change = false;
        follow_registers(&s);
        follow_branches(&s);
    } while (s.change);
    lp->clocked = reads_clock(&s);
    for (u32 w = 0; w < l->words; w++) regs[w] &= l->block[lp->head].live_in[w];
    arena_free(&tmp);
}
