/* mma.h: a product of small matrices as an opcode describes it: mma.sync and its relatives (9.7.14), wgmma (9.7.15). */
#ifndef LOCKSTEP_MMA_H
#define LOCKSTEP_MMA_H
#include "base/base.h"

/* Types of the elements. */
enum tensor_type {
    TENSOR_F16,
    TENSOR_BF16,
    TENSOR_TF32,
    TENSOR_E4M3,
    TENSOR_E5M2,
    TENSOR_F32,
    TENSOR_F64,
    TENSOR_S8,
    TENSOR_U8,
    TENSOR_S4,
    TENSOR_U4,
    TENSOR_B1,
    TENSOR_S32,
    TENSOR_E2M3,        /* in the low six bits of a byte */
    TENSOR_E3M2,        /* the same */
    TENSOR_E2M1,        /* in the middle four bits of a byte */
    TENSOR_E2M1_PACKED, /* two in a byte */
    TENSOR_TYPES
};
/* Bits of an element in a register. */
u32 tensor_bits(enum tensor_type t);
u32 tensor_sign(enum tensor_type t);   /* the bit of its sign, where an element is a word of its own */
int tensor_type_find(struct str name); /* "f16" and the like; -1: there is none */
static inline bool tensor_is_fp8(enum tensor_type t) { return t == TENSOR_E4M3 || t == TENSOR_E5M2; }

/* How the elements of one operand lie in the registers of a warp. */
enum mma_layout {
    MMA_FRAGMENT, /* the manual's fragments of mma.sync */
    MMA_WMMA,     /* those of wmma, which the manual leaves open: the same, block by block of 8 x 8 */
    MMA_QUAD_PAIR /* m8n8k4 on f16: four products, each of eight lanes */
};
enum { MMA_MOST = 32 }; /* rows, columns */

/* Where an element of an operand lies: element `e` of register `reg` of a lane. */
struct mma_place {
    u8 row, col; /* in a, c and d; of b, row is its column n, and col is k; of b1, col counts words */
    u8 part;     /* of m8n8k4 on f16: which of the four products */
};
enum mma_operand { OPERAND_A, OPERAND_B, OPERAND_C, OPERAND_D };
struct mma;
struct mma_place mma_place(const struct mma *f, enum mma_operand which, u32 lane, u32 reg, u32 e);
/* Elements in a register: of b1, words. */
u32 mma_each(enum tensor_type t);

/* One form of the instruction; those that a function has are in lowered.mma, each once. */
enum { MMA_REGISTERS = 8 };     /* of one operand of mma.sync */
enum { MMA_SCALE_SOURCES = 6 }; /* factors of a, byte and thread that are chosen; the same of b */
struct mma {
    u16 m, n, k;       /* of the matrices; of a sparse a, k counts its zeros, too */
    u8 a, b, c, d;     /* enum tensor_type */
    u8 na, nb, nc, nd; /* registers of each operand */
    u8 layout;         /* enum mma_layout */
    u8 round;          /* enum isa_round, of f64 */
    bool saturate;     /* .satfinite: an integer sum stays at the end of its range */
    bool conjunction;  /* of b1: and in place of xor */
    bool a_cols;       /* m8n8k4: a lies by columns */
    bool b_rows;       /* m8n8k4: b lies by rows */
    bool sparse;       /* half of a's elements are zeros that are not stored; the metadata say which */
    bool ordered;      /* the metadata promise ascending positions */
    bool direct;       /* m16n8k16 or m16n8k8 of mma.sync, dense, of f16 or bf16 with sums of f32; computed */
    u8 selector;       /* of sparse metadata: which lanes of each four bring them */
    bool full;         /* a .kind of Blackwell: fp8 sums keep as many bits as those of f16 (docs/inside/tensor.md) */
    u8 scales;         /* block scaling: factors of a row of a and of a column of b; 0: none */
    bool ue4m3;        /* they are of that type, else ue8m0 */
    /* wgmma: m is 16, the part of a warp; na are the registers of a also where it lies in shared memory */
    bool group;              /* it is wgmma */
    bool a_shared;           /* a lies in shared memory, where a descriptor says */
    bool negate_a, negate_b; /* the sign of every element is turned */
    bool at_once;            /* it is complete when it is issued */
    u8 scale;                /* enum mma_scale */
    /* by operand and register, not for m8n8k4: row and column of the first element of lane 0 (mma_place); computed */
    struct {
        u8 row, col;
    } first[4][MMA_REGISTERS];
};
/* op.aux of the instructions that order products of a warpgroup. */
enum wgmma_order { WGMMA_FENCE, WGMMA_COMMIT, WGMMA_WAIT, WGMMA_MEET };
/* wgmma: whether the product is added to what d held. */
enum mma_scale { SCALE_NEVER, SCALE_ALWAYS, SCALE_PREDICATE };
/* Its sources: what d held (nc registers, none where it is not added to), the registers of a or its descriptor, the
 * descriptor of b, the metadata of a sparse a, the predicate. */
static inline u32 wgmma_sources_a(const struct mma *f) { return f->a_shared ? 1 : f->na; }
#endif
