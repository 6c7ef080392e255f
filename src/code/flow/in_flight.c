/* Registers of wgmma (9.7.15.7): which operations may touch one while a product has it, and which products lack the
 * fence after a write of their registers. And which stores may be read by the async proxy (check/proxy.c).
 *
 * An accumulator, and a register of a, belongs to the product from its issue to the wait that covers it. Whether it
 * does at an operation is known when the operation runs (check/wgmma_check.c); here are those that have to look: the
 * ones that can be reached from a product without a wait for all groups in between. */
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

/* The operation that writes a register of the product k, with no fence and no way around it between the two; 0: none,
 * else its number + 1. */
static u32 unfenced(const struct lowered *l, u32 k, u32 block)
{
    const struct lop *p = &l->op[k];
    const struct mma *f = &l->mma[p->product];
    for (u32 hops = 0; hops < l->nblock && !stop_asked(); hops++) {
        const struct block *b = &l->block[block];
        for (u32 j = MIN_OF(k, b->end); j-- > b->first;) {
            const struct lop *o = &l->op[j];
            /* compilers place moves where they like, and ptxas knows them */
            if (o->dead || lop_is_wgmma(o) || (o->kind == K_LANE && o->shape == SHAPE_MOVE)) continue;
            if (lop_orders_wgmma(o, WGMMA_FENCE)) return 0;
            EACH_DEF (r, o) {
                for (u32 d = 0; d < p->ndst + f->nc + (f->a_shared ? 0u : f->na); d++)
                    if (p->opnd[d].kind == O_REG && p->opnd[d].reg == r) return j + 1;
            }
        }
        if (b->npred != 1 || b->pred[0] >= block) return 0;
        block = b->pred[0];
        k = NONE;
    }
    return 0;
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
        for (u32 k = l->block[b].first; k < l->block[b].end; k++) {
            if (!lop_is_wgmma(&l->op[k])) continue;
            any = true;
            l->op[k].off = unfenced(l, k, b);
        }
    if (any) touches_find(l, &tmp);
    for (u32 k = 0; k < l->nsite; k++)
        any |= l->site[k].flags & SITE_BULK && site_is_load(&l->site[k]) && l->site[k].space == SP_SHARED;
    for (u32 k = 0; k < l->nop; k++) /* tcgen05: its descriptors lead to shared memory */
        any |= (l->op[k].flags & (ISA_COPY | ISA_READS)) == (ISA_COPY | ISA_READS);
    if (any) stores_find(l);
    arena_free(&tmp);
}
