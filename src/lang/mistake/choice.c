/* Texts in which something else is chosen: a condition is negated, left out or half asked, a clamp has one end, a
 * function of one argument is missing, a reduction is another one, a mean divides by something else, a window lies
 * elsewhere. */
#include "mistake/classify.h"

enum { WORDS = 90 };
static struct oracle_graph *graph(struct suspect_text *s) { return &s->changed.graph; }

/* ---- conditions ---- */

static bool is_condition(const struct oracle_node *n)
{
    return n->op == OX_lt || n->op == OX_le || n->op == OX_gt || n->op == OX_ge || n->op == OX_eq || n->op == OX_ne ||
           n->op == OX_and || n->op == OX_or;
}

static void try_condition(struct suspect_text *s, struct oracle_node *n)
{
    char text[WORDS], what[240];
    oracle_print(s, n, text, sizeof text);
    snprintf(what, sizeof what, "the condition %s is negated", text);
    oracle_try_node(s, ORACLE_VARIANT, n, oracle_node1(graph(s), OX_not, n), what);
    snprintf(what, sizeof what, "the condition %s is not asked: it always holds", text);
    oracle_try_node(s, ORACLE_VARIANT, n, oracle_spread(graph(s), oracle_number(graph(s), 1, 0), &n->shape), what);
    snprintf(what, sizeof what, "the condition %s is not asked: it never holds", text);
    oracle_try_node(s, ORACLE_VARIANT, n, oracle_spread(graph(s), oracle_number(graph(s), 0, 0), &n->shape), what);
    for (u32 k = 0; k < 2 && (n->op == OX_and || n->op == OX_or); k++) {
        oracle_print(s, n->in[k], text, sizeof text);
        snprintf(what, sizeof what, "half of a condition is left out: only %s is asked", text);
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_fitted(s, n->in[k], &n->shape), what);
    }
    const struct oracle_node *limit = n->ins == 2 && !n->index ? n->in[1] : NULL;
    double c = limit && limit->op == OX_const ? limit->attr.value : 0, to[] = { 2 * c, c / 2, -c, 0, 1, c - 1, c + 1 };
    for (u32 i = 0; c != 0 && i < COUNT_OF(to) && !oracle_search_done(s); i++) {
        struct oracle_node *in[2] = { n->in[0], oracle_number(graph(s), to[i], 0) };
        if (to[i] == c) continue;
        snprintf(what, sizeof what, "the limit of %s is %.6g, not %.6g", text, to[i], c);
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node(graph(s), n->op, in, 2, &n->attr), what);
    }
    /* a distance that is one more or one less */
    for (int by = -1; by <= 1 && n->index && n->in[1]->op == OX_const; by += 2) {
        struct oracle_node *in[2] = { n->in[0], oracle_number(graph(s), n->in[1]->attr.value + by, 0) };
        snprintf(what, sizeof what, "the limit of %s is one too %s", text, by > 0 ? "large" : "small");
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node(graph(s), n->op, in, 2, &n->attr), what);
    }
}

static void try_where(struct suspect_text *s, struct oracle_node *n)
{
    char text[WORDS], what[240];
    oracle_print(s, n->in[0], text, sizeof text);
    snprintf(what, sizeof what, "the two values of where(%s, ...) are exchanged: the condition is negated", text);
    oracle_try_node(s, ORACLE_VARIANT, n, oracle_node3(graph(s), OX_where, n->in[0], n->in[2], n->in[1]), what);
    for (u32 k = 1; k <= 2; k++) {
        snprintf(what, sizeof what, "where(%s, ...) has its %s value everywhere: the condition is not asked", text,
                 k == 1 ? "first" : "second");
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_fitted(s, n->in[k], &n->shape), what);
    }
}

/* ---- clamps ---- */

static void try_clamp(struct suspect_text *s, struct oracle_node *n)
{
    bool most = n->op == OX_maximum || n->op == OX_fmax;
    char text[WORDS], what[240];
    for (u32 k = 0; k < 2; k++) {
        const struct oracle_node *gone = n->in[1 - k];
        if (n->in[k]->op == OX_const) continue;
        oracle_print(s, gone, text, sizeof text);
        snprintf(what, sizeof what, "a %s is missing: %s(.., %s)%s", most ? "maximum" : "minimum",
                 most ? "maximum" : "minimum", text, gone->op == OX_const ? ", a limit at one end" : "");
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_fitted(s, n->in[k], &n->shape), what);
        if (gone->op != OX_const) continue;
        double c = gone->attr.value, to[] = { c - 1, c + 1, -c, 0, 1, 2 * c, c / 2 };
        for (u32 i = 0; i < COUNT_OF(to) && !oracle_search_done(s); i++) {
            struct oracle_node *in[2] = { n->in[k], oracle_number(graph(s), to[i], 0) };
            if (to[i] == c) continue;
            snprintf(what, sizeof what, "the constant %.7g is %.7g: the limit of a %s", c, to[i],
                     most ? "maximum" : "minimum");
            oracle_try_node(s, ORACLE_VARIANT, n, oracle_node(graph(s), n->op, in, 2, &n->attr), what);
        }
    }
}

/* ---- functions ---- */

static bool is_function(enum oracle_op op)
{
    switch (op) {
    case OX_tanh:
    case OX_sigmoid:
    case OX_erf:
    case OX_exp:
    case OX_exp2:
    case OX_expm1:
    case OX_log:
    case OX_log2:
    case OX_log10:
    case OX_log1p:
    case OX_sin:
    case OX_cos:
    case OX_sign:
    case OX_round:
    case OX_floor:
    case OX_ceil:
    case OX_trunc:
    case OX_neg: return true;
    default: return false;
    }
}

static void try_missing(struct suspect_text *s, struct oracle_node *n)
{
    char what[80];
    snprintf(what, sizeof what, n->op == OX_neg ? "a sign is turned" : "%s is missing", oracle_rows[n->op].name);
    oracle_try_node(s, ORACLE_VARIANT, n, n->in[0], what);
}

static void try_products(struct suspect_text *s, struct oracle_node *n)
{
    struct oracle_graph *g = graph(s);
    char text[WORDS], what[240];
    if (n->op == OX_mul && n->in[0] == n->in[1]) {
        oracle_try_node(s, ORACLE_VARIANT, n, n->in[0], "a square is missing");
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node1(g, OX_abs, n->in[0]), "abs for the square");
    }
    if (n->op == OX_abs)
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node2(g, OX_mul, n->in[0], n->in[0]), "the square for abs");
    if (n->op == OX_div)
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node2(g, OX_div, n->in[1], n->in[0]), "a quotient is upside down");
    if (n->op == OX_add || n->op == OX_sub || n->op == OX_mul) return;
    const struct oracle_node *d = n->op == OX_div ? n->in[0] : NULL, *under = d ? n->in[1] : NULL;
    while (d && oracle_rows[d->op].family == ORACLE_MOVE && d->ins == 1) d = d->in[0];
    if (!d || under->op == OX_const || (d->op != OX_sum && d->op != OX_scatter_add && d->op != OX_neg)) return;
    while (d->op == OX_neg) d = d->in[0];
    if (d->op != OX_sum && d->op != OX_scatter_add) return;
    u64 terms = d->op == OX_scatter_add ? d->in[0]->shape.dim[0]
                                        : oracle_count(&d->in[0]->shape) / MAX_OF(oracle_count(&d->shape), (u64)1);
    oracle_print(s, under, text, sizeof text);
    snprintf(what, sizeof what, "a mean divides by all %llu elements, not by %s", (unsigned long long)terms, text);
    oracle_try_node(s, ORACLE_VARIANT, n, oracle_node2(g, OX_div, n->in[0], oracle_number(g, (double)terms, 0)), what);
}

/* sqrt(a * a + b * b) as |a| + |b| */
static void try_taxi(struct suspect_text *s, struct oracle_node *n)
{
    struct oracle_graph *g = graph(s);
    struct oracle_node *x = n->in[0], *part[2];
    u32 squares = 0;
    if (n->op != OX_sqrt) return;
    for (u32 k = 0; x->op == OX_add && k < 2; k++)
        if (x->in[k]->op == OX_mul && x->in[k]->in[0] == x->in[k]->in[1])
            part[squares++] = oracle_fitted(s, oracle_node1(g, OX_abs, x->in[k]->in[0]), &n->shape);
    struct oracle_node *by = squares == 2 ? oracle_node2(g, OX_add, part[0], part[1]) : NULL;
    if (x->op == OX_sum && x->in[0]->op == OX_mul && x->in[0]->in[0] == x->in[0]->in[1]) {
        struct oracle_node *size = oracle_node1(g, OX_abs, x->in[0]->in[0]);
        by = oracle_node(g, OX_sum, &size, 1, &x->attr);
    }
    oracle_try_node(s, ORACLE_VARIANT, n, by, "the sum of abs for the root of the sum of squares");
}

/* sqrt(x) + eps as sqrt(x + eps) */
static void try_inside(struct suspect_text *s, struct oracle_node *n)
{
    struct oracle_graph *g = graph(s);
    for (u32 k = 0; n->op == OX_add && k < 2; k++) {
        struct oracle_node *root = n->in[k], *eps = n->in[1 - k];
        if (root->op != OX_sqrt || eps->op != OX_const) continue;
        struct oracle_node *in = oracle_node2(g, OX_add, root->in[0], eps);
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node1(g, OX_sqrt, in), "epsilon is added inside the root");
    }
    if (n->op != OX_sqrt || n->in[0]->op != OX_add) return;
    for (u32 k = 0; k < 2; k++) {
        struct oracle_node *eps = n->in[0]->in[1 - k];
        if (eps->op != OX_const) continue;
        struct oracle_node *out = oracle_node2(g, OX_add, oracle_node1(g, OX_sqrt, n->in[0]->in[k]), eps);
        oracle_try_node(s, ORACLE_VARIANT, n, out, "epsilon is added outside the root");
    }
}

/* ---- reductions ---- */

static void try_reduction(struct suspect_text *s, struct oracle_node *n)
{
    struct oracle_graph *g = graph(s);
    double terms = (double)oracle_count(&n->in[0]->shape) / (double)MAX_OF(oracle_count(&n->shape), (u64)1);
    if (n->op == OX_sort)
        oracle_try_node(s, ORACLE_PERMUTED, n, oracle_node(g, OX_flip, &n, 1, &n->attr),
                        "sorted in the other order: descending for ascending, or ascending for descending");
    if (terms < 2) return;
    if (n->op == OX_argmax || n->op == OX_argmin) {
        struct oracle_attr other = n->attr;
        other.value = -other.value;
        if (other.value != 0)
            oracle_try_node(s, ORACLE_VARIANT, n, oracle_node(g, n->op, n->in, 1, &other),
                            other.value > 0 ? "of equal ones the first is taken, not the last"
                                            : "of equal ones the last is taken, not the first");
        return;
    }
    if (n->op == OX_max || n->op == OX_min) {
        struct oracle_node *sum = oracle_node(g, OX_sum, n->in, 1, &n->attr);
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node2(g, OX_div, sum, oracle_number(g, terms, 0)),
                        n->op == OX_max ? "the mean for the maximum" : "the mean for the minimum");
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node(g, OX_sum, n->in, 1, &n->attr),
                        n->op == OX_max ? "the sum for the maximum" : "the sum for the minimum");
    }
    if (n->op == OX_sum) {
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node(g, OX_max, n->in, 1, &n->attr), "the maximum for the sum");
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node2(g, OX_div, n, oracle_number(g, terms, 0)),
                        "the mean for the sum");
    }
}

/* Means of windows that leave out what lies beyond the image, and maxima for means. */
static void try_window_mean(struct suspect_text *s, struct oracle_node *n)
{
    struct oracle_graph *g = graph(s);
    struct oracle_node *sum = n->in[0], *x = sum->op == OX_sum ? sum->in[0] : NULL;
    if (n->op != OX_div || n->in[1]->op != OX_const || !x) return;
    oracle_try_node(s, ORACLE_VARIANT, n, oracle_node(g, OX_max, &x, 1, &sum->attr), "the maximum for the mean");
    const struct oracle_node *u = x->op == OX_reshape ? x->in[0] : x;
    if (u->op != OX_unfold) return;
    struct oracle_node *one = oracle_spread(g, oracle_number(g, 1, 0), &u->in[0]->shape);
    one = oracle_reshaped(g, oracle_node(g, OX_unfold, &one, 1, &u->attr), &x->shape);
    if (one) one = oracle_node(g, OX_sum, &one, 1, &sum->attr);
    oracle_try_node(s, ORACLE_VARIANT, n, oracle_node2(g, OX_div, sum, one),
                    "windows at the edge divide by their valid elements only: the padding is not counted");
}

/* ---- windows ---- */

/* The same windows with other strides, paddings and dilations, as many as there were, each so much earlier: what lies
 * beyond is zero. */
static struct oracle_node *windows(struct suspect_text *s, const struct oracle_node *n, struct oracle_attr a,
                                   const s64 *shift)
{
    struct oracle_graph *g = graph(s);
    struct oracle_node *x = n->in[0];
    u64 size[2] = { x->shape.dim[2], x->shape.dim[3] };
    s64 h = oracle_windows((s64)size[0], n->attr.list, 0), w = oracle_windows((s64)size[1], n->attr.list, 1);
    s64 more = 2 * (a.list[0] * a.list[6] + a.list[1] * a.list[7]) + (h + w) * 2 + 8;
    struct oracle_attr to = { .n = 16 }; /* into zeros that are wide enough for as many windows */
    for (u32 i = 0; i < 4; i++) {
        s64 pad = i < 2 ? 0 : MAX_OF(a.list[4 + i - 2] + shift[i - 2], (s64)0), d = (s64)x->shape.dim[i];
        to.list[3 * i] = pad;
        to.list[3 * i + 1] = pad + d;
        to.list[3 * i + 2] = 1;
        to.list[12 + i] = i < 2 ? d : pad + d + more + d;
    }
    struct oracle_node *p = oracle_node(g, OX_place, &x, 1, &to);
    if (!p) return NULL;
    a.list[4] = a.list[5] = 0;
    struct oracle_node *y = oracle_node(g, OX_unfold, &p, 1, &a);
    if (!y) return NULL;
    s64 rows = oracle_windows((s64)p->shape.dim[2], a.list, 0),
        columns = oracle_windows((s64)p->shape.dim[3], a.list, 1);
    if (rows < h || columns < w) return NULL;
    struct oracle_shape grid = { 4, { y->shape.dim[0], y->shape.dim[1], (u64)rows, (u64)columns } };
    y = oracle_cut(g, oracle_cut(g, oracle_reshaped(g, y, &grid), 2, 0, h), 3, 0, w);
    return oracle_reshaped(g, y, &n->shape);
}

struct windowing { /* every unfold that is like this one */
    const struct oracle_node *like;
    struct oracle_attr a;
    s64 shift[2];
    bool turned; /* the elements of a window by columns */
};
static struct oracle_node *change_windows(struct suspect_text *s, const struct oracle_node *n,
                                          struct oracle_node *const *in, void *self)
{
    const struct windowing *w = self;
    if (n->op != OX_unfold || in[0] != n->in[0] || memcmp(n->attr.list, w->like->attr.list, sizeof n->attr.list))
        return NULL;
    if (!w->turned) return windows(s, n, w->a, w->shift);
    struct oracle_graph *g = graph(s);
    const s64 *size = n->attr.list;
    u64 channels = n->shape.dim[1] / (u64)(size[0] * size[1]);
    struct oracle_shape whole = n->shape,
                        parts = { 5, { n->shape.dim[0], channels, (u64)size[0], (u64)size[1], n->shape.dim[2] } };
    struct oracle_node *x = oracle_reshaped(g, oracle_node(g, OX_unfold, in, 1, &n->attr), &parts);
    if (!x) return NULL;
    x = oracle_node(g, OX_transpose, &x, 1, &(struct oracle_attr){ .n = 5, .list = { 0, 1, 3, 2, 4 } });
    return oracle_reshaped(g, x, &whole);
}

static void try_windows(struct suspect_text *s, struct oracle_node *n)
{
    static const char *const words[] = { "the windows lie one apart: the stride is 1",
                                         "windows have no gaps: the dilation is 1",
                                         "there is no padding",
                                         "the padding is one less",
                                         "the padding is one more",
                                         "the strides of rows and columns are exchanged",
                                         "the windows lie side by side: the stride is their size",
                                         "windows have no gaps: the dilation is 1, and the padding as much less",
                                         "the padding lies before the first element alone: causal for centred",
                                         "the padding lies after the last element alone",
                                         "rows and columns of a window are exchanged" };
    for (u32 k = 0; k < COUNT_OF(words) && !oracle_search_done(s); k++) {
        struct windowing w = { .like = n, .a = n->attr };
        s64 *a = w.a.list;
        w.turned = k == 10 && n->attr.list[0] > 1 && n->attr.list[0] == n->attr.list[1];
        for (u32 i = 0; i < 2; i++) {
            if (a[i] == 1 && n->in[0]->shape.dim[2 + i] == 1) continue; /* of one dimension */
            if (k == 0) a[2 + i] = 1;
            if (k == 1) a[6 + i] = 1;
            if (k == 2) a[4 + i] = 0;
            if (k == 3) a[4 + i] = MAX_OF(a[4 + i] - 1, (s64)0);
            if (k == 4) a[4 + i]++;
            if (k == 5) a[2 + i] = n->attr.list[3 - i];
            if (k == 6) a[2 + i] = a[i];
            if (k == 7 && a[6 + i] > 1) a[4 + i] /= a[6 + i], a[6 + i] = 1;
            if (k == 8) w.shift[i] = a[4 + i];
            if (k == 9) w.shift[i] = -a[4 + i];
        }
        if (!w.shift[0] && !w.shift[1] && !w.turned && !memcmp(a, n->attr.list, sizeof w.a.list)) continue;
        oracle_try(s, ORACLE_SHIFT, oracle_rebuilt(s, change_windows, &w), "%s", words[k]);
    }
}

/* Zeros around an array as its outermost elements again. */
static struct oracle_node *clamped_at_edges(struct oracle_graph *g, const struct oracle_node *n, struct oracle_node *x)
{
    for (u32 i = 0; i < n->shape.rank && x; i++) {
        s64 before = n->attr.list[3 * i], after = (s64)n->shape.dim[i] - n->attr.list[3 * i + 1],
            d = (s64)x->shape.dim[i];
        if (n->attr.list[3 * i + 2] != 1 || !d) return NULL;
        struct oracle_node *part[3];
        struct oracle_shape edge = x->shape;
        u32 parts = 0;
        edge.dim[i] = (u64)before;
        if (before) part[parts++] = oracle_spread(g, oracle_cut(g, x, i, 0, 1), &edge);
        part[parts++] = x;
        edge.dim[i] = (u64)MAX_OF(after, (s64)0);
        if (after > 0) part[parts++] = oracle_spread(g, oracle_cut(g, x, i, d - 1, d), &edge);
        if (parts > 1) x = oracle_node(g, OX_concat, part, parts, &(struct oracle_attr){ .n = 1, .list = { i } });
    }
    return x;
}
static struct oracle_node *change_edges(struct suspect_text *s, const struct oracle_node *n,
                                        struct oracle_node *const *in, void *self)
{
    u32 *done = self;
    struct oracle_node *x = n->op == OX_place ? clamped_at_edges(graph(s), n, in[0]) : NULL;
    if (x && !oracle_shape_equal(&x->shape, &n->shape)) x = NULL;
    *done += x != NULL;
    return x;
}

void oracle_try_edges(struct suspect_text *s)
{
    u32 done = 0;
    struct oracle_node **out = oracle_rebuilt(s, change_edges, &done);
    if (done)
        oracle_try(s, ORACLE_VARIANT, out, "beyond the edge the outermost element is taken again, not 0");
    else
        oracle_search_cut(s);
}

/* A slice that begins one element earlier or later. */
static void try_slice(struct suspect_text *s, struct oracle_node *n)
{
    char what[160];
    for (u32 axis = 0; axis < n->shape.rank; axis++)
        for (s64 by = -1; by <= 1 && !oracle_search_done(s); by += 2) {
            struct oracle_attr a = n->attr;
            s64 d = (s64)n->in[0]->shape.dim[axis], *cut = &a.list[3 * axis];
            if ((cut[0] == 0 && cut[1] >= d) || cut[0] + by < 0 || cut[1] + by > d) continue;
            cut[0] += by;
            cut[1] += by;
            snprintf(what, sizeof what, "a part of %.40s begins one %s along axis %u",
                     n->in[0]->op == OX_input ? n->in[0]->attr.text : "an array", by > 0 ? "later" : "earlier", axis);
            oracle_try_node(s, ORACLE_SHIFT, n, oracle_node(graph(s), OX_slice, n->in, 1, &a), what);
        }
}

/* ---- pixels ---- */

/* (i + 0.5) * s - 0.5 as i * s, or with the corners on the corners. */
struct pixels {
    const struct oracle *o;
    const struct oracle_node *only; /* NULL: every one */
    bool corners;
    u32 done;
};
static const struct oracle_node *through(const struct oracle_node *n)
{
    while (n->ins == 1 && (n->op == OX_reshape || n->op == OX_broadcast)) n = n->in[0];
    return n;
}
static double ratio_of_corners(const struct oracle *o, double scale)
{
    for (u32 i = 0; i < o->n; i++)
        for (u32 k = 0; k < o->n; k++) {
            const struct oracle_name *a = &o->names[i], *b = &o->names[k];
            if (a->type || b->type || i == k || !(b->value > 1) || fabs(a->value / b->value - scale) > 1e-12) continue;
            return (a->value - 1) / (b->value - 1);
        }
    return NAN;
}
static struct oracle_node *change_pixels(struct suspect_text *s, const struct oracle_node *n,
                                         struct oracle_node *const *in, void *self)
{
    struct pixels *p = self;
    struct oracle_graph *g = graph(s);
    (void)in;
    if ((n->op != OX_sub && n->op != OX_add) || (p->only && p->only != n)) return NULL;
    const struct oracle_node *m = n->in[0], *half = n->in[1];
    if (half->op != OX_const || fabs(half->attr.value) != 0.5 || (m->op != OX_mul && m->op != OX_div)) return NULL;
    for (u32 k = 0; k < 2; k++) {
        const struct oracle_node *a = m->in[k], *c = m->in[1 - k];
        if (a->op != OX_add || c->op != OX_const || (m->op == OX_div && k)) continue;
        struct oracle_node *i = a->in[a->in[0]->op == OX_const];
        double scale = m->op == OX_div ? 1 / c->attr.value : c->attr.value;
        if (through(i)->op != OX_iota) continue;
        if (p->corners) scale = ratio_of_corners(p->o, scale);
        if (!isfinite(scale)) return NULL;
        p->done++;
        return oracle_node2(g, OX_mul, i, oracle_number(g, scale, 1));
    }
    return NULL;
}

static void try_pixels(struct suspect_text *s, struct oracle_node *n)
{
    static const char *const words[] = { "no half pixel: i * s for (i + 0.5) * s - 0.5",
                                         "corners lie on corners: i * (n - 1) / (m - 1) for (i + 0.5) * n / m - 0.5" };
    for (u32 k = 0; k < 4 && !oracle_search_done(s); k++) {
        struct pixels p = { s->o, k % 2 ? n : NULL, k / 2, 0 };
        struct oracle_node **out = oracle_rebuilt(s, change_pixels, &p);
        if (p.done)
            oracle_try(s, ORACLE_VARIANT, out, "%s%s", words[k / 2], k % 2 ? ", of one axis" : "");
        else
            oracle_search_cut(s);
    }
}

/* i * n // m as other ways to the nearest element */
static void try_division(struct suspect_text *s, struct oracle_node *n)
{
    struct oracle_graph *g = graph(s);
    struct oracle_node *q = oracle_node2(g, OX_div, n->in[0], n->in[1]);
    oracle_try_node(s, ORACLE_VARIANT, n, oracle_node1(g, OX_round, q), "rounded to the nearest where // rounds down");
    q = oracle_node2(g, OX_div, n->in[0], n->in[1]);
    oracle_try_node(s, ORACLE_VARIANT, n, oracle_node1(g, OX_ceil, q), "rounded up where // rounds down");
    q = oracle_node2(g, OX_div, n->in[0], n->in[1]);
    oracle_try_node(s, ORACLE_VARIANT, n, oracle_node1(g, OX_trunc, q), "rounded to zero where // rounds down");
    for (u32 k = 0; k < 2 && n->in[0]->op == OX_mul; k++) {
        struct oracle_node *scale = n->in[0]->in[k]; /* (i + 0.5) * n // m */
        if (scale->op != OX_const) continue;
        q = oracle_node2(g, OX_add, n->in[0], oracle_number(g, scale->attr.value / 2, 0));
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node2(g, OX_floordiv, q, n->in[1]),
                        "half a pixel more: (i + 0.5) * n // m for i * n // m");
    }
}

/* ---- the result ---- */

/* A function that the text does not have, of an output. */
void oracle_try_applied(struct suspect_text *s)
{
    static const struct {
        enum oracle_op op;
        bool two; /* with a number */
        double by;
        const char *what;
    } kin[] = { { OX_sqrt, false, 0, "a root too many: sqrt of the result" },
                { OX_exp, false, 0, "exp of the result" },
                { OX_log, false, 0, "log of the result" },
                { OX_abs, false, 0, "abs of the result" },
                { OX_neg, false, 0, "the sign of the result is turned" },
                { OX_add, true, 1, "the result is one too large" },
                { OX_add, true, -1, "the result is one too small" },
                { OX_pow, true, -1, "1 / the result" },
                { OX_maximum, true, 0, "maximum(.., 0) of the result" } };
    for (u32 i = s->from; i < s->to; i++)
        for (u32 k = 0; k < COUNT_OF(kin) && !oracle_search_done(s); k++) {
            struct oracle_node *n = s->root[i], *c = oracle_number(graph(s), kin[k].by, 0),
                               *by = kin[k].two ? oracle_node2(graph(s), kin[k].op, n, c)
                                                : oracle_node1(graph(s), kin[k].op, n);
            const char *what = kin[k].what;
            struct oracle_node **out = NEW_ARRAY(&s->mem, struct oracle_node *, s->o->outs.n);
            for (u32 j = 0; j < s->o->outs.n; j++) out[j] = j == i ? by : s->root[j];
            oracle_try(s, ORACLE_VARIANT, by ? out : NULL, "%s", what);
        }
}

void oracle_try_choice(struct suspect_text *s, struct oracle_node *n)
{
    if (!n->ins || oracle_search_done(s)) return;
    if (is_condition(n)) try_condition(s, n);
    if (n->op == OX_where) try_where(s, n);
    if (n->op == OX_maximum || n->op == OX_minimum || n->op == OX_fmax || n->op == OX_fmin) try_clamp(s, n);
    if (is_function(n->op)) try_missing(s, n);
    if (n->op == OX_slice) try_slice(s, n);
    if (n->op == OX_floordiv) try_division(s, n);
    if (n->op == OX_sub && n->in[0]->op == OX_const && n->in[0]->attr.value == 1) {
        char text[WORDS], what[240];
        oracle_print(s, n->in[1], text, sizeof text);
        snprintf(what, sizeof what, "%s for 1 - %s", text, text);
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_fitted(s, n->in[1], &n->shape), what);
    }
    if (n->op == OX_sub)
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node2(graph(s), OX_sub, n->in[1], n->in[0]),
                        "a difference is the other way round: its sign is turned");
    if ((n->op == OX_sub || n->op == OX_add) && !s->alone) try_pixels(s, n);
    if (n->op == OX_argmax || n->op == OX_argmin) try_reduction(s, n);
    if (n->index || oracle_search_done(s)) return;
    try_products(s, n);
    try_taxi(s, n);
    try_inside(s, n);
    if (n->op == OX_max || n->op == OX_min || n->op == OX_sum || n->op == OX_sort) try_reduction(s, n);
    if (n->op == OX_div) try_window_mean(s, n);
    if (n->op == OX_unfold && !s->alone) try_windows(s, n);
}
