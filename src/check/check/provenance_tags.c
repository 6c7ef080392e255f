/* Tag planes: the object behind a pointer, for registers of which the text does not tell it (flow/provenance.h). A tag
 * is an object id a lane, 0 for a plain number, TAG_MIXED for arithmetic between pointers. */
#include "flow/provenance.h"
#include "units/attachments.h"
#include "check/escape.h"
#include "sim/handlers.h"
#include "sim/lanes.h"

static u32 tag_object(const struct warp *w, u64 value)
{
    struct mem_object *o = mem_find(w->cta->launch->sim->mem, value);
    return o ? o->id : 0;
}

u32 tag_of(const struct warp *w, const struct lowered *l, struct opnd o, u32 lane)
{
    struct provenance r = provenance_of(l, o, 8);
    switch (r.kind) {
    case FROM_TAG: return w->cur->fr->tags[(l->tag[o.reg] - 1) * LANES + lane];
    case FROM_PARAM: {
        u64 v;
        memcpy(&v, w->cta->launch->param.block + r.off, 8);
        return tag_object(w, v);
    }
    case FROM_VAR: return r.var->space == SP_GLOBAL || r.var->space == SP_CONST ? tag_object(w, r.var->addr) : 0;
    case FROM_MIXED: return TAG_MIXED;
    default: return 0;
    }
}

/* The tags of an operand in all lanes: only those of FROM_TAG differ from lane to lane. */
struct tags {
    const u32 *plane; /* NULL: `all` is that of every lane */
    u32 all;
};

static struct tags tags_of(const struct warp *w, const struct lowered *l, struct opnd o)
{
    const u32 *plane = tag_plane(w, l, o);
    return plane ? (struct tags){ plane, 0 } : (struct tags){ NULL, tag_of(w, l, o, 0) };
}

const u32 *tag_plane(const struct warp *w, const struct lowered *l, struct opnd o)
{
    return o.kind == O_REG && l->prov[o.reg].kind == FROM_TAG ? &w->cur->fr->tags[(l->tag[o.reg] - 1) * LANES] : NULL;
}

static inline u32 tag_in(const struct tags *t, u32 lane) { return t->plane ? t->plane[lane] : t->all; }
static inline bool no_pointer(const struct tags *t) { return !t->plane && !t->all; }

/* Which of two operands a result is, lane by lane. */
static u32 first_chosen(const struct warp *w, const struct lowered *l, const struct lop *o, const struct insn *i)
{
    if (o->shape == SHAPE_SELECT) return *(const u32 *)(const void *)SLOT(w->R, i->c);
    u32 n = l->reg_width[lop_dst(o, 0)->reg], first = 0;
    u64 d[LANES], a[LANES];
    lane_values(w->code, w->R, i->d, CLS_AT(i, 0), n, d);
    lane_values(w->code, w->R, i->a, CLS_AT(i, 1), n, a);
    for (u32 k = 0; k < LANES; k++) first |= (u32)(d[k] == a[k]) << k;
    return first;
}

/* The tag of a + b, a - b or a & b; of a choice: of the first, if it was chosen. */
static inline u32 tag_combined(u32 prov, u32 a, u32 b)
{
    return prov == PROV_ADD   ? (a && b ? TAG_MIXED : a | b)
           : prov == PROV_SUB ? (b ? TAG_MIXED : a)
                              : (a && b ? 0 : a | b);
}

/* The tags of the result: mostly those of one operand, since the other is not a pointer. `out` is for the others. */
static struct tags tag_results(const struct warp *w, const struct lowered *l, const struct lop *o, const struct insn *i,
                               u32 out[LANES])
{
    u32 prov = isa_forms[o->form].prov;
    switch (prov) {
    case PROV_KEEP: return tags_of(w, l, *lop_src(o, 0));
    case PROV_MAD: return tags_of(w, l, *lop_src(o, 2));
    case PROV_ADD:
    case PROV_SUB:
    case PROV_AND:
    case PROV_CHOICE: break;
    default: return (struct tags){ NULL, 0 };
    }
    struct tags a = tags_of(w, l, *lop_src(o, 0)), b = tags_of(w, l, *lop_src(o, 1));
    if (prov == PROV_CHOICE) {
        u32 first = first_chosen(w, l, o, i);
        for (u32 k = 0; k < LANES; k++) out[k] = tag_in(first >> k & 1 ? &a : &b, k);
        return (struct tags){ out, 0 };
    }
    if (no_pointer(&b)) return a;
    if (no_pointer(&a) && prov != PROV_SUB) return b;
    if (!a.plane && !b.plane) return (struct tags){ NULL, tag_combined(prov, a.all, b.all) };
    for (u32 k = 0; k < LANES; k++) out[k] = tag_combined(prov, tag_in(&a, k), tag_in(&b, k));
    return (struct tags){ out, 0 };
}

/* A register that a load or atomic filled with element k of its access: look its value up. */
void tags_loaded(const struct access *a, u32 k, struct opnd o, u32 slot, u32 cls)
{
    struct warp *w = a->warp;
    const struct lowered *l = w->code->low;
    if (o.kind != O_REG || !l->tag[o.reg]) return;
    u32 *t = w->cur->fr->tags + (l->tag[o.reg] - 1) * LANES;
    u64 last = 0;
    u32 id = 0;
    for (u32 lane = 0; lane < LANES; lane++) {
        if (!(a->mask >> lane & 1)) continue;
        u64 v = lane_value(w, w->code, w->R, slot, cls, l->reg_width[o.reg], lane);
        if (v != last) {
            id = tag_object(w, v);
            last = v;
        }
        t[lane] = id;
        if (unlikely(w->cta->launch->attached[AT_escapes] != NULL) && !id && a->ok >> lane & 1)
            t[lane] = escape_loaded(w, lane, a->ptr[lane] + (u64)k * a->site->width, v);
    }
}

/* Runs the operation, then says which object its result points into. */
int provenance_tagged(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct lowered *l = w->code->low;
    const struct lop *o = &l->op[i->op];
    u32 out[LANES], mask = active_lanes(w, R, i);
    struct tags result;
    /* the destination may be a source: tags are found first where the result is not needed */
    bool before = isa_forms[o->form].prov != PROV_CHOICE || o->shape == SHAPE_SELECT;
    if (before) result = tag_results(w, l, o, i, out);
    int ev = handler_under(w, i, LAYER_TAG)(R, i, w);
    if (!before) result = tag_results(w, l, o, i, out);
    u32 *t = w->cur->fr->tags + (l->tag[lop_dst(o, 0)->reg] - 1) * LANES;
    if (result.plane == t) return ev;
    if (mask == ALL_LANES && result.plane)
        memcpy(t, result.plane, sizeof out);
    else if (mask == ALL_LANES)
        for (u32 k = 0; k < LANES; k++) t[k] = result.all;
    else
        EACH_SET (l, mask) t[l] = tag_in(&result, l);
    return ev;
}
