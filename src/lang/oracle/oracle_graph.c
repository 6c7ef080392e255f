/* Nodes: made once, found again, refused where they cannot be. */
#include "oracle/oracle_graph.h"
#include <math.h>

const struct oracle_row oracle_rows[OX_COUNT] = {
#define TEXT_(...) #__VA_ARGS__
#define LEAF(name, text, loc) { #name, ORACLE_LEAF, 0, false, text, "0", loc, "SAME", "NONE" },
#define MAP1(name, value, prop, loc, fast, dx) \
    { #name, ORACLE_MAP, 1, sizeof #loc > 2, #value, #prop, #loc, #fast, TEXT_(dx) },
#define MAP2(name, value, prop, loc, fast, dx, dy) \
    { #name, ORACLE_MAP, 2, sizeof #loc > 2, #value, #prop, #loc, #fast, TEXT_(dx) "; " TEXT_(dy) },
#define MAP3(name, value, prop, loc, fast, dx, dy, dw) \
    { #name, ORACLE_MAP, 3, sizeof #loc > 2, #value, #prop, #loc, #fast, TEXT_(dx) "; " TEXT_(dy) "; " TEXT_(dw) },
#define MOVE(name, operands, text, gradient) { #name, ORACLE_MOVE, operands, false, text, "ex", "0", "SAME", gradient },
#define SUM_PROP "sum of ex"
#define SUM_LOC "(n-1)u/(1 - (n-1)u) sum of (|x| + ex)"
#define SUMS(name, operands, text, gradient) \
    { #name, ORACLE_SUMS, operands, true, text, SUM_PROP, SUM_LOC, "SAME", gradient },
#define OWN(name, operands, text, prop, loc, gradient) \
    { #name, ORACLE_OWN, operands, sizeof loc > 2, text, prop, loc, "SAME", gradient },
#include "oracle/oracle_table.h"
};

bool oracle_primitive(u32 i, struct oracle_primitive *out)
{
    static const char *const family[] = { "leaf", "map", "move", "sums", "own" };
    if (i >= OX_COUNT) return false;
    const struct oracle_row *r = &oracle_rows[i];
    *out = (struct oracle_primitive){ r->name, family[r->family], r->value, r->prop, r->loc, r->fast, r->gradient };
    return true;
}

void *oracle_refuse(struct oracle_graph *g, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    bool here = g->at >= g->all.p && g->at <= g->all.p + g->all.n;
    error_at_list(g->e, ERR_INPUT, g->file, g->all, here ? g->at : g->all.p, fmt, ap);
    va_end(ap);
    return NULL;
}

const char *oracle_intern(struct oracle_graph *g, struct str text)
{
    char *kept = map_get(&g->names, text);
    if (kept) return kept;
    kept = arena_str(g->mem, text);
    map_put(g->mem, &g->names, (struct str){ kept, text.n }, kept);
    return kept;
}

static u64 mixed(u64 h, u64 x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static u64 bits_of(double x)
{
    u64 bits;
    memcpy(&bits, &x, 8);
    return bits;
}

static u64 node_hash(const struct oracle_node *n)
{
    u64 h = mixed(mixed(n->op, n->attr.keep), bits_of(n->attr.error));
    for (u32 i = 0; i < n->ins; i++) h = mixed(h, n->in[i]->id + 1);
    for (u32 i = 0; i < n->attr.n; i++) h = mixed(h, (u64)n->attr.list[i]);
    h = mixed(h, bits_of(n->attr.value));
    h = mixed(h, bits_of(n->attr.high));
    return mixed(h, (u64)(uintptr_t)n->attr.text);
}

static bool node_same(const struct oracle_node *a, const struct oracle_node *b)
{
    return a->op == b->op && a->ins == b->ins && (!a->ins || !memcmp(a->in, b->in, a->ins * sizeof *a->in)) &&
           a->attr.keep == b->attr.keep && bits_of(a->attr.error) == bits_of(b->attr.error) && a->attr.n == b->attr.n &&
           (!a->attr.n || !memcmp(a->attr.list, b->attr.list, a->attr.n * sizeof *a->attr.list)) &&
           bits_of(a->attr.value) == bits_of(b->attr.value) && bits_of(a->attr.high) == bits_of(b->attr.high) &&
           a->attr.text == b->attr.text && (a->op != OX_input || oracle_shape_equal(&a->shape, &b->shape));
}

static u32 *table_slot(struct oracle_graph *g, const struct oracle_node *n)
{
    u32 i = (u32)(node_hash(n) & (g->slots - 1));
    while (g->slot[i] && !node_same(g->nodes.p[g->slot[i] - 1], n)) i = (i + 1) & (g->slots - 1);
    return &g->slot[i];
}

static void table_grow(struct oracle_graph *g)
{
    if (g->nodes.n * 2 < g->slots) return;
    g->slots = g->slots ? 2 * g->slots : 256;
    g->slot = NEW_ARRAY(g->mem, u32, g->slots);
    for (u32 i = 0; i < g->nodes.n; i++) *table_slot(g, g->nodes.p[i]) = i + 1;
}

/* Whole numbers that are computed as indices are: no kernel rounds them. */
static bool is_index(const struct oracle_node *n)
{
    switch (n->op) {
    case OX_iota: return true;
    case OX_floor: /* i / 4 */
    case OX_ceil:
    case OX_round:
    case OX_trunc:
        if (n->in[0]->op == OX_div && n->in[0]->in[0]->index && n->in[0]->in[1]->index) return true;
        return n->in[0]->index;
    case OX_const: return isfinite(n->attr.value) && n->attr.value == nearbyint(n->attr.value);
    case OX_add:
    case OX_sub:
    case OX_mul:
    case OX_neg:
    case OX_mod:
    case OX_fmod:
    case OX_floordiv:
    case OX_bitand:
    case OX_bitor:
    case OX_bitxor:
    case OX_shl:
    case OX_shr:
    case OX_abs:
    case OX_sign:
    case OX_maximum:
    case OX_minimum:
    case OX_fmax:
    case OX_fmin:
    case OX_lt:
    case OX_le:
    case OX_gt:
    case OX_ge:
    case OX_eq:
    case OX_ne:
    case OX_not:
    case OX_and:
    case OX_or:
    case OX_where:
    case OX_reshape:
    case OX_broadcast:
    case OX_slice:
    case OX_transpose:
        for (u32 i = 0; i < n->ins; i++)
            if (!n->in[i]->index) return false;
        return true;
    default: return false;
    }
}

struct oracle_node *oracle_node(struct oracle_graph *g, enum oracle_op op, struct oracle_node *const *in, u32 ins,
                                const struct oracle_attr *attr)
{
    struct oracle_node *made, n = { .op = op, .ins = ins, .at = g->at, .body = g->body };
    struct oracle_node *operands[ORACLE_OPERANDS];
    CHECK(ins <= ORACLE_OPERANDS);
    for (u32 i = 0; i < ins; i++) {
        if (!in[i]) return NULL;
        operands[i] = in[i];
    }
    n.in = operands;
    if (attr) n.attr = *attr;
    if (!oracle_shape_of(g, &n)) return NULL;
    table_grow(g);
    u32 *slot = table_slot(g, &n);
    if (*slot) return g->nodes.p[*slot - 1];
    if (g->nodes.n == ORACLE_NODES)
        return oracle_refuse(g, "this makes more than %d operations: a text this large is not an oracle", ORACLE_NODES);
    made = NEW(g->mem, struct oracle_node);
    *made = n;
    made->index = is_index(&n);
    oracle_join(made);
    made->id = g->nodes.n;
    made->in = NEW_ARRAY(g->mem, struct oracle_node *, ins + 1);
    memcpy(made->in, operands, ins * sizeof *operands);
    VEC_PUSH(g->mem, &g->nodes, made);
    *slot = made->id + 1;
    return made;
}

struct oracle_node *oracle_node1(struct oracle_graph *g, enum oracle_op op, struct oracle_node *x)
{
    return oracle_node(g, op, &x, 1, NULL);
}

struct oracle_node *oracle_node2(struct oracle_graph *g, enum oracle_op op, struct oracle_node *x,
                                 struct oracle_node *y)
{
    return oracle_node(g, op, (struct oracle_node *[]){ x, y }, 2, NULL);
}

struct oracle_node *oracle_node3(struct oracle_graph *g, enum oracle_op op, struct oracle_node *x,
                                 struct oracle_node *y, struct oracle_node *w)
{
    return oracle_node(g, op, (struct oracle_node *[]){ x, y, w }, 3, NULL);
}

struct oracle_node *oracle_number(struct oracle_graph *g, double value, double error)
{
    return oracle_node(g, OX_const, NULL, 0, &(struct oracle_attr){ .value = value, .error = error });
}

struct oracle_node *oracle_iota(struct oracle_graph *g, u64 n)
{
    return oracle_node(g, OX_iota, NULL, 0, &(struct oracle_attr){ .n = 1, .list = { (s64)n } });
}

static struct oracle_attr shape_attr(const struct oracle_shape *s)
{
    struct oracle_attr a = { .n = s->rank };
    for (u32 i = 0; i < s->rank; i++) a.list[i] = (s64)s->dim[i];
    return a;
}

struct oracle_node *oracle_reshaped(struct oracle_graph *g, struct oracle_node *x, const struct oracle_shape *to)
{
    if (!x || oracle_shape_equal(&x->shape, to)) return x;
    struct oracle_attr a = shape_attr(to);
    return oracle_node(g, OX_reshape, &x, 1, &a);
}

struct oracle_node *oracle_spread(struct oracle_graph *g, struct oracle_node *x, const struct oracle_shape *to)
{
    if (!x || oracle_shape_equal(&x->shape, to)) return x;
    struct oracle_attr a = shape_attr(to);
    return oracle_node(g, OX_broadcast, &x, 1, &a);
}

struct oracle_node *oracle_axis_inserted(struct oracle_graph *g, struct oracle_node *x, u32 axis)
{
    if (!x) return NULL;
    if (x->shape.rank == ORACLE_RANK) return oracle_refuse(g, "arrays have at most %d dimensions", ORACLE_RANK);
    struct oracle_shape to = { .rank = x->shape.rank + 1 };
    for (u32 i = 0; i < to.rank; i++) to.dim[i] = i < axis ? x->shape.dim[i] : i > axis ? x->shape.dim[i - 1] : 1;
    return oracle_reshaped(g, x, &to);
}

struct oracle_node *oracle_summed(struct oracle_graph *g, struct oracle_node *x, u32 axes, bool keep)
{
    if (!x || !axes) return x;
    return oracle_node(g, OX_sum, &x, 1, &(struct oracle_attr){ .keep = keep, .n = 1, .list = { axes } });
}

struct oracle_node *oracle_unbroadcast(struct oracle_graph *g, struct oracle_node *x, const struct oracle_shape *to)
{
    if (!x) return NULL;
    u32 lead = x->shape.rank - to->rank, axes = (1u << lead) - 1;
    for (u32 i = 0; i < to->rank; i++)
        if (to->dim[i] == 1 && x->shape.dim[i + lead] != 1) axes |= 1u << (i + lead);
    return oracle_reshaped(g, oracle_summed(g, x, axes, false), to);
}

struct oracle_node *oracle_einsum(struct oracle_graph *g, const char *spec, struct oracle_node *x,
                                  struct oracle_node *y)
{
    struct oracle_attr a = { .text = oracle_intern(g, str_of(spec)) };
    return oracle_node(g, OX_einsum, (struct oracle_node *[]){ x, y }, y ? 2 : 1, &a);
}

struct oracle_node *oracle_cut(struct oracle_graph *g, struct oracle_node *x, u32 axis, s64 from, s64 to)
{
    if (!x) return NULL;
    struct oracle_attr a = { .n = 3 * x->shape.rank };
    for (u32 i = 0; i < x->shape.rank; i++) {
        a.list[3 * i] = i == axis ? from : 0;
        a.list[3 * i + 1] = i == axis ? to : (s64)x->shape.dim[i];
        a.list[3 * i + 2] = 1;
    }
    return oracle_node(g, OX_slice, &x, 1, &a);
}

struct oracle_node *oracle_rolled(struct oracle_graph *g, struct oracle_node *x, u32 axis, s64 by)
{
    if (!x) return NULL;
    s64 d = (s64)x->shape.dim[axis];
    if (!d) return x;
    by = ((by % d) + d) % d;
    if (!by) return x;
    struct oracle_node *in[2] = { oracle_cut(g, x, axis, d - by, d), oracle_cut(g, x, axis, 0, d - by) };
    return oracle_node(g, OX_concat, in, 2, &(struct oracle_attr){ .n = 1, .list = { axis } });
}
