/* One run over a graph: the nodes in their order, each a job of its row; arrays go when their last user has run. */
#include "oracle/oracle_in.h"
#include "oracle/oracle_dd.h"

const struct oracle_type *oracle_type(struct str name)
{
    static const struct oracle_type types[] = {
        { "f64", 0x1p-53, 0x0p0, 0x1p-1022, 0x1.fffffffffffffp1023, 53 },
        { "f32", 0x1p-24, 0x1p-150, 0x1p-126, 0x1.fffffep127, 24 },
        { "tf32", 0x1p-11, 0x1p-137, 0x1p-126, 0x1.ffcp127, 11 },
        { "f16", 0x1p-11, 0x1p-25, 0x1p-14, 65504, 11 },
        { "bf16", 0x1p-8, 0x1p-134, 0x1p-126, 0x1.fep127, 8 },
        { "e4m3", 0x1p-4, 0x1p-10, 0x1p-6, 448, 4 },
        { "e5m2", 0x1p-3, 0x1p-17, 0x1p-14, 57344, 3 },
    };
    for (u32 i = 0; i < COUNT_OF(types); i++)
        if (str_is(name, types[i].name)) return &types[i];
    return NULL;
}

double oracle_nearest(const struct oracle_type *t, double x)
{
    int e;
    if (!isfinite(x) || x == 0) return x;
    frexp(x, &e);
    double quantum = fmax(ldexp(1, e - (int)t->bits), 2 * t->tiny),
           y = quantum > 0 ? nearbyint(x / quantum) * quantum : x;
    return fabs(y) > t->most ? copysign(t->bits == 4 ? t->most : INFINITY, x) : y;
}

/* With one rounded operation there is nothing that a kernel could group in another way. */
static double regroup_of(const struct oracle *o)
{
    struct arena a = { 0 };
    struct oracle_node **roots = NEW_ARRAY(&a, struct oracle_node *, o->outs.n + 1);
    u32 rounded = 0;
    for (u32 i = 0; i < o->outs.n; i++) roots[i] = o->outs.p[i].node;
    bool *need = oracle_reach(&a, &o->graph, roots, o->outs.n, NULL);
    for (u32 i = 0; i < o->graph.nodes.n; i++) {
        const struct oracle_node *n = o->graph.nodes.p[i];
        rounded += need[i] && n->ins && !n->index && oracle_rows[n->op].rounds;
    }
    arena_free(&a);
    return rounded > 1 ? 2 : 1;
}

static const char *usual_type(const struct oracle *o)
{
    for (u32 i = 0; i < o->n; i++)
        if (o->names[i].out && o->names[i].type && !strcmp(o->names[i].type->name, "f64")) return "f64";
    for (u32 i = 0; i < o->n; i++) /* without an output: what the inputs are */
        if (o->names[i].out) return "f32";
    for (u32 i = 0; i < o->n; i++)
        if (o->names[i].type && !strcmp(o->names[i].type->name, "f64")) return "f64";
    return "f32";
}

struct oracle_env oracle_env_of(const struct oracle *o, const struct oracle_options *how)
{
    const struct oracle_type *t = oracle_type(str_of(how->accumulate ? how->accumulate : usual_type(o)));
    CHECK(t);
    bool wide = t->bits == 53, flush = !how->no_flush && !wide;
    /* tensor cores drop the last 13 bits of operands, or kernels round them away before; sums are of f32 */
    bool tf32 = !strcmp(t->name, "tf32");
    return (struct oracle_env){ .type = t,
                                .u = tf32 ? 0x1p-24 : t->u,
                                .operands = tf32 ? 4 * t->u + 4 * t->u * t->u : 0,
                                .eta = flush || wide ? t->normal
                                                     : t->tiny, /* double-doubles lose their low parts there */
                                .subnormal = flush ? t->normal : 0,
                                .most = t->most / 16,
                                .ill = wide ? 0x1p1000 : 1e100,
                                .regroup = regroup_of(o),
                                .tree = how->tree,
                                .depth = how->depth,
                                .compensated = how->compensated,
                                .fast = how->fast,
                                .bounds = true };
}

/* Terms that differ by less than the quantum of their sum: their roundings all go one way. */
static bool is_even(double u, double n, double z, double q)
{
    double mean = z / n, quantum = 2 * u * fabs(z);
    return q / n - mean * mean <= quantum * quantum;
}

double oracle_additions(const struct oracle_env *env, double n)
{
    double h = fmax(n - 1, 0), lanes = env->tree ? ceil(log2(env->tree)) : 0;
    if (env->compensated) /* n^2 u more, which Kahan's sum loses in theory */
        return fmin(h, 2 + lanes + n * n * env->u);
    if (env->tree) h = fmin(h, ceil(n / env->tree) + lanes);
    return env->depth ? fmin(h, env->depth) : h;
}

double oracle_sum_error(const struct oracle_env *env, double n, double z, double p, double a, double q, double extra)
{
    double h = oracle_additions(env, n), all = a + p, u = env->u, e;
    double deep = h + extra;
    if (a > env->most) return INFINITY; /* a partial sum may overflow where the sum does not */
    if (env->order == ORACLE_WORST || is_even(u, fmax(n, 1), z, q)) {
        double k = deep * u;
        e = k < 1 ? k / (1 - k) * all : k > 0 ? env->ill : 0;
        if (env->order != ORACLE_WORST) e = deep * u * all;
    } else if (env->order == ORACLE_LIKELY) {
        e = fmin(6 * sqrt(deep), deep) * u * all;
    } else {
        double v = n > 1 ? (n + 1) / 3 * z * z + q * ((n + 1) / 6 - 1 / n) : 0;
        if (h < n - 1) v *= h / (n - 1);
        e = fmin(sqrt(fmax(v + extra * q, 0)), deep * all) * u;
    }
    return e + deep * env->eta;
}

void *oracle_scratch(struct oracle_job *j, u64 elements, size_t size)
{
    CHECK(j->scratches < ORACLE_SCRATCH);
    void *p = base_alloc((elements ? elements : 1) * size);
    if (!p) error_set(j->err, ERR_MEMORY, "no memory for an array of %llu elements", (unsigned long long)elements);
    return j->scratch[j->scratches++] = p;
}

void oracle_index_refuse(struct oracle_job *j, u64 i, double x, u64 limit)
{
    const struct oracle_node *n = j->node, *index = n->in[n->ins - 1];
    const struct oracle_graph *g = j->graph;
    while (index->ins == 1 && oracle_rows[index->op].family == ORACLE_MOVE) index = index->in[0];
    bool given = index->op == OX_input, here = n->at >= g->all.p && n->at < g->all.p + g->all.n;
    char text[300];
    snprintf(text, sizeof text, "`%s` is given the index %.17g, element %llu of %s, and may be given 0 to %llu%s",
             oracle_rows[n->op].name, x, (unsigned long long)i, given ? index->attr.text : "what it is computed from",
             (unsigned long long)(limit ? limit - 1 : 0),
             given ? ": `in index(N)` in the contract fills an argument with what points into N elements" : "");
    if (here)
        error_at(j->err, ERR_INPUT, g->file, g->all, n->at, "%s", text);
    else
        error_set(j->err, ERR_INPUT, "%s", text);
}

bool *oracle_reach(struct arena *mem, const struct oracle_graph *g, struct oracle_node *const *roots, u32 n,
                   const struct oracle_slot *slot)
{
    bool *need = NEW_ARRAY(mem, bool, g->nodes.n + 1);
    for (u32 i = 0; i < n; i++) need[roots[i]->id] = true;
    for (u32 i = g->nodes.n; i-- > 0;) {
        if (!need[i] || (slot && slot[i].done)) continue;
        for (u32 k = 0; k < g->nodes.p[i]->ins; k++) need[g->nodes.p[i]->in[k]->id] = true;
    }
    return need;
}

static void slot_free(struct oracle_slot *s)
{
    base_free(s->v);
    base_free(s->e);
    base_free(s->terms);
    *s = (struct oracle_slot){ 0 };
}

void oracle_run_free(struct oracle_run *r, u32 from)
{
    for (u32 i = from; i < r->slots; i++) slot_free(&r->slot[i]);
    if (from) return;
    base_free(r->slot);
    r->slot = NULL;
    r->slots = 0;
}

double oracle_bits(char op, double x, double y)
{
    const double most = 0x1p62;
    if (x != floor(x) || y != floor(y) || fabs(x) > most || fabs(y) > most) return NAN;
    if ((op == '<' || op == '>') && (y < 0 || y > 62)) return NAN;
    switch (op) {
    case '&': return (double)((s64)x & (s64)y);
    case '|': return (double)((s64)x | (s64)y);
    case '^': return (double)((s64)x ^ (s64)y);
    case '<': return ldexp(x, (int)y);
    default: return floor(ldexp(x, -(int)y));
    }
}

static bool slots_grow(struct oracle_run *r, struct error *e)
{
    u32 n = r->o->graph.nodes.n;
    if (r->slots >= n) return true;
    struct oracle_slot *more = base_realloc(r->slot, n * sizeof *more);
    if (!more) return error_set(e, ERR_MEMORY, "no memory for an oracle of %u operations", n);
    memset(more + r->slots, 0, (n - r->slots) * sizeof *more);
    r->slot = more;
    r->slots = n;
    return true;
}

/* An input's elements. */
static void job_data(const struct oracle_run *r, struct oracle_job *j)
{
    for (u32 i = 0; i < r->extras; i++)
        if (r->extra[i].text == j->node->attr.text) {
            j->data = r->extra[i].data;
            j->type = scalar_find(STR("f64"));
        }
    for (u32 i = 0; i < r->o->n && !j->data; i++)
        if (!strcmp(r->o->names[i].name, j->node->attr.text) && r->o->names[i].type) {
            j->data = r->data[i];
            j->type = r->o->names[i].type;
        }
    CHECK(j->data);
}

/* Monte Carlo arithmetic: each element moves by a random part of what its operation may add. */
static void add_noise(const struct oracle_run *r, struct oracle_slot *s, u64 count)
{
    for (u64 i = 0; i < count; i++) {
        double draw = ((double)(rand_next(r->noise) >> 11) * 0x1p-53 - 0.5) * 3.4641016151377544, by = s->e[i] * draw;
        if (by == 0) continue;
        double *f = (double *)s->v + i;
        struct dd *d = (struct dd *)s->v + i;
        if (r->dd)
            *d = dd_add(*d, dd_of(by));
        else
            *f += by;
        double now = r->dd ? d->hi : *f;
        if (!(fabs(now) <= r->env.most)) {
            if (r->dd)
                *d = dd_of(NAN);
            else
                *f = NAN;
        }
    }
}

/* An array of errors that are all zero is no array: most of what moves inputs about has none. */
static void drop_zeros(struct oracle_slot *s, u64 count)
{
    for (u64 i = 0; i < count; i++)
        if (s->e[i] != 0) return;
    base_free(s->e);
    s->e = NULL;
}

static bool node_run(struct oracle_run *r, struct oracle_node *n, struct error *e)
{
    struct oracle_slot *s = &r->slot[n->id];
    u64 count = oracle_count(&n->shape);
    struct oracle_job j = { .env = &r->env, .node = n, .graph = &r->o->graph, .err = e, .firm = r->firm[n->id] };
    bool errors = r->env.bounds && !n->index;
    s->v = base_alloc((count ? count : 1) * (r->dd ? sizeof(struct dd) : sizeof(double)));
    if (errors) s->e = base_alloc((count ? count : 1) * sizeof(double));
    bool joins = errors && n->joins && s->wanted;
    if (joins) s->terms = base_alloc((count ? count : 1) * sizeof(double));
    if (!s->v || (errors && !s->e) || (joins && !s->terms))
        return error_set(e, ERR_MEMORY, "no memory for an array of %llu elements", (unsigned long long)count);
    for (u32 k = 0; k < n->ins; k++) {
        const struct oracle_slot *in = &r->slot[n->in[k]->id];
        j.v[k] = in->v;
        j.e[k] = r->noise ? NULL : in->e;
        j.join[k] = (struct oracle_join){ in->terms, in->adds, in->plain };
    }
    j.z = s->v;
    j.terms = s->terms;
    j.ez = s->e;
    if (n->op == OX_input) job_data(r, &j);
    bool ok = r->dd ? oracle_row_dd(&j) : oracle_row_f64(&j);
    for (u32 k = 0; k < j.scratches; k++) base_free(j.scratch[k]);
    if (!ok) return false;
    s->adds = j.adds;
    s->plain = j.plain;
    if (r->noise && s->e) {
        add_noise(r, s, count);
        base_free(s->e);
        s->e = NULL;
    }
    if (s->e) drop_zeros(s, count);
    return s->done = true;
}

static double cost_of(const struct oracle_graph *g, const bool *need, const struct oracle_slot *slot)
{
    double work = 0;
    for (u32 i = 0; i < g->nodes.n; i++) {
        const struct oracle_node *n = g->nodes.p[i];
        if (!need[i] || (slot && slot[i].done)) continue;
        work += (double)oracle_count(&n->shape) * (n->op == OX_einsum ? (double)oracle_einsum_terms(n) : 1);
    }
    return work;
}

double oracle_cost(const struct oracle *o)
{
    struct arena a = { 0 };
    struct oracle_node **roots = NEW_ARRAY(&a, struct oracle_node *, o->outs.n + 1);
    for (u32 i = 0; i < o->outs.n; i++) roots[i] = o->outs.p[i].node;
    double cost = cost_of(&o->graph, oracle_reach(&a, &o->graph, roots, o->outs.n, NULL), NULL);
    arena_free(&a);
    return cost;
}

/* Beyond this an answer would take too long to be waited for. */
static bool affordable(struct oracle_run *r, const bool *need, struct error *e)
{
    const double most = 0x1p37, work = cost_of(&r->o->graph, need, r->slot);
    r->spent += work;
    if (work <= most) return true;
    return error_set(e, ERR_UNSUPPORTED, "this oracle needs %.2g operations; %.2g are the most: use smaller sizes",
                     work, most);
}

bool oracle_run(struct oracle_run *r, struct oracle_node *const *roots, u32 n, struct error *e)
{
    struct arena a = { 0 };
    const struct oracle_graph *g = &r->o->graph;
    if (!slots_grow(r, e)) return false;
    bool *need = oracle_reach(&a, g, roots, n, r->slot);
    bool ok = affordable(r, need, e);
    r->firm = oracle_firm(r, need, &a);
    for (u32 i = 0; i < g->nodes.n && ok; i++)
        for (u32 k = 0; need[i] && !r->slot[i].done && k < g->nodes.p[i]->ins; k++) {
            r->slot[g->nodes.p[i]->in[k]->id].uses++;
            r->slot[g->nodes.p[i]->in[k]->id].wanted |= oracle_asks_terms(g->nodes.p[i]);
        }
    for (u32 i = 0; i < n && ok; i++) r->slot[roots[i]->id].uses++; /* results stay */
    for (u32 i = 0; i < g->nodes.n && ok; i++) {
        if (!need[i] || r->slot[i].done) continue;
        ok = node_run(r, g->nodes.p[i], e);
        for (u32 k = 0; k < g->nodes.p[i]->ins; k++) {
            struct oracle_slot *s = &r->slot[g->nodes.p[i]->in[k]->id];
            if (!--s->uses && !r->keep) slot_free(s);
        }
    }
    arena_free(&a);
    return ok;
}

double oracle_run_value(const struct oracle_run *r, const struct oracle_node *n, u64 i)
{
    const void *v = r->slot[n->id].v;
    return r->dd ? ((const struct dd *)v)[i].hi : ((const double *)v)[i];
}
