/* The answer of an oracle: values, the worst-case bound, the bound above which an output is suspect. */
#include "oracle/oracle_in.h"
#include "oracle/oracle_dd.h"

/* Values in f64 are themselves off by at most the same analysis with u = 2^-53, a 2^-29th of the bound (a kernel of
 * f64 is judged in double-double, where it is less); so are the C libraries' functions. */
static const double own_error = 0x1p-28;

double oracle_stored(const struct oracle_env *env, const struct scalar *type, double z, double e)
{
    const struct oracle_type *t = type ? oracle_type(str_of(type->name)) : env->type;
    double m = (isfinite(z) ? fabs(z) : 0) + e;
    u8 bytes[8];
    if (!(e < env->ill)) return e;
    if (!t) { /* whole numbers: a value between two may go either way */
        scalar_store(type, isfinite(z) && fabs(z) < 0x1p62 ? z : 0, bytes);
        return e == 0 && (!isfinite(z) || scalar_load(type, bytes) == z) ? 0 : e + 1;
    }
    if (t->bits >= env->type->bits && t->most >= env->type->most) return e;
    scalar_store(type, z, bytes);
    if (e == 0 && (scalar_load(type, bytes) == z || isnan(z))) return 0;
    if (m > t->most && isfinite(z)) return INFINITY;
    return e + t->u * m + t->tiny;
}

enum oracle_unknown oracle_unknown_of(const struct oracle_env *env, double bound)
{
    return isinf(bound) ? ORACLE_OVERFLOW : bound > oracle_unsaid(env) ? ORACLE_ILL : ORACLE_KNOWN;
}

struct answer { /* an evaluation on its way */
    const struct oracle *o;
    const struct oracle_options *how;
    struct oracle_run run;
    struct oracle_node **root;
    u32 n;
    struct oracle_result *out;
    struct error *e;
};

static bool array_new(struct answer *a, u32 i)
{
    struct oracle_array *r = &a->out->array[i];
    r->count = oracle_count(&a->root[i]->shape);
    u64 n = r->count ? r->count : 1;
    r->value = base_alloc(n * sizeof(double));
    r->worst = base_alloc(n * sizeof(double));
    r->unknown = base_alloc(n);
    if (a->run.dd) r->low = base_alloc(n * sizeof(double));
    if (!a->how->worst_only) r->suspect = base_alloc(n * sizeof(double));
    if (r->value && r->worst && r->unknown && (!a->run.dd || r->low) && (a->how->worst_only || r->suspect)) return true;
    return error_set(a->e, ERR_MEMORY, "no memory for the bounds of %llu elements", (unsigned long long)r->count);
}

static double looser(const struct answer *a) { return (1 + own_error) * (a->how->looser > 0 ? a->how->looser : 1); }

/* The bound of element k of output i, out of the run's errors. */
static double bound_of(const struct answer *a, u32 i, u64 k)
{
    const struct oracle_slot *s = &a->run.slot[a->root[i]->id];
    double e = s->e && !a->out->array[i].exact ? s->e[k] : 0;
    double z = oracle_run_value(&a->run, a->root[i], k);
    return oracle_stored(&a->run.env, oracle_output(a->o, i).type, z, e) * looser(a);
}

static bool worst_case(struct answer *a)
{
    struct arena mem = { 0 };
    a->run.env.order = ORACLE_WORST;
    bool ok = oracle_run(&a->run, a->root, a->n, a->e);
    for (u32 i = 0; ok && i < a->n; i++) {
        struct oracle_array *r = &a->out->array[i];
        if (!(ok = array_new(a, i))) break;
        r->exact = oracle_exact(&a->run, a->root[i], &mem);
        for (u64 k = 0; k < r->count; k++) {
            r->value[k] = oracle_run_value(&a->run, a->root[i], k);
            if (r->low) r->low[k] = ((const struct dd *)a->run.slot[a->root[i]->id].v)[k].lo;
            double b = bound_of(a, i, k);
            r->unknown[k] = (u8)oracle_unknown_of(&a->run.env, b);
            r->worst[k] = r->unknown[k] ? INFINITY : b;
        }
    }
    arena_free(&mem);
    oracle_run_free(&a->run, 0);
    return ok;
}

static bool likely_case(struct answer *a)
{
    a->run.env.order = ORACLE_LIKELY;
    if (!oracle_run(&a->run, a->root, a->n, a->e)) return false;
    for (u32 i = 0; i < a->n; i++) {
        struct oracle_array *r = &a->out->array[i];
        for (u64 k = 0; k < r->count; k++)
            r->suspect[k] = r->unknown[k] ? INFINITY : fmin(bound_of(a, i, k), r->worst[k]);
    }
    oracle_run_free(&a->run, 0);
    return true;
}

/* A text so deep that the worst case says little of it: half of its elements may be wrong in the third digit. */
static bool is_loose(const struct oracle_array *r)
{
    u64 loose = 0, all = 0;
    for (u64 k = 0; k < r->count; k++) {
        if (r->unknown[k] == ORACLE_OVERFLOW || !isfinite(r->value[k])) continue;
        all++;
        loose += !(r->worst[k] <= 1e-3 * fabs(r->value[k]));
    }
    return all && 2 * loose > all;
}

/* Conditions that rounding may turn over are not seen by small random errors. *corners: nor are derivatives that are
 * any number of a range. */
static bool may_jump(const struct oracle *o, struct oracle_node *root, bool *corners)
{
    struct arena a = { 0 };
    bool jumps = false, *need = oracle_reach(&a, &o->graph, &root, 1, NULL);
    for (u32 i = 0; i < o->graph.nodes.n; i++) {
        const struct oracle_node *n = o->graph.nodes.p[i];
        if (!need[i] || n->index) continue;
        jumps |= n->op == OX_argmax || n->op == OX_argmin || n->op == OX_floor || n->op == OX_ceil ||
                 n->op == OX_round || n->op == OX_trunc || n->op == OX_mod || n->op == OX_fmod || n->op == OX_sign;
        *corners |= n->op == OX_either;
        bool compares = (n->op >= OX_lt && n->op <= OX_ne);
        jumps |= compares && !(n->in[0]->index && n->in[1]->index);
    }
    arena_free(&a);
    return jumps;
}

enum { SAMPLES = 8 };
static const double spread_factor = 40;

/* The spread of evaluations in which every operation adds a random part of its error, 40 times. It takes the place of
 * the likely case where the worst case is a thousand times larger. */
static bool sampled_case(struct answer *a, u32 i)
{
    struct oracle_array *r = &a->out->array[i];
    struct oracle_env env = a->run.env;
    u64 state = a->how->seed ^ 0x6f7261636c65, n = r->count ? r->count : 1;
    double *square = base_alloc(n * sizeof *square);
    bool ok = square || error_set(a->e, ERR_MEMORY, "no memory for the bounds of %llu elements", (unsigned long long)n);
    a->run.env.order = ORACLE_SPREAD;
    a->run.env.noise = true;
    a->run.noise = &state;
    for (u32 s = 0; ok && s < SAMPLES; s++) {
        ok = oracle_run(&a->run, &a->root[i], 1, a->e);
        for (u64 k = 0; ok && k < r->count; k++) {
            double y = oracle_run_value(&a->run, a->root[i], k), d = y - r->value[k];
            if (!(isinf(y) && y == r->value[k])) square[k] += d * d;
        }
        oracle_run_free(&a->run, 0);
    }
    a->run.env = env;
    a->run.noise = NULL;
    bool corners = false, jumps = may_jump(a->o, a->root[i], &corners);
    for (u64 k = 0; ok && k < r->count; k++) {
        double d = spread_factor * sqrt(square[k] / SAMPLES);
        bool unknown = r->unknown[k] == ORACLE_OVERFLOW || (r->unknown[k] && jumps) || corners || isnan(d);
        unknown |= d == 0 && r->worst[k] > 0; /* squares of numbers this small are zero */
        if (unknown) continue;
        d = oracle_stored(&a->run.env, oracle_output(a->o, i).type, r->value[k], d + (d > 0 ? a->run.env.eta : 0));
        if (r->worst[k] > 1000 * d) r->suspect[k] = d * looser(a);
        r->sampled |= r->worst[k] > 1000 * d;
    }
    base_free(square);
    return ok;
}

bool oracle_evaluate(const struct oracle *o, const struct oracle_options *how, const void *const *data,
                     struct oracle_result *out, struct error *e)
{
    struct arena mem = { 0 };
    struct answer a = { .o = o, .how = how, .out = out, .n = o->outs.n, .e = e };
    *out = (struct oracle_result){ .n = o->outs.n };
    if (!o->outs.n) return error_set(e, ERR_INPUT, "this oracle defines no output");
    a.run = (struct oracle_run){ .o = o, .env = oracle_env_of(o, how), .data = data };
    a.run.dd = a.run.env.type->bits == 53;
    a.root = NEW_ARRAY(&mem, struct oracle_node *, a.n);
    for (u32 i = 0; i < a.n; i++) a.root[i] = o->outs.p[i].node;
    out->array = base_alloc(a.n * sizeof *out->array);
    out->accumulate = a.run.env.type->name;
    bool ok = out->array || error_set(e, ERR_MEMORY, "no memory for an oracle's result");
    ok = ok && worst_case(&a) && (how->worst_only || likely_case(&a));
    for (u32 i = 0; ok && !how->worst_only && i < a.n; i++)
        if (!out->array[i].exact && is_loose(&out->array[i])) ok = sampled_case(&a, i);
    oracle_run_free(&a.run, 0);
    arena_free(&mem);
    if (!ok) oracle_result_free(out);
    return ok;
}

void oracle_result_free(struct oracle_result *r)
{
    for (u32 i = 0; r->array && i < r->n; i++) {
        struct oracle_array *a = &r->array[i];
        void *all[] = { a->value, a->low, a->worst, a->suspect, a->unknown };
        for (u32 k = 0; k < COUNT_OF(all); k++) base_free(all[k]);
    }
    base_free(r->array);
    *r = (struct oracle_result){ 0 };
}
