/* What lower.c and its parts share while a function is lowered. functions.h has what others may ask. */
#ifndef LOCKSTEP_LOWER_H
#define LOCKSTEP_LOWER_H
#include "lower/functions.h"
#include "code/mma.h"

struct lower {
    struct lowered *l;
    struct arena *mem;
    VEC(struct lop) op;
    VEC(struct block) block;
    VEC(struct site) site;
    VEC(struct call) call;
    VEC(u8) reg_type;
    VEC(struct mma) mma;
    /* the two 64-bit halves of a .b128 register of the text; hi 0: not one */
    struct pair {
        u32 lo, hi;
    } * pair;
    VEC(u32 *) brx;
    VEC(struct ptx_var *) sym;
    /* of each parameter of a function: the local variable it lives in, because its address is taken; NULL: none */
    struct ptx_var **home;
    u32 params_end;             /* where the .param variables of the function end in its memory of calls */
    u32 call_end;               /* where the values of the call in hand end there */
    u32 *label_block;           /* block that starts at an instruction of the text, NONE */
    const struct ptx_insn *cur; /* being lowered */
    struct opnd guard;          /* of the current instruction */
    u32 around;                 /* the block that branches around it, NONE: none */
    /* it has a predicate where a number belongs, or the other way round, or no register where a result goes */
    bool mixed;
    /* the carry of add.cc and its like, a register of its own; O_NONE: not yet used */
    struct opnd carry;
    struct error *e;
};

/* as a source of that type */
struct opnd lower_operand(struct lower *w, const struct ptx_operand *o, enum ptx_type type);
struct opnd lower_temp(struct lower *w, enum ptx_type type);
/* An operation of that form without operands, under the guard of the current instruction; not yet in the list. */
struct lop lower_op(const struct lower *w, int form);
/* Gives an operation its list of operands. */
void lower_operands(struct lower *w, struct lop *o, const struct opnd *dst, u32 ndst, const struct opnd *src, u32 nsrc);
/* An operation of one result, or of none (d is O_NONE); sources at the end that are O_NONE are left off. */
struct lop *lower_emit_list(struct lower *w, int form, struct opnd d, const struct opnd *src, u32 nsrc);
struct lop *lower_emit(struct lower *w, int form, struct opnd d, struct opnd a, struct opnd b, struct opnd c);
struct opnd lower_const(u64 value);
struct opnd lower_reg(u32 r);
/* Where a result of that type goes: the register itself, or a temporary that lower_finish() copies when widths
 * differ. */
struct opnd lower_begin(struct lower *w, const struct ptx_operand *o, enum ptx_type type);
void lower_finish(struct lower *w, const struct ptx_operand *o, struct opnd d, enum ptx_type type);
struct opnd lower_resize(struct lower *w, struct opnd o, u32 from, enum ptx_type type);
bool lower_has_mod(const struct ptx_insn *i, const char *mod);
enum ptx_type lower_last_type(const struct ptx_insn *i);
struct opnd lower_half(struct lower *w, const struct ptx_operand *o, u32 k); /* half k of a .b128 register */
u32 lower_width(struct lower *w, const struct ptx_operand *o);
void lower_unsupported(struct lower *w);
void lower_end_block(struct lower *w, enum term term);
void lower_end_wait(struct lower *w, enum isa_wait wait); /* the lanes wait there */
/* A guarded operation that may wait becomes a branch around an unguarded one: begin, then end after it. */
u32 lower_branch_around(struct lower *w);
void lower_end_around(struct lower *w, u32 from);
/* lower_memory.c: the lanes of the warp meet, as every .aligned operation wants it; nothing is ordered by that. */
void lower_meet_aligned(struct lower *w);
/* An operation of all lanes, which meet first; around: of lower_branch_around. */
void lower_push_aligned(struct lower *w, struct lop o, u32 around);
void lower_parameters(struct lower *w); /* at the entry: those that are registers */
void lower_results(struct lower *w);    /* before a return: the same */
/* lower_memory.c: a register to or from the call's memory */
void lower_call_memory(struct lower *w, bool load, struct opnd data, u32 width, u32 at);
void lower_home_store(struct lower *w, struct ptx_var *home, struct opnd data, u32 width, u32 at);
/* where a variable lives: mostly it is that itself */
struct ptx_var *lower_home(const struct lower *w, struct ptx_var *v);

/* Makes operations of the current instruction, which has this form. */
typedef void lowering(struct lower *w, int form);
/* the ways of lane rows (enum isa_lower) */
lowering lower_plain, lower_mov, lower_cvta, lower_setp, lower_set, lower_carry, lower_video, lower_simd, lower_four;
/* those that rows written out at length name, in the column `lower` of isa_named.def */
#define MEM(id, in, pv, low, ...) lowering lower_##low;
#define MEM_MORE MEM
#define SYNC MEM
#define SYNC_MORE MEM
#define WARP MEM
#define CTRL MEM
#include "isa/isa_named.def"
#include "isa/isa_end.def"
/* The address operand: register, symbol or number, and the constant offset. Returns its width in bytes. */
u32 lower_address(struct lower *w, const struct ptx_operand *m, struct opnd *a, s64 *off);
/* The same as one operand, with the offset added; *width is its width. */
struct opnd lower_whole_address(struct lower *w, const struct ptx_operand *m, u32 *width);
/* A site of an operation that is no plain access; access: ISA_READS and so on. Returns its number. */
u32 lower_site(struct lower *w, u32 access, enum ptx_space space, u32 width, u32 addr_width, u32 which);
/* One register, or value, to or from memory, by an access that the text does not spell out. */
void lower_access(struct lower *w, bool load, enum ptx_space space, struct opnd at, u32 addr_width, s64 off,
                  struct opnd data, u32 width);
/* The same for n registers that lie side by side in memory. */
void lower_access_vector(struct lower *w, bool load, enum ptx_space space, struct opnd at, u32 addr_width, s64 off,
                         const struct opnd *data, u32 n, u32 width);
/* A reduction of the opcode's .add, .min, .max, .and or .or at an address of global memory; false: it has none. */
bool lower_reduce_at(struct lower *w, struct opnd at, const struct ptx_operand *data, enum ptx_type t);
/* lower_mma.c: reads all words of an opcode of mma or wmma; how many types it has, in t. Layouts and types are the
 * caller's to judge. */
u32 lower_mma_words(const struct ptx_insn *i, struct mma *x, u8 t[4]);
/* The product of that form, with the operands of the current instruction; x NULL: there is no such form. */
void lower_mma_product(struct lower *w, int form, struct mma *x);
u8 lower_mma_count(u32 elements, enum tensor_type t); /* registers of a lane for so many elements of the warp */
bool lower_mma_shape(struct str s, struct mma *x);
u32 lower_mma_number(struct lower *w, const struct mma *x); /* of a form in the function's list */
/* lower_wgmma.c, when all instructions are there: a wait for products writes their accumulators. */
void lower_wgmma_waits(struct lower *w);
/* The registers of one operand, as sources or as results; false: another number of them, or of another width. */
bool lower_mma_registers(struct lower *w, const struct ptx_operand *v, u32 n, bool wide, bool result, struct opnd *out);
/* The state space of an access: the one that the opcode names or, where it names none, that of the variable whose name
 * is the address, as ptxas has it. A register without a state space holds a generic address. */
enum ptx_space lower_space_of(const struct lower *w, const struct ptx_operand *m);
/* The state space that an opcode names. */
enum ptx_space lower_space(const struct ptx_insn *i);
#endif
