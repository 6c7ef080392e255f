/* Outputs whose values come from functions outside of Lockstep: which these are, what is asked for them, and the bounds
 * that go with the answers. A function knows nothing of how a kernel rounds, so that the bound is said by the function
 * itself, or by the contract (`within`); without either nothing of floats is judged. */
#include "lab/lab_outside.h"
#include <inttypes.h>
#include <math.h>

const struct lab_function *function_of(const struct lab_functions *f, const char *output)
{
    for (u32 i = 0; i < f->n; i++)
        if (!strcmp(f->p[i].name, output)) return &f->p[i];
    return NULL;
}

static bool is_output(const struct contract_arg *g) { return g->kind == CONTRACT_BUFFER && g->flow != FLOW_IN; }

static bool is_named(const struct contract_text *line, const char *name)
{
    for (u32 i = 0; i < line->out.n; i++)
        if (!strcmp(line->out.p[i], name)) return true;
    return !line->out.n;
}

static void add_output(struct arena *mem, const struct bound *b, const struct contract_text *line, u32 i,
                       struct lab_functions *out)
{
    const struct contract_arg *g = b->arg[i].arg;
    struct lab_function *f = &out->p[out->n++];
    *f = (struct lab_function){ .line = line, .argument = i, .name = g->name, .count = b->arg[i].shape.count };
    f->hidden = arena_printf(mem, "expected_%s", g->name);
    for (u32 k = 0; k < b->kernel->args.n; k++)
        if (!strcmp(b->kernel->args.p[k].name, f->hidden))
            f->hidden = arena_printf(mem, "%s_", f->hidden), k = UINT32_MAX;
    f->shape.rank = g->shape.rank;
    memcpy(f->shape.dim, b->arg[i].shape.dim, sizeof f->shape.dim);
    f->value = NEW_ARRAY(mem, double, f->count + 1);
    f->bound = NEW_ARRAY(mem, double, f->count + 1);
}

bool functions_of(struct arena *mem, const struct contract *all, const struct bound *b,
                  const struct contract_texts *oracles, struct lab_functions *out, struct error *e)
{
    const struct contract_kernel *k = b->kernel;
    *out = (struct lab_functions){ .p = NEW_ARRAY(mem, struct lab_function, k->args.n * oracles->list.n + 1) };
    for (u32 l = 0; l < oracles->list.n; l++) {
        const struct contract_text *line = &oracles->list.p[l];
        u32 before = out->n;
        for (u32 i = 0; line->source && i < k->args.n; i++) {
            const struct contract_arg *g = &k->args.p[i];
            if (!is_output(g) || !is_named(line, g->name)) continue;
            if (function_of(out, g->name))
                return error_at(e, ERR_INPUT, all->file, all->text, line->at, "%.60s is said by two functions",
                                g->name);
            add_output(mem, b, line, i, out);
        }
        for (u32 i = 0; i < line->out.n; i++)
            if (!function_of(out, line->out.p[i]))
                return error_at(e, ERR_INPUT, all->file, all->text, line->at,
                                "the oracle defines %.60s, which is not an output of %.60s", line->out.p[i], k->name);
        if (line->source && out->n == before)
            return error_at(e, ERR_INPUT, all->file, all->text, line->at, "%.60s has no output", k->name);
    }
    return true;
}

/* ---- asking ---- */

static double *as_doubles(struct arena *mem, const struct oracle_name *name, const void *data, u64 count)
{
    double *to = NEW_ARRAY(mem, double, count + 1);
    for (u64 i = 0; i < count; i++) to[i] = scalar_load(name->type, (const u8 *)data + i * name->type->bytes);
    return to;
}

/* A name of the contract as a function gets it; one that the function computes gives its place for the answer. */
static void value_of(struct arena *mem, const struct oracle_name *name, const void *data,
                     const struct contract_text *line, const struct lab_functions *all, struct outside_value *to)
{
    const struct lab_function *f = function_of(all, name->name);
    *to = (struct outside_value){ .name = name->name, .shape = name->shape, .count = 1 };
    if (!name->type) {
        to->value = NEW(mem, double);
        *to->value = name->value;
        to->flags = OUTSIDE_IN | (name->value == floor(name->value) ? OUTSIDE_WHOLE : 0u);
        return;
    }
    for (u32 d = 0; d < name->shape.rank; d++) to->count *= name->shape.dim[d];
    if (name->type->class != SCALAR_FLOAT) to->flags |= OUTSIDE_WHOLE;
    if (name->in) {
        to->flags |= OUTSIDE_IN;
        to->value = as_doubles(mem, name, data, to->count);
    }
    if (!f || f->line != line) return;
    to->flags |= OUTSIDE_OUT;
    if (!to->value) to->value = NEW_ARRAY(mem, double, to->count + 1);
    to->bound = f->bound;
}

static bool ask_line(struct lab_subject *s, const struct contract_text *line, const struct oracle_name *names,
                     const void *const *data, u32 n, struct lab_functions *f, bool *failed, struct error *e)
{
    struct arena mem = { 0 };
    struct outside_value *list = NEW_ARRAY(&mem, struct outside_value, n + 1);
    char why[600];
    u32 count = 0;
    for (u32 i = 0; i < n; i++) {
        value_of(&mem, &names[i], data[i], line, f, &list[count]);
        count += list[count].flags & (OUTSIDE_IN | OUTSIDE_OUT) ? 1 : 0;
    }
    bool ok = outside_ask(s, line, list, count, why, sizeof why, e);
    for (u32 i = 0; ok && !why[0] && i < count; i++) {
        if (!(list[i].flags & OUTSIDE_OUT)) continue;
        struct lab_function *to = &f->p[function_of(f, list[i].name) - f->p];
        memcpy(to->value, list[i].value, to->count * sizeof(double));
        to->bounded = list[i].bounded;
    }
    if (ok && why[0]) {
        struct text cause = { 0 };
        text_add(&cause, "%s:%s %s", line->from, line->function, why);
        lab_found(s, F_oracle_failed, line->at, 0, cause.p, NULL);
        text_free(&cause);
        *failed = true;
    }
    arena_free(&mem);
    return ok;
}

bool functions_ask(struct lab_subject *s, const struct contract_texts *oracles, const struct oracle_name *names,
                   const void *const *data, u32 n, struct lab_functions *f, bool *failed, struct error *e)
{
    for (u32 l = 0; l < oracles->list.n && !*failed; l++)
        if (oracles->list.p[l].source && !ask_line(s, &oracles->list.p[l], names, data, n, f, failed, e)) return false;
    return true;
}

/* ---- bounds ---- */

/* A smaller array over a larger one, as NumPy does it: the last dimensions are the same, or 1. p is NULL: whether it
 * can be done. */
static bool spread(const struct oracle_shape *from, const double *p, const struct lab_function *f)
{
    const struct oracle_shape *to = &f->shape;
    if (from->rank > to->rank) return false;
    u32 off = to->rank - from->rank;
    for (u32 d = 0; d < from->rank; d++)
        if (from->dim[d] != 1 && from->dim[d] != to->dim[d + off]) return false;
    for (u64 i = 0; p && i < f->count; i++) {
        u64 at = 0, step = 1, rest = i;
        for (u32 d = to->rank; d-- > 0; rest /= to->dim[d]) {
            if (d < off) continue;
            u64 size = from->dim[d - off];
            at += size == 1 ? 0 : rest % to->dim[d] * step;
            step *= size;
        }
        f->bound[i] = fabs(p[at]);
    }
    return true;
}

bool functions_within(struct arena *mem, const struct contract *all, const struct oracle_name *names,
                      const void *const *data, u32 n, struct lab_function *f, bool evaluate, struct error *e)
{
    const struct contract_text *line = f->line;
    bool whole = false;
    for (u32 i = 0; i < n; i++)
        whole |= !strcmp(names[i].name, f->name) && names[i].type && names[i].type->class != SCALAR_FLOAT;
    if (!line->within.n)
        return !evaluate || f->bounded || whole ||
               error_at(e, ERR_INPUT, all->file, all->text, line->at,
                        "%.100s gives the values of %.60s and no bound: it can return one, or the contract can say "
                        "it, as in within 1e-6 * abs(value)",
                        line->function, f->name);
    struct oracle_name *with = NEW_ARRAY(mem, struct oracle_name, n + 2);
    const void **contents = NEW_ARRAY(mem, const void *, n + 2);
    u32 count = 0;
    for (u32 i = 0; i < n; i++) {
        if (!names[i].in) continue;
        with[count] = names[i];
        with[count].out = false;
        contents[count++] = data[i];
    }
    with[count] =
        (struct oracle_name){ .name = "value", .type = scalar_find(STR("f64")), .shape = f->shape, .in = true };
    contents[count++] = f->value;
    struct oracle *o = oracle_new(mem, with, count);
    struct oracle_result r = { 0 };
    if (!oracle_read(o, all->file, all->text, line->within, e)) return false;
    bool ok = true;
    if (evaluate)
        ok = oracle_evaluate(o, &(struct oracle_options){ .accumulate = "f64", .worst_only = true }, contents, &r, e);
    struct oracle_shape shape = oracle_outputs(o) ? oracle_output(o, 0).shape : (struct oracle_shape){ 0 };
    bool fits = ok && spread(&shape, evaluate ? r.array[0].value : NULL, f);
    oracle_result_free(&r);
    f->bounded = true;
    return ok && (fits || error_at(e, ERR_INPUT, all->file, all->text, line->within.p,
                                   "this bound does not have the shape of %.60s", f->name));
}

void functions_widen(const struct lab_functions *f, double looser, const struct oracle *o, struct oracle_result *r)
{
    for (u32 i = 0; i < r->n; i++) {
        const struct lab_function *of = function_of(f, oracle_output(o, i).name);
        struct oracle_array *a = &r->array[i];
        for (u64 k = 0; of && k < a->count; k++) {
            double bound = of->bounded ? of->bound[k] * (looser > 1 ? looser : 1) : 0;
            if (!isfinite(bound) && !a->unknown[k]) a->unknown[k] = ORACLE_ILL;
            a->worst[k] += bound;
            if (a->suspect) a->suspect[k] = a->worst[k];
        }
    }
}
