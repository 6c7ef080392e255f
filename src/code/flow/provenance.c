/* Provenance: which object an address was made from (rules.md B).
 *
 * Most pointers reach their access from a parameter or a symbol by copies, additions and selections that can be
 * followed in the text. For those the object is known per memory instruction, before the first lane runs, and costs
 * nothing. Only where the text cannot tell (pointers loaded from memory, merges of different objects) does a register
 * carry its object at run time, in a tag plane: one object id a lane, 0 for a plain number, TAG_MIXED for arithmetic
 * between pointers. */
#include "flow/provenance.h"
#include "flow/worklist.h"
#include <stdlib.h>

static bool same(struct provenance a, struct provenance b)
{
    return a.kind == b.kind && a.off == b.off && a.var == b.var && a.is_start == b.is_start && a.mapped == b.mapped;
}

static struct ptx_var *frame_of(struct ptx_var *v) { return v->frame ? v->frame : v; }

/* What holds for a or b. Nothing that holds for one of them alone is kept, and `mapped`, which is a doubt, is never
 * lost: so a register that is joined with more and more goes up a few steps, to FROM_TAG at most. */
static struct provenance join(struct provenance a, struct provenance b)
{
    bool mapped = a.mapped || b.mapped;
    if (a.kind == FROM_UNSET) return b;
    if (b.kind == FROM_UNSET) return a;
    if (same(a, b)) return a;
    if (a.kind == b.kind && a.off == b.off && a.var == b.var)
        return (struct provenance){ .kind = a.kind, .off = a.off, .var = a.var, .mapped = mapped };
    if (a.kind == FROM_VAR && b.kind == FROM_VAR && frame_of(a.var) == frame_of(b.var)) /* one array or the other */
        return (struct provenance){ .kind = FROM_VAR, .var = frame_of(a.var), .mapped = mapped };
    return (struct provenance){ .kind = FROM_TAG, .mapped = mapped };
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
    if (t.kind == FROM_TAG && width != 8 && !in_device_memory(a) && !in_device_memory(b)) t.kind = FROM_MIXED;
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
static struct provenance inside_variable(struct provenance r)
{
    r.is_start = false;
    return r;
}

/* frame + constant: where DWARF, or the code itself, says what lies there, the address is that variable's (rules.md
 * B5). */
static struct provenance part_of(const struct lowered *l, struct provenance r, struct opnd n)
{
    if (r.kind != FROM_VAR || !r.is_start || r.var->space != SP_LOCAL) return inside_variable(r);
    if (n.kind == O_SREG && n.reg == SR_LOCAL_BASE) return r; /* where the frame of a call begins */
    if (n.kind != O_CONST || n.reg) return inside_variable(r);
    if (n.comp) return r; /* cvta: the same place, as a generic address */
    for (u32 k = 0; k < r.var->npart; k++)
        if (n.value - r.var->part[k].within < r.var->part[k].size)
            return (struct provenance){ .kind = FROM_VAR, .var = &r.var->part[k] };
    for (u32 k = 0; k < l->nframe_part; k++)
        if (l->frame_part[k].frame == r.var && n.value - l->frame_part[k].within < l->frame_part[k].size)
            return (struct provenance){ .kind = FROM_VAR, .var = &l->frame_part[k] };
    return inside_variable(r);
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
    case PROV_MAPPED: a.mapped = true; return a;
    case PROV_ADD: return part_of(l, sum(a, b), *lop_src(o, a.kind == FROM_VAR));
    case PROV_SUB:
        return b.kind == FROM_NONE ? inside_variable(a)
               : early
                   ? (struct provenance){ 0 }
                   : (struct provenance){ .kind = a.kind == FROM_TAG || b.kind == FROM_TAG ? FROM_TAG : FROM_MIXED };
    case PROV_MAD: return inside_variable(c);
    case PROV_AND:
        return b.kind == FROM_NONE   ? inside_variable(a)
               : a.kind == FROM_NONE ? inside_variable(b)
               : early               ? (struct provenance){ 0 }
                                     : none;
    case PROV_CHOICE: return join_in(a, b, width);
    case PROV_LOAD: return width == 8 && l->site[o->site].width == 8 ? (struct provenance){ .kind = FROM_TAG } : none;
    default: return none;
    }
}

/* The smallest solution: what every register's address was made from. */
static void solve(struct lowered *l)
{
    struct arena tmp = { 0 };
    struct op_lists users = op_users(l, &tmp);
    struct worklist due = worklist_new(l->nop, &tmp);
    memset(l->prov, 0, sizeof *l->prov * (l->nreg + 1));
    for (u32 k = 0; k < l->nop; k++) worklist_add(&due, k);
    for (u32 k; worklist_take(&due, &k);) {
        const struct lop *o = &l->op[k];
        EACH_DEF (r, o) {
            u32 w = l->reg_width[r];
            struct provenance t = w != 4 && w != 8 ? (struct provenance){ .kind = FROM_NONE } : transfer(l, o, w);
            t = join_in(l->prov[r], t, w);
            if (same(t, l->prov[r]) || l->prov[r].kind == FROM_TAG) continue;
            l->prov[r] = t;
            worklist_add_all(&due, &users, r);
        }
    }
    arena_free(&tmp);
}

/* ---- the arrays in a frame ----
 *
 * LLVM puts all local arrays of a function into one frame, __local_depot, and takes the address of each by adding its
 * offset to where the frame begins, once: `add.u64 %rd2, %SPL, 400`. Places inside of an array are made from that
 * address, never from the frame's. So the offsets that are added to the frame's local address are where arrays begin,
 * and an address that was made from one of them must stay below the next. How long an array is, is not known: there may
 * be padding before the next one. */

static bool is_depot(const struct ptx_var *v)
{
    return v->space == SP_LOCAL && !v->npart && v->name.n > 13 && !memcmp(v->name.p, "__local_depot", 13);
}

/* The offset that an operation adds to the local address where a frame begins; false: it does something else. */
static bool array_begins(const struct lowered *l, const struct lop *o, struct ptx_var **frame, u64 *offset)
{
    if (o->kind != K_LANE || o->form < 0 || o->guard.kind != O_NONE || isa_forms[o->form].prov != PROV_ADD)
        return false;
    const struct opnd *at = lop_src(o, 0), *n = lop_src(o, 1);
    struct provenance r = provenance_of(l, *at, 8);
    if (r.kind != FROM_VAR || !r.is_start || !is_depot(r.var) || n->kind != O_CONST || n->reg || n->comp) return false;
    for (u32 k = 0; at->kind == O_REG && k < l->nop; k++) { /* %SP, the generic address, may have anything added */
        const struct lop *d = &l->op[k];
        bool defines = lop_dst(d, 0)->kind == O_REG && lop_dst(d, 0)->reg == at->reg;
        if (defines && lop_src(d, 1)->kind == O_CONST && lop_src(d, 1)->comp) return false;
    }
    *frame = r.var;
    *offset = n->value;
    return n->value < r.var->size;
}

static int by_place(const void *a, const void *b)
{
    const struct ptx_var *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void find_frame_parts(struct lowered *l)
{
    enum { MOST = 256 };
    struct ptx_var *frame;
    u64 at;
    u32 n = 0;
    bool any = false;
    for (u32 k = 0; k < l->func->nlocal; k++) any |= is_depot(l->func->local[k]);
    if (!any || l->func->module->debug) return;
    struct ptx_var *part = NEW_ARRAY(&l->mem, struct ptx_var, MOST);
    for (u32 k = 0; k < l->nop; k++) {
        if (!array_begins(l, &l->op[k], &frame, &at)) continue;
        u32 j = 0;
        while (j < n && !(part[j].frame == frame && part[j].within == at)) j++;
        if (j == MOST) return;
        if (j == n)
            part[n++] = (struct ptx_var){
                .name = frame->name, .space = SP_LOCAL, .type = T_B8, .align = 1, .vec = 1, .within = at, .frame = frame
            };
        part[j].offset = frame->offset + at;
    }
    qsort(part, n, sizeof *part, by_place);
    for (u32 k = 0; k < n; k++) {
        u64 end = k + 1 < n && part[k + 1].frame == part[k].frame ? part[k + 1].within : part[k].frame->size;
        part[k].size = end - part[k].within;
    }
    l->frame_part = part;
    l->nframe_part = n > 1 ? n : 0; /* one array is the frame */
}

/* Stores that may hand an address of the thread's local memory to another thread. */
static void find_escapes(struct lowered *l)
{
    for (u32 k = 0; k < l->nsite; k++) {
        struct site *s = &l->site[k];
        const struct lop *o = &l->op[s->op];
        if (!lop_is_store(o) || s->width != 8 || s->space == SP_LOCAL || s->space == SP_CALL) continue;
        if (s->prov.kind == FROM_VAR && s->prov.var->space == SP_LOCAL) continue;
        for (u32 j = 0; j < s->vec; j++) {
            struct provenance r = provenance_of(l, *lop_src(o, SRC_DATA + j), 8);
            if (r.kind == FROM_VAR && r.var->space == SP_LOCAL) s->flags |= SITE_LOCAL_ADDRESS;
        }
    }
}

static void find_var_loads(struct lowered *l)
{
    VEC(struct var_load) found = { 0 };
    for (u32 k = 0; k < l->nsite; k++) {
        const struct site *s = &l->site[k];
        const struct ptx_var *v = s->prov.kind == FROM_VAR ? s->prov.var : NULL;
        if (!v || !site_is_load(s) || (v->space != SP_CONST && v->space != SP_GLOBAL)) continue;
        VEC_PUSH(&l->mem, &found, ((struct var_load){ .site = k }));
    }
    l->var_load = found.p;
    l->nvar_load = found.n;
}

void provenance_find(struct lowered *l)
{
    l->prov = NEW_ARRAY(&l->mem, struct provenance, l->nreg + 1);
    l->tag = NEW_ARRAY(&l->mem, u32, l->nreg + 1);
    solve(l);
    find_frame_parts(l);
    if (l->nframe_part) solve(l);
    for (u32 k = 0; k < l->nreg; k++)
        if (l->prov[k].kind == FROM_TAG) l->tag[k] = ++l->ntag;
    for (u32 k = 0; k < l->nsite; k++) {
        const struct lop *o = &l->op[l->site[k].op];
        struct provenance t = provenance_of(l, *lop_src(o, l->site[k].which), l->site[k].addr_width);
        l->site[k].prov = t.kind == FROM_UNSET ? (struct provenance){ .kind = FROM_NONE } : t;
    }
    find_var_loads(l);
    find_escapes(l);
}
