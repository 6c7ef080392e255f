/* Texts with one thing changed: a definition, a mask, an input's layout, a term, a sign, a function. */
#include "mistake/classify.h"

static struct oracle_graph *graph(struct suspect_text *s) { return &s->changed.graph; }

struct oracle_node *oracle_fitted(struct suspect_text *s, struct oracle_node *x, const struct oracle_shape *to)
{
    if (!x || x->shape.rank > to->rank) return NULL;
    for (u32 i = 1; i <= x->shape.rank; i++)
        if (x->shape.dim[x->shape.rank - i] != 1 && x->shape.dim[x->shape.rank - i] != to->dim[to->rank - i])
            return NULL;
    return oracle_spread(graph(s), x, to);
}

/* ---- other definitions ---- */

static const char variants_text[] =
    "def rms_as_ln(x, g, b, eps = 1e-5) = x * rsqrt(mean(x * x, -1, keep) + eps) * g + b;"
    "def centred_rms(x, g, eps = 1e-5) = { d = x - mean(x, -1, keep); x * rsqrt(mean(d * d, -1, keep) + eps) * g };"
    "def same(x) = x; def same_scaled(x, s = 1) = x;";

/* The texts again, with one definition in place of another. */
static void try_definition(struct suspect_text *s, const char *is, const char *should)
{
    bool named = false;
    for (u32 i = 0; i < s->o->texts.n; i++)
        named |= memmem(s->o->texts.p[i].p, s->o->texts.p[i].n, should, strlen(should)) != NULL;
    if (!named) return;
    struct arena mem = { 0 };
    struct error e = { 0 };
    struct str more = str_of(variants_text);
    struct oracle *o = oracle_new(&mem, s->o->names, s->o->n);
    bool ok = oracle_read(o, "", more, more, &e);
    void *other = map_get(&o->definitions, str_of(is));
    map_put(&mem, &o->definitions, str_of(should), other);
    for (u32 i = 0; ok && i < s->o->texts.n; i++) ok = oracle_read(o, "", s->o->texts.p[i], s->o->texts.p[i], &e);
    char what[160];
    if (!strncmp(is, "same", 4))
        snprintf(what, sizeof what, "%s is missing", should);
    else
        snprintf(what, sizeof what, "%s where the oracle has %s", is, should);
    if (ok) oracle_try_other(s, o, what);
    arena_free(&mem);
}

static void try_definitions(struct suspect_text *s)
{
    static const char *const swaps[][2] = { { "rms_as_ln", "layernorm" },
                                            { "rms_as_ln", "layer_norm" },
                                            { "centred_rms", "rmsnorm" },
                                            { "centred_rms", "rms_norm" } },
                             *const slopes[] = { "gelu", "gelu_tanh", "quick_gelu", "silu", "relu", "softplus", "elu" };
    for (u32 i = 0; i < COUNT_OF(slopes) && !oracle_search_done(s); i++)
        try_definition(s, strcmp(slopes[i], "elu") ? "same" : "same_scaled", slopes[i]);
    for (u32 i = 0; i < COUNT_OF(slopes) * COUNT_OF(slopes) && !oracle_search_done(s); i++)
        if (i / COUNT_OF(slopes) != i % COUNT_OF(slopes))
            try_definition(s, slopes[i % COUNT_OF(slopes)], slopes[i / COUNT_OF(slopes)]);
    for (u32 i = 0; i < COUNT_OF(swaps) && !oracle_search_done(s); i++) try_definition(s, swaps[i][0], swaps[i][1]);
}

/* ---- masks ---- */

static bool is_mask(const struct oracle_node *n)
{
    return n->op == OX_where && n->in[0]->op == OX_ge && n->in[2]->op == OX_const &&
           n->in[2]->attr.value == -INFINITY && n->shape.rank == 2;
}

static void try_masks(struct suspect_text *s, const struct oracle_node *n)
{
    struct oracle_graph *g = graph(s);
    for (s64 by = -1; by <= 1; by += 2) {
        struct oracle_node *m = oracle_causal(g, &n->shape, by);
        if (by < 0) { /* a row must keep one element */
            struct oracle_node *i = oracle_axis_inserted(g, oracle_iota(g, n->shape.dim[0]), 1),
                               *j = oracle_iota(g, n->shape.dim[1]);
            m = oracle_node3(g, OX_where, oracle_node2(g, OX_eq, oracle_node2(g, OX_add, i, j), oracle_number(g, 0, 0)),
                             oracle_number(g, 0, 0), m);
        }
        oracle_try_node(s, ORACLE_SHIFT, n, m, by > 0 ? "the mask is off by +1" : "the mask is off by -1");
    }
    oracle_try_node(s, ORACLE_VARIANT, n, oracle_spread(g, oracle_number(g, 0, 0), &n->shape), "no mask");
}

/* ---- inputs read at the wrong place ---- */

static struct oracle_node *flipped(struct suspect_text *s, struct oracle_node *x, u32 axis)
{
    return oracle_node(graph(s), OX_flip, &x, 1, &(struct oracle_attr){ .n = 1, .list = { axis } });
}

/* Two axes exchanged; where their sizes differ, the same memory read with the stride of the other. */
static struct oracle_node *exchanged(struct suspect_text *s, struct oracle_node *x, u32 a, u32 b)
{
    struct oracle_attr p = { .n = x->shape.rank };
    struct oracle_shape to = x->shape;
    for (u32 i = 0; i < p.n; i++) p.list[i] = i == a ? b : i == b ? a : i;
    to.dim[a] = x->shape.dim[b];
    to.dim[b] = x->shape.dim[a];
    struct oracle_node *r = oracle_reshaped(graph(s), x, &to);
    return oracle_node(graph(s), OX_transpose, &r, 1, &p);
}

static void try_axis(struct suspect_text *s, struct oracle_node *n, u32 axis)
{
    char what[160];
    u64 d = n->shape.dim[axis];
    for (int by = -1; d > 1 && by <= 1; by += 2) {
        snprintf(what, sizeof what, "%s is read one off along axis %u", n->attr.text, axis);
        oracle_try_node(s, ORACLE_SHIFT, n, oracle_rolled(graph(s), n, axis, by), what);
    }
    snprintf(what, sizeof what, "%s is reversed along axis %u", n->attr.text, axis);
    if (d > 1) oracle_try_node(s, ORACLE_PERMUTED, n, flipped(s, n, axis), what);
    for (u32 b = axis + 1; b < n->shape.rank; b++) {
        u64 e = n->shape.dim[b];
        if (d < 2 || e < 2 || (d != e && b != axis + 1)) continue;
        snprintf(what, sizeof what, d == e ? "%s is transposed" : "%s is read with the stride of the other dimension",
                 n->attr.text);
        oracle_try_node(s, ORACLE_PERMUTED, n, exchanged(s, n, axis, b), what);
    }
}

/* The node that uses this input as an index; NULL: none does. */
static const struct oracle_node *index_user(const struct suspect_text *s, const struct oracle_node *n)
{
    for (u32 i = 0; i < s->base; i++) {
        const struct oracle_node *u = s->o->graph.nodes.p[i];
        bool indexed = u->op == OX_gather || u->op == OX_pick || u->op == OX_scatter_add;
        if (s->need[i] && indexed && u->in[1] == n) return u;
    }
    return NULL;
}

static void try_indices(struct suspect_text *s, struct oracle_node *n, u64 limit)
{
    static const char *const names[] = { "clamped one too low", "one too high", "one too high", "one too low",
                                         "not used: element i takes row i" };
    u64 count = oracle_count(&n->shape);
    double *v = NEW_ARRAY(&s->mem, double, count + 1), top = (double)limit - 1;
    char what[96];
    for (u32 k = 0; k < COUNT_OF(names); k++) {
        for (u64 i = 0; i < count; i++) {
            double t = oracle_run_value(&s->run, n, i);
            double to[] = { fmin(t, top - 1), fmin(t + 1, top), t == top ? 0 : t + 1, t - 1, fmin((double)i, top) };
            v[i] = fmax(to[k], 0);
        }
        snprintf(what, sizeof what, "the index %s is %s", n->attr.text, names[k]);
        oracle_try_node(s, ORACLE_SHIFT, n, oracle_extra(s, "$t", &n->shape, v), what);
    }
}

/* Whole numbers with a sign, read as bytes or words that have none; NULL: they have no sign, or are none below 0. */
static struct oracle_node *without_sign(struct suspect_text *s, const struct oracle_node *n, u32 which)
{
    const struct scalar *t = NULL;
    char name[16];
    for (u32 i = 0; i < s->o->n; i++)
        if (s->o->names[i].type && !strcmp(s->o->names[i].name, n->attr.text)) t = s->o->names[i].type;
    u64 count = oracle_count(&n->shape), below = 0;
    if (!t || t->class != SCALAR_SIGNED || t->bytes > 4 || s->run.extras == COUNT_OF(s->run.extra)) return NULL;
    double *v = NEW_ARRAY(&s->mem, double, count + 1);
    for (u64 i = 0; i < count; i++) {
        v[i] = oracle_run_value(&s->run, n, i);
        below += v[i] < 0;
        if (v[i] < 0) v[i] += ldexp(1, 8 * (int)t->bytes);
    }
    snprintf(name, sizeof name, "$t%u", which);
    return below ? oracle_extra(s, name, &n->shape, v) : NULL;
}

static void try_unsigned(struct suspect_text *s, struct oracle_node *n)
{
    struct oracle_node *x = without_sign(s, n, 0);
    char what[160];
    snprintf(what, sizeof what, "%s is read as if it had no sign", n->attr.text);
    if (x) oracle_try_node(s, ORACLE_VARIANT, n, x, what);
}

/* All of them. */
static struct oracle_node *change_unsigned(struct suspect_text *s, const struct oracle_node *n,
                                           struct oracle_node *const *in, void *self)
{
    u32 *done = self;
    (void)in;
    struct oracle_node *x = n->op == OX_input ? without_sign(s, n, *done) : NULL;
    *done += x != NULL;
    return x;
}

static void try_all_unsigned(struct suspect_text *s)
{
    u32 done = 0;
    struct oracle_node **out = oracle_rebuilt(s, change_unsigned, &done);
    if (done > 1)
        oracle_try(s, ORACLE_VARIANT, out, "whole numbers are read as if they had no sign: all arrays of them");
    else
        oracle_search_cut(s);
}

/* Whole numbers that are computed with, as positions are: one more, one less. */
static void try_counted(struct suspect_text *s, struct oracle_node *n)
{
    char what[160];
    for (u64 i = 0, count = oracle_count(&n->shape); i < count; i++)
        if (oracle_run_value(&s->run, n, i) != nearbyint(oracle_run_value(&s->run, n, i))) return;
    for (int by = -1; by <= 1 && !oracle_search_done(s); by += 2) {
        snprintf(what, sizeof what, "%s is one too %s", n->attr.text, by > 0 ? "large" : "small");
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node2(graph(s), OX_add, n, oracle_number(graph(s), by, 0)), what);
    }
}

/* Arrays with an element for each index of one axis, read by a part of that index: channel c of c % per or c / per. */
struct part_of_index {
    const struct oracle_node *only; /* of this array only; NULL: of all that are as long */
    u64 count, by;
    u32 how; /* k / by; k % by; with the two in the other order */
};
static struct oracle_node *change_index(struct suspect_text *s, const struct oracle_node *n,
                                        struct oracle_node *const *in, void *self)
{
    const struct part_of_index *x = self;
    (void)in;
    if (n->op != OX_input || n->shape.rank != 1 || n->shape.dim[0] != x->count || (x->only && n != x->only))
        return NULL;
    if (s->run.extras == COUNT_OF(s->run.extra)) return NULL;
    char name[16];
    snprintf(name, sizeof name, "$%u", s->run.extras);
    double *v = NEW_ARRAY(&s->mem, double, x->count + 1);
    for (u64 k = 0; k < x->count; k++) {
        u64 other = k % x->by * (x->count / x->by) + k / x->by, at = x->how == 0 ? k / x->by : k % x->by;
        v[k] = oracle_run_value(&s->run, n, x->how == 2 ? other : at);
    }
    return oracle_extra(s, name, &n->shape, v);
}

/* "groups or per": all sizes that are as large as this one; false: one of them came before. */
static bool sizes_named(const struct oracle *o, u32 which, char *out, size_t size)
{
    int n = 0;
    for (u32 i = 0; i < o->n && n >= 0 && (size_t)n < size; i++) {
        if (o->names[i].type || o->names[i].word || o->names[i].value != o->names[which].value) continue;
        if (i < which) return false;
        n += snprintf(out + n, size - (size_t)n, "%s%s", n ? " or " : "", o->names[i].name);
    }
    return true;
}

static void try_part_of_index(struct suspect_text *s, struct oracle_node *n)
{
    bool alone = n->shape.rank == 1, first = true;
    for (u32 i = 0; alone && i < s->base; i++) {
        const struct oracle_node *u = s->o->graph.nodes.p[i];
        if (!s->need[i] || u == n || u->op != OX_input || !oracle_shape_equal(&u->shape, &n->shape)) continue;
        alone = false;
        first &= i > n->id;
    }
    if (n->shape.rank != 1) return;
    struct part_of_index x = { .count = n->shape.dim[0] };
    for (u32 i = 0; i < 6 * s->o->n && !oracle_search_done(s); i++) {
        const struct oracle_name *size = &s->o->names[i / 6];
        x.by = size->type || !(size->value > 1 && size->value < (double)x.count) ? 0 : (u64)size->value;
        x.how = i % 6 / 2;
        x.only = i & 1 ? NULL : n;
        if (!x.by || x.count % x.by || (!x.only && (alone || !first))) continue;
        char names[80];
        if (!sizes_named(s->o, i / 6, names, sizeof names)) continue;
        oracle_try(s, ORACLE_SHIFT, oracle_rebuilt(s, change_index, &x), "%s%s at index %s %s", n->attr.text,
                   x.only ? " is read" : " and what is as long are read",
                   x.how == 0   ? "/"
                   : x.how == 1 ? "%"
                                : "with % and / exchanged, by",
                   names);
    }
}

static void try_input(struct suspect_text *s, struct oracle_node *n)
{
    const struct oracle_node *user = index_user(s, n);
    u32 r = n->shape.rank;
    char what[160];
    if (user) {
        try_indices(s, n, oracle_index_limit(user));
        return;
    }
    try_unsigned(s, n);
    if (n->index) try_counted(s, n);
    try_part_of_index(s, n);
    for (u32 axis = 0; axis < r && !oracle_search_done(s); axis++) try_axis(s, n, axis);
    if (r < 2 || n->shape.dim[r - 1] < 2 || n->shape.dim[r - 2] < 2) return;
    snprintf(what, sizeof what, "%s is reversed along the last two axes", n->attr.text);
    oracle_try_node(s, ORACLE_PERMUTED, n, flipped(s, flipped(s, n, r - 2), r - 1), what);
}

/* ---- terms, factors, functions ---- */

/* The same operand is left out wherever it is one of such an operation: scales of several terms, a zero point. */
struct without {
    const struct oracle_node *like, *gone;
    const struct oracle_node *first; /* of those that were changed */
    u32 done;
};
static struct oracle_node *change_without(struct suspect_text *s, const struct oracle_node *n,
                                          struct oracle_node *const *in, void *self)
{
    struct without *w = self;
    if (n->op != w->like->op || n->ins != 2 || (n->in[0] == w->gone) == (n->in[1] == w->gone)) return NULL;
    u32 kept = n->in[0] == w->gone;
    if (kept != (w->like->in[0] == w->gone)) return NULL;
    struct oracle_node *x = oracle_fitted(s, in[kept], &n->shape);
    if (!x) return NULL;
    if (!w->done++) w->first = n;
    return n->op == OX_sub && kept ? oracle_node1(graph(s), OX_neg, x) : x;
}

static void try_operand(struct suspect_text *s, struct oracle_node *n, u32 kept)
{
    bool sum = n->op == OX_add || n->op == OX_sub;
    char what[160];
    struct oracle_node *x = oracle_fitted(s, n->in[kept], &n->shape);
    if (!x || (n->op == OX_div && kept == 1)) return;
    if (n->op == OX_mul && n->in[0] == n->in[1]) return; /* "a square is missing" (choice.c) */
    const struct oracle_node *gone = n->in[1 - kept];
    char text[80];
    oracle_print(s, gone, text, sizeof text);
    snprintf(what, sizeof what, "a %s is missing: %s%s",
             sum               ? "term"
             : n->op == OX_div ? "divisor"
                               : "factor",
             text, gone->body ? " of the definition" : "");
    if (n->op == OX_sub && kept == 1) x = oracle_node1(graph(s), OX_neg, x);
    oracle_try_node(s, ORACLE_VARIANT, n, x, what);
    if (s->alone || oracle_search_done(s)) return;
    struct without all = { n, gone, n, 0 };
    struct oracle_node **out = oracle_rebuilt(s, change_without, &all);
    if (all.done > 1 && all.first == n)
        oracle_try(s, ORACLE_VARIANT, out, "%s, everywhere", what);
    else
        oracle_search_cut(s);
}

static void try_arithmetic(struct suspect_text *s, struct oracle_node *n)
{
    try_operand(s, n, 0);
    try_operand(s, n, 1);
    if (n->op != OX_add && n->op != OX_sub) return;
    struct oracle_node *turned = oracle_node2(graph(s), n->op == OX_add ? OX_sub : OX_add, n->in[0], n->in[1]);
    oracle_try_node(s, ORACLE_VARIANT, n, turned, "a sign is turned");
}

static struct oracle_node *mean_of(struct oracle_graph *g, struct oracle_node *x, const struct oracle_node *like)
{
    struct oracle_node *sum = oracle_node(g, OX_sum, &x, 1, &like->attr);
    double n = (double)oracle_count(&x->shape) / (double)MAX_OF(oracle_count(&like->shape), (u64)1);
    return oracle_node2(g, OX_div, sum, oracle_number(g, n, 0));
}

/* d * d where d = x - mean(x): without the mean, or one where there is none. */
static void try_square(struct suspect_text *s, struct oracle_node *n)
{
    struct oracle_graph *g = graph(s);
    struct oracle_node *x = n->in[0];
    if (x->op == OX_sub && x->in[1]->op == OX_div) {
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node2(g, OX_mul, x->in[0], x->in[0]),
                        "the mean is not subtracted before squaring");
        return;
    }
    for (u32 i = n->id + 1; i < s->base; i++) {
        struct oracle_node *q = s->o->graph.nodes.p[i];
        if (!s->need[i] || q->op != OX_sum || q->in[0] != n || !q->attr.keep) continue;
        struct oracle_node *d = oracle_node2(g, OX_sub, x, mean_of(g, x, q));
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node2(g, OX_mul, d, d), "the mean is subtracted before squaring");
    }
}

/* The same in float, as a kernel does it that adds one element after the other. */
static double *one_pass_in_float(struct suspect_text *s, const struct oracle_node *x, const struct oracle_node *v,
                                 double divisor)
{
    u64 n = oracle_count(&v->shape), all = oracle_count(&x->shape), mask = (u64)v->in[0]->attr.list[0];
    float *sum = NEW_ARRAY(&s->mem, float, n + 1), *square = NEW_ARRAY(&s->mem, float, n + 1);
    double *out = NEW_ARRAY(&s->mem, double, n + 1);
    for (u64 i = 0; i < all; i++) {
        u64 rest = i, to = 0, wide = 1;
        for (u32 d = x->shape.rank; d-- > 0; rest /= x->shape.dim[d]) {
            if (mask >> d & 1) continue;
            to += rest % x->shape.dim[d] * wide;
            wide *= x->shape.dim[d];
        }
        float e = (float)oracle_run_value(&s->run, x, i);
        sum[to] += e;
        square[to] += e * e;
    }
    float terms = (float)all / (float)MAX_OF(n, (u64)1);
    for (u64 i = 0; i < n; i++) {
        float mean = sum[i] / terms;
        out[i] = (square[i] - terms * mean * mean) / (float)divisor;
    }
    return out;
}

/* Where the bound of E[x^2] - mean^2 says nothing: whether the errors are as large as those of a kernel that does it.
 */
static void try_in_float(struct suspect_text *s, struct oracle_node *v, const struct oracle_node *x, const char *what)
{
    enum { FAR = 30 };
    if (v->in[1]->op != OX_const || !s->right) return;
    double *data = one_pass_in_float(s, x, v, v->in[1]->attr.value), off = 0, like = 0;
    struct error e = { 0 };
    struct oracle_node **out = oracle_replaced(s, v, oracle_extra(s, "$v", &v->shape, data));
    bool ok = out && oracle_run(&s->run, out + s->from, s->to - s->from, &e);
    for (u32 i = s->from; ok && i < s->to; i++)
        for (u64 k = 0, n = oracle_count(&out[i]->shape); k < n; k++) {
            const struct scalar *type = oracle_given_type(s->o, s->run.env.type->name, i);
            double y = oracle_given(type, &s->y[i], k) - s->right[i][k],
                   z = oracle_run_value(&s->run, out[i], k) - s->right[i][k];
            if (!isfinite(y) || !isfinite(z) || !isfinite(s->bound[i][k]) || s->bound[i][k] == 0) continue;
            off += log1p(fabs(y) / s->bound[i][k]);
            like += log1p(fabs(z) / s->bound[i][k]);
            ok &= fabs(y) <= s->bound[i][k] || fabs(z) > s->bound[i][k] / FAR;
        }
    if (ok && off < 4 * like && like < 4 * off) {
        struct oracle_explanation name = { .label = ORACLE_PRECISION, .sure = true, .ratio = 1 };
        snprintf(name.what, sizeof name.what, "%s", what);
        if (oracle_is_asked(s, name.what)) oracle_fit_found(s, &name, out);
    }
    oracle_search_cut(s);
}

/* mean(d * d) as mean(x * x) - mean(x)^2 */
static void try_one_pass(struct suspect_text *s, struct oracle_node *n)
{
    struct oracle_graph *g = graph(s);
    struct oracle_node *d = n->in[0];
    if (d->op != OX_sub || d->in[1]->op != OX_div || d->in[1]->in[0]->op != OX_sum) return;
    for (u32 i = n->id + 1; i < s->base; i++) {
        struct oracle_node *v = s->o->graph.nodes.p[i], *x = d->in[0], *m = d->in[1];
        if (!s->need[i] || v->op != OX_div || v->in[0]->op != OX_sum || v->in[0]->in[0] != n) continue;
        if (oracle_count(&m->shape) != oracle_count(&v->shape)) continue;
        m = oracle_reshaped(g, m, &v->shape); /* the mean has kept its axis */
        struct oracle_node *square = oracle_node2(g, OX_mul, x, x),
                           *sum = oracle_node(g, OX_sum, &square, 1, &v->in[0]->attr);
        double terms = (double)oracle_count(&x->shape) / (double)MAX_OF(oracle_count(&v->shape), (u64)1);
        struct oracle_node *all = oracle_node2(g, OX_mul, oracle_node2(g, OX_mul, m, m), oracle_number(g, terms, 0));
        struct oracle_node *one = oracle_node2(g, OX_div, oracle_node2(g, OX_sub, sum, all), v->in[1]);
        oracle_try_node(s, ORACLE_PRECISION, v, one,
                        "the variance as E[x^2] - mean^2, which cancels where the mean is large: "
                        "subtract the mean first");
        if (!s->best->label && s->loose && s->to - s->from == s->o->outs.n)
            try_in_float(s, v, x,
                         "the variance as E[x^2] - mean^2, which cancels where the mean is large: "
                         "subtract the mean first");
    }
}

/* The largest score so far, along the last axis: what an online softmax has when it comes to a score. `lanes` of them
 * share a row, each of which has its own; in the end all are brought to the largest of the row. */
static struct oracle_node *running_most(struct suspect_text *s, const struct oracle_node *x, u64 lanes)
{
    u64 count = oracle_count(&x->shape), width = x->shape.dim[x->shape.rank - 1];
    double *v = NEW_ARRAY(&s->mem, double, count + 1);
    for (u64 row = 0; row < count; row += width) {
        double most = -INFINITY;
        for (u64 i = 0; i < width; i++) {
            double here = oracle_run_value(&s->run, x, row + i);
            v[row + i] = i >= lanes && !(here > v[row + i - lanes]) ? v[row + i - lanes] : here;
            most = fmax(most, here);
        }
        for (u64 lane = 0; lane < lanes && lane < width; lane++) {
            double own = v[row + lane + (width - 1 - lane) / lanes * lanes];
            for (u64 i = lane; i < width; i += lanes) v[row + i] += most - own;
        }
    }
    return oracle_extra(s, "$most", &x->shape, v);
}

/* e / sum(e) where e = exp(x - max): what was added up before a larger score came is not made smaller. */
static void try_online(struct suspect_text *s, struct oracle_node *n)
{
    static const char *const which[] = { "the accumulator", "the sum of weights", "accumulator and sum of weights" };
    static const u32 lanes[] = { 1, 32, 64, 128, 256 };
    struct oracle_graph *g = graph(s);
    struct oracle_node *e = n->in[0], *sum = n->in[1];
    if (sum->op != OX_sum || sum->in[0] != e || e->op != OX_exp || e->in[0]->op != OX_sub) return;
    const struct oracle_node *d = e->in[0], *most = d->in[1];
    struct oracle_node *x = d->in[0];
    if (most->op != OX_free || most->in[0]->op != OX_max || x->shape.rank < 1) return;
    if (!(most->in[0]->attr.list[0] >> (x->shape.rank - 1) & 1) || x->shape.dim[x->shape.rank - 1] < 2) return;
    for (u32 at = 0; at < COUNT_OF(lanes) * COUNT_OF(which) && !oracle_search_done(s); at++) {
        char what[160];
        u32 k = at % COUNT_OF(which), share = lanes[at / COUNT_OF(which)];
        if (share > 1 && k != 1) continue;                                    /* lanes share the sum */
        bool has_all = share > 1 && share >= x->shape.dim[x->shape.rank - 1]; /* each has one element at most */
        if (has_all && s->all_right) s->met = MAX_OF(s->met, ORACLE_LOOSE);
        if (has_all) continue;
        struct oracle_node *raw = oracle_node1(g, OX_exp, oracle_node2(g, OX_sub, x, running_most(s, x, share)));
        struct oracle_node *total = k ? oracle_node(g, OX_sum, &raw, 1, &sum->attr) : sum;
        snprintf(what, sizeof what, "online softmax that does not rescale %s when a larger score comes%s", which[k],
                 k < 2 ? ": the weights do not sum to 1" : "");
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node2(g, OX_div, k == 1 ? e : raw, total), what);
    }
}

/* No shift anywhere: a logsumexp takes it out and adds it again. */
static struct oracle_node *change_free(struct suspect_text *s, const struct oracle_node *n,
                                       struct oracle_node *const *in, void *self)
{
    u32 *done = self;
    if (n->op == OX_within) return in[0]; /* the range of weights, which they may leave then */
    if (n->op != OX_free) return NULL;
    ++*done;
    return oracle_spread(graph(s), oracle_number(graph(s), 0, 0), &n->shape);
}

static void try_no_shift(struct suspect_text *s)
{
    u32 done = 0;
    struct oracle_node **out = oracle_rebuilt(s, change_free, &done);
    s->special = true;
    if (done)
        oracle_try(s, ORACLE_VARIANT, out, "no shift");
    else
        oracle_search_cut(s);
    s->special = false;
}

static bool is_subtracted(const struct suspect_text *s, const struct oracle_node *n)
{
    for (u32 i = n->id + 1; i < s->base; i++) {
        const struct oracle_node *u = s->o->graph.nodes.p[i];
        if (s->need[i] && u->op == OX_sub && u->in[1] == n) return true;
    }
    return false;
}

static void try_function(struct suspect_text *s, struct oracle_node *n)
{
    struct oracle_graph *g = graph(s);
    struct oracle_node *x = n->in[0], *by = NULL;
    if (n->op == OX_rsqrt && x->op == OX_add) {
        by = oracle_node2(g, OX_add, oracle_node1(g, OX_sqrt, x->in[0]), x->in[1]);
        by = oracle_node2(g, OX_div, oracle_number(g, 1, 0), by);
        oracle_try_node(s, ORACLE_VARIANT, n, by, "epsilon is added outside the root");
    }
    if (n->op == OX_exp) oracle_try_node(s, ORACLE_VARIANT, n, oracle_node1(g, OX_exp2, x), "base 2 for base e");
    if (n->op == OX_log) oracle_try_node(s, ORACLE_VARIANT, n, oracle_node1(g, OX_log2, x), "base 2 for base e");
    s->special = true;
    if (n->op == OX_free)
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_spread(g, oracle_number(g, 0, 0), &n->shape),
                        is_subtracted(s, n) ? "no shift" : "a term is missing: the shift is not added again");
    s->special = false;
    if (n->op == OX_sum && n->shape.rank && n->shape.dim[0] > 1)
        oracle_try_node(s, ORACLE_PERMUTED, n, oracle_rolled(g, n, 0, 1), "a row takes the sum of another row");
}

/* An operand of a product transposed, where the two axes are equally long. */
static void try_product(struct suspect_text *s, struct oracle_node *n)
{
    struct einsum_parts p = oracle_einsum_parts(n->attr.text);
    for (u32 k = 0; k < n->ins && n->ins == 2; k++)
        for (u32 a = 0; a < p.in[k].n; a++)
            for (u32 b = a + 1; b < p.in[k].n; b++) {
                if (n->in[k]->shape.dim[a] != n->in[k]->shape.dim[b] || n->in[k]->shape.dim[a] < 2) continue;
                char spec[96];
                snprintf(spec, sizeof spec, "%s", n->attr.text);
                char *at = spec + (p.in[k].p - n->attr.text), c = at[a];
                at[a] = at[b];
                at[b] = c;
                oracle_try_node(s, ORACLE_PERMUTED, n, oracle_einsum(graph(s), spec, n->in[0], n->in[1]),
                                "an operand of a product is transposed");
            }
}

/* ---- narrow products ---- */

struct narrowing { /* operands of products that are rounded to a type */
    const char *type;
    const struct oracle_node *only; /* of this product only; NULL: of all */
    u32 operand;                    /* of it: 0 or 1; 2: both */
};
static struct oracle_node *change_narrow(struct suspect_text *s, const struct oracle_node *n,
                                         struct oracle_node *const *in, void *self)
{
    const struct narrowing *w = self;
    struct oracle_attr a = { .text = w->type };
    struct oracle_node *now[2];
    if (n->op != OX_einsum || n->ins != 2 || (w->only && n != w->only)) return NULL;
    for (u32 k = 0; k < 2; k++) {
        now[k] = in[k];
        if (w->operand == k || w->operand == 2) now[k] = oracle_node(graph(s), OX_cast, &now[k], 1, &a);
    }
    return oracle_node(graph(s), OX_einsum, now, 2, &n->attr);
}

static void try_narrow(struct suspect_text *s)
{
    static const char *const types[] = { "tf32", "bf16", "f16" };
    for (u32 t = 0; t < COUNT_OF(types) && !oracle_search_done(s); t++) {
        struct narrowing all = { oracle_type(str_of(types[t]))->name, NULL, 2 };
        oracle_try(s, ORACLE_PRECISION, oracle_rebuilt(s, change_narrow, &all),
                   "the operands of products are rounded to %s", types[t]);
        for (u32 i = 0; i < s->base; i++)
            for (u32 k = 0; k < 2 && !oracle_search_done(s); k++) {
                struct narrowing one = { all.type, s->o->graph.nodes.p[i], k };
                if (!s->need[i] || one.only->op != OX_einsum || one.only->ins != 2) continue;
                const struct oracle_node *x = one.only->in[k];
                oracle_try(s, ORACLE_PRECISION, oracle_rebuilt(s, change_narrow, &one),
                           "%s is rounded to %s before a product",
                           x->op == OX_input ? x->attr.text
                           : k               ? "the right operand"
                                             : "the left operand",
                           types[t]);
            }
    }
}

/* ---- sums of other rows ---- */

static struct oracle_node *change_roll(struct suspect_text *s, const struct oracle_node *n,
                                       struct oracle_node *const *in, void *self)
{
    const s64 *by = self;
    if (n->op != OX_sum || !n->shape.rank || n->shape.dim[0] < 2) return NULL;
    return oracle_rolled(graph(s), oracle_node(graph(s), n->op, in, n->ins, &n->attr), 0, *by);
}

/* A value that every row computes for itself, and takes from its neighbour: its mean and what is made of it. */
static void try_other_rows(struct suspect_text *s)
{
    for (s64 by = -1; by <= 1; by += 2)
        oracle_try(s, ORACLE_PERMUTED, oracle_rebuilt(s, change_roll, &by), "every row takes the sums of another row");
    for (u32 i = 0; i < s->base && !oracle_search_done(s); i++) {
        struct oracle_node *n = s->o->graph.nodes.p[i];
        if (!s->need[i] || n->index || n->op == OX_input || n->shape.rank < 2 || n->shape.dim[0] < 2) continue;
        if (n->shape.dim[n->shape.rank - 1] != 1) continue;
        for (s64 by = -1; by <= 1; by += 2)
            oracle_try_node(s, ORACLE_PERMUTED, n, oracle_rolled(graph(s), n, 0, by),
                            "a row takes a value of another row");
    }
}

static void try_changed(struct suspect_text *s, struct oracle_node *n)
{
    bool arithmetic = n->op == OX_add || n->op == OX_sub || n->op == OX_mul || n->op == OX_div;
    if (!n->ins) return;
    if (arithmetic) try_arithmetic(s, n);
    if (n->index) return;
    if (n->op == OX_mul && n->in[0] == n->in[1]) try_square(s, n);
    if (n->op == OX_einsum) try_product(s, n);
    if (n->op == OX_div) try_online(s, n);
    try_function(s, n);
}

void oracle_try_mutants(struct suspect_text *s)
{
    if (!s->alone) try_definitions(s);
    if (!s->alone && !oracle_search_done(s)) try_no_shift(s);
    if (!s->alone && !oracle_search_done(s)) try_all_unsigned(s);
    for (u32 pass = 0; pass < 5; pass++) {
        if (pass == 2 && !s->alone) oracle_try_exchanged(s);
        for (u32 i = 0; i < s->base && !oracle_search_done(s); i++) {
            struct oracle_node *n = s->o->graph.nodes.p[i];
            if (!s->need[i]) continue;
            if (pass == 0 && is_mask(n)) try_masks(s, n);
            if (pass == 1 && n->op == OX_input) try_input(s, n);
            if (pass == 2) try_changed(s, n);
            if (pass == 3) oracle_try_instead(s, n);
            if (pass == 3) oracle_try_choice(s, n);
            if (pass == 3) oracle_try_scan(s, n);
            if (pass == 4) oracle_try_turns(s, n);
        }
    }
    if (s->alone) return;
    oracle_try_everywhere(s);
    if (!oracle_search_done(s)) oracle_try_edges(s);
    if (!oracle_search_done(s)) oracle_try_applied(s);
    if (!oracle_search_done(s)) oracle_try_flat(s);
    if (!oracle_search_done(s)) try_other_rows(s);
    if (!s->best->label) try_narrow(s);
}

/* The bound of this text says little where it is bad, so almost everything fits it: the last to be asked. */
void oracle_try_one_pass(struct suspect_text *s)
{
    for (u32 i = 0; i < s->base && !oracle_search_done(s); i++) {
        struct oracle_node *n = s->o->graph.nodes.p[i];
        if (s->need[i] && n->op == OX_mul && n->in[0] == n->in[1]) try_one_pass(s, n);
    }
}
