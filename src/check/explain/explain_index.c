/* Following an address back to the coordinates of its thread; explain_index.h says what for. */
#include "explain/explain_index.h"

enum { TID = 0, CTAID = 3, NUMBERS = 6, DEEPEST = 48, STEPS = 400 };

struct sum {
    s64 of[NUMBERS]; /* for each step of threadIdx.x .z, blockIdx.x .z */
    s64 constant;    /* where it is known */
    bool placed;     /* the address of a variable is in it: its constant is not a number */
    bool open;       /* a counter of a loop is in it */
    s64 loop;        /* what that adds in a pass; 0: not known */
    bool lost;       /* something else is in it */
};
struct walk {
    const struct lowered *l;
    const struct launch *launch;
    u32 steps;
    u32 loop[DEEPEST], loops; /* registers with several definitions that are being followed */
};

static const struct sum unknown = { .lost = true };

static struct sum plus(struct sum a, struct sum b, s64 sign)
{
    for (u32 k = 0; k < NUMBERS; k++) a.of[k] = (s64)((u64)a.of[k] + (u64)sign * (u64)b.of[k]);
    a.constant = (s64)((u64)a.constant + (u64)sign * (u64)b.constant);
    a.placed |= b.placed;
    a.loop = a.open && b.open ? 0 : a.loop + sign * b.loop;
    a.open |= b.open;
    a.lost |= b.lost;
    return a;
}

static bool is_number(const struct sum *a)
{
    bool zero = true;
    for (u32 k = 0; k < NUMBERS; k++) zero &= !a->of[k];
    return zero && !a->open && !a->placed && !a->lost;
}

static struct sum product_of(struct sum a, struct sum b)
{
    struct sum r = is_number(&b) ? a : b;
    s64 by = is_number(&b) ? b.constant : a.constant;
    if (!is_number(&a) && !is_number(&b)) return unknown;
    for (u32 k = 0; k < NUMBERS; k++) r.of[k] = (s64)((u64)r.of[k] * (u64)by);
    r.constant = (s64)((u64)r.constant * (u64)by);
    r.loop = (s64)((u64)r.loop * (u64)by);
    return r;
}

static bool same_steps(const struct sum *a, const struct sum *b)
{
    return !memcmp(a->of, b->of, sizeof a->of) && a->placed == b->placed && !a->lost && !b->lost;
}

/* One of the two: a number that is not known, where both have the same steps. */
static struct sum either(struct sum a, struct sum b)
{
    if (!same_steps(&a, &b)) return unknown;
    if (a.open || b.open || a.constant != b.constant) {
        a.open = true;
        a.loop = 0;
    }
    return a;
}

static struct sum of_sreg(const struct walk *x, const struct opnd *o)
{
    const struct sim_launch *in = x->launch->in;
    u32 c = o->comp;
    struct sum s = { 0 };
    if (c > 2) return unknown;
    switch (o->reg) {
    case SR_TID: s.of[TID + c] = 1; return s;
    case SR_CTAID: s.of[CTAID + c] = 1; return s;
    case SR_NTID: s.constant = in->block[c]; return s;
    case SR_NCTAID: s.constant = in->grid[c]; return s;
    case SR_DYN_SHARED:
    case SR_LOCAL_BASE: s.placed = true; return s;
    default: return unknown;
    }
}

static struct sum of_operand(struct walk *x, const struct opnd *o, u32 width, u32 depth);
static struct sum of_register(struct walk *x, u32 reg, u32 width, u32 depth);

/* Of numbers: half a block. The sign of anything else, as Numba takes it of an index to count from the end, is taken
 * for that of a number that is not negative: the lanes are asked. */
static struct sum shifted(struct sum a, struct sum b, u32 width)
{
    if (!is_number(&b) || b.constant < 0 || b.constant > 63) return unknown;
    if (is_number(&a)) return a.constant >= 0 ? (struct sum){ .constant = a.constant >> b.constant } : unknown;
    return b.constant == 8 * (s64)width - 1 ? (struct sum){ 0 } : unknown;
}

static struct sum of_op(struct walk *x, const struct lop *o, u32 width, u32 depth)
{
    struct sum a = of_operand(x, lop_src(o, 0), width, depth), b, c;
    switch (o->shape) {
    case SHAPE_MOVE:
    case SHAPE_ADDRESS:
    case SHAPE_CONVERT: return a;
    case SHAPE_NEG: return plus((struct sum){ 0 }, a, -1);
    case SHAPE_MUL:
    case SHAPE_MUL_WIDE:
    case SHAPE_MAD:
    case SHAPE_MAD_WIDE:
    case SHAPE_ADD:
    case SHAPE_SUB:
    case SHAPE_OR:
    case SHAPE_DIV:
    case SHAPE_AND:
    case SHAPE_SELECT:
    case SHAPE_SHR:
    case SHAPE_SHL: b = of_operand(x, lop_src(o, 1), width, depth); break;
    default: return unknown;
    }
    switch (o->shape) {
    case SHAPE_ADD:
    case SHAPE_OR: return plus(a, b, 1);
    case SHAPE_SUB: return plus(a, b, -1);
    case SHAPE_SHL:
        return is_number(&b) && b.constant >= 0 && b.constant < 63
                   ? product_of(a, (struct sum){ .constant = (s64)1 << b.constant })
                   : unknown;
    case SHAPE_SHR: return shifted(a, b, width);
    case SHAPE_AND: /* of numbers only, or with the sign of an index */
        return (is_number(&a) && !a.constant) || (is_number(&b) && !b.constant) ? (struct sum){ 0 }
               : is_number(&a) && is_number(&b) ? (struct sum){ .constant = a.constant & b.constant }
                                                : unknown;
    case SHAPE_SELECT: return either(a, b);
    case SHAPE_DIV:
        return is_number(&a) && is_number(&b) && a.constant >= 0 && b.constant > 0
                   ? (struct sum){ .constant = a.constant / b.constant }
                   : unknown;
    case SHAPE_MUL:
    case SHAPE_MUL_WIDE: return product_of(a, b);
    default:
        c = of_operand(x, lop_src(o, 2), o->shape == SHAPE_MAD_WIDE ? 8 : width, depth);
        return plus(product_of(a, b), c, 1);
    }
}

/* Parameters hold numbers of 4 bytes, and pointers or numbers of 8. */
static struct sum of_param(const struct walk *x, u64 at, u32 width)
{
    struct sum s = { 0 };
    s32 narrow;
    if (width < 4 || at + width > x->launch->in->kernel->param_bytes) return unknown;
    if (width == 8)
        memcpy(&s.constant, x->launch->param.block + at, 8);
    else {
        memcpy(&narrow, x->launch->param.block + at, 4);
        s.constant = narrow;
    }
    return s;
}

static struct sum of_operand(struct walk *x, const struct opnd *o, u32 width, u32 depth)
{
    if (o->kind == O_CONST)
        return (struct sum){ .constant = width == 4 ? (s32)o->value : (s64)o->value, .placed = o->reg || o->comp };
    if (o->kind == O_SREG) return of_sreg(x, o);
    if (o->kind == O_PARAM) return of_param(x, o->value, width);
    if (o->kind != O_REG || depth == DEEPEST || x->steps++ > STEPS) return unknown;
    return of_register(x, o->reg, width, depth);
}

/* i = i + 4, the same for all threads. */
static bool is_step(struct walk *x, const struct lop *d, u32 reg, u32 width, u32 depth, s64 *add)
{
    const struct opnd *a = lop_src(d, 0), *b = lop_src(d, 1);
    bool first = a->kind == O_REG && a->reg == reg, second = b->kind == O_REG && b->reg == reg;
    if (d->shape != SHAPE_ADD || first == second) return false;
    struct sum by = of_operand(x, first ? b : a, width, depth);
    *add = by.constant;
    return is_number(&by);
}

static bool is_followed(const struct walk *x, u32 reg)
{
    for (u32 k = 0; k < x->loops; k++)
        if (x->loop[k] == reg) return true;
    return false;
}

/* One definition, or those of a loop: a value to begin with, and steps, or others that add the same for all threads. */
static struct sum of_register(struct walk *x, u32 reg, u32 width, u32 depth)
{
    struct sum s = unknown;
    u32 seen = 0, begins = 0, loops = x->loops;
    s64 add = 0;
    if (is_followed(x, reg)) return (struct sum){ .open = true };
    if (x->l->ndef[reg] > 1 && loops < COUNT_OF(x->loop)) x->loop[x->loops++] = reg;
    for (u32 k = 0; k < x->l->nop; k++) {
        const struct lop *d = &x->l->op[k];
        if (lop_dst(d, 0)->kind != O_REG || lop_dst(d, 0)->reg != reg || d->dead) continue;
        seen++;
        if (d->kind != K_LANE || d->form < 0 || d->guard.kind != O_NONE ||
            type_is_float((enum ptx_type)isa_forms[d->form].type)) {
            s = unknown;
            begins++;
            continue;
        }
        u32 from = type_size[isa_forms[d->form].type];
        if (x->l->ndef[reg] > 1 && is_step(x, d, reg, width, depth + 1, &add)) continue;
        struct sum one = of_op(x, d, from ? from : width, depth + 1);
        s = begins++ ? either(s, one) : one;
    }
    x->loops = loops;
    if (seen > 1) {
        s.open = true;
        s.loop = seen == 2 && begins == 1 ? add : 0;
    }
    return seen == x->l->ndef[reg] ? s : unknown;
}

static s64 at_thread(const struct sum *s, const struct warp *w, u32 lane)
{
    const struct cta *cta = w->cta;
    const u32 *block = cta->launch->in->block;
    u32 t = w->id * LANES + lane, at[3] = { t % block[0], t / block[0] % block[1], t / block[0] / block[1] };
    u64 v = 0;
    for (u32 k = 0; k < 3; k++) v += (u64)s->of[TID + k] * at[k] + (u64)s->of[CTAID + k] * cta->id[k];
    return (s64)v;
}

/* The sum that an address is, by the text alone. */
static struct sum address_in(const struct lowered *l, const struct launch *launch, u32 op)
{
    const struct lop *o = &l->op[op];
    const struct site *s = o->kind == K_MEM && o->site < l->nsite ? &l->site[o->site] : NULL;
    struct walk x = { .l = l, .launch = launch };
    if (!s) return unknown;
    struct sum at = of_operand(&x, lop_src(o, s->which), s->addr_width, 0);
    at.constant = (s64)((u64)at.constant + (u64)o->off);
    return at;
}

static struct sum address_of(const struct warp *w, u32 op)
{
    if (w->cur->fr->up) return unknown; /* in a function the parameters are the caller's */
    return address_in(w->code->low, w->cta->launch, op);
}

bool formula_same_steps(const struct access *a, const struct opnd *o, u32 width, u32 bytes)
{
    const struct launch *l = a->warp->cta->launch;
    struct walk x = { .l = a->warp->code->low, .launch = l };
    struct sum at = address_of(a->warp, a->insn->op), by = of_operand(&x, o, width, 0);
    const u32 *extent[] = { [TID] = l->in->block, [CTAID] = l->in->grid };
    for (u32 k = 0; k < 3 && !at.lost && !by.lost; k++)
        if ((extent[TID][k] > 1 && at.of[TID + k] != by.of[TID + k] * (s64)bytes) ||
            (extent[CTAID][k] > 1 && at.of[CTAID + k] != by.of[CTAID + k] * (s64)bytes))
            return false;
    return true;
}

bool formula_flat(const struct launch *l, u32 op, u32 bytes)
{
    struct sum s = address_in(l->kernel, l, op);
    const u32 *block = l->in->block, *grid = l->in->grid;
    bool flat = !s.lost && s.of[TID] == (s64)bytes && (grid[0] == 1 || s.of[CTAID] == (s64)bytes * block[0]);
    for (u32 k = 1; k < 3; k++) flat &= (block[k] == 1 || !s.of[TID + k]) && (grid[k] == 1 || !s.of[CTAID + k]);
    return flat && (!s.open || s.loop == (s64)bytes * block[0] * grid[0]);
}

static struct index_form in_elements(const struct sum *s, s64 start, s64 e)
{
    struct index_form form = { .known = start % e == 0,
                               .open = s->open,
                               .start = s->open ? 0 : start / e,
                               .loop = s->loop % e ? 0 : s->loop / e };
    for (u32 k = 0; k < 3; k++) {
        form.known &= s->of[TID + k] % e == 0 && s->of[CTAID + k] % e == 0;
        form.step[k] = s->of[TID + k] / e;
        form.cta_step[k] = s->of[CTAID + k] / e;
    }
    return form;
}

struct index_form formula_at(const struct warp *w, u32 op, u32 lane, const struct finding *f)
{
    struct sum s = address_of(w, op);
    if (s.lost || !f->element_size) return (struct index_form){ 0 };
    return in_elements(&s, (s64)(f->addr[lane] - f->object_base - (u64)at_thread(&s, w, lane)), f->element_size);
}

bool formula_apart(const struct warp *w, u32 first, u32 second, s64 *bytes)
{
    struct sum a = address_of(w, first), b = address_of(w, second);
    *bytes = b.constant - a.constant;
    return !a.lost && !b.lost && !a.open && !b.open && a.placed == b.placed && !memcmp(a.of, b.of, sizeof a.of);
}

struct index_form formula_of(const struct access *a, const struct finding *f)
{
    struct sum s = address_of(a->warp, a->insn->op);
    s64 start = 0;
    if (!f->element_size || s.lost) return (struct index_form){ 0 };
    for (u32 m = a->mask, seen = 0; m; m &= m - 1, seen = 1) {
        u32 lane = (u32)__builtin_ctz(m);
        s64 rest = (s64)(a->addr[lane] - f->object_base - (u64)at_thread(&s, a->warp, lane));
        if (seen && rest != start) return (struct index_form){ 0 };
        start = rest;
    }
    return in_elements(&s, start, f->element_size);
}
