/* The text of an oracle as a tree.
 *
 *     text      = statement { ";" statement }
 *     statement = name { "," name } "=" expr  |  "def" name "(" parameters ")" "=" expr
 *               | "grad" name "(" parameters ")" "=" block  |  expr
 *     parameter = name [ "=" expr ]
 *     block     = "{" { name "=" expr ";" } [ expr ] "}"
 *     expr      = by precedence: |  ^  &  < <= > >= == !=  << >>  + -  * / @ % //  -x ~x  x ** y  x[a:b, ...]
 *     argument  = [ name "=" ] expr
 *     atom      = number | name | name "(" argument, ... ")" | "text" | "(" expr ")" | "(" expr, expr, ... ")" | block
 */
#ifndef LOCKSTEP_ORACLE_SYNTAX_H
#define LOCKSTEP_ORACLE_SYNTAX_H
#include "base/base.h"

enum oracle_tree_kind {
    TREE_NUMBER,
    TREE_NAME,
    TREE_TEXT,   /* in quotes */
    TREE_BINARY, /* word: the operator; two kids */
    TREE_NEGATE, /* one kid */
    TREE_CALL,   /* word: the name; kids: arguments, with a TREE_SET for one that is named */
    TREE_INDEX,  /* kid 0 indexed by the others, each TREE_AT, TREE_CUT or TREE_DOTS */
    TREE_AT,     /* x[3]; one kid */
    TREE_CUT,    /* x[a:b:c]; three kids, any of them NULL */
    TREE_DOTS,   /* x[..., 0] */
    TREE_LIST,   /* (a, b) */
    TREE_BLOCK,  /* { a = x; y }: kids are TREE_SETs, the last one a value */
    TREE_SET,    /* names in `names`; one kid */
};
struct oracle_tree {
    enum oracle_tree_kind kind;
    const char *at; /* its place: of an operator, its own */
    struct str word;
    double number;
    struct oracle_tree **kid;
    u32 kids;
    struct str *names;
    u32 nnames;
    u32 height; /* above its leaves */
};

struct oracle_definition { /* def softmax(x, a = -1) = ... */
    struct str name;
    const char *at;
    u32 params;
    struct str *param;
    struct oracle_tree **preset; /* the value of a parameter that is left out; NULL: it must be given */
    struct oracle_tree *body;
    struct oracle_definition *backward; /* the gradient, written by hand: a block that sets dx for parameter x; NULL */
    bool shipped;                       /* of ops.txt: its places are none of the user's */
};

struct oracle_statement {
    struct oracle_definition *def; /* a definition, NULL: none */
    bool is_backward;              /* def is the gradient of the definition of its name */
    struct oracle_tree *set;       /* TREE_SET; without names: an expression alone */
};
struct oracle_source { /* what is being read, for messages */
    struct arena *mem;
    const char *file;
    struct str all;
    struct error *e;
};
/* Bytes of stack that reading one level, and building one, find at least. */
enum { ORACLE_STACK_READ = 1 << 14, ORACLE_STACK = 1 << 16 };
enum { ORACLE_TEXT = 1 << 16, ORACLE_DEPTH = 100, ORACLE_TREE = 20000, ORACLE_HEIGHT = 400 };
/* Parses a text, a part of src->all. false: src->e says what was expected, and where. */
bool oracle_parse(const struct oracle_source *src, struct str text, struct oracle_statement **out, u32 *n);
#endif
