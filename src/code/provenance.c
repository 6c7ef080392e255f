/* Provenance: which object an address was made from (rules.md B).
 *
 * Most pointers reach their access from a parameter or a symbol by copies, additions and selections that can be
 * followed in the text. For those the object is known per memory instruction, before the first lane runs, and costs
 * nothing. Only where the text cannot tell (pointers loaded from memory, merges of different objects) does a register
 * carry its object at run time, in a tag plane: one object id a lane, 0 for a plain number, TAG_MIXED for arithmetic
 * between pointers. */
#include "code/provenance.h"
#include "code/lower.h"

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

struct root root_of_operand(const struct lowered *l, struct opnd o, u32 width)
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

/* frame + constant: where DWARF says what lies there, the address is that variable's (rules.md B5). */
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
    struct root a = root_of_operand(l, *lop_src(o, 0), MIN_OF(given, width)),
                b = root_of_operand(l, *lop_src(o, 1), width), c = root_of_operand(l, *lop_src(o, 2), width);
    u32 rule = o->form < 0 ? PROV_NONE : isa_forms[o->form].prov;
    if (o->kind == K_WARP && !(o->flags & ISA_SHUFFLE)) return none;
    if (o->kind == K_LANE && type_is_float((enum ptx_type)isa_forms[o->form].type)) return none;
    bool early = a.kind == ROOT_UNSET || b.kind == ROOT_UNSET;
    switch (rule) {
    case PROV_KEEP: return a;
    case PROV_ADD: return part_of(sum(a, b), *lop_src(o, a.kind == ROOT_VAR));
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
    l->root = NEW_ARRAY(&l->mem, struct root, l->nreg + 1);
    l->tag = NEW_ARRAY(&l->mem, u32, l->nreg + 1);
    for (bool again = true; again;) {
        again = false;
        for (u32 k = 0; k < l->nop; k++) {
            const struct lop *o = &l->op[k];
            EACH_DEF (r, o) {
                u32 w = l->reg_width[r];
                struct root t = w != 4 && w != 8 ? (struct root){ .kind = ROOT_NONE } : transfer(l, o, w);
                t = join_in(l->root[r], t, w);
                if (!same(t, l->root[r]) && l->root[r].kind != ROOT_DYN) {
                    l->root[r] = t;
                    again = true;
                }
            }
        }
    }
    for (u32 k = 0; k < l->nreg; k++)
        if (l->root[k].kind == ROOT_DYN) l->tag[k] = ++l->ntag;
    for (u32 k = 0; k < l->nsite; k++) {
        const struct lop *o = &l->op[l->site[k].op];
        struct root t = root_of_operand(l, *lop_src(o, l->site[k].which), l->site[k].addr_width);
        l->site[k].root = t.kind == ROOT_UNSET ? (struct root){ .kind = ROOT_NONE } : t;
    }
}
