/* Texts with one thing in place of another: an operation, a part, the order of axes, one element for all. */
#include "mistake/classify.h"

static struct oracle_graph *graph(struct suspect_text *s) { return &s->changed.graph; }

/* ---- operations ---- */

/* Which function rounds to whole numbers; which comparison has its end. */
static const struct kin { /* an operation in the place of another */
    enum oracle_op is, should;
    const char *what;
} kin[] = {
    { OX_trunc, OX_round, "trunc for round: what a conversion to an integer does" },
    { OX_floor, OX_round, "floor for round" },
    { OX_ceil, OX_round, "ceil for round" },
    { OX_round, OX_floor, "round for floor" },
    { OX_trunc, OX_floor, "trunc for floor: what a conversion to an integer does" },
    { OX_round, OX_trunc, "round for trunc" },
    { OX_floor, OX_trunc, "floor for trunc" },
    { OX_floor, OX_ceil, "floor for ceil" },
    { OX_le, OX_lt, "<= for <: one element more" },
    { OX_lt, OX_le, "< for <=: one element less" },
    { OX_ge, OX_gt, ">= for >: one element more" },
    { OX_gt, OX_ge, "> for >=: one element less" },
    { OX_lt, OX_gt, "< for >: the comparison is turned round" },
    { OX_gt, OX_lt, "> for <: the comparison is turned round" },
    { OX_le, OX_ge, "<= for >=: the comparison is turned round" },
    { OX_ge, OX_le, ">= for <=: the comparison is turned round" },
    { OX_or, OX_and, "one of two conditions is enough: or for and" },
    { OX_and, OX_or, "both of two conditions are asked: and for or" },
    { OX_ne, OX_eq, "!= for ==" },
    { OX_eq, OX_ne, "== for !=" },
    { OX_tanh, OX_sigmoid, "tanh for sigmoid" },
    { OX_sigmoid, OX_tanh, "sigmoid for tanh" },
    { OX_tanh, OX_erf, "tanh for erf" },
    { OX_erf, OX_tanh, "erf for tanh" },
    { OX_sin, OX_cos, "sin for cos" },
    { OX_cos, OX_sin, "cos for sin" },
    { OX_sqrt, OX_rsqrt, "sqrt for rsqrt" },
    { OX_rsqrt, OX_sqrt, "rsqrt for sqrt" },
    { OX_min, OX_max, "min for max" },
    { OX_max, OX_min, "max for min" },
    { OX_argmin, OX_argmax, "argmin for argmax" },
    { OX_argmax, OX_argmin, "argmax for argmin" },
    { OX_mul, OX_div, "multiplied where the oracle divides" },
    { OX_div, OX_mul, "divided where the oracle multiplies" },
    { OX_cummin, OX_cummax, "cummin for cummax" },
    { OX_cummax, OX_cummin, "cummax for cummin" },
    { OX_minimum, OX_maximum, "minimum for maximum" },
    { OX_maximum, OX_minimum, "maximum for minimum" },
    { OX_maximum, OX_fmax, "maximum gives NaN, fmax passes over it" },
    { OX_minimum, OX_fmin, "minimum gives NaN, fmin passes over it" },
    { OX_cumsum, OX_cumprod, "cumsum for cumprod" },
    { OX_cumprod, OX_cumsum, "cumprod for cumsum" },
    { OX_sum, OX_prod, "the sum for the product" },
    { OX_prod, OX_sum, "the product for the sum" },
    { OX_fmod, OX_mod, "fmod for %: the sign of the dividend, not of the divisor" },
    { OX_mod, OX_fmod, "% for fmod: the sign of the divisor, not of the dividend" },
};

static void try_kin(struct suspect_text *s, struct oracle_node *n)
{
    for (u32 i = 0; i < COUNT_OF(kin) && !oracle_search_done(s); i++) {
        if (kin[i].should != n->op || (n->op == OX_mul && n->in[0] == n->in[1])) continue;
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node(graph(s), kin[i].is, n->in, n->ins, &n->attr), kin[i].what);
    }
}

/* One change wherever an operation stands: the habit of whoever wrote the kernel. */
struct everywhere {
    enum oracle_op is, should; /* OX_COUNT in place of `is`: the first operand alone */
    bool square;               /* of products: of an operand with itself */
    u32 done;
};
static struct oracle_node *change_everywhere(struct suspect_text *s, const struct oracle_node *n,
                                             struct oracle_node *const *in, void *self)
{
    struct everywhere *x = self;
    if (n->op != x->should || n->index || (n->op == OX_mul && (n->in[0] == n->in[1]) != x->square)) return NULL;
    if (x->is == OX_COUNT) {
        if ((n->op == OX_maximum || n->op == OX_minimum) && n->in[1]->op != OX_const) return NULL; /* no limit */
        struct oracle_node *kept = oracle_fitted(s, in[0], &n->shape);
        x->done += kept != NULL;
        return kept;
    }
    x->done++;
    return oracle_node(graph(s), x->is, in, n->ins, &n->attr);
}

static void try_every(struct suspect_text *s, enum oracle_op is, enum oracle_op should, const char *what)
{
    struct everywhere x = { is, should, should == OX_mul && is == OX_COUNT, 0 };
    if (oracle_search_done(s)) return;
    struct oracle_node **out = oracle_rebuilt(s, change_everywhere, &x);
    if (x.done > 1)
        oracle_try(s, ORACLE_VARIANT, out, "%s, everywhere", what);
    else
        oracle_search_cut(s);
}

void oracle_try_everywhere(struct suspect_text *s)
{
    static const struct kin gone[] = {
        { OX_add, OX_sub, "a sign is turned" },         { OX_sub, OX_add, "a sign is turned" },
        { OX_COUNT, OX_div, "a divisor is missing" },   { OX_COUNT, OX_sqrt, "a root is missing" },
        { OX_COUNT, OX_abs, "abs is missing" },         { OX_COUNT, OX_mul, "a square is missing" },
        { OX_exp2, OX_exp, "base 2 for base e" },       { OX_COUNT, OX_round, "round is missing" },
        { OX_COUNT, OX_maximum, "maximum is missing" }, { OX_COUNT, OX_minimum, "minimum is missing" },
    };
    for (u32 i = 0; i < COUNT_OF(gone); i++) try_every(s, gone[i].is, gone[i].should, gone[i].what);
    for (u32 i = 0; i < COUNT_OF(kin); i++) try_every(s, kin[i].is, kin[i].should, kin[i].what);
}

/* What a function that is exact near zero is for; what a maximum begins with; whether there is a root. */
static void try_forms(struct suspect_text *s, struct oracle_node *n)
{
    struct oracle_graph *g = graph(s);
    struct oracle_node *x = n->in[0], *one = oracle_number(g, 1, 0), *zero = oracle_number(g, 0, 0);
    if (n->op == OX_log1p)
        oracle_try_node(s, ORACLE_PRECISION, n, oracle_node1(g, OX_log, oracle_node2(g, OX_add, one, x)),
                        "log(1 + x) for log1p(x), which loses a small x");
    if (n->op == OX_expm1)
        oracle_try_node(s, ORACLE_PRECISION, n, oracle_node2(g, OX_sub, oracle_node1(g, OX_exp, x), one),
                        "exp(x) - 1 for expm1(x), which loses a small x");
    if (n->op == OX_max)
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node2(g, OX_maximum, n, zero), "the maximum begins with 0");
    if (n->op == OX_min)
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node2(g, OX_minimum, n, zero), "the minimum begins with 0");
    if (n->op == OX_rsqrt)
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node2(g, OX_div, one, x), "1/x for rsqrt(x): the root is missing");
    if (n->op == OX_sqrt) oracle_try_node(s, ORACLE_VARIANT, n, x, "a root is missing");
    if (n->op == OX_abs) oracle_try_node(s, ORACLE_VARIANT, n, x, "abs is missing");
}

/* exp(x - most) / sum(exp(x - most)), where one of the two has no shift. */
static void try_half_shift(struct suspect_text *s, struct oracle_node *n)
{
    struct oracle_graph *g = graph(s);
    struct oracle_node *e = n->in[0], *sum = n->in[1];
    if (n->op != OX_div || sum->op != OX_sum || sum->in[0] != e || e->op != OX_exp || e->in[0]->op != OX_sub) return;
    const struct oracle_node *whole = n; /* without the range of a weight, which it may leave */
    for (u32 i = n->id + 1; i < s->base; i++)
        if (s->need[i] && g->nodes.p[i]->op == OX_within && g->nodes.p[i]->in[0] == n) whole = g->nodes.p[i];
    struct oracle_node *raw = oracle_node1(g, OX_exp, e->in[0]->in[0]);
    oracle_try_node(s, ORACLE_VARIANT, whole, oracle_node2(g, OX_div, raw, sum),
                    "the exponents of the weights have no shift, those of their sum have one");
    if (oracle_search_done(s)) return;
    raw = oracle_node1(g, OX_exp, e->in[0]->in[0]);
    oracle_try_node(s, ORACLE_VARIANT, whole, oracle_node2(g, OX_div, e, oracle_node(g, OX_sum, &raw, 1, &sum->attr)),
                    "the exponents of the sum of weights have no shift, those of the weights have one");
}

/* A function of one argument, and a limit that is a number. */
static bool is_bend(const struct oracle_node *n)
{
    if (n->op == OX_maximum || n->op == OX_minimum || n->op == OX_fmax || n->op == OX_fmin)
        return n->in[1]->op == OX_const || n->in[0]->op == OX_const;
    return n->ins == 1 && oracle_rows[n->op].family == ORACLE_MAP && n->op != OX_neg && n->op != OX_via &&
           n->op != OX_cast && n->op != OX_free && n->op != OX_within && n->op != OX_off;
}

/* f(x + b) as f(x) + b, f(x * b) as f(x) * b: what is added, or multiplied with, after the function. */
static void try_after(struct suspect_text *s, struct oracle_node *n)
{
    u32 at = n->ins == 2 && n->in[0]->op == OX_const;
    struct oracle_node *x = n->in[at];
    bool sum = x->op == OX_add || x->op == OX_sub;
    if (!is_bend(n) || (!sum && x->op != OX_mul && x->op != OX_div)) return;
    if (n->op == OX_sqrt || n->op == OX_rsqrt) return; /* an epsilon outside the root (choice.c) */
    for (u32 k = 0; k < 2 && !oracle_search_done(s); k++) {
        struct oracle_node *in[2] = { x->in[0], x->in[1] }, *of[2] = { n->in[0], n->ins > 1 ? n->in[1] : NULL };
        char text[80], what[200];
        if ((k == 0 && (x->op == OX_sub || x->op == OX_div)) || x->in[0] == x->in[1]) continue;
        oracle_print(s, x->in[k], text, sizeof text);
        snprintf(what, sizeof what, "%s is %s after %s, not before it", text, sum ? "added" : "multiplied with",
                 oracle_rows[n->op].name);
        if (x->op == OX_sub || x->op == OX_div)
            snprintf(what, sizeof what, "%s is %s after %s, not before it", text,
                     sum ? "subtracted" : "what is divided by", oracle_rows[n->op].name);
        of[at] = oracle_fitted(s, x->in[1 - k], &n->shape);
        in[1 - k] = of[at] ? oracle_node(graph(s), n->op, of, n->ins, &n->attr) : NULL;
        oracle_try_node(s, ORACLE_VARIANT, n, in[1 - k] ? oracle_node(graph(s), x->op, in, 2, &x->attr) : NULL, what);
    }
}

/* f(x) + b as f(x + b). */
static void try_before(struct suspect_text *s, struct oracle_node *n)
{
    if (n->op != OX_add && n->op != OX_sub) return;
    for (u32 k = 0; k < (n->op == OX_add ? 2u : 1u) && !oracle_search_done(s); k++) {
        struct oracle_node *f = n->in[k], *in[2] = { n->in[0], n->in[1] };
        char text[80], what[200];
        if (!is_bend(f) || f->op == OX_sqrt || !oracle_shape_equal(&f->shape, &n->shape)) continue;
        u32 at = f->ins == 2 && f->in[0]->op == OX_const;
        struct oracle_node *of[2] = { f->in[0], f->ins > 1 ? f->in[1] : NULL };
        in[k] = f->in[at];
        of[at] = oracle_node(graph(s), n->op, in, 2, &n->attr);
        oracle_print(s, n->in[1 - k], text, sizeof text);
        snprintf(what, sizeof what, "%s is %s before %s, not after it", text, n->op == OX_add ? "added" : "subtracted",
                 oracle_rows[f->op].name);
        oracle_try_node(s, ORACLE_VARIANT, n, of[at] ? oracle_node(graph(s), f->op, of, f->ins, &f->attr) : NULL, what);
    }
}

/* A function that the text does not have, of an array. */
static void try_function_of(struct suspect_text *s, struct oracle_node *n)
{
    struct oracle_graph *g = graph(s);
    char what[160];
    snprintf(what, sizeof what, "abs(%.60s) for %.60s", n->attr.text, n->attr.text);
    oracle_try_node(s, ORACLE_VARIANT, n, oracle_node1(g, OX_abs, n), what);
    if (oracle_search_done(s)) return;
    snprintf(what, sizeof what, "%.60s squared for %.60s", n->attr.text, n->attr.text);
    oracle_try_node(s, ORACLE_VARIANT, n, oracle_node2(g, OX_mul, n, n), what);
}

/* ---- one element for all ---- */

static void try_first(struct suspect_text *s, struct oracle_node *n)
{
    char what[160];
    for (u32 axis = 0; axis < n->shape.rank && !oracle_search_done(s); axis++) {
        if (n->shape.dim[axis] < 2) continue;
        snprintf(what, sizeof what, "of %s only the first element along axis %u is read", n->attr.text, axis);
        oracle_try_node(s, ORACLE_SHIFT, n, oracle_spread(graph(s), oracle_cut(graph(s), n, axis, 0, 1), &n->shape),
                        what);
    }
}

/* ---- parts that are exchanged ---- */

struct two { /* nodes of the given graph, each in the place of the other */
    const struct oracle_node *a, *b;
};
static struct oracle_node *change_two(struct suspect_text *s, const struct oracle_node *n,
                                      struct oracle_node *const *in, void *self)
{
    const struct two *x = self;
    (void)in;
    return n == x->a ? s->o->graph.nodes.p[x->b->id] : n == x->b ? s->o->graph.nodes.p[x->a->id] : NULL;
}

/* One array of a shape in the place of another. */
static void try_used_for(struct suspect_text *s, const struct two *x)
{
    char what[160];
    for (u32 k = 0; k < 2 && !oracle_search_done(s); k++) {
        const struct oracle_node *is = k ? x->a : x->b, *should = k ? x->b : x->a;
        snprintf(what, sizeof what, "%.60s is used for %.60s", is->attr.text, should->attr.text);
        oracle_try_node(s, ORACLE_VARIANT, should, s->o->graph.nodes.p[is->id], what);
    }
}

/* Inputs of one shape, and slices of one array. */
static void try_pairs(struct suspect_text *s)
{
    for (u32 i = 0; i < s->base; i++)
        for (u32 k = i + 1; k < s->base && !oracle_search_done(s); k++) {
            struct two x = { s->o->graph.nodes.p[i], s->o->graph.nodes.p[k] };
            bool inputs = x.a->op == OX_input && x.b->op == OX_input;
            bool slices = x.a->op == OX_slice && x.b->op == OX_slice && x.a->in[0] == x.b->in[0];
            if (!s->need[i] || !s->need[k] || (!inputs && !slices)) continue;
            if (!oracle_shape_equal(&x.a->shape, &x.b->shape)) continue;
            if (inputs)
                oracle_try(s, ORACLE_VARIANT, oracle_rebuilt(s, change_two, &x), "%s and %s are exchanged",
                           x.a->attr.text, x.b->attr.text);
            if (inputs)
                try_used_for(s, &x);
            else
                oracle_try(s, ORACLE_PERMUTED, oracle_rebuilt(s, change_two, &x), "two slices of %s are exchanged",
                           x.a->in[0]->op == OX_input ? x.a->in[0]->attr.text : "an array");
        }
}

/* The parts of a concat that are equally long. */
static void try_concat(struct suspect_text *s, struct oracle_node *n)
{
    struct oracle_node *in[ORACLE_OPERANDS];
    for (u32 i = 0; i < n->ins && !oracle_search_done(s); i++)
        for (u32 k = i + 1; k < n->ins; k++) {
            if (!oracle_shape_equal(&n->in[i]->shape, &n->in[k]->shape)) continue;
            memcpy(in, n->in, n->ins * sizeof *in);
            in[i] = n->in[k];
            in[k] = n->in[i];
            oracle_try_node(s, ORACLE_PERMUTED, n, oracle_node(graph(s), OX_concat, in, n->ins, &n->attr),
                            "two parts that are put together are exchanged");
        }
}

/* ---- an axis that is two ---- */

/* Whether `whole` has one axis of a * b where `parts` has two, of a and of b; *at is the first of them. */
static bool is_split(const struct oracle_shape *whole, const struct oracle_shape *parts, u32 *at)
{
    if (parts->rank != whole->rank + 1) return false;
    u32 p = 0;
    while (p < whole->rank && whole->dim[p] == parts->dim[p]) p++;
    if (p == whole->rank || parts->dim[p] * parts->dim[p + 1] != whole->dim[p]) return false;
    for (u32 i = p + 1; i < whole->rank; i++)
        if (whole->dim[i] != parts->dim[i + 1]) return false;
    *at = p;
    return parts->dim[p] > 1 && parts->dim[p + 1] > 1;
}

static struct oracle_node *axes_exchanged(struct oracle_graph *g, struct oracle_node *x, u32 at)
{
    struct oracle_attr order = { .n = x ? x->shape.rank : 0 };
    for (u32 i = 0; i < order.n; i++) order.list[i] = i == at ? at + 1 : i == at + 1 ? at : i;
    return x ? oracle_node(g, OX_transpose, &x, 1, &order) : NULL;
}

/* Index % a for index / b: wherever an axis is split or two are joined, in the other order. */
static struct oracle_node *change_order(struct suspect_text *s, const struct oracle_node *n,
                                        struct oracle_node *const *in, void *self)
{
    struct oracle_graph *g = graph(s);
    bool *any = self;
    u32 at;
    if (n->op != OX_reshape) return NULL;
    if (is_split(&n->in[0]->shape, &n->shape, &at)) {
        struct oracle_shape other = n->shape;
        other.dim[at] = n->shape.dim[at + 1];
        other.dim[at + 1] = n->shape.dim[at];
        *any = true;
        return axes_exchanged(g, oracle_reshaped(g, in[0], &other), at);
    }
    if (!is_split(&n->shape, &n->in[0]->shape, &at)) return NULL;
    *any = true;
    struct oracle_node *x = axes_exchanged(g, in[0], at);
    return x ? oracle_reshaped(g, x, &n->shape) : NULL;
}

static void try_order(struct suspect_text *s)
{
    bool any = false;
    struct oracle_node **out = oracle_rebuilt(s, change_order, &any);
    if (any)
        oracle_try(s, ORACLE_PERMUTED, out, "an axis that is two is taken apart in the other order: %% for /");
    else
        oracle_search_cut(s);
}

/* ---- halves and pairs ---- */

struct pairing {
    bool joins; /* what is put together, too */
    bool any;
};

/* x[..., :h] and x[..., h:] as x[..., 0::2] and x[..., 1::2], and the other way round. */
static bool repaired(const struct oracle_shape *x, struct oracle_attr *a)
{
    for (u32 axis = 0; axis < x->rank; axis++) {
        s64 d = (s64)x->dim[axis], h = d / 2, *cut = &a->list[3 * axis];
        if (cut[0] == 0 && cut[1] == d && cut[2] == 1) continue;
        if (d % 2 || d < 4) return false;
        bool half = cut[2] == 1 && (cut[0] == 0 || cut[0] == h) && cut[1] == cut[0] + h;
        bool pair = cut[2] == 2 && (cut[0] == 0 || cut[0] == 1) && cut[1] > d - 2 + cut[0];
        if (!half && !pair) return false;
        memcpy(cut, half ? (s64[]){ cut[0] / h, d, 2 } : (s64[]){ cut[0] * h, cut[0] * h + h, 1 }, 3 * sizeof *cut);
        return true;
    }
    return false;
}

static struct oracle_node *change_pairs(struct suspect_text *s, const struct oracle_node *n,
                                        struct oracle_node *const *in, void *self)
{
    struct oracle_graph *g = graph(s);
    struct pairing *how = self;
    struct oracle_attr a = n->attr;
    u32 at;
    if (n->op == OX_slice && repaired(&n->in[0]->shape, &a)) {
        how->any = true;
        return oracle_node(g, OX_slice, in, 1, &a);
    }
    if (!how->joins) return NULL;
    if (n->op == OX_concat && n->ins == 2 && oracle_shape_equal(&n->in[0]->shape, &n->in[1]->shape)) {
        u32 axis = (u32)n->attr.list[0];
        struct oracle_shape parts = { .rank = n->shape.rank + 1 };
        if (n->in[0]->shape.dim[axis] < 2 || parts.rank > ORACLE_RANK) return NULL;
        for (u32 i = 0; i < n->shape.rank; i++) parts.dim[i + (i > axis)] = n->shape.dim[i];
        parts.dim[axis] = 2;
        parts.dim[axis + 1] = n->in[0]->shape.dim[axis];
        struct oracle_node *x = oracle_node(g, OX_concat, in, 2, &n->attr);
        x = axes_exchanged(g, x ? oracle_reshaped(g, x, &parts) : NULL, axis);
        return x ? oracle_reshaped(g, x, &n->shape) : NULL;
    }
    if (n->op == OX_reshape && n->in[0]->op == OX_concat && is_split(&n->shape, &n->in[0]->shape, &at)) {
        struct oracle_node *x = axes_exchanged(g, in[0], at);
        return x ? oracle_reshaped(g, x, &n->shape) : NULL;
    }
    return NULL;
}

static void try_halves(struct suspect_text *s)
{
    for (u32 joins = 0; joins < 2 && !oracle_search_done(s); joins++) {
        struct pairing how = { .joins = joins };
        struct oracle_node **out = oracle_rebuilt(s, change_pairs, &how);
        if (how.any)
            oracle_try(s, ORACLE_PERMUTED, out,
                       "neighbours for halves, or halves for neighbours: elements 2i and 2i + 1, and i and i + n / 2");
        else
            oracle_search_cut(s);
    }
}

/* ---- NaN ---- */

/* Every largest and smallest one by fmaxf or fminf, which pass over NaN. */
static struct oracle_node *change_nan(struct suspect_text *s, const struct oracle_node *n,
                                      struct oracle_node *const *in, void *self)
{
    struct oracle_graph *g = graph(s);
    bool *any = self, most = n->op == OX_max || n->op == OX_maximum;
    if (n->op == OX_maximum || n->op == OX_minimum) {
        *any = true;
        return oracle_node2(g, most ? OX_fmax : OX_fmin, in[0], in[1]);
    }
    if (n->op != OX_max && n->op != OX_min) return NULL;
    *any = true;
    struct oracle_node *is = oracle_node3(g, OX_where, oracle_node2(g, OX_eq, in[0], in[0]), in[0],
                                          oracle_number(g, most ? -INFINITY : INFINITY, 0));
    return oracle_node(g, n->op, &is, 1, &n->attr);
}

const char oracle_nan_passed[] =
    "NaN is passed over, as by fmaxf and fminf, where max, min, maximum and minimum give NaN; if that is meant, say "
    "fmax(x, y), or max(where(x == x, x, -inf), ...)";

static void try_nan(struct suspect_text *s)
{
    bool any = false;
    struct oracle_node **out = oracle_rebuilt(s, change_nan, &any);
    if (any)
        oracle_try(s, ORACLE_VARIANT, out, "%s", oracle_nan_passed);
    else
        oracle_search_cut(s);
}

void oracle_try_exchanged(struct suspect_text *s)
{
    try_pairs(s);
    if (!oracle_search_done(s)) try_order(s);
    if (!oracle_search_done(s)) try_halves(s);
    if (!oracle_search_done(s)) try_nan(s);
}

void oracle_try_turns(struct suspect_text *s, struct oracle_node *n)
{
    if (n->ins && !n->index && !oracle_search_done(s)) try_after(s, n);
    if (n->ins && !n->index && !oracle_search_done(s)) try_before(s, n);
}

void oracle_try_instead(struct suspect_text *s, struct oracle_node *n)
{
    if (n->op == OX_input) {
        if (!n->index) try_first(s, n);
        if (!n->index && !oracle_search_done(s)) try_function_of(s, n);
        return;
    }
    if (!n->ins) return;
    try_kin(s, n);
    if (n->op == OX_concat) try_concat(s, n);
    if (n->index || oracle_search_done(s)) return;
    try_forms(s, n);
    s->special = true;
    try_half_shift(s, n);
    s->special = false;
}
