/* Lowering of createpolicy (9.7.9.16): its result becomes ordinary arithmetic on the operands, the one that ptxas 13
 * puts in its place for sm_80 to sm_100. The manual calls the bits opaque, yet programs print them and compare them
 * with constants. tests/facts/createpolicy.cu prints those of a card.
 *
 *   bits 59, 60   2 a fraction of all lines, 3 a range
 *   bits 57, 58   what becomes of the lines that are chosen: primary
 *   bit 56        what becomes of the others: 0 as they are, 1 evicted first
 *   bits 52..55   fraction: how many sixteenths less one; range: log2 of the block's bytes, less 12
 *   bits 44..50   range: number of the first block, modulo 128
 *   bits 37..43   range: how many blocks, at most 127 */
#include "lower/lower.h"
#include <math.h>

static const struct opnd no_opnd;

static struct opnd made(struct lower *w, int form, enum ptx_type t, struct opnd a, struct opnd b)
{
    struct opnd r = lower_temp(w, t);
    lower_emit(w, form, r, a, b, no_opnd)->guard = no_opnd;
    return r;
}

static struct opnd two(struct lower *w, enum isa_name name, enum ptx_type t, struct opnd a, struct opnd b)
{
    return made(w, isa_form(name, t, t, 0), t, a, b);
}

static struct opnd converted(struct lower *w, enum isa_name name, enum ptx_type from, enum ptx_type to, struct opnd a)
{
    return made(w, isa_form(name, from, to, 0), to, a, no_opnd);
}

/* x | (u64)(field & mask) << at, of a 64-bit field */
static struct opnd with(struct lower *w, struct opnd x, struct opnd field, u64 mask, u32 at)
{
    struct opnd f = two(w, N_and, T_B64, field, lower_const(mask));
    return two(w, N_or, T_B64, x, two(w, N_shl, T_B64, f, lower_const(at)));
}

/* What the opcode says of the lines, in bits 56 to 58: its first priority, and the second where there is one. */
static u64 priorities(const struct ptx_insn *i)
{
    static const struct {
        const char *word;
        u64 primary, secondary;
    } of[] = {
        { "L2::evict_unchanged", 0, 0 },
        { "L2::evict_first", 1, 1 },
        { "L2::evict_last", 2, 0 },
        { "L2::evict_normal", 3, 0 },
    };
    u64 bits = 0;
    u32 seen = 0;
    for (u32 k = 0; k < i->op->nmod; k++)
        for (u32 j = 0; j < COUNT_OF(of); j++)
            if (str_is(i->op->mod[k], of[j].word)) bits |= seen++ ? of[j].secondary << 56 : of[j].primary << 57;
    return bits;
}

/* createpolicy.fractional d{, fraction}: trunc(fraction * 15.99), and 15 without one */
static struct opnd fractional(struct lower *w, u64 base)
{
    enum { F32_15_99 = 0x417fd70a };
    const struct ptx_insn *i = w->cur;
    if (i->narg < 2) return lower_const(base | (u64)15 << 52);
    struct opnd f = two(w, N_fmul, T_F32, lower_operand(w, &i->arg[1], T_F32), lower_const(F32_15_99));
    struct opnd n = converted(w, N_cvt, T_U32, T_U64, converted(w, N_cvt_rzi, T_F32, T_U32, f));
    return with(w, lower_const(base), n, 15, 52);
}

/* log2 of a total, rounded up. At run time it is the approximate one, which takes a total just above a large power of
 * two for that power; of a constant ptxas computes it, rounded to f32. */
static struct opnd log_of(struct lower *w, struct opnd total)
{
    if (total.kind == O_CONST) {
        u32 n = (u32)total.value;
        return lower_const(n ? (u64)ceilf((float)log2((double)(float)n)) : 0);
    }
    struct opnd log = two(w, N_lg2_approx, T_F32, converted(w, N_cvt_fi, T_U32, T_F32, total), no_opnd);
    return converted(w, N_cvt_rpi, T_F32, T_U32, log);
}

/* createpolicy.range d, [at], primary, total: blocks of 2^size bytes, of which 128 cover the total, 4096 bytes at the
 * least. */
static struct opnd range(struct lower *w, u64 base)
{
    const struct ptx_insn *i = w->cur;
    u32 width;
    struct opnd at = lower_whole_address(w, &i->arg[1], &width), primary = lower_operand(w, &i->arg[2], T_U32),
                total = lower_operand(w, &i->arg[3], T_U32);
    if (width == 4) at = converted(w, N_cvt, T_U32, T_U64, at);
    struct opnd size = two(w, N_sub, T_S32, log_of(w, total), lower_const(7));
    size = two(w, N_max, T_S32, size, lower_const(12));
    struct opnd block = two(w, N_shl, T_B32, lower_const(1), size);
    struct opnd bytes = two(w, N_sub, T_U32, two(w, N_add, T_U32, primary, block), lower_const(1));
    struct opnd first = two(w, N_shr, T_U64, at, size);
    struct opnd end = two(w, N_shr, T_U64, two(w, N_add, T_U64, at, converted(w, N_cvt, T_U32, T_U64, bytes)), size);
    struct opnd count = two(w, N_min, T_U64, two(w, N_sub, T_U64, end, first), lower_const(127));
    struct opnd code = converted(w, N_cvt, T_U32, T_U64, two(w, N_sub, T_U32, size, lower_const(12)));
    struct opnd x = with(w, with(w, with(w, lower_const(base), code, 15, 52), first, 127, 44), count, 127, 37);
    /* a total of 0 bytes is a policy that chooses nothing */
    struct opnd some = made(w, isa_form(N_setp_ne, T_U32, T_U32, 0), T_PRED, total, lower_const(0)),
                r = lower_temp(w, T_B64);
    lower_emit(w, isa_form(N_selp, T_B64, T_B64, 0), r, x, lower_const((u64)3 << 59), some)->guard = no_opnd;
    return r;
}

void lower_policy(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    bool cvt = lower_has_mod(i, "cvt"), ranged = lower_has_mod(i, "range");
    (void)form;
    if (i->narg < (ranged ? 4u : cvt ? 2u : 1u) || i->arg[0].kind != OP_REG || lower_width(w, &i->arg[0]) != 8) {
        lower_unsupported(w);
        return;
    }
    u64 base = (u64)(ranged ? 3 : 2) << 59 | priorities(i);
    struct opnd d = cvt ? lower_operand(w, &i->arg[1], T_B64) : ranged ? range(w, base) : fractional(w, base);
    lower_emit(w, isa_form(N_mov, T_B64, T_B64, 0), lower_reg(i->arg[0].reg->index), d, no_opnd, no_opnd);
}
