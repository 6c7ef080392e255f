/* The graph of an oracle: nodes of the primitives of oracle.def, in the order in which they were made, so that operands
 * come before their users. Equal nodes are one node: a text that says mean(x) twice computes it once, and a gradient
 * shares what the forward text has.
 *
 *   oracle_syntax.c   text to a tree           oracle_shape.c   shapes of rows
 *   oracle_build.c    tree to nodes            oracle_grad.c    gradients, as nodes
 *   oracle_call.c     functions of the text    oracle_eval.c    values and bounds of nodes
 *   oracle_move.c     index maps of rows       oracle_rows.h    the rows, once over doubles, once over double-doubles
 */
#ifndef LOCKSTEP_ORACLE_GRAPH_H
#define LOCKSTEP_ORACLE_GRAPH_H
#include "oracle/oracle.h"

enum oracle_op {
#define LEAF(name, ...) OX_##name,
#define MAP1(name, ...) OX_##name,
#define MAP2(name, ...) OX_##name,
#define MAP3(name, ...) OX_##name,
#define MOVE(name, ...) OX_##name,
#define SUMS(name, ...) OX_##name,
#define OWN(name, ...) OX_##name,
#include "oracle/oracle_table.h"
    OX_COUNT
};
enum oracle_family { ORACLE_LEAF, ORACLE_MAP, ORACLE_MOVE, ORACLE_SUMS, ORACLE_OWN };
struct oracle_row {
    const char *name;
    enum oracle_family family;
    u32 operands; /* 0: any number, or none for a leaf */
    bool rounds;  /* adds an error of its own */
    /* the columns of the table, as text, for people */
    const char *value, *prop, *loc, *fast, *gradient;
};
extern const struct oracle_row oracle_rows[OX_COUNT];

enum { ORACLE_LIST = 32, ORACLE_NODES = 20000, ORACLE_OPERANDS = 64 };

struct oracle_attr {       /* what else a row needs to know; all of it is part of a node's identity */
    double value, high;    /* const: the number; within: the range */
    double error;          /* const: folded from others, by a kernel off by so many u at most; 0: written */
    bool keep;             /* reductions: reduced axes stay, with size 1 */
    u32 n;                 /* of list */
    s64 list[ORACLE_LIST]; /* axes, shapes, cuts (from, to, step), in the order that shape_NAME explains */
    const char *text; /* input: its name; einsum: its letters; via: the type. Interned: equal texts are one pointer */
};

struct oracle_node {
    enum oracle_op op;
    u32 id;     /* its place in the graph: larger than those of its operands */
    u32 ins;    /* operands */
    bool index; /* index arithmetic: whole numbers, computed without rounding in any kernel */
    bool joins; /* made of terms that a kernel may add in another order than the text does: oracle_join.c */
    bool apart; /* of + and -: one side is computed from the other, whose sums have ended then */
    struct oracle_node **in;
    struct oracle_shape shape;
    struct oracle_attr attr;
    /* where it comes from: the place in the user's text, and the definition in whose body it stands, or NULL */
    const char *at;
    const char *body;
    const struct oracle_backward *backward; /* a gradient written by hand, if this is the result of such a definition */
};

struct oracle_backward { /* the result of a definition that has a hand-written gradient */
    const struct oracle_definition *def;
    struct oracle_node **arg;   /* of the call, by parameter; NULL: it was a number */
    struct oracle_value *value; /* the same, as values */
};

struct oracle_graph {
    struct arena *mem;
    VEC(struct oracle_node *) nodes;
    u32 *slot; /* hash table of ids + 1 */
    u32 slots;
    struct map names;      /* interned texts */
    const char *at, *body; /* given to nodes that are made now */
    struct error *e;       /* where refusals go: a shape that does not fit, too many nodes */
    const char *file;      /* for its place */
    struct str all;
};

/* The node of this row, an old one where there is one. NULL: graph->e says why; NULL among the operands gives NULL. */
struct oracle_node *oracle_node(struct oracle_graph *g, enum oracle_op op, struct oracle_node *const *in, u32 ins,
                                const struct oracle_attr *attr);
struct oracle_node *oracle_node1(struct oracle_graph *g, enum oracle_op op, struct oracle_node *x);
struct oracle_node *oracle_node2(struct oracle_graph *g, enum oracle_op op, struct oracle_node *x,
                                 struct oracle_node *y);
struct oracle_node *oracle_node3(struct oracle_graph *g, enum oracle_op op, struct oracle_node *x,
                                 struct oracle_node *y, struct oracle_node *w);
struct oracle_node *oracle_number(struct oracle_graph *g, double value, double error);
struct oracle_node *oracle_iota(struct oracle_graph *g, u64 n);
/* Shapes by list: reshape, broadcast. x itself where nothing changes. */
struct oracle_node *oracle_reshaped(struct oracle_graph *g, struct oracle_node *x, const struct oracle_shape *to);
struct oracle_node *oracle_spread(struct oracle_graph *g, struct oracle_node *x, const struct oracle_shape *to);
struct oracle_node *oracle_axis_inserted(struct oracle_graph *g, struct oracle_node *x, u32 axis);
struct oracle_node *oracle_summed(struct oracle_graph *g, struct oracle_node *x, u32 axes, bool keep);
/* Sums a broadcast gradient down to the shape of the operand. */
struct oracle_node *oracle_unbroadcast(struct oracle_graph *g, struct oracle_node *x, const struct oracle_shape *to);
struct oracle_node *oracle_einsum(struct oracle_graph *g, const char *spec, struct oracle_node *x,
                                  struct oracle_node *y);
/* x[..., from:to, ...] along one axis. */
struct oracle_node *oracle_cut(struct oracle_graph *g, struct oracle_node *x, u32 axis, s64 from, s64 to);
struct oracle_node *oracle_rolled(struct oracle_graph *g, struct oracle_node *x, u32 axis, s64 by);
const char *oracle_intern(struct oracle_graph *g, struct str text);
/* Says why something cannot be, at the place of the text that is being built. Returns NULL. */
void *oracle_refuse(struct oracle_graph *g, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* oracle_join.c: sets joins and apart of a node that is about to be made. */
void oracle_join(struct oracle_node *n);

/* The attributes of unfold: window, stride, padding and dilation of rows and of columns. */
enum { ORACLE_WINDOW = 8 };
/* How many windows lie along an axis (0 or 1) of this size; 0: it is too small. */
s64 oracle_windows(s64 size, const s64 *list, u32 axis);
/* oracle_shape.c: the shape of a node that is about to be made. false: g->e says why. */
bool oracle_shape_of(struct oracle_graph *g, struct oracle_node *n);
bool oracle_shape_equal(const struct oracle_shape *a, const struct oracle_shape *b);
u64 oracle_count(const struct oracle_shape *s);
/* "[3,4]" */
const char *oracle_shape_text(const struct oracle_shape *s, char *out, size_t size);
enum { ORACLE_SHAPE_TEXT = 200 };
struct einsum_parts { /* "bik,bkj->bij": the letters of the operands and of the result */
    struct str in[2], out;
    u32 ins;
};
struct einsum_parts oracle_einsum_parts(const char *spec);
/* How many terms each element of an einsum is the sum of. */
u64 oracle_einsum_terms(const struct oracle_node *n);

/* oracle_move.c: for each element of the long side of a MOVE or SUMS row, where it lies on the short side; -1: nowhere.
 * The long side is the result of a MOVE, the operand of a SUMS. `index` holds the index operand of those rows that have
 * one, checked. */
void oracle_map(const struct oracle_node *n, const s64 *index, s64 *map);
/* Elements of the short side that an index operand may name; 0: the row has no index operand. */
u64 oracle_index_limit(const struct oracle_node *n);
#endif
