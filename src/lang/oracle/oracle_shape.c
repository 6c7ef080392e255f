/* Shapes: the rule of every row, and what a text is told where it does not hold. */
#include "oracle/oracle_graph.h"

/* No array of a text is larger, so that a wrong number in a contract is a message and not a machine without memory. */
static const u64 most_elements = (u64)1 << 28;

u64 oracle_count(const struct oracle_shape *s)
{
    u64 n = 1;
    for (u32 i = 0; i < s->rank; i++) n *= s->dim[i];
    return n;
}

bool oracle_shape_equal(const struct oracle_shape *a, const struct oracle_shape *b)
{
    if (a->rank != b->rank) return false;
    for (u32 i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i]) return false;
    return true;
}

const char *oracle_shape_text(const struct oracle_shape *s, char *out, size_t size)
{
    size_t at = (size_t)snprintf(out, size, "[");
    for (u32 i = 0; i < s->rank && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%llu", i ? "," : "", (unsigned long long)s->dim[i]);
    if (at < size) snprintf(out + at, size - at, "]");
    return out;
}

struct rule { /* what a rule sees */
    struct oracle_graph *g;
    struct oracle_node *n;
    const struct oracle_shape *x, *y; /* of its operands; NULL: it has fewer */
    struct oracle_shape *z;
};

static bool refuse(const struct rule *r, const char *what)
{
    char x[ORACLE_SHAPE_TEXT] = "", y[ORACLE_SHAPE_TEXT] = "";
    if (r->x) oracle_shape_text(r->x, x, sizeof x);
    if (r->y) oracle_shape_text(r->y, y, sizeof y);
    return oracle_refuse(r->g, "%s of %s%s%s: %s", oracle_rows[r->n->op].name, x, r->y ? " and " : "", y, what);
}

/* As NumPy: shapes are aligned at the right, and a 1 stands for any size. */
static bool broadcast_two(struct oracle_shape *z, const struct oracle_shape *x)
{
    struct oracle_shape both = { .rank = MAX_OF(z->rank, x->rank) };
    for (u32 i = 0; i < both.rank; i++) {
        u64 a = i < z->rank ? z->dim[z->rank - 1 - i] : 1, b = i < x->rank ? x->dim[x->rank - 1 - i] : 1;
        if (a != b && a != 1 && b != 1) return false;
        both.dim[both.rank - 1 - i] = a == 1 ? b : a;
    }
    *z = both;
    return true;
}

static bool shape_map(const struct rule *r)
{
    for (u32 i = 0; i < r->n->ins; i++) {
        struct oracle_shape before = *r->z;
        if (broadcast_two(r->z, &r->n->in[i]->shape)) continue;
        char x[ORACLE_SHAPE_TEXT], y[ORACLE_SHAPE_TEXT];
        return oracle_refuse(r->g, "%s and %s do not broadcast: sizes must be equal, or 1, from the right",
                             oracle_shape_text(&before, x, sizeof x),
                             oracle_shape_text(&r->n->in[i]->shape, y, sizeof y));
    }
    return true;
}

static bool shape_input(const struct rule *r)
{
    for (u32 i = 0; i < r->n->attr.n; i++) r->z->dim[i] = (u64)r->n->attr.list[i];
    r->z->rank = r->n->attr.n;
    return true;
}

static bool shape_const(const struct rule *r)
{
    (void)r;
    return true;
}

static bool shape_iota(const struct rule *r) { return shape_input(r); }

/* list: the new shape */
static bool shape_reshape(const struct rule *r)
{
    return shape_input(r) && (oracle_count(r->z) == oracle_count(r->x) || refuse(r, "not as many elements"));
}

/* list: the new shape */
static bool shape_broadcast(const struct rule *r)
{
    struct oracle_shape to;
    shape_input(r);
    to = *r->z;
    return (broadcast_two(&to, r->x) && oracle_shape_equal(&to, r->z)) ||
           refuse(r, "does not broadcast to the shape that is asked for");
}

/* list: the axis of the operand that each axis of the result is */
static bool shape_transpose(const struct rule *r)
{
    u32 seen = 0;
    r->z->rank = r->x->rank;
    if (r->n->attr.n != r->x->rank) return refuse(r, "an axis is missing or too many");
    for (u32 i = 0; i < r->x->rank; i++) {
        s64 a = r->n->attr.list[i];
        if (a < 0 || a >= r->x->rank || seen >> a & 1) return refuse(r, "every axis must be named once");
        seen |= 1u << a;
        r->z->dim[i] = r->x->dim[a];
    }
    return true;
}

/* list: from, to, step of each axis, with 0 <= from <= size and a step above 0 */
static bool shape_slice(const struct rule *r)
{
    r->z->rank = r->x->rank;
    for (u32 i = 0; i < r->x->rank; i++) {
        const s64 *c = &r->n->attr.list[3 * i];
        r->z->dim[i] = c[1] > c[0] ? (u64)((c[1] - c[0] + c[2] - 1) / c[2]) : 0;
    }
    return true;
}

/* list: the slice that the operand goes to, then the shape of the result */
static bool shape_place(const struct rule *r)
{
    r->z->rank = r->x->rank;
    for (u32 i = 0; i < r->x->rank; i++) r->z->dim[i] = (u64)r->n->attr.list[3 * r->x->rank + i];
    return true;
}

/* list: the axis */
static bool shape_flip(const struct rule *r)
{
    *r->z = *r->x;
    return true;
}

static bool shape_cumsum(const struct rule *r) { return shape_flip(r); }
static bool shape_cumprod(const struct rule *r) { return shape_flip(r); }
static bool shape_cumprod_back(const struct rule *r) { return shape_flip(r); }
static bool shape_cummax(const struct rule *r) { return shape_flip(r); }
static bool shape_cummin(const struct rule *r) { return shape_flip(r); }
static bool shape_sort(const struct rule *r) { return shape_flip(r); }
static bool shape_argsort(const struct rule *r) { return shape_flip(r); }
/* list: a mask of axes */
static bool shape_others(const struct rule *r) { return shape_flip(r); }

/* list: a mask of axes; value: 1 for the largest, -1 for the smallest */
static bool shape_leads(const struct rule *r) { return shape_flip(r); }

/* list: the axis */
static bool shape_concat(const struct rule *r)
{
    s64 axis = r->n->attr.list[0];
    *r->z = *r->x;
    for (u32 k = 1; k < r->n->ins; k++) {
        const struct oracle_shape *s = &r->n->in[k]->shape;
        struct rule two = *r;
        two.y = s;
        if (s->rank != r->z->rank) return refuse(&two, "not of the same rank");
        for (u32 i = 0; i < s->rank; i++)
            if (i != axis && s->dim[i] != r->z->dim[i]) return refuse(&two, "sizes differ beside the axis");
        r->z->dim[axis] += s->dim[axis];
    }
    return true;
}

static bool join(const struct rule *r, const struct oracle_shape *a, const struct oracle_shape *b, u32 skip)
{
    if (a->rank + b->rank - skip > ORACLE_RANK) return refuse(r, "more than 8 dimensions");
    *r->z = *a;
    for (u32 i = skip; i < b->rank; i++) r->z->dim[r->z->rank++] = b->dim[i];
    return true;
}

static bool shape_gather(const struct rule *r)
{
    return r->x->rank ? join(r, r->y, r->x, 1) : refuse(r, "a table has at least one dimension");
}

static bool shape_pick(const struct rule *r)
{
    struct oracle_shape lead = *r->x;
    *r->z = *r->y;
    if (!lead.rank) return refuse(r, "there is no axis to pick from");
    lead.rank--;
    return oracle_shape_equal(&lead, r->y) || refuse(r, "the index must have the shape without its last axis");
}

s64 oracle_windows(s64 size, const s64 *list, u32 axis)
{
    s64 reach = list[6 + axis] * (list[axis] - 1) + 1, room = size + 2 * list[4 + axis] - reach;
    return room < 0 ? 0 : room / list[2 + axis] + 1;
}

/* list: kh, kw, stride, pad and dilation of both axes */
static bool shape_unfold(const struct rule *r)
{
    const s64 *a = r->n->attr.list;
    if (r->x->rank != 4) return refuse(r, "images are [N,C,H,W]");
    s64 h = oracle_windows((s64)r->x->dim[2], a, 0), w = oracle_windows((s64)r->x->dim[3], a, 1);
    if (!h || !w) return refuse(r, "the window is larger than the image");
    *r->z = (struct oracle_shape){ 3, { r->x->dim[0], r->x->dim[1] * (u64)(a[0] * a[1]), (u64)(h * w) } };
    return true;
}

/* list: as that of unfold, then the shape of the images */
static bool shape_fold(const struct rule *r)
{
    r->z->rank = 4;
    for (u32 i = 0; i < 4; i++) r->z->dim[i] = (u64)r->n->attr.list[ORACLE_WINDOW + i];
    return true;
}

/* list: a mask of axes */
static bool shape_sum(const struct rule *r)
{
    for (u32 i = 0; i < r->x->rank; i++) {
        if (!(r->n->attr.list[0] >> i & 1))
            r->z->dim[r->z->rank++] = r->x->dim[i];
        else if (r->n->attr.keep)
            r->z->dim[r->z->rank++] = 1;
    }
    return true;
}

static bool shape_prod(const struct rule *r) { return shape_sum(r); }

/* Of none, the largest is -inf and the smallest inf; no index is theirs. */
static bool shape_max(const struct rule *r) { return shape_sum(r); }
static bool shape_min(const struct rule *r) { return shape_sum(r); }
static bool shape_argmax(const struct rule *r)
{
    for (u32 i = 0; i < r->x->rank; i++)
        if (r->n->attr.list[0] >> i & 1 && !r->x->dim[i]) return refuse(r, "nothing is largest or smallest of none");
    return shape_sum(r);
}
static bool shape_argmin(const struct rule *r) { return shape_argmax(r); }

/* list: rows of the table */
static bool shape_scatter_add(const struct rule *r)
{
    struct oracle_shape rows = { 1, { (u64)r->n->attr.list[0] } };
    for (u32 i = 0; i < r->y->rank; i++)
        if (i >= r->x->rank || r->x->dim[i] != r->y->dim[i]) return refuse(r, "an index for each row is needed");
    return join(r, &rows, r->x, r->y->rank);
}

static bool shape_scatter_max(const struct rule *r) { return shape_scatter_add(r); }

struct einsum_parts oracle_einsum_parts(const char *spec)
{
    struct einsum_parts p = { .ins = 1 };
    const char *comma = strchr(spec, ','), *arrow = strstr(spec, "->");
    p.out = str_of(arrow + 2);
    p.in[0] = (struct str){ spec, (u32)((comma ? comma : arrow) - spec) };
    if (comma) p.in[p.ins++] = (struct str){ comma + 1, (u32)(arrow - comma - 1) };
    return p;
}

static bool shape_einsum(const struct rule *r)
{
    struct einsum_parts p = oracle_einsum_parts(r->n->attr.text);
    u64 size[128];
    bool has[128] = { false };
    for (u32 k = 0; k < p.ins; k++) {
        const struct oracle_shape *s = &r->n->in[k]->shape;
        if (s->rank != p.in[k].n) return refuse(r, "not as many letters as dimensions");
        for (u32 i = 0; i < s->rank; i++) {
            u8 c = (u8)p.in[k].p[i];
            if (has[c] && size[c] != s->dim[i])
                return oracle_refuse(r->g, "%s: the size of `%c` is %llu and %llu", r->n->attr.text, c,
                                     (unsigned long long)size[c], (unsigned long long)s->dim[i]);
            has[c] = true;
            size[c] = s->dim[i];
        }
    }
    for (u32 i = 0; i < p.out.n; i++) {
        if (!has[(u8)p.out.p[i]]) return oracle_refuse(r->g, "%s: `%c` is in no operand", r->n->attr.text, p.out.p[i]);
        r->z->dim[r->z->rank++] = size[(u8)p.out.p[i]];
    }
    return true;
}

u64 oracle_einsum_terms(const struct oracle_node *n)
{
    struct einsum_parts p = oracle_einsum_parts(n->attr.text);
    u64 terms = 1;
    for (u32 k = 0; k < p.ins; k++)
        for (u32 i = 0; i < p.in[k].n; i++) {
            char c = p.in[k].p[i];
            if (memchr(p.out.p, c, p.out.n) || (k && memchr(p.in[0].p, c, p.in[0].n))) continue;
            terms *= n->in[k]->shape.dim[i];
        }
    return terms;
}

bool oracle_shape_of(struct oracle_graph *g, struct oracle_node *n)
{
    static bool (*const rules[OX_COUNT])(const struct rule *r) = {
#define LEAF(name, ...) [OX_##name] = shape_##name,
#define MAP1(name, ...) [OX_##name] = shape_map,
#define MAP2(name, ...) [OX_##name] = shape_map,
#define MAP3(name, ...) [OX_##name] = shape_map,
#define MOVE(name, ...) [OX_##name] = shape_##name,
#define SUMS(name, ...) [OX_##name] = shape_##name,
#define OWN(name, ...) [OX_##name] = shape_##name,
#include "oracle/oracle_table.h"
    };
    struct rule r = { g, n, n->ins ? &n->in[0]->shape : NULL, n->ins > 1 ? &n->in[1]->shape : NULL, &n->shape };
    if (!rules[n->op](&r)) return false;
    double all = 1;
    for (u32 i = 0; i < n->shape.rank; i++) all *= (double)n->shape.dim[i];
    if (all <= (double)most_elements) return true;
    oracle_refuse(g, "this array would have %.3g elements; %llu are the most", all, (unsigned long long)most_elements);
    g->e->code = ERR_UNSUPPORTED; /* smaller sizes may do */
    return false;
}
