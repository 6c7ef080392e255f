/* Which loads are speculated (RULES.md R8): compilers load both sides of a selection and then choose. All that such a load gives is
 * taken by selections as one of their two values, so what is wrong with it counts only for the lanes that pick it. */
#include "sim/lower.h"

/* Registers whose value is used in some other way than as a side of a selection. */
static u8 *used_otherwise(const struct lowered *l, struct arena *a)
{
    u8 *other = NEW_ARRAY(a, u8, l->nreg + 1);
    u32 r[16];
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        if (o->kind == KX_DEAD) continue;
        bool selects = o->kind == K_LANE && o->name == N_selp;
        u32 n = lop_uses(o, l, r);
        for (u32 j = 0; j < n; j++) {
            bool side = selects && !(o->guard.kind == O_REG && o->guard.reg == r[j]) && !(o->c.kind == O_REG && o->c.reg == r[j]);
            if (!side) other[r[j]] = 1;
        }
    }
    return other;
}

void speculated_find(struct lowered *l)
{
    struct arena tmp = { 0 };
    const u8 *other = used_otherwise(l, &tmp);
    u32 r[16];
    l->speculated = NEW_ARRAY(&l->mem, u8, l->nop + 1);
    for (u32 k = 0; k < l->nop; k++) {
        if (l->op[k].kind != K_MEM || l->op[k].name != N_ld) continue;
        u32 n = lop_defs(&l->op[k], l, r), bad = 0;
        for (u32 j = 0; j < n; j++) bad |= other[r[j]];
        l->speculated[k] = n && !bad;
    }
    arena_free(&tmp);
}
