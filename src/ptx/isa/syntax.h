/* Which instructions PTX has: the rows of syntax.def, matched against an opcode, and what its operands must be.
 *
 * An opcode is a name and words; ptxas takes the words in any order, so a row is matched as a set. What a row wants
 * of the operands is worked out once for each distinct opcode of a module (struct syntax); the verifier then only
 * compares. */
#ifndef LOCKSTEP_ISA_SYNTAX_H
#define LOCKSTEP_ISA_SYNTAX_H
#include "isa/types.h"

enum want_kind {
    WANT_NONE,
    WANT_DEST,    /* d D: a register that is written */
    WANT_VALUE,   /* s S: a register or a constant */
    WANT_REG,     /* r: a register */
    WANT_MOVED,   /* x: what mov takes: also special registers and addresses of symbols */
    WANT_ADDRESS, /* a: a value or a symbol */
    WANT_PART,
    WANT_PARTS, /* u, u{}: the sides of a mov that packs or unpacks */
    WANT_PRED_DEST,
    WANT_PRED,   /* p, q */
    WANT_MEMORY, /* m: [a] */
    WANT_INT,    /* i: an integer constant */
    WANT_LABEL,  /* l */
    WANT_VECTOR, /* v{n}, X: registers in braces; count 0: any number, or a single one */
    WANT_LOADED,
    WANT_STORED, /* V, W: as .v2 .v4 .v8 say */
    WANT_HINT,   /* h: a cache policy, there if and only if .L2::cache_hint is */
    WANT_VIDEO,  /* e: a register or constant, parts of it, its negative */
    WANT_SINK,   /* n: _ */
    WANT_REST,   /* *: anything */
    WANT_BARRIER,
    WANT_THREADS, /* b, t: number of a barrier, and how many threads it waits for */
};

struct want {         /* one operand */
    u8 kind;          /* enum want_kind */
    u8 type;          /* enum ptx_type; T_NONE: any */
    u8 count;         /* WANT_VECTOR and the like: how many elements */
    u8 pair;          /* 0: no d|p, 1: p may follow, 2: p must follow */
    bool wide;        /* a register may be wider than the type */
    bool strict;      /* a .f16x2 register does not count as bits; WANT_VIDEO: no constant */
    bool sink;        /* _ does as well */
    bool is_optional; /* may be left out */
    u32 limit;        /* WANT_INT: the value is less, 0: any */
    /* WANT_INT: the values there are, "4/8/16" or "24..256%8", multiples of 8 from 24 to 256; NULL: any */
    const char *values;
};

struct syntax {     /* an opcode matched with a row */
    u16 row;        /* number of the row */
    u8 nwant;       /* operands */
    u8 space;       /* SYN_*: the state space that its words name */
    bool is_access; /* ld, st, atom, red, prefetch: an address without a space is a generic one */
    s16 sm;         /* least target; below 0: only targets before -sm */
    /* 0: any; 'a': exactly that architecture with its letter; 'f': that or a later one, with a letter */
    u8 arch;
    u8 version;          /* least .version, 78 for 7.8 */
    struct want want[8]; /* what the operands must be */
    const char *needs;   /* the word that asks for sm or version, NULL: the instruction does */
};
enum { SYN_GENERIC, SYN_GLOBAL, SYN_SHARED, SYN_LOCAL, SYN_CONST, SYN_PARAM };

/* The first row from `from` on that an opcode matches; -1: none. */
int syntax_find(u32 from, struct str opcode, struct syntax *out);
/* The opcode with its words in the order of the row, as isa.def writes them; false: it does not fit. */
bool syntax_canonical(u32 row, struct str opcode, char *out, size_t size);
/* Says why no row matches. */
void syntax_explain(struct str opcode, char *out, size_t size);
#endif
