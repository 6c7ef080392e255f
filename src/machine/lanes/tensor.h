/* tensor.h: what a tensor core computes, d = c + the sum of a[k] * b[k], bit for bit as an NVIDIA H200.
 *
 * The unit does not add one product after the other. It takes all products of an instruction and c, each exact, aligns
 * them to the largest exponent among them, cuts off what lies `frac` bits below that, adds what is left without any
 * rounding, and rounds once: toward zero into f32, to the nearest into f16. docs/inside/tensor.md says what was
 * compared with the card and how.
 *
 *   tensor.c        the model, for any number of rows and columns
 *   lanes_tensor.c  its two loops over all products, which are compiled once more for newer processors */
#ifndef LOCKSTEP_TENSOR_H
#define LOCKSTEP_TENSOR_H
#include "isa/expand.h"
#include "code/mma.h"

/* How the products of one element come together. */
enum tensor_way {
    TENSOR_ONE_SUM,   /* one sum over all of k and c */
    TENSOR_FP8_HALF,  /* fp8 in mma.sync: as f16, terms with k mod 4 < 2, then the others on top; c is added last */
    TENSOR_FMA_CHAIN, /* m8n8k4 on f16: plain multiply-adds of f32 */
    TENSOR_BY_FOUR    /* wmma of tf32: four products, then the next four on top */
};
struct tensor {
    enum tensor_type a, b, c, d;
    enum tensor_way way;
    u32 k;            /* elements of a row of a; of b1, words of 32 of them */
    u8 round;         /* enum isa_round, of f64 */
    bool saturate;    /* an integer sum stays at the end of its range */
    bool conjunction; /* of b1: and in place of xor */
    bool full;        /* fp8: as many bits are kept as of f16 */
};
enum { TENSOR_MOST = 32 }; /* rows and columns at once, and the largest k of floats */

/* d = a * b + c. One element a word, whatever its type: a has m rows of k, b has n rows of k (its columns), c and d
 * have m rows of n. */
void tensor_multiply(const struct tensor *t, u32 m, u32 n, const u32 *a, const u32 *b, const u32 *c, u32 *d);
/* An f16 divided by 2^n, to the nearest. */
u32 tensor_halve(u32 x, u32 n);
/* Block scaling: each row of a and each column of b has `count` factors, of as many equal parts of k. */
enum { TENSOR_SCALED_MOST = 64 }; /* the largest k */
struct tensor_scales {
    const u8 *a, *b; /* [m][count], [n][count] */
    u32 count;       /* 1, 2 or 4 */
    bool ue4m3;      /* else ue8m0 */
};
/* d = (a * its factors) * (b * its factors) + c in one sum; d is f32. */
void tensor_multiply_scaled(const struct tensor *t, const struct tensor_scales *s, u32 m, u32 n, const u32 *a,
                            const u32 *b, const u32 *c, u32 *d);
/* The same for f64. */
void tensor_multiply_f64(const struct tensor *t, u32 m, u32 n, const u64 *a, const u64 *b, const u64 *c, u64 *d);

/* ---- lanes_tensor.c ---- */

/* Numbers taken apart: each is sig * 2^(exp - bits of its type). A zero has the exponent TENSOR_ZERO. */
enum { TENSOR_ZERO = -8192, TENSOR_COLUMNS = 8 };
struct tensor_terms {
    u32 m, n, k;              /* n is a multiple of TENSOR_COLUMNS */
    u32 up;                   /* bits that a product moves up, so that `frac` of them lie below its exponent */
    const s32 *a_exp, *a_sig; /* [m][k] */
    const s32 *b_exp, *b_sig; /* [n / 8][k][8] */
    const s32 *c_exp, *c_sig; /* [m][n]; moved up already */
    s32 *largest;             /* [m][n]: result, the largest exponent */
    s64 *sum;                 /* [m][n]: result, in units of 2^(largest - frac) */
};
typedef void tensor_sum(const struct tensor_terms *t);
tensor_sum tensor_sums, tensor_sums_v3;

/* The same sums by the processor's own multiplications. A product of two significands has 22 bits at most, so that it
 * is exact in f32 as long as no exponent comes near the end of its range; and conversion to an integer cuts toward
 * zero, as the unit does. */
struct tensor_format {
    u8 exponent, fraction; /* bits of each */
    u8 skip;               /* low bits that are never looked at */
    bool finite;           /* no infinity: the exponent of all ones belongs to numbers, but for one NaN */
    bool numbers;          /* not even that NaN */
};
/* n numbers as f32 and their exponents; false: there is an infinity, a NaN, or an exponent that is too far from 0. */
typedef bool tensor_unpack(struct tensor_format f, u32 n, const u32 *x, f32 *value, s32 *exp);
tensor_unpack tensor_floats, tensor_floats_v3;
struct tensor_products {
    u32 m, n, k; /* n is a multiple of TENSOR_COLUMNS */
    u32 frac;    /* bits that are kept below the largest exponent */
    u32 keep;    /* fraction bits of an f32 that the result has */
    const f32 *a, *b;
    const s32 *a_exp, *b_exp; /* a [m][k], b [n / 8][k][8] */
    const u32 *c;             /* [m][n], f32 */
    u32 *d;                   /* [m][n]: result, where `half` is not asked for */
    bool half;                /* c is f16, and the results are `largest` and `sum` as above */
    s32 *largest;
    s64 *sum;
};
/* False: c has an infinity or a NaN, or a result is subnormal; nothing of d is right then. d and c may be the same:
 * nothing is written before all is known. */
typedef bool tensor_product(const struct tensor_products *t);
tensor_product tensor_fast, tensor_fast_v3;

/* The same for m16n8k16 and m16n8k8 of 16-bit numbers with sums of f32, straight from the registers of a warp: each is
 * 32 words, one of each lane. */
struct tensor_registers {
    bool bf16; /* else f16 */
    u32 k;     /* 8 or 16 */
    const u32 *a[4], *b[2], *c[4];
    u32 *d[4];
};
typedef bool tensor_direct(const struct tensor_registers *t);
tensor_direct tensor_warp, tensor_warp_v3;
/* The copy of a loop for this processor. */
#if defined __x86_64__
#define TENSOR_NEWER(fn) (__builtin_cpu_supports("avx2") ? fn##_v3 : fn)
#else
#define TENSOR_NEWER(fn) fn
#endif
#endif
