/* Lowering of texture and surface instructions (9.7.10, 9.7.11) on objects and on references (lower.c).
 *
 *   tex, tld4   one operation with the sources of texture.h. It reads up to 16 texels itself.
 *   suld, sust  an operation that finds the address of the texel and whether it is inside, and then an ordinary load or
 *   sured       store or reduction, so that every check sees it
 *   txq, suq    one operation that looks at the object */
#include "lower/lower.h"
#include "code/texture.h"

static const struct opnd no_opnd;
enum { SOURCES = 1 + 1 + 3 + 6 + 3 + 1 }; /* most of tex */

static bool samples_of(const struct ptx_insn *i) { return lower_has_mod(i, "2dms") || lower_has_mod(i, "a2dms"); }

static bool shape_of(const struct ptx_insn *i, enum texture_shape *out)
{
    if (samples_of(i)) {
        *out = lower_has_mod(i, "2dms") ? TEXTURE_2D : TEXTURE_2D_LAYERED;
        return true;
    }
    static const char *const names[] = { [TEXTURE_1D] = "1d",
                                         [TEXTURE_2D] = "2d",
                                         [TEXTURE_3D] = "3d",
                                         [TEXTURE_1D_LAYERED] = "a1d",
                                         [TEXTURE_2D_LAYERED] = "a2d",
                                         [TEXTURE_CUBE] = "cube",
                                         [TEXTURE_CUBE_LAYERED] = "acube" };
    for (u32 k = 0; k < COUNT_OF(names); k++)
        if (lower_has_mod(i, names[k])) {
            *out = (enum texture_shape)k;
            return true;
        }
    return false;
}

/* `need` numbers of an operand, which may have more: the last ones are not looked at. */
static bool numbers_read(struct lower *w, const struct ptx_operand *v, u32 need, enum ptx_type t, struct opnd *out)
{
    u32 n = v->kind == OP_VEC ? v->nelem : 1;
    if (n < need) return false;
    for (u32 k = 0; k < need; k++) out[k] = lower_operand(w, v->kind == OP_VEC ? &v->elem[k] : v, t);
    return true;
}

/* The object of [object] or of [reference]; false: it is neither. */
static bool object_read(struct lower *w, const struct ptx_operand *m, struct opnd *out)
{
    const struct ptx_var *v = m->var;
    if (m->kind != OP_MEM || m->imm || (m->reg && type_size[m->reg->type] != 8)) return false;
    if (!m->reg && !(v && (v->type == T_TEXREF || v->type == T_SURFREF))) return false;
    struct ptx_operand sym = *m;
    sym.kind = OP_SYM;
    *out = m->reg ? lower_reg(m->reg->index) : lower_operand(w, &sym, T_U64);
    return true;
}

/* The numbers of [object, {layer, x, y, z}] or, with texmode_independent, of [object, sampler, {layer, x, y, z}]; NULL:
 * it is written otherwise. A sampler in a register is not looked at: an H200 samples by the one that the object was
 * made with, whatever the register holds. Its driver loads no module with a .samplerref variable. */
static const struct ptx_operand *numbers_of(const struct lower *w, const struct ptx_operand *m)
{
    const struct ptx_operand *sampler = m->nelem == 2 ? &m->elem[0] : NULL;
    if (w->l->func->module->independent != (sampler != NULL)) return NULL;
    bool known = sampler && sampler->kind == OP_REG && type_size[sampler->reg->type] == 8;
    return known || m->nelem == 1 ? &m->elem[m->nelem - 1] : NULL;
}

/* The object, the layer and the coordinates; how many sources there are, 0: it is written otherwise. The first `skip`
 * numbers are none of them. */
static u32 place_read(struct lower *w, const struct ptx_operand *m, const struct ptx_operand *at, enum texture_shape s,
                      enum ptx_type t, u32 skip, struct opnd *src)
{
    struct opnd all[5];
    u32 layer = texture_layered(s), need = texture_axes(s) + layer;
    if (!at || !object_read(w, m, &src[0]) || !numbers_read(w, at, skip + need, t, all)) return 0;
    memcpy(src + 1, all + skip, need * sizeof *src);
    if (layer && !skip) numbers_read(w, at, 1, T_U32, src + 1);
    return 1 + need;
}

/* The place of suld, sust and sured, in whole numbers. */
static u32 surface_read(struct lower *w, const struct ptx_operand *m, enum texture_shape s, struct opnd *src)
{
    return place_read(w, m, m->nelem == 1 ? &m->elem[0] : NULL, s, T_S32, 0, src);
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

/* The results: four registers of 32 or 16 bits, or two of 32 with two halves each; how many, 0: it has others. */
static u32 results_read(struct lower *w, const struct ptx_operand *v, enum ptx_type t, struct opnd *dst, u32 *how)
{
    u32 n = t == T_F16X2 ? 2 : 4, bytes = t == T_F16 ? 2 : 4;
    *how = t == T_F16X2 ? TEXTURE_HALF2 : t == T_F16 ? TEXTURE_HALF : 0;
    if (v->kind != OP_VEC || v->nelem != n) return 0;
    for (u32 k = 0; k < n; k++) {
        const struct ptx_operand *e = &v->elem[k];
        if (e->kind != OP_SINK && (e->kind != OP_REG || lower_width(w, e) != bytes)) return 0;
        dst[k] = lower_begin(w, e, bytes == 2 ? T_B16 : T_B32);
    }
    return n;
}

/* What follows the place: a level or two gradients, offsets. *at: the first operand that was not read. */
static bool rest_read(struct lower *w, enum texture_shape shape, enum ptx_type t, struct opnd *src, u32 *n, u32 *at,
                      u32 *how)
{
    const struct ptx_insn *i = w->cur;
    u32 axes = texture_axes(shape);
    if (lower_has_mod(i, "level")) {
        if (i->narg <= *at) return false;
        src[(*n)++] = lower_operand(w, &i->arg[(*at)++], t);
        *how |= TEXTURE_LEVEL;
    }
    if (lower_has_mod(i, "grad")) {
        if (i->narg <= *at + 1 || !numbers_read(w, &i->arg[*at], axes, T_F32, src + *n) ||
            !numbers_read(w, &i->arg[*at + 1], axes, T_F32, src + *n + axes))
            return false;
        *at += 2;
        *n += 2 * axes;
        *how |= TEXTURE_GRADIENTS;
    }
    if (*at < i->narg && i->arg[*at].kind == OP_VEC && !texture_cube(shape)) {
        if (!numbers_read(w, &i->arg[(*at)++], axes, T_S32, src + *n)) return false;
        *n += axes;
        *how |= TEXTURE_OFFSETS;
    }
    return true;
}

/* A depth to compare with, at last: CUDA has no textures of depths, and an H200 answers the texel. */
static bool depth_read(struct lower *w, enum texture_shape shape, enum ptx_type t, u32 at)
{
    const struct ptx_insn *i = w->cur;
    if (at == i->narg) return true;
    return at + 1 == i->narg && shape != TEXTURE_3D && t == T_F32 && i->arg[at].kind != OP_VEC;
}

/* d|p: whether all texels were there, which those of CUDA's arrays are. The predicate may be the guard: it goes last.
 */
static void residency_put(struct lower *w, const struct ptx_operand *p)
{
    if (p && p->kind != OP_SINK)
        lower_emit(w, isa_form(N_mov_pred, T_PRED, T_PRED, 0), lower_begin(w, p, T_PRED), lower_const(ALL_LANES),
                   no_opnd, no_opnd);
}

void lower_tex(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    struct lop o = lower_op(w, form);
    enum texture_shape shape = TEXTURE_1D;
    struct opnd src[SOURCES], dst[4];
    enum ptx_type t = lower_last_type(i), r = result_type(i);
    const struct ptx_operand *to = &i->arg[0], *p = NULL, *at = i->narg > 1 ? numbers_of(w, &i->arg[1]) : NULL;
    if (i->narg && to->kind == OP_PAIR) {
        p = &to->elem[1];
        to = &to->elem[0];
    }
    u32 n = 0, results = 0, next = 2, how = t == T_S32 ? TEXTURE_WHOLE : 0, half = 0, samples = samples_of(i);
    bool ok = i->narg >= 2 && shape_of(i, &shape) &&
              (r == T_F32 || r == T_U32 || r == T_S32 || r == T_F16 || r == T_F16X2) &&
              (n = place_read(w, &i->arg[1], at, shape, t, samples, src)) != 0 &&
              (results = results_read(w, to, r, dst, &half)) != 0 && rest_read(w, shape, t, src, &n, &next, &how) &&
              depth_read(w, shape, t, next);
    if (!ok || (samples && t != T_S32)) {
        lower_unsupported(w);
        return;
    }
    if (samples) { /* the first of the numbers */
        numbers_read(w, at, 1, T_S32, src + n++);
        how |= TEXTURE_SAMPLE;
    }
    for (u32 k = 0; k < 4 && str_is(i->op->base, "tld4"); k++)
        if (lower_has_mod(i, (const char *[]){ "r", "g", "b", "a" }[k])) how |= TEXTURE_GATHER | k << TEXTURE_CHANNEL;
    lower_operands(w, &o, dst, results, src, n);
    o.aux = (u32)(shape | how | half);
    o.site = lower_site(w, ISA_READS, SP_GLOBAL, 16, 8, 0);
    w->site.p[o.site].flags = SITE_NC;
    VEC_PUSH(w->mem, &w->op, o);
    residency_put(w, p);
}

/* ---- queries ---- */

/* What an H200 answers of objects: the extent. Other questions are named unsupported. */
void lower_query(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    struct lop o = lower_op(w, form);
    struct opnd src[2];
    bool level = lower_has_mod(i, "level"), surface = str_is(i->op->base, "suq");
    int what = lower_has_mod(i, "width")    ? QUERY_WIDTH
               : lower_has_mod(i, "height") ? QUERY_HEIGHT
               : lower_has_mod(i, "depth")  ? QUERY_DEPTH
                                            : -1;
    const struct ptx_operand *m = &i->arg[1];
    if (what < 0 || i->narg != 2u + level || m->nelem || !object_read(w, m, &src[0])) {
        lower_unsupported(w);
        return;
    }
    struct opnd d = lower_begin(w, &i->arg[0], T_U32);
    if (level) src[1] = lower_operand(w, &i->arg[2], T_U32);
    lower_operands(w, &o, &d, 1, src, 1u + level);
    o.off = what | (surface ? QUERY_SURFACE : 0) | (level ? QUERY_LEVEL : 0);
    VEC_PUSH(w->mem, &w->op, o);
    lower_finish(w, &i->arg[0], d, T_U32);
}

/* ---- surfaces ---- */

/* The guard of the instruction and `inside` together. */
static struct opnd guarded(struct lower *w, struct opnd inside)
{
    struct opnd g = w->guard;
    if (g.kind != O_REG) return inside;
    g.neg = false;
    if (w->guard.neg) {
        struct opnd turned = lower_temp(w, T_PRED);
        lower_emit(w, isa_form(N_not_pred, T_PRED, T_PRED, 0), turned, g, no_opnd, no_opnd)->guard = no_opnd;
        g = turned;
    }
    struct opnd both = lower_temp(w, T_PRED);
    lower_emit(w, isa_form(N_and_pred, T_PRED, T_PRED, 0), both, inside, g, no_opnd)->guard = no_opnd;
    return both;
}

/* Emits the operation that finds the texel; `off` is that of texture.h. */
static void surface_place(struct lower *w, int form, enum texture_shape shape, const struct opnd *src, u32 n, u32 off,
                          struct opnd *at, struct opnd *inside)
{
    const struct ptx_insn *i = w->cur;
    struct lop o = lower_op(w, form);
    *at = lower_temp(w, T_U64);
    *inside = lower_temp(w, T_PRED);
    lower_operands(w, &o, (struct opnd[]){ *at, *inside }, 2, src, n);
    o.aux = (u32)shape;
    o.off = off | (lower_has_mod(i, "clamp") ? SURFACE_CLAMP : lower_has_mod(i, "zero") ? SURFACE_ZERO : 0);
    VEC_PUSH(w->mem, &w->op, o);
}

void lower_surface(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    bool load = str_is(i->op->base, "suld");
    enum ptx_type t = lower_last_type(i);
    enum texture_shape shape = TEXTURE_1D;
    struct opnd src[SOURCES], v[4], at, inside;
    u32 n = 0, parts = lower_has_mod(i, "v4") ? 4 : lower_has_mod(i, "v2") ? 2 : 1, width = type_size[t];
    bool ok = i->narg == 2 && shape_of(i, &shape) && width && width * parts <= 16 &&
              (n = surface_read(w, &i->arg[load], shape, src)) != 0;
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
    surface_place(w, form, shape, src, n, width * parts | (load ? 0 : SURFACE_STORE), &at, &inside);
    static const u8 moves[] = { [2] = T_B16, [4] = T_B32, [8] = T_B64 };
    for (u32 k = 0; load && k < parts; k++) /* outside it is 0 */
        lower_emit(w, isa_form(N_mov, (enum ptx_type)moves[reg], (enum ptx_type)moves[reg], 0), v[k], lower_const(0),
                   no_opnd, no_opnd);
    struct opnd given = w->guard;
    w->guard = guarded(w, inside);
    for (u32 k = 0; k < parts; k++) lower_access(w, load, SP_GLOBAL, at, 8, (s64)k * width, v[k], width);
    w->guard = given;
}

/* sust.p: the operation makes a texel of the object's format, and a store of its size follows. */
void lower_surface_format(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    enum texture_shape shape = TEXTURE_1D;
    struct opnd src[SOURCES], dst[8];
    u32 n = 0, parts = lower_has_mod(i, "v4") ? 4 : lower_has_mod(i, "v2") ? 2 : 1;
    bool ok = i->narg == 2 && shape_of(i, &shape) && (n = surface_read(w, &i->arg[0], shape, src)) != 0 &&
              (i->arg[1].kind == OP_VEC ? i->arg[1].nelem : 1) == parts &&
              numbers_read(w, &i->arg[1], parts, T_B32, src + n);
    if (!ok) {
        lower_unsupported(w);
        return;
    }
    struct lop o = lower_op(w, form);
    for (u32 k = 0; k < COUNT_OF(dst); k++) dst[k] = lower_temp(w, k < 3 ? T_U64 : T_PRED);
    lower_operands(w, &o, dst, COUNT_OF(dst), src, n + parts);
    o.aux = (u32)shape;
    o.off = parts | SURFACE_STORE | SURFACE_TEXELS |
            (lower_has_mod(i, "clamp")  ? SURFACE_CLAMP
             : lower_has_mod(i, "zero") ? SURFACE_ZERO
                                        : 0);
    VEC_PUSH(w->mem, &w->op, o);
    struct opnd given = w->guard;
    static const u8 types[] = { T_B16, T_B16, T_B32, T_B64, T_B64 };
    for (u32 k = 0; k < 5; k++) {
        struct opnd data = lower_resize(w, dst[1], 8, (enum ptx_type)types[k]);
        w->guard = guarded(w, dst[3 + k]);
        lower_access(w, false, SP_GLOBAL, dst[0], 8, 0, data, MIN_OF(1u << k, 8u));
        if (k == 4) lower_access(w, false, SP_GLOBAL, dst[0], 8, 8, dst[2], 8);
        w->guard = given;
    }
}

/* sured: a reduction at the address, relaxed, of the GPU's scope. sured.p takes texels instead of bytes, and those with
 * a sign are compared with it. */
void lower_surface_reduce(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    bool texels = lower_has_mod(i, "p"), two = texels && (lower_has_mod(i, "min") || lower_has_mod(i, "max"));
    enum ptx_type t = lower_last_type(i);
    enum texture_shape shape = TEXTURE_1D;
    struct opnd src[SOURCES], at, inside;
    u32 n = 0;
    bool ok = i->narg == 2 && shape_of(i, &shape) && type_size[t] && !(texels && type_size[t] != 4) &&
              (n = surface_read(w, &i->arg[0], shape, src)) != 0;
    for (u32 pass = 0; ok && pass < 1u + two; pass++) {
        u32 which = two ? (pass ? SURFACE_SIGNED : SURFACE_UNSIGNED) : 0;
        enum ptx_type as = !texels                                             ? t
                           : lower_has_mod(i, "and") || lower_has_mod(i, "or") ? T_B32
                           : pass                                              ? T_S32
                                                                               : T_U32;
        surface_place(w, form, shape, src, n, type_size[t] | SURFACE_STORE | (texels ? SURFACE_TEXELS : 0) | which, &at,
                      &inside);
        struct opnd given = w->guard;
        w->guard = guarded(w, inside);
        ok = lower_reduce_at(w, at, &i->arg[1], as);
        w->guard = given;
    }
    if (!ok) lower_unsupported(w);
}
