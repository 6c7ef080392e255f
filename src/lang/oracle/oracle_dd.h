/* Double-double numbers: the unevaluated sum of two doubles, 106 bits. Values of oracles for kernels of f64, whose own
 * roundings are as large as those of a value in f64 would be. Only operations that IEEE 754 defines, so that every
 * machine has the same bits; the functions are good to about 2^-98. */
#ifndef LOCKSTEP_ORACLE_DD_H
#define LOCKSTEP_ORACLE_DD_H
#include <math.h>
#include <stdbool.h>

struct dd {
    double hi, lo; /* |lo| is at most half a unit in the last place of hi; 0 where hi is not finite */
};

static inline struct dd dd_of(double x) { return (struct dd){ x, 0 }; }
static inline double dd_sum(struct dd a) { return a.hi + a.lo; }

/* a + b where |a| >= |b|, or a is 0 */
static inline struct dd dd_join(double a, double b)
{
    double s = a + b;
    return isfinite(s) ? (struct dd){ s, b - (s - a) } : (struct dd){ s, 0 };
}

static inline struct dd dd_add(struct dd a, struct dd b)
{
    double s = a.hi + b.hi;
    if (!isfinite(s)) return (struct dd){ s, 0 };
    double t = s - a.hi, low = (a.hi - (s - t)) + (b.hi - t);
    double s2 = a.lo + b.lo, t2 = s2 - a.lo, low2 = (a.lo - (s2 - t2)) + (b.lo - t2);
    struct dd r = dd_join(s, low + s2);
    return dd_join(r.hi, r.lo + low2);
}

static inline struct dd dd_neg(struct dd a) { return (struct dd){ -a.hi, -a.lo }; }
static inline struct dd dd_sub(struct dd a, struct dd b) { return dd_add(a, dd_neg(b)); }

static inline struct dd dd_mul(struct dd a, struct dd b)
{
    double p = a.hi * b.hi;
    if (!isfinite(p)) return (struct dd){ p, 0 };
    return dd_join(p, fma(a.hi, b.hi, -p) + (a.hi * b.lo + a.lo * b.hi));
}

static inline struct dd dd_div(struct dd a, struct dd b)
{
    double q = a.hi / b.hi;
    if (!isfinite(q) || isinf(b.hi)) return (struct dd){ q, 0 };
    struct dd r = dd_sub(a, dd_mul(b, dd_of(q)));
    double q2 = r.hi / b.hi;
    r = dd_sub(r, dd_mul(b, dd_of(q2)));
    struct dd s = dd_join(q, q2);
    return dd_add(s, dd_of(r.hi / b.hi));
}

static inline bool dd_less(struct dd a, struct dd b) { return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo); }
static inline bool dd_same(struct dd a, struct dd b) { return a.hi == b.hi && a.lo == b.lo; }
static inline struct dd dd_abs(struct dd a) { return a.hi < 0 ? dd_neg(a) : a; }

struct dd dd_exp(struct dd x);
struct dd dd_expm1(struct dd x);
struct dd dd_log(struct dd x);
struct dd dd_log1p(struct dd x);
struct dd dd_sqrt(struct dd x);
struct dd dd_tanh(struct dd x);
struct dd dd_erf(struct dd x);
struct dd dd_sin(struct dd x);
struct dd dd_cos(struct dd x);
struct dd dd_pow(struct dd x, struct dd y);
struct dd dd_atan(struct dd x);
struct dd dd_atan2(struct dd y, struct dd x);
struct dd dd_asin(struct dd x);
struct dd dd_acos(struct dd x);
struct dd dd_tan(struct dd x);
struct dd dd_sinh(struct dd x);
struct dd dd_cosh(struct dd x);
struct dd dd_erfc(struct dd x);
struct dd dd_cbrt(struct dd x);
struct dd dd_log10(struct dd x);
struct dd dd_hypot(struct dd x, struct dd y);
struct dd dd_floor(struct dd x);
struct dd dd_round(struct dd x); /* to nearest, ties to even */
#endif
