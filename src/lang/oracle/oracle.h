/* oracle: what a kernel should have computed, from a line of text. docs/lab/oracle.md is the manual.
 *
 *     y = x * rsqrt(mean(x*x, -1, keep) + 1e-5) * g
 *     dx, dg, db = grad(layernorm(x, g, b, 1e-5), dy)
 *
 * From the text come the exact value of every element (in f64, or in double-double for kernels of f64), a bound on what
 * a correct kernel may differ by, whatever the order of its sums, and the gradient, which is a text of the same
 * primitives (oracle.def) and has a value and a bound of its own. oracle_judge holds a kernel's output against them,
 * oracle_classify (mistake/mistake.h) says which mistake explains it.
 *
 *     struct oracle *o = oracle_new(&arena, names, n);
 *     if (!oracle_read(o, file, all, line, &e)) ...          one text after the other: a contract has several lines
 *     if (!oracle_evaluate(o, &options, data, &result, &e)) ...
 *     oracle_judge(o, &result, 0, output, &judgement);
 *     oracle_result_free(&result);
 *
 * Everything that a text makes lives in the arena; arrays are the result's. Nothing here knows a kernel, a launch or a
 * device. */
#ifndef LOCKSTEP_ORACLE_H
#define LOCKSTEP_ORACLE_H
#include "base/scalar.h"

enum { ORACLE_RANK = 8 };
struct oracle_shape {
    u32 rank; /* 0: a single number */
    u64 dim[ORACLE_RANK];
};

struct oracle_name { /* what a text may speak of */
    const char *name;
    const struct scalar *type; /* of an array; NULL: a dim or a value, which stands for `value` */
    struct oracle_shape shape;
    double value;
    const char *word; /* it stands for this type, as in via(x, T); else NULL */
    bool in;          /* an array whose contents are given */
    bool out; /* an array that the text may define; both: its name means the old contents until the text defines it */
};

struct oracle_options {     /* how a correct kernel may compute. All zero: sums in f32, in any order */
    const char *accumulate; /* what sums are kept in: f64 f32 tf32 f16 bf16. NULL: f64 if an output is f64, else f32 */
    u32 tree;               /* sums are of so many lanes, then a tree; 0: any order */
    u32 depth;              /* a term of a sum goes through so many roundings at most; 0: any number */
    bool compensated;       /* sums carry what they have lost: Kahan's, and what is made of it */
    bool fast;              /* fast math: exp, log, sin, cos, tanh, pow as the approximate instructions have them */
    bool no_flush;          /* subnormal numbers are never flushed to zero */
    double looser;          /* bounds are multiplied by this; 0: 1 */
    bool worst_only;        /* leaves out the bound above which an output is suspect */
    u64 seed;               /* of the Monte Carlo bound */
};
/* "f32 tree 256 fast": the words of a contract's `accumulate` line. */
bool oracle_options_read(struct oracle_options *o, const char *file, struct str all, struct str text, struct error *e);

struct oracle;
/* `names` must live as long as the oracle. */
struct oracle *oracle_new(struct arena *mem, const struct oracle_name *names, u32 n);
/* Adds a text: definitions and statements, with `;` between. It is a part of `all`, for places in messages. A single
 * expression without a name defines the only `out`, or `value` where there is none. A text that is only the name of a
 * definition is that definition of the arrays that are `in`, in their order. */
bool oracle_read(struct oracle *o, const char *file, struct str all, struct str text, struct error *e);
struct oracle_output {
    const char *name;
    struct oracle_shape shape;
    const struct scalar *type; /* of the `out` of this name; NULL: it has none, and counts as the accumulation type */
};
/* What the text defines: the `out` names, in the order of the text; all names where there is no `out`. */
u32 oracle_outputs(const struct oracle *o);
struct oracle_output oracle_output(const struct oracle *o, u32 i);

/* About how many operations an evaluation takes. */
double oracle_cost(const struct oracle *o);

/* Why an element has no bound. */
enum oracle_unknown {
    ORACLE_KNOWN,
    ORACLE_OVERFLOW, /* the kernel may overflow here */
    ORACLE_ILL,      /* ill-conditioned: rounding may change everything, a condition may turn over, a tie */
};
struct oracle_array { /* an output */
    u64 count;
    double *value;   /* exact, rounded to f64 */
    double *low;     /* double-double: what is to be added to value; NULL: nothing */
    double *worst;   /* no correct kernel differs by more, whatever its order: an error above it. INFINITY: unknown */
    double *suspect; /* a correct kernel hardly ever differs by more: a note above it; NULL: worst_only */
    u8 *unknown;     /* enum oracle_unknown */
    bool exact;      /* every sum and product is exact in every order: the bound is that of storing alone */
    bool sampled;    /* suspect is the Monte Carlo bound: the worst case says too little of a text this deep */
};
struct oracle_result {
    u32 n;
    struct oracle_array *array;
    const char *accumulate; /* the type that sums are kept in */
};
/* Computes the outputs. data[i] are the elements of names[i] as its type has them, dense; NULL where it is not `in`.
 * false: an index out of range, no memory, too much to compute. */
bool oracle_evaluate(const struct oracle *o, const struct oracle_options *how, const void *const *data,
                     struct oracle_result *out, struct error *e);
void oracle_result_free(struct oracle_result *r);

/* Where the bound of one element comes from. */
struct oracle_term {
    double share;     /* of the bound */
    const char *what; /* "sum of 64 terms in softmax" */
    const char *at;   /* its place in the text; NULL: none */
};
/* The n largest shares at element `index` of output `i`, largest first; returns how many there are. Costs an evaluation
 * for each rounded operation of the text, 256 at most: among more the largest are looked for by halves. */
u32 oracle_why(const struct oracle *o, const struct oracle_options *how, const void *const *data, u32 i, u64 index,
               struct oracle_term *out, u32 n, struct arena *mem, struct error *e);

/* ---- the verdict ---- */

struct oracle_given { /* what a kernel wrote: the elements of an output, dense, as its type has them */
    const void *bytes;
    const void
        *poison; /* one element as it was before the launch: what still holds it was not written. NULL: unknown */
    bool huge;   /* inputs are near the largest number: what is not finite may have overflowed on the way */
};
enum oracle_verdict {
    ORACLE_PASS,
    ORACLE_SUSPECT, /* no error by itself: an error once a second case shows the same */
    ORACLE_WRONG,
};
struct oracle_judgement {
    enum oracle_verdict verdict;
    u64 elements, judged; /* of these, elements that have a bound */
    u64 overflow, ill;    /* of these, elements that have none, and why */
    u64 wrong, suspect;
    u64 unwritten;            /* wrong elements that the launch left unchanged */
    u64 not_finite;           /* of the wrong ones, NaN and infinities where the value is finite */
    u64 special;              /* of the wrong ones, those of which the result or the value is NaN or infinite */
    u64 first, worst;         /* wrong elements, or suspect ones where none is wrong: the first, the one farthest off */
    double got, value, bound; /* at the worst one */
    double ratio;             /* the largest difference over bound; INFINITY: NaN, an infinity, nothing written */
    double far, share;        /* the largest difference of those that are finite; over the value, where that is not 0 */
    char place[160];          /* where the wrong ones, or else suspect ones, lie: "axis 0: 16..17" */
};
/* Holds output i against its value and bound. false: no memory. */
bool oracle_judge(const struct oracle *o, const struct oracle_result *r, u32 i, const struct oracle_given *y,
                  struct oracle_judgement *out, struct error *e);

/* The table, for people: the columns of oracle.def as text. false: there is no row i. */
struct oracle_primitive {
    const char *name, *family, *value, *prop, *loc, *fast, *gradient;
};
bool oracle_primitive(u32 i, struct oracle_primitive *out);
const char *oracle_definitions(void); /* ops.txt */
/* How function i is called, "sum(x, axes, keep)": those that are no rows of the table, then those of ops.txt. NULL:
 * there are no more. */
const char *oracle_signature(u32 i);
#endif
