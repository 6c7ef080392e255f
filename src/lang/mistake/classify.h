/* Naming a mistake: the oracle's own graph with one thing changed. A changed text that explains the output within its
 * own bound names the mistake.
 *
 *   oracle_classify.c    the output as it is: not written, NaN, a factor, shifted, reversed, transposed; and the driver
 *   oracle_mutants.c     texts with one thing changed: masks, inputs, terms, functions
 *   oracle_instead.c     one operation, part, axis or element in place of another
 *   oracle_parts.c       sums of which a part is missing or counted twice
 *   oracle_constants.c   constants that have another value
 *   oracle_print.c       nodes as text */
#ifndef LOCKSTEP_ORACLE_CLASSIFY_H
#define LOCKSTEP_ORACLE_CLASSIFY_H
#include "oracle/oracle_in.h"

struct suspect_text { /* a search in progress */
    struct arena mem;
    const struct oracle *o; /* as it was given */
    const struct oracle_options *how;
    const struct oracle_given *y;
    struct oracle changed;     /* a copy, whose graph grows by a mutant and is cut back */
    struct oracle_run run;     /* over `changed`; arrays of the first `base` nodes stay */
    u32 base;                  /* nodes of the given graph */
    bool *need;                /* of these, those that the outputs need */
    struct oracle_node **root; /* outputs of the given graph */
    double **right;            /* by output: its values, and how far they may be off; NULL: not known yet */
    double **bound;
    u32 tried; /* mutants */
    struct oracle_explanation *best;
    const struct oracle_hints *hints;
    struct error *e;
};
enum { MUTANTS = 4000 };

/* True when the search is over: a name fits well, too many were tried, or memory is gone. */
bool oracle_search_done(const struct suspect_text *s);
/* Forgets a mutant: the changed graph is the given one again. */
void oracle_search_cut(struct suspect_text *s);
/* "1/sqrt(width)" for a factor that a size of the text explains; false: none does. *form: which function of a size must
 * do, -1: any; then the one that does. */
bool oracle_origin(const struct oracle *o, double c, int *form, char *out, size_t size);
/* Whether an explanation may be given, by the hints of the search. */
bool oracle_is_asked(const struct suspect_text *s, const char *what);
/* The largest ratio of the output to the bound of a text with these outputs; INFINITY: it is above `most`, or its bound
 * says too little (`loose`: it may). Nodes that were made for it are gone afterwards. */
double oracle_fits(struct suspect_text *s, struct oracle_node *const *out, double most, bool loose);
/* A node as text; what does not fit is `..`. */
void oracle_print(const struct oracle_node *n, char *out, size_t size);
/* Tries outputs as the explanation. */
void oracle_try(struct suspect_text *s, enum oracle_label label, struct oracle_node *const *out, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
/* The outputs with node `n` replaced; NULL: it cannot be built. */
struct oracle_node **oracle_replaced(struct suspect_text *s, const struct oracle_node *n, struct oracle_node *by);
/* The outputs with each node that `make` changes replaced; make gets the node and its operands as they are now. */
typedef struct oracle_node *(*oracle_change)(struct suspect_text *s, const struct oracle_node *n,
                                             struct oracle_node *const *in, void *self);
struct oracle_node **oracle_rebuilt(struct suspect_text *s, oracle_change make, void *self);
/* An input that is no argument: weights, a constant. `data` must live until the mutant was tried. */
struct oracle_node *oracle_extra(struct suspect_text *s, const char *name, const struct oracle_shape *shape,
                                 const double *data);

void oracle_try_mutants(struct suspect_text *s);
/* What stands in place of this node; in place of several nodes. */
void oracle_try_instead(struct suspect_text *s, struct oracle_node *n);
void oracle_try_exchanged(struct suspect_text *s);
void oracle_try_one_pass(struct suspect_text *s);
void oracle_try_parts(struct suspect_text *s);
void oracle_try_constants(struct suspect_text *s);
#endif
