/* gen_modern: kernels for sm_90 to sm_120 whose widths, counts, offsets and immediates may be anything: tensor maps,
 * matrix descriptors, tensor memory, ranks in a cluster, multicast masks, bulk copies, counts of mbarriers, selectors
 * of sparse metadata. Bytes make the choices; most values are such that a check has to stop them, or just not. */
#ifndef LOCKSTEP_GEN_MODERN_H
#define LOCKSTEP_GEN_MODERN_H
#include "base/base.h"

enum { MODERN_BUFFER = 8192, MODERN_STEPS = 6, MODERN_CARDS = 3 };

struct modern_program {
    struct text ptx; /* a kernel, k(.param .u64 buffer, .param .align 64 .b8 map[128]) */
    u32 card;        /* 0: h200, 1: b200, 2: rtx5090 */
    u32 cluster;     /* CTAs of a cluster, and of the grid */
    u32 threads;     /* of a CTA */
    u32 checks;      /* which are on, a number */
    u64 map[16];     /* the map; word 0 is added to the address of the buffer */
    bool map_is_own; /* word 0 is an address of its own */
};

void modern_make(struct modern_program *p, const u8 *choice, size_t choices);
void modern_free(struct modern_program *p);
#endif
