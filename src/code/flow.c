/* Control flow of a lowered function: order of blocks, dominators, loops, liveness.
 *
 * Blocks are numbered in reverse post-order with the blocks of a loop together; every loop has one latch. Running the
 * lowest-numbered split first then brings lanes together again at post-dominators, on any graph. */
#include "code/flow.h"

static void add_edge(struct lowered *l, u32 from, u32 to)
{
    struct block *b = &l->block[from];
    for (u32 k = 0; k < b->nsucc; k++)
        if (b->succ[k] == to) return;
    b->succ[b->nsucc++] = to;
}

static void find_successors(struct lowered *l)
{
    for (u32 k = 0; k < l->nblock; k++) {
        struct block *b = &l->block[k];
        u32 most = 2;
        if (b->term == TERM_BRA && b->target == NONE) b->target = b->next;
        if (b->term == TERM_BRX) most += l->brx[l->op[b->end - 1].aux][0];
        b->succ = NEW_ARRAY(&l->mem, u32, most);
        b->nsucc = 0;
        if (b->term == TERM_BRA && b->target != NONE) add_edge(l, k, b->target);
        if (b->next != NONE) add_edge(l, k, b->next);
        if (b->term == TERM_BRX)
            for (u32 j = 1; j <= l->brx[l->op[b->end - 1].aux][0]; j++)
                add_edge(l, k, l->brx[l->op[b->end - 1].aux][j]);
    }
}

static void find_predecessors(struct lowered *l)
{
    u32 *n = NEW_ARRAY(&l->mem, u32, l->nblock);
    for (u32 k = 0; k < l->nblock; k++)
        for (u32 j = 0; j < l->block[k].nsucc; j++) n[l->block[k].succ[j]]++;
    for (u32 k = 0; k < l->nblock; k++) {
        l->block[k].pred = NEW_ARRAY(&l->mem, u32, n[k] + 1);
        l->block[k].npred = 0;
    }
    for (u32 k = 0; k < l->nblock; k++)
        for (u32 j = 0; j < l->block[k].nsucc; j++) {
            struct block *s = &l->block[l->block[k].succ[j]];
            s->pred[s->npred++] = k;
        }
}

/* Post-order from block 0, without recursion; returns how many blocks are reachable. */
static u32 post_order(const struct lowered *l, u32 *out, struct arena *a)
{
    u32 *stack = NEW_ARRAY(a, u32, l->nblock + 1), *at = NEW_ARRAY(a, u32, l->nblock), n = 0, sp = 0;
    u8 *seen = NEW_ARRAY(a, u8, l->nblock);
    stack[sp++] = 0;
    seen[0] = 1;
    while (sp) {
        u32 b = stack[sp - 1];
        if (at[b] < l->block[b].nsucc) {
            u32 s = l->block[b].succ[at[b]++];
            if (!seen[s]) {
                seen[s] = 1;
                stack[sp++] = s;
            }
        } else {
            out[n++] = b;
            sp--;
        }
    }
    return n;
}

/* Renumbers: new block k is old block order[k]; unreachable blocks go. */
static void permute(struct lowered *l, const u32 *order, u32 n)
{
    u32 *to = NEW_ARRAY(&l->mem, u32, l->nblock);
    struct block *b = NEW_ARRAY(&l->mem, struct block, n + 1);
    for (u32 k = 0; k < l->nblock; k++) to[k] = NONE;
    for (u32 k = 0; k < n; k++) {
        to[order[k]] = k;
        b[k] = l->block[order[k]];
    }
    for (u32 k = 0; k < n; k++) {
        if (b[k].next != NONE) b[k].next = to[b[k].next];
        if (b[k].target != NONE) b[k].target = to[b[k].target];
        if (b[k].term == TERM_BRX) {
            u32 *t = l->brx[l->op[b[k].end - 1].aux];
            for (u32 j = 1; j <= t[0]; j++) t[j] = to[t[j]];
        }
    }
    l->block = b;
    l->nblock = n;
    find_successors(l);
    find_predecessors(l);
}

/* Cooper, Harvey, Kennedy: blocks are in reverse post-order, so a smaller number is nearer the root. */
static void find_dominators(struct lowered *l)
{
    for (u32 k = 0; k < l->nblock; k++) l->block[k].idom = NONE;
    l->block[0].idom = 0;
    for (bool again = true; again;) {
        again = false;
        for (u32 k = 1; k < l->nblock; k++) {
            u32 d = NONE;
            for (u32 j = 0; j < l->block[k].npred; j++) {
                u32 p = l->block[k].pred[j];
                if (l->block[p].idom == NONE) continue;
                if (d == NONE) {
                    d = p;
                    continue;
                }
                u32 x = p, y = d;
                while (x != y) {
                    while (x > y) x = l->block[x].idom;
                    while (y > x) y = l->block[y].idom;
                }
                d = x;
            }
            if (d != l->block[k].idom) {
                l->block[k].idom = d;
                again = true;
            }
        }
    }
}

static bool dominates(const struct lowered *l, u32 a, u32 b)
{
    while (b > a) b = l->block[b].idom;
    return a == b;
}

/* The same on the reversed graph, with a virtual exit behind every block that leaves (number nblock). */
static void find_post_dominators(struct lowered *l)
{
    u32 n = l->nblock, exit = n, np = 0, sp = 0;
    struct arena tmp = { 0 };
    u32 *order = NEW_ARRAY(&tmp, u32, n + 1), *rank = NEW_ARRAY(&tmp, u32, n + 1), *stack = NEW_ARRAY(&tmp, u32, n + 2),
        *at = NEW_ARRAY(&tmp, u32, n + 1), *ipdom = NEW_ARRAY(&tmp, u32, n + 1);
    u8 *seen = NEW_ARRAY(&tmp, u8, n + 1);
    stack[sp++] = exit;
    seen[exit] = 1;
    while (sp) { /* post-order of the reversed graph from the exit */
        u32 b = stack[sp - 1], p = NONE;
        if (b == exit) {
            while (at[b] < n && (l->block[at[b]].nsucc || seen[at[b]])) at[b]++;
            if (at[b] < n) p = at[b]++;
        } else {
            while (at[b] < l->block[b].npred && seen[l->block[b].pred[at[b]]]) at[b]++;
            if (at[b] < l->block[b].npred) p = l->block[b].pred[at[b]++];
        }
        if (p != NONE) {
            seen[p] = 1;
            stack[sp++] = p;
        } else {
            order[np++] = b;
            sp--;
        }
    }
    for (u32 k = 0; k <= n; k++) {
        ipdom[k] = NONE;
        rank[k] = 0;
    }
    for (u32 k = 0; k < np; k++) rank[order[k]] = k; /* the exit has the highest rank */
    ipdom[exit] = exit;
    for (bool again = true; again;) {
        again = false;
        for (u32 k = np; k-- > 0;) {
            u32 b = order[k], d = NONE;
            if (b == exit) continue;
            if (!l->block[b].nsucc) d = exit;
            for (u32 j = 0; j < l->block[b].nsucc; j++) {
                u32 s = l->block[b].succ[j];
                if (ipdom[s] == NONE) continue;
                if (d == NONE) {
                    d = s;
                    continue;
                }
                u32 x = s, y = d;
                while (x != y) {
                    while (rank[x] < rank[y]) x = ipdom[x];
                    while (rank[y] < rank[x]) y = ipdom[y];
                }
                d = x;
            }
            if (d != ipdom[b]) {
                ipdom[b] = d;
                again = true;
            }
        }
    }
    for (u32 k = 0; k < n; k++) l->block[k].ipdom = ipdom[k] == exit ? NONE : ipdom[k];
    arena_free(&tmp);
}

/* Members of the natural loop of a head: everything that reaches one of its back edges without passing it. */
static u32 loop_members(const struct lowered *l, u32 head, u8 *in, u32 *stack)
{
    u32 sp = 0, back = 0;
    for (u32 j = 0; j < l->block[head].npred; j++) back |= l->block[head].pred[j] >= head;
    if (!back) return 0;
    back = 0;
    memset(in, 0, l->nblock);
    in[head] = 1;
    for (u32 j = 0; j < l->block[head].npred; j++) {
        u32 p = l->block[head].pred[j];
        if (p < head || !dominates(l, head, p)) continue;
        back++;
        if (!in[p]) {
            in[p] = 1;
            stack[sp++] = p;
        }
    }
    while (sp) {
        u32 b = stack[--sp];
        for (u32 j = 0; j < l->block[b].npred; j++) {
            u32 p = l->block[b].pred[j];
            if (!in[p]) {
                in[p] = 1;
                stack[sp++] = p;
            }
        }
    }
    return back;
}

/* A loop with several back edges gets an empty latch that they share, so that its lanes meet before the next round. */
static bool add_latches(struct lowered *l)
{
    struct arena tmp = { 0 };
    u8 *in = NEW_ARRAY(&tmp, u8, l->nblock);
    u32 *stack = NEW_ARRAY(&tmp, u32, l->nblock), n = l->nblock, added = 0;
    struct block *nb = NEW_ARRAY(&l->mem, struct block, 2 * l->nblock);
    memcpy(nb, l->block, sizeof *nb * n);
    for (u32 h = 0; h < n; h++) {
        if (loop_members(l, h, in, stack) < 2) continue;
        u32 latch = n + added++;
        nb[latch] = (struct block){ .first = 0, .end = 0, .term = TERM_FALL, .next = h, .target = NONE };
        for (u32 j = 0; j < l->block[h].npred; j++) {
            u32 p = l->block[h].pred[j];
            if (!in[p] || p < h) continue;
            if (nb[p].next == h) nb[p].next = latch;
            if (nb[p].target == h) nb[p].target = latch;
            if (nb[p].term == TERM_BRX) {
                u32 *t = l->brx[l->op[nb[p].end - 1].aux];
                for (u32 k = 1; k <= t[0]; k++)
                    if (t[k] == h) t[k] = latch;
            }
        }
    }
    if (added) {
        l->block = nb;
        l->nblock = n + added;
        find_successors(l);
        find_predecessors(l);
    }
    arena_free(&tmp);
    return added > 0;
}

static void reorder(struct lowered *l)
{
    struct arena tmp = { 0 };
    u32 *po = NEW_ARRAY(&tmp, u32, l->nblock);
    u32 n = post_order(l, po, &tmp);
    for (u32 k = 0; k < n / 2; k++) {
        u32 t = po[k];
        po[k] = po[n - 1 - k];
        po[n - 1 - k] = t;
    }
    permute(l, po, n);
    find_dominators(l);
    arena_free(&tmp);
}

/* Puts the blocks of each loop together: a head pulls all members of its loop behind it, in their order, inner loops
 * first. */
static void emit_region(const struct lowered *l, const u8 *const *in, u32 head, u8 *done, u32 *out, u32 *n)
{
    for (u32 k = head; k < l->nblock; k++) {
        if (done[k] || (in[head] && !in[head][k])) continue;
        if (k != head && in[k]) {
            emit_region(l, in, k, done, out, n);
            continue;
        }
        done[k] = 1;
        out[(*n)++] = k;
    }
}

/* Whether the block may read memory that other threads write; a call may. */
static bool block_polls(const struct lowered *l, const struct block *b)
{
    if (b->term == TERM_CALL || b->term == TERM_SLEEP) return true;
    for (u32 k = b->first; k < b->end; k++) {
        const struct lop *o = &l->op[k];
        if (o->kind != K_MEM || !((o->flags & ISA_ACCESS && o->flags & ISA_READS) || o->flags & ISA_MBAR_WAIT))
            continue;
        u32 sp = l->site[o->site].space;
        if (sp != SP_CONST && sp != SP_PARAM && sp != SP_LOCAL && sp != SP_CALL) return true;
    }
    return false;
}

static void gather_loops(struct lowered *l)
{
    struct arena tmp = { 0 };
    const u8 **in = NEW_ARRAY(&tmp, const u8 *, l->nblock);
    u32 *stack = NEW_ARRAY(&tmp, u32, l->nblock), *out = NEW_ARRAY(&tmp, u32, l->nblock), n = 0;
    u8 *done = NEW_ARRAY(&tmp, u8, l->nblock);
    u8 *scratch = NEW_ARRAY(&tmp, u8, l->nblock);
    u32 nloop = 0;
    for (u32 h = 0; h < l->nblock; h++) {
        if (!loop_members(l, h, scratch, stack)) continue;
        u8 *m = NEW_ARRAY(&tmp, u8, l->nblock);
        memcpy(m, scratch, l->nblock);
        in[h] = m;
        nloop++;
    }
    if (nloop) {
        for (u32 k = 0; k < l->nblock; k++) {
            if (done[k]) continue;
            if (in[k])
                emit_region(l, in, k, done, out, &n);
            else {
                done[k] = 1;
                out[n++] = k;
            }
        }
        CHECK(n == l->nblock);
        permute(l, out, n);
        find_dominators(l);
    }
    l->loop = NEW_ARRAY(&l->mem, struct loop, nloop + 1);
    l->nloop = 0;
    for (u32 h = 0; h < l->nblock; h++) {
        if (!loop_members(l, h, scratch, stack)) continue;
        struct loop *lp = &l->loop[l->nloop++];
        lp->head = h;
        lp->parent = l->block[h].loop;
        for (u32 k = h; k < l->nblock; k++)
            if (scratch[k]) {
                lp->last = k;
                l->block[k].loop = l->nloop;
            }
        for (u32 k = h; k <= lp->last; k++) lp->polls |= block_polls(l, &l->block[k]);
    }
    arena_free(&tmp);
}

#define BIT_SET(s, r) ((s)[(r) >> 6] |= 1ull << ((r)&63))
#define BIT_CLEAR(s, r) ((s)[(r) >> 6] &= ~(1ull << ((r)&63)))
#define BIT_GET(s, r) ((s)[(r) >> 6] >> ((r)&63) & 1)

static void find_liveness(struct lowered *l)
{
    u32 W = l->words = (l->nreg + 63) / 64;
    struct arena tmp = { 0 };
    u64 *use = NEW_ARRAY(&tmp, u64, (size_t)W * l->nblock + 1), *def = NEW_ARRAY(&tmp, u64, (size_t)W * l->nblock + 1);
    l->ndef = NEW_ARRAY(&l->mem, u32, l->nreg + 1);
    u32 *only = NEW_ARRAY(&tmp, u32, l->nreg + 1);
    l->local = NEW_ARRAY(&l->mem, u8, l->nreg + 1);
    for (u32 k = 0; k < l->nreg; k++) {
        only[k] = NONE;
        l->local[k] = 1;
    }
    for (u32 b = 0; b < l->nblock; b++) {
        struct block *bl = &l->block[b];
        u64 *u = use + (size_t)b * W, *d = def + (size_t)b * W;
        bl->live_in = NEW_ARRAY(&l->mem, u64, W + 1);
        bl->live_out = NEW_ARRAY(&l->mem, u64, W + 1);
        for (u32 k = bl->first; k < bl->end; k++) {
            EACH_USE (r, &l->op[k]) {
                if (!BIT_GET(d, r)) BIT_SET(u, r);
                if (only[r] != NONE && only[r] != b) l->local[r] = 0;
                only[r] = b;
            }
            EACH_DEF (r, &l->op[k]) {
                l->ndef[r]++;
                if (only[r] != NONE && only[r] != b) l->local[r] = 0;
                only[r] = b;
                if (l->op[k].guard.kind == O_NONE || l->op[k].flags & ISA_BRANCH)
                    BIT_SET(d, r);
                else if (!BIT_GET(d, r))
                    BIT_SET(u, r); /* a guarded write keeps the old value in other lanes */
            }
        }
    }
    for (bool again = true; again;) {
        again = false;
        for (u32 b = l->nblock; b-- > 0;) {
            struct block *bl = &l->block[b];
            for (u32 w = 0; w < W; w++) {
                u64 out = 0;
                for (u32 j = 0; j < bl->nsucc; j++) out |= l->block[bl->succ[j]].live_in[w];
                u64 in = use[(size_t)b * W + w] | (out & ~def[(size_t)b * W + w]);
                if (in != bl->live_in[w] || out != bl->live_out[w]) again = true;
                bl->live_in[w] = in;
                bl->live_out[w] = out;
            }
        }
    }
    for (u32 b = 0; b < l->nblock; b++)
        for (u32 k = 0; k < l->nreg; k++)
            if (BIT_GET(l->block[b].live_in, k)) l->local[k] = 0;
    /* An operation that waits writes its result when the split already stands at the next block: not local. */
    for (u32 b = 0; b < l->nblock; b++) {
        struct block *bl = &l->block[b];
        if (bl->first == bl->end || (bl->term != TERM_WARP && bl->term != TERM_BAR)) continue;
        EACH_DEF (r, &l->op[bl->end - 1]) l->local[r] = 0;
    }
    arena_free(&tmp);
}

/* Registers that some path reads before anything was written to them, before the blocks are in order. */
u64 *flow_unwritten(struct lowered *l, struct arena *out)
{
    struct arena keep = l->mem;
    l->mem = (struct arena){ 0 };
    find_successors(l);
    find_liveness(l);
    u64 *set = NEW_ARRAY(out, u64, l->words + 1);
    memcpy(set, l->block[0].live_in, 8 * l->words);
    arena_free(&l->mem);
    l->mem = keep;
    return set;
}

void flow_build(struct lowered *l)
{
    find_successors(l);
    find_predecessors(l);
    reorder(l);
    if (add_latches(l)) reorder(l);
    gather_loops(l);
    find_post_dominators(l);
    for (u32 k = 0; k < l->nblock; k++) {
        struct block *b = &l->block[k];
        b->is_exit = b->term == TERM_EXIT && b->end - b->first == 1 && l->op[b->first].guard.kind == O_NONE;
    }
    find_liveness(l);
}

void live_before(const struct lowered *l, u32 block, u32 op, u64 *live)
{
    const struct block *b = &l->block[block];
    memcpy(live, b->live_out, 8 * l->words);
    for (u32 k = b->end; k-- > op;) {
        if (l->op[k].guard.kind == O_NONE)
            EACH_DEF (r, &l->op[k]) live[r >> 6] &= ~(1ull << (r & 63));
        EACH_USE (r, &l->op[k]) live[r >> 6] |= 1ull << (r & 63);
    }
}
