/* A tensor that is transposed, expanded or sliced, and a kernel that takes its elements one after the other. No byte
 * that it reads need be wrong, so that only what was passed can tell: the strides of the tensor, and no argument that
 * has one of them. A kernel that does the same to each element for itself need not know where they lie, as long as
 * all its arrays lie alike. */
#include "explain/view_strides.h"
#include "explain/explain_index.h"
#include "sim/finding_place.h"
#include "check/views.h"

enum { NUMBERS = 64 };

struct numbers { /* integers among the parameters */
    s64 at[NUMBERS];
    u32 n;
};

static void numbers_read(const struct launch *l, struct numbers *x)
{
    const struct ptx_func *f = l->kernel->func;
    x->n = 0;
    for (u32 i = 0; i < f->nparam; i++) {
        const struct ptx_var *v = f->param[i];
        u32 step = v->size % 8 == 0 && v->size >= 8 ? 8 : 4; /* a struct is read as words */
        for (u64 at = v->offset; at + step <= v->offset + v->size && x->n < NUMBERS; at += step) {
            s32 narrow;
            if (step == 8)
                memcpy(&x->at[x->n++], l->param.block + at, 8);
            else {
                memcpy(&narrow, l->param.block + at, 4);
                x->at[x->n++] = narrow;
            }
        }
    }
}

static bool number_take(struct numbers *x, s64 value)
{
    for (u32 i = 0; i < x->n; i++)
        if (x->at[i] == value) {
            x->at[i] = x->at[--x->n];
            return true;
        }
    return false;
}

/* Whether an argument may be a stride of the tensor, and not an extent. */
static bool is_reported(const struct launch *l, const struct launch_view *v)
{
    struct numbers x;
    numbers_read(l, &x);
    number_take(&x, (s64)view_elements(v));
    for (u32 i = 0; i < v->dims; i++) number_take(&x, (s64)v->extent[i]);
    for (u32 i = 0; i < v->dims; i++) {
        s64 step = v->stride[i] / (s64)v->element;
        if (v->extent[i] > 1 && ((step != 0 && step != 1 && number_take(&x, step)) ||
                                 (v->stride[i] > (s64)v->element && number_take(&x, v->stride[i]))))
            return true;
    }
    return false;
}

/* Whether its elements fill their range, in whatever order. */
static bool is_packed(const struct launch_view *v)
{
    u64 last = 0;
    for (u32 i = 0; i < v->dims; i++) {
        if (v->extent[i] > 1 && v->stride[i] <= 0) return false;
        last += v->extent[i] > 1 ? (v->extent[i] - 1) * (u64)v->stride[i] : 0;
    }
    return last + v->element == view_elements(v) * v->element;
}

static bool lie_alike(const struct launch_view *a, const struct launch_view *b)
{
    bool same = a->dims == b->dims;
    for (u32 i = 0; same && i < a->dims; i++)
        same = a->extent[i] == b->extent[i] &&
               (a->extent[i] == 1 || a->stride[i] / a->element == b->stride[i] / b->element);
    return same;
}

static bool all_alike(const struct launch_views *all, const struct launch_view *v)
{
    for (u32 i = 0; i < all->n; i++)
        if (view_elements(&all->view[i]) == view_elements(v) && !lie_alike(&all->view[i], v)) return false;
    return true;
}

/* How the kernel uses the address: not at all, or for each thread its own element, or otherwise. */
enum use { USED_NOT, USED_FLAT, USED_OTHERWISE };

static enum use use_of(const struct launch *l, const struct launch_view *v, u32 *op)
{
    const struct lowered *k = l->kernel;
    enum use use = USED_NOT;
    for (u32 i = 0; i < k->nsite; i++) {
        const struct site *s = &k->site[i];
        if (s->prov.kind != FROM_PARAM || s->prov.off != v->at) continue;
        bool flat = formula_flat(l, s->op, (u32)s->width * s->vec);
        if (use == USED_NOT || (use == USED_FLAT && !flat)) *op = s->op;
        use = flat && use != USED_OTHERWISE ? USED_FLAT : USED_OTHERWISE;
    }
    return use;
}

static void report_view(const struct launch *l, const struct launch_view *v, u32 op)
{
    struct arena mem = { 0 };
    struct text t = { 0 };
    const struct ptx_func *k = l->kernel->func;
    u32 i = 0;
    while (i < k->nparam && !(v->at - k->param[i]->offset < k->param[i]->size)) i++;
    view_text(v, &t);
    struct finding f = { .kind = F_array_strides,
                         .place = finding_place(&mem, l->kernel, op),
                         .kernel = arena_str(&mem, k->name),
                         .cause_key = v->at,
                         .once = true,
                         .from = l->in->origin,
                         .fix = "Pass a contiguous copy (x.contiguous()), or the strides, too, and let the kernel use "
                                "them; TORCH_CHECK(x.is_contiguous()) refuses such tensors." };
    f.cause = arena_printf(&mem,
                           "%s is a tensor, %s, and the kernel is given its address alone: it takes its elements for "
                           "neighbours, which is another order, or other elements",
                           i < k->nparam ? ptx_argument(k, i).text : "an argument", t.p);
    report_add(l->in->report, &f);
    text_free(&t);
    arena_free(&mem);
}

void view_strides_judge(void *self, const struct launch *l)
{
    const struct launch_views *all = l->in->views;
    (void)self;
    for (u32 i = 0; i < all->n; i++) {
        const struct launch_view *v = &all->view[i];
        u32 op = 0;
        if (!v->alone || view_is_dense(v) || is_reported(l, v)) continue;
        enum use use = use_of(l, v, &op);
        if (use == USED_NOT || (use == USED_FLAT && is_packed(v) && all_alike(all, v))) continue;
        report_view(l, v, op);
    }
}
