/* Can a 32-bit index overflow in this launch? (rules.md V2) An interval analysis.
 *
 * Watching every sum and product on the way to an address would cost every kernel. Most indices are made of thread
 * numbers, shapes and parameters, all known when a launch begins, and of loop counters that a comparison bounds. So
 * before a launch the registers that indices are made of get an interval at each block, in numbers without
 * bound, with branches and loops taken into account. When no operation on the way to an address leaves 32 bits there,
 * none can overflow: the first one to do so would have been seen. Only otherwise is the launch watched (overflow.h).
 *
 * A loop is widened when it comes round the third time: a counter that steps beside another one that is counted down
 * to zero gets as far as that one allows, all else to infinity, and two more passes over the function take back what
 * comparisons bound. */
#include "flow/overflow.h"

struct iv {
    s64 lo, hi;
}; /* lo > hi: nothing gets here */
#define INF ((s64)1 << 40)
#define FULL ((struct iv){ INT32_MIN, INT32_MAX })
enum { STATES_MOST = 1 << 17, ROUNDS_MOST = 30 };

struct intervals {
    const struct lowered *l;
    const struct launch_facts *in;
    struct arena mem;
    u32 *at, n;            /* by register: its number among those that are followed, plus one; 0: none */
    u32 *def;              /* by register: its only defining operation; NONE */
    struct iv *state;      /* [block][n]: at the start of a block */
    struct iv *forward;    /* the same, from edges that do not go back */
    struct iv *next;       /* the same, of a pass that narrows */
    u32 *visits;           /* by block */
    u8 *head;              /* by block: an edge goes back to it */
    struct iv *now, *edge; /* [n]: within a block; along one of its edges */
    u8 *hot;               /* by operation: its result can leave 32 bits */
};

/* ---- arithmetic without overflow ---- */

static s64 clamp(s64 x) { return x < -INF ? -INF : x > INF ? INF : x; }
static bool nothing(struct iv a) { return a.lo > a.hi; }
static struct iv join(struct iv a, struct iv b)
{
    if (nothing(a)) return b;
    if (nothing(b)) return a;
    return (struct iv){ MIN_OF(a.lo, b.lo), MAX_OF(a.hi, b.hi) };
}
static struct iv sum(struct iv a, struct iv b) { return (struct iv){ clamp(a.lo + b.lo), clamp(a.hi + b.hi) }; }
static struct iv minus(struct iv a) { return (struct iv){ -a.hi, -a.lo }; }
static s64 interval_times(s64 a, s64 b)
{
    s64 r;
    return __builtin_mul_overflow(a, b, &r) ? ((a < 0) != (b < 0) ? -INF : INF) : clamp(r);
}
static struct iv product(struct iv a, struct iv b)
{
    s64 p[] = { interval_times(a.lo, b.lo), interval_times(a.lo, b.hi), interval_times(a.hi, b.lo),
                interval_times(a.hi, b.hi) };
    struct iv r = { p[0], p[0] };
    for (u32 k = 1; k < 4; k++) r = join(r, (struct iv){ p[k], p[k] });
    return r;
}
static bool is_one(struct iv a) { return a.lo == a.hi; }
static struct iv of_bits(s64 top)
{
    s64 m = 1;
    while (m <= top && m < INF) m *= 2;
    return (struct iv){ 0, m - 1 };
}

/* ---- operations ---- */

static struct iv of_sreg(const struct intervals *x, const struct opnd *o)
{
    const struct launch_facts *in = x->in;
    u32 c = o->comp < 3 ? o->comp : 0;
    switch (o->reg) {
    case SR_TID: return (struct iv){ 0, in->block[c] - 1 };
    case SR_NTID: return (struct iv){ in->block[c], in->block[c] };
    case SR_CTAID: return (struct iv){ 0, in->grid[c] - 1 };
    case SR_NCTAID: return (struct iv){ in->grid[c], in->grid[c] };
    case SR_LANEID:
    case SR_WARPID: return (struct iv){ 0, 31 };
    default: return FULL;
    }
}

static struct iv value(const struct intervals *x, const struct iv *s, const struct opnd *o)
{
    s32 v;
    switch (o->kind) {
    case O_REG: return x->at[o->reg] ? s[x->at[o->reg] - 1] : FULL;
    case O_CONST: return o->reg || o->comp ? FULL : (struct iv){ (s32)o->value, (s32)o->value };
    case O_PARAM:
        if (o->value + 4 > x->in->param_bytes) return FULL;
        memcpy(&v, (const u8 *)x->in->params + o->value, 4);
        return (struct iv){ v, v };
    case O_SREG: return of_sreg(x, o);
    default: return FULL;
    }
}

static struct iv loaded(const struct site *s)
{
    if (s->width > 2) return FULL;
    s64 m = (s64)1 << 8 * s->width;
    return s->is_signed ? (struct iv){ -m / 2, m / 2 - 1 } : (struct iv){ 0, m - 1 };
}

static struct iv shifted(const struct lop *o, struct iv a, struct iv b)
{
    bool sg = type_is_signed((enum ptx_type)isa_forms[o->form].type);
    if (!is_one(b) || b.lo < 0 || b.lo > 31) return FULL;
    if (o->shape == SHAPE_SHL) return product(a, (struct iv){ (s64)1 << b.lo, (s64)1 << b.lo });
    if (sg || a.lo >= 0) return (struct iv){ a.lo >> b.lo, a.hi >> b.lo };
    return b.lo ? (struct iv){ 0, ((s64)1 << (32 - b.lo)) - 1 } : FULL;
}

static struct iv divided(const struct lop *o, struct iv a, struct iv b)
{
    if (b.lo < 1) return FULL;
    if (o->shape == SHAPE_DIV)
        return a.lo >= 0                                                ? (struct iv){ a.lo / b.hi, a.hi / b.lo }
               : type_is_signed((enum ptx_type)isa_forms[o->form].type) ? (struct iv){ a.lo / b.lo, MAX_OF(a.hi, 0) }
                                                                        : FULL;
    if (a.lo >= 0) return (struct iv){ 0, MIN_OF(a.hi, b.hi - 1) };
    return type_is_signed((enum ptx_type)isa_forms[o->form].type) ? (struct iv){ -(b.hi - 1), b.hi - 1 } : FULL;
}

static struct iv result(const struct intervals *x, const struct iv *s, const struct lop *o)
{
    if (o->kind == K_MEM && lop_is_load(o)) return loaded(&x->l->site[o->site]);
    if (o->kind != K_LANE) return FULL;
    const struct isa_form *f = &isa_forms[o->form];
    struct iv a = value(x, s, lop_src(o, 0)), b = value(x, s, lop_src(o, 1)), c = value(x, s, lop_src(o, 2));
    bool nonnegative = a.lo >= 0 && b.lo >= 0;
    if (type_size[f->dtype] != 4 || type_is_float((enum ptx_type)f->type)) return FULL;
    switch (o->shape) {
    case SHAPE_MOVE: return a;
    case SHAPE_ADD: return sum(a, b);
    case SHAPE_SUB: return sum(a, minus(b));
    case SHAPE_NEG: return minus(a);
    case SHAPE_MUL: return product(a, b);
    case SHAPE_MAD: return sum(product(a, b), c);
    case SHAPE_SHL:
    case SHAPE_SHR: return shifted(o, a, b);
    case SHAPE_DIV:
    case SHAPE_REM: return divided(o, a, b);
    case SHAPE_MIN:
    case SHAPE_MAX:
        if (!nonnegative && !type_is_signed((enum ptx_type)f->type)) return FULL;
        if (o->shape == SHAPE_MAX) return (struct iv){ MAX_OF(a.lo, b.lo), MAX_OF(a.hi, b.hi) };
        return (struct iv){ MIN_OF(a.lo, b.lo), MIN_OF(a.hi, b.hi) };
    case SHAPE_SELECT: return join(a, b);
    case SHAPE_AND:
        return a.lo >= 0 || b.lo >= 0 ? (struct iv){ 0, a.lo < 0 ? b.hi : b.lo < 0 ? a.hi : MIN_OF(a.hi, b.hi) } : FULL;
    case SHAPE_OR:
    case SHAPE_XOR: return nonnegative ? of_bits(MAX_OF(a.hi, b.hi)) : FULL;
    case SHAPE_CONVERT:
        return type_size[f->type] < 4    ? (type_is_signed((enum ptx_type)f->type) ? (struct iv){ INT16_MIN, INT16_MAX }
                                                                                   : (struct iv){ 0, UINT16_MAX })
               : type_size[f->type] == 4 ? a
                                         : FULL;
    case SHAPE_COUNT: return (struct iv){ 0, 64 };
    default: return FULL;
    }
}

/* ---- branches ---- */

static struct iv *followed(const struct intervals *x, struct iv *s, const struct opnd *o)
{
    return o->kind == O_REG && x->at[o->reg] ? &s[x->at[o->reg] - 1] : NULL;
}

static void bound(struct iv *v, s64 lo, s64 hi)
{
    if (!v) return;
    v->lo = MAX_OF(v->lo, lo);
    v->hi = MIN_OF(v->hi, hi);
}

/* The comparison has this truth on the edge that `s` is for. */
static void compare(const struct intervals *x, struct iv *s, const struct lop *o, bool truth)
{
    const struct isa_form *f = &isa_forms[o->form];
    const struct opnd *sa = lop_src(o, 0), *sb = lop_src(o, 1);
    struct iv *a = followed(x, s, sa), *b = followed(x, s, sb), va = value(x, s, sa), vb = value(x, s, sb);
    u32 rel = f->relation;
    if (type_size[f->type] != 4 || type_is_float((enum ptx_type)f->type)) return;
    if (!truth)
        rel = rel == REL_lt   ? REL_ge
              : rel == REL_le ? REL_gt
              : rel == REL_gt ? REL_le
              : rel == REL_ge ? REL_lt
              : rel == REL_eq ? REL_ne
                              : REL_eq;
    bool sg = type_is_signed((enum ptx_type)f->type), equal = rel == REL_eq || rel == REL_ne;
    if (!sg && !equal) { /* unsigned: what is below a number that is not negative as s32 is not negative either */
        if ((rel == REL_lt || rel == REL_le) && vb.lo >= 0) {
            bound(a, 0, INF);
            va.lo = MAX_OF(va.lo, 0);
        } else if ((rel == REL_gt || rel == REL_ge) && va.lo >= 0) {
            bound(b, 0, INF);
            vb.lo = MAX_OF(vb.lo, 0);
        } else if (va.lo < 0 || vb.lo < 0)
            return;
    }
    switch (rel) {
    case REL_lt:
        bound(a, -INF, vb.hi - 1);
        bound(b, va.lo + 1, INF);
        break;
    case REL_le:
        bound(a, -INF, vb.hi);
        bound(b, va.lo, INF);
        break;
    case REL_gt:
        bound(a, vb.lo + 1, INF);
        bound(b, -INF, va.hi - 1);
        break;
    case REL_ge:
        bound(a, vb.lo, INF);
        bound(b, -INF, va.hi);
        break;
    case REL_eq:
        bound(a, vb.lo, vb.hi);
        bound(b, va.lo, va.hi);
        break;
    default:
        if (is_one(vb) && va.lo == vb.lo) bound(a, va.lo + 1, INF);
        if (is_one(vb) && va.hi == vb.lo) bound(a, -INF, va.hi - 1);
    }
}

/* Whether the register still holds at the end of block b what the comparison `op` read from it. */
static bool holds(const struct intervals *x, u32 op, const struct opnd *o, u32 b)
{
    if (o->kind != O_REG || x->l->ndef[o->reg] == 1) return true;
    const struct block *bl = &x->l->block[b];
    if (op < bl->first || op >= bl->end) return false;
    for (u32 k = op + 1; k < bl->end; k++)
        EACH_DEF (r, &x->l->op[k]) {
            if (r == o->reg) return false;
        }
    return true;
}

static void assume(const struct intervals *x, struct iv *s, u32 pred, bool truth, u32 b, u32 depth)
{
    u32 op = x->def[pred];
    if (op == NONE || depth > 4) return;
    const struct lop *o = &x->l->op[op];
    const struct opnd *sa = lop_src(o, 0), *sb = lop_src(o, 1);
    if (o->shape == SHAPE_COMPARE && lop_src(o, 2)->kind == O_NONE && o->guard.kind == O_NONE && holds(x, op, sa, b) &&
        holds(x, op, sb, b))
        compare(x, s, o, truth);
    if (o->kind != K_PRED || o->guard.kind != O_NONE) return;
    if (o->shape == SHAPE_PRED_NOT && sa->kind == O_REG) assume(x, s, sa->reg, !truth, b, depth + 1);
    if (o->shape == (truth ? SHAPE_PRED_AND : SHAPE_PRED_OR)) {
        if (sa->kind == O_REG) assume(x, s, sa->reg, truth, b, depth + 1);
        if (sb->kind == O_REG) assume(x, s, sb->reg, truth, b, depth + 1);
    }
}

/* ---- loops ---- */

static bool in_loop(const struct loop *p, u32 b) { return b >= p->head && b <= p->last; }

/* The one operation of the loop that writes the register; NONE: there are none or several. */
static u32 stepped(const struct intervals *x, const struct loop *p, u32 reg)
{
    u32 found = NONE;
    for (u32 b = p->head; b <= p->last; b++)
        for (u32 k = x->l->block[b].first; k < x->l->block[b].end; k++)
            EACH_DEF (r, &x->l->op[k]) {
                if (r != reg) continue;
                if (found != NONE) return NONE;
                found = k;
            }
    return found;
}

/* How much the register grows each time round; false: not by a fixed number. */
static bool step_of(const struct intervals *x, const struct loop *p, u32 reg, struct iv *step)
{
    u32 k = stepped(x, p, reg);
    if (k == NONE) return false;
    const struct lop *o = &x->l->op[k];
    u32 at = lop_src(o, 0)->kind == O_REG && lop_src(o, 0)->reg == reg ? 0 : 1;
    const struct opnd *own = lop_src(o, at), *by = lop_src(o, !at);
    if (o->kind != K_LANE || o->shape != SHAPE_ADD || own->kind != O_REG || own->reg != reg) return false;
    if (by->kind == O_REG && stepped(x, p, by->reg) != NONE) return false;
    *step = value(x, &x->forward[(size_t)p->head * x->n], by);
    return !nothing(*step);
}

static bool tests_equality(const struct lop *o)
{
    if (o->shape != SHAPE_COMPARE) return false;
    u32 rel = isa_forms[o->form].relation;
    return rel == REL_eq || rel == REL_ne;
}

/* At most how often the loop comes round, by a counter that goes down to zero; -1: not known. */
static s64 rounds(const struct intervals *x, const struct loop *p)
{
    for (u32 b = p->head; b <= p->last; b++) {
        const struct block *bl = &x->l->block[b];
        if (bl->term != TERM_BRA || bl->end == bl->first || (in_loop(p, bl->next) && in_loop(p, bl->target))) continue;
        const struct opnd *g = &x->l->op[bl->end - 1].guard;
        u32 op = g->kind == O_REG ? x->def[g->reg] : NONE;
        if (op == NONE) continue;
        const struct lop *o = &x->l->op[op];
        struct iv step;
        const struct opnd *n = lop_src(o, 0), *zero = lop_src(o, 1);
        bool to_zero = tests_equality(o) && n->kind == O_REG && zero->kind == O_CONST && !zero->value && x->at[n->reg];
        if (!to_zero || !step_of(x, p, n->reg, &step) || !is_one(step) || !step.lo) continue;
        struct iv from = x->forward[(size_t)p->head * x->n + x->at[n->reg] - 1];
        if (step.lo < 0 && from.lo >= 0) return from.hi / -step.lo + 1;
        if (step.lo > 0 && from.hi <= 0) return -from.lo / step.lo + 1;
    }
    return -1;
}

static struct iv widened(const struct intervals *x, u32 b, u32 reg, struct iv old, struct iv new)
{
    const struct loop *p = x->l->block[b].loop ? &x->l->loop[x->l->block[b].loop - 1] : NULL;
    struct iv step, from = x->forward[(size_t)b * x->n + x->at[reg] - 1];
    s64 n = p && p->head == b ? rounds(x, p) : -1;
    if (n >= 0 && step_of(x, p, reg, &step)) return sum(from, product((struct iv){ 0, n }, step));
    return (struct iv){ new.lo < old.lo ? -INF : old.lo, new.hi > old.hi ? INF : old.hi };
}

/* ---- passes ---- */

/* From the start of a block to its end, in x->now. */
static void through(struct intervals *x, u32 b, const struct iv *start)
{
    const struct lowered *l = x->l;
    memcpy(x->now, start, sizeof *x->now * x->n);
    for (u32 k = l->block[b].first; k < l->block[b].end; k++) {
        const struct lop *o = &l->op[k];
        EACH_DEF (r, o) {
            if (!x->at[r]) continue;
            struct iv v = result(x, x->now, o), *d = &x->now[x->at[r] - 1];
            if (l->overflow[k] & OVERFLOW_NARROW && (v.lo < INT32_MIN || v.hi > INT32_MAX)) x->hot[k] = 1;
            *d = o->guard.kind == O_REG ? join(*d, v) : v;
        }
    }
}

/* The state along an edge of block b, in x->edge; false: nobody takes it. */
static bool along(struct intervals *x, u32 b, u32 to)
{
    const struct block *bl = &x->l->block[b];
    memcpy(x->edge, x->now, sizeof *x->now * x->n);
    const struct opnd *g = bl->term == TERM_BRA && bl->end > bl->first ? &x->l->op[bl->end - 1].guard : NULL;
    if (g && g->kind == O_REG && bl->target != bl->next) assume(x, x->edge, g->reg, (to == bl->target) != g->neg, b, 0);
    for (u32 k = 0; k < x->n; k++)
        if (nothing(x->edge[k]) && !nothing(x->now[k])) return false;
    return true;
}

static bool arrive(struct intervals *x, u32 b, u32 to)
{
    struct iv *s = &x->state[(size_t)to * x->n], *f = &x->forward[(size_t)to * x->n];
    bool changed = !x->visits[to];
    for (u32 k = 0; k < x->n && to > b; k++) f[k] = join(f[k], x->edge[k]);
    for (u32 r = 0; r < x->l->nreg; r++) {
        if (!x->at[r]) continue;
        struct iv *o = &s[x->at[r] - 1], n = join(*o, x->edge[x->at[r] - 1]);
        if (n.lo == o->lo && n.hi == o->hi) continue;
        if (x->visits[to] > 2 && x->head[to]) {
            n = widened(x, to, r, *o, n);
            if (n.lo == o->lo && n.hi == o->hi) continue;
            if (x->visits[to] > ROUNDS_MOST) n = (struct iv){ -INF, INF };
        }
        changed |= n.lo != o->lo || n.hi != o->hi;
        *o = n;
    }
    return changed;
}

static void climb(struct intervals *x)
{
    const struct lowered *l = x->l;
    u8 *due = NEW_ARRAY(&x->mem, u8, l->nblock + 1);
    bool again = true;
    for (u32 b = 0; b < l->nblock; b++)
        for (u32 k = 0; k < l->block[b].nsucc; k++)
            if (l->block[b].succ[k] <= b) x->head[l->block[b].succ[k]] = 1;
    for (u32 k = 0; k < x->n; k++) x->state[k] = x->forward[k] = FULL;
    due[0] = 1;
    while (again) {
        again = false;
        for (u32 b = 0; b < l->nblock; b++) {
            if (!due[b]) continue;
            due[b] = 0;
            x->visits[b]++;
            through(x, b, &x->state[(size_t)b * x->n]);
            for (u32 k = 0; k < l->block[b].nsucc; k++) {
                u32 to = l->block[b].succ[k];
                if (!along(x, b, to) || !arrive(x, b, to)) continue;
                due[to] = 1;
                again |= to <= b;
            }
        }
    }
}

/* Narrowing: the state at the start of a block is cut to the union of its incoming edges, which takes back what
 * widening gave too much. */
static void narrow(struct intervals *x)
{
    const struct lowered *l = x->l;
    for (size_t k = x->n; k < (size_t)l->nblock * x->n; k++) x->next[k] = (struct iv){ 1, 0 };
    memcpy(x->next, x->state, sizeof *x->state * x->n);
    for (u32 b = 0; b < l->nblock; b++) {
        if (!x->visits[b]) continue;
        through(x, b, &x->state[(size_t)b * x->n]);
        for (u32 k = 0; k < l->block[b].nsucc; k++) {
            u32 to = l->block[b].succ[k];
            if (!along(x, b, to)) continue;
            struct iv *s = &x->next[(size_t)to * x->n];
            for (u32 j = 0; j < x->n; j++) s[j] = join(s[j], x->edge[j]);
        }
    }
    for (size_t k = 0; k < (size_t)l->nblock * x->n; k++) {
        struct iv *s = &x->state[k], n = x->next[k];
        if (!nothing(n)) *s = (struct iv){ MAX_OF(s->lo, n.lo), MIN_OF(s->hi, n.hi) };
    }
}

static bool leaves(struct intervals *x)
{
    bool any = false;
    memset(x->hot, 0, x->l->nop);
    for (u32 b = 0; b < x->l->nblock; b++)
        if (x->visits[b]) through(x, b, &x->state[(size_t)b * x->n]);
    for (u32 k = 0; k < x->l->nop; k++) any |= x->hot[k];
    return any;
}

/* ---- which registers ---- */

static bool follow(struct intervals *x, const struct opnd *o)
{
    if (o->kind != O_REG || x->at[o->reg] || x->l->reg_width[o->reg] != 4) return false;
    x->at[o->reg] = ++x->n;
    return true;
}

/* Chooses the registers that feed indices, those that are compared with them, and the registers that feed those. */
static void choose(struct intervals *x)
{
    const struct lowered *l = x->l;
    x->at = NEW_ARRAY(&x->mem, u32, l->nreg + 1);
    x->def = NEW_ARRAY(&x->mem, u32, l->nreg + 1);
    memset(x->def, 0xff, sizeof *x->def * l->nreg);
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        if (o->dead) continue;
        EACH_DEF (r, o) x->def[r] = l->ndef[r] == 1 ? k : NONE;
        if (l->overflow[k] & OVERFLOW_NARROW) follow(x, lop_dst(o, 0));
    }
    for (bool again = true; again;) {
        again = false;
        for (u32 k = 0; k < l->nop; k++) {
            const struct lop *o = &l->op[k];
            if (o->dead) continue;
            const struct opnd *d = lop_dst(o, 0), *a = lop_src(o, 0), *b = lop_src(o, 1);
            bool compared = o->kind == K_CMP &&
                            ((a->kind == O_REG && x->at[a->reg]) || (b->kind == O_REG && x->at[b->reg]));
            bool makes = o->kind == K_LANE && d->kind == O_REG && x->at[d->reg];
            if (compared || makes) {
                again |= follow(x, a);
                again |= follow(x, b);
            }
            if (makes) again |= follow(x, lop_src(o, 2));
            /* compared with zero: it may be the counter of a loop */
            if (o->kind == K_CMP && b->kind == O_CONST && !b->value) again |= follow(x, a);
        }
    }
}

bool intervals_may_overflow(const struct lowered *l, const struct launch_facts *in, u8 *hot)
{
    struct intervals x = { .l = l, .in = in, .hot = hot };
    choose(&x);
    size_t states = (size_t)l->nblock * x.n;
    bool may = states > STATES_MOST;
    if (!may && x.n) {
        x.state = NEW_ARRAY(&x.mem, struct iv, states);
        x.forward = NEW_ARRAY(&x.mem, struct iv, states);
        x.next = NEW_ARRAY(&x.mem, struct iv, states);
        for (size_t k = 0; k < states; k++) x.state[k] = x.forward[k] = (struct iv){ 1, 0 };
        x.visits = NEW_ARRAY(&x.mem, u32, l->nblock + 1);
        x.head = NEW_ARRAY(&x.mem, u8, l->nblock + 1);
        x.now = NEW_ARRAY(&x.mem, struct iv, x.n);
        x.edge = NEW_ARRAY(&x.mem, struct iv, x.n);
        climb(&x);
        narrow(&x);
        narrow(&x);
        may = leaves(&x);
    }
    for (u32 k = 0; k < l->nop && states > STATES_MOST; k++) hot[k] = l->overflow[k] & OVERFLOW_NARROW;
    arena_free(&x.mem);
    return may;
}
