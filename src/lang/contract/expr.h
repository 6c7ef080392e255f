/* Expressions of a contract: C's operators and precedence over 64-bit integers and, where a float is asked for,
 * doubles.
 *
 *     cols * 4      ceildiv(rows, 256)      rows % 4 == 0 && cols > 1      1.0 / sqrt(depth)      n < 1024 ? n : 1024
 *
 * Nothing wraps and nothing is undefined: an overflow, a division by zero, a shift out of range is an error with its
 * place. Names are resolved while parsing, to the number of a symbol of the kernel's block; evaluation takes the
 * values by that number. */
#ifndef LOCKSTEP_EXPR_H
#define LOCKSTEP_EXPR_H
#include "base/base.h"

struct number { /* the value of an expression */
    bool is_float;
    s64 i;    /* its value when it is an integer */
    double f; /* when it is not */
};
double number_double(struct number n);

enum { EXPR_NODES = 1000, EXPR_DEPTH = 64 }; /* keep every recursion short */

enum expr_op {
    EX_NUMBER,
    EX_NAME,
    EX_CALL,
    EX_NEGATE,
    EX_NOT,
    EX_INVERT,
    EX_TERNARY,
    EX_OR_ELSE,
    EX_AND_ALSO,
    EX_OR,
    EX_XOR,
    EX_AND,
    EX_EQUAL,
    EX_UNEQUAL,
    EX_LESS,
    EX_LESS_EQUAL,
    EX_GREATER,
    EX_GREATER_EQUAL,
    EX_LEFT,
    EX_RIGHT,
    EX_ADD,
    EX_SUBTRACT,
    EX_MULTIPLY,
    EX_DIVIDE,
    EX_REMAINDER,
    EX_POWER,
};

/* The functions: name and number of operands. */
#define EXPR_FUNCTIONS(F) \
    F(ceildiv, 2) F(min, 2) F(max, 2) F(roundup, 2) F(pow2, 1) F(log2, 1) F(abs, 1) F(sqrt, 1) F(float, 1)
enum expr_function {
#define EXPR_ID(name, operands) FN_##name,
    EXPR_FUNCTIONS(EXPR_ID)
#undef EXPR_ID
        FN_COUNT
};

struct expr {
    enum expr_op op;
    const char *at;      /* where it stands: an operator's own place */
    struct number value; /* EX_NUMBER */
    const char *setting; /* EX_NUMBER: the config that it is; NULL: a number */
    u32 symbol;          /* EX_NAME: its number; EX_CALL: the function, enum expr_function */
    struct expr *kid[3]; /* operands, in order */
};

struct symbol { /* what a name stands for: a dim, a value argument, a part of the launch */
    const char *name;
    const char *at; /* where it was declared */
};
struct symbols {
    VEC(struct symbol) list;
};
u32 symbol_find(const struct symbols *s, struct str name); /* UINT32_MAX: none */

struct scalar;
struct setting { /* a name whose value is chosen before the text is read: type T, config BLOCK */
    const char *name;
    const char *at;
    const struct scalar *type; /* NULL: a number */
    s64 value;
};
struct settings {
    VEC(struct setting) list;
};
const struct setting *setting_find(const struct settings *s, struct str name); /* s may be NULL; NULL: none */

struct cursor {                    /* a line being read */
    struct arena *mem;             /* for what is made from it */
    const char *file;              /* for messages */
    struct str all;                /* the whole text, for messages */
    const char *p, *end;           /* what is left of the line */
    const struct symbols *symbols; /* the names that may occur */
    const struct settings *settings;
    u32 nodes, depth; /* of the expression being parsed, against EXPR_NODES and EXPR_DEPTH */
    struct error *e;
};
bool cursor_error(const struct cursor *c, const char *at, const char *fmt, ...) PRINTF_LIKE(3, 4);
void cursor_blank(struct cursor *c);             /* skips blanks */
bool cursor_take(struct cursor *c, char wanted); /* skips blanks, then takes this character if it is next */
struct str cursor_word(struct cursor *c);        /* skips blanks, then takes a name; empty: none there */

/* Parses one expression, as long as it goes. NULL: e says why. */
struct expr *expr_parse(struct cursor *c);
/* Its operator as it is written, "?:" for the ternary, "float" for a number, or its function. */
const char *expr_word(const struct expr *x);
/* True when no name occurs in it. */
bool expr_is_constant(const struct expr *x);
/* The largest number of a symbol in it; UINT32_MAX: none. */
u32 expr_last_symbol(const struct expr *x);
struct scope {        /* values for symbols */
    const char *file; /* for messages */
    struct str all;
    const struct number *value; /* by number of symbol */
};
bool expr_eval(const struct expr *x, const struct scope *s, struct number *out, struct error *e);
/* The same, and the value must be an integer in low..high; `what` names it in the message. */
bool expr_integer(const struct expr *x, const struct scope *s, const char *what, s64 low, s64 high, s64 *out,
                  struct error *e);
#endif
