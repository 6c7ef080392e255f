/* The rest of the template oracle_rows.h: sums of products, leaves, and which function a row has. */

/* einsum: the letters of the result are those of both operands (batch), of x alone, of y alone; all others are summed.
 * Both operands are packed, so that what is summed lies in a row. */
struct FN(plan) {
    u32 letters[3];             /* how many letters in: batch, x alone, y alone */
    char order[3][ORACLE_RANK]; /* the letters */
    char summed[2 * ORACLE_RANK];
    u32 sums;     /* letters in summed */
    u64 terms;    /* their elements */
    u64 count[3]; /* elements of the three */
};

static u64 FN(letter_size)(const struct oracle_node *n, const struct einsum_parts *p, char c)
{
    for (u32 k = 0; k < p->ins; k++)
        for (u32 i = 0; i < p->in[k].n; i++)
            if (p->in[k].p[i] == c) return n->in[k]->shape.dim[i];
    return 1;
}

static bool FN(has_letter)(struct str s, char c) { return s.n && memchr(s.p, c, s.n); }

static struct FN(plan) FN(product_plan)(const struct oracle_node *n, const struct einsum_parts *p)
{
    struct FN(plan) t = { .terms = 1, .count = { 1, 1, 1 } };
    for (u32 i = 0; i < p->out.n; i++) {
        char c = p->out.p[i];
        u32 where = !FN(has_letter)(p->in[0], c) ? 2 : p->ins > 1 && FN(has_letter)(p->in[1], c) ? 0 : 1;
        t.order[where][t.letters[where]++] = c;
        t.count[where] *= FN(letter_size)(n, p, c);
    }
    for (u32 k = 0; k < p->ins; k++)
        for (u32 i = 0; i < p->in[k].n; i++) {
            char c = p->in[k].p[i];
            if (FN(has_letter)(p->out, c) || memchr(t.summed, c, t.sums)) continue;
            t.summed[t.sums++] = c;
            t.terms *= FN(letter_size)(n, p, c);
        }
    return t;
}

struct FN(walk) { /* elements of an operand in the order of a list of letters */
    u32 n;
    u64 dim[2 * ORACLE_RANK], stride[2 * ORACLE_RANK], at[2 * ORACLE_RANK];
    u64 here;
};

static void FN(walk_add)(struct FN(walk) * w, u64 size, struct str letters, const struct oracle_shape *s, char c)
{
    u64 step = 1;
    w->dim[w->n] = size;
    for (u32 i = s->rank; i-- > 0; step *= s->dim[i])
        if (letters.p[i] == c) w->stride[w->n] = step;
    w->n++;
}

static u64 FN(walk_next)(struct FN(walk) * w)
{
    u64 was = w->here;
    for (u32 d = w->n; d-- > 0;) {
        w->here += w->stride[d];
        if (++w->at[d] < w->dim[d]) break;
        w->here -= w->stride[d] * w->dim[d];
        w->at[d] = 0;
    }
    return was;
}

/* The letters `a`, then `b`, then those that are summed, of an array with these letters. */
static struct FN(walk) FN(walk_of)(const struct oracle_node *n, const struct einsum_parts *p, const struct FN(plan) * t,
                                   u32 b, struct str letters, const struct oracle_shape *s, bool summed)
{
    struct FN(walk) w = { 0 };
    u32 parts[2] = { 0, b };
    for (u32 k = 0; k < 2; k++)
        for (u32 i = 0; i < t->letters[parts[k]]; i++) {
            char c = t->order[parts[k]][i];
            FN(walk_add)(&w, FN(letter_size)(n, p, c), letters, s, c);
        }
    for (u32 i = 0; summed && i < t->sums; i++)
        FN(walk_add)(&w, FN(letter_size)(n, p, t->summed[i]), letters, s, t->summed[i]);
    return w;
}

struct FN(packed) {
    R *v;
    double *e; /* NULL: exact */
};

static bool FN(pack)(struct oracle_job *j, const struct einsum_parts *p, const struct FN(plan) * t, u32 k,
                     struct FN(packed) * out)
{
    const struct oracle_node *n = j->node;
    u64 count = t->count[0] * t->count[k + 1] * t->terms;
    out->v = oracle_scratch(j, count, sizeof(R));
    out->e = NULL;
    if (!out->v) return false;
    if (k >= n->ins) { /* one operand: times one */
        for (u64 i = 0; i < count; i++) out->v[i] = OF(1);
        return true;
    }
    if (j->e[k] && j->ez && !(out->e = oracle_scratch(j, count, sizeof(double)))) return false;
    struct FN(walk) w = FN(walk_of)(n, p, t, k + 1, p->in[k], &n->in[k]->shape, true);
    for (u64 i = 0; i < count; i++) {
        u64 at = FN(walk_next)(&w);
        out->v[i] = ((const R *)j->v[k])[at];
        if (out->e) out->e[i] = j->e[k][at];
    }
    return true;
}

struct FN(dot) { /* one element */
    double p, a, q;
    bool doubtful; /* a term is */
    bool nan;      /* a factor is NaN, and so is the sum in any order */
    bool part;     /* a factor is no whole number */
};
/* A product that is no number, or infinite. */
static void FN(dot_odd)(double x, double y, u64 n, struct FN(dot) * d)
{
    if (isfinite(x) && isfinite(y))
        d->p = INFINITY; /* too large for the oracle */
    else if (is_padding(x) || is_padding(y) || (!isnan(x) && !isnan(y) && (n > 1 || isnan(x * y))))
        d->doubtful = true;
    else if (isnan(x) || isnan(y))
        d->nan = true;
}

static struct FN(dot) FN(dot_error)(const R *x, const R *y, const double *ex, const double *ey, u64 n)
{
    struct FN(dot) d = { 0 };
    for (u64 k = 0; k < n; k++) {
        double ax = fabs(HI(x[k])), ay = fabs(HI(y[k])), v = isfinite(ax * ay) ? ax * ay : 0;
        d.a += v;
        d.q += v * v;
        d.part |= v != floor(v) || ax != floor(ax) || ay != floor(ay);
        d.doubtful |= FN(doubtful)(ax, ay, ex ? ex[k] : 0, ey ? ey[k] : 0);
        if (!isfinite(ax * ay)) FN(dot_odd)(HI(x[k]), HI(y[k]), n, &d);
        if (ex && isfinite(ay)) d.p += ex[k] * (ay + (ey ? ey[k] : 0));
        if (ey && isfinite(ax)) d.p += ax * ey[k];
    }
    return d;
}

static bool FN(value_einsum)(struct oracle_job *j)
{
    const struct oracle_node *n = j->node;
    struct einsum_parts parts = oracle_einsum_parts(n->attr.text);
    struct FN(plan) t = FN(product_plan)(n, &parts);
    struct FN(packed) x, y;
    if (!FN(pack)(j, &parts, &t, 0, &x) || !FN(pack)(j, &parts, &t, 1, &y)) return false;
    struct FN(walk) to = FN(walk_of)(n, &parts, &t, 1, parts.out, &n->shape, false);
    for (u32 i = 0; i < t.letters[2]; i++)
        FN(walk_add)(&to, FN(letter_size)(n, &parts, t.order[2][i]), parts.out, &n->shape, t.order[2][i]);
    for (u64 b = 0; b < t.count[0]; b++)
        for (u64 i = 0; i < t.count[1]; i++)
            for (u64 c = 0; c < t.count[2]; c++) {
                u64 at = FN(walk_next)(&to), px = (b * t.count[1] + i) * t.terms, py = (b * t.count[2] + c) * t.terms;
                R sum = OF(0);
                for (u64 k = 0; k < t.terms; k++) sum = ADD(sum, MUL(x.v[px + k], y.v[py + k]));
                ((R *)j->z)[at] = sum;
                if (!j->ez) continue;
                struct FN(dot)
                    d = FN(dot_error)(x.v + px, y.v + py, x.e ? x.e + px : NULL, y.e ? y.e + py : NULL, t.terms);
                bool whole = j->firm && !d.part && d.p == 0 && FN(is_whole)(j->env, d.a);
                double l = whole ? 0 : oracle_sum_error(j->env, (double)t.terms, HI(sum), d.p, d.a, d.q, n->ins - 1);
                if (n->ins > 1 && !whole) l += j->env->operands * (d.a + d.p);
                double p = d.doubtful && !d.nan && !isinf(d.p) ? ORACLE_DOUBTFUL : d.p;
                j->ez[at] = oracle_settle(j->env, n->id, HI(sum), p, l, isinf(p));
                if (j->terms) j->terms[at] = d.a + (isfinite(d.p) ? d.p : 0);
            }
    oracle_join_count(j, (double)t.terms);
    return true;
}

static bool FN(value_input)(struct oracle_job *j)
{
    u64 count = oracle_count(&j->node->shape);
    const u8 *from = j->data;
    R *z = j->z;
    bool whole = j->type->class == SCALAR_SIGNED || j->type->class == SCALAR_UNSIGNED;
    for (u64 i = 0; i < count; i++, from += j->type->bytes) {
        z[i] = OF(scalar_load(j->type, from));
        if (!j->ez) continue;
        double v = fabs(HI(z[i]));
        bool counts = !whole && !j->env->noise && oracle_env_asks(j->env, j->node->id);
        j->ez[i] = counts && v < j->env->subnormal ? v : 0;
    }
    return true;
}

static bool FN(value_const)(struct oracle_job *j)
{
    const struct oracle_attr *a = &j->node->attr;
    *(R *)j->z = OF(a->value);
    if (!j->ez) return true;
    double scale = ldexp(1, 1 - (int)j->env->type->bits), m = fabs(a->value);
    int e;
    frexp(m, &e);
    bool exact = !isfinite(m) || (a->error <= 5 * m && (m == 0 || fmod(m, ldexp(scale, e - 1)) == 0));
    double l = exact ? 0 : (a->error ? a->error : m) * j->env->u;
    *j->ez = oracle_settle(j->env, j->node->id, a->value, 0, l, false);
    return true;
}

static bool FN(value_iota)(struct oracle_job *j)
{
    for (u64 i = 0, n = oracle_count(&j->node->shape); i < n; i++) {
        ((R *)j->z)[i] = OF((double)i);
        if (j->ez) j->ez[i] = 0;
    }
    return true;
}

/* Maps have no entry: theirs is map. */
static bool (*const FN(rows)[OX_COUNT])(struct oracle_job *j) = {
#define LEAF(name, ...) [OX_##name] = FN(value_##name),
#define OWN(name, ...) [OX_##name] = FN(value_##name),
#define MOVE(name, ...) [OX_##name] = FN(moves),
#define SUMS(name, ...) [OX_##name] = FN(sums),
#include "oracle/oracle_table.h"
};

bool FN(oracle_row)(struct oracle_job *j)
{
    if (FN(rows)[j->node->op]) return FN(rows)[j->node->op](j);
    oracle_join_count(j, 0);
    FN(map)(j);
    return true;
}
