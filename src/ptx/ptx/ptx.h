/* ptx: PTX text as a value. lexer -> parser -> this IR -> printer, verifier.
 *
 * The IR keeps what the text says, instruction by instruction, with the place of each thing in the text, so that
 * every later layer can point at it. It knows opcodes only as text: which form of isa.def an instruction is, is found
 * once per distinct opcode (isa_find) and kept in `form`; an opcode that the table lacks is no error here (form < 0):
 * it is named when it is reached. Everything lives in the module's arena. */
#ifndef LOCKSTEP_PTX_H
#define LOCKSTEP_PTX_H
#include "base/base.h"
#include "isa/types.h"

enum ptx_space { SP_NONE, SP_REG, SP_PARAM, SP_GLOBAL, SP_CONST, SP_SHARED, SP_LOCAL, SP_GENERIC };

struct ptx_reg {        /* one virtual register of a function */
    struct str name;    /* "%r12", written out even when declared as %r<20> */
    enum ptx_type type; /* declared: T_B32, T_F32, T_PRED ... */
    u32 index;          /* its number in func->regs */
    /* the variable of the source that debug information names for it, and the line of its declaration; n = 0: none */
    struct str variable;
    u32 variable_line;
    bool is_shared; /* it holds several variables in turn: none is named */
};

struct ptx_init {   /* one element of an initialiser */
    struct str sym; /* n > 0: address of a symbol (plus value) */
    bool generic;   /* generic(sym) */
    u32 mask_shift; /* 0xff(sym) forms: bits to shift right after masking, 0 otherwise */
    u64 mask;       /* 0xff(sym) forms: the mask itself, 0: no mask */
    u64 value;      /* integer cut to the width of the type, or the bits of a float of that type */
};

struct ptx_var { /* .global .const .shared .local or .param variable */
    struct str name;
    enum ptx_space space;
    enum ptx_type type;
    u32 align;          /* bytes, natural when not given */
    u32 vec;            /* 1, 2, 4: .v2 .v4 */
    u64 size;           /* bytes; 0: extern [] (dynamic shared) */
    u32 dims[8], ndims; /* array dimensions as written; 0 for [] */
    /* .param: byte offset in the parameter block; .local/.shared inside a function: left to decode */
    u64 offset;
    bool is_extern, is_visible, is_weak, is_common, is_managed;
    struct ptx_init *init;
    u32 ninit;                /* elements, in order, each `type` wide; the rest is zero */
    u32 ptr_align;            /* .param .ptr .align N, 0: not given */
    enum ptx_space ptr_space; /* .param .ptr.global etc, SP_NONE: not given */
    bool is_ptr;              /* .param with .ptr */
    bool is_input, is_result; /* .param: an input of the function, read only; a result, written only */
    u32 unified[2];
    bool is_unified; /* .attribute(.unified(1, 2)) */
    struct ptx_var *part;
    u32 npart;              /* .local frame: the variables that DWARF places in it, by offset */
    u64 within;             /* a part: its offset in the frame */
    struct ptx_var *frame;  /* a part that was found from the addresses in the code (frame_parts): its frame */
    struct str source_name; /* what the source calls it, as DWARF says; n = 0: unknown */
    /* device address of a module-scope .global or .const variable, set when the module is loaded (dev) */
    u64 addr;
    /* opaque initialiser of a .texref, .samplerref, .surfref: the text in braces, n = 0: none */
    struct str state;
    /* SP_REG: a parameter or result declared as .reg, the register or, of a vector, those of its components; NULL: it
     * has no name */
    struct ptx_reg *reg[4];
    struct ptx_var *instead; /* the variable of another module that counts in its place, NULL: itself (ptx_link) */
    /* what it is called in the one text of a linked program, n = 0: as here (ptx_print_linked) */
    struct str shown;
    const char *at; /* where its name stands in the text */
    u32 line;       /* in the PTX text */
};

struct ptx_loc { /* source place of an instruction: .loc and its inlined_at chain */
    u32 file;    /* number in module->files (the .file index), 0: unknown */
    u32 line, col;
    struct ptx_loc *at;    /* inlined here, NULL: not inlined */
    struct str func;       /* function_name of an inlined call, n = 0: unknown (text from .debug_str when there) */
    struct str func_label; /* what function_name says, as written: "$L__info_string0"; n = 0: not given */
    u32 func_offset;       /* added to the label */
};

enum ptx_operand_kind {
    OP_REG,  /* %r1; neg: !%p1 */
    OP_SREG, /* %tid.x */
    OP_INT,
    OP_FLOAT, /* imm: bits (an int as signed 64; 0f as 32 bits, 0d as 64 bits, imm_type says which) */
    OP_SYM,   /* variable or function, + imm */
    /* [reg + imm], [sym + imm], [imm]; what follows a comma inside is in elem[]: [tex, {x, y}] */
    OP_MEM,
    OP_VEC,   /* {a, b, c, d}: elem[] */
    OP_LABEL, /* block label */
    OP_PAIR,  /* d|p: elem[0], elem[1] */
    OP_LIST,  /* (a, b): call arguments and results */
    OP_SINK,  /* _ */
};
struct ptx_operand {
    enum ptx_operand_kind kind;
    bool neg;    /* !p; for OP_REG of integer type in `-a` positions: minus */
    bool is_sum; /* OP_SYM: written as name + constant, which may stand wherever an integer may; a name alone may not */
    u8 imm_type; /* OP_FLOAT: T_F32 or T_F64 */
    /* video selector: 0 none, 5..8 = b0..b3, 9, 10 = h0 h1, 11 = hXY, 12 = bXYZW (imm: digits as nibbles, their count
     * << 16), 13 = OP_MEM written [a].unified. Components of vector registers are registers of their own. */
    u8 sel;
    struct ptx_reg *reg;     /* OP_REG, or base of OP_MEM */
    const struct sreg *sreg; /* OP_SREG: row of isa's special register table */
    struct ptx_var *var;     /* OP_SYM / OP_MEM base: variable, NULL if a function or register */
    struct ptx_func *func;   /* OP_SYM: function */
    struct ptx_label *label; /* OP_LABEL; also .branchtargets / .calltargets / .callprototype labels */
    s64 imm;
    struct ptx_operand *elem;
    u32 nelem;
    const char *at; /* where it stands in the text */
};

struct ptx_insn {
    struct str opcode;     /* "ld.global.v4.f32" */
    struct ptx_opcode *op; /* shared by all instructions of this opcode in the module */
    struct ptx_reg *guard; /* @p or NULL */
    bool guard_neg;        /* @!p */
    struct ptx_operand *arg;
    u32 narg;
    struct ptx_loc *loc; /* NULL: none */
    const char *at;      /* in the text, for errors */
    u32 line;            /* in the PTX text */
};
struct ptx_opcode { /* one distinct opcode text of a module */
    struct str text;
    struct str base; /* "ld" */
    struct str mod[16];
    u32 nmod; /* "global" "v4" "f32" */
    int form; /* first matching form of isa.def, -1: not in the table */
    u32 mods; /* what its modifiers say: MOD_* */
    struct syntax *syntax;
    u32 nsyntax; /* the rows of syntax.def that it matches; 0: PTX has no such instruction */
};

enum ptx_label_kind { LABEL_CODE, LABEL_BRANCH_TARGETS, LABEL_CALL_TARGETS, LABEL_CALL_PROTOTYPE };
struct ptx_label {
    struct str name;
    enum ptx_label_kind kind;
    u32 insn; /* LABEL_CODE: index of the instruction it stands before (== ninsn: the end) */
    struct ptx_operand *target;
    u32 ntarget;            /* BRANCH_TARGETS: OP_LABEL; CALL_TARGETS: OP_SYM */
    struct ptx_func *proto; /* CALL_PROTOTYPE: a function without name and body */
    const char *at;
};

struct ptx_regs {    /* one name of a .reg statement */
    struct str name; /* "%r" of %r<20>, else the whole name */
    enum ptx_type type;
    u32 vec;       /* 1, 2, 4; the components of v are registers v.x v.y ... */
    u32 count;     /* 20 of %r<20>: %r0 to %r19 */
    bool is_range; /* written with < >, maybe of none */
};

/* What stands between the instructions of a body, in order. The instructions are an array without holes; each of these
 * says before which one it stands. Only the printer needs them: everything has been resolved. */
enum ptx_stmt_kind { STMT_OPEN, STMT_CLOSE, STMT_REGS, STMT_VAR, STMT_LABEL, STMT_LOC, STMT_PRAGMA };
struct ptx_stmt {
    enum ptx_stmt_kind kind; /* STMT_OPEN, STMT_CLOSE: a block { } with names of its own */
    u32 insn;                /* stands before this instruction */
    union {
        struct ptx_regs *regs;   /* STMT_REGS */
        struct ptx_var *var;     /* STMT_VAR */
        struct ptx_label *label; /* STMT_LABEL */
        struct ptx_loc *loc;     /* STMT_LOC */
        struct str pragma;       /* STMT_PRAGMA: text between the quotes */
    };
};

struct ptx_func {
    struct str name;
    bool is_entry, is_extern, is_visible, is_weak, is_noreturn, has_body;
    struct ptx_var **param;
    u32 nparam; /* inputs, with offsets */
    struct ptx_var **ret;
    u32 nret;        /* results of a .func */
    u64 param_bytes; /* size of the parameter block */
    struct ptx_reg **regs;
    u32 nregs; /* of all its scopes (names may repeat); of %r<N> those mentioned */
    struct ptx_stmt *stmt;
    u32 nstmt; /* what the printer needs beside the instructions */
    /* other directives of the head, as text: `.pragma "x";`, `.abi_preserve 4` */
    struct str *option;
    u32 noption;
    struct ptx_func *alias_of; /* .alias: the function that this name stands for, NULL: itself */
    struct ptx_func *instead;  /* the function of another module that counts in its place, NULL: itself (ptx_link) */
    /* what it is called in the one text of a linked program, n = 0: as here (ptx_print_linked) */
    struct str shown;
    struct ptx_var **local;
    u32 nlocal; /* .local .shared .param declared inside (space tells) */
    struct ptx_insn *insn;
    u32 ninsn;
    struct ptx_label **label;
    u32 nlabel;
    u32 maxntid[3], reqntid[3]; /* 0: not given */
    u32 minnctapersm, maxnreg;
    u32 reqnctapercluster[3], maxclusterrank;
    bool explicit_cluster, blocks_are_clusters;
    bool is_tile; /* .language 7: of cuTile, whose launches count tiles, and give no threads */
    struct ptx_module *module;
    const char *at;
    u32 line;
    /* what taking its address yields (set when the module is loaded); calls through it find it again */
    u64 addr;
    void *decoded; /* the machine hangs its decoded versions here */
    void *device;  /* a real GPU hangs its driver's function here; NULL: not launched there yet */
    /* of a kernel: the shared variables with a size that it can get to, when the machine has placed them */
    struct ptx_var **shared;
    u32 nshared;
    u64 shared_end;       /* where those end, and dynamic memory begins when it declares any */
    u32 dynamic_align;    /* of the dynamic shared memory after them */
    u8 triggers, signals; /* what ptx_triggers and ptx_signals say, and 1; 0: not asked yet */
};

struct ptx_source {  /* one .file */
    u32 number;      /* what .loc calls it */
    struct str path; /* as the text has it, between the quotes */
    struct str name; /* the path with its escapes (\", \\, \033) read */
    u64 time, size;  /* as given, 0: not given */
};
struct ptx_alias {
    struct str alias, target;
}; /* .alias alias, target; see also ptx_func.alias_of */

struct ptx_module {
    struct arena mem;
    const char *name;                 /* file name, for messages */
    struct str text;                  /* the whole text (kept: places point into it) */
    u32 version_major, version_minor; /* .version 9.0 */
    u32 target;                       /* 90 for sm_90 */
    char target_suffix;               /* 'a', 'f' or 0 */
    bool debug;                       /* .target ..., debug */
    bool independent;                 /* .target ..., texmode_independent: samplers apart from textures */
    u32 address_size;
    struct ptx_source *files;
    u32 nfiles;
    struct ptx_var **var;
    u32 nvar; /* module-scope variables */
    struct ptx_func **func;
    u32 nfunc; /* declarations merged with their definitions */
    struct ptx_alias *alias;
    u32 nalias;
    struct map symbols;        /* name -> struct ptx_symbol */
    struct ptx_pragma *pragma; /* module scope, in order */
    struct ptx_item *item;
    u32 nitem; /* what the text declares, in its order, for the printer */
    struct str *target_option;
    u32 ntarget_option; /* the rest of .target: "debug", "texmode_independent" */
    struct str *section;
    u32 nsection; /* .section ... { } bodies, raw text, for the printer and DWARF */
    /* where its own shared memory starts: after the system's when the code asks for that, else 0 */
    u32 shared_base;
    bool shared_placed;              /* of the first module: the shared variables of the program have their offsets */
    bool distributed;                /* of the first module: some CTA may reach the shared memory of another one */
    u8 asynchronous;                 /* of the first module: what ptx_asynchronous says, and 1; 0: not asked yet */
    struct ptx_module *first, *next; /* the modules that it is linked with, itself among them */
};
struct ptx_symbol {
    struct ptx_var *var;
    struct ptx_func *func;
};
struct ptx_pragma {
    struct str text;
    struct ptx_pragma *next;
};

enum ptx_item_kind { ITEM_VAR, ITEM_DECLARATION, ITEM_FUNC, ITEM_FILE, ITEM_ALIAS, ITEM_PRAGMA, ITEM_SECTION };
struct ptx_item {              /* one thing at module scope */
    enum ptx_item_kind kind;   /* ITEM_DECLARATION: a function without its body; ITEM_FUNC: with it */
    u32 index;                 /* in files, alias or section */
    struct ptx_var *var;       /* ITEM_VAR */
    struct ptx_func *func;     /* ITEM_DECLARATION, ITEM_FUNC */
    struct ptx_pragma *pragma; /* ITEM_PRAGMA */
};

/* Parses; NULL on error with line, caret and reason in e. Never crashes, whatever the text. */
struct ptx_module *ptx_parse(const char *name, struct str text, struct error *e);
void ptx_free(struct ptx_module *m);
/* Prints in a canonical form; parse(print(m)) prints the same text again. */
void ptx_print(const struct ptx_module *m, struct text *out);
/* Checks what needs the whole module but not the instruction set: branch targets, address operands, calls. */
bool ptx_verify(struct ptx_module *m, struct error *e);
/* Whether the program has nothing under this name; what the machine itself provides is not looked at. Dynamic shared
 * memory needs no definition. */
static inline bool ptx_var_missing(const struct ptx_var *v)
{
    return v->is_extern && (v->space == SP_GLOBAL || v->space == SP_CONST || (v->space == SP_SHARED && v->size));
}
static inline bool ptx_func_missing(const struct ptx_func *f)
{
    return !f->has_body && !(f->alias_of && f->alias_of->has_body);
}
/* Makes one program of these modules: names that one gives away mean the same in all. Also for one alone. */
bool ptx_link(struct ptx_module **part, u32 parts, struct error *e);
/* Prints a linked program as one text, which parses; false, with the reason: one text cannot say it. */
bool ptx_print_linked(struct ptx_module *first, struct text *out, struct error *e);
struct ptx_reach {    /* what a kernel can get to, itself included */
    struct arena mem; /* for the lists; the caller frees it */
    VEC(struct ptx_func *) func;
    VEC(struct ptx_var *) var;
    const void **seen;  /* a hash table of both, to find what is there already */
    u32 nseen, capseen; /* entries that are in use; entries, a power of two */
};
void ptx_reach(struct ptx_reach *r, struct ptx_func *kernel);
/* Whether a kernel can get to griddepcontrol.launch_dependents. Asked once, then known; from any thread. */
bool ptx_triggers(struct ptx_func *kernel);
bool ptx_has_mod(const struct ptx_opcode *op, const char *mod); /* one of its modifiers is that word */
/* Whether a kernel can tell the host something while it runs: a fence, a store or an atomic of system scope, or a
 * volatile store. Asked once, as above. */
bool ptx_signals(struct ptx_func *kernel);
/* Some function of the program, called or not, has an instruction whose accesses to memory happen later, beside what
 * its thread does next: asynchronous copies, stores and products. */
bool ptx_asynchronous(struct ptx_module *m);
struct ptx_func *ptx_kernel(struct ptx_module *m, struct str name); /* an entry by its name, NULL: none */
/* Source path of a .file number, its escapes read; n = 0 when unknown. */
struct str ptx_file(const struct ptx_module *m, u32 number);
/* What reports call a parameter: "argument 0 (values)", or "argument 0" where debug information (-G) does not tell. */
struct ptx_argument {
    char text[80];
};
struct ptx_argument ptx_argument(const struct ptx_func *f, u32 k);
#endif
