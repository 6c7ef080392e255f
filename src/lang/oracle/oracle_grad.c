/* Gradients: reverse mode over the graph, by the columns DX, DY, DW of oracle.def for maps and by the functions below
 * for the other rows. All of it makes nodes of the same table. */
#include "oracle/oracle_in.h"

struct step { /* one node on the way back */
    struct oracle_graph *g;
    struct oracle_node *n, *dz; /* the node and the gradient of its value */
    struct oracle_node **out;   /* gradients of its operands; NULL: none */
    const bool *need;           /* by id, below `known`: something that is asked for lies below */
    u32 known;
};

/* The words of the table, as nodes. */
#define NONE NULL
#define NUMBER(c) oracle_number(s->g, c, 0)
#define ADD(a, b) oracle_node2(s->g, OX_add, a, b)
#define SUB(a, b) oracle_node2(s->g, OX_sub, a, b)
#define MUL(a, b) oracle_node2(s->g, OX_mul, a, b)
#define DIV(a, b) oracle_node2(s->g, OX_div, a, b)
#define POW(a, b) oracle_node2(s->g, OX_pow, a, b)
#define ABOVE(a, b) oracle_node2(s->g, OX_above, a, b)
#define EITHER(c, a, b) oracle_node3(s->g, OX_either, c, a, b)
#define SPLIT(c, a, b) split(s, c, a, b)
#define NEG(a) oracle_node1(s->g, OX_neg, a)
#define EXP(a) oracle_node1(s->g, OX_exp, a)
#define LOG(a) oracle_node1(s->g, OX_log, a)
#define FLOOR(a) oracle_node1(s->g, OX_floor, a)
#define TRUNC(a) oracle_node1(s->g, OX_trunc, a)
#define RSQRT(a) oracle_node1(s->g, OX_rsqrt, a)
#define SINH(a) oracle_node1(s->g, OX_sinh, a)
#define COSH(a) oracle_node1(s->g, OX_cosh, a)
#define SIN(a) oracle_node1(s->g, OX_sin, a)
#define COS(a) oracle_node1(s->g, OX_cos, a)
#define WHERE(c, a, b) oracle_node3(s->g, OX_where, c, a, b)

/* Steps: a comparison of one is no corner, since its derivative is zero on both sides. */
static bool is_step(const struct oracle_node *n)
{
    while (n->ins == 1 && oracle_rows[n->op].family == ORACLE_MOVE) n = n->in[0];
    return n->op == OX_floor || n->op == OX_ceil || n->op == OX_round || n->op == OX_trunc || n->op == OX_sign ||
           n->op == OX_floordiv || n->op == OX_argmax || n->op == OX_argmin || n->op == OX_argsort;
}

/* A condition of numbers that are differentiated, with a half where two of them are the same; NULL: another one. */
static struct oracle_node *corner(const struct step *s, struct oracle_node *c)
{
    struct oracle_node *x = c->in[0], *y = c->ins > 1 ? c->in[1] : NULL;
    if (c->op == OX_and || c->op == OX_or) {
        struct oracle_node *a = corner(s, x), *b = corner(s, y);
        return a || b ? oracle_node2(s->g, c->op == OX_and ? OX_minimum : OX_maximum, a ? a : x, b ? b : y) : NULL;
    }
    bool more = c->op == OX_gt || c->op == OX_ge, less = c->op == OX_lt || c->op == OX_le;
    if ((!more && !less) || c->index || is_step(x) || is_step(y) ||
        !((x->id < s->known && s->need[x->id]) || (y->id < s->known && s->need[y->id])))
        return NULL;
    return more ? ABOVE(x, y) : ABOVE(y, x);
}

static struct oracle_node *split(const struct step *s, struct oracle_node *c, struct oracle_node *a,
                                 struct oracle_node *b)
{
    if (c->op == OX_not) return split(s, c->in[0], b, a);
    struct oracle_node *half = c->ins ? corner(s, c) : NULL;
    return half ? EITHER(half, a, b) : WHERE(c, a, b);
}

static void back_map(const struct step *s)
{
    struct oracle_node *const g = s->dz, *const z = s->n, *const x = z->in[0], *const y = z->ins > 1 ? z->in[1] : NULL;
    (void)x, (void)y, (void)z, (void)g;
    switch (z->op) {
#define MAP1(name, value, prop, loc, fast, DX) \
    case OX_##name:                            \
        s->out[0] = DX;                        \
        break;
#define MAP2(name, value, prop, loc, fast, DX, DY) \
    case OX_##name:                                \
        s->out[0] = DX;                            \
        s->out[1] = DY;                            \
        break;
#define MAP3(name, value, prop, loc, fast, DX, DY, DW) \
    case OX_##name:                                    \
        s->out[0] = DX;                                \
        s->out[1] = DY;                                \
        s->out[2] = DW;                                \
        break;
#include "oracle/oracle_table.h"
    default: CHECK(!"a map");
    }
    for (u32 i = 0; i < z->ins; i++)
        if (s->out[i]) s->out[i] = oracle_unbroadcast(s->g, s->out[i], &z->in[i]->shape);
}

/* ---- rows that move elements ---- */

static void back_reshape(const struct step *s) { s->out[0] = oracle_reshaped(s->g, s->dz, &s->n->in[0]->shape); }
static void back_broadcast(const struct step *s) { s->out[0] = oracle_unbroadcast(s->g, s->dz, &s->n->in[0]->shape); }

static void back_transpose(const struct step *s)
{
    struct oracle_attr a = { .n = s->n->shape.rank };
    for (u32 i = 0; i < a.n; i++) a.list[s->n->attr.list[i]] = i;
    s->out[0] = oracle_node(s->g, OX_transpose, &s->dz, 1, &a);
}

static void back_slice(const struct step *s)
{
    struct oracle_attr a = s->n->attr;
    for (u32 i = 0; i < s->n->shape.rank; i++) a.list[a.n++] = (s64)s->n->in[0]->shape.dim[i];
    s->out[0] = oracle_node(s->g, OX_place, &s->dz, 1, &a);
}

static void back_place(const struct step *s)
{
    struct oracle_attr a = s->n->attr;
    a.n = 3 * s->n->shape.rank;
    memset(a.list + a.n, 0, (ORACLE_LIST - a.n) * sizeof *a.list);
    s->out[0] = oracle_node(s->g, OX_slice, &s->dz, 1, &a);
}

static void back_flip(const struct step *s) { s->out[0] = oracle_node(s->g, OX_flip, &s->dz, 1, &s->n->attr); }

static void back_concat(const struct step *s)
{
    u32 axis = (u32)s->n->attr.list[0];
    s64 at = 0;
    for (u32 i = 0; i < s->n->ins; i++) {
        s64 d = (s64)s->n->in[i]->shape.dim[axis];
        s->out[i] = oracle_cut(s->g, s->dz, axis, at, at + d);
        at += d;
    }
}

static void back_gather(const struct step *s)
{
    struct oracle_node *in[2] = { s->dz, s->n->in[1] };
    struct oracle_attr a = { .n = 1, .list = { (s64)s->n->in[0]->shape.dim[0] } };
    s->out[0] = oracle_node(s->g, OX_scatter_add, in, 2, &a);
}

static void back_scatter_add(const struct step *s) { s->out[0] = oracle_node2(s->g, OX_gather, s->dz, s->n->in[1]); }

/* where(iota == index, g, 0) along the last axis */
static void back_pick(const struct step *s)
{
    const struct oracle_shape *x = &s->n->in[0]->shape;
    u32 last = x->rank - 1;
    struct oracle_node *hit = oracle_node2(s->g, OX_eq, oracle_iota(s->g, x->dim[last]),
                                           oracle_axis_inserted(s->g, s->n->in[1], last));
    s->out[0] = WHERE(hit, oracle_axis_inserted(s->g, s->dz, last), NUMBER(0));
}

static void back_unfold(const struct step *s)
{
    struct oracle_attr a = s->n->attr;
    for (u32 i = 0; i < 4; i++) a.list[ORACLE_WINDOW + i] = (s64)s->n->in[0]->shape.dim[i];
    a.n = ORACLE_WINDOW + 4;
    s->out[0] = oracle_node(s->g, OX_fold, &s->dz, 1, &a);
}

static void back_fold(const struct step *s)
{
    struct oracle_attr a = { .n = ORACLE_WINDOW };
    memcpy(a.list, s->n->attr.list, ORACLE_WINDOW * sizeof *a.list);
    s->out[0] = oracle_node(s->g, OX_unfold, &s->dz, 1, &a);
}

/* ---- reductions ---- */

/* A gradient of a reduced value, at every element that was reduced. */
static struct oracle_node *spread_back(const struct step *s, struct oracle_node *x)
{
    struct oracle_shape kept = s->n->in[0]->shape;
    for (u32 i = 0; i < kept.rank; i++)
        if (s->n->attr.list[0] >> i & 1) kept.dim[i] = 1;
    return oracle_spread(s->g, oracle_reshaped(s->g, x, &kept), &s->n->in[0]->shape);
}

static void back_sum(const struct step *s) { s->out[0] = spread_back(s, s->dz); }

static void back_cumsum(const struct step *s)
{
    struct oracle_node *t = oracle_node(s->g, OX_flip, &s->dz, 1, &s->n->attr);
    t = oracle_node(s->g, OX_cumsum, &t, 1, &s->n->attr);
    s->out[0] = oracle_node(s->g, OX_flip, &t, 1, &s->n->attr);
}

/* To the element that won; where several did, to any of them. */
static void back_extreme(const struct step *s, double sign)
{
    struct oracle_attr a = { .n = 1, .list = { s->n->attr.list[0] }, .value = sign };
    struct oracle_node *leads = oracle_node(s->g, OX_leads, s->n->in, 1, &a);
    s->out[0] = EITHER(leads, spread_back(s, s->dz), NUMBER(0));
}
static void back_max(const struct step *s) { back_extreme(s, 1); }
static void back_min(const struct step *s) { back_extreme(s, -1); }
static void back_leads(const struct step *s) { s->out[0] = NULL; }

static void back_prod(const struct step *s)
{
    struct oracle_node *others = oracle_node(s->g, OX_others, s->n->in, 1, &s->n->attr);
    s->out[0] = MUL(spread_back(s, s->dz), others);
}

static void back_cumprod(const struct step *s)
{
    s->out[0] = oracle_node(s->g, OX_cumprod_back, (struct oracle_node *[]){ s->n->in[0], s->dz }, 2, &s->n->attr);
}

static void no_gradient(const struct step *s)
{
    oracle_refuse(s->g, "`%s` has no gradient here; a gradient of one's own is said by grad NAME(..., dy) = { ... }",
                  oracle_rows[s->n->op].name);
}
static void back_others(const struct step *s) { no_gradient(s); }
static void back_cumprod_back(const struct step *s) { no_gradient(s); }
static void back_cummax(const struct step *s) { no_gradient(s); }
static void back_cummin(const struct step *s) { no_gradient(s); }
static void back_sort(const struct step *s) { no_gradient(s); }
static void back_scatter_max(const struct step *s) { no_gradient(s); }
static void back_argsort(const struct step *s) { s->out[0] = NULL; }
static void back_argmax(const struct step *s) { s->out[0] = NULL; }
static void back_argmin(const struct step *s) { s->out[0] = NULL; }

/* The letters of an operand that the others have, then repeated along those that were summed alone. */
static void back_einsum(const struct step *s)
{
    struct einsum_parts p = oracle_einsum_parts(s->n->attr.text);
    for (u32 k = 0; k < p.ins; k++) {
        struct str other = p.ins > 1 ? p.in[1 - k] : (struct str){ "", 0 };
        struct oracle_shape kept = s->n->in[k]->shape;
        char spec[96], have[ORACLE_RANK + 1];
        u32 n = 0;
        for (u32 i = 0; i < p.in[k].n; i++) {
            char c = p.in[k].p[i];
            if (memchr(p.out.p, c, p.out.n) || memchr(other.p, c, other.n))
                have[n++] = c;
            else
                kept.dim[i] = 1;
        }
        snprintf(spec, sizeof spec, "%.*s%s%.*s->%.*s", (int)p.out.n, p.out.p, p.ins > 1 ? "," : "", (int)other.n,
                 other.p, (int)n, have);
        struct oracle_node *r = oracle_einsum(s->g, spec, s->dz, p.ins > 1 ? s->n->in[1 - k] : NULL);
        s->out[k] = oracle_spread(s->g, oracle_reshaped(s->g, r, &kept), &s->n->in[k]->shape);
    }
}

static void back_input(const struct step *s) { (void)s; }
static void back_const(const struct step *s) { (void)s; }
static void back_iota(const struct step *s) { (void)s; }

static void back(const struct step *s)
{
    switch (s->n->op) {
#define LEAF(name, ...) \
    case OX_##name:     \
        back_##name(s); \
        break;
#define MOVE(name, ...) \
    case OX_##name:     \
        back_##name(s); \
        break;
#define SUMS(name, ...) \
    case OX_##name:     \
        back_##name(s); \
        break;
#define OWN(name, ...)  \
    case OX_##name:     \
        back_##name(s); \
        break;
#include "oracle/oracle_table.h"
    default: back_map(s);
    }
}

/* ---- the pass ---- */

struct pass {
    struct oracle_build *b;
    struct oracle_node **grad; /* by id */
    bool *need;                /* by id: something that is asked for lies below */
    u32 known;                 /* nodes that there were before */
};

static void add_to(struct pass *p, struct oracle_node *to, struct oracle_node *g)
{
    if (!g || !p->need[to->id]) return;
    struct oracle_node *had = p->grad[to->id];
    p->grad[to->id] = had ? oracle_node2(p->b->g, OX_add, had, g) : g;
}

static bool pass_node(struct pass *p, struct oracle_node *n)
{
    struct oracle_node *out[ORACLE_OPERANDS] = { NULL };
    const struct oracle_backward *w = n->backward;
    if (w) {
        CHECK(w->def->params <= ORACLE_OPERANDS);
        if (!oracle_backward(p->b, w, p->grad[n->id], out)) return false;
        for (u32 i = 0; i < w->def->params; i++)
            if (w->arg[i]) add_to(p, w->arg[i], out[i]);
    } else {
        back(&(struct step){ p->b->g, n, p->grad[n->id], out, p->need, p->known });
        for (u32 i = 0; i < n->ins; i++) add_to(p, n->in[i], out[i]);
    }
    return !p->b->g->e->code;
}

bool oracle_gradients(struct oracle_build *b, struct oracle_node *f, struct oracle_node *dy, struct oracle_node **wrt,
                      u32 n, struct oracle_node **out)
{
    struct oracle_graph *g = b->g;
    u32 count = g->nodes.n;
    struct pass p = { b, NEW_ARRAY(g->mem, struct oracle_node *, count), NEW_ARRAY(g->mem, bool, count), count };
    for (u32 i = 0; i < n; i++) p.need[wrt[i]->id] = true;
    for (u32 i = 0; i < count; i++)
        for (u32 k = 0; k < g->nodes.p[i]->ins; k++) p.need[i] |= p.need[g->nodes.p[i]->in[k]->id];
    p.grad[f->id] = dy;
    for (u32 i = f->id + 1; i-- > 0;)
        if (p.grad[i] && p.need[i] && g->nodes.p[i]->ins && !pass_node(&p, g->nodes.p[i])) return false;
    for (u32 i = 0; i < n; i++) {
        out[i] = p.grad[wrt[i]->id];
        if (!out[i]) out[i] = oracle_spread(g, oracle_number(g, 0, 0), &wrt[i]->shape);
        if (!out[i]) return false;
    }
    return true;
}
