/* The inside of an oracle: the text's names and definitions, its outputs, and one run over its graph. */
#ifndef LOCKSTEP_ORACLE_IN_H
#define LOCKSTEP_ORACLE_IN_H
#include "oracle/oracle_env.h"
#include "oracle/oracle_syntax.h"

struct oracle_defined { /* an output */
    const char *name;
    struct oracle_node *node;
    u32 out; /* its number among the names; UINT32_MAX: it is none of them */
};

struct oracle_scope { /* names and what they stand for */
    struct map names; /* struct oracle_value * */
    const struct oracle_scope *outer;
};

struct oracle {
    struct arena *mem;
    const struct oracle_name *names;
    u32 n;
    struct oracle_graph graph;
    struct oracle_scope *top;  /* names of the text */
    struct map definitions;    /* struct oracle_definition * */
    VEC(const char *) defined; /* their names */
    VEC(struct oracle_defined) outs;
    VEC(struct str) texts; /* as they were read, for classify */
};

struct oracle_value { /* what an expression is while the graph is built */
    enum oracle_value_kind {
        VALUE_NONE,
        VALUE_NODE,
        VALUE_NUMBER,
        VALUE_WORD, /* keep, bf16, ... or a text in quotes */
        VALUE_LIST, /* (0, 1) */
        VALUE_MASK, /* causal, bare: takes its shape from what it is added to */
    } kind;
    struct oracle_node *node;
    double number;
    double error; /* of a number that was folded from others: as oracle_attr has it */
    struct str word;
    double list[ORACLE_RANK];
    u32 n; /* of list */
};

struct oracle_build { /* a text on its way into the graph */
    struct oracle *o;
    struct oracle_graph *g;
    u32 calls;   /* definitions inside each other */
    u32 steps;   /* expressions evaluated, against a text that calls itself without end */
    u32 shipped; /* of these calls, those of ops.txt, whose places are none of the user's text */
};
/* oracle_build.c and oracle_call.c. A value of kind VALUE_NONE: g->e says why. */
struct oracle_value oracle_expression(struct oracle_build *b, const struct oracle_tree *t,
                                      const struct oracle_scope *scope);
/* A function of the text that is no definition. */
struct oracle_value oracle_function(struct oracle_build *b, struct str name, const struct oracle_value *arg, u32 n);
bool oracle_is_function(struct str name);
/* "sum(x, axes, keep)"; NULL: it has no parameters with names. */
const char *oracle_function_usage(struct str name);
/* The number of the parameter of this name in such a text; UINT32_MAX: there is none. */
u32 oracle_parameter(const char *usage, struct str name);
/* The i-th name of a function; NULL: there are no more. */
const char *oracle_function_name(u32 i);
struct oracle_value oracle_of_node(struct oracle_node *n); /* of NULL: VALUE_NONE */
struct oracle_value oracle_of_number(double x);            /* as it was written */
/* A number computed from others, and how far it moves (in u) when they are off by their bounds. */
struct oracle_value oracle_of_folded(double z, double moved);
/* What a correct kernel's idea of a number may be off by, in u. */
double oracle_number_error(const struct oracle_value *v);
/* NULL: the value cannot be an array, or an earlier error was reported. */
struct oracle_node *oracle_node_of(struct oracle_build *b, const struct oracle_value *v);
struct oracle_node *oracle_matmul(struct oracle_graph *g, struct oracle_node *x, struct oracle_node *y);
/* 0 where key j may be seen by query i, -infinity elsewhere, for the last two axes of `like`. */
struct oracle_node *oracle_causal(struct oracle_graph *g, const struct oracle_shape *like, s64 shift);
/* The hand-written gradient of a definition: out[i] is that of parameter i, NULL: none. */
bool oracle_backward(struct oracle_build *b, const struct oracle_backward *w, struct oracle_node *dy,
                     struct oracle_node **out);
bool oracle_gradients(struct oracle_build *b, struct oracle_node *f, struct oracle_node *dy, struct oracle_node **wrt,
                      u32 n, struct oracle_node **out);

/* ---- oracle_eval.c ---- */
struct oracle_slot { /* the arrays of a node, in a run */
    void *v;
    double *e;          /* NULL: exact, or not wanted */
    double *terms;      /* of a node that joins: as oracle_join has them */
    double adds, plain; /* the same */
    bool wanted;        /* a user of this node that runs asks for its terms */
    u32 uses;           /* users that have not run yet */
    bool done;
};
struct oracle_extra { /* an input that is no argument of the kernel: classify's weights and constants */
    const char *text; /* interned */
    const double *data;
};
struct oracle_run {
    const struct oracle *o;
    struct oracle_env env;
    bool dd;
    const void *const *data; /* by name */
    struct oracle_extra extra[8];
    u32 extras;
    bool keep;  /* arrays stay when their last user has run, for the next run */
    u64 *noise; /* Monte Carlo: the state of its random numbers; NULL: none */
    struct oracle_slot *slot;
    u32 slots;        /* by id */
    const bool *firm; /* by id, while it runs: oracle_firm */
    double spent;     /* operations of all its runs, about */
};
/* How a correct kernel may compute this text. */
struct oracle_env oracle_env_of(const struct oracle *o, const struct oracle_options *how);
/* Computes these nodes, and those operands that are missing. */
bool oracle_run(struct oracle_run *r, struct oracle_node *const *roots, u32 n, struct error *e);
void oracle_run_free(struct oracle_run *r, u32 from); /* the arrays of nodes from this id on */
/* The value of element i of a node that was computed. */
double oracle_run_value(const struct oracle_run *r, const struct oracle_node *n, u64 i);
/* The bound of an output element, from value and error: storing it rounds once more. `type` as in oracle_output. */
double oracle_stored(const struct oracle_env *env, const struct scalar *type, double z, double e);
enum oracle_unknown oracle_unknown_of(const struct oracle_env *env, double bound);
/* Marks the nodes that `roots` need, by id; what is below one that `slot` has already is not marked. */
bool *oracle_reach(struct arena *mem, const struct oracle_graph *g, struct oracle_node *const *roots, u32 n,
                   const struct oracle_slot *slot);
/* oracle_exact.c: whether a node's value is a sum of products that no order or grouping rounds. */
bool oracle_exact(const struct oracle_run *r, const struct oracle_node *n, struct arena *mem);
/* The same element by element, by id of the nodes that are needed: whether sums of whole numbers may be taken for
 * exact, since nothing on the way from there to an output rounds. */
bool *oracle_firm(const struct oracle_run *r, const bool *need, struct arena *mem);

/* ---- oracle_judge.c ---- */
/* |y - (z + low)| / bound; 0 where both are the same infinity or NaN, INFINITY where only one of them is. */
double oracle_ratio(double y, double z, double low, double bound);
/* "axis 0: 16..17", "everywhere" or "in 3 of 40 elements". */
void oracle_place(const struct oracle_shape *s, const bool *wrong, char *out, size_t size);
/* The type of output i in memory, and an element of it. */
const struct scalar *oracle_given_type(const struct oracle *o, const char *accumulate, u32 i);
double oracle_given(const struct scalar *t, const struct oracle_given *y, u64 i);
/* Whether element i still holds what was there before the launch. */
bool oracle_unwritten(const struct scalar *t, const struct oracle_given *y, const struct oracle_array *a, u64 i);
#endif
