/* Provenance: which object an address was made from (RULES.md B).
 *
 * Most pointers reach their access from a parameter or a symbol by copies, additions and selections that can be
 * followed in the text. For those the object is known per memory instruction, before the first lane runs, and costs
 * nothing. Only where the text cannot tell (pointers loaded from memory, merges of different objects) does a register
 * carry its object at run time, in a tag plane: one object id a lane, 0 for a plain number, TAG_MIXED for arithmetic
 * between pointers. */
#include "code/lower.h"
#include "sim/access.h"
#include "sim/lanes.h"

static bool same(struct root a, struct root b)
{
    return a.kind == b.kind && a.off == b.off && a.var == b.var && a.is_start == b.is_start;
}

static struct root join(struct root a, struct root b)
{
    if (a.kind == ROOT_UNSET) return b;
    if (b.kind == ROOT_UNSET) return a;
    if (same(a, b)) return a;
    if (a.kind == b.kind && a.off == b.off && a.var == b.var)
        return (struct root){ .kind = a.kind, .off = a.off, .var = a.var };
    return (struct root){ .kind = ROOT_DYN };
}

/* A 32-bit register holds a shared address, of one array or of any of them, or half of a pointer on its way through a
 * shuffle; only the halves of pointers are worth a tag plane. */
static bool in_device_memory(struct root r)
{
    return r.kind == ROOT_PARAM || r.kind == ROOT_DYN ||
           (r.kind == ROOT_VAR && (r.var->space == SP_GLOBAL || r.var->space == SP_CONST));
}

static struct root join_in(struct root a, struct root b, u32 width)
{
    struct root t = join(a, b);
    if (t.kind == ROOT_DYN && width != 8 && !in_device_memory(a) && !in_device_memory(b))
        t = (struct root){ .kind = ROOT_MIXED };
    return t;
}

static struct root of_operand(const struct lowered *l, struct opnd o, u32 width)
{
    if (o.kind == O_REG) return l->root[o.reg];
    if (o.kind == O_CONST && o.reg)
        return (struct root){ .kind = ROOT_VAR,
                              .var = l->sym[o.reg - 1],
                              .is_start = o.value == l->sym[o.reg - 1]->offset };
    if (o.kind == O_PARAM && width == 8) return (struct root){ .kind = ROOT_PARAM, .off = (u32)o.value };
    return (struct root){ .kind = ROOT_NONE };
}

/* pointer + number keeps the pointer; pointer with pointer is anybody's guess */
static struct root sum(struct root a, struct root b)
{
    if (a.kind == ROOT_UNSET || b.kind == ROOT_UNSET) return (struct root){ 0 };
    if (a.kind == ROOT_NONE) return b;
    if (b.kind == ROOT_NONE) return a;
    return (struct root){ .kind = a.kind == ROOT_DYN || b.kind == ROOT_DYN ? ROOT_DYN : ROOT_MIXED };
}

/* The same object, somewhere in it. */
static struct root inside(struct root r)
{
    r.is_start = false;
    return r;
}

/* frame + constant: where DWARF says what lies there, the address is that variable's (RULES.md B5). */
static struct root part_of(struct root r, struct opnd n)
{
    if (r.kind != ROOT_VAR || !r.is_start || r.var->space != SP_LOCAL) return inside(r);
    if (n.kind == O_SREG && n.reg == SR_LOCAL_BASE) return r; /* where the frame of a call begins */
    if (n.kind != O_CONST || n.reg) return inside(r);
    if (n.comp) return r; /* cvta: the same place, as a generic address */
    for (u32 k = 0; k < r.var->npart; k++)
        if (n.value - r.var->part[k].within < r.var->part[k].size)
            return (struct root){ .kind = ROOT_VAR, .var = &r.var->part[k] };
    return inside(r);
}

static struct root transfer(const struct lowered *l, const struct lop *o, u32 width)
{
    struct root none = { .kind = ROOT_NONE };
    /* a conversion takes less than it gives */
    u32 given = o->kind == K_LANE && o->form >= 0 ? type_size[isa_operand_type(&isa_forms[o->form], 1)] : width;
    struct root a = of_operand(l, o->a, MIN_OF(given, width)), b = of_operand(l, o->b, width),
                c = of_operand(l, o->c, width);
    u32 rule = o->form < 0 ? PROV_NONE : isa_forms[o->form].prov;
    if (o->kind == K_WARP && !(o->flags & ISA_SHUFFLE)) return none;
    if (o->kind == K_LANE && type_is_float((enum ptx_type)isa_forms[o->form].type)) return none;
    bool early = a.kind == ROOT_UNSET || b.kind == ROOT_UNSET;
    switch (rule) {
    case PROV_KEEP: return a;
    case PROV_ADD: return part_of(sum(a, b), a.kind == ROOT_VAR ? o->b : o->a);
    case PROV_SUB:
        return b.kind == ROOT_NONE ? inside(a)
               : early             ? (struct root){ 0 }
                       : (struct root){ .kind = a.kind == ROOT_DYN || b.kind == ROOT_DYN ? ROOT_DYN : ROOT_MIXED };
    case PROV_MAD: return inside(c);
    case PROV_AND:
        return b.kind == ROOT_NONE ? inside(a) : a.kind == ROOT_NONE ? inside(b) : early ? (struct root){ 0 } : none;
    case PROV_CHOICE: return join_in(a, b, width);
    case PROV_LOAD: return width == 8 && l->site[o->site].width == 8 ? (struct root){ .kind = ROOT_DYN } : none;
    default: return none;
    }
}

void roots_find(struct lowered *l)
{
    u32 r[16];
    l->root = NEW_ARRAY(&l->mem, struct root, l->nreg + 1);
    l->tag = NEW_ARRAY(&l->mem, u32, l->nreg + 1);
    for (bool again = true; again;) {
        again = false;
        for (u32 k = 0; k < l->nop; k++) {
            const struct lop *o = &l->op[k];
            u32 n = lop_defs(o, l, r);
            for (u32 j = 0; j < n; j++) {
                u32 w = l->reg_width[r[j]];
                struct root t = w != 4 && w != 8 ? (struct root){ .kind = ROOT_NONE } : transfer(l, o, w);
                t = join_in(l->root[r[j]], t, w);
                if (!same(t, l->root[r[j]]) && l->root[r[j]].kind != ROOT_DYN) {
                    l->root[r[j]] = t;
                    again = true;
                }
            }
        }
    }
    for (u32 k = 0; k < l->nreg; k++)
        if (l->root[k].kind == ROOT_DYN) l->tag[k] = ++l->ntag;
    for (u32 k = 0; k < l->nsite; k++) {
        const struct lop *o = &l->op[l->site[k].op];
        struct root t = of_operand(l, l->site[k].which ? o->b : o->a, l->site[k].addr_width);
        l->site[k].root = t.kind == ROOT_UNSET ? (struct root){ .kind = ROOT_NONE } : t;
    }
}

/* ---- tag planes at run time ---- */

static u32 object_at(const struct warp *w, u64 value)
{
    struct mem_object *o = mem_find(w->cta->launch->sim->mem, value);
    return o ? o->id : 0;
}

u32 tag_of(const struct warp *w, const struct lowered *l, struct opnd o, u32 lane)
{
    struct root r = of_operand(l, o, 8);
    switch (r.kind) {
    case ROOT_DYN: return w->cur->fr->tags[(l->tag[o.reg] - 1) * LANES + lane];
    case ROOT_PARAM: {
        u64 v;
        memcpy(&v, w->cta->launch->param_copy + r.off, 8);
        return object_at(w, v);
    }
    case ROOT_VAR: return r.var->space == SP_GLOBAL || r.var->space == SP_CONST ? object_at(w, r.var->addr) : 0;
    case ROOT_MIXED: return TAG_MIXED;
    default: return 0;
    }
}

/* The tags of an operand in all lanes. Only those of ROOT_DYN differ from lane to lane. */
static void tags_of(const struct warp *w, const struct lowered *l, struct opnd o, u32 out[LANES])
{
    if (of_operand(l, o, 8).kind == ROOT_DYN) {
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
    u32 n = l->reg_width[o->d.reg], first = 0;
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
    case PROV_KEEP: tags_of(w, l, o->a, out); return;
    case PROV_MAD: tags_of(w, l, o->c, out); return;
    case PROV_ADD:
    case PROV_SUB:
    case PROV_AND:
    case PROV_CHOICE: break;
    default: memset(out, 0, sizeof(u32) * LANES); return;
    }
    tags_of(w, l, o->a, out);
    tags_of(w, l, o->b, b);
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
int roots_tagged(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct lowered *l = w->code->low;
    const struct lop *o = &l->op[i->op];
    u32 result[LANES], mask = active_lanes(w, R, i);
    /* the destination may be a source: read tags first where the result is not needed */
    bool before = isa_forms[o->form].prov != PROV_CHOICE || o->shape == SHAPE_SELECT;
    if (before) tag_results(w, l, o, i, result);
    int ev = w->code->tagged[i - w->code->insn](R, i, w);
    if (!before) tag_results(w, l, o, i, result);
    u32 *t = w->cur->fr->tags + (l->tag[o->d.reg] - 1) * LANES;
    if (mask == ALL_LANES) {
        memcpy(t, result, sizeof result);
        return ev;
    }
    for (u32 k = 0; k < LANES; k++)
        if (mask >> k & 1) t[k] = result[k];
    return ev;
}
