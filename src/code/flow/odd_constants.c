/* Infinities and NaNs among the constants of a function: what it stores of them it means (rules.md V1). And as what its
 * stores are looked at for them. */
#include "flow/analyses.h"
#include "mem/mem.h"

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

/* As what a store of global memory is not looked at (lanes/stored.h): elements of 4 bytes are, as f32, and of 8, as
 * f64.
 */
static u8 site_unseen(const struct lowered *l, const struct site *s)
{
    if (!(s->access & ISA_WRITES) || s->space == SP_SHARED || s->space == SP_LOCAL || s->space == SP_CALL) return 0;
    if (!site_is_store(s) || !(l->op[s->op].flags & ISA_ACCESS)) return MEM_AS_FLOATS;
    return MEM_AS_FLOATS & (s->width == 4 ? ~MEM_AS_F32 : s->width == 8 ? ~MEM_AS_F64 : ~0);
}

/* Whether an operation that is no access of its lanes may write global memory: copies and tensor maps. */
static bool writes_otherwise(const struct lop *o)
{
    return o->kind != K_LANE && o->flags & ISA_WRITES && !(o->flags & (ISA_ACCESS | ISA_MATRIX));
}

static u8 stores_unseen(const struct lowered *l)
{
    u8 as = 0;
    for (u32 k = 0; k < l->nsite; k++) as |= site_unseen(l, &l->site[k]);
    for (u32 k = 0; k < l->nop; k++)
        if (writes_otherwise(&l->op[k])) as = MEM_AS_FLOATS;
    return as;
}

void odd_constants_find(struct lowered *l)
{
    l->unseen = stores_unseen(l);
    l->has_infinity = has_infinity(l);
    l->has_nan = has_nan(l);
}
