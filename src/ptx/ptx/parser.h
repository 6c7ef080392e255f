/* What the files of the parser share: one struct with the state, and the functions that cross files.
 *
 * The parser reads left to right with one token in hand (p->t) and builds the IR at once. A function that returns bool
 * returns false after it has recorded an error; everybody above it just leaves. Names are resolved when they are read,
 * except labels, which may come later: see labels_resolve. */
#ifndef LOCKSTEP_PTX_PARSER_H
#define LOCKSTEP_PTX_PARSER_H
#include "ptx/lexer.h"
#include "ptx/ptx.h"

enum {
    MAX_DEPTH = 64,         /* of blocks, parentheses and braces: keeps our own stack small */
    MAX_REGS = 1 << 20,     /* N of %r<N> */
    MAX_NUMBERED = 1 << 16, /* N of x<N> in memory */
    MAX_PADDING = 1 << 20,  /* zero elements that nested initialisers of a module may imply */
};
#define MAX_VAR_BYTES ((u64)1 << 40)
#define SHOW(s) (int)MIN_OF((s).n, 80u), (s).p /* a piece of text for %.*s in a message */

struct name {            /* what a name means in a scope */
    struct ptx_reg *reg; /* a register */
    struct ptx_reg *comp[4];
    u32 ncomp;           /* a vector register: its components */
    struct ptx_var *var; /* a variable */
};

struct scope {         /* a block { } of a function */
    struct scope *up;  /* the block around it */
    struct map names;  /* struct name */
    struct map ranges; /* struct ptx_regs: %r of %r<20> */
    /* bit n: some range has a name of n characters (63: or more), which saves most look-ups */
    u64 range_lengths;
    struct map labels; /* struct ptx_label */
    u32 first_pending; /* references to labels made in this scope start here in p->pending */
};

struct parser {
    struct ptx_module *m;    /* being built */
    struct error *e;         /* the first error */
    struct lexer lx;         /* stands right after t */
    struct token t;          /* the token in hand */
    struct arena tmp;        /* what is not needed after parsing */
    struct map opcodes;      /* struct ptx_opcode by text */
    struct map file_numbers; /* of .file so far, by the four bytes of the number */
    struct map call_sites;   /* struct ptx_loc, the newest, by file, line, column: see loc_parse */
    struct ptx_func *func;   /* whose body is read */
    struct scope *scope;     /* innermost block */
    struct ptx_loc *loc;     /* what .loc said last */
    struct ptx_loc *asm_loc; /* the first .loc in the assembly of the source that is read; NULL: none */
    u32 depth;               /* of whatever nests */
    u32 padding;             /* elements used up of MAX_PADDING */
    /* a stack on which operands are collected before they are copied at their final size */
    VEC(struct ptx_operand) ops;
    VEC(struct ptx_operand *) pending; /* OP_LABEL operands whose label is not known yet */
    VEC(struct ptx_insn) insns;        /* of the body */
    VEC(struct ptx_stmt) stmts;        /* of the body */
    VEC(struct ptx_label *) labels;    /* of the body */
    VEC(struct ptx_reg *) regs;        /* of the body */
    VEC(struct ptx_var *) locals;      /* of the body */
    VEC(struct ptx_var *) vars;        /* of the module */
    VEC(struct ptx_func *) funcs;      /* of the module */
    VEC(struct ptx_item) items;        /* of the module */
    VEC(struct str) sections;          /* of the module */
    VEC(struct ptx_source) files;      /* of the module */
    VEC(struct ptx_alias) aliases;     /* of the module */
    struct ptx_pragma *last_pragma;    /* of the module */
    VEC(struct ptx_loc *) named_locs;  /* those with a function_name */
};

/* ---- parse.c: the token in hand, and the module ---- */
bool fail_at(struct parser *p, const char *at, const char *fmt, ...) PRINTF_LIKE(3, 4);
bool unexpected(struct parser *p, const char *wanted); /* "expected WANTED, found ..." */
void advance(struct parser *p);
struct token peek(const struct parser *p); /* the token after the one in hand */
static inline bool is_punct(const struct parser *p, int op) { return p->t.kind == TK_PUNCT && p->t.op == op; }
static inline bool is_dot(const struct parser *p, const char *z) { return p->t.kind == TK_DOT && str_is(p->t.s, z); }
bool accept(struct parser *p, int op); /* takes the punctuation if it is there */
bool expect(struct parser *p, int op, const char *wanted);
bool expect_name(struct parser *p, struct str *name, const char *wanted);
bool expect_u32(struct parser *p, u32 *value, const char *wanted);
/* the ; of a statement, with a good message when it is missing */
bool expect_end(struct parser *p, const char *what);
/* one level more, false: too many; undone with p->depth-- */
bool deeper(struct parser *p);
struct ptx_symbol *symbol_add(struct parser *p, struct str name); /* finds or makes */

/* ---- parse_expr.c: constant expressions ---- */
struct constant {
    enum { CONST_S64, CONST_U64, CONST_F64, CONST_F32 } kind; /* CONST_F32: written 0f..., exact bits */
    u64 bits;                                                 /* the value */
};
bool constant_parse(struct parser *p, struct constant *c);
bool constant_starts(const struct parser *p);        /* the token in hand may begin one */
bool integer_parse(struct parser *p, s64 *value);    /* a constant that must be an integer */
u64 constant_as(struct constant c, enum ptx_type t); /* its bits as an element of type t */

/* ---- parse_var.c: variables and their initialisers ---- */
struct linkage {
    bool is_extern, is_visible, is_weak, is_common;
};
bool vector_check(struct parser *p, enum ptx_type type, u32 vec);
bool type_is_storage(enum ptx_type t);                  /* a variable or register can have it */
bool space_find(struct str dot, enum ptx_space *space); /* ".global" */
bool is_linkage(struct parser *p, struct linkage *l);   /* takes .extern .visible .weak .common */
/* `.space ... name[dims] = init, name ...` without the final ;. In a body the names go into the scope. */
bool vars_parse(struct parser *p, struct linkage l);
struct ptx_var *param_parse(struct parser *p); /* one parameter; NULL: error */

/* ---- parse_insn.c: instructions and operands ---- */
bool insn_parse(struct parser *p);
/* label_only: a name is a label, whatever else it is */
bool operand_parse(struct parser *p, bool label_only, struct ptx_operand *op);
/* they lie where they will stay: note those that wait for a label */
void labels_pend(struct parser *p, struct ptx_operand *op, u32 n);

/* ---- parse_func.c: functions, blocks and registers ---- */
bool number_keep(struct parser *p, struct ptx_func *f);                    /* .abi_preserve 4: kept as text */
bool prototypes_agree(const struct ptx_func *a, const struct ptx_func *b); /* same parameters and results */
bool func_parse(struct parser *p, struct linkage l);
bool prototype_parse(struct parser *p, struct ptx_func *f); /* (results) name (parameters), offsets set */
struct name *name_find(struct parser *p, struct str s);     /* NULL: not in any scope */
bool name_add(struct parser *p, struct str s, const char *at, struct name **out); /* into the innermost scope */
void stmt_add(struct parser *p, struct ptx_stmt s);
bool body_parse(struct parser *p, struct ptx_func *f); /* parse_body.c */

/* ---- parse_debug.c: .file, .loc, .section ---- */
bool file_parse(struct parser *p);
bool loc_parse(struct parser *p);
bool loc_skip(struct parser *p);
bool intermediate_skip(struct parser *p);
bool section_parse(struct parser *p);
/* dwarf.c: variables by their names in the source */
void objects_name(struct parser *p);
bool locs_name(struct parser *p); /* finds the function names in .debug_str */
#endif
