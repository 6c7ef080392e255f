/* umma.h: a product of tcgen05 (9.7.16.10), as its opcode and its descriptors say. */
#ifndef LOCKSTEP_UMMA_H
#define LOCKSTEP_UMMA_H
#include "lanes/tensor.h"
#include "units/tmem_async.h"

struct umma {
    struct tmem_work work;    /* first */
    u32 aux;                  /* of the operation */
    u32 m, n, k;              /* of all CTAs; k elements of a column of b */
    u32 kept;                 /* elements of a row of a that are stored: k, of a sparse a half of them */
    enum tensor_type a, b, d; /* types */
    bool negate_a, negate_b;  /* the sign of every element is turned */
    bool a_mn, b_mn;          /* the matrix in shared memory is MN-major */
    bool saturate;            /* an integer sum stays at the end of its range */
    u32 scales;               /* block scaling: factors of a row; 0: none */
    bool ue4m3;               /* their type, else ue8m0 */
    u32 a_byte, b_byte;       /* of a word, where the factors begin */
    u32 d_at, a_at;           /* addresses in tensor memory; of a only where it lies there */
    u32 scale_a_at, scale_b_at;
    u32 meta_at, selector; /* of a sparse a: address of its metadata; which column has them */
    u64 a_desc, b_desc;    /* descriptors */
    bool add;              /* to what d holds */
    u32 scale_d;           /* divided by 2 to this before */
    u32 keep[8];           /* lanes of d that are not written, of both CTAs */
    bool masked;           /* columns of b may be zero */
    u64 zero;              /* which: the descriptor */
};

/* umma_form.c: reads the instruction descriptor; NULL: x has it all; otherwise what is wrong with it. */
const char *umma_read(u32 aux, u32 idesc, struct umma *x, char *room, size_t size);
/* Parts of d side by side in other lanes: columns n * N / parts and on are in part n. */
u32 umma_parts(const struct umma *x);
/* Whether d, a in tensor memory and metadata have only 16 of every 32 lanes, from their address's on. */
bool umma_half(const struct umma *x);
/* The lane of row r of one CTA, in that part. */
u32 umma_lane(const struct umma *x, u32 row, u32 part);
/* A sparse a: the cell and the four bits of it that say where the stored elements of a chunk stand; of a row of one CTA
 * in that part. The cell is one of tensor memory, from lane 0 and column 0 on. */
struct umma_meta {
    u32 lane, column, shift;
};
struct umma_meta umma_metadata(const struct umma *x, u32 row, u32 part, u32 chunk);
/* Elements of k in a chunk: two of tf32, eight of packed 4-bit elements, else four. Half of them are stored. */
u32 umma_chunk(const struct umma *x);
/* Which of the chunk stored element j of it is; bits: the four. */
u32 umma_position(const struct umma *x, u32 bits, u32 j);
/* Whether four bits are such that the manual has a meaning for. */
bool umma_meaning(const struct umma *x, u32 bits);
/* The columns of b that are taken for zero, a byte each. */
void umma_zero_columns(const struct umma *x, u8 zero[256]);
/* How many columns after its own each column of b is read. */
static inline u32 umma_shift(const struct umma *x) { return x->masked ? (u32)(x->zero >> 56 & 63) : 0; }
#endif
