/* The rows over doubles: values of oracles for kernels of f32 and narrower types. */
#include "oracle/oracle_env.h"

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
#define MODULO(a, b) ((a)-floor((a) / (b)) * (b))
#define NEAREST(type, a) oracle_nearest(type, a)
#define LESS(a, b) ((a) < (b))
#define SAME_AS(a, b) ((a) == (b))
#define HOLDS(a) ((a) != 0)
#define TRUTH(c) ((double)(c))
#define MAXIMUM(a, b) (isnan(a) || (a) > (b) ? (a) : isnan(b) || (b) > (a) ? (b) : (a))
#define MINIMUM(a, b) (isnan(a) || (a) < (b) ? (a) : isnan(b) || (b) < (a) ? (b) : (a))
#define FMAX(a, b) fmax(a, b)
#define FMIN(a, b) fmin(a, b)

/* Without overflow in exp(-x). */
static inline double sigmoid(double x)
{
    double e = exp(-fabs(x));
    return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

#include "oracle/oracle_rows.h"
#include "oracle/oracle_rows_end.h"
