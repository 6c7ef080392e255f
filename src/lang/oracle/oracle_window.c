/* Convolutions and pools: windows of images as columns, then a product or a reduction. Of one dimension they are those
 * of images with one row. */
#include "oracle/oracle_call.h"

struct windows { /* a call on its way */
    const struct call *c;
    u32 axes; /* 1 or 2 */
    struct oracle_node *x;
    struct oracle_attr a; /* of unfold */
};

/* Argument i for each axis: a number, or a list with one for each. `at`: its place in the attributes. */
static bool each_axis(struct windows *w, u32 i, s64 low, s64 usual, u32 at)
{
    const struct call *c = w->c;
    bool list = call_has(c, i) && c->arg[i].kind == VALUE_LIST;
    w->a.list[at] = w->a.list[at + 1] = usual;
    if (!call_has(c, i)) return true;
    if (list && c->arg[i].n != w->axes) return call_misused(c, "a list has a number for each axis") != NULL;
    for (u32 k = 0; k < w->axes; k++) {
        struct oracle_value one = list ? oracle_of_number(c->arg[i].list[k]) : c->arg[i];
        struct call of = *c;
        of.arg = &one;
        if (!call_whole(&of, 0, low, 1 << 20, &w->a.list[at + k + 2 - w->axes])) return false;
    }
    if (w->axes == 1) w->a.list[at] = at == 4 ? 0 : 1;
    return true;
}

/* Stride, padding, dilation from these arguments on; UINT32_MAX: there is no such argument. */
static bool open(struct windows *w, u32 stride, s64 usual_h, s64 usual_w, u32 pad, u32 dilation)
{
    w->a.n = ORACLE_WINDOW;
    if (!each_axis(w, stride, 1, 1, 2) || !each_axis(w, pad, 0, 0, 4) || !each_axis(w, dilation, 1, 1, 6)) return false;
    if (!call_has(w->c, stride)) {
        w->a.list[2] = usual_h;
        w->a.list[3] = usual_w;
    }
    if (w->axes == 1) w->a.list[2] = 1, w->a.list[4] = 0, w->a.list[6] = 1;
    return true;
}

/* The array with a row of one where there are only columns. */
static struct oracle_node *as_image(const struct windows *w, struct oracle_node *x)
{
    return x && w->axes == 1 ? oracle_axis_inserted(w->c->g, x, x->shape.rank - 1) : x;
}

static struct oracle_node *as_given(const struct windows *w, struct oracle_node *x)
{
    if (!x || w->axes == 2) return x;
    struct oracle_shape s = { 3, { x->shape.dim[0], x->shape.dim[1], x->shape.dim[3] } };
    return oracle_reshaped(w->c->g, x, &s);
}

static bool first_image(struct windows *w, const char *what)
{
    struct oracle_node *x = call_array(w->c, 0);
    if (!x) return false;
    if (x->shape.rank != w->axes + 2) return call_misused(w->c, what) != NULL;
    w->x = as_image(w, x);
    return w->x;
}

/* ---- convolutions ---- */

static const char *const images[] = { "", "images are [N,C,L] and weights [O,C/groups,K] with the same C",
                                      "images are [N,C,H,W] and weights [O,C/groups,KH,KW] with the same C" };

/* Each group of outputs sees its own part of the inputs: weights are [O, C / groups, KH, KW]. */
static struct oracle_node *convolved(const struct call *c, u32 axes)
{
    struct windows p = { .c = c, .axes = axes };
    s64 groups = 1;
    struct oracle_graph *g = c->g;
    if (!first_image(&p, images[axes])) return NULL;
    struct oracle_node *w = as_image(&p, call_array(c, 1)), *x = p.x;
    if (!w || !open(&p, 2, 1, 1, 3, 5) || (call_has(c, 4) && !call_whole(c, 4, 1, 1 << 20, &groups))) return NULL;
    u64 parts = (u64)groups;
    if (w->shape.rank != 4 || x->shape.dim[1] != w->shape.dim[1] * parts || w->shape.dim[0] % parts)
        return call_misused(c, images[axes]);
    const u64 *d = w->shape.dim;
    p.a.list[0] = (s64)d[2];
    p.a.list[1] = (s64)d[3];
    struct oracle_node *columns = oracle_node(g, OX_unfold, &x, 1, &p.a);
    if (!columns) return NULL;
    u64 terms = d[1] * d[2] * d[3];
    struct oracle_shape flat = { 3, { parts, d[0] / parts, terms } },
                        split = { 4, { columns->shape.dim[0], parts, terms, columns->shape.dim[2] } };
    struct oracle_node *y = oracle_einsum(g, "ngkl,gok->ngol", oracle_reshaped(g, columns, &split),
                                          oracle_reshaped(g, w, &flat));
    s64 h = oracle_windows((s64)x->shape.dim[2], p.a.list, 0), v = oracle_windows((s64)x->shape.dim[3], p.a.list, 1);
    struct oracle_shape to = { 4, { x->shape.dim[0], d[0], (u64)h, (u64)v } };
    return as_given(&p, oracle_reshaped(g, y, &to));
}
struct oracle_node *call_conv1d(const struct call *c) { return convolved(c, 1); }
struct oracle_node *call_conv2d(const struct call *c) { return convolved(c, 2); }

static const char *const back_images[] = { "", "images are [N,C,L] and weights [C,O/groups,K] with the same C",
                                           "images are [N,C,H,W] and weights [C,O/groups,KH,KW] with the same C" };

/* What the gradient of a convolution is: every element adds its weights to a window of the result. */
static struct oracle_node *transposed(const struct call *c, u32 axes)
{
    struct windows p = { .c = c, .axes = axes };
    s64 groups = 1;
    struct oracle_graph *g = c->g;
    if (!first_image(&p, back_images[axes])) return NULL;
    struct oracle_node *w = as_image(&p, call_array(c, 1)), *x = p.x;
    if (!w || !open(&p, 2, 1, 1, 3, 5) || (call_has(c, 4) && !call_whole(c, 4, 1, 1 << 20, &groups))) return NULL;
    u64 parts = (u64)groups;
    if (w->shape.rank != 4 || x->shape.dim[1] != w->shape.dim[0] || w->shape.dim[0] % parts)
        return call_misused(c, back_images[axes]);
    const u64 *d = w->shape.dim, *n = x->shape.dim;
    struct windows more = p; /* output_padding */
    if (!each_axis(&more, 6, 0, 0, 4)) return NULL;
    if (axes == 1) more.a.list[4] = 0;
    s64 *a = p.a.list, h = ((s64)n[2] - 1) * a[2] - 2 * a[4] + a[6] * ((s64)d[2] - 1) + more.a.list[4] + 1,
        v = ((s64)n[3] - 1) * a[3] - 2 * a[5] + a[7] * ((s64)d[3] - 1) + more.a.list[5] + 1;
    a[0] = (s64)d[2];
    a[1] = (s64)d[3];
    s64 to[4] = { (s64)n[0], (s64)(d[1] * parts), h, v };
    memcpy(a + ORACLE_WINDOW, to, sizeof to);
    p.a.n = ORACLE_WINDOW + 4;
    if (h < 1 || v < 1 || oracle_windows(h, a, 0) != (s64)n[2] || oracle_windows(v, a, 1) != (s64)n[3])
        return call_misused(c, "output_padding is smaller than the stride, and something must be left of the image");
    u64 each = d[0] / parts, out = d[1] * d[2] * d[3];
    struct oracle_shape from = { 4, { n[0], parts, each, n[2] * n[3] } }, flat = { 3, { parts, each, out } },
                        columns = { 3, { n[0], parts * out, n[2] * n[3] } };
    struct oracle_node *y = oracle_einsum(g, "ngcl,gck->ngkl", oracle_reshaped(g, x, &from),
                                          oracle_reshaped(g, w, &flat));
    y = oracle_reshaped(g, y, &columns);
    return as_given(&p, y ? oracle_node(g, OX_fold, &y, 1, &p.a) : NULL);
}
struct oracle_node *call_conv_transpose1d(const struct call *c) { return transposed(c, 1); }
struct oracle_node *call_conv_transpose2d(const struct call *c) { return transposed(c, 2); }

/* ---- pools ---- */

/* Windows of every channel: [N, C, K, L]. */
static struct oracle_node *window_of(const struct windows *p, struct oracle_node *x)
{
    struct oracle_node *y = oracle_node(p->c->g, OX_unfold, &x, 1, &p->a);
    if (!y) return NULL;
    u64 k = (u64)(p->a.list[0] * p->a.list[1]);
    struct oracle_shape s = { 4, { x->shape.dim[0], x->shape.dim[1], k, y->shape.dim[2] } };
    return oracle_reshaped(p->c->g, y, &s);
}

static struct oracle_node *pooled(const struct call *c, u32 axes, bool most)
{
    struct windows p = { .c = c, .axes = axes };
    struct oracle_graph *g = c->g;
    struct oracle_attr a = { .n = 1, .list = { 1 << 2 } };
    if (!first_image(&p, axes == 1 ? "images are [N,C,L]" : "images are [N,C,H,W]") || !each_axis(&p, 1, 1, 1, 0))
        return NULL;
    if (!open(&p, 2, p.a.list[0], p.a.list[1], 3, most ? 4 : UINT32_MAX)) return NULL;
    struct oracle_node *x = window_of(&p, p.x), *y;
    if (!x) return NULL;
    if (most) { /* what lies beyond the image is no element */
        struct oracle_node *one = window_of(&p, oracle_spread(g, oracle_number(g, 1, 0), &p.x->shape));
        struct oracle_node *is = one ? oracle_node2(g, OX_gt, one, oracle_number(g, 0, 0)) : NULL;
        x = oracle_node3(g, OX_where, is, x, oracle_number(g, -INFINITY, 0));
        y = x ? oracle_node(g, OX_max, &x, 1, &a) : NULL;
    } else {
        y = oracle_node(g, OX_sum, &x, 1, &a);
        y = oracle_node2(g, OX_div, y, oracle_number(g, (double)(p.a.list[0] * p.a.list[1]), 0));
    }
    const u64 *d = p.x->shape.dim;
    struct oracle_shape to = {
        4, { d[0], d[1], (u64)oracle_windows((s64)d[2], p.a.list, 0), (u64)oracle_windows((s64)d[3], p.a.list, 1) }
    };
    return as_given(&p, oracle_reshaped(g, y, &to));
}
struct oracle_node *call_max_pool1d(const struct call *c) { return pooled(c, 1, true); }
struct oracle_node *call_max_pool2d(const struct call *c) { return pooled(c, 2, true); }
struct oracle_node *call_avg_pool1d(const struct call *c) { return pooled(c, 1, false); }
struct oracle_node *call_avg_pool2d(const struct call *c) { return pooled(c, 2, false); }

struct oracle_node *call_unfold(const struct call *c)
{
    struct windows p = { .c = c, .axes = 2 };
    if (!first_image(&p, "images are [N,C,H,W]") || !each_axis(&p, 1, 1, 1, 0) || !open(&p, 2, 1, 1, 3, 4)) return NULL;
    return oracle_node(c->g, OX_unfold, &p.x, 1, &p.a);
}
