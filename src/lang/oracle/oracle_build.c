/* From the tree of a text to nodes of the graph: names, numbers, definitions, statements. */
#include "oracle/oracle_in.h"
#include "base/thread.h"

enum { CALLS = 32, STEPS = 100000 };

struct oracle_value oracle_of_node(struct oracle_node *n)
{
    return (struct oracle_value){ .kind = n ? VALUE_NODE : VALUE_NONE, .node = n };
}

struct oracle_value oracle_of_number(double x) { return (struct oracle_value){ .kind = VALUE_NUMBER, .number = x }; }

/* Five roundings, as a kernel that computes it has them; more where a difference has lost leading digits. */
struct oracle_value oracle_of_folded(double z, double moved)
{
    return (
        struct oracle_value){ .kind = VALUE_NUMBER, .number = z, .error = moved > 6 * fabs(z) ? moved : 5 * fabs(z) };
}

double oracle_number_error(const struct oracle_value *v)
{
    bool exact = (double)(float)v->number == v->number && v->error <= 5 * fabs(v->number);
    return exact || !isfinite(v->number) ? 0 : v->error ? v->error : fabs(v->number);
}

struct oracle_node *oracle_node_of(struct oracle_build *b, const struct oracle_value *v)
{
    switch (v->kind) {
    case VALUE_NODE: return v->node;
    case VALUE_NUMBER: return oracle_number(b->g, v->number, v->error);
    case VALUE_WORD: return oracle_refuse(b->g, "`%.*s` is not an array", (int)MIN_OF(v->word.n, 40u), v->word.p);
    case VALUE_LIST: return oracle_refuse(b->g, "a list in parentheses is not an array");
    case VALUE_MASK: return oracle_refuse(b->g, "`causal` is added to scores; elsewhere it has no shape");
    default: return NULL;
    }
}

static void bind(struct oracle_build *b, struct oracle_scope *s, struct str name, struct oracle_value v)
{
    struct oracle_value *kept = NEW(b->o->mem, struct oracle_value);
    *kept = v;
    map_put(b->o->mem, &s->names, name, kept);
}

/* ---- names ---- */

static const struct oracle_value *find_name(const struct oracle_scope *s, struct str name)
{
    for (; s; s = s->outer) {
        const struct oracle_value *v = map_get(&s->names, name);
        if (v) return v;
    }
    return NULL;
}

static bool find_word(struct str name, struct oracle_value *v)
{
    static const char *const words[] = { "keep", "drop", "all", "first", "last", "any" };
    *v = (struct oracle_value){ .kind = VALUE_WORD, .word = name };
    if (oracle_type(name)) return true;
    for (u32 i = 0; i < COUNT_OF(words); i++)
        if (str_is(name, words[i])) return true;
    if (str_is(name, "true") || str_is(name, "True"))
        *v = oracle_of_number(1);
    else if (str_is(name, "false") || str_is(name, "False"))
        *v = oracle_of_number(0);
    else if (str_is(name, "inf") || str_is(name, "pi"))
        *v = oracle_of_number(name.p[0] == 'i' ? INFINITY : 3.14159265358979323846);
    else if (str_is(name, "causal"))
        v->kind = VALUE_MASK;
    else
        return false;
    return true;
}

static struct oracle_value unknown_name(struct oracle_build *b, struct str name, const struct oracle_scope *scope)
{
    const char *words[256];
    u32 n = 0;
    for (u32 i = 0; i < b->o->n && n < COUNT_OF(words); i++)
        if (find_name(scope, str_of(b->o->names[i].name))) words[n++] = b->o->names[i].name;
    for (u32 i = 0; i < b->o->outs.n && n < COUNT_OF(words); i++) words[n++] = b->o->outs.p[i].name;
    const char *hint = str_hint(b->o->mem, name, words, n);
    bool function = oracle_is_function(name) || map_get(&b->o->definitions, name);
    oracle_refuse(b->g,
                  function ? "`%.*s` is a function: its arguments are missing%s"
                           : "`%.*s` is not an argument, dim or name of this text%s",
                  (int)MIN_OF(name.n, 40u), name.p, function ? "" : hint);
    return (struct oracle_value){ 0 };
}

/* What NumPy and PyTorch call otherwise, or what is none of an oracle's functions. */
static const char *other_name(struct str name)
{
    static const char *const known[][2] = { { "zeros", "broadcast(0, size, ...)" },
                                            { "ones", "broadcast(1, size, ...)" },
                                            { "full", "broadcast(value, size, ...)" },
                                            { "zeros_like", "x * 0, or broadcast(0, size, ...)" },
                                            { "expand", "broadcast(x, size, ...)" },
                                            { "repeat", "reshape(broadcast(...), ...)" },
                                            { "tile", "reshape(broadcast(...), ...)" },
                                            { "view", "reshape(x, size, ...)" },
                                            { "flatten", "reshape(x, size, ...)" },
                                            { "permute", "transpose(x, axis, ...)" },
                                            { "cat", "concat(x, ..., axis)" },
                                            { "stack", "concat(unsqueeze(x, axis), ..., axis)" },
                                            { "amax", "max(x, axes, keep)" },
                                            { "amin", "min(x, axes, keep)" },
                                            { "mm", "x @ y" },
                                            { "bmm", "x @ y" },
                                            { "dot", "x @ y" },
                                            { "outer", "unsqueeze(x, -1) * y" },
                                            { "square", "x * x" },
                                            { "reciprocal", "1 / x" },
                                            { "power", "pow(x, y)" },
                                            { "take", "gather(table, index)" },
                                            { "index_select", "gather(table, index)" },
                                            { "take_along_axis", "pick(x, index)" },
                                            { "masked_fill", "where(mask, value, x)" },
                                            { "logsoftmax", "log_softmax(x)" },
                                            { "swish", "silu(x)" },
                                            { "floor_divide", "x // y" },
                                            { "remainder", "x % y, or fmod(x, y), which has the sign of x" },
                                            { "bitwise_and", "x & y" },
                                            { "bitwise_or", "x | y" },
                                            { "bitwise_xor", "x ^ y" },
                                            { "left_shift", "x << y" },
                                            { "right_shift", "x >> y" },
                                            { "scatter_reduce", "scatter_add or scatter_max" },
                                            { "arctan", "atan(x)" },
                                            { "arctan2", "atan2(y, x)" },
                                            { "arcsin", "asin(x)" },
                                            { "arccos", "acos(x)" },
                                            { "fabs", "abs(x)" },
                                            { "expf", "exp(x)" },
                                            { "logf", "log(x)" },
                                            { "sqrtf", "sqrt(x)" },
                                            { "rsqrtf", "rsqrt(x)" },
                                            { "tanhf", "tanh(x)" },
                                            { "fmaxf", "fmax(x, y)" },
                                            { "fminf", "fmin(x, y)" } };
    for (u32 i = 0; i < COUNT_OF(known); i++)
        if (str_is(name, known[i][0])) return known[i][1];
    return NULL;
}

static struct oracle_value unknown_function(struct oracle_build *b, struct str name)
{
    const char *words[512], *z, *ours = other_name(name);
    u32 n = 0;
    if (ours) {
        oracle_refuse(b->g, "there is no function `%.*s`; here it is %s", (int)MIN_OF(name.n, 40u), name.p, ours);
        return (struct oracle_value){ 0 };
    }
    for (u32 i = 0; n < COUNT_OF(words) && (z = oracle_function_name(i)); i++) words[n++] = z;
    for (u32 i = 0; i < b->o->defined.n && n < COUNT_OF(words); i++) words[n++] = b->o->defined.p[i];
    oracle_refuse(b->g, "there is no function `%.*s`%s", (int)MIN_OF(name.n, 40u), name.p,
                  str_hint(b->o->mem, name, words, n));
    return (struct oracle_value){ 0 };
}

/* ---- operators ---- */

static double fold(struct str op, double x, double y)
{
    switch (op.p[0]) {
    case '+': return x + y;
    case '-': return x - y;
    case '*': return op.n == 2 ? pow(x, y) : x * y;
    case '/': return op.n == 2 ? floor(x / y) : x / y;
    case '^': return oracle_bits('^', x, y);
    case '%': return x - floor(x / y) * y;
    case '<': return op.n == 1 ? x < y : op.p[1] == '<' ? oracle_bits('<', x, y) : x <= y;
    case '>': return op.n == 1 ? x > y : op.p[1] == '>' ? oracle_bits('>', x, y) : x >= y;
    case '=': return x == y;
    case '!': return x != y;
    case '&': return oracle_bits('&', x, y);
    default: return oracle_bits('|', x, y);
    }
}

/* Of two numbers; how far it moves is tried with each of them off in both directions. */
static struct oracle_value folded(struct str op, const struct oracle_value *x, const struct oracle_value *y)
{
    double dx = oracle_number_error(x) * 0x1p-24, dy = oracle_number_error(y) * 0x1p-24, moved = 0;
    double z = fold(op, x->number, y->number);
    for (int k = 0; k < 4; k++)
        moved = fmax(moved, fabs(fold(op, x->number + (k & 1 ? dx : -dx), y->number + (k & 2 ? dy : -dy)) - z));
    return oracle_of_folded(z, moved * 0x1p24);
}

static enum oracle_op operator_row(struct str op)
{
    switch (op.p[0]) {
    case '+': return OX_add;
    case '-': return OX_sub;
    case '*': return op.n == 2 ? OX_pow : OX_mul;
    case '/': return op.n == 2 ? OX_floordiv : OX_div;
    case '%': return OX_mod;
    case '<': return op.n == 1 ? OX_lt : op.p[1] == '<' ? OX_shl : OX_le;
    case '>': return op.n == 1 ? OX_gt : op.p[1] == '>' ? OX_shr : OX_ge;
    case '=': return OX_eq;
    case '!': return OX_ne;
    case '&': return OX_bitand;
    case '^': return OX_bitxor;
    default: return OX_bitor;
    }
}

/* Whether it is true or false, and no number. */
static bool is_truth(const struct oracle *o, const struct oracle_node *n)
{
    while (n->ins == 1 && oracle_rows[n->op].family == ORACLE_MOVE) n = n->in[0];
    for (u32 i = 0; n->op == OX_input && i < o->n; i++)
        if (o->names[i].type && !strcmp(o->names[i].name, n->attr.text)) return o->names[i].type->class == SCALAR_BOOL;
    if (n->op == OX_bitxor) return is_truth(o, n->in[0]) && is_truth(o, n->in[1]);
    if ((n->op == OX_max || n->op == OX_min) && n->ins == 1) return is_truth(o, n->in[0]);
    return (n->op >= OX_lt && n->op <= OX_ne) || n->op == OX_and || n->op == OX_or || n->op == OX_not ||
           n->op == OX_isnan || n->op == OX_isinf;
}

/* What a condition over constants was folded to. */
static bool is_folded(const struct oracle_node *n)
{
    return n->op == OX_const && (n->attr.value == 0 || n->attr.value == 1);
}

/* `&` and `|` of conditions are `and` and `or`; of numbers they work on bits, and those are whole. */
static struct oracle_node *bits(struct oracle_build *b, enum oracle_op op, struct oracle_node *x, struct oracle_node *y)
{
    bool shifts = op == OX_shl || op == OX_shr, tx = is_truth(b->o, x), ty = is_truth(b->o, y);
    struct oracle_node *in[2] = { x, y };
    bool either = tx || ty;
    tx |= either && is_folded(x);
    ty |= either && is_folded(y);
    if (tx && ty && !shifts)
        return oracle_node2(b->g, op == OX_bitand ? OX_and : op == OX_bitor ? OX_or : OX_bitxor, x, y);
    if (tx != ty && !shifts)
        return oracle_refuse(b->g, "this is a condition on one side and a number on the other: parentheses say what is "
                                   "compared, and `!= 0` makes a condition of a number");
    for (u32 k = 0; k < 2; k++) {
        const struct oracle_node *n = in[k];
        while (n->ins == 1 && oracle_rows[n->op].family == ORACLE_MOVE) n = n->in[0];
        for (u32 i = 0; n->op == OX_input && i < b->o->n; i++)
            if (b->o->names[i].type && !strcmp(b->o->names[i].name, n->attr.text) &&
                b->o->names[i].type->class == SCALAR_FLOAT)
                return oracle_refuse(b->g, "bits are of whole numbers, and %s is %s", n->attr.text,
                                     b->o->names[i].type->name);
    }
    return oracle_node2(b->g, op, x, y);
}

static struct oracle_value binary(struct oracle_build *b, struct str op, struct oracle_value x, struct oracle_value y)
{
    if (!x.kind || !y.kind) return (struct oracle_value){ 0 };
    if (x.kind == VALUE_NUMBER && y.kind == VALUE_NUMBER && op.p[0] != '@') return folded(op, &x, &y);
    if (x.kind == VALUE_MASK && y.kind == VALUE_NODE) x = oracle_of_node(oracle_causal(b->g, &y.node->shape, 0));
    if (y.kind == VALUE_MASK && x.kind == VALUE_NODE) y = oracle_of_node(oracle_causal(b->g, &x.node->shape, 0));
    struct oracle_node *l = oracle_node_of(b, &x), *r = oracle_node_of(b, &y);
    if (!l || !r) return (struct oracle_value){ 0 };
    if (op.p[0] == '@') return oracle_of_node(oracle_matmul(b->g, l, r));
    if (op.n == 2 && op.p[0] == '*' && y.kind == VALUE_NUMBER && (y.number == 2 || y.number == 3)) {
        struct oracle_node *square = oracle_node2(b->g, OX_mul, l, l);
        return oracle_of_node(y.number == 2 ? square : oracle_node2(b->g, OX_mul, square, l));
    }
    enum oracle_op row = operator_row(op);
    bool of_bits = row == OX_bitand || row == OX_bitor || row == OX_bitxor || row == OX_shl || row == OX_shr;
    return oracle_of_node(of_bits ? bits(b, row, l, r) : oracle_node2(b->g, row, l, r));
}

/* ---- x[a:b, ...] ---- */

static bool whole_number(struct oracle_build *b, const struct oracle_tree *t, const struct oracle_scope *scope,
                         s64 *out)
{
    struct oracle_value v = oracle_expression(b, t, scope);
    if (!v.kind) return false;
    if (v.kind == VALUE_NUMBER && v.number == floor(v.number) && fabs(v.number) < 0x1p40) {
        *out = (s64)v.number;
        return true;
    }
    return oracle_refuse(b->g, "an index is a whole number; arrays are indexed by gather and pick") != NULL;
}

/* One axis of an index: from, to and step, as Python clips them. */
static bool cut_axis(struct oracle_build *b, const struct oracle_tree *t, const struct oracle_scope *scope, s64 size,
                     s64 *cut)
{
    s64 v[3] = { 0, size, 1 };
    if (!b->shipped) b->g->at = t->at;
    for (u32 i = 0; i < t->kids; i++) {
        if (!t->kid[i]) continue;
        if (!whole_number(b, t->kid[i], scope, &v[i])) return false;
        if (i < 2 && v[i] < 0) v[i] += size;
        if (t->kind == TREE_CUT && i < 2) v[i] = v[i] < 0 ? 0 : MIN_OF(v[i], size);
    }
    if (t->kind == TREE_AT) {
        if (v[0] < 0 || v[0] >= size)
            return oracle_refuse(b->g, "index %lld is outside an axis of size %lld", (long long)v[0], (long long)size);
        v[1] = v[0] + 1;
    }
    if (v[2] < 1) return oracle_refuse(b->g, "a step is 1 or more; flip(x, axis) reverses");
    cut[0] = MIN_OF(v[0], v[1]);
    cut[1] = v[1];
    cut[2] = v[2];
    return true;
}

static struct oracle_value indexed(struct oracle_build *b, const struct oracle_tree *t,
                                   const struct oracle_scope *scope)
{
    struct oracle_value v = oracle_expression(b, t->kid[0], scope);
    struct oracle_node *x = oracle_node_of(b, &v);
    struct oracle_shape kept = { 0 };
    if (!x) return (struct oracle_value){ 0 };
    u32 rank = x->shape.rank, given = t->kids - 1, axis = 0;
    struct oracle_attr a = { .n = 3 * rank };
    bool dots = false, drops = false, drop[ORACLE_RANK] = { false };
    for (u32 i = 1; i < t->kids; i++) dots |= t->kid[i]->kind == TREE_DOTS;
    if (given - dots > rank)
        return oracle_of_node(oracle_refuse(b->g, "%u indices for an array of rank %u", given - dots, rank));
    for (u32 i = 0; i < rank; i++) memcpy(&a.list[3 * i], (s64[]){ 0, (s64)x->shape.dim[i], 1 }, 3 * sizeof(s64));
    for (u32 i = 1; i < t->kids; i++) {
        if (t->kid[i]->kind == TREE_DOTS) {
            axis = rank - (t->kids - 1 - i);
            continue;
        }
        if (axis >= rank) return oracle_of_node(oracle_refuse(b->g, "`...` stands once in an index"));
        if (!cut_axis(b, t->kid[i], scope, (s64)x->shape.dim[axis], &a.list[3 * axis])) return oracle_of_node(NULL);
        drops |= drop[axis] = t->kid[i]->kind == TREE_AT;
        axis++;
    }
    struct oracle_node *r = oracle_node(b->g, OX_slice, &x, 1, &a);
    for (u32 i = 0; r && i < rank; i++)
        if (!drop[i]) kept.dim[kept.rank++] = r->shape.dim[i];
    return oracle_of_node(drops ? oracle_reshaped(b->g, r, &kept) : r);
}

/* ---- calls of definitions ---- */

/* A result that is one of the arguments is that argument's node, whose gradient is another matter. */
static bool is_above(const struct oracle_scope *scope, const struct oracle_definition *d, const struct oracle_node *n)
{
    for (u32 i = 0; i < d->params; i++) {
        const struct oracle_value *v = map_get(&scope->names, d->param[i]);
        if (v->kind == VALUE_NODE && v->node->id >= n->id) return false;
    }
    return true;
}

static struct oracle_value defined_call(struct oracle_build *b, const struct oracle_definition *d,
                                        const struct oracle_value *arg, u32 n)
{
    struct oracle_scope inner = { .outer = b->o->top };
    const char *body = b->g->body;
    struct oracle_value v = { 0 };
    u32 least = 0;
    bool missing = false;
    for (u32 i = 0; i < d->params; i++) {
        least += !d->preset[i];
        missing |= !d->preset[i] && (i >= n || !arg[i].kind);
    }
    if (missing || n > d->params)
        return oracle_of_node(oracle_refuse(b->g, "%.*s takes %u%s%.0u arguments, not %u", (int)d->name.n, d->name.p,
                                            least, d->params > least ? " to " : "", d->params > least ? d->params : 0,
                                            n));
    if (b->calls == CALLS)
        return oracle_of_node(oracle_refuse(b->g, "%.*s calls itself, or definitions are more than %d deep",
                                            (int)d->name.n, d->name.p, CALLS));
    b->calls++;
    b->shipped += d->shipped;
    b->g->body = body ? body : oracle_intern(b->g, d->name);
    for (u32 i = 0; i < d->params; i++) {
        struct oracle_value p = i < n && arg[i].kind ? arg[i] : oracle_expression(b, d->preset[i], &inner);
        if (!p.kind) goto done;
        bind(b, &inner, d->param[i], p);
    }
    v = oracle_expression(b, d->body, &inner);
    if (d->backward && v.kind == VALUE_NODE && !v.node->backward && is_above(&inner, d, v.node)) {
        struct oracle_backward *w = NEW(b->o->mem, struct oracle_backward);
        w->def = d;
        w->arg = NEW_ARRAY(b->o->mem, struct oracle_node *, d->params);
        w->value = NEW_ARRAY(b->o->mem, struct oracle_value, d->params);
        for (u32 i = 0; i < d->params; i++) {
            w->value[i] = *find_name(&inner, d->param[i]);
            if (w->value[i].kind == VALUE_NODE) w->arg[i] = w->value[i].node;
        }
        v.node->backward = w;
    }
done:
    b->g->body = body;
    b->shipped -= d->shipped;
    b->calls--;
    return v;
}

bool oracle_backward(struct oracle_build *b, const struct oracle_backward *w, struct oracle_node *dy,
                     struct oracle_node **out)
{
    const struct oracle_definition *d = w->def, *back = d->backward;
    struct oracle_scope inner = { .outer = b->o->top };
    struct oracle_scope *made = &inner;
    char name[64];
    for (u32 i = 0; i < back->params; i++)
        bind(b, made, back->param[i], i < d->params ? w->value[i] : oracle_of_node(dy));
    b->shipped += d->shipped;
    for (u32 i = 0; i < back->body->kids; i++) {
        const struct oracle_tree *set = back->body->kid[i];
        struct oracle_value v = oracle_expression(b, set->kid[0], made);
        if (!v.kind) return false;
        bind(b, made, set->names[0], v);
    }
    b->shipped -= d->shipped;
    for (u32 i = 0; i < d->params; i++) {
        snprintf(name, sizeof name, "d%.*s", (int)MIN_OF(d->param[i].n, 60u), d->param[i].p);
        const struct oracle_value *v = map_get(&inner.names, str_of(name));
        out[i] = v && w->arg[i] ? oracle_unbroadcast(b->g, oracle_node_of(b, v), &w->arg[i]->shape) : NULL;
    }
    return true;
}

/* Which parameter is meant by name = ...; PyTorch's and NumPy's names do as well. */
static u32 keyword(struct oracle_build *b, const struct oracle_definition *d, const struct oracle_tree *call,
                   const struct oracle_tree *set)
{
    static const char *const same[][2] = {
        { "axis", "a" },        { "axes", "a" },          { "dim", "a" },         { "keep", "k" },
        { "keepdim", "k" },     { "keepdims", "k" },      { "axis", "axes" },     { "dim", "axes" },
        { "dim", "axis" },      { "keepdim", "keep" },    { "keepdims", "keep" }, { "correction", "unbiased" },
        { "ddof", "unbiased" }, { "kernel_size", "size" }
    };
    const char *usage = d ? NULL : oracle_function_usage(call->word);
    struct str name = set->names[0];
    if (!b->shipped) b->g->at = set->at;
    for (u32 s = 0; s <= COUNT_OF(same); s++) {
        if (s && !str_is(name, same[s - 1][0])) continue;
        struct str as = s ? str_of(same[s - 1][1]) : name;
        for (u32 i = 0; d && i < d->params; i++)
            if (d->param[i].n == as.n && !memcmp(d->param[i].p, as.p, as.n)) return i;
        u32 i = usage ? oracle_parameter(usage, as) : UINT32_MAX;
        if (i != UINT32_MAX) return i;
    }
    oracle_refuse(b->g, "%.*s has no argument `%.*s`%s%s", (int)MIN_OF(call->word.n, 40u), call->word.p,
                  (int)MIN_OF(name.n, 40u), name.p, usage ? ": it is " : "", usage ? usage : "");
    return UINT32_MAX;
}

static struct oracle_value call(struct oracle_build *b, const struct oracle_tree *t, const struct oracle_scope *scope)
{
    enum { ARGUMENTS = 64 };
    const char *at = b->g->at;
    if (t->kids > ARGUMENTS) return oracle_of_node(oracle_refuse(b->g, "more than %d arguments", ARGUMENTS));
    /* not on the stack: calls stand in calls, and a thread of a program may have little of it */
    struct oracle_value *arg = NEW_ARRAY(b->o->mem, struct oracle_value, ARGUMENTS);
    const struct oracle_definition *d = map_get(&b->o->definitions, t->word);
    u32 n = 0;
    memset(arg, 0, ARGUMENTS * sizeof *arg);
    for (u32 i = 0; i < t->kids; i++) {
        const struct oracle_tree *kid = t->kid[i];
        u32 to = kid->kind == TREE_SET ? keyword(b, d, t, kid) : i;
        if (to == UINT32_MAX) return (struct oracle_value){ 0 };
        if (to >= ARGUMENTS || arg[to].kind)
            return oracle_of_node(oracle_refuse(b->g, "this argument is given twice, or after one with a name"));
        arg[to] = oracle_expression(b, kid->kind == TREE_SET ? kid->kid[0] : kid, scope);
        if (!arg[to].kind) return arg[to];
        n = MAX_OF(n, to + 1);
    }
    b->g->at = at;
    if (d) return defined_call(b, d, arg, n);
    if (str_is(t->word, "grad"))
        return oracle_of_node(oracle_refuse(b->g, "grad stands alone after names, as in dx, dg = grad(y, dy)"));
    if (!oracle_is_function(t->word)) return unknown_function(b, t->word);
    return oracle_function(b, t->word, arg, n);
}

static struct oracle_value block(struct oracle_build *b, const struct oracle_tree *t, const struct oracle_scope *outer)
{
    struct oracle_scope inner = { .outer = outer };
    struct oracle_value v = { 0 };
    for (u32 i = 0; i < t->kids; i++) {
        const struct oracle_tree *kid = t->kid[i];
        v = oracle_expression(b, kid->kind == TREE_SET ? kid->kid[0] : kid, &inner);
        if (!v.kind) return v;
        if (kid->kind == TREE_SET) bind(b, &inner, kid->names[0], v);
    }
    if (t->kids && t->kid[t->kids - 1]->kind != TREE_SET) return v;
    return oracle_of_node(oracle_refuse(b->g, "a block ends with the expression that is its value"));
}

static struct oracle_value list(struct oracle_build *b, const struct oracle_tree *t, const struct oracle_scope *scope)
{
    struct oracle_value v = { .kind = VALUE_LIST };
    if (t->kids > ORACLE_RANK) return oracle_of_node(oracle_refuse(b->g, "a list has at most %d numbers", ORACLE_RANK));
    for (u32 i = 0; i < t->kids; i++) {
        struct oracle_value x = oracle_expression(b, t->kid[i], scope);
        if (!x.kind) return x;
        if (x.kind != VALUE_NUMBER) return oracle_of_node(oracle_refuse(b->g, "a list in parentheses holds numbers"));
        v.list[v.n++] = x.number;
    }
    return v;
}

struct oracle_value oracle_expression(struct oracle_build *b, const struct oracle_tree *t,
                                      const struct oracle_scope *scope)
{
    struct oracle_value v;
    const struct oracle_value *known;
    if (stack_left() < ORACLE_STACK)
        return oracle_of_node(
            oracle_refuse(b->g, "this is nested too deep for a thread with %zu KB of stack left", stack_left() >> 10));
    if (++b->steps > STEPS) return oracle_of_node(oracle_refuse(b->g, "this text expands without end"));
    if (!b->shipped) b->g->at = t->at;
    switch (t->kind) {
    case TREE_NUMBER: return oracle_of_number(t->number);
    case TREE_TEXT: return (struct oracle_value){ .kind = VALUE_WORD, .word = t->word };
    case TREE_NAME:
        if ((known = find_name(scope, t->word))) return *known;
        return find_word(t->word, &v) ? v : unknown_name(b, t->word, scope);
    case TREE_NEGATE:
        v = oracle_expression(b, t->kid[0], scope);
        if (v.kind == VALUE_NUMBER) {
            v.number = -v.number;
            return v;
        }
        return oracle_of_node(oracle_node1(b->g, OX_neg, oracle_node_of(b, &v)));
    case TREE_BINARY: {
        struct oracle_value x = oracle_expression(b, t->kid[0], scope);
        v = x.kind ? oracle_expression(b, t->kid[1], scope) : x;
        if (!b->shipped) b->g->at = t->at;
        return binary(b, t->word, x, v);
    }
    case TREE_CALL: return call(b, t, scope);
    case TREE_INDEX: return indexed(b, t, scope);
    case TREE_BLOCK: return block(b, t, scope);
    case TREE_LIST: return list(b, t, scope);
    default: CHECK(!"an expression"); return (struct oracle_value){ 0 };
    }
}
