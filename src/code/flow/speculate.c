/* Speculated loads (rules.md R8): compilers load both sides of a selection and then choose. All that such a load
 * gives is taken by selections as one of their two values, so what is wrong with it counts only for the lanes that
 * pick it.
 *
 * Surplus elements (rules.md B7): compilers load four elements where three are read, since they know that the address
 * is aligned. What nobody reads may lie past the end. */
#include "flow/analyses.h"

enum { AS_SIDE = 1, OTHERWISE = 2 };

/* How the value of each register is used: as a side of a selection, in other ways. */
static u8 *uses_of(const struct lowered *l, struct arena *a)
{
    u8 *use = NEW_ARRAY(a, u8, l->nreg + 1);
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        bool selects = o->kind == K_LANE && o->shape == SHAPE_SELECT;
        EACH_USE (r, o) {
            bool side = selects && !(o->guard.kind == O_REG && o->guard.reg == r) &&
                        !(lop_src(o, 2)->kind == O_REG && lop_src(o, 2)->reg == r);
            use[r] |= side ? AS_SIDE : OTHERWISE;
        }
    }
    return use;
}

/* Plain loads of memory that others may write, into registers that nothing else writes: an observer can wait for the
 * selection. */
static void mark_deferred(struct lowered *l, u32 op, u8 *deferred)
{
    struct site *s = &l->site[l->op[op].site];
    if (s->sem != SEM_WEAK || (s->space != SP_SHARED && s->space != SP_GLOBAL && s->space != SP_GENERIC)) return;
    EACH_DEF (r, &l->op[op]) {
        if (l->ndef[r] != 1) return;
    }
    EACH_DEF (r, &l->op[op]) deferred[r] = 1;
    s->flags |= SITE_SPECULATED;
}

/* Bytes of the last elements of a vector load into registers that nothing reads; those of the first element do not
 * count.
 */
static u8 surplus_of(const struct lop *o, const struct site *s, const u8 *use)
{
    u32 n = s->vec;
    while (n > 1 && (lop_dst(o, n - 1)->kind != O_REG || !use[lop_dst(o, n - 1)->reg])) n--;
    return (u8)((s->vec - n) * s->width);
}

void speculated_find(struct lowered *l)
{
    struct arena tmp = { 0 };
    const u8 *use = uses_of(l, &tmp);
    u8 *deferred = NEW_ARRAY(&tmp, u8, l->nreg + 1);
    l->speculated = NEW_ARRAY(&l->mem, u8, l->nop + 1);
    for (u32 k = 0; k < l->nop; k++) {
        if (l->op[k].kind != K_MEM || !lop_is_load(&l->op[k])) continue;
        u32 n = 0, all = 0;
        struct site *s = &l->site[l->op[k].site];
        if (s->sem == SEM_WEAK && s->vec > 1) s->surplus = surplus_of(&l->op[k], s, use);
        EACH_DEF (r, &l->op[k]) {
            n++;
            all |= use[r];
        }
        l->speculated[k] = n && !(all & OTHERWISE);
        if (l->speculated[k] && all) mark_deferred(l, k, deferred);
    }
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        const struct opnd *a = lop_src(o, 0), *b = lop_src(o, 1);
        if (o->kind == K_LANE && o->shape == SHAPE_SELECT)
            l->speculated[k] = (a->kind == O_REG && deferred[a->reg]) || (b->kind == O_REG && deferred[b->reg]);
    }
    arena_free(&tmp);
}
