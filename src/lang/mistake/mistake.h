/* mistake: what a wrong output looks like. The output itself shows some mistakes; the others are names of changed
 * texts: the oracle's own graph with one thing changed, whose values the output has (docs/lab/oracle.md, "Names of
 * mistakes"). classify.h explains the search. */
#ifndef LOCKSTEP_MISTAKE_H
#define LOCKSTEP_MISTAKE_H
#include "oracle/oracle.h"

/* What kind of mistake. */
enum oracle_label {
    ORACLE_UNNAMED,   /* nothing fits */
    ORACLE_UNWRITTEN, /* elements were not written */
    ORACLE_NAN,       /* NaN or infinity where the value is finite */
    ORACLE_FACTOR,    /* the whole output is off by one factor */
    ORACLE_SHIFT,     /* read or written one off */
    ORACLE_PERMUTED,  /* right elements at wrong places: transposed, reversed, another row's */
    ORACLE_PART,      /* a part of a sum is missing or counted twice */
    ORACLE_VARIANT,   /* another formula, constant, mask, sign or term */
    ORACLE_PRECISION, /* the right formula in a worse way: E[x^2] - mean^2, narrow accumulators */
};
const char *oracle_label_name(enum oracle_label l); /* "factor" */
/* What became of a name that was asked for (oracle_hints.only). */
enum oracle_met {
    ORACLE_NOT_MET, /* no changed text of this case says so: undecided */
    ORACLE_MISFIT,  /* the output is not what it says */
    ORACLE_LOOSE,   /* the output fits, and so does what is right */
    ORACLE_FITS,
};
struct oracle_explanation {
    enum oracle_label label;
    bool sure; /* seen in the output, or a changed text that the output fits within its own bound; else a guess */
    enum oracle_met met;
    double spent;    /* operations that the search has taken, about */
    double ratio;    /* of the output to the bound of the text that explains it */
    char other[240]; /* another explanation that fits as well, and differs from this one in its values; "": there is
                        none */
    char what[240];  /* "in the sum over 100: only the first 32 elements are there" */
};
/* Names the mistake of outputs that oracle_judge called wrong: y[i] belongs to output i. Costs up to some hundred
 * evaluations, so it is for small cases. false: no memory. */
bool oracle_classify(const struct oracle *o, const struct oracle_options *how, const void *const *data,
                     const struct oracle_given *y, struct oracle_explanation *out, struct error *e);
/* The same with what other outputs of the same kernel have said: only this explanation is tried (NULL: all are), or all
 * but these. Explanations with equal words are equal; numbers may differ. */
struct oracle_hints {
    const char *only;
    const char *const *except;
    u32 n;              /* of `except` */
    const char *output; /* only this output is to be explained; NULL: all together, or else the first that can be */
    double most;        /* operations that the search may take; 0: any number */
};
bool oracle_classify_hinted(const struct oracle *o, const struct oracle_options *how, const void *const *data,
                            const struct oracle_given *y, const struct oracle_hints *hints,
                            struct oracle_explanation *out, struct error *e);
bool oracle_same_words(const char *a, const char *b);
/* The name of maxima and minima that pass over NaN. */
extern const char oracle_nan_passed[];
#endif
