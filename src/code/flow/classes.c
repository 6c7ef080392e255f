/* Operand classes: which registers are scalars (S) or affine (A) in every warp, and which blocks may run with lanes
 * missing.
 *
 * Classes only grow (S to A to V), so both questions are answered together by repeating until nothing changes:
 * - the class of a result follows from the operation and the classes of its operands;
 * - a branch on a V predicate is divergent. Its region is what can run before its lanes meet at the post-dominator;
 *   joins are the blocks where different paths from it meet (found like phi nodes are placed, by propagating labels).
 *   A register written in the region is V if it is live at a join, or at a successor where lanes wait while those
 *   that took the lowest-numbered way go on: there, lanes that took different ways would read one scalar. Elsewhere
 *   all lanes that read a scalar saw the same write. (So the counter of a loop that lanes leave one by one stays
 *   affine.)
 * This holds while splits run lowest block first; exec.c leaves the fast code when they do not. */
#include "flow/classes.h"

struct classes {
    struct lowered *l;
    u8 *cls;
    s32 *stride; /* per register */
    u8 *known;   /* some definition was seen */
    u8 *div;     /* per block */
    u64 **defs;  /* per block: registers written */
    u32 group, groups;
    bool changed;
    u64 work; /* blocks that regions had so far, of all branches in all rounds */
};

/* Beyond so much work all registers become V, as in irreducible code: that takes a second or two, and what is won by
 * scalars in a function of that kind is less. (Thousands of branches, each around thousands of blocks.) */
#define WORK_MOST 100000000ull

static const struct lane_class vec = { CLS_V, 0 }, scalar = { CLS_S, 0 };

static struct lane_class affine(const struct classes *c, s64 stride, u32 width)
{
    if (stride != (s32)stride) return vec;
    if (stride == 0 && c->groups == 1) return scalar;
    if (width < 4 || c->group < 4) return vec;
    return (struct lane_class){ CLS_A, (s32)stride };
}

struct lane_class classes_of_sreg(u32 id, u32 comp, u32 group)
{
    u32 groups = LANES / group;
    switch (id) {
    case SR_TID:
        if (comp > 2) return scalar;
        if (comp && groups == 1) return scalar;
        return group < 4 ? vec : (struct lane_class){ CLS_A, comp == 0 };
    case SR_LANEID: return group < 4 ? vec : (struct lane_class){ CLS_A, 1 };
    case SR_LANEMASK_EQ:
    case SR_LANEMASK_LE:
    case SR_LANEMASK_LT:
    case SR_LANEMASK_GE:
    case SR_LANEMASK_GT: return vec;
    default: return scalar;
    }
}

static struct lane_class of(const struct classes *c, struct opnd o)
{
    if (o.kind == O_REG) return c->known[o.reg] ? (struct lane_class){ c->cls[o.reg], c->stride[o.reg] } : scalar;
    if (o.kind == O_SREG) return classes_of_sreg(o.reg, o.comp, c->group);
    return scalar;
}

static bool uniform_in_group(struct lane_class v) { return v.cls == CLS_S || (v.cls == CLS_A && v.stride == 0); }

/* a * b, where one is a constant or both are the same throughout a group */
static s64 factor(u64 v, enum ptx_type type)
{
    s64 x = type_size[type] == 8 ? (s64)v : type_is_signed(type) ? (s64)(s32)v : (s64)(u32)v;
    return x == (s32)x ? x : 1ll << 31; /* too large for any stride */
}

static struct lane_class product(const struct classes *c, struct opnd oa, struct opnd ob, u32 width, enum ptx_type type)
{
    struct lane_class a = of(c, oa), b = of(c, ob);
    if (a.cls == CLS_V || b.cls == CLS_V) return vec;
    if (a.cls == CLS_S && b.cls == CLS_S) return scalar;
    if (uniform_in_group(a) && uniform_in_group(b)) return affine(c, 0, width);
    if (oa.kind == O_CONST && b.cls == CLS_A) return affine(c, b.stride * factor(oa.value, type), width);
    if (ob.kind == O_CONST && a.cls == CLS_A) return affine(c, a.stride * factor(ob.value, type), width);
    return vec;
}

static struct lane_class plus(const struct classes *c, struct lane_class a, struct lane_class b, int sign, u32 width)
{
    if (a.cls == CLS_V || b.cls == CLS_V) return vec;
    if (a.cls == CLS_S && b.cls == CLS_S) return scalar;
    return affine(c, (s64)a.stride + sign * (s64)b.stride, width);
}

/* Any operation on values that are uniform in a group gives a value that is. */
static struct lane_class pointwise(const struct classes *c, const struct lop *o, u32 width, bool is_float)
{
    struct lane_class v = scalar;
    for (u32 k = 0; k < o->nsrc; k++) {
        struct lane_class x = of(c, *lop_src(o, k));
        if (lop_src(o, k)->kind == O_NONE) continue;
        if (!uniform_in_group(x)) return vec;
        if (x.cls == CLS_A) v = affine(c, 0, is_float ? 2 : width);
        if (v.cls == CLS_V) return vec;
    }
    return v;
}

static struct lane_class lane_value_class(const struct classes *c, const struct lop *o, u32 width)
{
    const struct isa_form *f = &isa_forms[o->form];
    u32 tw = type_size[f->type];
    bool is_float = type_is_float((enum ptx_type)f->type) || type_is_float((enum ptx_type)f->dtype);
    const struct opnd *sa = lop_src(o, 0), *sb = lop_src(o, 1);
    struct lane_class a = of(c, *sa), b = of(c, *sb), x = pointwise(c, o, width, is_float);
    if (x.cls != CLS_V || is_float || tw < 4) return x;
    switch (o->shape) {
    case SHAPE_MOVE:
    case SHAPE_ADDRESS: return a;
    case SHAPE_ADD: return plus(c, a, b, 1, width);
    case SHAPE_SUB: return plus(c, a, b, -1, width);
    case SHAPE_MUL:
    case SHAPE_MUL_WIDE: return product(c, *sa, *sb, width, (enum ptx_type)f->type);
    case SHAPE_MAD:
    case SHAPE_MAD_WIDE:
        return plus(c, product(c, *sa, *sb, width, (enum ptx_type)f->type), of(c, *lop_src(o, 2)), 1, width);
    case SHAPE_SHL:
        return a.cls == CLS_A && sb->kind == O_CONST && sb->value < 31
                   ? affine(c, (s64)a.stride * (1ll << sb->value), width)
                   : vec;
    case SHAPE_CONVERT: return a.cls == CLS_A && width >= 4 && type_size[f->dtype] >= 4 ? a : vec;
    case SHAPE_AND: /* a mask of low ones */
        if (a.cls == CLS_A && a.stride > 0 && sb->kind == O_CONST && (sb->value & (sb->value + 1)) == 0 &&
            sb->value < 1u << 31)
            return a;
        return vec;
    case SHAPE_SHR:
        return a.cls == CLS_A && a.stride > 0 && sb->kind == O_CONST && sb->value < 31 ? affine(c, 0, width) : vec;
    case SHAPE_SELECT:
        if (of(c, *lop_src(o, 2)).cls != CLS_S) return vec;
        return a.cls == b.cls && a.stride == b.stride ? a : vec;
    default: return vec;
    }
}

static bool full_mask(struct opnd m) { return m.kind == O_CONST && (u32)m.value == ALL_LANES; }

static struct lane_class load_class(const struct classes *c, const struct lop *o, u32 width)
{
    const struct site *s = &c->l->site[o->site];
    struct lane_class a = of(c, *lop_src(o, SRC_ADDRESS));
    if (!lop_is_load(o) || s->space == SP_LOCAL || s->space == SP_CALL) return vec;
    if (s->space == SP_GENERIC && s->prov.kind != FROM_PARAM &&
        !(s->prov.kind == FROM_VAR && s->prov.var->space != SP_LOCAL))
        return vec;
    if (a.cls == CLS_S) return scalar;
    if (uniform_in_group(a) && !s->is_float && s->vec == 1) return affine(c, 0, width);
    return vec;
}

static struct lane_class result_class(const struct classes *c, const struct lop *o, u32 reg, u32 block)
{
    u32 width = c->l->reg_width[reg];
    if (o->guard.kind == O_REG && of(c, o->guard).cls != CLS_S) return vec;
    switch (o->kind) {
    case K_LANE: return lane_value_class(c, o, width);
    case K_CMP:
    case K_PRED:
        return of(c, *lop_src(o, 0)).cls == CLS_S &&
                       (lop_src(o, 1)->kind == O_NONE || of(c, *lop_src(o, 1)).cls == CLS_S)
                   ? scalar
                   : vec;
    case K_MEM: return load_class(c, o, width);
    case K_WARP:
        if (o->shape == SHAPE_MOVE) return scalar;
        if (!(o->flags & ISA_UNIFORM)) return vec;
        /* no member mask: the result depends on nothing but the lanes that run */
        return lop_src(o, SRC_MEMBERS)->kind == O_NONE || (full_mask(*lop_src(o, SRC_MEMBERS)) && !c->div[block])
                   ? scalar
                   : vec;
    case K_CTRL: return !c->div[block] ? scalar : vec; /* results of barriers */
    default: return vec;
    }
}

static void widen(struct classes *c, u32 r, struct lane_class v)
{
    struct lane_class old = { c->cls[r], c->stride[r] };
    if (!c->known[r]) {
        c->known[r] = 1;
        c->cls[r] = v.cls;
        c->stride[r] = v.stride;
        c->changed = true;
        return;
    }
    if (old.cls == v.cls && old.stride == v.stride) return;
    if (old.cls == CLS_V) return;
    /* S joins A(0): both are A(0) */
    bool both = uniform_in_group(old) && uniform_in_group(v) && c->l->reg_width[r] >= 4;
    v = both ? (struct lane_class){ CLS_A, 0 } : vec;
    if (v.cls == old.cls && v.stride == old.stride) return;
    c->cls[r] = v.cls;
    c->stride[r] = v.stride;
    c->changed = true;
}

static void pass_over_operations(struct classes *c)
{
    for (u32 b = 0; b < c->l->nblock; b++)
        for (u32 k = c->l->block[b].first; k < c->l->block[b].end; k++) {
            const struct lop *o = &c->l->op[k];
            EACH_DEF (r, o) widen(c, r, result_class(c, o, r, b));
        }
}

/* ---- divergence ---- */

static bool branch_diverges(const struct classes *c, const struct block *b)
{
    if (b->first == b->end) return false;
    const struct lop *o = &c->l->op[b->end - 1];
    if (b->term == TERM_BRX) return of(c, *lop_src(o, 0)).cls != CLS_S;
    if (b->term != TERM_BRA || o->guard.kind == O_NONE || of(c, o->guard).cls == CLS_S || b->next == b->target)
        return false;
    return !(b->target != NONE && c->l->block[b->target].is_exit) && !(b->next != NONE && c->l->block[b->next].is_exit);
}

/* What is found of one branch. */
struct class_region {
    u8 *mark;      /* by block: 1 in the region, 2 where the lanes meet, 3 a join in the region; 0: none of these */
    u32 *label;    /* by block: the last join, or successor of the branch, on the ways to it */
    u32 *block, n; /* the blocks that have a mark or a label, in their order */
    u32 *stack;    /* blocks that are to be visited */
    u64 *bits;     /* by block: it is to be among `block`; all 0 between two uses */
    u32 low, high; /* words of bits that are not 0 are from low to high */
};

static void region_add(struct class_region *r, u32 b)
{
    r->bits[b >> 6] |= 1ull << (b & 63);
    r->low = MIN_OF(r->low, b >> 6);
    r->high = MAX_OF(r->high, b >> 6);
}

/* Writes the blocks that were added in their order. */
static void region_list(struct class_region *r)
{
    r->n = 0;
    for (u32 w = r->low; w <= r->high; w++) {
        EACH_SET64 (k, r->bits[w]) r->block[r->n++] = w * 64 + k;
        r->bits[w] = 0;
    }
}

/* Blocks that can run before the lanes of b meet again, with marks and labels. Of other blocks nothing is touched, so
 * that many small regions take no longer than one large one. */
static void region_of(struct classes *c, u32 b, struct class_region *r)
{
    const struct lowered *l = c->l;
    u8 *mark = r->mark;
    u32 *label = r->label, *stack = r->stack, meet = l->block[b].ipdom, sp = 0;
    for (u32 k = 0; k < r->n; k++) {
        mark[r->block[k]] = 0;
        label[r->block[k]] = NONE;
    }
    r->low = NONE;
    r->high = 0;
    if (meet != NONE) region_add(r, meet);
    for (u32 j = 0; j < l->block[b].nsucc; j++) {
        u32 s = l->block[b].succ[j];
        label[s] = s;
        region_add(r, s);
        if (s == meet || mark[s]) continue;
        mark[s] = 1;
        stack[sp++] = s;
    }
    while (sp) {
        u32 x = stack[--sp];
        for (u32 j = 0; j < l->block[x].nsucc; j++) {
            u32 s = l->block[x].succ[j];
            if (s != meet && !mark[s]) {
                mark[s] = 1;
                region_add(r, s);
                stack[sp++] = s;
            }
        }
    }
    if (meet != NONE) mark[meet] = 2;
    region_list(r);
    for (bool again = true; again;) {
        again = false;
        c->work += r->n;
        for (u32 k = 0; k < r->n; k++) {
            u32 x = r->block[k];
            if (!(mark[x] & 1) || label[x] == NONE) continue;
            for (u32 j = 0; j < l->block[x].nsucc; j++) {
                u32 s = l->block[x].succ[j];
                if (!mark[s] || s == meet) continue;
                if (label[s] == NONE) {
                    label[s] = label[x];
                    again = true;
                } else if (label[s] != label[x] && label[s] != s) {
                    label[s] = s;
                    again = true;
                } else if (label[s] != label[x] && mark[s] == 1 && label[s] == s) {
                    mark[s] = 3;
                    again = true;
                }
            }
        }
    }
}

static void apply_region(struct classes *c, u32 b, struct class_region *r, u64 *defs, u64 *live)
{
    struct lowered *l = c->l;
    const u8 *mark = r->mark;
    region_of(c, b, r);
    u32 first = NONE; /* the successor that runs first: no lanes wait there */
    for (u32 j = 0; j < l->block[b].nsucc; j++)
        if (l->block[b].succ[j] < first) first = l->block[b].succ[j];
    memset(defs, 0, 8 * l->words);
    memset(live, 0, 8 * l->words);
    c->work += (u64)r->n * (1 + l->words / 16);
    for (u32 k = 0; k < r->n; k++) {
        u32 x = r->block[k];
        if (mark[x] == 1 || mark[x] == 3) {
            if (!c->div[x]) {
                c->div[x] = 1;
                c->changed = true;
            }
            for (u32 w = 0; w < l->words; w++) defs[w] |= c->defs[x][w];
        }
        if (mark[x] >= 2)
            for (u32 w = 0; w < l->words; w++) live[w] |= l->block[x].live_in[w];
    }
    for (u32 j = 0; j < l->block[b].nsucc; j++)
        for (u32 w = 0; w < l->words && l->block[b].succ[j] != first; w++)
            live[w] |= l->block[l->block[b].succ[j]].live_in[w];
    for (u32 w = 0; w < l->words; w++)
        EACH_SET64 (bit, defs[w] & live[w]) widen(c, w * 64 + bit, vec);
}

static bool irreducible(const struct lowered *l)
{
    for (u32 b = 0; b < l->nblock; b++)
        for (u32 j = 0; j < l->block[b].nsucc; j++) {
            u32 s = l->block[b].succ[j], d = b;
            if (s > b) continue;
            while (d > s) d = l->block[d].idom;
            if (d != s) return true;
        }
    return false;
}

void classes_find(struct lowered *l, u32 group, struct divergence *out, struct arena *a)
{
    struct arena tmp = { 0 };
    struct classes c = { .l = l, .group = group, .groups = LANES / group };
    c.cls = out->cls = NEW_ARRAY(a, u8, l->nreg + 1);
    c.stride = out->stride = NEW_ARRAY(a, s32, l->nreg + 1);
    c.div = out->div = NEW_ARRAY(a, u8, l->nblock + 1);
    c.known = NEW_ARRAY(&tmp, u8, l->nreg + 1);
    c.defs = NEW_ARRAY(&tmp, u64 *, l->nblock + 1);
    for (u32 b = 0; b < l->nblock; b++) {
        c.defs[b] = NEW_ARRAY(&tmp, u64, l->words + 1);
        for (u32 k = l->block[b].first; k < l->block[b].end; k++)
            EACH_DEF (r, &l->op[k]) c.defs[b][r >> 6] |= 1ull << (r & 63);
    }
    struct class_region r = { .mark = NEW_ARRAY(&tmp, u8, l->nblock + 1),
                              .label = NEW_ARRAY(&tmp, u32, l->nblock + 1),
                              .block = NEW_ARRAY(&tmp, u32, l->nblock + 1),
                              .stack = NEW_ARRAY(&tmp, u32, l->nblock + 1),
                              .bits = NEW_ARRAY(&tmp, u64, l->nblock / 64 + 1) };
    for (u32 b = 0; b < l->nblock; b++) r.label[b] = NONE;
    u64 *defs = NEW_ARRAY(&tmp, u64, l->words + 1), *live = NEW_ARRAY(&tmp, u64, l->words + 1);
    if (irreducible(l)) { /* lowest block first is then no order in which lanes reconverge: all is V */
        memset(c.div, 1, l->nblock);
        arena_free(&tmp);
        return;
    }
    do {
        c.changed = false;
        c.work += l->nop / 4; /* an operation takes less than a block of a region */
        pass_over_operations(&c);
        for (u32 b = 0; b < l->nblock && c.work < WORK_MOST && !stop_asked(); b++)
            if (branch_diverges(&c, &l->block[b])) apply_region(&c, b, &r, defs, live);
    } while (c.changed && c.work < WORK_MOST && !stop_asked());
    if (c.work >= WORK_MOST) {
        memset(c.cls, 0, l->nreg);
        memset(c.stride, 0, sizeof *c.stride * l->nreg);
        memset(c.div, 1, l->nblock);
    }
    arena_free(&tmp);
}
