/* Where a bound comes from: repeats the analysis for each rounding operation, or for some of them together, as if no
 * other one rounded. */
#include "oracle/oracle_in.h"

static const char *describe(const struct oracle_node *n, struct arena *mem)
{
    const char *in = n->body ? " in " : "", *body = n->body ? n->body : "";
    u64 terms = 0;
    switch (n->op) {
    case OX_const: return arena_printf(mem, "the constant %.9g%s%s", n->attr.value, in, body);
    case OX_via: return arena_printf(mem, "rounding to %s%s%s", n->attr.text, in, body);
    case OX_input: return arena_printf(mem, "subnormal numbers of %s, which may be read as 0", n->attr.text);
    case OX_einsum: terms = oracle_einsum_terms(n); break;
    case OX_sum: terms = oracle_count(&n->in[0]->shape) / MAX_OF(oracle_count(&n->shape), (u64)1); break;
    case OX_cumsum: terms = n->shape.dim[n->attr.list[0]]; break;
    default: break;
    }
    const char *name = n->op == OX_einsum ? "sum of products" : n->op == OX_sum ? "sum" : oracle_rows[n->op].name;
    if (terms) return arena_printf(mem, "%s of %llu terms%s%s", name, (unsigned long long)terms, in, body);
    return arena_printf(mem, "%s%s%s", name, in, body);
}

/* Keeps the largest `most`, largest first. */
static void insert(struct oracle_term *out, u32 most, u32 *n, struct oracle_term t)
{
    u32 at = *n;
    while (at > 0 && out[at - 1].share < t.share) at--;
    if (at == most) return;
    if (*n < most) ++*n;
    for (u32 k = *n - 1; k > at; k--) out[k] = out[k - 1];
    out[at] = t;
}

enum { EXACT = 128, WORK = 200000, RUNS_LEAST = 32, RUNS_MOST = 256 };

/* Operations that round, neighbours in the graph, and what they alone make of the bound. */
struct part {
    u32 from, n; /* in the list of all of them */
    double share;
};

struct search {
    struct oracle_run run;
    struct oracle_node *root;
    u64 index;
    VEC(struct oracle_node *) node; /* that round, in the order of the graph */
    VEC(struct part) part;
    struct arena *mem;
    struct error *e;
};

static bool measure(struct search *s, struct part p)
{
    struct oracle_run *r = &s->run;
    r->env.only = s->node.p[p.from]->id + 1;
    r->env.only_last = s->node.p[p.from + p.n - 1]->id + 1;
    if (!oracle_run(r, &s->root, 1, s->e)) return false;
    p.share = r->slot[s->root->id].e ? r->slot[s->root->id].e[s->index] : 0;
    oracle_run_free(r, 0);
    if (isnan(p.share)) p.share = INFINITY; /* several together may be past all bounds, where each of them is not */
    if (p.share > 0 && (isfinite(p.share) || p.n > 1)) VEC_PUSH(s->mem, &s->part, p);
    return true;
}

/* The part to take in halves: of those with several operations the largest, if fewer than `most` parts exceed it; -1:
 * the result is known. */
static s64 to_split(const struct search *s, u32 most)
{
    s64 best = -1;
    u32 larger = 0;
    for (u32 i = 0; i < s->part.n; i++)
        if (s->part.p[i].n > 1 && (best < 0 || s->part.p[i].share > s->part.p[best].share)) best = i;
    for (u32 i = 0; best >= 0 && i < s->part.n; i++) larger += s->part.p[i].share > s->part.p[best].share;
    return larger < most ? best : -1;
}

/* Each by itself where there are few. Among many the largest are looked for by halves, since a part makes no less of
 * the bound than any operation in it; where that would take long, some stay parts. */
static bool measure_all(struct search *s, u32 most)
{
    u32 all = s->node.n, runs = MIN_OF(MAX_OF(WORK / (all + 1), (u32)RUNS_LEAST), (u32)RUNS_MOST);
    bool ok = true;
    for (u32 k = 0; ok && all <= EXACT && k < all; k++) ok = measure(s, (struct part){ k, 1, 0 });
    if (ok && all > EXACT) ok = measure(s, (struct part){ 0, all, 0 });
    for (s64 at; ok && runs >= 2 && (at = to_split(s, most)) >= 0; runs -= 2) {
        struct part p = s->part.p[at];
        s->part.p[at] = s->part.p[--s->part.n];
        ok = measure(s, (struct part){ p.from, p.n / 2, 0 }) &&
             measure(s, (struct part){ p.from + p.n / 2, p.n - p.n / 2, 0 });
    }
    return ok;
}

u32 oracle_why(const struct oracle *o, const struct oracle_options *how, const void *const *data, u32 i, u64 index,
               struct oracle_term *out, u32 most, struct arena *mem, struct error *e)
{
    struct search s = { .root = o->outs.p[i].node, .index = index, .mem = mem, .e = e };
    double all = 0;
    u32 n = 0;
    s.run = (struct oracle_run){ .o = o, .env = oracle_env_of(o, how), .data = data };
    s.run.dd = s.run.env.type->bits == 53;
    bool *need = oracle_reach(mem, &o->graph, &s.root, 1, NULL);
    for (u32 k = 0; most && k < o->graph.nodes.n; k++) {
        struct oracle_node *node = o->graph.nodes.p[k];
        bool rounds = oracle_rows[node->op].rounds || node->op == OX_const || node->op == OX_input;
        if (need[k] && !node->index && rounds) VEC_PUSH(mem, &s.node, node);
    }
    if (!measure_all(&s, most)) return 0;
    for (u32 k = 0; k < s.part.n; k++) {
        const struct part *p = &s.part.p[k];
        const struct oracle_node *node = s.node.p[p->from];
        if (!isfinite(p->share)) continue;
        const char *what = describe(node, mem);
        if (p->n > 1) what = arena_printf(mem, "%u operations, of which the first is %s", p->n, what);
        all += p->share;
        insert(out, most, &n, (struct oracle_term){ p->share, what, node->at });
    }
    for (u32 k = 0; k < n; k++) out[k].share /= all;
    return n;
}
