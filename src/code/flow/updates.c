/* Updates in code (updates.h). */
#include "flow/updates.h"

/* A plain access: weak, or volatile. */
static bool is_data(const struct site *z) { return z->sem == SEM_WEAK || z->sem == SEM_VOLATILE; }

bool op_loads(const struct lowered *l, u32 op)
{
    const struct site *z = site_at(l, op);
    return z && site_is_load(z) && is_data(z);
}
bool op_stores(const struct lowered *l, u32 op)
{
    const struct site *z = site_at(l, op);
    return z && site_is_store(z) && is_data(z);
}

static bool same_operand(const struct opnd *a, const struct opnd *b)
{
    return a->kind == b->kind && a->reg == b->reg && a->value == b->value && a->comp == b->comp;
}

/* Both operations, of one function, access the same address by the same operand. */
bool ops_same_address(const struct lowered *l, u32 a, u32 b)
{
    const struct lop *p = &l->op[a], *q = &l->op[b];
    const struct site *s = site_at(l, a), *t = site_at(l, b);
    if (!s || !t || s->space != t->space || s->width != t->width || s->vec != 1 || t->vec != 1) return false;
    const struct opnd *at = lop_src(p, SRC_ADDRESS);
    return same_operand(at, lop_src(q, SRC_ADDRESS)) && p->off == q->off &&
           (at->kind != O_REG || l->ndef[at->reg] == 1);
}

/* The value stored at `to`, or, where `decides` is set, whether `to` is reached, depends on the value loaded at `from`.
 * Follows definitions backwards through the operations between the two. */
static bool store_depends_on(const struct lowered *l, u32 from, u32 to, bool decides)
{
    u64 *want = base_alloc(8 * (l->words + 1));
    const struct opnd *data = lop_src(&l->op[to], SRC_DATA);
    bool hit = false;
    if (!want) return false;
    if (data->kind == O_REG) want[data->reg >> 6] |= 1ull << (data->reg & 63);
    for (u32 k = to; k-- > from && !hit;) {
        const struct lop *o = &l->op[k];
        bool wanted = decides && o->kind == K_CTRL && o->guard.kind == O_REG;
        EACH_DEF (r, o) wanted |= want[r >> 6] >> (r & 63) & 1;
        if (!wanted) continue;
        hit = k == from;
        EACH_USE (r, o) want[r >> 6] |= 1ull << (r & 63);
    }
    base_free(want);
    return hit;
}

/* An operation that may synchronise lies between the two, so they are no simple update. */
bool ops_may_synchronise(const struct lowered *l, u32 from, u32 to)
{
    for (u32 k = from + 1; k < to; k++) {
        const struct site *s = site_at(l, k);
        if (l->op[k].kind == K_WARP || l->op[k].flags & ISA_FENCE || (s && site_is_atomic(s))) return true;
    }
    for (u32 b = 0; b < l->nblock; b++)
        if (l->block[b].end > from && l->block[b].end <= to &&
            (l->block[b].wait == WAIT_barrier || l->block[b].term == TERM_WARP || l->block[b].term == TERM_CALL))
            return true;
    return false;
}

u32 update_load(const struct lowered *l, u32 store)
{
    enum { FAR = 64 };
    if (!op_stores(l, store) || l->site[l->op[store].site].vec != 1) return NONE;
    for (u32 k = store, n = 0; k-- > 0 && n < FAR; n++)
        if (op_loads(l, k) && ops_same_address(l, k, store) && store_depends_on(l, k, store, true))
            return ops_may_synchronise(l, k, store) ? NONE : k;
    return NONE;
}

bool update_is_computed(const struct lowered *l, u32 load, u32 store)
{
    return store_depends_on(l, load, store, false);
}

u8 *update_loads(const struct lowered *l)
{
    u8 *is = base_need(l->nop + 1);
    for (u32 k = 0; k < l->nop; k++) {
        u32 load = l->op[k].dead ? NONE : update_load(l, k);
        if (load != NONE) is[load] = 1;
    }
    return is;
}
