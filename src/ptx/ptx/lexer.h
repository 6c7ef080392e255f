/* Tokens of PTX text (manual section 4). The parser sees one token and may look at the next one. */
#ifndef LOCKSTEP_PTX_LEXER_H
#define LOCKSTEP_PTX_LEXER_H
#include "base/base.h"

enum token_kind {
    TK_END,  /* end of the text */
    TK_NAME, /* foo, %r1, $L__BB0_1, _ */
    TK_DOT,  /* .global: a directive, a type, a selector */
    TK_INT,  /* value; is_unsigned: suffix U or too large for a signed one */
    TK_F32,
    TK_F64,    /* value holds the bits */
    TK_STRING, /* text without its quotes */
    TK_PUNCT,  /* op: one character, or two as OP2 */
    TK_BAD,    /* nothing that PTX knows; lexer.bad says why */
};
#define OP2(a, b) ((a) << 8 | (b))

struct token {
    enum token_kind kind;
    int op;           /* TK_PUNCT: ',' or OP2('<', '<') */
    struct str s;     /* its text (TK_STRING: between the quotes) */
    const char *at;   /* first character, for messages */
    u64 value;        /* TK_INT, TK_F32, TK_F64 */
    u32 line;         /* line of `at`, from 1 */
    bool is_unsigned; /* TK_INT */
};

struct lexer {
    const char *p, *end; /* rest of the text; *end is 0 */
    u32 line;            /* line of p */
    const char *bad;     /* the reason of the last TK_BAD */
    bool in_asm;         /* p is between the comments "begin inline asm" and "end inline asm", which compilers write */
};

/* Takes the next token. */
struct token lexer_next(struct lexer *lx);
/* Extends a name to a whole opcode: all that follows it in the form .word or .word::word. */
struct str lexer_opcode(struct lexer *lx, struct token name, struct arena *a);
#endif
