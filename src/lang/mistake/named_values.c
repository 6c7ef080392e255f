/* Texts with another value of a number or an array that has a name: two numbers exchanged, one left out, an array taken
 * for 1 or 0, the new contents of an array for the old ones; and intermediates that are rounded, or wrap. */
#include "mistake/classify.h"

static struct oracle_graph *graph(struct suspect_text *s) { return &s->changed.graph; }

/* ---- numbers ---- */

/* Whether a word stands in the texts. */
static bool is_said(const struct suspect_text *s, const char *name)
{
    for (u32 i = 0; i < s->o->texts.n; i++)
        if (memmem(s->o->texts.p[i].p, s->o->texts.p[i].n, name, strlen(name))) return true;
    return false;
}

/* The texts again, with these values of names. */
static void try_names(struct suspect_text *s, const struct oracle_name *names, const char *what)
{
    struct arena mem = { 0 };
    struct error e = { 0 };
    struct oracle *o = oracle_new(&mem, names, s->o->n);
    bool ok = true;
    for (u32 i = 0; ok && i < s->o->texts.n; i++) ok = oracle_read(o, "", s->o->texts.p[i], s->o->texts.p[i], &e);
    if (ok) oracle_try_other(s, o, what);
    arena_free(&mem);
}

static void try_numbers(struct suspect_text *s)
{
    static const char *const how[] = { "%s is taken as 1: it is not used",
                                       "%s is taken as 0: it is not used",
                                       "1 - %s for %s",
                                       "1/%s for %s",
                                       "-%s for %s",
                                       "%s squared for %s",
                                       "the root of %s for %s",
                                       "%s - 1 for %s",
                                       "%s + 1 for %s" };
    struct oracle_name *names = NEW_ARRAY(&s->mem, struct oracle_name, s->o->n + 1);
    char what[160];
    for (u32 i = 0; i < s->o->n; i++) {
        const struct oracle_name *a = &s->o->names[i];
        if (a->type || a->word || !is_said(s, a->name)) continue;
        double v = a->value, to[] = { 1, 0, 1 - v, 1 / v, -v, v * v, sqrt(fabs(v)), v - 1, v + 1 };
        for (u32 k = 0; k < COUNT_OF(to) && !oracle_search_done(s); k++) {
            if (to[k] == v || !isfinite(to[k])) continue;
            memcpy(names, s->o->names, s->o->n * sizeof *names);
            names[i].value = to[k];
            char root[80];
            snprintf(root, sizeof root, "sqrt(%.60s)", a->name);
            if (k == 5 && is_said(s, root)) /* a text that has the number under a root alone */
                snprintf(what, sizeof what, "a root is missing: %s for sqrt(%s)", a->name, a->name);
            else
                snprintf(what, sizeof what, how[k], a->name, a->name);
            try_names(s, names, what);
        }
        for (u32 k = i + 1; k < s->o->n && !oracle_search_done(s); k++) {
            const struct oracle_name *b = &s->o->names[k];
            if (b->type || b->word || b->value == v || !is_said(s, b->name)) continue;
            memcpy(names, s->o->names, s->o->n * sizeof *names);
            names[i].value = b->value;
            names[k].value = v;
            snprintf(what, sizeof what, "%s and %s are exchanged", a->name, b->name);
            try_names(s, names, what);
            memcpy(names, s->o->names, s->o->n * sizeof *names);
            for (u32 t = 0; t < 2; t++) {
                names[i].value = t ? v : b->value;
                names[k].value = t ? v : b->value;
                snprintf(what, sizeof what, "%s is used for %s", t ? a->name : b->name, t ? b->name : a->name);
                try_names(s, names, what);
            }
        }
    }
}

/* ---- arrays ---- */

static void try_array(struct suspect_text *s, struct oracle_node *n)
{
    char what[160];
    for (u32 k = 0; k < 2; k++) {
        snprintf(what, sizeof what, "%.60s is taken as %u: it is not used", n->attr.text, 1 - k);
        oracle_try_node(s, ORACLE_VARIANT, n, oracle_spread(graph(s), oracle_number(graph(s), 1 - k, 0), &n->shape),
                        what);
    }
}

/* Arrays that are updated: what other outputs take from them. */
struct update {
    const struct oracle_node *now, *was; /* of one array */
    bool old;                            /* its old contents for the new ones; or the new ones for the old */
    const bool *below;                   /* by id: what the new contents are made of */
    u32 done;
};
static struct oracle_node *change_update(struct suspect_text *s, const struct oracle_node *n,
                                         struct oracle_node *const *in, void *self)
{
    struct update *u = self;
    struct oracle_node *now[ORACLE_OPERANDS];
    bool any = false;
    if (u->old ? n->id <= u->now->id : u->below[n->id] || n->id <= u->now->id) return NULL;
    for (u32 k = 0; k < n->ins; k++) {
        bool is = n->in[k] == (u->old ? u->now : u->was);
        now[k] = is ? s->o->graph.nodes.p[u->old ? u->was->id : u->now->id] : in[k];
        any |= is;
    }
    u->done += any;
    return any ? oracle_node(graph(s), n->op, now, n->ins, &n->attr) : NULL;
}

static void try_updates(struct suspect_text *s)
{
    for (u32 i = 0; i < s->o->outs.n && !oracle_search_done(s); i++) {
        struct oracle_node *now = s->root[i];
        const struct oracle_node *was = NULL;
        for (u32 k = 0; k < s->base; k++) {
            const struct oracle_node *n = s->o->graph.nodes.p[k];
            if (s->need[k] && n->op == OX_input && !strcmp(n->attr.text, s->o->outs.p[i].name)) was = n;
        }
        if (!was || !s->need[now->id] || was == now || !oracle_shape_equal(&was->shape, &now->shape)) continue;
        struct update u = { now, was, true, oracle_reach(&s->mem, &s->o->graph, &now, 1, NULL), 0 };
        for (u32 k = 0; k < 2; k++) {
            u.old = !k;
            u.done = 0;
            struct oracle_node **out = oracle_rebuilt(s, change_update, &u);
            if (u.done)
                oracle_try(s, ORACLE_VARIANT, out,
                           u.old ? "%s as it was before is used where its new contents should be"
                                 : "the new contents of %s are used where those before should be",
                           s->o->outs.p[i].name);
            else
                oracle_search_cut(s);
        }
    }
}

/* Every input of one shape read one off along an axis, as a position is. */
struct rolling {
    const struct oracle_shape *shape;
    u32 axis, done;
    s64 by;
};
static struct oracle_node *change_rolling(struct suspect_text *s, const struct oracle_node *n,
                                          struct oracle_node *const *in, void *self)
{
    struct rolling *r = self;
    (void)in;
    if (n->op != OX_input || n->index || !oracle_shape_equal(&n->shape, r->shape)) return NULL;
    r->done++;
    return oracle_rolled(graph(s), s->o->graph.nodes.p[n->id], r->axis, r->by);
}

static void try_positions(struct suspect_text *s, const struct oracle_node *n)
{
    for (u32 axis = 0; axis < n->shape.rank; axis++)
        for (s64 by = -1; by <= 1 && n->shape.dim[axis] > 1 && !oracle_search_done(s); by += 2) {
            struct rolling r = { &n->shape, axis, 0, by };
            struct oracle_node **out = oracle_rebuilt(s, change_rolling, &r);
            if (r.done > 1)
                oracle_try(s, ORACLE_SHIFT, out, "%.60s and what has its shape are read one off along axis %u",
                           n->attr.text, axis);
            else
                oracle_search_cut(s);
        }
}

void oracle_try_values(struct suspect_text *s)
{
    for (u32 i = 0; i < s->base && !oracle_search_done(s); i++) {
        struct oracle_node *n = s->o->graph.nodes.p[i];
        if (!s->need[i] || n->op != OX_input) continue;
        try_array(s, n);
        try_positions(s, n);
    }
    if (!oracle_search_done(s)) try_updates(s);
    if (!oracle_search_done(s)) try_numbers(s);
}

/* ---- intermediates ---- */

/* x as a whole number of so many bits, which wraps. */
static struct oracle_node *wrapped(struct suspect_text *s, struct oracle_node *n, u32 bits)
{
    struct oracle_graph *g = graph(s);
    struct oracle_node *half = oracle_number(g, ldexp(1, (int)bits - 1), 0);
    struct oracle_node *x = oracle_node2(g, OX_mod, oracle_node2(g, OX_add, n, half),
                                         oracle_number(g, ldexp(1, (int)bits), 0));
    return oracle_node2(g, OX_sub, x, half);
}

/* Whether the text has arrays of whole numbers. */
static bool has_integers(const struct suspect_text *s)
{
    for (u32 i = 0; i < s->o->n; i++)
        if (s->o->names[i].type && s->o->names[i].type->class != SCALAR_FLOAT) return true;
    return false;
}

static void try_wrap(struct suspect_text *s, struct oracle_node *n)
{
    bool whole = has_integers(s);
    double most = 0;
    for (u64 i = 0, count = oracle_count(&n->shape); i < count && whole; i++) {
        double v = oracle_run_value(&s->run, n, i);
        whole = v == nearbyint(v);
        most = fmax(most, fabs(v));
    }
    for (u32 bits = 8; whole && bits <= 16; bits += 8)
        if (most >= ldexp(1, (int)bits - 1))
            oracle_try_node(s, ORACLE_PRECISION, n, wrapped(s, n, bits),
                            bits == 8 ? "whole numbers wrap at 8 bits" : "whole numbers wrap at 16 bits");
}

void oracle_try_rounded(struct suspect_text *s)
{
    static const char *const types[] = { "bf16", "f16" };
    char text[90], what[200];
    for (u32 i = 0; i < s->base && !oracle_search_done(s); i++) {
        struct oracle_node *n = s->o->graph.nodes.p[i];
        if (!s->need[i] || n->op == OX_const || n->op == OX_iota) continue;
        if (n->ins && oracle_rows[n->op].family != ORACLE_MOVE) try_wrap(s, n);
        if (n->index || oracle_rows[n->op].family == ORACLE_MOVE) continue;
        oracle_print(s, n, text, sizeof text);
        for (u32 t = 0; t < COUNT_OF(types); t++) {
            struct oracle_attr a = { .text = oracle_type(str_of(types[t]))->name };
            snprintf(what, sizeof what, "%s is rounded to %s", text, types[t]);
            oracle_try_node(s, ORACLE_PRECISION, n, oracle_node(graph(s), OX_cast, &n, 1, &a), what);
        }
    }
}
