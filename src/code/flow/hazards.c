/* Operands that make an operation meaningless: a divisor of zero, a shift by more than the width, f16 numbers whose sum
 * or product is larger than any f16 (rules.md V); rows of a wmma.load from shared memory that ldmatrix cannot load.
 *
 * A GPU goes on in all cases, with a value that C does not define, or with an infinity. The operands are looked at just
 * before the operation, in the lanes that execute it. A shift that some selection takes as one of its sides, or what is
 * computed from it, is left alone: compilers shift first and then choose. Of f16 only what a selection takes itself is:
 * divisions and roots end with one. */
#include "flow/analyses.h"

static bool is_half_sum(const struct lop *o)
{
    u32 type = o->form < 0 ? T_B32 : (u32)isa_forms[o->form].type;
    return (type == T_F16 || type == T_F16X2) &&
           (o->shape == SHAPE_FADD || o->shape == SHAPE_FSUB || o->shape == SHAPE_FMUL || o->shape == SHAPE_FMA);
}

static bool may_be_zero(const struct lop *o) { return lop_src(o, 1)->kind != O_CONST || !lop_src(o, 1)->value; }

void hazards_find(struct lowered *l)
{
    struct arena tmp = { 0 };
    enum { TAKEN = 1, ON_ITS_WAY };
    u8 *side = NEW_ARRAY(&tmp, u8, l->nreg + 1); /* a selection takes it, or what is computed from it */
    l->hazard = NEW_ARRAY(&l->mem, u8, l->nop + 1);
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        if (o->kind != K_LANE || o->shape != SHAPE_SELECT) continue;
        for (u32 j = 0; j < 2; j++)
            if (lop_src(o, j)->kind == O_REG) side[lop_src(o, j)->reg] = TAKEN;
    }
    for (u32 k = l->nop; k-- > 0;) { /* (1 << n) - 1 on its way to a selection */
        const struct lop *o = &l->op[k];
        const struct opnd *d = lop_dst(o, 0);
        if (o->kind != K_LANE || o->dead || d->kind != O_REG || !side[d->reg] || o->shape == SHAPE_SELECT) continue;
        for (u32 j = 0; j < o->nsrc; j++)
            if (lop_src(o, j)->kind == O_REG && !side[lop_src(o, j)->reg]) side[lop_src(o, j)->reg] = ON_ITS_WAY;
    }
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        const struct opnd *d = lop_dst(o, 0);
        if (o->kind == K_MEM && o->flags & ISA_ACCESS &&
            l->site[o->site].flags & (SITE_MATRIX_ROWS | SITE_MATRIX_COLUMNS))
            l->hazard[k] = l->site[o->site].space == SP_SHARED;
        if (o->kind != K_LANE || d->kind != O_REG) continue;
        bool division = o->shape == SHAPE_DIV || o->shape == SHAPE_REM,
             shift = o->shape == SHAPE_SHL || o->shape == SHAPE_SHR;
        l->hazard[k] = (division && may_be_zero(o)) || (shift && lop_src(o, 1)->kind != O_CONST && !side[d->reg]) ||
                       (is_half_sum(o) && side[d->reg] != TAKEN);
    }
    arena_free(&tmp);
}
