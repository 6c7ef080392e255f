/* Whether a value is exact in every kernel: a sum of products of multiples of a power of two, so small that no order
 * and no grouping of its terms ever rounds. Tests with small whole numbers are of this kind, and any difference is a
 * bug.
 *
 * For each node: every monomial of the text, multiplied out, is a multiple of 2^grid, and the sum of the magnitudes of
 * all of them is at most `most`. While most <= 2^(grid + bits) every partial sum is a number of the type. A node with
 * an operation that rounds (a quotient, a function) is not exact, and nothing above it: kernels may compute it in ways
 * whose sums are other ones. */
#include "oracle/oracle_in.h"

struct grid {
    bool exact;
    int low; /* every monomial is a multiple of 2^low */
    double most;
};
enum { ZERO_GRID = 4000 }; /* a zero is a multiple of everything */

static struct grid grid_of(const double *x, u64 n)
{
    struct grid g = { true, ZERO_GRID, 0 };
    for (u64 i = 0; i < n && g.exact; i++) {
        if (!isfinite(x[i])) return (struct grid){ 0 };
        if (x[i] == 0) continue;
        int e;
        u64 m = (u64)ldexp(frexp(fabs(x[i]), &e), 53);
        g.low = MIN_OF(g.low, e - 53 + __builtin_ctzll(m));
        g.most = fmax(g.most, fabs(x[i]));
    }
    return g;
}

static struct grid grid_input(const struct oracle_run *r, const struct oracle_node *n)
{
    u64 count = oracle_count(&n->shape);
    struct grid g = { true, ZERO_GRID, 0 };
    for (u32 i = 0; i < r->o->n; i++) {
        if (strcmp(r->o->names[i].name, n->attr.text) || !r->o->names[i].type) continue;
        const struct scalar *t = r->o->names[i].type;
        for (u64 k = 0; k < count && g.exact; k++) {
            double x = scalar_load(t, (const u8 *)r->data[i] + k * t->bytes);
            struct grid one = grid_of(&x, 1);
            g = (struct grid){ one.exact, MIN_OF(g.low, one.low), fmax(g.most, one.most) };
        }
        return g;
    }
    return (struct grid){ 0 };
}

/* Terms of a sum. */
static double terms_of(const struct oracle_node *n)
{
    u64 all = oracle_count(&n->in[0]->shape), out = oracle_count(&n->shape);
    switch (n->op) {
    case OX_sum: return out ? (double)all / (double)out : 0;
    case OX_cumsum: return (double)n->shape.dim[n->attr.list[0]];
    case OX_einsum: return (double)oracle_einsum_terms(n);
    default: return (double)all;
    }
}

static struct grid grid_node(const struct oracle_node *n, const struct grid *in)
{
    struct grid x = n->ins ? in[n->in[0]->id] : (struct grid){ 0 }, y = n->ins > 1 ? in[n->in[1]->id] : x, z = x;
    for (u32 i = 0; i < n->ins; i++)
        if (!in[n->in[i]->id].exact) return (struct grid){ 0 };
    const struct oracle_row *row = &oracle_rows[n->op];
    switch (n->op) {
    case OX_add:
    case OX_sub: return (struct grid){ true, MIN_OF(x.low, y.low), x.most + y.most };
    case OX_einsum:
    case OX_mul:
        if (n->ins == 1) return (struct grid){ true, x.low, terms_of(n) * x.most };
        return (struct grid){ true, x.low + y.low, x.most * y.most * (n->op == OX_mul ? 1 : terms_of(n)) };
    case OX_where: z = in[n->in[2]->id]; /* fall through */
    case OX_maximum:
    case OX_minimum:
    case OX_fmax:
    case OX_fmin:
        if (n->op != OX_where) z = x;
        return (struct grid){ true, MIN_OF(z.low, y.low), fmax(z.most, y.most) };
    case OX_neg:
    case OX_abs:
    case OX_free:
    case OX_within: return x;
    case OX_via: {
        const struct oracle_type *t = oracle_type(str_of(n->attr.text));
        z.exact = x.most <= ldexp(1, x.low + (int)t->bits) && x.most <= t->most;
        return z;
    }
    case OX_lt:
    case OX_le:
    case OX_gt:
    case OX_ge:
    case OX_eq:
    case OX_ne:
    case OX_and:
    case OX_or:
    case OX_not:
    case OX_sign: return (struct grid){ true, 0, 1 };
    case OX_floor:
    case OX_ceil:
    case OX_round:
    case OX_trunc: return (struct grid){ true, MAX_OF(x.low, 0), x.most + 1 };
    case OX_max:
    case OX_min:
    case OX_sort:
    case OX_cummax:
    case OX_cummin: return x;
    case OX_concat:
        for (u32 i = 1; i < n->ins; i++) {
            z.low = MIN_OF(z.low, in[n->in[i]->id].low);
            z.most = fmax(z.most, in[n->in[i]->id].most);
        }
        return z;
    default: break;
    }
    if (row->family == ORACLE_MOVE) return x;
    if (row->family == ORACLE_SUMS || n->op == OX_cumsum) return (struct grid){ true, x.low, terms_of(n) * x.most };
    return (struct grid){ 0 };
}

bool oracle_exact(const struct oracle_run *r, const struct oracle_node *root, struct arena *mem)
{
    const struct oracle_graph *g = &r->o->graph;
    struct grid *grid = NEW_ARRAY(mem, struct grid, root->id + 1);
    bool *need = oracle_reach(mem, g, (struct oracle_node *[]){ g->nodes.p[root->id] }, 1, NULL);
    for (u32 i = 0; i <= root->id; i++) {
        const struct oracle_node *n = g->nodes.p[i];
        struct grid z;
        if (!need[i]) continue;
        if (n->op == OX_input)
            z = grid_input(r, n);
        else if (n->op == OX_const)
            z = isinf(n->attr.value) ? (struct grid){ true, ZERO_GRID, 0 } : grid_of(&n->attr.value, 1);
        else if (n->op == OX_iota)
            z = (struct grid){ true, 0, (double)n->shape.dim[0] };
        else
            z = grid_node(n, grid);
        double room = z.low >= ZERO_GRID ? INFINITY : ldexp(1, MIN_OF(z.low, 2000) + (int)r->env.type->bits);
        z.exact &= z.most <= room && z.most <= r->env.most &&
                   (z.low >= ZERO_GRID || ldexp(1, z.low) >= r->env.type->normal);
        grid[i] = z;
        if (!z.exact && n->op == OX_input && n->id == root->id) return false;
    }
    return grid[root->id].exact;
}

/* ---- where whole numbers may be taken for exact ----
 *
 * A sum of whole numbers is exact in every order, but kernels compute more than sums: they scale before they add, keep
 * a running mean, merge pairs of means. So a sum is only taken for exact where nothing on its way to the output rounds:
 * nothing that such a kernel could have drawn into it. A comparison, a rounding to whole numbers and an index end that
 * way, since they are computed from what is finished. */

/* Whether every value of an input is a whole number that the type can add up. */
static bool whole_input(const struct oracle_run *r, const struct oracle_node *n)
{
    const double *extra = NULL;
    const void *data = NULL;
    const struct scalar *t = NULL;
    u64 count = oracle_count(&n->shape);
    for (u32 i = 0; i < r->extras; i++)
        if (r->extra[i].text == n->attr.text) extra = r->extra[i].data;
    for (u32 i = 0; i < r->o->n && !extra && !data; i++)
        if (r->o->names[i].type && !strcmp(r->o->names[i].name, n->attr.text)) {
            data = r->data[i];
            t = r->o->names[i].type;
        }
    if (t && t->class != SCALAR_FLOAT) return true;
    for (u64 i = 0; i < count; i++) {
        double x = extra ? extra[i] : scalar_load(t, (const u8 *)data + i * t->bytes);
        if (x != floor(x) || isinf(x)) return false;
    }
    return true;
}

/* What becomes of whole numbers in a row. */
enum whole {
    WHOLE_LOST,   /* rounded, or drawn into something that is */
    WHOLE_ADDED,  /* whole again where all operands are */
    WHOLE_CHOSEN, /* one of them, or the same elsewhere */
    WHOLE_ENDED,  /* whole whatever came in, and computed from finished numbers */
};

static enum whole whole_row(enum oracle_op op)
{
    if (op >= OX_lt && op <= OX_ne) return WHOLE_ENDED;
    switch (op) {
    case OX_add:
    case OX_sub:
    case OX_mul:
    case OX_mod:
    case OX_fmod:
    case OX_prod:
    case OX_cumprod:
    case OX_einsum:
    case OX_cumsum: return WHOLE_ADDED;
    case OX_neg:
    case OX_abs:
    case OX_where:
    case OX_either:
    case OX_maximum:
    case OX_minimum:
    case OX_fmax:
    case OX_fmin:
    case OX_max:
    case OX_min:
    case OX_sort:
    case OX_cummax:
    case OX_cummin:
    case OX_scatter_max:
    case OX_via:
    case OX_cast:
    case OX_free:
    case OX_within: return WHOLE_CHOSEN;
    case OX_sign:
    case OX_floor:
    case OX_ceil:
    case OX_round:
    case OX_trunc:
    case OX_and:
    case OX_or:
    case OX_not:
    case OX_argmax:
    case OX_argmin:
    case OX_argsort:
    case OX_isnan:
    case OX_isinf:
    case OX_floordiv:
    case OX_bitand:
    case OX_bitor:
    case OX_bitxor:
    case OX_shl:
    case OX_shr: return WHOLE_ENDED;
    default: break;
    }
    switch (oracle_rows[op].family) {
    case ORACLE_MOVE: return WHOLE_CHOSEN;
    case ORACLE_SUMS: return WHOLE_ADDED;
    default: return WHOLE_LOST;
    }
}

/* Operand k says where, and is no part of the value. */
static bool is_place(const struct oracle_node *n, u32 k)
{
    if (n->op == OX_where || n->op == OX_either) return k == 0;
    return (n->op == OX_gather || n->op == OX_pick || n->op == OX_scatter_add || n->op == OX_scatter_max) && k == 1;
}

bool *oracle_firm(const struct oracle_run *r, const bool *need, struct arena *mem)
{
    const struct oracle_graph *g = &r->o->graph;
    bool *whole = NEW_ARRAY(mem, bool, g->nodes.n + 1), *firm = NEW_ARRAY(mem, bool, g->nodes.n + 1);
    for (u32 i = 0; i < g->nodes.n; i++) {
        const struct oracle_node *x = g->nodes.p[i];
        enum whole row = whole_row(x->op);
        if (!need[i] && !r->slot[i].done) continue;
        whole[i] = x->index || row == WHOLE_ENDED || (x->op == OX_input && whole_input(r, x));
        bool all = row != WHOLE_LOST;
        for (u32 k = 0; k < x->ins; k++) all &= is_place(x, k) || whole[x->in[k]->id];
        whole[i] |= all;
        firm[i] = true;
    }
    for (u32 i = g->nodes.n; i-- > 0;) {
        const struct oracle_node *x = g->nodes.p[i];
        enum whole row = whole_row(x->op);
        if (!need[i] || row == WHOLE_ENDED) continue;
        bool keeps = firm[i] && (row == WHOLE_CHOSEN || (row == WHOLE_ADDED && whole[i]));
        for (u32 k = 0; k < x->ins; k++)
            if (!is_place(x, k)) firm[x->in[k]->id] &= keeps || x->index;
    }
    return firm;
}
