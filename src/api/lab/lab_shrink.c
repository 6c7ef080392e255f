/* Making a failing case smaller: first what is odd about it goes (order, layouts, contents, choices), then sizes come
 * down, by halves and then by steps. Where contents are odd for a reason, the elements of small arrays come last: each
 * becomes 0, 1 or a whole number where that still fails. A step is taken when the same finding still comes first. */
#include "lab/lab.h"
#include <math.h>

enum { TRIES_MOST = 80, TRIES_CONTENTS = 60, ELEMENTS_MOST = 16 };

struct shrinking {
    struct lab_side *s;
    struct contract_case *c; /* the smallest that failed */
    struct lab_outcome last; /* of it */
    const struct lab_how *how;
    const char *first;
    u32 tries;
    u32 most; /* of `tries` */
    struct error *e;
    bool broken; /* e says why */
};

static bool still_fails(struct shrinking *x, const struct contract_case *less)
{
    struct lab_outcome now;
    struct error e = { 0 };
    if (x->broken || x->tries >= x->most) return false;
    if (x->s->most > 0 && x->s->work > x->s->most / 2) { /* the other half is for a name */
        x->s->tired = true;
        return false;
    }
    x->tries++;
    if (!lab_ask(x->s, less, x->how, &now, NULL, &e)) {
        if (e.code != ERR_INPUT) *x->e = e, x->broken = true;
        return false;
    }
    if (now.end != LAB_FAILED || strcmp(now.first, x->first)) return false;
    *x->c = *less;
    x->last = now;
    return true;
}

/* Takes the i-th of n parts out. */
static void without(struct choice_value *list, u32 *n, u32 i)
{
    memmove(list + i, list + i + 1, (*n - i - 1) * sizeof *list);
    --*n;
}

static void drop_parts(struct shrinking *x)
{
    struct contract_case less = *x->c;
    less.order = 0;
    less.layouts = less.contentses = less.choices = 0;
    if (!x->c->order && !x->c->layouts && !x->c->contentses && !x->c->choices) return;
    if (still_fails(x, &less)) return;
    less = *x->c;
    less.order = 0;
    if (x->c->order) still_fails(x, &less);
    for (u32 i = x->c->layouts; i-- > 0;) {
        less = *x->c;
        without(less.layout, &less.layouts, i);
        still_fails(x, &less);
    }
    for (u32 i = x->c->contentses; i-- > 0;) {
        less = *x->c;
        without(less.contents, &less.contentses, i);
        still_fails(x, &less);
    }
    for (u32 i = x->c->choices; i-- > 0;) {
        less = *x->c;
        without(less.choice, &less.choices, i);
        still_fails(x, &less);
    }
}

/* Every dim by its name, with the size that the case came to, so that it can be made smaller. */
static void name_dims(struct shrinking *x, const struct contract_kernel *k)
{
    struct contract_case all = *x->c;
    for (u32 i = 0; i < k->dims.n && i < x->last.dims; i++) {
        bool there = false;
        for (u32 d = 0; d < all.dims; d++) there |= !strcmp(all.dim[d].name, k->dims.p[i].name);
        if (there || (k->dims.p[i].value && k->dims.p[i].value->op != EX_NUMBER) || all.dims == CONTRACT_DIMS) continue;
        all.dim[all.dims++] = (struct dim_value){ k->dims.p[i].name, x->last.dim[i] };
    }
    still_fails(x, &all);
}

/* Halves what is taken away until nothing more can be. */
static void less_of(struct shrinking *x, u32 i)
{
    for (s64 by = x->c->dim[i].value - 1; by > 0 && x->tries < x->most && !x->broken;) {
        struct contract_case less = *x->c;
        less.dim[i].value -= by;
        by = still_fails(x, &less) ? MIN_OF(by, x->c->dim[i].value / 2) : by / 2;
    }
}

/* ---- contents ---- */

struct elements { /* of an array whose contents are odd */
    u32 part;     /* of the case */
    const struct scalar *type;
    double v[ELEMENTS_MOST], low, high; /* what they are; what they may be */
    u32 n;
};

/* Tries the case with these elements. */
static bool try_elements(struct shrinking *x, const struct elements *a)
{
    struct contract_case less = *x->c;
    struct text list = { 0 };
    for (u32 i = 0; i < a->n; i++) text_add(&list, "%s%.*g", i ? "," : "[", a->type->bytes > 4 ? 17 : 9, a->v[i]);
    text_add(&list, "]");
    less.contents[a->part].value = arena_str(&x->s->subject->mem, str_of(list.p));
    text_free(&list);
    return still_fails(x, &less);
}

/* One element in place of another, where that fails, too. */
static bool try_element(struct shrinking *x, struct elements *a, u32 i, double v)
{
    double was = a->v[i];
    if (v < a->low || v > a->high || (v == was && signbit(v) == signbit(was))) return false;
    a->v[i] = v;
    bool fails = try_elements(x, a);
    if (!fails) a->v[i] = was;
    return fails;
}

static bool take_elements(struct shrinking *x, u32 part, const struct lab_kept *kept, struct elements *a)
{
    u32 i = 0;
    while (i < kept->n && (!kept->name[i] || strcmp(kept->name[i], x->c->contents[part].name))) i++;
    if (i == kept->n || !kept->input_type[i] || !kept->data[i].before) return false;
    const struct bound_arg *b = &x->s->subject->contract->bound.arg[i];
    bool any = !b->arg->fill.given || b->arg->fill.kind == FILL_NORMAL;
    bool range = b->arg->fill.kind == FILL_RAND && b->fill.bounded;
    if ((!any && !range) || !b->shape.count || b->shape.count > ELEMENTS_MOST) return false;
    *a = (struct elements){ .part = part, .type = kept->input_type[i], .n = (u32)b->shape.count };
    a->low = range ? b->fill.lo : -INFINITY;
    a->high = range ? b->fill.hi : INFINITY;
    for (u32 k = 0; k < a->n; k++) a->v[k] = scalar_load(a->type, kept->data[i].before + k * a->type->bytes);
    return true;
}

static bool is_plain(const struct elements *a)
{
    bool plain = true;
    for (u32 i = 0; i < a->n; i++) plain &= a->v[i] == trunc(a->v[i]) && fabs(a->v[i]) < 1e6;
    return plain;
}

/* Each element of an array as plain as it can be: the zeros first, all together. Where some stay that are odder than a
 * word for all of them, the word stays. */
static void plainer(struct shrinking *x, struct elements *a)
{
    struct elements zeros = *a;
    struct contract_case was = *x->c;
    const char *word = was.contents[a->part].value;
    for (u32 i = 0; i < a->n; i++) zeros.v[i] = 0;
    if (!try_elements(x, a)) return; /* what the word gives has to be written down first */
    if (zeros.low <= 0 && zeros.high >= 0 && try_elements(x, &zeros)) return;
    for (u32 i = 0; i < a->n; i++)
        if (!try_element(x, a, i, 0) && !try_element(x, a, i, 1)) try_element(x, a, i, trunc(a->v[i]));
    if (word[0] != '[' && !is_plain(a)) *x->c = was;
}

/* The arrays whose contents are still odd: they are the reason. */
static void shrink_contents(struct shrinking *x)
{
    struct lab_kept kept = { 0 };
    struct lab_outcome *o = base_alloc(sizeof *o);
    struct error ignored = { 0 };
    bool here = x->s->to < 0 && !(x->s->limit > 0) && !x->c->layouts && x->c->contentses;
    x->most = x->tries + TRIES_CONTENTS;
    if (o && here && lab_run(x->s->subject, x->c, &(struct lab_how){ .plain = true, .keep = &kept }, o, &ignored))
        for (u32 i = 0; i < x->c->contentses; i++) {
            struct elements a;
            if (take_elements(x, i, &kept, &a)) plainer(x, &a);
        }
    lab_kept_free(&kept);
    base_free(o);
}

bool lab_shrink(struct lab_side *s, const struct contract_kernel *k, struct contract_case *c, const struct lab_how *how,
                const char *first, u32 *tries, struct error *e)
{
    struct shrinking x = { .s = s, .c = c, .how = how, .first = first, .e = e };
    x.most = TRIES_MOST;
    struct contract_case was = *c;
    if (still_fails(&x, &was)) { /* or it fails only now and then */
        drop_parts(&x);
        name_dims(&x, k);
        for (u32 i = 0; i < c->dims; i++) less_of(&x, i);
        shrink_contents(&x);
    }
    *tries = x.tries;
    return !x.broken;
}
