/* Lowering of tcgen05 (9.7.16): tensor memory and the products that use it. tensor_memory.h says what becomes of the
 * words of an opcode. */
#include "lower/lower.h"
#include "code/tensor_memory.h"

static const struct opnd no_opnd;

static u32 pair_of(const struct ptx_insn *i) { return lower_has_mod(i, "cta_group::2") ? TMEM_PAIR : 0; }

/* ---- allocation ---- */

/* tcgen05.alloc [to], columns: the warp waits until there is room; then the operation gives the address to every lane,
 * and names the lane that stores it. */
void lower_tmem_alloc(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    struct opnd at, result[2] = { lower_temp(w, T_U32), lower_temp(w, T_PRED) };
    s64 off;
    u32 around = lower_branch_around(w);
    if (i->narg != 2 || i->arg[0].kind != OP_MEM) {
        lower_unsupported(w);
        return;
    }
    u32 width = lower_address(w, &i->arg[0], &at, &off);
    struct opnd columns = lower_operand(w, &i->arg[1], T_U32);
    lower_meet_aligned(w);
    struct lop wait = lower_op(w, form), o = wait;
    lower_operands(w, &wait, NULL, 0, &columns, 1);
    lower_operands(w, &o, result, 2, NULL, 0);
    wait.aux = o.aux = pair_of(i);
    VEC_PUSH(w->mem, &w->op, wait);
    lower_end_wait(w, WAIT_room);
    VEC_PUSH(w->mem, &w->op, o);
    w->guard = result[1];
    lower_access(w, false, lower_space_of(w, &i->arg[0]), at, width, off, result[0], 4);
    w->guard = no_opnd;
    if (around != NONE) lower_end_block(w, TERM_FALL);
    lower_end_around(w, around);
}

/* tcgen05.dealloc address, columns; tcgen05.relinquish_alloc_permit; tcgen05.wait */
void lower_tmem_sync(struct lower *w, int form)
{
    u32 around = lower_branch_around(w);
    struct opnd src[2];
    struct lop o = lower_op(w, form);
    for (u32 k = 0; k < w->cur->narg && k < 2; k++) src[k] = lower_operand(w, &w->cur->arg[k], T_U32);
    lower_operands(w, &o, NULL, 0, src, w->cur->narg);
    o.aux = pair_of(w->cur);
    lower_push_aligned(w, o, around);
}

/* ---- between registers and tensor memory ---- */

static bool read_shape(const struct ptx_insn *i, u32 *aux)
{
    static const char *const shapes[] = { [TMEM_32X32B] = "32x32b",
                                          [TMEM_16X64B] = "16x64b",
                                          [TMEM_16X128B] = "16x128b",
                                          [TMEM_16X256B] = "16x256b",
                                          [TMEM_16X32BX2] = "16x32bx2" };
    static const char *const nums[] = { "x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128" };
    u32 shape = 0, num = 0;
    while (shape < COUNT_OF(shapes) && !lower_has_mod(i, shapes[shape])) shape++;
    while (num < COUNT_OF(nums) && !lower_has_mod(i, nums[num])) num++;
    if (shape == COUNT_OF(shapes) || num == COUNT_OF(nums)) return false;
    *aux = (u32)(shape | num << TMEM_NUM_AT |
                 (lower_has_mod(i, "pack::16b") || lower_has_mod(i, "unpack::16b") ? TMEM_PACK : 0));
    return tmem_registers(*aux) <= TMEM_LANES;
}

/* tcgen05.ld d, [address]{, offset} and tcgen05.st [address]{, offset}, d */
void lower_tmem_move(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    bool load = isa_forms[form].flags & ISA_READS;
    u32 around = lower_branch_around(w), width, n;
    struct lop o = lower_op(w, form);
    struct opnd all[1 + TMEM_LANES];
    bool split = lower_has_mod(i, "16x32bx2");
    if (!read_shape(i, &o.aux) || i->narg != (split ? 3u : 2u) || i->arg[load].kind != OP_MEM) {
        lower_unsupported(w);
        return;
    }
    const struct ptx_operand *data = &i->arg[load ? 0 : i->narg - 1], *half = &i->arg[load ? 2 : 1];
    n = tmem_registers(o.aux);
    all[0] = lower_whole_address(w, &i->arg[load], &width);
    if (width != 4 || (split && half->kind != OP_INT) || !lower_mma_registers(w, data, n, false, load, all + 1)) {
        lower_unsupported(w);
        return;
    }
    lower_operands(w, &o, all + 1, load ? n : 0, all, load ? 1 : 1 + n);
    o.off = split ? half->imm : 0;
    lower_push_aligned(w, o, around);
}

/* ---- what one thread starts ---- */

/* tcgen05.cp [address], descriptor */
void lower_tmem_copy(struct lower *w, int form)
{
    static const char *const shapes[] = {
        [COPY_128X256B] = "128x256b",           [COPY_4X256B] = "4x256b",
        [COPY_128X128B] = "128x128b",           [COPY_64X128B_02_13] = "warpx2::02_13",
        [COPY_64X128B_01_23] = "warpx2::01_23", [COPY_32X128B] = "32x128b"
    };
    const struct ptx_insn *i = w->cur;
    struct lop o = lower_op(w, form);
    u32 shape = 0, width, n = i->narg;
    struct opnd src[2];
    while (shape < COUNT_OF(shapes) && !lower_has_mod(i, shapes[shape])) shape++;
    bool cast = shape == COPY_32X128B,
         fits = n == 1 || (shape < COUNT_OF(shapes) && cast == lower_has_mod(i, "warpx4"));
    if (!fits || n < 1 || n > 2 || i->arg[0].kind != OP_MEM) {
        lower_unsupported(w);
        return;
    }
    src[0] = lower_whole_address(w, &i->arg[0], &width);
    if (n == 2) src[1] = lower_operand(w, &i->arg[1], T_B64);
    lower_operands(w, &o, NULL, 0, src, n);
    o.aux = (u32)((n == 2 ? shape : 0) | pair_of(i) | (lower_has_mod(i, "b6x16_p32") ? TMEM_COPY_B6 : 0) |
                  (lower_has_mod(i, "b4x16_p64") ? TMEM_COPY_B4 : 0));
    VEC_PUSH(w->mem, &w->op, o);
}

/* The factors of a row of a that block scaling has. */
static u32 scale_count(const struct ptx_insn *i, u32 kind)
{
    if (lower_has_mod(i, "scale_vec::4X") || lower_has_mod(i, "block16")) return 4;
    if (lower_has_mod(i, "scale_vec::2X")) return 2;
    return kind == UMMA_MXF8F6F4 ? 1 : 2;
}

/* tcgen05.mma{.ws}{.sp} [d], a, b{, [metadata]}, idesc{, [scale-a], [scale-b]}{, {lanes}}, p{, n} */
void lower_umma(struct lower *w, int form)
{
    static const char *const kinds[] = { "kind::f16",      "kind::tf32", "kind::f8f6f4",  "kind::i8",
                                         "kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4" };
    const struct ptx_insn *i = w->cur;
    struct lop o = lower_op(w, form);
    struct opnd src[SRC_UMMA_MOST];
    u32 kind = 0, k = 3, width;
    bool ws = lower_has_mod(i, "ws"), scaled = lower_has_mod(i, "block_scale"), sparse = lower_has_mod(i, "sp");
    for (u32 n = 0; n < SRC_UMMA_MOST; n++) src[n] = no_opnd;
    while (kind < COUNT_OF(kinds) && !lower_has_mod(i, kinds[kind])) kind++;
    if (lower_has_mod(i, "ashift")) goto no; /* which way its rows move, only a picture says */
    if (kind == COUNT_OF(kinds) || i->narg < 5u + sparse + 2 * scaled || scaled != (kind >= UMMA_MXF8F6F4)) goto no;
    bool a_tmem = i->arg[1].kind == OP_MEM;
    src[SRC_UMMA_D] = lower_whole_address(w, &i->arg[0], &width);
    src[SRC_UMMA_A] = a_tmem ? lower_whole_address(w, &i->arg[1], &width) : lower_operand(w, &i->arg[1], T_B64);
    src[SRC_UMMA_B] = lower_operand(w, &i->arg[2], T_B64);
    if (sparse) {
        if (i->arg[k].kind != OP_MEM) goto no;
        src[SRC_UMMA_META] = lower_whole_address(w, &i->arg[k++], &width);
    }
    src[SRC_UMMA_IDESC] = lower_operand(w, &i->arg[k++], T_U32);
    if (scaled) {
        if (i->arg[k].kind != OP_MEM || i->arg[k + 1].kind != OP_MEM) goto no;
        src[SRC_UMMA_SCALE_A] = lower_whole_address(w, &i->arg[k++], &width);
        src[SRC_UMMA_SCALE_B] = lower_whole_address(w, &i->arg[k++], &width);
    }
    if (i->arg[k].kind == OP_VEC) {
        u32 words = pair_of(i) ? 8 : 4;
        if (!lower_mma_registers(w, &i->arg[k++], words, false, false, src + SRC_UMMA_KEEP)) goto no;
    }
    if (k >= i->narg) goto no;
    src[SRC_UMMA_ADD] = lower_operand(w, &i->arg[k++], T_PRED);
    if (k < i->narg && ws)
        src[SRC_UMMA_ZERO] = lower_operand(w, &i->arg[k++], T_B64);
    else if (k < i->narg && i->arg[k].kind == OP_INT && kind <= UMMA_TF32 && (u64)i->arg[k].imm < 16)
        o.off = i->arg[k++].imm;
    if (k != i->narg) goto no;
    lower_operands(w, &o, NULL, 0, src, SRC_UMMA_MOST);
    o.aux = (u32)(kind | pair_of(i) | (ws ? UMMA_WS : 0) | (a_tmem ? UMMA_A_TMEM : 0) | (sparse ? UMMA_SPARSE : 0) |
                  (scaled ? scale_count(i, kind) << UMMA_SCALES_AT : 0));
    VEC_PUSH(w->mem, &w->op, o);
    return;
no:
    lower_unsupported(w);
}

/* tcgen05.commit [mbarrier]{, CTAs} */
void lower_tmem_commit(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    bool multicast = lower_has_mod(i, "multicast::cluster");
    u32 width;
    struct lop o = lower_op(w, form);
    struct opnd src[SRC_COMMIT_MOST] = { no_opnd, no_opnd };
    if (i->narg != 1u + multicast || i->arg[0].kind != OP_MEM) {
        lower_unsupported(w);
        return;
    }
    src[SRC_COMMIT_MBARRIER] = lower_whole_address(w, &i->arg[0], &width);
    if (multicast) src[SRC_COMMIT_CTAS] = lower_operand(w, &i->arg[1], T_U16);
    lower_operands(w, &o, NULL, 0, src, SRC_COMMIT_MOST);
    o.aux = pair_of(i);
    o.site = lower_site(w, ISA_HOW, lower_space_of(w, &i->arg[0]), 8, width, SRC_COMMIT_MBARRIER);
    VEC_PUSH(w->mem, &w->op, o);
}
