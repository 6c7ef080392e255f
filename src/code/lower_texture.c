/* Lowering of texture and surface instructions (9.7.10, 9.7.11) on objects.
 *
 *   tex         one operation; sources: the object, a layer, coordinates, a level. It reads up to 16 texels itself.
 *   suld, sust  an operation that finds the address of the texel and whether it is inside, and then an ordinary load or
 *               store, so that every check sees it */
#include "code/lower.h"
#include "code/texture.h"

static const struct opnd no_opnd;

static bool shape_of(const struct ptx_insn *i, enum texture_shape *out)
{
    static const char *const names[] = { [TEXTURE_1D] = "1d",
                                         [TEXTURE_2D] = "2d",
                                         [TEXTURE_3D] = "3d",
                                         [TEXTURE_1D_LAYERED] = "a1d",
                                         [TEXTURE_2D_LAYERED] = "a2d" };
    for (u32 k = 0; k < COUNT_OF(names); k++)
        if (lower_has_mod(i, names[k])) {
            *out = (enum texture_shape)k;
            return true;
        }
    return false;
}

/* The object, the layer and the coordinates of [object, {layer, x, y, z}]; how many sources there are, 0: it is written
 * otherwise. Coordinates behind the last are not looked at. */
static u32 place_read(struct lower *w, const struct ptx_operand *m, enum texture_shape s, enum ptx_type t,
                      struct opnd src[5])
{
    u32 layer = texture_layered(s), need = texture_axes(s) + layer;
    if (m->kind != OP_MEM || !m->reg || m->imm || m->nelem != 1 || type_size[m->reg->type] != 8) return 0;
    const struct ptx_operand *c = &m->elem[0];
    u32 n = c->kind == OP_VEC ? c->nelem : 1;
    if (n < need) return 0;
    src[0] = lower_reg(m->reg->index);
    for (u32 k = 0; k < need; k++)
        src[1 + k] = lower_operand(w, c->kind == OP_VEC ? &c->elem[k] : c, layer && !k ? T_U32 : t);
    return 1 + need;
}

/* The last but one type is that of the result, the last that of the coordinates. */
static enum ptx_type result_type(const struct ptx_insn *i)
{
    enum ptx_type t[2] = { T_NONE, T_NONE };
    for (u32 k = 0; k < i->op->nmod; k++) {
        enum ptx_type x = type_find(i->op->mod[k]);
        if (x == T_NONE) continue;
        t[0] = t[1];
        t[1] = x;
    }
    return t[0];
}

void lower_tex(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    struct lop o = lower_op(w, form);
    enum texture_shape shape = TEXTURE_1D;
    struct opnd src[6], dst[4];
    bool level = lower_has_mod(i, "level");
    enum ptx_type t = lower_last_type(i), r = result_type(i);
    u32 n = 0;
    bool ok = i->narg == 2u + level && shape_of(i, &shape) && (r == T_F32 || r == T_U32 || r == T_S32) &&
              i->arg[0].kind == OP_VEC && i->arg[0].nelem == 4 && (n = place_read(w, &i->arg[1], shape, t, src)) != 0 &&
              lower_mma_registers(w, &i->arg[0], 4, false, true, dst);
    if (!ok) {
        lower_unsupported(w);
        return;
    }
    if (level) src[n++] = lower_operand(w, &i->arg[2], T_F32);
    lower_operands(w, &o, dst, 4, src, n);
    o.aux = (u16)(shape | (t == T_S32 ? TEXTURE_INTEGER : 0) | (level ? TEXTURE_LEVEL : 0) |
                  (r != T_F32 ? TEXTURE_RAW : 0));
    o.site = lower_site(w, ISA_READS, SP_GLOBAL, 16, 8, 0);
    w->site.p[o.site].flags = SITE_NC;
    VEC_PUSH(w->mem, &w->op, o);
}

/* ---- surfaces ---- */

void lower_surface(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    bool load = str_is(i->op->base, "suld");
    enum ptx_type t = lower_last_type(i);
    enum texture_shape shape = TEXTURE_1D;
    struct opnd src[5], v[4];
    u32 n = 0, parts = lower_has_mod(i, "v4") ? 4 : lower_has_mod(i, "v2") ? 2 : 1, width = type_size[t];
    bool ok = i->narg == 2 && !lower_has_mod(i, "p") && shape_of(i, &shape) && width && width * parts <= 16 &&
              (n = place_read(w, &i->arg[load], shape, T_S32, src)) != 0;
    const struct ptx_operand *data = &i->arg[!load];
    u32 has = data->kind == OP_VEC ? data->nelem : 1, reg = MAX_OF(width, 2u);
    ok = ok && has == parts;
    for (u32 k = 0; ok && k < parts; k++) {
        const struct ptx_operand *e = data->kind == OP_VEC ? &data->elem[k] : data;
        ok = e->kind == OP_REG && lower_width(w, e) == reg;
        if (ok) v[k] = lower_reg(e->reg->index);
    }
    if (!ok) {
        lower_unsupported(w);
        return;
    }
    struct opnd at = lower_temp(w, T_U64), inside = lower_temp(w, T_PRED);
    struct lop o = lower_op(w, form);
    lower_operands(w, &o, (struct opnd[]){ at, inside }, 2, src, n);
    o.aux = (u16)shape;
    o.off = (s64)(width * parts) |
            (lower_has_mod(i, "clamp")  ? 1 << 8
             : lower_has_mod(i, "zero") ? 1 << 9
                                        : 0) |
            (load ? 0 : 1 << 10);
    o.guard = no_opnd; /* an address is no access */
    VEC_PUSH(w->mem, &w->op, o);
    struct opnd given = w->guard, both = inside;
    if (given.kind == O_REG) { /* a guard of the text, too */
        struct opnd g = given;
        g.neg = false;
        if (given.neg) {
            struct opnd turned = lower_temp(w, T_PRED);
            lower_emit(w, isa_form(N_not_pred, T_PRED, T_PRED, 0), turned, g, no_opnd, no_opnd)->guard = no_opnd;
            g = turned;
        }
        both = lower_temp(w, T_PRED);
        lower_emit(w, isa_form(N_and_pred, T_PRED, T_PRED, 0), both, inside, g, no_opnd)->guard = no_opnd;
    }
    static const u8 moves[] = { [2] = T_B16, [4] = T_B32, [8] = T_B64 };
    for (u32 k = 0; load && k < parts; k++) /* outside it is 0 */
        lower_emit(w, isa_form(N_mov, (enum ptx_type)moves[reg], (enum ptx_type)moves[reg], 0), v[k], lower_const(0),
                   no_opnd, no_opnd);
    w->guard = both;
    for (u32 k = 0; k < parts; k++) lower_access(w, load, SP_GLOBAL, at, 8, (s64)k * width, v[k], width);
    w->guard = given;
}
