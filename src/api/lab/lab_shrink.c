/* Making a failing case smaller: first what is odd about it goes (order, layouts, contents, choices), then sizes come
 * down, by halves and then by steps. A step is taken when the same finding still comes first. */
#include "lab/lab.h"

enum { TRIES_MOST = 80 };

struct shrinking {
    struct lab_side *s;
    struct contract_case *c; /* the smallest that failed */
    struct lab_outcome last; /* of it */
    const struct lab_how *how;
    const char *first;
    u32 tries;
    struct error *e;
    bool broken; /* e says why */
};

static bool still_fails(struct shrinking *x, const struct contract_case *less)
{
    struct lab_outcome now;
    struct error e = { 0 };
    if (x->broken || x->tries == TRIES_MOST) return false;
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
    for (s64 by = x->c->dim[i].value - 1; by > 0 && x->tries < TRIES_MOST && !x->broken;) {
        struct contract_case less = *x->c;
        less.dim[i].value -= by;
        by = still_fails(x, &less) ? MIN_OF(by, x->c->dim[i].value / 2) : by / 2;
    }
}

bool lab_shrink(struct lab_side *s, const struct contract_kernel *k, struct contract_case *c, const struct lab_how *how,
                const char *first, u32 *tries, struct error *e)
{
    struct shrinking x = { .s = s, .c = c, .how = how, .first = first, .e = e };
    struct contract_case was = *c;
    if (still_fails(&x, &was)) { /* or it fails only now and then */
        drop_parts(&x);
        name_dims(&x, k);
        for (u32 i = 0; i < c->dims; i++) less_of(&x, i);
    }
    *tries = x.tries;
    return !x.broken;
}
