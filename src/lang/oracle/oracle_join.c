/* Terms that a kernel may add in another order than the text does.
 *
 * `x @ w + b` says a sum, and then one more term. Kernels begin the sum with b, or add it in the middle; they add
 * alpha * a * b to beta * c, fold (x - mean) * r + b into x * r + (b - mean * r), and take a + b + c in any order. Each
 * partial sum is then as large as the terms are, not as large as the text's own intermediate results, which may have
 * cancelled. So a node of + and - and of sums keeps the magnitudes of its terms, multiplied out, and how many additions
 * there are; what joins two of them loses what those additions may lose (oracle_join_error).
 *
 * A product or quotient of two such nodes is one term: (x - mean) * (x - mean) is not x * x - ..., which is the formula
 * that loses everything. So is a sum over +: sum(x - m) is not sum(x) - sum(m). A quotient by a number ends a sum: it
 * is a mean, which nobody begins with something else. */
#include "oracle/oracle_in.h"

enum { LOOK = 1000 }; /* nodes that `computed_from` visits at most */

static const struct oracle_node *unscaled(const struct oracle_node *n)
{
    for (;;) {
        bool scaled = n->op == OX_mul || n->op == OX_div;
        const struct oracle_row *row = &oracle_rows[n->op];
        if (scaled && n->joins)
            n = n->in[n->in[0]->joins ? 0 : 1];
        else if (n->joins && n->ins == 1 && (n->op == OX_neg || row->family == ORACLE_MOVE))
            n = n->in[0];
        else
            return n;
    }
}

/* Whether `n` has been computed from `from`; a node too far away counts as one that has. */
static bool computed_from(const struct oracle_node *n, const struct oracle_node *from, u32 *looks)
{
    if (n == from) return true;
    if (n->id < from->id) return false;
    if (++*looks > LOOK) return true;
    for (u32 i = 0; i < n->ins; i++)
        if (computed_from(n->in[i], from, looks)) return true;
    return false;
}

static bool depends(const struct oracle_node *a, const struct oracle_node *b)
{
    u32 looks = 0;
    return a->joins && computed_from(b, unscaled(a), &looks);
}

static bool is_number(const struct oracle_node *n)
{
    while (n->ins == 1 && oracle_rows[n->op].family == ORACLE_MOVE) n = n->in[0];
    return n->op == OX_const || n->index;
}

void oracle_join(struct oracle_node *n)
{
    const struct oracle_node *x = n->ins ? n->in[0] : NULL, *y = n->ins > 1 ? n->in[1] : NULL;
    const struct oracle_row *row = &oracle_rows[n->op];
    if (n->index || !x) return;
    if (row->family == ORACLE_SUMS || n->op == OX_einsum || n->op == OX_cumsum) {
        n->joins = true;
    } else if (n->op == OX_add || n->op == OX_sub) {
        n->joins = true;
        n->apart = depends(x, y) || depends(y, x);
    } else if (n->op == OX_mul ? x->joins != y->joins : n->op == OX_div ? x->joins && !y->joins && !is_number(y) : 0) {
        n->joins = true;
    } else if (n->ins == 1 && (n->op == OX_neg || row->family == ORACLE_MOVE)) {
        n->joins = x->joins;
    }
}

double oracle_lost(const struct oracle_env *env, double k)
{
    if (env->order == ORACLE_LIKELY) return fmin(6 * sqrt(k), k);
    if (env->order == ORACLE_SPREAD) return sqrt(k);
    return k * env->u < 1 ? k / (1 - k * env->u) : env->ill;
}

double oracle_join_error(const struct oracle_job *j, double ax, double ay)
{
    const struct oracle_env *env = j->env;
    bool apart = j->node->apart;
    double kx = apart ? j->join[0].plain : j->join[0].adds, ky = apart ? j->join[1].plain : j->join[1].adds;
    if (kx + ky == 0) return 0;
    if (ax + ay > env->most) return INFINITY; /* so may the sum of some of them */
    double l = (ax == 0 ? 0 : oracle_lost(env, ky + 1) * ax) + (ay == 0 ? 0 : oracle_lost(env, kx + 1) * ay);
    return l * env->u + (kx + ky + 1) * env->eta;
}

/* The operand of a product or quotient that is made of terms; NULL: none is, or both are. */
static const struct oracle_node *scaled_of(const struct oracle_node *n)
{
    if (n->op == OX_div) return n->in[0]->joins ? n->in[0] : NULL;
    if (n->op != OX_mul || n->in[0]->joins == n->in[1]->joins) return NULL;
    return n->in[n->in[0]->joins ? 0 : 1];
}

bool oracle_asks_terms(const struct oracle_node *n) { return n->joins || scaled_of(n); }

/* Whether it is a mean: a quotient, or a sum times one over the number of its terms. */
static bool is_mean(const struct oracle_node *n, double adds)
{
    const struct oracle_node *y = n->in[n->in[0]->joins ? 1 : 0];
    while (y->ins == 1 && oracle_rows[y->op].family == ORACLE_MOVE) y = y->in[0];
    return n->op == OX_div || (y->op == OX_const && fabs(y->attr.value * (adds + 1) - 1) < 1e-6);
}

double oracle_scale_error(const struct oracle_job *j, double terms)
{
    const struct oracle_node *n = j->node, *x = scaled_of(n);
    if (!x || terms == 0) return 0;
    const struct oracle_join *in = &j->join[x == n->in[0] ? 0 : 1];
    double sums = in->adds - in->plain, each = 1;
    /* a running mean multiplies what it has by (k - 1) / k each time, and rounds that, too */
    if (sums > 0 && is_mean(n, in->adds)) each = oracle_lost(j->env, 2 * sums + 3);
    return each * j->env->u * terms;
}

void oracle_join_count(struct oracle_job *j, double terms)
{
    const struct oracle_node *n = j->node;
    const struct oracle_join *x = &j->join[0], *y = &j->join[1];
    double own = oracle_additions(j->env, terms);
    if (!n->joins) return;
    if (n->op == OX_add || n->op == OX_sub) {
        j->plain = x->plain + y->plain + 1;
        j->adds = n->apart ? j->plain : x->adds + y->adds + 1;
        return;
    }
    const struct oracle_join *in = n->ins > 1 && !n->in[0]->joins && n->in[1]->joins && n->op == OX_mul ? y : x;
    bool own_sum = oracle_rows[n->op].family == ORACLE_SUMS || n->op == OX_einsum || n->op == OX_cumsum;
    j->plain = own_sum ? 0 : in->plain;
    j->adds = own_sum ? own : in->adds;
}
