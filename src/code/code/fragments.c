/* Types of elements of small matrices, and where these lie in the registers of a warp (9.7.14.5). */
#include "code/mma.h"

static const struct {
    const char *name;
    u8 bits;
} types[TENSOR_TYPES] = {
    [TENSOR_F16] = { "f16", 16 },  [TENSOR_BF16] = { "bf16", 16 },   [TENSOR_TF32] = { "tf32", 32 },
    [TENSOR_E4M3] = { "e4m3", 8 }, [TENSOR_E5M2] = { "e5m2", 8 },    [TENSOR_F32] = { "f32", 32 },
    [TENSOR_F64] = { "f64", 64 },  [TENSOR_S8] = { "s8", 8 },        [TENSOR_U8] = { "u8", 8 },
    [TENSOR_S4] = { "s4", 4 },     [TENSOR_U4] = { "u4", 4 },        [TENSOR_B1] = { "b1", 1 },
    [TENSOR_S32] = { "s32", 32 },  [TENSOR_E2M3] = { "e2m3", 8 },    [TENSOR_E3M2] = { "e3m2", 8 },
    [TENSOR_E2M1] = { "e2m1", 8 }, [TENSOR_E2M1_PACKED] = { "", 4 },
};

u32 tensor_bits(enum tensor_type t) { return types[t].bits; }

u32 tensor_sign(enum tensor_type t)
{
    return t == TENSOR_E2M3 || t == TENSOR_E3M2 || t == TENSOR_E2M1 ? 32 : 1u << (types[t].bits - 1);
}

int tensor_type_find(struct str s)
{
    for (u32 k = 0; k < TENSOR_TYPES; k++)
        if (str_is(s, types[k].name)) return (int)k;
    return -1;
}

u32 mma_each(enum tensor_type t)
{
    u32 bits = tensor_bits(t);
    return bits >= 32 || t == TENSOR_B1 ? 1 : 32 / bits;
}

/* m8n8k4 on f16: element i of the lane's part of a or b; turned: a by columns, b by rows. */
static struct mma_place pair_operand(u32 lane, u32 i, bool turned)
{
    u32 own = lane % 4, high = lane < 16 ? 0 : 4, row = turned ? i : own, col = turned ? own : i;
    return (struct mma_place){ .row = (u8)(row + high), .col = (u8)col, .part = (u8)(lane / 4 % 4) };
}

/* And of c or d, which lie apart as f16 and f32. */
static struct mma_place pair_sum(u32 lane, u32 i, bool half)
{
    u32 high = lane < 16 ? 0 : 4, row = half ? lane % 4 : (lane & 1) + (i & 2),
        col = half ? i : (i & 4) + (lane & 2) + (i & 1);
    return (struct mma_place){ .row = (u8)(row + high), .col = (u8)col, .part = (u8)(lane / 4 % 4) };
}

/* Lane l belongs to row l / 4 of a block of 8 rows of a or c, or to column l / 4 of b. Of a and b it holds in each
 * register as many neighbours as fit into 32 bits, of c two. The next register of a or c goes on 8 rows below, and then
 * in the next columns; that of b goes on along k. The f16 operands of wmma have twice the registers that they need: the
 * second half repeats the first. */
struct mma_place mma_place(const struct mma *f, enum mma_operand which, u32 lane, u32 reg, u32 e)
{
    enum tensor_type t = (enum tensor_type[]){ f->a, f->b, f->c, f->d }[which];
    u32 each = mma_each(t), across = f->k / (t == TENSOR_B1 ? 32u : 1u) / (which == OPERAND_A && f->sparse ? 2u : 1u);
    if (f->layout == MMA_QUAD_PAIR && which < OPERAND_C)
        return pair_operand(lane, reg * each + e, which == OPERAND_A ? f->a_cols : f->b_rows);
    if (f->layout == MMA_QUAD_PAIR) return pair_sum(lane, reg * each + e, t == TENSOR_F16);
    u32 blocks = across / (4 * each), down = f->m / 8u; /* along k; along m */
    u32 row = 0, col = 0;
    switch (which) {
    case OPERAND_A:
        reg %= down * blocks;
        row = reg % down;
        col = reg / down * 4 * each + lane % 4 * each + e;
        break;
    case OPERAND_B:
        reg %= f->n / 8u * blocks;
        row = reg / blocks;
        col = reg % blocks * 4 * each + lane % 4 * each + e;
        break;
    default: {
        u32 block = (reg * each + e) / 2;
        row = block % down;
        col = block / down * 8 + lane % 4 * 2 + (reg * each + e) % 2;
    }
    }
    return (struct mma_place){ .row = (u8)(row * 8 + lane / 4), .col = (u8)col };
}
