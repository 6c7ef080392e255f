/* Index maps: which element goes where. A map belongs to a pair of rows, one that moves elements and one that adds
 * them up again (broadcast and sum, gather and scatter_add, unfold and fold). */
#include "oracle/oracle_graph.h"

static void strides_of(const struct oracle_shape *s, s64 *stride)
{
    s64 step = 1;
    for (u32 i = s->rank; i-- > 0; step *= (s64)s->dim[i]) stride[i] = step;
}

/* map[i] = base + sum of index[d] * stride[d], over the elements i of `s` in order. */
static void strided(const struct oracle_shape *s, s64 base, const s64 *stride, s64 *map)
{
    u64 at[ORACLE_RANK] = { 0 }, n = oracle_count(s);
    s64 here = base;
    for (u64 i = 0; i < n; i++) {
        map[i] = here;
        for (u32 d = s->rank; d-- > 0;) {
            here += stride[d];
            if (++at[d] < s->dim[d]) break;
            here -= stride[d] * (s64)s->dim[d];
            at[d] = 0;
        }
    }
}

static void map_reshape(const struct oracle_node *n, const s64 *index, s64 *map)
{
    (void)index;
    for (u64 i = 0, all = oracle_count(&n->shape); i < all; i++) map[i] = (s64)i;
}

static void map_transpose(const struct oracle_node *n, const s64 *index, s64 *map)
{
    s64 from[ORACLE_RANK], stride[ORACLE_RANK];
    (void)index;
    strides_of(&n->in[0]->shape, from);
    for (u32 i = 0; i < n->shape.rank; i++) stride[i] = from[n->attr.list[i]];
    strided(&n->shape, 0, stride, map);
}

/* Elements of `wide` in an array of shape `narrow`, whose axes are aligned at the right and may be 1. */
static void map_repeated(const struct oracle_shape *narrow, const struct oracle_shape *wide, s64 *map)
{
    s64 from[ORACLE_RANK], stride[ORACLE_RANK];
    u32 lead = wide->rank - narrow->rank;
    strides_of(narrow, from);
    for (u32 i = 0; i < wide->rank; i++) stride[i] = i < lead || narrow->dim[i - lead] == 1 ? 0 : from[i - lead];
    strided(wide, 0, stride, map);
}

static void map_broadcast(const struct oracle_node *n, const s64 *index, s64 *map)
{
    (void)index;
    map_repeated(&n->in[0]->shape, &n->shape, map);
}

static void map_sum(const struct oracle_node *n, const s64 *index, s64 *map)
{
    struct oracle_shape kept = n->in[0]->shape;
    (void)index;
    for (u32 i = 0; i < kept.rank; i++)
        if (n->attr.list[0] >> i & 1) kept.dim[i] = 1;
    map_repeated(&kept, &n->in[0]->shape, map);
}

static s64 cut_strides(const struct oracle_shape *whole, const s64 *cut, s64 *stride)
{
    s64 base = 0;
    strides_of(whole, stride);
    for (u32 i = 0; i < whole->rank; i++) {
        base += cut[3 * i] * stride[i];
        stride[i] *= cut[3 * i + 2];
    }
    return base;
}

static void map_slice(const struct oracle_node *n, const s64 *index, s64 *map)
{
    s64 stride[ORACLE_RANK], base = cut_strides(&n->in[0]->shape, n->attr.list, stride);
    (void)index;
    strided(&n->shape, base, stride, map);
}

static void map_place(const struct oracle_node *n, const s64 *index, s64 *map)
{
    s64 stride[ORACLE_RANK], here = cut_strides(&n->shape, n->attr.list, stride);
    const struct oracle_shape *s = &n->in[0]->shape;
    u64 at[ORACLE_RANK] = { 0 };
    (void)index;
    for (u64 i = 0, all = oracle_count(&n->shape); i < all; i++) map[i] = -1;
    for (u64 i = 0, all = oracle_count(s); i < all; i++) {
        map[here] = (s64)i;
        for (u32 d = s->rank; d-- > 0;) {
            here += stride[d];
            if (++at[d] < s->dim[d]) break;
            here -= stride[d] * (s64)s->dim[d];
            at[d] = 0;
        }
    }
}

static void map_flip(const struct oracle_node *n, const s64 *index, s64 *map)
{
    s64 stride[ORACLE_RANK], axis = n->attr.list[0];
    (void)index;
    strides_of(&n->shape, stride);
    s64 base = stride[axis] * ((s64)n->shape.dim[axis] - 1);
    stride[axis] = -stride[axis];
    strided(&n->shape, base, stride, map);
}

/* Operands count as one array, one after the other. */
static void map_concat(const struct oracle_node *n, const s64 *index, s64 *map)
{
    u32 axis = (u32)n->attr.list[0];
    u64 outer = 1, inner = 1, width = n->shape.dim[axis], at = 0;
    s64 first = 0;
    (void)index;
    for (u32 i = 0; i < axis; i++) outer *= n->shape.dim[i];
    for (u32 i = axis + 1; i < n->shape.rank; i++) inner *= n->shape.dim[i];
    for (u32 k = 0; k < n->ins; k++) {
        u64 wide = n->in[k]->shape.dim[axis] * inner;
        for (u64 o = 0; o < outer; o++)
            for (u64 i = 0; i < wide; i++) map[o * width * inner + at + i] = first + (s64)(o * wide + i);
        at += wide;
        first += (s64)(outer * wide);
    }
}

/* Rows of `row` elements by index: of the result for gather, of the operand for scatter_add. */
static void map_rows(u64 indices, u64 row, const s64 *index, s64 *map)
{
    for (u64 i = 0; i < indices; i++)
        for (u64 k = 0; k < row; k++) map[i * row + k] = index[i] * (s64)row + (s64)k;
}

static void map_gather(const struct oracle_node *n, const s64 *index, s64 *map)
{
    u64 row = 1;
    for (u32 i = 1; i < n->in[0]->shape.rank; i++) row *= n->in[0]->shape.dim[i];
    map_rows(oracle_count(&n->in[1]->shape), row, index, map);
}

static void map_scatter_add(const struct oracle_node *n, const s64 *index, s64 *map)
{
    u64 row = 1;
    for (u32 i = 1; i < n->shape.rank; i++) row *= n->shape.dim[i];
    map_rows(oracle_count(&n->in[1]->shape), row, index, map);
}

static void map_pick(const struct oracle_node *n, const s64 *index, s64 *map)
{
    s64 last = (s64)n->in[0]->shape.dim[n->in[0]->shape.rank - 1];
    for (u64 i = 0, all = oracle_count(&n->shape); i < all; i++) map[i] = (s64)i * last + index[i];
}

/* Patches of images of shape `s`: element [n, c*kh*kw, l] of the patches in the images. */
static void map_patches(const struct oracle_shape *s, const s64 *a, s64 *map)
{
    s64 c = (s64)s->dim[1], h = (s64)s->dim[2], w = (s64)s->dim[3], kh = a[0], kw = a[1];
    s64 ho = oracle_windows(h, a, 0), wo = oracle_windows(w, a, 1);
    for (s64 image = 0; image < (s64)s->dim[0] * c; image++)
        for (s64 i = 0; i < kh; i++)
            for (s64 j = 0; j < kw; j++)
                for (s64 y = 0; y < ho; y++)
                    for (s64 x = 0; x < wo; x++) {
                        s64 row = y * a[2] + i * a[6] - a[4], column = x * a[3] + j * a[7] - a[5];
                        bool inside = row >= 0 && row < h && column >= 0 && column < w;
                        *map++ = inside ? (image * h + row) * w + column : -1;
                    }
}

static void map_unfold(const struct oracle_node *n, const s64 *index, s64 *map)
{
    (void)index;
    map_patches(&n->in[0]->shape, n->attr.list, map);
}

static void map_fold(const struct oracle_node *n, const s64 *index, s64 *map)
{
    (void)index;
    map_patches(&n->shape, n->attr.list, map);
}

void oracle_map(const struct oracle_node *n, const s64 *index, s64 *map)
{
    switch (n->op) {
#define MOVE(name, ...)            \
    case OX_##name:                \
        map_##name(n, index, map); \
        break;
#define SUMS(name, ...)            \
    case OX_##name:                \
        map_##name(n, index, map); \
        break;
#include "oracle/oracle_table.h"
    default: CHECK(!"a row with a map");
    }
}

u64 oracle_index_limit(const struct oracle_node *n)
{
    const struct oracle_shape *x = &n->in[0]->shape;
    switch (n->op) {
    case OX_gather: return x->dim[0];
    case OX_pick: return x->dim[x->rank - 1];
    case OX_scatter_max:
    case OX_scatter_add: return n->shape.dim[0];
    default: return 0;
    }
}
