/* isa: what isa.def says, as tables that every layer can read.
 *
 * A *row* of isa.def becomes one *form* for each of its types, and in rows that must be fast (FLOAT, FCMP) for each
 * of its .ftz/.sat variants. Forms are numbered in the order of the file, the same in every pass over it, so tables
 * made by different passes are indexed alike. The lane rows come in families, one .def file each, each compiled by
 * one lanes_*.c. */
#ifndef LOCKSTEP_ISA_H
#define LOCKSTEP_ISA_H
#include "isa/types.h"

enum isa_kind { K_LANE, K_CMP, K_PRED, K_MEM, K_WARP, K_CTRL };
enum isa_family { FAM_int, FAM_float, FAM_round, FAM_half, FAM_cvt, FAM_video, FAM_named, FAM_COUNT };
/* How a lane row becomes operations, by lower_plain() and so on of lower/lower.h. Rows of isa_named.def name their own.
 */
enum isa_lower {
    LOWER_plain, /* one operation, the operands of the text */
    LOWER_mov,
    LOWER_cvta,
    LOWER_setp,
    LOWER_set,
    LOWER_carry,
    LOWER_video,
    LOWER_simd,
    LOWER_four,
    LOWER_named
};

/* What becomes of undefined bits (rules.md I1), a row's first rule. init_lane.c applies them. */
enum isa_init {
    INIT_NONE, /* makes a defined value from nothing */
    /* bits of a go where the operation moves them: run on the mask of undefined bits, it says where */
    INIT_COPY,
    INIT_MERGE, /* the same for bits of a and b */
    INIT_ALL,   /* any undefined bit makes the whole result computed */
    INIT_EACH,  /* the same for each element of x2 types */
    INIT_HALVES,
    INIT_BYTES, /* SIMD video: the same for each lane of 16 or 8 bits; c gives what e leaves out */
    INIT_PAIR,  /* upper half from a, lower half from b */
    INIT_AND,
    INIT_OR,   /* a defined 0 (1) decides; a defined 1 (0) lets the other bit pass */
    INIT_XOR,  /* by the bit; of a register with itself: defined */
    INIT_NOT,  /* by the bit */
    INIT_LOP3, /* by the bit, as far as the table depends on it */
    INIT_SELF, /* as ALL, but of a register with itself: defined */
    INIT_USE   /* every operand is a use (rules.md I2) */
};
/* Which object the result points into (rules.md B2), a row's second rule. provenance.c applies them. */
enum isa_prov {
    PROV_NONE,   /* a plain number */
    PROV_KEEP,   /* that of a */
    PROV_MAPPED, /* that of a, in another CTA of the cluster */
    /* pointer and number keep the pointer; two pointers: mixed (ADD), pointer - pointer: mixed (SUB) */
    PROV_ADD,
    PROV_SUB,
    PROV_AND,    /* with a plain number: that of the other side */
    PROV_MAD,    /* that of c */
    PROV_CHOICE, /* that of the side chosen */
    PROV_LOAD,   /* what the value points at when it arrives */
    PROV_BORN    /* an object of its own */
};

/* What a lane row computes, as far as an analysis of values asks: a row's third rule. Operands are integers unless the
 * shape says otherwise. Rows that no analysis asks about are OTHER. */
enum isa_shape {
    SHAPE_OTHER,
    SHAPE_MOVE,    /* a */
    SHAPE_ADDRESS, /* a, an address of one state space as a generic one or back, where both are the same number */
    SHAPE_CONVERT, /* a, extended or cut to the width of d */
    SHAPE_ADD,
    SHAPE_SUB,
    SHAPE_NEG,
    SHAPE_MUL,
    SHAPE_MAD, /* a * b + c */
    SHAPE_MUL_WIDE,
    SHAPE_MAD_WIDE, /* the same with a product twice as wide as a and b */
    SHAPE_DIV,
    SHAPE_REM,
    SHAPE_MIN,
    SHAPE_MAX,
    SHAPE_AND,
    SHAPE_OR,
    SHAPE_XOR,
    SHAPE_NOT,
    SHAPE_SHL,
    SHAPE_SHR,
    SHAPE_SELECT,   /* a or b, as the predicate c says */
    SHAPE_COUNT,    /* a number of bits of a */
    SHAPE_COMPARE,  /* the truth of the row's relation of a and b */
    SHAPE_FCOMPARE, /* the same of floats */
    SHAPE_PRED_AND, /* of predicates */
    SHAPE_PRED_OR,
    SHAPE_PRED_NOT,
    SHAPE_CARRY,      /* extended precision that takes no carry: its last operand is there for the syntax alone */
    SHAPE_TAKE_CARRY, /* its last operand is the carry */
    SHAPE_FADD,       /* of floats, rounded to the nearest */
    SHAPE_FSUB,
    SHAPE_FMUL,
    SHAPE_FMA,
    SHAPE_FDIV, /* infinite when the divisor is 0 */
    SHAPE_ROOT, /* of an argument below 0: NaN */
    SHAPE_EXP   /* overflows for large arguments */
};
/* Which relation a comparison tests. Those after GE are of floats: with U also true of NaNs. */
enum isa_relation {
    REL_none,
    REL_eq,
    REL_ne,
    REL_lt,
    REL_le,
    REL_gt,
    REL_ge,
    REL_equ,
    REL_neu,
    REL_ltu,
    REL_leu,
    REL_gtu,
    REL_geu,
    REL_num,
    REL_nan
};
/* What else holds of a row of memory, warp or control operations. */
enum isa_flag {
    ISA_ACCESS = 1 << 0,        /* one access a lane, which its site describes: ld, st, atom, red */
    ISA_READS = 1 << 1,         /* memory */
    ISA_WRITES = 1 << 2,        /* memory */
    ISA_ATOMIC = 1 << 3,        /* in one read-modify-write */
    ISA_FETCHES = 1 << 4,       /* a read-modify-write whose result is what was there before */
    ISA_MATRIX = 1 << 5,        /* the warp moves rows of 8 elements, at an address from one lane each */
    ISA_COPY = 1 << 6,          /* asynchronous: the bytes move later, before a wait returns */
    ISA_FENCE = 1 << 7,         /* orders accesses */
    ISA_MBARRIER = 1 << 8,      /* works on the mbarrier at its address */
    ISA_MBAR_INIT = 1 << 9,     /* makes an mbarrier there */
    ISA_MBAR_INVAL = 1 << 10,   /* ends it */
    ISA_MBAR_ARRIVE = 1 << 11,  /* counts an arrival */
    ISA_MBAR_DROP = 1 << 12,    /* and takes the thread out of the following phases */
    ISA_MBAR_WAIT = 1 << 13,    /* asks whether a phase is complete */
    ISA_MBAR_COPIES = 1 << 14,  /* arrives when the thread's asynchronous copies are complete */
    ISA_BARRIER = 1 << 15,      /* of the CTA */
    ISA_WARP_BARRIER = 1 << 16, /* of lanes of a warp */
    ISA_BRANCH = 1 << 17,       /* bra */
    ISA_SHUFFLE = 1 << 18,      /* a value of another lane */
    ISA_VOTE = 1 << 19,         /* made from a predicate of each lane */
    ISA_MATCH = 1 << 20,        /* which lanes have the same value */
    ISA_REDUCE = 1 << 21,       /* one value made from those of all lanes */
    ISA_UNIFORM = 1 << 22,      /* every lane that takes part gets the same result */
    ISA_STACK = 1 << 23,        /* moves the end of the frame's local memory */
    ISA_INDEXED = 1 << 24,      /* a branch to a label by its number */
    ISA_CALL = 1 << 25,
    ISA_SYNC = 1 << 26,       /* waits for the lanes of its mask, and ends its block */
    ISA_MBAR_STATE = 1 << 27, /* its operand is the state of 64 bits that an arrival returned */
    ISA_ALIGNED = 1 << 28,    /* .sync of all lanes of the warp, without a member mask */
    ISA_TRANSPOSE = 1 << 29,  /* an 8x8 matrix of 16-bit elements, two of them a lane, with rows and columns swapped */
    ISA_MMA = 1 << 30,        /* a product of small matrices, a part of them in each lane */
    ISA_GROUP =
        1ll << 31, /* of a warpgroup: an asynchronous product, or what orders those; the next ones are 1ll << 32 */
    ISA_HOW = ISA_READS | ISA_WRITES | ISA_ATOMIC | ISA_FETCHES
};

/* What the modifiers of an opcode say. Rows that do not have a form for each take them as M while they run. */
enum isa_mod {
    MOD_FTZ = 1,
    MOD_SAT = 2,
    MOD_RELU = 4,
    MOD_NAN = 8,
    MOD_XORSIGN = 16,
    MOD_SATFINITE = 32,
    MOD_OOB = 64,
    MOD_ADD = 128,
    MOD_ROUND = 15 << 8, /* enum isa_round */
    MOD_SHR7 = 1 << 12,
    MOD_SHR15 = 1 << 13,
    MOD_PO = 1 << 14,
    MOD_CLAMP = 1 << 15,
    MOD_MIN = 1 << 16, /* second operations of video instructions */
    MOD_MAX = 1 << 17,
    MODS_ANY = 1 << 30 /* of a form: takes them as they come */
};
enum isa_round { RND_NONE, RND_RN, RND_RZ, RND_RM, RND_RP, RND_RNA, RND_RNI, RND_RZI, RND_RMI, RND_RPI, RND_RS };
#define MOD_ROUND_IS(r) ((u32)(r) << 8)
#define ROUND_OF(mods) ((enum isa_round)((mods) >> 8 & 15))

/* What is done to the operands of a lane form before its value, and to the result after it, in this order. Of a form
 * with MODS_ANY, each happens where the modifiers of the instruction say so (EDGE_NAN always); of others, always. Types
 * other than f32, and f64 that saturates, go in and out as they are: the words of their values do what there is to do.
 * A value of the type `kept` keeps its NaN (words_float.h). */
enum isa_edge {
    EDGE_FTZ_IN = 1,  /* .ftz: subnormal operands of type f32 become zeros of their sign */
    EDGE_ROUND = 2,   /* arithmetic of the value rounds as MOD_ROUND says; otherwise to the nearest, ties to even */
    EDGE_FTZ_OUT = 4, /* .ftz: a subnormal result, too */
    EDGE_SAT = 8,     /* .sat: into 0..1, NaN becomes 0 */
    EDGE_RELU = 16,   /* .relu: what is below 0 becomes 0 */
    EDGE_NAN = 32     /* a NaN result of type f32 becomes 0x7fffffff */
};

struct isa_form {
    const char *id;       /* "setp_lt" */
    const char *syntax;   /* as in isa.def */
    const char *value;    /* the C expression of a lane form, as in isa.def; empty: the row is written out at length */
    const char *operands; /* of a row written out at length: places and types of its operands, see isa.def */
    u8 init, prov;        /* enum isa_init, enum isa_prov */
    u8 shape, relation;   /* enum isa_shape, enum isa_relation */
    u64 flags;            /* ISA_* */
    /* enum isa_name: of a set, the comparison it is made from; of extended precision, what makes the carry; N_COUNT:
     * none */
    u16 partner;
    u16 name; /* enum isa_name: equal for equal ids */
    u8 kind, family;
    u8 type;  /* T */
    u8 dtype; /* D of a conversion, W of a wide operation, T otherwise */
    u8 lower; /* enum isa_lower */
    u8 nsrc;  /* source operands of a lane form: a b c e */
    u8 op[5]; /* types of d a b c e */
    u32 mods; /* MOD_* that this form has, or MODS_ANY */
    u8 edges; /* EDGE_*: what is done around the value */
    u16 line; /* in its .def file */
};
extern const struct isa_form isa_forms[];
extern const u32 isa_count;
extern const u16 isa_family_first[FAM_COUNT]; /* first form of each family */

/* One number per row, N_add, N_setp_lt ...: to make an operation by name, and for tables made from the rows. What a row
 * is, its columns say: nothing outside this layer compares names (tests/names). */
enum isa_name {
#define ROW(id) N_##id,
#define LANE1(id, ...) ROW(id)
#define MOVE1(id, ...) ROW(id)
#define LANE2(id, ...) ROW(id)
#define LANE3(id, ...) ROW(id)
#define LANE4(id, ...) ROW(id)
#define FLOAT1(id, ...) ROW(id)
#define FLOAT2(id, ...) ROW(id)
#define FLOAT3(id, ...) ROW(id)
#define SHIFT(id, ...) ROW(id)
#define FIELD(id, ...) ROW(id)
#define COUNT(id, ...) ROW(id)
#define WIDE2(id, ...) ROW(id)
#define WIDE3(id, ...) ROW(id)
#define CMP(id, ...) ROW(setp_##id) ROW(set_##id)
#define FCMP(id, ...) ROW(fsetp_##id) ROW(fset_##id)
#define TEST(id, ...) ROW(id)
#define SELECT(id, ...) ROW(id)
#define CONVERT(id, ...) ROW(id)
#define HEAVY1(id, ...) ROW(id)
#define HEAVY2(id, ...) ROW(id)
#define HEAVY3(id, ...) ROW(id)
#define OPS1(id, ...) ROW(id)
#define OPS2(id, ...) ROW(id)
#define OPS3(id, ...) ROW(id)
#define OPS4(id, ...) ROW(id)
#define FOUR(id, ...) ROW(id)
#define CARRY2(id, ...) ROW(id) ROW(id##_out)
#define CARRY3(id, ...) ROW(id) ROW(id##_out)
#define VIDEO2(id, ...) ROW(id)
#define VIDEO3(id, ...) ROW(id)
#define SIMD(id, ...) ROW(id)
#define PRED1(id, ...) ROW(id)
#define PRED2(id, ...) ROW(id)
#define MEM(id, ...) ROW(id)
#define MEM_MORE(id, ...)
#define SYNC_MORE(id, ...)
#define WARP(id, ...) ROW(id)
#define SYNC(id, ...) ROW(id)
#define CTRL(id, ...) ROW(id)
#include "isa/isa.def"
#undef ROW
    N_COUNT
};

/* Where lanes wait (waits.def), and the column `wait` of rows of control, by name. */
enum isa_wait {
    WAIT_none,
#define WAIT(id, ...) WAIT_##id,
#include "isa/waits.def"
#undef WAIT
    WAITS
};
extern const u8 isa_wait[N_COUNT];

/* Finds the form of an opcode such as "add.rn.ftz.f32" and what its modifiers say; -1: the table has none. */
int isa_find(struct str opcode, u32 *mods);
/* the next one from that form on: opcodes of other operands */
int isa_find_from(u32 first, struct str opcode, u32 *mods);
/* A form by name, type and modifiers, for code that decode makes itself; never fails for what isa.def has. */
int isa_form(enum isa_name name, enum ptx_type type, enum ptx_type dtype, u32 mods);
/* Of a sum of floats (SHAPE_FADD, SHAPE_FSUB): the fma of its type and modifiers, and the neg of its type. */
int isa_fused(const struct isa_form *sum);
int isa_negation(const struct isa_form *sum);
/* Type of operand n of a lane form (0 = d, 1.. = a b c e); T_PRED for predicates, T_NONE: no such operand. */
static inline enum ptx_type isa_operand_type(const struct isa_form *f, u32 n) { return (enum ptx_type)f->op[n]; }
void isa_syntax(const struct isa_form *f, char *out, size_t size); /* the row's syntax with the form's types */
/* The n-th opcode that a form stands for, every choice of its syntax spelled out; false: there are no more. Empty:
 * the n-th choice belongs to a sister form. */
bool isa_opcode(const struct isa_form *f, u32 n, char *out, size_t size);
#endif
