/* Where a bound comes from: repeats the analysis for each rounding operation, as if no other one rounded. */
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

u32 oracle_why(const struct oracle *o, const struct oracle_options *how, const void *const *data, u32 i, u64 index,
               struct oracle_term *out, u32 most, struct arena *mem, struct error *e)
{
    struct oracle_run r = { .o = o, .env = oracle_env_of(o, how), .data = data };
    struct oracle_node *root = o->outs.p[i].node;
    double all = 0;
    u32 n = 0;
    r.dd = r.env.type->bits == 53;
    bool *need = oracle_reach(mem, &o->graph, &root, 1, NULL);
    for (u32 k = 0; most && k < o->graph.nodes.n; k++) {
        const struct oracle_node *node = o->graph.nodes.p[k];
        bool rounds = oracle_rows[node->op].rounds || node->op == OX_const || node->op == OX_input;
        if (!need[k] || node->index || !rounds) continue;
        r.env.only = k + 1;
        bool ok = oracle_run(&r, &root, 1, e);
        double share = ok && r.slot[root->id].e ? r.slot[root->id].e[index] : 0;
        oracle_run_free(&r, 0);
        if (!ok) return 0;
        if (!(share > 0) || !isfinite(share)) continue;
        all += share;
        insert(out, most, &n, (struct oracle_term){ share, describe(node, mem), node->at });
    }
    for (u32 k = 0; k < n; k++) out[k].share /= all;
    return n;
}
