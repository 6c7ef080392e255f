/* gen_kernel: random PTX kernels that are valid, end, and have one right answer; and the right answer.
 *
 * A seed makes a program: a list of items over registers, one item for each instruction (a call is one item):
 * gen_kernel.c, with gen_core.c and gen_memory.c below it, over the opcodes of gen_ops.c. The same list is printed as
 * PTX (gen_print.c) and run by a reference that knows nothing of warps, masks or classes: one thread at a time, as
 * plain C arithmetic, up to where threads meet (ref_kernel.c). Items can be switched off one by one, which is how a
 * failing program becomes a small one. tests/unit/test_generated.c brings both together with the machine. */
#ifndef LOCKSTEP_GEN_KERNEL_H
#define LOCKSTEP_GEN_KERNEL_H
#include "isa/types.h"

enum reg_file { FILE_P, FILE_H, FILE_R, FILE_D, FILE_F, FILE_G, FILES }; /* pred, b16, b32, b64, f32, f64 */

enum op_code {
    OP_ADD,
    OP_SUB,
    OP_MUL_LO,
    OP_MUL_HI,
    OP_MUL_WIDE,
    OP_MAD_LO,
    OP_MAD_HI,
    OP_MAD_WIDE,
    OP_DIV,
    OP_REM,
    OP_MIN,
    OP_MAX,
    OP_ABS,
    OP_NEG,
    OP_ADD_SAT,
    OP_SUB_SAT,
    OP_POPC,
    OP_CLZ,
    OP_BREV,
    OP_BFIND,
    OP_BFIND_SHIFT,
    OP_BFI,
    OP_BFE,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_NOT,
    OP_SHL,
    OP_SHR,
    OP_LOP3,
    OP_PRMT,
    OP_SHF_LW,
    OP_SHF_RW,
    OP_SHF_LC,
    OP_SHF_RC,
    OP_FMUL,
    OP_FMA,
    OP_FDIV,
    OP_RCP,
    OP_SQRT,
    OP_RSQRT,
    OP_RCP_APPROX,
    OP_SQRT_APPROX,
    OP_DIV_FULL,
    OP_LG2,
    OP_SIN,
    OP_COS,
    OP_EX2,
    OP_TANH,
    OP_SETP,
    OP_SELP,
    OP_MOV,
    OP_CVT,
    OP_TRUNC,
    OP_NEAREST,
    OP_FLOOR,
    OP_CEIL,
    OP_PACK,
    OP_UNPACK,
    OP_SAD,
    OP_CNOT,
    OP_MUL24,
    OP_DP4A,
    OP_CARRY,
    OP_BORROW
};
enum { OPM_FTZ = 1, OPM_SAT = 2, OPM_RZ = 4, OPM_RM = 8, OPM_RP = 16, OPM_RELU = 32 };
struct op { /* an opcode that lanes execute by themselves */
    char text[32];
    /* files of the result and the sources, as letters of "phrdfg"; pack and unpack: part, parts, whole */
    char sig[8];
    u8 code, type, dtype, mods;
    /* setp: 0.. eq ne lt le gt ge equ neu ltu leu gtu geu num nan; 0 none, 1 and, 2 or, 3 xor */
    u8 cmp, bool_op;
    u8 pair; /* setp p|q */
};
extern struct op gen_ops[];
extern u32 gen_op_count;

enum opr_kind { R_NONE, R_REG, R_IMM, R_SREG };
enum gen_sreg {
    G_TID_X,
    G_TID_Y,
    G_TID_Z,
    G_NTID_X,
    G_NTID_Y,
    G_NTID_Z,
    G_CTAID_X,
    G_LANEID,
    G_WARPID,
    G_NCTAID_X,
    G_SREGS
};
struct opr {
    u8 kind, file;
    u16 reg;
    u64 imm;
}; /* a source or destination; SREG: reg is the number */

enum item_kind {
    I_OP,
    I_LABEL,
    I_BRA,
    I_BRX,
    I_RET,
    I_LD,
    I_ST,
    I_ATOM,
    I_WARP,
    I_BAR,
    I_CALL,
    I_PARAM,
    I_SYMBOL,
    I_WIDE,
    I_ASYNC
};
enum warp_kind {
    W_SHFL_UP,
    W_SHFL_DOWN,
    W_SHFL_BFLY,
    W_SHFL_IDX,
    W_ALL,
    W_ANY,
    W_UNI,
    W_BALLOT,
    W_MATCH_ANY,
    W_MATCH_ALL,
    W_RADD,
    W_RMIN,
    W_RMAX,
    W_RMINS,
    W_RMAXS,
    W_RAND,
    W_ROR,
    W_RXOR,
    W_SYNC,
    W_KINDS
};
enum gen_space { M_GLOBAL, M_SHARED, M_LOCAL, M_CONST, M_GENERIC };
enum { SYM_SH, SYM_LOC, SYM_TAB };
/* the last three: of the mbarrier, waited for by state, by parity; copies arrive */
enum { B_SYNC, B_AND, B_OR, B_POPC, B_STATE, B_PARITY, B_COPIED };
/* 128 bits: data in s[1..2], more[0..1] for cas; results in d, d2 */
enum { WIDE_MOV, WIDE_ST, WIDE_LD, WIDE_EXCH, WIDE_CAS };
/* copy: from s[0] to s[1] + at, vec bytes, of which s[2]; wait: but vec groups; init: the mbarrier */
enum { ASYNC_COPY, ASYNC_COMMIT, ASYNC_WAIT, ASYNC_WAIT_ALL, ASYNC_INIT };
enum { A_ADD, A_MIN, A_MAX, A_AND, A_OR, A_XOR, A_EXCH, A_CAS, A_INC, A_DEC, A_MIN_S, A_MAX_S };

struct item {
    u8 kind, off, keep; /* off: left out; keep: never */
    u8 guarded, neg;
    u16 guard;
    /* I_OP: of gen_ops; I_WARP, I_BAR, I_ATOM, I_WIDE, I_ASYNC: which; I_PARAM: number; I_SYMBOL: SYM_* */
    u16 op;
    u8 space, type, vec, red; /* memory */
    /* memory: s[0] the address, data in d d2 x y or s[1..] ; call: d, s[0..3], pred in d2 */
    struct opr d, d2, s[4];
    struct opr more[2];
    s32 at;    /* memory: offset */
    u32 label; /* of a label or branch; I_CALL: the function */
    u32 other; /* I_CALL: the function when the predicate is false, + 1; 0: a direct call */
    u32 *targets;
    u32 ntargets;
};

struct gfunc {
    VEC(struct item) item;
    u32 nreg[FILES];
    u32 nlabel;
    bool kernel;
};
enum {
    GEN_FUNCS = 4,
    GEN_PARAMS = 10,
    IN_BYTES = 4096,
    SCRATCH_WORDS = 8,
    SCRATCH_EACH = 3 * SCRATCH_WORDS * 8,
    ACC_WORDS = 96,
    LOCAL_BYTES = 64,
    CONST_WORDS = 16,
    /* shared memory: slots of 4 bytes, of which the last are for copies of 16 that are shown to others; behind them
     * copies that a thread keeps to itself */
    SHARED_SLOTS = 3072,
    BLOCK_MAX = 256,
    COPY_BYTES = 16,
    COPY_EACH = BLOCK_MAX * COPY_BYTES,
    COPY_SHOWN = SHARED_SLOTS * 4 - COPY_EACH,
    COPY_OWN = SHARED_SLOTS * 4,
    COPY_SLOTS = 3,
    SHARED_BYTES = COPY_SHOWN + COPY_SLOTS * COPY_EACH
};
#define NONE_AT 0xffffffffu
struct program {
    struct arena mem;
    u64 seed;
    struct gfunc func[GEN_FUNCS + 1];
    u32 nfunc;         /* functions, then the kernel at nfunc */
    u32 nout;          /* 8-byte words each thread writes */
    bool thread_major; /* layout of the results */
    /* threads read what others wrote: then who leaves early meets them first, since leaving orders nothing */
    bool shows;
    bool mbarrier; /* threads meet at an mbarrier too: then none leaves early */
    u32 tab[CONST_WORDS];
};

struct program *gen_program(u64 seed);
void gen_print(const struct program *p, struct text *out);
void gen_free(struct program *p);

/* The kernel's buffers and scalars: parameters in this order, the first four pointers. */
enum { BUF_OUT, BUF_IN, BUF_SCRATCH, BUF_ACC, BUFS };
struct gen_args {
    u32 p0, p1;
    u64 q0;
    float x0;
    double y0;
    u16 h0;
};
struct gen_launch {
    u32 grid, block[3];
    struct gen_args args;
    char *buf[BUFS];
    u64 bytes[BUFS];
};
/* Runs the program; false: it goes out of bounds, does not end or never meets (which only a program with items
 * switched off does). */
bool ref_run(const struct program *p, struct gen_launch *l);
u64 ref_eval(const struct op *o, const u64 *s, u64 *second);
#endif
