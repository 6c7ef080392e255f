/* Speculated loads (rules.md R8): compilers load both sides of a selection and then choose. All that such a load
 * gives is taken by selections as one of their two values, so what is wrong with it counts only for the lanes that
 * pick it. */
#include "code/analyses.h"
#include "code/lower.h"

enum { AS_SIDE = 1, OTHERWISE = 2 };

/* How the value of each register is used: as a side of a selection, in other ways. */
static u8 *uses_of(const struct lowered *l, struct arena *a)
{
    u8 *use = NEW_ARRAY(a, u8, l->nreg + 1);
    u32 r[16];
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        if (o->dead) continue;
        bool selects = o->kind == K_LANE && o->shape == SHAPE_SELECT;
        u32 n = lop_uses(o, l, r);
        for (u32 j = 0; j < n; j++) {
            bool side = selects && !(o->guard.kind == O_REG && o->guard.reg == r[j]) &&
                        !(o->c.kind == O_REG && o->c.reg == r[j]);
            use[r[j]] |= side ? AS_SIDE : OTHERWISE;
        }
    }
    return use;
}

/* Plain loads of memory that others may write, into registers that nothing else writes: an observer can wait for the
 * selection. */
static void mark_deferred(struct lowered *l, u32 op, const u32 *r, u32 n, u8 *deferred)
{
    struct site *s = &l->site[l->op[op].site];
    if (s->sem != SEM_WEAK || (s->space != SP_SHARED && s->space != SP_GLOBAL && s->space != SP_GENERIC)) return;
    for (u32 j = 0; j < n; j++)
        if (l->ndef[r[j]] != 1) return;
    for (u32 j = 0; j < n; j++) deferred[r[j]] = 1;
    s->flags |= SITE_SPECULATED;
}

void speculated_find(struct lowered *l)
{
    struct arena tmp = { 0 };
    const u8 *use = uses_of(l, &tmp);
    u8 *deferred = NEW_ARRAY(&tmp, u8, l->nreg + 1);
    u32 r[16];
    l->speculated = NEW_ARRAY(&l->mem, u8, l->nop + 1);
    for (u32 k = 0; k < l->nop; k++) {
        if (l->op[k].kind != K_MEM || !lop_is_load(&l->op[k])) continue;
        u32 n = lop_defs(&l->op[k], l, r), all = 0;
        for (u32 j = 0; j < n; j++) all |= use[r[j]];
        l->speculated[k] = n && !(all & OTHERWISE);
        if (l->speculated[k] && all) mark_deferred(l, k, r, n, deferred);
    }
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        if (o->kind == K_LANE && o->shape == SHAPE_SELECT)
            l->speculated[k] = (o->a.kind == O_REG && deferred[o->a.reg]) || (o->b.kind == O_REG && deferred[o->b.reg]);
    }
    arena_free(&tmp);
}
