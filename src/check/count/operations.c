/* What an instruction computes, by its opcode: mul and add stay one operation each where the engine fuses them. */
#include "count/operations.h"
#include "code/mma.h"

const char *const operation_name[OPS_TYPES] = {
#define X(id, name) [OPS_##id] = name,
    OPERATION_TYPES(X)
#undef X
};

static u32 per_element(struct str base)
{
    static const char *const twice[] = { "fma", "mad", "mad24", "madc", "dp4a", "dp2a" };
    static const char *const once[] = { "add", "sub", "mul", "div",  "rem",   "rcp",  "sqrt", "rsqrt", "sin",
                                        "cos", "lg2", "ex2", "tanh", "mul24", "addc", "subc", "sad" };
    for (u32 k = 0; k < COUNT_OF(twice); k++)
        if (str_is(base, twice[k])) return 2;
    for (u32 k = 0; k < COUNT_OF(once); k++)
        if (str_is(base, once[k])) return 1;
    return 0;
}

/* The type of the operands, which is the last word of the opcode that is one. */
static enum ptx_type type_of(const struct ptx_opcode *op)
{
    for (u32 k = op->nmod; k-- > 0;) {
        enum ptx_type t = type_find(op->mod[k]);
        if (t != T_NONE) return t;
    }
    return T_NONE;
}

static bool unit_of(enum ptx_type t, enum operation_type *unit, u32 *elements)
{
    *elements = 1;
    switch (t) {
    case T_F64: *unit = OPS_F64; return true;
    case T_F32: *unit = OPS_F32; return true;
    case T_F32X2:
        *unit = OPS_F32;
        *elements = 2;
        return true;
    case T_F16:
    case T_BF16: *unit = OPS_F16; return true;
    case T_F16X2:
    case T_BF16X2:
        *unit = OPS_F16;
        *elements = 2;
        return true;
    case T_U16X2:
    case T_S16X2:
        *unit = OPS_INT;
        *elements = 2;
        return true;
    default: *unit = OPS_INT; return (t >= T_U8 && t <= T_S64) || (t >= T_B8 && t <= T_B64);
    }
}

enum operation_type operation_of_tensor(enum tensor_type t)
{
    switch (t) {
    case TENSOR_F64: return OPS_T_F64;
    case TENSOR_TF32:
    case TENSOR_F32: return OPS_T_TF32;
    case TENSOR_F16:
    case TENSOR_BF16: return OPS_T_F16;
    case TENSOR_E2M1:
    case TENSOR_E2M1_PACKED: return OPS_T_F4;
    case TENSOR_S8:
    case TENSOR_U8:
    case TENSOR_S4:
    case TENSOR_U4: return OPS_T_I8;
    case TENSOR_B1: return OPS_T_B1;
    default: return OPS_T_F8;
    }
}

static struct operations product(const struct mma *f)
{
    u32 products = f->layout == MMA_QUAD_PAIR ? 4 : 1;
    return (struct operations){ operation_of_tensor(f->a), 2u * f->m * f->n * f->k * products, true };
}

struct operations operations_of(const struct lowered *l, const struct lop *o)
{
    struct operations none = { 0 };
    if (o->dead || !o->src || !o->src->op) return none;
    const struct ptx_opcode *op = o->src->op;
    bool matrix = str_is(op->base, "mma") || str_is(op->base, "wgmma") || str_is(op->base, "wmma");
    if (matrix) return o->flags & ISA_MMA ? product(&l->mma[o->aux]) : none;
    if (o->kind != K_LANE) return none;
    u32 each = per_element(op->base), elements;
    enum operation_type unit;
    if (!each || !unit_of(type_of(op), &unit, &elements)) return none;
    return (struct operations){ unit, each * elements, false };
}
