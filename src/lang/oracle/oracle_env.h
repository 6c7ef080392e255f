/* How rows are computed: what a correct kernel may do, and the job of one row. */
#ifndef LOCKSTEP_ORACLE_ENV_H
#define LOCKSTEP_ORACLE_ENV_H
#include "oracle/oracle_graph.h"
#include <math.h>

struct oracle_type { /* a floating-point type, by what its roundings do */
    const char *name;
    double u;      /* unit roundoff */
    double tiny;   /* half the smallest subnormal number */
    double normal; /* the smallest normal number */
    double most;   /* the largest finite number */
    u32 bits;      /* of its significand, the hidden one counted */
};
/* f64 f32 tf32 f16 bf16 e4m3 e5m2; NULL: none has this name. */
const struct oracle_type *oracle_type(struct str name);

/* x rounded to the type, to nearest; beyond its largest number the largest, or infinity where it has one. */
double oracle_nearest(const struct oracle_type *t, double x);

/* How the roundings of a sum add up (oracle_sum_error). */
enum oracle_order {
    ORACLE_WORST,  /* (n-1) u A: any order, any data */
    ORACLE_LIKELY, /* min(6 sqrt(n-1), n-1) u A: any order, roundings of mean zero */
    ORACLE_SPREAD, /* the standard deviation of an order that has nothing to do with the values */
};
struct oracle_env {
    const struct oracle_type *type; /* of accumulation */
    double u, eta, subnormal;       /* u; what results may lose to flushing; inputs below this may be read as 0 */
    double operands;                /* what a product loses to the rounding of its operands, relatively: tf32 */
    double most;                    /* values above this say nothing: another algorithm may overflow */
    double ill;                     /* an error this large says that nothing is known */
    double regroup;                 /* roundings of + - * */
    enum oracle_order order;
    u32 tree;         /* lanes of a sum; 0: order unknown */
    u32 depth;        /* roundings of a term at most; 0: any number */
    bool compensated; /* sums lose two roundings, and the tree of their lanes */
    bool fast;        /* fast math */
    bool bounds;      /* errors are wanted */
    bool noise;       /* errors are those of one operation each, for Monte Carlo arithmetic */
    /* for oracle_why: the id + 1 of the first and of the last node that round, none else does; 0: all do */
    u32 only, only_last;
};
static inline bool oracle_env_asks(const struct oracle_env *env, u32 id)
{
    return !env->only || (id + 1 >= env->only && id + 1 <= env->only_last);
}

struct oracle_join {     /* of a node that joins: what its terms may lose when they are added in another order */
    const double *terms; /* for each element the sum of the magnitudes of its terms; NULL: it is one term, itself */
    double adds;         /* additions at most, those of its sums counted */
    double plain;        /* additions that are + and - of the text */
};

enum { ORACLE_SCRATCH = 16 };
struct oracle_job { /* one row, of one node */
    const struct oracle_env *env;
    const struct oracle_node *node;
    const struct oracle_graph *graph; /* of the node: its text, for messages */
    const void *v[ORACLE_OPERANDS];   /* values of the operands */
    const double *e[ORACLE_OPERANDS]; /* their errors; NULL: exact */
    struct oracle_join join[ORACLE_OPERANDS];
    void *z;                       /* room for the values */
    double *terms;                 /* room for the terms of the result; NULL: not wanted */
    double adds, plain;            /* of the result, as oracle_join has them */
    bool firm;                     /* whole numbers are exact here: nothing that follows rounds (oracle_exact.c) */
    double *ez;                    /* room for the errors; NULL: not wanted */
    const void *data;              /* an input's elements, as its type has them */
    const struct scalar *type;     /* of them */
    void *scratch[ORACLE_SCRATCH]; /* freed when the row is done */
    u32 scratches;
    struct error *err;
};
/* Memory that lives as long as the job; NULL: job->err says that there is none. */
void *oracle_scratch(struct oracle_job *j, u64 elements, size_t size);
/* Additions that a term of n goes through, as the options say it. */
double oracle_additions(const struct oracle_env *env, double n);
/* What a sum of n terms may lose: z the sum, p the errors of its terms, a the sum of |terms|, q of their squares,
 * `extra` the roundings of each term itself (1 for products). */
double oracle_sum_error(const struct oracle_env *env, double n, double z, double p, double a, double q, double extra);
/* oracle_join.c: what adding x and y may lose beyond their own errors, where a kernel adds the terms of both in any
 * order: ax and ay are those terms' magnitudes. */
double oracle_join_error(const struct oracle_job *j, double ax, double ay);
/* What k roundings, one after the other, lose of a number, in u. */
double oracle_lost(const struct oracle_env *env, double k);
/* What a product or quotient may lose of the sum that it scales, whose terms come to `terms` then: kernels scale each
 * of them first, or keep a running mean. */
double oracle_scale_error(const struct oracle_job *j, double terms);
/* Whether a node's error is made of the terms of an operand. */
bool oracle_asks_terms(const struct oracle_node *n);
/* The additions of a node, out of those of its operands; `terms`: of its own sum. */
void oracle_join_count(struct oracle_job *j, double terms);
/* Whole numbers as 64 bits: '&' '|' '^' '<' '>'; NaN where one of them is no whole number, or a shift is too far. */
double oracle_bits(char op, double x, double y);
/* The job, over doubles and over double-doubles. false: job->err. */
/* Says that element i of the index operand is x, which the first operand has not. */
void oracle_index_refuse(struct oracle_job *j, u64 i, double x, u64 limit);
bool oracle_row_f64(struct oracle_job *j);
bool oracle_row_dd(struct oracle_job *j);

/* A bound above this says nothing: an error as large as `ill` may have been divided since. */
static inline double oracle_unsaid(const struct oracle_env *env) { return fmin(env->type->most, env->ill * 0x1p-100); }
/* For the error that came in: infinity or NaN, a correct kernel may have either. */
#define ORACLE_DOUBTFUL (-1.0)
/* The error of an element: what came in (p) and what is added (l). Exact infinities have none, unless they are
 * doubtful. An infinite error says that the kernel may overflow (`over`: an operand already may), env->ill that the
 * element is ill-conditioned. */
static inline double oracle_settle(const struct oracle_env *env, u32 id, double z, double p, double l, bool over)
{
    bool inf = isinf(z);
    if (!oracle_env_asks(env, id) && !isinf(l)) l = 0;
    if (env->noise) return inf || isnan(l) ? 0 : l;
    if (p < 0) return env->ill;
    bool known = inf && !over && p <= oracle_unsaid(env); /* what is ill-conditioned may not be infinite at all */
    double e = known ? 0 : p + (inf ? 0 : l);
    if (isnan(e) || e > env->ill) e = env->ill;
    if ((over && e >= env->ill) || (isinf(l) && !(p >= env->ill)) || (!inf && fabs(z) > env->most)) return INFINITY;
    return e;
}
/* What lies beyond an image: kernels multiply it by zero, or leave it out. A zero with a sign, so that it is known. By
 * its bits: gcc 13 at -O2 takes `x == 0 && signbit(x)` for false where it follows a test for NaN. */
#define PADDING (-0.0)
static inline bool is_padding(double x)
{
    u64 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits == 1ull << 63;
}
#endif
