/* The functions of a text that are no definitions: maps by their row's name, and those below, whose arguments are axes,
 * shapes and words beside arrays. */
#include "oracle/oracle_call.h"

void *call_misused(const struct call *c, const char *why) { return oracle_refuse(c->g, "%s: it is %s", why, c->usage); }

struct oracle_node *call_array(const struct call *c, u32 i) { return oracle_node_of(c->b, &c->arg[i]); }

bool call_whole(const struct call *c, u32 i, s64 low, s64 high, s64 *out)
{
    const struct oracle_value *v = &c->arg[i];
    if (v->kind == VALUE_NUMBER && v->number == floor(v->number) && v->number >= (double)low &&
        v->number <= (double)high) {
        *out = (s64)v->number;
        return true;
    }
    char why[128], is[32] = "";
    if (v->kind == VALUE_NUMBER) snprintf(is, sizeof is, ", and not %.6g", v->number);
    snprintf(why, sizeof why, "argument %u is a whole number from %lld to %lld%s", i + 1, (long long)low,
             (long long)high, is);
    return call_misused(c, why) != NULL;
}

/* An axis, from the end if negative. */
static bool axis_of(const struct call *c, double x, u32 rank, u32 *out)
{
    if (x == floor(x) && x >= -(double)rank && x < (double)rank) {
        *out = (u32)(x < 0 ? x + rank : x);
        return true;
    }
    return oracle_refuse(c->g, "there is no axis %g in an array of rank %u", x, rank) != NULL;
}

bool call_axis(const struct call *c, u32 i, u32 rank, u32 *out)
{
    if (c->arg[i].kind != VALUE_NUMBER) return call_misused(c, "an axis is a number") != NULL;
    return axis_of(c, c->arg[i].number, rank, out);
}

/* Argument i as a mask of axes: a number, a list, `all`, or left out. */
static bool axes_at(const struct call *c, u32 i, u32 rank, u32 *mask)
{
    u32 axis;
    *mask = (1u << rank) - 1;
    if (!call_has(c, i)) return true;
    const struct oracle_value *v = &c->arg[i];
    if (v->kind == VALUE_WORD && str_is(v->word, "all")) return true;
    *mask = 0;
    if (v->kind == VALUE_NUMBER) {
        if (!axis_of(c, v->number, rank, &axis)) return false;
        *mask = 1u << axis;
        return true;
    }
    if (v->kind != VALUE_LIST) return call_misused(c, "axes are a number, a list as in (0, 1), or all") != NULL;
    for (u32 k = 0; k < v->n; k++) {
        if (!axis_of(c, v->list[k], rank, &axis)) return false;
        *mask |= 1u << axis;
    }
    return true;
}

static bool keeps(const struct call *c, u32 i, bool *keep)
{
    *keep = false;
    if (!call_has(c, i)) return true;
    if (c->arg[i].kind == VALUE_NUMBER) { /* keepdim=true */
        *keep = c->arg[i].number != 0;
        return true;
    }
    if (c->arg[i].kind != VALUE_WORD) return call_misused(c, "the last argument is `keep` or `drop`") != NULL;
    *keep = str_is(c->arg[i].word, "keep");
    return *keep || str_is(c->arg[i].word, "drop") || call_misused(c, "the last argument is `keep` or `drop`");
}

static void *wrong_size(const struct call *c, u32 k, double size)
{
    char why[160];
    bool part = size != floor(size);
    snprintf(why, sizeof why, "size %u is %.6g, and sizes are whole numbers from 0 to 2^28%s", k + 1, size,
             part ? " (floor(x / y) rounds down; a `require` line says what divides)" : "");
    return call_misused(c, why);
}

/* Sizes from argument i on, as numbers or as one list; -1: what is left of `count`. */
static bool shape_at(const struct call *c, u32 i, u64 count, struct oracle_shape *s)
{
    double size[ORACLE_RANK];
    bool rest = false;
    u64 known = 1;
    u32 n = 0;
    for (; i < c->n; i++) {
        const struct oracle_value *v = &c->arg[i];
        if (v->kind != VALUE_NUMBER && v->kind != VALUE_LIST) return call_misused(c, "sizes are numbers") != NULL;
        for (u32 k = 0; k < (v->kind == VALUE_LIST ? v->n : 1); k++) {
            if (n == ORACLE_RANK) return call_misused(c, "arrays have at most 8 dimensions") != NULL;
            size[n++] = v->kind == VALUE_LIST ? v->list[k] : v->number;
        }
    }
    *s = (struct oracle_shape){ .rank = n };
    for (u32 k = 0; k < n; k++) {
        bool is_rest = size[k] == -1 && count != UINT64_MAX && !rest;
        if (!is_rest && (size[k] != floor(size[k]) || size[k] < 0 || size[k] > 0x1p28))
            return wrong_size(c, k, size[k]) != NULL;
        rest |= is_rest;
        s->dim[k] = is_rest ? UINT64_MAX : (u64)size[k];
        if (!is_rest) known *= s->dim[k] <= (u64)1 << 28 && known <= (u64)1 << 28 ? s->dim[k] : 1;
    }
    for (u32 k = 0; k < n; k++)
        if (s->dim[k] == UINT64_MAX) s->dim[k] = known ? count / known : 0;
    return true;
}

/* ---- reductions ---- */

static struct oracle_node *reduced(const struct call *c, enum oracle_op op)
{
    struct oracle_node *x = call_array(c, 0);
    struct oracle_attr a = { .n = 1 };
    u32 mask;
    if (!x || !axes_at(c, 1, x->shape.rank, &mask) || !keeps(c, 2, &a.keep)) return NULL;
    if (!mask) return x;
    a.list[0] = mask;
    return oracle_node(c->g, op, &x, 1, &a);
}
static struct oracle_node *call_sum(const struct call *c) { return reduced(c, OX_sum); }
static struct oracle_node *call_max(const struct call *c) { return reduced(c, OX_max); }
static struct oracle_node *call_min(const struct call *c) { return reduced(c, OX_min); }

static struct oracle_node *along(const struct call *c, enum oracle_op op, bool mask)
{
    struct oracle_node *x = call_array(c, 0);
    struct oracle_attr a = { .n = 1 };
    u32 axis;
    if (!x || !call_axis(c, 1, x->shape.rank, &axis)) return NULL;
    a.list[0] = mask ? 1 << axis : (s64)axis;
    if (call_has(c, 2)) { /* which of those that are equal */
        struct str w = c->arg[2].word;
        if (c->arg[2].kind != VALUE_WORD || !(str_is(w, "first") || str_is(w, "last") || str_is(w, "any")))
            return call_misused(c, "ties are `first`, `last` or `any`");
        a.value = str_is(w, "first") ? 1 : str_is(w, "last") ? -1 : 0;
    }
    return oracle_node(c->g, op, &x, 1, &a);
}
static struct oracle_node *call_argmax(const struct call *c) { return along(c, OX_argmax, true); }
static struct oracle_node *call_argmin(const struct call *c) { return along(c, OX_argmin, true); }
static struct oracle_node *call_cumsum(const struct call *c) { return along(c, OX_cumsum, false); }
static struct oracle_node *call_flip(const struct call *c) { return along(c, OX_flip, false); }
static struct oracle_node *call_prod(const struct call *c) { return reduced(c, OX_prod); }
static struct oracle_node *call_cumprod(const struct call *c) { return along(c, OX_cumprod, false); }
static struct oracle_node *call_cummax(const struct call *c) { return along(c, OX_cummax, false); }
static struct oracle_node *call_cummin(const struct call *c) { return along(c, OX_cummin, false); }

/* Along an axis (the last where it is left out), largest first where `down` is not 0; equal ones stay in their order
 * where `stable` is not 0. */
static struct oracle_node *in_order(const struct call *c, enum oracle_op op)
{
    struct oracle_node *x = call_array(c, 0);
    s64 down = 0, stable = 0;
    u32 axis = x && x->shape.rank ? x->shape.rank - 1 : 0;
    if (!x || (call_has(c, 1) && !call_axis(c, 1, x->shape.rank, &axis)) ||
        (call_has(c, 2) && !call_whole(c, 2, 0, 1, &down)) || (call_has(c, 3) && !call_whole(c, 3, 0, 1, &stable)))
        return NULL;
    if (!x->shape.rank) return call_misused(c, "there is nothing to sort in a single number");
    struct oracle_attr a = { .n = 1, .list = { axis }, .keep = stable != 0 };
    if (down) x = oracle_node1(c->g, OX_neg, x);
    x = oracle_node(c->g, op, &x, 1, &a);
    return down && op == OX_sort ? oracle_node1(c->g, OX_neg, x) : x;
}
static struct oracle_node *call_sort(const struct call *c) { return in_order(c, OX_sort); }
static struct oracle_node *call_argsort(const struct call *c) { return in_order(c, OX_argsort); }

/* ---- products ---- */

struct oracle_node *oracle_matmul(struct oracle_graph *g, struct oracle_node *x, struct oracle_node *y)
{
    static const char batch[] = "abcdefgh";
    char spec[64];
    u32 nx = x->shape.rank, ny = y->shape.rank;
    if (!nx || !ny) return oracle_refuse(g, "a product of matrices needs arrays on both sides of @");
    u32 bx = nx > 2 ? nx - 2 : 0, by = ny > 2 ? ny - 2 : 0, most = MAX_OF(bx, by);
    const char *rows = nx > 1 ? "i" : "", *columns = ny > 1 ? "j" : "";
    const char *lx = batch + (most - bx), *ly = batch + (most - by);
    snprintf(spec, sizeof spec, "%.*s%sk,%.*sk%s->%.*s%s%s", (int)bx, lx, rows, (int)by, ly, columns, (int)most, batch,
             rows, columns);
    u64 inner = y->shape.dim[ny > 1 ? ny - 2 : 0];
    if (x->shape.dim[nx - 1] != inner) {
        char a[ORACLE_SHAPE_TEXT], b[ORACLE_SHAPE_TEXT];
        return oracle_refuse(g, "%s @ %s: %llu columns and %llu rows", oracle_shape_text(&x->shape, a, sizeof a),
                             oracle_shape_text(&y->shape, b, sizeof b), (unsigned long long)x->shape.dim[nx - 1],
                             (unsigned long long)inner);
    }
    return oracle_einsum(g, spec, x, y);
}

static struct oracle_node *call_matmul(const struct call *c)
{
    struct oracle_node *x = call_array(c, 0), *y = x ? call_array(c, 1) : NULL;
    return y ? oracle_matmul(c->g, x, y) : NULL;
}

/* The letters of `a` and `b` that the rest of the text still asks for, each once. */
static void letters_left(struct str a, struct str b, const char *rest, char *out)
{
    u32 n = 0;
    for (u32 i = 0; i < a.n + b.n; i++) {
        char c = i < a.n ? a.p[i] : b.p[i - a.n];
        if (strchr(rest, c) && !memchr(out, c, n)) out[n++] = c;
    }
    out[n] = 0;
}

/* "bqd,bkd->bqk": letters, a comma where there are two operands, an arrow; no letter twice in one of them. */
static bool letters_hold(const char *spec, u32 operands)
{
    const char *arrow = strstr(spec, "->");
    u32 commas = 0;
    u64 seen[2] = { 0 };
    if (!arrow || strlen(spec) > 60) return false;
    for (const char *p = spec; *p; p++) {
        if (p == arrow || *p == ',') {
            memset(seen, 0, sizeof seen);
            commas += *p == ',';
            if (p == arrow)
                p++;
            else if (p > arrow)
                return false;
            continue;
        }
        u32 k = *p >= 'a' && *p <= 'z' ? (u32)(*p - 'a') : *p >= 'A' && *p <= 'Z' ? (u32)(*p - 'A') + 32 : 64;
        if (k == 64 || seen[k / 32] >> (k % 32) & 1) return false;
        seen[k / 32] |= (u64)1 << (k % 32);
    }
    return commas + 1 == operands;
}

static struct oracle_node *call_einsum(const struct call *c)
{
    char spec[64];
    u32 n = 0;
    if (c->arg[0].kind != VALUE_WORD) return call_misused(c, "the letters come first");
    for (u32 i = 0; i < c->arg[0].word.n && n + 1 < sizeof spec; i++)
        if (c->arg[0].word.p[i] != ' ') spec[n++] = c->arg[0].word.p[i];
    spec[n] = 0;
    if (!letters_hold(spec, c->n - 1))
        return call_misused(c, "letters for each array and for the result, without repeating any");
    struct oracle_node *x = call_array(c, 1);
    char have[64], two[200], kept[64], *rest = spec;
    rest += strcspn(spec, ",-");
    snprintf(have, sizeof have, "%.*s", (int)(rest - spec), spec);
    if (c->n == 2) return x ? oracle_einsum(c->g, spec, x, NULL) : NULL;
    for (u32 i = 2; x && i < c->n; i++) { /* two at a time */
        struct oracle_node *y = call_array(c, i);
        const char *next = rest + 1, *end = next + strcspn(next, ",-");
        struct str a = str_of(have), b = { next, (u32)(end - next) };
        if (!y) return NULL;
        if (x->shape.rank != a.n || y->shape.rank != b.n) return call_misused(c, "a letter for each dimension");
        if (*end == '-')
            snprintf(kept, sizeof kept, "%s", end + 2);
        else
            letters_left(a, b, end, kept);
        snprintf(two, sizeof two, "%s,%.*s->%s", have, (int)b.n, b.p, kept);
        x = oracle_einsum(c->g, two, x, y);
        snprintf(have, sizeof have, "%s", kept);
        rest = spec + (end - spec);
    }
    return x;
}

/* ---- shapes ---- */

static struct oracle_node *call_transpose(const struct call *c)
{
    struct oracle_node *x = call_array(c, 0);
    struct oracle_attr a = { 0 };
    if (!x) return NULL;
    a.n = x->shape.rank;
    if (c->n == 1 && a.n < 2) return call_misused(c, "there are no two axes to exchange");
    for (u32 i = 0; i < a.n; i++) a.list[i] = i;
    if (c->n == 1) {
        a.list[a.n - 1] = a.n - 2;
        a.list[a.n - 2] = a.n - 1;
        return oracle_node(c->g, OX_transpose, &x, 1, &a);
    }
    if (c->n - 1 != a.n) return call_misused(c, "every axis is named, in its new order");
    for (u32 i = 0; i < a.n; i++) {
        u32 axis;
        if (!call_axis(c, i + 1, a.n, &axis)) return NULL;
        a.list[i] = axis;
    }
    return oracle_node(c->g, OX_transpose, &x, 1, &a);
}

static struct oracle_node *call_reshape(const struct call *c)
{
    struct oracle_node *x = call_array(c, 0);
    struct oracle_shape s;
    return x && shape_at(c, 1, oracle_count(&x->shape), &s) ? oracle_reshaped(c->g, x, &s) : NULL;
}

static struct oracle_node *call_broadcast(const struct call *c)
{
    struct oracle_node *x = call_array(c, 0);
    struct oracle_shape s;
    return x && shape_at(c, 1, UINT64_MAX, &s) ? oracle_spread(c->g, x, &s) : NULL;
}

static struct oracle_node *call_like(const struct call *c)
{
    struct oracle_node *x = call_array(c, 0), *y = x ? call_array(c, 1) : NULL;
    if (!y) return NULL;
    if (y->shape.rank > x->shape.rank) return call_misused(c, "the second array has fewer dimensions");
    return oracle_unbroadcast(c->g, x, &y->shape);
}

/* The elements of x in the shape of y. */
static struct oracle_node *call_shaped(const struct call *c)
{
    struct oracle_node *x = call_array(c, 0), *y = x ? call_array(c, 1) : NULL;
    return y ? oracle_reshaped(c->g, x, &y->shape) : NULL;
}

/* An array with an element for each index of one axis of y, so that it broadcasts along that axis. */
static struct oracle_node *call_along(const struct call *c)
{
    struct oracle_node *x = call_array(c, 0), *y = x ? call_array(c, 1) : NULL;
    u32 axis;
    if (!y || !call_axis(c, 2, y->shape.rank, &axis)) return NULL;
    struct oracle_shape s = { .rank = y->shape.rank - axis };
    for (u32 i = 0; i < s.rank; i++) s.dim[i] = i ? 1 : y->shape.dim[axis];
    return oracle_reshaped(c->g, x, &s);
}

static struct oracle_node *call_unsqueeze(const struct call *c)
{
    struct oracle_node *x = call_array(c, 0);
    u32 axis;
    return x && call_axis(c, 1, x->shape.rank + 1, &axis) ? oracle_axis_inserted(c->g, x, axis) : NULL;
}

static struct oracle_node *call_squeeze(const struct call *c)
{
    struct oracle_node *x = call_array(c, 0);
    struct oracle_shape s = { 0 };
    u32 axis;
    if (!x || !call_axis(c, 1, x->shape.rank, &axis)) return NULL;
    if (x->shape.dim[axis] != 1) return call_misused(c, "this axis is not of size 1");
    for (u32 i = 0; i < x->shape.rank; i++)
        if (i != axis) s.dim[s.rank++] = x->shape.dim[i];
    return oracle_reshaped(c->g, x, &s);
}

static struct oracle_node *call_roll(const struct call *c)
{
    struct oracle_node *x = call_array(c, 0);
    s64 by;
    u32 axis;
    if (!x || !call_whole(c, 1, -((s64)1 << 30), (s64)1 << 30, &by) || !call_axis(c, 2, x->shape.rank, &axis))
        return NULL;
    return oracle_rolled(c->g, x, axis, by);
}

static struct oracle_node *call_pad(const struct call *c)
{
    struct oracle_node *x = call_array(c, 0);
    struct oracle_attr a = { 0 };
    s64 before, after;
    u32 axis, rank = x ? x->shape.rank : 0;
    if (!x || !call_axis(c, 1, rank, &axis) || !call_whole(c, 2, 0, 1 << 28, &before) ||
        !call_whole(c, 3, 0, 1 << 28, &after))
        return NULL;
    a.n = 4 * rank;
    for (u32 i = 0; i < rank; i++) {
        s64 d = (s64)x->shape.dim[i], from = i == axis ? before : 0;
        a.list[3 * i] = from;
        a.list[3 * i + 1] = from + d;
        a.list[3 * i + 2] = 1;
        a.list[3 * rank + i] = i == axis ? before + d + after : d;
    }
    return oracle_node(c->g, OX_place, &x, 1, &a);
}

static struct oracle_node *call_concat(const struct call *c)
{
    struct oracle_node *in[ORACLE_OPERANDS];
    struct oracle_attr a = { .n = 1 };
    u32 axis;
    for (u32 i = 0; i + 1 < c->n; i++)
        if (!(in[i] = call_array(c, i))) return NULL;
    if (!call_axis(c, c->n - 1, in[0]->shape.rank, &axis)) return NULL;
    a.list[0] = axis;
    return oracle_node(c->g, OX_concat, in, c->n - 1, &a);
}

/* ---- indices and masks ---- */

static struct oracle_node *call_iota(const struct call *c)
{
    s64 n;
    return call_whole(c, 0, 0, 1 << 28, &n) ? oracle_iota(c->g, (u64)n) : NULL;
}

static struct oracle_node *two(const struct call *c, enum oracle_op op)
{
    struct oracle_node *x = call_array(c, 0), *y = x ? call_array(c, 1) : NULL;
    return y ? oracle_node2(c->g, op, x, y) : NULL;
}
static struct oracle_node *call_gather(const struct call *c) { return two(c, OX_gather); }
static struct oracle_node *call_pick(const struct call *c) { return two(c, OX_pick); }

static struct oracle_node *call_scatter_max(const struct call *c)
{
    struct oracle_node *in[2] = { call_array(c, 0), c->arg[0].kind ? call_array(c, 1) : NULL };
    struct oracle_attr a = { .n = 1 };
    return call_whole(c, 2, 0, 1 << 28, &a.list[0]) ? oracle_node(c->g, OX_scatter_max, in, 2, &a) : NULL;
}

static struct oracle_node *call_scatter_add(const struct call *c)
{
    struct oracle_node *in[2] = { call_array(c, 0), c->arg[0].kind ? call_array(c, 1) : NULL };
    struct oracle_attr a = { .n = 1 };
    return call_whole(c, 2, 0, 1 << 28, &a.list[0]) ? oracle_node(c->g, OX_scatter_add, in, 2, &a) : NULL;
}

struct oracle_node *oracle_causal(struct oracle_graph *g, const struct oracle_shape *like, s64 shift)
{
    if (like->rank < 2) return oracle_refuse(g, "a causal mask needs two axes, queries and keys");
    u64 q = like->dim[like->rank - 2], k = like->dim[like->rank - 1];
    struct oracle_node *i = oracle_axis_inserted(g, oracle_iota(g, q), 1), *j = oracle_iota(g, k);
    i = oracle_node2(g, OX_add, i, oracle_number(g, (double)k - (double)q + (double)shift, 0));
    return oracle_node3(g, OX_where, oracle_node2(g, OX_ge, i, j), oracle_number(g, 0, 0),
                        oracle_number(g, -INFINITY, 0));
}

static struct oracle_node *call_mask(const struct call *c)
{
    struct oracle_node *x = call_array(c, 0);
    s64 shift = 0;
    if (!x || (c->n > 1 && !call_whole(c, 1, -(1 << 28), 1 << 28, &shift))) return NULL;
    return oracle_causal(c->g, &x->shape, shift);
}

/* ---- what a kernel is allowed ---- */

static struct oracle_node *call_via(const struct call *c)
{
    struct oracle_node *x = call_array(c, 0);
    struct oracle_attr a = { 0 };
    if (!x) return NULL;
    if (c->arg[1].kind != VALUE_WORD || !oracle_type(c->arg[1].word))
        return call_misused(c, "the second argument is a type: f64 f32 tf32 f16 bf16 e4m3 e5m2");
    a.text = oracle_type(c->arg[1].word)->name;
    return oracle_node(c->g, OX_via, &x, 1, &a);
}

static struct oracle_node *call_cast(const struct call *c)
{
    struct oracle_node *x = call_via(c);
    return x ? oracle_node(c->g, OX_cast, x->in, 1, &x->attr) : NULL;
}

static struct oracle_node *call_within(const struct call *c)
{
    struct oracle_node *x = call_array(c, 0);
    if (!x) return NULL;
    if (c->arg[1].kind != VALUE_NUMBER || c->arg[2].kind != VALUE_NUMBER)
        return call_misused(c, "a range is two numbers");
    struct oracle_attr a = { .value = c->arg[1].number, .high = c->arg[2].number };
    return oracle_node(c->g, OX_within, &x, 1, &a);
}

static struct oracle_node *call_off(const struct call *c)
{
    struct oracle_node *x = call_array(c, 0);
    if (!x) return NULL;
    if (c->arg[1].kind != VALUE_NUMBER || !(c->arg[1].number >= 0))
        return call_misused(c, "how many roundings is a number");
    return oracle_node(c->g, OX_off, &x, 1, &(struct oracle_attr){ .value = c->arg[1].number });
}

/* ---- the table ---- */

static const struct function {
    const char *name;
    struct oracle_node *(*make)(const struct call *c);
    u32 least, most;
    const char *usage; /* its parameters are the names for keywords */
} functions[] = {
    { "sum", call_sum, 1, 3, "sum(x, axes, keep)" },
    { "prod", call_prod, 1, 3, "prod(x, axes, keep)" },
    { "max", call_max, 1, 3, "max(x, axes, keep)" },
    { "min", call_min, 1, 3, "min(x, axes, keep)" },
    { "argmax", call_argmax, 2, 3, "argmax(x, axis, ties)" },
    { "argmin", call_argmin, 2, 3, "argmin(x, axis, ties)" },
    { "cumsum", call_cumsum, 2, 2, "cumsum(x, axis)" },
    { "cumprod", call_cumprod, 2, 2, "cumprod(x, axis)" },
    { "cummax", call_cummax, 2, 2, "cummax(x, axis)" },
    { "cummin", call_cummin, 2, 2, "cummin(x, axis)" },
    { "sort", call_sort, 1, 3, "sort(x, axis, descending)" },
    { "argsort", call_argsort, 1, 4, "argsort(x, axis, descending, stable)" },
    { "flip", call_flip, 2, 2, "flip(x, axis)" },
    { "matmul", call_matmul, 2, 2, "matmul(x, y)" },
    { "einsum", call_einsum, 2, 9, "einsum(\"ik,kj->ij\", x, y, ...)" },
    { "conv1d", call_conv1d, 2, 6, "conv1d(x, w, stride, padding, groups, dilation)" },
    { "conv2d", call_conv2d, 2, 6, "conv2d(x, w, stride, padding, groups, dilation)" },
    { "conv_transpose1d", call_conv_transpose1d, 2, 7,
      "conv_transpose1d(x, w, stride, padding, groups, dilation, output_padding)" },
    { "conv_transpose2d", call_conv_transpose2d, 2, 7,
      "conv_transpose2d(x, w, stride, padding, groups, dilation, output_padding)" },
    { "max_pool1d", call_max_pool1d, 2, 5, "max_pool1d(x, size, stride, padding, dilation)" },
    { "max_pool2d", call_max_pool2d, 2, 5, "max_pool2d(x, size, stride, padding, dilation)" },
    { "avg_pool1d", call_avg_pool1d, 2, 4, "avg_pool1d(x, size, stride, padding)" },
    { "avg_pool2d", call_avg_pool2d, 2, 4, "avg_pool2d(x, size, stride, padding)" },
    { "max_pool", call_max_pool2d, 2, 5, "max_pool(x, size, stride, padding, dilation)" },
    { "avg_pool", call_avg_pool2d, 2, 4, "avg_pool(x, size, stride, padding)" },
    { "unfold", call_unfold, 2, 5, "unfold(x, size, stride, padding, dilation)" },
    { "T", call_transpose, 1, 9, "T(x), or transpose(x, axis, ...)" },
    { "transpose", call_transpose, 1, 9, "transpose(x, axis, ...)" },
    { "reshape", call_reshape, 2, 9, "reshape(x, size, ...)" },
    { "shaped", call_shaped, 2, 2, "shaped(x, y): x in the shape of y" },
    { "along", call_along, 3, 3, "along(x, y, axis): x, which broadcasts along this axis of y" },
    { "broadcast", call_broadcast, 2, 9, "broadcast(x, size, ...)" },
    { "like", call_like, 2, 2, "like(x, y): x summed down to the shape of y" },
    { "unsqueeze", call_unsqueeze, 2, 2, "unsqueeze(x, axis)" },
    { "squeeze", call_squeeze, 2, 2, "squeeze(x, axis)" },
    { "roll", call_roll, 3, 3, "roll(x, by, axis)" },
    { "pad", call_pad, 4, 4, "pad(x, axis, before, after)" },
    { "concat", call_concat, 2, ORACLE_OPERANDS, "concat(x, ..., axis)" },
    { "iota", call_iota, 1, 1, "iota(n)" },
    { "arange", call_iota, 1, 1, "arange(n)" },
    { "gather", call_gather, 2, 2, "gather(table, index)" },
    { "pick", call_pick, 2, 2, "pick(x, index)" },
    { "scatter_add", call_scatter_add, 3, 3, "scatter_add(x, index, rows)" },
    { "scatter_max", call_scatter_max, 3, 3, "scatter_max(x, index, rows)" },
    { "mask", call_mask, 1, 2, "mask(scores, shift)" },
    { "via", call_via, 2, 2, "via(x, type)" },
    { "cast", call_cast, 2, 2, "cast(x, type)" },
    { "within", call_within, 3, 3, "within(x, low, high)" },
    { "off", call_off, 2, 2, "off(x, roundings)" },
};
/* Numbers of shapes: these are numbers, not arrays. */
static const char *const counts[] = { "count", "size" };

static bool is_map(u32 op)
{
    return oracle_rows[op].family == ORACLE_MAP && op != OX_via && op != OX_cast && op != OX_within && op != OX_off;
}

const char *oracle_function_name(u32 i)
{
    if (i < COUNT_OF(functions)) return functions[i].name;
    if ((i -= COUNT_OF(functions)) < COUNT_OF(counts)) return counts[i];
    i -= COUNT_OF(counts);
    for (u32 op = 0; op < OX_COUNT; op++)
        if (is_map(op) && !i--) return oracle_rows[op].name;
    return NULL;
}

const char *oracle_function_usage(struct str name)
{
    for (u32 i = 0; i < COUNT_OF(functions); i++)
        if (str_is(name, functions[i].name)) return functions[i].usage;
    return NULL;
}

u32 oracle_parameter(const char *usage, struct str name)
{
    const char *p = strchr(usage, '(') + 1;
    for (u32 i = 0; *p && *p != ')'; i++) {
        size_t n = strcspn(p, ",)");
        if (n == name.n && !memcmp(p, name.p, n)) return i;
        p += n;
        p += strspn(p, ", ");
    }
    return UINT32_MAX;
}

bool oracle_is_function(struct str name)
{
    const char *z;
    for (u32 i = 0; (z = oracle_function_name(i)); i++)
        if (str_is(name, z)) return true;
    return false;
}

/* Of a number: what the row computes of it. */
static bool number_map(enum oracle_op op, double x, double *out)
{
    struct oracle_node in = { 0 }, *operand = &in, node = { .op = op, .ins = 1, .in = &operand };
    struct oracle_env env = { .type = oracle_type(STR("f32")) };
    struct oracle_job j = { .env = &env, .node = &node, .v = { &x }, .z = out };
    return oracle_rows[op].operands == 1 && oracle_row_f64(&j);
}

static struct oracle_value counted(const struct call *c)
{
    struct oracle_node *x = call_array(c, 0);
    double n = 1;
    u32 mask, axis;
    if (!x) return (struct oracle_value){ 0 };
    if (!strcmp(c->name, "size")) {
        if (c->n < 2) return oracle_of_node(call_misused(c, "an axis is missing"));
        return call_axis(c, 1, x->shape.rank, &axis) ? oracle_of_number((double)x->shape.dim[axis])
                                                     : (struct oracle_value){ 0 };
    }
    if (!axes_at(c, 1, x->shape.rank, &mask)) return (struct oracle_value){ 0 };
    for (u32 i = 0; i < x->shape.rank; i++)
        if (mask >> i & 1) n *= (double)x->shape.dim[i];
    return oracle_of_number(n);
}

static struct oracle_value map_call(const struct call *c, enum oracle_op op)
{
    struct oracle_node *in[3];
    double number;
    if (c->n != oracle_rows[op].operands)
        return oracle_of_node(
            oracle_refuse(c->g, "%s takes %u arguments, not %u", c->name, oracle_rows[op].operands, c->n));
    if (c->n == 1 && c->arg[0].kind == VALUE_NUMBER && number_map(op, c->arg[0].number, &number)) {
        double off = oracle_number_error(&c->arg[0]) * 0x1p-24, more = number, less = number;
        number_map(op, c->arg[0].number + off, &more);
        number_map(op, c->arg[0].number - off, &less);
        return oracle_of_folded(number, fmax(fabs(more - number), fabs(less - number)) * 0x1p24);
    }
    for (u32 i = 0; i < c->n; i++)
        if (!(in[i] = call_array(c, i))) return (struct oracle_value){ 0 };
    return oracle_of_node(oracle_node(c->g, op, in, c->n, NULL));
}

struct oracle_value oracle_function(struct oracle_build *b, struct str name, const struct oracle_value *arg, u32 n)
{
    struct call c = { .b = b, .g = b->g, .arg = arg, .n = n };
    for (u32 i = 0; i < COUNT_OF(functions); i++) {
        const struct function *f = &functions[i];
        if (!str_is(name, f->name)) continue;
        c.name = f->name;
        c.usage = f->usage;
        if (n < f->least || n > f->most) {
            char why[64];
            snprintf(why, sizeof why, "%s does not take %u argument%s", f->name, n, n == 1 ? "" : "s");
            return oracle_of_node(call_misused(&c, why));
        }
        return oracle_of_node(f->make(&c));
    }
    for (u32 i = 0; i < COUNT_OF(counts); i++)
        if (str_is(name, counts[i])) {
            c.name = counts[i];
            c.usage = i ? "size(x, axis)" : "count(x, axes)";
            return n && n <= 2 ? counted(&c) : oracle_of_node(call_misused(&c, "one or two arguments"));
        }
    for (u32 op = 0; op < OX_COUNT; op++)
        if (is_map(op) && str_is(name, oracle_rows[op].name)) {
            c.name = oracle_rows[op].name;
            return map_call(&c, op);
        }
    return (struct oracle_value){ 0 };
}
