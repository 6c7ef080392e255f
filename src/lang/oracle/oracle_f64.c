/* The rows over doubles: values of oracles for kernels of f32 and narrower types. */
#include "oracle/oracle_env.h"
#include <stdlib.h>

#define R double
#define FN(name) name##_f64
#define OF(d) ((double)(d))
#define HI(x) (x)
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, b) ((a) / (b))
#define NEG(a) (-(a))
#define ABS(a) fabs(a)
#define SIGN(a) ((double)(((a) > 0) - ((a) < 0)) + (isnan(a) ? (a) : 0))
#define FLOOR(a) floor(a)
#define CEIL(a) ceil(a)
#define ROUND(a) nearbyint(a)
#define TRUNC(a) trunc(a)
#define EXP(a) exp(a)
#define EXP2(a) exp2(a)
#define EXPM1(a) expm1(a)
#define LOG(a) log(a)
#define LOG2(a) log2(a)
#define LOG1P(a) log1p(a)
#define SQRT(a) sqrt(a)
#define RSQRT(a) (1 / sqrt(a))
#define TANH(a) tanh(a)
#define ERF(a) erf(a)
#define SIGMOID(a) sigmoid(a)
#define SIN(a) sin(a)
#define COS(a) cos(a)
#define NOT(a) TRUTH(!HOLDS(a))
#define POW(a, b) pow(a, b)
#define MODULO(a, b) floor_mod(a, b)
#define FMOD(a, b) fmod(a, b)
#define ABOVE(a, b) (isnan(a) || isnan(b) ? NAN : (a) == (b) ? 0.5 : (double)((a) > (b)))
#define CHOSEN(c, a, b) ((c) > 0.5 ? (a) : (c) < 0.5 ? (b) : (c) == 0.5 ? ((a) + (b)) / 2 : NAN)
#define LOG10(a) log10(a)
#define TAN(a) tan(a)
#define ASIN(a) asin(a)
#define ACOS(a) acos(a)
#define ATAN(a) atan(a)
#define SINH(a) sinh(a)
#define COSH(a) cosh(a)
#define ERFC(a) erfc(a)
#define CBRT(a) cbrt(a)
#define ATAN2(a, b) atan2(a, b)
#define HYPOT(a, b) hypot(a, b)
#define ISNAN(a) TRUTH(isnan(a))
#define ISINF(a) TRUTH(isinf(a) != 0)
#define BITS(op, a, b) oracle_bits(op, a, b)
#define FLOORDIV(a, b) ((b) == 0 ? (a) / (b) : ((a)-floor_mod(a, b)) / (b))
#define NEAREST(type, a) oracle_nearest(type, a)
#define LESS(a, b) ((a) < (b))
#define SAME_AS(a, b) ((a) == (b))
#define HOLDS(a) ((a) != 0)
#define TRUTH(c) ((double)(c))
#define MAXIMUM(a, b) (isnan(a) || (a) > (b) ? (a) : isnan(b) || (b) > (a) ? (b) : (a))
#define MINIMUM(a, b) (isnan(a) || (a) < (b) ? (a) : isnan(b) || (b) < (a) ? (b) : (a))
#define FMAX(a, b) fmax(a, b)
#define FMIN(a, b) fmin(a, b)

/* With the sign of the divisor, as Python has it. */
static inline double floor_mod(double x, double y)
{
    double r = fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

/* Without overflow in exp(-x). */
static inline double sigmoid(double x)
{
    double e = exp(-fabs(x));
    return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

#include "oracle/oracle_rows.h"
#include "oracle/oracle_rows_lines.h"
#include "oracle/oracle_rows_end.h"
