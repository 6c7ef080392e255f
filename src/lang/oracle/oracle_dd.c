/* Functions of double-doubles: argument reduction and power series. The C library gives only first guesses, where a
 * step of Newton follows, so its last bits do not matter. */
#include "oracle/oracle_dd.h"

static const struct dd ln2 = { 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56 };

/* e^x - 1 for |x| below 0.4: x / 256 by Taylor, then doubled eight times. */
static struct dd expm1_small(struct dd x)
{
    struct dd r = { x.hi / 256, x.lo / 256 }, sum = { 0 };
    for (int k = 10; k >= 1; k--) sum = dd_mul(dd_div(r, dd_of(k)), dd_add(dd_of(1), sum));
    for (int k = 0; k < 8; k++) sum = dd_add(dd_add(sum, sum), dd_mul(sum, sum));
    return sum;
}

struct dd dd_exp(struct dd x)
{
    if (!(fabs(x.hi) < 700)) return dd_of(exp(x.hi)); /* NaN, infinities, and what f64 kernels have no bound for */
    double k = nearbyint(x.hi / ln2.hi);
    struct dd y = dd_add(dd_of(1), expm1_small(dd_sub(x, dd_mul(ln2, dd_of(k)))));
    return (struct dd){ ldexp(y.hi, (int)k), ldexp(y.lo, (int)k) };
}

struct dd dd_expm1(struct dd x) { return fabs(x.hi) < 0.4 ? expm1_small(x) : dd_sub(dd_exp(x), dd_of(1)); }

struct dd dd_log(struct dd x)
{
    if (!(x.hi > 0) || isinf(x.hi)) return dd_of(log(x.hi));
    int e;
    double m = frexp(x.hi, &e);
    if (m < 0.70710678118654752) e--;
    struct dd part = { ldexp(x.hi, -e), ldexp(x.lo, -e) };
    struct dd y = dd_of(log(part.hi));
    y = dd_add(y, dd_sub(dd_mul(part, dd_exp(dd_neg(y))), dd_of(1)));
    return dd_add(y, dd_mul(ln2, dd_of(e)));
}

struct dd dd_log1p(struct dd x)
{
    if (!(fabs(x.hi) < 0.4)) return dd_log(dd_add(x, dd_of(1)));
    struct dd s = dd_div(x, dd_add(x, dd_of(2))), s2 = dd_mul(s, s), sum = { 0 };
    for (int k = 65; k >= 1; k -= 2) sum = dd_add(dd_mul(sum, s2), dd_div(dd_of(1), dd_of(k)));
    return dd_mul(dd_add(s, s), sum);
}

struct dd dd_sqrt(struct dd x)
{
    double s = sqrt(x.hi);
    if (!(s > 0) || isinf(s)) return dd_of(s);
    struct dd rest = dd_sub(x, dd_mul(dd_of(s), dd_of(s)));
    return dd_add(dd_of(s), dd_of(rest.hi / (2 * s)));
}

struct dd dd_tanh(struct dd x)
{
    if (!(fabs(x.hi) < 40)) return dd_of(isnan(x.hi) ? x.hi : copysign(1, x.hi));
    struct dd a = dd_abs(x), t = dd_expm1(dd_add(a, a)), y = dd_div(t, dd_add(t, dd_of(2)));
    return x.hi < 0 ? dd_neg(y) : y;
}

/* 2/sqrt(pi) exp(-x^2) sum of 2^n x^(2n+1) / (2n+1)!!: terms of one sign. */
struct dd dd_erf(struct dd x)
{
    static const struct dd scale = { 0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56 };
    if (!(fabs(x.hi) < 9)) return dd_of(isnan(x.hi) ? x.hi : copysign(1, x.hi));
    struct dd x2 = dd_mul(x, x), term = x, sum = x;
    for (int n = 0; n < 1000 && fabs(term.hi) > fabs(sum.hi) * 0x1p-110; n++) {
        term = dd_div(dd_mul(term, dd_add(x2, x2)), dd_of(2 * n + 3));
        sum = dd_add(sum, term);
    }
    return dd_mul(dd_mul(scale, dd_exp(dd_neg(x2))), sum);
}

static struct dd series(struct dd x, int first)
{
    struct dd x2 = dd_neg(dd_mul(x, x)), sum = dd_of(1);
    for (int k = first + 30; k > first; k -= 2) sum = dd_add(dd_of(1), dd_mul(dd_div(x2, dd_of(k * (k - 1))), sum));
    return first ? dd_mul(x, sum) : sum;
}

/* sin(x + quarter * pi/2). Beyond 2^40 the double's own value is as good as an f64 kernel's bound. */
static struct dd sine(struct dd x, int quarter)
{
    static const struct dd half_pi = { 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54 };
    static const double third = -0x1.f1976b7ed8fbcp-110; /* pi/2 goes on */
    if (!(fabs(x.hi) < 0x1p40)) return dd_of(quarter ? cos(x.hi) : sin(x.hi));
    double k = nearbyint(x.hi / half_pi.hi);
    struct dd r = dd_sub(dd_sub(x, dd_mul(dd_of(half_pi.hi), dd_of(k))), dd_mul(dd_of(half_pi.lo), dd_of(k)));
    r = dd_sub(r, dd_of(k * third));
    int turn = (int)(fmod(k, 4) + 4 + quarter) % 4;
    struct dd y = turn % 2 ? series(r, 0) : series(r, 1);
    return turn >= 2 ? dd_neg(y) : y;
}

struct dd dd_sin(struct dd x) { return sine(x, 0); }
struct dd dd_cos(struct dd x) { return sine(x, 1); }

struct dd dd_tan(struct dd x)
{
    if (!(fabs(x.hi) < 0x1p40)) return dd_of(tan(x.hi));
    return dd_div(dd_sin(x), dd_cos(x));
}

static const struct dd pi = { 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53 };
static struct dd half(struct dd x) { return (struct dd){ x.hi / 2, x.lo / 2 }; }

/* One step: atan(x) - t is the arc whose tangent is (x - tan t) / (1 + x tan t), which is as small as its own arc. */
struct dd dd_atan(struct dd x)
{
    if (!(fabs(x.hi) < 0x1p60)) return isnan(x.hi) ? x : x.hi < 0 ? dd_neg(half(pi)) : half(pi);
    if (fabs(x.hi) > 1) { /* the tangent near a quarter turn would lose digits */
        struct dd r = dd_sub(half(pi), dd_atan(dd_div(dd_of(1), dd_abs(x))));
        return x.hi < 0 ? dd_neg(r) : r;
    }
    struct dd y = dd_of(atan(x.hi)), t = dd_tan(y);
    return dd_add(y, dd_div(dd_sub(x, t), dd_add(dd_of(1), dd_mul(x, t))));
}

struct dd dd_atan2(struct dd y, struct dd x)
{
    double plain = atan2(y.hi, x.hi);
    if (!isfinite(x.hi) || !isfinite(y.hi) || plain == 0 || (x.hi == 0 && y.hi == 0)) {
        double k = plain / (pi.hi / 4);
        return k == nearbyint(k) && k != 0 ? dd_mul(pi, dd_of(k / 4)) : dd_of(plain);
    }
    struct dd quarter = signbit(y.hi) ? dd_neg(half(pi)) : half(pi);
    if (fabs(y.hi) > fabs(x.hi)) return dd_sub(quarter, dd_atan(dd_div(x, y)));
    struct dd r = dd_atan(dd_div(y, x));
    return x.hi > 0 ? r : dd_add(dd_add(quarter, quarter), r);
}

static struct dd other_leg(struct dd x) { return dd_sqrt(dd_mul(dd_sub(dd_of(1), x), dd_add(dd_of(1), x))); }

struct dd dd_asin(struct dd x)
{
    return !(fabs(x.hi) <= 1) || x.hi == 0 ? dd_of(asin(x.hi)) : dd_atan2(x, other_leg(x));
}

struct dd dd_acos(struct dd x) { return !(fabs(x.hi) <= 1) ? dd_of(acos(x.hi)) : dd_atan2(other_leg(x), x); }

struct dd dd_sinh(struct dd x)
{
    if (!(fabs(x.hi) < 700)) return dd_of(sinh(x.hi));
    struct dd e = dd_expm1(x);
    return half(dd_add(e, dd_div(e, dd_add(e, dd_of(1)))));
}

struct dd dd_cosh(struct dd x)
{
    if (!(fabs(x.hi) < 700)) return dd_of(cosh(x.hi));
    struct dd e = dd_exp(x);
    return half(dd_add(e, dd_div(dd_of(1), e)));
}

/* Far out the continued fraction x + (1/2)/(x + 1/(x + (3/2)/(x + ...))). */
struct dd dd_erfc(struct dd x)
{
    static const struct dd scale = { 0x1.20dd750429b6dp-1, 0x1.1ae3a914fed80p-57 }; /* 1/sqrt(pi) */
    if (!(x.hi > 3) || x.hi > 27) return x.hi > 27 ? dd_of(erfc(x.hi)) : dd_sub(dd_of(1), dd_erf(x));
    struct dd t = x;
    for (int k = 200; k >= 1; k--) t = dd_add(x, dd_div(dd_of(k / 2.0), t));
    return dd_div(dd_mul(scale, dd_exp(dd_neg(dd_mul(x, x)))), t);
}

struct dd dd_cbrt(struct dd x)
{
    struct dd y = dd_of(cbrt(x.hi)), y2 = dd_mul(y, y);
    if (!isfinite(x.hi) || x.hi == 0) return y;
    return dd_sub(y, dd_div(dd_sub(dd_mul(y2, y), x), dd_mul(dd_of(3), y2)));
}

struct dd dd_log10(struct dd x)
{
    static const struct dd ln10 = { 0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53 };
    return dd_div(dd_log(x), ln10);
}

struct dd dd_hypot(struct dd x, struct dd y)
{
    double plain = hypot(x.hi, y.hi);
    int e;
    if (!isfinite(plain) || plain == 0) return dd_of(plain);
    frexp(plain, &e);
    struct dd a = { ldexp(x.hi, -e), ldexp(x.lo, -e) }, b = { ldexp(y.hi, -e), ldexp(y.lo, -e) },
              r = dd_sqrt(dd_add(dd_mul(a, a), dd_mul(b, b)));
    return (struct dd){ ldexp(r.hi, e), ldexp(r.lo, e) };
}

struct dd dd_pow(struct dd x, struct dd y)
{
    double plain = pow(x.hi, y.hi);
    if (!isfinite(plain) || plain == 0 || x.hi == 0 || !isfinite(x.hi) || !isfinite(y.hi)) return dd_of(plain);
    if (y.hi == 0 || (x.hi == 1 && x.lo == 0)) return dd_of(plain);
    struct dd z = dd_exp(dd_mul(y, dd_log(dd_abs(x))));
    return plain < 0 ? dd_neg(z) : z;
}

struct dd dd_floor(struct dd x)
{
    double f = floor(x.hi);
    return f == x.hi ? dd_join(f, floor(x.lo)) : dd_of(f);
}

struct dd dd_round(struct dd x)
{
    double r = nearbyint(x.hi);
    if (r == x.hi) return dd_join(r, nearbyint(x.lo));
    if (fabs(r - x.hi) == 0.5 && x.lo) return dd_of(x.lo > 0 ? floor(x.hi) + 1 : floor(x.hi)); /* no tie after all */
    return dd_of(r);
}
