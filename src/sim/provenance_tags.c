/* Tag planes: the object behind a pointer, for registers of which the text does not tell it (code/provenance.h). A tag
 * is an object id a lane, 0 for a plain number, TAG_MIXED for arithmetic between pointers. */
#include "code/provenance.h"
#include "sim/access.h"
#include "sim/handlers.h"
#include "sim/lanes.h"

static u32 object_at(const struct warp *w, u64 value)
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
        memcpy(&v, w->cta->launch->param_copy + r.off, 8);
        return object_at(w, v);
    }
    case FROM_VAR: return r.var->space == SP_GLOBAL || r.var->space == SP_CONST ? object_at(w, r.var->addr) : 0;
    case FROM_MIXED: return TAG_MIXED;
    default: return 0;
    }
}

/* The tags of an operand in all lanes. Only those of FROM_TAG differ from lane to lane. */
static void tags_of(const struct warp *w, const struct lowered *l, struct opnd o, u32 out[LANES])
{
    if (provenance_of(l, o, 8).kind == FROM_TAG) {
        memcpy(out, &w->cur->fr->tags[(l->tag[o.reg] - 1) * LANES], sizeof(u32) * LANES);
        return;
    }
    u32 all = tag_of(w, l, o, 0);
    for (u32 k = 0; k < LANES; k++) out[k] = all;
}

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

/* Whole planes at a time, without branches: a sum of two loaded values is common, and most are no pointers. */
static void tag_results(const struct warp *w, const struct lowered *l, const struct lop *o, const struct insn *i,
                        u32 out[LANES])
{
    u32 b[LANES], prov = isa_forms[o->form].prov;
    switch (prov) {
    case PROV_KEEP: tags_of(w, l, *lop_src(o, 0), out); return;
    case PROV_MAD: tags_of(w, l, *lop_src(o, 2), out); return;
    case PROV_ADD:
    case PROV_SUB:
    case PROV_AND:
    case PROV_CHOICE: break;
    default: memset(out, 0, sizeof(u32) * LANES); return;
    }
    tags_of(w, l, *lop_src(o, 0), out);
    tags_of(w, l, *lop_src(o, 1), b);
    if (prov == PROV_CHOICE) {
        u32 first = first_chosen(w, l, o, i);
        for (u32 k = 0; k < LANES; k++) out[k] = first >> k & 1 ? out[k] : b[k];
    } else if (prov == PROV_ADD)
        for (u32 k = 0; k < LANES; k++) out[k] = out[k] && b[k] ? TAG_MIXED : out[k] | b[k];
    else if (prov == PROV_SUB)
        for (u32 k = 0; k < LANES; k++) out[k] = b[k] ? TAG_MIXED : out[k];
    else
        for (u32 k = 0; k < LANES; k++) out[k] = out[k] && b[k] ? 0 : out[k] | b[k];
}

/* A register that a load or atomic filled: look its value up. */
void tags_loaded(struct warp *w, struct opnd o, u32 slot, u32 cls, u32 mask)
{
    const struct lowered *l = w->code->low;
    if (o.kind != O_REG || !l->tag[o.reg]) return;
    u32 *t = w->cur->fr->tags + (l->tag[o.reg] - 1) * LANES;
    u64 last = 0;
    u32 id = 0;
    for (u32 lane = 0; lane < LANES; lane++) {
        if (!(mask >> lane & 1)) continue;
        u64 v = lane_value(w, w->code, w->R, slot, cls, l->reg_width[o.reg], lane);
        if (v != last) {
            id = object_at(w, v);
            last = v;
        }
        t[lane] = id;
    }
}

/* Runs the operation, then says which object its result points into. */
int provenance_tagged(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct lowered *l = w->code->low;
    const struct lop *o = &l->op[i->op];
    u32 result[LANES], mask = active_lanes(w, R, i);
    /* the destination may be a source: read tags first where the result is not needed */
    bool before = isa_forms[o->form].prov != PROV_CHOICE || o->shape == SHAPE_SELECT;
    if (before) tag_results(w, l, o, i, result);
    int ev = handler_under(w, i, LAYER_TAG)(R, i, w);
    if (!before) tag_results(w, l, o, i, result);
    u32 *t = w->cur->fr->tags + (l->tag[lop_dst(o, 0)->reg] - 1) * LANES;
    if (mask == ALL_LANES) {
        memcpy(t, result, sizeof result);
        return ev;
    }
    for (u32 k = 0; k < LANES; k++)
        if (mask >> k & 1) t[k] = result[k];
    return ev;
}
