/* Control flow of a lowered function: order of blocks, dominators, loops, liveness.
 *
 * Blocks are numbered in reverse post-order with the blocks of a loop together; every loop has one latch. Running the
 * lowest-numbered split first then brings lanes together again at post-dominators, on any graph. */
#include "flow/flow.h"
#include "flow/dominators.h"

/* seen: by block, the block that had it as successor last, + 1. */
static void add_edge(struct lowered *l, u32 from, u32 to, u32 *seen)
{
    struct block *b = &l->block[from];
    if (seen[to] == from + 1) return;
    seen[to] = from + 1;
    b->succ[b->nsucc++] = to;
}

static void find_successors(struct lowered *l)
{
    u32 *seen = base_need(sizeof *seen * (l->nblock + 1));
    for (u32 k = 0; k < l->nblock; k++) {
        struct block *b = &l->block[k];
        u32 most = 2;
        if (b->term == TERM_BRA && b->target == NONE) b->target = b->next;
        if (b->term == TERM_BRX) most += l->brx[l->op[b->end - 1].table][0];
        b->succ = NEW_ARRAY(&l->mem, u32, most);
        b->nsucc = 0;
        if (b->term == TERM_BRA && b->target != NONE) add_edge(l, k, b->target, seen);
        if (b->next != NONE) add_edge(l, k, b->next, seen);
        if (b->term == TERM_BRX)
            for (u32 j = 1; j <= l->brx[l->op[b->end - 1].table][0]; j++)
                add_edge(l, k, l->brx[l->op[b->end - 1].table][j], seen);
    }
    base_free(seen);
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
            u32 *t = l->brx[l->op[b[k].end - 1].table];
            for (u32 j = 1; j <= t[0]; j++) t[j] = to[t[j]];
        }
    }
    l->block = b;
    l->nblock = n;
    find_successors(l);
    find_predecessors(l);
}

/* ---- dominators ---- */

/* The edges of the blocks, successors or predecessors, and of a virtual exit after every block that leaves (number
 * nblock). */
static struct edges edges_of(const struct lowered *l, bool succ, struct arena *a)
{
    u32 n = l->nblock, total = 0, leaving = 0;
    struct edges e = { NEW_ARRAY(a, u32, n + 2), NULL };
    for (u32 k = 0; k < n; k++) {
        e.first[k] = total;
        leaving += !l->block[k].nsucc;
        total += succ ? MAX_OF(l->block[k].nsucc, 1u) : l->block[k].npred;
    }
    e.first[n] = total;
    e.first[n + 1] = total + (succ ? 0 : leaving);
    e.to = NEW_ARRAY(a, u32, e.first[n + 1] + 1);
    for (u32 k = 0, at = 0; k < n; k++) {
        const struct block *b = &l->block[k];
        if (succ && !b->nsucc) e.to[at++] = n;
        for (u32 j = 0; j < (succ ? b->nsucc : b->npred); j++) e.to[at++] = succ ? b->succ[j] : b->pred[j];
        if (!succ && !b->nsucc) e.to[e.first[n + 1] - leaving--] = k;
    }
    return e;
}

static void find_dominators(struct lowered *l)
{
    struct arena tmp = { 0 };
    struct edges succ = edges_of(l, true, &tmp), pred = edges_of(l, false, &tmp);
    u32 *idom = NEW_ARRAY(&tmp, u32, l->nblock + 1);
    dominators_find(l->nblock + 1, 0, &succ, &pred, idom);
    for (u32 k = 0; k < l->nblock; k++) l->block[k].idom = idom[k];
    arena_free(&tmp);
}

/* The same on the reversed graph, from the exit. */
static void find_post_dominators(struct lowered *l)
{
    struct arena tmp = { 0 };
    u32 exit = l->nblock;
    struct edges succ = edges_of(l, true, &tmp), pred = edges_of(l, false, &tmp);
    u32 *ipdom = NEW_ARRAY(&tmp, u32, l->nblock + 1);
    dominators_find(l->nblock + 1, exit, &pred, &succ, ipdom);
    for (u32 k = 0; k < l->nblock; k++) l->block[k].ipdom = ipdom[k] == exit ? NONE : ipdom[k];
    arena_free(&tmp);
}

/* ---- loops ---- */

/* The loops of a function, found from the inner ones outwards: a loop that was found counts as its head in those around
 * it. A back edge goes to a block that dominates its origin; the loop of a head is all that reaches one of its back
 * edges without passing it. Such loops are nested or apart. */
struct loops {
    u32 *back;        /* by block: back edges to it; 0: it is no head */
    u32 *outer;       /* by block: the head of the innermost loop around it, other than its own; NONE: none */
    u32 *pre, *under; /* by block: its number in the tree of dominators, in preorder; how many it dominates */
    u32 *inside;      /* union-find: the head of the outermost loop so far that has the block, or the block */
};

static bool dominates(const struct loops *p, u32 a, u32 b) { return p->pre[b] - p->pre[a] < p->under[a]; }

static void number_dominators(const struct lowered *l, struct loops *p, struct arena *a)
{
    u32 n = l->nblock, *next = NEW_ARRAY(a, u32, n + 1);
    p->pre = NEW_ARRAY(a, u32, n + 1);
    p->under = NEW_ARRAY(a, u32, n + 1);
    for (u32 k = n; k-- > 0;) {
        p->under[k]++;
        if (k) p->under[l->block[k].idom] += p->under[k];
    }
    for (u32 k = 0; k < n; k++) { /* a dominator comes before what it dominates */
        u32 up = l->block[k].idom;
        p->pre[k] = k ? next[up] : 0;
        if (k) next[up] += p->under[k];
        next[k] = p->pre[k] + 1;
    }
}

static u32 find_inside(const struct loops *p, u32 k) { return forest_root(p->inside, k); }

/* What has block k goes into the loop of the head, if it is not there. */
static void into_loop(const struct loops *p, u32 head, u32 k, u32 *stack, u32 *sp)
{
    u32 x = find_inside(p, k);
    if (x == head) return;
    p->outer[x] = p->inside[x] = head;
    stack[(*sp)++] = x;
}

static struct loops find_loops(const struct lowered *l, struct arena *a)
{
    u32 n = l->nblock, *stack = NEW_ARRAY(a, u32, n + 1);
    struct loops p = { .back = NEW_ARRAY(a, u32, n + 1), .outer = NEW_ARRAY(a, u32, n + 1) };
    p.inside = NEW_ARRAY(a, u32, n + 1);
    number_dominators(l, &p, a);
    for (u32 k = 0; k < n; k++) {
        p.inside[k] = k;
        p.outer[k] = NONE;
    }
    for (u32 h = n; h-- > 0;) {
        u32 sp = 0;
        for (u32 j = 0; j < l->block[h].npred; j++) {
            u32 from = l->block[h].pred[j];
            if (from < h || !dominates(&p, h, from)) continue;
            p.back[h]++;
            into_loop(&p, h, from, stack, &sp);
        }
        while (sp) {
            const struct block *b = &l->block[stack[--sp]];
            for (u32 j = 0; j < b->npred; j++) into_loop(&p, h, b->pred[j], stack, &sp);
        }
    }
    return p;
}

/* Where an edge from block k to `to` goes: a back edge goes to the latch of its loop. */
static u32 by_latch(const struct loops *p, const u32 *latch, u32 k, u32 to)
{
    return to != NONE && latch[to] && to <= k && dominates(p, to, k) ? latch[to] : to;
}

/* A loop with several back edges gets an empty latch that they share, so that its lanes meet before the next round. */
static bool add_latches(struct lowered *l)
{
    struct arena tmp = { 0 };
    struct loops p = find_loops(l, &tmp);
    u32 n = l->nblock, added = 0, *latch = NEW_ARRAY(&tmp, u32, n + 1); /* by head; 0: none */
    struct block *nb = NEW_ARRAY(&l->mem, struct block, 2 * l->nblock);
    memcpy(nb, l->block, sizeof *nb * n);
    for (u32 h = 0; h < n; h++) {
        if (p.back[h] < 2) continue;
        latch[h] = n + added++;
        nb[latch[h]] = (struct block){ .first = 0, .end = 0, .term = TERM_FALL, .next = h, .target = NONE };
    }
    for (u32 k = 0; k < n && added; k++) {
        nb[k].next = by_latch(&p, latch, k, nb[k].next);
        nb[k].target = by_latch(&p, latch, k, nb[k].target);
        if (nb[k].term != TERM_BRX) continue;
        u32 *t = l->brx[l->op[nb[k].end - 1].table];
        for (u32 j = 1; j <= t[0]; j++) t[j] = by_latch(&p, latch, k, t[j]);
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

/* Puts the blocks of each loop together: a head is followed by all members of its loop, in their order, those of inner
 * loops after their heads. out: the new order. */
static void order_by_loop(const struct lowered *l, const struct loops *p, u32 *out, struct arena *a)
{
    u32 n = l->nblock, count = 0;
    u32 *inner = NEW_ARRAY(a, u32, n + 1), *next = NEW_ARRAY(a, u32, n + 1); /* by block: its members, as a list */
    for (u32 k = 0; k <= n; k++) inner[k] = next[k] = NONE;
    for (u32 k = n; k-- > 0;) {
        u32 in = p->outer[k] == NONE ? n : p->outer[k];
        next[k] = inner[in];
        inner[in] = k;
    }
    for (u32 k = inner[n]; k != NONE;) {
        out[count++] = k;
        if (inner[k] != NONE) {
            k = inner[k];
            continue;
        }
        while (k != NONE && next[k] == NONE) k = p->outer[k];
        if (k != NONE) k = next[k];
    }
    CHECK(count == n);
}

/* Whether the block may read memory that other threads write; a call may. */
static bool block_polls(const struct lowered *l, const struct block *b)
{
    if (b->term == TERM_CALL || b->term == TERM_SLEEP || b->wait == WAIT_depend) return true;
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
    struct loops p = find_loops(l, &tmp);
    u32 n = l->nblock, nloop = 0;
    for (u32 h = 0; h < n; h++) nloop += p.back[h] != 0;
    if (nloop) {
        u32 *out = NEW_ARRAY(&tmp, u32, n);
        order_by_loop(l, &p, out, &tmp);
        permute(l, out, n);
        find_dominators(l);
        p = find_loops(l, &tmp);
    }
    l->loop = NEW_ARRAY(&l->mem, struct loop, nloop + 1);
    l->nloop = 0;
    u32 *last = NEW_ARRAY(&tmp, u32, n + 1), *polling = NEW_ARRAY(&tmp, u32, n + 1); /* blocks below k that poll */
    for (u32 k = n; k-- > 0;) {
        last[k] = MAX_OF(last[k], k);
        if (p.outer[k] != NONE) last[p.outer[k]] = MAX_OF(last[p.outer[k]], last[k]);
    }
    for (u32 k = 0; k < n; k++) polling[k + 1] = polling[k] + block_polls(l, &l->block[k]);
    for (u32 k = 0; k < n; k++) {
        l->block[k].loop = p.outer[k] == NONE ? 0 : l->block[p.outer[k]].loop;
        if (!p.back[k]) continue;
        struct loop *lp = &l->loop[l->nloop++];
        lp->head = k;
        lp->parent = l->block[k].loop;
        lp->last = last[k];
        lp->polls = polling[last[k] + 1] != polling[k];
        l->block[k].loop = l->nloop;
    }
    arena_free(&tmp);
}

#define BIT_SET(s, r) ((s)[(r) >> 6] |= 1ull << ((r)&63))
#define BIT_CLEAR(s, r) ((s)[(r) >> 6] &= ~(1ull << ((r)&63)))
#define BIT_GET(s, r) ((s)[(r) >> 6] >> ((r)&63) & 1)

enum { COLUMN = 8 }; /* words of a live set that are followed together: a line of the cache */

/* What is live at the beginning of a block `to`, words [w, end), is so at the end of `from`. true: some of it is new at
 * the beginning of that. */
static bool pass_up(struct block *from, const struct block *to, u32 w, u32 end, const u64 *use, const u64 *def)
{
    bool more = false;
    for (; w < end; w++) {
        u64 out = from->live_out[w] | to->live_in[w], in = use[w] | (out & ~def[w]);
        more |= in != from->live_in[w];
        from->live_out[w] = out;
        from->live_in[w] = in;
    }
    return more;
}

/* The blocks in post-order, so that what follows a block comes before it but for jumps back; then those that nothing
 * reaches. place: the other way round. */
static u32 *upward_order(const struct lowered *l, u32 *place, struct arena *a)
{
    u32 *order = NEW_ARRAY(a, u32, l->nblock + 1), n = post_order(l, order, a);
    for (u32 b = 0; b < l->nblock; b++) place[b] = NONE;
    for (u32 k = 0; k < n; k++) place[order[k]] = k;
    for (u32 b = 0; b < l->nblock; b++) {
        if (place[b] != NONE) continue;
        place[b] = n;
        order[n++] = b;
    }
    return order;
}

struct upward { /* how one column of the live sets spreads */
    struct lowered *l;
    u32 w, end;           /* the column: words [w, end) */
    const u64 *use, *def; /* [block][words]: registers that it reads before it writes them; that it writes */
    const u32 *order;     /* blocks, by place */
    u32 *place;           /* by block */
    u64 *due;             /* by place: something is new at the beginning of the block */
};

/* Once over the blocks that are due, from a word of `due` on. Returns the word that the next sweep begins with; NONE:
 * it is over. */
static u32 sweep(const struct upward *u, u32 from)
{
    struct block *block = u->l->block;
    u32 W = u->l->words, again = NONE;
    for (u32 k = from; k <= u->l->nblock / 64; k++)
        while (u->due[k]) {
            u32 at = k * 64 + (u32)__builtin_ctzll(u->due[k]);
            const struct block *b = &block[u->order[at]];
            BIT_CLEAR(u->due, at);
            for (u32 j = 0; j < b->npred; j++) {
                u32 p = b->pred[j];
                if (!pass_up(&block[p], b, u->w, u->end, u->use + (size_t)p * W, u->def + (size_t)p * W)) continue;
                BIT_SET(u->due, u->place[p]);
                if (u->place[p] / 64 < k) again = MIN_OF(again, u->place[p] / 64);
            }
        }
    return again;
}

/* Backwards from the blocks that read what they have not written, in sweeps over those whose successors have something
 * new: as many as loops are nested around a register. */
static void spread_liveness(struct lowered *l, const u64 *use, const u64 *def, struct arena *a)
{
    u32 W = l->words, n = l->nblock;
    struct upward u = { .l = l, .use = use, .def = def, .place = NEW_ARRAY(a, u32, n + 1) };
    u.order = upward_order(l, u.place, a);
    u.due = NEW_ARRAY(a, u64, n / 64 + 1);
    for (u.w = 0; u.w < W && !stop_asked(); u.w = u.end) {
        u.end = MIN_OF(u.w + COLUMN, W);
        for (u32 b = 0; b < n; b++) {
            u64 any = 0;
            for (u32 k = u.w; k < u.end; k++) any |= l->block[b].live_in[k] = use[(size_t)b * W + k];
            if (any) BIT_SET(u.due, u.place[b]);
        }
        for (u32 from = 0; from != NONE && !stop_asked();) from = sweep(&u, from);
    }
}

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
    spread_liveness(l, use, def, &tmp);
    for (u32 b = 0; b < l->nblock; b++)
        for (u32 w = 0; w < W; w++)
            EACH_SET64 (bit, l->block[b].live_in[w]) l->local[w * 64 + bit] = 0;
    /* An operation that waits writes its result when the split already stands at the next block: not local. */
    for (u32 b = 0; b < l->nblock; b++) {
        struct block *bl = &l->block[b];
        if (bl->first == bl->end || (bl->term != TERM_WARP && bl->term != TERM_WAIT)) continue;
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
    find_predecessors(l);
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

static u32 units_of(const struct lowered *l, u32 reg)
{
    return l->reg_width[reg] == 1 ? 0 : (l->reg_width[reg] + 3) / 4;
}

/* The units that a block needs at its worst point, upwards from its end. */
static u32 block_pressure(const struct lowered *l, const struct block *b, u64 *live)
{
    u32 now = 0, most;
    memcpy(live, b->live_out, 8 * l->words);
    for (u32 w = 0; w < l->words; w++)
        EACH_SET64 (k, live[w]) now += units_of(l, 64 * w + k);
    most = now;
    for (u32 k = b->end; k-- > b->first;) {
        if (l->op[k].guard.kind == O_NONE)
            EACH_DEF (r, &l->op[k])
                if (BIT_GET(live, r)) {
                    live[r >> 6] &= ~(1ull << (r & 63));
                    now -= units_of(l, r);
                }
        EACH_USE (r, &l->op[k])
            if (!BIT_GET(live, r)) {
                BIT_SET(live, r);
                now += units_of(l, r);
            }
        most = MAX_OF(most, now);
    }
    return most;
}

u32 flow_pressure(const struct lowered *l)
{
    struct arena tmp = { 0 };
    u64 *live = NEW_ARRAY(&tmp, u64, l->words + 1);
    u32 most = 0;
    for (u32 b = 0; b < l->nblock && !stop_asked(); b++) most = MAX_OF(most, block_pressure(l, &l->block[b], live));
    arena_free(&tmp);
    return most;
}
