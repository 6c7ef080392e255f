/* Infinities and NaNs among the constants of a function: what it stores of them it means (rules.md V1). */
#include "flow/analyses.h"

/* One element of 16 bits, or two of them, that is this but for the sign. */
static bool is_half(u64 v, u64 bits)
{
    return (v & 0x7fff) == bits && (v <= 0xffff || (v <= 0xffffffff && (v >> 16 & 0x7fff) == bits));
}

/* Infinities of f32, f64, and of two or one elements of f16 or bf16. */
static bool has_infinity(const struct lowered *l)
{
    for (u32 k = 0; k < l->nop; k++)
        for (u32 j = 0; j < l->op[k].nsrc; j++) {
            const struct opnd *o = lop_src(&l->op[k], j);
            u64 v = o->kind == O_CONST ? o->value : 0;
            if ((u32)v == 0x7f800000 || (u32)v == 0xff800000 || v << 1 == (u64)0x7ff << 53 || is_half(v, 0x7c00) ||
                is_half(v, 0x7f80))
                return true;
        }
    return false;
}

static bool has_nan(const struct lowered *l)
{
    for (u32 k = 0; k < l->nop; k++)
        for (u32 j = 0; j < l->op[k].nsrc; j++) {
            const struct opnd *o = lop_src(&l->op[k], j);
            u64 v = o->kind == O_CONST ? o->value : 0;
            /* of 16 bits it is also the largest integer and the mask of a sign: as a value that goes on only */
            bool value = l->op[k].shape == SHAPE_MOVE || l->op[k].shape == SHAPE_SELECT || l->op[k].kind == K_MEM;
            if (v == 0x7fffffff || v == 0x7fc00000 || v << 1 == (u64)0xfff << 52 || v == ~(u64)0 >> 1 ||
                (value && (v == 0x7fff || v == 0x7fff7fff)))
                return true;
        }
    return false;
}

void odd_constants_find(struct lowered *l)
{
    l->has_infinity = has_infinity(l);
    l->has_nan = has_nan(l);
}
