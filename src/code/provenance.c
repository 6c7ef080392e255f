/* Provenance: which object an address was made from (rules.md B).
 *
 * Most pointers reach their access from a parameter or a symbol by copies, additions and selections that can be
 * followed in the text. For those the object is known per memory instruction, before the first lane runs, and costs
 * nothing. Only where the text cannot tell (pointers loaded from memory, merges of different objects) does a register
 * carry its object at run time, in a tag plane: one object id a lane, 0 for a plain number, TAG_MIXED for arithmetic
 * between pointers. */
#include "code/provenance.h"

static bool same(struct provenance a, struct provenance b)
{
    return a.kind == b.kind && a.off == b.off && a.var == b.var && a.is_start == b.is_start;
}

static struct provenance join(struct provenance a, struct provenance b)
{
    if (a.kind == FROM_UNSET) return b;
    if (b.kind == FROM_UNSET) return a;
    if (same(a, b)) return a;
    if (a.kind == b.kind && a.off == b.off && a.var == b.var)
        return (struct provenance){ .kind = a.kind, .off = a.off, .var = a.var };
    return (struct provenance){ .kind = FROM_TAG };
}

/* A 32-bit register holds a shared address, of one array or of any of them, or half of a pointer on its way through a
 * shuffle; only the halves of pointers are worth a tag plane. */
static bool in_device_memory(struct provenance r)
{
    return r.kind == FROM_PARAM || r.kind == FROM_TAG ||
           (r.kind == FROM_VAR && (r.var->space == SP_GLOBAL || r.var->space == SP_CONST));
}

static struct provenance join_in(struct provenance a, struct provenance b, u32 width)
{
    struct provenance t = join(a, b);
    if (t.kind == FROM_TAG && width != 8 && !in_device_memory(a) && !in_device_memory(b))
        t = (struct provenance){ .kind = FROM_MIXED };
    return t;
}

struct provenance provenance_of(const struct lowered *l, struct opnd o, u32 width)
{
    if (o.kind == O_REG) return l->prov[o.reg];
    if (o.kind == O_CONST && o.reg)
        return (struct provenance){ .kind = FROM_VAR,
                                    .var = l->sym[o.reg - 1],
                                    .is_start = o.value == l->sym[o.reg - 1]->offset };
    if (o.kind == O_PARAM && width == 8) return (struct provenance){ .kind = FROM_PARAM, .off = (u32)o.value };
    return (struct provenance){ .kind = FROM_NONE };
}

/* A pointer plus a number keeps its object; the sum of two pointers belongs to none. */
static struct provenance sum(struct provenance a, struct provenance b)
{
    if (a.kind == FROM_UNSET || b.kind == FROM_UNSET) return (struct provenance){ 0 };
    if (a.kind == FROM_NONE) return b;
    if (b.kind == FROM_NONE) return a;
    return (struct provenance){ .kind = a.kind == FROM_TAG || b.kind == FROM_TAG ? FROM_TAG : FROM_MIXED };
}

/* The same object, somewhere in it. */
static struct provenance inside(struct provenance r)
{
    r.is_start = false;
    return r;
}

/* frame + constant: where DWARF says what lies there, the address is that variable's (rules.md B5). */
static struct provenance part_of(struct provenance r, struct opnd n)
{
    if (r.kind != FROM_VAR || !r.is_start || r.var->space != SP_LOCAL) return inside(r);
    if (n.kind == O_SREG && n.reg == SR_LOCAL_BASE) return r; /* where the frame of a call begins */
    if (n.kind != O_CONST || n.reg) return inside(r);
    if (n.comp) return r; /* cvta: the same place, as a generic address */
    for (u32 k = 0; k < r.var->npart; k++)
        if (n.value - r.var->part[k].within < r.var->part[k].size)
            return (struct provenance){ .kind = FROM_VAR, .var = &r.var->part[k] };
    return inside(r);
}

static struct provenance transfer(const struct lowered *l, const struct lop *o, u32 width)
{
    struct provenance none = { .kind = FROM_NONE };
    /* a conversion may read fewer bytes than it writes */
    u32 given = o->kind == K_LANE && o->form >= 0 ? type_size[isa_operand_type(&isa_forms[o->form], 1)] : width;
    struct provenance a = provenance_of(l, *lop_src(o, 0), MIN_OF(given, width)),
                      b = provenance_of(l, *lop_src(o, 1), width), c = provenance_of(l, *lop_src(o, 2), width);
    u32 rule = o->form < 0 ? PROV_NONE : isa_forms[o->form].prov;
    if (o->kind == K_WARP && !(o->flags & ISA_SHUFFLE)) return none;
    if (o->kind == K_LANE && type_is_float((enum ptx_type)isa_forms[o->form].type)) return none;
    bool early = a.kind == FROM_UNSET || b.kind == FROM_UNSET;
    switch (rule) {
    case PROV_KEEP: return a;
    case PROV_ADD: return part_of(sum(a, b), *lop_src(o, a.kind == FROM_VAR));
    case PROV_SUB:
        return b.kind == FROM_NONE ? inside(a)
               : early
                   ? (struct provenance){ 0 }
                   : (struct provenance){ .kind = a.kind == FROM_TAG || b.kind == FROM_TAG ? FROM_TAG : FROM_MIXED };
    case PROV_MAD: return inside(c);
    case PROV_AND:
        return b.kind == FROM_NONE   ? inside(a)
               : a.kind == FROM_NONE ? inside(b)
               : early               ? (struct provenance){ 0 }
                                     : none;
    case PROV_CHOICE: return join_in(a, b, width);
    case PROV_LOAD: return width == 8 && l->site[o->site].width == 8 ? (struct provenance){ .kind = FROM_TAG } : none;
    default: return none;
    }
}

void provenance_find(struct lowered *l)
{
    l->prov = NEW_ARRAY(&l->mem, struct provenance, l->nreg + 1);
    l->tag = NEW_ARRAY(&l->mem, u32, l->nreg + 1);
    for (bool again = true; again;) {
        again = false;
        for (u32 k = 0; k < l->nop; k++) {
            const struct lop *o = &l->op[k];
            EACH_DEF (r, o) {
                u32 w = l->reg_width[r];
                struct provenance t = w != 4 && w != 8 ? (struct provenance){ .kind = FROM_NONE } : transfer(l, o, w);
                t = join_in(l->prov[r], t, w);
                if (!same(t, l->prov[r]) && l->prov[r].kind != FROM_TAG) {
                    l->prov[r] = t;
                    again = true;
                }
            }
        }
    }
    for (u32 k = 0; k < l->nreg; k++)
        if (l->prov[k].kind == FROM_TAG) l->tag[k] = ++l->ntag;
    for (u32 k = 0; k < l->nsite; k++) {
        const struct lop *o = &l->op[l->site[k].op];
        struct provenance t = provenance_of(l, *lop_src(o, l->site[k].which), l->site[k].addr_width);
        l->site[k].prov = t.kind == FROM_UNSET ? (struct provenance){ .kind = FROM_NONE } : t;
    }
}
