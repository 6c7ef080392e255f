/* The rows over double-doubles: values of oracles for kernels of f64. */
#include "oracle/oracle_env.h"
#include <stdlib.h>
#include "oracle/oracle_dd.h"

#define R struct dd
#define FN(name) name##_dd
#define OF(d) dd_of(d)
#define HI(x) ((x).hi)
#define ADD(a, b) dd_add(a, b)
#define SUB(a, b) dd_sub(a, b)
#define MUL(a, b) dd_mul(a, b)
#define DIV(a, b) dd_div(a, b)
#define NEG(a) dd_neg(a)
#define ABS(a) dd_abs(a)
#define SIGN(a) dd_of((double)(((a).hi > 0) - ((a).hi < 0)) + (isnan((a).hi) ? (a).hi : 0))
#define FLOOR(a) dd_floor(a)
#define CEIL(a) dd_neg(dd_floor(dd_neg(a)))
#define ROUND(a) dd_round(a)
#define TRUNC(a) ((a).hi < 0 ? dd_neg(dd_floor(dd_neg(a))) : dd_floor(a))
#define EXP(a) dd_exp(a)
#define EXP2(a) dd_exp(dd_mul(a, natural_2))
#define EXPM1(a) dd_expm1(a)
#define LOG(a) dd_log(a)
#define LOG2(a) dd_div(dd_log(a), natural_2)
#define LOG1P(a) dd_log1p(a)
#define SQRT(a) dd_sqrt(a)
#define RSQRT(a) dd_div(dd_of(1), dd_sqrt(a))
#define TANH(a) dd_tanh(a)
#define ERF(a) dd_erf(a)
#define SIGMOID(a) sigmoid(a)
#define SIN(a) dd_sin(a)
#define COS(a) dd_cos(a)
#define NOT(a) TRUTH(!HOLDS(a))
#define POW(a, b) dd_pow(a, b)
#define MODULO(a, b) floor_mod(a, b)
#define FMOD(a, b) truncated_mod(a, b)
#define ABOVE(a, b) dd_of(isnan((a).hi) || isnan((b).hi) ? NAN : dd_same(a, b) ? 0.5 : (double)dd_less(b, a))
#define CHOSEN(c, a, b) \
    ((c).hi > 0.5 ? (a) : (c).hi < 0.5 ? (b) : (c).hi == 0.5 ? dd_mul(dd_add(a, b), dd_of(0.5)) : (c))
#define LOG10(a) dd_log10(a)
#define TAN(a) dd_tan(a)
#define ASIN(a) dd_asin(a)
#define ACOS(a) dd_acos(a)
#define ATAN(a) dd_atan(a)
#define SINH(a) dd_sinh(a)
#define COSH(a) dd_cosh(a)
#define ERFC(a) dd_erfc(a)
#define CBRT(a) dd_cbrt(a)
#define ATAN2(a, b) dd_atan2(a, b)
#define HYPOT(a, b) dd_hypot(a, b)
#define ISNAN(a) TRUTH(isnan((a).hi))
#define ISINF(a) TRUTH(isinf((a).hi) != 0)
#define BITS(op, a, b) dd_of(oracle_bits(op, (a).hi, (b).hi))
#define FLOORDIV(a, b) ((b).hi == 0 ? dd_div(a, b) : dd_div(dd_sub(a, MODULO(a, b)), b))
#define NEAREST(type, a) dd_of(oracle_nearest(type, (a).hi))
#define LESS(a, b) dd_less(a, b)
#define SAME_AS(a, b) dd_same(a, b)
#define HOLDS(a) ((a).hi != 0)
#define TRUTH(c) dd_of((double)(c))
#define MAXIMUM(a, b) (isnan((a).hi) || dd_less(b, a) ? (a) : isnan((b).hi) || dd_less(a, b) ? (b) : (a))
#define MINIMUM(a, b) (isnan((a).hi) || dd_less(a, b) ? (a) : isnan((b).hi) || dd_less(b, a) ? (b) : (a))
#define FMAX(a, b) (isnan((a).hi) || dd_less(a, b) ? (b) : (a))
#define FMIN(a, b) (isnan((a).hi) || dd_less(b, a) ? (b) : (a))

/* The remainder of doubles is a double; beyond 2^100 of the divisor the low parts say nothing. */
static inline struct dd truncated_mod(struct dd x, struct dd y)
{
    struct dd q = dd_div(x, y);
    if ((x.lo == 0 && y.lo == 0) || !(fabs(q.hi) < 0x1p100)) return dd_of(fmod(x.hi, y.hi));
    q = q.hi < 0 ? dd_neg(dd_floor(dd_neg(q))) : dd_floor(q);
    return dd_sub(x, dd_mul(q, y));
}

static inline struct dd floor_mod(struct dd x, struct dd y)
{
    struct dd r = truncated_mod(x, y);
    return r.hi != 0 && (r.hi < 0) != (y.hi < 0) ? dd_add(r, y) : r;
}

static const struct dd natural_2 = { 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56 };

static inline struct dd sigmoid(struct dd x)
{
    struct dd e = dd_exp(dd_neg(dd_abs(x))), whole = dd_add(dd_of(1), e);
    return dd_div(x.hi >= 0 ? dd_of(1) : e, whole);
}

#include "oracle/oracle_rows.h"
#include "oracle/oracle_rows_lines.h"
#include "oracle/oracle_rows_end.h"
