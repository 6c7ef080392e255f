/* Naming a mistake: the oracle's own graph with one thing changed. A changed text that explains the output within its
 * own bound names the mistake.
 *
 *   classify.c           the search: which texts, which outputs, what fits
 *   shown.c              the output as it is: not written, NaN, a factor, shifted, reversed, transposed; and a guess
 *   mutants.c            texts with one thing changed: masks, inputs, terms, functions
 *   instead.c            one operation, part, axis or element in place of another
 *   choice.c             conditions, clamps, functions of one argument, reductions and their divisors, windows
 *   running.c            running sums and their tiles, arrays at other indices
 *   named_values.c       numbers with a name that are exchanged or left out, arrays as 1, rounded intermediates
 *   lost_parts.c         sums of which a part is missing or counted twice
 *   other_constants.c    constants that have another value
 *   print_node.c         nodes as text */
#ifndef LOCKSTEP_ORACLE_CLASSIFY_H
#define LOCKSTEP_ORACLE_CLASSIFY_H
#include "mistake/mistake.h"
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
    u32 from, to;              /* outputs that are to be explained: from <= i < to */
    u32 *users;                /* by id: needed nodes, and outputs, that use it */
    bool alone;                /* nodes with several users are changed for one of them at a time, and no others */
    double **right;            /* by output: its values, and how far they may be off; NULL: not known yet */
    double **bound;
    bool loose;          /* the text that was tried last was not refuted, but says too little */
    enum oracle_met met; /* of the name that was asked for */
    bool all_right;      /* no output is wrong: a name that is asked for can only be contradicted */
    bool special;        /* the change may be one that makes nothing but NaN and infinities */
    u32 tried;           /* mutants */
    struct oracle_explanation *best;
    double *found; /* the values of the text that `best` is, of these outputs */
    u64 elements;  /* of that */
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
/* The value of such a text, which " for " follows; NAN: it has no such number. */
double oracle_made(const struct oracle *o, const char *text);
/* Whether such a name is asked for, of these outputs: what is not asked for need not be built. */
bool oracle_is_wanted(const struct suspect_text *s, const char *what);
/* Whether an explanation may be given, by the hints of the search. */
bool oracle_is_asked(const struct suspect_text *s, const char *what);
/* The largest ratio of the output to the bound of a text with these outputs; INFINITY: it is above `most`, or its bound
 * says too little (`loose`: it may). Nodes that were made for it are gone afterwards. */
double oracle_fits(struct suspect_text *s, struct oracle_node *const *out, double most, bool loose);
/* A change that changes nothing in this case cannot explain it: the name that is asked for, where it has these words
 * with this name, is not what is wrong. */
void oracle_is_void(struct suspect_text *s, const char *words, const char *name);
/* A node as text; what does not fit is `..`. */
void oracle_print(const struct suspect_text *s, const struct oracle_node *n, char *out, size_t size);
/* Tries outputs as the explanation. */
void oracle_try(struct suspect_text *s, enum oracle_label label, struct oracle_node *const *out, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
/* Tries the outputs with node `n` replaced; where `alone` is set, for each of its users. */
void oracle_try_node(struct suspect_text *s, enum oracle_label label, const struct oracle_node *n,
                     struct oracle_node *by, const char *what);
/* The outputs with node `n` replaced; NULL: it cannot be built. */
struct oracle_node **oracle_replaced(struct suspect_text *s, const struct oracle_node *n, struct oracle_node *by);
/* The outputs with each node that `make` changes replaced; make gets the node and its operands as they are now. */
typedef struct oracle_node *(*oracle_change)(struct suspect_text *s, const struct oracle_node *n,
                                             struct oracle_node *const *in, void *self);
struct oracle_node **oracle_rebuilt(struct suspect_text *s, oracle_change make, void *self);
/* An input that is no argument: weights, a constant. `data` must live until the mutant was tried. */
struct oracle_node *oracle_extra(struct suspect_text *s, const char *name, const struct oracle_shape *shape,
                                 const double *data);

/* A text fits: it is the explanation, or another one, or says what the explanation says. Its values are in the run. */
void oracle_fit_found(struct suspect_text *s, const struct oracle_explanation *x, struct oracle_node *const *out);
/* The same of the outputs of another oracle over the same names. */
void oracle_try_other(struct suspect_text *s, const struct oracle *o, const char *what);
/* The operand in the shape of a node; NULL: it does not fit into it. */
struct oracle_node *oracle_fitted(struct suspect_text *s, struct oracle_node *x, const struct oracle_shape *to);
void oracle_try_choice(struct suspect_text *s, struct oracle_node *n);
void oracle_try_applied(struct suspect_text *s);
void oracle_try_scan(struct suspect_text *s, struct oracle_node *n);
void oracle_try_flat(struct suspect_text *s);
void oracle_try_values(struct suspect_text *s);
void oracle_try_rounded(struct suspect_text *s);
/* ---- shown.c ---- */
struct shown { /* the output that is worst off */
    struct suspect_text *s;
    const struct oracle_array *a;
    const struct oracle_shape *shape;
    const char *name;
    double *y;
    u32 wrong_outputs;
};

/* Whether outputs that are right contradict such a name. */
bool shown_is_refuted(const char *name);
/* The output with the largest share of wrong elements; false: none is wrong. */
bool shown_pick_output(struct suspect_text *s, const struct oracle_result *r, struct shown *h,
                       struct oracle_judgement *worst, u32 *which);
/* Each says what it sees: not written or not finite; one factor; as it was before the launch; at other places. */
bool shown_is_seen(struct shown *h, const struct oracle_judgement *j, const struct oracle_given *y, u32 i);
bool shown_is_zero(struct shown *h);
bool shown_has_factor(struct shown *h);
bool shown_is_untouched(struct shown *h, u32 which);
bool shown_is_moved(struct shown *h);
/* The error is about as large as that of narrower sums. */
void shown_guess_precision(struct shown *h, u32 which);

void oracle_try_mutants(struct suspect_text *s);
/* What stands in place of this node; in place of several nodes. */
void oracle_try_instead(struct suspect_text *s, struct oracle_node *n);
void oracle_try_edges(struct suspect_text *s);
void oracle_try_turns(struct suspect_text *s, struct oracle_node *n);
void oracle_try_exchanged(struct suspect_text *s);
void oracle_try_everywhere(struct suspect_text *s);
void oracle_try_one_pass(struct suspect_text *s);
void oracle_try_parts(struct suspect_text *s);
void oracle_try_constants(struct suspect_text *s);
#endif
