/* Registers of wgmma (9.7.15.7): which operations may touch one while a product has it, and which products lack the
 * fence after a write of their registers. And which stores may be read by the async proxy (check/proxy.c).
 *
 * An accumulator, and a register of a, belongs to the product from its issue to the wait that covers it. Whether it
 * does at an operation is known when the operation runs (check/wgmma_check.c); here are those that have to look: the
 * ones that can be reached from a product without a wait for all groups in between. So it is with writes: those are
 * marked from which a product that has the register can be reached without a wgmma.fence. */
#include "flow/analyses.h"
#include "code/mma.h"
#include "flow/worklist.h"

/* Products in flight before an operation may still be in flight after it. */
static bool still(const struct lop *o, bool before)
{
    if (lop_is_wgmma(o)) return true;
    return lop_orders_wgmma(o, WGMMA_WAIT) && !o->off ? false : before;
}

static void touches_find(struct lowered *l, struct arena *tmp)
{
    u8 *own = NEW_ARRAY(tmp, u8, l->nreg + 1); /* registers of products */
    u8 *in = NEW_ARRAY(tmp, u8, l->nblock + 1);
    for (u32 k = 0; k < l->nop; k++) {
        if (!lop_is_wgmma(&l->op[k])) continue;
        const struct mma *f = &l->mma[l->op[k].product];
        EACH_DEF (r, &l->op[k]) own[r] = 1;
        for (u32 j = 0; j < f->na && !f->a_shared; j++)
            if (lop_src(&l->op[k], f->nc + j)->kind == O_REG) own[lop_src(&l->op[k], f->nc + j)->reg] = 1;
    }
    struct worklist due = worklist_new(l->nblock, tmp);
    for (u32 b = 0; b < l->nblock; b++) worklist_add(&due, b);
    for (u32 b; worklist_take(&due, &b);) {
        bool now = in[b];
        for (u32 k = l->block[b].first; k < l->block[b].end; k++) now = still(&l->op[k], now);
        for (u32 j = 0; now && j < l->block[b].nsucc; j++) {
            u32 to = l->block[b].succ[j];
            if (!in[to]) worklist_add(&due, to);
            in[to] = 1;
        }
    }
    for (u32 b = 0; b < l->nblock; b++) {
        bool now = in[b];
        for (u32 k = l->block[b].first; k < l->block[b].end; k++) {
            const struct lop *o = &l->op[k];
            bool touches = false;
            EACH_DEF (r, o) touches |= own[r];
            EACH_USE (r, o) touches |= own[r];
            l->in_flight[k] = now && touches && !lop_orders_wgmma(o, WGMMA_WAIT);
            now = still(o, now);
        }
    }
}

/* ---- registers that are written after the last fence ---- */

/* Registers of products, numbered from 0, and a set of them for each block: those that some product has which can be
 * reached from the start of the block without a wgmma.fence. */
struct unfenced {
    u32 *number;  /* by register: its number + 1; 0: no product has it */
    u32 words;    /* of a set */
    u64 *reached; /* by block, a set */
    u64 *now;     /* of the operation that is looked at */
};

static bool is_in(const u64 *set, u32 n) { return set[n / 64] >> n % 64 & 1; }

/* The registers of a product: what it adds to, and a. */
static void take_product(const struct lowered *l, const struct lop *p, struct unfenced *u)
{
    const struct mma *f = &l->mma[p->product];
    u32 n = p->ndst + f->nc + (f->a_shared ? 0u : f->na);
    for (u32 d = 0; d < n; d++)
        if (p->opnd[d].kind == O_REG && u->number[p->opnd[d].reg]) {
            u32 k = u->number[p->opnd[d].reg] - 1;
            u->now[k / 64] |= 1ull << k % 64;
        }
}

/* The set before an operation, from the one after it; true: the operation writes one of these registers.
 * Compilers place moves where they like, and ptxas knows them. */
static bool step_back(const struct lowered *l, const struct lop *o, struct unfenced *u)
{
    bool writes = false;
    if (o->dead) return false;
    if (lop_is_wgmma(o)) {
        take_product(l, o, u);
        return false;
    }
    if (lop_orders_wgmma(o, WGMMA_FENCE)) {
        memset(u->now, 0, u->words * sizeof *u->now);
        return false;
    }
    bool moves = o->kind == K_LANE && o->shape == SHAPE_MOVE, always = o->guard.kind == O_NONE;
    EACH_DEF (r, o) {
        u32 k = u->number[r];
        if (!k-- || !is_in(u->now, k)) continue;
        writes |= !moves;
        if (always) u->now[k / 64] &= ~(1ull << k % 64);
    }
    return writes;
}

/* The set at the end of a block. */
static void at_end(const struct lowered *l, u32 b, struct unfenced *u)
{
    memset(u->now, 0, u->words * sizeof *u->now);
    for (u32 j = 0; j < l->block[b].nsucc; j++)
        for (u32 k = 0; k < u->words; k++) u->now[k] |= u->reached[l->block[b].succ[j] * u->words + k];
}

/* Marks the operations that write a register which a product has, with no fence on some way from one to the other. */
static void unfenced_find(struct lowered *l, struct arena *tmp)
{
    struct unfenced u = { .number = NEW_ARRAY(tmp, u32, l->nreg + 1) };
    u32 n = 0;
    for (u32 k = 0; k < l->nop; k++) {
        if (!lop_is_wgmma(&l->op[k])) continue;
        EACH_DEF (r, &l->op[k]) {
            if (!u.number[r]) u.number[r] = ++n;
        }
        EACH_USE (r, &l->op[k]) {
            if (!u.number[r]) u.number[r] = ++n;
        }
    }
    u.words = n / 64 + 1;
    u.reached = NEW_ARRAY(tmp, u64, (size_t)u.words * (l->nblock + 1));
    u.now = NEW_ARRAY(tmp, u64, u.words);
    struct worklist due = worklist_new(l->nblock, tmp);
    for (u32 b = l->nblock; b-- > 0;) worklist_add(&due, b);
    for (u32 b; worklist_take(&due, &b);) {
        const struct block *at = &l->block[b];
        at_end(l, b, &u);
        for (u32 k = at->end; k-- > at->first;) step_back(l, &l->op[k], &u);
        if (!memcmp(&u.reached[(size_t)b * u.words], u.now, u.words * sizeof *u.now)) continue;
        memcpy(&u.reached[(size_t)b * u.words], u.now, u.words * sizeof *u.now);
        for (u32 j = 0; j < at->npred; j++) worklist_add(&due, at->pred[j]);
    }
    for (u32 b = 0; b < l->nblock; b++) {
        at_end(l, b, &u);
        for (u32 k = l->block[b].end; k-- > l->block[b].first;)
            if (step_back(l, &l->op[k], &u)) l->in_flight[k] |= WRITES_UNFENCED;
    }
}

/* Stores and atomics that may be to shared memory. */
static void stores_find(struct lowered *l)
{
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        bool stores = o->kind == K_MEM && (o->flags & (ISA_COPY | ISA_WRITES)) == ISA_WRITES;
        u32 space = stores ? l->site[o->site].space : SP_GLOBAL;
        if (space == SP_SHARED || space == SP_GENERIC) l->in_flight[k] |= STORES_FOR_ASYNC;
    }
}

void in_flight_find(struct lowered *l)
{
    struct arena tmp = { 0 };
    bool any = false;
    l->in_flight = NEW_ARRAY(&l->mem, u8, l->nop + 1);
    for (u32 b = 0; b < l->nblock; b++)
        for (u32 k = l->block[b].first; k < l->block[b].end; k++) any |= lop_is_wgmma(&l->op[k]);
    if (any) touches_find(l, &tmp);
    if (any) unfenced_find(l, &tmp);
    for (u32 k = 0; k < l->nsite; k++)
        any |= l->site[k].flags & SITE_BULK && site_is_load(&l->site[k]) && l->site[k].space == SP_SHARED;
    for (u32 k = 0; k < l->nop; k++) /* tcgen05: its descriptors lead to shared memory */
        any |= (l->op[k].flags & (ISA_COPY | ISA_READS)) == (ISA_COPY | ISA_READS);
    if (any) stores_find(l);
    arena_free(&tmp);
}
