/* wavefronts.h: what a warp's access costs in shared memory: wavefronts, the passes that its 32 banks of four bytes
 * need. l1tex__data_pipe_lsu_wavefronts_mem_shared_op_* of Nsight Compute.
 *
 * The rule. Accesses of up to 4 bytes: the whole warp at once. Of 8 bytes: half-warps, one after the other. Of 16
 * bytes: quarter-warps. Two neighbouring parts are one where each lane l that takes part has the address of lane l ^ 1,
 * or each has that of l ^ 2, as far as that one takes part: the two halves of 8-byte accesses, the two quarters of each
 * half of 16-byte accesses. A part takes as many passes as the bank with most distinct words has words: lanes at one
 * word share a pass, whichever of its bytes they want. */
#ifndef LOCKSTEP_WAVEFRONTS_H
#define LOCKSTEP_WAVEFRONTS_H
#include "code/code.h"

enum { BANKS = 32 };

struct wavefronts {
    u32 n;       /* passes */
    u32 parts;   /* passes if no two lanes of a part met in a bank */
    u32 least;   /* passes for the distinct words if they lay best */
    u32 ways;    /* most words of one bank that are wanted at once; 1: no conflict */
    u32 bank;    /* which */
    u32 lane[2]; /* two lanes that met there */
};
void wavefronts_of(const u64 addr[LANES], u32 mask, u32 bytes, struct wavefronts *out);

/* ldmatrix, stmatrix: `rows` rows of 16 bytes, eight of them a pass. Lane r has the address of row r. */
void wavefronts_matrix(const u64 addr[LANES], u32 rows, struct wavefronts *out);
#endif
