/* Lowering of bulk copies and reductions (9.7.9.25.4): their operands become one list (SRC_BULK_* of code.h), and each
 * address of theirs has a site, one after the other: where to, where from, the mbarrier. */
#include "lower/lower.h"

static const struct opnd no_opnd;

struct opnd lower_whole_address(struct lower *w, const struct ptx_operand *m, u32 *width)
{
    struct opnd a;
    s64 off;
    *width = lower_address(w, m, &a, &off);
    if (!off) return a;
    if (a.kind == O_CONST) {
        a.value += (u64)off;
        return a;
    }
    enum ptx_type t = *width == 4 ? T_U32 : T_U64;
    struct opnd sum = lower_temp(w, t);
    lower_emit(w, isa_form(N_add, t, t, 0), sum, a, lower_const(*width == 4 ? (u32)off : (u64)off), no_opnd)->guard =
        no_opnd;
    return sum;
}

/* The site of an address of a bulk operation. */
static struct site *bulk_site(struct lower *w, u32 access, enum ptx_space space, u32 addr_width, u32 which)
{
    u32 n = lower_site(w, access, space, 16, addr_width, which);
    struct site *s = &w->site.p[n];
    s->flags |= SITE_BULK;
    s->align = 16;
    return s;
}

/* What the reduction of an opcode is, as the site of an atomic says it; false: there is no such one. */
static bool reduction(const struct ptx_insn *i, struct site *s)
{
    static const char *const names[] = { "add", "exch", "min", "max", "and", "or", "xor", "cas", "inc", "dec" };
    enum ptx_type t = lower_last_type(i);
    u32 op = 0;
    while (op < COUNT_OF(names) && !lower_has_mod(i, names[op])) op++;
    bool half = t == T_F16 || t == T_BF16, extreme = op == AT_MIN || op == AT_MAX;
    bool ok = type_is_float(t)               ? op == AT_ADD || (half && extreme)
              : op == AT_INC || op == AT_DEC ? t == T_U32
              : op == AT_ADD || extreme      ? t == T_U32 || t == T_S32 || t == T_U64 || t == T_S64
              : op >= AT_AND && op <= AT_XOR ? t == T_B32 || t == T_B64
                                             : false;
    if (op == COUNT_OF(names) || !ok) return false;
    s->atom = (u8)op;
    s->type = (u8)t;
    s->width = s->reg_width = (u8)type_size[t];
    s->is_float = type_is_float(t);
    s->is_signed = t == T_S32 || t == T_S64;
    return true;
}

/* cp.async.bulk [to], [from], bytes{, [mbarrier]}{, CTAs}{, policy}{, bytes of each 16}, and cp.reduce.async.bulk */
void lower_bulk(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    bool to_global = str_is(i->op->mod[2], "global"), hint = lower_has_mod(i, "L2::cache_hint"),
         multicast = lower_has_mod(i, "multicast::cluster"), masked = lower_has_mod(i, "cp_mask"),
         reduces = isa_forms[form].flags & ISA_ATOMIC, from_shared = to_global || lower_has_mod(i, "shared::cta");
    if (reduces) to_global = lower_has_mod(i, "global");
    if (!reduces && !to_global) from_shared = !lower_has_mod(i, "global");
    if (i->narg != 3u + !to_global + multicast + hint + masked || i->arg[0].kind != OP_MEM ||
        i->arg[1].kind != OP_MEM || (!to_global && i->arg[3].kind != OP_MEM)) {
        lower_unsupported(w);
        return;
    }
    struct lop o = lower_op(w, form);
    struct opnd src[SRC_BULK_MORE] = { no_opnd, no_opnd, no_opnd, no_opnd, no_opnd };
    u32 width[3] = { 0 };
    src[SRC_BULK_TO] = lower_whole_address(w, &i->arg[0], &width[0]);
    src[SRC_BULK_FROM] = lower_whole_address(w, &i->arg[1], &width[1]);
    src[SRC_BULK_BYTES] = lower_operand(w, &i->arg[2], T_U32);
    if (!to_global) src[SRC_BULK_MBARRIER] = lower_whole_address(w, &i->arg[3], &width[2]);
    if (multicast) src[SRC_BULK_MASK] = lower_operand(w, &i->arg[4], T_U16);
    if (masked) src[SRC_BULK_MASK] = lower_operand(w, &i->arg[3 + hint], T_U16);
    lower_operands(w, &o, NULL, 0, src, SRC_BULK_MORE);
    o.site = w->site.n;
    struct site *to = bulk_site(w, ISA_WRITES, to_global ? SP_GLOBAL : SP_SHARED, width[0], SRC_BULK_TO);
    if (reduces && !reduction(i, to)) {
        lower_unsupported(w);
        return;
    }
    bulk_site(w, ISA_READS, from_shared ? SP_SHARED : SP_GLOBAL, width[1], SRC_BULK_FROM);
    if (!to_global) lower_site(w, ISA_HOW, SP_SHARED, 8, width[2], SRC_BULK_MBARRIER);
    VEC_PUSH(w->mem, &w->op, o);
}

/* Coordinates or offsets, a vector of them or one alone. false: not as many as there are. */
static bool some_numbers(struct lower *w, const struct ptx_operand *v, u32 n, enum ptx_type t, struct opnd *out)
{
    if ((v->kind == OP_VEC ? v->nelem : 1) != n) return false;
    for (u32 k = 0; k < n; k++) out[k] = lower_operand(w, v->kind == OP_VEC ? &v->elem[k] : v, t);
    return true;
}

/* The modes of a tensor copy: the dimensions are in the third word of the opcode, or in the fourth of a reduction. */
static u32 tensor_rank(const struct ptx_insn *i)
{
    for (u32 k = 0; k < i->op->nmod; k++) {
        struct str m = i->op->mod[k];
        if (m.n == 2 && m.p[1] == 'd' && m.p[0] >= '1' && m.p[0] <= '5') return (u32)(m.p[0] - '0');
    }
    return 0;
}

/* TENSOR_WIDE* of an opcode. */
static u32 tensor_wide(const struct ptx_insn *i)
{
    return lower_has_mod(i, "im2col::w") ? TENSOR_WIDE : lower_has_mod(i, "im2col::w::128") ? TENSOR_WIDE_128 : 0;
}

/* cp.async.bulk.tensor [to], [map, {coordinates}], [mbarrier]{, {offsets}}{, CTAs}{, policy}, or to global memory
 * [map, {coordinates}], [from]{, policy}, which a reduction also is. The bytes in global memory are wherever the map
 * says: their site has an address that is a number. */
void lower_bulk_tensor(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    u32 rank = tensor_rank(i), wide = tensor_wide(i);
    bool store = lower_has_mod(i, "bulk_group"), hint = lower_has_mod(i, "L2::cache_hint"),
         multicast = lower_has_mod(i, "multicast::cluster"), reduces = isa_forms[form].flags & ISA_ATOMIC,
         im2col = lower_has_mod(i, "im2col") || wide, plain = lower_has_mod(i, "im2col_no_offs"),
         rows = lower_has_mod(i, "tile::gather4") || lower_has_mod(i, "tile::scatter4");
    const struct ptx_operand *map = &i->arg[!store], *at = &i->arg[store];
    u32 need = store ? 2u + hint : 3u + im2col + multicast + hint;
    if (!rank || i->narg != need || map->kind != OP_MEM || at->kind != OP_MEM || map->nelem != 1 ||
        (!store && i->arg[2].kind != OP_MEM) || ((im2col || plain) && rank < 3) || (rows && rank != 2)) {
        lower_unsupported(w);
        return;
    }
    struct lop o = lower_op(w, form);
    struct opnd src[SRC_BULK_MORE + 8];
    for (u32 k = 0; k < COUNT_OF(src); k++) src[k] = no_opnd;
    u32 width[3] = { 0 }, next = 3;
    src[SRC_BULK_TO] = lower_whole_address(w, at, &width[0]);
    struct ptx_operand alone = *map;
    alone.nelem = 0;
    src[SRC_BULK_FROM] = lower_whole_address(w, &alone, &width[1]);
    src[SRC_BULK_BYTES] = lower_const(0);
    if (!store) src[SRC_BULK_MBARRIER] = lower_whole_address(w, &i->arg[2], &width[2]);
    bool ok = some_numbers(w, &map->elem[0], rows ? 5 : rank, T_S32, &src[SRC_BULK_MORE]);
    if (im2col) ok = ok && some_numbers(w, &i->arg[next++], wide ? 2 : rank - 2, T_U16, &src[SRC_BULK_MORE + 5]);
    if (multicast) src[SRC_BULK_MASK] = lower_operand(w, &i->arg[next++], T_U16);
    if (!ok) {
        lower_unsupported(w);
        return;
    }
    lower_operands(w, &o, NULL, 0, src, COUNT_OF(src));
    o.aux = (u32)(rank | wide | (im2col || plain ? TENSOR_IM2COL : 0) | (store ? TENSOR_STORE : 0) |
                  (reduces ? TENSOR_REDUCE : 0) | (rows ? TENSOR_ROWS : 0) |
                  (lower_has_mod(i, "cta_group::2") ? TENSOR_PAIR : 0));
    if (reduces) {
        static const char *const names[] = { "add", "exch", "min", "max", "and", "or", "xor", "cas", "inc", "dec" };
        u32 op = 0;
        while (op < COUNT_OF(names) && !lower_has_mod(i, names[op])) op++;
        if (op == COUNT_OF(names)) {
            lower_unsupported(w);
            return;
        }
        o.aux |= (u32)(op << TENSOR_ATOM_SHIFT);
    }
    o.site = w->site.n;
    if (store)
        bulk_site(w, ISA_WRITES, SP_GLOBAL, 8, SRC_BULK_BYTES);
    else
        bulk_site(w, ISA_WRITES, SP_SHARED, width[0], SRC_BULK_TO)->align = 128;
    bulk_site(w, ISA_READS, lower_space_of(w, &alone), width[1], SRC_BULK_FROM)->align = 64;
    if (store)
        bulk_site(w, ISA_READS, SP_SHARED, width[0], SRC_BULK_TO)->align = 128;
    else {
        lower_site(w, ISA_HOW, SP_SHARED, 8, width[2], SRC_BULK_MBARRIER);
        bulk_site(w, ISA_READS, SP_GLOBAL, 8, SRC_BULK_BYTES);
    }
    VEC_PUSH(w->mem, &w->op, o);
}

/* st.async [to], value, [mbarrier], and red.async; aux: bytes of the value. */
void lower_async_store(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    bool reduces = isa_forms[form].flags & ISA_ATOMIC;
    enum ptx_type t = lower_last_type(i);
    u32 n = i->narg == 3 && i->arg[1].kind == OP_VEC ? i->arg[1].nelem : 1, size = type_size[t], width[2];
    if (i->narg != 3 || i->arg[0].kind != OP_MEM || i->arg[2].kind != OP_MEM || (size != 4 && size != 8) || n > 4 ||
        (reduces && n > 1)) {
        lower_unsupported(w);
        return;
    }
    struct lop o = lower_op(w, form);
    struct opnd src[SRC_ASYNC_MOST] = { no_opnd };
    src[SRC_ASYNC_TO] = lower_whole_address(w, &i->arg[0], &width[0]);
    src[SRC_ASYNC_MBARRIER] = lower_whole_address(w, &i->arg[2], &width[1]);
    if (!some_numbers(w, &i->arg[1], n, t, src + SRC_ASYNC_DATA)) {
        lower_unsupported(w);
        return;
    }
    lower_operands(w, &o, NULL, 0, src, SRC_ASYNC_DATA + n);
    o.aux = (u32)(n * size);
    o.site = lower_site(w, ISA_WRITES, lower_space(i), size, width[0], SRC_ASYNC_TO);
    struct site *to = &w->site.p[o.site];
    to->vec = (u8)n;
    if (reduces && !reduction(i, to)) {
        lower_unsupported(w);
        return;
    }
    lower_site(w, ISA_HOW, lower_space(i), 8, width[1], SRC_ASYNC_MBARRIER);
    VEC_PUSH(w->mem, &w->op, o);
}

/* prefetch.tensormap [map]; cp.async.bulk.prefetch.tensor [map, {coordinates}]{, {offsets}}{, policy}: nothing is
 * brought, but the map is looked at. aux: the rank, 0: any. */
void lower_map_prefetch(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    struct ptx_operand map = i->arg[0];
    u32 width, rank = tensor_rank(i);
    struct lop o = lower_op(w, form);
    if (!i->narg || map.kind != OP_MEM) {
        lower_unsupported(w);
        return;
    }
    map.nelem = 0;
    struct opnd at = lower_whole_address(w, &map, &width);
    lower_operands(w, &o, NULL, 0, &at, 1);
    u32 wide = tensor_wide(i);
    o.aux = (u32)(rank | wide | (lower_has_mod(i, "im2col") || wide ? TENSOR_IM2COL : 0) |
                  (lower_has_mod(i, "tile::gather4") ? TENSOR_ROWS : 0));
    o.site = w->site.n;
    bulk_site(w, ISA_READS, rank ? SP_GENERIC : lower_space_of(w, &map), width, 0)->align = 64;
    VEC_PUSH(w->mem, &w->op, o);
}

/* cp.async.bulk.prefetch.L2.global [from], bytes{, policy} */
void lower_bulk_prefetch(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    u32 width;
    struct lop o = lower_op(w, form);
    if (i->narg < 2 || i->arg[0].kind != OP_MEM) {
        lower_unsupported(w);
        return;
    }
    struct opnd src[2] = { lower_whole_address(w, &i->arg[0], &width), lower_operand(w, &i->arg[1], T_U32) };
    lower_operands(w, &o, NULL, 0, src, COUNT_OF(src));
    VEC_PUSH(w->mem, &w->op, o);
}
