/* Constants of the text that have another value in the kernel: for each, the value that explains the output best, by
 * Gauss and Newton, and whether the output then fits. */
#include "mistake/classify.h"

enum { USES = 24, STEPS = 6, FEW = 4 };
struct use { /* operand `in` of a node is a constant */
    struct oracle_node *n;
    u32 in;
};
struct fit { /* a constant in search of its value */
    struct suspect_text *s;
    struct use use;
    const double *weight; /* of each element of all outputs: 1 / bound; 0: it does not count */
    const double *y;      /* the elements */
    u64 n;
    double *now, *near; /* values at c and beside it */
};

/* The outputs with another number in the place of the constant. */
static struct oracle_node **with_constant(struct fit *f, const double *c)
{
    struct oracle_node *in[ORACLE_OPERANDS];
    memcpy(in, f->use.n->in, f->use.n->ins * sizeof *in);
    in[f->use.in] = oracle_number(&f->s->changed.graph, *c, 0);
    return oracle_replaced(f->s, f->use.n,
                           oracle_node(&f->s->changed.graph, f->use.n->op, in, f->use.n->ins, &f->use.n->attr));
}

static bool values_at(struct fit *f, double c, double *out)
{
    struct error e = { 0 };
    struct oracle_node **root = with_constant(f, &c);
    u64 at = 0;
    f->s->run.env.bounds = false;
    bool ok = root && oracle_run(&f->s->run, root + f->s->from, f->s->to - f->s->from, &e);
    f->s->run.env.bounds = true;
    for (u32 i = f->s->from; ok && i < f->s->to; i++)
        for (u64 k = 0, n = oracle_count(&root[i]->shape); k < n; k++)
            out[at++] = oracle_run_value(&f->s->run, root[i], k);
    oracle_search_cut(f->s);
    return ok;
}

/* One step from c; false: there is no way on. */
static bool step_from(struct fit *f, double *c)
{
    double h = fabs(*c) * 1e-6 + 1e-12, jj = 0, jr = 0;
    if (!values_at(f, *c, f->now) || !values_at(f, *c + h, f->near)) return false;
    for (u64 i = 0; i < f->n; i++) {
        double j = (f->near[i] - f->now[i]) / h * f->weight[i], r = (f->y[i] - f->now[i]) * f->weight[i];
        if (!isfinite(j) || !isfinite(r)) continue;
        jj += j * j;
        jr += j * r;
    }
    double step = jr / jj;
    if (jj == 0 || !isfinite(step) || fabs(step) < 1e-9 * fabs(*c)) return false;
    *c += step;
    return true;
}

/* A power of ten nearby, or four digits. */
static double nice(double c)
{
    if (c == 0 || !isfinite(c)) return c;
    double e = pow(10, nearbyint(log10(fabs(c))));
    if (fabs(fabs(c) / e - 1) < 0.05) return copysign(e, c);
    char text[32];
    snprintf(text, sizeof text, "%.4g", c);
    double r = c;
    sscanf(text, "%lf", &r);
    return r;
}

/* Whether it fits. */
static bool try_value(struct fit *f, double was, double c)
{
    enum oracle_met met = f->s->met;
    f->s->met = ORACLE_NOT_MET;
    char is[64], should[64], why[200] = "";
    int form = -1;
    bool known = oracle_origin(f->s->o, was, &form, should, sizeof should) && form >= 0;
    if (known && oracle_origin(f->s->o, c, &form, is, sizeof is))
        snprintf(why, sizeof why, ", which is %.6g times it: %s for %s", c / was, is, should);
    for (u32 i = 0; i < f->s->o->n && !why[0]; i++) { /* n - 1 for n, and n for n - 1 */
        const struct oracle_name *m = &f->s->o->names[i];
        if (m->type || m->word || fabs(c - was) != 1 || (m->value != was && m->value != c)) continue;
        const char *less = m->value > was || m->value > c ? " - 1" : " + 1";
        snprintf(why, sizeof why, ", which is %s%s for %s%s", m->name, m->value == c ? "" : less, m->name,
                 m->value == was ? "" : less);
    }
    oracle_try(f->s, ORACLE_VARIANT, with_constant(f, &c), "the constant %.7g is %.7g%s", was, c, why);
    bool fits = f->s->met == ORACLE_FITS;
    f->s->met = MAX_OF(met, f->s->met);
    return fits;
}

/* What a mean divides by: where the value of another constant explains the output, it is that one. */
static bool is_count(const struct use *u)
{
    double c = u->n->in[u->in]->attr.value;
    return u->n->op == OX_div && u->in == 1 && c >= 2 && c == floor(c);
}

static void try_start(struct fit *f, double was, double c)
{
    for (u32 i = 0; i < STEPS && step_from(f, &c); i++) {}
    if (fabs(c) < 1e-6 * fabs(was)) c = 0;
    if (!isfinite(c) || fabs(c - was) <= 1e-5 * fabs(was)) return;
    if (is_count(&f->use) && nearbyint(c) != was && try_value(f, was, nearbyint(c))) return;
    if (!try_value(f, was, nice(c))) try_value(f, was, c);
}

static bool is_constant(const struct oracle_node *n, u32 in)
{
    const struct oracle_node *c = n->in[in];
    bool arithmetic = n->op == OX_add || n->op == OX_sub || n->op == OX_mul || n->op == OX_div || n->op == OX_pow ||
                      n->op == OX_maximum || n->op == OX_minimum;
    return arithmetic && !n->index && c->op == OX_const && isfinite(c->attr.value) && c->attr.value != 0;
}

/* A constant that another case has explained: the same change, or the same formula over a size. */
static void try_known(struct fit *f, double was, double known_was, double known_is)
{
    static const char times[] = " times it: ";
    const char *made = strstr(f->s->hints->only, times);
    double c = made ? oracle_made(f->s->o, made + sizeof times - 1) : NAN;
    if (isfinite(c)) {
        try_value(f, was, c);
        return;
    }
    if (was == known_was) {
        try_value(f, was, known_is);
        return;
    }
    if (try_value(f, was, known_is) || try_value(f, was, was + (known_is - known_was))) return;
    try_value(f, was, was * (known_is / known_was));
}

static void try_use(struct fit *f)
{
    static const double usual[] = { 1e-3, 1e-5, 1e-6, 1e-8, 1e-12, 0 }, times[] = { 10, 0.1, 2, 0.5, -1 };
    double was = f->use.n->in[f->use.in]->attr.value, known_was, known_is;
    const char *only = f->s->hints && f->s->hints->only ? strstr(f->s->hints->only, "the constant ") : NULL;
    if (only && sscanf(only, "the constant %lf is %lf", &known_was, &known_is) == 2) {
        try_known(f, was, known_was, known_is);
        return;
    }
    bool fits = false;
    for (u32 i = 0; i < COUNT_OF(times) && !oracle_search_done(f->s); i++) fits |= try_value(f, was, was * times[i]);
    for (int by = -1; by <= 1 && was == floor(was) && !oracle_search_done(f->s); by += 2)
        fits |= try_value(f, was, was + by);
    if (fits || (f->n < FEW && !is_count(&f->use))) return; /* any constant explains one number, with some value */
    try_start(f, was, was);
    for (u32 i = 0; i < COUNT_OF(times) && !oracle_search_done(f->s); i++) try_start(f, was, was * times[i]);
    for (u32 i = 0; i < COUNT_OF(usual) && fabs(was) < 1e-2 && !oracle_search_done(f->s); i++)
        if (usual[i] != was) try_start(f, was, usual[i]);
}

/* Those that are counts, or those that are not. */
static void try_uses(struct fit *f, bool counts)
{
    struct suspect_text *s = f->s;
    u32 uses = 0;
    for (u32 i = 0; i < s->base; i++)
        for (u32 k = 0; s->need[i] && k < s->o->graph.nodes.p[i]->ins && uses < USES && !oracle_search_done(s); k++) {
            f->use = (struct use){ s->o->graph.nodes.p[i], k };
            if (!is_constant(f->use.n, k) || is_count(&f->use) != counts) continue;
            uses++;
            try_use(f);
        }
}

void oracle_try_constants(struct suspect_text *s)
{
    struct fit f = { .s = s };
    u64 at = 0;
    for (u32 i = s->from; i < s->to; i++) f.n += oracle_count(&s->root[i]->shape);
    double *weight = NEW_ARRAY(&s->mem, double, f.n + 1), *y = NEW_ARRAY(&s->mem, double, f.n + 1);
    f.now = NEW_ARRAY(&s->mem, double, f.n + 1);
    f.near = NEW_ARRAY(&s->mem, double, f.n + 1);
    for (u32 i = s->from; i < s->to; i++) {
        const double *e = s->run.slot[s->root[i]->id].e;
        const struct scalar *t = oracle_given_type(s->o, s->run.env.type->name, i);
        for (u64 k = 0, n = oracle_count(&s->root[i]->shape); k < n; k++, at++) {
            double z = oracle_run_value(&s->run, s->root[i], k);
            double b = oracle_stored(&s->run.env, oracle_output(s->o, i).type, z, e ? e[k] : 0);
            y[at] = oracle_given(t, &s->y[i], k);
            weight[at] = isfinite(b) && b > 0 && isfinite(y[at]) ? 1 / b : 0;
        }
    }
    f.weight = weight;
    f.y = y;
    for (u32 counts = 0; counts < 2; counts++) try_uses(&f, counts);
}
