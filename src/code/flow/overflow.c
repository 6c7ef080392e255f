/* Which operations lead from 32-bit arithmetic to an address (overflow.h). */
#include "flow/overflow.h"
#include "flow/worklist.h"

static bool is_sign_extension(const struct lop *o)
{
    const struct isa_form *f = &isa_forms[o->form];
    return o->shape == SHAPE_CONVERT && f->type == T_S32 && type_size[f->dtype] == 8;
}

enum { NARROW = 1, WIDE = 2 };
struct overflow_trace {
    struct lowered *l;
    u8 *reg;                  /* by register: it is on the way to an address, as NARROW or WIDE */
    struct op_lists definers; /* by register */
    struct worklist due;      /* operations that write such a register */
};

static void want(struct overflow_trace *t, const struct opnd *o, u8 what)
{
    if (o->kind != O_REG || t->reg[o->reg] & what || t->l->reg_width[o->reg] != (what == NARROW ? 4 : 8)) return;
    t->reg[o->reg] |= what;
    worklist_add_all(&t->due, &t->definers, o->reg);
}

/* When operation k defines a register on the way to an address: marks k and its sources. */
static void trace_back(struct overflow_trace *t, u32 k)
{
    struct lowered *l = t->l;
    const struct lop *o = &l->op[k];
    const struct opnd *d = lop_dst(o, 0);
    if (o->dead || o->kind != K_LANE || d->kind != O_REG || o->form < 0) return;
    u8 what = t->reg[d->reg], flags = 0;
    u32 width = l->reg_width[d->reg];
    enum ptx_type type = (enum ptx_type)isa_forms[o->form].type;
    bool a = false, b = false, c = false; /* operands that go on in the same width */
    if (!what || type_is_float(type)) return;
    switch (o->shape) {
    case SHAPE_ADD:
    case SHAPE_SUB:
    case SHAPE_MUL:
    case SHAPE_MAD:
        a = b = true;
        c = o->shape == SHAPE_MAD;
        flags = width == 4 ? OVERFLOW_NARROW | OVERFLOW_CARRY : OVERFLOW_CARRY;
        break;
    case SHAPE_SHL:
    case SHAPE_NEG:
        a = true;
        flags = width == 4 ? OVERFLOW_NARROW | OVERFLOW_CARRY : OVERFLOW_CARRY;
        break;
    case SHAPE_MOVE:
    case SHAPE_ADDRESS:
        a = true;
        flags = OVERFLOW_CARRY;
        break;
    case SHAPE_SELECT:
    case SHAPE_MIN:
    case SHAPE_MAX:
        a = b = true;
        flags = OVERFLOW_CARRY;
        break;
    case SHAPE_MUL_WIDE:
    case SHAPE_MAD_WIDE:
        if (type == T_S32) {
            want(t, lop_src(o, 0), NARROW);
            want(t, lop_src(o, 1), NARROW);
        }
        if (o->shape == SHAPE_MAD_WIDE) want(t, lop_src(o, 2), WIDE);
        flags = OVERFLOW_CARRY;
        break;
    case SHAPE_CONVERT:
        if (!is_sign_extension(o)) return;
        want(t, lop_src(o, 0), NARROW);
        flags = OVERFLOW_CARRY;
        break;
    default: return;
    }
    u8 same = width == 4 ? NARROW : WIDE;
    if (a) want(t, lop_src(o, 0), same);
    if (b) want(t, lop_src(o, 1), same);
    if (c) want(t, lop_src(o, 2), same);
    l->overflow[k] = flags;
}

void overflow_find(struct lowered *l)
{
    struct arena tmp = { 0 };
    struct overflow_trace t = { .l = l,
                                .reg = NEW_ARRAY(&tmp, u8, l->nreg + 1),
                                .definers = op_definers(l, &tmp),
                                .due = worklist_new(l->nop, &tmp) };
    u32 narrow = 0;
    l->overflow = NEW_ARRAY(&l->mem, u8, l->nop + 1);
    for (u32 k = 0; k < l->nsite; k++) {
        const struct lop *o = &l->op[l->site[k].op];
        const struct opnd *at = lop_src(o, l->site[k].which);
        if (l->site[k].addr_width == 8 && at->kind == O_REG) {
            if (!(t.reg[at->reg] & WIDE)) worklist_add_all(&t.due, &t.definers, at->reg);
            t.reg[at->reg] |= WIDE;
            l->overflow[l->site[k].op] = OVERFLOW_USE;
        }
    }
    for (u32 k; worklist_take(&t.due, &k);) trace_back(&t, k);
    u8 *held = NEW_ARRAY(&tmp, u8, l->nreg + 1); /* may hold a result that overflowed */
    for (u32 k = 0; k < l->nop; k++) {
        narrow += l->overflow[k] & OVERFLOW_NARROW;
        if (l->overflow[k] & OVERFLOW_CARRY) held[lop_dst(&l->op[k], 0)->reg] = 1;
    }
    for (u32 k = 0; k < l->nop; k++) {
        if (l->overflow[k] & OVERFLOW_CARRY || l->op[k].dead || l->op[k].kind == K_CTRL) continue;
        EACH_DEF (r, &l->op[k]) {
            if (held[r]) l->overflow[k] |= OVERFLOW_CLEAR;
        }
    }
    if (!narrow) l->overflow = NULL;
    arena_free(&tmp);
}

static bool reads(const struct lop *o, const u8 *reg)
{
    for (u32 k = 0; k < o->nsrc; k++)
        if (lop_src(o, k)->kind == O_REG && reg[lop_src(o, k)->reg]) return true;
    return false;
}

/* Of all operations on the way to addresses, those that can overflow and those that use their results. Code that
 * watches fewer is made again. */
static void watch_hot(struct lowered *l, const u8 *hot)
{
    struct arena tmp = { 0 };
    u8 *reg = NEW_ARRAY(&tmp, u8, l->nreg + 1), *on = NEW_ARRAY(&tmp, u8, l->nop + 1);
    bool more = false;
    struct op_lists users = op_users(l, &tmp);
    struct worklist due = worklist_new(l->nop, &tmp);
    for (u32 k = 0; k < l->nop; k++)
        if (hot[k]) worklist_add(&due, k);
    for (u32 k; worklist_take(&due, &k);) {
        const struct lop *o = &l->op[k];
        if (on[k] || !(l->overflow[k] & OVERFLOW_CARRY) || !(hot[k] || reads(o, reg))) continue;
        on[k] = 1;
        reg[lop_dst(o, 0)->reg] = 1;
        worklist_add_all(&due, &users, lop_dst(o, 0)->reg);
    }
    if (!l->overflow_on) l->overflow_on = NEW_ARRAY(&l->mem, u8, l->nop + 1);
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        u8 flags = on[k] ? l->overflow[k] : l->overflow[k] & OVERFLOW_USE && reads(o, reg) ? OVERFLOW_USE : 0;
        /* whatever else writes such a register ends what is remembered of it: a constant that is moved to it, too */
        if (l->overflow[k] & (OVERFLOW_CLEAR | OVERFLOW_CARRY))
            EACH_DEF (r, o) flags |= reg[r] ? l->overflow[k] & (OVERFLOW_CLEAR | OVERFLOW_CARRY) : 0;
        more |= flags & ~l->overflow_on[k];
        l->overflow_on[k] |= flags;
    }
    for (u32 g = 0; g < 6 && more; g++)
        for (u32 w = WATCH_OVERFLOW; w < WATCH_SETS; w++) l->code[g][0][w] = l->code[g][1][w] = NULL;
    arena_free(&tmp);
}

bool overflow_possible(struct lowered *kernel, const struct launch_facts *in)
{
    for (u32 k = 0; k < kernel->ncall; k++)
        if (!kernel->call[k].builtin) return true; /* values are not followed into functions */
    if (!kernel->overflow) return false;
    u64 key = str_hash((struct str){ in->params, in->param_bytes }) * 31 +
              str_hash((struct str){ (const char *)in->grid, sizeof in->grid }) * 7 +
              str_hash((struct str){ (const char *)in->block, sizeof in->block });
    if (!kernel->overflow_key || kernel->overflow_key != key) {
        u8 *hot = base_need(kernel->nop + 1);
        kernel->overflow_may = intervals_may_overflow(kernel, in, hot);
        kernel->overflow_key = key;
        if (kernel->overflow_may) watch_hot(kernel, hot);
        base_free(hot);
        if (stop_asked()) kernel->overflow_key = 0; /* what was found is not all */
    }
    return kernel->overflow_may;
}
