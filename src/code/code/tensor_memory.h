/* tensor_memory.h: instructions on tensor memory (9.7.16) as an opcode describes them: what lop.aux and the sources of
 * each say. */
#ifndef LOCKSTEP_TENSOR_MEMORY_H
#define LOCKSTEP_TENSOR_MEMORY_H
#include "base/base.h"

enum { TMEM_LANES = 128, TMEM_COLUMNS = 512, TMEM_UNIT = 32 }; /* columns are allocated by units */

/* tcgen05.ld, tcgen05.st: aux is the shape, the logarithm of .num, and whether 16-bit halves are packed. The address is
 * the first source, then what is stored; lop.off is the offset of the second half of .16x32bx2. */
enum tmem_shape { TMEM_32X32B, TMEM_16X64B, TMEM_16X128B, TMEM_16X256B, TMEM_16X32BX2 };
enum { TMEM_SHAPE = 7, TMEM_NUM_AT = 3, TMEM_NUM = 7, TMEM_PACK = 64 };
/* Registers of a lane. */
static inline u32 tmem_registers(u32 aux)
{
    u32 each = (aux & TMEM_SHAPE) == TMEM_16X128B ? 2 : (aux & TMEM_SHAPE) == TMEM_16X256B ? 4 : 1;
    return each << (aux >> TMEM_NUM_AT & TMEM_NUM);
}

/* tcgen05.cp: address, descriptor. */
enum tmem_copy { COPY_128X256B, COPY_4X256B, COPY_128X128B, COPY_64X128B_02_13, COPY_64X128B_01_23, COPY_32X128B };
enum { TMEM_COPY = 7, TMEM_COPY_B6 = 8, TMEM_COPY_B4 = 16 };

/* In aux of all of them: both CTAs of the pair take part. */
enum { TMEM_PAIR = 1 << 15 };

/* tcgen05.mma: the sources in this order; what is missing is O_NONE. aux: the kind and the words below; lop.off:
 * scale-input-d. */
enum {
    SRC_UMMA_D,
    SRC_UMMA_A, /* an address in tensor memory, or a descriptor */
    SRC_UMMA_B,
    SRC_UMMA_IDESC,
    SRC_UMMA_META, /* of .sp: where the metadata of a lie in tensor memory */
    SRC_UMMA_SCALE_A,
    SRC_UMMA_SCALE_B,
    SRC_UMMA_ADD,
    SRC_UMMA_ZERO, /* the mask of columns that are zero, of .ws */
    SRC_UMMA_KEEP, /* words of lanes that are not written, eight at most */
    SRC_UMMA_MOST = SRC_UMMA_KEEP + 8
};
enum umma_kind { UMMA_F16, UMMA_TF32, UMMA_F8F6F4, UMMA_I8, UMMA_MXF8F6F4, UMMA_MXF4, UMMA_MXF4NVF4 };
enum {
    UMMA_KIND = 7,
    UMMA_WS = 16,       /* weight stationary */
    UMMA_A_TMEM = 32,   /* a lies in tensor memory */
    UMMA_SPARSE = 64,   /* half of a is zeros, and is not stored */
    UMMA_SCALES_AT = 8, /* block scaling: factors of a row */
    UMMA_SCALES = 7
};

/* tcgen05.commit: the address of the mbarrier, the CTAs of the cluster that are told. */
enum { SRC_COMMIT_MBARRIER, SRC_COMMIT_CTAS, SRC_COMMIT_MOST };
#endif
