/* The rows of oracle.def, value and error, for one type R of numbers: oracle_f64.c and oracle_rows_dd.c include this,
 * after they have said what R and the words of the table are. No include guard: it is a template. */

struct FN(run) { /* elements of a map that lie in a row: strides are 0 or 1 */
    const R *x, *y, *w;
    const double *ex, *ey, *ew;
    u32 sx, sy, sw, tx, ty, tw; /* strides of the values and of the errors */
    R *z;
    double *e;
    u64 n;
    const struct oracle_job *j;
    const double *mx, *my; /* terms of operands that join (oracle_join.c); NULL: one term */
    u32 ux, uy;            /* their strides */
    double *m;             /* room for those of the result, or NULL */
};

#define MAP1(name, VALUE, ...) \
    static inline R FN(f_##name)(const struct oracle_type *type, R x) { return (void)type, VALUE; }
#include "oracle/oracle_table.h"

/* Through a monotone function: the exact interval, to all orders, without a derivative. */
static double FN(mono)(R (*f)(const struct oracle_type *, R), const struct oracle_type *type, R x, double ex, R z,
                       double low, double high, double most)
{
    if (ex == 0) return 0;
    R up = ADD(x, OF(ex)), down = SUB(x, OF(ex));
    if (isinf(ex) && fabs(HI(x)) > most) { /* it may have overflowed, or be a large number in the end */
        up = OF(HI(x) > 0 ? (double)INFINITY : -most);
        down = OF(HI(x) > 0 ? most : -(double)INFINITY);
    }
    if (HI(up) > high) up = OF(high);
    if (HI(down) < low) down = OF(low);
    double a = fabs(HI(SUB(f(type, up), z))), b = fabs(HI(SUB(z, f(type, down))));
    return isnan(a) || isnan(b) ? NAN : fmax(a, b);
}
#define MONO(low, high) FN(mono)(f, type, x, ex, z, low, high, env->most)

/* An exact zero times anything finite is zero; times what may have overflowed it is NaN. */
static inline double FN(times)(double m, double e) { return m == 0 ? (isinf(e) ? e : 0) : e == 0 ? 0 : m * e; }
/* An infinity times what may be zero, or may not: NaN in one kernel, infinite in another. */
static inline bool FN(doubtful)(double x, double y, double ex, double ey)
{
    return (isinf(x) && ey > 0 && fabs(y) <= ey) || (isinf(y) && ex > 0 && fabs(x) <= ex);
}
static inline double FN(product)(double x, double y, double ex, double ey)
{
    if (FN(doubtful)(x, y, ex, ey)) return ORACLE_DOUBTFUL;
    if (isinf(x) && fabs(y) > ey) return ex; /* infinite, whatever the other is */
    if (isinf(y) && fabs(x) > ex) return ey;
    return FN(times)(fabs(x), ey) + FN(times)(fabs(y), ex) + FN(times)(ex, ey);
}
#define PRODUCT(x, y, ex, ey) FN(product)(HI(x), HI(y), ex, ey)

static inline double FN(quotient)(const struct oracle_env *env, double x, double y, double z, double ex, double ey)
{
    double room = fabs(y) - ey;
    if (ex == 0 && ey == 0) return 0;
    if (isinf(x) && room > 0) return ex;
    /* by what may have overflowed: nothing is left of a number so small that no other order overflows before */
    if (isinf(ey) && fabs(y) > env->most && fabs(x) + ex < 0x1p30) return fabs(z) + (fabs(x) + ex) / env->most;
    return room > 0 ? (ex + FN(times)(fabs(z), ey)) / room : fmax(env->ill, fmax(ex, ey));
}
#define QUOTIENT(x, y, z, ex, ey) FN(quotient)(env, HI(x), HI(y), HI(z), ex, ey)

static double FN(power)(const struct oracle_env *env, double x, double y, double z, double ex, double ey)
{
    if (ex == 0 && ey == 0) return 0;
    double ax = fabs(x);
    if (ex >= ax) return y > 0 && ey == 0 ? fabs(z) + pow(ax + ex, y) : env->ill;
    return fabs(z) * expm1(-fabs(y) * log1p(-ex / ax) + (ey ? fabs(log(ax)) * ey - ey * log1p(-ex / ax) : 0));
}
#define POWER(x, y, z, ex, ey) FN(power)(env, HI(x), HI(y), HI(z), ex, ey)

/* Up to a whole y where the quotient may be the next one; l: what the kernel itself may lose. */
static double FN(remainder)(double x, double y, double z, double ex, double ey, double l)
{
    double p = ex + (ey ? fabs(x / y) * ey : 0);
    if (p + l == 0) return 0;
    return fabs(z) <= p + l || fabs(y) - fabs(z) <= p + l ? p + fabs(y) : p;
}
#define REMAINDER(x, y, z, ex, ey) FN(remainder)(HI(x), HI(y), HI(z), ex, ey, WRAPPED)

/* 1 where rounding may turn a comparison over. */
static inline double FN(turns)(R x, R y, double ex, double ey)
{
    return ex + ey > 0 && !(fabs(HI(SUB(x, y))) > ex + ey);
}
#define TURNS(x, y, ex, ey) FN(turns)(x, y, ex, ey)

static inline double FN(choice)(R x, R y, R w, double ex, double ey, double ew)
{
    return ex > 0 ? fabs(HI(SUB(y, w))) + fmax(ey, ew) : HOLDS(x) ? ey : ew;
}
#define CHOICE(x, y, w, ex, ey, ew) FN(choice)(x, y, w, ex, ey, ew)

/* Of a function that grows with |x| faster and faster. */
static inline double FN(risen)(R (*f)(const struct oracle_type *, R), const struct oracle_type *type, R x, R z,
                               double ex)
{
    return ex == 0 ? 0 : isinf(ex) ? ex : fabs(HI(SUB(f(type, ADD(ABS(x), OF(ex))), z)));
}
#define RISEN(x, z, ex) FN(risen)(f, type, x, z, ex)

/* A tangent: nothing is known where a pole is as near as ex. */
static inline double FN(turned)(const struct oracle_env *env, double x, double z, double ex)
{
    double up = tan(x + ex), down = tan(x - ex);
    if (ex == 0) return 0;
    return ex < 0.5 && down <= z && z <= up ? fmax(up - z, z - down) * (1 + 1e-9) : isinf(ex) ? ex : env->ill;
}
#define TURNED(x, z, ex) FN(turned)(env, HI(x), HI(z), ex)

/* The angle of (y, x): ex and ey over the distance; a whole turn where they may cross the negative axis. */
static inline double FN(angle)(double x, double y, double ex, double ey)
{
    double far = hypot(x, y), e = hypot(ex, ey);
    if (ex == 0 && ey == 0) return 0;
    return e >= far || (fabs(x) <= ex && y - ey < 0) ? 6.3 : asin(e / far) * (1 + 1e-9);
}
#define ANGLE(x, y, ex, ey) FN(angle)(HI(x), HI(y), ex, ey)

/* A quotient that is rounded, and then down: one more or less where it is near a whole number. */
static inline double FN(floored)(const struct oracle_env *env, double x, double y, double z, double ex, double ey,
                                 bool whole)
{
    double q = x / y, room = fabs(y) - ey;
    if (whole || !isfinite(q)) return 0;
    if (room <= 0) return fmax(env->ill, fmax(ex, ey));
    double e = (ex + fabs(q) * ey) / room + 5 * env->u * fabs(q);
    return q - e < z || q + e >= z + 1 ? ceil(e) : 0;
}
#define FLOORED(x, y, z, ex, ey) FN(floored)(env, HI(x), HI(y), HI(z), ex, ey, WHOLE)

static inline double FN(sides)(R x, R y, double ex, double ey)
{
    return isnan(HI(x)) || isnan(HI(y)) ? 0 : FN(turns)(x, y, ex, ey) > 0 ? 1 : SAME_AS(x, y) ? 0.5 : 0;
}
#define SIDES(x, y, ex, ey) FN(sides)(x, y, ex, ey)

/* What lies between y and w, where either may be meant: of infinities and of NaN nothing is known. */
static inline double FN(between)(double c, double y, double w, double ex, double ey, double ew)
{
    if (c != 0.5 && ex == 0 && !isnan(c)) return c > 0.5 ? ey : ew;
    if (isnan(c) || !isfinite(y) || !isfinite(w)) return ORACLE_DOUBTFUL;
    return fabs(y - w) * (c == 0.5 ? 0.5 : 1) + fmax(ey, ew);
}
#define BETWEEN(x, y, w, ex, ey, ew) FN(between)(HI(x), HI(y), HI(w), ex, ey, ew)

/* However ill-conditioned, a correct kernel's value lies in the range, but for rounding. */
static inline double FN(inside)(const struct oracle_node *n, double z, double ex)
{
    double low = n->attr.value, high = n->attr.high;
    return isinf(ex) ? ex : fmin(ex, fmax(z - low, high - z) + 1e-3 * (high - low));
}
#define INSIDE(z, ex) FN(inside)(node, HI(z), ex)

/* The kernel may round to this type here. */
static inline double FN(rounded)(const struct oracle_type *t, double zm)
{
    return zm > t->most ? INFINITY : t->u * zm + t->tiny;
}
#define ROUNDED(zm) FN(rounded)(type, zm)
#define log_size(ax) fabs(log(fmax(ax, 1e-300)))
#define REL(c) ((c)*u * zm + eta)
#define ARITH REL(env->regroup)
/* What a node of + and - adds up, or what a factor makes of it: the kernel may multiply term by term. */
static inline double FN(terms_of)(const struct oracle_node *n, double x, double y, double divisor)
{
    if (n->op == OX_mul) return FN(times)(x, y);
    if (n->op == OX_div) return divisor > 0 ? x / divisor : 0;
    return x + y;
}
#define JOINED oracle_join_error(r->j, jx, jy)
#define SUMMED (WHOLE ? 0 : fmax(env->noise ? u * (ax + ay) + eta : ARITH, JOINED))
#define MULTIPLIED (WHOLE ? 0 : ARITH + OPERANDS + TERMWISE)
/* Whole numbers without an error, so small that none of their sums and products is ever rounded: exact in any kernel.
 */
static inline bool FN(is_whole)(const struct oracle_env *env, double x)
{
    return x == floor(x) && fabs(x) <= ldexp(1, (int)env->type->bits);
}
#define WHOLE                                                                                    \
    (r->j->firm && ex == 0 && ey == 0 && FN(is_whole)(env, HI(x)) && FN(is_whole)(env, HI(y)) && \
     FN(is_whole)(env, ceil(FN(terms_of)(node, jx, jy, 0))))
#define WRAPPED (WHOLE ? 0 : (2 * ax + 2 * ay) * u)
#define LOST(k) oracle_lost(env, k)
#define TERMWISE oracle_scale_error(r->j, FN(terms_of)(node, jx, jy, fabs(HI(y)) - ey))
#define OPERANDS (env->operands * zm)
#define SAME l

/* The type that via and cast round to; NULL: another row. */
static const struct oracle_type *FN(type_of)(const struct oracle_node *n)
{
    return n->op == OX_via || n->op == OX_cast ? oracle_type(str_of(n->attr.text)) : NULL;
}

static void FN(map_values)(const struct FN(run) * r, const struct oracle_node *node)
{
    const struct oracle_type *type = FN(type_of)(node);
    R *restrict out = r->z;
    (void)type;
    switch (node->op) {
#define EACH for (u64 i = 0; i < r->n; i++)
#define MAP1(name, VALUE, ...)           \
    case OX_##name:                      \
        EACH                             \
        {                                \
            const R x = r->x[i * r->sx]; \
            out[i] = VALUE;              \
        }                                \
        break;
#define MAP2(name, VALUE, ...)                                \
    case OX_##name:                                           \
        EACH                                                  \
        {                                                     \
            const R x = r->x[i * r->sx], y = r->y[i * r->sy]; \
            out[i] = VALUE;                                   \
        }                                                     \
        break;
#define MAP3(name, VALUE, ...)                                                     \
    case OX_##name:                                                                \
        EACH                                                                       \
        {                                                                          \
            const R x = r->x[i * r->sx], y = r->y[i * r->sy], w = r->w[i * r->sw]; \
            out[i] = VALUE;                                                        \
        }                                                                          \
        break;
#include "oracle/oracle_table.h"
    default: CHECK(!"a map");
    }
}

/* |x| + ex, where both are finite. */
static inline double FN(reach)(double x, double ex) { return (isfinite(x) ? fabs(x) : 0) + (isfinite(ex) ? ex : 0); }

/* Whether an infinity of finite operands is exact, a pole of the function, and not a number too large for the oracle.
 */
static inline bool FN(is_pole)(enum oracle_op op, double x, double y)
{
    switch (op) {
    case OX_div: return y == 0;
    case OX_pow: return x == 0;
    case OX_exp:
    case OX_exp2:
    case OX_expm1:
    case OX_add:
    case OX_sub:
    case OX_mul:
    case OX_sinh:
    case OX_cosh:
    case OX_tan:
    case OX_hypot: return false;
    default: return true;
    }
}

/* One element: PROP, then LOC or FAST, then both together. */
#define ERROR_OF(PROP, LOC, FAST, OPERAND_OVER, FINITE, NUMBERS, POLE)                          \
    const R z = r->z[i];                                                                        \
    double p = env->noise ? 0 : (PROP), az = isfinite(HI(z)) ? fabs(HI(z)) : 0, zm = az + p, l; \
    bool over = (OPERAND_OVER) && (isinf(p) || isnan(HI(z)));                                   \
    (void)az, (void)zm, (void)ax;                                                               \
    l = LOC;                                                                                    \
    if (env->fast) l = FAST;                                                                    \
    if (!isfinite(HI(z)) && !env->noise) {                                                      \
        over |= isinf(HI(z)) && (FINITE) && !(POLE);                                            \
        if (over) p = INFINITY;                                                                 \
        if (isnan(HI(z)) && (NUMBERS) && !(FINITE) && !over) p = ORACLE_DOUBTFUL;               \
    }                                                                                           \
    r->e[i] = oracle_settle(env, node->id, HI(z), p, l, over);

/* The errors of one map. A function for each: all of them in one take a compiler a multiple of the time. */
#define ERRORS(name, ...)                                                                                           \
    static __attribute__((noinline)) void FN(errors_##name)(const struct FN(run) * r, const struct oracle_env *env, \
                                                            const struct oracle_node *node)                         \
    {                                                                                                               \
        const double u = env->u, eta = env->eta;                                                                    \
        const struct oracle_type *type = FN(type_of)(node);                                                         \
        (void)u, (void)eta, (void)type;                                                                             \
        EACH __VA_ARGS__                                                                                            \
    }
#define MAP1(name, VALUE, PROP, LOC, FAST, ...)                                                                \
    ERRORS(name, {                                                                                             \
        R (*const f)(const struct oracle_type *, R) = FN(f_##name);                                            \
        const R x = r->x[i * r->sx];                                                                           \
        const double ex = r->ex[i * r->tx];                                                                    \
        const double ax = FN(reach)(HI(x), ex);                                                                \
        (void)f, (void)x;                                                                                      \
        if (r->m) r->m[i] = r->mx ? r->mx[i * r->ux] : ax;                                                     \
        ERROR_OF(PROP, LOC, FAST, isinf(ex), isfinite(HI(x)), !isnan(HI(x)), FN(is_pole)(OX_##name, HI(x), 0)) \
    })
#define MAP2(name, VALUE, PROP, LOC, FAST, ...)                                               \
    ERRORS(name, {                                                                            \
        const R x = r->x[i * r->sx];                                                          \
        const R y = r->y[i * r->sy];                                                          \
        const double ex = r->ex[i * r->tx];                                                   \
        const double ey = r->ey[i * r->ty];                                                   \
        const double ax = FN(reach)(HI(x), ex);                                               \
        const double ay = FN(reach)(HI(y), ey);                                               \
        const double jx = r->mx ? r->mx[i * r->ux] : ax;                                      \
        const double jy = r->my ? r->my[i * r->uy] : ay;                                      \
        (void)ay, (void)x, (void)y, (void)jx, (void)jy;                                       \
        if (r->m) r->m[i] = FN(terms_of)(node, jx, jy, fabs(HI(y)) - ey);                     \
        ERROR_OF(PROP, LOC, FAST, isinf(ex) || isinf(ey), isfinite(HI(x)) && isfinite(HI(y)), \
                 !isnan(HI(x)) && !isnan(HI(y)), FN(is_pole)(OX_##name, HI(x), HI(y)))        \
    })
#define MAP3(name, VALUE, PROP, LOC, FAST, ...)                                            \
    ERRORS(name, {                                                                         \
        const R x = r->x[i * r->sx];                                                       \
        const R y = r->y[i * r->sy];                                                       \
        const R w = r->w[i * r->sw];                                                       \
        const double ex = r->ex[i * r->tx];                                                \
        const double ey = r->ey[i * r->ty];                                                \
        const double ew = r->ew[i * r->tw];                                                \
        const double ax = 0;                                                               \
        ERROR_OF(PROP, LOC, FAST, isinf(ex) || isinf(ey) || isinf(ew), false, false, true) \
    })
#include "oracle/oracle_table.h"

static void FN(map_errors)(const struct FN(run) * r, const struct oracle_env *env, const struct oracle_node *node)
{
    switch (node->op) {
#define MAP1(name, ...)                  \
    case OX_##name:                      \
        FN(errors_##name)(r, env, node); \
        break;
#define MAP2 MAP1
#define MAP3 MAP1
#include "oracle/oracle_table.h"
    default: CHECK(!"a map");
    }
}

/* Strides of an operand in the shape of the result, in elements; 0 along axes that are broadcast. */
static void FN(strides)(const struct oracle_shape *x, const struct oracle_shape *z, u64 *stride)
{
    u64 step = 1;
    for (u32 i = 0; i < z->rank; i++) stride[i] = 0;
    for (u32 i = x->rank; i-- > 0; step *= x->dim[i]) stride[i + z->rank - x->rank] = x->dim[i] == 1 ? 0 : step;
}

/* A map, run by run: a run is all of it where every operand has the shape of the result or is one element, else a row
 * of the last axis. */
static void FN(map)(struct oracle_job *j)
{
    static const double zero = 0;
    const struct oracle_node *n = j->node;
    u64 stride[3][ORACLE_RANK], count = oracle_count(&n->shape), width = count, at[ORACLE_RANK] = { 0 };
    u32 step[3] = { 0 };
    bool whole = true;
    for (u32 k = 0; k < n->ins; k++) {
        u64 c = oracle_count(&n->in[k]->shape);
        whole &= c == count || c == 1;
        step[k] = c == count && c != 1;
        FN(strides)(&n->in[k]->shape, &n->shape, stride[k]);
    }
    if (!whole) {
        width = n->shape.dim[n->shape.rank - 1];
        for (u32 k = 0; k < n->ins; k++) step[k] = stride[k][n->shape.rank - 1] != 0;
    }
    for (u64 done = 0; done < count; done += width) {
        u64 from[3] = { 0 };
        for (u32 k = 0; k < n->ins && !whole; k++)
            for (u32 d = 0; d + 1 < n->shape.rank; d++) from[k] += at[d] * stride[k][d];
        struct FN(run) r = { .z = (R *)j->z + done, .e = j->ez ? j->ez + done : NULL, .n = width, .j = j };
        r.m = j->terms ? j->terms + done : NULL;
        const R **v[3] = { &r.x, &r.y, &r.w };
        const double **e[3] = { &r.ex, &r.ey, &r.ew };
        u32 *s[3] = { &r.sx, &r.sy, &r.sw }, *t[3] = { &r.tx, &r.ty, &r.tw };
        for (u32 k = 0; k < n->ins; k++) {
            *v[k] = (const R *)j->v[k] + from[k];
            *e[k] = j->e[k] ? j->e[k] + from[k] : &zero;
            *s[k] = step[k];
            *t[k] = j->e[k] ? step[k] : 0;
        }
        if (j->join[0].terms) r.mx = j->join[0].terms + from[0];
        if (j->join[1].terms) r.my = j->join[1].terms + from[1];
        r.ux = step[0];
        r.uy = step[1];
        FN(map_values)(&r, n);
        if (j->ez) FN(map_errors)(&r, j->env, n);
        for (u32 d = n->shape.rank; !whole && d-- > 1;) {
            if (++at[d - 1] < n->shape.dim[d - 1]) break;
            at[d - 1] = 0;
        }
    }
}

/* The index operand as whole numbers, each in range. */
static const s64 *FN(indices)(struct oracle_job *j)
{
    u64 limit = oracle_index_limit(j->node), n = oracle_count(&j->node->in[j->node->ins - 1]->shape);
    const R *v = j->v[j->node->ins - 1];
    s64 *index = oracle_scratch(j, n, sizeof *index);
    for (u64 i = 0; index && i < n; i++) {
        double x = HI(v[i]);
        /* where rounding moves it, the samples' own spread tells; which element is then meant does not matter */
        if (j->env->noise) x = x > 0 ? fmin(nearbyint(x), (double)limit - 1) : 0;
        if (!(x >= 0 && x < (double)limit && x == floor(x))) {
            oracle_index_refuse(j, i, x, limit);
            return NULL;
        }
        index[i] = (s64)x;
    }
    return index;
}

static const s64 *FN(map_of)(struct oracle_job *j, u64 elements)
{
    const s64 *index = NULL;
    if (oracle_rows[j->node->op].operands == 2 && !(index = FN(indices)(j))) return NULL;
    s64 *map = oracle_scratch(j, elements, sizeof *map);
    if (map) oracle_map(j->node, index, map);
    return map;
}

/* Element i of the first operand as one term. */
static double FN(term)(const struct oracle_job *j, s64 i)
{
    return FN(reach)(HI(((const R *)j->v[0])[i]), j->e[0] ? j->e[0][i] : 0);
}

static bool FN(moves)(struct oracle_job *j)
{
    const struct oracle_node *n = j->node;
    u64 count = oracle_count(&n->shape);
    const s64 *map = FN(map_of)(j, count);
    R *z = j->z, absent = OF(n->op == OX_unfold ? PADDING : 0);
    if (!map) return false;
    oracle_join_count(j, 0);
    for (u64 i = 0; i < count; i++) {
        s64 from = map[i];
        u32 k = 0;
        while (n->op == OX_concat && from >= (s64)oracle_count(&n->in[k]->shape))
            from -= (s64)oracle_count(&n->in[k++]->shape);
        z[i] = from < 0 ? absent : ((const R *)j->v[k])[from];
        if (j->ez) j->ez[i] = from < 0 || !j->e[k] || j->env->noise ? 0 : j->e[k][from];
        if (j->terms) j->terms[i] = from < 0 ? 0 : j->join[0].terms ? j->join[0].terms[from] : FN(term)(j, from);
    }
    return true;
}

struct FN(terms) { /* of sums, by element of the result: what oracle_sum_error asks for */
    double *n, *p, *a, *q;
    double *part; /* terms that are no whole numbers */
    double *odd;  /* infinite terms; NaN where one is NaN */
};

static bool FN(terms_new)(struct oracle_job *j, u64 count, struct FN(terms) * t)
{
    return (t->n = oracle_scratch(j, count, sizeof(double))) && (t->p = oracle_scratch(j, count, sizeof(double))) &&
           (t->a = oracle_scratch(j, count, sizeof(double))) && (t->q = oracle_scratch(j, count, sizeof(double))) &&
           (t->part = oracle_scratch(j, count, sizeof(double))) && (t->odd = oracle_scratch(j, count, sizeof(double)));
}

static void FN(terms_settle)(struct oracle_job *j, const struct FN(terms) * t, u64 count, double extra)
{
    const R *z = j->z;
    double most = 1;
    for (u64 i = 0; i < count; i++) {
        bool whole = j->firm && t->part[i] == 0 && t->p[i] == 0 && FN(is_whole)(j->env, t->a[i]);
        double l = whole ? 0 : oracle_sum_error(j->env, t->n[i], HI(z[i]), t->p[i], t->a[i], t->q[i], extra);
        /* of an infinite term a plain sum is infinite, a compensated one NaN, and so is a running mean */
        double p = t->odd[i] > 0 && t->n[i] > 1 && !isinf(t->p[i]) ? ORACLE_DOUBTFUL : t->p[i];
        j->ez[i] = oracle_settle(j->env, j->node->id, HI(z[i]), p, l, isinf(p));
        most = fmax(most, t->n[i]);
        if (j->terms) j->terms[i] = t->a[i] + (isfinite(t->p[i]) ? t->p[i] : 0);
    }
    oracle_join_count(j, most);
}

static bool FN(sums)(struct oracle_job *j)
{
    const struct oracle_node *n = j->node;
    u64 count = oracle_count(&n->shape), all = oracle_count(&n->in[0]->shape);
    const s64 *map = FN(map_of)(j, all);
    const R *x = j->v[0];
    R *z = j->z;
    struct FN(terms) t = { 0 };
    if (!map || (j->ez && !FN(terms_new)(j, count, &t))) return false;
    for (u64 i = 0; i < count; i++) z[i] = OF(0);
    for (u64 i = 0; i < all; i++)
        if (map[i] >= 0) z[map[i]] = ADD(z[map[i]], x[i]);
    if (!j->ez) return true;
    for (u64 i = 0; i < all; i++) {
        if (map[i] < 0) continue;
        double v = isfinite(HI(x[i])) ? fabs(HI(x[i])) : 0; /* finite terms: their partial sums must not overflow */
        t.n[map[i]]++;
        t.a[map[i]] += v;
        t.q[map[i]] += v * v;
        t.part[map[i]] += !FN(is_whole)(j->env, HI(x[i]));
        t.odd[map[i]] += isnan(HI(x[i])) ? NAN : isinf(HI(x[i])) ? 1 : 0;
        if (j->e[0]) t.p[map[i]] += j->e[0][i];
    }
    FN(terms_settle)(j, &t, count, 0);
    return true;
}

struct FN(lines) { /* an array as lines along one axis: element k of line (o, i) is at (o * length + k) * inner + i */
    u64 outer, length, inner;
};
static struct FN(lines) FN(lines_of)(const struct oracle_shape *s, u32 axis)
{
    struct FN(lines) l = { 1, s->dim[axis], 1 };
    for (u32 i = 0; i < axis; i++) l.outer *= s->dim[i];
    for (u32 i = axis + 1; i < s->rank; i++) l.inner *= s->dim[i];
    return l;
}

static bool FN(value_cumsum)(struct oracle_job *j)
{
    struct FN(lines) l = FN(lines_of)(&j->node->shape, (u32)j->node->attr.list[0]);
    const R *x = j->v[0];
    R *z = j->z;
    for (u64 line = 0; line < l.outer * l.inner; line++) {
        R sum = OF(0);
        double p = 0, a = 0, q = 0, odd = 0;
        bool whole = true;
        for (u64 k = 0; k < l.length; k++) {
            u64 i = (line / l.inner * l.length + k) * l.inner + line % l.inner;
            z[i] = sum = ADD(sum, x[i]);
            if (!j->ez) continue;
            p += j->e[0] ? j->e[0][i] : 0;
            double v = isfinite(HI(x[i])) ? fabs(HI(x[i])) : 0;
            a += v;
            q += v * v;
            whole &= FN(is_whole)(j->env, HI(x[i]));
            odd += isnan(HI(x[i])) ? NAN : isinf(HI(x[i])) ? 1 : 0;
            bool exact = whole && j->firm && p == 0 && FN(is_whole)(j->env, a);
            double loc = exact ? 0 : oracle_sum_error(j->env, (double)(k + 1), HI(sum), p, a, q, 0);
            double in = odd > 0 && k > 0 && !isinf(p) ? ORACLE_DOUBTFUL : p;
            j->ez[i] = oracle_settle(j->env, j->node->id, HI(sum), in, loc, isinf(in));
            if (j->terms) j->terms[i] = a + (isfinite(p) ? p : 0);
        }
    }
    oracle_join_count(j, (double)l.length);
    return true;
}

/* max, min, argmax and argmin. NaN wins, as in NumPy. sign: 1 for the largest, -1 for the smallest. */
static bool FN(extreme)(struct oracle_job *j, int sign, bool arg)
{
    const struct oracle_node *n = j->node;
    struct oracle_node as_sum = *n;
    u64 count = oracle_count(&n->shape), all = oracle_count(&n->in[0]->shape);
    s64 *map = oracle_scratch(j, all, sizeof *map), *best = oracle_scratch(j, count, sizeof *best);
    s64 *seen = oracle_scratch(j, count, sizeof *seen);
    double *least = oracle_scratch(j, count, sizeof *least);
    const R *x = j->v[0];
    R *z = j->z;
    double ties = n->attr.value; /* 1: the first of equal ones, -1: the last, 0: any */
    if (!map || !best || !seen || !least) return false;
    as_sum.op = OX_sum;
    oracle_map(&as_sum, NULL, map);
    for (u64 i = 0; i < count; i++) {
        best[i] = -1;
        z[i] = OF(-sign * (double)INFINITY);
    }
    for (u64 i = 0; i < all; i++) {
        s64 b = best[map[i]];
        R now = x[i];
        bool later = arg && ties < 0 && b >= 0 && SAME_AS(x[b], now);
        if (b < 0 || later || (isnan(HI(now)) && !isnan(HI(x[b]))) || (sign > 0 ? LESS(x[b], now) : LESS(now, x[b])))
            best[map[i]] = (s64)i;
    }
    for (u64 i = 0; i < all; i++) { /* how large the winner is at least; the position among its line */
        double low = sign * HI(x[i]) - (j->e[0] ? j->e[0][i] : 0);
        if (best[map[i]] == (s64)i) z[map[i]] = arg ? OF((double)seen[map[i]]) : x[i];
        if (!seen[map[i]]++ || low > least[map[i]]) least[map[i]] = low;
    }
    if (!j->ez) return true;
    for (u64 i = 0; i < count; i++) j->ez[i] = 0;
    for (u64 i = 0; i < all && !j->env->noise; i++) {
        double e = j->e[0] ? j->e[0][i] : 0, *to = &j->ez[map[i]];
        if (sign * HI(x[i]) + e < least[map[i]]) continue;
        if (!arg)
            *to = fmax(*to, e);
        else if (best[map[i]] != (s64)i && !(ties != 0 && e == 0 && SAME_AS(x[i], x[best[map[i]]])))
            *to = j->env->ill; /* a tie, or one that rounding may break */
    }
    return true;
}
static bool FN(value_max)(struct oracle_job *j) { return FN(extreme)(j, 1, false); }
static bool FN(value_min)(struct oracle_job *j) { return FN(extreme)(j, -1, false); }
static bool FN(value_argmax)(struct oracle_job *j) { return FN(extreme)(j, 1, true); }
static bool FN(value_argmin)(struct oracle_job *j) { return FN(extreme)(j, -1, true); }
