/* Values of lanes as text, as short as they allow: one value, a value and a step for each lane, or a list with its
 * repetitions. An address is said by the name of its object, so that a trace reads the same wherever memory lies. */
#include "sim/lanes.h"
#include "sim/special_registers.h"
#include "trace/trace.h"
#include <inttypes.h>
#include <stdlib.h>

/* ---- which type ---- */

static void learn(struct traced *f, struct opnd o, enum ptx_type type)
{
    if (o.kind != O_REG || o.reg >= f->low->nreg || f->type[o.reg] == T_PRED) return;
    enum ptx_type is = (enum ptx_type)f->type[o.reg];
    bool bits = is >= T_B8 && is <= T_B128;
    if (type_size[type] == type_size[is] && bits && (type_is_float(type) || type_is_signed(type)))
        f->type[o.reg] = (u8)type;
}

void trace_types(struct traced *f, struct arena *a)
{
    const struct lowered *l = f->low;
    f->type = NEW_ARRAY(a, u8, l->nreg + 1);
    if (l->nreg) memcpy(f->type, l->reg_type, l->nreg);
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        if (o->form < 0) continue;
        if (o->kind == K_MEM && o->site < l->nsite && (lop_is_load(o) || lop_is_store(o))) {
            for (u32 j = 0; j < l->site[o->site].vec; j++)
                learn(f, *lop_data(o, j), (enum ptx_type)l->site[o->site].type);
        } else if (o->kind <= K_PRED) {
            for (u32 j = 0; j <= isa_forms[o->form].nsrc; j++)
                learn(f, j ? *lop_src(o, j - 1) : *lop_dst(o, 0), (enum ptx_type)isa_forms[o->form].op[j]);
        }
    }
}

/* ---- which value ---- */

static u64 cut(u64 v, u32 width) { return width < 8 ? v & ((1ull << 8 * width) - 1) : v; }

bool trace_values(const struct warp *w, const struct traced *f, u32 r, u64 v[LANES])
{
    const struct code *c = w->code;
    u32 width = f->low->reg_width[r];
    if (width > 8) return false;
    for (u32 hops = 0; hops < f->low->nreg; hops++) {
        const struct where *x = &c->reg[r];
        if (x->slot && x->width == 1) {
            v[0] = *(const u32 *)(const void *)SLOT(w->R, x->slot);
            return true;
        }
        if (x->slot) {
            for (u32 l = 0; l < LANES; l++) v[l] = lane_value(w, c, w->R, x->slot, x->cls, x->width, l);
            return true;
        }
        struct opnd o = f->is[r];
        if (o.kind == O_NONE) return false;
        if (o.kind != O_REG) {
            for (u32 l = 0; l < LANES; l++) v[l] = cut(opnd_value(w, o, l), width);
            return true;
        }
        r = o.reg;
    }
    return false;
}

/* ---- as text ---- */

/* The fewest digits that give the same number back. */
static void add_float(struct text *t, double x, bool narrow)
{
    char z[40];
    for (int digits = narrow ? 6 : 15; digits <= 17; digits++) {
        double_digits(x, digits, z, sizeof z);
        double back = double_read(z, NULL);
        if (narrow ? (float)back == (float)x : back == x) break;
    }
    text_add(t, "%s", z);
}

static s64 extended(u64 v, u32 width)
{
    u32 up = 64 - 8 * width;
    return (s64)(v << up) >> up;
}

static const struct mem_object *trace_object(const struct trace *tr, enum ptx_type type, u64 v)
{
    return type_size[type] == 8 && !type_is_float(type) && v > 0xffff ? mem_find(tr->l->sim->mem, v) : NULL;
}

static void add_scalar(struct text *t, const struct trace *tr, enum ptx_type type, u64 v)
{
    u32 width = type_size[type];
    const struct mem_object *o = trace_object(tr, type, v);
    s64 s = extended(v, width ? width : 8);
    if (type == T_F32) {
        u32 bits = (u32)v;
        float x;
        memcpy(&x, &bits, 4);
        add_float(t, x, true);
    } else if (type == T_F64) {
        double x;
        memcpy(&x, &v, 8);
        add_float(t, x, false);
    } else if (o) {
        text_add(t, "%s+0x%" PRIx64, o->name, v - o->base);
    } else if (type_is_signed(type)) {
        text_add(t, "%" PRId64, s);
    } else if (type_is_float(type) || (v > 0xffffff && s < -0xffff) ||
               (v > 0xffffff && s > 0xffffff && type <= T_B128)) {
        text_add(t, "0x%" PRIx64, v);
    } else if (type <= T_B128 && s < 0) {
        text_add(t, "%" PRId64, s); /* plain bits, and a small negative number */
    } else {
        text_add(t, "%" PRIu64, v);
    }
}

/* v[l] = v[first] + stride * (l - first) for all lanes of the mask, in the width of the type. */
static bool is_affine(enum ptx_type type, const u64 v[LANES], u32 mask, s64 *stride)
{
    u32 first = (u32)__builtin_ctz(mask), rest = mask & (mask - 1), width = type_size[type];
    if (type_is_float(type) || !rest || !(rest & (rest - 1)) || !width) return false;
    u32 second = (u32)__builtin_ctz(rest);
    s64 step = extended(v[second] - v[first], width);
    if (step % (s64)(second - first)) return false;
    *stride = step / (s64)(second - first);
    EACH_SET (l, rest) {
        if (cut(v[first] + (u64)*stride * (l - first), width) != cut(v[l], width)) return false;
    }
    return true;
}

/* From lane 0 on when that is the same number line: a plain number, or an address in the same object; else from the
 * first lane on. */
static void add_affine(struct text *t, const struct trace *tr, enum ptx_type type, u64 v, u32 first, s64 stride)
{
    u64 zero = cut(v - (u64)stride * first, type_size[type]);
    if (trace_object(tr, type, zero) == trace_object(tr, type, v)) {
        v = zero;
        first = 0;
    }
    if (v) add_scalar(t, tr, type, v);
    if (v || stride < 0) text_add(t, stride < 0 ? "-" : "+");
    if (stride != 1 && stride != -1) text_add(t, "%" PRIu64 "*", (u64)(stride < 0 ? -stride : stride));
    text_add(t, first ? "(lane-%u)" : "lane", first);
}

static void add_list(struct text *t, const struct trace *tr, enum ptx_type type, const u64 v[LANES], u32 mask)
{
    text_add(t, "[");
    for (u32 m = mask; m;) {
        u64 x = v[__builtin_ctz(m)];
        u32 n = 0;
        for (; m && v[__builtin_ctz(m)] == x; m &= m - 1) n++;
        add_scalar(t, tr, type, x);
        if (n > 1) text_add(t, "*%u", n);
        text_add(t, m ? " " : "]");
    }
}

void trace_value_text(struct text *t, const struct trace *tr, enum ptx_type type, const u64 v[LANES], u32 mask)
{
    s64 stride;
    if (!mask) {
        text_add(t, "-");
        return;
    }
    if (type == T_PRED) {
        u32 on = (u32)v[0] & mask;
        text_add(t, on == mask ? "true" : !on ? "false" : "%08x", on);
        return;
    }
    u32 first = (u32)__builtin_ctz(mask), same = lanes_alike(v, mask);
    if (same == mask) {
        add_scalar(t, tr, type, v[first]);
    } else if (is_affine(type, v, mask, &stride)) {
        add_affine(t, tr, type, v[first], first, stride);
    } else {
        add_list(t, tr, type, v, mask);
    }
}
