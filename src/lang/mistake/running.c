/* Running sums, products and maxima: tiles whose carry is lost, the element itself left out, from the other end; and
 * arrays that are read by the index of an element in memory. */
#include "mistake/classify.h"

static struct oracle_graph *graph(struct suspect_text *s) { return &s->changed.graph; }

static bool is_scan(enum oracle_op op)
{
    return op == OX_cumsum || op == OX_cumprod || op == OX_cummax || op == OX_cummin;
}

/* ---- tiles ---- */

/* x as tiles along an axis, [.., tiles, tile, ..], with zeros after the last element. */
static struct oracle_node *tiled(struct oracle_graph *g, struct oracle_node *x, u32 axis, u64 tile)
{
    u64 n = x->shape.dim[axis], tiles = (n + tile - 1) / tile;
    struct oracle_attr to = { .n = 4 * x->shape.rank };
    struct oracle_shape shape = { .rank = x->shape.rank + 1 };
    if (shape.rank > ORACLE_RANK) return NULL;
    for (u32 i = 0; i < x->shape.rank; i++) {
        s64 d = (s64)x->shape.dim[i];
        to.list[3 * i + 1] = d;
        to.list[3 * i + 2] = 1;
        to.list[3 * x->shape.rank + i] = i == axis ? (s64)(tiles * tile) : d;
        shape.dim[i + (i > axis)] = x->shape.dim[i];
    }
    shape.dim[axis] = tiles;
    shape.dim[axis + 1] = tile;
    return oracle_reshaped(g, oracle_node(g, OX_place, &x, 1, &to), &shape);
}

static struct oracle_node *untiled(struct oracle_graph *g, struct oracle_node *x, u32 axis,
                                   const struct oracle_shape *to)
{
    struct oracle_shape whole = *to;
    if (!x) return NULL;
    whole.dim[axis] = x->shape.dim[axis] * x->shape.dim[axis + 1];
    return oracle_cut(g, oracle_reshaped(g, x, &whole), axis, 0, (s64)to->dim[axis]);
}

static void try_tiles(struct suspect_text *s, struct oracle_node *n, u32 axis)
{
    static const u64 tiles[] = { 4, 8, 16, 32, 64, 128, 256, 512, 1024 };
    struct oracle_graph *g = graph(s);
    char what[160];
    for (u32 i = 0; i < COUNT_OF(tiles) && !oracle_search_done(s); i++) {
        if (tiles[i] >= n->shape.dim[axis]) continue;
        struct oracle_node *t = tiled(g, n->in[0], axis, tiles[i]);
        if (!t) return;
        struct oracle_attr along = { .n = 1, .list = { axis + 1 } };
        struct oracle_node *own = oracle_node(g, n->op, &t, 1, &along);
        snprintf(what, sizeof what, "the carry between tiles is lost: %s begins anew at each multiple of %llu",
                 oracle_rows[n->op].name, (unsigned long long)tiles[i]);
        oracle_try_node(s, ORACLE_PART, n, untiled(g, own, axis, &n->shape), what);
        if ((n->op != OX_cumsum && n->op != OX_cumprod) || n->shape.dim[axis] <= 2 * tiles[i]) continue;
        t = tiled(g, n->in[0], axis, tiles[i]);
        own = oracle_node(g, n->op, &t, 1, &along);
        struct oracle_attr whole = { .keep = true, .list = { 1 << (axis + 1) } };
        struct oracle_node *sum = oracle_node(g, n->op == OX_cumsum ? OX_sum : OX_prod, &t, 1, &whole);
        if (!sum) return;
        s64 many = (s64)sum->shape.dim[axis];
        struct oracle_node *first = oracle_cut(g, sum, axis, 0, 1);
        first = oracle_spread(g, oracle_number(g, n->op == OX_cumsum ? 0 : 1, 0), &first->shape);
        struct oracle_node *in[2] = { first, oracle_cut(g, sum, axis, 0, many - 1) };
        struct oracle_node *before = oracle_node(g, OX_concat, in, 2,
                                                 &(struct oracle_attr){ .n = 1, .list = { axis } });
        snprintf(what, sizeof what, "the carry between tiles of %llu is that of the tile before alone",
                 (unsigned long long)tiles[i]);
        oracle_try_node(s, ORACLE_PART, n,
                        untiled(g, oracle_node2(g, n->op == OX_cumsum ? OX_add : OX_mul, own, before), axis, &n->shape),
                        what);
    }
}

static void try_direction(struct suspect_text *s, struct oracle_node *n, u32 axis)
{
    struct oracle_graph *g = graph(s);
    struct oracle_attr at = { .n = 1, .list = { axis } };
    char what[160];
    struct oracle_node *x = n->in[0];
    if (n->op == OX_cumsum)
        oracle_try_node(s, ORACLE_SHIFT, n, oracle_node2(g, OX_sub, n, x),
                        "the running sum leaves out the element itself: exclusive for inclusive");
    if (n->op == OX_cumprod)
        oracle_try_node(s, ORACLE_SHIFT, n, oracle_node2(g, OX_div, n, x),
                        "the running product leaves out the element itself: exclusive for inclusive");
    if (n->op == OX_cummax)
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node2(g, OX_maximum, n, oracle_number(g, 0, 0)),
                        "the running maximum begins with 0");
    if (n->op == OX_cummin)
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_node2(g, OX_minimum, n, oracle_number(g, 0, 0)),
                        "the running minimum begins with 0");
    x = oracle_node(g, OX_flip, &n->in[0], 1, &at);
    x = x ? oracle_node(g, n->op, &x, 1, &n->attr) : NULL;
    snprintf(what, sizeof what, "%s runs in reverse, from the other end", oracle_rows[n->op].name);
    oracle_try_node(s, ORACLE_PERMUTED, n, x ? oracle_node(g, OX_flip, &x, 1, &at) : NULL, what);
    for (u32 other = 0; other < n->shape.rank && !oracle_search_done(s); other++) {
        struct oracle_attr along = { .n = 1, .list = { other } };
        if (other == axis || n->shape.dim[other] < 2) continue;
        snprintf(what, sizeof what, "%s runs along axis %u, not %u", oracle_rows[n->op].name, other, axis);
        oracle_try_node(s, ORACLE_PERMUTED, n, oracle_node(g, n->op, n->in, 1, &along), what);
    }
}

void oracle_try_scan(struct suspect_text *s, struct oracle_node *n)
{
    if (!is_scan(n->op) || oracle_search_done(s)) return;
    u32 axis = (u32)n->attr.list[0];
    if (n->shape.dim[axis] < 2) return;
    try_direction(s, n, axis);
    try_tiles(s, n, axis);
}

/* ---- all of a kind ---- */

/* No array is reversed; reductions that keep their axis go along another one. */
static struct oracle_node *change_flips(struct suspect_text *s, const struct oracle_node *n,
                                        struct oracle_node *const *in, void *self)
{
    u32 *done = self;
    (void)s;
    if (n->op != OX_flip) return NULL;
    ++*done;
    return in[0];
}

struct axes { /* of reductions */
    u32 from, to, done;
};
static struct oracle_node *change_axes(struct suspect_text *s, const struct oracle_node *n,
                                       struct oracle_node *const *in, void *self)
{
    struct axes *x = self;
    struct oracle_attr a = n->attr;
    bool reduces = n->op == OX_sum || n->op == OX_max || n->op == OX_min || n->op == OX_prod;
    if (!reduces || !a.keep || a.list[0] != 1 << x->from || n->in[0]->shape.rank <= x->to) return NULL;
    a.list[0] = 1 << x->to;
    x->done++;
    return oracle_node(graph(s), n->op, in, 1, &a);
}

/* ---- indices in memory ---- */

/* Arrays with an element for each index of one axis of an output, read by the index in memory: i % C for i / n % C. */
struct flat {
    u64 count;                      /* of their elements */
    const struct oracle_shape *out; /* of the output */
    u32 axis;                       /* of the output */
    u64 by;                         /* (i / by) % count */
    struct oracle_node *index;      /* that of each element of the output */
    u32 done;
};

/* Whether an operand has an element for each index of this axis of the output, and none of another. */
static bool is_along(const struct oracle_shape *x, const struct oracle_shape *out, u32 axis)
{
    u32 from = axis + x->rank - out->rank;
    return x->rank + axis >= out->rank && from < x->rank && x->dim[from] == out->dim[axis] &&
           oracle_count(x) == out->dim[axis];
}

static struct oracle_node *change_flat(struct suspect_text *s, const struct oracle_node *n,
                                       struct oracle_node *const *in, void *self)
{
    struct flat *x = self;
    struct oracle_node *now[ORACLE_OPERANDS];
    struct oracle_shape line = { 1, { x->count } };
    bool any = false;
    if (oracle_rows[n->op].family != ORACLE_MAP && n->op != OX_broadcast) return NULL;
    for (u32 k = 0; k < n->ins; k++) {
        now[k] = in[k];
        if (!oracle_shape_equal(&n->shape, x->out) || n->in[k]->index || !is_along(&n->in[k]->shape, x->out, x->axis))
            continue;
        struct oracle_node *from[2] = { oracle_reshaped(graph(s), in[k], &line), x->index };
        now[k] = oracle_node(graph(s), OX_gather, from, 2, &(struct oracle_attr){ 0 });
        any = true;
        x->done++;
    }
    if (!any) return NULL;
    if (n->op == OX_broadcast) return now[0];
    return oracle_node(graph(s), n->op, now, n->ins, &n->attr);
}

static void try_flat_of(struct suspect_text *s, u32 output)
{
    const struct oracle_shape *out = &s->root[output]->shape;
    u64 elements = oracle_count(out);
    for (u32 axis = 0; axis < out->rank && !oracle_search_done(s); axis++)
        for (u32 k = 0; k < out->rank + 1; k++) {
            struct flat x = { .count = out->dim[axis], .out = out, .axis = axis, .by = 1 };
            u64 right = 1;
            for (u32 i = axis + 1; i < out->rank; i++) right *= out->dim[i];
            for (u32 i = k; i < out->rank; i++) x.by *= out->dim[i];
            if (x.by == right || x.count < 2 || x.by >= oracle_count(out)) continue;
            double *v = NEW_ARRAY(&s->mem, double, elements + 1);
            for (u64 i = 0; i < elements; i++) v[i] = (double)(i / x.by % x.count);
            x.index = oracle_extra(s, "$i", out, v);
            struct oracle_node **mutant = oracle_rebuilt(s, change_flat, &x);
            if (x.done && x.by == 1)
                oracle_try(s, ORACLE_SHIFT, mutant,
                           "arrays of axis %u are read at the index in memory: i %% %llu for i / %llu %% %llu", axis,
                           (unsigned long long)x.count, (unsigned long long)right, (unsigned long long)x.count);
            else if (x.done)
                oracle_try(s, ORACLE_SHIFT, mutant,
                           "arrays of axis %u are read at the index of another axis: i / %llu %% %llu for i / %llu",
                           axis, (unsigned long long)x.by, (unsigned long long)x.count, (unsigned long long)right);
            else
                oracle_search_cut(s);
        }
}

void oracle_try_flat(struct suspect_text *s)
{
    u32 done = 0;
    struct oracle_node **out = oracle_rebuilt(s, change_flips, &done);
    if (done)
        oracle_try(s, ORACLE_PERMUTED, out, "nothing is reversed: there is no flip");
    else
        oracle_search_cut(s);
    for (u32 from = 0; from < 4; from++)
        for (u32 to = 0; to < 4 && !oracle_search_done(s); to++) {
            struct axes x = { from, to, 0 };
            if (from == to) continue;
            out = oracle_rebuilt(s, change_axes, &x);
            if (x.done)
                oracle_try(s, ORACLE_PERMUTED, out, "reductions go along axis %u, not %u", to, from);
            else
                oracle_search_cut(s);
        }
    for (u32 i = s->from; i < s->to && !oracle_search_done(s); i++) try_flat_of(s, i);
}
