/* More of the template oracle_rows.h: products, running products and maxima, sorts, and which element is the largest.
 */

/* ---- products ---- */

struct FN(factors) { /* of a product, one after the other */
    R z;
    double n, most, least, size, wide; /* of their magnitudes: above 1, below 1, all, with their errors */
    double odd;                        /* infinite ones; NaN where one is NaN */
    bool whole;
};
static struct FN(factors) FN(no_factors)(void) { return (struct FN(factors)){ OF(1), 0, 1, 1, 1, 1, 0, true }; }

static void FN(factor)(const struct oracle_env *env, struct FN(factors) * f, R x, double e)
{
    double a = fabs(HI(x));
    f->z = MUL(f->z, x);
    f->n++;
    f->odd += isnan(a) ? NAN : isinf(a) ? 1 : 0;
    if (!isfinite(a)) a = 1;
    f->most *= fmax(a + e, 1);
    if (a > 0) f->least *= fmin(a, 1);
    f->size *= a;
    f->wide *= a + e;
    f->whole &= e == 0 && FN(is_whole)(env, HI(x));
}

/* What a product of these may lose, as oracle_settle has it. */
static double FN(factors_settle)(const struct oracle_job *j, const struct FN(factors) * f)
{
    const struct oracle_env *env = j->env;
    double p = f->wide - f->size,
           l = oracle_lost(env, fmax(f->n - 1, 0)) * env->u * f->wide + (f->n > 1 ? env->eta : 0);
    if (j->firm && f->whole && f->most <= ldexp(1, (int)env->type->bits)) l = 0;
    if (f->most > env->most) p = INFINITY; /* a part of them may overflow */
    if (f->least < env->type->normal) l += f->wide;
    if (f->odd > 0 && f->n > 1 && isnan(HI(f->z))) p = ORACLE_DOUBTFUL;
    return oracle_settle(env, j->node->id, HI(f->z), p, l, isinf(p));
}

static double FN(error_at)(const struct oracle_job *j, u32 k, u64 i) { return j->e[k] ? j->e[k][i] : 0; }

static bool FN(value_prod)(struct oracle_job *j)
{
    struct oracle_node as_sum = *j->node;
    u64 count = oracle_count(&j->node->shape), all = oracle_count(&j->node->in[0]->shape);
    s64 *map = oracle_scratch(j, all, sizeof *map);
    struct FN(factors) *f = oracle_scratch(j, count, sizeof *f);
    const R *x = j->v[0];
    if (!map || !f) return false;
    as_sum.op = OX_sum;
    oracle_map(&as_sum, NULL, map);
    for (u64 i = 0; i < count; i++) f[i] = FN(no_factors)();
    for (u64 i = 0; i < all; i++) FN(factor)(j->env, &f[map[i]], x[i], FN(error_at)(j, 0, i));
    for (u64 i = 0; i < count; i++) {
        ((R *)j->z)[i] = f[i].z;
        if (j->ez) j->ez[i] = FN(factors_settle)(j, &f[i]);
    }
    return true;
}

static bool FN(value_others)(struct oracle_job *j)
{
    struct oracle_node as_sum = *j->node;
    u64 all = oracle_count(&j->node->shape), work = 0;
    s64 *map = oracle_scratch(j, all, sizeof *map);
    const R *x = j->v[0];
    if (!map) return false;
    as_sum.op = OX_sum;
    oracle_map(&as_sum, NULL, map);
    for (u64 i = 0; i < all; i++) {
        struct FN(factors) f = FN(no_factors)();
        for (u64 k = 0; k < all; k++)
            if (map[k] == map[i] && k != i) FN(factor)(j->env, &f, x[k], FN(error_at)(j, 0, k));
        ((R *)j->z)[i] = f.z;
        if (j->ez) j->ez[i] = FN(factors_settle)(j, &f);
        if ((work += all) > (u64)1 << 28)
            return error_set(j->err, ERR_UNSUPPORTED, "the gradient of a product of this size is too much work");
    }
    return true;
}

/* Element k of a line. */
static u64 FN(on_line)(const struct FN(lines) * l, u64 line, u64 k)
{
    return (line / l->inner * l->length + k) * l->inner + line % l->inner;
}
static struct FN(lines) FN(lines_of_node)(const struct oracle_node *n)
{
    return FN(lines_of)(&n->shape, (u32)n->attr.list[0]);
}

static bool FN(value_cumprod)(struct oracle_job *j)
{
    struct FN(lines) l = FN(lines_of_node)(j->node);
    for (u64 line = 0; line < l.outer * l.inner; line++) {
        struct FN(factors) f = FN(no_factors)();
        for (u64 k = 0; k < l.length; k++) {
            u64 i = FN(on_line)(&l, line, k);
            FN(factor)(j->env, &f, ((const R *)j->v[0])[i], FN(error_at)(j, 0, i));
            ((R *)j->z)[i] = f.z;
            if (j->ez) j->ez[i] = FN(factors_settle)(j, &f);
        }
    }
    return true;
}

/* dx[i] is the sum over k >= i of g[k] times the product of x[0..k] without x[i]. */
static bool FN(value_cumprod_back)(struct oracle_job *j)
{
    struct FN(lines) l = FN(lines_of_node)(j->node);
    const R *x = j->v[0], *g = j->v[1];
    for (u64 at = 0; at < l.outer * l.inner * l.length; at++) {
        u64 line = at / l.length, i = at % l.length;
        struct FN(factors) f = FN(no_factors)();
        R sum = OF(0);
        double size = 0, wide = 0;
        for (u64 k = 0; k < l.length; k++) {
            u64 here = FN(on_line)(&l, line, k);
            if (k != i) FN(factor)(j->env, &f, x[here], FN(error_at)(j, 0, here));
            if (k < i) continue;
            double a = fabs(HI(g[here]));
            sum = ADD(sum, MUL(g[here], f.z));
            size += a * f.size;
            wide += (a + FN(error_at)(j, 1, here)) * f.wide;
        }
        u64 to = FN(on_line)(&l, line, i);
        ((R *)j->z)[to] = sum;
        double loss = oracle_lost(j->env, 2 * (double)l.length) * j->env->u * wide + j->env->eta, p = wide - size;
        if (isnan(p) || f.most > j->env->most) p = INFINITY;
        if (j->ez) j->ez[to] = oracle_settle(j->env, j->node->id, HI(sum), p, loss, isinf(p));
    }
    return true;
}

/* ---- running maxima ---- */

static bool FN(running)(struct oracle_job *j, int sign)
{
    struct FN(lines) l = FN(lines_of_node)(j->node);
    const R *x = j->v[0];
    for (u64 line = 0; line < l.outer * l.inner; line++) {
        u64 best = FN(on_line)(&l, line, 0);
        for (u64 k = 0; k < l.length; k++) {
            u64 i = FN(on_line)(&l, line, k);
            bool won = sign > 0 ? LESS(x[best], x[i]) : LESS(x[i], x[best]);
            if (!isnan(HI(x[best])) && (isnan(HI(x[i])) || won)) best = i;
            ((R *)j->z)[i] = x[best];
            if (!j->ez) continue;
            double e = 0, least = sign * HI(x[best]) - FN(error_at)(j, 0, best);
            for (u64 m = 0; m <= k && j->e[0]; m++) {
                u64 at = FN(on_line)(&l, line, m);
                if (sign * HI(x[at]) + j->e[0][at] >= least) e = fmax(e, j->e[0][at]);
            }
            j->ez[i] = j->env->noise ? 0 : e;
        }
    }
    return true;
}
static bool FN(value_cummax)(struct oracle_job *j) { return FN(running)(j, 1); }
static bool FN(value_cummin)(struct oracle_job *j) { return FN(running)(j, -1); }

static bool FN(value_scatter_max)(struct oracle_job *j)
{
    struct oracle_node as_sum = *j->node;
    u64 count = oracle_count(&j->node->shape), all = oracle_count(&j->node->in[0]->shape);
    const s64 *index = FN(indices)(j);
    s64 *map = oracle_scratch(j, all, sizeof *map);
    const R *x = j->v[0];
    R *z = j->z;
    if (!index || !map) return false;
    as_sum.op = OX_scatter_add;
    oracle_map(&as_sum, index, map);
    for (u64 i = 0; i < count; i++) z[i] = OF(-(double)INFINITY);
    for (u64 i = 0; i < all; i++)
        if (!isnan(HI(z[map[i]])) && (isnan(HI(x[i])) || LESS(z[map[i]], x[i]))) z[map[i]] = x[i];
    for (u64 i = 0; j->ez && i < count; i++) j->ez[i] = 0;
    for (u64 i = 0; j->ez && j->e[0] && !j->env->noise && i < all; i++) {
        double *e = &j->ez[map[i]];
        if (HI(x[i]) + 2 * j->e[0][i] >= HI(z[map[i]])) *e = fmax(*e, j->e[0][i]);
    }
    return true;
}

/* ---- sorts ---- */

struct FN(place) { /* of a line */
    R x;
    double e;
    u64 k;
};
/* NaN last, as NumPy has it; equal ones in their order. */
static int FN(by_value)(const void *a, const void *b)
{
    const struct FN(place) *x = a, *y = b;
    bool nx = isnan(HI(x->x)), ny = isnan(HI(y->x));
    if (nx != ny) return nx ? 1 : -1;
    if (!nx && LESS(x->x, y->x)) return -1;
    if (!nx && LESS(y->x, x->x)) return 1;
    return x->k < y->k ? -1 : 1;
}

/* attr.keep: equal ones have to stay in their order */
static bool FN(sorted)(struct oracle_job *j, bool arg)
{
    struct FN(lines) l = FN(lines_of_node)(j->node);
    struct FN(place) *p = oracle_scratch(j, l.length, sizeof *p);
    bool stable = j->node->attr.keep;
    if (!p) return false;
    for (u64 line = 0; line < l.outer * l.inner; line++) {
        double most = 0;
        for (u64 k = 0; k < l.length; k++) {
            u64 i = FN(on_line)(&l, line, k);
            p[k] = (struct FN(place)){ ((const R *)j->v[0])[i], FN(error_at)(j, 0, i), k };
            most = fmax(most, p[k].e);
        }
        qsort(p, l.length, sizeof *p, FN(by_value));
        for (u64 k = 0; k < l.length; k++) {
            u64 i = FN(on_line)(&l, line, k);
            ((R *)j->z)[i] = arg ? OF((double)p[k].k) : p[k].x;
            if (!j->ez) continue;
            double e = most;
            for (u64 m = k - 1; arg && m != k + 3; m += 2) { /* the one before and the one after */
                if (m >= l.length) continue;
                double apart = fabs(HI(SUB(p[m].x, p[k].x))), near = 2 * most;
                bool tie = near > 0 ? !(apart > near) : SAME_AS(p[m].x, p[k].x) && !stable;
                if (tie || (isnan(HI(p[m].x)) && isnan(HI(p[k].x)))) e = j->env->ill;
            }
            j->ez[i] = j->env->noise || (arg && e < j->env->ill) ? 0 : e;
        }
    }
    return true;
}
static bool FN(value_sort)(struct oracle_job *j) { return FN(sorted)(j, false); }
static bool FN(value_argsort)(struct oracle_job *j) { return FN(sorted)(j, true); }

/* ---- which one is the largest ---- */

struct FN(two) { /* the largest of a line, and the largest of the others */
    double first, second;
    u64 at; /* of the first */
};
static void FN(enter)(struct FN(two) * t, double x, u64 i)
{
    if (isnan(x) || isnan(t->first)) {
        t->first = t->second = NAN;
    } else if (x > t->first) {
        *t = (struct FN(two)){ x, t->first, i };
    } else if (x > t->second) {
        t->second = x;
    }
}
static double FN(other)(const struct FN(two) * t, u64 i) { return t->at == i ? t->second : t->first; }

static bool FN(value_leads)(struct oracle_job *j)
{
    const struct oracle_node *n = j->node;
    struct oracle_node as_sum = *n;
    u64 all = oracle_count(&n->shape), lines = 1;
    double sign = n->attr.value;
    const R *x = j->v[0];
    s64 *map = oracle_scratch(j, all, sizeof *map);
    as_sum.op = OX_sum;
    for (u32 i = 0; i < n->shape.rank; i++)
        if (!(n->attr.list[0] >> i & 1)) lines *= n->shape.dim[i];
    struct FN(two) * t[3]; /* of values, of the largest and the smallest that they may be */
    for (u32 k = 0; k < 3; k++) {
        if (!map || !(t[k] = oracle_scratch(j, lines, sizeof **t))) return false;
        for (u64 i = 0; i < lines; i++) t[k][i] = (struct FN(two)){ -INFINITY, -INFINITY, UINT64_MAX };
    }
    oracle_map(&as_sum, NULL, map);
    for (u64 i = 0; i < all; i++) {
        double v = sign * HI(x[i]), e = j->e[0] ? j->e[0][i] : 0;
        FN(enter)(&t[0][map[i]], v, i);
        FN(enter)(&t[1][map[i]], v + e, i);
        FN(enter)(&t[2][map[i]], v - e, i);
    }
    for (u64 i = 0; i < all; i++) {
        double v = sign * HI(x[i]), e = j->e[0] ? j->e[0][i] : 0, rest = FN(other)(&t[0][map[i]], i);
        double z = isnan(v) || isnan(rest) ? NAN : v == rest && t[0][map[i]].at < all ? 0.5 : v > rest;
        bool alone = lines == all, can = v + e >= FN(other)(&t[2][map[i]], i),
             may = v - e <= FN(other)(&t[1][map[i]], i);
        ((R *)j->z)[i] = OF(alone ? 1 : z);
        if (j->ez) j->ez[i] = alone || j->env->noise || !(can && may) ? 0 : z == 0.5 ? 0.5 : 1;
    }
    return true;
}
